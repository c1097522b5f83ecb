"""Calls of tools and their results as turns, for harnesses that differ in names only."""

from __future__ import annotations

from ..core.text import clean, folded, shortened
from ..core.transcript import (
    CALL,
    COMMAND_LINE,
    EDIT,
    LAUNCH,
    OUTCOME,
    PLACE,
    RESULT,
    TODOS,
    Step,
    Turn,
    without_echo,
)
from . import claude_shapes as shapes
from .claude_shapes import about_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEPT = 400  # calls remembered
_TITLES = ("content", "description", "title", "step")
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
_FILES = 40  # of one patch
_STATUSES = {"[x]": "completed", "[ ]": "pending", "[~]": "in_progress"}


class Calls:
    """The calls of one session that wait for their results."""

    def __init__(self, shells: str, edits: str, agents: str, todos: str) -> None:
        """The names of the harness's tools, by what they do, with blanks between."""
        self._shells, self._edits = shells.split(), edits.split()
        self._agents, self._todos = agents.split(), todos.split()
        self._open: dict[str, tuple[str, dict[str, Any]]] = {}

    def call(self, line: int, tool: str, call: str, given: object) -> list[Turn]:
        """The agent calls ``tool``; a list of steps is told by its result."""
        known = given if isinstance(given, dict) else {}
        tool = clean(tool)
        self._open[call] = (tool, known)
        if len(self._open) > _KEPT:
            del self._open[next(iter(self._open))]
        if tool in self._todos:
            return []
        about = about_of(known)
        if tool in self._agents:
            prompt = shapes.string(known.get("prompt"))
            return [Turn(line, LAUNCH, self._told(prompt), tool=tool, call=call, about=about)]
        kind = self._kind(tool)
        text = shapes.string(known.get("command")) or shapes.prose(known)
        if kind == EDIT:
            text = shapes.written(known)
        return [Turn(line, CALL, self._told(text), kind, tool, call, about)]

    def result(self, line: int, call: str, text: str, *, failed: bool) -> list[Turn]:
        """What came of the call."""
        tool, given = self._open.pop(call, ("", {}))
        if tool in self._todos:
            steps = listed(given.get("todos"))
            return [] if failed else [Turn(line, TODOS, tool=tool, call=call, steps=steps)]
        kind = OUTCOME if tool in self._agents else RESULT
        about = about_of(given)
        return [Turn(line, kind, self._told(text), self._kind(tool), tool, call, about, failed)]

    def _kind(self, tool: str) -> str:
        return COMMAND_LINE if tool in self._shells else EDIT if tool in self._edits else ""

    def _told(self, text: str) -> str:
        return shapes.bounded(without_echo(text))


def listed(told: object) -> tuple[Step, ...]:
    """The steps of a list, told as objects or as rows such as ``1. [in_progress] write it``."""
    if isinstance(told, str):
        return tuple(_row(at, row) for at, row in enumerate(filter(None, told.split("\n")), 1))
    found = []
    for at, item in enumerate(told if isinstance(told, list) else (), 1):
        if isinstance(item, dict):
            title = next((item[key] for key in _TITLES if isinstance(item.get(key), str)), "")
            key = item.get("id")
            found.append(
                Step(
                    str(key) if isinstance(key, str | int) else str(at),
                    clean(title),
                    shapes.string(item.get("status")),
                )
            )
    return tuple(found)


def _row(at: int, row: str) -> Step:
    words = row.strip().lstrip("-*0123456789. ")
    for mark, status in _STATUSES.items():
        if words.lower().startswith(mark):
            return Step(str(at), clean(words[len(mark) :].strip()), status)
    if words.startswith("["):
        status, _, title = words[1:].partition("]")
        return Step(str(at), clean(title.strip()), status)
    return Step(str(at), clean(words), "pending")


def place(line: int, about: str, value: object, known: dict[str, str]) -> list[Turn]:
    """A change of branch or folder against what is ``known``, which is brought up to date."""
    if not isinstance(value, str) or not value or known.get(about) == value:
        return []
    known[about] = value
    return [Turn(line, PLACE, shortened(folded(value), shapes.ABOUT), about=about)]


def patched(patch: str) -> list[str]:
    """The files that a patch names, each once."""
    files: dict[str, None] = {}
    for row in patch.split("\n"):
        for mark in _PATCHED:
            if row.startswith(mark):
                files[row[len(mark) :].strip()] = None
    return list(files)[:_FILES]
