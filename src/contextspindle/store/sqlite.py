"""The ledger in one SQLite file, embedded, durable at every commit.

A writer queues at the lock, then holds SQLite's own write lock for one transaction that ends in a
synced commit.  A reader takes no lock and creates nothing.  A short-lived process leaves the
write-ahead log where it is: folding it back at close would cost three times the write itself, and
SQLite folds it back by itself when it has grown.
"""

from __future__ import annotations

import os
import sys

from ..core import task
from ..errors import (
    AmbiguousId,
    SchemaTooNew,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
    TaskNotFound,
    WorkspaceNotFound,
)
from . import private
from .driver import driver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from ..core.change import Change
    from ..core.task import Brief, Page, Related, Summary, Task
    from ..errors import StoreError

SCHEMA = 1
"""The schema version that this program reads and writes."""

WAIT_SECONDS = 5.0
"""How long a writer waits for its turn."""

# Result codes of SQLite, https://www.sqlite.org/rescode.html
_BUSY, _LOCKED, _READONLY, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 5, 6, 8, 10, 11, 13, 14, 26

_SUMMARY = "id, version, status, priority, parent, updated, goal, next, blocker, owner, cut"


def translated(error: driver.Error, path: str) -> StoreError:
    """The error to raise for what SQLite said."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (_BUSY, _LOCKED):
        return StoreBusy(f"Another process is writing {path}; nothing was written")
    if code == _READONLY:
        return StoreReadOnly(f"{path} cannot be written here")
    if code == _FULL or (code in (_IOERR, _CANTOPEN) and _no_space(path)):
        return StoreFull(f"The disk of {path} is full; nothing was written")
    if code in (_CORRUPT, _NOTADB):
        return StoreCorrupt(f"{path} is damaged: {error}")
    return StoreUnavailable(f"{path}: {error}")


def _no_space(path: str) -> bool:
    """Whether the disk is full: SQLite only says so of a write, not of a file that it opens."""
    try:
        found = os.statvfs(os.path.dirname(path) or ".")
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < 64 * 1024 or (found.f_files > 0 and not found.f_favail)


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

    def __init__(self, path: str, *, wait: float = WAIT_SECONDS) -> None:
        self._path = path
        self.wait = wait
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

    def read(self) -> SqliteRead:
        """A snapshot of the ledger, for a ``with`` block."""
        return SqliteRead(self)

    def write(self) -> SqliteWrite:
        """A transaction on the ledger, for a ``with`` block."""
        return SqliteWrite(self)

    def close(self) -> None:
        """Give the file back; the store may be used again."""
        for connection in (self._reader, self._writer):
            if connection:
                connection.close()
        self._reader = self._writer = None

    def open_reader(self) -> driver.Connection:
        if not self._reader:
            self._reader = self._connect("ro")
        return self._reader

    def open_writer(self) -> driver.Connection:
        if not self._writer:
            connection = self._connect("rw")
            # A commit is on the medium before it is acknowledged.
            connection.execute("PRAGMA synchronous=FULL")
            if sys.platform == "darwin":
                connection.execute("PRAGMA fullfsync=1")
            self._writer = connection
        return self._writer

    def _connect(self, mode: str) -> driver.Connection:
        for place in (os.path.dirname(self._path), self._path):
            private.refuse_link(place)
        if not os.path.exists(self._path):
            raise WorkspaceNotFound(f"There is no ledger at {self._path}")
        connection = self._try(mode)
        version = self._version(connection)
        if version is None:
            # In a folder that cannot be written, a file without a log is read as it stands.
            connection.close()
            connection = self._try(mode + "&immutable=1" if mode == "ro" else mode)
            version = self._version(connection)
            if version is None and mode == "rw":
                raise StoreReadOnly(f"{self._path} cannot be written here")
            if version is None:
                raise StoreUnavailable(f"{self._path} cannot be read in this folder")
        if version < SCHEMA:
            from . import schema

            writer = connection if mode == "rw" else self._try("rw")
            try:
                schema.migrate(writer, self._path)
            except OSError as error:
                raise private.translated(error, self._path) from error
            if writer is not connection:
                writer.close()
        if sys.version_info >= (3, 12):
            connection.setconfig(driver.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
        return connection

    def _try(self, mode: str) -> driver.Connection:
        name = self._path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        return driver.connect(
            f"file:{name}?mode={mode}", uri=True, isolation_level=None, timeout=self.wait
        )

    def _version(self, connection: driver.Connection) -> int | None:
        try:
            return version_of(connection, self._path)
        except driver.OperationalError as error:
            code = error.sqlite_errorcode & 0xFF
            log = self._path + "-wal"
            if code in (_CANTOPEN, _READONLY) and not (
                os.path.exists(log) and os.path.getsize(log)
            ):
                return None
            raise


class SqliteRead:
    """A read transaction; see :class:`.ports.ReadTxn` for what each method promises."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __enter__(self) -> SqliteRead:
        try:
            self._db = self._store.open_reader()
            self._db.execute("BEGIN")
        except driver.Error as error:
            raise translated(error, self._store.path) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        if isinstance(error, driver.Error):
            raise translated(error, self._store.path) from error

    def _one(self, sql: str, *values: Any) -> Any:
        return self._db.execute(sql, values).fetchone()

    def _all(self, sql: str, *values: Any) -> list[Any]:
        return self._db.execute(sql, values).fetchall()

    def _damaged(self, task_id: str, what: str) -> StoreCorrupt:
        return StoreCorrupt(
            f"Task {task_id} in {self._store.path} is damaged: {what}", task=task_id
        )

    # -- one task

    def task(self, task_id: str) -> Task:
        from ..core.canon import decode
        from ..core.digest import sha256

        row = self._one("SELECT version, digest, state FROM tasks WHERE id = ?", task_id)
        if not row:
            raise TaskNotFound(f"There is no task {task_id}")
        version, digest, state = row
        if sha256(state) != digest:
            raise self._damaged(task_id, "its state does not match its digest")
        try:
            found = task.from_document(decode(state))
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(task_id, f"its state cannot be read ({error})") from error
        if found.id != task_id or found.version != version:
            raise self._damaged(task_id, "its state is that of another task or version")
        return found

    def resolve(self, start: str) -> str:
        if self._one("SELECT 1 FROM tasks WHERE id = ?", start):
            return start
        # "{" comes right after the last letter that an id may hold.
        rows = self._all(
            "SELECT id FROM tasks WHERE id >= ? AND id < ? ORDER BY id LIMIT 6", start, start + "{"
        )
        if not rows:
            raise TaskNotFound(f"There is no task {start}")
        if len(rows) > 1:
            some = ", ".join(row[0] for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
            raise AmbiguousId(f"{start} is the start of several ids: {some}")
        found: str = rows[0][0]
        return found

    def brief(self, task_id: str) -> Brief | None:
        row = self._one("SELECT pk, status, goal, parent FROM tasks WHERE id = ?", task_id)
        if not row:
            return None
        needs = self._all(
            "SELECT id FROM tasks WHERE pk IN (SELECT needs FROM dependencies WHERE task = ?)",
            row[0],
        )
        return task.Brief(task_id, row[1], row[2], row[3] or "", tuple(one for (one,) in needs))

    def related(self, of: Task, limit: int) -> list[Related]:
        found = []
        if of.parent:
            found.append(self._neighbour("parent", of.parent))
        found += [self._neighbour("dependency", other) for other in of.dependencies[:limit]]
        try:
            children = self._all(
                "SELECT id FROM tasks WHERE parent = ? ORDER BY pk DESC LIMIT ?", of.id, limit
            )
        except driver.Error as error:
            return [
                *found,
                task.Related("children of", of.id, "", "", f"could not be read: {error}"),
            ]
        return found + [self._neighbour("child", child) for (child,) in children]

    def _neighbour(self, relation: str, task_id: str) -> Related:
        try:
            found = self.brief(task_id)
        except driver.Error as error:
            return task.Related(relation, task_id, "", "", f"could not be read: {error}")
        if not found:
            return task.Related(relation, task_id, "", "", "is missing")
        return task.Related(relation, task_id, found.status, found.goal)

    def changes(self, task_id: str, first: int, limit: int) -> list[Change]:
        from ..core import canon, change
        from ..core.digest import NONE, chained

        row = self._one("SELECT pk, version FROM tasks WHERE id = ?", task_id)
        if not row:
            raise TaskNotFound(f"There is no task {task_id}")
        pk, newest = row
        rows = self._all(
            "SELECT version, digest, body FROM changes"
            " WHERE task = ? AND version >= ? ORDER BY version LIMIT ?",
            *(pk, max(first - 1, 1), limit + (first > 1)),
        )
        found = []
        previous = NONE if first == 1 else ""
        for version, digest, body in rows:
            # The version before the first one wanted only lends its digest.
            if version >= first:
                if chained(task_id, previous, body) != digest:
                    raise self._damaged(task_id, f"the chain breaks at version {version}")
                found.append(change.from_document(canon.decode(body)))
                if found[-1].version != version:
                    raise self._damaged(task_id, f"version {version} says it is another")
            previous = digest
        if [one.version for one in found] != list(range(first, min(first + limit, newest + 1))):
            raise self._damaged(task_id, "a version is missing from its history")
        return found

    # -- lists

    def inbox(self, offset: int, limit: int) -> Page:
        totals = self._totals()
        rows: list[Any] = []
        skip = offset
        for status in task.LIVE:
            if skip < totals[status] and len(rows) < limit:
                rows += self._all(
                    f"SELECT {_SUMMARY} FROM tasks WHERE status = ?"  # noqa: S608 (our own columns)
                    " ORDER BY updated DESC, pk DESC LIMIT ? OFFSET ?",
                    *(status, limit - len(rows), skip),
                )
            skip = max(skip - totals[status], 0)
        return _page(rows, sum(totals[status] for status in task.LIVE), offset)

    def listing(
        self,
        offset: int,
        limit: int,
        *,
        status: tuple[str, ...] = (),
        owner: str = "",
        label: str = "",
        parent: str = "",
    ) -> Page:
        where = []
        values: list[Any] = []
        if status:
            where.append(f"status IN ({', '.join('?' * len(status))})")
            values += status
        if owner:
            where.append("owner = ? AND owner <> ''")  # the index holds only tasks that have one
            values.append(owner)
        if parent:
            where.append("parent = ?")
            values.append(parent)
        if label:
            where.append("pk IN (SELECT task FROM labels WHERE label = ?)")
            values.append(label)
        condition = " WHERE " + " AND ".join(where) if where else ""
        rows = self._all(
            f"SELECT {_SUMMARY} FROM tasks{condition} ORDER BY pk DESC LIMIT ? OFFSET ?",  # noqa: S608 (our own words)
            *(*values, limit, offset),
        )
        if owner or label or parent:
            (total,) = self._one(f"SELECT count(*) FROM tasks{condition}", *values)  # noqa: S608
        else:
            totals = self._totals()
            total = sum(totals[one] for one in status or task.STATUSES)
        return _page(rows, total, offset)

    def open_children(self, task_id: str) -> list[str]:
        rows = self._all(
            "SELECT id FROM tasks"
            " WHERE parent = ? AND status NOT IN ('done', 'cancelled') ORDER BY pk",
            task_id,
        )
        return [child for (child,) in rows]

    def creation(self, key: str) -> tuple[str, str] | None:
        row = self._one(
            "SELECT request, id FROM creations JOIN tasks ON pk = task WHERE key = ?", key
        )
        return (row[0], row[1]) if row else None

    def _totals(self) -> dict[str, int]:
        return dict(self._all("SELECT status, count FROM totals"))


class SqliteWrite(SqliteRead):
    """A write transaction; see :class:`.ports.WriteTxn`."""

    def __enter__(self) -> SqliteWrite:
        from .lock import Lock

        self._lock = Lock(self._store.path + ".lock", self._store.wait)
        try:
            # Opened first: it may have to migrate, and that takes the lock itself.
            self._db = self._store.open_writer()
            self._lock.__enter__()
            try:
                self._db.execute("BEGIN IMMEDIATE")
            except BaseException:
                self._lock.__exit__(None, None, None)
                raise
        except driver.Error as error:
            raise translated(error, self._store.path) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._db.execute("COMMIT")
        except driver.Error as refused:
            raise translated(refused, self._store.path) from refused
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._lock.__exit__(None, None, None)
        if isinstance(error, driver.Error):
            raise translated(error, self._store.path) from error

    def record(self, after: Task, step: Change) -> None:
        from ..core import change
        from ..core.digest import NONE, chained

        state = task.state_bytes(after)
        body = change.change_bytes(step)
        shown = task.summary(after)
        before = self._one("SELECT pk, head, status FROM tasks WHERE id = ?", after.id)
        head = chained(after.id, before[1] if before else NONE, body)
        columns = {
            "version": after.version,
            "status": after.status,
            "priority": after.priority,
            "updated": after.updated,
            "owner": after.owner,
            "parent": after.parent or None,
            "goal": shown.goal,
            "next": shown.next,
            "blocker": shown.blocker,
            "cut": ",".join(shown.cut),
            "head": head,
            "digest": step.state,
            "state": state,
        }
        if before:
            pk, _, old_status = before
            names = ", ".join(f"{name} = ?" for name in columns)
            self._db.execute(
                f"UPDATE tasks SET {names} WHERE pk = ?",  # noqa: S608 (our own columns)
                (*columns.values(), pk),
            )
        else:
            old_status = ""
            names = ", ".join(columns)
            marks = ", ".join("?" * len(columns))
            pk = self._db.execute(
                f"INSERT INTO tasks (id, unmet, {names}) VALUES (?, 0, {marks})",  # noqa: S608
                (after.id, *columns.values()),
            ).lastrowid
        self._db.execute(
            "INSERT INTO changes (task, version, digest, body) VALUES (?, ?, ?, ?)",
            (pk, step.version, head, body),
        )
        if "dependencies" in step.set:
            self._link(pk, after)
        if "labels" in step.set:
            self._db.execute("DELETE FROM labels WHERE task = ?", (pk,))
            self._db.executemany(
                "INSERT INTO labels (label, task) VALUES (?, ?)",
                [(one, pk) for one in after.labels],
            )
        if old_status != after.status:
            self._count(pk, old_status, after.status)

    def _link(self, pk: int, after: Task) -> None:
        self._db.execute("DELETE FROM dependencies WHERE task = ?", (pk,))
        self._db.executemany(
            "INSERT INTO dependencies (task, needs) SELECT ?, pk FROM tasks WHERE id = ?",
            [(pk, other) for other in after.dependencies],
        )
        self._db.execute(
            "UPDATE tasks SET unmet = (SELECT count(*) FROM dependencies AS d JOIN tasks AS n"
            " ON n.pk = d.needs WHERE d.task = ? AND n.status <> 'done') WHERE pk = ?",
            (pk, pk),
        )

    def _count(self, pk: int, old: str, new: str) -> None:
        self._db.execute("UPDATE totals SET count = count + 1 WHERE status = ?", (new,))
        if old:
            self._db.execute("UPDATE totals SET count = count - 1 WHERE status = ?", (old,))
        if (old == "done") != (new == "done"):
            self._db.execute(
                "UPDATE tasks SET unmet = unmet + ? WHERE pk IN"
                " (SELECT task FROM dependencies WHERE needs = ?)",
                (-1 if new == "done" else 1, pk),
            )

    def keep_creation(self, key: str, request: str, task_id: str) -> None:
        self._db.execute(
            "INSERT INTO creations (key, request, task) SELECT ?, ?, pk FROM tasks WHERE id = ?",
            (key, request, task_id),
        )


def _page(rows: list[Any], total: int, offset: int) -> Page:
    items = tuple(_summary(row) for row in rows)
    end = offset + len(items)
    return task.Page(items, total, end if items and end < total else None)


def _summary(row: Any) -> Summary:
    task_id, version, status, priority, parent, updated, *texts, cut = row
    shown = task.summary_of(
        task_id,
        version=version,
        status=status,
        priority=priority,
        parent=parent or "",
        updated=updated,
        texts=dict(zip(task.SUMMARY_LIMITS, texts)),
    )
    # The columns hold the texts as they were cut when written; only the owner is whole there.
    return shown._replace(cut=tuple(cut.split(",")) if cut else ())
