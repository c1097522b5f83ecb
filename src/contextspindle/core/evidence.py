"""Evidence: what shows that a criterion holds, bound to what it was true of.

A record is text of the form ``evidence://v1/{"criteria_hash":…,"payload":…,"task_id":…}``.  It is
bound to one task and to the criteria as they read when it was logged, so it cannot vouch for
another task, nor for criteria that were written afterwards.
"""

from __future__ import annotations

from ..errors import InvalidInput
from . import canon, text
from .digest import sha256
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .task import Task

PREFIX = "evidence://v1/"

MISMATCH = "Evidence task id mismatch"
STALE = "Evidence is missing or stale relative to current completion criteria"

FRESH = "fresh"


class Record(Value):
    """What a record claims: of which task, under which criteria, for which one (0: for all)."""

    task_id: str
    criteria_hash: str
    payload: str
    criterion: int = 0


def criteria_hash(criteria: tuple[str, ...]) -> str:
    """The SHA-256 of the criteria's UTF-8 text, items joined by line feeds."""
    return sha256("\n".join(criteria).encode())


def write(record: Record) -> str:
    """The record as stored text."""
    found: dict[str, object] = {
        "task_id": record.task_id,
        "criteria_hash": record.criteria_hash,
        "payload": record.payload,
    }
    if record.criterion:
        found["for"] = record.criterion
    return PREFIX + text.clean(canon.text(found))


def read(stored: str) -> Record:
    """The record that ``stored`` holds.  InvalidInput if it is malformed."""
    try:
        found = canon.decode(stored.removeprefix(PREFIX))
        record = Record(
            found["task_id"], found["criteria_hash"], found["payload"], found.get("for", 0)
        )
        texts = (record.task_id, record.criteria_hash, record.payload)
        if (
            stored.startswith(PREFIX)
            and all(isinstance(value, str) for value in texts)
            and type(record.criterion) is int
            and record.criterion >= 0
            and len(record.criteria_hash) == 64
        ):
            return record
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InvalidInput(
        "The evidence record is malformed",
        hint=f"Give plain text, or a whole record that begins with {PREFIX}.",
    )


def bind(given: str, criterion: int, task_id: str, criteria: tuple[str, ...]) -> str:
    """The record to store for the text ``given``.

    Plain text is bound to this task and these criteria.  A record pasted from elsewhere keeps its
    claim, which the gate then judges.  InvalidInput if it is malformed, or if there is no criterion
    of that number.
    """
    if criterion and criterion > len(criteria):
        raise InvalidInput(
            f"There is no criterion {criterion}: the task has {len(criteria)}",
            hint="Name one that 'contextspindle task show ID' lists, or leave --for out.",
        )
    if len(criteria) == 1:
        criterion = 0  # the only one is all of them
    if given.startswith(PREFIX):
        record = read(given)
        if criterion and record.criterion != criterion:
            raise InvalidInput("A record that is pasted keeps its own criterion; leave --for out")
        return write(record)
    return write(Record(task_id, criteria_hash(criteria), given, criterion))


def standing(record: Record, task_id: str, criteria: tuple[str, ...]) -> str:
    """``fresh``, or the reason why the record does not count for this task now."""
    if record.task_id != task_id:
        return MISMATCH
    if record.criteria_hash != criteria_hash(criteria) or record.criterion > len(criteria):
        return "stale"
    if record.criterion and len(criteria) == 1 and "\n" in criteria[0]:
        return "stale"  # it was for one line, when the same lines were a list
    return FRESH


def gaps(task: Task) -> list[str]:
    """Why the task's evidence does not satisfy its criteria: nothing if it does."""
    covered: set[int] = set()
    strangers = False
    for entry in task.evidence:
        record = read(entry.text)
        found = standing(record, task.id, task.criteria)
        strangers = strangers or found == MISMATCH
        if found == FRESH:
            covered.update(
                [record.criterion] if record.criterion else range(1, len(task.criteria) + 1)
            )
    missing = [number for number in range(1, len(task.criteria) + 1) if number not in covered]
    if not missing:
        return []
    named = ", ".join(str(number) for number in missing)
    reasons = [f"{STALE} (criterion {named}): record it with --evidence TEXT, --for N for one"]
    if strangers:
        reasons.append(f"{MISMATCH}: evidence of another task does not count here; record your own")
    return reasons
