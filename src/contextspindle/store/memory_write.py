"""Writing a memory: an item and all that the index says of it, in one transaction.

Nothing here walks over the items.  A write touches the pages of its own terms, and those of the few
items that have to go for it.
"""

from __future__ import annotations

from ..core import canon, recall
from ..core.memory import FULL, GIST, Entry, Item, Note, entry_of
from ..core.retention import RAREST, gist, weight_of, worth
from ..core.text import size
from .driver import driver
from .memory_pages import SESSIONS, SLOTS, mark
from .memory_read import MISREAD, MemoryRead, said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from types import TracebackType
    from typing import Any

    from .memory_pages import Held

FEW = 32
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
_ROW = "SELECT seq, data, mark, entry, entry_mark, by_items, by_bytes FROM items"
_ONE = f"{_ROW} WHERE seq = ?"
_IN_TURN = f"{_ROW} WHERE seq > ? ORDER BY seq LIMIT ?"
_CHEAPEST = {
    "items": "SELECT seq FROM items WHERE by_items IS NOT NULL AND seq <> ?"
    " ORDER BY by_items, seq LIMIT ?",
    "bytes": "SELECT seq FROM items WHERE by_bytes IS NOT NULL AND seq <> ?"
    " ORDER BY by_bytes, seq LIMIT ?",
}
_NO_SLOT = (0, 0, -1, -1, 0, 0, 0, 0)
_NO_SESSION = (0, 0, -1, -1)


def _row_of(item: Item, seq: int) -> tuple[bytes, int, int]:
    data = canon.encode(item._asdict())
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
        slot, at = self._free_slot(), now if note.at is None else note.at
        item = Item(
            state["next"], slot, note.text, note.by, at, note.session, note.source, note.labels,
            note.key, note.pinned, FULL, 1, now, weight_of(note.text),
        )  # fmt: skip
        state["next"] += 1
        state["items"] += 1
        state["seen"] += 1
        state["pinned"] += item.pinned
        state["bytes"] += size(item.text)
        entry = entry_of(item, self._store.lexicon)
        number = self._session(item.session)
        before = -1
        if number:
            length, count, before, _ = self.pages.sessions(number >> 7)[number & 127]
            self._set_session(number, (length + entry.length, count + 1, slot, -1))
            if before >= 0:
                self._link(before, after=slot)
        speaker = recall.name_mark(item.by) if item.by else 0
        self.pages.put(SLOTS, slot, (item.seq, number, before, -1, speaker, *_says(entry)))
        self._index(item, entry)
        print_ = print_ or self.print_of(item.text, item.by)
        # One text may be the value of several keys, and stand without one besides.
        self.pages.words.set(print_, [item.seq, *(self.word(print_) or ())])
        if item.key:
            self._name(item)
        self._keep(item, entry, print_, _INSERT)
        return item

    def _name(self, item: Item) -> None:
        """The item is found by its key."""
        self.pages.words.set("@" + item.key, [item.seq])

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
        self.pages.held.pop(item.seq, None)
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
        entry = entry_of(after, self._store.lexicon)
        # A gist has most of its terms from the whole, where it is short in the same places.
        old = row["terms"]
        stay = {term for term, places in entry.terms.items() if old.get(term) == places}
        self._unindex(item, row, stay)
        self.state["bytes"] += size(text) - size(item.text)
        self.state["gists"] += (tier == GIST) - (item.tier == GIST)
        record = self._slot(item.slot)
        self.pages.put(SLOTS, item.slot, (*record[:5], *_says(entry)))
        number = record[1]
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
            self._link(before, after=after)
        if after >= 0:
            self._link(after, before=before)
        if number:
            length, count, last, _ = self.pages.sessions(number >> 7)[number & 127]
            if count > 1:
                last = before if last == item.slot else last
                self._set_session(number, (length - row["length"], count - 1, last, -1))
            else:
                self._set_session(number, (0, 0, -1, state["free_session"]))
                state["free_session"] = number
                state["sessions"] -= 1
                self.pages.words.set(">" + item.session, None)
        self.pages.put(SLOTS, item.slot, (0, 0, -1, state["free_slot"], 0, 0, 0, 0))
        state["free_slot"] = item.slot
        for word in (row["print"], "@" + item.key):
            known = self.word(word) or []
            if item.seq in known:
                rest = [seq for seq in known if seq != item.seq]
                self.pages.words.set(word, rest or None)
        self.connection.execute("DELETE FROM items WHERE seq = ?", (item.seq,))
        self.pages.held.pop(item.seq, None)

    def cheapest(self, by: str, count: int, besides: int) -> list[Item]:
        """Items worth the least when they were last looked at; pinned ones never."""
        rows = self.connection.execute(_CHEAPEST[by], (besides, count)).fetchall()
        # Most are among the least the next time again.
        held = self.pages.held
        self.pages.held = {seq: held.get(seq) or self._row(seq) for (seq,) in rows}
        return [found[0] for found in self.pages.held.values()]

    def worth(self, item: Item) -> tuple[int, int]:
        """What the item is worth now: as one of the items, and by its bytes."""
        head = (self.pages.held.get(item.seq) or self._row(item.seq))[2]
        return self._worth(item, head["rarest"], head["length"])

    def record(self, item: Item, worth: tuple[int, int]) -> None:
        """That is what the item was worth when it was last looked at."""
        kept = _recorded(worth, item)
        held = self.pages.held.get(item.seq)
        if held:
            if held[3] == kept:
                return
            self.pages.held[item.seq] = (*held[:3], kept)
        self.connection.execute(
            "UPDATE items SET by_items = ?, by_bytes = ? WHERE seq = ?", (*kept, item.seq)
        )

    def in_turn(self, count: int) -> list[Item]:
        """One item after the other, so that each is looked at again in a while."""
        found: list[Item] = []
        for turn in (self.state["turn"], -1):
            wanted = (turn, count - len(found))
            for row in self.connection.execute(_IN_TURN, wanted).fetchall():
                self.pages.held[row[0]] = held = self._sound(*row)
                found.append(held[0])
            if len(found) == count:
                break
        if found:
            self.state["turn"] = found[-1].seq
        return found

    def gist(self, item: Item) -> str:
        """What is left of it; see :func:`.retention.gist`."""
        return gist(item.text, self._ever, self._store.lexicon)

    def _ever(self, term: str) -> int:
        """How many items ever held a term."""
        known = self.pages.words.get(term)
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
        rarest = sorted([(self._ever(term), term) for term in entry.said])[:RAREST]
        named = [term for _, term in rarest]
        entry_data = canon.encode(
            {"terms": entry.terms, "rarest": named, "length": entry.length, "print": print_}
        )
        data, data_mark, seq = _row_of(item, item.seq)
        worth = _recorded(self._worth(item, named, entry.length), item)
        written = (*worth, data, data_mark, entry_data, mark(seq, entry_data), seq)
        if not self.connection.execute(how, written).rowcount:
            raise self.pages.damaged(f"item m-{seq} is not there")
        self.pages.held.pop(seq, None)

    def _entry(self, seq: int) -> dict[str, Any]:
        """How an item stands in the index, as it was written there."""
        entry = (self.pages.held.get(seq) or self._row(seq))[1]
        found: dict[str, Any] = canon.decode(entry)
        return found

    def _row(self, seq: int) -> Held:
        row = self.connection.execute(_ONE, (seq,)).fetchone()
        if row is None:
            raise self.pages.damaged(f"item m-{seq} is not there")
        return self._sound(*row)

    def _sound(
        self, seq: int, data: Any, kept: int, entry: Any, entry_kept: int, *recorded: Any
    ) -> Held:
        """A row as it was written."""
        item = self.read_row(seq, data, kept)
        if type(entry) is not bytes or mark(seq, entry) != entry_kept:
            raise self.pages.damaged(f"the entry of item m-{seq}")
        return item, entry, canon.decode(entry[: entry.index(b',"terms":')] + b"}"), recorded

    def _worth(self, item: Item, rarest: list[str], length: int) -> tuple[int, int]:
        known = map(self.pages.words.get, rarest)
        return worth(
            [(one[2], one[1]) if one else (1, 1) for one in known],
            self.state["seen"],
            item.weight,
            length,
            size(item.text),
        )

    def _index(self, item: Item, entry: Entry, stay: Collection[str] | None = None) -> None:
        """Find the item by its terms; but for those that ``stay`` of an item that is changed."""
        state = self.state
        state["passages"] += recall.passages(entry.length)
        state["terms"] += entry.length
        words, changing = self.pages.words, self.pages.changing
        block, first, first_there = item.slot >> 7, item.slot << 24, (item.slot & 127) << 24
        for term, places in entry.terms.items():
            if stay and term in stay:
                continue
            known = words.get(term)
            if known is None:
                known = [state["number"], 0, 0, []]
                state["number"] += 1
                self._spell(term)
            words.set(term, known)
            number, _, _, few = known
            known[1] += len(places)
            known[2] += stay is None
            if few is None:
                there = changing(number, block)
                there += [first_there + one for one in places]
                there.sort()
                continue
            few += [first + one for one in places]
            few.sort()
            if len(few) > FEW:
                known[3] = None
                for one in few:
                    changing(number, one >> 31).append(one & 0x7FFFFFFF)

    def _unindex(self, item: Item, row: dict[str, Any], stay: Collection[str] = ()) -> None:
        self.state["passages"] -= recall.passages(row["length"])
        self.state["terms"] -= row["length"]
        words, changing = self.pages.words, self.pages.changing
        block, first, first_there = item.slot >> 7, item.slot << 24, (item.slot & 127) << 24
        for term, places in row["terms"].items():
            if term in stay:
                continue
            known = words.get(term)
            if known is None:
                raise self.pages.damaged("a term of an item is not in the dictionary")
            words.set(term, known)
            number, _, _, few = known
            known[1] -= len(places)
            try:
                if few is None:
                    there = changing(number, block)
                    for one in places:
                        there.remove(first_there + one)
                else:
                    for one in places:
                        few.remove(first + one)
            except ValueError:
                raise self.pages.damaged("an item is not where its terms are") from None
            if not known[1]:
                known[3] = []
                if term[0] == "#":  # a mark; how often there was one is never asked
                    words.set(term, None)
                self._bury(term)

    def _bury(self, term: str) -> None:
        """Forget terms of the page of ``term`` that no item holds any more, the least met first,
        when they are many."""
        words = self.pages.words
        if words.most_with(term, ",[]]") <= MOST_DEAD:
            return
        dead = sorted(
            (known[2], known[0], one)
            for one, known in words.page_of(term).items()
            if len(known) == 4 and not known[1]
        )
        for _, _, one in dead[: MOST_DEAD // 2] if len(dead) > MOST_DEAD else ():
            words.set(one, None)
            for gram in recall.grams(one):
                spelt = (self.pages.grams.get(gram) or "").split(" ")
                self.pages.grams.set(gram, " ".join([other for other in spelt if other != one]))

    def _spell(self, term: str) -> None:
        for gram in recall.grams(term):
            known = self.pages.grams.get(gram)
            self.pages.grams.set(gram, f"{known} {term}" if known else term)

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
        self.pages.words.set(word, [number])
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

    def _link(self, slot: int, *, before: int = -2, after: int = -2) -> None:
        """The slots of its neighbours in its session are others."""
        record = [*self._slot(slot)]
        if before != -2:
            record[2] = before
        if after != -2:
            record[3] = after
        self.pages.put(SLOTS, slot, tuple(record))


def _says(entry: Entry) -> tuple[int, int, int]:
    """What a record says of the text of its item."""
    return min(entry.length, 0xFFFF), entry.flags, entry.information
