"""What the ledger costs inside a process that stays, as a server's does: no start is in it.

    python benchmarks/in_process.py --sizes 1000 100000 --json figures.json

Reads are timed one by one.  A durable update is timed in turn with one ``fdatasync`` of a page
written to a file in the same folder, because that is the least that any durable write costs there,
and with one row that SQLite alone commits there, because that is the least that it costs in SQLite.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import time
from collections.abc import Callable
from typing import Any

from common import COMMON, RARE, arguments_of, filled, keep, load, quantile, workspace

from contextspindle.core.change import Request


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 100_000], metavar="N")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--keep", metavar="DIR", help="keep the ledgers there, to be used again")
    arguments = arguments_of(None, parser)
    before = load()
    results = []
    for size in arguments.sizes:
        with filled(size, arguments.keep) as (folder, anchor):
            found = {
                "tasks": size,
                "reads": reads(folder, anchor, arguments.rounds),
                "writes": writes(folder, arguments.rounds),
            }
        results.append(found)
        show(found)
    keep(arguments, before, rounds=arguments.rounds, results=results)


def timed(action: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    before = time.perf_counter()
    action()
    return (time.perf_counter() - before) * 1_000


def figures(name: str, took: list[float]) -> dict[str, Any]:
    return {
        "call": name,
        "p50_ms": round(quantile(took, 0.5), 3),
        "p99_ms": round(quantile(took, 0.99), 3),
    }


def reads(folder: str, anchor: str, rounds: int) -> list[dict[str, Any]]:
    """Every kind of read, in turn."""
    ledger = workspace(folder).ledger()
    calls: dict[str, Callable[[], object]] = {
        "show": lambda: ledger.show(anchor),
        "context 2048": lambda: ledger.context(anchor, 2_048),
        "inbox 10": lambda: ledger.inbox(10),
        "list 0 50": lambda: ledger.list(0, 50),
        "ready 10": lambda: ledger.ready(10),
        "search (rare)": lambda: ledger.search(RARE, 10),
        "search (common)": lambda: ledger.search(COMMON, 10),
        "search (two words)": lambda: ledger.search(f"{COMMON} token", 10),
        "search (beginning)": lambda: ledger.search(COMMON[:4], 10),
    }
    took: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds + 5):
        for name, call in calls.items():
            one = timed(call)
            if turn >= 5:
                took[name].append(one)
    return [figures(name, values) for name, values in took.items()]


def writes(folder: str, rounds: int) -> list[dict[str, Any]]:
    """A durable update, in turn with the least that a durable write can cost here."""
    space = workspace(folder)
    ledger = space.ledger()
    bare = os.open(os.path.join(space.folder, "bare"), os.O_RDWR | os.O_CREAT, 0o600)
    page = bytes(4_096)

    def synced() -> None:
        os.pwrite(bare, page, 0)
        os.fdatasync(bare)

    table = sqlite3.connect(os.path.join(space.folder, "bare.sqlite3"), isolation_level=None)
    table.execute("PRAGMA journal_mode=WAL")
    table.execute("PRAGMA synchronous=FULL")
    table.execute("CREATE TABLE IF NOT EXISTS one (pk INTEGER PRIMARY KEY, value TEXT)")
    table.execute("INSERT OR IGNORE INTO one VALUES (1, '')")

    task_id = ledger.create(Request({"goal": "One that is written often"})).task.id
    took: dict[str, list[float]] = {
        name: [] for name in ("one page and fdatasync", "one row in SQLite", "update", "create")
    }
    for turn in range(rounds + 5):
        pair = {
            "one page and fdatasync": timed(synced),
            "one row in SQLite": timed(
                lambda turn=turn: table.execute("UPDATE one SET value = ?", (f"{turn}",))
            ),
            "update": timed(lambda turn=turn: ledger.update(task_id, Request({"next": f"{turn}"}))),
            "create": timed(lambda turn=turn: ledger.create(Request({"goal": f"goal {turn}"}))),
        }
        for name, one in pair.items():
            if turn >= 5:
                took[name].append(one)
    os.close(bare)
    table.close()
    found = [figures(name, values) for name, values in took.items()]
    for row in found:
        row["x_fdatasync"] = round(row["p50_ms"] / found[0]["p50_ms"], 2)
        row["x_one_row"] = round(row["p50_ms"] / found[1]["p50_ms"], 2)
    return found


def show(found: dict[str, Any]) -> None:
    print(f"\n{found['tasks']:,} tasks")
    for row in (*found["reads"], *found["writes"]):
        times = f"{row['x_fdatasync']:6.2f} x" if "x_fdatasync" in row else ""
        print(f"{row['call']:24} p50 {row['p50_ms']:8.3f}  p99 {row['p99_ms']:8.3f} {times}")


if __name__ == "__main__":
    main()
