"""The prompt queue of Claude Code: what the human typed while the agent worked.

The file says when something enters the queue, and rarely what leaves it.  ``remove`` takes an
entry into the running turn, often with no other trace of it; ``dequeue`` as a prompt, or an
attachment, that follows with the same words.  The human's words go before the notices of the
harness, which share the queue with them.  ``popAll`` gives everything back to the human for
editing: that was never said.
"""

from __future__ import annotations

from ..core.transcript import QUEUED, SAID, Turn

_KEPT = 400


class Queue:
    """Prompts on their way.  Each one comes out once, by whichever way it is seen first."""

    def __init__(self) -> None:
        self.held: dict[int, str] = {}
        """The lines of the waiting entries, each with its seal, which the reader fills in."""
        self._waiting: list[tuple[int, str]] = []
        self._out: dict[str, int] = {}

    def put(self, line: int, words: str) -> list[Turn]:
        """An entry joins; without words it only takes a place.  What overflows comes out."""
        self._waiting.append((line, words))
        self.held[line] = ""
        return self._take(0) if len(self._waiting) > _KEPT else []

    def pull_back(self) -> None:
        """The human took everything back."""
        self._waiting = []
        self.held.clear()

    def deliver(self, words: str = "") -> list[Turn]:
        """One entry goes out: the one with these words, else the oldest that has any."""
        if not self._waiting:
            return []
        entries = [text for _, text in self._waiting]
        if words and words in entries:
            return self._take(entries.index(words))
        return self._take(next((at for at, text in enumerate(entries) if text), 0))

    def delivered(self, words: str) -> bool:
        """Whether a prompt with these words was told already, as it went out of the queue.

        If it still waits, it goes out now, untold: the entry at hand is the better source.
        """
        times = self._out.pop(words, 0)
        if times:
            if times > 1:
                self._out[words] = times - 1
            return True
        for at, (line, text) in enumerate(self._waiting):
            if text == words:
                del self._waiting[at]
                self.held.pop(line, None)
                break
        return False

    def flush(self) -> list[Turn]:
        """Everything that still waits."""
        turns: list[Turn] = []
        while self._waiting:
            turns += self._take(0)
        return turns

    def _take(self, at: int) -> list[Turn]:
        line, words = self._waiting.pop(at)
        seal = self.held.pop(line, "")
        if not words:
            return []
        self._out[words] = self._out.get(words, 0) + 1
        if len(self._out) > _KEPT:
            del self._out[next(iter(self._out))]
        return [Turn(line, SAID, words, via=QUEUED, seal=seal)]
