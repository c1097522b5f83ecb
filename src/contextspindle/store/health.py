"""A quick look at a ledger or a memory: is it one, does it open, is its file sound?

Nothing is written, and nothing is led to a newer schema.  What takes longer, and sees more, is
:mod:`.inspect` for the ledger and :mod:`.memory_check` for the memory.
"""

from __future__ import annotations

import os

from ..core.value import Value
from .driver import DAMAGE, driver, translated
from .memory import MemoryStore
from .memory_read import MISREAD, said
from .sqlite import SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

QUICK_BYTES = 128 * 1024 * 1024
"""Of a larger file only the head and what opening it needs are looked at."""


class Health(Value):
    """What a quick look found; a damaged file raises instead."""

    schema: int
    newest: int
    """The schema that this program writes."""
    journal: str
    bytes: int
    log_bytes: int
    held: int
    """Tasks of a ledger, items of a memory."""
    findings: tuple[str, ...]
    looked: bool
    """Whether the whole file was looked at."""


class _Ledger(SqliteStore):
    """A ledger that is read as it is: the usual store would bring an older one up to date."""

    newest = 0


def of_ledger(path: str) -> Health:
    """The health of the ledger at ``path``.

    WorkspaceNotFound if there is none; StoreCorrupt, SchemaTooNew and what else reading raises.
    """
    store = _Ledger(path)
    try:
        connection = store.open_reader()
        ((count,),) = connection.execute("SELECT coalesce(sum(count), 0) FROM totals").fetchall()
        return _looked_at(store, connection, SqliteStore.newest, count)
    except DAMAGE as error:
        raise translated(error, path) from error
    finally:
        store.close()


def of_memory(path: str) -> Health:
    """The health of the memory at ``path``.

    MemoryNotFound if there is none; MemoryDamaged, SchemaTooNew and what else reading raises.
    """
    store = MemoryStore(path)
    try:
        with store.read() as txn:
            return _looked_at(store, txn.connection, MemoryStore.newest, txn.state["items"])
    except (driver.Error, *MISREAD) as error:
        raise said(error, path) from error
    finally:
        store.close()


def has_search() -> bool:
    """Whether this SQLite can search texts (FTS5), which a ledger cannot do without."""
    connection = driver.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except driver.Error:
        return False
    finally:
        connection.close()
    return True


def sqlite_version() -> str:
    """The version of SQLite that is in use."""
    found: str = driver.sqlite_version
    return found


def _looked_at(store: SqliteStore, connection: driver.Connection, newest: int, held: Any) -> Health:
    def value(pragma: str) -> Any:
        return connection.execute(f"PRAGMA {pragma}").fetchone()[0]

    size = size_of(store.path)
    lines: list[str] = []
    if looked := size <= QUICK_BYTES:
        lines = [line for (line,) in connection.execute("PRAGMA quick_check(3)") if line != "ok"]
    return Health(
        schema=value("user_version"),
        newest=newest,
        journal="wal" if value("journal_mode") == "wal" else "rollback",
        bytes=size,
        log_bytes=size_of(store.path + "-wal"),
        held=held,
        findings=tuple(lines),
        looked=looked,
    )


def size_of(path: str) -> int:
    """The bytes of a file; 0 if there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
