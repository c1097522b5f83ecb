"""The commands of tasks, and the one that makes a workspace for them."""

from __future__ import annotations

from .shape import Command, Option, Positional

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

COMMANDS: tuple[Command, ...] = (
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
)
