"""A ledger in memory: the reference that the other stores are held against, and for dry runs.

It says in the plainest form what a store is: tasks, their changes, and the keys of their creation.
"""

from __future__ import annotations

from ..core import task
from ..core.change import change_bytes
from ..core.digest import NONE, chained
from ..errors import AmbiguousId, TaskNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from ..core.archive import Stored
    from ..core.change import Change
    from ..core.claims import Lease
    from ..core.purge import Purge
    from ..core.search import Term
    from ..core.task import Brief, Page, Related, Task


class EphemeralStore:
    """A ledger that ends with the process.  One transaction at a time, in one thread."""

    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}
        self.chains: dict[str, list[tuple[str, Change]]] = {}
        self.creations: dict[str, tuple[str, str]] = {}
        self.leases: dict[str, Lease] = {}
        self.purges: dict[str, tuple[Purge, ...]] = {}
        self.order: list[tuple[str, int]] = []
        """Task and version of each change, as they were recorded."""

    def read(self) -> EphemeralTxn:
        """A snapshot, for a ``with`` block."""
        return EphemeralTxn(self, keeps=False)

    def write(self) -> EphemeralTxn:
        """A transaction, for a ``with`` block: what it did is kept unless the block raises."""
        return EphemeralTxn(self, keeps=True)

    def check_scrub(self) -> None:
        """There is no file."""

    def scrub(self) -> None:
        """There is no file."""


class EphemeralTxn:
    """Works on copies; see :class:`.ports.ReadTxn` and :class:`.ports.WriteTxn`."""

    def __init__(self, store: EphemeralStore, *, keeps: bool) -> None:
        self._store = store
        self._keeps = keeps
        self._tasks = dict(store.tasks)
        self._chains = {task_id: list(chain) for task_id, chain in store.chains.items()}
        self._creations = dict(store.creations)
        self._leases = dict(store.leases)
        self._purges = dict(store.purges)
        self._order = list(store.order)

    def __enter__(self) -> EphemeralTxn:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._keeps and kind is None:
            self._store.tasks = self._tasks
            self._store.chains = self._chains
            self._store.creations = self._creations
            self._store.leases = self._leases
            self._store.purges = self._purges
            self._store.order = self._order

    def task(self, task_id: str) -> Task:
        if task_id not in self._tasks:
            raise TaskNotFound(f"There is no task {task_id}")
        return self._tasks[task_id]

    def resolve(self, start: str) -> str:
        found = sorted(one for one in self._tasks if one.startswith(start))
        if start in found:
            return start
        if not found:
            raise TaskNotFound(f"There is no task {start}")
        if len(found) > 1:
            raise AmbiguousId(f"{start} is the start of several ids: {', '.join(found[:5])}")
        return found[0]

    def brief(self, task_id: str) -> Brief | None:
        found = self._tasks.get(task_id)
        return task.brief(found) if found else None

    def sourced(self, source: str) -> str | None:
        return next((one.id for one in self._tasks.values() if one.source == source), None)

    def related(self, of: Task, limit: int) -> list[Related]:
        children = [one.id for one in reversed(self._tasks.values()) if one.parent == of.id]
        named = [("parent", of.parent)] if of.parent else []
        named += [("dependency", other) for other in of.dependencies[:limit]]
        named += [("child", child) for child in children[:limit]]
        found = []
        for relation, other in named:
            status, goal = self._tasks[other].status, task.summary(self._tasks[other]).goal
            found.append(task.Related(relation, other, status, goal))
        return found

    def changes(self, task_id: str, first: int, limit: int) -> list[Change]:
        self.task(task_id)
        return [step for _, step in self._chains[task_id][first - 1 : first - 1 + limit]]

    def inbox(self, offset: int, limit: int) -> Page:
        order = {one: place for place, one in enumerate(self._tasks)}
        live = [one for one in self._tasks.values() if one.status in task.LIVE]
        live.sort(key=lambda one: (task.LIVE.index(one.status), -one.updated, -order[one.id]))
        return self._page(live, offset, limit)

    def latest(self, status: str, limit: int) -> Page:
        order = {one: place for place, one in enumerate(self._tasks)}
        found = [one for one in self._tasks.values() if one.status == status]
        found.sort(key=lambda one: (one.updated, order[one.id]), reverse=True)
        return self._page(found, 0, limit)

    def parts(self, task_id: str, limit: int) -> Page:
        return self._page([one for one in self._tasks.values() if one.parent == task_id], 0, limit)

    def recent(self, limit: int, *, actor: str = "", task_id: str = "") -> list[Change]:
        order = [pair for pair in reversed(self._order) if task_id in ("", pair[0])]
        if actor:
            order = order[: task.LOOK_BACK]
        found = [self._chains[name][version - 1][1] for name, version in order]
        return [step for step in found if actor in ("", step.actor)][:limit]

    def since(self, moment: int, limit: int) -> Page:
        order = {one: place for place, one in enumerate(self._tasks)}
        found = [one for one in self._tasks.values() if one.updated > moment]
        found.sort(key=lambda one: (one.updated, order[one.id]), reverse=True)
        return self._page(found, 0, limit)

    def listing(
        self,
        offset: int,
        limit: int,
        *,
        status: tuple[str, ...] = (),
        owner: str = "",
        label: str = "",
        parent: str = "",
    ) -> Page:
        found = [
            one
            for one in reversed(self._tasks.values())
            if (not status or one.status in status)
            and (not owner or one.owner == owner)
            and (not label or label in one.labels)
            and (not parent or one.parent == parent)
        ]
        return self._page(found, offset, limit)

    def open_children(self, task_id: str) -> list[str]:
        return [
            one.id
            for one in self._tasks.values()
            if one.parent == task_id and one.status not in ("done", "cancelled")
        ]

    def search(self, terms: tuple[Term, ...], offset: int, limit: int) -> Page:
        from ..core import search

        if not terms:
            return self._page([], offset, limit)
        whole = tuple(term._replace(prefix=False) for term in terms)
        ranked: list[tuple[tuple[int, int], Task]] = []
        for one in reversed(self._tasks.values()):
            fields = [search.words(part) for part in search.texts(one)]
            for looseness, asked in enumerate((whole, terms)):
                tier = _tier(asked, fields)
                if tier is not None:
                    ranked.append(((looseness, tier), one))
                    break
        ranked.sort(key=lambda pair: pair[0])
        return self._page([one for _, one in ranked], offset, limit)

    def ready(self, offset: int, limit: int, now: int) -> Page:
        found = [
            one
            for one in self._tasks.values()
            if one.status in ("open", "active")
            and not one.blocker
            and all(self._tasks[other].status == "done" for other in one.dependencies)
            and not (one.id in self._leases and self._leases[one.id].live(now))
        ]
        found.sort(key=lambda one: one.priority)
        return self._page(found, offset, limit)

    def _page(self, found: list[Task], offset: int, limit: int) -> Page:
        ends = {name: lease.until for name, lease in self._leases.items()}
        items = tuple(
            task.summary(one, ends.get(one.id, 0)) for one in found[offset : offset + limit]
        )
        end = offset + len(items)
        return task.Page(items, len(found), end if items and end < len(found) else None)

    def lease(self, task_id: str) -> Lease | None:
        return self._leases.get(task_id)

    def keep_lease(self, task_id: str, lease: Lease | None) -> None:
        if lease:
            self._leases[task_id] = lease
        else:
            self._leases.pop(task_id, None)

    def creation(self, key: str) -> tuple[str, str] | None:
        return self._creations.get(key)

    def record(self, after: Task, step: Change) -> None:
        chain = self._chains.setdefault(after.id, [])
        previous = chain[-1][0] if chain else NONE
        chain.append((chained(after.id, previous, change_bytes(step)), step))
        self._order.append((after.id, step.version))
        self._tasks[after.id] = after
        if step.key:
            self._creations[step.key] = (step.request, after.id)

    def chain(self, task_id: str) -> list[str]:
        return [digest for digest, _ in self._chains.get(task_id, [])]

    def everything(self) -> Iterator[Stored]:
        for task_id in self._tasks:
            yield self.whole(task_id)

    def whole(self, task_id: str) -> Stored:
        from ..core.archive import Stored

        found = self.task(task_id)
        bodies = tuple(change_bytes(step) for _, step in self._chains[task_id])
        return Stored(found, bodies, self._leases.get(task_id), self.purges(task_id))

    def purges(self, task_id: str) -> tuple[Purge, ...]:
        return self._purges.get(task_id, ())

    def holding(self, forms: tuple[bytes, ...]) -> list[str]:
        from ..core.purge import purge_bytes

        found = []
        for task_id, chain in self._chains.items():
            kept = [change_bytes(step) for _, step in chain]
            kept += [purge_bytes(one) for one in self.purges(task_id)]
            if any(form in one for one in kept for form in forms):
                found.append(task_id)
        return found

    def adopt(self, stored: Stored, known: int) -> None:
        from ..core.archive import steps

        for step in steps(stored)[known:]:
            self.record(stored.task, step)
        self.keep_lease(stored.task.id, stored.lease)
        self._keep_purges(stored)

    def rewrite(self, stored: Stored) -> None:
        from ..core.archive import steps

        task_id = stored.task.id
        self._chains[task_id] = []
        order = list(self._order)  # the changes stay where they are in it
        self._creations = {key: one for key, one in self._creations.items() if one[1] != task_id}
        for step in steps(stored):
            self.record(stored.task, step)
        self._order = order
        self.keep_lease(task_id, stored.lease)
        self._purges[task_id] = stored.purges

    def _keep_purges(self, stored: Stored) -> None:
        known = self.purges(stored.task.id)
        fresh = tuple(one for one in stored.purges if one not in known)
        if fresh:
            self._purges[stored.task.id] = (*known, *fresh)

    def join(self, joined: Task) -> None:
        """Links are what the tasks say: there is nothing to make."""


def _tier(terms: tuple[Term, ...], fields: list[list[str]]) -> int | None:
    """The first field that holds every term; one more than the last if they are spread."""
    from ..core.search import matches

    for number, listed in enumerate(fields):
        if all(matches(term, listed) for term in terms):
            return number
    spread = all(any(matches(term, listed) for listed in fields) for term in terms)
    return len(fields) if spread else None
