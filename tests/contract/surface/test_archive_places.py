"""Places and files that no backup, export or restore is for are refused, and why is said."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from contextspindle.core.archive import Stored
from contextspindle.core.change import Change, begin, change_bytes
from contextspindle.core.digest import sha256
from contextspindle.core.task import state_bytes
from contextspindle.store.backup import back_up
from contextspindle.store.sqlite import SCHEMA, SqliteStore
from tests.databases import by_hand

BAD = "INVALID_INPUT"


def failed(done, status: int, code: str) -> dict:
    assert (done.status, done.error["code"], done.out) == (status, code, b"")
    return done.error


def test_a_backup_that_fits_together_and_nobody_here_made_is_refused_before_anything_is(
    fresh, aside
):
    step = Change("t-x", 1, 0, "ada", {"goal": "g", "status": "blocked"}, (), (), ())
    task = begin(step)
    body = change_bytes(step._replace(state=sha256(state_bytes(task))))
    (aside / "forged").mkdir()
    with closing(SqliteStore(str(aside / "forged" / "tasks" / "ledger.sqlite3"))) as store:
        store.create()
        with store.write() as txn:
            txn.adopt(Stored(task, (body,), None), 0)
            txn.join(task)
        back_up(store, str(aside / "b"), tool="0", now=0)
    error = failed(fresh("restore", str(aside / "b"), "--json"), 2, BAD)
    assert "t-x is blocked, and has no blocker" in error["message"]
    assert os.listdir(aside / "fresh") == []


def test_an_export_does_not_land_among_the_files_of_the_ledger(project, create, aside, ledger):
    create("g")
    (aside / "link").symlink_to(ledger.parent)
    for folder in (ledger.parent, aside / "link"):
        error = failed(project("export", f"{folder}/{ledger.name}-journal", "--json"), 2, BAD)
        assert "inside the workspace" in error["message"]
    create("still written")


@pytest.mark.parametrize("schema", [1, SCHEMA])
def test_the_database_of_another_program_is_no_backup(fresh, aside, schema):
    with by_hand(aside / "other.sqlite3") as database:
        database.execute("CREATE TABLE notes (text)")
        database.execute(f"PRAGMA user_version={schema}")
    error = failed(fresh("restore", str(aside / "other.sqlite3"), "--json"), 2, BAD)
    assert str(aside / "other.sqlite3") in error["message"]
    assert "another program" in error["message"]
    assert os.listdir(aside / "fresh") == []


def test_a_path_that_is_too_long_for_a_database_is_said_to_be_that(project, create, aside):
    create("g")
    place = aside
    while len(str(place)) < 430:
        place /= "d" * 60
    place /= "d" * (499 - len(str(place)))  # 500 bytes, wherever the tests run
    place.mkdir(parents=True)
    error = failed(project("backup", str(place / "b"), "--json"), 7, "STORE_UNAVAILABLE")
    assert str(place) in error["message"]
    assert "a path of" in error["message"]
    assert "shorter path" in error["hint"]
    assert os.listdir(place) == []
