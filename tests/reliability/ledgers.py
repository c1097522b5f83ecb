"""Ledgers to damage: one with every kind of data in it, and all that can be read of one."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from contextspindle.actions.archive import Archive
from contextspindle.actions.ledger import Ledger
from contextspindle.core.change import Request
from contextspindle.core.evidence import CommandMark, FileMark
from contextspindle.core.task import id_from
from contextspindle.store.sqlite import SqliteStore


class Surroundings:
    """A project in which no file ever changes."""

    def file(self, path: str) -> FileMark:
        return FileMark(path, 3, hashlib.sha256(path.encode()).hexdigest())

    def run(
        self, argv: tuple[str, ...], covers: tuple[str, ...], show: object
    ) -> tuple[CommandMark, tuple[str, ...]]:
        values = dict.fromkeys(CommandMark._fields, "")
        whole = {**values, "argv": argv, "covers": covers, "status": 0, "milliseconds": 5}
        return CommandMark(**whole), ()  # type: ignore[arg-type]

    def moved(self, record: object) -> str:
        return ""


def ledger_on(store: SqliteStore, seed: int = 1, now: int = 1_000) -> Ledger:
    """The ledger's actions, with time and chance that are always the same."""
    chance = random.Random(seed)
    return Ledger(
        store,
        actor="ada",
        clock=lambda: now,
        new_id=lambda: id_from(chance.randbytes(5)),
        random=chance.randbytes,
        surroundings=Surroundings,
    )


class Sample(NamedTuple):
    """The bytes of a ledger file, and what is in it."""

    content: bytes
    ids: tuple[str, ...]


def make_sample(folder: Path) -> Sample:
    """A small ledger with every kind of data."""
    store = SqliteStore(str(folder / "tasks" / "ledger.sqlite3"))
    store.create()
    ledger = ledger_on(store)
    ids: list[str] = []
    for number in range(12):
        made = ledger.create(
            Request(
                set={
                    "goal": f"goal {number} 日本語 alpha",
                    "criteria": ["a", f"b {number}"],
                    "next": f"next é {number}",
                    "owner": f"o{number % 3}",
                    "priority": number % 5,
                    **({"parent": ids[0]} if number in (4, 5) else {}),
                },
                decisions=(f"decided {number}",),
                notes=(f"note one {number}",),
                add_labels=("x", f"y{number}"),
                add_dependencies=tuple(ids[-2:]),
            ),
            key=f"k{number}",
        )
        ids.append(made.task.id)
    ledger.create(Request({"goal": "g" * 500, "owner": "w" * 100, "next": "界" * 90}))
    ledger.update(ids[0], Request({"status": "done"}, evidence=(("e", 0),)))
    ledger.update(ids[1], Request(), made=ledger.look_at(ids[1], ["a.txt"], 1))
    ledger.prove(ids[1], ("true", "--so"), criterion=2, covers=("src",))
    ledger.update(ids[1], Request({"status": "done"}))
    ledger.claim_next()
    lost = ledger.claim(ids[6], seconds=60)
    ledger.release(ids[6], token=lost.token)
    ledger.update(ids[3], Request({"blocker": "zz", "status": "blocked"}))
    ledger.update(ids[11], Request({"status": "cancelled"}, decisions=("no",)))
    for number in range(20):
        ledger.update(ids[2], Request(notes=(f"more {number}",)))
    store.open_writer().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = Path(store.path).read_bytes()
    store.close()
    return Sample(content, tuple(ids))


class Reads:
    """Everything that can be asked of a ledger file, each question by its name."""

    def __init__(self, path: str, ids: tuple[str, ...]) -> None:
        self.store = SqliteStore(path)
        self.ledger = ledger_on(self.store, now=1_000)
        self.ids = ids

    def of_tasks(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """What is bound to a digest: it must never come out altered."""
        ledger = self.ledger
        for one in self.ids:
            yield f"show {one}", lambda one=one: ledger.show(one)
            yield f"history {one}", lambda one=one: ledger.history(one, 1, 100)
        yield "export", lambda: b"".join(Archive(self.store).lines())

    def others(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """What is found by the indexes and columns beside them."""
        ledger = self.ledger
        yield "inbox", lambda: ledger.inbox(100)
        yield "list", lambda: ledger.list(0, 100)
        yield "ready", lambda: ledger.ready(100)
        for one in self.ids:
            yield f"view {one}", lambda one=one: ledger.view(one)
            yield f"context {one}", lambda one=one: ledger.context(one, 4_000)
            yield f"children {one}", lambda one=one: ledger.children(one)
            yield f"explain {one}", lambda one=one: ledger.explain(one)
        for query in ("goal", "alpha", "日本", "note", "y3", "zz", "more 1", self.ids[5]):
            yield f"search {query}", lambda query=query: ledger.search(query, 100)
        for owner in ("o0", "o1", "o2"):
            yield f"owner {owner}", lambda owner=owner: ledger.list(0, 100, owner=owner)
        for status in ("open", "done", "blocked", "cancelled"):
            yield f"status {status}", lambda status=status: ledger.list(0, 100, status=(status,))
        for label in ("x", "y2"):
            yield f"label {label}", lambda label=label: ledger.list(0, 100, label=label)
        for number in range(12):
            yield f"key k{number}", lambda number=number: self._creation(f"k{number}")

    def _creation(self, key: str) -> Any:
        with self.store.read() as txn:
            return txn.creation(key)


def place_file(folder: Path, content: bytes) -> str:
    """A ledger file of ``content`` in ``folder``, without what an earlier one left beside it."""
    path = str(folder / "ledger.sqlite3")
    for left in ("-wal", "-shm", "-journal"):
        if os.path.exists(path + left):
            os.unlink(path + left)
    with open(path, "wb") as file:
        file.write(content)
    return path


KILLED = """
import os, signal, sqlite3, sys
raw = sqlite3.connect(sys.argv[1], isolation_level=None)
raw.execute("PRAGMA cache_size=2")  # so that pages are written before the end
raw.execute("BEGIN IMMEDIATE")
raw.execute("UPDATE totals SET count = count + 7")
raw.execute("UPDATE tasks SET goal = 'never said'")
raw.execute("UPDATE changes SET body = zeroblob(length(body))")
os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_a_writer(path: str) -> None:
    """Leave the journal of a write behind that was never committed, and half of its pages."""
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert os.path.getsize(path + "-journal") > 4_096
