"""Every command, declared once: the parsers, the help, the docs and the tests read this table."""

from __future__ import annotations

from .fuse_table import FUSE_COMMANDS
from .memory_table import MEMORY_COMMANDS
from .shape import GLOBAL_OPTIONS, KINDS, Command, Option, Positional, values_of

__all__ = [
    "COMMANDS",
    "GLOBAL_OPTIONS",
    "KINDS",
    "Command",
    "Option",
    "Positional",
    "find",
    "values_of",
]

_ID = Positional("id", "the task's id; for reading, its unique start is enough")
_LIMIT = Positional("limit", "how many, 1 to 100", "number", required=False, bounds="1 to 100")
_OFFSET = Positional("offset", "how many to pass over", "number", required=False)

_TEXT_NOTE = "A TEXT of '-' is read from standard input. An empty TEXT clears the field."

_STATUSES = ("open", "active", "blocked", "done", "cancelled")
_TASK_STATUS = "open, active, blocked, done or cancelled, or another common word for one of them"

_FIELDS = (
    Option(
        "--criterion", "a completion criterion; all that are given replace the present ones", "list"
    ),
    Option("--status", _TASK_STATUS, metavar="STATUS", choices=_STATUSES),
    Option("--owner", "who answers for the task"),
    Option("--blocker", "what it waits for"),
    Option("--next", "the next action"),
    Option("--parent", "the task it is a part of", metavar="ID"),
    Option(
        "--priority",
        "0 (highest) to 4, or critical, high, medium, low, lowest",
        metavar="PRIORITY",
        choices=("0", "1", "2", "3", "4", "critical", "high", "medium", "low", "lowest"),
    ),
    Option("--label", "a label to add", "list"),
    Option("--depends-on", "a task that must be done first", "list", "ID"),
    Option("--decision", "a decision and its reason, recorded for good", "list"),
    Option("--note", "a note, recorded for good", "list"),
)

_FOR = Option(
    "--for", "the criterion that the evidence is for; all, if left out", "number", "N", "1 or more"
)
_EXPECT = Option(
    "--expect",
    "the version that was read; refused if it moved on",
    "number",
    "VERSION",
    "1 or more",
)
_CLAIM = Option("--claim", "the token of your claim on the task", metavar="TOKEN")

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
        quiet="the folder of the workspace",
    ),
    Command(
        ("task", "create"),
        "task",
        "create",
        "Record a new task.",
        (
            Positional(
                "goal", "what is to be reached, in a sentence; '-' reads standard input", prose=True
            ),
        ),
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
        quiet="the id",
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
            Option("--evidence-file", "a file as evidence; stale when it changes", "paths", "PATH"),
            _FOR,
            _EXPECT,
            _CLAIM,
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
        quiet="the id",
    ),
    Command(
        ("task", "prove"),
        "claim",
        "prove",
        "Run a command and record how it ended as evidence.",
        (
            Positional("id", "the task's whole id"),
            Positional("command", "the command, behind '--'", "rest"),
        ),
        (
            _FOR,
            Option(
                "--covers",
                "what it is about; all of the git checkout, if left out",
                "paths",
                "PATH",
            ),
            _EXPECT,
            _CLAIM,
        ),
        (
            "contextspindle task prove t-3fz81qmk -- npm test",
            "contextspindle task prove t-3fz81qmk --for 2 --covers src --covers tests -- pytest -q",
        ),
        "The evidence is bound to the criteria and to the covered files as they were when the"
        " command started, and goes stale by itself when either changes. A command that failed is"
        " recorded,"
        " ends with status 5, and never satisfies the done gate; so is one that changed what it is"
        " about.",
        quiet="the id",
    ),
    Command(
        ("task", "claim"),
        "claim",
        "claim",
        "Take a task for yourself, for the length of a lease.",
        (Positional("id", "the task's whole id", required=False),),
        (
            Option("--next", "take the best task that is ready", "switch"),
            Option(
                "--lease",
                "how long, in seconds; 1,800 if left out",
                "number",
                "SECONDS",
                "1 to 604,800",
            ),
            _CLAIM,
        ),
        (
            "contextspindle task claim t-3fz81qmk",
            "contextspindle task claim --next --json",
        ),
        "It prints a token. Carry it in your writes (--claim TOKEN, or CONTEXTSPINDLE_CLAIM): each"
        " of them puts the end of the lease off. After the end another may take the task over; the"
        " old token is then refused with CLAIM_LOST. Under the token of a claim on the task itself,"
        " that claim is renewed.",
        quiet="the token",
    ),
    Command(
        ("task", "renew"),
        "claim",
        "renew",
        "Put the end of your lease off.",
        (
            Positional(
                "token", "the token of the claim; CONTEXTSPINDLE_CLAIM if left out", required=False
            ),
        ),
        (),
        ("contextspindle task renew t-3fz81qmk.7c1v0zq4e2m9t8xa",),
        quiet="the token",
    ),
    Command(
        ("task", "release"),
        "claim",
        "release",
        "Give a claimed task back.",
        (Positional("id", "the task's whole id"),),
        (_CLAIM,),
        ("contextspindle task release t-3fz81qmk --claim t-3fz81qmk.7c1v0zq4e2m9t8xa",),
        quiet="the id",
    ),
    Command(
        ("task", "ready"),
        "claim",
        "ready",
        "List what can be taken now: highest priority first, then the oldest.",
        (_LIMIT, _OFFSET),
        (Option("--explain", "say instead why this task is not ready", metavar="ID"),),
        ("contextspindle task ready 10", "contextspindle task ready --explain t-3fz8"),
        "Ready is what is open or active, has no blocker, whose dependencies are all done, and"
        " which nobody holds.",
        quiet="the ids",
    ),
    Command(
        ("task", "show"),
        "task",
        "show",
        "Show one task whole.",
        (_ID,),
        (
            Option(
                "--as-of", "the task as it was at this version", "number", "VERSION", "1 or more"
            ),
        ),
        ("contextspindle task show t-3fz8", "contextspindle task show t-3fz81qmk --as-of 2 --json"),
        quiet="the id",
    ),
    Command(
        ("task", "list"),
        "task",
        "list",
        "List tasks, the newest created first.",
        (_OFFSET, _LIMIT),
        (
            Option("--status", "only this status", "list", "STATUS", choices=_STATUSES),
            Option("--owner", "only this owner's"),
            Option("--label", "only with this label"),
            Option("--parent", "only parts of this task", metavar="ID"),
        ),
        ("contextspindle task list", "contextspindle task list 100 50 --status open"),
        quiet="the ids",
    ),
    Command(
        ("task", "inbox"),
        "task",
        "inbox",
        "List what is live: active, then blocked, then open, the latest updated first.",
        (_LIMIT, _OFFSET),
        (),
        ("contextspindle task inbox", "contextspindle task inbox 10"),
        quiet="the ids",
    ),
    Command(
        ("task", "board"),
        "overview",
        "board",
        "Show a board: what is open, active, blocked and done, the latest updated first.",
        (
            Positional(
                "limit", "how many of each, 1 to 100; 10 if left out", "number", False, "1 to 100"
            ),
        ),
        (),
        ("contextspindle task board", "contextspindle task board 5 --json"),
    ),
    Command(
        ("task", "tree"),
        "overview",
        "tree",
        "Show a task with its parts and what they wait for, or the trees of all that is live.",
        (Positional("id", "the task's id, or its unique start", required=False),),
        (),
        ("contextspindle task tree", "contextspindle task tree t-3fz8"),
        "At most 100 tasks and 20 parts of one are shown, those near the top first, and what is"
        " left out is counted. Without ID it begins with the 30 first tasks of the inbox.",
    ),
    Command(
        ("task", "log"),
        "overview",
        "log",
        "Show what was changed last in all tasks, the newest first.",
        (Positional("limit", "how many, 1 to 100; 20 if left out", "number", False, "1 to 100"),),
        (
            Option("--by", "only changes of this actor", metavar="ACTOR"),
            Option("--task", "only changes of this task", metavar="ID"),
        ),
        ("contextspindle task log", "contextspindle task log 50 --by ann"),
        "The order is that in which this ledger took the changes in. Those of one actor are looked"
        " for among the latest 10,000.",
    ),
    Command(
        ("task", "search"),
        "task",
        "search",
        "Find tasks by words: in the goal first, then next, criteria, decisions and notes.",
        (
            Positional("query", "any text; words between quotes belong together", prose=True),
            _LIMIT,
            _OFFSET,
        ),
        (),
        (
            "contextspindle task search 'login page'",
            "contextspindle task search ZED-417 10 --json",
        ),
        "Every word must be there; a word also finds those that begin with it.",
        quiet="the ids",
    ),
    Command(
        ("task", "history"),
        "task",
        "history",
        "Show what changed in each version.",
        (
            _ID,
            Positional("from", "the first version shown", "number", False, "1 or more"),
            _LIMIT,
        ),
        (),
        ("contextspindle task history t-3fz8", "contextspindle task history t-3fz8 3 20"),
        quiet="the id",
    ),
    Command(
        ("task", "children"),
        "task",
        "children",
        "List the parts of a task, the newest created first.",
        (_ID, _OFFSET, _LIMIT),
        (),
        ("contextspindle task children t-3fz8",),
        quiet="the ids",
    ),
    Command(
        ("task", "context"),
        "task",
        "context",
        "Print one task's handoff within a byte budget.",
        (
            _ID,
            Positional(
                "budget",
                "the most UTF-8 bytes, 128 to 1,000,000",
                "number",
                required=False,
                bounds="128 to 1,000,000",
            ),
        ),
        (),
        ("contextspindle task context t-3fz8", "contextspindle task context t-3fz8 4096"),
        "Required state is shown whole or not at all; the last line counts what did not fit.",
    ),
    Command(
        ("verify",),
        "archive",
        "verify",
        "Look whether the ledger is sound: stored bytes, chains, states, rows, indexes.",
        (),
        (Option("--deep", "also replay every change, and compare the texts to search", "switch"),),
        ("contextspindle verify", "contextspindle verify --deep --json"),
        "Nothing is written. With findings it ends with status 7. It also tells which daily safety"
        " copies there are, and why none is made, if so.",
    ),
    Command(
        ("backup",),
        "archive",
        "backup",
        "Copy the ledger into a new folder, checked before it is in place.",
        (
            Positional(
                "folder", "a folder that does not exist yet, outside of the workspace", "path"
            ),
        ),
        (),
        ("contextspindle backup ~/backups/shop-2026-11-30",),
        quiet="the folder",
    ),
    Command(
        ("restore",),
        "archive",
        "restore",
        "Take a backup in, into a fresh workspace or beside what is there.",
        (Positional("backup", "the folder of a backup, or a safety copy", "path"),),
        (),
        (
            "contextspindle restore ~/backups/shop-2026-11-30",
            "contextspindle restore ~/backups/shop-2026-11-30 --workspace ~/code/shop-again",
            "contextspindle restore .contextspindle/tasks/safety/daily-2026-11-30.sqlite3",
        ),
        "What is the same stays, what is older there is passed over, and a task whose history"
        " differs is a conflict: all of them are listed, and nothing is written. A copy of the"
        " ledger as it was is put aside first.",
    ),
    Command(
        ("export",),
        "archive",
        "export",
        "Write the whole ledger as lines of JSON, history included.",
        (Positional("file", "a file that does not exist yet; '-' for standard output", "path"),),
        (
            Option(
                "--as",
                "another program's form instead, without history: beads",
                metavar="NAME",
                choices=("beads",),
            ),
        ),
        (
            "contextspindle export ledger.jsonl",
            "contextspindle export - --workspace ~/code/shop",
            "contextspindle export issues.jsonl --as beads",
        ),
        quiet="the path of the file",
    ),
    Command(
        ("import",),
        "archive",
        "take_in",
        "Take an export in, all of it or nothing; or the tasks of another program.",
        (Positional("file", "the file; with --from a folder too; '-' for standard input", "path"),),
        (
            Option("--dry-run", "say what would be done, and write nothing", "switch"),
            Option(
                "--from",
                "the other program: beads, taskmaster, backlog, original, or auto",
                metavar="NAME",
                choices=("beads", "taskmaster", "backlog", "original", "auto"),
            ),
            Option("--write", "with --from: do it; without it is a dry run", "switch"),
        ),
        (
            "contextspindle import ledger.jsonl --dry-run",
            "contextspindle import ledger.jsonl",
            "contextspindle import . --from auto",
            "contextspindle import .beads/issues.jsonl --from beads --write",
        ),
        "Of an export of ours, a bad line is named and nothing is imported; what is older there"
        " never undoes newer work here. With --from, all that can be read is taken and the rest is"
        " listed; the other program's files stay. Importing again brings over what has changed"
        " there and nothing else. What is done there is not verified here.",
    ),
    Command(
        ("purge",),
        "purge",
        "purge",
        "Take a text out of everything that is kept: a preview, unless told to write.",
        (),
        (Option("--write", "do it; it cannot be undone", "switch"),),
        ("contextspindle purge < leaked.txt", "contextspindle purge --write < leaked.txt"),
        "The text is read from standard input, without a line feed at its end. Tasks and their"
        " histories, the search index, snapshots and incidents get a mask in its place, freed pages"
        " are made anew, and safety copies that hold it are removed. Histories are chained anew and"
        " keep a record of it. Backups, exports and transcripts that hold it are named.",
    ),
    *FUSE_COMMANDS,
    *MEMORY_COMMANDS,
    Command(
        ("completion",),
        "completion",
        "completion",
        "Print the script that completes commands, options, their values and ids of tasks.",
        (Positional("shell", "bash, zsh or fish", choices=("bash", "zsh", "fish")),),
        (),
        (
            "contextspindle completion bash",
            "contextspindle completion fish",
        ),
        "In ~/.bashrc: source <(contextspindle completion bash). In ~/.zshrc, behind compinit:"
        " source <(contextspindle completion zsh). In ~/.config/fish/config.fish:"
        " contextspindle completion fish | source.",
    ),
)


def find(words: list[str]) -> tuple[Command | None, int]:
    """The command that ``words`` begin with, and how many of them name it."""
    for command in COMMANDS:
        count = len(command.words)
        if tuple(words[:count]) == command.words:
            return command, count
    return None, 0
