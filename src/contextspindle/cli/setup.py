"""Commands that bring our hooks into the settings of a harness, and take them out again."""

from __future__ import annotations

from ..errors import InvalidInput, SetupIncomplete
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Call

DEFAULT = "claude-code"
ADVICE = "Sessions that are open keep their old settings until they are started again.\n"


def setup(call: Call) -> Reply:
    """Bring our hooks into a harness's settings: a preview, unless told to write."""
    from .. import workspace

    values = call.values
    scope = _one_of(call, {"project": "project", "shared": "shared"}, "user")
    action = _one_of(call, {"write": "write", "remove": "remove", "check": "check"}, "preview")
    name = values.get("harness") or DEFAULT
    if values.get("mcp"):
        return _server(name, scope, action, values["workspace"])
    done = workspace.set_up(name, scope, action, project=values["workspace"])
    if done.problems:
        raise SetupIncomplete(
            f"{name}: {'; '.join(done.problems)} ({done.path})", problems=[*done.problems]
        )
    data = {
        "harness": name,
        "scope": scope,
        "file": done.path,
        "action": action,
        "changed": done.changed(),
        "diff": _diff(done.path, done.before or "", done.after or ""),
    }
    advice = ADVICE if action in ("write", "remove") and done.changed() else ""
    return Reply(data, _text(name, action, data, done.what) + advice)


def _server(name: str, scope: str, action: str, project: str | None) -> Reply:
    """The same for our MCP server, which some programs have more than one file for."""
    from .. import workspace
    from ..mcp_server.tools import TOOLS

    reads = tuple(tool.name for tool in TOOLS if tool.reads)
    done = workspace.register(name, scope, action, reads=reads, project=project)
    problems = [f"{problem} ({one.path})" for one in done for problem in one.problems]
    if problems:
        raise SetupIncomplete(f"{name}: {'; '.join(problems)}", problems=problems)
    files = [
        {
            "file": one.path,
            "changed": one.changed(),
            "diff": _diff(one.path, one.before or "", one.after or ""),
        }
        for one in done
    ]
    data = {"harness": name, "scope": scope, "action": action, "files": files}
    shown = [_text(name, action, one, "server") for one in files]
    if action in ("write", "remove") and any(one.changed() for one in done):
        shown.append(ADVICE)
    return Reply(data, "".join(shown))


def _one_of(call: Call, words: dict[str, str], otherwise: str) -> str:
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


def _diff(path: str, before: str, after: str) -> str:
    import difflib

    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, path
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
