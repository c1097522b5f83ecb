"""The commands of set-up and of the fuse; :mod:`.table` lists them with all others."""

from __future__ import annotations

from .shape import HARNESSES, Command, Option, Positional

_PROGRAMS = (*HARNESSES[:-2], "vscode")
_SESSION = Option("--session", "the session's id; the newest snapshot if left out", metavar="ID")
_WRITE = Option("--write", "change the file", "switch")
_REMOVE = Option("--remove", "take out exactly what was put in", "switch")
_SECTION = (
    _WRITE,
    _REMOVE,
    Option("--check", "say whether it is there and current; status 6 if not", "switch"),
)
_SETUP = (
    Option(
        "--project",
        "the settings of this project; yours alone in Claude Code, else a file that git sees",
        "switch",
    ),
    Option("--shared", "the settings of this project that are committed", "switch"),
    _WRITE,
    _REMOVE,
    Option("--check", "say whether all is there and can be run; status 6 if not", "switch"),
)
_SETUP_NOTE = (
    "What is not ours stays as it stands, comments and order included; a copy of the file from"
    " before is kept beside it until --remove. A damaged file is refused and not touched."
)

COMMANDS: tuple[Command, ...] = (
    Command(
        ("doctor",),
        "doctor",
        "doctor",
        "Look whether all is well here, and say what to do where it is not.",
        (),
        (
            Option("--deep", "also look at every change and item, as verify does", "switch"),
            Option("--canary", "try whether the harness hands over what is restored", "switch"),
        ),
        ("contextspindle doctor", "contextspindle doctor --json", "contextspindle doctor --canary"),
        "It looks at the workspace, ledger, memory, copies and disk; runs the installed hooks from"
        " a bare shell, on a workspace of their own; and tells of servers, sessions, incidents and"
        " versions. Nothing of yours is changed. With a problem it ends with status 1. --canary"
        " puts a mark into the next text that is restored, within an hour; asked again after a"
        " compaction, it looks for the mark in the transcript and gives its verdict.",
    ),
    Command(
        ("prime",),
        "brief",
        "prime",
        "Print what an agent needs at the start: what is live, and how to work with it.",
        (),
        (),
        ("contextspindle prime", "contextspindle prime --json"),
        "At most 1,500 bytes. Outside of a workspace it prints nothing and ends with status 0, so"
        " that it can stand in a hook or in instructions that hold everywhere.",
    ),
    Command(
        ("onboard",),
        "brief",
        "onboard",
        "Print a section for AGENTS.md or CLAUDE.md, or bring it into such a file.",
        (
            Positional(
                "file", "the file; without it, the section is printed", "path", required=False
            ),
        ),
        _SECTION,
        (
            "contextspindle onboard",
            "contextspindle onboard AGENTS.md",
            "contextspindle onboard CLAUDE.md --write",
            "contextspindle onboard AGENTS.md --remove",
        ),
        "With a file it is a preview, unless told to write. The section stands between two marks:"
        " an older one is brought up to date in its place, and --remove leaves every other byte."
        " Marks that do not fit together are refused, and the file is not touched.",
    ),
    Command(
        ("setup",),
        "setup",
        "setup",
        "Set up the programs that run agents: a preview, unless told to write.",
        (
            Positional(
                *("harness", "the program; all that are found if left out"),
                required=False,
                choices=_PROGRAMS,
            ),
        ),
        (
            Option("--hooks", "the hooks of the fuse alone", "switch"),
            Option("--mcp", "the MCP server alone", "switch"),
            *_SETUP,
        ),
        (
            "contextspindle setup",
            "contextspindle setup --write",
            "contextspindle setup claude-code --hooks --check",
            "contextspindle setup codex --mcp --write",
        ),
        "A program gets the hooks of the fuse, the MCP server, and a section in your instructions"
        " for it, as far as it has a place for them: claude-code, codex, qwen-code, droid, gemini,"
        " copilot-cli, opencode (a plugin in place of hooks); cursor and vscode get the server. One"
        " is found by the folder of its settings or by its command on the PATH. Each gets all or"
        " nothing; without a name, one that cannot be done does not stop the others, and the status"
        " is 6. With --mcp too, Codex gets a skill and the section, and leave for the reading"
        " tools. " + _SETUP_NOTE,
    ),
    Command(
        ("mcp",),
        "mcp",
        "serve",
        "Serve the tools to an agent's program over MCP, until it goes.",
        (),
        (
            Option(
                "--tools",
                "all, few (what an agent needs), or read",
                metavar="CHOICE",
                choices=("all", "few", "read"),
            ),
            Option("--resources", "offer tasks as resources too", "switch"),
            Option("--http", "over HTTP on this machine, instead of standard input", "switch"),
            Option("--host", "the address to listen at; 127.0.0.1 if left out", metavar="ADDRESS"),
            Option(
                "--port",
                "the port to listen at; a free one if left out",
                "number",
                "N",
                "0 to 65,535",
            ),
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
        "The same as 'setup claude-code --hooks'.",
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
                choices=HARNESSES,
            ),
        ),
        (
            "contextspindle fuse save --transcript session.jsonl --session 6d61b693",
            "contextspindle fuse save < payload.json",
        ),
        "As a hook it always ends with status 0 and prints nothing that is not for the harness. It"
        " is one where standard input is no terminal and none of --transcript, --session and --json"
        " is given: then what is wrong with the call, too, is an incident in 'fuse status'.",
        quiet="the session's id",
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
            Option(
                "--from",
                "another session, by the start of its id: what it hands over",
                metavar="ID",
            ),
            Option(
                "--budget", "the most UTF-8 bytes, 500 to 9,500", "number", "BYTES", "500 to 9,500"
            ),
            Option(
                "--harness",
                "as a hook: whose; claude-code if left out",
                metavar="NAME",
                choices=HARNESSES,
            ),
        ),
        (
            "contextspindle fuse restore --plain",
            "contextspindle fuse restore --plain --session 6d61b693 --budget 2000",
            "contextspindle fuse restore --from 01a229a6-3f20",
        ),
        "Without --plain or --from it reads a hook payload on standard input, answers in the"
        " harness's form, and always ends with status 0, whatever is wrong, where that is no"
        " terminal and neither --session nor --json is given.",
    ),
    Command(
        ("fuse", "list"),
        "snapshots",
        "listing",
        "List the snapshots, the newest first.",
        (Positional("limit", "how many; 20 if left out", "number", False, "1 or more"),),
        (Option("--session", "only those of this session", metavar="ID"),),
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
        (Positional("line", "the pointer, or its number: '[L123]', L123 or 123"),),
        (_SESSION,),
        ("contextspindle fuse source L123 --session 6d61b693",),
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
        "snapshots",
        "status",
        "Show what was saved last, per session, and what failed.",
        (),
        (),
        ("contextspindle fuse status",),
    ),
)
