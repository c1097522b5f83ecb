"""Intake: whether a change from an archive is one that a writer of ours could have made.

A chain of digests shows that nothing was altered after it was made, not who made it: anybody can
write an archive that fits together.  What is taken in is read by everything later on, so each part
of it has to keep the form and the limits that the writers keep.
"""

from __future__ import annotations

from ..errors import InvalidInput
from . import canon, evidence, fields, text
from .claims import MAX_LEASE_MS, MIN_LEASE_MS, Lease
from .digest import is_digest
from .foreign import SOURCE_LIMIT
from .instant import DAY
from .task import LIVE, TASK_LIMIT, TEXT_LIMIT, is_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .purge import Purge
    from .task import Task

FIRST, LAST = -62_167_219_200_000 - DAY, 253_402_300_799_999 + DAY
"""The instants that can be shown: the years 0 to 9999 in every zone."""

MOST = 1 << 53
"""Above every number of a record of evidence: JSON elsewhere cannot tell larger ones apart."""

_PARTS = frozenset("task version at actor state set decisions evidence notes key request".split())
_LISTED = ("criteria", "dependencies", "labels")
_PROGRAM = 64
"""More than the name of a program takes, which stands before the name of an item."""


def check_change(found: dict[str, Any]) -> None:
    """ValueError unless each part of a change, as plain JSON values, has its form.

    TypeError, KeyError or AttributeError for one that is of another kind altogether.
    """
    version = found["version"]
    if type(version) is not int or version < 1:
        raise ValueError("a version is no number")
    name = f"version {version}"
    if not found.keys() <= _PARTS:
        raise ValueError(f"{name} has a part that no change has")
    if not is_id(found["task"]):
        raise ValueError(f"{name} is of no task")
    _check_instant(found["at"], f"the time of {name}")
    _check_text(found["actor"], f"the actor of {name}")
    _check_key(found, name)
    try:
        _check_set(found.get("set", {}), version)
        for kind, one in (("decisions", "decision"), ("notes", "note")):
            given = found.get(kind, [])
            if type(given) is not list or fields.entries(one, given) != tuple(given):
                raise ValueError(f"the {kind} of {name} are out of form")
        for record in found.get("evidence", []):
            _check_text(record, f"the evidence of {name}", TASK_LIMIT)
            _check_record(record, name)
    except InvalidInput as error:
        raise ValueError(f"{name}: {error.message}") from error


def check_whole(task: Task, size: int, lease: Lease | None, purges: tuple[Purge, ...]) -> None:
    """ValueError unless a task, of ``size`` canonical bytes, and what goes with it have their form.

    What it says, :func:`check_change` has seen.
    """
    if not task.goal:
        raise ValueError(f"the task {task.id} has no goal")
    if task.status == "blocked" and not task.blocker:
        raise ValueError(f"the task {task.id} is blocked, and has no blocker")
    if task.claim and task.status not in LIVE:
        raise ValueError(f"the task {task.id} is {task.status}, and claimed")
    if size > TASK_LIMIT + TEXT_LIMIT:  # a claim is added to a task that is full
        raise ValueError(f"the task {task.id} has {size} bytes; a task holds at most {TASK_LIMIT}")
    if lease and not (
        is_digest(lease.mark, 32)
        and MIN_LEASE_MS <= lease.length <= MAX_LEASE_MS
        and FIRST <= lease.until <= LAST
    ):
        raise ValueError(f"the lease of {task.id} is out of form")
    for one in purges:
        _check_instant(one.at, f"the time of a purge of {task.id}")
        _check_text(one.by, f"the actor of a purge of {task.id}")
        if not all(map(is_digest, (*one.old, *one.new))):
            raise ValueError(f"a purge of {task.id} names what is no digest")


def check_lease(lease: Lease, task: Task, now: int) -> None:
    """ValueError if a lease ends later than any that was granted until now; a day is for clocks."""
    if lease.until > max(now, task.updated) + lease.length + DAY:
        raise ValueError(f"the lease of {task.id} ends later than one can")


def _check_instant(at: Any, name: str) -> None:
    if type(at) is not int or not FIRST <= at <= LAST:
        raise ValueError(f"{name} is no instant")


def _check_text(value: Any, name: str, limit: int = TEXT_LIMIT) -> None:
    if type(value) is not str or not value or "\0" in value or text.size(value) > limit:
        raise ValueError(f"{name} is out of form")


def _check_record(stored: str, name: str) -> None:
    """What a record of evidence says can be written again, and what it names can be looked for."""
    record = evidence.read(stored)
    numbers: list[int] = []
    names: list[str] = []
    if record.file:
        numbers.append(record.file.size)
        names.append(record.file.path)
    if ran := record.command:
        numbers += [ran.status, ran.milliseconds]
        names += [*ran.argv, ran.folder, *ran.covers]
    plain = canon.text(record._replace(file=None, command=None))
    marks = canon.text([record.file, record.command])
    if (
        record.criterion > evidence.MOST_CRITERIA
        or text.clean(plain + marks) != plain + marks
        or any("\0" in one for one in names)
        or not all(0 <= one < MOST for one in numbers)
    ):
        raise ValueError(f"the evidence of {name} is out of form")


def _check_key(found: dict[str, Any], name: str) -> None:
    key, request = found.get("key", ""), found.get("request", "")
    if request and not is_digest(request):
        raise ValueError(f"the request of {name} is no digest")
    try:
        if key and (fields.key(key) != key or found["version"] != 1 or not request):
            raise ValueError(f"the idempotency key of {name} is out of form")
    except InvalidInput as error:
        raise ValueError(f"{name}: {error.message}") from error


def _check_set(given: dict[str, Any], version: int) -> None:
    left = dict(given)
    if "claim" in left and left.pop("claim") != "":
        _check_text(given["claim"], f"the claim of version {version}")
    if "source" in left:
        source = left.pop("source")
        _check_text(source, f"the source of version {version}", SOURCE_LIMIT + _PROGRAM)
        if version != 1 or text.one_line(source) != source:
            raise ValueError(f"the source of version {version} is out of form")
    for name, value in fields.normalised(left).items():
        kept = list(value) if name in _LISTED else value
        if type(kept) is not type(left[name]) or kept != left[name]:
            raise ValueError(f"the {name} of version {version} is out of form")
