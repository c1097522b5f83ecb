"""The queue of writers: an advisory lock that the kernel hands on in turn, with a bounded wait.

SQLite's own busy handler sleeps and tries again, so that under load one writer can starve for
seconds while others pass.  ``flock`` on a side file queues them.  It knows no time limit; so a
contended lock is taken by a thread that waits in the kernel while its owner waits for the thread.
"""

from __future__ import annotations

import fcntl
import os

from ..errors import StoreBusy
from .private import FILE_MODE, refuse_link, translated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


PATIENCE = 5.0
"""The seconds that a writer waits for another one, where nothing else is said."""


class Lock:
    """An exclusive lock on a side file, for the length of a ``with`` block."""

    def __init__(self, path: str, wait: float = PATIENCE) -> None:
        self._path = path
        self._wait = wait
        self._handle = -1

    def __enter__(self) -> Lock:
        """Held when the block begins.  StoreBusy if that takes longer than ``wait`` seconds."""
        try:
            handle = os.open(
                self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE
            )
        except OSError as error:
            refuse_link(self._path)
            raise translated(error, self._path) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._queue(handle)
        except OSError as error:
            os.close(handle)
            raise translated(error, self._path) from error
        self._handle = handle
        return self

    def _queue(self, handle: int) -> None:
        import _thread

        done = _thread.allocate_lock()
        done.acquire()
        fate = _thread.allocate_lock()
        state = {"waiting": True, "held": False}

        def wait_in_kernel() -> None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                held = True
            except OSError:
                held = False
            with fate:
                state["held"] = held
                if not state["waiting"]:
                    # Nobody waits any more: closing lets the next in the queue have the lock.
                    os.close(handle)
            done.release()

        _thread.start_new_thread(wait_in_kernel, ())
        done.acquire(timeout=self._wait)
        with fate:
            state["waiting"] = False
            if state["held"]:
                return
        raise StoreBusy(
            f"Another process has held {self._path} for {self._wait:g} seconds; nothing was written"
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._handle)
        self._handle = -1
