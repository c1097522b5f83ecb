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
