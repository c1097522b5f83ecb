"""A hook never harms the agent: its own deadline, status 0, silence where there is nothing to say.

What goes wrong here is written down as an incident instead of being printed, because the program
that runs the hook would hand it to the model or stop its work.
"""

from __future__ import annotations

import os
import time

from ..core.value import Value
from ..errors import EventUnknown, in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

READ_SECONDS = 1.0
"""How long to wait for the payload: a harness may leave standard input open behind it."""
SOFT_SECONDS = 3.0
"""When to stop reading a transcript and keep what there is."""
HARD_SECONDS = 4.5
"""When to end, whatever is going on."""
PAYLOAD_LIMIT = 16 * 1024 * 1024


class Deadline(Value):
    """The moments of one hook, on the monotonic clock."""

    started: float

    def left(self) -> float:
        """Seconds until it is time to keep what there is; negative afterwards."""
        return self.started + SOFT_SECONDS - time.monotonic()

    def passed(self) -> bool:
        """Whether it is time to keep what there is."""
        return self.left() < 0


def guarded(late: Callable[[], None]) -> Deadline:
    """From now on the process ends by itself, with status 0, before the harness would end it.

    ``late`` is called first: whoever is ended says so.
    """
    import _thread

    def end() -> None:
        time.sleep(HARD_SECONDS)
        try:
            late()
        finally:
            os._exit(0)

    _thread.start_new_thread(end, ())
    return Deadline(time.monotonic())


def payload() -> Any:
    """The JSON document on standard input, read no further than it goes.

    EventUnknown if none comes in time.  A byte order mark is passed over.
    """
    import select

    from ..core import canon

    data = b""
    until = time.monotonic() + READ_SECONDS
    problem = "nothing came on standard input"
    while (left := until - time.monotonic()) > 0 and len(data) < PAYLOAD_LIMIT:
        if not select.select([0], [], [], left)[0]:
            break
        piece = os.read(0, 1 << 16)
        data += piece
        if not piece or data.rstrip().endswith(b"}"):
            try:
                return canon.decode(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
            except ValueError as error:
                problem = in_words(error)
        if not piece:
            break
    raise EventUnknown(f"The hook payload cannot be read: {problem}")
