"""Processes that write through the library at one moment: nothing is lost, one of a kind wins."""

from __future__ import annotations

import fcntl
import os
import time

import pytest

from contextspindle.core.change import Request
from contextspindle.errors import StoreBusy
from contextspindle.store import schema
from contextspindle.store.inspect import inspect
from contextspindle.store.lock import Lock
from contextspindle.store.safety import daily
from contextspindle.store.sqlite import SqliteStore, copy_due
from contextspindle.workspace import now


@pytest.fixture(params=["wal", "rollback"])
def path(request, tmp_path):
    made = str(tmp_path / "tasks" / "ledger.sqlite3")
    SqliteStore(made).create(request.param)
    return made


@pytest.fixture
def ledger(path, make_ledger, ids):
    store = SqliteStore(path)
    yield make_ledger(store, ids=ids)
    store.close()


def test_what_eight_processes_create_is_all_there(together, path, ledger):
    made = together("create_some", path, 8)
    ids = [one for some in made for one in some]
    assert len(set(ids)) == 160
    found = [*ledger.list(0, 100).items, *ledger.list(100, 100).items]
    assert {one.id for one in found} == set(ids)
    assert {one.goal for one in found} == {f"{n}.{one}" for n in range(8) for one in range(20)}
    assert ledger.inbox(1).total == 160


def test_of_many_writers_to_one_task_none_loses_an_entry(together, path, ledger):
    made = ledger.create(Request({"goal": "shared"})).task.id
    assert together("append_notes", path, 6) == ["done"] * 6
    task = ledger.show(made)
    assert task.version == 1 + 6 * 15
    assert sorted(entry.text for entry in task.notes) == sorted(
        f"{number}.{one}" for number in range(6) for one in range(15)
    )
    assert set(task.labels) == {f"w{number}" for number in range(6)}
    for number in range(6):
        own = [e.text for e in task.notes if e.by == f"worker {number}"]
        assert own == [f"{number}.{one}" for one in range(15)]
    history = ledger.history(made, 1, 100)  # reads the chain, and checks it
    assert [step.change.version for step in history.steps] == [*range(1, task.version + 1)]
    assert [e.version for e in task.notes] == [*range(2, task.version + 1)]


def test_one_key_makes_one_task_however_many_ask(together, path, ledger):
    found = together("create_under_one_key", path, 8)
    assert len({task_id for task_id, _ in found}) == 1
    assert sorted(changed for _, changed in found) == [False] * 7 + [True]
    assert ledger.list().total == 1


def test_of_updates_that_expect_one_version_one_wins(together, path, ledger):
    made = ledger.create(Request({"goal": "x"})).task.id
    found = together("update_if_first", path, 8)
    assert sorted(map(str, found)) == ["2"] * 7 + ["won"]
    task = ledger.show(made)
    assert (task.version, task.owner) == (2, str(found.index("won")))


def test_readers_among_writers_see_whole_states_that_only_grow(together, path, ledger):
    assert together("read_or_write", path, 6) == [15] * 6
    assert ledger.list().total == 45


@pytest.mark.parametrize("turn", range(3))
def test_of_ledgers_made_at_one_moment_there_is_one(together, tmp_path, turn):
    path = str(tmp_path / "tasks" / "ledger.sqlite3")
    found = together("make_the_ledger", path, 4)
    assert sorted(found) == [False, False, False, True]
    with SqliteStore(path).read() as txn:
        assert txn.listing(0, 1).total == 0


def test_writers_of_different_fields_do_not_undo_each_other(together, path, ledger):
    made = ledger.create(Request({"goal": "x"})).task.id
    assert together("change_other_fields", path, 3) == ["done"] * 3
    task = ledger.show(made)
    assert (task.owner, task.next, task.blocker) == ("24", "24", "24")
    assert task.version == 1 + 3 * 25


# -- the daily copy


@pytest.fixture
def due(path):
    """A function that lets a daily copy be due."""

    def moved() -> None:
        os.utime(path + ".lock", (time.time() - 2 * 86_400,) * 2)

    moved()
    return moved


def test_of_processes_that_find_a_daily_copy_due_one_makes_it(together, path, ledger, due):
    for number in range(200):
        ledger.create(Request({"goal": f"{number}", "next": "x" * 2_000}))
    due()
    made = [one for one in together("make_daily_copy", path, 8) if one]
    assert len(made) == 1
    assert os.listdir(os.path.dirname(made[0])) == [os.path.basename(made[0])]
    assert inspect(SqliteStore(made[0]), deep=True)[:3] == (200, 200, ())


def test_a_daily_copy_waits_for_no_writer(path, ledger, due, held):
    due()
    store = SqliteStore(path)
    assert daily(store, now(), keep=7, most_mb=64)
    store.close()


def test_a_writer_waits_for_no_daily_copy(path, ledger, due, make_ledger):
    """While a copy is in the making its own lock is held, and not the one of writers."""
    with Lock(os.path.join(os.path.dirname(path), "safety.lock")):
        store = SqliteStore(path, wait=0.1)
        assert make_ledger(store).create(Request({"goal": "x"})).changed
        assert daily(store, now(), keep=7, most_mb=64) == ""
        store.close()
    assert copy_due(path, now())  # nobody has made it so far


# -- the lock


@pytest.fixture
def held(path):
    """The lock file, held as another process would: by a handle of its own."""
    with open(path + ".lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def test_a_writer_that_waits_too_long_is_told_and_writes_nothing(path, ledger, held, make_ledger):
    store = SqliteStore(path, wait=0.2)
    before = time.monotonic()
    with pytest.raises(StoreBusy) as caught:
        make_ledger(store).create(Request({"goal": "x"}))
    assert time.monotonic() - before >= 0.2
    assert caught.value.exit_status == 75
    assert "nothing was written" in caught.value.message
    assert ledger.list().total == 0
    fcntl.flock(held, fcntl.LOCK_UN)
    # The wait that was given up does not hold the lock when its turn comes.
    assert make_ledger(store).create(Request({"goal": "x"})).changed
    store.close()


def test_readers_do_not_wait_for_the_lock(ledger, held):
    assert ledger.list().total == 0


def test_a_transaction_that_fails_gives_the_lock_back(path, ledger):
    with pytest.raises(ZeroDivisionError), SqliteStore(path).write():
        raise ZeroDivisionError
    with Lock(path + ".lock", 0.1):
        pass


def test_the_lock_of_a_process_that_was_killed_is_free(worker, tmp_path):
    path = str(tmp_path / "ledger.sqlite3")
    holder = worker("hold_the_lock", path, 0)
    assert holder.line() == "ready"
    holder.tell()
    assert holder.line() == "holding"
    with pytest.raises(StoreBusy), Lock(path + ".lock", 0.1):
        pass
    holder.process.kill()
    with Lock(path + ".lock", 5):
        pass


def test_another_program_in_a_transaction_of_its_own_makes_a_writer_wait(path, ledger, make_ledger):
    other = schema.driver.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store = SqliteStore(path, wait=0.2)
    with pytest.raises(StoreBusy):
        make_ledger(store).create(Request({"goal": "x"}))
    other.execute("ROLLBACK")
    other.close()
    assert make_ledger(store).create(Request({"goal": "x"})).changed
    store.close()
