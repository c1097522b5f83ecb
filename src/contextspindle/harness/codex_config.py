"""Our server in Codex's ``config.toml``, edited as text: every other line stays as it stands.

A table is found by its header, and ends with its last key: comments below that are about what comes
next.  Whether a line that looks like a header is one, and where a key's value ends, is asked of the
TOML reader: what stands before is whole by itself.  What an edit came to is read again and held
against what was there: anything but our table that says something else is refused.
"""

from __future__ import annotations

import tomllib

from ..core import canon
from .hooks import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SERVERS = "mcp_servers"


class Server:
    """Our server as a table, its reading tools approved."""

    NAME = "server entries"

    def __init__(
        self, name: str, command: str, words: tuple[str, ...], reads: tuple[str, ...]
    ) -> None:
        self._name = name
        self._wanted: dict[str, Any] = {"command": command, "args": [*words]}
        self._reads = reads

    def left_of(self, kept: str, text: str) -> bool:
        """Whether the text is what was kept, but for the end of the last line."""
        _parsed(kept)
        return text.removesuffix("\n") == kept.removesuffix("\n") or not (text + kept).strip()

    def there(self, text: str) -> bool:
        """Whether the file has our table."""
        return self._entry(_parsed(text)) is not None

    shared = there

    def with_ours(self, text: str) -> str:
        """The text with our table: brought up to date where it stands, else at the end."""
        before = _parsed(text)
        entry = self._entry(before)
        if entry is not None and not _is_ours(entry):
            raise ValueError(f"the server {self._name!r} in it is not ours")
        if entry is not None and self._fits(entry):
            return text
        if entry is None:
            gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
            lines = {(key,): canon.text(value) for key, value in self._wanted.items()}
            after = f"{text}{gap}[{_SERVERS}.{self._name}]\n" + _lines(lines | self._modes({}))
        else:
            # Its words start our server, or it were not ours: what a user put among them stays.
            after = self._written(text, (), {("command",): canon.text(self._wanted["command"])})
            for path, mode in self._modes(entry).items():
                after = self._written(after, self._nearest(after, path[:-1]), {path: mode})
        try:
            parsed = _parsed(after)
        except ValueError:  # what is there cannot be gone on with elsewhere in the file
            raise self._not_edited() from None
        self._check(before, parsed)
        if not self._fits(self._entry(parsed) or {}):
            raise self._not_edited()
        return after

    def switched_off(self, text: str) -> str:
        """What in the text switches our server off, as it stands there; empty if nothing does."""
        entry = self._entry(_parsed(text))
        return "enabled = false" if entry and entry.get("enabled") is False else ""

    def _modes(self, entry: dict[str, Any]) -> dict[tuple[str, ...], str]:
        """The approvals that an entry lacks; a mode that the user chose stays."""
        held = entry.get("tools")
        tools = held if isinstance(held, dict) else {}
        return {
            ("tools", one, "approval_mode"): canon.text("approve")
            for one in self._reads
            if not isinstance(tools.get(one), dict) or "approval_mode" not in tools[one]
        }

    def _nearest(self, text: str, path: tuple[str, ...]) -> tuple[str, ...]:
        """The deepest table on the way to ``path`` that has a header of its own."""
        for length in range(len(path), 0, -1):
            if self._place(text, path[:length]):
                return path[:length]
        return ()

    def _written(
        self, text: str, below: tuple[str, ...], wanted: dict[tuple[str, ...], str]
    ) -> str:
        """The text with keys in the table ``below`` our server's, or in that of the server."""
        place = self._place(text, below)
        if place is None:
            raise self._not_edited()
        start, end = place
        left = {path[len(below) :]: said for path, said in wanted.items()}
        table = ""
        for line in _whole_lines(text[start:end]):
            path, value = _said(line)
            if path in left:
                said = left.pop(path)
                fits = repr(_parsed(f"is = {said}")["is"]) == repr(value)
                line = line if fits else f"{'.'.join(path)} = {said}{_comment(line)}"
            table += line
        if not table.endswith("\n"):
            table += "\n"
        return text[:start] + table + _lines(left) + text[end:]

    def _not_edited(self) -> ValueError:
        whole = f"[{_SERVERS}.{self._name}]"
        return ValueError(
            f"its {_SERVERS} are written in a way that is not edited here; give each server a"
            f" table of its own, as {whole}, then try again"
        )

    def without_ours(self, text: str) -> str:
        """The text without our table, and what a user has set below it."""
        before = _parsed(text)
        entry = self._entry(before)
        if entry is None or not _is_ours(entry):
            return text
        after = text
        while self._entry(_parsed(after)) is not None:
            place = self._place(after)
            if place is None:
                raise self._not_edited()
            start, end = place
            head, tail = after[:start], after[end:]
            # One blank line was put before it; one stays between what stands around it.
            if head.endswith("\n\n") and (not tail or tail.startswith(("\n", "\r\n"))):
                head = head[:-1]
            after = head + tail
        self._check(before, _parsed(after))
        return after

    def _entry(self, parsed: dict[str, Any]) -> dict[str, Any] | None:
        servers = parsed.get(_SERVERS, {})
        found = servers.get(self._name) if isinstance(servers, dict) else None
        return found if isinstance(found, dict) else None

    def _fits(self, entry: dict[str, Any]) -> bool:
        return (
            _is_ours(entry)
            and entry["command"] == self._wanted["command"]
            and not self._modes(entry)
        )

    def _place(self, text: str, below: tuple[str, ...] | None = None) -> tuple[int, int] | None:
        """Where a table stands: its header, and all up to its last key; None if it has no header.

        It is the one that is ``below`` our server's, or the first that is of it at all.
        """
        ours = [_SERVERS, self._name]
        start, at = None, 0
        for line in _by_line(text):
            if line.lstrip().startswith("[") and _is_whole(text[:at]):
                if start is not None:
                    return start, _end_of_keys(text, start, at)
                path = _header(line)
                if path[:2] == ours if below is None else path == [*ours, *below]:
                    start = at
            at += len(line)
        return None if start is None else (start, _end_of_keys(text, start, at))

    def _check(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        """ValueError if anything but our table says something else than before."""

        def others(parsed: dict[str, Any]) -> dict[str, Any]:
            servers = parsed.get(_SERVERS)
            if not isinstance(servers, dict):
                return parsed
            left = {name: one for name, one in servers.items() if name != self._name}
            rest = {name: one for name, one in parsed.items() if name != _SERVERS}
            return {**rest, _SERVERS: left} if left else rest

        # As it is shown: 1 is not true, and a value that equals nothing is what it was.
        if repr(others(before)) != repr(others(after)):
            raise self._not_edited()


def _parsed(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _is_whole(text: str) -> bool:
    try:
        _parsed(text)
    except ValueError:
        return False
    return True


def _by_line(text: str) -> list[str]:
    """The lines with their ends, as TOML counts lines."""
    lines = [line + "\n" for line in text.split("\n")]
    return [*lines[:-1], lines[-1][:-1]] if lines[-1] != "\n" else lines[:-1]


def _header(line: str) -> list[str]:
    """The keys that a header names."""
    path = []
    place: Any = _parsed(line)
    while isinstance(place, dict) and place:
        key, place = next(iter(place.items()))
        path.append(key)
        place = place[0] if isinstance(place, list) else place
    return path


def _end_of_keys(text: str, start: int, end: int) -> int:
    """Where the last key ends of a table that stands in ``text[start:end]``."""
    for line in reversed(_by_line(text[start:end])):
        bare = line.strip()
        if (bare and not bare.startswith("#")) or not _is_whole(text[: end - len(line)]):
            break
        end -= len(line)
    return end


def _whole_lines(text: str) -> list[str]:
    """The lines of a table, those of one value together."""
    listed: list[str] = []
    piece = ""
    for line in _by_line(text):
        piece += line
        if _is_whole(piece):
            listed.append(piece)
            piece = ""
    return [*listed, piece]


def _said(line: str) -> tuple[tuple[str, ...], Any]:
    """The path of the one key in a line, and its value; none in a comment or a header."""
    if line.lstrip().startswith("["):
        return (), None
    path: tuple[str, ...] = ()
    place: Any = _parsed(line)
    while isinstance(place, dict) and len(place) == 1:
        key, place = next(iter(place.items()))
        path = (*path, key)
    return path, place


def _comment(line: str) -> str:
    """What stands behind the value in a line of a key: a comment, and the end."""
    said = _parsed(line)
    for at, one in enumerate(line):
        if one == "#" and _is_whole(line[:at]) and _parsed(line[:at]) == said:
            return "  " + line[at:]
    return line[len(line.rstrip("\r\n")) :]


def _lines(wanted: dict[tuple[str, ...], str]) -> str:
    return "".join(f"{'.'.join(path)} = {value}\n" for path, value in wanted.items())


def _is_ours(entry: dict[str, Any]) -> bool:
    command, words = entry.get("command"), entry.get("args")
    return (
        isinstance(command, str)
        and command.rpartition("/")[2] in NAMES
        and isinstance(words, list)
        and "mcp" in words
    )
