"""Commands on what the fuse has saved."""

from __future__ import annotations

from ..core import text
from ..errors import InvalidInput
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .. import workspace as spaces
    from ..core.draft import Item
    from ..ports import Transcript
    from . import Call

HARNESS = "claude-code"
_NO_HOOKS = (
    "none found; 'contextspindle setup claude-code --write' installs them, and a session that is"
    " open must be started again"
)
LISTED = 20
KEPT_DAYS = 30


def status(call: Call) -> Reply:
    """Show what was saved last, per session, and what failed."""
    from .. import programs, workspace
    from ..core import instant
    from ..doctor.sessions import seen

    space, problem = workspace.as_it_stands(call.values["workspace"] or "")
    now = workspace.now()
    sessions, unsaved = seen(space, now)
    hooks = programs.hooked(space.root)
    incidents = space.incidents().newest(20)
    lines = [f"workspace: {space.root}"]
    if problem:
        lines.append(f"The hooks do nothing until this is mended: {text.one_line(problem)}")
    for one in sessions:
        ago = instant.ago(instant.from_iso(one["saved"]), now)
        line = f"{text.one_line(one['session'])}: saved {one['saved']} ({ago})"
        line += f", {text.counted(one['items'], 'item')}"
        line += f", goes on from {text.one_line(one['origin'])}" if one["origin"] else ""
        line += f", {one['problem']}" if one["problem"] else ""
        if given := one["handed"]:
            line += f"; handed {given['bytes']} bytes at {given['at']} ({given['source']})"
        lines.append(line)
    if not sessions:
        lines.append("Nothing was saved here yet.")
    for one in unsaved:
        line = f"{text.one_line(one['session'])}: no snapshot yet; seen {one['at']}"
        lines.append(f"{line} ({one['source']}), handed {one['bytes']} bytes")
    size, limit = space.snapshots().room()
    if sessions:
        lines.append(f"snapshots: {size:,} bytes of at most {limit:,}")
    if unsaved and sessions:
        lines.append(f"The newest snapshot belongs to {text.one_line(sessions[0]['session'])}.")
    for name, files in hooks.items():
        if files or (name == HARNESS and not any(hooks.values())):
            lines.append(f"hooks of {name}: {', '.join(files) or _NO_HOOKS}")
    for one in incidents:
        lines.append(f"incident {instant.iso(one['at'])}: {text.one_line(one['what'])}")
    for one in incidents:
        one["at"] = instant.iso(one["at"])
    data = {
        "workspace": space.root,
        "problem": problem,
        "sessions": sessions,
        "unsaved": unsaved,
        "log_bytes": size,
        "log_limit": limit,
        "hooks": [file for files in hooks.values() for file in files],
        "incidents": incidents,
    }
    return Reply(data, "".join(f"{line}\n" for line in lines))


def listing(call: Call) -> Reply:
    """List the snapshots, the newest first."""
    from ..core import instant

    session = call.values["session"]
    limit = call.values["limit"] if call.values["limit"] is not None else LISTED
    if limit < 1:
        raise InvalidInput(f"A limit of {limit} is out of range", hint="Use 1 or more.")
    rows: list[dict[str, Any]] = []
    total = 0
    fuse = _space(call).fuse()
    for snapshot in fuse.snapshots(session):
        total += 1
        if len(rows) < limit:
            draft = snapshot.get("draft")
            rows.append(
                {
                    "session": snapshot["session"],
                    "saved": instant.iso(snapshot["at"]),
                    "trigger": snapshot.get("trigger", ""),
                    "items": len(draft["items"]) if draft else 0,
                    "heard": bool(snapshot.get("told")),
                    "problem": snapshot.get("problem", ""),
                }
            )
    lines = [
        f"{one['saved']} {text.one_line(one['session'])} {text.counted(one['items'], 'item')}"
        + (f", {text.one_line(one['trigger'])}" if one["trigger"] else "")
        + (", compared with the summary" if one["heard"] else "")
        + (f", {text.one_line(one['problem'])}" if one["problem"] else "")
        for one in rows
    ]
    if not rows:
        others = session is not None and len(fuse.sessions())
        lines = ["Nothing was saved here yet."]
        if others:
            shown = text.shortened(text.one_line(session), 80)
            lines = [
                f"No snapshot of session {shown} was saved; 'contextspindle fuse list' shows all."
            ]
    if total > len(rows):
        of = f" --session {text.quoted(session)}" if session is not None else ""
        lines.append(f"{len(rows)} of {total}; more: contextspindle fuse list {total}{of}")
    return Reply({"snapshots": rows, "total": total}, "".join(f"{line}\n" for line in lines))


def show(call: Call) -> Reply:
    """Show a snapshot whole: every passage with its line."""
    from ..core import instant
    from ..core.draft import Draft

    snapshot = _space(call).fuse().snapshot(call.values["session"])
    draft = Draft.from_document(snapshot.get("draft"))
    data = {
        "session": snapshot["session"],
        "saved": instant.iso(snapshot["at"]),
        "harness": snapshot.get("harness", ""),
        "transcript": snapshot.get("transcript", ""),
        "problem": snapshot.get("problem", ""),
        "items": [item._asdict() for item in draft.items],
    }
    head = f"session {text.one_line(data['session'])}, saved {data['saved']}\n"
    return Reply(data, head + "".join(_line(item) for item in draft.items))


def source(call: Call) -> Reply:
    """Print what stands behind a pointer."""
    space = _space(call)
    line = _number(call.values["line"])
    found = space.fuse().source(line, call.values["session"], _opened)
    shown = "\n".join(text.block(part) for part in found)
    return Reply({"line": line, "texts": found}, shown + "\n")


def _number(given: str) -> int:
    """The line that a pointer names, as it is printed or by its number."""
    digits = given.strip().removeprefix("[").removesuffix("]").upper().removeprefix("L")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        shown = text.shortened(text.one_line(given), 80)
        raise InvalidInput(
            f"{shown!r} is not a pointer", hint="Pointers look like [L123]; 123 alone will do."
        )
    return int(digits)


def prune(call: Call) -> Reply:
    """Let old snapshots go."""
    days = call.values["keep_days"] if call.values["keep_days"] is not None else KEPT_DAYS
    gone, stay = _space(call).fuse().prune(days)
    line = f"{text.counted(gone, 'snapshot')} went, {stay} stay"
    told = f"{line}: the newest of each session is never let go\n"
    return Reply({"gone": gone, "stay": stay}, told)


def _space(call: Call) -> spaces.Workspace:
    from .. import workspace

    return workspace.for_fuse(call.values["workspace"] or "")


def _opened(snapshot: dict[str, Any]) -> Transcript:
    """The transcript of a snapshot, read as it was read at the save."""
    from .. import workspace
    from ..core.transcript import BY_HAND
    from ..errors import TranscriptUnreadable

    path = snapshot.get("transcript", "")
    adapter = workspace.harness(snapshot.get("harness", ""), transcript=path)
    session, _, agent = snapshot["session"].partition("/")
    transcript = adapter.read(path, session, agent)
    if snapshot.get("trigger") == BY_HAND:
        transcript = adapter.read(path)
    if not path:
        raise TranscriptUnreadable("The snapshot was saved without a transcript")
    return transcript


def _line(item: Item) -> str:
    pointer = f"[L{item.line}]" if item.line else "[-]"
    about = f" ({text.folded(item.about)})" if item.about else ""
    mark = f" {item.mark}" if item.mark else ""
    return f"{item.section}{mark} {pointer}{about} {text.folded(item.text)}\n"
