"""The exit status tells the kind of error; the text tells what happened and what to do next."""

from __future__ import annotations

import fcntl
import os
import sqlite3

import pytest

from contextspindle import errors, workspace
from contextspindle.core.change import Request


def kinds() -> dict[str, int]:
    return {kind.code: kind.exit_status for kind in (errors.SpindleError, *errors.every())}


def ended(done, code: str) -> None:
    """``done`` ended with the error ``code``, said so in text, and printed nothing else."""
    assert done.status == kinds()[code]
    said = done.err.decode()
    assert said.startswith("contextspindle: ")
    assert f"[{code}]" in said
    assert "Traceback" not in said
    assert done.out == b""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("task", "create", " "), "INVALID_INPUT"),
        (("task", "inbox", "many"), "INVALID_INPUT"),
        (("task", "show", "t-"), "INVALID_INPUT"),
        (("task", "show", "t-none"), "TASK_NOT_FOUND"),
        (("task", "context", "TASK", "128"), "BUDGET_TOO_SMALL"),
        (("task", "list", "--workspace", "/does/not/exist"), "WORKSPACE_NOT_FOUND"),
        (("task", "update", "TASK", "--expect", "9", "--note", "n"), "VERSION_CONFLICT"),
        (("task", "update", "TASK", "--status", "done"), "DONE_REFUSED"),
        (("task", "update", "TASK", "--status", "blocked"), "REFUSED"),
        (("task", "update", "TASK", "--parent", "TASK"), "RING_REFUSED"),
        (("fuse", "save", "--transcript", "/does/not/exist"), "TRANSCRIPT_UNREADABLE"),
    ],
)
def test_each_kind_of_error_has_its_status(project, task, words, code):
    ended(project(*[task if word == "TASK" else word for word in words]), code)


def test_without_a_snapshot_and_without_a_task_there_is_nothing_to_restore(project):
    ended(project("fuse", "restore", "--plain"), "SNAPSHOT_NOT_FOUND")


def test_a_key_used_for_another_request_ends_with_4(project):
    assert project("task", "create", "one", "--key", "k").status == 0
    ended(project("task", "create", "two", "--key", "k"), "IDEMPOTENCY_CONFLICT")


def test_a_start_that_fits_several_ids_ends_with_2_and_names_them(project, make_ledger):
    store = workspace.find(str(project.folder)).store()
    ledger = make_ledger(store)  # whose ids are counted
    ids = [ledger.create(Request(set={"goal": "g"})).task.id for _ in range(2)]
    store.close()
    done = project("task", "show", "t-0")
    ended(done, "AMBIGUOUS_ID")
    assert all(one in done.err.decode() for one in ids)


def test_a_damaged_ledger_ends_with_7_and_is_left_as_it_is(project, task):
    ledger = project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"
    for suffix in ("-wal", "-shm"):
        ledger.with_name(ledger.name + suffix).unlink()
    ledger.write_bytes(b"this is no database at all, not even one page of it" * 100)
    before = ledger.read_bytes()
    for words in (("list",), ("create", "x")):
        ended(project("task", *words), "STORE_CORRUPT")
    assert ledger.read_bytes() == before


def test_a_ledger_of_a_newer_program_ends_with_7_and_is_left_as_it_is(project, task):
    ledger = project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"
    connection = sqlite3.connect(ledger)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    before = ledger.read_bytes()
    for words in (("list",), ("create", "x")):
        done = project("task", *words)
        ended(done, "SCHEMA_TOO_NEW")
        assert "Upgrade ContextSpindle" in done.err.decode()
    assert ledger.read_bytes() == before


def test_a_lock_that_is_never_free_ends_with_75_after_a_bounded_wait(project, task):
    lock = project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3.lock"
    handle = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        done = project("task", "update", task, "--note", "n", timeout=30)
        read = project("task", "show", task, "--json")
    finally:
        os.close(handle)
    ended(done, "STORE_BUSY")
    assert "Try again." in done.err.decode()
    assert read.data["version"] == 1


def test_outside_a_workspace_reads_and_writes_end_with_3_and_make_nothing(command):
    for words in (("list",), ("inbox",), ("show", "t-1"), ("context", "t-1"), ("create", "x")):
        ended(command("task", *words), "WORKSPACE_NOT_FOUND")
    ended(command("fuse", "status"), "WORKSPACE_NOT_FOUND")
    assert list(command.folder.iterdir()) == []
    assert list(command.folder.parent.iterdir()) == [command.folder]
