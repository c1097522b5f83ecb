"""Commands that tell an agent how to work here: at the start, and in a file it always reads."""

from __future__ import annotations

from ..core import text
from ..errors import InvalidInput, SetupIncomplete, WorkspaceNotFound
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Call


def prime(call: Call) -> Reply:
    """Print what an agent needs at the start; nothing outside of a workspace."""
    from .. import workspace
    from ..actions.prime import primed

    named = call.values["workspace"] or ""
    nothing = {"text": "", "bytes": 0, "workspace": None, "task": None, "problem": ""}
    try:
        space = workspace.for_fuse(named)
    except WorkspaceNotFound:
        if named:
            raise
        return Reply(nothing, "")
    if not space.accepted():
        said = f"{space.root} came with the repository; to trust it: contextspindle init --accept"
        return Reply({**nothing, "workspace": space.root}, "", warnings=(said,))
    found, task = primed(space.fuse(), space.settings.session, space.settings.claim)
    data = {
        "text": found.text,
        "bytes": text.size(found.text),
        "workspace": space.root,
        "task": task or None,
        "problem": found.problem,
    }
    return Reply(data, found.text)


def onboard(call: Call) -> Reply:
    """Print our section for a file of instructions, or bring it into one."""
    from .. import instructions
    from .setup import diff, one_of

    action = one_of(call, {"write": "write", "remove": "remove", "check": "check"}, "preview")
    path = call.values["file"]
    shown = instructions.text()
    if path is None:
        if action != "preview":
            raise InvalidInput(
                f"--{action} needs the file", hint=f"contextspindle onboard AGENTS.md --{action}"
            )
        nowhere = {"file": None, "action": "print", "changed": False, "diff": ""}
        return Reply({"text": shown, **nowhere}, shown)
    done = instructions.bring(path, action)
    if done.problems:
        raise SetupIncomplete(
            f"{done.path}: our section is missing or out of date",
            hint=f"contextspindle onboard {text.quoted(path)} --write",
            problems=[*done.problems],
        )
    data: dict[str, object] = {
        "text": shown,
        "file": done.path,
        "action": action,
        "changed": done.changed(),
        "diff": diff(done.path, done.before or "", done.after or ""),
    }
    return Reply(data, _said(action, data))


def _said(action: str, data: dict[str, object]) -> str:
    if action == "check":
        return f"{data['file']} has our section as it is now\n"
    if not data["changed"]:
        state = "has no section of ours" if action == "remove" else "has our section already"
        return f"{data['file']} {state}; nothing to do\n"
    if action == "preview":
        from .setup import UNWRITTEN

        return f"{data['file']} would change so:\n{data['diff']}{UNWRITTEN}"
    done = "taken out of" if action == "remove" else "written to"
    return f"our section was {done} {data['file']}\n"
