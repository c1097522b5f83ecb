"""Reading the SQLite ledger: one snapshot, in core values.

A task is one row and its digest is checked; lists come from columns that the state was spread to.
"""

from __future__ import annotations

from ..core import task, text
from ..errors import AmbiguousId, StoreCorrupt, TaskNotFound
from .driver import DAMAGE, driver, translated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any

    from ..core.archive import Stored
    from ..core.change import Change
    from ..core.claims import Lease
    from ..core.purge import Purge
    from ..core.search import Term
    from ..core.task import Brief, Page, Related, Summary, Task
    from .sqlite import SqliteStore

_SUMMARY = (
    "id, version, status, priority, parent, updated, goal, next, blocker, owner, cut,"
    " claim_holder, claim_until"
)
_LIMITS = task.SUMMARY_LIMITS
MOST_WORDS = 64
"""So many words that begin as a query asks are looked for one by one."""

MISREAD = (TypeError, ValueError, KeyError, AttributeError, IndexError)
"""What comes of values that are not of the kind that was stored."""


class SqliteRead:
    """A read transaction; see :class:`.ports.ReadTxn` for what each method promises."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __enter__(self) -> SqliteRead:
        try:
            self._db = self._store.open_reader()
            self._store.begin(self._db, "BEGIN")
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
            # What a search made for itself stays with the connection: undone, it would take the
            # whole schema with it, which the next statement would have to read again.
            try:
                self._db.execute("ROLLBACK" if kind else "COMMIT")
            except driver.Error as failed:  # of a damaged file even this can fail
                if error is None:
                    raise translated(failed, self._store.path) from failed
        if isinstance(error, DAMAGE):
            raise translated(error, self._store.path) from error
        if isinstance(error, MISREAD):
            self.explain(error)

    def explain(self, error: BaseException) -> None:
        """StoreCorrupt, if what was read is not of the kind that its column holds.

        Else it is a mistake of the program, and stays what it is.
        """
        try:
            ((found,),) = self._all("PRAGMA integrity_check(1)")
        except DAMAGE as damage:
            found = str(damage)
        if found != "ok":
            raise StoreCorrupt(f"{self._store.path} is damaged: {found}") from error

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
        if type(state) is not bytes or sha256(state) != digest:
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
        if not all(type(one) is str for one in (row[1], row[2], row[3] or "")):
            raise self._damaged(task_id, "what its row holds is no text")
        needs = self._all(
            "SELECT id FROM tasks WHERE pk IN (SELECT needs FROM dependencies WHERE task = ?)",
            row[0],
        )
        return task.Brief(task_id, row[1], row[2], row[3] or "", tuple(one for (one,) in needs))

    def sourced(self, source: str) -> str | None:
        row = self._one("SELECT id FROM tasks WHERE source = ?", source)
        return row[0] if row else None

    def related(self, of: Task, limit: int) -> list[Related]:
        found = []
        if of.parent:
            found.append(self._neighbour("parent", of.parent))
        found += [self._neighbour("dependency", other) for other in of.dependencies[:limit]]
        try:
            children = self._all(
                "SELECT id FROM tasks WHERE parent = ? ORDER BY pk DESC LIMIT ?", of.id, limit
            )
        except DAMAGE as error:
            return [
                *found,
                task.Related("children of", of.id, "", "", f"could not be read: {error}"),
            ]
        return found + [self._neighbour("child", child) for (child,) in children]

    def _neighbour(self, relation: str, task_id: str) -> Related:
        try:
            found = self.brief(task_id)
        except (*DAMAGE, StoreCorrupt) as error:
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
                rows += self._of_status(status, limit - len(rows), skip)
            skip = max(skip - totals[status], 0)
        return _page(rows, sum(totals[status] for status in task.LIVE), offset)

    def _of_status(self, status: str, limit: int, offset: int) -> list[Any]:
        return self._all(
            f"SELECT {_SUMMARY} FROM tasks WHERE status = ?"  # noqa: S608 (our own columns)
            " ORDER BY updated DESC, pk DESC LIMIT ? OFFSET ?",
            *(status, limit, offset),
        )

    def latest(self, status: str, limit: int) -> Page:
        return _page(self._of_status(status, limit, 0), self._totals()[status], 0)

    def parts(self, task_id: str, limit: int) -> Page:
        of = "FROM tasks WHERE parent = ?"
        sql = f"SELECT {_SUMMARY} {of} ORDER BY pk LIMIT ?"
        counted = f"SELECT count(*) FROM (SELECT 1 {of} LIMIT ?)"  # noqa: S608
        (total,) = self._one(counted, task_id, limit + task.COUNT_AHEAD)
        return _page(self._all(sql, task_id, limit), total, 0)

    def recent(self, limit: int, *, actor: str = "", task_id: str = "") -> list[Change]:
        from .sqlite_recent import recent

        return recent(self._all, self._damaged, limit, actor, task_id)

    def since(self, moment: int, limit: int) -> Page:
        rows: list[Any] = []
        total = 0
        for status in task.STATUSES:
            of = "FROM tasks WHERE status = ? AND updated > ?"
            (count,) = self._one(
                f"SELECT count(*) FROM (SELECT 1 {of} LIMIT ?)",  # noqa: S608 (our own words)
                *(status, moment, task.COUNT_AHEAD),
            )
            total += count
            if count:
                rows += self._all(
                    f"SELECT updated, pk, {_SUMMARY} {of} ORDER BY updated DESC, pk DESC LIMIT ?",
                    *(status, moment, limit),
                )
        rows.sort(key=lambda row: row[:2], reverse=True)
        return _page([row[2:] for row in rows[:limit]], total, 0)

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

    def search(self, terms: tuple[Term, ...], offset: int, limit: int) -> Page:
        from ..errors import SearchFailed

        found: dict[int, None] = {}
        total = 0
        asked = ""
        try:
            # Beginnings of words are looked for only where whole words do not fill the page: the
            # index has to gather every word that begins so.
            for loose in (False, True) if terms else ():
                before = asked
                if total <= offset + limit:
                    asked = " AND ".join(self._asked(term, loose=loose) for term in terms)
                if asked != before:
                    best, count, oldest = self._found(asked, offset + limit)
                    total = count + sum(pk < oldest for pk in found)
                    found.update(dict.fromkeys(best))
            if terms and not found and not self._index_answers():
                raise SearchFailed(f"The search index of {self._store.path} has lost its entries")
        except DAMAGE as error:
            raise SearchFailed(f"Could not search {self._store.path}: {error}") from error
        wanted = list(found)[offset : offset + limit]
        marks = ", ".join("?" * len(wanted))
        sql = f"SELECT pk, {_SUMMARY} FROM tasks WHERE pk IN ({marks})"  # noqa: S608 (our own columns)
        rows = {pk: row for pk, *row in self._all(sql, *wanted)}
        if len(rows) < len(wanted):
            raise SearchFailed(
                f"The search index of {self._store.path} names tasks that are not there"
            )
        return _page([rows[pk] for pk in wanted], total, offset)

    def _index_answers(self) -> bool:
        """Whether the index finds the newest task by its id: an emptied one gives no error."""
        from ..core.search import words

        newest = self._one("SELECT pk, id FROM tasks ORDER BY pk DESC LIMIT 1")
        if not newest:
            return True
        sql = "SELECT 1 FROM search WHERE search MATCH ? AND rowid = ?"
        return bool(self._one(sql, f'{{name}} : "{" ".join(words(newest[1]))}"', newest[0]))

    def _found(self, asked: str, needed: int) -> tuple[list[int], int, int]:
        """Row numbers of what holds every term, best first: the ``needed`` ones, if there are.

        A common word stands in most of a million tasks: only the newest that hold it are ranked.
        Beside them how many those are, and the oldest of them.
        """
        from ..core.search import FIELDS

        newest = "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?"
        most = needed + task.COUNT_AHEAD
        count, oldest = self._one(f"SELECT count(*), min(rowid) FROM ({newest})", asked, most)  # noqa: S608
        # Upwards from the oldest of them: downwards the index would not stop there, but go through
        # all that holds the terms elsewhere.  So it is the result that is sorted.
        within = (
            "SELECT rowid FROM search WHERE search MATCH ? AND rowid >= ?"
            " ORDER BY +rowid DESC LIMIT ?"
        )
        found: dict[int, None] = {}
        for field in FIELDS:
            if len(found) < min(needed, count):
                rows = self._all(within, f"{{{field}}} : ({asked})", oldest, needed)
                found.update(dict.fromkeys(pk for (pk,) in rows))
        if len(found) < min(needed, count):
            # What is left holds the terms in several fields together.
            found.update(dict.fromkeys(pk for (pk,) in self._all(newest, asked, most)))
        return list(found), count, oldest or 0

    def _asked(self, term: Term, *, loose: bool) -> str:
        """A term in the language of the index."""
        *before, last = term.words
        lasts = self._beginning_with(last) if loose and term.prefix else [last]
        if lasts is None:
            return f'"{" ".join(term.words)}" *'
        return "(" + " OR ".join(f'"{" ".join((*before, one))}"' for one in lasts or [last]) + ")"

    def _beginning_with(self, start: str) -> list[str] | None:
        """The words of all texts that begin so; None if they are more than :data:`MOST_WORDS`.

        Asked for a beginning, the index first gathers every place of every such word, and to name
        the words it passes over as many.  Of words one by one it gives the newest places at once.
        """
        end = start + "\U0010ffff"  # behind every letter
        listed = self._all(
            "SELECT word FROM words WHERE word >= ? AND word < ? LIMIT ?",
            *(start, end, MOST_WORDS + 1),
        )
        # Most ids are not in the list, because they are one themselves.
        ids = self._all(
            "SELECT substr(id, 3) FROM tasks WHERE id >= 't-' || ? AND id < 't-' || ?"
            " AND instr(substr(id, 3), '-') = 0 LIMIT ?",
            *(start, end, MOST_WORDS + 1),
        )
        found = sorted({word for (word,) in (*listed, *ids)})
        return found if len(found) <= MOST_WORDS else None

    def ready(self, offset: int, limit: int, now: int) -> Page:
        free = (
            "status IN ('open', 'active') AND unmet = 0 AND blocker = ''"
            " AND (claim_until IS NULL OR claim_until <= ?)"
        )
        rows = self._all(
            f"SELECT {_SUMMARY} FROM tasks INDEXED BY tasks_ready WHERE {free}"  # noqa: S608
            " ORDER BY priority, pk LIMIT ? OFFSET ?",
            *(now, limit, offset),
        )
        # Counting a million rows would take longer than finding the first of them.
        counted = f"SELECT 1 FROM tasks INDEXED BY tasks_ready WHERE {free} LIMIT ?"  # noqa: S608
        most = offset + limit + task.COUNT_AHEAD
        (total,) = self._one(f"SELECT count(*) FROM ({counted})", now, most)  # noqa: S608
        return _page(rows, total, offset)

    def lease(self, task_id: str) -> Lease | None:
        from ..core.claims import Lease

        row = self._one(
            "SELECT claim_holder, claim_mark, claim_until, claim_length, claim_check FROM tasks"
            " WHERE id = ?",
            task_id,
        )
        if not row or row[0] is None:
            return None
        lease = Lease(*row[:4])
        if row[4] != lease.check():
            raise self._damaged(task_id, "its lease does not match its digest")
        return lease

    def chain(self, task_id: str) -> list[str]:
        rows = self._all(
            "SELECT digest FROM changes WHERE task = (SELECT pk FROM tasks WHERE id = ?)"
            " ORDER BY version",
            task_id,
        )
        return [digest for (digest,) in rows]

    def everything(self) -> Iterator[Stored]:
        last = count = 0
        for pk, task_id in self._db.execute("SELECT pk, id FROM tasks ORDER BY pk"):
            # A damaged way through the file leads to some tasks twice, and past others.
            if pk <= last:
                break
            last, count = pk, count + 1
            yield self.whole(task_id)
        if count != sum(self._totals().values()):
            raise StoreCorrupt(f"{self._store.path} is damaged: not every task of it was found")

    def whole(self, task_id: str) -> Stored:
        from ..core.archive import Stored, digests

        found = self.task(task_id)
        pk, head = self._one("SELECT pk, head FROM tasks WHERE id = ?", task_id)
        rows = self._all("SELECT body FROM changes WHERE task = ? ORDER BY version", pk)
        bodies = tuple(body for (body,) in rows)
        if [head] != digests(task_id, bodies)[-1:]:
            raise self._damaged(task_id, "its history does not lead to its digest")
        return Stored(found, bodies, self.lease(task_id), self.purges(task_id))

    def purges(self, task_id: str) -> tuple[Purge, ...]:
        from .sqlite_purges import purges

        return purges(self._all, self._damaged, task_id)

    def holding(self, forms: tuple[bytes, ...]) -> list[str]:
        from .sqlite_purges import holding

        return holding(self._all, forms)

    def creation(self, key: str) -> tuple[str, str] | None:
        row = self._one(
            "SELECT request, id FROM creations JOIN tasks ON pk = task WHERE key = ?", key
        )
        return (row[0], row[1]) if row else None

    def _totals(self) -> dict[str, int]:
        found = dict(self._all("SELECT status, count FROM totals"))
        if set(found) != set(task.STATUSES):
            raise StoreCorrupt(f"{self._store.path} is damaged: its totals are not those of tasks")
        return found


def _page(rows: list[Any], total: int, offset: int) -> Page:
    items = tuple(_summary(row) for row in rows)
    end = offset + len(items)
    return task.Page(items, total, end if items and end < total else None)


def _summary(row: Any) -> Summary:
    task_id, version, status, priority, parent, updated, *texts, long, holder, until = row
    goal, next_action, blocker, owner = texts
    # The columns hold the texts as they were cut when written; only the owner is whole there.
    return task.Summary(
        task_id,
        version,
        status,
        priority,
        text.cut(goal, _LIMITS["goal"]),
        text.cut(next_action, _LIMITS["next"]),
        text.cut(blocker, _LIMITS["blocker"]),
        text.cut(owner, _LIMITS["owner"]),
        parent or "",
        updated,
        tuple(long.split(",")) if long else (),
        text.cut(holder or "", _LIMITS["owner"]),
        until or 0,
    )
