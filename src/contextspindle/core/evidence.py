"""Evidence: what shows that a criterion holds, bound to what it was true of.

A record is text of the form ``evidence://v1/{"criteria_hash":…,"payload":…,"task_id":…}``.  It is
bound to one task and to the criteria as they read when it was logged, so it cannot vouch for
another task, nor for criteria that were written afterwards.  A record of a file or of a command
that was run is bound to that file's bytes, or to the tree of files that the command covered, as
well: when they change, it goes stale by itself.
"""

from __future__ import annotations

from ..errors import InvalidInput
from . import canon, text
from .digest import is_digest, sha256
from .task import TEXT_LIMIT, is_id
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .task import Task

    World = Callable[["Record"], str]
    """Asked of a record of a file or a command: empty if all is as it was, else what is not."""

PREFIX = "evidence://v1/"

MISMATCH = "Evidence task id mismatch"
STALE = "Evidence is missing or stale relative to current completion criteria"

FRESH = "fresh"

UNSETTLED = "changed while it ran"
"""In place of a state: what the command covers was one thing before it and another behind it."""

MOST_CRITERIA = TEXT_LIMIT
"""More than a task can have."""


class FileMark(Value):
    """A file as it was: its path from the workspace's root, its size, its SHA-256 in hex."""

    path: str
    size: int
    sha256: str


class CommandMark(Value):
    """A command that was run, how it ended, and the state of what it covers."""

    argv: tuple[str, ...]
    folder: str
    """Where it ran, from the workspace's root."""
    status: int
    """Its exit status; a signal counts as 128 and its number."""
    milliseconds: int
    output: str
    """The SHA-256 of all that it printed."""
    tail: str
    """The end of what it printed, secrets masked."""
    commit: str
    """The commit that was checked out; empty outside of a git checkout."""
    covers: tuple[str, ...]
    """Paths from the workspace's root; empty for all of the checkout."""
    tree: str
    """The digest of the covered files as they were, and how it was taken; empty if none are."""


class Record(Value):
    """What a record claims: of which task, under which criteria, for which one (0: for all)."""

    task_id: str
    criteria_hash: str
    payload: str
    criterion: int = 0
    file: FileMark | None = None
    command: CommandMark | None = None


def unmoved(_: Record) -> str:
    """The world of callers that know of no files: everything is as it was."""
    return ""


def criteria_hash(criteria: tuple[str, ...]) -> str:
    """The SHA-256 of the criteria's UTF-8 text, items joined by line feeds."""
    return sha256("\n".join(criteria).encode())


def write(record: Record) -> str:
    """The record as stored text."""
    found: dict[str, Any] = {
        "task_id": record.task_id,
        "criteria_hash": record.criteria_hash,
        "payload": record.payload,
    }
    if record.criterion:
        found["for"] = record.criterion
    if record.file:
        found["file"] = record.file._asdict()
    if record.command:
        found["command"] = {
            **record.command._asdict(),
            "argv": list(record.command.argv),
            "covers": list(record.command.covers),
        }
    return PREFIX + text.clean(canon.text(found))


def read(stored: str) -> Record:
    """The record that ``stored`` holds, whatever it claims.  InvalidInput if it is malformed."""
    try:
        found = canon.decode(stored.removeprefix(PREFIX))
        record = Record(
            task_id=_typed(found["task_id"], str),
            criteria_hash=_typed(found["criteria_hash"], str),
            payload=_typed(found["payload"], str),
            criterion=_typed(found.get("for", 0), int),
            file=_file(found["file"]) if "file" in found else None,
            command=_command(found["command"]) if "command" in found else None,
        )
        if stored.startswith(PREFIX) and record.criterion >= 0 and len(record.criteria_hash) == 64:
            return record
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise _malformed()


def pasted(given: str) -> Record:
    """The record that somebody gives, without what it says of a file or a command.

    InvalidInput if it is malformed: of no task, or under no criteria, it is a place for any text.
    """
    record = read(given)
    if not is_id(record.task_id) or not is_digest(record.criteria_hash):
        raise _malformed()
    if record.criterion > MOST_CRITERIA:
        raise _malformed()
    return record._replace(file=None, command=None)


def _malformed() -> InvalidInput:
    return InvalidInput(
        "The evidence record is malformed",
        hint=f"Give plain text, or a whole record that begins with {PREFIX}.",
    )


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError
    return value


def _file(found: dict[str, Any]) -> FileMark:
    return FileMark(
        _typed(found["path"], str), _typed(found["size"], int), _typed(found["sha256"], str)
    )


def _command(found: dict[str, Any]) -> CommandMark:
    kinds = {"argv": list, "covers": list, "status": int, "milliseconds": int}
    values: dict[str, Any] = {
        name: _typed(found[name], kinds.get(name, str)) for name in CommandMark._fields
    }
    for name in ("argv", "covers"):
        values[name] = tuple(_typed(one, str) for one in values[name])
    return CommandMark(**values)


def numbered(number: int, criteria: tuple[str, ...]) -> int:
    """The number of a criterion as it is recorded.  InvalidInput if there is no such one."""
    if not 0 <= number <= len(criteria):
        raise InvalidInput(
            f"There is no criterion {number}: the task has {len(criteria)}",
            hint="Name one that 'contextspindle task show ID' lists, or leave --for out.",
        )
    return number if len(criteria) > 1 else 0  # the only one is all of them


def asked(number: int | None) -> int:
    """The criterion that was asked for, 0 for all if none was.  InvalidInput for less than 1.

    Who counts from 0 must not prove everything at once.
    """
    if number is not None and number < 1:
        raise InvalidInput(
            f"There is no criterion {number}: they count from 1",
            hint="Leave the number out if the evidence is for all of them.",
        )
    return number or 0


def bind(given: str, criterion: int, task_id: str, criteria: tuple[str, ...]) -> str:
    """The record to store for the text ``given``.

    Plain text is bound to this task and these criteria.  A record pasted from elsewhere keeps its
    claim, which the gate then judges; what it says of a file or a command counts as text, because
    nobody here looked.  InvalidInput if it is malformed, or if there is no criterion of that
    number.
    """
    criterion = numbered(criterion, criteria)
    if given.startswith(PREFIX):
        record = pasted(given)
        if criterion and record.criterion != criterion:
            raise InvalidInput("A record that is pasted keeps its own criterion; leave --for out")
        if not record.payload.strip():
            raise InvalidInput("The evidence is empty: the record that was pasted says nothing")
        return write(record)
    return write(Record(task_id, criteria_hash(criteria), given, criterion))


def standing(
    record: Record, task_id: str, criteria: tuple[str, ...], world: World = unmoved
) -> str:
    """``fresh``, or the reason why the record does not count for this task now."""
    if record.task_id != task_id:
        return MISMATCH
    if record.criteria_hash != criteria_hash(criteria) or record.criterion > len(criteria):
        return "stale"
    if record.criterion and len(criteria) == 1 and "\n" in criteria[0]:
        return "stale"  # it was for one line, when the same lines were a list
    if failed := _failed(record):
        return failed
    if record.file or record.command:
        moved = world(record)
        if moved:
            return f"stale: {moved}"
    return FRESH


def _failed(record: Record) -> str:
    """How the command of a record ended, if it failed."""
    ran = record.command
    return f"failed with status {ran.status}" if ran and ran.status else ""


def told(record: Record) -> str:
    """What a record says where its standing is not shown: a command that failed showed nothing."""
    failed = _failed(record)
    if record.command and record.command.tree == UNSETTLED:
        failed = failed or "does not count: it changed what it is about"
    return f"[{failed}] {record.payload}" if failed else record.payload


def standings(task: Task, world: World = unmoved) -> list[str]:
    """The standing of each of the task's evidence records, in their order."""
    return [standing(read(one.text), task.id, task.criteria, world) for one in task.evidence]


def verified(task: Task, world: World = unmoved) -> bool | None:
    """Whether the evidence of a done task satisfies its criteria; None if it is not done.

    A task can be done without, by another program's word, or because something moved since.
    """
    if task.status != "done":
        return None
    return bool(task.criteria) and not gaps(task, world)


def gaps(task: Task, world: World = unmoved) -> list[str]:
    """Why the task's evidence does not satisfy its criteria: nothing if it does."""
    missing = dict.fromkeys(range(1, len(task.criteria) + 1))
    useless: list[tuple[int, Record, str]] = []
    for number, entry in enumerate(task.evidence, 1):
        record = read(entry.text)
        state = standing(record, task.id, task.criteria, world)
        if state != FRESH:
            useless.append((number, record, state))
        elif record.criterion:
            missing.pop(record.criterion, None)
        else:
            missing.clear()
    if not missing:
        return []
    named = ", ".join(map(str, missing))
    one = " --for N" if len(task.criteria) > 1 else ""
    reasons: dict[str, list[int]] = {}
    for number, record, state in useless:
        if state in (MISMATCH, "stale") or not record.criterion or record.criterion in missing:
            reasons.setdefault(_useless(record, state), []).append(number)
    return [
        f"{STALE} (criterion {named}): show that it holds with --evidence TEXT{one}, or with"
        f" 'contextspindle task prove {task.id}{one} -- COMMAND'",
        *(why.replace("{}", _listed(numbers), 1) for why, numbers in reasons.items()),
    ]


def _useless(record: Record, state: str) -> str:
    """Why a record does not count and what to do, with ``{}`` for its number."""
    if state == MISMATCH:
        other = text.shortened(text.one_line(record.task_id), 80)
        return f"{MISMATCH}: record {{}} is about {other}, so it shows nothing of this task"
    ran = text.shortened(text.one_line(" ".join(record.command.argv)), 80) if record.command else ""
    if state == "stale":
        return (
            "Record {} was made under other criteria: look whether it still holds, then record it"
            " again"
        )
    if record.command and record.command.status:
        return (
            f"Record {{}} is of a command that failed with status {record.command.status}"
            f" ({ran}): mend what fails, then run it again with 'contextspindle task prove'"
        )
    moved = text.one_line(state.removeprefix("stale: "))
    if record.command:
        return (
            f"Record {{}} no longer counts, because {moved} ({ran}):"
            " run it again with 'contextspindle task prove'"
        )
    return (
        f"Record {{}} no longer counts, because {moved}:"
        " look at the file, then record it again with --evidence-file"
    )


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:5])) + (", ..." if len(numbers) > 5 else "")
