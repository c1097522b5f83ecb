"""What the files of all trackers have in common: bytes that may be damaged, and JSON in them.

Nothing is guessed.  A file with the marks of a merge that nobody finished is refused as a whole,
because each half of it is somebody's work; a key that stands twice in an object is an error,
because one of its values would be lost.
"""

from __future__ import annotations

import os
import stat
from typing import Any

from ..core.digest import sha256
from ..core.foreign import pieces
from ..core.instant import from_iso
from ..errors import InvalidInput

LARGEST = 256 * 1024 * 1024
"""The most bytes of one file: it is held in memory."""

_MARKS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")


def read_file(path: str) -> bytes:
    """All of a file, or of standard input for ``-``.  InvalidInput if it cannot be read."""
    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            if path != "-" and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InvalidInput(f"{path} is not a file")
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > LARGEST:
        raise InvalidInput(f"{path} has more than {LARGEST} bytes")
    return content.removeprefix(b"\xef\xbb\xbf")


def start_of(path: str) -> bytes:
    """The start of a file, to see whose it is; empty if it is none or cannot be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read(65_536).removeprefix(b"\xef\xbb\xbf")
    except OSError:
        return b""


def first_file(place: str, *names: tuple[str, ...]) -> str | None:
    """The first of ``names`` below the folder ``place`` that is a file; or ``place``, if one.

    Standard input, ``-``, counts as one.
    """
    if place == "-" or os.path.isfile(place):
        return place
    paths = (os.path.join(place, *name) for name in names)
    return next((path for path in paths if os.path.isfile(path)), None)


def refuse_conflict(lines: list[str], where: str = "") -> None:
    """InvalidInput for the first line that git left in place of a merge; JSON has no such lines."""
    for number, line in enumerate(lines, 1):
        if line[:7] in _MARKS and line[7:8] in ("", " ", "\r", "\n"):
            raise conflict(number, where)


def conflict(number: int, where: str = "") -> InvalidInput:
    """The error for a mark of an unfinished merge."""
    of = f" of {where}" if where else ""
    return InvalidInput(
        f"Line {number}{of} is a conflict marker of git; nothing was imported",
        hint="Finish the merge, then import again.",
        line=number,
    )


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice")
    return found


def parsed(source: str) -> Any:
    """The JSON value of ``source``.  ValueError if it is none."""
    import json

    try:
        return json.loads(
            source, parse_constant=_no_constant, object_pairs_hook=_each_once, strict=False
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def shown(value: Any) -> str:
    """A JSON value as text: a string as it is."""
    import json

    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def digest_of(value: Any) -> str:
    """The digest of a JSON value: the same for the same content, however it was written."""
    import json

    return sha256(json.dumps(value, sort_keys=True).encode())


class Fields:
    """The fields of a JSON object, taken one by one; what nobody takes is left, and kept."""

    def __init__(self, found: dict[str, Any], program: str) -> None:
        self._left = dict(found)
        self._program = program
        self.notes: list[str] = []

    def text(self, *names: str) -> str:
        """The text of the first of ``names`` that has one."""
        for name in names:
            if isinstance(self._left.get(name), str):
                taken: str = self._left.pop(name)
                return taken
        return ""

    def word(self, name: str) -> str:
        """A text or a number, as text."""
        value = self._left.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(self._left.pop(name))
        return self.text(name)

    def items(self, name: str) -> list[Any]:
        """The items of a list; None stands for an empty one."""
        if self._left.get(name) is None or isinstance(self._left.get(name), list):
            return self._left.pop(name, None) or []
        return []

    def texts(self, name: str) -> list[str]:
        """The items of a list of texts; a list that holds anything else is left."""
        value = self._left.get(name)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return [*self._left.pop(name)]
        return []

    def time(self, name: str) -> int | None:
        """An instant; a text that is none is left."""
        value = self._left.get(name)
        if not isinstance(value, str):
            return None
        try:
            found = from_iso(value)
        except ValueError:
            return None
        del self._left[name]
        return max(found, 0)

    def peek(self, name: str) -> Any:
        """A value, left where it is."""
        return self._left.get(name)

    def drop(self, *names: str) -> None:
        """Leave off what says nothing of its own."""
        for name in names:
            self._left.pop(name, None)

    def note(self, name: str, body: str) -> None:
        """Keep a text as notes that name where it comes from."""
        self.notes += pieces(f"{self._program} {name}", body)

    def keep_left(self) -> None:
        """Keep what nobody took as one note, a line a field."""
        lines = [
            f"{name}: {shown(value)}"
            for name, value in self._left.items()
            if value not in (None, "", [], {})
        ]
        self._left.clear()
        self.note("fields", "\n".join(lines))
