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
HARNESS = "claude-code"
HANDED = 400
"""How many lines on what was handed over a status looks at."""
UNSAVED = 10
"""How many sessions without a snapshot a status names."""
_BEFORE_SUMMARY = ("PreCompact", "session.compacting")
"""The events whose answer reaches the model that writes a summary."""
_NO_HOOKS = (
    "none found; 'contextspindle setup claude-code --write' installs them, and a session that is"
    " open must be started again"
)


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
        found = space.fuse().restore(values["session"], budget, thorough=True)
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
    handed: dict[str, dict[str, Any]] = {}
    for one in space.handed().newest(HANDED):
        handed.pop(one.get("session", ""), None)
        handed[one.get("session", "")] = one  # the latest of each, in the order of the latest
    sessions = []
    for snapshot in space.fuse().sessions():
        given = handed.pop(snapshot["session"], None)
        sessions.append({**_session_data(snapshot, now), "handed": _handed_data(given)})
    later = list(handed.items())[: -UNSAVED - 1 : -1]
    unsaved = [{"session": name, **(_handed_data(one) or {})} for name, one in later]
    hooks = workspace.hooked(HARNESS, space.root)
    incidents = space.incidents().newest(20)
    lines = [f"workspace: {space.root}"]
    for one in sessions:
        line = f"{one['session']}: saved {one['saved']} ({one['age']}), {one['items']} items"
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
    if unsaved and sessions:
        lines.append(f"The newest snapshot belongs to {sessions[0]['session']}.")
    lines.append(f"hooks of {HARNESS}: {', '.join(hooks) or _NO_HOOKS}")
    for one in incidents:
        lines.append(f"incident {instant.iso(one['at'])}: {text.one_line(one['what'])}")
    for one in incidents:
        one["at"] = instant.iso(one["at"])
    data = {
        "workspace": space.root,
        "sessions": sessions,
        "unsaved": unsaved,
        "hooks": hooks,
        "incidents": incidents,
    }
    return Reply(data, "".join(f"{line}\n" for line in lines))


def _handed_data(line: dict[str, Any] | None) -> dict[str, Any] | None:
    """When a session was last given something, at which kind of start, and how much."""
    if line is None:
        return None
    from ..core import instant

    size = str(line.get("bytes", ""))
    given = int(size) if size.isascii() and size.isdigit() else 0
    return {
        "at": instant.iso(line["at"]),
        "source": text.one_line(line["what"]),
        "bytes": given,
    }


def setup(call: Call) -> Reply:
    """The set-up of Claude Code, under the fuse's own noun."""
    from .setup import setup

    return setup(call)


# -- by hand


def _save_by_hand(call: Call) -> Reply:
    from .. import workspace
    from ..actions.moment import BY_HAND

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
            trigger=BY_HAND,
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
        "origin": snapshot.get("from", ""),
        "items": len(draft["items"]) if draft else 0,
        "partial": bool(snapshot.get("partial")),
        "problem": snapshot.get("problem", ""),
    }


# -- as a hook


def _as_hook(call: Call, action: Any) -> Reply:
    """What the harness is to read; every failure becomes an incident and silence."""
    from .. import workspace
    from . import hook

    event: Event | None = None
    deadline = hook.guarded(
        lambda: _note(call, event, TimeoutError(f"it took longer than {hook.HARD_SECONDS} s"))
    )
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
    if event.verb not in ("save", "hear"):
        return ""
    from .. import workspace

    make = event.verb == "save"
    space = workspace.for_fuse(call.values["workspace"] or "", start=event.cwd or None, make=make)
    fuse = space.fuse()
    if event.verb == "hear":
        fuse.hear(event.session, event.summary)
        return ""
    harness = _harness(call)
    kept = {"harness": harness, "agent": event.agent, "cwd": event.cwd}
    try:
        transcript = workspace.harness(harness).read(event.transcript, event.session, event.agent)
        saved = fuse.save(
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
    # What is said here reaches the summary of a session, not that of its agents; and a ledger that
    # came with somebody's repository has no say in it.
    if event.name not in _BEFORE_SUMMARY or event.agent or not saved.task or not space.accepted():
        return ""
    return fuse.facts(saved.task)


def _restore_for(call: Call, event: Event, _: Deadline) -> str:
    if event.verb != "restore":
        return ""
    from .. import workspace
    from ..actions.fuse import MAX_BUDGET, MIN_BUDGET

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
            if event.summary:
                fuse.hear(event.session, event.summary)
        except Exception as error:  # then what it says already is said again
            _incident(space, "restore", event, error)
        try:
            # A setting beyond what a harness takes in must not cost the agent its record.
            budget = max(MIN_BUDGET, min(space.settings.fuse_budget, MAX_BUDGET))
            found = fuse.restore(event.session, budget, agent=event.agent, previous=event.previous)
        except SnapshotNotFound:
            return ""
    elif event.source in ("startup", "clear"):
        found = fuse.start(event.session)
    else:
        found = fuse.news(event.session)
    if found.problem:
        _incident(space, "restore", event, SpindleError(found.problem))
    _hand_over(space, event, found.text)
    return found.text


def _hand_over(space: spaces.Workspace, event: Event, said: str) -> None:
    """Note which session was given how much: silence is to be seen in the status too."""
    from .. import workspace
    from ..actions.fuse import session_key

    space.handed().add(
        workspace.now(),
        event.source,
        session=session_key(event.session, event.agent),
        bytes=str(text.size(said)),
    )


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
