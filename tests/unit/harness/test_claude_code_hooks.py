"""Claude Code: its hook protocol, and where its transcripts are found."""

from __future__ import annotations

import json

import pytest

from contextspindle.core.transcript import NONE, RESTORE, SAVE
from contextspindle.errors import EventUnknown
from contextspindle.harness import claude_code
from tests.transcripts import SESSION

PAYLOAD = {
    "session_id": SESSION,
    "transcript_path": f"/p/{SESSION}.jsonl",
    "cwd": "/home/ada/boat",
    "hook_event_name": "PreCompact",
    "trigger": "auto",
    "custom_instructions": None,
}


def test_before_a_compaction_there_is_something_to_save():
    event = claude_code.parse_event(PAYLOAD)
    assert (event.verb, event.session, event.trigger) == (SAVE, SESSION, "auto")
    assert (event.transcript, event.cwd) == (PAYLOAD["transcript_path"], "/home/ada/boat")


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_at_the_start_of_a_session_there_is_something_to_restore(source):
    event = claude_code.parse_event(
        {**PAYLOAD, "hook_event_name": "SessionStart", "source": source}
    )
    assert (event.verb, event.source) == (RESTORE, source)


def test_an_event_of_a_newer_version_asks_nothing():
    assert claude_code.parse_event({**PAYLOAD, "hook_event_name": "MoonRise"}).verb == NONE


def test_a_subagent_s_compaction_names_the_subagent_s_own_transcript():
    event = claude_code.parse_event({**PAYLOAD, "agent_id": "a7be3eefd8573b91c"})
    assert event.agent == "a7be3eefd8573b91c"
    assert event.transcript == f"/p/{SESSION}/subagents/agent-a7be3eefd8573b91c.jsonl"


def test_an_agent_id_that_leads_out_of_the_folder_is_refused():
    with pytest.raises(EventUnknown):
        claude_code.parse_event({**PAYLOAD, "agent_id": "../../etc/passwd"})


@pytest.mark.parametrize(
    "payload",
    [None, [], "x", {}, {"session_id": SESSION}, {**PAYLOAD, "session_id": 7}],
)
def test_what_is_no_payload_is_an_unknown_event(payload):
    with pytest.raises(EventUnknown):
        claude_code.parse_event(payload)


@pytest.mark.parametrize(
    ("payload", "caller"),
    [
        ({**PAYLOAD, "cursor_version": "3"}, "cursor"),
        ({"conversation_id": "x", "hook_event_name": "preCompact"}, "cursor"),
        ({"sessionId": "x", "timestamp": 1, "cwd": "/"}, "copilot-cli"),
        (
            {
                "hook_event_name": "SessionStart",
                "session_id": "x",
                "timestamp": "2026-11-29T23:43Z",
            },
            "copilot-cli",
        ),
    ],
)
def test_another_program_that_runs_our_hooks_is_answered_with_silence(payload, caller):
    event = claude_code.parse_event(payload)
    assert (event.verb, event.caller) == (NONE, caller)
    assert claude_code.injection("text", event) == ""


def test_the_injection_is_one_json_document_for_a_session_start_only():
    start = claude_code.parse_event({**PAYLOAD, "hook_event_name": "SessionStart"})
    assert json.loads(claude_code.injection("sails\n", start)) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "sails\n"}
    }
    assert claude_code.injection("", start) == ""
    for name in ("Stop", "SessionEnd", "SubagentStop", "Notification"):
        event = claude_code.parse_event({**PAYLOAD, "hook_event_name": name})
        assert claude_code.injection("sails", event) == ""


# ---- finding


def test_a_transcript_is_found_by_folder_and_by_session(tmp_path):
    folder = tmp_path / "projects" / "-home-ada-b-t"
    folder.mkdir(parents=True)
    path = folder / f"{SESSION}.jsonl"
    path.write_text("")
    assert claude_code.find(str(tmp_path), SESSION, "/home/ada/b t") == str(path)
    assert claude_code.find(str(tmp_path), SESSION, "/elsewhere") == str(path)
    assert claude_code.find(str(tmp_path), SESSION) == str(path)


@pytest.mark.parametrize("session", ["", "..", "../x", "a/b", "unknown", "x" * 200])
def test_what_is_no_session_is_not_found(tmp_path, session):
    assert claude_code.find(str(tmp_path), session, "/p") is None
