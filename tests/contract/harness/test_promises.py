"""Every adapter does at every event what the page on harnesses says, with recorded payloads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contextspindle.core.transcript import NONE, Event
from contextspindle.harness import adapter
from docs.harnesses import (
    DEEP,
    FLAT,
    HARNESSES,
    KINDS,
    LIMITS,
    LIVE,
    OWN,
    PROMISES,
    STRING,
    Promise,
    row_of,
)

INSTALLED = [
    name for name in HARNESSES if adapter(name).HOOKS or getattr(adapter(name), "PLUGIN", "")
]
FORMS = {
    DEEP: lambda text, event: {
        "hookSpecificOutput": {"additionalContext": text, "hookEventName": event.name}
    },
    FLAT: lambda text, event: {"additionalContext": text},
    STRING: lambda text, event: text,
    OWN: lambda text, event: {"text": text},
}
RECORDED = [name for name in HARNESSES if name != "opencode"]
"""What sends payloads of its own: that of OpenCode is our plugin's, and tested with it."""
FIELDS = {
    "preCompact": {"trigger": "auto"},
    "userPromptSubmitted": {"prompt": "x"},
    "userPromptTransformed": {"prompt": "x", "transformedPrompt": "x"},
    "preToolUse": {"toolName": "x"},
    "postToolUse": {"toolName": "x", "toolResult": {}},
    "agentStop": {"stopReason": "end_turn"},
    "sessionEnd": {"reason": "complete"},
}
"""What Copilot CLI's payloads are known by."""
UNRECORDED = {"claude-code": {("SessionStart", "resume"), ("SessionStart", "fork")}}
"""What was seen, and of which no payload was kept."""


def made(row: Promise) -> dict[str, Any]:
    """A payload of the row's event as its program sends it, with its fields."""
    fields = {name: "explore" if value == "*" else value for name, value in row.when}
    if row.harness == "copilot-cli":
        return {
            "sessionId": "s",
            "timestamp": 1,
            "cwd": "/x",
            **FIELDS.get(row.event, {}),
            **fields,
        }
    head = {"session_id": "s", "transcript_path": "/x/s.jsonl", "cwd": "/x"}
    if fields.get("agent_type"):
        fields["agent_id"] = "a1"
    if row.event == "SubagentStop":
        fields["last_assistant_message"] = "<summary>They mended a mast.</summary>"
    return {**head, "hook_event_name": row.event, **fields}


def recorded(data_folder, name: str) -> list[tuple[str, dict[str, Any]]]:
    """Every recorded event of a program with its payload."""
    files = sorted((data_folder / "harness" / "captures" / name).glob("*.hooks.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert rows, name
    return [(row["stdin"].get("hook_event_name") or row["hook"], row["stdin"]) for row in rows]


def holds(row: Promise, event: Event) -> None:
    """The event asks for what the row says, and is answered in its form or not at all."""
    assert event.verb == row.verb, row
    assert event.caller == row.harness
    said = adapter(row.harness).injection("the record", event)
    if row.answer:
        assert json.loads(said) == FORMS[row.answer]("the record", event), row
    else:
        assert said == "", row
    said = adapter(row.harness).injection("", event)
    assert said == "" or (row.answer == OWN and json.loads(said) == {"text": ""})


@pytest.mark.parametrize("name", HARNESSES)
def test_every_promise_holds(name):
    rows = [row for row in PROMISES if row.harness == name]
    for row in rows:
        holds(row, adapter(name).parse_event(made(row)))
    assert len({(row.event, row.when) for row in rows}) == len(rows)


@pytest.mark.real_data
@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_event_is_promised_something_and_gets_it(name, data_folder):
    met = set()
    for event, payload in recorded(data_folder, name):
        if name == "copilot-cli" and "hook_event_name" in payload:
            continue  # of names that are not installed: the next test has them
        row = row_of(name, event, payload)
        holds(row, adapter(name).parse_event(payload))
        met.add(row)
    seen = {row for row in PROMISES if row.harness == name and row.source == LIVE}
    unrecorded = {(row.event, *dict(row.when).values()) for row in seen - met}
    assert unrecorded == UNRECORDED.get(name, set())


@pytest.mark.real_data
def test_copilot_s_other_names_of_events_mean_the_same(data_folder):
    names = {"SessionStart": "sessionStart", "PreCompact": "preCompact"}
    seen = set()
    for event, payload in recorded(data_folder, "copilot-cli"):
        if event in names and "hook_event_name" in payload:
            row = row_of("copilot-cli", names[event], payload)
            holds(row, adapter("copilot-cli").parse_event(payload))
            seen.add(event)
    assert seen == set(names)


@pytest.mark.real_data
@pytest.mark.parametrize("sender", [name for name in HARNESSES if name != "claude-code"])
def test_the_hooks_of_claude_code_do_nothing_in_a_program_that_is_known_by_its_payload(
    sender, data_folder
):
    known = {"gemini", "copilot-cli", "qwen-code"}  # the others send nothing of their own
    for _, payload in recorded(data_folder, sender) if sender in known else ():
        event = adapter("claude-code").parse_event(payload)
        assert event.verb == NONE, payload
        assert event.caller in (sender, "unknown")
        assert adapter("claude-code").injection("the record", event) == ""


@pytest.mark.real_data
def test_no_program_s_own_payload_is_taken_for_another_s(data_folder):
    for name in RECORDED:
        for _, payload in recorded(data_folder, name):
            assert adapter(name).parse_event(payload).caller == name, payload


@pytest.mark.parametrize("name", HARNESSES)
def test_every_hook_that_is_installed_has_its_rows(name):
    rows = {(row.event, row.verb) for row in PROMISES if row.harness == name}
    for event, words, _, _ in adapter(name).HOOKS:
        asked = {verb for known, verb in rows if known == event} - {NONE}
        saving = {"save", "note", "hear"}
        assert asked, event
        assert asked <= (saving if words.startswith("fuse save") else {"restore", "look"})


def test_the_table_is_of_one_form():
    assert list(HARNESSES) == INSTALLED
    assert {row.source for row in (*PROMISES, *LIMITS)} <= set(KINDS)
    assert {row.harness for row in PROMISES} == set(HARNESSES)
    assert {row.answer for row in PROMISES} <= {"", *FORMS}
    assert all(row.promise.endswith(".") for row in PROMISES)
