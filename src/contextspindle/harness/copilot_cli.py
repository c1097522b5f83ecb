"""GitHub Copilot CLI: its event log, and its hook protocol with names of its own.

An event says by its type what happened; a compaction is told when it is complete, and may run while
the turn goes on.  A hook's payload names no transcript but before a compaction and at a stop.
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
from .claude_shapes import own_words
from .lines import Transcript, summary_behind
from .payloads import is_plain_name
from .tools import Calls, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "copilot-cli"

_KINDS = (
    "session.start",
    "session.resume",
    "session.context_changed",
    "session.compaction_complete",
    "user.message",
    "assistant.message",
    "tool.execution_complete",
)


class Parser:
    """Turns one session's events, in file order, into turns."""

    def __init__(self) -> None:
        self.known = 0
        self.held: dict[int, str] = {}
        self._calls = Calls(
            "bash shell powershell", "edit create str_replace_editor apply_patch", "task", ""
        )
        self._place: dict[str, str] = {}

    def session(self, entry: dict[str, Any]) -> str:
        """The session that the log's own head names; the other events name none."""
        data = entry.get("data")
        if entry.get("type") != "session.start" or not isinstance(data, dict):
            return ""
        return shapes.string(data.get("sessionId"))

    def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        """The turns of one event: none for one that says nothing."""
        kind, data = entry.get("type"), entry.get("data")
        if kind not in _KINDS or not isinstance(data, dict):
            return []
        self.known += 1
        if kind == "user.message":
            words = own_words(shapes.string(data.get("content")))
            return [Turn(line, SAID, words, via=PROMPT)] if words else []
        if kind == "assistant.message":
            return self._assistant(line, data)
        if kind == "tool.execution_complete":
            return self._result(line, data)
        if kind == "session.compaction_complete":
            if not data.get("success"):
                return []
            summary = own_words(shapes.string(data.get("summaryContent")))
            turns = [Turn(line, BOUNDARY)]
            return [*turns, Turn(line, SUMMARY, summary)] if summary else turns
        context = data.get("context")
        known = context if isinstance(context, dict) else data
        return [
            *place(line, "branch", known.get("branch"), self._place),
            *place(line, "folder", known.get("cwd"), self._place),
        ]

    def finish(self) -> list[Turn]:
        """Nothing is held back."""
        return []

    def _assistant(self, line: int, data: dict[str, Any]) -> list[Turn]:
        words = own_words(shapes.string(data.get("content")))
        turns = [Turn(line, TEXT, words)] if words else []
        called = data.get("toolRequests")
        for one in called if isinstance(called, list) else ():
            if isinstance(one, dict):
                tool, key = shapes.string(one.get("name")), shapes.string(one.get("toolCallId"))
                turns += self._calls.call(line, tool, key, one.get("arguments"))
        return turns

    def _result(self, line: int, data: dict[str, Any]) -> list[Turn]:
        result = data.get("result")
        known = result if isinstance(result, dict) else {}
        # The other text has in it what hooks had to say.
        text = shapes.string(known.get("detailedContent")) or shapes.string(known.get("content"))
        error = data.get("error")
        if isinstance(error, dict):
            text = text or shapes.string(error.get("message"))
        ran = data.get("shellExecution")
        code = ran.get("exitCode") if isinstance(ran, dict) else 0
        failed = not data.get("success", True) or code not in (0, None)
        text = clean(text.partition("\n<shellId: ")[0])
        return self._calls.result(line, shapes.string(data.get("toolCallId")), text, failed=failed)


def find(config_dir: str, session: str, cwd: str = "") -> str | None:
    """The event log of ``session`` under the harness's folder ``config_dir``, or None."""
    if not is_plain_name(session):
        return None
    path = os.path.join(config_dir, "session-state", session, "events.jsonl")
    return path if os.path.isfile(path) else None


def worth(line: bytes, frugal: bool) -> bool:
    """Whether ``line`` may hold a turn: a guess from its bytes that never misses one."""
    head = line[:80]
    if b'"type":"' in head:
        kind = head.partition(b'"type":"')[2].partition(b'"')[0].decode("utf-8", "replace")
        return kind in _KINDS and (not frugal or kind == "user.message")
    return len(line) > 1


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be an event of this harness."""
    return entry.get("type") in _KINDS and isinstance(entry.get("data"), dict) and "id" in entry


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in the event log ``path``, and then how the reading went.

    TranscriptUnreadable if there is no such file; what stands in it never raises.
    """
    return Transcript(path, Parser(), session, worth)


HOOKS: tuple[tuple[str, str, int, str], ...] = ()


def summary(path: str, session: str, after: int) -> str:
    """The harness's own summary that the transcript holds behind byte ``after``, if any."""
    return summary_behind(path, after, b'"session.compaction_complete"', Parser())


def forked_from(path: str, session: str) -> None:
    """None: nothing in such a transcript says so."""


def steps(path: str, session: str) -> None:
    """None: there is no list beside such a transcript."""


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """No settings yet: sessions are saved by hand."""
    return ""


def parse_event(payload: object) -> Event:
    """EventUnknown: sessions of this harness are saved by hand."""
    raise EventUnknown("Hooks of Copilot CLI are not answered.")


def injection(text: str, event: Event) -> str:
    """The text as it is: there is no document to wrap it in."""
    return text
