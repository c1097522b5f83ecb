"""What tests of imports share: an import into a ledger, all that it kept, and original folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contextspindle.actions.adopt import Adopter
from contextspindle.core.evidence import read
from contextspindle.core.foreign import Gathered, Report, kept
from contextspindle.core.task import Task
from contextspindle.store.ephemeral import EphemeralStore


class Importing:
    """A ledger that imports, with a clock and ids of its own."""

    def __init__(self, clock: Any, ids: Any, store: Any = None) -> None:
        self.store = EphemeralStore() if store is None else store
        self.clock = clock
        self._adopter = Adopter(self.store, actor="ada", clock=clock, new_id=ids)

    def __call__(self, gathered: Gathered, *, dry: bool = False) -> Report:
        return self._adopter.take(gathered, dry=dry)

    def tasks(self) -> dict[str, Task]:
        """Every task: by its source, if it has one, else by its id."""
        with self.store.read() as txn:
            found = [stored.task for stored in txn.everything()]
        return {task.source or task.id: task for task in found}

    def state(self) -> list[Any]:
        """All that the ledger holds."""
        with self.store.read() as txn:
            return list(txn.everything())


def said(tasks: dict[str, Task], report: Report) -> str:
    """All that an import kept: in the tasks, or in the report."""
    found = []
    for task in tasks.values():
        found += [task.goal, *task.criteria, task.status, task.owner, task.blocker, task.next]
        found += [task.source, *task.labels]
        found += [entry.text for entry in (*task.decisions, *task.notes)]
        found += [read(entry.text).payload for entry in task.evidence]
    for problem in report.problems:
        found += [problem.where, problem.message]
    return "\n".join(found)


def lost(values: Any, found: str) -> list[str]:
    """The texts anywhere in ``values``, keys of values too, that ``found`` does not hold."""
    if isinstance(values, dict):
        told = [pair for pair in values.items() if pair[1] not in (None, "", [], {})]
        return [one for pair in told for part in pair for one in lost(part, found)]
    if isinstance(values, list):
        return [one for part in values for one in lost(part, found)]
    if not isinstance(values, str) or not values.strip():
        return []
    plain = kept(values).strip()
    # Within a value that has no field of its own it stands as in JSON, or as quoted in YAML.
    written = [json.dumps(one, ensure_ascii=False)[1:-1] for one in (values, plain)]
    shapes = (values, plain, *map(kept, written), plain.replace("'", "''"))
    return [] if any(shape in found for shape in shapes) else [values]


# -- the folders of the original


def fnv_1a(data: bytes) -> str:
    """The checksum of the original."""
    found = 14695981039346656037
    for byte in data:
        found = ((found ^ byte) * 1099511628211) % 2**64
    return format(found, "016x")


def version_file(body: dict[str, Any] | str) -> bytes:
    """The content of a version's file."""
    inner = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    outer = {"checksum": fnv_1a(inner.encode()), "body": inner}
    return json.dumps(outer, ensure_ascii=False).encode()


def whole(task_id: str, version: int, **fields: Any) -> dict[str, Any]:
    """A body of schema 1."""
    return {
        "schema": 1,
        "id": task_id,
        "version": version,
        "created_ms": "1767225600000",
        "updated_ms": str(1767225600000 + (version - 1) * 1000),
        "last_actor": "local-pid-7",
        "goal": "a goal",
        "criteria": "",
        "status": "open",
        "blocker": "",
        "next": "",
        "owner": "",
        "parent": None,
        "dependencies": [],
        "decisions": [],
        "evidence": [],
        "notes": [],
        **fields,
    }


def delta(task_id: str, version: int, *pairs: tuple[str, str], **fields: Any) -> dict[str, Any]:
    """A body of schema 2."""
    return {
        "schema": 2,
        "id": task_id,
        "version": version,
        "updated_ms": str(1767225600000 + (version - 1) * 1000),
        "actor": "local-pid-8",
        "changes": [{"key": key, "value": value} for key, value in pairs],
        **fields,
    }


def write_original(folder: Path, *bodies: dict[str, Any]) -> None:
    """The files of the versions, each in the folder of its task."""
    for body in bodies:
        place = folder / body["id"]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{body['version']:020}.json").write_bytes(version_file(body))
