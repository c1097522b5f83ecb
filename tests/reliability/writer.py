"""A process that writes without end and tells each write once it was acknowledged, until killed."""

from __future__ import annotations

import os
import random
import sys

from contextspindle.actions.ledger import Ledger
from contextspindle.core.change import Request
from contextspindle.core.task import id_from
from contextspindle.errors import NothingReady
from contextspindle.store.sqlite import SqliteStore
from contextspindle.workspace import now


def main(path: str, shared: str, name: str) -> None:
    """One line an acknowledged write: what was done, to which task, and what must be there."""
    ledger = Ledger(
        SqliteStore(path, wait=30), actor=name, clock=now, new_id=lambda: id_from(os.urandom(5))
    )
    chance = random.Random(name)
    number = 0
    while True:
        number += 1
        mark = f"{name}.{number}"
        kind = chance.choice(("create", "note", "note", "claim"))
        task_id = shared
        if kind == "create":
            task_id = ledger.create(
                Request({"goal": mark}, notes=("x" * chance.randrange(20_000),), add_labels=(mark,))
            ).task.id
        elif kind == "note":
            ledger.update(shared, Request(notes=(mark,)))
        else:
            try:
                task_id = ledger.claim_next(seconds=600).task.id
            except NothingReady:
                continue
        os.write(1, f"{kind} {task_id} {mark}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
