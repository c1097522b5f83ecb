"""The write-ahead log: folded back and emptied when it has grown, whoever wrote it."""

from __future__ import annotations

import os

from contextspindle.store import sqlite


def log_of(store) -> int:
    return os.path.getsize(store.path + "-wal")


def test_a_log_that_has_grown_is_empty_after_the_commit(sqlite_store, make_ledger, ask):
    ledger = make_ledger(sqlite_store)
    ledger.create(ask(goal="small"))
    assert 0 < log_of(sqlite_store) < sqlite.LOG_BYTES
    for number in range(60):
        ledger.create(ask(goal=f"large {number}", notes=("n" * 60_000,)))
        assert log_of(sqlite_store) < sqlite.LOG_BYTES + 1_000_000
    assert ledger.list().total == 61


def test_a_reader_that_needs_the_log_holds_up_nobody(sqlite_store, make_ledger, ask):
    ledger = make_ledger(sqlite_store)
    ledger.create(ask(goal="before"))
    reading = sqlite.SqliteStore(sqlite_store.path)
    with reading.read() as txn:
        assert txn.inbox(0, 10).total == 1
        for number in range(60):
            ledger.create(ask(goal=f"large {number}", notes=("n" * 60_000,)))
        assert txn.inbox(0, 10).total == 1
    reading.close()
    ledger.create(ask(goal="after"))
    assert log_of(sqlite_store) == 0
    assert ledger.list().total == 62
