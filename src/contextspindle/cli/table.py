"""Every command, declared once: the parsers, the help, the docs and the tests read this table."""

from __future__ import annotations

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

_FOR = Option("--for", "the criterion that the evidence is for; all, if left out", "number", "N")
_EXPECT = Option(
    "--expect", "the version that was read; refused if it moved on", "number", "VERSION"
)
_CLAIM = Option("--claim", "the token of your claim on the task", metavar="TOKEN")

_SESSION = Option("--session", "the session's id; the newest snapshot if left out", metavar="ID")
_SETUP = (
    Option("--project", "the settings of this project, yours alone", "switch"),
    Option("--shared", "the settings of this project that are committed", "switch"),
    Option("--write", "change the file", "switch"),
    Option("--remove", "take out exactly what was put in", "switch"),
    Option("--check", "say whether all is there and can be run; status 6 if not", "switch"),
)
_SETUP_NOTE = (
    "What is not ours stays as it stands, comments and order included; a copy of the file from"
    " before is kept beside it until --remove. A damaged file is refused and not touched."
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
        " ends with status 5, and never satisfies the done gate.",
    ),
    Command(
        ("task", "claim"),
        "claim",
        "claim",
        "Take a task for yourself, for the length of a lease.",
        (Positional("id", "the task's whole id", required=False),),
        (
            Option("--next", "take the best task that is ready", "switch"),
            Option("--lease", "how long, in seconds; 1,800 if left out", "number", "SECONDS"),
        ),
        (
            "contextspindle task claim t-3fz81qmk",
            "contextspindle task claim --next --json",
        ),
        "It prints a token. Carry it in your writes (--claim TOKEN, or CONTEXTSPINDLE_CLAIM): each"
        " of them puts the end of the lease off. After the end another may take the task over; the"
        " old token is then refused with CLAIM_LOST.",
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
    ),
    Command(
        ("task", "release"),
        "claim",
        "release",
        "Give a claimed task back.",
        (Positional("id", "the task's whole id"),),
        (_CLAIM,),
        ("contextspindle task release t-3fz81qmk --claim t-3fz81qmk.7c1v0zq4e2m9t8xa",),
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
        ("task", "search"),
        "task",
        "search",
        "Find tasks by words: in the goal first, then next, criteria, decisions and notes.",
        (Positional("query", "any text; words between quotes belong together"), _LIMIT, _OFFSET),
        (),
        (
            "contextspindle task search 'login page'",
            "contextspindle task search ZED-417 10 --json",
        ),
        "Every word must be there; a word also finds those that begin with it.",
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
            "contextspindle restore .contextspindle/tasks/safety/daily-2026-11-30.sqlite3"
            " --workspace ~/code/shop-again",
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
        (Option("--as", "another program's form instead, without history: beads", metavar="NAME"),),
        (
            "contextspindle export ledger.jsonl",
            "contextspindle export - --workspace ~/code/shop",
            "contextspindle export issues.jsonl --as beads",
        ),
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
    Command(
        ("setup",),
        "setup",
        "setup",
        "Bring our hooks, or our MCP server, into a program's settings: a preview, unless told.",
        (Positional("harness", "the program; claude-code if left out", required=False),),
        (Option("--mcp", "the MCP server, instead of the hooks of the fuse", "switch"), *_SETUP),
        (
            "contextspindle setup claude-code",
            "contextspindle setup claude-code --write",
            "contextspindle setup claude-code --project --check",
            "contextspindle setup codex --mcp --write",
        ),
        "With --mcp: claude-code, codex, gemini, opencode, cursor, vscode, copilot-cli. Codex gets"
        " a skill and a section in your AGENTS.md too, and leave for the reading tools. "
        + _SETUP_NOTE,
    ),
    Command(
        ("mcp",),
        "mcp",
        "serve",
        "Serve the tools to an agent's program over MCP, until it goes.",
        (),
        (
            Option("--tools", "all, few (what an agent needs), or read", metavar="CHOICE"),
            Option("--resources", "offer tasks as resources too", "switch"),
            Option("--http", "over HTTP on this machine, instead of standard input", "switch"),
            Option("--host", "the address to listen at; 127.0.0.1 if left out", metavar="ADDRESS"),
            Option("--port", "the port to listen at; a free one if left out", "number", "N"),
            Option("--behind-tls", "the public name of the TLS in front of --host", metavar="NAME"),
        ),
        ("contextspindle mcp", "contextspindle mcp --tools few", "contextspindle mcp --http"),
        "An agent's program starts it ('contextspindle setup --mcp' tells it how). The workspace"
        " is that of the folders it has open. With --http every request must show a token:"
        " CONTEXTSPINDLE_MCP_TOKEN, else one that is shown at the start. --json shows the tools.",
    ),
    Command(
        ("fuse", "setup"),
        "fuse",
        "setup",
        "The same as 'setup claude-code'.",
        (),
        _SETUP,
        ("contextspindle fuse setup --write", "contextspindle fuse setup --remove"),
        _SETUP_NOTE,
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
            Option("--harness", "as a hook: whose; claude-code if left out", metavar="NAME"),
        ),
        (
            "contextspindle fuse restore --plain",
            "contextspindle fuse restore --plain --session 6d61b693 --budget 2000",
        ),
        "Without --plain it reads a hook payload on standard input, answers in the harness's form,"
        " and always ends with status 0.",
    ),
    Command(
        ("fuse", "list"),
        "snapshots",
        "listing",
        "List the snapshots, the newest first.",
        (Positional("limit", "how many", "number", required=False),),
        (_SESSION,),
        ("contextspindle fuse list", "contextspindle fuse list 5 --session 6d61b693"),
    ),
    Command(
        ("fuse", "show"),
        "snapshots",
        "show",
        "Show a snapshot whole: every passage that was kept, with its line.",
        (),
        (_SESSION,),
        ("contextspindle fuse show", "contextspindle fuse show --session 6d61b693 --json"),
    ),
    Command(
        ("fuse", "source"),
        "snapshots",
        "source",
        "Print what stands in the transcript behind a pointer such as [L123].",
        (Positional("line", "the number of the pointer", "number"),),
        (_SESSION,),
        ("contextspindle fuse source 123 --session 6d61b693",),
        "Secrets are masked. A line that is not the one that was read at the save is refused.",
    ),
    Command(
        ("fuse", "prune"),
        "snapshots",
        "prune",
        "Let old snapshots go; the newest of each session stays.",
        (),
        (Option("--keep-days", "how old they may be; 30 if left out", "number", "DAYS"),),
        ("contextspindle fuse prune", "contextspindle fuse prune --keep-days 7"),
    ),
    Command(
        ("fuse", "demo"),
        "demo",
        "demo",
        "Show on a made-up session what is kept under which budget; nothing of yours is touched.",
        (),
        (),
        ("contextspindle fuse demo", "contextspindle fuse demo --json"),
        "A long session with 14 facts that are each said once is saved and restored in a temporary"
        " folder, offline, and the folder is removed.",
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
