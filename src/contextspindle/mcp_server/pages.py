"""Replies within a bound: what is longer comes in parts, each with the cursor to the next.

A part is measured as it travels, as a JSON string.  The parts of a text, put together, are the
text.  A cursor holds where its part begins and a seal of what was read before: when that changes on
the way, the reader is told, and never gets halves of two states.  What only grows at its end, as a
history does, is read on, and so is a task whose claim is renewed meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import re

from ..core import text
from ..core.value import Value
from ..errors import InvalidInput

AROUND = 600
"""Bytes kept for what stands around a part: the protocol's own, and the line on the next part."""


_LEASE = re.compile(rb"(?<= until )\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
"""The end of a lease, as it is shown."""


class Part(Value):
    """Some of a text; ``note`` says which, and how to read on; empty if it is all."""

    shown: str
    note: str = ""


def part(whole: str, limit: int, cursor: str = "", *, goes_on: bool = True) -> Part:
    """The part of ``whole`` that ``cursor`` names, in at most ``limit`` bytes of a reply.

    ``goes_on``: whether the rest can be asked for; else the note says only how much it is.
    InvalidInput if the cursor is none of ours, or of a text whose beginning has changed since.
    """
    content = whole.encode("utf-8", "replace")
    if not cursor and len(content) <= room(limit) and travels(whole) <= room(limit):
        return Part(whole)
    start = _start(cursor, content)
    shown = _fitting(content, start, room(limit))
    end = start + text.size(shown)
    note = f"[bytes {start + 1:,} to {end:,} of {len(content):,}"
    if end < len(content) and not goes_on:
        return Part(shown, f"{note}; the rest is left out]")
    if end < len(content):
        return Part(shown, f"{note}; for the rest call again with cursor: {made(content, end)}]")
    return Part(shown, f"{note}; this is the end]")


def room(limit: int) -> int:
    """The bytes that a text may travel with in a reply of ``limit`` bytes."""
    return limit - AROUND


def made(content: bytes, at: int) -> str:
    """The cursor to what stands from ``at`` on."""
    read = _LEASE.sub(b"", content[:at])
    return f"{at}-{hashlib.sha256(read).hexdigest()[:12]}"


def _start(cursor: str, content: bytes) -> int:
    if not cursor:
        return 0
    at, dash, _ = cursor.strip().partition("-")
    if not (dash and at.isascii() and at.isdigit() and len(at) < 12):
        raise InvalidInput("That is not a cursor of this reply", hint="Call again without it.")
    if int(at) >= len(content) or cursor.strip() != made(content, int(at)):
        raise InvalidInput(
            "What was being read has changed since its first part",
            hint="Call again without the cursor.",
        )
    return int(at)


def fitting(whole: str, most: int) -> str:
    """As much of the beginning of ``whole`` as travels in ``most`` bytes."""
    return _fitting(whole.encode("utf-8", "replace"), 0, most)


def _fitting(content: bytes, start: int, most: int) -> str:
    """As much from ``start`` as fits, up to the end of a line if there is one near its end."""
    shown = content[start : start + most].decode("utf-8", "ignore")
    while (size := travels(shown)) > most:
        # Each character that needs escaping costs more than itself.
        shown = text.cut(shown, max(text.size(shown) * most // size - 8, 1))
    if start + text.size(shown) < len(content):
        line = shown.rfind("\n") + 1
        if line > len(shown) * 3 // 4:
            shown = shown[:line]
    return shown


def travels(value: str) -> int:
    """The bytes of ``value`` as a JSON string."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
