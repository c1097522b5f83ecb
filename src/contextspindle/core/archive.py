"""An archive of a ledger: every task with its whole history, as lines of canonical JSON.

A line carries the bodies of a task's changes as they are stored; the state is what they lead to.
So an archive that is taken in and written out again is the same to the byte, and whatever was
altered on the way shows: in the form of a line, in a chain that does not fit, or in a state that a
change does not lead to.
"""

from __future__ import annotations

from ..errors import in_words
from . import canon, purge
from .change import Change, apply, begin, from_document
from .claims import Lease
from .digest import NONE, chained, sha256
from .intake import check_change, check_whole
from .task import document, state_bytes
from .task import from_document as task_of
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .purge import Purge
    from .task import Task

FORMAT = "contextspindle ledger"
VERSION = 1

# How a task in an archive stands to the same task here.
NEW, SAME, AHEAD, BEHIND, CONFLICT = "new", "same", "ahead", "behind", "conflict"
# It is from before a purge here: as it was then or older, or gone on with since.
PURGED, UNPURGED = "purged", "unpurged"


_OTHER_KIND = (KeyError, TypeError, AttributeError, IndexError)
"""What comes of values that are of another kind than a line has."""


class Stored(Value):
    """A task whole: its state, the canonical bytes of its changes, and who holds it."""

    task: Task
    bodies: tuple[bytes, ...]
    lease: Lease | None
    purges: tuple[Purge, ...] = ()
    """What was taken out of its history, and which digests it had before."""


class Merge(Value):
    """What taking an archive in came to; each task is counted once, ``tasks`` names them."""

    created: int
    updated: int
    same: int
    older: int
    tasks: tuple[str, ...]
    purged: int = 0
    """Those that are from before a purge here, and passed over."""


def header(tasks: int) -> bytes:
    """The first line of an archive of so many tasks: by that, one that was cut off is known."""
    return canon.encode({"format": FORMAT, "tasks": tasks, "version": VERSION}) + b"\n"


def promised(line: bytes) -> int:
    """How many tasks the archive holds that ``line`` begins; 0 from before that was said.

    ValueError unless this program can read it.
    """
    found = canon.decode(line)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError("it is not an export of a ledger")
    if found.get("version") != VERSION:
        raise ValueError(f"it has version {found.get('version')}, not {VERSION}")
    tasks = found.get("tasks", 0)
    if type(tasks) is not int or tasks < 0:
        raise ValueError(f"it says that it holds {tasks!r} tasks")
    return tasks


def line_of(stored: Stored) -> bytes:
    """The line of one task."""
    found: dict[str, Any] = {"changes": [canon.decode(body) for body in stored.bodies]}
    if stored.lease:
        found["lease"] = list(stored.lease)
    if stored.purges:
        found["purges"] = [purge.document(one) for one in stored.purges]
    found["head"] = digests(stored.task.id, stored.bodies)[-1]
    return canon.encode(found) + b"\n"


def read_line(line: bytes) -> Stored:
    """The task of a line, every step of it checked.  ValueError says what is wrong with it."""
    try:
        found = canon.decode(line)
        lease = _lease(found["lease"]) if "lease" in found else None
        purges = tuple(purge.from_document(one) for one in found.get("purges", ()))
        return _checked(found["changes"], lease, purges, head=found["head"])
    except _OTHER_KIND as error:
        raise ValueError(f"a field is missing or of the wrong kind ({in_words(error)})") from error


def check(stored: Stored) -> None:
    """ValueError unless a task of another ledger is what a line of an archive could hold.

    That ledger may fit together, and hold what no writer of ours writes.
    """
    try:
        changes = [canon.decode(body) for body in stored.bodies]
        whole = _checked(changes, stored.lease, stored.purges)
    except _OTHER_KIND as error:
        raise ValueError(f"a field is missing or of the wrong kind ({in_words(error)})") from error
    if whole != stored:
        raise ValueError(f"what is stored of {stored.task.id} is not what its history leads to")


def _checked(
    changes: list[Any], lease: Lease | None, purges: tuple[Purge, ...], *, head: str | None = None
) -> Stored:
    """The task that ``changes``, plain JSON values, lead to, if nothing about it is out of form."""
    for one in changes:
        check_change(one)
    bodies = tuple(canon.encode(one) for one in changes)
    task = replayed(bodies)
    check_whole(task, len(state_bytes(task)), lease, purges)
    chain = digests(task.id, bodies)
    if head is not None and chain[-1] != head:
        raise ValueError(f"the history of {task.id} does not lead to its digest: it was altered")
    if not purge.fits(purges, chain):
        raise ValueError(f"the purges of {task.id} do not lead to its history")
    if (lease.holder if lease else "") != task.claim:
        raise ValueError(f"the lease of {task.id} is not that of its holder")
    return Stored(task, bodies, lease, purges)


def _lease(found: list[Any]) -> Lease:
    lease = Lease(*found)
    if [type(value) for value in lease] != [str, str, int, int]:
        raise TypeError("lease")
    return lease


def packed(stored: Stored) -> bytes:
    """A task that was read, on one line for :func:`unpacked`: that one need not look again."""
    bodies = [body.decode() for body in stored.bodies]
    purges = [purge.document(one) for one in stored.purges]
    return canon.encode([document(stored.task), bodies, stored.lease, purges]) + b"\n"


def unpacked(line: bytes) -> Stored:
    """The task that :func:`packed` put on a line."""
    state, bodies, lease, purges = canon.decode(line)
    return Stored(
        task_of(state),
        tuple(body.encode() for body in bodies),
        lease and Lease(*lease),
        tuple(map(purge.from_document, purges)),
    )


def digests(task_id: str, bodies: tuple[bytes, ...]) -> list[str]:
    """The digests of a chain, in order."""
    digest = NONE
    return [digest := chained(task_id, digest, body) for body in bodies]


def steps(stored: Stored) -> list[Change]:
    """The changes of a stored task."""
    return [from_document(canon.decode(body)) for body in stored.bodies]


def replayed(bodies: tuple[bytes, ...]) -> Task:
    """The task that the changes lead to.  ValueError where one does not fit the one before."""
    task: Task | None = None
    for number, body in enumerate(bodies, 1):
        step = from_document(canon.decode(body))
        if step.version != number or (task and step.task != task.id):
            raise ValueError(f"version {number} of {step.task} is missing or of another task")
        task = apply(task, step) if task else begin(step)
        if sha256(state_bytes(task)) != step.state:
            raise ValueError(f"version {number} of {step.task} does not lead to its state")
    if task is None:
        raise ValueError("a task without changes")
    return task


def compared(here: list[str], there: list[str], purges: Iterable[Purge] = ()) -> str:
    """How the chain ``there`` stands to the one ``here``, from which ``purges`` took something."""
    found = _compared(here, there)
    if found != CONFLICT:
        return found
    past = _compared(here, purge.brought_up(there, purges))
    return {SAME: PURGED, BEHIND: PURGED, AHEAD: UNPURGED}.get(past, CONFLICT)


def _compared(here: list[str], there: list[str]) -> str:
    if not here:
        return NEW
    if here == there:
        return SAME
    if there[: len(here)] == here:
        return AHEAD
    return BEHIND if here[: len(there)] == there else CONFLICT
