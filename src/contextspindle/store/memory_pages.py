"""The pages of a memory's index: numbered byte strings, each with its checksum.

A page that is damaged, or not there though it must be, is an error and never an empty answer.  So
the index has no keys that a query could fail to find: every page is asked for by its number, and a
term that is not in the one page where it would be is in no item.  What was read stays decoded as
long as nobody else writes.

Of a page of a dictionary only the words that are asked for are decoded, and only those that changed
are encoded again: a page holds some ten of them, and a write is about one.
"""

from __future__ import annotations

from struct import calcsize, iter_unpack, pack, pack_into, unpack
from zlib import crc32

from ..core import canon
from ..errors import MemoryDamaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..core.memory import Item
    from ..core.recall import Record
    from .driver import driver

    Held = tuple[Item, bytes, dict[str, Any], tuple[Any, ...]]
    """An item, its entry as it is stored, of that what stands before the terms, and the worths
    that are recorded."""

WORDS, GRAMS, SLOTS, SESSIONS, PLACES = (kind << 48 for kind in range(1, 6))
BUCKETS = 1_024
"""Pages of each of the two dictionaries: of words, and of threes of letters."""
ROWS = 128
"""Records of a page of slots or sessions, and slots that a page of places is about."""

_FORMS = {SLOTS: "<IIiiIHBB", SESSIONS: "<IIii"}
_LENGTHS = {kind: calcsize(form) for kind, form in _FORMS.items()}


def bucket(word: str) -> int:
    """The page of a dictionary that a word is in."""
    return crc32(word.encode()) % BUCKETS


def mark(key: int, data: bytes | bytearray) -> int:
    """The checksum of ``data``, where it belongs included."""
    return crc32(data, (key ^ key >> 32) & 0xFFFFFFFF)


class Dictionary:
    """The pages of one kind of words: each a JSON object of what is known of some of them.

    What is known of a word is a list of numbers, or terms with blanks between them: there is no
    quotation mark in it that does not end it.  So a word's part of a page can be found, and
    replaced, as text.
    """

    def __init__(self, pages: Pages, kind: int) -> None:
        self._pages = pages
        self._kind = kind
        self._texts: dict[int, str] = {}
        """Pages as they are stored, without their brackets and with a comma before each word."""
        self._known: dict[str, Any] = {}
        """What was asked for, and what was set; None of a word that is not there."""
        self._set: dict[str, None] = {}
        """The words of which something else is known than what is stored, in order."""

    def forget(self) -> None:
        """Ask anew."""
        self._texts.clear()
        self._known.clear()
        self._set.clear()

    def get(self, word: str) -> Any:
        """What is known of ``word``; None if it is not there."""
        try:
            return self._known[word]
        except KeyError:
            pass
        text = self._text(self._kind | bucket(word))
        named = _named(word)
        at = text.find(named)
        found = self._known[word] = canon.scan(text, at + len(named))[0] if at >= 0 else None
        return found

    def set(self, word: str, known: Any) -> None:
        """That is known of ``word`` from now on; None takes it away."""
        self._known[word] = known
        self._set[word] = None

    def page_of(self, word: str) -> dict[str, Any]:
        """All that is known of the words of a page: of the one where ``word`` is, if it is."""
        return self._page(self._kind | bucket(word))

    def most_with(self, word: str, part: str) -> int:
        """So many words of that page at most are known by a text that has ``part`` in it."""
        return self._text(self._kind | bucket(word)).count(part) + len(self._set)

    def beginning_with(self, char: str) -> Iterator[str]:
        """The words that begin with ``char``.

        Every page is looked at as it is stored, which needs a fraction of decoding it.
        """
        begins = f',"{char}'
        for key in range(self._kind, self._kind + BUCKETS):
            if self._set or begins in self._text(key):
                yield from (word for word in self._page(key) if word[0] == char)

    def flush(self) -> Iterator[tuple[int, bytes]]:
        """The pages that changed, as they are to be stored."""
        pages: dict[int, list[str]] = {}
        for word in self._set:
            pages.setdefault(self._kind | bucket(word), []).append(word)
        for key, words in pages.items():
            text = self._text(key)
            for word in words:
                known, named = self._known[word], _named(word)
                if known is None:
                    part = ""
                elif known[3:] == [None]:  # most are: without the way through the encoder
                    part = f"{named}[{known[0]},{known[1]},{known[2]},null]"
                else:
                    part = named + canon.text(known)
                at = text.find(named)
                end = text.find(',"', at + len(named)) if at >= 0 else -1
                if at < 0:
                    text += part  # the words of a page are in the order in which they came
                elif end < 0:
                    text = text[:at] + part
                else:
                    text = text[:at] + part + text[end:]
            self._texts[key] = text
            yield key, f"{{{text[1:]}}}".encode()
        self._set.clear()

    def _page(self, key: int) -> dict[str, Any]:
        page: dict[str, Any] = canon.decode(f"{{{self._text(key)[1:]}}}")
        for word in self._set:
            if self._kind | bucket(word) != key:
                continue
            known = self._known[word]
            if known is None:
                page.pop(word, None)
            else:
                page[word] = known
        return page

    def _text(self, key: int) -> str:
        text = self._texts.get(key)
        if text is None:
            stored = self._pages.stored(key).decode()
            if stored[:1] + stored[-1:] != "{}":
                raise self._pages.damaged(f"page {key:x}")
            text = self._texts[key] = "," + stored[1:-1] if len(stored) > 2 else ""
        return text


def _named(word: str) -> str:
    """How a word begins in a page.  Quotation marks in a word are escaped: it begins there only."""
    return f',"{word}":' if word.isalnum() else f",{canon.text(word)}:"


class Pages:
    """The pages of one open file, decoded when first asked for."""

    def __init__(self, db: driver.Connection, path: str) -> None:
        self.connection = db
        self._path = path
        self.words = Dictionary(self, WORDS)
        self.grams = Dictionary(self, GRAMS)
        self._found: dict[int, list[Any]] = {}
        """Pages of records."""
        self._packed: dict[int, bytearray] = {}
        """The same as they are stored; one that was written to is never packed anew."""
        self._places: dict[int, dict[int, list[int]]] = {}
        """By the number of a word, and by the block of slots."""
        self._whole: set[int] = set()
        """The numbers of the words of which every block was read."""
        self._dirty: set[int] = set()
        self.held: dict[int, Held] = {}
        """By their numbers, the few items that were looked at last to make room."""

    def forget(self) -> None:
        """Decode anew: somebody else wrote, or what was changed here was not kept."""
        self.words.forget()
        self.grams.forget()
        self._found.clear()
        self._packed.clear()
        self._places.clear()
        self._whole.clear()
        self._dirty.clear()
        self.held.clear()

    def damaged(self, what: str) -> MemoryDamaged:
        """The error for a page that is not as it was written."""
        return MemoryDamaged(f"{self._path} is damaged: {what}")

    def slots(self, block: int) -> list[Record]:
        """The records of :data:`ROWS` slots."""
        return self._records(SLOTS, block)

    def all_slots(self, count: int) -> list[Record]:
        """The records of the first ``count`` slots: all that there are."""
        found: list[Record] | None = self._found.get(-1)
        if found is None:
            found = self._found[-1] = []
            for block in range(-(-count // ROWS)):
                found += self.slots(block)
            if len(found) != count:
                raise self.damaged(f"{count} slots are {len(found)}")
        return found

    def sessions(self, block: int) -> list[tuple[int, int, int, int]]:
        """The records of as many sessions: terms, items, last slot, next free number."""
        return self._records(SESSIONS, block)

    def _records(self, kind: int, block: int) -> list[Any]:
        key = kind | block
        found = self._found.get(key)
        if found is None:
            data = self._packed[key] = bytearray(self.stored(key))
            found = self._found[key] = list(iter_unpack(_FORMS[kind], data))
        return found

    def put(self, kind: int, number: int, record: tuple[int, ...]) -> None:
        """The record of a slot or of a session is ``record``."""
        block, at = divmod(number, ROWS)
        key = kind | block
        self._records(kind, block)[at] = record
        pack_into(_FORMS[kind], self._packed[key], at * _LENGTHS[kind], *record)
        self._dirty.add(key)

    def append(self, kind: int, number: int, record: tuple[int, ...]) -> None:
        """The same for the next number, on a page of its own if it begins one."""
        block, at = divmod(number, ROWS)
        if at == 0:
            self._found[kind | block], self._packed[kind | block] = [], bytearray()
        self._records(kind, block).append(record)
        self._packed[kind | block] += bytes(_LENGTHS[kind])
        self.put(kind, number, record)

    def all_places(self, number: int) -> dict[int, list[int]]:
        """Where the word of that number stands, by block of slots."""
        held = self._places.setdefault(number, {})
        if number not in self._whole:
            first = PLACES | number << 16
            rows = self.connection.execute(
                "SELECT key, data, mark FROM pages WHERE key BETWEEN ? AND ?",
                (first, first | 0xFFFF),
            )
            for key, data, kept in rows:
                if key & 0xFFFF not in held:
                    held[key & 0xFFFF] = self._listed(key, data, kept)
            self._whole.add(number)
        return held

    def changing(self, number: int, block: int) -> list[int]:
        """The same in one block, to be written when the transaction ends; empty if it has none."""
        key = PLACES | number << 16 | block
        self._dirty.add(key)
        held = self._places.get(number)
        if held is None:
            held = self._places[number] = {}
        found = held.get(block)
        if found is None:
            row = None if number in self._whole else self._row(key)
            found = held[block] = self._listed(key, *row) if row else []
        return found

    def _listed(self, key: int, data: Any, kept: Any) -> list[int]:
        if type(data) is not bytes or mark(key, data) != kept or len(data) & 3:
            raise self.damaged(f"page {key:x}")
        return list(unpack(f"<{len(data) >> 2}I", data))

    def flush(self) -> None:
        """What was changed, written."""
        self._found.pop(-1, None)
        pages: list[tuple[int, bytes | bytearray]] = [*self.words.flush(), *self.grams.flush()]
        empty = []
        for key in self._dirty:
            if key < PLACES:
                pages.append((key, self._packed[key]))
                continue
            listed = self._places[(key - PLACES) >> 16][key & 0xFFFF]
            if listed:
                pages.append((key, pack(f"<{len(listed)}I", *listed)))
            else:
                empty.append((key,))
        pages.sort()
        self.connection.executemany(
            "INSERT OR REPLACE INTO pages (key, data, mark) VALUES (?, ?, ?)",
            [(key, data, crc32(data, (key ^ key >> 32) & 0xFFFFFFFF)) for key, data in pages],
        )
        if empty:
            self.connection.executemany("DELETE FROM pages WHERE key = ?", sorted(empty))
        self._dirty.clear()

    def stored(self, key: int) -> bytes:
        """A page that must be there."""
        row = self._row(key)
        if row is None or type(row[0]) is not bytes or mark(key, row[0]) != row[1]:
            raise self.damaged(f"page {key:x}")
        data: bytes = row[0]
        return data

    def _row(self, key: int) -> tuple[Any, Any] | None:
        row: tuple[Any, Any] | None = self.connection.execute(
            "SELECT data, mark FROM pages WHERE key = ?", (key,)
        ).fetchone()
        return row
