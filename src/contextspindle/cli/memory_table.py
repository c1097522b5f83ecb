"""The commands of the memory; :mod:`.table` lists them with all others."""

from __future__ import annotations

from .shape import HARNESSES, Command, Option, Positional

_SESSION = Option("--session", "the session that it belongs to", metavar="ID")

COMMANDS: tuple[Command, ...] = (
    Command(
        ("remember",),
        "memory",
        "remember",
        "Keep a short text for later: a fact, a preference, how something is done.",
        (Positional("text", "what to remember; '-' reads standard input", prose=True),),
        (
            Option("--by", "who said it"),
            Option("--at", "when it was said, a date or a date and time; now if left out"),
            _SESSION,
            Option("--source", "where it comes from, and where the whole of it can be read"),
            Option("--label", "a label", "list"),
            Option("--key", "what this is the present value of; an older one is replaced"),
            Option("--pin", "never let it go to make room", "switch"),
        ),
        (
            "contextspindle remember 'The staging database is reset every night'",
            "contextspindle remember 'Deploys go out from main' --key deploy-branch --pin",
            "contextspindle remember - --source 'git 3f9c2a1' --label git < message.txt",
        ),
        "The memory is bounded: when it is full, what is worth least shrinks to its rarest words,"
        " then goes; the answer names it. The same text again, but for case and blanks, is counted"
        " and not repeated. Secrets are masked.",
        quiet="the id",
    ),
    Command(
        ("recall",),
        "memory",
        "recall",
        "Find what was remembered, the best first, with where it comes from and why it was found.",
        (
            Positional(
                "query", "any text: a question, words, an identifier", required=False, prose=True
            ),
            Positional("limit", "how many, 1 to 100; 10 if left out", "number", False, "1 to 100"),
        ),
        (
            Option(
                "--task", "what fits this task: its goal, criteria and next action", metavar="ID"
            ),
            Option("--session", "only of this session", metavar="ID"),
            Option("--source", "only from this source"),
            Option("--label", "only with this label"),
        ),
        (
            "contextspindle recall 'when is the staging database reset?'",
            "contextspindle recall ZED-417 5 --json",
            "contextspindle recall --task t-3fz81qmk",
        ),
        "No query is a mistake: there is no syntax. The same query on the same memory gives the"
        " same answer. Scores compare the hits of one query and mean nothing else.",
        quiet="the ids",
    ),
    Command(
        ("stats",),
        "memory",
        "stats",
        "Show how much is remembered, how much can be, and what had to go.",
        (),
        (),
        ("contextspindle stats",),
    ),
    Command(
        ("forget",),
        "memory",
        "forget",
        "Take one item out of the memory.",
        (Positional("item", "its id, as recall shows it"),),
        (),
        ("contextspindle forget m-17",),
        "Its text is not shown again. To remove a text from everywhere that it was kept, backups"
        " and snapshots included, more is needed than this.",
        quiet="the id",
    ),
    Command(
        ("memory", "sync"),
        "memory_file",
        "sync",
        "Remember what a transcript says: what the fuse would save of it, each passage once.",
        (Positional("transcript", "the transcript to read", "path"),),
        (
            Option("--session", "the session's id; else the name of the file", metavar="ID"),
            Option(
                "--harness",
                "the program that wrote it; found from its lines if left out",
                choices=HARNESSES,
            ),
        ),
        ("contextspindle memory sync ~/.claude/projects/-code-shop/6d61b693.jsonl",),
        "What was taken from a session once is not taken again, even if it was forgotten since.",
    ),
    Command(
        ("memory", "import"),
        "memory_file",
        "take_in",
        "Take in the memory of the original ContextSpindle: its texts, in their order.",
        (
            Positional(
                "file", "the snapshot; .continuum/memory.state if left out", "path", required=False
            ),
        ),
        (),
        (
            "contextspindle memory import",
            "contextspindle memory import ~/old/.continuum/memory.state",
        ),
        "The file stays as it is. Its vectors are not taken over; nothing is taken twice. Of a text"
        " that is too long for an item, 64 KiB, the beginning is taken, and the answer counts it.",
    ),
    Command(
        ("memory", "verify"),
        "memory_file",
        "verify",
        "Look whether the memory is sound: every item, and every page of its index.",
        (),
        (),
        ("contextspindle memory verify",),
        "Nothing is written. With findings it ends with status 7.",
    ),
    Command(
        ("memory", "rebuild"),
        "memory_file",
        "rebuild",
        "Make a fresh memory of what can be read of the present one, which is kept aside.",
        (),
        (Option("--force", "do it although nothing is wrong with the memory", "switch"),),
        ("contextspindle memory rebuild", "contextspindle memory rebuild --force"),
        "For a memory that is damaged: a sound one is left as it is. Items keep their ids. Tasks"
        " are not touched.",
        quiet="the path of the file that was kept aside",
    ),
)
