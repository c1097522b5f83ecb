"""A writer killed beside a rollback journal: nobody reads what it had not committed."""

from __future__ import annotations

import os

import pytest

from contextspindle.core.change import Request
from contextspindle.store.inspect import inspect
from contextspindle.store.sqlite import SqliteStore
from tests.reliability.ledgers import kill_a_writer


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "tasks" / "ledger.sqlite3")


@pytest.fixture
def ledger(path, make_ledger):
    store = SqliteStore(path)
    store.create("rollback")
    made = make_ledger(store)
    for number in range(40):
        made.create(Request({"goal": f"Task {number}", "next": "x" * 2_000}))
    yield made
    store.close()


def test_a_reader_that_comes_later_reads_what_was_committed(path, ledger, make_ledger):
    kill_a_writer(path)
    store = SqliteStore(path)
    page = make_ledger(store).inbox(100)
    assert page.total == 40
    assert {one.goal for one in page.items} == {f"Task {number}" for number in range(40)}
    assert not os.path.exists(path + "-journal")
    store.close()


def test_a_reader_that_was_there_before_reads_what_was_committed(path, ledger):
    assert ledger.inbox(100).total == 40
    kill_a_writer(path)
    assert ledger.inbox(100).total == 40
    assert ledger.update(ledger.list().items[0].id, Request(notes=("goes on",))).changed


def test_the_ledger_is_called_sound(path, ledger):
    kill_a_writer(path)
    report = inspect(SqliteStore(path), deep=True)
    assert (report.findings, report.unchecked) == ((), ())
