"""Writing the SQLite ledger: one transaction, synced when it ends.

A change, the state it leads to, and everything derived from that state are written together.
"""

from __future__ import annotations

from ..core import canon, task, text
from ..core.digest import sha256
from .driver import DAMAGE, driver, translated
from .sqlite_read import MISREAD, SqliteRead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from ..core.archive import Stored
    from ..core.change import Change
    from ..core.claims import Lease
    from ..core.purge import Purge
    from ..core.task import Task

_LIMITS = tuple(task.SUMMARY_LIMITS.values())
_SEARCHED = frozenset("goal next blocker criteria labels source decisions evidence notes".split())


SPREAD = (
    "id",
    "version",
    "status",
    "priority",
    "updated",
    "owner",
    "parent",
    "source",
    "goal",
    "next",
    "blocker",
    "cut",
)
"""The columns of a task's row that say again what its state says."""


def spread(found: dict[str, Any]) -> tuple[Any, ...]:
    """What the columns :data:`SPREAD` say of a task, from its document."""
    get = found.get
    texts = (get("goal", ""), get("next", ""), get("blocker", ""), get("owner", ""))
    # Characters of ASCII are bytes, and most texts are short.
    if "".join(texts).isascii() and all(map(int.__le__, map(len, texts), _LIMITS)):
        shown, long = texts, ""
    else:
        shown = tuple(map(text.cut, texts, _LIMITS))  # type: ignore[assignment]  # as many
        long = ",".join(name for name, a, b in zip(task.SUMMARY_LIMITS, shown, texts) if a != b)
    return (
        found["id"],
        found["version"],
        found["status"],
        found["priority"],
        found["updated"],
        texts[3],
        get("parent"),
        get("source"),
        shown[0],
        shown[1],
        shown[2],
        long,
    )


def row_of(after: Task, head: str) -> dict[str, Any]:
    """What the columns of a task's row say, all but what other tasks and its lease decide."""
    found = task.document(after)
    state = canon.encode(found)
    return {
        **dict(zip(SPREAD, spread(found))),
        "head": head,
        "digest": sha256(state),
        "state": state,
    }


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
                self._store.begin(self._db, "BEGIN IMMEDIATE")
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
                self._store.fold()
        except driver.Error as refused:
            raise translated(refused, self._store.path) from refused
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._lock.__exit__(None, None, None)
        if kind is None:
            self._store.wrote()
        if isinstance(error, DAMAGE):
            raise translated(error, self._store.path) from error
        if isinstance(error, MISREAD):
            self.explain(error)

    def record(self, after: Task, step: Change) -> None:
        from ..core.change import change_bytes, document
        from ..core.digest import NONE, chained

        before = self._one("SELECT pk, head, status FROM tasks WHERE id = ?", after.id)
        body = change_bytes(step)
        head = chained(after.id, before[1] if before else NONE, body)
        pk = self._keep(after, head, before[0] if before else None)
        self._append(pk, step, head, body)
        if not before or _SEARCHED.intersection((*document(step), *step.set)):
            self._index(pk, after)
        if "dependencies" in step.set:
            self._link(pk, after)
        if "labels" in step.set:
            self._label(pk, after)
        if not before or before[2] != after.status:
            self._count(pk, before[2] if before else "", after.status)

    def _keep(self, after: Task, head: str, pk: int | None) -> int:
        """The row of the task as it is after a change; a new one where ``pk`` is None."""
        columns = row_of(after, head)
        names = ", ".join(columns)
        if pk is not None:
            sql = f"SELECT {names} FROM tasks WHERE pk = ?"  # noqa: S608 (our own columns)
            before = zip(columns, self._one(sql, pk))
            # A column that is set, even to what it held, has every index that it is in rewritten.
            changed = {name: columns[name] for name, value in before if columns[name] != value}
            marks = ", ".join(f"{name} = ?" for name in changed)
            sql = f"UPDATE tasks SET {marks} WHERE pk = ?"  # noqa: S608
            self._db.execute(sql, (*changed.values(), pk))
            return pk
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO tasks (unmet, {names}) VALUES (0, {marks})"  # noqa: S608
        made = self._db.execute(sql, tuple(columns.values())).lastrowid
        assert made is not None
        return made

    def _append(self, pk: int, step: Change, digest: str, body: bytes) -> None:
        self._db.execute(
            "INSERT INTO changes (task, version, digest, body) VALUES (?, ?, ?, ?)",
            (pk, step.version, digest, body),
        )
        self._create(pk, step)

    def _create(self, pk: int, step: Change) -> None:
        """The key under which a creation is known, if it has one."""
        if step.key:
            self._db.execute(
                "INSERT INTO creations (key, request, task) VALUES (?, ?, ?)",
                (step.key, step.request, pk),
            )

    def adopt(self, stored: Stored, known: int) -> None:
        from ..core.archive import steps
        from ..core.digest import NONE, chained

        after = stored.task
        digest = NONE
        digests = [digest := chained(after.id, digest, body) for body in stored.bodies]
        before = self._one("SELECT pk, status FROM tasks WHERE id = ?", after.id)
        pk = self._keep(after, digests[-1], before[0] if before else None)
        for number, step in enumerate(steps(stored)):
            if number >= known:
                self._append(pk, step, digests[number], stored.bodies[number])
        self._index(pk, after)
        self._label(pk, after)
        if not before or before[1] != after.status:
            self._count(pk, before[1] if before else "", after.status)
        self.keep_lease(after.id, stored.lease)
        had = self.purges(after.id)
        added = tuple(one for one in stored.purges if one not in had)
        if added:
            self._keep_purges(pk, (*had, *added))

    def rewrite(self, stored: Stored) -> None:
        from ..core.archive import digests, steps

        after = stored.task
        (pk,) = self._one("SELECT pk FROM tasks WHERE id = ?", after.id)
        heads = digests(after.id, stored.bodies)
        self._db.executemany(
            "UPDATE changes SET digest = ?, body = ? WHERE task = ? AND version = ?",
            [
                (head, body, pk, version)
                for version, (head, body) in enumerate(zip(heads, stored.bodies), 1)
            ],
        )
        self._keep(after, heads[-1], pk)
        self._db.execute("DELETE FROM creations WHERE task = ?", (pk,))
        for step in steps(stored):
            self._create(pk, step)
        self._index(pk, after)
        self._label(pk, after)
        self.keep_lease(after.id, stored.lease)
        self._keep_purges(pk, stored.purges)

    def _keep_purges(self, pk: int, purges: tuple[Purge, ...]) -> None:
        from ..core.purge import purge_bytes

        self._db.execute("DELETE FROM purges WHERE task = ?", (pk,))
        bodies = map(purge_bytes, purges)
        self._db.executemany(
            "INSERT INTO purges (task, number, digest, body) VALUES (?, ?, ?, ?)",
            [(pk, number, sha256(body), body) for number, body in enumerate(bodies, 1)],
        )

    def join(self, joined: Task) -> None:
        (pk,) = self._one("SELECT pk FROM tasks WHERE id = ?", joined.id)
        self._link(pk, joined)

    def _label(self, pk: int, after: Task) -> None:
        self._db.execute("DELETE FROM labels WHERE task = ?", (pk,))
        self._db.executemany(
            "INSERT INTO labels (label, task) VALUES (?, ?)", [(one, pk) for one in after.labels]
        )

    def _index(self, pk: int, after: Task) -> None:
        from ..core.search import listed, texts

        wanted = texts(after)
        held = self._one("SELECT c0, c1, c2, c3, c4 FROM search_content WHERE id = ?", pk)
        if held == wanted:
            return
        new = listed(wanted)
        if held:
            new -= listed(held)
        self._db.executemany(
            "INSERT OR IGNORE INTO words (word, again) VALUES (?, ?)", [(one, one) for one in new]
        )
        self._db.execute(
            "INSERT OR REPLACE INTO search (rowid, name, goal, next, criteria, log)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (pk, *wanted),
        )

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

    def keep_lease(self, task_id: str, lease: Lease | None) -> None:
        self._db.execute(
            "UPDATE tasks SET claim_holder = ?, claim_mark = ?, claim_until = ?, claim_length = ?,"
            " claim_check = ? WHERE id = ?",
            (*((*lease, lease.check()) if lease else [None] * 5), task_id),
        )
