"""The verbs that concern a ledger as a whole: take it out, take it in, look whether it is sound."""

from __future__ import annotations

import errno

from ..core import archive, links, text
from ..core.archive import AHEAD, BEHIND, CONFLICT, NEW, PURGED, UNPURGED, Merge
from ..core.intake import check_lease
from ..errors import InvalidInput, MergeConflict, StoreFull, StoreUnavailable, in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..core.archive import Stored
    from ..core.task import Task
    from ..ports import ReadTxn, Store, WriteTxn

    Progress = Callable[[int], object]

ASIDE_BYTES = 8_000_000
"""What is imported is kept in memory up to here, and beyond it in a file of no name."""


class Archive:
    """A ledger as a whole, on any store."""

    def __init__(self, store: Store, clock: Callable[[], int] | None = None) -> None:
        """With a ``clock``, a lease that ends later than one can is not taken in."""
        self._store = store
        self._clock = clock

    def lines(self, progress: Progress = id) -> Iterator[bytes]:
        """The ledger as an archive, a line a task, all of one moment."""
        with self._store.read() as txn:
            yield archive.header(txn.listing(0, 1).total)
            for number, stored in enumerate(txn.everything(), 1):
                yield archive.line_of(stored)
                progress(number)

    def tasks(self, progress: Progress = id) -> list[Task]:
        """Every task as it is now, all of one moment."""
        found = []
        with self._store.read() as txn:
            for number, stored in enumerate(txn.everything(), 1):
                found.append(stored.task)
                progress(number)
        return found

    def take_lines(
        self, lines: Iterable[bytes], *, dry: bool = False, progress: Progress = id
    ) -> Merge:
        """Take an archive in, all of it or nothing.

        InvalidInput names the line that cannot be used, or says how many tasks are missing of
        those that the first line promises.  MergeConflict lists every task whose history here and
        there differs.  What is older there is passed over.  The lines are read to their end, and
        judged, before any writer is kept waiting.
        """
        from tempfile import SpooledTemporaryFile

        now = self._clock() if self._clock else None
        try:
            with SpooledTemporaryFile(ASIDE_BYTES, prefix="contextspindle-") as aside:
                for stored in _parsed(lines, now):
                    aside.write(archive.packed(stored))
                aside.seek(0)
                return self._merge(map(archive.unpacked, aside), dry=dry, progress=progress)
        except OSError as error:
            kind = StoreFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreUnavailable
            raise kind(
                f"What is imported cannot be put aside: {error.strerror}; nothing was written"
            ) from error

    def take_store(
        self,
        other: Store,
        *,
        dry: bool = False,
        progress: Progress = id,
        judged: Callable[[], object] = bool,
    ) -> Merge:
        """Take another ledger in, by the same rules.

        InvalidInput names a task that no writer of ours could have made.  ``judged`` is called when
        there is none, before anything is written.
        """
        now = self._clock() if self._clock else None
        with other.read() as txn:
            for stored in txn.everything():
                try:
                    archive.check(stored)
                    _check_lease(stored, now)
                except ValueError as error:
                    raise InvalidInput(
                        f"The task {stored.task.id} there cannot be taken in: {in_words(error)};"
                        " nothing was written",
                        hint="Use another copy.",
                        task=stored.task.id,
                    ) from error
            judged()
            return self._merge(txn.everything(), dry=dry, progress=progress)

    def _merge(self, incoming: Iterable[Stored], *, dry: bool, progress: Progress) -> Merge:
        with self._store.write() as txn:
            merge = _taken(txn, incoming, progress)
            if dry:
                raise _DryRun(merge)
        return merge

    def rehearse(self, lines: Iterable[bytes]) -> Merge:
        """What :meth:`take_lines` would come to; nothing is written."""
        try:
            return self.take_lines(lines, dry=True)
        except _DryRun as over:
            return over.merge


class _DryRun(Exception):
    def __init__(self, merge: Merge) -> None:
        self.merge = merge


def _parsed(lines: Iterable[bytes], now: int | None) -> Iterator[Stored]:
    begun = False
    promised = 0
    found: set[str] = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if not begun:
                promised = archive.promised(line)
                begun = True
                continue
            stored = archive.read_line(line)
            _check_lease(stored, now)
        except ValueError as error:
            hint = "For the tasks of another program, name it: --from auto."
            if begun:
                hint = "Take the export again, or mend that line."
            elif f'"format":"{archive.FORMAT}"'.encode() in line:
                hint = "If a newer program made it, upgrade ContextSpindle on this machine."
            elif line.startswith(b"SQLite format 3\0"):
                hint = "It is a database: 'contextspindle restore' takes a backup or a copy in."
            raise InvalidInput(
                f"Line {number} cannot be used: {in_words(error)}; nothing was imported",
                hint=hint,
                line=number,
            ) from error
        found.add(stored.task.id)
        yield stored
    if not begun:
        raise InvalidInput("The archive is empty")
    if len(found) < promised:
        raise InvalidInput(
            f"It was cut off: its first line promises {text.counted(promised, 'task')}, and"
            f" {len(found):,} came; nothing was imported",
            hint="Take the export again. To import what is there, take the count of tasks out of"
            " the first line.",
            missing=promised - len(found),
        )


def _check_lease(stored: Stored, now: int | None) -> None:
    if stored.lease and now is not None:
        check_lease(stored.lease, stored.task, now)


def _taken(txn: WriteTxn, incoming: Iterable[Stored], progress: Progress) -> Merge:
    counts = dict.fromkeys((NEW, AHEAD, BEHIND, PURGED, archive.SAME), 0)
    conflicts: list[str] = []
    reasons: list[str] = []
    changed: list[Stored] = []
    for number, stored in enumerate(incoming, 1):
        here = txn.chain(stored.task.id)
        there = archive.digests(stored.task.id, stored.bodies)
        found = archive.compared(here, there, txn.purges(stored.task.id))
        other = _namesake(txn, stored) if found in (NEW, AHEAD) else ""
        if found in (CONFLICT, UNPURGED) or other:
            conflicts.append(stored.task.id)
            reasons.append(other or f"{stored.task.id} {_difference(found, here, there, stored)}")
        else:
            counts[found] += 1
            if found in (NEW, AHEAD) and not conflicts:
                txn.adopt(stored, len(here))
                changed.append(stored)
        progress(number)
    if conflicts:
        raise MergeConflict(
            f"Tasks that cannot be brought together: {len(conflicts)}; nothing was written"
            + "".join(f"\n  - {reason}" for reason in reasons[:50])
            + ("\n  - ..." if len(reasons) > 50 else ""),
            tasks=conflicts,
        )
    for stored in changed:
        _check_links(txn, stored)
        txn.join(stored.task)
    # A link made here and one made there can close a ring that neither side saw.
    links.check_rings([stored.task.id for stored in changed], txn.brief)
    return Merge(
        created=counts[NEW],
        updated=counts[AHEAD],
        same=counts[archive.SAME],
        older=counts[BEHIND],
        tasks=tuple(stored.task.id for stored in changed),
        purged=counts[PURGED],
    )


def _difference(found: str, here: list[str], there: list[str], stored: Stored) -> str:
    """What stands between the history of a task here and the one in an archive."""
    again = "purge the same text {} first, then both are the same"
    if found == UNPURGED:
        return f"went on there with what was purged here: {again.format('there')}"
    if archive.compared(there, here, stored.purges) in (PURGED, UNPURGED):
        return f"was purged there and not here: {again.format('here')}"
    return "has another history there"


def _namesake(txn: ReadTxn, stored: Stored) -> str:
    """Which other task here has a name that can be one task's only; empty if none has."""
    task = stored.task
    key = archive.steps(stored)[0].key
    known = txn.creation(key) if key else None
    if known and known[1] != task.id:
        return f"{task.id} was created under the key {key!r}, which made {known[1]} here"
    twin = txn.sourced(task.source) if task.source else None
    if twin and twin != task.id:
        return f"{task.id} was imported as {task.source!r}, which is {twin} here"
    return ""


def _check_links(txn: ReadTxn, stored: Stored) -> None:
    named = (*stored.task.dependencies, *([stored.task.parent] if stored.task.parent else []))
    for other in named:
        if txn.brief(other) is None:
            raise InvalidInput(
                f"Task {stored.task.id} names {other}, which is neither there nor here;"
                " nothing was written",
                hint="Take in an archive that holds both.",
            )
