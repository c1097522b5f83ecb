"""Safety copies: whole ledgers put aside beside the ledger, before a restore and once a day.

One process at a time makes copies, under a name of its own, so that whatever lies under that name
is what a killed one left.  A daily copy is inspected before it gets its true name, and only then
the oldest goes: damage never pushes out the copies from before it.

Copying reads one snapshot and holds no lock that a writer waits for, but with a rollback journal,
where a commit waits until the pages are read.
"""

from __future__ import annotations

import os

from ..core import instant
from ..core.value import Value
from ..errors import StoreBusy, StoreFull, in_words
from .driver import driver, translated, translated_copy
from .private import make_folder, sync_folder
from .private import translated as translated_os
from .sqlite import BACKUPS, SqliteStore, copy_due, copy_tried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DAILY, RESTORE = "daily", "restore"
"""The occasions of copies, with which their names begin."""

KEPT = 3
"""How many copies from before a restore stay."""

_MAKING = "copy.part"
_SUFFIX = ".sqlite3"
_SPARE = 16 * 1024 * 1024
"""Bytes that must stay free on the disk beside a daily copy."""


class Copies(Value):
    """The daily copies of a ledger: their folder, their days, and why none is made, if so."""

    folder: str
    days: tuple[str, ...]
    problem: str


def copies(path: str, keep: int, most_mb: int) -> Copies:
    """What there is of daily copies of the ledger at ``path``, under these settings."""
    folder = _folder(path)
    days = tuple(one[len(DAILY) + 1 : -len(_SUFFIX)] for one in _names(folder, DAILY))
    problem = ""
    if not keep:
        problem = "switched off by the setting daily_copies"
    elif (size := _size(path)) > most_mb << 20:
        problem = (
            f"the ledger has {-(-size >> 20)} MiB, and the setting daily_copy_mb allows {most_mb}"
        )
    return Copies(folder, days, problem)


def before_restore(store: SqliteStore, now: int) -> str:
    """A copy of the ledger as it is; the newest :data:`KEPT` of its kind stay.  Its path."""
    from .lock import Lock

    folder = _folder(store.path)
    make_folder(folder)
    with Lock(folder + ".lock", store.wait):
        made = _made(store, folder, f"{RESTORE}-{now}")
        _let_go(folder, _names(folder, RESTORE)[:-KEPT])
    return made


def daily(store: SqliteStore, now: int, *, keep: int, most_mb: int) -> str:
    """The copy of the day (UTC) of ``now``; the newest ``keep`` stay.  Its path.

    Empty, and nothing done, if this day has one, if another process is making one, or if the ledger
    is larger than ``most_mb``.  StoreCorrupt if the ledger is damaged: then the older ones stay as
    they are.  StoreFull if the copy would leave the disk without room.  Whatever came of it, it is
    not tried again on this day, unless the process is stopped.
    """
    if not copy_due(store.path, now):
        return ""
    from .lock import Lock

    folder = _folder(store.path)
    made = ""
    try:
        size = _size(store.path)
        if size <= most_mb << 20:
            make_folder(folder)
            with Lock(folder + ".lock", 0):
                made = _of_today(store, folder, now, keep, size)
    except StoreBusy:
        return ""  # another process is at it
    except Exception:
        copy_tried(store.path, now)
        raise
    copy_tried(store.path, now)
    return made


def attempt(store: SqliteStore, now: int, keep: int, most_mb: int) -> str:
    """Make the daily copy; why there is none, or empty if all is well.  Nothing is raised."""
    try:
        daily(store, now, keep=keep, most_mb=most_mb)
    except KeyboardInterrupt:
        return ""  # what was asked for is done, and the next write tries again
    except OSError as error:
        return in_words(error)
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


def _of_today(store: SqliteStore, folder: str, now: int, keep: int, size: int) -> str:
    from .backup import check_sound

    day = instant.iso(now)[:10]
    name = f"{DAILY}-{day}"
    made = ""
    if not os.path.lexists(os.path.join(folder, name + _SUFFIX)):
        room = os.statvfs(folder)
        if room.f_bavail * room.f_frsize < 2 * size + _SPARE:
            raise StoreFull(f"There is too little room in {folder} for a copy of {size} bytes")
        made = _made(store, folder, name, check_sound)
    # A day that is yet to come was written under a wrong clock: it goes before those of the past.
    others = [one for one in _names(folder, DAILY) if one != name + _SUFFIX]
    others.sort(key=lambda one: (one < name, one))
    _let_go(folder, others[: max(0, len(others) + 1 - keep)])
    return made


def _made(
    store: SqliteStore,
    folder: str,
    name: str,
    check: Callable[[SqliteStore], object] = bool,
) -> str:
    """A copy under ``name``, whole from the moment that it appears; for the holder of the lock."""
    from .schema import copy_to

    path = os.path.join(folder, name + _SUFFIX)
    aside = os.path.join(folder, _MAKING)
    _clear(aside)
    try:
        try:
            try:
                copy_to(store.open_reader(), aside)
            except driver.Error as error:
                raise translated_copy(error, store.path, aside) from error
            copied = SqliteStore(aside)
            try:
                check(copied)
            finally:
                copied.close()
            os.replace(aside, path)
        except BaseException:
            _clear(aside)  # on a full disk above all
            raise
        sync_folder(folder)
    except driver.Error as error:
        raise translated(error, store.path) from error
    except OSError as error:
        raise translated_os(error, path) from error
    return path


def _folder(path: str) -> str:
    return os.path.join(os.path.dirname(path), BACKUPS)


def _names(folder: str, kind: str) -> list[str]:
    """The copies of a kind, the oldest first; what else lies there is not ours to count."""
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    return sorted(
        one
        for one in found
        if one.startswith(kind + "-")
        and one.endswith(_SUFFIX)
        and one[len(kind) + 1 : -len(_SUFFIX)].replace("-", "").isdigit()
    )


def _let_go(folder: str, names: list[str]) -> None:
    for name in names:
        os.unlink(os.path.join(folder, name))


def _clear(aside: str) -> None:
    """Remove a copy in the making, with what SQLite may have had beside it."""
    for left in (aside, aside + "-journal", aside + "-wal", aside + "-shm"):
        if os.path.lexists(left):
            os.unlink(left)


def _size(path: str) -> int:
    """The bytes of a ledger, those in its log included."""
    size = 0
    for one in (path, path + "-wal"):
        try:
            size += os.stat(one).st_size
        except OSError:
            continue
    return size
