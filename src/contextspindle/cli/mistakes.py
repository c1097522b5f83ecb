"""What is said of words that name no command: the nearest one, or the one that does what is meant.

A suggestion may be followed blindly, so there is one only where it is near, or known: words that
other programs use are listed with the command that does the same here.
"""

from __future__ import annotations

import difflib

from ..core import text
from ..errors import InvalidInput
from . import full, table
from . import parse as fast

_CLOSE = "task update ID --status"
MEANT: dict[str, dict[str, tuple[str, ...]]] = {
    "": {
        "version": ("--version",),
        "status": ("doctor", "fuse status", "task board"),
        "health": ("doctor",),
        "check": ("doctor", "verify"),
        "tasks": ("task list",),
        "memories": ("recall QUERY",),
        "search": ("task search QUERY", "recall QUERY"),
        "find": ("task search QUERY", "recall QUERY"),
        "install": ("setup",),
        "uninstall": ("setup --remove",),
        "server": ("mcp",),
        "serve": ("mcp",),
        "resume": ("fuse restore --plain",),
    },
    "task": {
        **dict.fromkeys(("add", "new"), ("task create GOAL",)),
        **dict.fromkeys(("edit", "set", "change", "modify"), ("task update ID",)),
        **dict.fromkeys(("view", "get", "cat", "info"), ("task show ID",)),
        **dict.fromkeys(("note", "comment"), ("task update ID --note TEXT",)),
        **dict.fromkeys(("done", "complete", "finish", "close"), (f"{_CLOSE} done",)),
        **dict.fromkeys(
            ("delete", "remove", "rm", "del", "drop", "cancel"),
            (f"{_CLOSE} cancelled --decision TEXT",),
        ),
        "start": (f"{_CLOSE} active", "task claim ID"),
        "block": (f"{_CLOSE} blocked --blocker TEXT",),
        "reopen": (f"{_CLOSE} open --decision TEXT",),
        "status": ("task board", "task show ID"),
        "find": ("task search QUERY",),
        "ls": ("task list",),
        "next": ("task claim --next",),
        "take": ("task claim ID",),
        "unclaim": ("task release ID",),
        "run": ("task prove ID -- COMMAND",),
    },
    "fuse": {
        **dict.fromkeys(("ls", "log", "snapshots"), ("fuse list",)),
        **dict.fromkeys(("resume", "load", "context"), ("fuse restore --plain",)),
        **dict.fromkeys(("delete", "remove", "rm", "clean"), ("fuse prune",)),
        "install": ("setup",),
    },
    "memory": {
        **dict.fromkeys(("list", "ls", "search", "find", "show", "get"), ("recall QUERY",)),
        **dict.fromkeys(("add", "new", "save", "store", "set"), ("remember TEXT",)),
        **dict.fromkeys(("delete", "remove", "rm", "del", "drop"), ("forget ITEM",)),
        "status": ("stats",),
    },
}
"""For each noun, what other words are taken to mean; for none, what a first word is."""


def no_command(words: list[str]) -> InvalidInput:
    """The error for words that name no command."""
    before, rest = fast.leading_options(words)
    if not rest or rest[0].startswith("-"):
        return _no_word(before, rest)
    noun = rest[0]
    between, behind = fast.leading_options(rest[1:])
    if behind and behind[0].startswith("-"):
        return _no_word(between, behind)
    verb = behind[0] if behind else ""
    nouns = {one.words[0]: None for one in table.COMMANDS if len(one.words) > 1}
    if noun in nouns and not verb:
        return InvalidInput(
            f"'contextspindle {noun}' is followed by one of its commands",
            hint=full.help_text([noun]).rstrip(),
        )
    said = text.shortened(f"{noun} {verb}" if noun in nouns else noun, 80)
    found = _meant(noun, verb, [*nouns])
    named = " or ".join(f"'contextspindle {one}'" for one in found)
    whose = f"contextspindle {noun}" if noun in nouns else "contextspindle"
    hint = f"Did you mean {named}?" if found else f"See '{whose} --help'."
    return InvalidInput(f"There is no command {said!r}", hint=hint)


def _no_word(before: list[str], rest: list[str]) -> InvalidInput:
    """The error for options without a command."""
    known = [*(one.flag for one in table.GLOBAL_OPTIONS), "--version"]
    named = [*before, *rest[:1]]
    while named:
        flag = named.pop(0).partition("=")[0]
        if flag in ("-v", "-V"):
            hint = "Did you mean --version?"
            return InvalidInput(f"contextspindle has no option {flag}", hint=hint)
        if flag not in (*known, "--", "-"):
            return full.no_option("contextspindle", flag, known)
        if flag == "--version":
            return InvalidInput("--version stands alone", hint="Write: contextspindle --version")
        if flag == "--workspace" and named:
            named.pop(0)
    shown = [*before, *rest, ""][0].partition("=")[0]
    return InvalidInput(
        f"There is no command beside {shown!r}", hint="See 'contextspindle --help'."
    )


def _meant(noun: str, verb: str, nouns: list[str]) -> tuple[str, ...]:
    """The commands that the words may stand for; none if nothing is near."""
    alone = [one.words[0] for one in table.COMMANDS if len(one.words) == 1]
    group = noun if noun in nouns else ""
    if not group:
        if not verb and noun in MEANT[""]:
            return MEANT[""][noun]
        near = difflib.get_close_matches(noun, [*nouns, *alone], 1, 0.75)
        if near and near[0] in alone:
            return (near[0],)
        group = near[0] if near else ""
    if group and verb:
        verbs = [one.words[1] for one in table.COMMANDS if one.words[0] == group != one.words[-1]]
        if verb not in verbs and verb in MEANT[group]:
            return MEANT[group][verb]
        near = difflib.get_close_matches(verb, verbs, 1, 0.7)
        if near:
            return (f"{group} {near[0]}",)
        return (verb,) if verb in alone else ()
    if group:
        return (f"{group} --help",)
    if noun in MEANT[""]:
        return MEANT[""][noun]
    if noun in MEANT["task"]:
        return MEANT["task"][noun]
    all_verbs: dict[str, str] = {}
    for one in table.COMMANDS:
        all_verbs.setdefault(one.words[-1], " ".join(one.words))
    return tuple(all_verbs[one] for one in difflib.get_close_matches(noun, all_verbs, 1, 0.8))
