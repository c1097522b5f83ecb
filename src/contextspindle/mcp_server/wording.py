"""What is said of commands and their options, said of tools and their arguments.

Errors, their hints and some replies are written once, for the command line.  An agent that called a
tool is told what to do next in the words of tools, as far as it was offered the tool for it.
"""

from __future__ import annotations

import re

from ..core import text
from . import pages
from .tools import PREFIX, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..errors import SpindleError
    from .shape import Tool

_ARGUMENTS = (
    (r"carry its token: --claim TOKEN, or CONTEXTSPINDLE_CLAIM", "give its token as claim"),
    (r"--evidence TEXT --for N", "evidence, and criterion for one of them"),
    (r"--evidence TEXT", "evidence"),
    (r"again with --evidence-file", "again with evidence_files"),
    (r"--status open --decision TEXT", "status open and decisions"),
    (r"with --source", "with source"),
    (r"leave --for out", "leave criterion out"),
    (r"--decision TEXT", "decisions"),
    (r"--blocker TEXT", "blocker"),
    (r"--blocker ''", "an empty blocker"),
    (r"--criterion TEXT", "criteria"),
    (r"--drop-dependency", "drop_dependencies"),
    (r"name a workspace with --workspace DIR", "name a folder with the argument workspace"),
    (r"name it with --workspace to use it", "a user can name it when the server is started"),
    (r"See --help of the command\.", ""),
    (r"repeat the command", "call again"),
)


_PHRASES = (
    (r"task ready --explain ID\b", "task_ready", " with explain"),
    (r"task claim --next", "task_claim", " with action next"),
    (r"(?<=')task list(?=')", "task_list", ""),
)
"""What is said of a tool with one of its arguments."""
_IN_TEXTS = tuple(
    (re.compile(pattern, re.M), PREFIX + name, instead)
    for pattern, name, instead in (
        (r"^(omitted: .*; see: )contextspindle task show(?= \S+\n\Z)", "task_show", r"\1{}"),
        (r"^(\d+ live tasks in all: )contextspindle task inbox$", "task_inbox", r"\1{}"),
        (
            r"^(\w+ session's \(claimed by you until \S+, )carry --claim (?=\S+\): )",
            "task_update",
            r"\1give claim ",
        ),
        (
            r"^(Left out: .* \(more: )contextspindle fuse restore --plain --session (.+)"
            r" --budget (\d+)(?=\)\.$)",
            "handoff",
            r"\1{} with session \2, budget \3",
        ),
    )
)
"""What lines of ours say in a text that quotes others; {} is the tool's whole name."""
_NEXT_BEST = {"task_list": "task_inbox", "task_ready": "task_show"}
"""What says something of the same to a client that was not offered a tool."""


class Words:
    """What is said to whoever was offered some of the tools."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        offered = {tool.name: tool for tool in tools}
        self.names = frozenset(offered)
        self._all = tuple((re.compile(one), said) for one, said in self._patterns(offered))

    @staticmethod
    def _patterns(offered: dict[str, Tool]) -> Iterable[tuple[str, str]]:
        def named(name: str, more: str = "") -> str:
            if PREFIX + name in offered:
                return PREFIX + name + more
            other = PREFIX + _NEXT_BEST.get(name, "")
            return other if other in offered else ""

        for pattern, said in _ARGUMENTS:
            yield f"(?:contextspindle )?{pattern}", said
        for pattern, name, more in _PHRASES:
            if said := named(name, more):
                yield f"(?:contextspindle )?{pattern}", said
        # The longest first: some begin as others do.
        for tool in sorted(TOOLS, key=lambda one: -len(one.command)):
            said = named(tool.name.removeprefix(PREFIX))
            if said and tool.command[0] != "fuse":
                yield rf"contextspindle {' '.join(tool.command)}\b(?! -)", said

    def of_tools(self, said: str) -> str:
        """``said`` with tools in the place of the commands that they stand for."""
        for pattern, instead in self._all:
            said = pattern.sub(instead, said)
        return said

    def of_handoff(self, said: str) -> str:
        """A handoff, which quotes others, with tools in the lines that are ours.

        It is no longer than ``said``.
        """
        for pattern, name, instead in _IN_TEXTS:
            if name in self.names:
                said = pattern.sub(instead.format(name), said)
        return said

    def error(self, error: SpindleError, limit: int) -> str:
        """An error as an agent reads it: what happened, its code, what to do next.

        It travels in at most half of a reply of ``limit`` bytes, with the first of many reasons.
        """
        reasons = getattr(error, "reasons", ())
        head = error.message.removesuffix("".join(f"\n  - {one}" for one in reasons))
        # A line is a line of ours: what somebody gave, and is repeated, begins none.
        lines = [text.one_line(self.of_tools(head))]
        lines += [f"  - {text.one_line(self.of_tools(one))}" for one in reasons]
        end = f" [{error.code}]"
        if hint := text.one_line(self.of_tools(error.hint)).strip():
            end += f"\n{pages.fitting(hint, limit // 8)}"
        room = limit // 2 - pages.travels(end)
        if pages.travels("\n".join(lines)) > room:
            lines = _first(lines, room)
        return "\n".join(lines) + end


def _first(lines: list[str], room: int) -> list[str]:
    """As many of ``lines`` as travel in ``room`` bytes, and how many more there are."""
    room -= _LEFT_OUT
    found: list[str] = []
    for number, line in enumerate(lines):
        cost = pages.travels(line + "\n")
        if cost > room:
            # The first of them, and the first reason, are worth a piece.
            shown = pages.fitting(line, room - 8) if number < 2 and room > _LEFT_OUT else ""
            found += [shown + text.ELLIPSIS] if shown else []
            left = len(lines) - len(found)
            return found + ([f"  - and {left:,} more"] if left else [])
        found.append(line)
        room -= cost
    return found


_LEFT_OUT = 60
"""Bytes kept for the line that says what is left out."""

ALL = Words(TOOLS)
"""What is said where every tool is offered."""
