"""The memory as a place from which a text can be taken out.

An item that holds it goes as a whole, and the file is made anew of the others: in the old one the
words of a text stand in the index too, and in freed pages.  Files that a rebuild had put aside go
if they hold it.
"""

from __future__ import annotations

import os

from ..errors import MemoryNotFound, SpindleError
from .copies import holds
from .memory import MemoryStore
from .private import refuse_link, sync_folder, translated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.eraser import Eraser
    from ..core.memory import Item


class Remembered:
    """What is remembered in one project."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self.path = store.path

    def purge(self, eraser: Eraser, *, write: bool) -> int:
        """Let go of every item that holds a text; how many items and files put aside held it.

        See :class:`.ports.Place`.  A memory that is damaged is rebuilt first, as far as it can be
        read: nobody could say what stands in the rest.
        """
        refuse_link(self.path)
        aside = [one for one in self._aside() if _in_files(one, eraser)]
        try:
            held = self._held(eraser)
            anew = bool(held) or _in_files(self.path, eraser)
        except MemoryNotFound:
            held, anew = [], False
        except SpindleError as error:
            if error.exit_status != 7:
                raise
            if not write:
                return len(aside) + 1
            aside.append(self._store.rebuild().kept)
            held, anew = self._held(eraser), True
        count = len(held) + len(aside)
        if write and held:
            with self._store.write() as txn:
                for item in held:
                    txn.remove(item)
        if write and anew:
            aside.append(self._store.rebuild().kept)
        for path in aside if write else ():
            self._remove(path)
        return count

    def _held(self, eraser: Eraser) -> list[Item]:
        with self._store.read() as txn:
            return [item for item in txn.everything() if _holds(item, eraser)]

    def _aside(self) -> Iterator[str]:
        folder, name = os.path.split(self.path)
        stem = name.removesuffix(".sqlite3") + ".kept-"
        try:
            found = sorted(os.listdir(folder))
        except OSError:
            return
        for one in found:
            if one.startswith(stem) and one.endswith(".sqlite3"):
                yield os.path.join(folder, one)

    def _remove(self, path: str) -> None:
        try:
            for tail in ("", "-wal", "-shm", "-journal"):
                if os.path.lexists(path + tail):
                    os.unlink(path + tail)
            sync_folder(os.path.dirname(path))
        except OSError as error:
            raise translated(error, path) from error


def _in_files(path: str, eraser: Eraser) -> bool:
    """Whether a database, or the log beside it, holds a text."""
    there = (one for one in (path, path + "-wal") if os.path.exists(one))
    return any(holds(one, eraser) for one in there)


def _holds(item: Item, eraser: Eraser) -> bool:
    texts = (item.text, item.by, item.session, item.source, item.key, *item.labels)
    return any(eraser.is_in(one) for one in texts)
