"""The shape of a command: what it is called, what it takes, and where its function is."""

from __future__ import annotations

from ..core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KINDS = ("text", "path", "number", "switch", "list", "paths", "rest")
"""What a value can be; ``list`` and ``paths`` may be repeated, ``rest`` stands behind ``--``."""

HARNESSES = (
    *("claude-code", "codex", "qwen-code", "droid", "gemini", "copilot-cli", "opencode", "cursor"),
    *("cline", "plain"),
)
"""The programs whose sessions can be read, as an option names them."""


class Positional(Value):
    """A word by its place."""

    name: str
    help: str
    kind: str = "text"
    """``text``, ``path``, ``number``, or ``rest`` for all the words behind ``--``."""
    required: bool = True
    bounds: str = "0 or more"
    """Which numbers it can be, in words."""
    prose: bool = False
    """Whether it is a text of several words, which a shell takes for one only between quotes."""
    choices: tuple[str, ...] = ()
    """The words that it can be, where they are few: what completion offers."""


class Option(Value):
    """A word by its name."""

    flag: str
    help: str
    kind: str = "text"
    """``text``, ``path``, ``number``, ``switch``; ``list`` or ``paths`` if it may be repeated."""
    metavar: str = "TEXT"
    bounds: str = "0 or more"
    """Which numbers it can be, in words."""
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The key of its value."""
        return self.flag[2:].replace("-", "_")


class Command(Value):
    """One command: where its function is, what it takes, and how it is shown."""

    words: tuple[str, ...]
    module: str
    function: str
    summary: str
    positionals: tuple[Positional, ...] = ()
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    details: str = ""
    quiet: str = ""
    """What ``--quiet`` has it print alone; empty where that option changes nothing."""

    def general(self) -> tuple[Option, ...]:
        """The options of every command, as they are for this one: those that change something."""
        if self.quiet:
            return tuple(
                one._replace(help=f"print {self.quiet} alone") if one.flag == QUIET else one
                for one in GLOBAL_OPTIONS
            )
        return tuple(one for one in GLOBAL_OPTIONS if one.flag != QUIET)


QUIET = "--quiet"

GLOBAL_OPTIONS = (
    Option("--workspace", "the project whose workspace to use", "path", "DIR"),
    Option("--json", "print one JSON document", "switch"),
    Option(QUIET, "print the id alone, where the command's help lists this", "switch"),
    Option("--help", "show this help", "switch"),
)
"""Taken before or after the words of a command."""


def values_of(command: Command) -> dict[str, Any]:
    """Every value of a command with what it is when it is not given."""
    found: dict[str, Any] = {one.name: None for one in command.positionals}
    for option in (*command.options, *GLOBAL_OPTIONS):
        found[option.name] = {"switch": False, "list": [], "paths": []}.get(option.kind)
    return found
