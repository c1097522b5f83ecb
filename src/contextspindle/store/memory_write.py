"""Writing a memory: an item and all that the index says of it, in one transaction.

Nothing here walks over the items.  A write touches the pages of its own terms, and those of the few
items that have to go for it.
"""

from __future__ import annotations

from ..core import canon, recall
from ..core.memory import GIST, Entry, Item, Note, entry_of, item_document
from ..core.retention import RAREST, weight_of
from ..core.text import size
from .driver import driver
from .memory_pages import GRAMS, PLACES, ROWS, SESSIONS, SLOTS, WORDS, mark
from .memory_read import MISREAD, MemoryRead, fingerprint, said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from types import TracebackType
    from typing import Any

FEW = 6
"""So many places of a term stand in the dictionary itself."""
MOST_DEAD = 64
"""Terms of one dictionary page that no item holds any more and that are still counted."""

_INSERT = (
    "INSERT INTO items (by_items, by_bytes, data, mark, entry, entry_mark, seq)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_UPDATE = (
    "UPDATE items SET by_items = ?, by_bytes = ?, data = ?, mark = ?, entry = ?, entry_mark = ?"
    " WHERE seq = ?"
)
_NO_SLOT = (0, 0, -1, -1, 0, 0, 0, 0)
_NO_SESSION = (0, 0, -1, -1)


def _row_of(item: Item, seq: int) -> tuple[bytes, int, int]:
    data = canon.encode(item_document(item))
    return data, mark(seq, data), seq


def _recorded(worth: tuple[int, int], item: Item) -> tuple[int | None, int | None]:
    """A worth as it stands in the file: none, so that it is never the least, of a pinned item."""
    return (None, None) if item.pinned else worth


class MemoryWrite(MemoryRead):
    """A write transaction; see :class:`.ports.MemoryWriteTxn`."""

    def __enter__(self) -> MemoryWrite:
        from .lock import Lock

        self._store.check_place()
        self._lock = Lock(self._store.path + ".lock", self._store.wait)
        self._lock.__enter__()
        try:
            self._begin("BEGIN IMMEDIATE", self._store.open_writer())
        except BaseException as error:
            self._lock.__exit__(None, None, None)
            if isinstance(error, (driver.Error, *MISREAD)):
                raise said(error, self._store.path) from error
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        kept = False
        try:
            if kind is None:
                self.state["generation"] += 1
                self.pages.flush()
                data = canon.encode(self.state)
                self.connection.execute(
                    "UPDATE state SET data = ?, mark = ?", (data, mark(0, data))
                )
                self.connection.execute("COMMIT")
                kept = True
                self._store.fresh(self.state["generation"], ours=True)
                self._store.fold()
        except driver.Error as refused:
            raise said(refused, self._store.path) from refused
        finally:
            if not kept:
                # SQLite has undone it by itself where the disk was full.
                self.pages.forget()
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            self._lock.__exit__(None, None, None)
        if isinstance(error, (driver.Error, *MISREAD)):
            raise said(error, self._store.path) from error

    # -- items

    def add(self, note: Note, now: int, print_: str = "") -> Item:
        """A new item of ``note``, under the next number.

        ``print_`` is the fingerprint of what it was before it became a gist.
        """
        state = self.state
        state["next"] += 1
        item = Item(
            seq=state["next"] - 1,
            slot=self._free_slot(),
            text=note.text,
            by=note.by,
            at=now if note.at is None else note.at,
            session=note.session,
            source=note.source,
            labels=note.labels,
            key=note.key,
            pinned=note.pinned,
            tier="full",
            times=1,
            last=now,
            weight=weight_of(note.text),
        )
        state["items"] += 1
        state["seen"] += 1
        state["pinned"] += item.pinned
        state["bytes"] += size(item.text)
        entry = entry_of(item)
        number = self._session(item.session)
        before = -1
        if number:
            length, count, last, _ = self.pages.sessions(number >> 7)[number & 127]
            before = last
            self._set_session(number, (length + entry.length, count + 1, item.slot, -1))
            if before >= 0:
                self._set_slot(before, after=item.slot)
        self._set_slot(
            item.slot,
            seq=item.seq,
            session=number,
            before=before,
            after=-1,
            speaker=recall.name_mark(item.by) if item.by else 0,
        )
        self._index(item, entry)
        print_ = print_ or fingerprint(item.text, item.by)
        page = self.pages.changing(WORDS, print_)
        # One text may be the value of several keys, and stand without one besides.
        page[print_] = [item.seq, *page.get(print_, ())]
        if item.key:
            self._name(item)
        self._keep(item, entry, print_, _INSERT)
        return item

    def _name(self, item: Item) -> None:
        """The item is found by its key."""
        word = "@" + item.key
        self.pages.changing(WORDS, word)[word] = [item.seq]

    def change(self, item: Item, after: Item) -> Item:
        """What was remembered of an item, as ``after`` says: all but its text and its session, and
        a key only where it had none."""
        self.state["pinned"] += after.pinned - item.pinned
        if after.key != item.key:
            self._name(after)
        if (after.labels, after.source) != (item.labels, item.source):
            return self.replace_text(after, after.text, after.tier)
        self.connection.execute(
            "UPDATE items SET data = ?, mark = ? WHERE seq = ?", _row_of(after, item.seq)
        )
        if after.pinned != item.pinned:
            self.record(after, self.worth(after))
        return after

    def restore(self, added: Item, item: Item) -> None:
        """An item just added, with all that ``item`` says of it besides its text."""
        self.state["gists"] += item.tier == GIST
        self.change(added, item._replace(slot=added.slot))

    def replace_text(self, item: Item, text: str, tier: str) -> Item:
        """The same item with another text: its gist, or the whole again."""
        row = self._entry(item.seq)
        after = item._replace(text=text, tier=tier)
        entry = entry_of(after)
        # A gist has most of its terms from the whole, where it is short in the same places.
        old = row["terms"]
        stay = {term for term, places in entry.terms.items() if old.get(term) == [*places]}
        self._unindex(item, row, stay)
        self.state["bytes"] += size(text) - size(item.text)
        self.state["gists"] += (tier == GIST) - (item.tier == GIST)
        number = self._slot(item.slot)[1]
        if number:
            length, count, last, free = self.pages.sessions(number >> 7)[number & 127]
            self._set_session(number, (length - row["length"] + entry.length, count, last, free))
        self._index(after, entry, stay)
        self._keep(after, entry, row["print"], _UPDATE)
        return after

    def remove(self, item: Item) -> None:
        """The item, gone from everything that knows of it."""
        row = self._entry(item.seq)
        self._unindex(item, row)
        state = self.state
        state["items"] -= 1
        state["gists"] -= item.tier == GIST
        state["pinned"] -= item.pinned
        state["bytes"] -= size(item.text)
        _, number, before, after, _, _, _, _ = self._slot(item.slot)
        if before >= 0:
            self._set_slot(before, after=after)
        if after >= 0:
            self._set_slot(after, before=before)
        if number:
            length, count, last, _ = self.pages.sessions(number >> 7)[number & 127]
            if count > 1:
                last = before if last == item.slot else last
                self._set_session(number, (length - row["length"], count - 1, last, -1))
            else:
                self._set_session(number, (0, 0, -1, state["free_session"]))
                state["free_session"] = number
                state["sessions"] -= 1
                self._drop_word(">" + item.session)
        self._set_slot(
            item.slot, seq=0, session=0, before=-1, after=state["free_slot"], speaker=0,
            length=0, flags=0, information=0,
        )  # fmt: skip
        state["free_slot"] = item.slot
        for word in (row["print"], "@" + item.key):
            known = self.word(word) or []
            if known == [item.seq]:
                self._drop_word(word)
            elif item.seq in known:
                rest = [seq for seq in known if seq != item.seq]
                self.pages.changing(WORDS, word)[word] = rest
        self.connection.execute("DELETE FROM items WHERE seq = ?", (item.seq,))

    def cheapest(self, by: str, count: int, besides: int) -> list[Item]:
        """Items worth the least when they were last looked at; pinned ones never."""
        column = "by_bytes" if by == "bytes" else "by_items"
        sql = (
            f"SELECT seq, data, mark FROM items WHERE {column} IS NOT NULL AND seq <> ?"  # noqa: S608
            f" ORDER BY {column}, seq LIMIT ?"
        )
        return [self.read_row(*row) for row in self.connection.execute(sql, (besides, count))]

    def worth(self, item: Item) -> tuple[int, int]:
        """What the item is worth now: as one of the items, and by its bytes."""
        return self._worth(self._entry(item.seq), item)

    def record(self, item: Item, worth: tuple[int, int]) -> None:
        """That is what the item was worth when it was last looked at."""
        kept = _recorded(worth, item)
        self.connection.execute(
            "UPDATE items SET by_items = ?, by_bytes = ? WHERE seq = ?"
            " AND (by_items IS NOT ? OR by_bytes IS NOT ?)",
            (*kept, item.seq, *kept),
        )

    def next_in_turn(self) -> Item | None:
        """One item after the other, so that each is looked at again in a while."""
        sql = "SELECT seq, data, mark FROM items WHERE seq > ? ORDER BY seq LIMIT 1"
        row = self.connection.execute(sql, (self.state["turn"],)).fetchone()
        if row is None:
            row = self.connection.execute(sql, (-1,)).fetchone()
        if row is None:
            return None
        self.state["turn"] = row[0]
        return self.read_row(*row)

    def ever(self, term: str) -> int:
        """How many items ever held a term."""
        known = self.word(term)
        return known[2] if known else 0

    def count(self, what: str) -> None:
        """One more ``merged``, ``shrunk`` or ``dropped``."""
        self.state[what] += 1

    def take(self, number: int) -> None:
        """Record that something was taken in, so that it is not taken in again.

        Kept for good: a mark that went would bring back what was forgotten.
        """
        self.connection.execute("INSERT OR IGNORE INTO taken (mark) VALUES (?)", (number,))

    # -- the index

    def _keep(self, item: Item, entry: Entry, print_: str, how: str) -> None:
        # The rarest first: what the item is worth depends on them alone.
        rarest = sorted((self.ever(term), term) for term in entry.said)[:RAREST]
        row = {
            "terms": {term: [*places] for term, places in entry.terms.items()},
            "rarest": [term for _, term in rarest],
            "length": entry.length,
            "print": print_,
        }
        entry_data = canon.encode(row)
        data, data_mark, seq = _row_of(item, item.seq)
        worth = _recorded(self._worth(row, item), item)
        written = (*worth, data, data_mark, entry_data, mark(seq, entry_data), seq)
        if not self.connection.execute(how, written).rowcount:
            raise self.pages.damaged(f"item m-{seq} is not there")

    def _entry(self, seq: int) -> dict[str, Any]:
        """How an item stands in the index, as it was written there."""
        row = self.connection.execute(
            "SELECT entry, entry_mark FROM items WHERE seq = ?", (seq,)
        ).fetchone()
        if row is None or type(row[0]) is not bytes or mark(seq, row[0]) != row[1]:
            raise self.pages.damaged(f"the entry of item m-{seq}")
        found: dict[str, Any] = canon.decode(row[0])
        return found

    def _worth(self, row: dict[str, Any], item: Item) -> tuple[int, int]:
        from ..core.retention import worth

        known = map(self.word, row["rarest"])
        return worth(
            [(one[2], one[1]) if one else (1, 1) for one in known],
            self.state["seen"],
            item.weight,
            row["length"],
            size(item.text),
        )

    def _index(self, item: Item, entry: Entry, stay: Collection[str] | None = None) -> None:
        """Find the item by its terms; but for those that ``stay`` of an item that is changed."""
        state = self.state
        state["passages"] += recall.passages(entry.length)
        state["terms"] += entry.length
        self._set_slot(
            item.slot,
            length=min(entry.length, 0xFFFF),
            flags=entry.flags,
            information=entry.information,
        )
        first = item.slot << 24
        for term, places in entry.terms.items():
            if stay and term in stay:
                continue
            page = self.pages.changing(WORDS, term)
            known = page.get(term)
            if known is None:
                known = page[term] = [state["number"], 0, 0, []]
                state["number"] += 1
                self._spell(term)
            known[1] += len(places)
            known[2] += stay is None
            listed = known[3]
            if listed is not None:
                listed += [first + one for one in places]
                if len(listed) <= FEW:
                    listed.sort()
                    continue
                known[3] = None
            else:
                listed = [first + one for one in places]
            blocks = self.pages.places(known[0])
            for one in listed:
                block = one >> 31
                blocks.setdefault(block, []).append(one - (block * ROWS << 24))
                self.pages.touch(PLACES | known[0] << 16 | block)
            for block in {one >> 31 for one in listed}:
                blocks[block].sort()

    def _unindex(self, item: Item, row: dict[str, Any], stay: Collection[str] = ()) -> None:
        self.state["passages"] -= recall.passages(row["length"])
        self.state["terms"] -= row["length"]
        block, slot = item.slot >> 7, item.slot & 127
        for term, places in row["terms"].items():
            if term in stay:
                continue
            page = self.pages.changing(WORDS, term)
            known = page.get(term)
            if known is None:
                raise self.pages.damaged("a term of an item is not in the dictionary")
            known[1] -= len(places)
            if known[3] is not None:
                known[3] = [one for one in known[3] if one >> 24 != item.slot]
            else:
                blocks = self.pages.places(known[0])
                blocks[block] = [one for one in blocks[block] if one >> 24 != slot]
                self.pages.touch(PLACES | known[0] << 16 | block)
                if not known[1]:
                    known[3] = []
            if not known[1]:
                if term[0] == "#":  # a mark; how often there was one is never asked
                    del page[term]
                self._bury(page)

    def _bury(self, page: dict[str, Any]) -> None:
        """Forget terms that no item holds any more, the least met first, when they are many."""
        dead = sorted(
            (known[2], known[0], term)
            for term, known in page.items()
            if len(known) == 4 and not known[1]
        )
        if len(dead) <= MOST_DEAD:
            return
        for _, _, term in dead[: MOST_DEAD // 2]:
            del page[term]
            for gram in recall.grams(term):
                spelt = self.pages.changing(GRAMS, gram)
                rest = [one for one in spelt.get(gram, "").split(" ") if one != term]
                spelt[gram] = " ".join(rest)

    def _spell(self, term: str) -> None:
        for gram in recall.grams(term):
            spelt = self.pages.changing(GRAMS, gram)
            known = spelt.get(gram)
            spelt[gram] = f"{known} {term}" if known else term

    def _drop_word(self, word: str) -> None:
        del self.pages.changing(WORDS, word)[word]

    def _session(self, name: str) -> int:
        """The number of a session, a new one if it is not known; 0 for none."""
        if not name:
            return 0
        word = ">" + name
        known = self.word(word)
        if known:
            number: int = known[0]
            return number
        state = self.state
        number = state["free_session"]
        if number:
            state["free_session"] = self.pages.sessions(number >> 7)[number & 127][3]
        else:
            number = state["session_rows"]
            state["session_rows"] += 1
            self.pages.append(SESSIONS, number, _NO_SESSION)
        self._set_session(number, (0, 0, -1, -1))
        state["sessions"] += 1
        self.pages.changing(WORDS, word)[word] = [number]
        return number

    def _set_session(self, number: int, row: tuple[int, int, int, int]) -> None:
        self.pages.put(SESSIONS, number, row)

    def _free_slot(self) -> int:
        state = self.state
        slot: int = state["free_slot"]
        if slot >= 0:
            state["free_slot"] = self._slot(slot)[3]
            return slot
        slot = state["slot_rows"]
        state["slot_rows"] += 1
        self.pages.append(SLOTS, slot, _NO_SLOT)
        return slot

    def _slot(self, slot: int) -> recall.Record:
        return self.pages.slots(slot >> 7)[slot & 127]

    def _set_slot(self, slot: int, **fields: int) -> None:
        names = ("seq", "session", "before", "after", "speaker", "length", "flags", "information")
        fresh = tuple([fields.get(name, was) for name, was in zip(names, self._slot(slot))])
        self.pages.put(SLOTS, slot, fresh)
