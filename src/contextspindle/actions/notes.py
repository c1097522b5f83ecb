"""What a handoff says of its own making: whether there is a snapshot, and how it came about."""

from __future__ import annotations

from ..core.text import counted, folded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def count(snapshot: dict[str, Any], what: str = "skipped") -> int:
    """The bytes of the transcript that were not looked at, or another count of its reading."""
    reading = snapshot.get("reading")
    return reading.get(what, 0) if isinstance(reading, dict) else 0


def notes(snapshot: dict[str, Any] | None, problem: str) -> tuple[str, ...]:
    """The lines on ``snapshot``, and on the ``problem`` that the ledger has."""
    said = []
    if snapshot is None:
        said.append("No snapshot of this session was saved; this is the ledger as it is now.")
    elif snapshot.get("problem"):
        said.append(f"The transcript could not be read at the save: {snapshot['problem']}")
    elif snapshot.get("partial"):
        said.append("The save ran out of time: its latest part is missing.")
    if snapshot and snapshot.get("passed"):
        said.append(f"Nothing could be saved of what followed it: session {snapshot['passed']}.")
    if snapshot and snapshot.get("lost"):
        said.append(
            "The transcript has lost lines that were read before. What they said is told as the"
            f" save of {folded(str(snapshot['lost']))} had it, without pointers."
        )
    if snapshot and (skipped := count(snapshot)):
        whole = snapshot["reading"]["bytes"]
        said.append(
            f"The transcript was read from the end: {whole - skipped:,} of {whole:,} bytes read."
        )
    if snapshot and (strange := count(snapshot, "strange")):
        said.append(f"{counted(strange, 'turn')} of the transcript could not be understood.")
    if problem:
        said.append(f"The ledger could not be read: {problem}")
    return tuple(said)
