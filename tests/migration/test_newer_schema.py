"""A ledger of a newer program is refused with the advice to upgrade, and no byte is touched."""

from __future__ import annotations

import sqlite3

import pytest

from contextspindle.errors import SchemaTooNew
from contextspindle.store import schema
from contextspindle.store.sqlite import SqliteStore

COMMANDS = {
    "init": ("init",),
    "task create": ("task", "create", "x"),
    "task update": ("task", "update", "t-00000001", "--note", "n"),
    "task show": ("task", "show", "t-00000001"),
    "task list": ("task", "list"),
    "task inbox": ("task", "inbox"),
    "task history": ("task", "history", "t-00000001"),
    "task children": ("task", "children", "t-00000001"),
    "task context": ("task", "context", "t-00000001"),
}


def raise_version(path, version):
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute(f"PRAGMA user_version={version}")
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()


def files(folder):
    return {
        one.name: one.read_bytes()
        for one in folder.iterdir()
        # Shared memory is rebuilt from the log by whoever opens the file; it holds no data.
        if not one.name.endswith(("-shm", ".lock"))
    }


@pytest.fixture
def newer(command):
    """A project whose ledger was written by the program after this one."""
    assert command("init").status == 0
    assert command("task", "create", "x").status == 0
    path = command.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"
    raise_version(path, schema.SCHEMA + 1)
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_refuses_a_newer_ledger_and_leaves_its_bytes(command, newer, name):
    before = files(newer.parent)
    result = command(*COMMANDS[name], "--json")
    assert (result.status, result.out) == (7, b"")
    error = result.error
    assert error["code"] == "SCHEMA_TOO_NEW"
    assert "Upgrade" in error["hint"]
    assert str(newer) in error["message"]
    assert error["details"] == {"found": schema.SCHEMA + 1, "known": schema.SCHEMA}
    after = files(newer.parent)
    assert after.pop(newer.name) == before.pop(newer.name)
    assert all(not content for name, content in after.items() if name.endswith("-wal"))
    assert {name for name in after if not name.endswith("-wal")} == {
        name for name in before if not name.endswith("-wal")
    }


def test_the_message_never_speaks_of_damage_or_removal(command, newer):
    said = command("task", "list").err.decode().lower()
    assert "upgrade" in said
    assert not [word for word in ("delete", "remove", "damage", "corrupt", "erase") if word in said]


@pytest.mark.parametrize("ahead", [1, 1_000_000])
def test_the_store_refuses_to_read_and_to_write(old, ahead):
    raise_version(old, schema.SCHEMA + ahead)
    before = old.read_bytes()
    store = SqliteStore(str(old))
    for block in (store.read(), store.write()):
        with pytest.raises(SchemaTooNew), block:
            pass
    store.close()
    assert old.read_bytes() == before


def test_after_going_back_the_ledger_is_used_again(command, newer):
    assert command("task", "list").status == 7
    raise_version(newer, schema.SCHEMA)
    assert command("task", "list").status == 0
    assert command("task", "create", "y").status == 0
