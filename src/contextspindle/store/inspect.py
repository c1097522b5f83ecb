"""Looking whether a ledger file is sound: everything stored against everything it was made from.

Nothing is written.  What is found is told, one finding a place; a sound ledger has none.

One pass goes over the tasks and, beside them, over every table that speaks of tasks, all in the
order of the tasks: each task is read and decoded once, and nothing is held in memory.  The file
itself and the search index SQLite checks without the interpreter; of a large ledger in two threads
meanwhile.  That the index fits its own texts is a matter of damage, and always looked at; that the
texts are those of the state could only be a mistake of the program, and is looked at if deep.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.digest import NONE, bulk_sha256, sha256
from ..core.task import STATUSES
from ..core.value import Value
from ..errors import SpindleError, StoreBusy, StoreError, StoreReadOnly
from . import schema
from .driver import DAMAGE, driver, translated
from .sqlite import SqliteStore
from .sqlite_write import SPREAD, spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MOST_FINDINGS = 1_000
LARGE_BYTES = 4 * 1024 * 1024
"""From such a file on, threads and a faster digest pay for their start."""
CACHE_KIB = 64 * 1024
"""The pages of a large file that SQLite may keep: a check jumps between tables and indexes."""

_UNREADABLE = (*DAMAGE, ValueError, KeyError, TypeError, AttributeError, SpindleError)
_LEASE = ("claim_holder", "claim_mark", "claim_until", "claim_length", "claim_check")
_NO_LEASE = (None,) * len(_LEASE)
_END = 1 << 63
"""Behind every row number."""


class Finding(Value):
    """One thing that is not as it must be; ``task`` is empty if it concerns no single one."""

    kind: str
    task: str
    message: str


class Report(Value):
    """What an inspection looked at, and what it found."""

    tasks: int
    changes: int
    findings: tuple[Finding, ...]
    deep: bool
    unchecked: tuple[str, ...]
    purges: int = 0
    """How often something was taken out of a task's history."""


def inspect(
    store: SqliteStore, *, deep: bool = False, progress: Callable[[int], object] = id
) -> Report:
    """Look at the database, the chains, the states, the rows and the indexes.

    ``deep`` also replays every change, and makes the texts of the search index anew.
    """
    try:
        return _Inspection(store, deep, progress).report()
    except DAMAGE as error:
        raise translated(error, store.path) from error


class _Beside:
    """The rows of another table, handed out task by task; the first column is the row number."""

    def __init__(self, rows: Iterator[Any], stray: Callable[[int], None]) -> None:
        self._rows = rows
        self._stray = stray
        self._row = next(rows, None)
        self.at: int = self._row[0] if self._row else _END

    def of(self, pk: int) -> list[Any]:
        """The rows of task ``pk``; those of tasks before it that are not there are told."""
        found = []
        row = self._row
        while row and row[0] <= pk:
            if row[0] == pk:
                found.append(row)
            else:
                self._stray(row[0])
            row = next(self._rows, None)
        self._row = row
        self.at = row[0] if row else _END
        return found

    def rest(self) -> None:
        """Tell what is behind the last task."""
        while self._row:
            self._stray(self._row[0])
            self._row = next(self._rows, None)


class _Inspection:
    def __init__(self, store: SqliteStore, deep: bool, progress: Callable[[int], object]) -> None:
        self.db = store.open_reader()
        self.store = store
        self.deep = deep
        self.progress = progress
        self.findings: list[Finding] = []
        self.unchecked: list[str] = []
        self.large = os.path.getsize(store.path) >= LARGE_BYTES
        self.sha256 = bulk_sha256() if self.large else sha256
        self.tasks = self.changes = self.purges = 0
        self.counts = dict.fromkeys(STATUSES, 0)

    def report(self) -> Report:
        aside = _Aside(self.store, apart=self.large)
        try:
            if self.large:
                self.db.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
            self.db.execute("BEGIN")
            for look in (self._schema, self._tasks, self._totals):
                try:
                    look()
                except _UNREADABLE as error:
                    self._find("database", "", f"cannot be read: {error}")
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            aside.wait()
        findings = (*aside.findings, *self.findings)[:MOST_FINDINGS]
        return Report(
            self.tasks, self.changes, findings, self.deep, tuple(aside.unchecked), self.purges
        )

    def _find(self, kind: str, task_id: str, message: str) -> None:
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(Finding(kind, task_id, message))

    def _all(self, sql: str) -> list[Any]:
        return self.db.execute(sql).fetchall()

    def _schema(self) -> None:
        """The tables and indexes are those of the schema, to the letter."""
        fresh = driver.connect(":memory:", isolation_level=None)
        fresh.execute("BEGIN")
        schema.run_script(fresh, schema.script("schema.sql"))
        listing = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
        wanted, found = set(fresh.execute(listing).fetchall()), set(self._all(listing))
        fresh.close()
        for kind, name, _ in sorted(wanted ^ found):
            state = "missing or altered" if (kind, name) in {w[:2] for w in wanted} else "not ours"
            self._find("schema", "", f"{kind} {name} is {state}")

    def _beside(self, kind: str, what: str, sql: str) -> _Beside:
        def stray(pk: int) -> None:
            self._find(kind, "", f"{what} of a task that is not there (row {pk})")

        return _Beside(iter(self.db.execute(sql)), stray)

    def _tasks(self) -> None:
        self.chains = self._beside(
            "chain",
            "changes",
            "SELECT task, version, digest, body FROM changes ORDER BY task, version",
        )
        self.needs = self._beside(
            "index",
            "dependencies",
            "SELECT d.task, n.id, n.status FROM dependencies AS d"
            " LEFT JOIN tasks AS n ON n.pk = d.needs ORDER BY d.task",
        )
        self.labels = self._beside(
            "index", "labels", "SELECT task, label FROM labels ORDER BY task, label"
        )
        self.keys = self._beside(
            "index", "creations", "SELECT task, key, request FROM creations ORDER BY task"
        )
        self.purged = self._beside(
            "purge",
            "purges",
            "SELECT task, number, digest, body FROM purges ORDER BY task, number",
        )
        # Of a lease only whether there is any: most tasks have none.
        rows = self.db.execute(
            f"SELECT pk, state, digest, head, unmet, coalesce({', '.join(_LEASE)}),"  # noqa: S608
            f" {', '.join(SPREAD)} FROM tasks ORDER BY pk"
        )
        for row in rows:
            self.tasks += 1
            try:
                self._task(row)
            except DAMAGE:
                raise
            except _UNREADABLE as error:
                self._find("state", row[6], f"it cannot be read: {error}")
            if not self.tasks % 1_000:
                self.progress(self.tasks)
        for table in (self.chains, self.needs, self.labels, self.keys, self.purged):
            table.rest()
        ((texts,),) = self._all("SELECT count(*) FROM search_content")
        if texts != self.tasks:
            self._find("search", "", f"{texts} entries for {self.tasks} tasks")

    def _task(self, row: tuple[Any, ...]) -> None:
        pk, state, digest, head, unmet, lease, task_id, version = row[:8]
        chain = self.chains.of(pk)
        self._chain(task_id, chain, version, digest, head)
        if self.keys.at <= pk or (chain and _has_key(chain[0][3])):
            self._key(task_id, chain, self.keys.of(pk))
        if self.purged.at <= pk:
            self._purges(task_id, self.purged.of(pk), chain)
        if self.sha256(state) != digest:
            self._find("state", task_id, "the state does not match its digest")
            return
        found = canon.decode(state)
        self.counts[found["status"]] += 1
        wanted = spread(found)
        if row[6:] != wanted:
            self._columns(task_id, row[6:], wanted)
        if self.deep:
            self._texts(pk, task_id, found)
        if lease is not None or "claim" in found:
            self._lease(pk, task_id, found.get("claim", ""))
        if self.needs.at <= pk or unmet or "dependencies" in found:
            self._needs(task_id, found.get("dependencies", ()), self.needs.of(pk), unmet)
        if self.labels.at <= pk or "labels" in found:
            labels = sorted(label for _, label in self.labels.of(pk))
            if labels != sorted(found.get("labels", ())):
                self._find("index", task_id, "the labels are not those of the state")

    def _chain(
        self, task_id: str, chain: list[Any], newest: int, state_digest: str, head: str
    ) -> None:
        self.changes += len(chain)
        digest, body = NONE, b""
        for number, (_, version, stored, body) in enumerate(chain, 1):
            digest = self.sha256(f"{task_id}\n{digest}\n".encode() + body)
            if version != number or stored != digest:
                self._find("chain", task_id, f"the chain breaks at version {version}")
                return
        # The keys of a change are in order, and these are the last.
        end = f'"state":"{state_digest}","task":"{task_id}","version":{newest}}}'
        if len(chain) != newest or digest != head:
            self._find("chain", task_id, "the chain does not end where the task says")
        elif not body.endswith(end.encode()):
            self._find("chain", task_id, "the newest change does not lead to the state")
        elif self.deep:
            self._replay(task_id, chain)

    def _replay(self, task_id: str, chain: list[Any]) -> None:
        from ..core.archive import replayed

        try:
            replayed(tuple(body for _, _, _, body in chain))
        except (ValueError, KeyError, TypeError) as error:
            self._find("replay", task_id, str(error))

    def _key(self, task_id: str, chain: list[Any], stored: list[Any]) -> None:
        """The idempotency key of the first change is the one that is looked up."""
        wanted = []
        first = canon.decode(chain[0][3]) if chain else {}
        if "key" in first:
            wanted = [(first["key"], first["request"])]
        if [row[1:] for row in stored] != wanted:
            self._find("index", task_id, "the creation key is not that of the first change")

    def _purges(self, task_id: str, stored: list[Any], chain: list[Any]) -> None:
        """What the records say was replaced leads to the chain as it is."""
        from ..core.purge import fits, from_document

        self.purges += len(stored)
        if [row[1] for row in stored] != list(range(1, len(stored) + 1)):
            self._find("purge", task_id, "the record of a purge is missing")
        if any(self.sha256(body) != digest for _, _, digest, body in stored):
            self._find("purge", task_id, "the record of a purge does not match its digest")
            return
        found = [from_document(canon.decode(body)) for _, _, _, body in stored]
        if not fits(found, [row[2] for row in chain]):
            self._find("purge", task_id, "the record of a purge does not lead to the chain")

    def _columns(self, task_id: str, row: tuple[Any, ...], wanted: tuple[Any, ...]) -> None:
        for name, one, other in zip(SPREAD, row, wanted):
            if one != other:
                self._find("row", task_id, f"the column {name} does not say what the state says")

    def _texts(self, pk: int, task_id: str, found: dict[str, Any]) -> None:
        from ..core.search import texts_of

        # The table beneath the index, because reading through the index takes twice as long.
        sql = f"SELECT c0, c1, c2, c3, c4 FROM search_content WHERE id = {pk}"  # noqa: S608
        if self._all(sql) != [texts_of(found)]:
            self._find("search", task_id, "the index does not hold its texts")

    def _lease(self, pk: int, task_id: str, holder: str) -> None:
        from ..core.claims import Lease

        (lease,) = self._all(f"SELECT {', '.join(_LEASE)} FROM tasks WHERE pk = {pk}")  # noqa: S608
        if (lease[0] or "") != holder:
            self._find("row", task_id, "the lease is not that of the holder")
        if lease[0] is None:
            if lease != _NO_LEASE:
                self._find("row", task_id, "a lease without a holder")
        elif Lease(*lease[:4]).check() != lease[4]:
            self._find("row", task_id, "the lease does not match its digest")

    def _needs(self, task_id: str, wanted: Any, rows: list[Any], unmet: int) -> None:
        if sorted(str(other) for _, other, _ in rows) != sorted(wanted):
            self._find("index", task_id, "the dependencies are not those of the state")
        if unmet != sum(status != "done" for _, _, status in rows):
            self._find("row", task_id, "its count of open dependencies is wrong")

    def _totals(self) -> None:
        if dict(self._all("SELECT status, count FROM totals")) != self.counts:
            self._find("index", "", "the totals are not those of the tasks")


def _has_key(body: bytes) -> bool:
    """Whether a change has an idempotency key: if so, that stands before what it sets."""
    return body.find(b'"key":', 0, body.find(b'"set":')) >= 0


class _Aside:
    """What SQLite checks itself: the file, and the search index against its texts.

    ``apart``, each is done in a thread meanwhile.
    """

    def __init__(self, store: SqliteStore, *, apart: bool) -> None:
        # A connection belongs to one thread.
        self._store = SqliteStore(store.path, wait=store.wait) if apart else store
        self._apart = apart
        self._locks: list[Any] = []
        self._failed: BaseException | None = None
        self.findings: list[Finding] = []
        self.unchecked: list[str] = []
        for look in (self._file, self._index):
            if apart:
                self._start(look)
            else:
                look()

    def _start(self, look: Callable[[], None]) -> None:
        import _thread

        done = _thread.allocate_lock()
        done.acquire()

        def work() -> None:
            try:
                look()
            except BaseException as error:
                self._failed = error
            finally:
                done.release()

        self._locks.append(done)
        _thread.start_new_thread(work, ())

    def wait(self) -> None:
        """Until everything is looked at; raises what a thread did not expect."""
        for done in self._locks:
            done.acquire()
        if self._failed:
            raise self._failed

    def _file(self) -> None:
        try:
            db = self._store.open_reader()
            if self._apart:
                db.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
            for (line,) in db.execute("PRAGMA integrity_check(100)").fetchall():
                if line != "ok":
                    self.findings.append(Finding("database", "", line))
        except DAMAGE as error:
            self.findings.append(Finding("database", "", f"cannot be read: {error}"))
        finally:
            if self._apart:
                self._store.close()

    def _index(self) -> None:
        """SQLite has a command for it that looks like a write."""
        try:
            self._store.check_search_index()
        except (StoreBusy, StoreReadOnly) as error:
            self.unchecked.append(f"search index: {error.message}")
        except StoreError as error:
            self.findings.append(
                Finding("search", "", f"the index does not fit its texts: {error.message}")
            )
