"""Whose payload it is, and whose transcript: what every adapter of this shape answers alike."""

from __future__ import annotations

import json

import pytest

from contextspindle.core.transcript import NONE, RESTORE, SAVE
from contextspindle.harness import adapter
from contextspindle.harness.payloads import is_named_after
from tests.transcripts import SESSION

NAMES = ("claude-code", "codex", "qwen-code", "droid", "gemini", "copilot-cli")
PLACES = {
    "claude-code": f"/home/ada/.claude/projects/-x/{SESSION}.jsonl",
    "codex": f"/home/ada/.codex/sessions/2026/11/29/rollout-2026-11-29T23-30-52-{SESSION}.jsonl",
    "qwen-code": f"/home/ada/.qwen/projects/-x/chats/{SESSION}.jsonl",
    "droid": f"/home/ada/.factory/sessions/-x/{SESSION}.jsonl",
    "gemini": f"/home/ada/.gemini/tmp/x/chats/session-2026-11-29T23-33-{SESSION[:8]}.jsonl",
    "copilot-cli": f"/home/ada/.copilot/session-state/{SESSION}/events.jsonl",
}
"""Where each program keeps the transcript of a session."""


def start(path: str, **fields: object) -> dict[str, object]:
    """The start of a session behind its compaction."""
    head = {"session_id": SESSION, "transcript_path": path, "cwd": "/x"}
    return {**head, "hook_event_name": "SessionStart", "source": "compact", **fields}


# ---- agents


@pytest.mark.parametrize("name", [one for one in NAMES if one != "claude-code"])
def test_a_subagent_is_not_given_the_story_of_the_session_that_sent_it_off(name):
    of_agent = start(PLACES[name], agent_id="explorer-1", agent_type="explorer")
    asked = adapter(name).parse_event(of_agent)
    assert (asked.verb, asked.agent) == (NONE, "explorer-1")
    assert adapter(name).injection("the record", asked) == ""
    before = {**of_agent, "hook_event_name": "PreCompact"}
    assert adapter(name).parse_event(before).verb == NONE
    assert adapter(name).parse_event({**of_agent, "transcript_path": None}).verb == NONE


@pytest.mark.parametrize("name", ["codex", "qwen-code", "droid"])
def test_a_subagent_with_a_transcript_of_its_own_is_served_from_that(name):
    own = PLACES[name].replace(SESSION, "explorer-1")
    event = adapter(name).parse_event(start(own, agent_id="explorer-1"))
    assert (event.verb, event.transcript, event.key) == (RESTORE, own, f"{SESSION}/explorer-1")


def test_of_claude_code_the_subagent_s_own_transcript_is_known_from_the_main_one():
    parse = adapter("claude-code").parse_event
    event = parse(start(PLACES["claude-code"], agent_id="a1"))
    assert event.verb == RESTORE
    assert event.transcript.endswith(f"{SESSION}/subagents/agent-a1.jsonl")
    assert parse(start("", agent_id="a1")).verb == NONE


@pytest.mark.parametrize(
    ("path", "name", "so"),
    [
        ("/x/agent-a1.jsonl", "a1", True),
        ("/x/a1.jsonl", "a1", True),
        ("/x/agent-ba1.jsonl", "a1", False),
        ("/x/a1/session.jsonl", "a1", False),
        (f"/x/{SESSION}.jsonl", "1", False),
        ("/x/y.jsonl", "", False),
    ],
)
def test_a_file_is_named_after_what_its_name_ends_with(path, name, so):
    assert is_named_after(path, name) is so


# ---- whose payload it is


@pytest.mark.parametrize("sent", NAMES)
@pytest.mark.parametrize("asked", NAMES)
def test_a_payload_that_names_another_program_s_transcript_is_answered_with_silence(sent, asked):
    event = adapter(asked).parse_event(start(PLACES[sent]))
    assert event.caller == sent
    assert event.verb == (RESTORE if sent == asked else NONE)


@pytest.mark.parametrize("asked", NAMES)
def test_the_number_of_a_turn_tells_codex_and_claude_code_apart_wherever_their_files_lie(asked):
    for sent, field in (("codex", "turn_id"), ("claude-code", "prompt_id")):
        payload = start("/else/where.jsonl", **{field: "1"}) | {"hook_event_name": "PreCompact"}
        event = adapter(asked).parse_event(payload)
        assert event.caller == sent
        assert event.verb == (SAVE if sent == asked else NONE)


@pytest.mark.parametrize("asked", NAMES)
def test_a_sign_that_is_missing_silences_nobody(asked):
    for path in ("/set/by/the/user/session.jsonl", "/x/rollout-tools/session.jsonl", "", None):
        assert adapter(asked).parse_event(start(path)).verb == RESTORE
    # Qwen Code numbers its turns under the other's name, and gives the time, which that one omits.
    theirs = start("/else/where.jsonl", prompt_id="1", timestamp="2026-11-29T23:45:43.326Z")
    assert adapter("qwen-code").parse_event(theirs).verb == RESTORE


@pytest.mark.parametrize("asked", NAMES)
def test_vs_code_which_runs_the_hooks_of_a_repository_is_answered_with_silence(asked):
    payload = {"sessionId": "v", "hookEventName": "SessionStart", "source": "new", "cwd": "/x"}
    payload |= {"timestamp": "2026-11-30T10:30:00.000Z", "transcript_path": "/x/t.json"}
    event = adapter(asked).parse_event(payload)
    assert (event.verb, event.caller) == (NONE, "vs-code")


@pytest.mark.real_data
@pytest.mark.parametrize("name", NAMES)
def test_no_recorded_payload_is_taken_for_another_program_s(name, data_folder):
    for file in sorted((data_folder / "harness" / "captures" / name).glob("*.hooks.jsonl")):
        for line in file.read_text().splitlines():
            payload = json.loads(line)["stdin"]
            assert adapter(name).parse_event(payload).caller == name


# ---- the end of a session


@pytest.mark.parametrize(("name", "given"), [("claude-code", 1.5), ("codex", 3.0)])
def test_at_the_end_of_a_session_what_there_is_is_kept_before_the_program_would_end_it(name, given):
    ended = start(PLACES[name]) | {"hook_event_name": "SessionEnd", "reason": "other"}
    event = adapter(name).parse_event(ended)
    assert event.verb == SAVE
    assert 0 < event.seconds < given * 0.7
    assert adapter(name).parse_event(start(PLACES[name])).seconds == 0
