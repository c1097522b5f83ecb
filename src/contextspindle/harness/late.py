"""What a program writes into its transcript after the hook that was to read it has run.

Claude Code, and Qwen Code after it, collect their lines and write them out some tenths of a second
later, and run a hook meanwhile.  So a save before a compaction may miss the last request, or the
last result.  By the restore after it they are there, ahead of the compaction's own record: or there
is no such record yet, for that is written late as well.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LOOKED_AT = 4 << 20
"""The most bytes at the end of a transcript that are looked at."""
_AGENT = b'"type":"assistant"'
_ASIDE = b'"isMeta":true'
_TYPE = b'"type":"'
_SYSTEM = b'"type":"system"'


def said_up_to(
    path: str, after: int, records: tuple[bytes, ...], worth: Callable[[bytes, bool], bool]
) -> int:
    """Where the talk ends that went on behind byte ``after``; 0 if nothing was said there.

    That is before the latest compaction, if its record (a line with one of ``records``) is there
    already: one that the agent has spoken behind is of an older compaction.  A last line without
    its end is not there yet.  ``worth`` tells which lines may hold talk.
    """
    try:
        # A fifo would block here for ever without the flag.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            at = max(after, os.fstat(file).st_size - LOOKED_AT)
            tail = os.pread(file, LOOKED_AT, at)
        finally:
            os.close(file)
    except (OSError, ValueError):
        return 0
    heard = False
    record = -1
    lines = tail.split(b"\n")
    lines.pop()
    for line in lines:
        for mark in records:
            if mark in line:
                record = at if record < 0 else record
                break
        else:
            if (record < 0 or _AGENT in line) and worth(line, False) and not _is_aside(line):
                heard, record = True, -1
        at += len(line) + 1
    if not heard:
        return 0
    return at if record < 0 else record


def _is_aside(line: bytes) -> bool:
    """Whether the program says it, of itself or to the agent: how its hooks ended, for one."""
    return _ASIDE in line or line.startswith(_SYSTEM, line.find(_TYPE))
