"""A ledger of a newer program is refused with the advice to upgrade, and no byte is touched."""

from __future__ import annotations

import sqlite3

import pytest

from contextspindle.actions.memory import Memory
from contextspindle.core.memory import Note
from contextspindle.errors import SchemaTooNew
from contextspindle.store import schema
from contextspindle.store.memory import MEMORY_SCHEMA, MemoryStore
from contextspindle.store.sqlite import SqliteStore
from tests.conftest import Clock

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


def test_a_ledger_that_is_open_is_refused_as_soon_as_a_newer_program_has_led_it_on(
    tmp_path, make_ledger, ask
):
    store = SqliteStore(str(tmp_path / "tasks" / "ledger.sqlite3"))
    store.create()
    ledger = make_ledger(store)
    task = ledger.create(ask(goal="x")).task
    raise_version(store.path, schema.SCHEMA + 1)
    before = files(tmp_path / "tasks")
    for deed in (
        lambda: ledger.show(task.id),
        lambda: ledger.update(task.id, ask(notes=("n",))),
        lambda: ledger.inbox(9),
    ):
        with pytest.raises(SchemaTooNew):
            deed()
    assert files(tmp_path / "tasks") == before
    raise_version(store.path, schema.SCHEMA)
    assert ledger.update(task.id, ask(notes=("n",))).changed
    store.close()


def test_a_memory_that_is_open_is_refused_as_soon_as_a_newer_program_has_led_it_on(tmp_path):
    store = MemoryStore(str(tmp_path / ".continuum" / "memory.sqlite3"))
    memory = Memory(store, clock=Clock())
    memory.remember(Note("We ship on Fridays"))
    raise_version(store.path, MEMORY_SCHEMA + 1)
    for deed in (lambda: memory.recall("ship", 3), lambda: memory.remember(Note("More"))):
        with pytest.raises(SchemaTooNew):
            deed()
    raise_version(store.path, MEMORY_SCHEMA)
    assert [one.item.text for one in memory.recall("ship", 3)] == ["We ship on Fridays"]
    store.close()
