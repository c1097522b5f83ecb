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
from .task import TASK_LIMIT, TEXT_LIMIT, state_bytes
from .text import shortened
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
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

_LINKS = ("parent", "dependencies")

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
    if task.claim and wanted["status"] in ("done", "cancelled"):
        changed["claim"] = ""  # what has ended needs no holder
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
    change = _fitted(change)
    return change._replace(state=sha256(state_bytes(apply(task, change))))


def taken_over(changes: list[Change]) -> Change | None:
    """The newest of a task's changes that took an item over; None if none did."""
    return next((one for one in reversed(changes) if one.request and not one.key), None)


def moved_since(last: Change | None, changes: list[Change]) -> bool:
    """Whether ``changes`` say more since ``last`` took an item over than who held the task."""
    return last is None or any(
        one.set.keys() != {"claim"} or one.decisions or one.evidence or one.notes
        for one in changes
        if one.version > last.version
    )


def noted(task: Task, start: str) -> bool:
    """Whether a note of the task begins with ``start``."""
    return any(one.text.startswith(start) for one in task.notes)


def _note(name: str, other: str) -> str:
    """How a note on a link of a chronicle that cannot be begins."""
    return f"original {name}: {other} ("


def _late_note(program: str) -> str:
    """How the note of a change begins that makes links whose ends are there only now."""
    return f"Linked as {program} says, by "


def linked_by(change: Change | Past) -> tuple[str, ...]:
    """The tasks to which a change links its own."""
    parent = change.set.get("parent", "")
    return (*change.set.get("dependencies", ()), *((parent,) if parent else ()))


def late_step(before: Task, after: Task, request: str, by: Hand) -> Change:
    """The change that gives ``before`` the links of ``after``, whose ends are there only now."""
    names = [name for name in _LINKS if getattr(before, name) != getattr(after, name)]
    change = Change(
        before.id,
        version=before.version + 1,
        at=max(before.updated, by.now),
        actor=by.program,
        set=_plain({name: getattr(after, name) for name in names}),
        decisions=(),
        evidence=(),
        notes=(f"{_late_note(by.program)}{by.actor}: what was missing is there now",),
        request=request,
    )
    return change._replace(state=sha256(state_bytes(apply(before, change))))


def is_older(item: Foreign, last: Change) -> bool:
    """Whether the item as it is given is older than what ``last`` took over."""
    return item.updated is not None and item.updated < last.at


def excess(task: Task, item: Foreign) -> int:
    """By how many bytes ``task`` is too large, whatever becomes of the links of its item."""
    names = [*item.dependencies, *([item.parent] if item.parent else [])]
    room = sum(len(name.encode()) + _LINK_BYTES for name in names)
    return len(state_bytes(task)) + room - TASK_LIMIT


def retold(chronicle: Chronicle, dropped: dict[str, str], linked: Sequence[Change] = ()) -> Stored:
    """The task of a chronicle, version by version; ``dropped`` are links that cannot be, and why.

    ``linked`` are changes that were made here in between, by which such links came after all.
    ValueError if a version would be larger than a task may be.
    """
    noted: set[str] = set()
    gone = dict(dropped)
    between = {one.version: one for one in linked}
    steps: list[Change] = []

    def unlinked(past: Past) -> tuple[dict[str, Any], tuple[str, ...]]:
        found, notes = dict(past.set), []
        for name in _LINKS:
            given = found.get(name, ())
            out = [one for one in ([given] if isinstance(given, str) else given) if one in gone]
            if out:
                found[name] = "" if name == "parent" else [x for x in given if x not in gone]
            for one in out:
                if (name + one) not in noted:
                    noted.add(name + one)
                    notes.append(f"{_note(name, one)}{gone[one]})")
        return found, tuple(notes)

    def put_between() -> None:
        while one := between.get(len(steps) + 1):
            steps.append(one)
            for other in linked_by(one):
                gone.pop(other, None)

    for past in chronicle.versions:
        put_between()
        wanted, notes = unlinked(past)
        if not steps:
            wanted = {"status": "open", "priority": 2, **wanted}
        steps.append(
            Change(
                chronicle.id,
                len(steps) + 1,
                past.at,
                past.actor,
                _plain(wanted),
                past.decisions,
                past.evidence,
                (*past.notes, *notes),
            )
        )
    put_between()
    return _led(steps)


def dropped_before(
    chronicle: Chronicle, past: list[Change], program: str
) -> tuple[dict[str, str], list[Change]]:
    """The links of a chronicle that could not be when it was taken over, and why, by ``past``.

    And the changes by which some of them came later.
    """
    dropped: dict[str, str] = {}
    names = {
        _note(name, other): other
        for version in chronicle.versions
        for name in _LINKS
        for other in linked_by(version)
    }
    for text in [text for change in past for text in change.notes]:
        for start, other in names.items():
            if text.startswith(start):
                dropped.setdefault(other, text[len(start) : -1])
    start = _late_note(program)
    linked = [one for one in past if any(note.startswith(start) for note in one.notes)]
    return dropped, linked


def _led(steps: list[Change]) -> Stored:
    """The task that ``steps`` lead to, each with the digest of its state."""
    steps = [_fitted(one) for one in steps]
    task = begin(steps[0])
    bodies = []
    for number, step in enumerate(steps):
        task = apply(task, step) if number else task
        state = state_bytes(task)
        if len(state) > TASK_LIMIT:
            raise ValueError(f"version {step.version} would take {len(state)} bytes")
        bodies.append(change_bytes(step._replace(state=sha256(state))))
    return Stored(task, tuple(bodies), None)


def _fitted(change: Change) -> Change:
    """A change whose remarks, which can name a way over any number of tasks, keep the limit."""

    def cut(one: str) -> str:
        return shortened(one, TEXT_LIMIT)

    return change._replace(
        actor=cut(change.actor),
        decisions=tuple(map(cut, change.decisions)),
        notes=tuple(map(cut, change.notes)),
    )


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
