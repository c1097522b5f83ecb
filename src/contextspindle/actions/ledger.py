"""The verbs of the ledger.  One method, one transaction."""

from __future__ import annotations

from ..core.task import STATUSES, is_id
from ..core.value import Value
from ..errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.change import Change, Request
    from ..core.handoff import Handoff
    from ..core.task import Page, Task
    from ..ports import ReadTxn, Store

PAGE_LIMIT = 100
"""The most items of one page."""
RELATED_LIMIT = 20
"""The most neighbours of each kind that a handoff looks at."""


class Outcome(Value):
    """A task after a command: ``changed`` is False if there was nothing to write."""

    task: Task
    changed: bool
    warnings: tuple[str, ...] = ()


class Step(Value):
    """One version in a task's history: the change, and the value each field it set had before."""

    change: Change
    before: dict[str, Any]


class History(Value):
    """Part of a task's history; ``next_version`` is where the rest begins, None at the end."""

    task_id: str
    steps: tuple[Step, ...]
    total: int
    next_version: int | None


class Ledger:
    """The authoritative record of tasks, on any store."""

    def __init__(
        self,
        store: Store,
        *,
        actor: str,
        clock: Callable[[], int],
        new_id: Callable[[], str],
    ) -> None:
        """``clock`` gives milliseconds since 1970 in UTC; ``new_id`` a fresh random task id."""
        self._store = store
        self._actor = actor
        self._clock = clock
        self._new_id = new_id

    def create(self, request: Request, *, key: str = "") -> Outcome:
        """A new task, or with the ``key`` of an earlier, same request the task that it made.

        IdempotencyConflict if the key was used for another request.
        """
        from ..core import fields
        from ..core.change import begin, plan_creation, request_bytes
        from ..core.digest import sha256
        from ..errors import IdempotencyConflict

        key = fields.key(key) if key else ""
        asked = sha256(request_bytes(request)) if key else ""
        with self._store.write() as txn:
            if key and (known := txn.creation(key)):
                if known[0] != asked:
                    raise IdempotencyConflict(
                        f"The key {key!r} created task {known[1]} from another request",
                        task=known[1],
                    )
                return Outcome(txn.task(known[1]), changed=False)
            task_id = self._new_id()
            while txn.brief(task_id):
                task_id = self._new_id()
            change = plan_creation(
                task_id, request, actor=self._actor, now=self._clock(), look=txn.brief
            )
            task = begin(change)
            txn.record(task, change)
            if key:
                txn.keep_creation(key, asked, task_id)
        return Outcome(task, changed=True)

    def update(self, task_id: str, request: Request, *, expected: int | None = None) -> Outcome:
        """The task after ``request``.  Every rule is judged inside the transaction that writes.

        VersionConflict if the task is not at version ``expected``; Refused with every reason.
        """
        from ..core import fields
        from ..core.change import apply, plan

        fields.task_id(task_id)
        with self._store.write() as txn:
            task = txn.task(task_id)
            change = plan(
                task,
                request,
                actor=self._actor,
                now=self._clock(),
                look=txn.brief,
                expected=expected,
            )
            if change is None:
                return Outcome(task, changed=False)
            after = apply(task, change)
            txn.record(after, change)
            warnings: tuple[str, ...] = ()
            if after.status in ("done", "cancelled") and after.status != task.status:
                children = txn.open_children(task_id)
                if children:
                    warnings = (f"Children still open: {', '.join(children)}",)
        return Outcome(after, changed=True, warnings=warnings)

    def show(self, start: str, *, version: int | None = None) -> Task:
        """The task whose id begins with ``start``, now or as it was at ``version``."""
        with self._store.read() as txn:
            task = txn.task(_resolved(txn, start))
            if version is None or version == task.version:
                return task
            if not 1 <= version < task.version:
                raise InvalidInput(
                    f"Task {task.id} has no version {version}; it is at {task.version}"
                )
            changes = txn.changes(task.id, 1, version)
        from ..core.change import apply, begin

        past = begin(changes[0])
        for change in changes[1:]:
            past = apply(past, change)
        return past

    def context(self, start: str, budget: int = 2_048) -> Handoff:
        """The handoff of one task in at most ``budget`` bytes."""
        from ..core.handoff import assemble

        with self._store.read() as txn:
            task = txn.task(_resolved(txn, start))
            related = txn.related(task, RELATED_LIMIT)
        return assemble(task, budget, related=related)

    def inbox(self, limit: int = 20, offset: int = 0) -> Page:
        """What is live: active, then blocked, then open, the latest updated first."""
        _check_page(offset, limit)
        with self._store.read() as txn:
            return txn.inbox(offset, limit)

    def list(
        self,
        offset: int = 0,
        limit: int = 50,
        *,
        status: tuple[str, ...] = (),
        owner: str = "",
        label: str = "",
        parent: str = "",
    ) -> Page:
        """Tasks that meet every filter given, the newest created first."""
        _check_page(offset, limit)
        if status:
            from ..core.fields import status as named

            wanted = {named(one) for one in status}
            status = tuple(one for one in STATUSES if one in wanted)
        with self._store.read() as txn:
            return txn.listing(
                offset,
                limit,
                status=status,
                owner=owner,
                label=label,
                parent=_resolved(txn, parent) if parent else "",
            )

    def children(self, start: str, offset: int = 0, limit: int = 50) -> Page:
        """The tasks whose parent is this one, the newest created first."""
        _check_page(offset, limit)
        with self._store.read() as txn:
            return txn.listing(offset, limit, parent=_resolved(txn, start))

    def history(self, start: str, first: int = 1, limit: int = 20) -> History:
        """What changed in each version from ``first`` on, and what stood there before."""
        _check_page(0, limit)
        if first < 1:
            raise InvalidInput("Versions begin at 1")
        with self._store.read() as txn:
            task_id = _resolved(txn, start)
            task = txn.task(task_id)
            # What stood before a version is what the versions before it made.
            changes = txn.changes(task_id, 1, first + limit - 1)
        before: dict[str, Any] = {}
        steps = []
        for change in changes:
            if change.version >= first:
                steps.append(Step(change, {name: before.get(name) for name in change.set}))
            before.update(change.set)
        last = first + limit - 1
        return History(
            task_id=task_id,
            steps=tuple(steps),
            total=task.version,
            next_version=last + 1 if last < task.version else None,
        )


def _resolved(txn: ReadTxn, start: str) -> str:
    """The whole id for ``start``: looked up if it is only the beginning of one."""
    wanted = start if start.startswith("t-") else f"t-{start}"
    if not is_id(wanted):
        from ..core.fields import task_id

        task_id(start)
    return txn.resolve(wanted)


def _check_page(offset: int, limit: int) -> None:
    if not 1 <= limit <= PAGE_LIMIT:
        raise InvalidInput(f"A limit of {limit} is out of range", hint=f"Use 1 to {PAGE_LIMIT}.")
    if offset < 0:
        raise InvalidInput("An offset cannot be negative")
