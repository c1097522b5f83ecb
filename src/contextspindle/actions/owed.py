"""What is owed to a session whose harness tells of no compaction: found at the next event.

Before a compaction there is an event, and mostly no compaction follows.  So it leaves a mark: how
far the transcript reached.  At the next event at which the agent can be given something, the
transcript is looked at behind the mark, and only a compaction that stands there is answered: with
the record of what was said before it, once.

The mark is settled after the record was written out.  Whoever is killed in between leaves the mark,
and the next one finds the record in the transcript, behind the compaction, and writes nothing.
"""

from __future__ import annotations

from ..core.instant import iso
from ..core.value import Value
from ..errors import SnapshotNotFound, TranscriptUnreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ports import Mark, Marks, Recorder, Transcript
    from .fuse import Fuse, Restored

CHECKPOINT = 256 * 1024
"""The bytes that a transcript grows by between two saves for what only may be a compaction."""


class Debt(Value):
    """A compaction that came about, and that the agent was given nothing for yet."""

    mark: Mark
    at: int
    """Where its line begins in the transcript."""


def look(marks: Marks, key: str, recorder: Recorder, path: str, *, over: bool) -> Debt | None:
    """What is owed to a session; None if nothing is.

    ``over`` says that a compaction under way will not be completed any more.
    """
    mark = marks.take(key)
    if mark is None:
        return None
    try:
        at = recorder.compacted(path, mark.after)
    except TranscriptUnreadable:
        at = -1
    if at is None and not over:
        mark.leave()
        return None
    if at is None or at < 0:
        mark.settle()
        return None
    return Debt(mark, at)


def was_given(transcript: Transcript, debt: Debt, found: Restored) -> bool:
    """Whether the record stands in the transcript already, behind the compaction.

    It is known by its opening up to the moment of its save, which no other record has.
    """
    saved = iso(found.saved_at)
    return transcript.tells(found.text.partition(saved)[0] + saved, debt.at)


def is_due(fuse: Fuse, key: str, size: int) -> bool:
    """Whether so much was said since the session's newest snapshot that it is worth another one."""
    try:
        reading = fuse.snapshot(key).get("reading")
    except SnapshotNotFound:
        return True
    saved = reading.get("bytes") if isinstance(reading, dict) else 0
    return not (isinstance(saved, int) and 0 <= size - saved < CHECKPOINT)
