"""What Claude Code keeps beside the talk: the summary it had written, and the live list of steps.

Read at a restore, so that the text says what holds at that moment.  Both are read leniently: what
is missing or of another shape is as if it were not there.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.text import clean
from ..core.transcript import OPENING, Step, told_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TAIL = 4 << 20
"""The most bytes behind a snapshot in which a summary is looked for: it stands near its start."""
_RECORD = OPENING[: OPENING.index("]") + 1].encode()
_STEPS = 500
_STEP_BYTES = 64 * 1024


def summary(path: str, session: str, after: int) -> str:
    """The text of the latest summary behind byte ``after``, of ``session`` if that is given."""
    try:
        # A fifo would block here for ever without the flag.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            tail = os.pread(handle, _TAIL, after)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return ""
    found = ""
    for line in tail.split(b"\n"):
        if b'"isCompactSummary":true' not in line:
            continue
        try:
            entry = canon.decode(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(entry, dict) and (not session or entry.get("sessionId") == session):
            found = _text(entry) or found
    return found


def _text(entry: dict[str, Any]) -> str:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not entry.get("isCompactSummary") or content is None:
        return ""
    blocks = [content] if isinstance(content, str) else content
    parts = []
    for block in blocks if isinstance(blocks, list) else ():
        text = block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str):
            parts.append(text)
    return clean("\n".join(parts))


def forked_from(path: str, session: str) -> tuple[str, str] | None:
    """The session, and the time of its snapshot, that the last record of another one names.

    A fork takes over the lines of its parent under its own id, back to the last compaction only;
    what was handed to the parent then is among them.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            head = os.pread(handle, _TAIL, 0)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return None
    found = None
    for line in head.split(b"\n") if _RECORD in head else ():
        if b'"hook_additional_context"' not in line or _RECORD not in line:
            continue
        try:
            entry = canon.decode(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        named = _named(entry)
        if named and named[0] == session:
            break
        found = named or found
    return found


def _named(entry: Any) -> tuple[str, str] | None:
    """Session and time of the record that a hook's attachment holds."""
    attachment = entry.get("attachment") if isinstance(entry, dict) else None
    if not isinstance(attachment, dict) or attachment.get("type") != "hook_additional_context":
        return None
    content = attachment.get("content")
    for text in content if isinstance(content, list) else ():
        if isinstance(text, str) and (found := told_of(text)):
            return found
    return None


def steps(tasks: str, session: str) -> tuple[Step, ...] | None:
    """The steps of ``session`` in the folder ``tasks``, which has a folder for each list.

    None if there is none for this session; an empty one is an emptied list.
    """
    name = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "-" for c in session)
    folder = os.path.join(tasks, name)
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    numbers = sorted(
        int(name[: -len(".json")])
        for name in names
        if name.endswith(".json") and name[: -len(".json")].isdecimal()
    )
    found = [_step(os.path.join(folder, f"{number}.json")) for number in numbers[:_STEPS]]
    known = [one for one in found if one is not None]
    waiting = {step.key for step, _ in known if step.status != "completed"}
    listed = []
    for step, needs in known:
        unmet = [f"#{key}" for key in needs if key in waiting]
        if unmet and step.status == "pending":
            step = step._replace(status=f"pending, after {', '.join(unmet)}")
        listed.append(step)
    return tuple(listed)


def _step(path: str) -> tuple[Step, list[str]] | None:
    """A step, and the keys of those that it waits for."""
    try:
        with open(path, "rb") as file:
            known = canon.decode(file.read(_STEP_BYTES).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return None
    if not isinstance(known, dict):
        return None
    fields = [known.get(name) for name in ("id", "subject", "status", "description")]
    key, title, status, note = (clean(one) if isinstance(one, str) else "" for one in fields)
    if not key or not status:
        return None
    blocked = known.get("blockedBy")
    needs = [one for one in blocked if isinstance(one, str)] if isinstance(blocked, list) else []
    return Step(key, title, status, "" if note == title else note), needs
