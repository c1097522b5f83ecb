"""The schema is the same made at once or by its migrations, and every statement runs."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from contextspindle.store import schema


@pytest.fixture
def database():
    made = sqlite3.connect(":memory:", isolation_level=None)
    yield made
    made.close()


def shape(database):
    """Everything that makes a schema: objects without comments and blanks, columns, keys, rows."""
    found = {}
    for kind, name, table, sql in database.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master"
    ).fetchall():
        plain = re.sub(r"\s+", " ", re.sub(r"--[^\n]*", "", sql or "")).strip()
        found[kind, name, table] = re.sub(r"\s*([(),])\s*", r"\1", plain)
    for kind, name, _ in [*found]:
        if kind == "table":
            found["columns", name] = database.execute(f"PRAGMA table_info({name})").fetchall()
            found["keys", name] = database.execute(f"PRAGMA foreign_key_list({name})").fetchall()
            found["rows", name] = database.execute(f"SELECT * FROM {name}").fetchall()
        if kind == "index":
            found["columns", name] = database.execute(f"PRAGMA index_xinfo({name})").fetchall()
    return found


def test_the_schema_equals_what_its_migrations_make(database):
    schema.run_script(database, schema.script("schema.sql"))
    made_at_once = shape(database)
    database.close()
    step_by_step = sqlite3.connect(":memory:", isolation_level=None)
    for step in schema.migrations():
        schema.run_script(step_by_step, step)
    assert shape(step_by_step) == made_at_once
    assert ("table", "tasks", "tasks") in made_at_once
    step_by_step.close()


def test_there_is_one_migration_for_every_schema_version():
    folder = Path(schema.HERE, "migrations")
    assert sorted(one.name for one in folder.iterdir() if one.suffix == ".sql") == [
        f"{number:04d}.sql" for number in range(1, schema.SCHEMA + 1)
    ]


@pytest.mark.parametrize("name", ["schema.sql", "migrations/0001.sql"])
def test_every_statement_of_a_script_is_run(database, name):
    source = schema.script(name)
    schema.run_script(database, source)
    whole = sqlite3.connect(":memory:", isolation_level=None)
    whole.executescript(source)
    assert shape(database) == shape(whole)
    whole.close()


def test_a_script_runs_inside_the_open_transaction(database):
    database.execute("BEGIN")
    schema.run_script(database, schema.script("schema.sql"))
    assert database.in_transaction
    database.execute("ROLLBACK")
    assert shape(database) == {}


def test_semicolons_in_texts_comments_and_triggers_do_not_end_a_statement(database):
    schema.run_script(
        database,
        "CREATE TABLE a (x TEXT); -- one; two;\n"
        "INSERT INTO a VALUES ('b;\n"
        "c;\n"
        "');\n"
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n"
        "  DELETE FROM a WHERE x = ';';\n"
        "  DELETE FROM a WHERE x = '-';\n"
        "END;\n"
        "/* ;\n ; */ INSERT INTO a VALUES (';'), ('kept;');\n"
        "-- the last word;\n",
    )
    assert database.execute("SELECT x FROM a").fetchall() == [("b;\nc;\n",), ("kept;",)]


def test_a_last_statement_without_its_end_is_run_too(database):
    schema.run_script(database, "CREATE TABLE a (x);\nCREATE TABLE b (x)\n")
    database.execute("INSERT INTO b SELECT x FROM a")
    schema.run_script(database, "DROP TABLE a;\n-- and nothing more")
    assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("b",)]


@pytest.mark.parametrize(("journal", "mode"), [("wal", "wal"), ("rollback", "delete")])
def test_a_new_ledger_is_marked_and_uses_the_journal_wanted(tmp_path, rows, journal, mode):
    path = tmp_path / "ledger.sqlite3"
    assert schema.create(str(path), journal)
    assert rows(path, "PRAGMA user_version") == [(schema.SCHEMA,)]
    assert rows(path, "PRAGMA application_id") == [(schema.APPLICATION_ID,)]
    assert rows(path, "PRAGMA journal_mode") == [(mode,)]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_a_new_ledger_is_private(tmp_path):
    path = tmp_path / "tasks" / "ledger.sqlite3"
    schema.create(str(path), "wal")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in path.parent.iterdir()} == {0o600}


def test_what_a_crash_left_of_a_ledger_is_swept_away(tmp_path, rows):
    path = tmp_path / "ledger.sqlite3"
    for end in (".new", ".new-wal", ".new-shm", ".new-journal"):
        (tmp_path / f"ledger.sqlite3{end}").write_bytes(b"half of a ledger")
    assert schema.create(str(path), "wal")
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert not [one for one in tmp_path.iterdir() if ".new" in one.name]


def test_a_ledger_that_is_there_is_left_alone(old):
    before = old.read_bytes()
    assert not schema.create(str(old), "rollback")
    assert old.read_bytes() == before
