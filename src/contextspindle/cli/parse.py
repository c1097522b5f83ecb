"""The fast parser: serves a well-formed call straight from the table, and leaves the rest.

It knows the common forms only.  Whatever it does not know, a mistake or a rarer spelling, is left
to ``argparse``, built from the same table in :mod:`.full`; a property test shows that they agree.
"""

from __future__ import annotations

import os

from .shape import GLOBAL_OPTIONS, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .shape import Command

_FUSE = ("fuse", "setup", "onboard", "prime", "mcp", "doctor")
_MEMORY = ("memory", "remember", "recall", "forget", "stats")
_LEDGER = ("verify", "backup", "restore", "export", "import", "purge", "completion")
"""How the commands of each part of the table begin; all others are of tasks."""


class NotPlain(Exception):
    """The call is not one that the fast parser serves."""


def find(words: list[str]) -> tuple[Command | None, int]:
    """The command that ``words`` begin with, and how many of them name it."""
    for command in _part(words[0] if words else ""):
        count = len(command.words)
        if tuple(words[:count]) == command.words:
            return command, count
    return None, 0


def _part(first: str) -> tuple[Command, ...]:
    """The part of the table that ``first`` leads to: no other is loaded."""
    if first in _FUSE:
        from .fuse_table import COMMANDS
    elif first in _MEMORY:
        from .memory_table import COMMANDS
    elif first in _LEDGER:
        from .ledger_table import COMMANDS
    else:
        from .task_table import COMMANDS
    return COMMANDS


def command_of(words: list[str]) -> tuple[Command, list[str]]:
    """The command of a call, and its other words; global options may stand before its words.

    NotPlain if there is none.
    """
    before, rest = leading_options(words)
    command, count = find(rest)
    if command is None:
        # Options may also stand between the noun and the verb.
        between, behind = leading_options(rest[1:])
        before, rest = before + between, rest[:1] + behind
        command, count = find(rest)
        if command is None:
            raise NotPlain
    return command, before + rest[count:]


def leading_options(words: list[str]) -> tuple[list[str], list[str]]:
    """The options that ``words`` begin with, the value of a --workspace included; and the rest."""
    at = 0
    while at < len(words) and words[at].startswith("--"):
        at += 2 if words[at] == "--workspace" else 1
    return words[:at], words[at:]


def parse(command: Command, words: list[str]) -> dict[str, Any]:
    """The values of the call.  NotPlain if anything about it is unusual."""
    values = values_of(command)
    options = {one.flag: one for one in (*command.options, *GLOBAL_OPTIONS)}
    places = list(command.positionals)
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--" and places and places[-1].kind == "rest":
            if at == len(words):
                raise NotPlain
            values[places.pop().name] = [word_of("path", one) for one in words[at:]]
            break
        if word[:1] != "-" or word == "-":
            if not places:
                raise NotPlain
            place = places.pop(0)
            if place.kind == "rest":
                raise NotPlain
            values[place.name] = _value(place.kind, word)
            continue
        flag, equals, given = word.partition("=")
        option = options.get(flag)
        if option is None:
            raise NotPlain
        if option.kind == "switch":
            if equals:
                raise NotPlain
            values[option.name] = True
            continue
        if not equals:
            given = _next(words, at)
            at += 1
        value = _value(option.kind, given)
        if option.kind in ("list", "paths"):
            values[option.name] = [*values[option.name], value]
        else:
            values[option.name] = value
    if any(place.required for place in places) or values["help"]:
        raise NotPlain
    return values


def _next(words: list[str], at: int) -> str:
    """The word at ``at`` as the value of an option.  NotPlain if none surely is."""
    if at == len(words):
        raise NotPlain
    given = words[at]
    if given[:1] == "-" and given != "-" and (" " not in given or "=" in given):
        raise NotPlain  # it may be an option
    return given


def word_of(kind: str, given: str) -> str:
    """``given`` as a value of this kind.

    An argument that is no UTF-8 arrives with its bytes escaped: a path is given them back as this
    system spells them, a text shows U+FFFD in their place.
    """
    if kind in ("path", "paths"):
        return os.fsdecode(given.encode("utf-8", "surrogateescape"))
    if given.isascii():
        return given
    return given.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _value(kind: str, given: str) -> Any:
    if given == "--":
        raise NotPlain  # which argparse drops
    if kind != "number":
        if not given and kind in ("path", "paths"):
            raise NotPlain  # a variable that is not set: it must not pass for one left out
        return word_of(kind, given)
    if not (given.isascii() and given.isdigit()) or len(given) > 18:
        raise NotPlain
    return int(given)
