"""What was written under the first schema is led up when it is opened, backups of it aside."""

from __future__ import annotations

import json
import sqlite3
from hashlib import sha256

import pytest

from contextspindle.store import schema
from contextspindle.store.backup import opened
from contextspindle.store.inspect import inspect
from contextspindle.store.sqlite import BACKUPS, SqliteStore


def bring_back(path):
    """The ledger as the first schema has it, to the letter."""
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("DROP TABLE purges")
    raw.execute("DROP TABLE words")
    raw.execute("PRAGMA user_version=1")
    first = sqlite3.connect(":memory:")
    first.executescript(schema.migrations()[0])
    listing = "SELECT name FROM sqlite_master ORDER BY name"
    assert raw.execute(listing).fetchall() == first.execute(listing).fetchall()
    first.close()
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()


@pytest.fixture
def first(old):
    bring_back(old)
    return old


def test_a_ledger_of_the_first_schema_is_sound_once_it_was_opened(first, rows, make_ledger):
    store = SqliteStore(str(first))
    assert make_ledger(store).list().total == 3
    report = inspect(store, deep=True)
    assert (report.findings, report.unchecked, report.purges) == ((), (), 0)
    store.close()
    assert rows(first, "PRAGMA user_version") == [(schema.SCHEMA,)]
    copy = first.parent / BACKUPS / "before-schema-2.sqlite3"
    assert rows(copy, "PRAGMA user_version") == [(1,)]


def test_words_that_were_written_under_an_older_schema_are_listed(first, rows, make_ledger):
    store = SqliteStore(str(first))
    ledger = make_ledger(store)
    assert ledger.search("tas").total == 3
    assert ledger.search(ledger.list().items[0].id[:-1]).total == 3
    store.close()
    listed = [word for (word,) in rows(first, "SELECT word FROM words ORDER BY word")]
    assert listed == ["0", "1", "2", "kept", "t", "task"]


def test_what_only_the_log_of_an_older_ledger_holds_comes_through_a_restore(
    first, rows, make_ledger, ask, ids
):
    store = SqliteStore(str(first))  # led up: the file itself is of the first schema still
    late = make_ledger(store, ids=ids).create(ask(goal="late")).task.id
    assert first.read_bytes()[60:64] == (1).to_bytes(4, "big")
    with opened(str(first)) as (source, _):
        assert make_ledger(source).show(late).goal == "late"
        source.close()
    assert first.read_bytes()[60:64] == (1).to_bytes(4, "big")
    store.close()
    assert rows(first, "SELECT count(*) FROM tasks") == [(4,)]


def test_a_link_to_what_is_restored_is_followed(old, make_ledger, tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(old)
    folder = tmp_path / "linked"
    folder.symlink_to(old.parent)
    for place in (link, folder / old.name):
        with opened(str(place)) as (source, _):
            assert make_ledger(source).list().total == 3
            source.close()


@pytest.fixture
def old_backup(command, tmp_path):
    """A backup that a program of the first schema made."""
    assert command("init").status == 0
    assert command("task", "create", "kept", "--note", "kq7-Zx93").status == 0
    folder = tmp_path / "backup"
    assert command("backup", str(folder)).status == 0
    copy, manifest = folder / "ledger.sqlite3", folder / "manifest.json"
    bring_back(copy)
    said = json.loads(manifest.read_bytes())
    content = copy.read_bytes()
    said.update(schema=1, bytes=len(content), sha256=sha256(content).hexdigest())
    manifest.write_text(json.dumps(said))
    return folder


def test_a_backup_of_the_first_schema_is_restored_as_often_as_wanted_and_stays_as_it_is(
    command, old_backup, tmp_path, home
):
    before = {one.name: one.read_bytes() for one in old_backup.iterdir()}
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        done = command("restore", str(old_backup), "--workspace", str(tmp_path / name), "--json")
        assert (done.status, done.data["created"]) == (0, 1)
        assert command("verify", "--deep", "--workspace", str(tmp_path / name)).status == 0
    assert {one.name: one.read_bytes() for one in old_backup.iterdir()} == before
    assert [one.name for one in home.iterdir() if one.name.startswith("contextspindle-")] == []


def test_a_purge_finds_a_text_in_a_ledger_and_in_copies_of_the_first_schema(
    command, old_backup, tmp_path
):
    path = command.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"
    bring_back(path)
    assert command("task", "list").status == 0
    assert [one.name for one in (path.parent / "safety").iterdir()] == ["before-schema-2.sqlite3"]
    done = command("purge", "--write", "--json", input=b"kq7-Zx93")
    assert (done.status, done.data["places"][-1]["items"]) == (0, 1)
    assert done.data["outside"] == [{"kind": "backup", "path": str(old_backup)}]
    assert [*(path.parent / "safety").iterdir()] == []
    assert command("restore", str(old_backup), "--json").data["purged"] == 1
    assert b"kq7-Zx93" not in b"".join(one.read_bytes() for one in path.parent.glob("**/*.sq*"))
