"""What the benchmarks share: ledgers of any size, children that are timed, and the conditions."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator

from contextspindle import config
from contextspindle.core import task as tasks
from contextspindle.core.change import Request, begin, plan_creation
from contextspindle.workspace import Workspace

BATCH = 20_000
WORDS = (
    "parser cache login index queue retry schema worker token budget session export import render "
    "socket timer cursor buffer lock merge branch deploy metric alert panel filter router header"
).split()
COMMON, RARE = "parser", "quicksilver"
"""A word of nearly every task, and one of a single task."""


def workspace(folder: str) -> Workspace:
    """The workspace in ``folder``, whatever this machine is set to."""
    return Workspace(folder, config.load({"HOME": folder, "CONTEXTSPINDLE_ACTOR": "bench"}))


def fill(folder: str, size: int, **anchor_fields: object) -> str:
    """A workspace of ``size`` tasks of mixed status and age; the id of one with 24 notes.

    That one alone holds :data:`RARE`, in its goal; ``anchor_fields`` say what else it is like.
    """
    space = workspace(folder)
    space.make()
    chance = random.Random(7)
    store = space.store()
    store.open_writer().execute("PRAGMA cache_size=-262144")
    born = time.time_ns() // 1_000_000 - size * 1_000
    anchor = ""
    for first in range(0, size, BATCH):
        with store.write() as txn:
            for number in range(first, min(first + BATCH, size)):
                is_anchor = number == size // 2
                request = _request(chance, notes=24 if is_anchor else number % 3)
                if is_anchor:
                    request.set.pop("blocker", None)
                    request.set.update({"status": "open", **anchor_fields})
                    request.set["goal"] += f" with {RARE}"
                task_id = tasks.id_from(chance.randbytes(5))
                while txn.brief(task_id):  # among a million, two may be the same
                    task_id = tasks.id_from(chance.randbytes(5))
                change = plan_creation(
                    task_id, request, actor="bench", now=born + number * 1_000, look=txn.brief
                )
                txn.record(begin(change), change)
                if is_anchor:
                    anchor = task_id
    store.close()
    return anchor


@contextlib.contextmanager
def filled(size: int, kept: str | None) -> Iterator[tuple[str, str]]:
    """A folder with a ledger of ``size`` tasks, and the id of the one with the notes.

    Below ``kept`` it stays, and one that is there is used again; else it is gone afterwards.
    """
    if not kept:
        with tempfile.TemporaryDirectory(prefix="spindle-bench-") as folder:
            yield folder, fill(folder, size)
        return
    folder = os.path.join(os.path.abspath(kept), str(size))
    if os.path.isdir(folder):
        yield folder, workspace(folder).ledger().search(RARE, 1).items[0].id
    else:
        os.makedirs(folder)
        yield folder, fill(folder, size)


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


def run(call: list[str], folder: str, given: str = os.devnull) -> tuple[float, float]:
    """CPU and wall milliseconds of one child process, which must succeed.

    ``given`` is the file that it has as standard input.
    """
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}
    nowhere = os.open(os.devnull, os.O_RDWR)
    read = os.open(given, os.O_RDONLY)
    actions = [(os.POSIX_SPAWN_DUP2, read, 0), (os.POSIX_SPAWN_DUP2, nowhere, 1)]
    before = time.perf_counter()
    child = os.posix_spawn(call[0], call, environment, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    took = time.perf_counter() - before
    os.close(nowhere)
    os.close(read)
    if status:
        raise SystemExit(f"{' '.join(call)} ended with status {os.waitstatus_to_exitcode(status)}")
    return (usage.ru_utime + usage.ru_stime) * 1_000, took * 1_000


def quantile(values: list[float], share: float) -> float:
    """The value below which ``share`` of them lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def spread(values: list[float]) -> dict[str, float]:
    """The median and the 95th of a hundred."""
    return {
        "median": round(statistics.median(values), 2),
        "p95": round(quantile(values, 0.95), 2),
    }


def ratio(values: list[float], bare: list[float]) -> float:
    """The median of the ratios within the rounds."""
    return round(statistics.median(one / other for one, other in zip(values, bare)), 2)


def arguments_of(
    text: str | None, parser: argparse.ArgumentParser | None = None
) -> argparse.Namespace:
    """The arguments of a benchmark, with those that all of them take."""
    parser = parser or argparse.ArgumentParser(description=(text or "").split("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    beside = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    parser.add_argument("--command", default=beside, help="the installed command")
    arguments = parser.parse_args()
    if not os.access(arguments.command, os.X_OK):
        parser.error(f"there is no command at {arguments.command}; install the package first")
    return arguments


def keep(arguments: argparse.Namespace, before: list[float], **found: object) -> None:
    """Write the figures with their conditions, if a file was asked for."""
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"conditions": conditions(before), **found}, file, indent=1)
            file.write("\n")


def load() -> list[float]:
    """How busy the machine is: the mean number of running processes over 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()]


def conditions(before: list[float]) -> dict[str, object]:
    """What the figures depend on; ``before`` is the load before the benchmark began."""
    import _sqlite3

    release = platform.release().partition("-")[0]
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "python": platform.python_version(),
        "sqlite": _sqlite3.sqlite_version,
        "system": f"{platform.system()} {release} {platform.machine()}",
        "processors": os.cpu_count(),
        "load_before": before,
        "load_after": load(),
    }
