"""Reading a transcript of JSON lines: any file, in bounded memory, without an exception.

A transcript is written by another program, which may be writing it right now, may have been killed
halfway through a line, may have put a picture of 60 MB into one, and may hand us a file of another
size class altogether.  What can be used is used; what cannot is counted, never raised.

Two sizes govern a line: longer than :data:`SHRINK` it loses its pictures, and one that is still
longer than :data:`LONGEST` is passed over.  A file longer than head and tail together is read
``frugally`` in between: the adapter then looks at those lines only for what the human said, and
farther from the end than :data:`FRUGAL` they are only counted, so that pointers stay right.

Time governs the rest.  The end of a file is worth more than its middle, so whoever must be done by
a moment says so (:meth:`Transcript.within`): a reading that falls behind leaves out what lies
between, goes on nearer to the end, and tells how many bytes it left out.
"""

from __future__ import annotations

import os

from ..core import canon, digest
from ..core.transcript import Reading
from ..errors import TranscriptUnreadable, in_words
from .payloads import is_named_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    from ..core.transcript import Turn
    from .documents import Document

    class Parser(Protocol):
        """What an adapter gives: a pure reader of one session's objects, in file order."""

        known: int
        """How many objects were of a kind that this adapter knows."""
        held: dict[int, str]
        """The lines it holds back, each with its seal, which the reader fills in."""

        def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
            """The turns of one object; an empty list for an object that says nothing."""

        def finish(self) -> list[Turn]:
            """The turns that were held back until it was clear that nothing follows."""

        def session(self, entry: dict[str, Any]) -> str:
            """The session that the object names, or an empty string."""


CHUNK = 1 << 18
SHRINK = 2 << 20
LONGEST = 8 << 20
HEAD = 2 << 20
TAIL = 10 << 20
FRUGAL = 192 << 20
"""Of the part between head and tail, at most so many bytes (the last ones) are looked at."""

LATE, LATEST = 0.6, 0.4
"""Shares of the time: with less left, only what is near the end is read; then only the tail."""
GLIMPSE = 48 << 20
"""What is near, then."""
LEAST = 256 << 10
"""The least tail, however slow reading is."""
COUNTED = 32 << 20
"""What is left out for want of time is still counted if it is no more than this."""

SEAL = 16


def open_transcript(path: str) -> int:
    """A file descriptor of the regular file ``path``; TranscriptUnreadable for anything else."""
    try:
        # A fifo would block here for ever without the flag.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise TranscriptUnreadable(
            f"The transcript {path!r} cannot be opened: {in_words(error)}."
        ) from None
    import stat

    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise TranscriptUnreadable(f"The transcript {path!r} is not a file.")
    return file


def without_pictures(line: bytes) -> bytes:
    """``line`` without its long runs of base64, which are pictures and documents, never talk."""
    import re

    return re.sub(rb"[A-Za-z0-9+/]{2048,}={0,2}", b"", line)


class _Joined:
    """One line that arrives in pieces, kept short while it grows."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0
        self.shrunk = False
        self.dropped = False

    def add(self, piece: bytes) -> None:
        if self.dropped:
            return
        self.pieces.append(piece)
        self.size += len(piece)
        if self.size > SHRINK:
            self.pieces = [without_pictures(b"".join(self.pieces))]
            self.shrunk = True
            self.size = len(self.pieces[0])
            if self.size > LONGEST:
                self.dropped = True
                self.pieces = []


class _Plan:
    """Which part of a file is read how: the head with care, what is far from the end not at all,
    what is near frugally, the tail with care again.

    ``left`` tells the seconds that remain.  When they run short the tail becomes what can be read
    in them at the speed seen so far, and everything before it counts for less.
    """

    def __init__(self, size: int, left: Callable[[], float] | None) -> None:
        self.size = size
        self.left = left
        self.head = HEAD
        self.tail = size - TAIL
        self.near = self.tail - FRUGAL
        self.allowed = self.before = left() if left else 0.0
        self.at = self.bytes = 0
        self.seconds = 0.0

    def is_frugal(self, at: int) -> bool:
        return self.head <= at < self.tail

    def is_far(self, at: int) -> bool:
        return self.head <= at < self.near

    def onward(self, at: int) -> int:
        """Where to go on: at ``at``, or ahead of it if time runs short."""
        if self.left is None:
            return at
        left = self.left()
        if not self.is_frugal(self.at):
            self.bytes += at - self.at
            self.seconds += self.before - left
        self.at, self.before = at, left
        if left >= LATE * self.allowed or not at:
            return at
        readable = int(self.bytes / max(self.seconds, 0.001) * left * LATE)
        self.tail = max(self.tail, self.size - max(readable, LEAST))
        self.near = max(self.near, self.tail - GLIMPSE)
        self.head = 0
        wanted = self.near if left >= LATEST * self.allowed else self.tail
        self.at = max(at, wanted)
        return self.at


class Raw:
    """The lines of one file as bytes, once, in order, up to the size it had when it was opened.

    ``skipped`` counts the bytes that were not looked at.  Line numbers from ``guessed`` on (0:
    none) are an estimate, because there was no time to count what lies before: only their order is
    sure.
    """

    def __init__(self, path: str) -> None:
        self.file = open_transcript(path)
        self.size = os.fstat(self.file).st_size
        self.left: Callable[[], float] | None = None
        self.lines = 0
        self.oversized = 0
        self.skipped = 0
        self.guessed = 0
        self.ends_open = False
        self.out_of_time: Callable[[], bool] = bool  # called without an argument, it says no
        self.stopped = False

    def __iter__(self) -> Iterator[tuple[int, bytes, bool, bool]]:
        """Number, bytes without the line feed, whether ``whole``, whether ``frugal``."""
        try:
            yield from self._lines()
        except OSError:  # a disk or network error halfway: what was read stands
            return
        finally:
            os.close(self.file)

    def _lines(self) -> Iterator[tuple[int, bytes, bool, bool]]:
        plan = _Plan(self.size, self.left)
        at = 0
        joined = _Joined()
        started = lost = False  # amid a line; amid one whose start was not read
        while at < self.size:
            target = plan.onward(at)
            if target > at:
                # From the byte before: if it ends a line, the line behind it is a whole one.
                self._leave_out(at, target - 1)
                at = target - 1
                joined, started, lost = _Joined(), False, True
            chunk = os.read(self.file, min(CHUNK, self.size - at))
            if not chunk:
                break
            if self.out_of_time():  # between two turns there may be a gigabyte of something else
                self.stopped = True
                return
            far, frugal = plan.is_far(at), plan.is_frugal(at)
            at += len(chunk)
            if far:
                # Too much to look at: only the count goes on, so that pointers stay right.
                self.lines += chunk.count(b"\n")
                self.skipped += len(chunk)
                joined, started, lost = _Joined(), False, not chunk.endswith(b"\n")
                continue
            pieces = chunk.split(b"\n")
            rest = pieces.pop()
            if pieces and (started or lost):
                self.lines += 1
                if started:
                    joined.add(pieces[0])
                    if joined.dropped:
                        self.oversized += 1
                    else:
                        yield self.lines, b"".join(joined.pieces), not joined.shrunk, frugal
                joined, started, lost = _Joined(), False, False
                del pieces[0]
            for piece in pieces:
                self.lines += 1
                yield self.lines, piece, True, frugal
            if rest and not lost:
                joined.add(rest)
                started = True
        if started:
            self.ends_open = True
            self.lines += 1
            if joined.dropped:
                self.oversized += 1
                return
            yield self.lines, b"".join(joined.pieces), not joined.shrunk, False

    def _leave_out(self, at: int, target: int) -> None:
        """Go on at ``target``, with the count of the lines before it if that is cheap."""
        self.skipped += target - at
        if target - at > COUNTED:
            self.lines += (target - at) * self.lines // at
            self.guessed = self.guessed or self.lines + 1
            os.lseek(self.file, target, os.SEEK_SET)
            return
        while at < target and (chunk := os.read(self.file, min(CHUNK, target - at))):
            self.lines += chunk.count(b"\n")
            at += len(chunk)


def objects(
    line: bytes, scan: Callable[[str, int], tuple[Any, int]] = canon.scan
) -> tuple[list[dict[str, Any]], bool]:
    """The JSON objects of one line, two that are glued together too; and whether all was read.

    A byte order mark before them is no part of them, and a number that JSON does not have is None.
    """
    source = line.decode("utf-8", "replace").removeprefix("\ufeff")
    found: list[dict[str, Any]] = []
    at, end = 0, len(source)
    try:
        while at < end:
            value, at = scan(source, at)
            if isinstance(value, dict):
                found.append(value)
            while at < end and source[at] in " \t\r\n\0":
                at += 1
    except (ValueError, MemoryError):
        if scan is canon.scan:  # rarely a number is all that is wrong
            return objects(line, canon.scan_leniently)
        return found, False
    return found, True


def is_called_after(path: str, session: str) -> bool:
    """Whether the file ``path``, or a folder above it, has the name of the session."""
    return is_named_after(path, session) or session in path.split("/")


class Transcript:
    """The turns of one session in a file of JSON lines: iterate it once, then ask ``reading``.

    With a ``session``, entries of another one are passed over and counted.  One exception is real:
    a fork, a resume, or a plan sent into a fresh context begins its file with the entries it goes
    on from, under the old id.  So what stands before our own first entry is ``inherited`` and used
    if the adapter says that the other session ``precedes`` ours, or that this one entry
    ``hands_over`` to it.  Entries of a second session that go on beside ours never are.  A file
    that names other sessions and never ours holds nothing of it, unless it is called after it.

    Nothing in the file makes this raise; only opening it can (TranscriptUnreadable).
    """

    def __init__(
        self,
        path: str,
        parser: Parser,
        session: str = "",
        worth: Callable[[bytes, bool], bool] = lambda line, frugal: bool(line),
        precedes: Callable[[str, str, str], bool] = lambda path, own, old: False,
        hands_over: Callable[[dict[str, Any]], bool] = lambda entry: False,
        raw: Document | None = None,
        called: str = "",
        cuts_back: bool = False,
    ) -> None:
        """``raw`` gives the messages, if they do not stand in the file ``path``.

        ``called`` is the session that the name of the file tells, where it tells one;
        ``cuts_back`` says that the program takes lines off its end when the human goes back.
        """
        from .documents import opened

        self.path = path
        self.parser = parser
        self.session = session
        self.worth = worth
        self.precedes = precedes
        self.hands_over = hands_over
        self.raw = raw or opened(path)
        self.called = called
        self.cuts_back = cuts_back
        self.inherited = self.foreign = self.unreadable = self.first_bad = self.unparsed = 0
        self.torn = False
        self._met_own = False
        self._heritage: dict[str, bool] = {}
        self._origin = ""

    def within(self, left: Callable[[], float]) -> Transcript:
        """This transcript, to be read up to its end while ``left`` still gives seconds.

        What there is no time for is the part before the end; ``reading`` tells how much.
        """
        self.raw.left = left
        return self

    def up_to(self, end: int) -> Transcript:
        """This transcript as it was when it had ``end`` bytes."""
        self.raw.size = min(self.raw.size, end)
        self.cuts_back = True
        return self

    def tells(self, text: str, after: int) -> bool:
        """Whether ``text`` stands in the file behind byte ``after``, as a part of a string."""
        from .looks import stands_in

        return stands_in(self.path, canon.encode(text)[1:-1], after)

    def _is_ours(self, entry: dict[str, Any]) -> bool:
        told = self.parser.session(entry)
        if not told or not self.session or told == self.session:
            self._met_own = self._met_own or bool(told)
            return True
        if not self._met_own:
            if told not in self._heritage:
                self._heritage[told] = self.precedes(self.path, self.session, told)
            if self._heritage[told] or self.hands_over(entry):
                self.inherited += 1
                self._origin = told
                return True
        self.foreign += 1
        return False

    def __iter__(self) -> Iterator[Turn]:
        for number, line, whole, frugal in self.raw:
            if not self.worth(line, frugal):
                self.unparsed += frugal
                continue
            entries, readable = objects(line)
            if not readable:
                if self.raw.ends_open:
                    self.torn = True
                else:
                    self.unreadable += 1
                    self.first_bad = self.first_bad or number
            seal = ""
            for entry in entries:
                if not self._is_ours(entry):
                    continue
                try:
                    turns = self.parser.turns(number, entry)
                except (TypeError, ValueError, AttributeError, LookupError, RecursionError):
                    # A shape nobody has met.  One strange line must not cost the session.
                    self.unreadable += 1
                    self.first_bad = self.first_bad or number
                    continue
                if whole and not seal and (turns or number in self.parser.held):
                    seal = digest.sha256(line)[:SEAL]
                if number in self.parser.held:
                    self.parser.held[number] = seal
                for turn in turns:
                    sealed = turn.seal or turn.line != number
                    yield turn if sealed else turn._replace(seal=seal)
        yield from self.parser.finish()

    def keep_to(self, out_of_time: Callable[[], bool]) -> None:
        """Stop reading once ``out_of_time`` says so; then ``stopped`` is true."""
        self.raw.out_of_time = out_of_time

    @property
    def stopped(self) -> bool:
        """Whether the time ran out before the end of the file."""
        return self.raw.stopped

    @property
    def _is_of_others(self) -> bool:
        if not self.session or self._met_own or not (self.foreign or self.inherited or self.called):
            return False
        return not (any(self._heritage.values()) or is_called_after(self.path, self.session))

    @property
    def reading(self) -> Reading:
        """How it went, complete once the iteration has ended."""
        return Reading(
            lines=self.raw.lines,
            bytes=self.raw.size,
            known=0 if self._is_of_others else self.parser.known,
            inherited=self.inherited,
            foreign=self.foreign,
            unreadable=self.unreadable,
            first_bad=self.first_bad,
            oversized=self.raw.oversized,
            unparsed=self.unparsed,
            skipped=self.raw.skipped,
            guessed=self.raw.guessed,
            torn=self.torn,
            origin=self._origin,
        )
