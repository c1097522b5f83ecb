"""Gemini CLI's lines as turns.

An entry may come again with more in it, and a conversation be set anew as a whole: what was said
before is told once.
"""

from __future__ import annotations

from ..core.text import clean
from ..core.transcript import BOUNDARY, PROMPT, SAID, SUMMARY, TEXT, Turn
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

    def session(self, entry: dict[str, Any]) -> str:
        """The session that a file's own head names; the other lines name none."""
        return shapes.string(entry.get("sessionId"))

    def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        """The turns of one line: none for one that says nothing new."""
        if isinstance(entry.get("$set"), dict):
            return self._set(line, entry["$set"])
        kind, key = entry.get("type"), shapes.string(entry.get("id"))
        if kind not in ("user", "gemini") or not key:
            return []
        self.known += 1
        if kind == "user":
            words = _spoken(entry)
            new = words and self._is_new(key)
            return [Turn(line, SAID, words, via=PROMPT)] if new else []
        words = own_words("\n".join(_texts(entry.get("content"))))
        turns = [Turn(line, TEXT, words)] if words and self._is_new(f"{key} text") else []
        called = entry.get("toolCalls")
        for one in called if isinstance(called, list) else ():
            if isinstance(one, dict):
                turns += self._call(line, one)
        return turns

    def finish(self) -> list[Turn]:
        """Nothing is held back."""
        return []

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
