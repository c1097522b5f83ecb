"""Looking whether a ledger file is sound: everything stored against everything it was made from.

Nothing is written.  What is found is told, one finding a place; a sound ledger has none.

One pass goes over the tasks and, beside them, over every table that speaks of tasks, all in the
order of the tasks: each task is read once, and decoded (see ``decoded.py``) where its bytes do not
show at once that they say what its row says.  The file itself and the search index SQLite checks
without the interpreter; of a large ledger in two threads meanwhile.  That the index fits its own
texts is a matter of damage, and always looked at; that the texts are those of the state could only
be a mistake of the program, and is looked at if deep.
"""

from __future__ import annotations

import os

from ..core.digest import NONE, bulk_sha256, lease_check, sha256
from ..core.task import STATUSES
from ..core.value import Value
from ..errors import SpindleError, StoreBusy, StoreError, StoreReadOnly
from .driver import DAMAGE, driver, translated
from .sqlite import SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

MOST_FINDINGS = 1_000
LARGE_BYTES = 4 * 1024 * 1024
"""From such a file on, threads and a faster digest pay for their start."""
CACHE_KIB = 64 * 1024
"""The pages of a file that SQLite may keep: a check jumps between tables and indexes."""
LISTING = "9ee982ad4ed62f8574f2380e780a8ef6552905cd9091a6ae31adce466af14aee"
"""The digest of what SQLite lists of a ledger of this schema: nothing has to be compared then."""

_UNREADABLE = (*DAMAGE, ValueError, KeyError, TypeError, AttributeError, SpindleError)
_LEASE = "claim_holder, claim_mark, claim_until, claim_length, claim_check"
LEASED = f"coalesce({_LEASE}) IS NOT NULL"
"""Whether a row has anything of a lease."""
_ODD = f"unmet OR cut <> '' OR (claim_holder IS NULL AND {LEASED})"
_END = (1 << 63,)
"""Behind every row: its number is greater than any."""


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
        return Inspection(store, deep, progress).report()
    except DAMAGE as error:
        raise translated(error, store.path) from error


class _Beside:
    """The rows of another table, handed out task by task; the first column is the row number."""

    def __init__(self, rows: Iterator[Any], stray: Callable[[int], None]) -> None:
        self._rows = rows
        self._stray = stray
        self._row = next(rows, _END)
        self.at: int = self._row[0]

    def of(self, pk: int) -> list[Any]:
        """The rows of task ``pk``; those of tasks before it that are not there are told."""
        found = []
        row, at = self._row, self.at
        while at <= pk:
            if at == pk:
                found.append(row)
            else:
                self._stray(at)
            row = next(self._rows, _END)
            at = row[0]
        self._row, self.at = row, at
        return found

    def rest(self) -> None:
        """Tell what is behind the last task."""
        while self._row is not _END:
            self._stray(self._row[0])
            self._row = next(self._rows, _END)


class Inspection:
    """One inspection: what it reads with, what it has counted, and what it has found so far."""

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
        self.words: set[str] = set()
        self.counts = dict.fromkeys(STATUSES, 0)

    def report(self) -> Report:
        aside = _Aside(self.store, self.large)
        try:
            # What is asked first has all pages read that are asked for afterwards.
            self.db = aside.db or self.db
            self.db.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
            aside.look()
            self.db.execute("BEGIN")
            for look in (self._schema, self._tasks, self._totals):
                try:
                    look()
                except _UNREADABLE as error:
                    self.find("database", "", f"cannot be read: {error}")
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            aside.wait()
        findings = (*aside.findings, *self.findings)[:MOST_FINDINGS]
        return Report(
            self.tasks, self.changes, findings, self.deep, tuple(aside.unchecked), self.purges
        )

    def find(self, kind: str, task_id: str, message: str) -> None:
        """Tell something that is not as it must be, unless there is too much of it already."""
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(Finding(kind, task_id, message))

    def ask(self, sql: str, *values: object) -> list[Any]:
        """All rows that ``sql`` gives."""
        return self.db.execute(sql, values).fetchall()

    def _schema(self) -> None:
        """The tables and indexes are those of the schema, to the letter."""
        listing = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
        found = self.ask(listing)
        if sha256(repr(found).encode()) == LISTING:
            return
        from . import schema

        fresh = driver.connect(":memory:", isolation_level=None)
        try:
            fresh.execute("BEGIN")
            schema.run_script(fresh, schema.script("schema.sql"))
            wanted = set(fresh.execute(listing).fetchall())
        finally:
            fresh.close()
        for kind, name, _ in sorted(wanted ^ set(found)):
            state = "missing or altered" if (kind, name) in {w[:2] for w in wanted} else "not ours"
            self.find("schema", "", f"{kind} {name} is {state}")

    def _beside(self, kind: str, what: str, sql: str) -> _Beside:
        def stray(pk: int) -> None:
            self.find(kind, "", f"{what} of a task that is not there (row {pk})")

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
        rows = self.db.execute(
            f"SELECT pk, id, version, state, digest, head, {_ODD},"  # noqa: S608 (our own words)
            " claim_holder, blocker, goal, next, owner, parent, source, priority, status, updated"
            " FROM tasks ORDER BY pk"
        )
        for row in rows:
            self.tasks += 1
            try:
                self._task(row)
            except DAMAGE:
                raise
            except _UNREADABLE as error:
                self.find("state", row[1], f"it cannot be read: {error}")
            if not self.tasks % 1_000:
                self.progress(self.tasks)
        for table in (self.chains, self.needs, self.labels, self.keys, self.purged):
            table.rest()
        ((altered,),) = self.ask("SELECT count(*) FROM words WHERE word <> again")
        if altered:
            self.find("search", "", f"altered in the list of words: {altered}")
        if self.deep:
            self.words.difference_update(
                word for (word,) in self.db.execute("SELECT word FROM words")
            )
            if self.words:
                self.find("search", "", f"missing from the list of words: {len(self.words)}")
        ((texts,),) = self.ask("SELECT count(*) FROM search_content")
        if texts != self.tasks:
            self.find("search", "", f"{texts} entries for {self.tasks} tasks")

    def _task(self, row: tuple[Any, ...]) -> None:
        """One task: its changes, its state, and whether that says what the row says.

        The keys of a document are in order, and within a text no quotation mark stands without a
        backslash before it.  So bytes like ``,"next":"`` are always a field, and a few comparisons
        tell of most states that they say what the columns say, without decoding them.
        """
        pk, task_id, version, state, digest, head, odd, holder, *columns = row
        blocker, goal, after, owner, parent, source, priority, status, updated = columns
        chain = self.chains.of(pk)
        self._chain(task_id, chain, version, digest, head)
        if self.keys.at <= pk or (chain and _has_key(chain[0][3])):
            _decoded().key(self, task_id, chain, self.keys.of(pk))
        if self.purged.at <= pk:
            _decoded().purges(self, task_id, self.purged.of(pk), chain)
        if self.sha256(state) != digest:
            self.find("state", task_id, "the state does not match its digest")
            return
        start = b'{"created":'
        if blocker or holder is not None:
            blocked = f'"blocker":"{blocker}",' if blocker else ""
            held = "" if holder is None else f'"claim":"{holder}",'
            start = f'{{{blocked}{held}"created":'.encode()
        at = state.find(f'"goal":"{goal}","id":"{task_id}","last_actor":'.encode())
        following = f',"next":"{after}",'.encode()
        owned = f'"owner":"{owner}",' if owner else ""
        below = "" if parent is None else f'"parent":"{parent}",'
        named = "" if source is None else f',"source":"{source}"'
        end = (
            f'{owned}{below}"priority":{priority}{named},"status":"{status}","updated":{updated}'
            f',"version":{version}}}'
        )
        if (
            odd
            or self.deep
            or self.needs.at <= pk
            or self.labels.at <= pk
            or at < 0
            or not state.startswith(start)
            or not state.endswith(end.encode())
            or (state.find(following, at) < 0 if after else b'"next":' in state)
            or (not owner and (b'"owner":' in state or (parent is None and b'"parent":' in state)))
            or state.find(b'"dependencies":', 0, at) >= 0
        ):
            _decoded().task(self, pk, task_id, state)
        else:
            self.counts[status] += 1
            if holder is not None:
                self.lease(pk, task_id, holder)

    def lease(self, pk: int, task_id: str, holder: str) -> None:
        """The lease is that of ``holder``, who is empty where the state names none."""
        sql = f"SELECT {_LEASE} FROM tasks WHERE pk = ?"  # noqa: S608 (our own words)
        ((*lease, check),) = self.ask(sql, pk)
        if (lease[0] or "") != holder:
            self.find("row", task_id, "the lease is not that of the holder")
        if lease[0] is None:
            if any(one is not None for one in (*lease, check)):
                self.find("row", task_id, "a lease without a holder")
        elif lease_check(*lease) != check:
            self.find("row", task_id, "the lease does not match its digest")

    def _chain(
        self, task_id: str, chain: list[Any], newest: int, state_digest: str, head: str
    ) -> None:
        self.changes += len(chain)
        digest, body, name = NONE, b"", task_id.encode()
        for number, (_, version, stored, body) in enumerate(chain, 1):
            digest = self.sha256(b"%b\n%b\n%b" % (name, digest.encode(), body))
            if version != number or stored != digest:
                self.find("chain", task_id, f"the chain breaks at version {version}")
                return
        # The keys of a change are in order, and these are the last.
        end = f'"state":"{state_digest}","task":"{task_id}","version":{newest}}}'
        if len(chain) != newest or digest != head:
            self.find("chain", task_id, "the chain does not end where the task says")
        elif not body.endswith(end.encode()):
            self.find("chain", task_id, "the newest change does not lead to the state")
        elif self.deep:
            _decoded().replay(self, task_id, chain)

    def _totals(self) -> None:
        if dict(self.ask("SELECT status, count FROM totals")) != self.counts:
            self.find("index", "", "the totals are not those of the tasks")


def _decoded() -> ModuleType:
    """What is loaded for tasks that are out of the ordinary only."""
    from . import decoded

    return decoded


def _has_key(body: bytes) -> bool:
    """Whether a change has an idempotency key: if so, that stands before what it sets."""
    return body.find(b'"key":', 0, body.find(b'"set":')) >= 0


class _Aside:
    """What SQLite checks itself: the file, and the search index against its texts.

    ``apart``, each is done in a thread meanwhile, with connections of its own.
    """

    def __init__(self, store: SqliteStore, apart: bool) -> None:
        self._store = store
        self._apart = apart
        self._locks: list[Any] = []
        self._failed: BaseException | None = None
        self.findings: list[Finding] = []
        self.unchecked: list[str] = []
        self.db = None if apart else store.open_checker()
        """With which all of a small ledger is looked at; None if it can only be read."""

    def look(self) -> None:
        """Have both checked, or have their threads begin."""
        for check in (self._file, self._index):
            if self._apart:
                self._start(check)
            else:
                check(self.db)

    def _start(self, check: Callable[[driver.Connection | None], None]) -> None:
        import _thread

        done = _thread.allocate_lock()
        done.acquire()

        def work() -> None:
            # A connection belongs to one thread.
            store = SqliteStore(self._store.path, wait=self._store.wait)
            db = None
            try:
                db = store.open_checker() or store.open_reader()
                db.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
                check(db)
            except BaseException as error:
                self._failed = error
            finally:
                if db:
                    db.close()
                done.release()

        self._locks.append(done)
        _thread.start_new_thread(work, ())

    def wait(self) -> None:
        """Until everything is looked at; raises what a thread did not expect."""
        for done in self._locks:
            done.acquire()
        if self.db:
            self.db.close()
        if self._failed:
            raise self._failed

    def _file(self, db: driver.Connection | None) -> None:
        try:
            db = db or self._store.open_reader()
            for (line,) in db.execute("PRAGMA integrity_check(100)").fetchall():
                if line != "ok":
                    self.findings.append(Finding("database", "", line))
        except DAMAGE as error:
            self.findings.append(Finding("database", "", f"cannot be read: {error}"))

    def _index(self, db: driver.Connection | None) -> None:
        try:
            self._store.check_search_index(db or self._store.open_reader())
        except (StoreBusy, StoreReadOnly) as error:
            self.unchecked.append(f"search index: {error.message}")
        except StoreError as error:
            self.findings.append(
                Finding("search", "", f"the index does not fit its texts: {error.message}")
            )
