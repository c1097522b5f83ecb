"""OpenCode's messages: who spoke, what a pointer rests on, and where it leads."""

from __future__ import annotations

import json
import stat

import pytest

from contextspindle.core.transcript import (
    ANSWER,
    CALL,
    EDIT,
    LAUNCH,
    OUTCOME,
    PROMPT,
    REFUSAL,
    RESULT,
    SAID,
    TODOS,
    Turn,
)
from contextspindle.errors import EventUnknown, TranscriptUnreadable
from contextspindle.harness import opencode

SESSION = "ses_1a2b3c"


def message(role, *parts, **info):
    return {"info": {"id": "m", "sessionID": SESSION, "role": role, **info}, "parts": list(parts)}


def tool(name, status="completed", **state):
    whole = {"status": status, **state}
    return {"type": "tool", "tool": name, "callID": "c1", "state": whole}


def turns(*entries) -> list[Turn]:
    parser = opencode.Parser()
    return [turn for line, one in enumerate(entries, 1) for turn in parser.turns(line, one)]


def told(*entries):
    return [(turn.kind, turn.via, turn.text, turn.about) for turn in turns(*entries)]


def test_what_the_program_added_to_a_prompt_is_not_the_user_s():
    entry = message(
        "user",
        {"type": "text", "text": "look at @mast.py"},
        {"type": "text", "text": "Called the Read tool", "synthetic": True},
        {"type": "text", "text": "not sent", "ignored": True},
        {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"},
        {"type": "file", "mime": "text/plain", "url": "file:///x/mast.py"},
        {"type": "agent", "name": "general"},
    )
    assert told(entry) == [(SAID, PROMPT, "look at @mast.py\n[Image]", "")]


def test_answers_to_a_question_are_the_user_s_words_each_with_its_question():
    asked = [{"question": "Which sail?"}, {"question": "And when?"}, {"question": "Why?"}]
    part = tool(
        "question",
        input={"questions": asked},
        output='User has answered your questions: "Which sail?"="the jib, the main"',
        metadata={"answers": [["the jib", "the main"], ["tomorrow"], []]},
    )
    answers = [turn for turn in turns(message("assistant", part)) if turn.via == ANSWER]
    assert [(turn.about, turn.text) for turn in answers] == [
        ("Which sail?", "the jib, the main"),
        ("And when?", "tomorrow"),
    ]


def test_what_the_user_says_while_refusing_a_call_is_heard():
    error = (
        "The user rejected permission to use this specific tool call with the following feedback:"
        " use the other branch"
    )
    part = tool("bash", "error", input={"command": "git push"}, error=error)
    found = turns(message("assistant", part))
    assert [(turn.kind, turn.failed) for turn in found] == [
        (CALL, False),
        (RESULT, True),
        (SAID, False),
    ]
    assert (found[-1].via, found[-1].text) == (REFUSAL, "use the other branch")
    assert found[-1].about == "git push"


def test_a_refusal_without_a_word_says_nothing():
    error = "The user rejected permission to use this specific tool call."
    part = tool("bash", "error", input={"command": "git push"}, error=error)
    assert [turn.kind for turn in turns(message("assistant", part))] == [CALL, RESULT]


def test_a_patch_changes_each_file_that_it_names():
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** Add File: b.py\n+x\n*** End Patch"
    )
    part = tool("apply_patch", input={"patchText": patch}, output="Done")
    found = turns(message("assistant", part))
    assert [(turn.kind, turn.via, turn.about) for turn in found] == [
        (CALL, EDIT, "a.py"),
        (RESULT, EDIT, "a.py"),
        (CALL, EDIT, "b.py"),
        (RESULT, EDIT, "b.py"),
    ]


def test_steps_and_subagents_are_told_as_such():
    steps = [{"content": "sew", "status": "in_progress", "priority": "high"}]
    found = turns(
        message("assistant", tool("todowrite", input={"todos": steps}, output="[]")),
        message(
            "assistant",
            tool("task", input={"description": "look", "prompt": "Count"}, output="Three reefs"),
        ),
    )
    assert [turn.kind for turn in found] == [TODOS, LAUNCH, OUTCOME]
    assert [(one.title, one.status) for one in found[0].steps] == [("sew", "in_progress")]


def test_a_call_that_still_runs_has_no_result():
    found = turns(message("assistant", tool("bash", "running", input={"command": "make"})))
    assert [turn.kind for turn in found] == [CALL]


@pytest.mark.parametrize(
    "parts",
    [[None, 7, "x", []], [{}], [{"type": "tool"}], [{"type": "tool", "state": 7}],
     [{"type": "text", "text": None}], [tool("bash", input=[])],
     [tool("question", input={"questions": 7}, metadata={"answers": "x"})],
     [tool("question", input=None, metadata=7)], [tool("todowrite", input={"todos": 7})]],
)  # fmt: skip
def test_a_strange_part_raises_nothing_and_says_nothing_of_the_user(parts):
    assert not [turn for turn in turns(message("assistant", *parts)) if turn.kind == SAID]
    turns(message("user", *parts))


def test_a_seal_stays_while_times_and_usage_are_noted_and_goes_with_a_word():
    part = tool("bash", input={"command": "make"}, output="ok", time={"start": 1})
    before = turns(message("assistant", part, cost=0))[0].seal
    later = tool("bash", input={"command": "make"}, output="ok", time={"start": 1, "compacted": 9})
    assert turns(message("assistant", later, cost=3, tokens={"input": 5}))[0].seal == before
    other = tool("bash", input={"command": "make"}, output="no")
    assert turns(message("assistant", other, cost=0))[0].seal != before


def test_messages_of_another_session_are_passed_over(tmp_path):
    path = tmp_path / "a.jsonl"
    other = message("user", {"type": "text", "text": "phantom"})
    other["info"]["sessionID"] = "ses_other"
    mine = message("user", {"type": "text", "text": "mend it"})
    path.write_text("".join(json.dumps(one) + "\n" for one in (mine, other)))
    transcript = opencode.read(str(path), SESSION)
    assert [turn.text for turn in transcript] == ["mend it"]
    assert transcript.reading.foreign == 1


@pytest.fixture
def handed(tmp_path):
    """What the plugin hands over of a session, and the session as a document."""
    said = [message("user", {"type": "text", "text": f"word {number}"}) for number in range(3)]
    path = tmp_path / "contextspindle-x" / "handed.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(one) + "\n" for one in said))
    return path, {"info": {"id": SESSION}, "messages": said}


def program(folder, text):
    folder.mkdir()
    path = folder / "opencode"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_what_was_handed_over_is_found_again_by_an_export(handed, tmp_path, monkeypatch):
    path, document = handed
    first = opencode.read(str(path), SESSION)
    assert first.path == f"opencode export {SESSION}"
    before = list(first)
    path.unlink()
    shown = tmp_path / "shown.json"
    shown.write_text(json.dumps(document, indent=2))
    program(tmp_path / "bin", f'test "$1 $2" = "export {SESSION}" && cat {shown}')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert list(opencode.read(first.path, SESSION)) == before


def test_an_export_that_fails_is_told_as_such(handed, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(TranscriptUnreadable, match="cannot be run here"):
        opencode.read(f"opencode export {SESSION}", SESSION)
    program(tmp_path / "bin", "exit 3")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    with pytest.raises(TranscriptUnreadable, match="failed"):
        opencode.read(f"opencode export {SESSION}", SESSION)


@pytest.mark.parametrize("name", ["", "x; rm -rf /", "../x", "--help x", "a b"])
def test_only_an_id_is_exported(name, tmp_path, monkeypatch):
    program(tmp_path / "bin", f"touch {tmp_path}/ran")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    with pytest.raises(TranscriptUnreadable):
        opencode.read(f"opencode export {name}", SESSION)
    assert not (tmp_path / "ran").exists()


def test_a_file_of_another_name_keeps_its_own(handed):
    path, _ = handed
    other = path.with_name("session.jsonl")
    path.rename(other)
    assert opencode.read(str(other), SESSION).path == str(other)


def test_the_plugin_s_payloads_are_understood_and_no_others():
    common = {"session_id": SESSION, "cwd": "/x"}
    for name, verb in (
        ("session.compacting", "save"),
        ("session.compacted", "restore"),
        ("session.start", "restore"),
        ("session.deleted", "none"),
    ):
        event = opencode.parse_event({**common, "hook_event_name": name, "summary": "They did."})
        assert (event.verb, event.summary, event.session) == (verb, "They did.", SESSION)
    for payload in ([], None, "x", {}, {"hook_event_name": "session.start"}):
        with pytest.raises(EventUnknown):
            opencode.parse_event(payload)
    assert json.loads(opencode.injection('a "text"', event)) == {"text": 'a "text"'}
