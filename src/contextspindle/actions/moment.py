"""The moment of a restore: what holds now, and what of a snapshot need not be said any more.

A snapshot says what was.  Between it and the restore the harness has had its own summary written,
the list of steps may have gone on, and so may the checkout.  Each of these is looked at here, and
each may be missing: then the snapshot stands as it is.
"""

from __future__ import annotations

from ..core.draft import STATE, STEP, Item
from ..core.text import counted, folded, quoted, shortened
from ..core.transcript import BY_HAND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.draft import Draft
    from ..core.transcript import Step
    from ..ports import Beside, Drift

_CLOSED = ("completed", "done", "cancelled", "deleted")


def session_of(snapshot: dict[str, Any]) -> str:
    """The session that a snapshot is of; of one that was saved by hand, the name it was given."""
    name: str = snapshot["session"]
    return name if snapshot.get("trigger") == BY_HAND else name.partition("/")[0]


def present(
    draft: Draft,
    snapshot: dict[str, Any],
    drift: Drift | None,
    beside: Callable[[str], Beside] | None,
    *,
    thorough: bool,
) -> tuple[Draft, list[str]]:
    """``draft`` as it is to be shown now, and lines on what has moved since it was saved."""
    notes: list[str] = []
    if drift is not None:
        cwd = snapshot.get("cwd", "")
        files = [
            item.text if item.text.startswith("/") else f"{cwd}/{item.text}"
            for item in draft.of(STATE)
            if item.about == "file"
        ]
        place = snapshot.get("place")
        if isinstance(place, dict):
            notes += drift.since(place, snapshot["at"], files, thorough=thorough)
    session, _, agent = snapshot["session"].partition("/")
    path = snapshot.get("transcript", "")
    told = snapshot.get("told", "")
    if beside is not None and path:
        harness = beside(snapshot.get("harness", ""))
        if not told:
            named = "" if snapshot.get("trigger") == BY_HAND else session
            told = _told(draft, harness.summary(path, named, read_up_to(snapshot)))
        if not agent:
            steps = harness.steps(path, session)
            if steps is not None:
                draft, told = _with_steps(draft, told, steps)
    if told:
        from ..core.told import untold

        draft, gone = untold(draft, told)
        if gone:
            count = counted(gone, "item")
            where = f"contextspindle fuse show --session {quoted(snapshot['session'])}"
            notes.append(
                f"Not repeated: {count} that the harness's own summary says; {where} has all."
            )
    return draft, notes


def _told(draft: Draft, summary: str) -> str:
    if not summary:
        return ""
    from ..core.told import marks

    return marks(draft, summary)


def read_up_to(snapshot: dict[str, Any]) -> int:
    """The bytes that the transcript of ``snapshot`` had when it was read; 0 if none are told."""
    reading = snapshot.get("reading")
    size = reading.get("bytes") if isinstance(reading, dict) else 0
    return size if isinstance(size, int) and size >= 0 else 0


def _with_steps(draft: Draft, told: str, steps: tuple[Step, ...]) -> tuple[Draft, str]:
    """``draft`` with the open steps as they are now, and the marks that go with its items."""
    before = {item.about.partition(" ")[0]: item for item in draft.of(STEP)}
    now = [_step(step, before.get(f"#{step.key}")) for step in _open(steps)]
    kept = [at for at, item in enumerate(draft.items) if item.section != STEP]
    at = next((at for at, item in enumerate(draft.items) if item.section == STEP), len(kept))
    ahead = [one for one in kept if one < at]
    behind = [one for one in kept if one >= at]
    items = [draft.items[one] for one in ahead] + now + [draft.items[one] for one in behind]
    if len(told) == len(draft.items):
        told = "".join(
            [*(told[one] for one in ahead), "0" * len(now), *(told[one] for one in behind)]
        )
    return draft._replace(items=tuple(items)), told


def _open(steps: tuple[Step, ...]) -> list[Step]:
    live = [step for step in steps if step.status not in _CLOSED]
    return sorted(live, key=lambda step: step.status != "in_progress")


def _step(step: Step, before: Item | None) -> Item:
    about = f"#{step.key} {folded(step.status)}"
    title = folded(step.title)
    if before is not None and title and folded(before.text).startswith(title):
        return before._replace(about=about)
    from ..core.redaction import mask

    return Item(STEP, shortened(mask(title) or "(no title)", 400), about=about)
