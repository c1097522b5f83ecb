"""Our hooks in a settings file of the shape that Claude Code gave it, and others took over.

``hooks`` is an object of events; an event is a list of groups with a matcher; a group is a list of
handlers.  Whatever is not ours stays as it stands, in its order, to the byte.
"""

from __future__ import annotations

from ..core import jsonc
from ..core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.jsonc import Node
    from . import Harness

_JOINTS = ("||", "&&", ";", "|")
"""What ends a command in a shell's line."""

NAMES = ("contextspindle", "continuum-cli")
"""What our command is called, or was."""


class Wanted(Value):
    """One hook that is to be there: at which event, running which words of our command."""

    event: str
    words: str
    timeout: int
    """Seconds until the harness gives up; our own deadline is shorter."""
    matcher: str = ""


class Found(Value):
    """One handler of ours, and where it stands."""

    event: str
    group: int
    handler: int
    words: str
    command: str


def ours(handler: object) -> str:
    """The words behind our command in a handler; empty if the handler is not ours."""
    if not isinstance(handler, dict):
        return ""
    command, given = handler.get("command"), handler.get("args")
    if not isinstance(command, str):
        return ""
    words = _split(command)
    if isinstance(given, list):
        words = [command, *(one for one in given if isinstance(one, str))]
    # The committed form asks first whether the command is there.
    for at, word in enumerate(words):
        if word.rpartition("/")[2] in NAMES and words[at + 1 : at + 2] == ["fuse"]:
            rest = words[at + 1 :]
            end = next((place for place, one in enumerate(rest) if one in _JOINTS), len(rest))
            return " ".join(rest[:end])
    return ""


def _split(command: str) -> list[str]:
    if not any(mark in command for mark in "'\"\\"):
        return command.split()
    import shlex

    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def found(settings: Any) -> list[Found]:
    """Every handler of ours in parsed settings."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    listed = []
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for place, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                words = ours(handler)
                if words:
                    listed.append(Found(event, number, place, words, handler["command"]))
    return listed


def hooked(harness: Harness, config_dir: str, project: str) -> list[str]:
    """The settings files that have every hook of ours for ``harness``, run by whatever command.

    Of a program with plugins, the files of our plugin.
    """
    wanted = {(event, words) for event, words, _, _ in harness.HOOKS}
    scopes = ("user", "project", "shared")
    if plugin := getattr(harness, "PLUGIN", ""):
        from .plugin import installed

        paths = dict.fromkeys(harness.settings_path(config_dir, project, one) for one in scopes)
        return [path for path in paths if installed(path, plugin)]
    holding = []
    for scope in scopes:
        path = harness.settings_path(config_dir, project, scope)
        try:
            with open(path, encoding="utf-8") as file:
                there = found(jsonc.parse(file.read()).value)
        except (OSError, ValueError):
            continue
        if wanted <= {(one.event, one.words) for one in there}:
            holding.append(path)
    return holding


def with_ours(text: str, wanted: tuple[Wanted, ...], commands: dict[str, str]) -> str:
    """``text`` with exactly the hooks ``wanted``; each of ``commands`` by the words it runs.

    A text that has them already comes back as it is.  ValueError if it is not of this shape.
    """
    if not text.strip(" \t\r\n\ufeff"):
        text += "{}\n"
    root = _checked(text)
    if _complete(root.value, wanted, commands):
        return text
    text = _emptied(text)
    for one in wanted:
        group: dict[str, Any] = {"matcher": one.matcher} if one.matcher else {}
        handler = {"type": "command", "command": commands[one.words], "timeout": one.timeout}
        group["hooks"] = [handler]
        text = _with_group(text, one.event, group)
    return text


def without_ours(text: str) -> str:
    """``text`` without any hook of ours, and without the lists that held nothing else."""
    if not text.strip(" \t\r\n\ufeff"):
        return text
    _checked(text)
    return _emptied(text)


def _checked(text: str) -> Node:
    root = jsonc.parse(text)
    if not isinstance(root.value, dict):
        raise ValueError("the settings are not an object")
    hooks = root.member("hooks")
    if hooks and not isinstance(hooks.value, dict):
        raise ValueError("hooks is not an object")
    for event, _, groups in hooks.members if hooks else ():
        if not isinstance(groups.value, list):
            raise ValueError(f"hooks.{event} is not a list")
    return root


def _complete(settings: Any, wanted: tuple[Wanted, ...], commands: dict[str, str]) -> bool:
    there = sorted((one.event, one.words, one.command) for one in found(settings))
    if there != sorted((one.event, one.words, commands[one.words]) for one in wanted):
        return False
    groups = settings["hooks"]
    matchers = {
        (one.event, groups[one.event][one.group].get("matcher", "")) for one in found(settings)
    }
    return matchers == {(one.event, one.matcher) for one in wanted}


def _with_group(text: str, event: str, group: dict[str, Any]) -> str:
    root = jsonc.parse(text)
    hooks = root.member("hooks")
    if hooks is None:
        return jsonc.add_member(text, root, "hooks", {event: [group]})
    groups = hooks.member(event)
    if groups is None:
        return jsonc.add_member(text, hooks, event, [group])
    return jsonc.add_item(text, groups, group)


def _emptied(text: str) -> str:
    while True:
        root = jsonc.parse(text)
        listed = found(root.value)
        if not listed:
            return text
        one = listed[0]
        hooks = root.member("hooks")
        groups = hooks.member(one.event) if hooks else None
        assert hooks is not None
        assert groups is not None
        handlers = groups.items[one.group].member("hooks")
        assert handlers is not None
        if len(handlers.items) > 1:
            text = jsonc.remove_item(text, handlers, one.handler)
        elif len(groups.items) > 1:
            text = jsonc.remove_item(text, groups, one.group)
        elif len(hooks.members) > 1:
            text = jsonc.remove_member(text, hooks, one.event)
        else:
            text = jsonc.remove_member(text, root, "hooks")
