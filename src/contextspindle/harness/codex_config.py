"""Our server in Codex's ``config.toml``, edited as text: every other line stays as it stands.

A table is found by its header.  Whether a line that looks like a header is one is asked of the TOML
reader: what stands before a header is whole by itself.  What an edit came to is read again and held
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

    def means(self, text: str | None) -> object:
        """What the text says."""
        return _parsed(text or "")

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
        lines = [f"{key} = {canon.text(value)}\n" for key, value in self._wanted.items()]
        tools = (entry or {}).get("tools", {})
        for one in self._reads:  # a mode that the user chose stays
            mode = canon.text(tools.get(one, {}).get("approval_mode", "approve"))
            lines.append(f"tools.{one}.approval_mode = {mode}\n")
        header = f"[{_SERVERS}.{self._name}]\n"
        if entry is None:
            gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
            after = text + gap + header + "".join(lines)
        else:
            start, end = self._table(text)
            kept = text[start:end].splitlines(keepends=True)[1:]
            ours = ("command", "args", *(f"tools.{one}." for one in self._reads))
            rest = "".join(line for line in kept if not line.lstrip().startswith(ours))
            after = text[:start] + header + "".join(lines) + rest + text[end:]
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
            head, tail = after[:start].rstrip("\n"), after[end:]
            if head.strip():
                head += "\n\n" if tail.strip() else "\n"
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

    def _table(self, text: str) -> tuple[int, int]:
        """Where a table of our server stands, its header included, up to the next header."""
        start = None
        at = 0
        for line in text.splitlines(keepends=True):
            header = line.split("#", 1)[0].strip()
            if header.startswith("[") and _is_whole(text[:at]):
                if start is not None:
                    return start, at
                name = header.strip("[] \t").replace('"', "").replace("'", "")
                parts = [one.strip() for one in name.split(".")]
                if parts[:2] == [_SERVERS, self._name]:
                    start = at
            at += len(line)
        if start is None:
            raise ValueError(f"{_SERVERS}.{self._name} is written in a way that is not edited")
        return start, len(text)

    def _check(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        """ValueError if anything but our table says something else than before."""

        def others(parsed: dict[str, Any]) -> dict[str, Any]:
            servers = parsed.get(_SERVERS)
            if not isinstance(servers, dict):
                return parsed
            left = {name: one for name, one in servers.items() if name != self._name}
            rest = {name: one for name, one in parsed.items() if name != _SERVERS}
            return {**rest, _SERVERS: left} if left else rest

        if others(before) != others(after):
            raise ValueError("it is written in a way that is not edited")


def _parsed(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _is_whole(text: str) -> bool:
    try:
        _parsed(text)
    except ValueError:
        return False
    return True


def _is_ours(entry: dict[str, Any]) -> bool:
    command, words = entry.get("command"), entry.get("args")
    return (
        isinstance(command, str)
        and command.rpartition("/")[2] in NAMES
        and isinstance(words, list)
        and "mcp" in words
    )
