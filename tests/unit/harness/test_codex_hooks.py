"""Codex: its hook protocol, and whose rollout is read."""

from __future__ import annotations

import pytest

from contextspindle.errors import EventUnknown
from contextspindle.harness import codex
from tests.transcripts import written
from tests.unit.harness.test_codex import SESSION, agent, both, line

# -- the hooks


def payload(**fields):
    return {
        "session_id": SESSION,
        "transcript_path": f"/x/sessions/rollout-{SESSION}.jsonl",
        "cwd": "/x",
        "hook_event_name": "PreCompact",
        "trigger": "auto",
        **fields,
    }


def test_a_compaction_asks_to_save_and_a_start_to_restore():
    saves = codex.parse_event(payload())
    assert (saves.verb, saves.session, saves.cwd, saves.trigger) == ("save", SESSION, "/x", "auto")
    start = payload(hook_event_name="SessionStart", source="compact")
    assert codex.parse_event(start).verb == "restore"
    assert codex.parse_event(payload(hook_event_name="PostToolUse")).verb == "none"


def test_a_transcript_may_be_missing():
    assert codex.parse_event(payload(transcript_path=None)).transcript == ""


def test_a_subagent_is_saved_only_from_a_rollout_of_its_own():
    own = payload(agent_id="01a2-sub", transcript_path="/x/rollout-01a2-sub.jsonl")
    assert (codex.parse_event(own).verb, codex.parse_event(own).agent) == ("save", "01a2-sub")
    assert codex.parse_event(payload(agent_id="01a2-sub")).verb == "none"
    with pytest.raises(EventUnknown):
        codex.parse_event(payload(agent_id="../x"))


@pytest.mark.parametrize("broken", [None, [], {}, {"session_id": 3}])
def test_a_payload_of_another_shape_is_unknown(broken):
    with pytest.raises(EventUnknown):
        codex.parse_event(broken)


# -- whose rollout it is


def read(path, session, of_agent=""):
    transcript = codex.read(path, session, of_agent)
    list(transcript)
    return transcript.reading


def test_a_rollout_that_names_another_session_only_holds_nothing_of_ours(tmp_path):
    talk = [*both("Mend the mast."), agent("Mended.")]
    other = "01a229a2-fd41-7e31-9860-b06e468d2fb2"
    of_other = [line("session_meta", id=other, cwd="/x"), *talk]
    assert read(written(tmp_path / "a.jsonl", of_other), SESSION).known == 0
    assert read(written(tmp_path / "b.jsonl", of_other), other).known > 3
    # Without a head the name tells; a name that tells nothing says nothing against it.
    named = written(tmp_path / f"rollout-2026-11-29T23-27-57-{other}.jsonl", talk)
    assert read(named, SESSION).known == 0
    assert read(named, other).known == read(named, "").known == 3
    assert read(written(tmp_path / "c.jsonl", talk), SESSION).known == 3


def test_a_fork_that_replays_its_parent_and_a_subagent_s_own_rollout_are_read(tmp_path):
    heads = [line("session_meta", id=SESSION), line("session_meta", id="the-parent")]
    fork = written(tmp_path / "a.jsonl", [*heads, *both("Mend the mast.")])
    assert read(fork, SESSION).known > 2
    own = [line("session_meta", id="01a2-sub"), *both("Sound the bay.")]
    path = written(tmp_path / "rollout-2026-11-29T23-30-52-01a2-sub.jsonl", own)
    assert read(path, SESSION, "01a2-sub").known > 2
