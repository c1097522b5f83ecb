"""Adoption: the changes by which items of other programs become tasks.

What another program says is taken over as it was said, at the time when it was said, and none of it
is judged by our rules: a task that is done there arrives as done, and nothing here vouches for it.
The change that takes an item over carries the item's digest, so that the next import can tell what
has changed there since, and what has changed here.
"""

from __future__ import annotations

from . import instant
from .archive import Stored
from .change import Change, apply, begin, change_bytes
from .digest import sha256
from .task import TASK_LIMIT, state_bytes
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .foreign import Chronicle, Foreign, Past
    from .task import Task

_LINK_BYTES = 256
"""More than one link takes in a task, as a link or as the note that it becomes."""

_UNSET: dict[str, Any] = {
    **dict.fromkeys(("owner", "blocker", "next", "parent"), ""),
    **dict.fromkeys(("criteria", "dependencies", "labels"), ()),
    "status": "open",
    "priority": 2,
}

_STANDING: tuple[str, ...] = ("status", "blocker", "next")
"""What may have changed since an item was made; the rest is what it is about."""


class Links(Value):
    """The links of an item as task ids, and notes on those that cannot be."""

    parent: str = ""
    dependencies: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Hand(Value):
    """Who takes items over from which program, and when."""

    program: str
    actor: str
    now: int


def first_steps(task_id: str, item: Foreign, links: Links, by: Hand) -> Stored:
    """The new task that an item becomes: how it began there, and how it stands there now."""
    created, updated = _times(item, by.now)
    fresh = {name: value for name, value in item.set.items() if value != _UNSET.get(name)}
    standing = {name: fresh.pop(name) for name in _STANDING if name in fresh}
    born: dict[str, Any] = {
        **fresh,
        **({"parent": links.parent} if links.parent else {}),
        **({"dependencies": links.dependencies} if links.dependencies else {}),
        "priority": item.set.get("priority", 2),
        "source": item.source,
        "status": "open",
    }
    remark = _remark(item, by, "Imported")
    ended = item.set.get("status") in ("done", "cancelled")
    last = Change(
        task_id,
        version=1,
        at=created,
        actor=by.program,
        set=_plain({**born, **standing}),
        decisions=(remark,) if ended else (),
        evidence=(),
        notes=(*(() if ended else (remark,)), *item.notes, *links.notes),
        request=item.digest,
    )
    steps = [last]
    if updated > created:
        first = last._replace(set=_plain(born), decisions=(), notes=(), request="")
        steps = [first, last._replace(version=2, at=updated, set=_plain(standing))]
    return _led(steps)


def next_step(task: Task, item: Foreign, links: Links, by: Hand) -> Change | None:
    """The one change that brings ``task`` to what its item says now; None if it says so already."""
    wanted = {
        **_UNSET,
        **item.set,
        "parent": links.parent,
        "dependencies": links.dependencies,
    }
    before = task._asdict()
    changed = {name: value for name, value in wanted.items() if before[name] != value}
    said = {entry.text for entry in task.notes}
    notes = tuple(note for note in (*item.notes, *links.notes) if note not in said)
    if not changed and not notes:
        return None
    remark = _remark(item, by, "Brought forward")
    decisive = not {"goal", "criteria", "status"}.isdisjoint(changed)
    change = Change(
        task.id,
        version=task.version + 1,
        at=max(task.updated, _times(item, by.now)[1]),
        actor=by.program,
        set=_plain(changed),
        decisions=(remark,) if decisive else (),
        evidence=(),
        notes=notes if decisive else (remark, *notes),
        request=item.digest,
    )
    return change._replace(state=sha256(state_bytes(apply(task, change))))


def taken_over(changes: list[Change]) -> Change | None:
    """The newest of a task's changes that took an item over; None if none did."""
    return next((one for one in reversed(changes) if one.request and not one.key), None)


def is_older(item: Foreign, last: Change) -> bool:
    """Whether the item as it is given is older than what ``last`` took over."""
    return item.updated is not None and item.updated < last.at


def excess(task: Task, item: Foreign) -> int:
    """By how many bytes ``task`` is too large, whatever becomes of the links of its item."""
    names = [*item.dependencies, *([item.parent] if item.parent else [])]
    room = sum(len(name.encode()) + _LINK_BYTES for name in names)
    return len(state_bytes(task)) + room - TASK_LIMIT


def retold(chronicle: Chronicle, dropped: dict[str, str]) -> Stored:
    """The task of a chronicle, version by version; ``dropped`` are links that cannot be, and why.

    ValueError if a version would be larger than a task may be.
    """
    noted: set[str] = set()

    def unlinked(past: Past) -> tuple[dict[str, Any], tuple[str, ...]]:
        found, notes = dict(past.set), []
        for name in ("parent", "dependencies"):
            given = found.get(name, ())
            gone = [one for one in ([given] if isinstance(given, str) else given) if one in dropped]
            if gone:
                found[name] = "" if name == "parent" else [x for x in given if x not in dropped]
            for one in gone:
                if (name + one) not in noted:
                    noted.add(name + one)
                    notes.append(f"original {name}: {one} ({dropped[one]})")
        return found, tuple(notes)

    steps = []
    for version, past in enumerate(chronicle.versions, 1):
        wanted, notes = unlinked(past)
        if version == 1:
            wanted = {"status": "open", "priority": 2, **wanted}
        steps.append(
            Change(
                chronicle.id,
                version,
                past.at,
                past.actor,
                _plain(wanted),
                past.decisions,
                past.evidence,
                (*past.notes, *notes),
            )
        )
    return _led(steps)


def _led(steps: list[Change]) -> Stored:
    """The task that ``steps`` lead to, each with the digest of its state."""
    task = begin(steps[0])
    bodies = []
    for number, step in enumerate(steps):
        task = apply(task, step) if number else task
        state = state_bytes(task)
        if len(state) > TASK_LIMIT:
            raise ValueError(f"version {step.version} would take {len(state)} bytes")
        bodies.append(change_bytes(step._replace(state=sha256(state))))
    return Stored(task, tuple(bodies), None)


def _times(item: Foreign, now: int) -> tuple[int, int]:
    """When the item was created and last updated, as far as it says, and never in the future."""
    known = [min(at, now) for at in (item.created, item.updated) if at is not None] or [now]
    return min(known), known[-1] if item.updated is not None else min(known)


def _remark(item: Foreign, by: Hand, verb: str) -> str:
    status = item.set.get("status", "open")
    there = f"; there it is {item.there}" if item.there else ""
    if item.created is not None and item.updated is not None and item.created > item.updated:
        there += f"; there it was created at {instant.iso(item.created)}, after its last update"
    for name, at in (("created", item.created), ("updated", item.updated)):
        if at is not None and at > by.now:
            there += f"; there it was {name} at {instant.iso(at)}, which is yet to come"
    said = f"{verb} from {by.program} by {by.actor} on {instant.iso(by.now)}: {item.source}{there}"
    if status in ("done", "cancelled"):
        said = said.replace(verb, f"{verb} as {status}", 1)
    return said + "; not verified here" if status == "done" else said


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}
