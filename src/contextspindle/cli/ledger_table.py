"""The commands on the ledger as a whole, and the one for shells."""

from __future__ import annotations

from .shape import Command, Option, Positional

COMMANDS: tuple[Command, ...] = (
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
