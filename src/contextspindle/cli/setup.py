"""The command that brings our part into programs' settings, and takes it out again."""

from __future__ import annotations

from ..errors import InvalidInput, ProgramNotFound, SetupIncomplete, SpindleError
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import Call

CLAUDE_CODE = "claude-code"
ADVICE = "Sessions that are open keep their old settings until they are started again.\n"
UNWRITTEN = "nothing was written; the same with --write does it\n"
TRUST = {
    "claude-code": "Claude Code runs no hook in a folder before you have trusted it there.",
    "codex": "Codex runs no hook that you have not approved: open /hooks in it.",
    "copilot-cli": "Copilot CLI runs a project's hooks only where you trust the folder; it asks.",
    "droid": "Droid asks whether you trust a folder, and may run no hook there before.",
    "gemini": "Gemini CLI runs a project's hooks only where you trust the folder; it asks.",
    "qwen-code": "Qwen Code asks whether you trust a folder, and may run no hook there before.",
}
"""What a program asks its user before it runs a hook: nobody else answers that."""
SERVER_TRUST = {
    "claude-code": "Claude Code asks before it uses a server that a project brings.",
    "vscode": "VS Code asks whether you trust a server before it starts it.",
}
"""What a program asks before it starts a server of a project."""


def setup(call: Call) -> Reply:
    """Bring our part into a program's settings, or into all of theirs: a preview, unless told."""
    from .. import programs

    values = call.values
    switches = {"hooks": programs.HOOKS, "mcp": programs.SERVER}
    parts = tuple(part for word, part in switches.items() if values[word]) or programs.PARTS
    if values["harness"]:
        return _one(call, values["harness"], parts)
    return _all(call, parts)


def hooks(call: Call) -> Reply:
    """The hooks of Claude Code alone."""
    from .. import programs

    return _one(call, CLAUDE_CODE, (programs.HOOKS,))


def _wish(call: Call) -> tuple[str, str]:
    """The scope, and what is to be done."""
    scope = one_of(call, {"project": "project", "shared": "shared"}, "user")
    actions = {"write": "write", "remove": "remove", "check": "check"}
    return scope, one_of(call, actions, "preview")


def _one(call: Call, name: str, parts: tuple[str, ...]) -> Reply:
    """One program, by its name: what it lacks, or cannot be done, is an error."""
    scope, action = _wish(call)
    row = _row(call, name, parts, scope, action)
    problems = [f"{one} ({file['file']})" for file in row["files"] for one in file["problems"]]
    if problems:
        raise SetupIncomplete(
            f"{name}: {'; '.join(problems)}",
            hint=_mending(name, parts, scope),
            problems=problems,
        )
    data = {"scope": scope, "action": action, "parts": [*parts], "programs": [row]}
    return Reply(data, _shown(row, action) + _advice([row], action))


def _all(call: Call, parts: tuple[str, ...]) -> Reply:
    """Every program that is found here; one that cannot be done does not stop the others."""
    from .. import programs

    scope, action = _wish(call)
    known = programs.known()
    found = [one for one in known if one.signs]
    if not found:
        looked = "; ".join(f"{one.name}: {', '.join(one.looked)}" for one in known)
        raise ProgramNotFound(
            f"No program that runs agents was found. Looked for folders and for commands: {looked}"
        )
    rows, shown, failed = [], [], False
    for one in found:
        try:
            row = _row(call, one.name, parts, scope, action)
        except InvalidInput as error:  # nothing of ours has a place there
            row = _empty(one.name, left_out=[error.message])
        except SpindleError as error:
            said = {"code": error.code, "message": error.message, "hint": error.hint}
            row = _empty(one.name, error=said)
        row["found"] = [*one.signs]
        rows.append(row)
        failed = failed or bool(row["error"]) or any(file["problems"] for file in row["files"])
        shown.append(f"==> {one.name}, found by {', '.join(one.signs)}\n{_shown(row, action)}")
    data = {"scope": scope, "action": action, "parts": [*parts], "programs": rows}
    advice = _advice(rows, action)
    if any(file["problems"] for row in rows for file in row["files"]):
        advice += f"{_mending('', parts, scope)}\n"
    told = "\n".join([*shown, *([advice] if advice else [])])
    return Reply(data, told, status=6 if failed else 0)


def _row(call: Call, name: str, parts: tuple[str, ...], scope: str, action: str) -> dict[str, Any]:
    """What became of one program."""
    from .. import __version__, programs
    from ..mcp_server.tools import TOOLS

    reads = tuple(tool.name for tool in TOOLS if tool.reads)
    project = call.values["workspace"]
    done = programs.set_up(
        *(name, scope, action, parts), version=__version__, reads=reads, project=project
    )
    row = _empty(name, left_out=done.left_out)
    row["files"] = [_file(one) for one in done.files]
    row["notes"] = [f"{path}: {said}" for path, said in done.notes]
    if action == "write":
        changed = [one.what for one in done.files if one.changed()]
        if name in TRUST and any("hooks" in what for what in changed):
            row["trust"].append(TRUST[name])
        if scope == "shared" and name in SERVER_TRUST and any("server" in one for one in changed):
            row["trust"].append(SERVER_TRUST[name])
    return row


def _empty(name: str, **more: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"found": [], "files": [], "left_out": [], "notes": [], "trust": []}
    return {"harness": name, **empty, "error": None, **more}


def _file(one: Any) -> dict[str, Any]:
    return {
        "file": one.path,
        "what": one.what,
        "changed": one.changed(),
        "diff": diff(one.path, one.before or "", one.after or ""),
        "problems": [*one.problems],
    }


def _mending(name: str, parts: tuple[str, ...], scope: str) -> str:
    """What to do about a set-up that is not whole: the same one, written."""
    from .. import programs

    given = "".join(
        f" --{word}"
        for word, wanted in (
            ("hooks", parts == (programs.HOOKS,)),
            ("mcp", parts == (programs.SERVER,)),
            (scope, scope != "user"),
        )
        if wanted
    )
    named = f" {name}" if name else ""
    return f"'contextspindle setup{named}{given} --write' brings them up to date."


def _advice(rows: list[dict[str, Any]], action: str) -> str:
    """What is left to the user: to write what was previewed, or what only the user can do."""
    changed = any(file["changed"] for row in rows for file in row["files"])
    if action not in ("write", "remove"):
        return UNWRITTEN if changed and action == "preview" else ""
    told = [f"{one} Only you can do that.\n" for row in rows for one in row["trust"]]
    return "".join([ADVICE if changed else "", *told])


def one_of(call: Call, words: dict[str, str], otherwise: str) -> str:
    """The meaning of the one switch that is given.  InvalidInput for more than one."""
    given = [meaning for word, meaning in words.items() if call.values[word]]
    if len(given) > 1:
        raise InvalidInput(f"Choose one of --{', --'.join(words)}")
    return given[0] if given else otherwise


def _shown(row: dict[str, Any], action: str) -> str:
    """One program, as text."""
    name, error = row["harness"], row["error"]
    noted = {one.partition(": ")[0] for one in row["notes"]}
    lines = [_text(name, action, file, file["file"] in noted) for file in row["files"]]
    if action != "remove":
        lines += [f"{name}: left out: {one}\n" for one in row["left_out"]]
    lines += [f"{name}: note: {one}\n" for one in row["notes"]]
    if error:
        lines.append(f"{name}: not done: {error['message']} [{error['code']}]\n{error['hint']}\n")
    return "".join(lines)


def _text(name: str, action: str, data: dict[str, Any], noted: bool) -> str:
    place, what = f"{name}: {data['file']}", data["what"]
    if data["problems"]:
        return f"{place}: {'; '.join(data['problems'])}\n"
    if action == "check":
        return f"{place} has our {what}{'; see the note' if noted else ', as they should be'}\n"
    if not data["changed"]:
        state = f"nothing of our {what}" if action == "remove" else f"our {what} already"
        return f"{place} has {state}; nothing to do\n"
    if action == "preview":
        return f"{place} would change so:\n{data['diff']}"
    done = "taken out of" if action == "remove" else "written to"
    return f"{name}: {what} {done} {data['file']}\n"


def diff(path: str, before: str, after: str) -> str:
    """A change of a file, as a unified diff."""
    import difflib

    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, path
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
