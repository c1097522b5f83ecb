"""A person at a terminal: whether there is one, how wide it is, and how long work is told of.

Loaded only when a stream is a terminal.  What is drawn is in :mod:`.face`, which loads ``rich``;
where that is missing, the text is what everybody else gets.
"""

from __future__ import annotations

import os
import time

from .. import config
from . import reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from .reply import Reply

LEAST, MOST = 20, 200
"""The columns that a picture is fitted to, however narrow or wide the terminal is."""
PATIENCE = 0.4
"""Seconds of work before it is told how far it is."""
STEP = 0.1
"""Seconds between two such lines."""


def width(stream: int) -> int:
    """The columns of the terminal; 80 where it does not say."""
    try:
        found = os.get_terminal_size(stream).columns
    except OSError:
        found = 0
    return min(max(found or 80, LEAST), MOST)


def drawn(answer: Reply) -> str:
    """The answer as a picture; as text where no colours are wanted."""
    if config.wants_plain() or answer.picture is None:
        return answer.text
    try:
        from . import face
    except ImportError:  # the text says the same
        return answer.text
    columns = width(reply.OUT)
    return face.drawn(answer.picture(face), columns)


class Meter:
    """A line on standard error that says how far long work is; gone when the block is left.

    ``total`` is 0 where nobody knows it.
    """

    def __init__(self, verb: str, total: int = 0, *, patience: float = PATIENCE) -> None:
        self._verb = verb
        self._total = total
        self._began = time.monotonic()
        self._due = self._began + patience
        self._told = False

    def __enter__(self) -> Meter:
        return self

    def __call__(self, count: int) -> None:
        """Tell that ``count`` are done, unless it was told just now."""
        at = time.monotonic()
        if at < self._due:
            return
        try:
            from . import face
        except ImportError:
            self._due = float("inf")
            return
        line = face.meter(self._verb, count, self._total, at - self._began, width(reply.ERR))
        reply.put(reply.ERR, f"\r\x1b[2K{line}")
        self._told = True
        self._due = time.monotonic() + STEP

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._told:
            reply.put(reply.ERR, "\r\x1b[2K")
