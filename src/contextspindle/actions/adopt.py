"""The verb that takes items of other programs in: all that can be read, in one transaction.

The source of an item is the key by which it is known again.  What has not changed there since is
passed over; what has is brought forward in one change, unless something has changed here as well.
"""

from __future__ import annotations

from ..core import adoption, archive, links
from ..core.adoption import Hand, Links
from ..core.change import apply
from ..core.foreign import CONFLICT, LINK, OLDER, OWN, UNREAD, Problem, Report
from ..core.task import brief, is_id
from ..core.value import Value
from ..errors import RingRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.archive import Stored
    from ..core.change import Change
    from ..core.foreign import Chronicle, Foreign, Gathered
    from ..core.task import Brief, Task
    from ..ports import Store, WriteTxn


class Adopter:
    """The door by which tasks of other programs come into a ledger."""

    def __init__(
        self,
        store: Store,
        *,
        actor: str,
        clock: Callable[[], int],
        new_id: Callable[[], str],
    ) -> None:
        self._store = store
        self._actor = actor
        self._clock = clock
        self._new_id = new_id

    def take(self, gathered: Gathered, *, dry: bool = True) -> Report:
        """What was gathered as tasks, all that can be of it; with ``dry`` only what it would be.

        Doing it again changes nothing.  What does not come through as it was is in the report.
        """
        by = Hand(gathered.program, self._actor, self._clock())
        try:
            with self._store.write() as txn:
                report = _Import(txn, gathered, by, self._new_id).report()
                if dry:
                    raise _Rehearsed(report)
        except _Rehearsed as over:
            return over.report
        return report


class _Rehearsed(Exception):
    def __init__(self, report: Report) -> None:
        self.report = report


class _Wanted(Value):
    """An item that becomes a task, or that brings the task it is known as forward."""

    item: Foreign
    task: Task
    """As it is now; of a new one, as it would begin."""
    known: bool
    late: bool = False
    """It says what it said before, and a link of it may be there only now."""


class _Import:
    """One import, inside of its transaction."""

    def __init__(
        self, txn: WriteTxn, gathered: Gathered, by: Hand, new_id: Callable[[], str]
    ) -> None:
        self._txn = txn
        self._gathered = gathered
        self._by = by
        self._new_id = new_id
        self._problems = list(gathered.problems)
        self._ids: dict[str, str] = {}
        """Source of an item to its task, of all that are there when the import is done."""
        self._ahead: dict[str, Brief] = {}
        """Tasks as they will be, as far as their links are decided."""
        self._skipped = 0
        self._conflicts = 0

    def report(self) -> Report:
        created, updated = self._items()
        more_created, more_updated = self._chronicles()
        created += more_created
        updated += more_updated
        return Report(
            program=self._gathered.program,
            created=len(created),
            updated=len(updated),
            skipped=self._skipped,
            conflicts=self._conflicts,
            problems=tuple(self._problems),
            ids=(*created, *updated),
        )

    def _tell(self, kind: str, where: str, message: str) -> None:
        self._problems.append(Problem(kind, where, message))

    def _look(self, task_id: str) -> Brief | None:
        return self._ahead.get(task_id) or self._txn.brief(task_id)

    # -- items

    def _items(self) -> tuple[list[str], list[str]]:
        wanted = [one for item in self._gathered.items if (one := self._judged(item))]
        # In the order of their creation, which is the order of lists.
        wanted.sort(key=lambda one: self._by.now if (at := one.item.created) is None else at)
        new: list[Stored] = []
        forward: list[tuple[Task, Change]] = []
        for one, its in [(one, self._linked(one)) for one in wanted if not one.late]:
            if not one.known:
                new.append(adoption.first_steps(one.task.id, one.item, its, self._by))
            elif step := adoption.next_step(one.task, one.item, its, self._by):
                forward.append((apply(one.task, step), step))
            else:
                self._skipped += 1
        for one in wanted:
            if one.late and (step := self._late(one)):
                forward.append((apply(one.task, step), step))
            elif one.late:
                self._skipped += 1
        for stored in new:
            self._txn.adopt(stored, 0)
        for stored in new:
            self._txn.join(stored.task)
        for after, step in forward:
            self._txn.record(after, step)
            if "claim" in step.set:
                self._txn.keep_lease(after.id, None)
        return [stored.task.id for stored in new], [after.id for after, _ in forward]

    def _judged(self, item: Foreign) -> _Wanted | None:
        """What becomes of an item; None if it is passed over, which has been counted or told."""
        if item.source in self._ids:
            self._tell(UNREAD, item.where, f"{item.source} stands there twice; the first counts")
            return None
        if item.own and is_id(item.own) and self._txn.brief(item.own):
            self._ids[item.source] = item.own
            self._skipped += 1
            self._tell(OWN, item.where, f"{item.own} was exported from this ledger")
            return None
        known = self._txn.sourced(item.source)
        wanted = self._forward(item, known) if known else self._new(item)
        if known:
            self._ids[item.source] = known
        if wanted:
            self._ids[item.source] = wanted.task.id
            task = wanted.task
            self._ahead[task.id] = brief(task if wanted.late else _unlinked(task))
        return wanted

    def _new(self, item: Foreign) -> _Wanted | None:
        task_id = self._new_id()
        while self._look(task_id):
            task_id = self._new_id()
        try:
            begun = adoption.first_steps(task_id, item, Links(), self._by).task
            if (over := adoption.excess(begun, item)) > 0:
                raise ValueError(f"it is {over} bytes larger than a task may be")
        except ValueError as error:
            self._tell(UNREAD, item.where, f"{item.source}: {error}")
            return None
        return _Wanted(item, begun, known=False)

    def _forward(self, item: Foreign, known: str) -> _Wanted | None:
        task = self._txn.task(known)
        changes = self._txn.changes(known, task.version, 1)
        if adoption.taken_over(changes) is None:
            changes = self._txn.changes(known, 1, task.version)
        last = adoption.taken_over(changes)
        moved = adoption.moved_since(last, changes)
        lease = self._txn.lease(known)
        if last and last.request == item.digest:
            waits = any(adoption.noted(task, note) for note in _left(item, self._by))
            if waits and not (lease and lease.live(self._by.now)):
                return _Wanted(item, task, known=True, late=True)
            self._skipped += 1
        elif last and adoption.is_older(item, last):
            self._skipped += 1
            self._tell(OLDER, item.where, f"{item.source} is older than what {known} came from")
        elif moved:
            self._conflicts += 1
            self._tell(
                CONFLICT,
                item.where,
                f"{item.source} has changed there, and {known} here; it stays as it is here",
            )
        elif lease and lease.live(self._by.now):
            self._conflicts += 1
            self._tell(
                CONFLICT,
                item.where,
                f"{item.source} has changed there, and {lease.holder} holds {known} here; import it"
                " again when it is given back",
            )
        elif adoption.excess(task, item) + _size(item) > 0:
            self._tell(UNREAD, item.where, f"{item.source}: {known} has no room for what is new")
        else:
            return _Wanted(item, task, known=True)
        return None

    def _linked(self, one: _Wanted) -> Links:
        """The links of an item that can be; the others as notes, and told."""
        item = one.item
        task = _unlinked(one.task)
        notes = []
        named = [("parent", item.parent)] if item.parent else []
        named += [("dependency", source) for source in dict.fromkeys(item.dependencies)]
        for kind, source in named:
            other = self._ids.get(source) or self._txn.sourced(source)
            after, why = self._linking(task, kind, other)
            if why:
                notes.append(f"{self._by.program} {kind}: {source} ({why})")
                self._tell(LINK, item.where, f"{item.source}: its {kind} {source} is a note: {why}")
            else:
                task = after
        return Links(task.parent, task.dependencies, tuple(notes))

    def _late(self, one: _Wanted) -> Change | None:
        """The change by which a task gets the links that were notes until now; None if none can be.

        A link that it once had was taken back here, and stays so.
        """
        changes = self._txn.changes(one.task.id, 1, one.task.version)
        had = {other for step in changes for other in adoption.linked_by(step)}
        task = one.task
        for note, (kind, source) in _left(one.item, self._by).items():
            other = self._ids.get(source) or self._txn.sourced(source)
            if (
                adoption.noted(task, note)
                and other
                and other not in had
                and not (kind == "parent" and task.parent)
            ):
                task = self._linking(task, kind, other)[0]
        if task == one.task:
            return None
        keeps = not adoption.moved_since(adoption.taken_over(changes), changes)
        return adoption.late_step(one.task, task, one.item.digest if keeps else "", self._by)

    def _linking(self, task: Task, kind: str, other: str | None) -> tuple[Task, str]:
        """The task with the link; or why it cannot have it."""
        if other is None or not self._look(other):
            return task, "it is not there"
        after = (
            task._replace(parent=other)
            if kind == "parent"
            else task._replace(dependencies=(*task.dependencies, other))
        )
        try:
            links.check(task, after, self._look)
        except RingRefused as error:
            return task, "it would close a ring: " + "; ".join(error.reasons)
        self._ahead[task.id] = brief(after)
        return after, ""

    # -- histories

    def _chronicles(self) -> tuple[list[str], list[str]]:
        told = []
        for chronicle in self._gathered.chronicles:
            try:
                told.append((chronicle, adoption.retold(chronicle, {})))
            except ValueError as error:
                self._tell(UNREAD, chronicle.where, f"{chronicle.id}: {error}")
        for _, stored in told:
            self._ahead[stored.task.id] = brief(_unlinked(stored.task))
        counts: dict[str, list[str]] = {archive.NEW: [], archive.AHEAD: []}
        changed: list[tuple[Stored, int]] = []
        late: dict[str, list[tuple[str, str]]] = {}
        for chronicle, whole in told:
            here = self._txn.chain(chronicle.id)
            past = self._txn.changes(chronicle.id, 1, len(here)) if here else []
            stored, links_late = self._with_links(chronicle, whole, past)
            there = archive.digests(chronicle.id, stored.bodies)
            found = archive.compared(here, there, self._txn.purges(chronicle.id))
            if found in counts:
                counts[found].append(chronicle.id)
                changed.append((stored, len(here)))
                late[chronicle.id] = links_late
            elif links_late and found in (archive.SAME, archive.BEHIND):
                counts[archive.AHEAD].append(chronicle.id)
                late[chronicle.id] = links_late
            elif found in (archive.CONFLICT, archive.UNPURGED):
                self._conflicts += 1
                message = f"{chronicle.id} has another history here; it stays as it is here"
                self._tell(CONFLICT, chronicle.where, message)
            else:
                self._skipped += 1
        changed.sort(key=lambda pair: pair[0].task.created)
        for stored, known in changed:
            self._txn.adopt(stored, known)
        for stored, _ in changed:
            self._txn.join(stored.task)
        for task_id, named in late.items():
            self._link_late(task_id, named)
        # What stays as it is here may have other links than those looked at so far.
        links.check_rings([*(stored.task.id for stored, _ in changed), *late], self._txn.brief)
        return counts[archive.NEW], counts[archive.AHEAD]

    def _with_links(
        self, chronicle: Chronicle, whole: Stored, past: list[Change]
    ) -> tuple[Stored, list[tuple[str, str]]]:
        """The chronicle as a task without the links that cannot be, which are told.

        As it stands here already, by the changes ``past``, it keeps the notes on links that could
        not be then.  Those that can be now come second, each with its kind.
        """
        dropped, linked = adoption.dropped_before(chronicle, past, self._by.program)
        task = _unlinked(whole.task)
        late = []
        named = [("parent", whole.task.parent)] if whole.task.parent else []
        named += [("dependency", other) for other in whole.task.dependencies]
        for kind, other in named:
            task, why = self._linking(task, kind, other)
            if not why:
                if other in dropped and all(other not in adoption.linked_by(one) for one in linked):
                    late.append((kind, other))
                continue
            dropped.setdefault(other, why)
            message = f"{chronicle.id}: its {kind} {other} is a note: {why}"
            self._tell(LINK, chronicle.where, message)
        return (adoption.retold(chronicle, dropped, linked) if dropped else whole), late

    def _link_late(self, task_id: str, named: list[tuple[str, str]]) -> None:
        """Give a task that is here the links that it could not have before."""
        before = after = self._txn.task(task_id)
        for kind, other in named:
            if kind == "parent":
                after = after if after.parent else after._replace(parent=other)
            elif other not in after.dependencies:
                after = after._replace(dependencies=(*after.dependencies, other))
        if after != before:
            step = adoption.late_step(before, after, "", self._by)
            self._txn.record(apply(before, step), step)


def _left(item: Foreign, by: Hand) -> dict[str, tuple[str, str]]:
    """How the notes on links of an item that could not be begin, each with its kind and source."""
    named = [("parent", item.parent)] if item.parent else []
    named += [("dependency", source) for source in item.dependencies]
    return {f"{by.program} {kind}: {source} (": (kind, source) for kind, source in named}


def _unlinked(task: Task) -> Task:
    return task._replace(parent="", dependencies=())


def _size(item: Foreign) -> int:
    return sum(len(note.encode()) for note in item.notes) + len(str(item.set).encode())
