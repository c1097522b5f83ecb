"""A migration runs once, under the lock, after a copy, and leaves the old file if it fails."""

from __future__ import annotations

import multiprocessing
import sqlite3

import pytest

from contextspindle.core import task
from contextspindle.core.canon import decode
from contextspindle.store import schema
from contextspindle.store.sqlite import BACKUPS, SqliteStore

STATES = "SELECT id, version, digest, state FROM tasks ORDER BY pk"
NOW = schema.SCHEMA
NEXT = NOW + 1
CHANGES = "SELECT seq, task, version, digest, body FROM changes ORDER BY seq"


def migrate(path, steps):
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        schema.migrate(connection, str(path), steps)
    finally:
        connection.close()


def copy_of(path, version=NEXT):
    return path.parent / BACKUPS / f"before-schema-{version}.sqlite3"


def test_data_of_this_schema_comes_whole_into_the_next(old, steps, rows):
    before = rows(old, STATES), rows(old, CHANGES)
    migrate(old, steps)
    assert rows(old, "PRAGMA user_version") == [(NEXT,)]
    assert (rows(old, STATES), rows(old, CHANGES)) == before
    assert rows(old, "SELECT starred FROM tasks ORDER BY pk") == [(1,), (0,), (0,)]
    assert rows(old, "SELECT value FROM about WHERE key = 'migrated'") == [("once; and only once",)]
    assert rows(old, "PRAGMA integrity_check") == [("ok",)]


def test_a_copy_is_put_aside_before(old, steps, rows):
    before = rows(old, STATES), rows(old, CHANGES)
    migrate(old, steps)
    copy = copy_of(old)
    assert rows(copy, "PRAGMA user_version") == [(NOW,)]
    assert (rows(copy, STATES), rows(copy, CHANGES)) == before
    assert rows(copy, "PRAGMA journal_mode") == [("delete",)]
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert sorted(one.name for one in copy.parent.iterdir()) == [copy.name]


def test_the_copy_can_be_opened_as_a_ledger(old, steps, make_ledger):
    migrate(old, steps)
    store = SqliteStore(str(copy_of(old)))
    assert make_ledger(store).list().total == 3
    store.close()


def test_the_copy_holds_what_is_in_the_write_ahead_log(old, steps, make_ledger, ask, rows, ids):
    store = SqliteStore(str(old))
    ids.count = 100
    made = make_ledger(store, ids=ids).create(ask(goal="not yet folded back")).task
    assert old.with_name(old.name + "-wal").stat().st_size
    migrate(old, steps)
    store.close()
    assert (made.id,) in rows(copy_of(old), "SELECT id FROM tasks")


def test_migrating_twice_is_migrating_once(old, steps, rows):
    migrate(old, steps)
    before = rows(old, STATES)
    migrate(old, steps)
    migrate(old, steps[:-1])  # an older program passes it over, too
    assert rows(old, "PRAGMA user_version") == [(NEXT,)]
    assert rows(old, STATES) == before
    assert rows(old, "SELECT count(*) FROM about WHERE key = 'migrated'") == [(1,)]


@pytest.mark.parametrize("at", range(5))
def test_a_step_that_fails_anywhere_leaves_the_old_file_readable(
    old, steps, rows, make_ledger, ask, ids, at
):
    before = rows(old, STATES), rows(old, CHANGES), rows(old, "SELECT sql FROM sqlite_master")
    marks = (
        "ALTER TABLE",
        "CREATE INDEX",
        "CREATE TRIGGER",
        "UPDATE tasks SET starred",
        "INSERT INTO",
    )
    broken = steps[-1].replace(marks[at], f"INSERT INTO nowhere VALUES (1);\n{marks[at]}", 1)
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(old, [*steps[:-1], broken])
    assert rows(old, "PRAGMA user_version") == [(NOW,)]
    assert (
        rows(old, STATES),
        rows(old, CHANGES),
        rows(old, "SELECT sql FROM sqlite_master"),
    ) == before
    store = SqliteStore(str(old))
    ledger = make_ledger(store, ids=ids)
    assert ledger.list().total == 3
    assert ledger.update(ledger.inbox().items[0].id, ask(notes=("goes on",))).changed
    store.close()
    migrate(old, steps)
    assert rows(old, "PRAGMA user_version") == [(NEXT,)]


def test_after_a_failure_the_copy_is_of_the_state_that_is_migrated_at_last(
    old, steps, rows, make_ledger, ask, ids
):
    with pytest.raises(sqlite3.OperationalError):
        migrate(old, [*steps[:-1], "INSERT INTO nowhere VALUES (1);\n"])
    ids.count = 100
    store = SqliteStore(str(old))
    made = make_ledger(store, ids=ids).create(ask(goal="written in between")).task
    store.close()
    migrate(old, steps)
    assert (made.id,) in rows(copy_of(old), "SELECT id FROM tasks")


def test_a_copy_that_a_crash_left_half_made_is_made_again(old, steps, rows):
    copy = copy_of(old)
    copy.parent.mkdir()
    copy.with_name(copy.name + ".new").write_bytes(b"half")
    migrate(old, steps)
    assert rows(copy, "PRAGMA integrity_check") == [("ok",)]
    assert rows(copy, "SELECT count(*) FROM tasks") == [(3,)]


def test_several_steps_are_one_transaction(old, steps, rows):
    third = "CREATE TABLE third (x);\nINSERT INTO third VALUES (1);\n"
    with pytest.raises(sqlite3.OperationalError):
        migrate(old, [*steps, third, "INSERT INTO nowhere VALUES (1);\n"])
    assert rows(old, "PRAGMA user_version") == [(NOW,)]
    migrate(old, [*steps, third])
    assert rows(old, "PRAGMA user_version") == [(NEXT + 1,)]
    assert rows(old, "SELECT starred FROM tasks WHERE priority = 0") == [(1,)]


def _migrate_when_told(path, steps, ready, results):
    connection = sqlite3.connect(path, isolation_level=None)
    ready.wait()
    try:
        schema.migrate(connection, path, steps)
        found = connection.execute("SELECT count(*) FROM about WHERE key = 'migrated'").fetchone()
        results.put((found[0], connection.execute("PRAGMA user_version").fetchone()[0]))
    except BaseException as error:
        results.put(repr(error))
    finally:
        connection.close()


def test_ten_processes_at_once_migrate_once(old, steps, rows):
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(10), context.Queue()
    processes = [
        context.Process(target=_migrate_when_told, args=(str(old), steps, ready, results))
        for _ in range(10)
    ]
    for process in processes:
        process.start()
    found = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert found == [(1, NEXT)] * 10
    assert rows(old, "SELECT starred FROM tasks ORDER BY pk") == [(1,), (0,), (0,)]
    for (state,) in rows(old, "SELECT state FROM tasks"):
        assert task.state_bytes(task.from_document(decode(state))) == state
