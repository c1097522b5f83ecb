"""Writers that are killed at any moment, under load: what they had acknowledged is there."""

from __future__ import annotations

import os
import random
import selectors
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contextspindle.core.change import Request
from contextspindle.store.inspect import inspect
from contextspindle.store.sqlite import SqliteStore

WRITER = Path(__file__).with_name("writer.py")
WRITERS = 8


class Writer:
    """One process, and what it has told so far."""

    def __init__(self, path: str, shared: str, name: str) -> None:
        self.name = name
        self.told = b""
        self.process = subprocess.Popen(
            [sys.executable, str(WRITER), path, shared, name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def kill(self) -> list[list[str]]:
        """End it at once; its acknowledged writes."""
        self.process.kill()
        rest, complaint = self.process.communicate()
        assert self.process.returncode == -9, complaint
        assert complaint == b""
        whole = (self.told + rest).decode().split("\n")[:-1]
        return [line.split() for line in whole]


@pytest.mark.parametrize("journal", ["wal", "rollback"])
def test_what_killed_writers_had_acknowledged_is_there(tmp_path, make_ledger, long_run, journal):
    path = str(tmp_path / "tasks" / "ledger.sqlite3")
    store = SqliteStore(path)
    store.create(journal)
    ledger = make_ledger(store)
    shared = ledger.create(Request({"goal": "shared", "status": "blocked", "blocker": "b"})).task.id
    chance = random.Random(journal)
    end = time.monotonic() + (60 if long_run else 4)
    latest = end + 60
    life = 0.9
    names = iter(range(100_000))
    acknowledged: list[list[str]] = []
    kills = 0
    with selectors.DefaultSelector() as selector:

        def start() -> None:
            writer = Writer(path, shared, f"w{next(names)}")
            # A moment of its life at which it is killed: while it starts, waits or writes.
            fate = time.monotonic() + chance.uniform(0.05, life)
            selector.register(writer.process.stdout, selectors.EVENT_READ, (writer, fate))

        for _ in range(WRITERS):
            start()
        while time.monotonic() < end or len(acknowledged) <= WRITERS:
            assert time.monotonic() < latest, "too few writers came to write"
            entries = [key.data for key in selector.get_map().values()]
            writer, fate = min(entries, key=lambda entry: entry[1])
            for key, _ in selector.select(max(fate - time.monotonic(), 0)):
                key.data[0].told += os.read(key.fd, 65_536)
            if time.monotonic() >= fate:
                selector.unregister(writer.process.stdout)
                told = writer.kill()
                acknowledged += told
                # On a busy machine a writer may die before it comes to write: let the next live on.
                life = life if told else life * 1.05
                kills += 1
                start()
        for key in list(selector.get_map().values()):
            selector.unregister(key.fileobj)
            acknowledged += key.data[0].kill()
    assert kills > WRITERS
    report = inspect(store, deep=True)
    assert (report.findings, report.unchecked) == ((), ())
    notes = {entry.text for entry in ledger.show(shared).notes}
    for kind, task_id, mark in acknowledged:
        if kind == "note":
            assert mark in notes
        elif kind == "create":
            task = ledger.show(task_id)
            assert (task.goal, task.labels) == (mark, (mark,))
        else:
            # The lease is long: nobody can have taken it over.
            assert ledger.show(task_id).claim == mark.partition(".")[0]
    assert ledger.update(shared, Request(notes=("goes on",))).changed
    store.close()
