"""The slow half of the command line: help, mistakes and every spelling that ``argparse`` knows."""

from __future__ import annotations

import argparse
import difflib
import os
import textwrap
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ..core import text
from ..core.text import quoted
from ..errors import InvalidInput
from . import parse as fast
from . import table
from .table import Command

WIDTH = 88
"""The columns of a help page; at a narrower terminal, its own."""
LEAST = 20
"""The columns that a text beside its word has at least."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str, hint: str = "") -> NoReturn:
        hint = f"{hint} See '{self.prog} --help'.".lstrip()
        raise InvalidInput(message.removeprefix("argument "), hint=hint)


def parse(command: Command, words: list[str]) -> dict[str, Any]:
    """The values of the call.  InvalidInput says what is wrong with it."""
    parser = _parser(command)
    # Behind "--" every word is taken as it is.  argparse forgets that between its two passes.
    end = words.index("--") if "--" in words else len(words)
    if end == len(words) and _lacks_rest(command, words):
        rest = command.positionals[-1].name.upper()
        parser.error(f"{rest} is missing: it stands behind '--'", f"As in: {command.examples[0]}.")
    _check_flags(command, words[:end], parser)
    found = vars(parser.parse_intermixed_args(words[:end]))
    for option in (*command.options, *table.GLOBAL_OPTIONS):
        given = found[option.name]
        if isinstance(given, list):
            found[option.name] = [fast.word_of(option.kind, one) for one in given]
        elif isinstance(given, str):
            found[option.name] = fast.word_of(option.kind, given)
    found.update(_places(command, found.pop("places"), words[end + 1 :], parser))
    _refuse_no_path(command, found, parser)
    return {name: found[name] for name in table.values_of(command)}


def _refuse_no_path(command: Command, found: dict[str, Any], parser: _Parser) -> None:
    """InvalidInput for an empty path, as of a variable that is not set: it is not one left out."""
    given = [(one.flag, one.name, one.kind) for one in (*command.options, *table.GLOBAL_OPTIONS)]
    given += [(one.name.upper(), one.name, one.kind) for one in command.positionals]
    for shown, name, kind in given:
        value = found[name]
        if kind in ("path", "paths") and "" in (value if isinstance(value, list) else [value]):
            parser.error(f"{shown} is empty: it names no path")


def _lacks_rest(command: Command, words: list[str]) -> bool:
    """Whether words are there, but not those that stand behind ``--``: perhaps among the others."""
    takes_rest = any(place.kind == "rest" for place in command.positionals)
    return takes_rest and any(not word.startswith("-") for word in words)


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
                type=_number(option.bounds) if option.kind == "number" else str,
                action="append" if repeated else "store",
                default=[] if repeated else None,
            )
    return parser


def _check_flags(command: Command, words: list[str], parser: _Parser) -> None:
    """InvalidInput for an option that the command does not have, or that lacks its value."""
    options = {one.flag: one for one in (*command.options, *table.GLOBAL_OPTIONS)}
    rest = iter([*words, None])
    for word in rest:
        if word is None or not _is_option(word, options):
            continue
        flag, equals, given = word.partition("=")
        option = options.get(flag)
        if option is None:
            raise no_option(parser.prog, flag, options)
        if option.kind == "switch":
            if equals:
                parser.error(f"{flag} takes no value")
        elif given == "--":
            parser.error(f"'--' is not a value for {flag}")
        elif not equals:
            value = next(rest)
            if value is None:
                parser.error(f"{flag} needs its {option.metavar}")
            if _is_option(value, options):
                shown = quoted(text.shortened(value, 80))
                parser.error(
                    f"{flag} needs its {option.metavar}: {value!r} looks like an option",
                    f"If it is meant: {flag}={shown}.",
                )


def _is_option(word: str, options: dict[str, table.Option]) -> bool:
    """Whether ``argparse`` takes ``word`` for an option; a negative number is none."""
    if word[:1] != "-" or word == "-" or word[1:2].isdigit():
        return False
    return " " not in word or word.partition("=")[0] in options


def no_option(prog: str, flag: str, known: Iterable[str]) -> InvalidInput:
    """The error for an option that there is not, with the nearest one."""
    names = {one.lstrip("-"): one for one in known}
    bare = flag.lstrip("-")
    near = difflib.get_close_matches(bare, names, 1, 0.65)
    # Or one that begins so: a longer word for the same.
    near = near or [one for one in names if len(one) > 2 and bare.startswith(one)]
    hint = f"Did you mean {names[near[0]]}?" if near else f"See '{prog} --help'."
    return InvalidInput(f"{prog} has no option {text.shortened(flag, 80)}", hint=hint)


def _places(
    command: Command, before: list[str], behind: list[str], parser: _Parser
) -> dict[str, Any]:
    """The values by their place, from the words before ``--`` and behind it."""
    found: dict[str, Any] = {}
    takes_rest = any(place.kind == "rest" for place in command.positionals)
    given = words = before if takes_rest else before + behind
    for place in command.positionals:
        if place.kind == "rest":
            if not behind:
                parser.error(f"{place.name.upper()} is missing: it stands behind '--'")
            found[place.name] = [fast.word_of("path", one) for one in behind]
            continue
        if not words and place.required:
            parser.error(f"{place.name.upper()} is missing")
        found[place.name] = None
        if not words:
            continue
        word, words = words[0], words[1:]
        if place.kind != "number":
            found[place.name] = fast.word_of(place.kind, word)
            continue
        try:
            found[place.name] = _number(place.bounds)(word)
        except argparse.ArgumentTypeError as error:
            hint = "" if _is_number(word) else _as_one(command, given, parser.prog)
            parser.error(f"{place.name.upper()}: {error}", hint)
    if words:
        shown = text.shortened(fast.word_of("text", words[0]), 80)
        hint = _as_one(command, given, parser.prog) or _no_more(command)
        parser.error(f"There is no place for {shown!r}", hint)
    return found


def _as_one(command: Command, given: list[str], prog: str) -> str:
    """How words that a shell took apart are written as one text; empty if there is no text."""
    for number, place in enumerate(command.positionals):
        if place.prose:
            words = [fast.word_of(place.kind, one) for one in given]
            whole = " ".join(words[number:])
            if text.size(whole) > 200 or text.one_line(whole) != whole:
                return "Put the text between quotes."
            return f"Put the text between quotes: {prog} {quoted(whole)}."
    return ""


def _no_more(command: Command) -> str:
    """How many words a command takes by their place."""
    names = [one.name.upper() for one in command.positionals if one.kind != "rest"]
    if not names:
        return "It takes options only."
    return f"It takes one {names[0]} only." if len(names) == 1 else f"It takes {', '.join(names)}."


def _is_number(given: str) -> bool:
    digits = given.removeprefix("-")
    return digits.isascii() and digits.isdigit()


def _number(bounds: str) -> Callable[[str], int]:
    def read(given: str) -> int:
        if not _is_number(given):
            raise argparse.ArgumentTypeError(f"{given!r} is not a whole number ({bounds})")
        if given.startswith("-") or len(given) > 18:
            shown = text.shortened(given, 40)
            raise argparse.ArgumentTypeError(f"{shown} is out of range ({bounds})")
        return int(given)

    return read


TOPICS = (
    ("To begin", "init setup doctor completion"),
    ("Tasks", "task"),
    ("The ledger as a whole", "verify backup restore export import purge"),
    ("For agents", "prime onboard mcp"),
    ("Over a compaction", "fuse"),
    ("Memory", "remember recall stats forget memory"),
)
"""The headings of a list of all commands, and the first words that stand below each."""


def topics() -> list[tuple[str, list[Command]]]:
    """Every command below its heading."""
    return [
        (title, [one for word in words.split() for one in table.COMMANDS if one.words[0] == word])
        for title, words in TOPICS
    ]


def help_text(words: list[str]) -> str:
    """The help for the command, the noun or the program that ``words`` name."""
    named = [word for word in words if word not in ("-h", "--help")]
    try:
        return _command_help(fast.command_of(named)[0])
    except fast.NotPlain:
        noun = fast.leading_options(named)[1][:1]
    some = [one for one in table.COMMANDS if [one.words[0]] == noun]
    return _overview([("", some)] if some else topics(), top=not some)


def _overview(topics: list[tuple[str, list[Command]]], *, top: bool) -> str:
    usage = "usage: contextspindle COMMAND [OPTION]..."
    lines = textwrap.wrap(usage, _width(), subsequent_indent="    ")
    if top:
        lines += ["", *textwrap.wrap("Durable task continuity for AI coding agents.", _width())]
    widest = max(len(" ".join(one.words)) for _, commands in topics for one in commands)
    for title, commands in topics:
        lines += ["", f"{title}:"] if title else [""]
        lines += _columns([(" ".join(one.words), one.summary) for one in commands], widest)
    lines += ["", "Every command takes:"]
    lines += _option_lines(table.GLOBAL_OPTIONS)
    if top:
        more = "'contextspindle --version' prints the version."
        lines += ["", *textwrap.wrap(more, _width())]
    more = "'contextspindle COMMAND --help' shows one command with examples."
    lines += ["", *textwrap.wrap(more, _width())]
    return "\n".join(lines) + "\n"


def usage(command: Command) -> str:
    """How a command is written: what stands behind ``--`` comes last, for nothing is ours there."""
    parts = ["contextspindle", *command.words]
    for one in command.positionals:
        if one.kind != "rest":
            parts.append(one.name.upper() if one.required else f"[{one.name.upper()}]")
    parts += ["[OPTION]..."] if command.options else []
    parts += [f"-- {one.name.upper()}..." for one in command.positionals if one.kind == "rest"]
    return " ".join(parts)


def _command_help(command: Command) -> str:
    lines = textwrap.wrap(f"usage: {usage(command)}", _width(), subsequent_indent="    ")
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


def _columns(rows: list[tuple[str, str]], widest: int = 0) -> list[str]:
    most = _width()
    width = min(widest or max(len(left) for left, _ in rows), max(most - LEAST - 4, 0))
    lines = []
    for left, right in rows:
        first, *more = textwrap.wrap(right, max(most - width - 4, LEAST)) or [""]
        if len(left) > width:  # too long to stand beside it
            lines.append(f"  {left}")
            left = ""
        lines.append(f"  {left:{width}}  {first}")
        lines += [" " * (width + 4) + line for line in more]
    return lines
