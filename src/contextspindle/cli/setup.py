"""Commands that bring our hooks into the settings of a harness, and take them out again."""

from __future__ import annotations

from ..errors import InvalidInput, SetupIncomplete
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Call

DEFAULT = "claude-code"
ADVICE = "Sessions that are open keep their old settings until they are started again.\n"
TRUST = {
    "claude-code": "Claude Code runs no hook in a folder before you have trusted it there.",
    "codex": "Codex runs no hook that you have not approved: open /hooks in it.",
    "copilot-cli": "Copilot CLI runs a project's hooks only where you trust the folder; it asks.",
    "droid": "Droid asks whether you trust a folder, and may run no hook there before.",
    "gemini": "Gemini CLI runs a project's hooks only where you trust the folder; it asks.",
    "qwen-code": "Qwen Code asks whether you trust a folder, and may run no hook there before.",
}
"""What a program asks its user before it runs a hook: nobody else answers that."""


def setup(call: Call) -> Reply:
    """Bring our hooks into a harness's settings: a preview, unless told to write."""
    from .. import __version__, programs

    values = call.values
    scope = one_of(call, {"project": "project", "shared": "shared"}, "user")
    action = one_of(call, {"write": "write", "remove": "remove", "check": "check"}, "preview")
    name = values.get("harness") or DEFAULT
    if values.get("mcp"):
        return _server(name, scope, action, values["workspace"])
    project = values["workspace"]
    done = programs.set_up(name, scope, action, version=__version__, project=project)
    if done.problems:
        raise SetupIncomplete(
            f"{name}: {'; '.join(done.problems)} ({done.path})",
            hint=_mending(name, scope),
            problems=[*done.problems],
        )
    data = {
        "harness": name,
        "scope": scope,
        "file": done.path,
        "action": action,
        "changed": done.changed(),
        "diff": diff(done.path, done.before or "", done.after or ""),
    }
    advice = ADVICE if action in ("write", "remove") and done.changed() else ""
    if advice and action == "write" and name in TRUST:
        advice += f"{TRUST[name]} Only you can do that.\n"
    return Reply(data, _text(name, action, data, done.what) + advice)


def _mending(name: str, scope: str) -> str:
    """What to do about a set-up that is not whole: the same one, written."""
    given = "" if scope == "user" else f" --{scope}"
    return f"'contextspindle setup {name}{given} --write' brings them up to date."


def _server(name: str, scope: str, action: str, project: str | None) -> Reply:
    """The same for our MCP server, which some programs have more than one file for."""
    from .. import programs
    from ..mcp_server.tools import TOOLS

    reads = tuple(tool.name for tool in TOOLS if tool.reads)
    done = programs.register(name, scope, action, reads=reads, project=project)
    problems = [f"{problem} ({one.path})" for one in done for problem in one.problems]
    if problems:
        raise SetupIncomplete(
            f"{name}: {'; '.join(problems)}",
            hint=_mending(f"{name} --mcp", scope),
            problems=problems,
        )
    files = [
        {
            "file": one.path,
            "changed": one.changed(),
            "diff": diff(one.path, one.before or "", one.after or ""),
        }
        for one in done
    ]
    data = {"harness": name, "scope": scope, "action": action, "files": files}
    shown = [_text(name, action, one, "server") for one in files]
    if action in ("write", "remove") and any(one.changed() for one in done):
        shown.append(ADVICE)
    return Reply(data, "".join(shown))


def one_of(call: Call, words: dict[str, str], otherwise: str) -> str:
    """The meaning of the one switch that is given.  InvalidInput for more than one."""
    given = [meaning for word, meaning in words.items() if call.values[word]]
    if len(given) > 1:
        raise InvalidInput(f"Choose one of --{', --'.join(words)}")
    return given[0] if given else otherwise


def _text(name: str, action: str, data: dict[str, object], what: str) -> str:
    place = f"{name}: {data['file']}"
    if action == "check":
        return f"{place} has our {what}, and the command can be run\n"
    if not data["changed"]:
        state = f"nothing of our {what}" if action == "remove" else f"our {what} already"
        return f"{place} has {state}; nothing to do\n"
    if action == "preview":
        return f"{place} would change so; --write does it:\n{data['diff']}"
    done = "taken out of" if action == "remove" else "written to"
    return f"{name}: {what} {done} {data['file']}\n"


def diff(path: str, before: str, after: str) -> str:
    """A change of a file, as a unified diff."""
    import difflib

    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, path
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
