"""Gemini CLI's lines as turns.

An entry may come again with more in it, mostly at once: its words are told when another entry
follows, or a call of its own.  A conversation may be set anew as a whole: what was said before is
told once.  The human may go back to before an entry, and say something else there.
"""

from __future__ import annotations

from ..core.text import clean
from ..core.transcript import BACK, BOUNDARY, PROMPT, SAID, SUMMARY, TEXT, Turn
from . import claude_shapes as shapes
from .claude_shapes import own_words, tagged
from .qwen_code import response
from .tools import Calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEPT = 2_000  # entries whose coming again is noticed
_NOT_SAID = ("<session_context>", "<hook_context>", "<state_snapshot>")
_ENDED = ("success", "error", "cancelled")


class Parser:
    """Turns one session's lines, in file order, into turns."""

    def __init__(self) -> None:
        self.known = 0
        self.held: dict[int, str] = {}
        self._calls = Calls("run_shell_command", "replace write_file edit", "", "write_todos")
        self._told: dict[str, None] = {}
        self._lines: dict[str, int] = {}  # where each entry stood first
        self._words: tuple[str, Turn] | None = None  # those of the entry at hand, with its key

    def session(self, entry: dict[str, Any]) -> str:
        """The session that a file's own head names; the other lines name none."""
        return shapes.string(entry.get("sessionId"))

    def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        """The turns of one line: none for one that says nothing new."""
        if isinstance(entry.get("$set"), dict):
            return [*self.finish(), *self._set(line, entry["$set"])]
        if "$rewindTo" in entry:
            return self._go_back(line, shapes.string(entry["$rewindTo"]))
        kind, key = entry.get("type"), shapes.string(entry.get("id"))
        if kind not in ("user", "gemini") or not key:
            return []
        self.known += 1
        before = self.finish() if self._words is not None and self._words[0] != key else []
        if key not in self._lines:
            self._lines[key] = line
            if len(self._lines) > _KEPT:
                del self._lines[next(iter(self._lines))]
        if kind == "user":
            self._hold(key, Turn(line, SAID, _spoken(entry), via=PROMPT))
            return before
        self._hold(key, Turn(line, TEXT, own_words("\n".join(_texts(entry.get("content"))))))
        called, turns = entry.get("toolCalls"), []
        for one in called if isinstance(called, list) else ():
            if isinstance(one, dict):
                turns += self._call(line, one)
        return [*before, *self.finish(), *turns] if turns else before

    def finish(self) -> list[Turn]:
        """The words of the last entry, which did not come again."""
        held, self._words = self._words, None
        if held is None:
            return []
        key, words = held
        seal = self.held.pop(words.line, "")
        return [words._replace(seal=seal)] if self._is_new(key) else []

    def _hold(self, key: str, words: Turn) -> None:
        """Keep what an entry says until it is clear that it does not come again."""
        if not words.text or key in self._told:
            return
        self.held.clear()
        self.held[words.line] = ""
        self._words = (key, words)

    def _go_back(self, line: int, key: str) -> list[Turn]:
        """The human took back the entry ``key`` and all behind it; of one not met, nothing."""
        first = self._lines.get(key)
        if first is None:
            return []
        self.known += 1
        self._words = None
        self.held.clear()
        self._lines = {one: at for one, at in self._lines.items() if at < first}
        return [Turn(line, BACK, about=str(first))]

    def _is_new(self, key: str) -> bool:
        if key in self._told:
            return False
        self._told[key] = None
        if len(self._told) > _KEPT:
            del self._told[next(iter(self._told))]
        return True

    def _call(self, line: int, called: dict[str, Any]) -> list[Turn]:
        key = shapes.string(called.get("id"))
        turns = []
        if self._is_new(f"{key} call"):
            turns += self._calls.call(
                line, shapes.string(called.get("name")), key, called.get("args")
            )
        status = called.get("status")
        if status in _ENDED and self._is_new(f"{key} result"):
            texts, wrong = [], status != "success"
            results = called.get("result")
            for part in results if isinstance(results, list) else ():
                answer = part.get("functionResponse") if isinstance(part, dict) else None
                if isinstance(answer, dict):
                    text, failed = response(answer.get("response"))
                    texts.append(_printed(text))
                    wrong = wrong or failed
            turns += self._calls.result(line, key, "\n".join(texts), failed=wrong)
        return turns

    def _set(self, line: int, changed: dict[str, Any]) -> list[Turn]:
        """A conversation set anew: a compression, if it holds a snapshot that was not there."""
        found = snapshot(changed)
        if found is None:
            return []
        self.known += 1
        key, text = found
        if not self._is_new(key):
            return []
        summary = own_words(tagged(text, "state_snapshot"))
        told = [Turn(line, SUMMARY, summary)] if summary else []
        return [Turn(line, BOUNDARY), *told]


def snapshot(changed: dict[str, Any]) -> tuple[str, str] | None:
    """The id and the text of the snapshot in a conversation that is set anew, if there is one."""
    messages = changed.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict) or message.get("type") != "user":
            continue
        for text in _texts(message.get("content")):
            if text.startswith("<state_snapshot>"):
                return shapes.string(message.get("id")), text
    return None


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [
        shapes.string(part.get("text"))
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and not part.get("thought")
    ]


def _spoken(entry: dict[str, Any]) -> str:
    """What the human typed: as it was shown, where the entry tells, without what hooks added."""
    texts = _texts(entry.get("displayContent")) or _texts(entry.get("content"))
    kept = [shapes.without(text, "hook_context").strip("\n") for text in texts]
    return own_words("\n".join(text for text in kept if text and not text.startswith(_NOT_SAID)))


def _printed(text: str) -> str:
    """A tool's output without the frame that the program puts around it."""
    text = shapes.without(text, "hook_context")
    return clean(
        text.replace("<untrusted_context>", "").replace("</untrusted_context>", "").strip()
    )
