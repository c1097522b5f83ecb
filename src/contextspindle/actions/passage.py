"""What stands behind a pointer: one line of a transcript, if it is still the one that was read."""

from __future__ import annotations

from ..errors import SnapshotNotFound, TranscriptUnreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..ports import Transcript


def passage(
    snapshot: dict[str, Any], line: int, read: Callable[[dict[str, Any]], Transcript]
) -> list[str]:
    """What was said in a line of the transcript of ``snapshot``, secrets masked.

    TranscriptUnreadable if the line is not the one that was read at the save; SnapshotNotFound if
    nothing was said in it.
    """
    from ..core.draft import Draft
    from ..core.redaction import mask

    seals = {
        item.seal
        for item in Draft.from_document(snapshot.get("draft")).items
        if item.line == line and item.seal
    }
    transcript = read(snapshot)
    turns = []
    for turn in transcript:
        if turn.line == line:
            turns.append(turn)
        elif turn.line > line:
            break
    if seals and not seals & {turn.seal for turn in turns}:
        raise TranscriptUnreadable(
            f"Line {line} of {transcript.path} is not the one that was read at the save",
            hint="The transcript was changed or replaced since; save it again.",
        )
    shown = [mask(part) for turn in turns for part in (turn.about, turn.text) if part]
    if not shown:
        raise SnapshotNotFound(
            f"Line {line} of {transcript.path} holds nothing that was said",
            hint="'contextspindle fuse show' lists the passages that were kept, with their lines.",
        )
    return shown
