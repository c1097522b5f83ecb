"""What one of many processes does at a ledger: run as a script, it waits for the word to go."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from contextspindle.actions.ledger import Ledger
from contextspindle.core.change import Request
from contextspindle.core.task import id_from
from contextspindle.errors import VersionConflict
from contextspindle.store.lock import Lock
from contextspindle.store.sqlite import SqliteStore
from contextspindle.workspace import now

SHARED = "t-00000001"


def create_some(ledger: Ledger, number: int, count: int = 20) -> list[str]:
    return [
        ledger.create(Request({"goal": f"{number}.{one}"}, notes=("n",))).task.id
        for one in range(count)
    ]


def append_notes(ledger: Ledger, number: int, count: int = 15) -> str:
    for one in range(count):
        ledger.update(SHARED, Request(notes=(f"{number}.{one}",), add_labels=(f"w{number}",)))
    return "done"


def create_under_one_key(ledger: Ledger, number: int) -> list[Any]:
    outcome = ledger.create(Request({"goal": "once"}), key="the same")
    return [outcome.task.id, outcome.changed]


def update_if_first(ledger: Ledger, number: int) -> Any:
    try:
        ledger.update(SHARED, Request({"owner": f"{number}"}), expected=1)
    except VersionConflict as error:
        return error.details["current"]
    return "won"


def read_or_write(ledger: Ledger, number: int) -> int:
    """The odd ones write; the even ones read, and see whole states that only grow."""
    if number % 2:
        return len(create_some(ledger, number, 15))
    seen = []
    for _ in range(40):
        page = ledger.list(0, 100)
        assert len(page.items) == page.total
        seen.append(page.total)
        for one in page.items[:2]:
            ledger.show(one.id)
    assert seen == sorted(seen)
    return 15


def change_other_fields(ledger: Ledger, number: int, rounds: int = 25) -> str:
    """Each has a field of its own; nobody's value is ever undone by another."""
    field = ("owner", "next", "blocker")[number % 3]
    for one in range(rounds):
        task = ledger.update(SHARED, Request({field: f"{one}"})).task
        assert getattr(task, field) == f"{one}"
    return "done"


def make_the_ledger(ledger: Ledger, number: int) -> bool:
    made: bool = ledger._store.create()
    return made


def hold_the_lock(ledger: Ledger, number: int) -> None:
    with Lock(ledger._store.path + ".lock"):
        print("holding", flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    name, path, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    store = SqliteStore(path)
    actions = Ledger(
        store, actor=f"worker {number}", clock=now, new_id=lambda: id_from(os.urandom(5))
    )
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(globals()[name](actions, number)), flush=True)
    store.close()
