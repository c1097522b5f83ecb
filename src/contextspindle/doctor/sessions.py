"""What each session saved last, and what it was handed last."""

from __future__ import annotations

from ..core import instant, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..workspace import Workspace

HANDED = 400
"""How many lines on what was handed over are looked at."""
UNSAVED = 10
"""How many sessions without a snapshot are named."""


def seen(space: Workspace, now: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The sessions that have a snapshot, the latest saved first; and those that have none yet."""
    handed: dict[str, dict[str, Any]] = {}
    for one in space.handed().newest(HANDED):
        handed.pop(one.get("session", ""), None)
        handed[one.get("session", "")] = one  # the latest of each, in the order of the latest
    sessions = []
    for snapshot in space.fuse().sessions():
        given = handed.pop(snapshot["session"], None)
        sessions.append({**_session(snapshot, now), "handed": _handed(given)})
    later = list(handed.items())[: -UNSAVED - 1 : -1]
    return sessions, [{"session": name, **(_handed(one) or {})} for name, one in later]


def _session(snapshot: dict[str, Any], now: int) -> dict[str, Any]:
    draft = snapshot.get("draft")
    return {
        "session": snapshot["session"],
        "saved": instant.iso(snapshot["at"]),
        "age": instant.age(snapshot["at"], now),
        "harness": snapshot.get("harness", ""),
        "transcript": snapshot.get("transcript", ""),
        "origin": snapshot.get("from", ""),
        "trigger": snapshot.get("trigger", ""),
        "items": len(draft["items"]) if draft else 0,
        "partial": bool(snapshot.get("partial")),
        "problem": snapshot.get("problem", ""),
    }


def _handed(line: dict[str, Any] | None) -> dict[str, Any] | None:
    """When a session was last given something, at which kind of start, and how much."""
    if line is None:
        return None
    size = str(line.get("bytes", ""))
    given = int(size) if size.isascii() and size.isdigit() else 0
    return {
        "at": instant.iso(line["at"]),
        "source": text.one_line(line["what"]),
        "bytes": given,
    }
