"""A canary: a mark that the next restored text carries, by which it is known again on its way.

It is a small file beside the ledger, there while the canary is armed and gone afterwards.  A mark
is given out once, to one session, and none is given out after an hour; nothing of it is in the
ledger or in a snapshot.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.value import Value
from ..errors import SpindleError
from .private import replace_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ARMED_MS = 3_600_000
"""How long a canary stays armed."""


class Bird(Value):
    """A canary as it stands; ``handed`` is 0 until its mark was given out."""

    word: str
    armed: int
    handed: int = 0
    session: str = ""
    harness: str = ""
    transcript: str = ""
    after: int = 0
    """The bytes that the transcript had when the mark was given out."""

    def until(self) -> int:
        """When it is over."""
        return self.armed + ARMED_MS


class Canary:
    """The canary of a workspace.  A hook may ask for it: looking and giving out never raise."""

    def __init__(self, path: str) -> None:
        self._path = path

    def bird(self) -> Bird | None:
        """The canary, if there is one; a file that is damaged is none."""
        try:
            with open(self._path, "rb") as file:
                found: Any = canon.decode(file.read(1 << 16))
            bird = Bird(**found)
        except (OSError, ValueError, TypeError):
            return None
        kinds = (str, int, int, str, str, str, int)
        return bird if all(type(one) is kind for one, kind in zip(bird, kinds)) else None

    def arm(self, word: str, now: int) -> Bird:
        """A new canary, in place of any other.  StoreError if it cannot be written."""
        bird = Bird(word, now)
        self._put(bird)
        return bird

    def line(self, now: int) -> str:
        """The line that is to be in the text that is restored now; mostly empty."""
        if not os.path.lexists(self._path):
            return ""
        bird = self.bird()
        if bird is None or bird.handed or not bird.armed <= now < bird.until():
            return ""
        return f"Mark {bird.word}: a test of 'contextspindle doctor --canary', nothing to do."

    def given(self, now: int, session: str, harness: str, transcript: str) -> None:
        """Note who was given the mark, and how long the transcript was by then."""
        bird = self.bird()
        if bird is None:
            return
        try:
            after = os.stat(transcript).st_size if transcript else 0
        except (OSError, ValueError):
            after = 0
        try:
            self._put(
                bird._replace(
                    handed=now, session=session, harness=harness, transcript=transcript, after=after
                )
            )
        except (SpindleError, OSError):
            pass  # the agent's text comes first

    def end(self) -> None:
        """No canary any more."""
        try:
            os.unlink(self._path)
        except OSError:
            pass

    def _put(self, bird: Bird) -> None:
        replace_file(self._path, canon.encode(bird._asdict()) + b"\n")


def arrived(bird: Bird) -> bool:
    """Whether the mark stands in the transcript behind the place where it was given out.

    In a text of its own, that is: a harness may also write down what the hook printed, whether or
    not anybody was given it.  OSError if the transcript cannot be read.
    """
    word = bird.word.encode()
    with open(bird.transcript, "rb") as file:
        if os.fstat(file.fileno()).st_size >= bird.after:
            file.seek(bird.after)
        for line in file:
            if word in line and _told(line, bird.word):
                return True
    return False


def _told(line: bytes, word: str) -> bool:
    try:
        waiting: list[Any] = [canon.decode(line)]
    except ValueError:
        return False  # the last line may still be in the making
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str) and word in one and '"additionalContext"' not in one:
            return True
    return False
