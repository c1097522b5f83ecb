"""What a command on the ledger costs as a fresh process, against the bare interpreter.

    python benchmarks/ledger.py                 the installed command beside this interpreter
    python benchmarks/ledger.py --sizes 1000 --rounds 9
    python benchmarks/ledger.py --json figures.json

For each size a ledger of that many tasks is filled through the library, many to a transaction.
Then rounds: in each, the bare interpreter (``python -I -c pass``) and every command run once, one
after the other, so that a change of the machine's speed meets all of them.  A ratio is the median
of the ratios within the rounds.  CPU is user and system time of the finished child and of what it
started, as the kernel counts it; wall is the time until the child has been reaped.

It does not show: a cold file cache, another file system, a machine under memory pressure.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shlex
import statistics
import sys
import tempfile
import time

from contextspindle import config
from contextspindle.core import task as tasks
from contextspindle.core.change import Request, begin, plan_creation
from contextspindle.workspace import Workspace

SIZES = (1_000, 10_000, 100_000)
BATCH = 5_000
WORDS = (
    "parser cache login index queue retry schema worker token budget session export import render "
    "socket timer cursor buffer lock merge branch deploy metric alert panel filter router header"
).split()


def main() -> None:
    """Fill, measure, print."""
    arguments = _arguments()
    results = []
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory(prefix="spindle-bench-") as folder:
            started = time.perf_counter()
            anchor = fill(folder, size)
            filled = time.perf_counter() - started
            rows = measure(folder, anchor, arguments)
            results.append({"tasks": size, "fill_seconds": round(filled, 2), "rows": rows})
            print_table(size, rows)
    document = {"conditions": conditions(arguments), "results": results}
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    beside = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    parser.add_argument("--command", default=beside, help="the installed command")
    parser.add_argument(
        "--shell", action="store_true", help="start each through `sh -c`, as a harness runs a hook"
    )
    arguments = parser.parse_args()
    if not os.access(arguments.command, os.X_OK):
        parser.error(f"there is no command at {arguments.command}; install the package first")
    return arguments


def fill(folder: str, size: int) -> str:
    """A workspace of ``size`` tasks of mixed status and age; the id of one with 24 notes."""
    space = Workspace(folder, config.load({"HOME": folder, "CONTEXTSPINDLE_ACTOR": "bench"}))
    space.make()
    chance = random.Random(7)
    store = space.store()
    born = time.time_ns() // 1_000_000 - size * 1_000
    anchor = ""
    for first in range(0, size, BATCH):
        with store.write() as txn:
            for number in range(first, min(first + BATCH, size)):
                request = _request(chance, notes=24 if number == size // 2 else number % 3)
                task_id = tasks.id_from(chance.randbytes(5))
                change = plan_creation(
                    task_id, request, actor="bench", now=born + number * 1_000, look=txn.brief
                )
                txn.record(begin(change), change)
                if number == size // 2:
                    anchor = task_id
    store.close()
    return anchor


def _request(chance: random.Random, notes: int) -> Request:
    def sentence(count: int) -> str:
        return " ".join(chance.choices(WORDS, k=count))

    status = chance.choices(("open", "active", "blocked", "cancelled"), weights=(20, 5, 5, 70))[0]
    fields = {
        "goal": f"Make the {sentence(14)} work",
        "criteria": [f"the {sentence(6)} holds" for _ in range(3)],
        "next": f"look at {sentence(8)}",
        "owner": f"agent-{chance.randrange(20)}",
        "status": status,
        "priority": chance.randrange(5),
    }
    if status == "blocked":
        fields["blocker"] = f"waits for {sentence(5)}"
    return Request(set=fields, notes=tuple(sentence(18) for _ in range(notes)))


def measure(folder: str, anchor: str, arguments: argparse.Namespace) -> list[dict[str, object]]:
    """Every command in rounds against the bare interpreter."""
    command = arguments.command
    calls = {
        "python -I -c pass": [sys.executable, "-I", "-c", "pass"],
        "task inbox 10": [command, "task", "inbox", "10"],
        "task show": [command, "task", "show", anchor],
        "task context 2048": [command, "task", "context", anchor, "2048"],
        "task list 0 50": [command, "task", "list", "0", "50"],
        "task update --note": [command, "task", "update", anchor, "--note", "measured once more"],
        "task create": [command, "task", "create", "One more goal", "--criterion", "it is there"],
    }
    cpu: dict[str, list[float]] = {name: [] for name in calls}
    wall: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    calls = {
        name: [*call, "--workspace", folder] if name.startswith("task") else call
        for name, call in calls.items()
    }
    if arguments.shell:
        calls = {
            name: ["/bin/sh", "-c", shlex.join(call)] if name.startswith("task") else call
            for name, call in calls.items()
        }
    for turn in range(arguments.rounds + 2):
        order = order[1:] + order[:1]
        for name in order:
            used, took = run(calls[name], folder)
            if turn >= 2:  # the first rounds warm the caches
                cpu[name].append(used)
                wall[name].append(took)
    bare = "python -I -c pass"
    return [
        {
            "call": name,
            "cpu_ms": _spread(cpu[name]),
            "wall_ms": _spread(wall[name]),
            "cpu_ratio": round(_ratio(cpu[name], cpu[bare]), 2),
            "wall_ratio": round(_ratio(wall[name], wall[bare]), 2),
        }
        for name in calls
    ]


def run(call: list[str], folder: str) -> tuple[float, float]:
    """CPU and wall milliseconds of one child process, which must succeed."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}
    nowhere = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, nowhere, 0), (os.POSIX_SPAWN_DUP2, nowhere, 1)]
    before = time.perf_counter()
    child = os.posix_spawn(call[0], call, environment, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    took = time.perf_counter() - before
    os.close(nowhere)
    if status:
        raise SystemExit(f"{' '.join(call)} ended with status {os.waitstatus_to_exitcode(status)}")
    return (usage.ru_utime + usage.ru_stime) * 1_000, took * 1_000


def _spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    high = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return {"median": round(statistics.median(ordered), 2), "p95": round(high, 2)}


def _ratio(values: list[float], bare: list[float]) -> float:
    return statistics.median(one / other for one, other in zip(values, bare))


def print_table(size: int, rows: list[dict[str, object]]) -> None:
    """One table of the figures, in milliseconds."""
    print(f"\n{size:,} tasks")
    print(f"{'call':22} {'cpu':>7} {'p95':>7} {'x bare':>7} {'wall':>7} {'p95':>7} {'x bare':>7}")
    for row in rows:
        print(
            f"{row['call']:22} {row['cpu_ms']['median']:7.1f} {row['cpu_ms']['p95']:7.1f}"
            f" {row['cpu_ratio']:7.2f} {row['wall_ms']['median']:7.1f} {row['wall_ms']['p95']:7.1f}"
            f" {row['wall_ratio']:7.2f}"
        )


def conditions(arguments: argparse.Namespace) -> dict[str, object]:
    """What the figures depend on."""
    import _sqlite3

    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "python": platform.python_version(),
        "sqlite": _sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": os.cpu_count(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "rounds": arguments.rounds,
        "through_a_shell": arguments.shell,
    }


if __name__ == "__main__":
    main()
