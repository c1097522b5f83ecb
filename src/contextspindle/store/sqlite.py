"""The ledger in one SQLite file, embedded, durable at every commit.

A writer queues at the lock, then holds SQLite's own write lock for one transaction that ends in a
synced commit.  A reader takes no lock and creates nothing.  A short-lived process leaves the
write-ahead log where it is: folding it back at close would cost three times the write itself.  A
commit that finds it grown folds it back.
"""

from __future__ import annotations

import os
import sys

from ..errors import (
    SchemaTooNew,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
    WorkspaceNotFound,
)
from . import private
from .driver import CANTOPEN, READONLY, driver, no_space, translated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..errors import NotFound
    from .sqlite_read import SqliteRead
    from .sqlite_write import SqliteWrite

SCHEMA = 3
"""The schema version that this program reads and writes."""

BACKUPS = "safety"
"""The folder beside a ledger in which copies of it are put aside."""

JOURNAL = "-journal"
"""What stands behind the name of a rollback journal: there while somebody writes, or was killed."""

LOG_BYTES = 4 * 1024 * 1024
"""How long the write-ahead log may grow before it is folded back and emptied."""

WAIT_SECONDS = 5.0
"""How long a writer waits for its turn."""

LOG_LIMIT = 4 * 1024 * 1024
"""The most bytes that a write-ahead log keeps once it is folded back: as much as it grows to."""


DAY_NS = 86_400_000_000_000


def copy_due(path: str, now: int) -> bool:
    """Whether no daily copy of the ledger at ``path`` was tried on the day (UTC) of ``now``.

    The side file at which writers queue says so by its time of change, because it is there anyway:
    the day on which a copy was tried last, or on which the ledger was made.  It costs one ``stat``.
    """
    try:
        return os.stat(path + ".lock").st_mtime_ns // DAY_NS != now * 1_000_000 // DAY_NS
    except OSError:
        return False


def copy_tried(path: str, now: int) -> None:
    """Note that a daily copy was tried at ``now``."""
    os.utime(path + ".lock", ns=(now * 1_000_000,) * 2)


def version_of(connection: driver.Connection, path: str) -> int:
    """The schema version of an open ledger.  SchemaTooNew; StoreCorrupt if it is no ledger."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA:
        raise SchemaTooNew(
            f"{path} has schema {version}; this program knows schemas up to {SCHEMA}",
            found=version,
            known=SCHEMA,
        )
    if version < 1:
        raise StoreCorrupt(f"{path} is not a ledger of ContextSpindle")
    return version


class SqliteStore:
    """A ledger file.  Connections are opened when first needed, and belong to one thread."""

    newest = SCHEMA
    """The schema that a file is led to when it is opened."""

    def __init__(
        self,
        path: str,
        *,
        wait: float = WAIT_SECONDS,
        wrote: Callable[[], object] = bool,
        missing: str = WorkspaceNotFound.hint,
    ) -> None:
        """``wrote`` is called after each commit, when the lock has been given back.

        ``missing`` is what to do where there is no ledger.
        """
        self._path = path
        self._missing = missing
        self.wait = wait
        self.wrote = wrote
        self._reader: driver.Connection | None = None
        self._writer: driver.Connection | None = None

    @property
    def path(self) -> str:
        """Where the ledger is."""
        return self._path

    def create(self, journal: str = "auto") -> bool:
        """An empty ledger, if there is none yet.  False if there was one."""
        for place in (os.path.dirname(self._path), self._path):
            private.refuse_link(place)
        from . import schema

        try:
            return schema.create(self._path, journal)
        except driver.Error as error:
            raise translated(error, self._path) from error
        except OSError as error:
            raise private.translated(error, self._path) from error

    def journal(self) -> str:
        """The journal in use: ``wal``, or ``delete`` for a rollback journal."""
        try:
            found: str = self.open_reader().execute("PRAGMA journal_mode").fetchone()[0]
        except driver.Error as error:
            raise translated(error, self._path) from error
        return found

    def check_scrub(self) -> None:
        """Nothing, if :meth:`scrub` could be done now.

        StoreBusy if a reader keeps it back for as long as a writer waits.
        """
        self._alone(rebuild=False)

    def scrub(self) -> None:
        """The file and its search index made anew, the log emptied: only what is stored is left.

        StoreBusy, and all that is committed stands, if a reader keeps it back.
        """
        self._alone(rebuild=True)

    def _alone(self, *, rebuild: bool) -> None:
        from .lock import Lock

        try:
            with Lock(self._path + ".lock", self.wait):
                writer = self.open_writer()
                if rebuild:
                    self._rebuild(writer)
                    writer.execute("VACUUM")
                ((kept, _, _),) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except driver.Error as error:
            raise translated(error, self._path) from error
        if kept:
            raise StoreBusy(f"Another process is reading {self._path}; nothing was written")

    def _rebuild(self, writer: driver.Connection) -> None:
        """The search index made anew from its texts, and the list of words from both."""
        from ..core.search import listed

        writer.execute("BEGIN IMMEDIATE")
        try:
            # The index keeps words of what was replaced until it happens to be merged.
            writer.execute("INSERT INTO search (search) VALUES ('rebuild')")
            writer.execute(
                "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab ('main', 'search', 'row')"
            )
            writer.execute("DELETE FROM words")
            writer.execute(
                "INSERT INTO words (word, again) SELECT term, term FROM temp.vocabulary"
                " WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE id = 't-' || term)"
            )
            writer.execute("DROP TABLE temp.vocabulary")
            # Of newer scripts the index knows fewer letters than we do, and fewer words therefore.
            texts = writer.execute(
                "SELECT c0, c1, c2, c3, c4 FROM search_content"
                " WHERE length(c0 || c1 || c2 || c3 || c4)"
                " <> length(CAST(c0 || c1 || c2 || c3 || c4 AS BLOB))"
            )
            writer.executemany(
                "INSERT OR IGNORE INTO words (word, again) VALUES (?, ?)",
                ((word, word) for row in texts for word in listed(row)),
            )
            writer.execute("COMMIT")
        finally:
            if writer.in_transaction:
                writer.execute("ROLLBACK")

    def open_checker(self) -> driver.Connection | None:
        """A connection of its own on which :meth:`check_search_index` may ask.

        None where the file can only be read.  Nothing is written with it.
        """
        connection = None
        try:
            connection = self._try("rw")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except driver.Error:
            if connection:
                connection.close()
            return None
        return connection

    def check_search_index(self, connection: driver.Connection) -> None:
        """Nothing, if the search index fits the texts it was made from; else StoreCorrupt.

        SQLite has a command for it that looks like a write.
        """
        try:
            try:
                connection.execute("BEGIN")
                connection.execute("INSERT INTO search (search) VALUES ('integrity-check')")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except driver.Error as error:
            raise translated(error, self._path) from error

    def read(self) -> SqliteRead:
        """A snapshot of the ledger, for a ``with`` block."""
        from .sqlite_read import SqliteRead

        return SqliteRead(self)

    def write(self) -> SqliteWrite:
        """A transaction on the ledger, for a ``with`` block."""
        from .sqlite_write import SqliteWrite

        return SqliteWrite(self)

    def close(self) -> None:
        """Give the file back; the store may be used again."""
        # The reader last: it cannot fold the log, and while it is there a writer does not either.
        # A file that somebody has written over meanwhile would get what was there before.
        for connection in (self._writer, self._reader):
            if connection:
                connection.close()
        self._reader = self._writer = None

    def open_reader(self) -> driver.Connection:
        if not self._reader:
            self._reader = self._connect("ro")
        return self._reader

    def begin(self, connection: driver.Connection, how: str) -> None:
        """Begin a transaction on an open connection, by the statement ``how``.

        SchemaTooNew if a newer program has led the file on since it was opened: it is looked at
        within the transaction, after which nobody can.
        """
        for last in (False, True):
            connection.execute(how)
            try:
                self.version(connection)
                return
            except BaseException as error:
                connection.execute("ROLLBACK")
                if last or not self._is_interrupted(error):
                    raise
            self._undo()

    def open_writer(self) -> driver.Connection:
        if not self._writer:
            connection = self._connect("rw")
            # A commit is on the medium before it is acknowledged.
            connection.execute("PRAGMA synchronous=FULL")
            # A log that grew while somebody read for long is cut when it is begun anew.
            connection.execute(f"PRAGMA journal_size_limit={LOG_LIMIT}")
            if sys.platform == "darwin":
                connection.execute("PRAGMA fullfsync=1")
            self._writer = connection
        return self._writer

    def fold(self) -> None:
        """The write-ahead log folded back and emptied, if it has grown and no reader needs it.

        For the caller that holds the lock of all writers.  What a reader keeps from being emptied
        now is tried again at the next commit.
        """
        try:
            grown = os.stat(self._path + "-wal").st_size > LOG_BYTES
        except OSError:
            return  # a rollback journal
        if grown and self._writer:
            self._writer.execute("PRAGMA busy_timeout=20")
            try:
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except driver.Error:
                pass  # the commit stands in the log all the same
            self._writer.execute(f"PRAGMA busy_timeout={int(self.wait * 1_000)}")

    def _connect(self, mode: str) -> driver.Connection:
        for place in (os.path.dirname(self._path), self._path):
            private.refuse_link(place)
        if not os.path.exists(self._path):
            raise self.absent()
        connection = self._try(mode)
        try:
            version = self._version(connection)
            if version is None and os.path.exists(self._path + JOURNAL):
                connection.close()
                self._undo()
                connection = self._try(mode)
                version = self._version(connection)
            if version is None:
                # In a folder that cannot be written, a file without a log is read as it stands.
                connection.close()
                connection = self._try(mode + "&immutable=1" if mode == "ro" else mode)
                version = self._version(connection)
            if version is None:
                raise self._unopened(mode)
            if version < self.newest:
                self._migrate(connection if mode == "rw" else None)
        except BaseException:
            connection.close()
            raise
        return connection

    def _unopened(self, mode: str) -> StoreError:
        """The error for a file that was not opened in ``mode``, though it is there."""
        if mode == "ro":
            return StoreUnavailable(f"{self._path} cannot be read in this folder")
        if no_space(self._path):
            return StoreFull(f"The disk of {self._path} is full; nothing was written")
        return StoreReadOnly(f"{self._path} cannot be written here")

    def _migrate(self, writer: driver.Connection | None) -> None:
        """Lead the file to the newest schema, by ``writer`` or a connection for that alone."""
        from . import schema

        connection = writer or self._try("rw")
        try:
            schema.migrate(connection, self._path)
        except OSError as error:
            raise private.translated(error, self._path) from error
        finally:
            if not writer:
                connection.close()

    def _is_interrupted(self, error: BaseException) -> bool:
        """Whether a reader failed because a writer was killed in the middle of its work."""
        return (
            isinstance(error, driver.OperationalError)
            and error.sqlite_errorcode & 0xFF == READONLY
            and os.path.exists(self._path + JOURNAL)
        )

    def _undo(self) -> None:
        """What a killed writer left half done, undone, which only who may write can.

        Until then nothing may be read: what it had written was never committed.
        """
        writer = self._try("rw")
        try:
            writer.execute("PRAGMA user_version").fetchone()
        except driver.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (CANTOPEN, READONLY):
                raise
            raise StoreUnavailable(
                f"A write to {self._path} was interrupted; only who may write there can undo it",
                hint="Run any command of ours as the user whose file it is.",
            ) from error
        finally:
            writer.close()

    def absent(self) -> NotFound:
        """The error for a file that is not there."""
        return WorkspaceNotFound(f"There is no ledger at {self._path}", hint=self._missing)

    def version(self, connection: driver.Connection) -> int:
        """The schema version of the open file; see :func:`version_of`."""
        return version_of(connection, self._path)

    def _try(self, mode: str) -> driver.Connection:
        name = self._path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = driver.connect(
            f"file:{name}?mode={mode}", uri=True, isolation_level=None, timeout=self.wait
        )
        if sys.version_info >= (3, 12):
            # From the beginning: a file that is refused is left as it is.
            connection.setconfig(driver.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
        return connection

    def _version(self, connection: driver.Connection) -> int | None:
        try:
            return self.version(connection)
        except driver.OperationalError as error:
            code = error.sqlite_errorcode & 0xFF
            log = self._path + "-wal"
            if code in (CANTOPEN, READONLY) and not (os.path.exists(log) and os.path.getsize(log)):
                return None
            raise
