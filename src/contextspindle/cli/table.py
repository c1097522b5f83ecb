"""Every command, declared once: the parsers, the help, the docs and the tests read this table."""

from __future__ import annotations

from ..core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Positional(Value):
    """A word by its place."""

    name: str
    help: str
    kind: str = "text"
    """``text``, ``path`` or ``number``."""
    required: bool = True


class Option(Value):
    """A word by its name."""

    flag: str
    help: str
    kind: str = "text"
    """``text``, ``path``, ``number``, ``switch``, or ``list`` for one that may be repeated."""
    metavar: str = "TEXT"

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


GLOBAL_OPTIONS = (
    Option("--workspace", "the project whose workspace to use", "path", "DIR"),
    Option("--json", "print one JSON document", "switch"),
    Option("--quiet", "print the id alone", "switch"),
    Option("--help", "show this help", "switch"),
)
"""Taken before or after the words of a command."""

_ID = Positional("id", "the task's id; for reading, its unique start is enough")
_LIMIT = Positional("limit", "how many, 1 to 100", "number", required=False)
_OFFSET = Positional("offset", "how many to pass over", "number", required=False)

_TEXT_NOTE = "A TEXT of '-' is read from standard input. An empty TEXT clears the field."

_FIELDS = (
    Option(
        "--criterion", "a completion criterion; all that are given replace the present ones", "list"
    ),
    Option("--status", "open, active, blocked, done or cancelled", metavar="STATUS"),
    Option("--owner", "who answers for the task"),
    Option("--blocker", "what it waits for"),
    Option("--next", "the next action"),
    Option("--parent", "the task it is a part of", metavar="ID"),
    Option("--priority", "0 (highest) to 4, or high, medium, low", metavar="PRIORITY"),
    Option("--label", "a label to add", "list"),
    Option("--depends-on", "a task that must be done first", "list", "ID"),
    Option("--decision", "a decision and its reason, recorded for good", "list"),
    Option("--note", "a note, recorded for good", "list"),
)

COMMANDS = (
    Command(
        ("init",),
        "project",
        "init",
        "Make a workspace here, or say that there is one.",
        (Positional("path", "the project's folder; if left out, found", "path", required=False),),
        (Option("--accept", "trust a workspace that came with the repository", "switch"),),
        ("contextspindle init", "contextspindle init ~/code/shop"),
        "Without PATH it is the workspace that commands find from here, else one at the top of the"
        " git checkout, else one in the current folder.",
    ),
    Command(
        ("task", "create"),
        "task",
        "create",
        "Record a new task.",
        (Positional("goal", "what is to be reached, in a sentence; '-' reads standard input"),),
        (
            *_FIELDS,
            Option(
                "--key",
                "an idempotency key: the same request under it makes one task",
                metavar="KEY",
            ),
        ),
        (
            "contextspindle task create 'Ship the login page' --criterion 'npm test passes'",
            "contextspindle task create 'Fix #42' --key issue-42 --next 'reproduce it' --json",
        ),
        _TEXT_NOTE,
    ),
    Command(
        ("task", "update"),
        "task",
        "update",
        "Change a task; all that is given is one change.",
        (Positional("id", "the task's whole id"),),
        (
            Option("--goal", "a new goal; needs a --decision"),
            *_FIELDS,
            Option("--drop-label", "a label to remove", "list"),
            Option("--drop-dependency", "a dependency to remove", "list", "ID"),
            Option(
                "--evidence", "what shows that the criteria hold, bound to them as they are", "list"
            ),
            Option(
                "--for", "the criterion that the evidence is for; all, if left out", "number", "N"
            ),
            Option(
                "--expect",
                "the version that was read; refused if it has moved on",
                "number",
                "VERSION",
            ),
        ),
        (
            "contextspindle task update t-3fz81qmk --status active --next 'write the parser'",
            "contextspindle task update t-3fz81qmk --decision 'SQLite: one file, no server'",
            "contextspindle task update t-3fz81qmk --evidence 'npm test: 214 passed' --status done",
        ),
        _TEXT_NOTE
        + " A change of goal or criteria, a cancellation and a reopening need a --decision in the"
        " same update. Done needs criteria, fresh evidence for each of them, no blocker, and every"
        " dependency done.",
    ),
    Command(
        ("task", "show"),
        "task",
        "show",
        "Show one task whole.",
        (_ID,),
        (Option("--as-of", "the task as it was at this version", "number", "VERSION"),),
        ("contextspindle task show t-3fz8", "contextspindle task show t-3fz81qmk --as-of 2 --json"),
    ),
    Command(
        ("task", "list"),
        "task",
        "list",
        "List tasks, the newest created first.",
        (_OFFSET, _LIMIT),
        (
            Option("--status", "only this status", "list", "STATUS"),
            Option("--owner", "only this owner's"),
            Option("--label", "only with this label"),
            Option("--parent", "only parts of this task", metavar="ID"),
        ),
        ("contextspindle task list", "contextspindle task list 100 50 --status open"),
    ),
    Command(
        ("task", "inbox"),
        "task",
        "inbox",
        "List what is live: active, then blocked, then open, the latest updated first.",
        (_LIMIT, _OFFSET),
        (),
        ("contextspindle task inbox", "contextspindle task inbox 10"),
    ),
    Command(
        ("task", "history"),
        "task",
        "history",
        "Show what changed in each version.",
        (_ID, Positional("from", "the first version shown", "number", required=False), _LIMIT),
        (),
        ("contextspindle task history t-3fz8", "contextspindle task history t-3fz8 3 20"),
    ),
    Command(
        ("task", "children"),
        "task",
        "children",
        "List the parts of a task, the newest created first.",
        (_ID, _OFFSET, _LIMIT),
        (),
        ("contextspindle task children t-3fz8",),
    ),
    Command(
        ("task", "context"),
        "task",
        "context",
        "Print one task's handoff within a byte budget.",
        (
            _ID,
            Positional(
                "budget", "the most UTF-8 bytes, 128 to 1,000,000", "number", required=False
            ),
        ),
        (),
        ("contextspindle task context t-3fz8", "contextspindle task context t-3fz8 4096"),
        "Required state is shown whole or not at all; the last line counts what did not fit.",
    ),
    Command(
        ("fuse", "save"),
        "fuse",
        "save",
        "Save an extract of a session's transcript: by hand, or as a hook before compaction.",
        (),
        (
            Option(
                "--transcript",
                "the transcript to read; without it, a hook payload on standard input",
                "path",
                "PATH",
            ),
            Option("--session", "the session's id", metavar="ID"),
            Option(
                "--harness",
                "the program that wrote it; found from the content if left out",
                metavar="NAME",
            ),
        ),
        (
            "contextspindle fuse save --transcript session.jsonl --session 6d61b693",
            "contextspindle fuse save < payload.json",
        ),
        "As a hook it always ends with status 0 and prints nothing that is not for the harness.",
    ),
    Command(
        ("fuse", "restore"),
        "fuse",
        "restore",
        "Print what an agent needs to go on after compaction.",
        (),
        (
            Option("--plain", "print the text and read no standard input", "switch"),
            Option("--session", "the session's id; the newest snapshot if left out", metavar="ID"),
            Option("--budget", "the most UTF-8 bytes, 500 to 9,500", "number", "BYTES"),
        ),
        (
            "contextspindle fuse restore --plain",
            "contextspindle fuse restore --plain --session 6d61b693 --budget 2000",
        ),
        "Without --plain it reads a hook payload on standard input, answers in the harness's form,"
        " and always ends with status 0.",
    ),
    Command(
        ("fuse", "status"),
        "fuse",
        "status",
        "Show what was saved last, per session, and what failed.",
        (),
        (),
        ("contextspindle fuse status",),
    ),
)


def find(words: list[str]) -> tuple[Command | None, int]:
    """The command that ``words`` begin with, and how many of them name it."""
    for command in COMMANDS:
        count = len(command.words)
        if tuple(words[:count]) == command.words:
            return command, count
    return None, 0


def values_of(command: Command) -> dict[str, Any]:
    """Every value of a command with what it is when it is not given."""
    found: dict[str, Any] = {one.name: None for one in command.positionals}
    for option in (*command.options, *GLOBAL_OPTIONS):
        found[option.name] = {"switch": False, "list": []}.get(option.kind)
    return found
