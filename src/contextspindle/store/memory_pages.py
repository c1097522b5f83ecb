"""The pages of a memory's index: numbered byte strings, each with its checksum.

A page that is damaged, or not there though it must be, is an error and never an empty answer.  So
the index has no keys that a query could fail to find: every page is asked for by its number, and a
term that is not in the one page where it would be is in no item.  What was read stays decoded as
long as nobody else writes.
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

    from ..core.recall import Record
    from .driver import driver

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


class Pages:
    """The pages of one open file, decoded when first asked for."""

    def __init__(self, db: driver.Connection, path: str) -> None:
        self.connection = db
        self._path = path
        self._found: dict[int, Any] = {}
        self._packed: dict[int, bytearray] = {}
        """Pages of records as they are stored; one that was written to is never packed anew."""
        self._dirty: set[int] = set()

    def forget(self) -> None:
        """Decode anew: somebody else wrote, or what was changed here was not kept."""
        self._found.clear()
        self._packed.clear()
        self._dirty.clear()

    def damaged(self, what: str) -> MemoryDamaged:
        """The error for a page that is not as it was written."""
        return MemoryDamaged(f"{self._path} is damaged: {what}")

    def dictionary(self, kind: int, word: str) -> dict[str, Any]:
        """The page of the dictionary ``kind`` in which ``word`` is, if it is in any."""
        return self._words(kind | bucket(word))

    def changing(self, kind: int, word: str) -> dict[str, Any]:
        """The same page, to be written when the transaction ends."""
        key = kind | bucket(word)
        self._dirty.add(key)
        return self._words(key)

    def naming(self, char: str) -> Iterator[dict[str, Any]]:
        """The pages of the dictionary of words with a word that begins with ``char``.

        Every page is looked at as it is stored, which needs a fraction of decoding it.
        """
        begins = f'"{char}'.encode()
        for key in range(WORDS, WORDS + BUCKETS):
            if key in self._dirty or begins in self._bytes(key):
                yield self._words(key)

    def _words(self, key: int) -> dict[str, Any]:
        found: dict[str, Any] | None = self._found.get(key)
        if found is None:
            found = self._found[key] = canon.decode(self._bytes(key))
            if type(found) is not dict:
                raise self.damaged(f"page {key:x}")
        return found

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
        found: list[Any] | None = self._found.get(key)
        if found is None:
            data = self._packed[key] = bytearray(self._bytes(key))
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

    def places(self, number: int) -> dict[int, list[int]]:
        """Where the word of that number stands, by block of slots."""
        first = PLACES | number << 16
        found: dict[int, list[int]] | None = self._found.get(first)
        if found is None:
            found = self._found[first] = {}
            rows = self.connection.execute(
                "SELECT key, data, mark FROM pages WHERE key BETWEEN ? AND ?",
                (first, first | 0xFFFF),
            )
            for key, data, kept in rows:
                if type(data) is not bytes or mark(key, data) != kept or len(data) & 3:
                    raise self.damaged(f"page {key:x}")
                found[key & 0xFFFF] = list(unpack(f"<{len(data) >> 2}I", data))
        return found

    def touch(self, key: int) -> None:
        """Write this page when the transaction ends."""
        self._dirty.add(key)

    def flush(self) -> None:
        """What was changed, written."""
        self._found.pop(-1, None)
        rows = [(key, self._data(key)) for key in sorted(self._dirty)]
        self.connection.executemany(
            "INSERT OR REPLACE INTO pages (key, data, mark) VALUES (?, ?, ?)",
            [(key, data, mark(key, data)) for key, data in rows if data is not None],
        )
        empty = [(key,) for key, data in rows if data is None]
        if empty:
            self.connection.executemany("DELETE FROM pages WHERE key = ?", empty)
        self._dirty.clear()

    def _data(self, key: int) -> bytes | bytearray | None:
        kind = key >> 48 << 48
        if kind == PLACES:
            listed = self._found[key & ~0xFFFF].get(key & 0xFFFF)
            return pack(f"<{len(listed)}I", *listed) if listed else None
        return canon.encode(self._found[key]) if kind in (WORDS, GRAMS) else self._packed[key]

    def _bytes(self, key: int) -> bytes:
        row = self.connection.execute(
            "SELECT data, mark FROM pages WHERE key = ?", (key,)
        ).fetchone()
        if row is None or type(row[0]) is not bytes or mark(key, row[0]) != row[1]:
            raise self.damaged(f"page {key:x}")
        data: bytes = row[0]
        return data
