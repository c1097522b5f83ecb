"""The installed command, many at one moment: statuses are true, and what was answered is there."""

from __future__ import annotations

import fcntl
import json
import subprocess
import time

import pytest


def data(out):
    return json.loads(out)["data"]


@pytest.mark.parametrize("turn", range(10))
def test_two_first_starts_make_one_workspace(command, at_once, turn):
    ended = at_once(*[("init", "--json")] * 2)
    assert [status for status, _, _ in ended] == [0, 0], ended
    assert [err for _, _, err in ended] == [b"", b""]
    wrote = [path for _, out, _ in ended for path in data(out)["wrote"]]
    assert sum(path.endswith("ledger.sqlite3") for path in wrote) == 1
    place = command.folder / ".contextspindle"
    assert (place / ".gitignore").read_bytes() == b"*\n"
    assert sorted(one.name for one in place.iterdir()) == [".gitignore", "tasks"]
    assert command("task", "create", "x").status == 0
    assert command("task", "list", "--json").data["total"] == 1


def test_what_eight_streams_of_commands_create_is_all_there(command, at_once, long_run):
    """Each process creates one task and ends: start-up, lock, commit and exit all take part."""
    assert command("init").status == 0
    rounds = 50 if long_run else 5
    made = []
    for number in range(rounds):
        calls = [("task", "create", f"{number}.{one}", "--quiet") for one in range(8)]
        ended = at_once(*calls)
        assert [(status, err) for status, _, err in ended] == [(0, b"")] * 8
        made += [out.decode().strip() for _, out, _ in ended]
    assert len(set(made)) == rounds * 8
    found = []
    for offset in range(0, rounds * 8, 100):
        page = command("task", "list", str(offset), "100", "--json").data
        found += [one["id"] for one in page["tasks"]]
    assert set(found) == set(made)


def test_the_same_creation_from_eight_commands_is_one_task(command, at_once):
    assert command("init").status == 0
    ended = at_once(*[("task", "create", "once", "--key", "the same", "--json")] * 8)
    assert [status for status, _, _ in ended] == [0] * 8, ended
    found = [data(out) for _, out, _ in ended]
    assert len({one["task"]["id"] for one in found}) == 1
    assert sorted(one["changed"] for one in found) == [False] * 7 + [True]


def test_notes_from_many_commands_are_all_kept(command, at_once):
    assert command("init").status == 0
    made = command("task", "create", "shared", "--quiet").out.decode().strip()
    for turn in range(2):
        calls = [("task", "update", made, "--note", f"{turn}.{one}") for one in range(8)]
        assert [status for status, _, _ in at_once(*calls)] == [0] * 8
    task = command("task", "show", made, "--json").data
    assert task["version"] == 17
    assert sorted(note["text"] for note in task["notes"]) == sorted(
        f"{turn}.{one}" for turn in range(2) for one in range(8)
    )
    history = command("task", "history", made, "--json").data
    assert [one["version"] for one in history["changes"]] == [*range(1, 18)]


def test_a_purge_among_writers_loses_nothing_and_leaves_nothing(command, at_once, tmp_path):
    assert command("init").status == 0
    made = command("task", "create", "x", "--note", "kq7-Zx93", "--quiet").out.decode().strip()
    (tmp_path / "leaked").write_bytes(b"kq7-Zx93")
    with (tmp_path / "leaked").open("rb") as given:
        purge = subprocess.Popen(
            [command.path, "purge", "--write"],
            stdin=given,
            stdout=subprocess.DEVNULL,
            cwd=command.folder,
            env=command.environment,
        )
        calls = [("task", "update", made, "--note", f"{one}") for one in range(6)]
        assert [status for status, _, _ in at_once(*calls)] == [0] * 6
        assert purge.wait(timeout=60) == 0
    notes = [one["text"] for one in command("task", "show", made, "--json").data["notes"]]
    assert sorted(notes) == [*map(str, range(6)), "[masked]"]
    assert command("verify", "--deep").status == 0
    ledger = command.folder / ".contextspindle" / "tasks"
    assert b"kq7-Zx93" not in b"".join(one.read_bytes() for one in ledger.iterdir())


def test_of_two_commands_that_expect_one_version_one_is_refused(command, at_once):
    assert command("init").status == 0
    made = command("task", "create", "x", "--quiet").out.decode().strip()
    calls = [
        ("task", "update", made, "--owner", name, "--expect", "1", "--json") for name in "abcd"
    ]
    ended = at_once(*calls)
    assert sorted(status for status, _, _ in ended) == [0, 4, 4, 4]
    for status, _, err in ended:
        if status:
            assert json.loads(err)["error"]["code"] == "VERSION_CONFLICT"


def test_a_command_that_cannot_have_the_lock_ends_with_75(command, long_run):
    if not long_run:
        pytest.skip("waits the full five seconds: set CONTEXTSPINDLE_LONG=1")
    assert command("init").status == 0
    lock = command.folder / ".contextspindle" / "tasks" / "ledger.sqlite3.lock"
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before = time.monotonic()
        result = command("task", "create", "x", "--json")
        assert 4.5 < time.monotonic() - before < 15
        assert result.status == 75
        assert result.error["code"] == "STORE_BUSY"
        assert command("task", "list").status == 0
    assert command("task", "create", "x").status == 0
