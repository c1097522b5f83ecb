"""How many writes a second any number of processes get acknowledged, and how long the slowest took.

    python benchmarks/writers.py --writers 1 4 16 64 --seconds 20 --json figures.json

Each process keeps one connection and writes as fast as it can, each write a synced commit.  At the
end every acknowledged write is looked for in the ledger.  ``fair`` is the least number of writes
that one process got, as a share of the most.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

from common import arguments_of, fill, keep, load, quantile, workspace

from contextspindle.core.change import Request
from contextspindle.errors import SpindleError


def main() -> None:
    """Start, write, count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 4, 16, 64], metavar="N")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--work", nargs=2, metavar=("FOLDER", "SECONDS"), help=argparse.SUPPRESS)
    arguments = arguments_of(None, parser)
    if arguments.work:
        work(arguments.work[0], float(arguments.work[1]))
        return
    before = load()
    results = []
    for count in arguments.writers:
        with tempfile.TemporaryDirectory(prefix="spindle-bench-") as folder:
            fill(folder, 1_000)
            results.append(measure(folder, count, arguments.seconds))
        print(json.dumps(results[-1]))
    keep(arguments, before, seconds=arguments.seconds, results=results)


def work(folder: str, seconds: float) -> None:
    """One writer: its task, how long each acknowledged write took, and the errors."""
    ledger = workspace(folder).ledger()
    task_id = ledger.create(Request({"goal": "of one writer"})).task.id
    print("ready", flush=True)
    sys.stdin.readline()
    took: list[float] = []
    errors: list[str] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = time.perf_counter()
        try:
            ledger.update(task_id, Request({"next": f"{len(took)}"}))
        except SpindleError as error:
            errors.append(error.code)
        else:
            took.append((time.perf_counter() - before) * 1_000)
    print(json.dumps({"task": task_id, "took": took, "errors": errors}))


def measure(folder: str, count: int, seconds: float) -> dict[str, Any]:
    """``count`` processes for ``seconds``, and what came of it."""
    space = workspace(folder)
    call = [sys.executable, __file__, "--work", folder, str(seconds)]
    running = [
        subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    for one in running:
        assert one.stdout
        assert one.stdout.readline() == "ready\n"
    largest = 0
    over = threading.Event()

    def watch() -> None:
        nonlocal largest
        log = space.store().path + "-wal"
        while not over.wait(0.05):
            if os.path.exists(log):
                largest = max(largest, os.path.getsize(log))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for one in running:
        assert one.stdin
        one.stdin.write("go\n")
        one.stdin.flush()
    done = [json.loads(one.communicate()[0]) for one in running]
    over.set()
    watcher.join()
    took = [ms for one in done for ms in one["took"]]
    ledger = space.ledger()
    # A write is a version: each that was acknowledged must be one.
    lost = sum(1 + len(one["took"]) - ledger.show(one["task"]).version for one in done)
    report = space.verify()
    shares = [len(one["took"]) for one in done]
    return {
        "writers": count,
        "acknowledged": len(took),
        "per_second": round(len(took) / seconds, 1),
        "median_ms": round(statistics.median(took), 2),
        "p99_ms": round(quantile(took, 0.99), 1),
        "slowest_ms": round(max(took), 1),
        "errors": sum(len(one["errors"]) for one in done),
        "lost": lost,
        "sound": not report.findings,
        "fair": round(min(shares) / max(shares), 2),
        "log_bytes": largest,
    }


if __name__ == "__main__":
    main()
