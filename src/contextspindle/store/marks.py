"""Marks: how far a session's transcript reached when a compaction may have been about to follow.

One small file a session, with one number in it.  That there is none is the answer most hooks get,
so it costs the look for a name.  Whoever takes a mark holds it locked until it is settled or left,
so that of two hooks of one moment one hands over, and a mark outlives whoever was killed meanwhile.
Session ids are unique, so marks need no workspace, and none is made for them.
"""

from __future__ import annotations

import fcntl
import os

from ..core.digest import sha256
from .private import replace_file, sync_folder, translated

KEEP_SECONDS = 30 * 86_400
"""After so long nobody comes back to a session."""


class Mark:
    """A mark that was taken; nobody else has it until it is settled or left."""

    def __init__(self, path: str, handle: int, after: int) -> None:
        self._path = path
        self._handle = handle
        self.after = after

    def settle(self) -> None:
        """The mark is gone, durably."""
        try:
            os.unlink(self._path)
            sync_folder(os.path.dirname(self._path))
        except OSError as error:
            raise translated(error, self._path) from error
        finally:
            self.leave()

    def leave(self) -> None:
        """The mark stays, for the next one to take it."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


class Marks:
    """The marks of all sessions, in a folder; see :class:`.ports.Marks`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def set(self, session: str, after: int) -> None:
        """A mark at byte ``after``, the end of the transcript, durable.

        An older one stays, because it is not yet settled; but for one that lies behind the end: the
        transcript was cut since, and nothing would ever stand behind such a mark.
        """
        if (there := self.take(session)) is not None:
            there.leave()
            if there.after <= after:
                return
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise translated(error, self._folder) from error
        replace_file(self._path(session), b"%d\n" % after)

    def has(self, session: str) -> bool:
        """Whether there is a mark of a session, as far as can be seen without waiting for it."""
        return os.path.lexists(self._path(session))

    def take(self, session: str) -> Mark | None:
        """The mark of a session, once nobody else has it; None if there is none, or none left."""
        path = self._path(session)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise translated(error, path) from error
        fcntl.flock(handle, fcntl.LOCK_EX)
        content = os.pread(handle, 40, 0).rstrip()
        if os.fstat(handle).st_nlink and content.isdigit():
            return Mark(path, handle, int(content))
        os.close(handle)
        return None

    def sweep(self, now: float) -> None:
        """Let the marks go whose sessions nobody has come back to; nothing is raised."""
        try:
            for name in os.listdir(self._folder):
                path = os.path.join(self._folder, name)
                if os.stat(path).st_mtime < now - KEEP_SECONDS:
                    os.unlink(path)
        except OSError:
            return

    def _path(self, session: str) -> str:
        return os.path.join(self._folder, sha256(session.encode("utf-8", "replace"))[:32])
