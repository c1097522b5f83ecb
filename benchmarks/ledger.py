"""What a command on the ledger costs as a fresh process, against the bare interpreter.

    python benchmarks/ledger.py                 the installed command beside this interpreter
    python benchmarks/ledger.py --sizes 1000 --rounds 9
    python benchmarks/ledger.py --sizes 1000 1000000 --json figures.json

For each size a ledger of that many tasks is filled through the library, many to a transaction.
Then rounds: in each, the bare interpreter (``python -I -c pass``) and every command run once, one
after the other, so that a change of the machine's speed meets all of them.  A ratio is the median
of the ratios within the rounds.  CPU is user and system time of the finished child and of what it
started, as the kernel counts it; wall is the time until the child has been reaped.  ``verify``
looks at every task, so that up to 10,000 it runs in the rounds, and above once; beside it runs what
no ``verify`` can do without: SQLite's own check of the file and of the search index, and nothing
else.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import Any

from common import COMMON, RARE, arguments_of, filled, keep, load, ratio, run, spread, workspace

from contextspindle.core.change import Request

SIZES = (1_000, 10_000, 100_000)
BARE = "python -I -c pass"
VERIFIED_OFTEN = 10_000
CHECKS_ALONE = """
import sys, _sqlite3
ledger = _sqlite3.connect(sys.argv[1], isolation_level=None)
assert ledger.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
ledger.execute("BEGIN")
ledger.execute("INSERT INTO search (search) VALUES ('integrity-check')")
ledger.execute("ROLLBACK")
"""
"""What SQLite checks of a ledger by itself."""


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--keep", metavar="DIR", help="keep the ledgers there, to be used again")
    parser.add_argument(
        "--shell", action="store_true", help="start each through `sh -c`, as a harness runs a hook"
    )
    arguments = arguments_of(None, parser)
    before = load()
    results = []
    for size in arguments.sizes:
        with filled(size, arguments.keep) as (folder, anchor):
            rows = measure(folder, anchor, size, arguments)
            results.append(
                {
                    "tasks": size,
                    "rows": rows,
                    "verify": verify(folder, size, arguments.command),
                }
            )
            print_table(results[-1])
    keep(
        arguments,
        before,
        rounds=arguments.rounds,
        through_a_shell=arguments.shell,
        results=results,
    )


def measure(folder: str, anchor: str, size: int, arguments: Any) -> list[dict[str, Any]]:
    """Every command in rounds against the bare interpreter."""
    command = arguments.command
    ledger = workspace(folder).ledger()
    written = ledger.create(Request({"goal": "One that is written often"})).task.id
    calls = {
        "task inbox 10": ["task", "inbox", "10"],
        "task board": ["task", "board"],
        "task tree": ["task", "tree"],
        "task log": ["task", "log"],
        "task log --by": ["task", "log", "--by", "nobody"],
        "task show": ["task", "show", anchor],
        "task context 2048": ["task", "context", anchor, "2048"],
        "task list 0 50": ["task", "list", "0", "50"],
        "task ready 10": ["task", "ready", "10"],
        "task search (rare)": ["task", "search", RARE, "10"],
        "task search (common)": ["task", "search", COMMON, "10"],
        "task search (two words)": ["task", "search", f"{COMMON} token", "10"],
        "task search (beginning)": ["task", "search", COMMON[:4], "10"],
        "task update --note": ["task", "update", written, "--note", "measured once more"],
        "task create": ["task", "create", "One more goal", "--criterion", "it is there"],
        "task claim --next": ["task", "claim", "--next"],
    }
    if size <= VERIFIED_OFTEN:
        calls["verify"] = ["verify"]
    whole = {name: [command, *words, "--workspace", folder] for name, words in calls.items()}
    if size <= VERIFIED_OFTEN:
        whole["SQLite's own checks alone"] = checks_alone(folder)
    if arguments.shell:
        whole = {name: ["/bin/sh", "-c", shlex.join(call)] for name, call in whole.items()}
    whole = {BARE: [sys.executable, "-I", "-c", "pass"], **whole}
    cpu: dict[str, list[float]] = {name: [] for name in whole}
    wall: dict[str, list[float]] = {name: [] for name in whole}
    order = list(whole)
    for turn in range(arguments.rounds + 2):
        order = order[1:] + order[:1]
        for name in order:
            used, took = run(whole[name], folder)
            if turn >= 2:  # the first rounds warm the caches
                cpu[name].append(used)
                wall[name].append(took)
    return [
        {
            "call": name,
            "cpu_ms": spread(cpu[name]),
            "wall_ms": spread(wall[name]),
            "cpu_ratio": ratio(cpu[name], cpu[BARE]),
            "wall_ratio": ratio(wall[name], wall[BARE]),
        }
        for name in whole
    ]


def checks_alone(folder: str) -> list[str]:
    """A process that does only what SQLite checks of a ledger by itself."""
    path = os.path.join(workspace(folder).folder, "tasks", "ledger.sqlite3")
    return [sys.executable, "-I", "-S", "-c", CHECKS_ALONE, path]


def verify(folder: str, size: int, command: str) -> dict[str, Any]:
    """One inspection of the whole ledger, between two runs of SQLite's own checks alone."""
    first, _ = run(checks_alone(folder), folder)
    used, took = run([command, "verify", "--workspace", folder], folder)
    second, _ = run(checks_alone(folder), folder)
    return {
        "cpu_seconds": round(used / 1_000, 2),
        "wall_seconds": round(took / 1_000, 2),
        "tasks_per_second": round(size / took * 1_000),
        "checks_alone_cpu_seconds": round((first + second) / 2_000, 2),
    }


def print_table(found: dict[str, Any]) -> None:
    """One table of the figures, in milliseconds."""
    print(f"\n{found['tasks']:,} tasks")
    print(f"{'call':24} {'cpu':>7} {'p95':>7} {'x bare':>7} {'wall':>7} {'p95':>7} {'x bare':>7}")
    for row in found["rows"]:
        print(
            f"{row['call']:24} {row['cpu_ms']['median']:7.1f} {row['cpu_ms']['p95']:7.1f}"
            f" {row['cpu_ratio']:7.2f} {row['wall_ms']['median']:7.1f} {row['wall_ms']['p95']:7.1f}"
            f" {row['wall_ratio']:7.2f}"
        )
    one = found["verify"]
    print(
        f"verify once: {one['wall_seconds']} s, {one['cpu_seconds']} s of processor,"
        f" {one['tasks_per_second']:,} tasks/s; SQLite's own checks alone:"
        f" {one['checks_alone_cpu_seconds']} s of processor"
    )


if __name__ == "__main__":
    main()
