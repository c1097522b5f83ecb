"""A memory in one SQLite file: made whole, opened, taken apart when it is damaged.

It has its own file, so that whatever happens to it, the ledger does not notice.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.terms import Lexicon
from ..errors import MemoryDamaged, MemoryNotFound, SchemaTooNew
from . import private
from .driver import driver
from .memory_pages import BUCKETS, GRAMS, SESSIONS, WORDS, Pages, mark
from .memory_read import MemoryRead, said
from .sqlite import WAIT_SECONDS, SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.memory import Rebuilt
    from .memory_write import MemoryWrite

MEMORY_SCHEMA = 1
APPLICATION_ID = 0x4353504D
"""Marks the file as a memory of ContextSpindle ("CSPM")."""
PAGE = 2_048


class MemoryStore(SqliteStore):
    """A memory file.  Connections are opened when first needed, and belong to one thread."""

    newest = MEMORY_SCHEMA

    def __init__(self, path: str, journal: str = "auto", *, wait: float = WAIT_SECONDS) -> None:
        """``journal`` is that of a new file; see :func:`.schema.journal_mode`."""
        super().__init__(path, wait=wait)
        self.wanted_journal = journal
        self.lexicon = Lexicon()
        self._pages: Pages | None = None
        self._generation = -1
        self._inode = -1

    def create(self, journal: str = "") -> bool:
        """An empty memory, if there is none yet.  False if there was one."""
        if os.path.isfile(self.path) and not os.path.islink(self.path):
            return False
        from .lock import Lock

        folder = os.path.dirname(self.path)
        private.make_folder(folder)
        private.write_new(os.path.join(folder, ".gitignore"), b"*\n")
        private.refuse_link(self.path)
        with Lock(self.path + ".lock"):
            if os.path.lexists(self.path):
                return False
            try:
                make(self.path + ".new", folder, journal or self.wanted_journal)
                os.rename(self.path + ".new", self.path)
            except driver.Error as error:
                raise said(error, self.path) from error
            except OSError as error:
                raise private.translated(error, self.path) from error
            finally:
                clear(self.path + ".new", surely=False)
            private.sync_folder(folder)
        return True

    def absent(self) -> MemoryNotFound:
        return MemoryNotFound(f"There is no memory at {self.path}")

    def version(self, connection: driver.Connection) -> int:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        (kind,) = connection.execute("PRAGMA application_id").fetchone()
        if kind != APPLICATION_ID or version < 1:
            raise MemoryDamaged(f"{self.path} is not a memory of ContextSpindle")
        if version > MEMORY_SCHEMA:
            raise SchemaTooNew(
                f"{self.path} has schema {version}; this program knows {MEMORY_SCHEMA}",
                found=version,
                known=MEMORY_SCHEMA,
            )
        return version

    def open_reader(self) -> driver.Connection:
        self.check_place()
        # A writer's own connection reads as well, and knows by then what it wrote.
        return self._writer or super().open_reader()

    def open_writer(self) -> driver.Connection:
        self.check_place()
        return super().open_writer()

    def check_place(self) -> None:
        """Begin anew if another file is there by now: a rebuild puts a fresh one in its place.

        MemoryNotFound if there is none, before a lock is made for it.
        """
        try:
            inode = os.stat(self.path).st_ino
        except OSError:
            inode = -1
        if inode < 0 and not os.path.lexists(self.path):
            raise self.absent()
        if inode != self._inode:
            try:
                self.close()
            except driver.Error:
                self._reader = self._writer = None
            self._pages = None
            self._inode = inode

    def pages(self, connection: driver.Connection) -> Pages:
        """The pages as this connection sees them."""
        if self._pages is None or self._pages.connection is not connection:
            self._pages = Pages(connection, self.path)
            self._generation = -1
        return self._pages

    def forget(self) -> None:
        """Keep nothing of what was decoded; the file stays open."""
        if self._pages:
            self._pages.forget()

    def fresh(self, generation: int, *, ours: bool = False) -> None:
        """What was decoded stays, if it is of this generation or of our own making."""
        if generation != self._generation and not ours and self._pages:
            self._pages.forget()
        self._generation = generation

    def read(self) -> MemoryRead:  # type: ignore[override]  # another kind of transaction
        """A snapshot of the memory, for a ``with`` block."""
        return MemoryRead(self)

    def write(self) -> MemoryWrite:  # type: ignore[override]
        """A transaction on the memory, for a ``with`` block."""
        from .memory_write import MemoryWrite

        return MemoryWrite(self)

    def findings(self) -> list[str]:
        from .memory_check import findings

        return findings(self)

    def rebuild(self) -> Rebuilt:
        from .memory_check import rebuild

        return rebuild(self)


def clear(path: str, *, surely: bool = True) -> None:
    """No file of a memory at ``path``: what was begun and not finished takes no room.

    OSError if one cannot be taken away; nothing if that need not be ``surely``.
    """
    for left in (path, path + "-wal", path + "-shm", path + "-journal"):
        try:
            if os.path.lexists(left):
                os.unlink(left)
        except OSError:
            if surely:
                raise


def make(path: str, folder: str, journal: str) -> None:
    """An empty memory at ``path``, synced."""
    from .schema import journal_mode, run_script, script

    clear(path)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, private.FILE_MODE))
    connection = driver.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA page_size={PAGE}")
        connection.execute("BEGIN IMMEDIATE")
        run_script(connection, script("memory.sql"))
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={MEMORY_SCHEMA}")
        state = dict.fromkeys(
            "items gists pinned bytes seen merged shrunk dropped passages terms sessions"
            " number slot_rows free_session turn generation".split(),
            0,
        )
        # Session 0 is none, item 0 is none.
        data = canon.encode({**state, "next": 1, "free_slot": -1, "session_rows": 1})
        connection.execute("INSERT INTO state VALUES (1, ?, ?)", (data, mark(0, data)))
        empty = [(kind | at, b"{}") for kind in (WORDS, GRAMS) for at in range(BUCKETS)]
        empty.append((SESSIONS, b"\0" * 8 + b"\xff" * 8))
        connection.executemany(
            "INSERT INTO pages VALUES (?, ?, ?)", [(k, data, mark(k, data)) for k, data in empty]
        )
        connection.execute("COMMIT")
        connection.execute(f"PRAGMA journal_mode={journal_mode(folder, journal)}").fetchall()
    finally:
        connection.close()
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)
