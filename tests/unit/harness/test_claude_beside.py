"""What Claude Code keeps beside the talk: its summary behind a save, and the live list of steps."""

from __future__ import annotations

import json
import os

from contextspindle.core.draft import Draft
from contextspindle.core.restoration import Header, assemble
from contextspindle.core.transcript import HEAR, NONE, Step
from contextspindle.harness import claude_code
from tests.transcripts import OTHER, SESSION, entry, says, user, written


def summary_line(text, session=SESSION, **more):
    return user(text, session, isCompactSummary=True, isVisibleInTranscriptOnly=True, **more)


def compact(entry):
    return json.dumps(entry, separators=(",", ":"))


def test_the_summary_is_the_one_behind_the_save_and_of_the_session(tmp_path):
    before = [compact(summary_line("an old one")), compact(user("go on"))]
    path = written(tmp_path / "a.jsonl", before)
    saved = os.path.getsize(path)
    assert claude_code.summary(path, SESSION, saved) == ""
    more = [summary_line("the new one"), says("ok"), summary_line("of another", OTHER)]
    written(tmp_path / "a.jsonl", [*before, *map(compact, more)])
    assert claude_code.summary(path, SESSION, saved) == "the new one"
    assert claude_code.summary(path, "", saved) == "of another"
    assert claude_code.summary(path, SESSION, 0) == "the new one"


def test_a_summary_that_is_only_quoted_is_none(tmp_path):
    quoted = says(compact(summary_line("phantom")))
    path = written(tmp_path / "a.jsonl", [compact(quoted), b'{"isCompactSummary":true', b"\xff"])
    assert claude_code.summary(path, SESSION, 0) == ""


def test_without_a_file_there_is_no_summary(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in ("", "/none", str(tmp_path), str(fifo), "a\0b"):
        assert claude_code.summary(path, SESSION, 0) == ""


def task(folder, number, subject, status, **more):
    folder.mkdir(parents=True, exist_ok=True)
    known = {"id": str(number), "subject": subject, "status": status, "blockedBy": [], **more}
    (folder / f"{number}.json").write_text(json.dumps(known))


def test_the_live_list_has_the_true_ids_in_their_order_and_what_they_wait_for(tmp_path):
    folder = tmp_path / "tasks" / SESSION
    task(folder, 10, "ship", "pending", blockedBy=["2", "3"])
    task(folder, 2, "parse", "completed")
    task(folder, 3, "test", "in_progress", description="with pytest")
    (folder / ".lock").write_text("")
    (folder / "notes.json").write_text("{}")
    (folder / "7.json").write_text("{torn")
    path = str(tmp_path / "projects" / "-p" / f"{SESSION}.jsonl")
    assert claude_code.steps(path, SESSION) == (
        Step("2", "parse", "completed"),
        Step("3", "test", "in_progress", "with pytest"),
        Step("10", "ship", "pending, after #3"),
    )


def test_an_emptied_list_is_not_a_missing_one(tmp_path):
    path = str(tmp_path / "projects" / "-p" / f"{SESSION}.jsonl")
    assert claude_code.steps(path, SESSION) is None
    (tmp_path / "tasks" / SESSION).mkdir(parents=True)
    assert claude_code.steps(path, SESSION) == ()
    assert claude_code.steps(path, OTHER) is None
    assert claude_code.steps(str(tmp_path / "elsewhere" / "x.jsonl"), SESSION) is None


def test_a_session_s_name_does_not_lead_out_of_the_folder(tmp_path):
    task(tmp_path / "secret", 1, "x", "pending")
    (tmp_path / "tasks").mkdir()
    path = str(tmp_path / "projects" / "-p" / "x.jsonl")
    assert claude_code.steps(path, "../secret") is None


def handed(session, kind="hook_additional_context", **more):
    saved = "2026-11-30T04:06:23.123Z"
    text = assemble(Draft(), Header(session, compaction=2, saved=saved, age="1 hour", **more))
    return compact(entry("attachment", attachment={"type": kind, "content": [text]}))


def test_a_fork_is_known_by_the_record_that_its_parent_was_handed(tmp_path):
    rows = [handed("parent-1"), handed(OTHER), compact(user("go on")), handed(SESSION)]
    path = written(tmp_path / "a.jsonl", [*rows, handed("of-a-later-day")])
    assert claude_code.forked_from(path, SESSION) == (OTHER, "2026-11-30T04:06:23.123Z")
    assert claude_code.forked_from(path, "parent-1") is None


def test_a_record_that_is_quoted_or_of_a_subagent_makes_no_fork(tmp_path):
    quoted = [
        compact(says(handed(OTHER))),
        compact(user([{"type": "tool_result", "tool_use_id": "c", "content": handed(OTHER)}])),
        handed(OTHER, kind="hook_success"),
        handed(OTHER, kind="queued").replace(
            '"content"', '"was":"hook_additional_context","content"'
        ),
        handed(OTHER, agent="a9"),
        compact(entry("attachment", attachment={"type": "hook_additional_context"})),
    ]
    path = written(tmp_path / "a.jsonl", quoted)
    assert claude_code.forked_from(path, SESSION) is None
    assert claude_code.forked_from("/none", SESSION) is None


STOP = {
    "hook_event_name": "SubagentStop",
    "session_id": SESSION,
    "transcript_path": f"/p/{SESSION}.jsonl",
    "agent_id": "a46e37aab94a45cbe",
    "agent_type": "",
    "last_assistant_message": "<analysis>x</analysis>\n<summary>\nAll is well.\n</summary>",
}


def test_the_agent_that_writes_the_summary_is_heard_and_no_other():
    event = claude_code.parse_event(STOP)
    assert (event.verb, event.agent) == (HEAR, "")
    assert event.summary.strip() == "All is well."
    for other in (
        {**STOP, "agent_type": "general-purpose"},
        {**STOP, "last_assistant_message": "Done."},
        {**STOP, "last_assistant_message": None},
        {**STOP, "hook_event_name": "Stop"},
    ):
        event = claude_code.parse_event(other)
        assert event.verb != HEAR
        assert event.summary == ""
        if other["hook_event_name"] == "SubagentStop":
            assert event.verb == NONE


def test_what_is_said_before_a_compaction_is_one_document_that_begins_with_no_brace():
    event = claude_code.parse_event({**STOP, "hook_event_name": "PreCompact"})
    said = claude_code.injection('task t-1; goal: "x"', event)
    assert json.loads(said) == 'task t-1; goal: "x"'
    assert not said.startswith("{")
    assert claude_code.injection("", event) == ""
