"""Cursor and Cline, as far as their documents say: who spoke, and what a hook asks for."""

from __future__ import annotations

import json

import pytest

from contextspindle import programs
from contextspindle.core.draft import RUNNING, STATE
from contextspindle.core.transcript import CALL, EDIT, PROMPT, RESULT, SAID, TEXT
from contextspindle.errors import EventUnknown, InvalidInput
from contextspindle.harness import cline, cursor, detect
from tests.transcripts import draft_of, written

SESSION = "3f0c1a52-1111-4222-8333-444455556666"


def line(role, *content):
    return {"role": role, "message": {"content": list(content)}}


def text(words):
    return {"type": "text", "text": words}


TALK = [
    line("user", text("<open_files>\na.py\n</open_files>"), text("Mend it.")),
    line("user", text("context"), text("<time>x</time><user_query>\nNo nylon.\n</user_query>")),
    line(
        "assistant",
        text("I mend it."),
        {"type": "tool_use", "name": "Write", "input": {"path": "/x/mast.py", "contents": "b"}},
    ),
    {"type": "turn_ended", "status": "completed"},
    line("assistant", text("")),
]


def test_a_transcript_of_cursor_is_known_and_read(tmp_path):
    path = written(tmp_path / "a.jsonl", TALK)
    assert detect(path).NAME == "cursor"
    transcript = cursor.read(path, SESSION)
    assert [(turn.line, turn.kind, turn.via, turn.text) for turn in transcript] == [
        (1, SAID, PROMPT, "Mend it."),
        (2, SAID, PROMPT, "No nylon."),
        (3, TEXT, "", "I mend it."),
        (3, CALL, EDIT, "b"),
        (3, RESULT, EDIT, ""),
    ]
    assert transcript.reading.known == 4


def uses(tool, **given):
    return {"type": "tool_use", "name": tool, "input": given}


WORK = [
    line("user", text("Mend the mast.")),
    line("assistant", text("I mend it."), uses("Write", path="/x/mast.py", contents="b"),
         uses("Shell", command="pytest -q"), uses("Task", prompt="Look at the sail.")),
    line("assistant", text("It is mended."), uses("Shell", command="make sail")),
]  # fmt: skip


def test_where_a_talk_of_cursor_goes_on_its_calls_are_over_and_its_edits_made(tmp_path):
    path = written(tmp_path / "a.jsonl", WORK)
    turns = list(cursor.read(path, SESSION))
    draft = draft_of(turns)
    assert [item.text for item in draft.of(RUNNING)] == ["make sail"]
    state = [(item.about, item.text, item.line) for item in draft.of(STATE)]
    assert state == [("file", "/x/mast.py", 2)]  # and no test run: nobody knows how it went
    assert len({turn.seal for turn in turns if turn.line == 2}) == 1
    assert all(turn.seal for turn in turns)


def test_a_transcript_is_found_by_its_conversation(tmp_path):
    place = tmp_path / "projects" / "home-me-x" / "agent-transcripts" / SESSION
    place.mkdir(parents=True)
    path = written(place / f"{SESSION}.jsonl", TALK)
    assert cursor.find(str(tmp_path), SESSION) == path
    assert cursor.find(str(tmp_path), "another") is None
    assert cursor.find(str(tmp_path), "../../x") is None
    assert cursor.find(str(tmp_path / "none"), SESSION) is None


def test_payloads_of_cursor_are_understood_and_no_others():
    common = {
        "conversation_id": SESSION,
        "cursor_version": "2.4",
        "workspace_roots": ["/x/project"],
        "transcript_path": None,
    }
    for name, verb in (
        ("preCompact", "save"),
        ("stop", "save"),
        ("sessionStart", "restore"),
        ("postToolUse", "none"),
    ):
        event = cursor.parse_event({**common, "hook_event_name": name, "trigger": "auto"})
        assert (event.verb, event.session, event.cwd) == (verb, SESSION, "/x/project")
        assert event.transcript == ""
    assert json.loads(cursor.injection("text", event)) == {"additional_context": "text"}
    for payload in ([], {}, {"hook_event_name": "stop"}, {"conversation_id": SESSION}):
        with pytest.raises(EventUnknown):
            cursor.parse_event(payload)


def said(*entries):
    parser = cline.Parser()
    turns = [turn for at, one in enumerate(entries, 1) for turn in parser.turns(at, one)]
    return [turn.text for turn in turns if turn.kind == SAID]


def test_what_cline_s_user_typed_stands_in_a_tag():
    entries = [
        {"role": "user", "content": [text("<task>\nMend the mast.\n</task>"),
                                     text("<environment_details>\nx\n</environment_details>")]},
        {"role": "user", "content": [text("[execute_command for 'make'] Result:\nok")]},
        {"role": "user", "content": [text("<feedback>\nNot with nylon.\n</feedback>")]},
        {"role": "user", "content": [text('<user_input mode="act">Go on.</user_input>')]},
        {"role": "user", "content": [text("<user_inputs>no</user_inputs>"), text("<tasks>")]},
        {"role": "user", "content": "<task>As a string.</task>"},
    ]  # fmt: skip
    assert said(*entries) == ["Mend the mast.", "Not with nylon.", "Go on.", "As a string."]


def test_an_older_document_of_cline_is_a_bare_list(tmp_path):
    path = tmp_path / "api_conversation_history.json"
    path.write_text(
        json.dumps(
            [
                {"role": "user", "content": [text("<task>\nMend it.\n</task>")]},
                {"role": "assistant", "content": [text("Mended.")]},
            ]
        )
    )
    chosen = detect(str(path))
    assert chosen.NAME == "cline"
    assert [turn.text for turn in chosen.read(str(path))] == ["Mend it.", "Mended."]


def test_talk_without_a_mark_of_cline_s_is_plain(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"role": "user", "content": [text("Mend it.")]}]))
    assert detect(str(path)).NAME == "plain"


def test_the_messages_of_a_session_of_cline_are_found(tmp_path):
    place = tmp_path / "data" / "sessions" / "1795_a"
    place.mkdir(parents=True)
    path = place / "1795_a.messages.json"
    path.write_text("{}")
    assert cline.find(str(tmp_path), "1795_a") == str(path)
    assert cline.find(str(tmp_path), "1795_b") is None
    assert cline.find(str(tmp_path), "../x") is None


def test_payloads_of_cline_are_understood_and_no_others():
    common = {"taskId": "conv_1", "clineVersion": "", "workspaceRoots": ["/x/project"]}
    told = {"contextJsonPath": "/x/context.json"}
    event = cline.parse_event({**common, "hookName": "PreCompact", "preCompact": told})
    assert (event.verb, event.session, event.transcript) == ("save", "conv_1", "/x/context.json")
    assert event.cwd == "/x/project"
    assert cline.parse_event({**common, "hookName": "TaskStart"}).source == "startup"
    assert cline.parse_event({**common, "hookName": "tool_call"}).verb == "none"
    assert json.loads(cline.injection("text", event)) == {
        "cancel": False,
        "contextModification": "text",
    }
    for payload in ([], {}, {"hookName": "PreCompact"}, {"taskId": "x"}):
        with pytest.raises(EventUnknown):
            cline.parse_event(payload)


@pytest.mark.real_data
def test_every_recorded_payload_of_cline_is_understood(data_folder):
    count = 0
    for path in sorted((data_folder / "harness" / "captures" / "cline").glob("*.hooks.jsonl")):
        for row in path.read_text().splitlines():
            event = cline.parse_event(json.loads(row)["stdin"])
            assert (event.verb, event.session != "") == ("none", True)
            count += 1
    assert count > 10


@pytest.mark.parametrize("name", ["cursor", "cline"])
def test_nothing_is_installed_that_was_not_seen_to_work(home, name):
    with pytest.raises(InvalidInput, match=r"no settings to put hooks into|There is no program"):
        programs.set_up(name, "user", "write", (programs.HOOKS,), version="1")
    assert list(home.iterdir()) == []
