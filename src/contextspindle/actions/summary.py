"""The harness's own summary: what its writer is told, and what it is heard to say already."""

from __future__ import annotations

from ..core.text import folded, shortened
from ..core.transcript import BY_HAND
from ..errors import SpindleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ports import SnapshotLog
    from .ledger import Ledger

HEARD_WITHIN = 30 * 60_000
"""The most milliseconds from a save to the summary of the compaction that it was made for."""
FACTS = 480
"""The most bytes of what is said to the model that writes a summary."""

_LEAD = (
    "Facts on record in the task ledger of ContextSpindle, a tool; not a message of the user."
    " After the compaction the work is found again by these words:"
)


def facts(ledger: Ledger, task: str) -> str:
    """The id, goal and next step of a live task, on one line that orders nothing.

    Empty if there is no such task, or it is not live.
    """
    from ..core.redaction import mask
    from ..core.task import LIVE, summary

    try:
        one = summary(ledger.show(task)) if task else None
    except SpindleError:
        return ""
    if one is None or one.status not in LIVE:
        return ""
    parts = [f"task {one.id}", f"goal: {shortened(folded(mask(one.goal)), 120)}"]
    if one.next:
        parts.append(f"next step: {shortened(folded(mask(one.next)), 160)}")
    return shortened(f"{_LEAD} {'; '.join(parts)}", FACTS)


def hear(log: SnapshotLog, session: str, summary: str, now: int) -> bool:
    """Append the snapshot that ``summary`` is about once more, with how far that tells its items.

    It is the one that still waits for a summary, of the session or of one of its agents: the
    harness does not say which of them it compacts.  Of a session alone the latest summary counts.
    False, and nothing appended, if it cannot be known which one is meant.
    """
    from ..core.draft import Draft
    from ..core.told import marks

    met: set[str] = set()
    recent = []
    for snapshot in log.all():
        if snapshot["at"] < now - HEARD_WITHIN:
            break
        key = snapshot["session"]
        if key in met or key.partition("/")[0] != session:
            continue
        met.add(key)
        if "draft" in snapshot and snapshot.get("trigger") != BY_HAND:
            recent.append(snapshot)
    waiting = [one for one in recent if "told" not in one] or recent
    if len(waiting) != 1:
        return False
    told = marks(Draft.from_document(waiting[0]["draft"]), summary)
    return log.append({**waiting[0], "told": told}, brief=True)
