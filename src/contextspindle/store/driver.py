"""The database driver, loaded lean.

``sqlite3`` adds converters that are not used here, and loads ``datetime`` for them; its C part is
enough.  That part in turn asks ``functools`` for ``lru_cache`` when it is loaded, and ``functools``
brings ``collections`` with it: together more than the database itself.  So while it loads, a
stand-in offers the same cache from the C module beneath ``functools``; it is gone before anybody
else looks.  Where any of this is not as CPython has it, the public module serves.
"""

from __future__ import annotations

import os
import sys

from ..errors import (
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _sqlite3 as driver
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from ..errors import StoreError

    __all__ = ["driver", "no_space", "translated", "translated_copy"]


class _LeanFunctools:
    """What the driver takes from ``functools``: nothing but a cache of prepared statements."""

    @staticmethod
    def lru_cache(maxsize: int) -> Callable[[Any], Any]:
        wrapper = __import__("_functools")._lru_cache_wrapper  # noqa: SLF001 (the part it wraps)
        return lambda function: wrapper(function, maxsize, False, tuple)


def load() -> ModuleType:
    """The driver module; lean if this interpreter allows it."""
    if "functools" in sys.modules or "_sqlite3" in sys.modules:
        return __import__("_sqlite3")
    sys.modules["functools"] = _LeanFunctools  # type: ignore[assignment]
    try:
        found = __import__("_sqlite3")
        connection = found.connect(":memory:")
        connection.execute("SELECT 1").fetchone()
        connection.close()
    except Exception:  # pragma: no cover (another implementation)
        sys.modules.pop("_sqlite3", None)
        del sys.modules["functools"]
        return __import__("sqlite3")
    del sys.modules["functools"]
    return found


if not TYPE_CHECKING:
    driver = load()

# Result codes of SQLite, https://www.sqlite.org/rescode.html
BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB = 5, 6, 8, 10, 11, 13, 14, 26


LONG_PATH = 480
"""SQLite takes 512 bytes, with what it and we put behind a name while a file is made."""

DAMAGE = (driver.Error, UnicodeDecodeError)
"""What reading a database can raise: bytes that are no text are damage as well."""


def translated(error: Exception, path: str) -> StoreError:
    """The error to raise for what SQLite said."""
    if isinstance(error, UnicodeDecodeError):
        return StoreCorrupt(f"{path} is damaged: {error}")
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (BUSY, LOCKED):
        return StoreBusy(f"Another process is writing {path}; nothing was written")
    if code == READONLY:
        return StoreReadOnly(f"{path} cannot be written here")
    if code == FULL or (code in (IOERR, CANTOPEN) and no_space(path)):
        return StoreFull(f"The disk of {path} is full; nothing was written")
    if code in (CORRUPT, NOTADB):
        return StoreCorrupt(f"{path} is damaged: {error}")
    length = len(os.fsencode(path))
    if code == CANTOPEN and length > LONG_PATH:
        return StoreUnavailable(
            f"No database can be opened under a path of {length} bytes: {path}",
            hint=f"Use a folder with a shorter path; {LONG_PATH} bytes in all are safe.",
        )
    return StoreUnavailable(f"{path}: {error}")


def translated_copy(error: driver.Error, source: str, target: str) -> StoreError:
    """The error to raise for what SQLite said while it copied one file to another."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    of_target = code in (FULL, CANTOPEN) or (code == IOERR and no_space(target))
    return translated(error, target if of_target else source)


def no_space(path: str) -> bool:
    """Whether the disk is full: SQLite only says so of a write, not of a file that it opens."""
    try:
        found = os.statvfs(os.path.dirname(path) or ".")
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < 64 * 1024 or (found.f_files > 0 and not found.f_favail)
