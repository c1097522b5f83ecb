"""Commands of the fuse: each by hand, and as a hook of the agent's program."""

from __future__ import annotations

import os

from ..core import text
from ..errors import (
    InvalidInput,
    SnapshotNotFound,
    SpindleError,
    TranscriptUnreadable,
    WorkspaceNotFound,
)
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .. import workspace as spaces
    from ..actions.fuse import Restored, Saved
    from ..core.transcript import Event
    from . import Call
    from .hook import Deadline

SILENCE = Reply(None, "")


def save(call: Call) -> Reply:
    """Save an extract of a session's transcript."""
    if call.values["transcript"] is not None:
        return _save_by_hand(call)
    if os.isatty(0):
        raise InvalidInput(
            "There is no hook payload on standard input",
            hint="By hand, use --transcript PATH --session ID.",
        )
    return _as_hook(call, _save_for)


def restore(call: Call) -> Reply:
    """Print what an agent needs to go on."""
    values = call.values
    if values["plain"] or values["session"] is not None:
        from .. import workspace

        space = workspace.for_fuse(values["workspace"] or "")
        budget = values["budget"] if values["budget"] is not None else space.settings.fuse_budget
        found = space.fuse().restore(values["session"], budget)
        return Reply(_restored_data(found, budget), found.text, found.session)
    if os.isatty(0):
        raise InvalidInput(
            "There is no hook payload on standard input", hint="By hand, use --plain."
        )
    return _as_hook(call, _restore_for)


def status(call: Call) -> Reply:
    """Show what was saved last, per session, and what failed."""
    from .. import workspace
    from ..core import instant

    space = workspace.for_fuse(call.values["workspace"] or "")
    now = workspace.now()
    sessions = [_session_data(one, now) for one in space.fuse().sessions()]
    incidents = space.incidents().newest(20)
    lines = [f"workspace: {space.root}"]
    for one in sessions:
        line = f"{one['session']}: saved {one['saved']} ({one['age']}), {one['items']} items"
        lines.append(line + (f", {one['problem']}" if one["problem"] else ""))
    if not sessions:
        lines.append("Nothing was saved here yet.")
    for one in incidents:
        lines.append(f"incident {instant.iso(one['at'])}: {text.one_line(one['what'])}")
    for one in incidents:
        one["at"] = instant.iso(one["at"])
    data = {"workspace": space.root, "sessions": sessions, "incidents": incidents}
    return Reply(data, "".join(f"{line}\n" for line in lines))


def setup(call: Call) -> Reply:
    """The set-up of Claude Code, under the fuse's own noun."""
    from .setup import setup

    return setup(call)


# -- by hand


def _save_by_hand(call: Call) -> Reply:
    from .. import workspace

    values = call.values
    path: str = values["transcript"]
    adapter = workspace.harness(values["harness"] or "", transcript=path)
    session = values["session"]
    if session is None:
        session = os.path.splitext(os.path.basename(path))[0]
    space = workspace.for_fuse(values["workspace"] or "", make=True)
    fuse = space.fuse()
    path = os.path.abspath(path)

    def kept(read_as: str) -> Saved:
        return fuse.save(
            session,
            adapter.read(path, read_as),
            harness=adapter.NAME,
            cwd=os.getcwd(),
            trigger="by hand",
        )

    try:
        saved = kept(session)
    except TranscriptUnreadable:
        # By hand the id may be a name of the caller's own, that no line of the file knows.
        saved = kept("")
    said = "saved" if saved.changed else "unchanged: the newest snapshot says the same"
    line = f"session {saved.session} {said}"
    assert saved.reading is not None
    skipped = _skipped(saved)
    line += f": {saved.items} items from {saved.reading.lines} lines" + (
        f" ({skipped})" if skipped else ""
    )
    data = {
        "session": saved.session,
        "changed": saved.changed,
        "items": saved.items,
        "partial": saved.partial,
        "harness": adapter.NAME,
        "workspace": space.root,
        "reading": saved.reading._asdict(),
    }
    return Reply(data, line + "\n", saved.session)


def _skipped(saved: Saved) -> str:
    assert saved.reading is not None
    found = saved.reading._asdict()
    named = {"foreign": "of other sessions", "unreadable": "unreadable", "oversized": "too long"}
    return ", ".join(f"{found[name]} {word}" for name, word in named.items() if found[name])


def _restored_data(found: Restored, budget: int) -> dict[str, Any]:
    from ..core import instant

    return {
        "text": found.text,
        "bytes": text.size(found.text),
        "budget": budget,
        "session": found.session or None,
        "saved": instant.iso(found.saved_at) if found.saved_at else None,
        "problem": found.problem,
    }


def _session_data(snapshot: dict[str, Any], now: int) -> dict[str, Any]:
    from ..core import instant

    draft = snapshot.get("draft")
    return {
        "session": snapshot["session"],
        "saved": instant.iso(snapshot["at"]),
        "age": instant.age(snapshot["at"], now),
        "harness": snapshot.get("harness", ""),
        "transcript": snapshot.get("transcript", ""),
        "items": len(draft["items"]) if draft else 0,
        "partial": bool(snapshot.get("partial")),
        "problem": snapshot.get("problem", ""),
    }


# -- as a hook


def _as_hook(call: Call, action: Any) -> Reply:
    """What the harness is to read; every failure becomes an incident and silence."""
    from .. import workspace
    from . import hook

    deadline = hook.guarded()
    event: Event | None = None
    try:
        adapter = workspace.harness(_harness(call))
        event = adapter.parse_event(hook.payload())
        answer = action(call, event, deadline)
        return Reply(None, adapter.injection(answer, event) + "\n") if answer else SILENCE
    except Exception as error:
        _note(call, event, error)
        return SILENCE


def _harness(call: Call) -> str:
    """The harness whose hook this is: the installed command names it, the first one's does not."""
    return call.values["harness"] or "claude-code"


def _save_for(call: Call, event: Event, deadline: Deadline) -> str:
    if event.verb != "save":
        return ""
    from .. import workspace

    space = workspace.for_fuse(call.values["workspace"] or "", start=event.cwd or None, make=True)
    fuse = space.fuse()
    harness = _harness(call)
    kept = {"harness": harness, "agent": event.agent, "cwd": event.cwd}
    try:
        transcript = workspace.harness(harness).read(event.transcript, event.session, event.agent)
        fuse.save(
            event.session,
            transcript.within(deadline.left),
            trigger=event.trigger,
            out_of_time=deadline.passed,
            **kept,
        )
    except TranscriptUnreadable as error:
        fuse.save_without_transcript(event.session, error.message, **kept)
        _incident(space, "save", event, error)
    return ""


def _restore_for(call: Call, event: Event, _: Deadline) -> str:
    if event.verb != "restore":
        return ""
    from .. import workspace

    try:
        space = workspace.for_fuse(call.values["workspace"] or "", start=event.cwd or None)
    except WorkspaceNotFound:
        return ""
    if not space.accepted():
        _incident(
            space,
            "restore",
            event,
            WorkspaceNotFound("the workspace came with the repository and is not accepted"),
        )
        return ""
    fuse = space.fuse()
    if event.source == "compact":
        try:
            found = fuse.restore(event.session, space.settings.fuse_budget, agent=event.agent)
        except SnapshotNotFound:
            return ""
    elif event.source in ("startup", "clear"):
        found = fuse.start(event.session)
    else:
        return ""
    if found.problem:
        _incident(space, "restore", event, SpindleError(found.problem))
    return found.text


def _note(call: Call, event: Event | None, error: Exception) -> None:
    """Write the incident to the event's workspace; nothing is left to do if that fails."""
    from .. import workspace

    try:
        start = event.cwd or None if event else None
        space = workspace.for_fuse(call.values["workspace"] or "", start=start)
        _incident(space, "hook", event, error)
    except Exception:
        return


def _incident(space: spaces.Workspace, what: str, event: Event | None, error: Exception) -> None:
    from .. import workspace

    code = error.code if isinstance(error, SpindleError) else type(error).__name__
    space.incidents().add(
        workspace.now(),
        f"{what}: {error} [{code}]",
        event=event.name if event else "",
        session=event.session if event else "",
    )
