"""Looking whether a ledger file is sound: everything stored against everything it was made from.

Nothing is written.  What is found is told, one finding a place; a sound ledger has none.

One pass goes over the tasks and, beside them, over every table that speaks of tasks, all in the
order of the tasks: each task is read once, and decoded where its bytes do not show at once that
they say what its row says.  The file itself and the search index SQLite checks without the
interpreter; of a large ledger in two threads meanwhile.  That the index fits its own texts is a
matter of damage, and always looked at; that the texts are those of the state could only be a
mistake of the program, and is looked at if deep.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.digest import NONE, bulk_sha256, sha256
from ..core.task import STATUSES
from ..core.value import Value
from ..errors import SpindleError, StoreBusy, StoreError, StoreReadOnly
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
"""The pages of a file that SQLite may keep: a check jumps between tables and indexes."""
LISTING = "9ee982ad4ed62f8574f2380e780a8ef6552905cd9091a6ae31adce466af14aee"
"""The digest of what SQLite lists of a ledger of this schema: nothing has to be compared then."""

_UNREADABLE = (*DAMAGE, ValueError, KeyError, TypeError, AttributeError, SpindleError)
_LEASE = ("claim_holder", "claim_mark", "claim_until", "claim_length", "claim_check")
_NO_LEASE = (None,) * len(_LEASE)
_PLAIN = f"""
    unmet OR cut <> '' OR coalesce({", ".join(_LEASE)}) IS NOT NULL,
    CAST(iif(blocker = '', '', '"blocker":"' || blocker || '",') || '"created":' AS BLOB),
    CAST('"goal":"' || goal || '","id":"' || id || '","last_actor":' AS BLOB),
    iif(next = '', NULL, CAST(',"next":"' || next || '",' AS BLOB)),
    CAST(iif(owner = '', '', '"owner":"' || owner || '",')
        || iif(parent IS NULL, '', '"parent":"' || parent || '",')
        || '"priority":' || priority
        || iif(source IS NULL, '', ',"source":"' || source || '"')
        || ',"status":"' || status || '","updated":' || updated || ',"version":' || version || '}}'
        AS BLOB)"""
"""Whether a row is out of the ordinary, and else the bytes that its state must have.

The keys of a document are in order, and within a text no quotation mark stands without a backslash
before it: so bytes like ``,"next":"`` are always a field, and a few comparisons tell of most states
that they say what the columns say, without decoding them.
"""
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
        listing = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
        found = self._all(listing)
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
        rows = self.db.execute(
            f"SELECT pk, id, version, status, state, digest, head, {_PLAIN}"  # noqa: S608
            " FROM tasks ORDER BY pk"
        )
        for row in rows:
            self.tasks += 1
            try:
                self._task(row)
            except DAMAGE:
                raise
            except _UNREADABLE as error:
                self._find("state", row[1], f"it cannot be read: {error}")
            if not self.tasks % 1_000:
                self.progress(self.tasks)
        for table in (self.chains, self.needs, self.labels, self.keys, self.purged):
            table.rest()
        ((altered,),) = self._all("SELECT count(*) FROM words WHERE word <> again")
        if altered:
            self._find("search", "", f"altered in the list of words: {altered}")
        if self.deep:
            self.words.difference_update(
                word for (word,) in self.db.execute("SELECT word FROM words")
            )
            if self.words:
                self._find("search", "", f"missing from the list of words: {len(self.words)}")
        ((texts,),) = self._all("SELECT count(*) FROM search_content")
        if texts != self.tasks:
            self._find("search", "", f"{texts} entries for {self.tasks} tasks")

    def _task(self, row: tuple[Any, ...]) -> None:
        pk, task_id, version, status, state, digest, head, odd, start, name, after, end = row
        chain = self.chains.of(pk)
        self._chain(task_id, chain, version, digest, head)
        if self.keys.at <= pk or (chain and _has_key(chain[0][3])):
            self._key(task_id, chain, self.keys.of(pk))
        if self.purged.at <= pk:
            self._purges(task_id, self.purged.of(pk), chain)
        if self.sha256(state) != digest:
            self._find("state", task_id, "the state does not match its digest")
        elif (
            odd
            or self.deep
            or self.needs.at <= pk
            or self.labels.at <= pk
            or not state.endswith(end)
            or not state.startswith(start, 1)
            or name not in state
            or (b'"next":' in state if after is None else after not in state)
            or (not end.startswith(b'"owner":') and _owned(state, end))
            or b'"dependencies":' in state
        ):
            self._decoded(pk, task_id, canon.decode(state))
        else:
            self.counts[status] += 1

    def _decoded(self, pk: int, task_id: str, found: dict[str, Any]) -> None:
        """All that stands in other places against the document of a state."""
        sql = f"SELECT unmet, {', '.join((*_LEASE, *SPREAD))} FROM tasks WHERE pk = {pk}"  # noqa: S608
        ((unmet, *columns),) = self._all(sql)
        self.counts[found["status"]] += 1
        lease, row = tuple(columns[: len(_LEASE)]), columns[len(_LEASE) :]
        for name, one, other in zip(SPREAD, row, spread(found)):
            if one != other:
                self._find("row", task_id, f"the column {name} does not say what the state says")
        if self.deep:
            self._texts(pk, task_id, found)
        self._lease(task_id, lease, found.get("claim", ""))
        self._needs(task_id, found.get("dependencies", ()), self.needs.of(pk), unmet)
        labels = sorted(label for _, label in self.labels.of(pk))
        if labels != sorted(found.get("labels", ())):
            self._find("index", task_id, "the labels are not those of the state")

    def _chain(
        self, task_id: str, chain: list[Any], newest: int, state_digest: str, head: str
    ) -> None:
        self.changes += len(chain)
        digest, body, name = NONE, b"", task_id.encode()
        for number, (_, version, stored, body) in enumerate(chain, 1):
            digest = self.sha256(b"%b\n%b\n%b" % (name, digest.encode(), body))
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

    def _texts(self, pk: int, task_id: str, found: dict[str, Any]) -> None:
        from ..core.search import listed, texts_of

        wanted = texts_of(found)
        self.words |= listed(wanted)
        # The table beneath the index, because reading through the index takes twice as long.
        sql = f"SELECT c0, c1, c2, c3, c4 FROM search_content WHERE id = {pk}"  # noqa: S608
        if self._all(sql) != [wanted]:
            self._find("search", task_id, "the index does not hold its texts")

    def _lease(self, task_id: str, lease: tuple[Any, ...], holder: str) -> None:
        if lease == _NO_LEASE and not holder:
            return
        from ..core.claims import Lease

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


def _owned(state: bytes, end: bytes) -> bool:
    """Whether a state has an owner, or a parent, of which its row, and so this end, has none."""
    return b'"owner":' in state or (end.startswith(b'"priority":') and b'"parent":' in state)


def _has_key(body: bytes) -> bool:
    """Whether a change has an idempotency key: if so, that stands before what it sets."""
    return b'"key":' in body and body.find(b'"key":', 0, body.find(b'"set":')) >= 0


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
