"""The ledger file: made whole or not at all, and led from any older schema to this one."""

from __future__ import annotations

import os

from . import mounts
from .driver import driver
from .lock import Lock
from .private import FILE_MODE, make_folder, sync_folder
from .sqlite import BACKUPS, SCHEMA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

APPLICATION_ID = 0x43535044
"""Marks the file as a ledger of ContextSpindle ("CSPD"), for ``file`` and for us."""

HERE = os.path.dirname(os.path.abspath(__file__))


def script(name: str) -> str:
    """The text of one of the package's SQL files."""
    with open(os.path.join(HERE, name), encoding="utf-8") as source:
        return source.read()


def migrations() -> list[str]:
    """The SQL of each migration, the first one making the first schema."""
    return [script(f"migrations/{number:04d}.sql") for number in range(1, SCHEMA + 1)]


def run_script(connection: driver.Connection, sql: str) -> None:
    """Every statement of ``sql`` in the open transaction, which ``executescript`` would end."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if line.rstrip().endswith(";") and driver.complete_statement(statement):
            connection.execute(statement)
            statement = ""
    connection.execute(statement)  # what is left: nothing, a comment, or a last one without its end


def create(path: str, journal: str) -> bool:
    """An empty ledger at ``path``.  False if there was one; a half-made one never appears.

    ``journal`` is ``wal``, ``rollback``, or ``auto``: by the mount that the path is on.
    """
    folder = os.path.dirname(path)
    make_folder(folder)
    with Lock(path + ".lock"):
        if os.path.exists(path):
            return False
        fresh = path + ".new"
        for left in (fresh, fresh + "-wal", fresh + "-shm", fresh + "-journal"):
            if os.path.lexists(left):
                os.unlink(left)
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
        connection = driver.connect(fresh, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            run_script(connection, script("schema.sql"))
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={SCHEMA}")
            connection.execute("COMMIT")
            # Only now: what a write-ahead log still held would not be renamed with the file.
            connection.execute(f"PRAGMA journal_mode={journal_mode(folder, journal)}").fetchall()
        finally:
            connection.close()
        handle = os.open(fresh, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        os.rename(fresh, path)
        sync_folder(folder)
    return True


def journal_mode(folder: str, wanted: str) -> str:
    """SQLite's name of the journal to use in ``folder``: ``WAL`` or ``DELETE``."""
    if wanted == "auto":
        unsafe = mounts.needs_rollback_journal(mounts.file_system(folder))
        return "DELETE" if unsafe else "WAL"
    return "WAL" if wanted == "wal" else "DELETE"


def migrate(connection: driver.Connection, path: str, steps: Sequence[str] | None = None) -> None:
    """Lead the ledger to the newest schema: once, under the lock, after a copy was put aside.

    All steps are one transaction, so a step that fails leaves the file as it was.
    """
    steps = migrations() if steps is None else steps
    with Lock(path + ".lock"):
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if version >= len(steps):
            return  # another process was first
        _put_copy_aside(connection, path, version)
        connection.execute("BEGIN IMMEDIATE")
        try:
            for step in steps[version:]:
                run_script(connection, step)
            connection.execute(f"PRAGMA user_version={len(steps)}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def copy_to(source: driver.Connection, path: str) -> None:
    """A copy of an open ledger at ``path``: one synced file, without a write-ahead log."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
    copy = driver.connect(path, isolation_level=None)
    try:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE").fetchall()
    finally:
        copy.close()
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def _put_copy_aside(connection: driver.Connection, path: str, version: int) -> None:
    folder = os.path.join(os.path.dirname(path), BACKUPS)
    make_folder(folder)
    # A copy that an earlier, failed try left may lack what was written since: this one replaces it.
    target = os.path.join(folder, f"before-schema-{version + 1}.sqlite3")
    fresh = target + ".new"
    if os.path.lexists(fresh):
        os.unlink(fresh)
    copy_to(connection, fresh)
    os.rename(fresh, target)
    sync_folder(folder)
