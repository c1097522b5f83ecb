"""The canary: a mark that shows whether a harness hands over what it is given."""

from __future__ import annotations

import json

import pytest

from contextspindle.core.transcript import CLOSING, NOTHING_QUOTED
from contextspindle.doctor import canary
from contextspindle.store.canary import ARMED_MS, Canary
from contextspindle.workspace import find
from tests.contract.surface.test_documents import check, described


@pytest.fixture
def session(project):
    """A transcript of Claude Code with one line, and the hook payload of its compaction."""
    path = project.folder.parent / "s.jsonl"
    said = {"role": "user", "content": "Build the kite, never with nylon."}
    line = {"type": "user", "sessionId": "s", "uuid": "u", "message": said}
    path.write_text(json.dumps(line) + "\n")
    return {"session_id": "s", "transcript_path": str(path), "cwd": str(project.folder)}


def compacted(project, session, **more) -> str:
    """What the agent is handed after a compaction; empty for nothing."""
    save = {"hook_event_name": "PreCompact", "trigger": "auto", **session, **more}
    assert project("fuse", "save", input=json.dumps(save).encode()).status == 0
    start = {"hook_event_name": "SessionStart", "source": "compact", **session, **more}
    told = project("fuse", "restore", input=json.dumps(start).encode())
    return json.loads(told.out)["hookSpecificOutput"]["additionalContext"] if told.out else ""


def asked(project) -> dict:
    done = project("doctor", "--canary", "--json")
    assert done.status == (1 if done.data["state"] == "lost" else 0)
    check(done.data, "[canary](#)", "canary", described())
    return done.data


def bird(project):
    return Canary(str(project.folder / ".contextspindle" / "canary.json")).bird()


def written(session, **entry) -> None:
    with open(session["transcript_path"], "a") as file:
        file.write(json.dumps({"sessionId": "s", "type": "attachment", **entry}) + "\n")


def delivered(session, text) -> None:
    """As Claude Code writes down what it has handed to its model."""
    about = {"type": "hook_additional_context", "content": [text]}
    rendered = [{"content": f"<system-reminder>\n{text}\n</system-reminder>"}]
    written(session, attachment=about, rendered=rendered)


def ran(session, text) -> None:
    """As it writes down what a hook printed, whether or not anybody is given it."""
    out = json.dumps({"hookSpecificOutput": {"additionalContext": text}})
    written(session, attachment={"type": "hook_success", "stdout": out})


def test_a_mark_that_arrives_is_a_delivery_and_the_canary_is_gone(project, session):
    first = asked(project)
    assert (first["state"], first["handed"]) == ("armed", None)
    assert "/compact" in first["do"]
    word = bird(project).word
    assert word not in json.dumps(first)  # or the agent that runs the command would write it down
    text = compacted(project, session)
    lines = text.splitlines()
    assert word in lines[-2]
    assert lines[-1] == CLOSING
    assert "Build the kite" in text
    assert asked(project)["state"] == "handed"
    ran(session, text)
    assert asked(project)["state"] == "handed"
    delivered(session, text)
    last = asked(project)
    assert (last["state"], last["session"]) == ("delivered", "s")
    assert bird(project) is None
    assert asked(project)["state"] == "armed"


def test_only_one_text_carries_the_mark_and_within_its_budget(project, session):
    with open(session["transcript_path"], "a") as file:
        for number in range(40):
            said = {"role": "user", "content": f"Never use tool {number} on part {number * 7}."}
            line = {"type": "user", "sessionId": "s", "uuid": str(number), "message": said}
            file.write(json.dumps(line) + "\n")
    asked(project)
    word = bird(project).word
    agent = compacted(project, session, agent_id="a1", agent_type="general-purpose")
    assert word not in agent
    settings = project.folder / ".contextspindle" / "config.json"
    settings.write_text('{"fuse_budget": 1000}')
    first, second = compacted(project, session), compacted(project, session)
    assert word in first
    assert len(first.encode()) <= 1_000
    assert word not in second
    assert len(second.encode()) > 950  # so that the mark had to have its room made


def test_the_mark_goes_out_where_there_is_nothing_else_to_say(project, session):
    asked(project)
    session["transcript_path"] = "/does/not/exist"
    start = {"hook_event_name": "SessionStart", "source": "compact", **session}
    told = project("fuse", "restore", input=json.dumps(start).encode())
    text = json.loads(told.out)["hookSpecificOutput"]["additionalContext"]
    assert text.startswith(NOTHING_QUOTED)
    assert bird(project).word in text
    found = asked(project)
    assert (found["state"], "cannot be read" in found["what"]) == ("unseen", True)


def test_nothing_of_it_stays_in_the_workspace(project, session):
    asked(project)
    word = bird(project).word
    delivered(session, compacted(project, session))
    asked(project)
    compacted(project, session)  # which reads the transcript with the mark in it
    kept = [path for path in (project.folder / ".contextspindle").rglob("*") if path.is_file()]
    assert len(kept) > 3
    assert [path for path in kept if word.encode() in path.read_bytes()] == []


def test_a_mark_from_before_the_compaction_is_none(project, session):
    asked(project)
    delivered(session, f"mark {bird(project).word}")
    compacted(project, session)
    assert asked(project)["state"] == "handed"


def test_what_did_not_come_within_the_hour_is_lost(project, session, monkeypatch):
    monkeypatch.chdir(project.folder)
    space = find()
    armed = canary.sent(space, 1_000)
    assert canary.sent(space, ARMED_MS).state == canary.ARMED
    assert space.canary().line(ARMED_MS) != ""
    assert space.canary().line(1_000 + ARMED_MS) == ""
    found = canary.sent(space, 1_000 + ARMED_MS)
    assert (found.state, "no compaction" in found.what) == (canary.LOST, True)
    assert space.canary().bird() is None

    canary.sent(space, 1_000)
    space.canary().given(2_000, "s", "claude-code", session["transcript_path"])
    found = canary.sent(space, 1_000 + ARMED_MS)
    assert (found.state, "did not deliver" in found.what) == (canary.LOST, True)
    assert armed.bird.word != found.bird.word


@pytest.mark.parametrize("harness", ["droid", "qwen-code"])
def test_of_a_harness_that_writes_nothing_down_it_cannot_be_told(
    project, session, monkeypatch, harness
):
    monkeypatch.chdir(project.folder)
    space = find()
    canary.sent(space, 1_000)
    space.canary().given(2_000, "s", harness, session["transcript_path"])
    assert canary.sent(space, 3_000).state == canary.UNSEEN


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"word":1}', b'{"word":"x","armed":"y"}'])
def test_a_damaged_canary_is_none_and_harms_no_hook(project, session, content):
    place = project.folder / ".contextspindle" / "canary.json"
    place.write_bytes(content)
    assert "Build the kite" in compacted(project, session)
    assert asked(project)["state"] == "armed"


def test_without_a_workspace_there_is_no_canary(command):
    done = command("doctor", "--canary", "--json")
    assert (done.status, done.error["code"]) == (3, "WORKSPACE_NOT_FOUND")
    assert command("doctor", "--canary", "--deep").status == 2
