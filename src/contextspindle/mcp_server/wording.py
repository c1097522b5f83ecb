"""What is said of commands and their options, said of tools and their arguments.

Errors and their hints are written once, for the command line.  An agent that called a tool is told
what to do next in the words of tools, where there is a tool for it.
"""

from __future__ import annotations

import re

from ..core import text
from .tools import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..errors import SpindleError

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
    (r"See --help of the command\.", ""),
    (r"task ready --explain ID\b", "contextspindle_task_ready with explain"),
    (r"task claim --next", "contextspindle_task_claim with action next"),
    (r"repeat the command", "call again"),
)


def _commands() -> list[tuple[str, str]]:
    found = [(" ".join(tool.command), tool.name) for tool in TOOLS if tool.command[0] != "fuse"]
    longest_first = sorted(found, key=lambda one: -len(one[0]))
    return [(rf"contextspindle {words}\b(?! -)", name) for words, name in longest_first]


_ALL = tuple(
    (re.compile(pattern), said)
    for pattern, said in (
        *((f"(?:contextspindle )?{pattern}", said) for pattern, said in _ARGUMENTS),
        *_commands(),
        (r"'task list'", "contextspindle_task_list"),
    )
)


def of_tools(said: str) -> str:
    """``said`` with tools in the place of the commands that they stand for."""
    for pattern, instead in _ALL:
        said = pattern.sub(instead, said)
    return said


def error_text(error: SpindleError, limit: int) -> str:
    """An error as an agent reads it: what happened, its code, what to do next."""
    found = f"{of_tools(error.message)} [{error.code}]"
    if error.hint:
        found += f"\n{of_tools(error.hint)}".rstrip()
    size = text.size(found)
    if size <= limit // 2:
        return found
    shown = text.cut(found, limit // 2)
    return f"{shown}\n[{size - text.size(shown):,} bytes more are left out] [{error.code}]"
