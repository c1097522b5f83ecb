"""Qwen Code and Droid: what set-up installs carries a session over their compactions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.contract.harness.test_one_story import SESSION, TELLERS
from tests.transcripts import written

NEXT = "fc37af55-22a1-4016-95cc-ee078a46dedd"
FOLDERS = {"qwen-code": ".qwen", "droid": ".factory"}


@pytest.fixture
def project(command):
    assert command("init").status == 0
    return command


def installed(project, name: str) -> dict[str, list[str]]:
    """The words behind our command in the settings that set-up writes, by event."""
    assert project("setup", name, "--write").status == 0
    path = Path(project.environment["HOME"]) / FOLDERS[name] / "settings.json"
    hooks = json.loads(path.read_text())["hooks"]
    return {
        event: groups[0]["hooks"][0]["command"].partition("contextspindle ")[2].split()
        for event, groups in hooks.items()
    }


@pytest.mark.parametrize("name", FOLDERS)
def test_a_session_goes_on_after_its_compaction(project, name, tmp_path):
    words = installed(project, name)
    told = TELLERS[name]()
    path = written(project.folder / "session.jsonl", told)
    common = {"session_id": SESSION, "transcript_path": path, "cwd": str(project.folder)}
    before = {**common, "hook_event_name": "PreCompact", "trigger": "auto"}
    saved = project(*words["PreCompact"], input=json.dumps(before).encode())
    assert (saved.status, saved.out, saved.err) == (0, b"", b"")
    after = {**common, "hook_event_name": "SessionStart", "source": "compact"}
    if name == "droid":  # a compaction begins another session there
        after |= {"session_id": NEXT, "previous_session_id": SESSION}
    answer = json.loads(project(*words["SessionStart"], input=json.dumps(after).encode()).out)
    text = answer["hookSpecificOutput"]["additionalContext"]
    assert "Mend the mast, never with nylon." in text
    assert "And now the sail." in text
    status = json.loads(project("fuse", "status", "--json").out)["data"]
    assert status["incidents"] == []


def test_another_session_of_droid_gets_nothing_of_this_one(project):
    words = installed(project, "droid")
    path = written(project.folder / "session.jsonl", TELLERS["droid"]())
    common = {"transcript_path": path, "cwd": str(project.folder)}
    before = {**common, "session_id": SESSION, "hook_event_name": "PreCompact"}
    project(*words["PreCompact"], input=json.dumps(before).encode())
    after = {**common, "session_id": NEXT, "hook_event_name": "SessionStart", "source": "compact"}
    told = project(*words["SessionStart"], input=json.dumps(after).encode())
    assert (told.status, told.out) == (0, b"")


@pytest.mark.real_data
@pytest.mark.parametrize("name", FOLDERS)
def test_every_recorded_payload_is_understood(project, data_folder, name):
    words = installed(project, name)
    for recorded in sorted((data_folder / "harness" / "captures" / name).glob("*.hooks.jsonl")):
        for row in recorded.read_text().splitlines():
            payload = json.loads(row)["stdin"]
            event = payload["hook_event_name"]
            payload |= {"cwd": str(project.folder), "transcript_path": "/gone"}
            line = json.dumps(payload).encode()
            done = project(*words.get(event, words["PreCompact"]), input=line)
            assert (done.status, done.err) == (0, b""), payload
    incidents = json.loads(project("fuse", "status", "--json").out)["data"]["incidents"]
    assert {one["what"].rpartition("[")[2] for one in incidents} <= {"TRANSCRIPT_UNREADABLE]"}


def test_a_second_compaction_of_droid_keeps_goal_rule_and_steps_of_the_session_before(project):
    """Each begins another session, whose file holds none of the talk before."""
    words = installed(project, "droid")
    path = written(project.folder / "session.jsonl", TELLERS["droid"]())

    def hook(event, session, path, **fields):
        payload = {"hook_event_name": event, "session_id": session, "transcript_path": path}
        payload |= {"cwd": str(project.folder), **fields}
        done = project(*words[event], input=json.dumps(payload).encode())
        assert (done.status, done.err) == (0, b"")
        return done.out.decode()

    hook("PreCompact", SESSION, path)
    start = {"source": "compact", "previous_session_id": SESSION}
    printed = hook("SessionStart", NEXT, "", **start)

    def message(**fields):
        return {"type": "message", "id": "m", "message": {"role": "user", **fields}}

    results = [{"exitCode": 0, "stdout": ""}, {"exitCode": 0, "stdout": printed}]
    hidden = {"content": [], "visibility": "user_only", "hookEventName": "SessionStart"}
    after = [
        {"type": "session_start", "id": NEXT, "parent": SESSION, "cwd": "/x"},
        {"type": "compaction_state", "id": "s", "summaryText": "They did this and that."},
        message(**hidden, hookResults=results),
        message(content=[{"type": "text", "text": "Then paint the anchor."}]),
    ]
    second = written(project.folder / "second.jsonl", after)
    hook("PreCompact", NEXT, second)
    told = hook("SessionStart", "third", "", source="compact", previous_session_id=NEXT)
    for fact in ("Mend the mast, never with nylon.", "Then paint the anchor.", "compaction 2"):
        assert fact in told
    # Another session's record, quoted in a talk or handed by mistake, makes no heir of this one.
    after[0] = {"type": "session_start", "id": NEXT, "parent": "somebody", "cwd": "/x"}
    hook("PreCompact", NEXT, written(project.folder / "stranger.jsonl", after))
    told = hook("SessionStart", "fourth", "", source="compact", previous_session_id=NEXT)
    assert "Then paint the anchor." in told
    assert "Mend the mast" not in told


def test_a_compaction_that_droid_makes_by_itself_is_answered_once_at_the_next_event(project):
    words = installed(project, "droid")
    path = Path(written(project.folder / "session.jsonl", TELLERS["droid"]()))

    def hook(event):
        payload = {"hook_event_name": event, "session_id": SESSION, "transcript_path": str(path)}
        payload |= {"cwd": str(project.folder), "permission_mode": "auto-high"}
        done = project(*words[event], input=json.dumps(payload).encode())
        assert (done.status, done.err) == (0, b"")
        return done.out.decode()

    def add(entry):
        with path.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    # The compaction that stands in the file before the first prompt is an older one.
    assert hook("UserPromptSubmit") == ""
    assert hook("PostToolUse") == ""
    talk = {"role": "user", "content": [{"type": "text", "text": "Then paint the anchor."}]}
    add({"type": "message", "id": "m", "message": talk})
    add({"type": "compaction_state", "id": "s", "summaryText": "Something was done."})
    answer = json.loads(hook("PostToolUse"))["hookSpecificOutput"]
    assert answer["hookEventName"] == "PostToolUse"
    for fact in ("Mend the mast, never with nylon.", "Then paint the anchor."):
        assert fact in answer["additionalContext"]
    assert hook("PostToolUse") == ""
    assert hook("UserPromptSubmit") == ""
    add({"type": "compaction_state", "id": "t", "summaryText": "More was done."})
    assert "Mend the mast" in hook("UserPromptSubmit")
    status = json.loads(project("fuse", "status", "--json").out)["data"]
    assert status["incidents"] == []


def test_a_session_of_droid_of_which_nothing_was_saved_hands_on_the_one_before_it(project):
    """Each start tells one session back only; how it went on from there is remembered."""
    words = installed(project, "droid")

    def hook(event, session, path, **fields):
        payload = {"hook_event_name": event, "session_id": session, "transcript_path": str(path)}
        payload |= {"cwd": str(project.folder), **fields}
        done = project(*words[event], input=json.dumps(payload).encode())
        assert (done.status, done.err) == (0, b"")
        return done.out.decode()

    hook("PreCompact", SESSION, written(project.folder / "one.jsonl", TELLERS["droid"]()))
    start = {"source": "compact"}
    assert "Mend the mast" in hook("SessionStart", NEXT, "", **start, previous_session_id=SESSION)
    hook("PreCompact", NEXT, project.folder / "gone.jsonl")
    told = hook("SessionStart", "third", "", **start, previous_session_id=NEXT)
    for fact in ("Mend the mast, never with nylon.", f"what followed it: session {NEXT}."):
        assert fact in told


def test_before_a_compaction_of_another_program_nothing_at_all_is_printed(project):
    """What Claude Code's summary is steered with is no answer that another program takes in."""
    task = project("task", "create", "Mend the mast", "--quiet").out.decode().strip()
    story = TELLERS["qwen-code"]()
    rows = json.dumps(story).replace("make test", f"contextspindle task show {task}")
    path = written(project.folder / "session.jsonl", json.loads(rows))
    payload = {"session_id": SESSION, "transcript_path": path, "cwd": str(project.folder)}
    payload |= {"hook_event_name": "PreCompact", "trigger": "auto"}
    saves = ("fuse", "save", "--harness", "qwen-code")
    done = project(*saves, input=json.dumps(payload).encode())
    assert (done.status, done.out, done.err) == (0, b"", b"")
    saved = json.loads(project("fuse", "show", "--json").out)["data"]
    assert task in json.dumps(saved)
