"""Writes the pages of the reference that repeat what the code says: commands, errors, settings,
tools, harnesses.

``python docs/generate.py`` writes them; with ``--check`` it only says whether they are current.
"""

from __future__ import annotations

import ast
import inspect
import sys
from itertools import pairwise
from pathlib import Path

import harnesses

from contextspindle import config, errors
from contextspindle.cli import full, table
from contextspindle.core import fields
from contextspindle.harness import adapter
from contextspindle.mcp_server import calls, tools
from contextspindle.mcp_server.shape import Tool

REFERENCE = Path(__file__).resolve().parent / "reference"
NOTE = "<!-- Written by docs/generate.py from {source}. Change that, then run it again. -->"


def page(title: str, source: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", NOTE.format(source=source), *parts]) + "\n"


def rows(head: tuple[str, ...], body: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *body]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines
    )


# -- commands


def commands() -> str:
    index: list[str] = []
    for title, some in full.topics():
        listed = [(f"[`{' '.join(one.words)}`](#{anchor(one)})", one.summary) for one in some]
        index += [f"**{title}**", rows(("command", "what it does"), listed)]
    return page(
        "Commands",
        "`src/contextspindle/cli/table.py`",
        "`contextspindle COMMAND --help` shows the same. Words in capitals are yours to fill in;"
        " those in brackets may be left out. Numbers may follow as plain words. An option may also"
        " be written `--name=value`; behind `--` every word is taken as it is. Exit statuses are in"
        " [errors](errors.md), the documents of `--json` in [json](json.md).",
        *index,
        "Every command takes these, before or after its words:",
        rows(("option", "meaning"), [option_row(one) for one in table.GLOBAL_OPTIONS]),
        "Where a status or a priority is given, these words mean the same; case, blanks, hyphens"
        " and underscores make no difference in a status:",
        rows(("word", "other words for it"), other_words()),
        *(command_part(one) for _, some in full.topics() for one in some),
    )


def other_words() -> list[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for words in (fields.STATUS_ALIASES, fields.PRIORITY_ALIASES):
        for word, meaning in words.items():
            found.setdefault(str(meaning), []).append(f"`{word}`")
    return [(f"`{meaning}`", ", ".join(words)) for meaning, words in found.items()]


def anchor(command: table.Command) -> str:
    return "contextspindle-" + "-".join(command.words)


def option_row(one: table.Option) -> tuple[str, str]:
    shown = one.flag if one.kind == "switch" else f"{one.flag} {one.metavar}"
    return f"`{shown}`", one.help + (" (repeatable)" if one.kind == "list" else "")


def command_part(command: table.Command) -> str:
    name = " ".join(("contextspindle", *command.words))
    parts = [f"## `{name}`", command.summary, f"```\n{full.usage(command)}\n```"]
    taken = [(f"`{one.name.upper()}`", one.help) for one in command.positionals]
    taken += [option_row(one) for one in command.options]
    if taken:
        parts.append(rows(("word", "meaning"), taken))
    if command.details:
        parts.append(command.details)
    if command.quiet:
        parts.append(f"`--quiet` prints {command.quiet} alone.")
    parts.append("```sh\n" + "\n".join(command.examples) + "\n```")
    return "\n\n".join(parts)


# -- errors


def error_pages() -> str:
    outside = [
        ("0", "it is done; what was changed is on the medium"),
        ("1", "`doctor` found something that does not work: its document is as always"),
        (str(errors.BUG_STATUS), "`INTERNAL`: a bug of ours; the report to send is named"),
        (str(errors.INTERRUPT_STATUS), "interrupted from the keyboard"),
        ("141", "the reader of its output went away"),
    ]
    by_status: dict[int, list[str]] = {}
    for one in errors.every():
        by_status.setdefault(one.exit_status, []).append(f"[`{one.code}`](#{one.code.lower()})")
    statuses = [(str(status), ", ".join(codes)) for status, codes in by_status.items()]
    return page(
        "Errors",
        "`src/contextspindle/errors.py`, `rare_errors.py`",
        "An error has a stable code, a message and mostly a hint: what to do next. A command prints"
        " it to standard error and ends with the exit status of its kind. A command that says it"
        " failed has changed nothing. As a hook, `fuse save` and `fuse restore` end with 0 whatever"
        " happens, and `fuse status` shows what failed.",
        rows(
            ("exit status", "meaning"),
            sorted(outside + statuses, key=lambda row: int(row[0])),
        ),
        *(error_part(one) for one in errors.every()),
    )


def error_part(kind: type[errors.SpindleError]) -> str:
    parts = [f"## {kind.code}", first_line(kind), f"Exit status {kind.exit_status}."]
    above = kind.__mro__[1]
    if above is not errors.SpindleError:
        parts[-1] += f" A kind of `{above.code}`."
    if kind.hint:
        parts.append(f"What to do: {kind.hint}")
    return "\n\n".join(parts)


def first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").split("\n")[0]


# -- tools


def tool_page() -> str:
    index = [(f"[`{one.name}`](#{one.name})", one.summary) for one in tools.TOOLS]
    without = [
        (f"`{' '.join(words)}`", f"{reason}.") for words, reason in tools.WITHOUT_TOOL.items()
    ]
    return page(
        "MCP tools",
        "`src/contextspindle/mcp_server/tools.py`",
        "What `contextspindle mcp` offers to an agent's program. A tool does what its command does,"
        " under the same rules, and answers with the same text. An error has `isError` and the"
        " code of [errors](errors.md) in brackets. How to connect is in"
        " [connect over MCP](../how-to/connect-over-mcp.md).",
        rows(("tool", "what it does"), index),
        "All of them take `workspace`, a project folder, where several are open. What a value must"
        ' keep is checked when it arrives: a number, a switch or a list may also be a text (`"5"`,'
        ' `"false"`, `\'["a","b"]\'`; any other text is a list of one), and an argument that a tool'
        " does not have is refused by name. `null` is an argument that was not given; what is empty"
        " clears a field. A reply has at most 20,000 bytes (`reply_bytes` in"
        " [settings](settings.md)); the rest of a longer one is asked for with `cursor`, that of a"
        f" list with `offset`. Without a `limit`, a list has {calls.PAGE} tasks or fewer, within"
        f" {calls.PAGE_BYTES:,} bytes.",
        *(tool_part(one) for one in tools.TOOLS),
        "## Commands without a tool",
        rows(("command", "why"), without),
    )


def tool_part(tool: Tool) -> str:
    kinds = {"list": "list of texts"}
    body = [
        (
            f"`{one.name}`",
            kinds.get(one.kind, one.kind) + (", needed" if one.required else ""),
            one.help or (f"one of {', '.join(one.choices)}" if one.choices else ""),
        )
        for one in tool.arguments
    ]
    hints = ["changes nothing" if tool.reads else "writes"]
    hints += ["what was there can be gone"] * tool.destroys + ["safe to repeat"] * tool.repeats
    return "\n\n".join(
        [
            f"## {tool.name}",
            tool.summary,
            f"As `contextspindle {' '.join(tool.command)}`. It {', '.join(hints)}.",
            rows(("argument", "kind", "meaning"), body),
        ]
    )


# -- settings


def settings() -> str:
    said = field_texts()
    variables = {setting: variable for variable, setting in config.ENVIRONMENT.items()}
    body = []
    for name in config.Settings._fields:
        if name not in variables and name not in config.FILE_SETTINGS:
            continue
        default = getattr(config.Settings(), name)
        body.append(
            (
                f"`{variables[name]}`" if name in variables else "",
                f"`{name}`" if name in config.FILE_SETTINGS else "",
                f"`{default}`" if default != "" else "",
                said[name],
            )
        )
    return page(
        "Settings",
        "`src/contextspindle/config.py`",
        "A variable of the environment wins over `.contextspindle/config.json`, which wins over"
        " the default. An empty variable sets nothing. A value out of form is refused, and the"
        " message says where it stands.",
        rows(("variable", "in config.json", "default", "meaning"), body),
        'The file holds one JSON object, such as `{"actor": "ada", "context_budget": 4096}`. What'
        " is not in this table is refused there, so that a misspelt name is noticed.",
        "Also read, and set by others:",
        rows(
            ("variable", "used for"),
            [
                ("`HOME`", "the user's home folder: where the way up to a workspace ends"),
                *(
                    (f"`{variable}`", f"where {name} keeps its settings; `~/{folder}` without it")
                    for name, (variable, folder) in config.HARNESS_FOLDERS.items()
                    if variable
                ),
                ("`XDG_STATE_HOME`", "where what belongs to the user and no project is kept"),
                ("`XDG_CONFIG_HOME`", "where programs keep settings; `~/.config` without it"),
                (
                    ", ".join(f"`{name}`" for name in config.PROJECT_FOLDERS),
                    "the project of a session, set by its program for its hooks: its workspace is"
                    " that one's while the session is in it, in whatever checkout",
                ),
                (
                    "`CLAUDE_CODE_SESSION_ID`",
                    "whose handoff `contextspindle_handoff` gives, where no session is named",
                ),
                ("`TMPDIR`", "a folder for temporary files, in which no workspace is made unasked"),
                ("`USER`, `LOGNAME`", "the actor, where none is set"),
                (
                    "`SHELL`, `BASH_ENV`, `ENV`",
                    "which shell may run a hook, and what it reads first: `setup --check` looks",
                ),
                (
                    "`NO_COLOR`, `TERM`",
                    "a terminal gets plain text where the first is set or the second is `dumb`",
                ),
            ],
        ),
    )


def field_texts() -> dict[str, str]:
    """The sentence behind each field of the settings, as the source says it."""
    tree = ast.parse(Path(inspect.getfile(config)).read_text(encoding="utf-8"))
    (body,) = (
        node.body
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "Settings"
    )
    found = {}
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            assert isinstance(field.target, ast.Name)
            assert isinstance(text.value, ast.Constant)
            found[field.target.id] = " ".join(text.value.value.replace("``", "`").split())
    return found


# -- harnesses


def harness_page() -> str:
    index = [
        (f"[{one.title}](#{one.title.lower().replace(' ', '-')})", one.version, *moments(name))
        for name, one in harnesses.HARNESSES.items()
    ]
    return page(
        "Harnesses",
        "`docs/harnesses.py`",
        "What the hooks of `contextspindle setup NAME --write` do in which program, event by event,"
        " and how that is known: "
        + "; ".join(f"**{kind}**, {said}" for kind, said in harnesses.KINDS.items())
        + ". The version is the one that was looked at. What stands in none of these tables is not"
        " promised.",
        rows(("program", "version", "saved at", "given back at"), index),
        "A hook ends by itself after 4.5 seconds, with exit status 0 whatever happens, and blocks"
        " nothing. A payload of another program than the one that the hook was installed for is"
        " answered with silence. OpenCode has no such hooks: [its"
        " plugin](../how-to/connect-opencode.md) asks the same commands. Cursor and Cline are read"
        " by their documentation, and nothing is promised of them.",
        *(harness_part(name, one) for name, one in harnesses.HARNESSES.items()),
    )


def moments(name: str) -> tuple[str, str]:
    """The events at which a session is saved, and those at which the record can come."""
    found: tuple[dict[str, None], dict[str, None]] = ({}, {})
    events = set(limits_of(name))
    for one in harnesses.PROMISES:
        if one.harness == name and one.event in events:
            if one.verb in (harnesses.SAVE, harnesses.NOTE):
                found[0][f"`{one.event}`"] = None
            after = dict(one.when).get("source") == "compact" or one.event == "session.compacted"
            if after or one.verb == harnesses.LOOK:
                found[1][f"`{one.event}`"] = None
    return ", ".join(found[0]), ", ".join(found[1])


def limits_of(name: str) -> dict[str, int]:
    """The events that reach us once all is set up, each with its limit of time."""
    chosen = adapter(name)
    if getattr(chosen, "PLUGIN", ""):
        asked = (one.event for one in harnesses.PROMISES if one.harness == name)
        return dict.fromkeys(asked, harnesses.PLUGIN_SECONDS)
    return {event: timeout for event, _, timeout, _ in chosen.HOOKS}


def harness_part(name: str, one: harnesses.Harness) -> str:
    chosen = adapter(name)
    variable, folder = config.HARNESS_FOLDERS[name]
    places = {
        scope: chosen.settings_path(f"~/{folder}", "", scope)
        for scope in ("user", "project", "shared")
    }
    moved = f" (or in `{variable}`)" if variable else ""
    what = "The plugin goes" if getattr(chosen, "PLUGIN", "") else "Hooks go"
    said = f"{what} into `{places['user']}`{moved}; of a project into `{places['project']}`"
    if places["shared"] != places["project"]:
        said += f" or, committed, `{places['shared']}`"
    limits = limits_of(name)
    body = []
    unused = []
    for row in harnesses.PROMISES:
        if row.harness == name and row.verb == harnesses.NONE and row.event not in limits:
            unused.append(f"`{row.event}`")
        elif row.harness == name:
            fields = ", ".join(
                f"with {field}"
                if value == "*"
                else f"{field} `{value}`"
                if value
                else f"no {field}"
                for field, value in row.when
            )
            given = str(limits[row.event]) if row.event in limits else "not installed"
            event = f"`{row.event}`" + (f", {fields}" if fields else "")
            answer = f"`{row.answer}`" if "." in row.answer or row.answer.isalnum() else row.answer
            body.append((event, given, row.promise, answer or "nothing", row.source))
    missing = [
        f"- {limit.what} ({limit.source})" for limit in harnesses.LIMITS if limit.harness == name
    ]
    return "\n\n".join(
        [
            f"## {one.title}",
            f"`contextspindle setup {name}`. {said}. It asks you {one.trust}.",
            rows(("event", f"limit in {one.unit}", "what happens", "answer", "known"), body),
            *([f"Seen and not used: {', '.join(unused)}."] if unused else []),
            "Not promised:\n\n" + "\n".join(missing),
        ]
    )


PAGES = {
    "commands.md": commands,
    "errors.md": error_pages,
    "settings.md": settings,
    "mcp.md": tool_page,
    "harnesses.md": harness_page,
}


def main(words: list[str]) -> int:
    if words not in ([], ["--check"]):
        sys.stderr.write("usage: python docs/generate.py [--check]\n")
        return 2
    stale = []
    for name, write in PAGES.items():
        path = REFERENCE / name
        content = write()
        if path.exists() and path.read_text(encoding="utf-8") == content:
            continue
        stale.append(str(path.relative_to(REFERENCE.parent.parent)))
        if not words:
            path.write_text(content, encoding="utf-8")
    verb = "is not current: run python docs/generate.py" if words else "written"
    for path_name in stale:
        sys.stdout.write(f"{path_name} {verb}\n")
    return 1 if words and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
