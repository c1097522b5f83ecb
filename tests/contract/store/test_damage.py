"""Damage to a ledger file is told, never handed on: bytes, chains, rows and neighbours."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from contextspindle.errors import SpindleError, StoreCorrupt, StoreUnavailable, WorkspaceNotFound
from contextspindle.store.inspect import LARGE_BYTES, inspect
from contextspindle.store.sqlite import SqliteStore
from tests.databases import by_hand


@pytest.fixture
def told(sqlite_store, make_ledger, ids, ask):
    """A ledger file with one task of four versions; gives the actions and its id."""
    ledger = make_ledger(sqlite_store, ids=ids)
    made = ledger.create(ask(goal="whole", criteria=["c"])).task.id
    for number in range(3):
        ledger.update(made, ask(notes=(f"note {number}",)))
    return ledger, made


def alter(store, sql, *values):
    with by_hand(store.path) as raw:
        assert raw.execute(sql, values).rowcount > 0


def test_an_altered_state_is_not_handed_to_anybody(sqlite_store, told):
    ledger, made = told
    alter(sqlite_store, "UPDATE tasks SET state = CAST(replace(state, 'whole', 'other') AS BLOB)")
    for read in (ledger.show, ledger.context, ledger.history):
        with pytest.raises(StoreCorrupt, match=made):
            read(made)


def test_a_damaged_task_is_not_written_over(sqlite_store, told, ask):
    ledger, made = told
    alter(sqlite_store, "UPDATE tasks SET state = x'00'")
    with pytest.raises(StoreCorrupt):
        ledger.update(made, ask(notes=("n",)))


def test_the_state_of_another_task_does_not_pass_for_this_one(sqlite_store, told, ask):
    ledger, made = told
    other = ledger.create(ask(goal="other")).task.id
    alter(
        sqlite_store,
        "UPDATE tasks SET (digest, state) = (SELECT digest, state FROM tasks WHERE id = ?)"
        " WHERE id = ?",
        *(other, made),
    )
    with pytest.raises(StoreCorrupt):
        ledger.show(made)


@pytest.mark.parametrize(
    "to", ["claim_holder = 'mallory'", "claim_until = claim_until + 1", "claim_mark = 'x'"]
)
def test_an_altered_lease_is_believed_by_nobody(sqlite_store, told, ask, to):
    """A lease stands beside the chain, so that a digest of its own has to vouch for it."""
    ledger, made = told
    token = ledger.claim(made).token
    alter(sqlite_store, f"UPDATE tasks SET {to}")
    for use in (
        lambda: ledger.view(made),
        lambda: ledger.context(made),
        lambda: ledger.claim(made),
        lambda: ledger.update(made, ask(next="x"), claim=token),
        lambda: ledger.release(made, token=token),
    ):
        with pytest.raises(StoreCorrupt, match="its lease does not match its digest"):
            use()
    assert ledger.show(made).version == 5


def test_an_altered_change_breaks_the_chain_from_there(sqlite_store, told):
    ledger, made = told
    alter(
        sqlite_store,
        "UPDATE changes SET body = CAST(replace(body, 'note 1', 'note 9') AS BLOB)"
        " WHERE version = 3",
    )
    with pytest.raises(StoreCorrupt, match="version 3"):
        ledger.history(made)
    assert ledger.show(made).version == 4


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_change_that_is_gone_is_missed(sqlite_store, told, version):
    ledger, made = told
    alter(sqlite_store, "DELETE FROM changes WHERE version = ?", version)
    with pytest.raises(StoreCorrupt):
        ledger.history(made)


def test_the_newest_change_is_missed_too(sqlite_store, told):
    ledger, made = told
    alter(sqlite_store, "DELETE FROM changes WHERE version = 4")
    for first in (1, 4):
        with pytest.raises(StoreCorrupt, match="missing"), sqlite_store.read() as txn:
            txn.changes(made, first, 20)
    with pytest.raises(StoreCorrupt, match="missing"):
        ledger.history(made)


def test_changes_that_were_swapped_are_told(sqlite_store, told):
    ledger, made = told
    alter(sqlite_store, "UPDATE changes SET version = 9 WHERE version = 2")
    alter(sqlite_store, "UPDATE changes SET version = 2 WHERE version = 3")
    alter(sqlite_store, "UPDATE changes SET version = 3 WHERE version = 9")
    with pytest.raises(StoreCorrupt):
        ledger.history(made)


def test_a_damaged_neighbour_never_hides_the_task(sqlite_store, told, ask):
    ledger, made = told
    child = ledger.create(ask(goal="child", parent=made)).task.id
    alter(sqlite_store, "UPDATE tasks SET state = x'00' WHERE id = ?", child)
    assert f"child {child}: [open] child\n" in ledger.context(made).text


def test_a_neighbour_that_is_gone_is_told_in_its_line(sqlite_store, told, ask):
    ledger, made = told
    needed = ledger.create(ask(goal="needed")).task.id
    ledger.update(made, ask(add_dependencies=(needed,)))
    alter(sqlite_store, "DELETE FROM tasks WHERE id = ?", needed)
    text = ledger.context(made).text
    assert f"dependency {needed}: is missing\n" in text
    assert "goal: whole\n" in text


def test_pages_overwritten_in_the_file_are_told_as_damage(sqlite_store, told):
    _, made = told
    sqlite_store.close()
    file = Path(sqlite_store.path)
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
    store = SqliteStore(sqlite_store.path)
    with pytest.raises(StoreCorrupt), store.read() as txn:
        txn.task(made)
    with pytest.raises(StoreCorrupt), store.write() as txn:
        txn.task(made)
    store.close()


@pytest.mark.parametrize("content", [b"", b"not a database, whatever its name says" * 100])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(content)
    store = SqliteStore(str(path))
    with pytest.raises(StoreCorrupt), store.read():
        pass
    with pytest.raises(StoreCorrupt), store.write():
        pass
    store.close()
    assert path.read_bytes() == content


def test_a_ledger_that_is_not_there_is_not_created_by_reading_or_writing(tmp_path):
    store = SqliteStore(str(tmp_path / "ledger.sqlite3"))
    for block in (store.read(), store.write()):
        with pytest.raises(WorkspaceNotFound), block:
            pass
    assert list(tmp_path.glob("*.sqlite3*")) == []


def test_a_folder_in_the_place_of_the_ledger_is_an_error_of_the_store(tmp_path):
    (tmp_path / "ledger.sqlite3").mkdir()
    store = SqliteStore(str(tmp_path / "ledger.sqlite3"))
    with pytest.raises(StoreUnavailable), store.read():
        pass


def test_an_error_of_the_driver_inside_a_block_becomes_an_error_of_the_store(sqlite_store, told):
    for block in (sqlite_store.read(), sqlite_store.write()):
        with pytest.raises(SpindleError), block as txn:
            txn._one("SELECT nothing FROM nowhere")
    with sqlite_store.write() as txn:
        assert txn.task(told[1]).version == 4


@pytest.mark.parametrize("name", ["with space", "per%20cent", "hash#tag", "que?ry", "naïve 次 😀"])
def test_any_folder_name_will_do(tmp_path, make_ledger, ask, name):
    store = SqliteStore(str(tmp_path / name / "ledger.sqlite3"))
    (tmp_path / name).mkdir()
    store.create()
    made = make_ledger(store).create(ask(goal="x")).task
    assert make_ledger(store).show(made.id) == made
    assert (tmp_path / name / "ledger.sqlite3").exists()
    store.close()


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        ("SELECT 1", None),
        ("UPDATE totals SET count = 9", "index"),
        ("UPDATE tasks SET digest = 'x'", "state"),
        ("DELETE FROM search_docsize WHERE id = 1", "search"),
        (
            "UPDATE sqlite_schema SET sql = replace(sql, '<> ''''', '<> ''ada''')"
            " WHERE name = 'tasks_by_owner'",
            "database",
        ),
    ],
)
def test_in_a_large_file_the_same_is_found(sqlite_store, make_ledger, ask, damage, kind):
    """Its parts are looked at side by side."""
    ledger = make_ledger(sqlite_store)
    for number in range(2):
        notes = tuple(f"{number} {line} ".ljust(60_000, "y") for line in range(28))
        ledger.create(ask(goal="large", owner="ada", notes=notes))
    sqlite_store.close()
    raw = sqlite3.connect(sqlite_store.path, isolation_level=None)
    raw.execute("PRAGMA writable_schema=ON")
    raw.execute(damage)
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    raw.close()
    assert Path(sqlite_store.path).stat().st_size > LARGE_BYTES
    report = inspect(SqliteStore(sqlite_store.path))
    assert (report.tasks, report.changes, report.unchecked) == (2, 2, ())
    assert {one.kind for one in report.findings} >= ({kind} if kind else set())
    assert bool(report.findings) == bool(kind)
