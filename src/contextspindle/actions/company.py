"""Who else is at work in this checkout: one line, made from other sessions' snapshots and claims.

It says that somebody is there, and never what they said: of a snapshot it takes the harness, the
start of the session's id, its age, its branch or folder where that is another, and its task.
"""

from __future__ import annotations

from ..core import instant
from ..core.text import folded, shortened, size
from ..core.transcript import BY_HAND, END
from ..errors import SpindleError
from .moment import session_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.claims import Lease
    from ..ports import SnapshotLog
    from .ledger import Ledger

RECENT_MS = 8 * 3_600_000
"""How old the newest snapshot of a session may be: a save comes with a compaction, hours apart."""
LIMIT = 200
"""The most bytes of the line."""

_LOOKED_AT = 12
"""Snapshots read, the newest: each costs a hook about half a millisecond."""
_LABEL = "Also at work here lately: "


def others_here(
    log: SnapshotLog, ledger: Ledger, own: dict[str, Any] | None, session: str, now: int
) -> tuple[str, ...]:
    """The line on others than ``session``, whose snapshot is ``own``; nothing if there are none."""
    try:
        held = ledger.held()
        # What the session itself was called, since its snapshot: nobody else.
        names = {session, *_word(own, "passed").split(", ")}
        sessions = _sessions(log, names, now)
        mine = _word(own, "task")
        claimed = [(task_id, lease) for task_id, lease in held if lease.holder != ledger.actor]
        parts = [_session(one, own, dict(held), now) for one in sessions]
    except SpindleError:
        return ()  # what damage there is, the rest of the text tells
    told = {_word(one, "task") for one in sessions} | {mine}
    by_holder: dict[str, list[str]] = {}
    for task_id, lease in claimed:
        if task_id not in told:
            by_holder.setdefault(lease.holder, []).append(task_id)
    parts += [
        f"{shortened(folded(holder), 40)} holds {', '.join(tasks[:3])}"
        for holder, tasks in by_holder.items()
    ]
    return (_joined(parts),) if parts else ()


def _sessions(log: SnapshotLog, names: set[str], now: int) -> list[dict[str, Any]]:
    """The newest snapshot of each session but ``names`` that was saved lately and has not ended."""
    found: dict[str, dict[str, Any]] = {}
    for number, snapshot in enumerate(log.all()):
        if snapshot["at"] < now - RECENT_MS or number == _LOOKED_AT:
            break
        name = session_of(snapshot)
        if name not in names:
            found.setdefault(name, snapshot)
    return [one for one in found.values() if one.get("trigger") != END]


def _session(
    snapshot: dict[str, Any], own: dict[str, Any] | None, held: dict[str, Lease], now: int
) -> str:
    # An id by its start, which is enough to ask for it; a name that somebody gave as it is.
    name = folded(session_of(snapshot))
    name = shortened(name, 40) if snapshot.get("trigger") == BY_HAND else name[:8]
    facts = [instant.ago(snapshot["at"], now)]
    branch, folder = _branch(snapshot), _word(snapshot, "cwd")
    if branch and branch != _branch(own or {}):
        facts.append(f"branch {shortened(folded(branch), 40)}")
    if folder and own and folder != _word(own, "cwd"):
        facts.append(f"in {shortened(folded(folder.rstrip('/').rpartition('/')[2]), 40)}")
    task = _word(snapshot, "task")
    if task:
        lease = held.get(task)
        facts.append(f"task {folded(task)}" + (" claimed" if lease else ""))
    harness = shortened(folded(_word(snapshot, "harness")), 20)
    return f"{harness} session {name} ({', '.join(facts)})".lstrip()


def _word(snapshot: dict[str, Any] | None, name: str) -> str:
    found = snapshot.get(name) if snapshot else None
    return found if isinstance(found, str) else ""


def _branch(snapshot: dict[str, Any]) -> str:
    from ..core.draft import STATE, Draft

    for item in Draft.from_document(snapshot.get("draft")).of(STATE):
        if item.about == "branch":
            return item.text
    return ""


def _joined(parts: list[str]) -> str:
    """As many of ``parts`` as fit, and how many more there are."""
    line = _LABEL + parts[0]
    for number, part in enumerate(parts[1:], 1):
        rest = f"; {len(parts) - number} more"
        if size(f"{line}; {part}.") + (len(rest) if number + 1 < len(parts) else 0) > LIMIT:
            return shortened(line, LIMIT - len(rest) - 1) + rest + "."
        line += f"; {part}"
    return shortened(line, LIMIT - 1) + "."
