"""Calls in threads, a few at once: a lane for those that write and one for those that only read.

A read so waits for no writer that waits for the ledger.  A call that is cancelled is let go, and
keeps its place in the lane until it ends by itself: what it may have begun to write is not stopped
in the middle, and it counts.  One that has not begun never begins.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

THREADS = 4
"""How many calls run at once in a lane; more of them wait their turn."""


class Lane:
    """The places of calls of one kind."""

    def __init__(self, places: int) -> None:
        self._places = anyio.CapacityLimiter(places)
        # anyio counts a call that was let go no more, so it has nothing to count.
        self._threads = anyio.CapacityLimiter(math.inf)
        self._stopped = False

    async def run(self, call: Callable[[], Any]) -> Any:
        """What ``call`` gives, or raises, in a thread, when there is a place in this lane."""
        ticket = [object()]
        place = ticket[0]
        try:
            self._places.acquire_on_behalf_of_nowait(place)
        except anyio.WouldBlock:
            await self._places.acquire_on_behalf_of(place)
        leave = partial(self._places.release_on_behalf_of, place)
        if self._stopped:
            leave()
            await anyio.sleep_forever()
        loop = asyncio.get_running_loop()

        def work() -> Any:
            try:
                ticket.pop()
            except IndexError:
                return None  # it was cancelled before it began
            try:
                return call()
            finally:
                with suppress(RuntimeError):  # the loop has ended before the call
                    loop.call_soon_threadsafe(leave)

        try:
            return await anyio.to_thread.run_sync(
                work, abandon_on_cancel=True, limiter=self._threads
            )
        except BaseException:
            # Either the thread takes the ticket, and gives the place back, or it is done here.
            with suppress(IndexError):
                ticket.pop()
                leave()
            raise

    @property
    def busy(self) -> bool:
        """Whether a call runs."""
        return bool(self._places.borrowed_tokens)

    def stop(self) -> None:
        """Begin no call any more, also none of those that wait."""
        self._stopped = True
