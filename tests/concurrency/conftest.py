"""Many processes at one ledger: library workers that start together, and commands that do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TIMEOUT = 120
WORKERS = Path(__file__).with_name("workers.py")


class Worker:
    """A process that runs one function of workers.py when it is told to."""

    def __init__(self, name: str, path: str, number: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(WORKERS), name, path, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def tell(self, word: str = "go") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def result(self) -> Any:
        out, err = self.process.communicate(timeout=TIMEOUT)
        assert self.process.returncode == 0, err
        return json.loads(out)


@pytest.fixture
def worker() -> Any:
    """A function that starts one worker, ready; all are ended with the test."""
    started = []

    def start(name: str, path: str, number: int) -> Worker:
        started.append(Worker(name, path, number))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()


@pytest.fixture
def together(worker: Any) -> Any:
    """A function that runs the function ``name`` of workers.py in processes that begin at once."""

    def run(name: str, path: str, count: int) -> list[Any]:
        workers = [worker(name, path, number) for number in range(count)]
        assert [one.line() for one in workers] == ["ready"] * count
        for one in workers:
            one.tell()
        return [one.result() for one in workers]

    return run


@pytest.fixture
def at_once(command: Any) -> Any:
    """A function that starts all commands given before it waits for the first."""

    def run(*calls: tuple[str, ...], env: dict[str, str] | None = None) -> list[Any]:
        running = [command.start(*words, env=env) for words in calls]
        ended = []
        for process in running:
            out, err = process.communicate(timeout=TIMEOUT)
            ended.append((process.returncode, out, err))
        return ended

    return run
