"""Names of folders and files that are no UTF-8: what is stored and sent is text all the same."""

from __future__ import annotations

import json
import os

import pytest

STRANGE = b"caf\xe9"
TRANSCRIPT = b'{"role":"user","content":"Ship it."}\n{"role":"assistant","content":"I will."}\n'


@pytest.fixture
def strange(command):
    """The command, in a checkout and workspace of such a name, with such a transcript in it."""
    folder = os.fsencode(command.folder) + b"/" + STRANGE
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("no folder of such a name can be made here")
    command.folder = os.fsdecode(folder)
    os.mkdir(folder + b"/.git")
    with open(folder + b"/.git/HEAD", "wb") as file:
        file.write(b"ref: refs/heads/" + STRANGE)
    with open(folder + b"/s\xe9.jsonl", "wb") as file:
        file.write(TRANSCRIPT)
    assert command("init").status == 0
    return command


def test_a_transcript_of_such_a_name_is_saved_by_hand_and_restored(strange):
    saved = strange("fuse", "save", "--transcript", b"s\xe9.jsonl", "--json")
    assert (saved.status, saved.data["session"], saved.data["changed"]) == (0, "s\ufffd", True)
    again = strange("fuse", "save", "--transcript", b"s\xe9.jsonl", "--json")
    assert (again.status, again.data["changed"]) == (0, False)
    (one,) = strange("fuse", "list", "--json").data["snapshots"]
    assert one["session"] == "s\ufffd"
    told = strange("fuse", "restore", "--session", b"s\xe9")
    assert (told.status, b"Ship it." in told.out) == (0, True)
    assert b"is gone" not in told.out
    assert strange("memory", "sync", b"s\xe9.jsonl").status == 0
    again = strange("memory", "sync", b"s\xe9.jsonl", "--json").data
    assert (again["added"], again["before"] > 0) == (0, True)


def test_a_hook_in_such_a_folder_saves(strange):
    found = {"hook_event_name": "PreCompact", "session_id": "s", "trigger": "auto"}
    given = json.dumps({**found, "transcript_path": "/none"}).encode()
    assert strange("fuse", "save", input=given).status == 0
    assert strange("fuse", "status", "--json").data["sessions"][0]["session"] == "s"


def test_a_backup_of_such_a_name_is_made_and_named_by_a_purge(strange):
    strange("task", "create", "the word is marzipan")
    folder = os.fsencode(strange.folder) + b"/../kept\xe9"
    assert strange("backup", folder).status == 0
    told = strange("purge", input=b"marzipan")
    assert told.status == 0
    assert b"kept?" in told.out or "kept\ufffd".encode() in told.out


def test_settings_that_cannot_hold_such_a_name_are_refused_and_not_touched(strange, home):
    done = strange("setup", "claude-code", "--project", "--mcp", "--write", "--json")
    assert (done.status, done.error["code"]) == (2, "INVALID_INPUT")
    assert "not UTF-8" in done.error["message"]
    assert not (home / ".claude.json").exists()
