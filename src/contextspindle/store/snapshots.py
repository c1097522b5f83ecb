"""The snapshot log: an append-only file of checksummed JSON lines, one a save of the fuse.

A line is ``{"check":…,"snapshot":…}``: the check is the SHA-256 of the snapshot's bytes as they
stand in the line.  A torn or altered line fails its check and is passed over; what is not ours is
kept.  Reading goes from the end backwards, because the newest is what is wanted.
"""

from __future__ import annotations

import os

from ..core import canon, text
from ..core.digest import sha256
from ..errors import InvalidInput
from .lock import PATIENCE, Lock
from .private import FILE_MODE, make_folder, refuse_link, sync_folder, translated, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..core.eraser import Eraser

SNAPSHOT_LIMIT = 64 * 1024
"""The most bytes of one snapshot."""
LOG_LIMIT = 32 * 1024 * 1024
"""The most bytes of the log."""
KEEP_MS = 30 * 86_400_000
"""The newest snapshot of each session younger than this is never let go."""
KEEP_SESSIONS = 256
"""Nor is that of so many sessions that saved last, by their places in the log: half the log holds
them at their largest.  A line with the time of a wrong clock cannot make them look old."""

BRIEFLY = 0.8
"""The seconds to wait for another writer where a hook has an answer to give meanwhile."""

_BLOCK = 64 * 1024
_START = b'{"check":"'
_MIDDLE = b'","snapshot":'


class JsonLinesLog:
    """A snapshot log in a file; see :class:`.ports.SnapshotLog`."""

    def __init__(self, path: str, *, limit: int = LOG_LIMIT) -> None:
        self._path = path
        self._limit = limit
        self._read_last: tuple[bytes, dict[str, Any] | None] = (b"", None)

    @property
    def path(self) -> str:
        """Where the log is."""
        return self._path

    def room(self) -> tuple[int, int]:
        """How many bytes the log has, and how many it may have."""
        try:
            return os.stat(self._path).st_size, self._limit
        except OSError:
            return 0, self._limit

    def append(self, snapshot: dict[str, Any], *, brief: bool = False) -> bool:
        """Store the snapshot, durably.  False if the newest of its session says the very same.

        Half a surrogate pair in it, such as the bytes of a path that are no UTF-8, becomes U+FFFD.
        StoreBusy if another writes for longer than :data:`PATIENCE`, or :data:`BRIEFLY`.
        """
        try:
            line = _line(snapshot)
        except UnicodeEncodeError:
            snapshot = canon.decode(text.clean(canon.text(snapshot)))
            line = _line(snapshot)
        make_folder(os.path.dirname(self._path))
        self._refuse_links()
        with Lock(self._path + ".lock", BRIEFLY if brief else PATIENCE):
            known = self.newest(snapshot["session"])
            if known is not None and _content(known) == _content(snapshot):
                return False
            try:
                self._write(line)
            except OSError as error:
                raise translated(error, self._path) from error
        return True

    def _write(self, line: bytes) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        created = not os.path.exists(self._path)
        handle = os.open(self._path, flags, FILE_MODE)
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                line = b"\n" + line  # whoever wrote before was cut off: its line ends here
            if size + len(line) > self._limit:
                self._rewrite(line)
                return
            write_all(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)
        if created:
            sync_folder(os.path.dirname(self._path))

    def _rewrite(self, added: bytes) -> None:
        """A new file with the newest lines that fit, and the newest of each session seen lately.

        Lately is by the places in the log, and by the time of its last line.
        """
        lines = [*self._lines(), added.strip(b"\n")]
        room = self._limit // 2
        seen: set[str] = set()
        kept: list[bytes] = []
        newest = 0
        for line in reversed(lines):
            snapshot = _sound(line)
            if snapshot is not None:
                newest = newest or snapshot["at"]
                late = len(seen) < KEEP_SESSIONS or snapshot["at"] >= newest - KEEP_MS
                must_stay = late and snapshot["session"] not in seen
                seen.add(snapshot["session"])
            else:
                must_stay = not line.startswith(_START)  # not ours to throw away
            room -= len(line) + 1
            if room >= 0 or must_stay:
                kept.append(line)
        self._replace(kept[::-1])

    def prune(self, before: int) -> tuple[int, int]:
        """Let snapshots from before that moment go, but for the newest of each session.

        How many went, and how many stay.  WorkspaceRefused if the log is a symbolic link.
        """
        self._refuse_links()
        if not os.path.exists(self._path):
            return 0, 0
        seen: set[str] = set()
        kept: list[bytes] = []
        gone = stay = 0
        with Lock(self._path + ".lock"):
            for line in reversed(self._lines()):
                snapshot = _sound(line)
                if snapshot is not None:
                    if snapshot["at"] < before and snapshot["session"] in seen:
                        gone += 1
                        continue
                    seen.add(snapshot["session"])
                    stay += 1
                kept.append(line)
            if gone:
                try:
                    self._replace(kept[::-1])
                except OSError as error:
                    raise translated(error, self._path) from error
        return gone, stay

    def purge(self, eraser: Eraser, *, write: bool) -> int:
        """Take a text out of every line; how many held it.  See :class:`.ports.Place`."""
        self._refuse_links()
        if not os.path.exists(self._path):
            return 0
        if not write:
            return sum(_without(line, eraser) != line for line in self._lines())
        with Lock(self._path + ".lock"):
            lines = self._lines()
            bare = [_without(line, eraser) for line in lines]
            held = sum(one != line for one, line in zip(bare, lines))
            try:
                if held:
                    self._replace(bare)
                elif os.path.lexists(self._path + ".new"):
                    os.unlink(self._path + ".new")  # what a crash left may be a copy of older lines
            except OSError as error:
                raise translated(error, self._path) from error
        return held

    def _lines(self) -> list[bytes]:
        with open(self._path, "rb") as file:
            return [line for line in file.read().split(b"\n") if line]

    def _replace(self, lines: list[bytes]) -> None:
        """The log anew, in place of the old one only when it is whole."""
        fresh = self._path + ".new"
        if os.path.lexists(fresh):
            os.unlink(fresh)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, FILE_MODE)
        try:
            write_all(handle, b"".join(line + b"\n" for line in lines))
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(fresh, self._path)
        sync_folder(os.path.dirname(self._path))

    def newest(self, session: str | None = None) -> dict[str, Any] | None:
        """The newest sound snapshot, of ``session`` if given; None if there is none."""
        wanted = canon.encode(session) if session is not None else b""
        for line in self._backwards():
            if wanted not in line:
                continue
            snapshot = self._read(line)
            if snapshot is not None and session in (None, snapshot["session"]):
                return snapshot
        return None

    def all(self) -> Iterator[dict[str, Any]]:
        """Every sound snapshot, the newest first."""
        for line in self._backwards():
            snapshot = self._read(line)
            if snapshot is not None:
                yield snapshot

    def _read(self, line: bytes) -> dict[str, Any] | None:
        """The sound snapshot in a line; it is not to be changed: the newest is asked for again."""
        if line != self._read_last[0]:
            self._read_last = line, _sound(line)
        return self._read_last[1]

    def _refuse_links(self) -> None:
        refuse_link(os.path.dirname(self._path))
        refuse_link(self._path)

    def _backwards(self) -> Iterator[bytes]:
        self._refuse_links()
        try:
            file = open(self._path, "rb")
        except FileNotFoundError:
            return
        except OSError as error:
            raise translated(error, self._path) from error
        with file:
            at = file.seek(0, os.SEEK_END)
            rest = b""
            block = _BLOCK
            while at > 0:
                step = min(block, at)
                at -= step
                file.seek(at)
                lines = (file.read(step) + rest).split(b"\n")
                if len(lines) == 1:
                    block *= 2  # a line longer than all that was read: not one of ours
                rest = lines[0]
                for line in reversed(lines[1:]):
                    if line:
                        yield line
            if rest:
                yield rest


def _line(snapshot: dict[str, Any]) -> bytes:
    body = canon.encode(snapshot)
    if len(body) > SNAPSHOT_LIMIT:
        raise InvalidInput(f"The snapshot has {len(body)} bytes; at most {SNAPSHOT_LIMIT} are kept")
    return b"%b%b%b%b}\n" % (_START, sha256(body).encode(), _MIDDLE, body)


def _sound(line: bytes) -> dict[str, Any] | None:
    body_at = len(_START) + 64 + len(_MIDDLE)
    if not line.startswith(_START) or not line.endswith(b"}"):
        return None
    body = line[body_at:-1]
    if sha256(body).encode() != line[len(_START) : len(_START) + 64]:
        return None
    try:
        found = canon.decode(body)
    except ValueError:
        return None
    sound = isinstance(found, dict) and isinstance(found.get("session"), str)
    return found if sound and isinstance(found.get("at"), int) else None


def _without(line: bytes, eraser: Eraser) -> bytes:
    """A line without a text: a snapshot stays one, with its check made anew."""
    snapshot = _sound(line)
    if snapshot is None:
        return eraser.line(line)
    bare = eraser.walked(snapshot)
    # What the program goes by, whatever words it may share with the text.
    bare.update({name: snapshot[name] for name in ("harness", "task") if name in snapshot})
    draft = bare.get("draft")
    if isinstance(draft, dict) and isinstance(draft.get("items"), list):
        draft["items"] = [
            [*old[:1], new[1], *old[2:4], *new[4:5], *old[5:]]
            if isinstance(old, list) and old[1:]
            else new
            for old, new in zip(snapshot["draft"]["items"], draft["items"])
        ]
    return line if bare == snapshot else _line(bare)[:-1]


def _content(snapshot: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in snapshot.items() if name not in ("at", "trigger")}
