"""What a save takes over from an older snapshot: of a session it goes on from, and of its own.

A transcript only grows.  One that has lost lines which an earlier save has read was rotated,
damaged, or replaced: what those lines said is then in the earlier snapshot alone, and a save that
let it go would put a stump in the place of the story.  So each save looks whether the lines that
the newest snapshot quotes are still there.  Where the program itself takes lines off the end, the
human has gone back, and what went is unsaid.
"""

from __future__ import annotations

from ..core.draft import ASKED, FOUND, LAST, LEFT, RUNNING, Draft, Item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.transcript import Reading, Turn
    from ..ports import Beside, SnapshotLog, Transcript

LOST = "no longer in the transcript"
"""What is said of a goal that was taken over so."""


def with_heritage(
    log: SnapshotLog, draft: Draft, harness: Beside, transcript: Transcript, session: str
) -> tuple[Draft, str]:
    """``draft`` with what the session knows by being a fork, and the session it is one of.

    The snapshot is the one that the fork was handed: what its parent did later is not in it.
    """
    named = harness.forked_from(transcript.path, session)
    if named is None:
        return draft, transcript.reading.origin
    from ..core.heritage import inherited
    from ..core.instant import iso

    origin, saved = named
    for older in log.all():
        if older["session"] == origin and iso(older["at"]) == saved and "draft" in older:
            return inherited(draft, Draft.from_document(older["draft"])), origin
    return draft, origin


class Before:
    """The newest snapshot of the same transcript, held against what is read of it now."""

    def __init__(self, snapshot: dict[str, Any] | None, transcript: Transcript) -> None:
        """``snapshot`` is the newest of the session, if there is one."""
        same = snapshot is not None and snapshot.get("transcript") == transcript.path
        self._snapshot = snapshot if snapshot is not None and same else {}
        self._draft = Draft.from_document(self._snapshot.get("draft"))
        self._cuts_back = transcript.cuts_back
        self._missing = {item.seal: item.line for item in self._draft.items if item.seal}
        self._lines = dict(self._missing)

    def see(self, turn: Turn) -> None:
        """A line that is still there."""
        if turn.seal in self._missing:
            del self._missing[turn.seal]

    def kept(self, draft: Draft, reading: Reading, *, partial: bool) -> tuple[Draft, str]:
        """``draft`` with what stood in lines that are gone, and the time of the save that had it.

        The time is empty if none are.
        """
        lost: str = self._snapshot.get("lost") or ""
        gone = self._gone(reading, partial=partial)
        if not gone and not lost:
            return draft, ""
        from ..core.heritage import inherited
        from ..core.instant import iso

        items = [
            item._replace(line=0, seal="")
            for item in self._draft.items
            if item.seal in gone or not item.line
        ]
        if not draft.of(LAST):
            ahead = [item for item in items if item.section in (LAST, LEFT)]
            draft = draft._replace(items=(*ahead, *draft.items))
        else:
            items = [_as_said_before(item) for item in items]
        older = self._draft._replace(items=tuple(items))
        running = tuple(item for item in items if item.section == RUNNING)
        draft = inherited(draft, older, LOST)
        draft = draft._replace(items=(*draft.items, *running))
        return draft, lost or iso(self._snapshot["at"])

    def told(self, draft: Draft) -> str:
        """How far the summary that was heard before tells the items of ``draft``; empty for none.

        Of what that snapshot did not hold yet nothing is told.  Where a compaction lies between,
        it was the summary of that one, and the latest need not say what it said.
        """
        if draft.compactions != self._draft.compactions:
            return ""
        marks: str = self._snapshot.get("told") or ""
        known = {(one.section, one.text): mark for one, mark in zip(self._draft.items, marks)}
        return marks and "".join(known.get((one.section, one.text), "0") for one in draft.items)

    def _gone(self, reading: Reading, *, partial: bool) -> set[str]:
        """The seals of the lines that are gone.

        Where not every line was looked at, one that was not met may be there: then all must be.
        """
        gone = set(self._missing)
        met = self._lines.keys() - gone
        if not gone:
            return gone
        told = self._snapshot.get("reading")
        before = told.get("bytes") if isinstance(told, dict) else 0
        shrunk = isinstance(before, int) and reading.bytes < before
        whole = not (partial or reading.skipped or reading.unparsed)
        if met and not (shrunk and whole):
            return set()
        if not met and not (shrunk or whole):
            return set()
        last = max((self._lines[seal] for seal in met), default=0)
        if self._cuts_back and met and min(self._lines[seal] for seal in gone) > last:
            return set()
        return gone


def _as_said_before(item: Item) -> Item:
    """Words that were the last ones then, and are followed by others now."""
    if item.section == LAST:
        return item._replace(section=ASKED, mark="")
    return item._replace(section=FOUND) if item.section == LEFT else item
