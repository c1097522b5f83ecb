"""The ledger, a handoff and the memory from Python, in one folder: ``python examples/library.py``.

The promise to keep is the command line and its JSON documents; the names below are those that the
package offers besides (``contextspindle.__all__``), and nothing deeper.
"""

from __future__ import annotations

import sys
import tempfile

import contextspindle
from contextspindle import Note, Request, SpindleError


def main(folder: str) -> None:
    workspace = contextspindle.make_workspace(folder)
    ledger = workspace.ledger()

    # A request names the fields to set; entries are added, never replaced.
    asked = Request(
        set={
            "goal": "Ship the login page",
            "criteria": ["the form posts", "a wrong password is told apart from a wrong name"],
            "next": "write the form",
        }
    )
    task = ledger.create(asked).task
    print(f"created {task.id}, version {task.version}, {task.status}")

    # What somebody did not read must not be written over: with `expected` it is refused.
    moved = Request(set={"status": "active"}, decisions=("Sessions live for a day",))
    task = ledger.update(task.id, moved, expected=task.version).task

    # A user's mistake is an error with a stable code, a message and a hint; nothing was written.
    try:
        ledger.update(task.id, Request(set={"status": "done"}))
    except SpindleError as error:
        print(f"refused: {error.code}")

    proven = Request(set={"status": "done"}, evidence=(("pytest: 31 passed", 0),))
    task = ledger.update(task.id, proven).task
    print(f"{task.status} in version {task.version}")

    # What the next agent reads, within a budget of bytes.
    handoff = ledger.context(task.id, 1_024)
    print(f"handed over in {len(handoff.text.encode())} of {handoff.budget} bytes:")
    print(handoff.text)

    memory = workspace.memory()
    memory.remember(Note("Staging is reset every night at two"))
    for hit in memory.recall("when is staging reset?", 3):
        print(f"remembered: {hit.item.text}")

    # Another process, or this one later, finds the same workspace.
    again = contextspindle.find_workspace(folder).ledger()
    steps = again.history(task.id).steps
    print(f"its versions: {[one.change.version for one in steps]}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as made:
            main(made)
