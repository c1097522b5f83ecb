"""The stores under the one contract: in memory, on a write-ahead log, on a rollback journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextspindle.actions.memory import Memory
from contextspindle.core import change
from contextspindle.core.memory import Limits
from contextspindle.store.ephemeral import EphemeralStore
from contextspindle.store.memory import MemoryStore
from contextspindle.store.sqlite import SqliteStore

KINDS = ("ephemeral", "sqlite", "sqlite-rollback")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(kind: str, tmp_path: Path) -> Iterator[Any]:
    """An empty store of each kind in turn."""
    if kind == "ephemeral":
        yield EphemeralStore()
        return
    made = SqliteStore(str(tmp_path / "tasks" / "ledger.sqlite3"), wait=0.2)
    assert made.create("rollback" if kind == "sqlite-rollback" else "wal")
    yield made
    made.close()


@pytest.fixture
def on_store(store, make_ledger, clock, ids):
    """The actions on that store."""
    return make_ledger(store, clock=clock, ids=ids)


@pytest.fixture
def planned(ask):
    """A function that gives a change and the task after it, as the port ``record`` takes them."""

    def made(before=None, *, task_id="t-one", now=1_000, look=lambda _: None, **words):
        if before is None:
            step = change.plan_creation(task_id, ask(**words), actor="ada", now=now, look=look)
            return change.begin(step), step
        step = change.plan(before, ask(**words), actor="ada", now=now, look=look)
        return change.apply(before, step), step

    return made


@pytest.fixture
def put(store, planned):
    """A function that records such a change in a transaction of its own; gives the task."""

    def recorded(before=None, **words):
        with store.write() as txn:
            after, step = planned(before, look=txn.brief, **words)
            txn.record(after, step)
        return after

    return recorded


@pytest.fixture
def open_memory(tmp_path: Path, clock: Any) -> Callable[..., Memory]:
    """A function that gives a memory of certain limits, on one file."""

    def made(items: int = 10_000, bytes_: int = 4_000_000) -> Memory:
        path = str(tmp_path / ".continuum" / "memory.sqlite3")
        return Memory(MemoryStore(path), Limits(items, bytes_), clock=clock)

    return made


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    return open_memory()


def recalled(memory: Memory, query: str, limit: int = 10, **only: str) -> list[str]:
    """The texts that answer a query."""
    return [hit.item.text for hit in memory.recall(query, limit, **only)]
