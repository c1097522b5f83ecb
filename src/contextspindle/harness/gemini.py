"""Gemini CLI: its sessions, in which an entry may come again with more, and its hook protocol.

There is no event after a compression, and the one before it comes at every turn of the model.  What
tells of a real one is a line that sets the conversation anew, with a snapshot of the state in it.
"""

from __future__ import annotations

import os

from ..core.text import clean
from ..core.transcript import (
    BOUNDARY,
    PROMPT,
    SAID,
    SUMMARY,
    TEXT,
    Event,
    Turn,
)
from ..errors import EventUnknown
from . import claude_shapes as shapes
from .claude_shapes import own_words, tagged
from .lines import Transcript, summary_behind
from .payloads import is_plain_name
from .qwen_code import response
from .tools import Calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "gemini"

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
        messages = changed.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if not isinstance(message, dict) or message.get("type") != "user":
                continue
            for text in _texts(message.get("content")):
                if text.startswith("<state_snapshot>"):
                    self.known += 1
                    if not self._is_new(shapes.string(message.get("id"))):
                        return []
                    summary = own_words(tagged(text, "state_snapshot"))
                    told = [Turn(line, SUMMARY, summary)] if summary else []
                    return [Turn(line, BOUNDARY), *told]
        return []


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


def find(config_dir: str, session: str, cwd: str = "") -> str | None:
    """The newest transcript of ``session`` under the harness's folder ``config_dir``, or None."""
    if not is_plain_name(session):
        return None
    found = []
    root = os.path.join(config_dir, "tmp")
    ending = f"-{session[:8]}.jsonl"
    for folder, _, files in os.walk(root):
        if os.path.basename(folder) == "chats":
            found += [
                os.path.join(folder, name)
                for name in files
                if name.startswith("session-") and name.endswith(ending)
            ]
    return max(found, key=os.path.basename, default=None)


def worth(line: bytes, frugal: bool) -> bool:
    """Whether ``line`` may hold a turn: a guess from its bytes that never misses one."""
    if line.startswith(b'{"$set":{'):
        return b"<state_snapshot>" in line
    head = line[:200]
    if b'"type":"info"' in head or b'"type":"warning"' in head:
        return False
    return len(line) > 1 and (not frugal or b'"type":"user"' in head)


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be a line of this harness."""
    if "projectHash" in entry:
        return "sessionId" in entry
    return entry.get("type") == "gemini" and "id" in entry and "content" in entry


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in the transcript ``path``, and then how the reading went.

    TranscriptUnreadable if there is no such file; what stands in it never raises.
    """
    return Transcript(path, Parser(), session, worth)


def summary(path: str, session: str, after: int) -> str:
    """The harness's own summary that the transcript holds behind byte ``after``, if any."""
    return summary_behind(path, after, b"<state_snapshot>", Parser())


def forked_from(path: str, session: str) -> None:
    """None: nothing in such a transcript says so."""


def steps(path: str, session: str) -> None:
    """None: there is no list beside such a transcript."""


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """The settings of the user, or of a project: there is no personal file within a project."""
    folder = config_dir if scope == "user" else os.path.join(project, ".gemini")
    return os.path.join(folder, "settings.json")


HOOKS: tuple[tuple[str, str, int, str], ...] = ()
"""None yet: sessions are saved by hand."""


def parse_event(payload: object) -> Event:
    """EventUnknown: sessions of this harness are saved by hand."""
    raise EventUnknown("Hooks of Gemini CLI are not answered.")


def injection(text: str, event: Event) -> str:
    """The text as it is: there is no document to wrap it in."""
    return text
