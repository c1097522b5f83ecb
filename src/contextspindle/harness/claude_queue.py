"""The prompt queue of Claude Code: what the human typed while the agent worked.

The file says when something enters the queue, and rarely what leaves it.  ``remove`` takes an
entry into the running turn, often with no other trace of it; ``dequeue`` as a prompt, or an
attachment, that follows with the same words: that one is where they were said, and in a forked
session the whole history stands in between.  The human's words go before the notices of the
harness, which share the queue with them.  ``popAll`` gives everything back to the human for
editing: that was never said, and neither was what a hook kept from the agent.
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
        self._leaving: list[tuple[int, str]] = []
        self._out: dict[str, int] = {}

    def put(self, line: int, words: str) -> list[Turn]:
        """An entry joins; without words it only takes a place.  What overflows comes out."""
        told = self._tell_leaving()
        self._waiting.append((line, words))
        self.held[line] = ""
        return told + (self._take(0) if len(self._waiting) > _KEPT else [])

    def pull_back(self) -> list[Turn]:
        """The human took everything back that was not on its way yet."""
        told = self._tell_leaving()
        self._waiting = []
        self.held.clear()
        return told

    def deliver(self, words: str = "") -> list[Turn]:
        """One entry goes out: the one with these words, else the oldest that has any."""
        told = self._tell_leaving()
        return told + self._take(self._next(words)) if self._waiting else told

    def drop(self, words: str) -> list[Turn]:
        """The entry with these words goes without reaching the agent; of others none does."""
        told = self._tell_leaving()
        for at, (line, text) in enumerate(self._waiting):
            if text == words:
                del self._waiting[at]
                self.held.pop(line, None)
                break
        return told

    def leave(self, words: str = "") -> list[Turn]:
        """One entry, chosen so, is on its way to the prompt that follows.

        If no prompt has come when the queue moves again, it comes out then.
        """
        told = self._tell_leaving()
        if self._waiting:
            self._leaving.append(self._waiting.pop(self._next(words)))
        return told

    def _next(self, words: str) -> int:
        entries = [text for _, text in self._waiting]
        if words and words in entries:
            return entries.index(words)
        return next((at for at, text in enumerate(entries) if text), 0)

    def _tell_leaving(self) -> list[Turn]:
        turns: list[Turn] = []
        while self._leaving:
            turns += self._told(*self._leaving.pop(0))
        return turns

    def delivered(self, words: str) -> bool | None:
        """Whether a prompt with these words was told already, as it went out of the queue.

        False if it goes out only now, untold, because the entry at hand is the better source; None
        if it never was in the queue.
        """
        times = self._out.pop(words, 0)
        if times:
            if times > 1:
                self._out[words] = times - 1
            return True
        for entries in (self._leaving, self._waiting):
            for at, (line, text) in enumerate(entries):
                if text == words:
                    del entries[at]
                    self.held.pop(line, None)
                    return False
        return None

    def flush(self) -> list[Turn]:
        """Everything that is on its way, and that still waits."""
        turns = self._tell_leaving()
        while self._waiting:
            turns += self._take(0)
        return turns

    def _take(self, at: int) -> list[Turn]:
        return self._told(*self._waiting.pop(at))

    def _told(self, line: int, words: str) -> list[Turn]:
        seal = self.held.pop(line, "")
        if not words:
            return []
        self._out[words] = self._out.get(words, 0) + 1
        if len(self._out) > _KEPT:
            del self._out[next(iter(self._out))]
        return [Turn(line, SAID, words, via=QUEUED, seal=seal)]
