"""Factory Droid: its sessions and its hook protocol.

A compaction that the user asks for ends the session and begins another, whose first hook names the
one before it.  One that the program makes by itself stays within the session, and no hook tells of
it, neither before nor after: the transcript is looked at for one at the next event that can hand
something to the agent.  Lines
that only the user's screen shows carry a ``visibility``; what the program adds for the model stands
in entries of its own.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.transcript import (
    BOUNDARY,
    LOOK,
    PROMPT,
    RESTORE,
    SAID,
    SAVE,
    SUMMARY,
    TEXT,
    TODOS,
    Event,
    Turn,
    told_of,
)
from . import claude_shapes as shapes
from .claude_shapes import own_words
from .lines import Transcript, objects
from .looks import marked_behind, summary_behind
from .payloads import below_one_of, event_of, is_plain_name
from .tools import Calls, listed, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "droid"

_HEAD = 1 << 20
"""The most bytes in which the start of a session is looked for."""
_KINDS = (
    "session_start",
    "message",
    "todo_state",
    "compaction_state",
    "agent_turn_outcome",
)


class Parser:
    """Turns one session's lines, in file order, into turns."""

    def __init__(self) -> None:
        self.known = 0
        self.held: dict[int, str] = {}
        self._calls = Calls("Execute", "Edit MultiEdit Create ApplyPatch", "Task", "TodoWrite")
        self._place: dict[str, str] = {}

    def session(self, entry: dict[str, Any]) -> str:
        """The session that the file's own head names; the other lines name none."""
        if entry.get("type") != "session_start":
            return ""
        return shapes.string(entry.get("id"))

    def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        """The turns of one line: none for one that says nothing."""
        kind = entry.get("type")
        if kind not in _KINDS:
            return []
        self.known += 1
        if kind == "session_start":
            return place(line, "folder", entry.get("cwd"), self._place)
        if kind == "message":
            return self._message(line, entry)
        if kind == "todo_state":
            told = entry.get("todos")
            todos = told.get("todos") if isinstance(told, dict) else told
            return [Turn(line, TODOS, steps=listed(todos))]
        if kind == "compaction_state":
            summary = own_words(shapes.string(entry.get("summaryText")))
            turns = [Turn(line, BOUNDARY)]
            return [*turns, Turn(line, SUMMARY, summary)] if summary else turns
        return []

    def finish(self) -> list[Turn]:
        """Nothing is held back."""
        return []

    def _message(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        message = entry.get("message")
        if not isinstance(message, dict) or message.get("visibility"):
            return []
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        said, turns = [], []
        human = message.get("role") == "user"
        for block in content if isinstance(content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else ""
            if kind == "text":
                words = own_words(shapes.string(block.get("text")))
                if words:
                    said.append(words)
            elif kind == "tool_use":
                tool, key = shapes.string(block.get("name")), shapes.string(block.get("id"))
                turns += self._calls.call(line, tool, key, block.get("input"))
            elif kind == "tool_result":
                turns += self._result(line, block)
            elif kind == "image" and human:
                said.append("[Image]")
        if not said:
            return turns
        words = "\n".join(said)
        told = Turn(line, SAID, words, via=PROMPT) if human else Turn(line, TEXT, words)
        return [told, *turns]

    def _result(self, line: int, block: dict[str, Any]) -> list[Turn]:
        text = "\n".join(shapes.texts(block.get("content")))
        printed, told, code = text.rstrip().rpartition("[Process exited with code ")
        failed = bool(block.get("is_error")) or bool(told and code != "0]")
        key = shapes.string(block.get("tool_use_id"))
        return self._calls.result(line, key, printed.rstrip() if told else text, failed=failed)


def find(config_dir: str, session: str, cwd: str = "") -> str | None:
    """The transcript of ``session`` under the harness's folder ``config_dir``, or None."""
    if not is_plain_name(session):
        return None
    return below_one_of(os.path.join(config_dir, "sessions"), session + ".jsonl")


def worth(line: bytes, frugal: bool) -> bool:
    """Whether ``line`` may hold a turn: a guess from its bytes that never misses one."""
    if b'"visibility":"user_only"' in line[:400]:
        return False
    return len(line) > 1 and (not frugal or b'"role":"user"' in line[:400])


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be a line of this harness."""
    if entry.get("type") == "session_start":
        return "id" in entry and "cwd" in entry
    if entry.get("type") == "compaction_state":
        return "summaryText" in entry
    message = entry.get("message")
    return entry.get("type") == "message" and isinstance(message, dict) and "role" in message


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in the transcript ``path``, and then how the reading went.

    A subagent's is that of a session of its own, which goes by the ``agent``.

    TranscriptUnreadable if there is no such file; what stands in it never raises.
    """
    return Transcript(path, Parser(), agent or session, worth)


def summary(path: str, session: str, after: int) -> str:
    """The harness's own summary that the transcript holds behind byte ``after``, if any."""
    return summary_behind(path, after, b'"compaction_state"', Parser())


def forked_from(path: str, session: str) -> tuple[str, str] | None:
    """The session that this one goes on from after its compaction, and its snapshot's time.

    The head names the one before; the snapshot is that of the record which was handed over at the
    start, and which stands in the entry on our hook.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            head = os.pread(handle, _HEAD, 0)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return None
    parent = ""
    for line in head.split(b"\n"):
        if b'"session_start"' not in line and b'"SessionStart"' not in line:
            continue
        for entry in objects(line)[0]:
            if entry.get("type") == "session_start":
                parent = shapes.string(entry.get("parent"))
            found = _handed(entry)
            if found and parent and found[0] == parent:
                return found
    return None


def _handed(entry: dict[str, Any]) -> tuple[str, str] | None:
    """Session and time of the record that a hook printed at the start."""
    message = entry.get("message")
    if not isinstance(message, dict) or message.get("hookEventName") != "SessionStart":
        return None
    results = message.get("hookResults")
    for one in results if isinstance(results, list) else ():
        try:
            printed = canon.decode(shapes.string(one.get("stdout")))
            text = printed["hookSpecificOutput"]["additionalContext"]
        except (ValueError, LookupError, TypeError, AttributeError):
            continue
        if isinstance(text, str) and (found := told_of(text)):
            return found
    return None


def steps(path: str, session: str) -> None:
    """None: there is no list beside such a transcript."""


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """The settings of the user, or of a project: there is no personal file within a project."""
    folder = config_dir if scope == "user" else os.path.join(project, ".factory")
    return os.path.join(folder, "settings.json")


HOOKS = (
    ("PreCompact", "fuse save --harness droid", 30, ""),
    ("SessionStart", "fuse restore --harness droid", 15, "startup|resume|clear|compact"),
    ("SessionEnd", "fuse save --harness droid", 15, ""),
    ("UserPromptSubmit", "fuse restore --harness droid", 15, ""),
    ("PostToolUse", "fuse restore --harness droid", 15, ""),
)
"""Event, what to run, seconds until the harness gives up, matcher."""
ENTRY: tuple[str, ...] = ()

_VERBS = {
    "PreCompact": SAVE,
    "SessionEnd": SAVE,
    "Stop": SAVE,
    "SessionStart": RESTORE,
    "UserPromptSubmit": LOOK,
    "PostToolUse": LOOK,
}


def compacted(path: str, after: int) -> int:
    """Where the line of the latest compaction behind byte ``after`` begins; -1 if there is none."""
    found = -1
    for at, line in marked_behind(path, after, b'"compaction_state"'):
        if any(entry.get("type") == "compaction_state" for entry in objects(line)[0]):
            found = at
    return found


def said_up_to(path: str, after: int) -> int:
    """0: what was said before a compaction is there at the event that tells of it."""
    return 0


def parse_event(payload: object) -> Event:
    """What the hook payload asks for.  EventUnknown if it is not one of this harness."""
    event = event_of(payload, NAME, _VERBS)
    return event._replace(untold=event.verb == LOOK)


def injection(text: str, event: Event) -> str:
    """The one JSON document to print so that the agent reads ``text``; nothing for no text."""
    if not text or event.verb not in (RESTORE, LOOK):
        return ""
    return canon.text(
        {"hookSpecificOutput": {"additionalContext": text, "hookEventName": event.name}}
    )
