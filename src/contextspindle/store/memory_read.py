"""Reading a memory: one snapshot of its items and of its index."""

from __future__ import annotations

from ..core import canon, recall
from ..core.digest import sha256
from ..core.memory import Counts, Item, item_of
from ..errors import MemoryDamaged, StoreCorrupt, StoreError, StoreUnavailable
from .driver import driver, translated
from .memory_pages import ROWS, mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Any

    from .memory import MemoryStore

SQL_ERROR = 1
MISREAD = (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError)
"""What comes of values that are not of the kind that was stored."""


def said(error: Exception, path: str) -> StoreError:
    """The error to raise for what reading or writing the file of a memory met."""
    if isinstance(error, driver.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        found = translated(error, path)
        # A table that is not there, or a value of another kind: the file is not as it was made.
        if not isinstance(found, (StoreCorrupt, StoreUnavailable)):
            return found
        if isinstance(found, StoreUnavailable) and code not in (0, SQL_ERROR, 19, 20, 25):
            return found
    return MemoryDamaged(f"{path} is damaged: {error}")


def fingerprint(text: str, by: str) -> str:
    """What near duplicates share, as a word of the dictionary."""
    from ..core.retention import fold

    return "=" + sha256(f"{fold(by)}\n{fold(text)}".encode())[:20]


class MemoryRead:
    """A read transaction; see :class:`.ports.MemoryTxn`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._printed = ("", "", "")

    def __enter__(self) -> MemoryRead:
        try:
            self._begin("BEGIN", self._store.open_reader())
        except (driver.Error, *MISREAD) as error:
            raise said(error, self._store.path) from error
        return self

    def _begin(self, how: str, db: driver.Connection) -> None:
        self.connection = db
        self.pages = self._store.pages(db)
        self._store.begin(db, how)
        try:
            row = db.execute("SELECT data, mark FROM state").fetchone()
            if row is None or type(row[0]) is not bytes or mark(0, row[0]) != row[1]:
                raise self.pages.damaged("its state")
            self.state: dict[str, Any] = canon.decode(row[0])
            self._store.fresh(self.state["generation"])
        except BaseException:
            db.execute("ROLLBACK")
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")
        if isinstance(error, (driver.Error, *MISREAD)):
            raise said(error, self._store.path) from error

    # -- what ranking asks

    def totals(self) -> recall.Totals:
        get = self.state
        return recall.Totals(get["items"], get["passages"], get["terms"], get["sessions"])

    def word(self, word: str) -> list[Any] | None:
        """What the dictionary says of a word: number, places, items ever, and places if few."""
        found: list[Any] | None = self.pages.words.get(word)
        return found

    def postings(self, term: str) -> Sequence[int]:
        known = self.word(term)
        if known is None or not known[1]:
            return ()
        if known[3] is not None:
            few: list[int] = known[3]
            return few
        found = self.pages.all_places(known[0])
        listed = []
        for block in sorted(found):
            first = block * ROWS << 24
            listed += [first + one for one in found[block]]
        if len(listed) != known[1]:
            raise self.pages.damaged(f"{known[1]} places of a term are {len(listed)}")
        return listed

    def spelt_with(self, gram: str) -> Sequence[str]:
        found: str | None = self.pages.grams.get(gram)
        return found.split(" ") if found else ()

    def beginning_with(self, char: str) -> Sequence[str]:
        return list(self.pages.words.beginning_with(char))

    def marked(self, mark: str) -> set[int]:
        """The slots of the items that are found by a mark; see :func:`.memory.mark_of`."""
        return {posting >> 24 for posting in self.postings(mark)}

    def records(self) -> Sequence[recall.Record]:
        return self.pages.all_slots(self.state["slot_rows"])

    def session_length(self, number: int) -> int:
        return self.pages.sessions(number >> 7)[number & 127][0]

    def session_number(self, name: str) -> int:
        known = self.word(">" + name)
        return known[0] if known else 0

    # -- items

    def item(self, seq: int) -> Item | None:
        row = self.connection.execute(
            "SELECT seq, data, mark FROM items WHERE seq = ?", (seq,)
        ).fetchone()
        if row:
            return self.read_row(*row)
        if any(record[0] == seq for record in self.records()):
            raise self.pages.damaged(f"item m-{seq} is not there")
        return None

    def read_row(self, seq: int, data: Any, kept: int) -> Item:
        """The item of a row as it was written.  MemoryDamaged if it is not."""
        if type(data) is not bytes or mark(seq, data) != kept:
            raise self.pages.damaged(f"item m-{seq}")
        return item_of(canon.decode(data))

    def found(self, seq: int) -> Item:
        """An item that the index says is there."""
        item = self.item(seq)
        if item is None:
            raise self.pages.damaged(f"the index names an item m-{seq} that is not there")
        return item

    def keyed(self, key: str) -> Item | None:
        known = self.word("@" + key)
        return self.found(known[0]) if known else None

    def duplicate(self, text: str, by: str, key: str) -> Item | None:
        held = [self.found(seq) for seq in self.word(self.print_of(text, by)) or ()]
        return next((item for one in (key, "") for item in held if item.key == one), None)

    def print_of(self, text: str, by: str) -> str:
        """The fingerprint; of what was asked for last, without working it out again."""
        if self._printed[:2] != (text, by):
            self._printed = (text, by, fingerprint(text, by))
        return self._printed[2]

    def size(self) -> tuple[int, int]:
        return self.state["items"], self.state["bytes"]

    def everything(self) -> Iterator[Item]:
        """Every item, the oldest first."""
        rows = self.connection.execute("SELECT seq FROM items ORDER BY seq").fetchall()
        # A number that is damaged can be that of another item, which is then listed twice.
        listed = sorted({seq for (seq,) in rows})
        if len(listed) != self.state["items"] or len(rows) != len(listed):
            raise self.pages.damaged(f"{self.state['items']} items are {len(listed)}")
        for seq in listed:
            yield self.found(seq)

    def counts(self) -> Counts:
        get = self.state
        oldest, newest = self._edges()
        return Counts(
            items=get["items"],
            gists=get["gists"],
            pinned=get["pinned"],
            bytes=get["bytes"],
            seen=get["seen"],
            merged=get["merged"],
            shrunk=get["shrunk"],
            dropped=get["dropped"],
            oldest=oldest,
            newest=newest,
        )

    def _edges(self) -> tuple[int, int]:
        """The first and the last moment at which an item was said, whenever it was remembered."""
        # The keys of canonical JSON are in order, so an item begins with {"at": and the number. SQL
        # finds which ones they are in a hundredth of the time of reading all; those are checked.
        # The first is mostly near the beginning and the last near the end, so that one look over
        # all items is enough.
        at = "CAST(CAST(substr(data, 7, 20) AS TEXT) AS INTEGER)"
        ends = f"SELECT min({at}), max({at}) FROM items"  # noqa: S608 (our own words)
        edges = self.connection.execute(ends).fetchone()
        found = []
        for edge, order in zip(edges, ("ASC", "DESC")):
            # Of our own words too: the expression above, and one of two orders.
            sql = f"SELECT seq FROM items WHERE {at} IS ? ORDER BY seq {order} LIMIT 1"  # noqa: S608
            row = self.connection.execute(sql, (edge,)).fetchone()
            if (row is None) != (self.state["items"] == 0):
                raise self.pages.damaged("its items do not fit their number")
            found.append(self.found(row[0]).at if row else 0)
        return found[0], found[1]

    def was_taken(self, number: int) -> bool:
        return bool(
            self.connection.execute("SELECT 1 FROM taken WHERE mark = ?", (number,)).fetchone()
        )
