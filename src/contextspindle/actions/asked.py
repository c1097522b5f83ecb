"""What a caller names, looked up: a task by its id, a claim by its token, a page by its numbers."""

from __future__ import annotations

from ..core.task import is_id
from ..errors import AmbiguousId, InvalidInput, TaskNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.task import Task
    from ..ports import ReadTxn

FAR = 1 << 62
"""Beyond every offset and version: no store counts further."""
PAGE_LIMIT = 100
"""The most items of one page."""


def resolved(txn: ReadTxn, start: str) -> str:
    """The whole id for ``start``: looked up if it is only the beginning of one."""
    wanted = start if start.startswith("t-") else f"t-{start}"
    if not is_id(wanted):
        from ..core.fields import task_id

        task_id(start)
    return txn.resolve(wanted)


def to_write(txn: ReadTxn, task_id: str) -> Task:
    """The task of a whole id, which is what a write takes.

    TaskNotFound says which one is meant, if it is only the beginning of one.
    """
    try:
        return txn.task(task_id)
    except TaskNotFound:
        try:
            whole = txn.resolve(task_id)
        except AmbiguousId as error:
            said, hint = error.message, "Writing needs the whole id."
        else:
            said = f"it is the start of {whole}, and writing needs the whole id"
            hint = f"Give the whole id: {whole}"
        raise TaskNotFound(f"There is no task {task_id}: {said}", hint=hint) from None


def claimed_by(token: str) -> str:
    """The task that ``token`` is for.  InvalidInput if it has not the form of one."""
    from ..core.claims import task_of

    task_id = task_of(token)
    if not task_id:
        raise InvalidInput(
            "That is not the token of a claim",
            hint="It is what 'contextspindle task claim' printed.",
        )
    return task_id


def check_page(offset: int, limit: int) -> None:
    """InvalidInput for a page out of range."""
    if not 1 <= limit <= PAGE_LIMIT:
        raise InvalidInput(f"A limit of {limit} is out of range", hint=f"Use 1 to {PAGE_LIMIT}.")
    if offset < 0:
        raise InvalidInput("An offset cannot be negative")
    if offset >= FAR:
        raise InvalidInput(f"An offset of {offset} is out of range")
