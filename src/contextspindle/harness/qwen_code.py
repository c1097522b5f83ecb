"""Qwen Code: its chats and its hook protocol, both shaped after Claude Code's and Gemini CLI's.

A line says by its ``provenance`` who made it.  What a hook gave stands in a part of its own beside
the human's words, whose own text is in ``displayText``.
"""

from __future__ import annotations

import os

from ..core.text import clean
from ..core.transcript import (
    BOUNDARY,
    PROMPT,
    RESTORE,
    SAID,
    SAVE,
    SUMMARY,
    TEXT,
    Event,
    Turn,
)
from . import claude_shapes as shapes
from .claude_code import injection as injection
from .claude_shapes import own_words, tagged
from .lines import Transcript
from .looks import summary_behind
from .payloads import below_one_of, event_of, is_plain_name
from .tools import Calls, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "qwen-code"


def parts(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of the entry's message."""
    message = entry.get("message")
    found = message.get("parts") if isinstance(message, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


class Parser:
    """Turns one chat's lines, in file order, into turns."""

    def __init__(self) -> None:
        self.known = 0
        self.held: dict[int, str] = {}
        self._calls = Calls("run_shell_command", "edit replace write_file", "task", "todo_write")
        self._place: dict[str, str] = {}

    def session(self, entry: dict[str, Any]) -> str:
        """The session that ``entry`` names, or an empty string."""
        return shapes.string(entry.get("sessionId"))

    def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        """The turns of one line: none for one that says nothing."""
        kind = entry.get("type")
        if kind not in ("user", "assistant", "tool_result", "system"):
            return []
        self.known += 1
        placed = [
            *place(line, "branch", entry.get("gitBranch"), self._place),
            *place(line, "folder", entry.get("cwd"), self._place),
        ]
        if kind == "user":
            return [*placed, *self._user(line, entry)]
        if kind == "assistant":
            return [*placed, *self._assistant(line, entry)]
        if kind == "tool_result":
            return [*placed, *self._result(line, entry)]
        return [*placed, *self._system(line, entry)]

    def finish(self) -> list[Turn]:
        """Nothing is held back."""
        return []

    def _user(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        if entry.get("provenance", "real_user") != "real_user":
            return []
        payload = entry.get("systemPayload")
        shown = payload.get("displayText") if isinstance(payload, dict) else None
        texts = [shapes.string(part.get("text")) for part in parts(entry)]
        kept = [text for text in texts if text and not text.startswith("<qwen:")]
        words = own_words(shapes.string(shown) or "\n".join(kept))
        return [Turn(line, SAID, words, via=PROMPT)] if words else []

    def _assistant(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        turns = []
        for part in parts(entry):
            called = part.get("functionCall")
            words = own_words(shapes.string(part.get("text")))
            if isinstance(called, dict):
                tool, key = shapes.string(called.get("name")), shapes.string(called.get("id"))
                turns += self._calls.call(line, tool, key, called.get("args"))
            elif words and not part.get("thought"):
                turns.append(Turn(line, TEXT, words))
        return turns

    def _result(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        told = entry.get("toolCallResult")
        failed = isinstance(told, dict) and told.get("status") not in ("success", None)
        turns = []
        for part in parts(entry):
            answer = part.get("functionResponse")
            if isinstance(answer, dict):
                text, wrong = response(answer.get("response"))
                key = shapes.string(answer.get("id"))
                turns += self._calls.result(line, key, text, failed=failed or wrong)
        return turns

    def _system(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        if entry.get("subtype") != "chat_compression":
            return []
        payload = entry.get("systemPayload")
        known = payload if isinstance(payload, dict) else {}
        info = known.get("info")
        reason = info.get("triggerReason") if isinstance(info, dict) else ""
        turns = [Turn(line, BOUNDARY, about=clean(shapes.string(reason)))]
        history = known.get("compressedHistory")
        for message in history if isinstance(history, list) else ():
            for part in parts({"message": message}):
                summary = own_words(tagged(shapes.string(part.get("text")), "summary"))
                if summary:
                    return [*turns, Turn(line, SUMMARY, summary)]
        return turns


def response(told: object) -> tuple[str, bool]:
    """The text of a function's response, and whether it is an error."""
    if not isinstance(told, dict):
        return "", False
    wrong = shapes.string(told.get("error"))
    text = wrong or shapes.string(told.get("output"))
    code = text.partition("\nExit Code: ")[2].partition("\n")[0].strip()
    return text, bool(wrong) or code not in ("", "0", "(none)")


def find(config_dir: str, session: str, cwd: str = "") -> str | None:
    """The chat of ``session`` under the harness's folder ``config_dir``, or None."""
    if not is_plain_name(session):
        return None
    return below_one_of(os.path.join(config_dir, "projects"), "chats", session + ".jsonl")


def worth(line: bytes, frugal: bool) -> bool:
    """Whether ``line`` may hold a turn: a guess from its bytes that never misses one."""
    # The folder stands between the type and the kind of it, and may have any length.
    if b'"type":"system"' in line[:400] and b'"chat_compression"' not in line:
        return False
    return len(line) > 1 and (not frugal or b'"type":"user"' in line[:400])


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be a line of this harness."""
    return "provenance" in entry and "sessionId" in entry and "uuid" in entry


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in the chat ``path``, and then how the reading went.

    TranscriptUnreadable if there is no such file; what stands in it never raises.
    """
    return Transcript(path, Parser(), session, worth)


def summary(path: str, session: str, after: int) -> str:
    """The harness's own summary that the transcript holds behind byte ``after``, if any."""
    return summary_behind(path, after, b'"chat_compression"', Parser())


def forked_from(path: str, session: str) -> None:
    """None: nothing in such a transcript says so."""


def steps(path: str, session: str) -> None:
    """None: there is no list beside such a transcript."""


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """The settings of the user, or of a project: there is no personal file within a project."""
    folder = config_dir if scope == "user" else os.path.join(project, ".qwen")
    return os.path.join(folder, "settings.json")


HOOKS = (
    ("PreCompact", "fuse save --harness qwen-code", 30_000, ""),
    ("SessionStart", "fuse restore --harness qwen-code", 15_000, "startup|resume|clear|compact"),
    ("SessionEnd", "fuse save --harness qwen-code", 15_000, ""),
)
"""Event, what to run, milliseconds until the harness gives up, matcher."""
ENTRY: tuple[str, ...] = ()

_VERBS = {"PreCompact": SAVE, "SessionEnd": SAVE, "Stop": SAVE, "SessionStart": RESTORE}


def compacted(path: str, after: int) -> int:
    """-1: an event tells of every compaction."""
    return -1


_RECORDS = (b'"chat_compression"',)
"""What the lines have in them that tell of a compaction."""


def said_up_to(path: str, after: int) -> int:
    """Where the talk ends that was written behind byte ``after``, ahead of the latest compaction.

    0 if there is none.  Lines are written some tenths of a second late, beside the hooks.
    """
    from .late import said_up_to as found

    return found(path, after, _RECORDS, worth)


def parse_event(payload: object) -> Event:
    """What the hook payload asks for.  EventUnknown if it is not one of this harness."""
    return event_of(payload, NAME, _VERBS)
