"""Copilot CLI's events as turns."""

from __future__ import annotations

from ..core.text import clean
from ..core.transcript import BOUNDARY, PROMPT, SAID, SUMMARY, TEXT, Turn
from . import claude_shapes as shapes
from .claude_shapes import own_words
from .copilot_cli import KINDS
from .tools import Calls, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# The origins of a message under the user's role that no human wrote; a human's names none, or one
# that is not listed here.  ``parentAgentTaskId`` stands in every message and says nothing.
_NOT_HUMAN = frozenset(
    "agent autopilot jit-instruction skill snippy-blocking system"
    " thinking-exhausted-continuation".split()
)
_NOT_HUMAN_OPENINGS = ("agent-", "skill-")


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
        if kind not in KINDS or not isinstance(data, dict):
            return []
        self.known += 1
        if entry.get("agentId") or data.get("parentToolCallId"):
            return []  # a subagent's: what it reports is the result of the call that sent it off
        if kind == "user.message":
            if not _is_human(data):
                return []
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


def _is_human(data: dict[str, Any]) -> bool:
    """Whether a human wrote the message, as far as it says."""
    source = shapes.string(data.get("source"))
    if data.get("isAutopilotContinuation"):
        return False
    return source not in _NOT_HUMAN and not source.startswith(_NOT_HUMAN_OPENINGS)
