"""Files are looked at before the lock of all writers is taken, and not while it is held."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from contextspindle.actions.ledger import Ledger
from contextspindle.checkout import Checkout
from contextspindle.core.change import Request
from contextspindle.core.redaction import mask
from contextspindle.core.task import id_from
from contextspindle.errors import DoneRefused
from contextspindle.store.sqlite import SqliteStore

ONE = ("it builds",)


class Watched(Checkout):
    """A checkout that says of each look whether another program could write just then."""

    def __init__(self, root: Path, database: Path, looks: list[str]) -> None:
        super().__init__(str(root), mask)
        self._database = database
        self._looks = looks

    def moved(self, record):
        other = sqlite3.connect(self._database, timeout=0, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
            self._looks.append("free")
        except sqlite3.OperationalError:
            self._looks.append("locked")
        finally:
            other.close()
        return super().moved(record)


@pytest.fixture
def looks() -> list[str]:
    return []


@pytest.fixture
def ledger(tmp_path, monkeypatch, looks):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "report").write_text("214 passed")
    monkeypatch.chdir(folder)
    database = tmp_path / "ledger.sqlite3"
    store = SqliteStore(str(database))
    store.create()
    numbers = iter(range(1, 100))
    yield Ledger(
        store,
        actor="ada",
        clock=lambda: 1_000,
        new_id=lambda: id_from(next(numbers).to_bytes(5, "big")),
        surroundings=lambda: Watched(folder, database, looks),
    )
    store.close()


@pytest.fixture
def done(ledger) -> str:
    """A task that is done, by a file and a command, and has a dependency."""
    need = ledger.create(Request(set={"goal": "first"})).task.id
    ledger.update(need, Request(set={"criteria": ONE}, decisions=("so",)))
    ledger.update(need, Request(set={"status": "done"}, evidence=(("looked", 0),)))
    task = ledger.create(
        Request(set={"goal": "g", "criteria": ("it builds", "it runs"), "dependencies": (need,)})
    ).task.id
    ledger.prove(task, ("true",), criterion=1, covers=("report",))
    ledger.update(task, Request(), made=ledger.look_at(task, ["report"], 2))
    ledger.update(task, Request(set={"status": "done"}))
    return task


def test_a_task_that_becomes_done(done, looks):
    assert looks == ["free", "free"]


@pytest.mark.parametrize("how", ["drop", "set"])
def test_a_dependency_that_a_done_task_loses(ledger, done, looks, how):
    need = ledger.show(done).dependencies
    request = Request(drop_dependencies=need) if how == "drop" else Request({"dependencies": ()})
    looks.clear()
    assert ledger.update(done, request).task.status == "done"
    assert looks == ["free", "free"]


def test_records_that_come_with_the_same_update_are_not_looked_at_again(ledger, done, looks):
    request = Request(set={"status": "open"}, decisions=("again",))
    ledger.update(done, request)
    made = ledger.look_at(done, ["report"], 1)
    looks.clear()
    ledger.update(done, Request(set={"status": "done"}), made=made)
    assert looks == ["free", "free"]


def test_a_command_that_comes_with_the_same_update_is_looked_at(ledger, done, looks):
    ledger.update(done, Request(set={"status": "open"}, decisions=("again",)))
    record = next(iter(ledger.look_at(done, ["report"])))
    ran, _ = Checkout(".", mask).run(("sh", "-c", "date +%N >report"), ("report",), bytes)
    looks.clear()
    with pytest.raises(DoneRefused, match="changed while the command ran"):
        ledger.update(
            done,
            Request(set={"status": "done"}),
            made=(record._replace(file=None, command=ran),),
        )
    assert set(looks) == {"free"}


def test_criteria_that_come_back_with_the_same_update(ledger, done, looks):
    before = ledger.show(done).criteria
    ledger.update(done, Request(set={"status": "open", "criteria": ONE}, decisions=("fewer",)))
    looks.clear()
    ledger.update(
        done, Request(set={"status": "done", "criteria": before}, decisions=("as it was",))
    )
    assert looks == ["free", "free"]


def test_what_asks_for_no_evidence_looks_at_nothing(ledger, done, looks):
    looks.clear()
    ledger.update(done, Request(set={"next": "rest"}, notes=("well",)))
    ledger.update(done, Request(set={"status": "open"}, decisions=("again",)))
    ledger.update(done, Request(set={"blocker": "rain"}))
    assert looks == []
