"""A ledger with more processes at it than there are processors, for longer than a moment."""

from __future__ import annotations

import os

import pytest

from contextspindle.core.change import Request
from contextspindle.store.inspect import inspect
from contextspindle.store.sqlite import SqliteStore

FOLDED_BACK = 4_096_000 * 2
"""About twice what the write-ahead log has grown to when SQLite folds it back."""


@pytest.fixture
def path(tmp_path):
    made = str(tmp_path / "tasks" / "ledger.sqlite3")
    SqliteStore(made).create()
    return made


@pytest.fixture
def ledger(path, make_ledger, ids):
    store = SqliteStore(path)
    yield make_ledger(store, ids=ids)
    store.close()


def check_sound(path):
    report = inspect(SqliteStore(path), deep=True)
    assert (report.findings, report.unchecked) == ((), ())


def test_sixty_four_processes_at_once_are_all_served(together, path, ledger):
    shared = ledger.create(Request({"goal": "shared"})).task.id
    made = together("write_a_little", path, 64)
    assert len(set(made)) == 64
    task = ledger.show(shared)
    assert {entry.text for entry in task.notes} == {f"{number}" for number in range(64)}
    assert task.version == 65
    assert ledger.inbox(1).total == 65
    check_sound(path)


def test_ten_writers_wait_for_no_long_lived_reader_and_the_log_stays_small(
    worker, path, ledger, long_run
):
    reader = worker("read_until_told", path, 99)
    assert reader.line() == "ready"
    reader.tell()
    name = "write_much_more" if long_run else "write_much"
    writers = [worker(name, path, number) for number in range(10)]
    assert [one.line() for one in writers] == ["ready"] * 10
    for one in writers:
        one.tell()
    # The reader reads until it is told, so that a write that waited for it would never end.
    assert all(one.result() for one in writers)
    reader.tell("enough")
    assert reader.result() > 0
    assert os.path.getsize(path + "-wal") < FOLDED_BACK
    check_sound(path)


def test_a_log_that_grew_behind_a_long_snapshot_becomes_small_again(path, ledger):
    other = SqliteStore(path)
    made = ledger.create(Request({"goal": "x"})).task.id
    with other.read() as txn:
        seen = txn.task(made)
        for number in range(80):
            ledger.update(made, Request({"next": f"{number}" + "y" * 60_000}))
        grown = os.path.getsize(path + "-wal")
        assert grown > FOLDED_BACK
        assert txn.task(made) == seen
    other.close()
    for number in range(3):
        ledger.update(made, Request({"next": f"{number}"}))
    assert os.path.getsize(path + "-wal") < FOLDED_BACK
    check_sound(path)
