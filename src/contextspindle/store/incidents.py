"""Incidents: what a hook survived, a line each: it fails open, but never silently."""

from __future__ import annotations

import os

from ..core import canon, text
from .private import FILE_MODE, append_line, refuse_link, replace_file, translated, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.eraser import Eraser

LIMIT = 256 * 1024
"""The bytes after which the older half of the file is let go."""


class Incidents:
    """The incident file of a workspace.  Adding and reading never raise: it is the last resort."""

    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def path(self) -> str:
        """Where the file is."""
        return self._path

    def add(self, at: int, what: str, **details: object) -> None:
        """One more line, if the file can be written at all."""
        shown = {name: text.clean(str(value))[:500] for name, value in details.items() if value}
        line = canon.encode({"at": at, "what": text.clean(what)[:2_000], **shown}) + b"\n"
        try:
            if append_line(self._path, line) > LIMIT:
                self._shrink()
        except OSError:
            pass

    def newest(self, count: int) -> list[dict[str, Any]]:
        """The newest incidents, oldest first; damaged lines are passed over."""
        try:
            with open(self._path, "rb") as file:
                lines = file.read().split(b"\n")
        except OSError:
            return []
        found: list[dict[str, Any]] = []
        for line in reversed(lines):
            if len(found) == count:
                break
            try:
                one = canon.decode(line)
            except ValueError:
                continue
            if (
                isinstance(one, dict)
                and type(one.get("at")) is int
                and type(one.get("what")) is str
            ):
                found.append(one)
        return found[::-1]

    def purge(self, eraser: Eraser, *, write: bool) -> int:
        """Take a text out of every line; how many held it.  See :class:`.ports.Place`."""
        refuse_link(self._path)
        try:
            with open(self._path, "rb") as file:
                lines = file.read().split(b"\n")
            bare = [eraser.line(line) for line in lines]
            held = sum(one != line for one, line in zip(bare, lines))
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise translated(error, self._path) from error
        if held and write:
            replace_file(self._path, b"\n".join(bare))
        return held

    def _shrink(self) -> None:
        with open(self._path, "rb") as file:
            content = file.read()
        kept = content[content.find(b"\n", len(content) // 2) + 1 :]
        fresh = f"{self._path}.{os.getpid()}"
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, FILE_MODE)
        try:
            write_all(handle, kept)
        finally:
            os.close(handle)
        os.replace(fresh, self._path)
