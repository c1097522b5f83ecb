"""Our hooks in a settings file of the shape that Claude Code gave it, and others took over.

``hooks`` is an object of events; an event is a list of groups with a matcher; a group is a list of
handlers.  Some took it over without the groups: there an event is a list of handlers, the file says
which version it has, and keys may have other names.  Whatever is not ours stays as it stands, in
its order, to the byte.

Ours is a command that we write or wrote, whole, at an event that we write to.  A line of the user's
that runs our command among others, with other options, or at another event, is the user's.  If it
does what a hook of ours would do at the same event, it stands for it: two would do it twice.
"""

from __future__ import annotations

from ..core import jsonc
from ..core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..core.jsonc import Node

_JOINTS = ("||", "&&", ";", "|")
"""What ends a command in a shell's line."""
_VERBS = ("save", "restore")
"""What our hooks tell our command to do, behind ``fuse``."""
_HARNESS = "--harness"
"""The one option that they give it; its value is behind it."""
_BY_HAND = ("--transcript", "--session", "--plain", "--from", "--json")
"""Options with which our command is no hook: it reads no payload, or answers another reader."""
_PLAIN = "_@%+=:,./-"
"""What a word may hold besides letters and digits, and need no quotes."""

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
    """The words behind our command in a handler of ours; empty if it is somebody else's.

    The whole command has a form that we write, or wrote: nothing stands before or behind it.
    """
    if not isinstance(handler, dict):
        return ""
    command, given = _command(handler), handler.get("args")
    if isinstance(given, list):
        words = [command, *given]
        return _told(words) if all(isinstance(one, str) for one in given) else ""
    for name in NAMES:
        # The committed forms ask first whether the command is there.
        for asked in (f"command -v {name} >/dev/null 2>&1 && ", f"command -v {name} && "):
            if command.startswith(asked + name + " "):
                return _told(command.removeprefix(asked).removesuffix(" || true").split(" "))
    words = _split(command)
    return _told(words) if _joined(words) == command else ""


def running(handler: object) -> str:
    """What our command is told in a handler that runs it, alone or in a line of the user's.

    These are the words that a hook of ours for the same purpose has, whatever other options stand
    there; all of them if it is run as by hand.
    """
    if not isinstance(handler, dict):
        return ""
    command, given = _command(handler), handler.get("args")
    words = _split(command)
    if isinstance(given, list):
        words = [command, *(one for one in given if isinstance(one, str))]
    for at, word in enumerate(words):
        if word.rpartition("/")[2] in NAMES and words[at + 1 : at + 2] == ["fuse"]:
            rest = words[at + 1 :]
            end = next((place for place, one in enumerate(rest) if one in _JOINTS), len(rest))
            verb = rest[1].rstrip(";&") if rest[1:] else ""
            return _purpose(rest[:end]) if verb in _VERBS else ""
    return ""


def _purpose(told: list[str]) -> str:
    """The verb, and the harness it is for; all words if it is run as by hand."""
    options = [one.rstrip(";&") for one in told[2:]]
    if any(one.partition("=")[0] in _BY_HAND for one in options):
        return " ".join(told)
    words = [told[0], told[1].rstrip(";&")]
    for at, one in enumerate(options):
        if one.startswith(_HARNESS + "="):
            words += one.split("=", 1)
        elif one == _HARNESS:
            words += options[at : at + 2]
    return " ".join(words)


def _told(words: list[str]) -> str:
    """What our command is told by words that are nothing but a hook of ours; else empty."""
    command, told = words[0] if words else "", words[1:]
    folder, _, name = command.rpartition("/")
    if name not in NAMES or (folder and folder[0] != "/") or told[:1] != ["fuse"]:
        return ""
    if told[1:2] == [] or told[1] not in _VERBS:
        return ""
    options = told[2:]
    of_harness = len(options) == 2 and options[0] == _HARNESS and _is_plain(options[1])
    return " ".join(told) if not options or of_harness else ""


def _joined(words: list[str]) -> str:
    """The words as a command that we write them as."""
    if all(map(_is_plain, words)):
        return " ".join(words)
    import shlex

    return shlex.join(words)


def _is_plain(word: str) -> bool:
    return word != "" and all(one in _PLAIN or (one.isascii() and one.isalnum()) for one in word)


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


def found(
    settings: Any,
    events: Iterable[str] | None = None,
    told: Callable[[object], str] = ours,
) -> list[Found]:
    """Every handler of ours in parsed settings, at ``events`` only if they are given.

    ``told`` gives the words of a handler that counts, and nothing for others.
    """
    if events is not None:
        events = set(events)
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    listed = []
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        if events is not None and event not in events:
            continue
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            held = [*enumerate(handlers if isinstance(handlers, list) else ()), (_ALONE, group)]
            for place, handler in held:
                words = told(handler)
                if words:
                    listed.append(Found(event, number, place, words, _command(handler)))
    return listed


def stood_in(settings: Any, wanted: tuple[Wanted, ...]) -> list[Wanted]:
    """Those of our hooks for which a line of the user's stands already.

    It does the same, at the same event, whenever ours would.
    """
    theirs = [
        one
        for one in found(settings, _events(wanted), running)
        if not ours(_handler(settings, one))
    ]
    return [
        one
        for one in wanted
        if any(
            (its.event, its.words) == (one.event, one.words)
            and _covers(_matcher(settings, its), one.matcher)
            for its in theirs
        )
    ]


def _handler(settings: Any, one: Found) -> object:
    group = settings["hooks"][one.event][one.group]
    return group if one.handler == _ALONE else group["hooks"][one.handler]


def _matcher(settings: Any, one: Found) -> object:
    return settings["hooks"][one.event][one.group].get("matcher", "")


def _covers(matcher: object, ours: str) -> bool:
    """Whether a matcher holds whenever ours does."""
    if matcher in ("", "*", ".*", ours):
        return True
    return isinstance(matcher, str) and ours != "" and {*ours.split("|")} <= {*matcher.split("|")}


def with_ours(text: str, wanted: tuple[Wanted, ...], commands: dict[str, str]) -> str:
    """``text`` with exactly the hooks ``wanted``; each of ``commands`` by the words it runs.

    Where a line of the user's stands for one, there is none of ours.  A text that has them already
    comes back as it is.  ValueError if it is not of this shape.
    """
    if not text.strip(" \t\r\n\ufeff"):
        text += "{}\n"
    root = _checked(text)
    stand_ins = stood_in(root.value, wanted)
    needed = tuple(one for one in wanted if one not in stand_ins)
    if _complete(root.value, wanted, needed, commands):
        return text
    text = _emptied(text, wanted)
    if any(one.entry for one in needed) and "version" not in root.value:
        text = jsonc.add_member(text, jsonc.parse(text), "version", VERSION["version"])
    for one in needed:
        group: dict[str, Any] = {"matcher": one.matcher} if one.matcher else {}
        command, timeout = one.entry or ("command", "timeout")
        handler = {"type": "command", command: commands[one.words], timeout: one.timeout}
        group = {**handler, **group} if one.entry else {**group, "hooks": [handler]}
        text = _with_group(text, one.event, group)
    return text


def without_ours(text: str, wanted: tuple[Wanted, ...]) -> str:
    """``text`` without any hook of ours, and without the lists that held nothing else.

    ``wanted`` are those of the program: at other events it has none of ours.
    """
    if not text.strip(" \t\r\n\ufeff"):
        return text
    _checked(text)
    return _emptied(text, wanted)


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


def _complete(
    settings: Any,
    wanted: tuple[Wanted, ...],
    needed: tuple[Wanted, ...],
    commands: dict[str, str],
) -> bool:
    """Whether of ours there is what is ``needed`` of all that is ``wanted``, and nothing else."""
    held = found(settings, _events(wanted))
    there = sorted((one.event, one.words, one.command) for one in held)
    if there != sorted((one.event, one.words, commands[one.words]) for one in needed):
        return False
    if any(one.entry for one in needed) and "version" not in settings:
        return False
    shapes = {(one.event, _matcher(settings, one), one.handler == _ALONE) for one in held}
    return shapes == {(one.event, one.matcher, bool(one.entry)) for one in needed}


def _events(wanted: tuple[Wanted, ...]) -> set[str]:
    return {one.event for one in wanted}


def _with_group(text: str, event: str, group: dict[str, Any]) -> str:
    root = jsonc.parse(text)
    hooks = root.member("hooks")
    if hooks is None:
        return jsonc.add_member(text, root, "hooks", {event: [group]})
    groups = hooks.member(event)
    if groups is None:
        return jsonc.add_member(text, hooks, event, [group])
    return jsonc.add_item(text, groups, group)


def _emptied(text: str, wanted: tuple[Wanted, ...]) -> str:
    while True:
        root = jsonc.parse(text)
        listed = found(root.value, _events(wanted))
        if not listed:
            return text
        one = listed[0]
        hooks = root.member("hooks")
        groups = hooks.member(one.event) if hooks else None
        assert groups is not None
        group = groups.items[one.group]
        handlers = group.member("hooks") if one.handler != _ALONE else None
        if handlers and (
            len(handlers.items) > 1
            or jsonc.commented(text, handlers.start, handlers)
            or jsonc.commented(text, group.start, group)
        ):
            text = jsonc.remove_item(text, handlers, one.handler)
        else:
            text = jsonc.removed(text, "hooks", one.event, one.group)
