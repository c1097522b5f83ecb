"""The slow half of the command line: help, mistakes and every spelling that ``argparse`` knows."""

from __future__ import annotations

import argparse
import difflib
import os
import textwrap
from typing import Any, NoReturn

from ..core import text
from ..errors import InvalidInput
from . import parse as fast
from . import table
from .table import Command

WIDTH = 88
"""The columns of a help page; at a narrower terminal, its own."""
LEAST = 20
"""The columns that a text beside its word has at least."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidInput(message, hint=f"See '{self.prog} --help'.")


def parse(command: Command, words: list[str]) -> dict[str, Any]:
    """The values of the call.  InvalidInput says what is wrong with it."""
    parser = _parser(command)
    # Behind "--" every word is taken as it is.  argparse forgets that between its two passes.
    end = words.index("--") if "--" in words else len(words)
    _check_flags(command, words[:end], parser.prog)
    found = vars(parser.parse_intermixed_args(words[:end]))
    for option in (*command.options, *table.GLOBAL_OPTIONS):
        given = found[option.name]
        if isinstance(given, list):
            found[option.name] = [fast.word_of(option.kind, one) for one in given]
        elif isinstance(given, str):
            found[option.name] = fast.word_of(option.kind, given)
    found.update(_places(command, found.pop("places"), words[end + 1 :], parser))
    return {name: found[name] for name in table.values_of(command)}


def _parser(command: Command) -> _Parser:
    parser = _Parser(
        prog=" ".join(("contextspindle", *command.words)), add_help=False, allow_abbrev=False
    )
    parser.add_argument("places", nargs="*")
    for option in (*command.options, *table.GLOBAL_OPTIONS):
        if option.kind == "switch":
            parser.add_argument(option.flag, action="store_true", dest=option.name)
        else:
            repeated = option.kind in ("list", "paths")
            parser.add_argument(
                option.flag,
                dest=option.name,
                type=_number if option.kind == "number" else str,
                action="append" if repeated else "store",
                default=[] if repeated else None,
            )
    return parser


def _check_flags(command: Command, words: list[str], prog: str) -> None:
    """InvalidInput for an option that the command does not have, with the nearest one."""
    flags = [one.flag for one in (*command.options, *table.GLOBAL_OPTIONS)]
    for word in words:
        flag = word.partition("=")[0]
        if word.startswith("--") and " " not in word and flag not in flags:
            near = difflib.get_close_matches(flag, flags, 1)
            hint = f"Did you mean {near[0]}?" if near else f"See '{prog} --help'."
            raise InvalidInput(f"{prog} has no option {flag}", hint=hint)
        if word == f"{flag}=--":
            raise InvalidInput(f"'--' is not a value for {flag}", hint=f"See '{prog} --help'.")


def _places(
    command: Command, before: list[str], behind: list[str], parser: _Parser
) -> dict[str, Any]:
    """The values by their place, from the words before ``--`` and behind it."""
    found: dict[str, Any] = {}
    takes_rest = any(place.kind == "rest" for place in command.positionals)
    words = before if takes_rest else before + behind
    for place in command.positionals:
        if place.kind == "rest":
            if not behind:
                parser.error(f"{place.name.upper()} is missing: it stands behind '--'")
            found[place.name] = [fast.word_of("path", one) for one in behind]
            continue
        if not words and place.required:
            parser.error(f"{place.name.upper()} is missing")
        found[place.name] = None
        if words:
            found[place.name] = _value(place, words[0], parser)
            words = words[1:]
    if words:
        parser.error(f"There is no place for {text.shortened(words[0], 80)!r}")
    return found


def _value(place: table.Positional, given: str, parser: _Parser) -> str | int:
    if place.kind != "number":
        return fast.word_of(place.kind, given)
    try:
        return _number(given)
    except argparse.ArgumentTypeError as error:
        parser.error(f"argument {place.name.upper()}: {error}")


def _number(given: str) -> int:
    if not (given.isascii() and given.isdigit()) or len(given) > 18:
        raise argparse.ArgumentTypeError(f"{given!r} is not a whole number")
    return int(given)


def no_command(words: list[str]) -> InvalidInput:
    """The error for words that name no command, with the nearest one."""
    named = [word for word in words if not word.startswith("-")][:2]
    known = [" ".join(one.words) for one in table.COMMANDS]
    near = difflib.get_close_matches(" ".join(named), known, 1, 0.5)
    if not near and named:
        verbs = {one.words[-1]: " ".join(one.words) for one in table.COMMANDS}
        near = [verbs[verb] for verb in difflib.get_close_matches(named[-1], verbs, 1, 0.6)]
    hint = f"Did you mean 'contextspindle {near[0]}'?" if near else "See 'contextspindle --help'."
    return InvalidInput(f"There is no command {' '.join(named)!r}", hint=hint)


def help_text(words: list[str]) -> str:
    """The help for the command, the noun or the program that ``words`` name."""
    named = [word for word in words if word not in ("-h", "--help")]
    try:
        return _command_help(fast.command_of(named)[0])
    except fast.NotPlain:
        noun = fast.leading_options(named)[1][:1]
    some = [one for one in table.COMMANDS if [one.words[0]] == noun]
    return _overview(some or list(table.COMMANDS), top=not some)


def _overview(commands: list[Command], *, top: bool) -> str:
    usage = "usage: contextspindle COMMAND [OPTION]..."
    lines = [*textwrap.wrap(usage, _width(), subsequent_indent="    "), ""]
    if top:
        lines += [*textwrap.wrap("Durable task continuity for AI coding agents.", _width()), ""]
    lines += _columns([(" ".join(one.words), one.summary) for one in commands])
    lines += ["", "Every command takes:"]
    lines += _option_lines(table.GLOBAL_OPTIONS)
    more = "'contextspindle COMMAND --help' shows one command with examples."
    lines += ["", *textwrap.wrap(more, _width())]
    return "\n".join(lines) + "\n"


def _command_help(command: Command) -> str:
    words = " ".join(("contextspindle", *command.words))
    places = [
        f"-- {one.name.upper()}..."
        if one.kind == "rest"
        else one.name.upper()
        if one.required
        else f"[{one.name.upper()}]"
        for one in command.positionals
    ]
    usage = " ".join([words, *places, *(["[OPTION]..."] if command.options else [])])
    lines = textwrap.wrap(f"usage: {usage}", _width(), subsequent_indent="    ")
    lines += ["", *textwrap.wrap(command.summary, _width())]
    if command.positionals:
        lines.append("")
        lines += _columns([(one.name.upper(), one.help) for one in command.positionals])
    if command.options:
        lines += ["", "options:", *_option_lines(command.options)]
    lines += ["", "also:", *_option_lines(command.general())]
    if command.details:
        lines += ["", *textwrap.wrap(command.details, _width())]
    lines += ["", "examples:", *(f"  {example}" for example in command.examples)]
    return "\n".join(lines) + "\n"


def _option_lines(options: tuple[table.Option, ...]) -> list[str]:
    rows = []
    for one in options:
        shown = one.flag if one.kind == "switch" else f"{one.flag} {one.metavar}"
        rows.append((shown, one.help + (" (repeatable)" if one.kind in ("list", "paths") else "")))
    return _columns(rows)


def _width() -> int:
    """The columns to write in: never more than :data:`WIDTH`, so that a pipe gets the same."""
    try:
        return min(os.get_terminal_size(1).columns or WIDTH, WIDTH)
    except OSError:
        return WIDTH


def _columns(rows: list[tuple[str, str]]) -> list[str]:
    most = _width()
    width = min(max(len(left) for left, _ in rows), max(most - LEAST - 4, 0))
    lines = []
    for left, right in rows:
        first, *more = textwrap.wrap(right, max(most - width - 4, LEAST)) or [""]
        if len(left) > width:  # too long to stand beside it
            lines.append(f"  {left}")
            left = ""
        lines.append(f"  {left:{width}}  {first}")
        lines += [" " * (width + 4) + line for line in more]
    return lines
