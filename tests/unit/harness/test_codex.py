"""Codex: who spoke and what was done, in rollouts of old and new versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextspindle.core.draft import RUNNING, STATE
from contextspindle.core.transcript import (
    ANSWER,
    BACK,
    BOUNDARY,
    CALL,
    COMMAND_LINE,
    DETAIL,
    EDIT,
    INTERRUPT,
    LAUNCH,
    OPENING,
    OUTCOME,
    PLACE,
    RESULT,
    SAID,
    SUMMARY,
    TEXT,
    TODOS,
)
from contextspindle.harness import codex, codex_turns, detect
from tests.transcripts import draft_of, written

SESSION = "01a229a5-a881-7ea1-8b19-847dc4afb969"
SUMMARY_OPENING = (
    "Another language model started to solve this problem and produced a summary of its thinking"
    " process. Here is the summary produced by the other language model:"
)


def line(kind, /, **payload):
    return {"timestamp": "2026-01-31T09:30:00.000Z", "type": kind, "payload": payload}


def event(kind, /, **fields):
    return line("event_msg", type=kind, **fields)


def under_user(text, kinds=None):
    """An item under the user's role, with the marks of new versions or without any."""
    content = [{"type": "input_text", "text": text}]
    marks = {"content_item_kinds": kinds} if kinds else None
    extra = {"internal_chat_message_metadata_passthrough": marks} if marks else {}
    return line("response_item", type="message", role="user", content=content, **extra)


def agent(text):
    content = [{"type": "output_text", "text": text}]
    return line("response_item", type="message", role="assistant", content=content)


def call(name, call_id="c1", **arguments):
    return line(
        "response_item",
        type="function_call",
        name=name,
        arguments=json.dumps(arguments),
        call_id=call_id,
    )


def output(text, call_id="c1"):
    return line("response_item", type="function_call_output", call_id=call_id, output=text)


def turns(*entries):
    parser = codex_turns.Parser()
    found = [turn for at, entry in enumerate(entries, 1) for turn in parser.turns(at, entry)]
    return [*found, *parser.finish()]


def told(*entries):
    return [turn.text for turn in turns(*entries) if turn.kind == SAID]


# -- the human


def test_a_prompt_that_stands_as_item_and_as_event_was_said_once():
    old = event("user_message", message="mend the mast", kind="plain")
    item = {"type": "UserMessage", "content": [{"type": "text", "text": "mend the mast"}]}
    new = event("item_completed", item=item)
    for second in (old, new):
        assert told(under_user("mend the mast"), second) == ["mend the mast"]
        assert told(second, under_user("mend the mast")) == ["mend the mast"]


def test_the_same_words_said_again_later_count_again():
    assert told(under_user("go on"), agent("Done."), under_user("go on")) == ["go on", "go on"]


def both(text):
    """A prompt as it stands in a rollout: as an item, and as an event."""
    return [under_user(text), event("user_message", message=text)]


def rolled_back(count):
    return event("thread_rolled_back", num_turns=count)


def backs(*entries):
    return [int(turn.about) for turn in turns(*entries) if turn.kind == BACK]


def test_the_turns_that_the_human_took_back_are_unsaid_from_their_first_line_on():
    talk = [*both("one"), agent("1"), *both("two"), agent("2"), *both("three"), agent("3")]
    assert backs(*talk, rolled_back(1)) == [7]
    assert backs(*talk, rolled_back(2)) == [4]
    assert backs(*talk, rolled_back(9)) == [1]
    assert backs(*talk, rolled_back(1), rolled_back(1)) == [7, 4]
    assert backs(*talk, rolled_back(1), *both("four"), rolled_back(2)) == [7, 4]
    for nothing in (0, -1, None, "1"):
        assert backs(*talk, rolled_back(nothing)) == []
    assert backs(rolled_back(1)) == []


def test_a_rule_that_was_taken_back_is_in_no_draft_and_neither_is_what_came_of_it():
    talk = [
        *both("Build the importer for CSV files."),
        agent("Done with the skeleton of the CSV importer."),
    ]
    wrong = [*both("Delete the exporter, and never use pandas."), agent("I delete the exporter.")]
    after = [*both("Keep the exporter."), agent("It is kept.")]
    draft = draft_of(turns(*talk, *wrong, rolled_back(1), *after))
    texts = " ".join(item.text for item in draft.items)
    for word in ("Build the importer", "Done with the skeleton", "Keep the exporter", "It is kept"):
        assert word in texts
    for word in ("pandas", "Delete", "I delete"):
        assert word not in texts


def test_the_agent_s_last_words_go_as_well_while_they_are_still_held_back():
    found = turns(*both("one"), agent("1"), rolled_back(1))
    assert [turn.kind for turn in found] == [SAID, BACK]


def test_a_prompt_that_was_sent_twice_is_two_turns_and_one_saying():
    sent = [*both("go on"), *both("go on")]
    assert told(*sent) == ["go on"]
    assert backs(*both("one"), agent("1"), *sent, rolled_back(2)) == [4]


def test_in_the_middle_of_a_huge_file_what_was_taken_back_is_seen_too():
    row = json.dumps(rolled_back(1), separators=(",", ":")).encode()
    assert codex.worth(row, True)


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
        "<user_instructions>be brief</user_instructions>",
        "<turn_aborted>\nreason\n</turn_aborted>",
        "# AGENTS.md instructions for /x\n\nUse tabs.",
        f"{SUMMARY_OPENING}\nIt went well.",
    ],
)
def test_what_the_program_put_under_the_users_role_was_not_said(text):
    assert told(under_user(text)) == []


def test_marks_decide_where_there_are_any():
    assert told(under_user("<b>bold</b> please", ["user.text"])) == ["<b>bold</b> please"]
    assert told(under_user("Summary of it all", ["compaction.summary"])) == []


def test_words_that_look_like_the_programs_own_are_told_by_their_event():
    text = "<div> is not closed"
    assert told(under_user(text), event("user_message", message=text)) == [text]


def test_an_aborted_turn_is_an_interruption():
    assert [turn.kind for turn in turns(event("turn_aborted", reason="interrupted"))] == [INTERRUPT]


def test_our_own_injection_is_no_word_of_the_human():
    echo = f"{OPENING}\nGoal: x\n[/ContextSpindle]"
    assert told(under_user(echo, ["user.text"])) == []


def test_an_answer_stands_with_its_question():
    asked = call(
        "request_user_input", questions=[{"id": "q1", "question": "Which store?", "header": "s"}]
    )
    answer = output(json.dumps({"answers": {"q1": {"answers": ["SQLite", "one file"]}}}))
    (turn,) = turns(asked, answer)
    assert (turn.kind, turn.via, turn.text, turn.about) == (
        SAID,
        ANSWER,
        "SQLite, one file",
        "Which store?",
    )


# -- the agent


def test_the_agents_words_are_taken_from_the_item_not_from_the_event():
    found = turns(event("agent_message", message="Mended."), agent("Mended."))
    assert [(turn.line, turn.kind, turn.text) for turn in found] == [(2, TEXT, "Mended.")]


def test_a_summary_under_the_agents_role_is_not_its_words():
    found = turns(
        agent("All is mended."),
        agent("The user wants a mast."),
        line("compacted", message=f"{SUMMARY_OPENING}\nThe user wants a mast."),
        agent("Going on."),
    )
    assert [(turn.kind, turn.text) for turn in found] == [
        (TEXT, "All is mended."),
        (BOUNDARY, ""),
        (SUMMARY, "The user wants a mast."),
        (TEXT, "Going on."),
    ]


def test_an_encrypted_summary_leaves_the_words_before_it():
    history = [{"type": "compaction", "encrypted_content": "gAAA"}]
    found = turns(agent("Mended."), line("compacted", message="", replacement_history=history))
    assert [turn.kind for turn in found] == [TEXT, BOUNDARY]


@pytest.mark.parametrize(
    ("given", "printed", "failed"),
    [
        (
            {"command": ["bash", "-lc", "make test"]},
            '{"output":"ok","metadata":{"exit_code":0}}',
            0,
        ),
        (
            {"command": ["bash", "-lc", "make test"]},
            '{"output":"no","metadata":{"exit_code":2}}',
            1,
        ),
        ({"cmd": "make test"}, "Wall time: 0.1\nProcess exited with code 0\nOutput:\nok", 0),
        ({"cmd": "make test"}, "Wall time: 0.1\nProcess exited with code 2\nOutput:\nno", 1),
        ({"command": "make test"}, "Exit code: 1\nWall time: 0.1\nOutput:\nno", 1),
    ],
)
def test_a_command_and_how_it_ended_in_every_form(given, printed, failed):
    asked, answered = turns(call("shell", **given), output(printed))
    assert (asked.kind, asked.via, asked.text) == (CALL, COMMAND_LINE, "make test")
    assert (answered.kind, answered.text, answered.failed) == (
        RESULT,
        "no" if failed else "ok",
        bool(failed),
    )


def test_a_patch_is_an_edit_of_each_file_it_names():
    patch = (
        "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: src/b.py\n+z\n"
        "*** End Patch"
    )
    by_tool = line(
        "response_item", type="custom_tool_call", name="apply_patch", input=patch, call_id="c1"
    )
    done = line(
        "response_item",
        type="custom_tool_call_output",
        call_id="c1",
        output="Success. Updated the following files:\nM src/a.py\nA src/b.py",
    )
    by_shell = call("shell", command=["bash", "-lc", f"apply_patch << 'EOF'\n{patch}\nEOF"])
    for asked, answered in ((by_tool, done), (by_shell, output("Success."))):
        found = turns(asked, answered)
        assert [(turn.kind, turn.via, turn.about) for turn in found] == [
            (CALL, EDIT, "src/a.py"),
            (CALL, EDIT, "src/b.py"),
            (RESULT, EDIT, "src/a.py"),
            (RESULT, EDIT, "src/b.py"),
        ]
        assert len({turn.call for turn in found}) == 2


def test_a_plan_counts_when_it_was_taken():
    plan = [{"step": "write", "status": "completed"}, {"step": "test", "status": "in_progress"}]
    (turn,) = turns(call("update_plan", plan=plan), output("Plan updated"))
    assert turn.kind == TODOS
    assert [(step.key, step.title, step.status) for step in turn.steps] == [
        ("1", "write", "completed"),
        ("2", "test", "in_progress"),
    ]
    assert turns(call("update_plan", plan=plan), output("unsupported call: update_plan")) == []


def test_what_is_written_down_beside_a_plan_is_quoted_from_the_line_of_the_call():
    plan = [{"step": "write", "status": "pending"}]
    said, listed = turns(
        call("update_plan", plan=plan, explanation="The parser goes first."), output("Plan updated")
    )
    assert (said.kind, said.line, said.text) == (DETAIL, 1, "The parser goes first.")
    assert listed.kind == TODOS


def test_a_subagent_is_sent_off_and_a_refusal_of_it_is_its_outcome():
    found = turns(
        call("spawn_agent", message="look for leaks"), output("Error: no more agents", "c1")
    )
    assert [turn.kind for turn in found] == [LAUNCH, OUTCOME]
    assert found[1].failed


def running(process, printed=""):
    return f"Wall time: 1.0 seconds\nProcess running with session ID {process}\nOutput:\n{printed}"


def exited(code, printed):
    return (
        f"Chunk ID: b\nWall time: 9.0 seconds\nProcess exited with code {code}\nOutput:\n{printed}"
    )


def state(*entries):
    draft = draft_of(turns(*entries))
    tested = [item.text for item in draft.of(STATE) if item.about == "last test run"]
    return tested, [item.text for item in draft.of(RUNNING)]


def test_a_command_that_outlives_its_call_has_no_result_until_it_ends():
    started = [call("exec_command", cmd="pytest -q"), output(running(5, "collecting"))]
    looks = [call("write_stdin", "c2", session_id=5, chars=""), output(running(5), "c2")]
    assert state(*started) == ([], ["pytest -q"])
    assert state(*started, *looks) == ([], ["pytest -q"])
    ends = [
        call("write_stdin", "c3", session_id=5, chars=""),
        output(exited(1, "3 failed, 9 passed"), "c3"),
    ]
    assert state(*started, *looks, *ends) == (["pytest -q -> 3 failed, 9 passed"], [])
    last = turns(*started, *looks, *ends)[-1]
    assert (last.kind, last.call, last.failed, last.about) == (RESULT, "c1", True, "pytest -q")


def test_what_a_command_printed_before_it_ended_in_silence_stands_where_it_was_printed():
    found = turns(
        call("exec_command", cmd="pytest -q"),
        output(running(5, "9 passed in 1s")),
        call("write_stdin", "c2", session_id=5, chars=""),
        output(exited(0, ""), "c2"),
    )
    assert (found[-1].line, found[-1].text) == (2, "9 passed in 1s")


def test_what_was_typed_into_a_running_command_is_a_call_with_a_result():
    tested, open_ = state(
        call("exec_command", cmd="pytest -q"),
        output("Process running with session ID 5"),
        call("write_stdin", "c2", session_id=5, chars="y\n"),
        output(running(5, "go"), "c2"),
        call("write_stdin", "c3", session_id=6, chars="of another"),
        output("Error: no such session", "c3"),
    )
    assert (tested, open_) == ([], ["pytest -q"])


def test_a_script_that_goes_on_is_waited_for_by_its_cell():
    source = "await tools.exec_command('make test')"
    script = line("response_item", type="custom_tool_call", name="exec", input=source, call_id="c1")
    started = output([{"text": "Script running with cell ID 8\nWall time 11.0 seconds\nOutput:"}])
    assert [turn.kind for turn in turns(script, started)] == [CALL]
    found = turns(
        script,
        started,
        call("wait", "c2", cell_id="8"),
        output("Script failed\nWall time 2 seconds\nOutput:\n1 failed", "c2"),
    )
    assert (found[-1].call, found[-1].text, found[-1].failed) == ("c1", "1 failed", True)


def final(author, words):
    text = f"Message Type: FINAL_ANSWER\nTask name: /crew\nSender: {author}\nPayload:\n{words}"
    content = [{"type": "input_text", "text": text}]
    return line(
        "response_item", type="agent_message", author=author, recipient="/crew", content=content
    )


def test_a_subagent_is_outstanding_until_it_gives_its_final_answer():
    sent = [
        call("spawn_agent", task_name="leaks", message="look for leaks in the hull"),
        output('{"task_name":"/crew/leaks"}'),
    ]
    assert state(*sent)[1] == ["look for leaks in the hull"]
    assert (turns(*sent)[0].via, turns(*sent)[0].kind) == ("leaks", LAUNCH)
    hidden = [{"type": "encrypted_content", "encrypted_content": "x"}]
    before = line("response_item", type="agent_message", author="/crew/leaks", content=hidden)
    other = final("/crew/other", "Nothing here.")
    assert state(*sent, before, other)[1] == ["look for leaks in the hull"]
    found = turns(*sent, before, final("/crew/leaks", "The hull leaks at frame 7."))
    assert [(turn.kind, turn.text, turn.call) for turn in found[1:]] == [
        (OUTCOME, "The hull leaks at frame 7.", "c1")
    ]
    assert state(*sent, final("/crew/leaks", "The hull leaks."))[1] == []


@pytest.mark.parametrize(
    "told",
    [
        [call("wait", "c2", ids=["a-1"]),
         output('{"status":{"a-1":{"completed":"Leaks."}}}', "c2")],
        [under_user('<subagent_notification>{"agent_id":"a-1","status":{"completed":"Leaks."}}'
                    "</subagent_notification>")],
        [call("close_agent", "c2", id="a-1"), output('{"status":{"completed":"Leaks."}}', "c2")],
    ],
)  # fmt: skip
def test_in_older_versions_a_subagent_is_told_of_by_its_id(told):
    sent = [
        call("spawn_agent", message="look for leaks in the hull"),
        output('{"agent_id":"a-1","nickname":"Bacon"}'),
    ]
    waits = [call("wait", "c9", ids=["a-1"]), output('{"status":{},"timed_out":true}', "c9")]
    assert state(*sent, *waits)[1] == ["look for leaks in the hull"]
    found = turns(*sent, *waits, *told)
    assert [(turn.text, turn.call) for turn in found if turn.kind == OUTCOME] == [("Leaks.", "c1")]
    assert state(*sent, *waits, *told)[1] == []
    looks = [call("wait", "c8", ids=["a-1"]), output('{"status":{"a-1":{"completed":"x"}}}', "c8")]
    assert len([turn for turn in turns(*sent, *told, *looks) if turn.kind == OUTCOME]) == 1


def test_branch_and_folder_are_told_when_they_change():
    head = line("session_meta", id=SESSION, cwd="/x", git={"branch": "main"})
    found = turns(head, line("turn_context", cwd="/x"), line("turn_context", cwd="/y"))
    assert [(turn.kind, turn.about, turn.text) for turn in found] == [
        (PLACE, "branch", "main"),
        (PLACE, "folder", "/x"),
        (PLACE, "folder", "/y"),
    ]


# -- the file


def test_a_rollout_is_known_by_its_lines_and_read_with_seals(tmp_path):
    path = written(
        tmp_path / "rollout.jsonl",
        [
            line("session_meta", id=SESSION, cwd="/x"),
            event("token_count", info={}),
            under_user("mend the mast"),
            agent("Mended."),
            line("response_item", type="reasoning", encrypted_content="x"),
        ],
    )
    assert detect(path) is codex
    transcript = codex.read(path, SESSION)
    found = {turn.kind: turn for turn in transcript}
    assert (found[SAID].line, found[TEXT].line) == (3, 4)
    assert len(found[SAID].seal) == len(found[TEXT].seal) == 16
    assert transcript.reading.unreadable == 0


def test_the_newest_rollout_of_a_session_is_found(tmp_path):
    for day in ("28", "29"):
        folder = tmp_path / "sessions" / "2026" / "11" / day
        folder.mkdir(parents=True)
        (folder / f"rollout-2026-11-{day}T23-30-52-{SESSION}.jsonl").write_text("")
        (folder / f"rollout-2026-11-{day}T23-30-52-other.jsonl").write_text("")
    found = codex.find(str(tmp_path), SESSION)
    assert found is not None
    assert Path(found).parent.name == "29"
    assert codex.find(str(tmp_path), "unknown") is None
    assert codex.find(str(tmp_path), "../x") is None
