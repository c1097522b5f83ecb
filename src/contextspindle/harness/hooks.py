"""Our hooks in a settings file of the shape that Claude Code gave it, and others took over.

``hooks`` is an object of events; an event is a list of groups with a matcher; a group is a list of
handlers.  Some took it over without the groups: there an event is a list of handlers, the file says
which version it has, and keys may have other names.  Whatever is not ours stays as it stands, in
its order, to the byte.
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
VERSION = {"version": 1}
"""What a file says that has handlers without groups, if it says nothing else."""
_COMMANDS = ("command", "bash")
_ALONE = -1  # the place of a handler that is in no group


class Wanted(Value):
    """One hook that is to be there: at which event, running which words of our command."""

    event: str
    words: str
    timeout: int
    """How long until the harness gives up, in its own unit; our own deadline is shorter."""
    matcher: str = ""
    entry: tuple[str, ...] = ()
    """The keys of the command and of the timeout in a handler without a group."""


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
    command, given = _command(handler), handler.get("args")
    if not command:
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


def _command(handler: dict[str, Any]) -> str:
    found = (handler.get(key) for key in _COMMANDS)
    return next((one for one in found if isinstance(one, str)), "")


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
            held = [*enumerate(handlers if isinstance(handlers, list) else ()), (_ALONE, group)]
            for place, handler in held:
                words = ours(handler)
                if words:
                    listed.append(Found(event, number, place, words, _command(handler)))
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
    holding: list[str] = []
    if not wanted:
        return holding
    for scope in scopes:
        path = harness.settings_path(config_dir, project, scope)
        if scope == "user" and not config_dir:
            continue  # nobody's home is here
        try:
            with open(path, encoding="utf-8") as file:
                there = found(jsonc.parse(file.read()).value)
        except (OSError, ValueError):
            continue
        if wanted <= {(one.event, one.words) for one in there} and path not in holding:
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
    if any(one.entry for one in wanted) and "version" not in root.value:
        text = jsonc.add_member(text, jsonc.parse(text), "version", VERSION["version"])
    for one in wanted:
        group: dict[str, Any] = {"matcher": one.matcher} if one.matcher else {}
        command, timeout = one.entry or ("command", "timeout")
        handler = {"type": "command", command: commands[one.words], timeout: one.timeout}
        group = {**handler, **group} if one.entry else {**group, "hooks": [handler]}
        text = _with_group(text, one.event, group)
    return text


def without_ours(text: str) -> str:
    """``text`` without any hook of ours, and without the lists that held nothing else."""
    if not text.strip(" \t\r\n\ufeff"):
        return text
    _checked(text)
    return _emptied(text)


def without_empty(settings: object) -> object:
    """Settings without events that run nothing, which say no more than none would."""
    if not isinstance(settings, dict) or not isinstance(settings.get("hooks"), dict):
        return settings
    left = {event: groups for event, groups in settings["hooks"].items() if groups}
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    return {**rest, "hooks": left} if left else rest


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
    if any(one.entry for one in wanted) and "version" not in settings:
        return False
    shapes = {
        (one.event, groups[one.event][one.group].get("matcher", ""), one.handler == _ALONE)
        for one in found(settings)
    }
    return shapes == {(one.event, one.matcher, bool(one.entry)) for one in wanted}


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
        if one.handler != _ALONE and handlers is not None and len(handlers.items) > 1:
            text = jsonc.remove_item(text, handlers, one.handler)
        elif len(groups.items) > 1:
            text = jsonc.remove_item(text, groups, one.group)
        elif len(hooks.members) > 1:
            text = jsonc.remove_member(text, hooks, one.event)
        else:
            text = jsonc.remove_member(text, root, "hooks")
