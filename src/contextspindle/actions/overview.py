"""Looks at many tasks at once: by status, by what is part of what, and by what happened last.

Each is bounded by what it shows, never by how many tasks there are: it reads along an index and
stops.
"""

from __future__ import annotations

from ..core import task as tasks
from ..core.value import Value
from .asked import check_page, resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.change import Change
    from ..core.task import Page, Related, Summary, Task
    from ..ports import ReadTxn, Store

COLUMNS = ("open", "active", "blocked", "done")
"""The statuses of a board, from left to right."""
LIVE_TASKS = 30
"""The most live tasks that the trees of a whole ledger are grown from."""
TREE_TASKS = 100
"""The most tasks that trees show together."""
TREE_PARTS = 20
"""The most parts of one task that a tree shows."""
TREE_NEEDS = 5
"""The most dependencies of one task that a tree shows."""
LOOKED_AT = 50
"""The most steps up, and the most dependencies of one task, that are looked at."""


class Column(Value):
    """The tasks of one status, the latest updated first, and how many there are in all."""

    status: str
    page: Page


class Branch(Value):
    """A task in a tree: how deep, which dependencies keep it back, and its parts in numbers."""

    task: Summary
    depth: int
    needs: tuple[Related, ...]
    parts: int
    """How many parts it has, counted up to 1,000 behind those shown."""
    shown: int
    """How many of them are in the tree."""


class Tree(Value):
    """Tasks, each followed by its parts; ``above`` is what the first is a part of, nearest first.

    ``live`` is how many live tasks there are; None in the tree of one task.
    """

    above: tuple[Related, ...]
    branches: tuple[Branch, ...]
    live: int | None


class Event(Value):
    """One change, and the goal of its task as a summary shows it."""

    change: Change
    goal: str


class Log(Value):
    """The latest changes, the newest first; ``more`` if older ones were found."""

    events: tuple[Event, ...]
    more: bool


class Overview:
    """Looks at the tasks of a ledger on any store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def board(self, limit: int = 10) -> tuple[Column, ...]:
        """The latest tasks of each status but cancelled, at most ``limit`` of each, of one moment.

        InvalidInput for a limit that is not from 1 to 100.
        """
        check_page(0, limit)
        with self._store.read() as txn:
            return tuple(Column(status, txn.latest(status, limit)) for status in COLUMNS)

    def tree(self, start: str = "") -> Tree:
        """A task with all that is part of it; without one, the trees of what is live.

        At most :data:`TREE_TASKS` tasks, those near the roots first.  TaskNotFound; AmbiguousId.
        """
        with self._store.read() as txn:
            if start:
                root = txn.task(resolved(txn, start))
                above = _above(txn, root.parent)
                return Tree(tuple(above), _grown(txn, [_summary(txn, root)]), None)
            page = txn.inbox(0, LIVE_TASKS)
            roots: dict[str, Summary] = {}
            for one in page.items:
                above = _above(txn, one.parent)
                name = above[-1].id if above else one.id
                if name not in roots:
                    roots[name] = _summary(txn, txn.task(name)) if above else one
            return Tree((), _grown(txn, [*roots.values()]), page.total)

    def log(self, limit: int = 20, *, actor: str = "", task: str = "") -> Log:
        """What was changed last in any task, or in one; by anybody, or by one actor.

        An actor's changes are looked for among the latest :data:`.core.task.LOOK_BACK`.
        InvalidInput for a limit that is not from 1 to 100; TaskNotFound; AmbiguousId.
        """
        check_page(0, limit)
        with self._store.read() as txn:
            of = resolved(txn, task) if task else ""
            found = txn.recent(limit + 1, actor=actor, task_id=of)
            goals: dict[str, str] = {}
            for step in found[:limit]:
                if step.task not in goals:
                    brief = txn.brief(step.task)
                    goals[step.task] = brief.goal if brief else ""
        events = tuple(Event(step, goals[step.task]) for step in found[:limit])
        return Log(events, len(found) > limit)


def _above(txn: ReadTxn, parent: str) -> list[Related]:
    """What a task with this parent is a part of, the nearest first."""
    found: list[Related] = []
    while parent and len(found) < LOOKED_AT:
        brief = txn.brief(parent)
        if not brief:
            break
        found.append(tasks.Related("parent", parent, brief.status, brief.goal))
        parent = brief.parent
    return found


def _summary(txn: ReadTxn, task: Task) -> Summary:
    lease = txn.lease(task.id)
    return tasks.summary(task, lease.until if lease else 0)


def _grown(txn: ReadTxn, roots: list[Summary]) -> tuple[Branch, ...]:
    """The roots, each followed by its parts and theirs."""
    parts: dict[str, Page] = {}
    known = {one.id for one in roots}
    level = roots
    while level:
        below: list[Summary] = []
        for one in level:
            room = min(TREE_PARTS, TREE_TASKS - len(known))
            # Where no room is left, one part is looked for, to tell how many are not shown.
            page = txn.parts(one.id, max(room, 1))
            fresh = tuple(part for part in page.items[:room] if part.id not in known)
            parts[one.id] = page._replace(items=fresh)
            known.update(part.id for part in fresh)
            below += fresh
        level = below
    found: list[Branch] = []
    waiting = [(root, 0) for root in reversed(roots)]
    while waiting:
        one, depth = waiting.pop()
        page = parts[one.id]
        needs = _needs(txn, one)
        found.append(Branch(one, depth, needs, page.total, len(page.items)))
        waiting += [(part, depth + 1) for part in reversed(page.items)]
    return tuple(found)


def _needs(txn: ReadTxn, one: Summary) -> tuple[Related, ...]:
    """The dependencies that a live task still waits for."""
    brief = txn.brief(one.id) if one.status in tasks.LIVE else None
    found: list[Related] = []
    # Stores name them in different orders.
    for other in sorted(brief.dependencies)[:LOOKED_AT] if brief else ():
        needed = txn.brief(other)
        if needed and needed.status != "done" and len(found) < TREE_NEEDS:
            found.append(tasks.Related("dependency", other, needed.status, needed.goal))
    return tuple(found)
