"""A transcript that is one JSON document: a list of messages, or an object that has one.

Its messages are given as a file of lines would give them, each as a line of its own with its place
in the list as the number.  What stands beside the list comes first, as line 0: it may name the
session.
"""

from __future__ import annotations

import os

from ..core import canon
from ..errors import TranscriptUnreadable
from .lines import CHUNK, Raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

LARGEST = 64 << 20
"""The most bytes of a document: it can only be read as a whole."""
SNIFF = 256 << 10
"""The bytes of a file's start by which it is told whether it is one JSON document."""
_LIST = "messages"
_BLANK = " \t\r\n"
_TORN = b"{"
"""The line that stands for a message which is not whole."""


def opened(path: str) -> Raw | Document:
    """The lines of the file ``path``; if it is one JSON document, the messages that it lists.

    TranscriptUnreadable as for :func:`open_transcript`, and for a document of too many bytes.
    """
    raw = Raw(path)
    try:
        start = os.pread(raw.file, SNIFF, 0)
        if not is_document(start) or (len(start) == SNIFF and not _is_whole(raw, start)):
            return raw
    except OSError:  # a disk or network error: whoever reads on will meet it again
        return raw
    return Document(path, raw.file)


def _is_whole(raw: Raw, start: bytes) -> bool:
    """Whether the one line that ``start`` begins is all of the file; several are, if it has more.

    A line that is longer than any document has lines behind it, or is of no use.
    """
    if b"\n" in start.strip():
        return True
    at, ended = len(start), False
    while at <= LARGEST and (chunk := os.pread(raw.file, CHUNK, at)):
        _, feed, behind = (b"", b"\n", chunk) if ended else chunk.partition(b"\n")
        ended = bool(feed)
        if behind.strip():
            return False
        at += len(chunk)
    return at <= LARGEST


def is_document(start: bytes) -> bool:
    """Whether a file that starts so is one JSON document with a list of messages.

    A first line that is whole by itself, with more behind it, is a line among lines.
    """
    first, ended, behind = start.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    first = first.strip()
    if first[:1] not in (b"{", b"["):
        return False
    if first in (b"{", b"["):
        return bool(behind.strip())
    try:
        value = canon.decode(first.decode("utf-8", "replace"))
    except ValueError:  # one line that goes on, as far as can be seen
        return not ended and (first[:2] == b"[{" or b'"messages":' in first)
    if behind.strip():
        return False
    return isinstance(value, list) or isinstance(value.get("messages"), list)


class Document:
    """The messages of the document behind the descriptor ``file``, once, in their order.

    What :class:`.lines.Raw` tells of a file of lines is told here too.
    """

    def __init__(self, path: str, file: int) -> None:
        """TranscriptUnreadable for a document of too many bytes."""
        self.file = file
        self.size = os.fstat(file).st_size
        if self.size > LARGEST:
            os.close(file)
            raise TranscriptUnreadable(
                f"The transcript {path!r} is one JSON document of {self.size:,} bytes",
                hint=f"Documents of up to {LARGEST:,} bytes can be read.",
            )
        self.left: Callable[[], float] | None = None
        self.out_of_time: Callable[[], bool] = bool  # called without an argument, it says no
        self.lines = self.oversized = self.skipped = self.guessed = 0
        self.ends_open = self.stopped = False

    def __iter__(self) -> Iterator[tuple[int, bytes, bool, bool]]:
        """Number, the message as a line of JSON, that it is whole, and not read frugally."""
        try:
            os.lseek(self.file, 0, os.SEEK_SET)
            pieces = []
            while piece := os.read(self.file, 1 << 20):
                pieces.append(piece)
        except OSError:  # a disk or network error halfway: nothing can be told of a part
            return
        finally:
            os.close(self.file)
        source = b"".join(pieces).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        pieces.clear()
        try:
            yield from self._messages(source)
        except ValueError:  # it ends in the middle, or is damaged from here on
            self.ends_open = True
            self.lines += 1
            yield self.lines, _TORN, True, False

    def _messages(self, source: str) -> Iterator[tuple[int, bytes, bool, bool]]:
        head: dict[str, Any] = {}
        at = _behind_blanks(source, 0)
        if source[at : at + 1] == "{":
            at, found = at + 1, False
            while not found:
                at = _behind_blanks(source, at)
                if source[at : at + 1] == "}":
                    break
                key, at = canon.scan(source, at)
                if not isinstance(key, str):
                    raise ValueError("a key that is no string")
                at = _behind(source, at, ":")
                found = key == _LIST and source[at : at + 1] == "["
                if not found:
                    head[key], at = canon.scan(source, at)
                    at = _behind_blanks(source, at)
                    if source[at : at + 1] == ",":
                        at += 1
            yield 0, _line(head), True, False
            if not found:
                return
        at += 1
        while True:
            at = _behind_blanks(source, at)
            if source[at : at + 1] == "]":
                return
            value, at = canon.scan(source, at)
            self.lines += 1
            if self.out_of_time():
                self.stopped = True
                return
            yield self.lines, _line(value), True, False
            at = _behind_blanks(source, at)
            if source[at : at + 1] == ",":
                at += 1


def _behind_blanks(source: str, at: int) -> int:
    while source[at : at + 1] in _BLANK and at < len(source):
        at += 1
    return at


def _behind(source: str, at: int, mark: str) -> int:
    at = _behind_blanks(source, at)
    if source[at : at + 1] != mark:
        raise ValueError(f"no {mark!r} at character {at}")
    return _behind_blanks(source, at + 1)


def _line(value: object) -> bytes:
    return canon.text(value).encode("utf-8", "replace")
