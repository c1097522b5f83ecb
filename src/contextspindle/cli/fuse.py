"""Commands of the fuse: each by hand, and as a hook of the agent's program."""

from __future__ import annotations

import os
import time

from ..core import text
from ..core.transcript import END
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
    from collections.abc import Callable
    from typing import Any

    from .. import workspace as spaces
    from ..actions.fuse import Restored, Saved
    from ..core.transcript import Event
    from . import Call
    from .hook import Deadline

SILENCE = Reply(None, "")
_BEFORE_SUMMARY = ("PreCompact", "session.compacting")
"""The events whose answer reaches the model that writes a summary."""
_STARTS = 400
"""How many lines on what was handed over are looked at for the sessions before one."""


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
    if values["plain"] or values["session"] is not None or values["from"] is not None:
        from .. import workspace

        if values["session"] is not None and values["from"] is not None:
            raise InvalidInput("Choose one of --session, --from")
        space = workspace.for_fuse(values["workspace"] or "")
        budget = values["budget"] if values["budget"] is not None else space.settings.fuse_budget
        another = values["from"] is not None
        session = values["from"] if another else values["session"]
        found = space.fuse().restore(session, budget, thorough=True, another=another)
        return Reply(_restored_data(found, budget), found.text)
    if os.isatty(0):
        raise InvalidInput(
            "There is no hook payload on standard input", hint="By hand, use --plain."
        )
    return _as_hook(call, _restore_for)


def setup(call: Call) -> Reply:
    """The hooks of Claude Code, under the fuse's own noun."""
    from .setup import hooks

    return hooks(call)


# -- by hand


def _save_by_hand(call: Call) -> Reply:
    from .. import workspace
    from ..core.transcript import BY_HAND

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
    line = f"session {text.one_line(saved.session)} {said}"
    assert saved.reading is not None
    skipped = _skipped(saved)
    line += f": {text.counted(saved.items, 'item')} from"
    line += f" {text.counted(saved.reading.lines, 'line')}" + (f" ({skipped})" if skipped else "")
    data = {
        "session": saved.session,
        "changed": saved.changed,
        "items": saved.items,
        "partial": saved.partial,
        "harness": adapter.NAME,
        "workspace": space.root,
        "reading": saved.reading._asdict(),
    }
    line += f"\na workspace was made for it: {space.root}" if space.made else ""
    return Reply(data, line + "\n", saved.session)


def _skipped(saved: Saved) -> str:
    assert saved.reading is not None
    found = saved.reading._asdict()
    named = {
        "foreign": "of other sessions",
        "unreadable": "unreadable",
        "oversized": "too long",
        "strange": "not understood",
    }
    return ", ".join(f"{found[name]} {word}" for name, word in named.items() if found[name])


def _restored_data(found: Restored, budget: int) -> dict[str, Any]:
    from ..core import instant

    return {
        "text": found.text,
        "bytes": text.size(found.text),
        "budget": budget,
        "session": found.session or None,
        "harness": found.harness,
        "saved": instant.iso(found.saved_at) if found.saved_at else None,
        "problem": found.problem,
    }


# -- as a hook


def _as_hook(call: Call, action: Any) -> Reply:
    """What the harness is to read; every failure becomes an incident and silence."""
    from .. import workspace
    from . import hook

    event: Event | None = None
    start = ""

    def note(error: Exception) -> None:
        hook.note(call.values["workspace"] or "", start, error, event=event)

    deadline = hook.guarded(
        lambda: note(TimeoutError(f"it took longer than {hook.HARD_SECONDS} s"))
    )
    call.lost.append(note)
    try:
        given = hook.payload()
        start = hook.folder_of(given)
        adapter = workspace.harness(_harness(call))
        event = adapter.parse_event(given)
        start = event.cwd
        if event.seconds:
            deadline = deadline._replace(seconds=event.seconds)
        answer = action(call, event, deadline)
        said = adapter.injection(answer, event) if answer else ""
        return Reply(None, f"{said}\n") if said else SILENCE
    except Exception as error:
        note(error)
        return SILENCE


def _harness(call: Call) -> str:
    """The harness whose hook this is: the installed command names it, the first one's does not."""
    return call.values["harness"] or "claude-code"


def _save_for(call: Call, event: Event, deadline: Deadline) -> str:
    if event.verb not in ("save", "hear", "note"):
        return ""
    from .. import workspace

    event = _located(call, event)
    size = _marked(event) if event.untold else 0
    over = event.trigger == END  # then what is said here reaches nobody, and nothing is made for it
    make = event.verb == "save" and not over
    try:
        space = workspace.for_fuse(
            call.values["workspace"] or "", start=event.cwd or None, make=make
        )
    except WorkspaceNotFound:
        if make:
            raise
        return ""
    fuse = space.fuse()
    if event.verb == "hear":
        fuse.hear(event.session, event.summary)
        return ""
    if event.verb == "note":
        from ..actions.owed import is_due

        if not size or not is_due(fuse, event.key, size):
            return ""
    saved = _saved(call, space, event, deadline)
    if saved is None:
        return ""
    # What is said here reaches the summary of a session, not that of its agents; and a ledger that
    # came with somebody's repository has no say in it.
    if event.name not in _BEFORE_SUMMARY or event.agent or not saved.task or not space.accepted():
        return ""
    return fuse.facts(saved.task)


def _located(call: Call, event: Event) -> Event:
    """``event`` with the session's transcript, also where it is not where the harness says."""
    if event.agent or (event.transcript and os.path.exists(event.transcript)):
        return event
    from .. import workspace

    name = _harness(call)
    folder = call.settings().folders.get(name, "")
    path = workspace.harness(name).find(folder, event.session, event.cwd)
    return event._replace(transcript=path or event.transcript)


def _saved(
    call: Call, space: spaces.Workspace, event: Event, deadline: Deadline, up_to: int = 0
) -> Saved | None:
    """Save what the transcript says, ``up_to`` that byte if one is given; None if it says nothing.

    Then that is an incident.
    """
    from .. import workspace

    harness, fuse = _harness(call), space.fuse()
    kept = {"harness": harness, "agent": event.agent, "cwd": event.cwd}
    try:
        transcript = workspace.harness(harness).read(event.transcript, event.session, event.agent)
        return fuse.save(
            event.session,
            (transcript.up_to(up_to) if up_to else transcript).within(deadline.left),
            trigger=event.trigger,
            out_of_time=deadline.passed,
            **kept,
        )
    except TranscriptUnreadable as error:
        if event.trigger == END:
            return None  # a session in which nothing was said
        fuse.save_without_transcript(event.session, error.message, **kept)
        _incident(space, "save", event, error)
        return None


def _marked(event: Event) -> int:
    """Mark how far the transcript reaches, before what may be a compaction; its size, or 0."""
    size = _reach(event)
    if size:
        _mark(event, size)
    return size


def _reach(event: Event) -> int:
    """How far the transcript reaches: its size, or 0."""
    try:
        return os.stat(event.transcript).st_size
    except (OSError, ValueError):
        return 0


def _mark(event: Event, size: int) -> None:
    from .. import workspace

    if (marks := workspace.marks()) is not None:
        marks.set(event.key, size)


def _look_for(call: Call, event: Event, deadline: Deadline) -> str:
    """The record that a compaction which no event told of has left owed; empty if none is.

    Where nothing is, which is nearly always, this costs the look for one name.
    """
    from .. import workspace

    marks = workspace.marks()
    if marks is None or not marks.has(event.key):
        return ""
    from ..actions import owed

    harness = workspace.harness(_harness(call))
    event = _located(call, event)._replace(source="compact")
    over = event.verb == "restore"  # what was under way has ended with the program
    debt = owed.look(marks, event.key, harness, event.transcript, over=over)
    if debt is None:
        return ""
    space = workspace.for_fuse(call.values["workspace"] or "", start=event.cwd or None, make=True)
    _saved(call, space, event, deadline, debt.at)
    said = _told(call, space, event)
    if not said.text or owed.was_given(harness.read(event.transcript), debt, said):
        debt.mark.settle()
        return ""

    def settle() -> None:
        try:
            debt.mark.settle()
        except Exception as error:
            _incident(space, "restore", event, error)

    call.done.append(settle)
    return said.text


def _mark_afterwards(call: Call, event: Event, size: int) -> None:
    """Mark, once the answer is written, how far the transcript reached before it was looked at.

    Where no event comes before a compaction, it is looked at from there at the next event.
    """

    def mark() -> None:
        try:
            _mark(event, size)
        except Exception as error:
            call.lost[0](error)

    call.done.append(mark)  # behind what settles an older one


def _restore_for(call: Call, event: Event, deadline: Deadline) -> str:
    if event.verb not in ("restore", "look"):
        return ""
    if event.verb == "look" or event.source == "resume":
        size = _reach(event) if event.untold else 0
        said = _look_for(call, event, deadline)
        if size:
            _mark_afterwards(call, event, size)
        if said or event.verb == "look":
            return said
    from .. import workspace

    if event.source == "startup" and (marks := workspace.marks()) is not None:
        marks.sweep(time.time())
    try:
        space = workspace.for_fuse(call.values["workspace"] or "", start=event.cwd or None)
    except WorkspaceNotFound:
        return ""
    return _told(call, space, event, deadline).text


def _told(
    call: Call, space: spaces.Workspace, event: Event, deadline: Deadline | None = None
) -> Restored:
    """What an agent is told at this event.

    With a ``deadline``, what the transcript came to hold since the last save is saved before that.
    """
    from .. import workspace
    from ..actions.fuse import MAX_BUDGET, MIN_BUDGET, Restored
    from ..core.transcript import CLOSING, NOTHING_QUOTED

    nothing = Restored("", "")
    if not space.accepted():
        refused = "the workspace came with the repository and is not accepted"
        _incident(space, "restore", event, WorkspaceNotFound(refused))
        return nothing
    fuse = space.fuse()
    mark = ""
    if event.source == "compact":
        mark = "" if event.agent else space.canary().line(workspace.now())
        # A setting beyond what a harness takes in must not cost the agent its record.
        budget = min(space.settings.fuse_budget, MAX_BUDGET) - (text.size(mark) + 1 if mark else 0)
        budget = max(MIN_BUDGET, budget)
        late = _late(call, space, event, deadline) if deadline is not None else None
        try:
            if event.summary:
                fuse.hear(event.session, event.summary)
        except Exception as error:  # then what it says already is said again
            _incident(space, "restore", event, error)
        try:
            since = _sessions_before(space, event)
            found = fuse.restore(
                event.session, budget, agent=event.agent, previous=since, late=late
            )
        except SnapshotNotFound:
            if not mark:
                return nothing
            found = Restored(f"{NOTHING_QUOTED}\n{CLOSING}\n", "")
    elif event.source in ("startup", "clear"):
        found = fuse.start(event.session, harness=event.caller, cwd=event.cwd)
    else:
        found = fuse.news(event.session)
    if found.problem:
        _incident(space, "restore", event, SpindleError(found.problem))
    said = found.text
    if mark:
        # As the last line: where it arrives, all that is before it has arrived.
        before, closing, behind = said.rpartition(CLOSING)
        said = f"{before}{mark}\n{closing}{behind}"
        space.canary().given(workspace.now(), event.session, _harness(call), event.transcript)
    _hand_over(space, event, said)
    return found._replace(text=said)


def _late(
    call: Call, space: spaces.Workspace, event: Event, deadline: Deadline
) -> Callable[[dict[str, Any] | None], bool]:
    """What saves the talk that was written behind the newest snapshot, or that none was made of.

    A program may write down late what was said before a compaction, or tell of it only afterwards.
    """
    from .. import workspace
    from ..actions.moment import read_up_to
    from ..core.transcript import LATE

    harness = workspace.harness(_harness(call))

    def late(newest: dict[str, Any] | None) -> bool:
        try:
            found, after = _located(call, event)._replace(trigger=LATE), 0
            if newest is not None and "draft" in newest:
                if newest.get("transcript") != found.transcript:
                    return False  # what the other one held is not given up for it
                after = read_up_to(newest)
            grown = _reach(found) > after
            end = harness.said_up_to(found.transcript, after) if grown else 0
            return bool(end) and _saved(call, space, found, deadline, end) is not None
        except Exception as error:  # then what was saved before is what there is
            _incident(space, "restore", event, error)
            return False

    return late


def _hand_over(space: spaces.Workspace, event: Event, said: str) -> None:
    """Note which session was given how much: silence is to be seen in the status too."""
    from .. import workspace

    space.handed().add(
        workspace.now(),
        event.source,
        session=event.key,
        bytes=str(text.size(said)),
        previous=event.previous,
    )


def _sessions_before(space: spaces.Workspace, event: Event) -> tuple[str, ...]:
    """The sessions that this one goes on from, the latest first, as their own starts told them."""
    if not event.previous:
        return ()
    told = {one.get("session"): one.get("previous") for one in space.handed().newest(_STARTS)}
    found = [event.previous]
    while (before := told.get(found[-1])) and before not in found:
        found.append(before)
    return tuple(found)


def _incident(space: spaces.Workspace, what: str, event: Event, error: Exception) -> None:
    from . import hook

    hook.add(space.incidents(), what, error, event=event)
