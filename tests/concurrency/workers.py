"""What one of many processes does at a ledger: run as a script, it waits for the word to go."""

from __future__ import annotations

import json
import os
import select
import sys
from typing import Any

from contextspindle.actions.ledger import Ledger
from contextspindle.core.change import Request
from contextspindle.core.task import id_from
from contextspindle.errors import ClaimHeld, NothingReady, VersionConflict
from contextspindle.store.lock import Lock
from contextspindle.store.safety import daily
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


def append_many_notes(ledger: Ledger, number: int, count: int = 50) -> str:
    return append_notes(ledger, number, count)


def claim_rounds(ledger: Ledger, number: int, word: str = "[]") -> list[int]:
    """Claims every task of the ledger in turn, in step with the others; the rounds it won."""
    won = []
    for turn, task_id in enumerate(json.loads(word)):
        try:
            claimed = ledger.claim(task_id)
        except ClaimHeld:
            continue
        assert claimed.task.claim == f"worker {number}"
        won.append(turn)
    return won


def claim_until_nothing_is_ready(ledger: Ledger, number: int) -> list[str]:
    taken = []
    while True:
        try:
            claimed = ledger.claim_next()
        except NothingReady:
            return taken
        # The token is good from the first moment on.
        ledger.update(claimed.task.id, Request({"owner": f"{number}"}), claim=claimed.token)
        taken.append(claimed.task.id)


def write_a_little(ledger: Ledger, number: int) -> str:
    task_id = ledger.create(Request({"goal": f"of {number}"})).task.id
    ledger.update(SHARED, Request(notes=(f"{number}",)))
    assert ledger.search(f"of {number}").total
    return task_id


def write_much(ledger: Ledger, number: int, count: int = 60) -> int:
    """Next actions of some kilobytes, one after the other; how many."""
    task_id = ledger.create(Request({"goal": f"of {number}"})).task.id
    for one in range(count):
        ledger.update(task_id, Request({"next": f"{one} " + "x" * 4_000}))
    return count


def write_much_more(ledger: Ledger, number: int) -> int:
    return write_much(ledger, number, 1_000)


def read_until_told(ledger: Ledger, number: int) -> int:
    """One connection that lives long and reads again and again, each time a snapshot."""
    count = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        page = ledger.inbox(100)
        for one in page.items[:5]:
            ledger.context(one.id, 100_000)
        count += 1
    return count


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


def make_daily_copy(ledger: Ledger, number: int) -> str:
    return daily(ledger._store, now(), keep=7, most_mb=64)


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
    told = sys.stdin.readline()
    given = (told,) if name == "claim_rounds" else ()
    print(json.dumps(globals()[name](actions, number, *given)), flush=True)
    store.close()
