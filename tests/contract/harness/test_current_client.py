"""Every shape that a recorded session of a current client has is read, or known to say nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextspindle.core.transcript import (
    BOUNDARY,
    EDIT,
    LAUNCH,
    OUTCOME,
    PLACE,
    PROMPT,
    QUEUED,
    RESULT,
    SAID,
    SUMMARY,
    TEXT,
    TODO,
    TODOS,
    Turn,
)
from contextspindle.harness import claude_code

pytestmark = pytest.mark.real_data

SILENT = {
    "atis-latch", "cost-state", "file-history-snapshot", "last-prompt", "mode", "permission-mode",
    "tools-used", "attachment agent_listing_delta", "attachment auto_mode", "attachment date",
    "attachment deferred_tools_delta", "attachment environment", "attachment file",
    "attachment hook_additional_context", "attachment hook_success",
    "attachment mcp_instructions_delta", "attachment model", "attachment prompt_snapshot",
    "attachment remote_session_change", "attachment session_context", "attachment skill_listing",
    "attachment task_status", "system local_command", "system stop_hook_summary",
    "system turn_duration", "user isMeta", "user repeatsCompactSummary",
}  # fmt: skip
"""Shapes that say nothing of the session's work, in the harness's own words."""


def recorded(data_folder: Path) -> list[Path]:
    folder = data_folder / "harness" / "captures" / "claude-code"
    return [path for path in sorted(folder.glob("*.jsonl")) if ".hooks." not in path.name]


def session(data_folder: Path, start: str) -> tuple[list[dict[str, Any]], list[Turn]]:
    """The entries and the turns of the recorded session whose name begins so."""
    (path,) = [path for path in recorded(data_folder) if path.name.startswith(start)]
    entries = [json.loads(row) for row in path.read_bytes().splitlines()]
    agent = path.stem.partition(".subagent-agent-")[2]
    return entries, list(claude_code.read(str(path), agent=agent))


def shape(entry: dict[str, Any]) -> str:
    kind = entry["type"]
    if kind == "attachment":
        return f"attachment {entry['attachment']['type']}"
    if kind == "system":
        return f"system {entry['subtype']}"
    for mark in ("isMeta", "repeatsCompactSummary"):
        if kind == "user" and entry.get(mark):
            return f"user {mark}"
    return str(kind)


def said(turns: list[Turn]) -> list[tuple[str, str]]:
    return [(turn.via, turn.text.partition(" [[")[0]) for turn in turns if turn.kind == SAID]


def of(turns: list[Turn], *kinds: str) -> list[Turn]:
    return [turn for turn in turns if turn.kind in kinds]


def test_every_shape_is_read_or_known_to_say_nothing(data_folder):
    met: dict[str, int] = {}
    for path in recorded(data_folder):
        agent = path.stem.partition(".subagent-agent-")[2]
        turns = claude_code.read(str(path), agent=agent)
        # Branch and folder are told with whatever line shows them first.
        told = {turn.line for turn in turns if turn.kind != PLACE}
        for line, row in enumerate(path.read_bytes().splitlines(), 1):
            one = shape(json.loads(row))
            met[one] = met.get(one, 0) + (line in told)
    assert len(met) > 25
    for one, count in met.items():
        # What is queued is told where it arrives.
        assert count == 0 if one in SILENT else count > 0 or one == "queue-operation", one


def test_prompts_by_their_marks_of_origin(data_folder):
    _, turns = session(data_folder, "t1.ee42")
    assert said(turns) == [
        (PROMPT, "My goal is GOAL-TUI-1: fix parser."),
        (PROMPT, "second question"),
        (PROMPT, "what now"),
    ]
    _, turns = session(data_folder, "m1.6d61")
    assert [text for _, text in said(turns)] == [
        "My goal is GOAL-7431: build a widget.",
        "second turn plain question",
        "after compaction: what was my goal?",
    ]


def test_prompts_of_the_version_before_without_those_marks(data_folder):
    _, turns = session(data_folder, "old1.")
    assert [text for _, text in said(turns)] == [
        "My goal is GOAL-7431: build a widget.",
        "second turn plain question",
        "after compaction: what was my goal?",
    ]
    (edit,) = [turn for turn in turns if turn.kind == RESULT and turn.via == EDIT]
    assert edit.failed


def test_a_message_sent_while_the_agent_worked_is_said_once(data_folder):
    _, turns = session(data_folder, "m2.edf2")
    assert [text for via, text in said(turns) if via == QUEUED] == ["midturn"]
    texts = [text for _, text in said(turns)]
    assert len(texts) == len(set(texts))


def test_resumed_and_forked_sessions_are_in_the_order_in_which_they_were_said(data_folder):
    _, turns = session(data_folder, "t1.6fa0")
    resumed = ["fresh start", "resumed question", "continued question"]
    assert [text for _, text in said(turns)] == resumed
    _, turns = session(data_folder, "t1.8177")
    assert [text for _, text in said(turns)] == [*resumed, "fork question"]
    assert {via for via, _ in said(turns)} == {PROMPT}
    lines = [turn.line for turn in turns]
    assert lines == sorted(lines)


def test_steps_have_their_ids_from_the_results(data_folder):
    _, turns = session(data_folder, "m2.edf2")
    steps = [turn.steps[0] for turn in of(turns, TODO)]
    assert [(step.key, step.title, step.status) for step in steps] == [
        ("1", "write parser", "pending"),
        ("2", "write tests", "pending"),
        ("1", "", "in_progress"),
    ]
    _, turns = session(data_folder, "m3.d816")
    (listed,) = of(turns, TODOS)
    assert [step.status for step in listed.steps] == ["in_progress", "pending"]


def test_a_subagent_in_the_background_is_launched_and_reports_once(data_folder):
    _, turns = session(data_folder, "m2.edf2")
    (launch,) = of(turns, LAUNCH)
    (outcome,) = of(turns, OUTCOME)
    assert launch.call == outcome.call
    assert (outcome.text, outcome.failed) == ("ACK plain #7.", False)


def test_a_subagent_in_the_foreground_reports_without_its_frame(data_folder):
    _, turns = session(data_folder, "m8.9c91")
    (outcome,) = of(turns, OUTCOME)
    assert outcome.text == "ACK plain #7."


def test_a_subagent_s_own_file_holds_its_talk_and_its_compaction(data_folder):
    _, turns = session(data_folder, "m8.subagent")
    assert len(of(turns, BOUNDARY)) == len(of(turns, SUMMARY)) == 1
    assert len(of(turns, RESULT)) == 4
    assert turns[-1].kind == TEXT
    entries, _ = session(data_folder, "m8.subagent")
    (path,) = [path for path in recorded(data_folder) if path.name.startswith("m8.subagent")]
    assert list(claude_code.read(str(path))) == []  # as if it were a main session
    assert all(entry.get("isSidechain", True) for entry in entries if entry["type"] == "user")


def test_compactions_are_told_with_their_trigger_and_their_summary(data_folder):
    for start, triggers in (("m1.6d61", ["manual"]), ("m2.edf2", ["auto", "auto"])):
        _, turns = session(data_folder, start)
        assert [turn.about for turn in of(turns, BOUNDARY)] == triggers
        assert len(of(turns, SUMMARY)) == len(triggers)
    # Blocked by a hook: nothing was compacted.
    _, turns = session(data_folder, "m3x.")
    assert of(turns, BOUNDARY, SUMMARY) == []


def test_a_result_that_is_a_list_of_another_server_is_read(data_folder):
    _, turns = session(data_folder, "plug1.")
    (result,) = of(turns, RESULT)
    assert result.text == "RECALLED goal=GOAL-7431"


def test_noise_is_told_by_its_bytes_and_no_turn_with_it(data_folder):
    noisy = passed = 0
    for path in recorded(data_folder):
        for row in path.read_bytes().splitlines():
            noisy += shape(json.loads(row)) in SILENT
            passed += not claude_code.worth(row, False)
    assert passed > 0.8 * noisy


def test_looking_for_the_human_s_words_only_finds_them_all(data_folder):
    for path in recorded(data_folder):
        agent = path.stem.partition(".subagent-agent-")[2]
        whole = claude_code.read(str(path), agent=agent)
        frugal = claude_code.read(str(path), agent=agent)
        frugal.worth = lambda line, _: claude_code.worth(line, True)
        expected = [(turn.line, turn.text) for turn in whole if turn.kind == SAID]
        assert [(turn.line, turn.text) for turn in frugal if turn.kind == SAID] == expected
