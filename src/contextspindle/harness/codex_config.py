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
        wanted: dict[tuple[str, ...], str] = {
            (key,): canon.text(value) for key, value in self._wanted.items()
        }
        tools = (entry or {}).get("tools", {})
        for one in self._reads:  # a mode that the user chose stays
            mode = canon.text(tools.get(one, {}).get("approval_mode", "approve"))
            wanted["tools", one, "approval_mode"] = mode
        if entry is None:
            gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
            after = f"{text}{gap}[{_SERVERS}.{self._name}]\n" + _lines(wanted)
        else:
            start, end = self._table(text, alone=True)
            table = ""
            for line in _whole_lines(text[start:end]):
                path, value = _said(line)
                if path in wanted:
                    said = wanted.pop(path)
                    fits = repr(_parsed(f"is = {said}")["is"]) == repr(value)
                    line = line if fits else f"{'.'.join(path)} = {said}{_comment(line)}"
                table += line
            if not table.endswith("\n"):
                table += "\n"
            after = text[:start] + table + _lines(wanted) + text[end:]
        self._check(before, _parsed(after))
        if not self._fits(self._entry(_parsed(after)) or {}):
            raise ValueError(f"[{_SERVERS}.{self._name}] is written in a way that is not edited")
        return after

    def without_ours(self, text: str) -> str:
        """The text without our table, and what a user has set below it."""
        before = _parsed(text)
        entry = self._entry(before)
        if entry is None or not _is_ours(entry):
            return text
        after = text
        while self._entry(_parsed(after)) is not None:
            start, end = self._table(after)
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
        tools = entry.get("tools", {})
        return {key: entry.get(key) for key in self._wanted} == self._wanted and all(
            "approval_mode" in tools.get(one, {}) for one in self._reads
        )

    def _table(self, text: str, *, alone: bool = False) -> tuple[int, int]:
        """Where a table of our server stands: its header, and all up to its last key.

        With ``alone`` it is the one of the server itself, not one below it.
        """
        ours = [_SERVERS, self._name]
        start, at = None, 0
        for line in _by_line(text):
            if line.lstrip().startswith("[") and _is_whole(text[:at]):
                if start is not None:
                    return start, _end_of_keys(text, start, at)
                path = _header(line)
                if path == ours or (not alone and path[:2] == ours):
                    start = at
            at += len(line)
        if start is None:
            raise ValueError(f"{'.'.join(ours)} is written in a way that is not edited")
        return start, _end_of_keys(text, start, at)

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
            raise ValueError("it is written in a way that is not edited")


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
