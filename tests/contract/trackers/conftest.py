"""A ledger that imports, on the stores, and the same items as each program writes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextspindle.core.foreign import Gathered
from contextspindle.store.inspect import inspect
from contextspindle.store.sqlite import SqliteStore
from contextspindle.trackers import backlog, beads, task_master
from tests.trackers import Importing


@pytest.fixture(params=["ephemeral", "sqlite"])
def importing(request: pytest.FixtureRequest, tmp_path: Path, clock, ids) -> Iterator[Importing]:
    """An import into each store; what SQLite holds is sound when the test has ended."""
    if request.param == "ephemeral":
        yield Importing(clock, ids)
        return
    store = SqliteStore(str(tmp_path / "tasks" / "ledger.sqlite3"))
    store.create()
    yield Importing(clock, ids, store)
    assert inspect(store, deep=True).findings == ()
    store.close()


def as_beads(items: list[dict[str, Any]]) -> Gathered:
    lines = []
    for one in items:
        links = [("blocks", other) for other in one.get("needs", ())]
        links += [("parent-child", one["parent"])] if "parent" in one else []
        found = {
            "id": one["id"],
            "title": one.get("title", "a task"),
            "status": {"done": "closed"}.get(one.get("status", ""), "open"),
            "design": one.get("note", ""),
            "dependencies": [
                {"issue_id": one["id"], "depends_on_id": other, "type": kind}
                for kind, other in links
            ],
        }
        if "updated" in one:
            found["updated_at"] = one["updated"]
        lines.append(json.dumps(found))
    return beads.parse("\n".join(lines).encode())


def as_task_master(items: list[dict[str, Any]]) -> Gathered:
    found: dict[str, Any] = {}
    for one in items:
        task = {
            "id": one["id"],
            "title": one.get("title", "a task"),
            "status": one.get("status", "pending"),
            "details": one.get("note", ""),
            "dependencies": one.get("needs", []),
            "subtasks": [],
        }
        if "updated" in one:
            task["updatedAt"] = one["updated"]
        found[one["id"]] = task
    return task_master.parse(json.dumps({"tasks": list(found.values())}).encode())


def as_backlog(items: list[dict[str, Any]]) -> Gathered:
    pages = []
    for one in items:
        lines = ["---", f"id: TASK-{one['id']}", f"title: {one.get('title', 'a task')}"]
        lines.append(f"status: {one.get('status', 'To Do')}")
        if "updated" in one:
            lines.append(f"updated_date: '{one['updated'][:10]}'")
        if "parent" in one:
            lines.append(f"parent_task_id: TASK-{one['parent']}")
        needs = [f"TASK-{other}" for other in one.get("needs", ())]
        lines += [f"dependencies: [{', '.join(needs)}]", "---", "## Notes", one.get("note", "")]
        pages.append(backlog.Page(f"tasks/{one['id']}.md", "\n".join(lines).encode()))
    return backlog.parse(pages)


PROGRAMS: dict[str, tuple[Callable[[list[dict[str, Any]]], Gathered], str]] = {
    "beads": (as_beads, "beads:"),
    "taskmaster": (as_task_master, "taskmaster:master:"),
    "backlog": (as_backlog, "backlog:TASK-"),
}


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> Callable[[list[dict[str, Any]]], Gathered]:
    """What writes items as a program and reads them again; ``.source`` gives an item's name."""
    write, start = PROGRAMS[request.param]

    def gathered(*items: dict[str, Any]) -> Gathered:
        return write(list(items))

    gathered.source = lambda name: start + name  # type: ignore[attr-defined]
    return gathered  # type: ignore[return-value]
