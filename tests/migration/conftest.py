"""Ledger files of this and of made-up schemas, and a next migration that does not exist yet."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from contextspindle.store import schema
from contextspindle.store.sqlite import SqliteStore

NEXT = """-- A made-up next schema: a column, an index, data moved; and "; " in a comment.

ALTER TABLE tasks ADD COLUMN starred INTEGER NOT NULL DEFAULT 0;
CREATE INDEX tasks_starred ON tasks (starred, pk) WHERE starred = 1;

CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TRIGGER count_about AFTER INSERT ON about BEGIN
    UPDATE about SET value = value || ';' WHERE key = 'count';
    UPDATE about SET value = value || '.' WHERE key = 'count';
END;

UPDATE tasks SET starred = 1 WHERE priority = 0;
INSERT INTO about (key, value) VALUES ('migrated', 'once; and only once');
"""


@pytest.fixture
def old(tmp_path: Path, make_ledger: Any, ask: Any) -> Path:
    """A ledger of this schema with three tasks."""
    path = tmp_path / "tasks" / "ledger.sqlite3"
    store = SqliteStore(str(path))
    store.create()
    ledger = make_ledger(store)
    for number in range(3):
        made = ledger.create(ask(goal=f"task {number}", priority=number)).task
        ledger.update(made.id, ask(notes=("kept",)))
    store.close()
    return path


@pytest.fixture
def steps() -> list[str]:
    return [*schema.migrations(), NEXT]


@pytest.fixture
def rows():
    """A function that reads a file as SQLite sees it."""

    def read(path: Path, sql: str) -> list[tuple[Any, ...]]:
        raw = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return raw.execute(sql).fetchall()
        finally:
            raw.close()

    return read
