"""The verb that takes a text out of everything that is kept.

The ledger is one transaction; every other place is changed as a whole or not at all.  A purge that
was cut off between two of them is completed by doing it again: what is done is not found any more,
and the files of the ledger are made anew each time, because nobody could see what is left in them.
"""

from __future__ import annotations

from ..core.eraser import remains, rewritten
from ..core.value import Value
from ..errors import PurgeUnfinished, SpindleError, StoreBusy, WorkspaceNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.archive import Stored
    from ..core.eraser import Eraser
    from ..core.purge import Purge
    from ..ports import Place, ReadTxn, Store


class Found(Value):
    """How many items of a place held the text."""

    place: str
    path: str
    items: int


class Purged(Value):
    """What a purge came to, or would: by task, and by place beside the ledger."""

    tasks: dict[str, Purge]
    named: tuple[str, ...]
    """Tasks that have the text in their id, which stays."""
    places: tuple[Found, ...]
    left: tuple[str, ...] = ()
    """Files of the workspace that hold it and that nothing is known of."""
    outside: dict[str, str] = {}
    """What holds it and is not the workspace's: path to what it is."""
    unread: tuple[str, ...] = ()
    """Those of both that are named because they could not be read."""
    held: tuple[str, ...] = ()
    """Tasks that hold it still, in a place that could not be written anew."""


class Purger:
    """Takes a text out of a ledger, on any store, and of every place beside it."""

    def __init__(
        self, store: Store, places: dict[str, Place], *, actor: str, clock: Callable[[], int]
    ) -> None:
        self._store = store
        self._places = places
        self._actor = actor
        self._clock = clock

    def preview(self, eraser: Eraser) -> Purged:
        """What :meth:`purge` would do; nothing is written."""
        try:
            with self._store.read() as txn:
                found = txn.holding(eraser.forms)
                whole, tasks = self._rewritten(txn, found, eraser)
                to_be = {one.task.id: one for one in whole}
                held = _held(found, eraser, lambda one: to_be.get(one) or txn.whole(one))
        except WorkspaceNotFound:
            tasks, found, held = {}, [], ()
        return Purged(
            tasks, _named(found, eraser), tuple(self._elsewhere(eraser, write=False)), held=held
        )

    def purge(self, eraser: Eraser) -> Purged:
        """The text is nowhere in the ledger nor in any place beside it, nor in freed pages.

        Where it stays all the same, ``named`` and ``held`` say so: it is looked for again.
        StoreBusy, and nothing done, if a reader keeps the ledger's files from being made anew.
        PurgeUnfinished names what is left to do: again does the rest.
        """
        tasks: dict[str, Purge] = {}
        found: list[str] = []
        held: tuple[str, ...] = ()
        there = True
        self._elsewhere(eraser, write=False)  # what cannot be looked at is told before anything
        try:
            self._store.check_scrub()
            with self._store.write() as txn:
                found = txn.holding(eraser.forms)
                whole, tasks = self._rewritten(txn, found, eraser)
                for stored in whole:
                    txn.rewrite(stored)
                held = _held(found, eraser, txn.whole)
        except WorkspaceNotFound:
            there = False
        try:
            places = tuple(self._elsewhere(eraser, write=True))
            if there:
                self._store.scrub()
        except StoreBusy as error:
            raise PurgeUnfinished(
                f"The text is out of the tasks, but not yet out of all files: {_cause(error)}"
            ) from error
        except SpindleError as error:
            error.message = f"{_cause(error)}; the tasks are purged, and purge again does the rest"
            raise
        return Purged(tasks, _named(found, eraser), places, held=held)

    def _rewritten(
        self, txn: ReadTxn, found: list[str], eraser: Eraser
    ) -> tuple[list[Stored], dict[str, Purge]]:
        whole = []
        tasks = {}
        now = self._clock()
        for task_id in found:
            bare = rewritten(txn.whole(task_id), eraser, at=now, by=self._actor)
            if bare:
                whole.append(bare.stored)
                if bare.purge:
                    tasks[task_id] = bare.purge
        return whole, tasks

    def _elsewhere(self, eraser: Eraser, *, write: bool) -> list[Found]:
        return [
            Found(name, place.path, place.purge(eraser, write=write))
            for name, place in self._places.items()
        ]


def _named(found: list[str], eraser: Eraser) -> tuple[str, ...]:
    return tuple(one for one in found if eraser.is_in(one))


def _held(found: list[str], eraser: Eraser, whole: Callable[[str], Stored]) -> tuple[str, ...]:
    """Those of the tasks that hold the text still."""
    return tuple(one for one in found if remains(whole(one), eraser))


def _cause(error: SpindleError) -> str:
    """What went wrong, without the promise that is usual: here something was written before."""
    return error.message.removesuffix("; nothing was written")
