"""The memory of the original ContextSpindle: the texts of ``.continuum/memory.state`` in order.

A snapshot is little-endian: the magic, a configuration, a step count, a state vector, and two lists
of records (hot, cold), each a number, a time, two vectors, an importance and a text.  Some versions
end with a checksum.  The vectors mean nothing outside of that program and are passed over.
"""

from __future__ import annotations

from struct import unpack_from

from ..errors import InvalidInput, in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"CTNM0001"
FOOTER = b"CTNMFOOT"
MOST_BYTES = 64 * 1024 * 1024
MOST_TEXT = 1024 * 1024
MOST_NUMBERS = 4_096
MOST_RECORDS = 100_000
_EVICTED = "evicted_from_hot_"
"""What that program puts before the text of a record that it moved to its cold list."""


def texts(path: str) -> list[tuple[int, str]]:
    """The texts of a snapshot with their numbers, in the order in which they were remembered.

    InvalidInput, naming what is wrong, if the file is not a whole snapshot.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
    if data[:8] != MAGIC:
        raise InvalidInput(
            f"{path} is not a snapshot of the original memory",
            hint=f"It would begin with {MAGIC.decode()}; it is usually .continuum/memory.state.",
        )
    if len(data) > MOST_BYTES:
        raise InvalidInput(f"{path} has more than {MOST_BYTES:,} bytes")
    try:
        found = dict(_records(data))
    except (ValueError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} is damaged: {in_words(error)}", hint="Nothing was taken in."
        ) from error
    return sorted(found.items())


def _records(data: bytes) -> Iterator[tuple[int, str]]:
    reader = _Reader(data)
    dimensions = [reader.whole(MOST_NUMBERS) for _ in range(2)]
    capacities = [reader.whole(MOST_RECORDS) for _ in range(2)]
    reader.skip(4)
    if reader.byte():
        reader.skip(4)
    reader.skip(5 * 4)
    reader.whole(1 << 63)  # the step count
    reader.vector(dimensions[1])
    for capacity in capacities:
        for _ in range(reader.whole(capacity)):
            number = reader.whole(1 << 63)
            reader.skip(8)
            for dimension in dimensions:
                reader.vector(dimension)
            reader.skip(4)
            yield number, reader.text().removeprefix(_EVICTED)
    reader.end()


class _Reader:
    """The bytes of a snapshot, each length checked before it is used.  ValueError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = len(MAGIC)

    def skip(self, count: int) -> int:
        start = self._at
        if count > len(self._data) - start:
            raise ValueError(f"it ends at byte {len(self._data):,}, in the middle of a field")
        self._at += count
        return start

    def byte(self) -> bool:
        flag = self._data[self.skip(1)]
        if flag > 1:
            raise ValueError(f"byte {self._at - 1:,} is {flag}")
        return bool(flag)

    def whole(self, most: int) -> int:
        (found,) = unpack_from("<Q", self._data, self.skip(8))
        if found > most:
            raise ValueError(f"the number before byte {self._at:,} is out of range")
        return int(found)

    def vector(self, dimension: int) -> None:
        if self.whole(MOST_NUMBERS) != dimension:
            raise ValueError(f"the vector before byte {self._at:,} has another length")
        self.skip(4 * dimension)

    def text(self) -> str:
        start = self.skip(self.whole(MOST_TEXT))
        return self._data[start : self._at].decode("utf-8")

    def end(self) -> None:
        rest = self._data[self._at :]
        if not rest:
            return
        if len(rest) != 16 or rest[:8] != FOOTER:
            raise ValueError(f"{len(rest):,} bytes follow its last record")
        check = 0xCBF29CE484222325  # FNV-1a of all before the footer
        for byte in self._data[: self._at]:
            check = (check ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
        if check != unpack_from("<Q", rest, 8)[0]:
            raise ValueError("its checksum does not fit")
