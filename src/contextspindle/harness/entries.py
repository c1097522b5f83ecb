"""What is ours in a JSON settings file, of whatever kind, and what in it says nothing.

Hooks and servers may share a file, and so may the servers of several projects.
"""

from __future__ import annotations

from ..core import jsonc
from . import hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SERVER = "contextspindle"
"""What our server is called in every program."""
WORDS = ("mcp",)
"""What our command is told to be it."""
HOLDERS = ("mcpServers", "servers", "mcp")
"""The keys under which programs hold servers."""
BLANK = " \t\r\n\ufeff"
"""What a text may hold and be empty."""
_PROJECTS = "projects"


def is_ours(entry: object) -> bool:
    """Whether a server is ours, by the command that it runs."""
    if not isinstance(entry, dict):
        return False
    command, given = entry.get("command"), entry.get("args")
    words: list[Any] = [*command] if isinstance(command, list) else [command]
    words += given if isinstance(given, list) else []
    return (
        len(words) > 1
        and all(isinstance(one, str) for one in words)
        and words[0].rpartition("/")[2] in hooks.NAMES
        and WORDS[0] in words[1:]
    )


def holds_ours(settings: object) -> bool:
    """Whether parsed settings have a hook or a server of ours."""
    if hooks.found(settings):
        return True
    for place in (settings, *_projects(settings).values()):
        for key in HOLDERS if isinstance(place, dict) else ():
            held = place.get(key)
            if isinstance(held, dict) and is_ours(held.get(SERVER)):
                return True
    return False


def left_of(kept: str, text: str, nothing: object = None) -> bool:
    """Whether ``text`` is what is left of ``kept`` when ours was put in and taken out again.

    It is the same to the byte, but for lists of hooks and objects of servers that held nothing, not
    even a comment: these go with ours.  ``nothing`` is what a text may say that had nothing to say.
    ValueError if one cannot be read.
    """
    there: set[tuple[str, ...]] = set()
    if text.strip(BLANK):
        there = {steps for steps, _, _ in _holders(jsonc.parse(text))}
    return _bare(kept, there, nothing) == _bare(text, there, nothing)


def _bare(text: str, there: set[tuple[str, ...]], nothing: object) -> str:
    """The text without what holds nothing, unless it is ``there``; empty if it says nothing."""
    if not text.strip(BLANK):
        return ""
    while True:
        root = jsonc.parse(text)
        empty = [
            steps
            for steps, start, node in _holders(root)
            if steps not in there and _is_empty(text, start, node)
        ]
        if not empty:
            break
        *way, key = empty[0]
        text = jsonc.remove_member(text, _reached(root, way), key)
    around = (text[: root.start] + text[root.end :]).strip(BLANK)
    says_nothing = root.value == {} or repr(root.value) == repr(nothing)
    if says_nothing and not around and not jsonc.commented(text, root.start, root):
        return ""
    if _is_empty(text, root.start, root):
        text = text[: root.start + 1] + text[root.end - 1 :]
    return text


def _holders(root: jsonc.Node) -> Iterator[tuple[tuple[str, ...], int, jsonc.Node]]:
    """What may hold something of ours: the keys that lead to it, where it begins, and its node."""
    for key, start, node in root.members:
        if key == "hooks":
            for event, begin, groups in node.members:
                yield (key, event), begin, groups
        if key == _PROJECTS:
            for name, begin, project in node.members:
                for one, there, servers in project.members:
                    if one in HOLDERS:
                        yield (key, name, one), there, servers
                yield (key, name), begin, project
        if key in ("hooks", _PROJECTS, *HOLDERS):
            yield (key,), start, node


def _is_empty(text: str, start: int, node: jsonc.Node) -> bool:
    return node.value in ({}, []) and not jsonc.commented(text, start, node)


def _reached(node: jsonc.Node, steps: list[str]) -> jsonc.Node:
    for step in steps:
        node = node.member(step) or node
    return node


def _projects(settings: object) -> dict[str, Any]:
    found = settings.get(_PROJECTS) if isinstance(settings, dict) else None
    return found if isinstance(found, dict) else {}
