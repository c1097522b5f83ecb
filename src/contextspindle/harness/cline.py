"""Cline: its sessions as one document of messages, and its hook payloads.

Read after its published types and documentation; no session of it was recorded.  What the human
typed stands in a tag of its own, beside what the program says under the same role.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.text import clean
from ..core.transcript import (
    BOUNDARY,
    NONE,
    PROMPT,
    RESTORE,
    SAID,
    SAVE,
    SUMMARY,
    TEXT,
    Event,
    Turn,
)
from ..errors import EventUnknown
from . import claude_shapes as shapes
from .claude_shapes import own_words
from .lines import Transcript
from .payloads import is_plain_name, word
from .tools import Calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "cline"

_TYPED = ("user_input", "task", "feedback", "user_message", "answer")
"""The tags in which the command line, and the editors' extension, put what was typed."""


class Parser:
    """Turns the messages of one session, in their order, into turns."""

    def __init__(self) -> None:
        self.known = 0
        self.held: dict[int, str] = {}
        self._calls = Calls(
            "run_commands execute_command bash",
            "editor apply_patch write_to_file replace_in_file",
            "spawn_agent use_subagents",
            "",
        )

    def session(self, entry: dict[str, Any]) -> str:
        """The session that the document's own head names; the messages name none."""
        return shapes.string(entry.get("sessionId")) or shapes.string(entry.get("session_id"))

    def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        """The turns of one message: none for one that says nothing."""
        role, content = entry.get("role"), entry.get("content")
        if role not in ("user", "assistant"):
            return []
        self.known += 1
        kept = entry.get("metadata")
        if isinstance(kept, dict) and kept.get("kind") == "compaction_summary":
            words = own_words(shapes.string(kept.get("summary")))
            told = [Turn(line, SUMMARY, words)] if words else []
            return [Turn(line, BOUNDARY), *told]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        turns = []
        for block in content if isinstance(content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else ""
            if kind == "text":
                text = shapes.string(block.get("text"))
                words = _typed(text) if role == "user" else own_words(text)
                if words:
                    said = Turn(line, SAID, words, via=PROMPT)
                    turns.append(said if role == "user" else Turn(line, TEXT, words))
            elif kind == "tool_use":
                tool, key = shapes.string(block.get("name")), shapes.string(block.get("id"))
                turns += self._calls.call(line, tool, key, _given(block.get("input")))
            elif kind == "tool_result":
                turns += self._result(line, block)
        return turns

    def finish(self) -> list[Turn]:
        """Nothing is held back."""
        return []

    def _result(self, line: int, block: dict[str, Any]) -> list[Turn]:
        text, failed = "\n".join(shapes.texts(block.get("content"))), bool(block.get("is_error"))
        try:
            listed = canon.decode(text) if text.startswith("[{") else None
        except ValueError:
            listed = None
        if isinstance(listed, list):
            ran = [one for one in listed if isinstance(one, dict)]
            failed = failed or any(one.get("success") is False for one in ran)
            text = "\n".join(shapes.string(one.get("result")) for one in ran)
        key = shapes.string(block.get("tool_use_id"))
        return self._calls.result(line, key, clean(text), failed=failed)


def _given(given: object) -> dict[str, Any]:
    """The input of a call; commands of a list as the one that they are together."""
    if not isinstance(given, dict):
        return {}
    commands = given.get("commands")
    if isinstance(commands, list):
        lines = [one for one in commands if isinstance(one, str)]
        return {**given, "command": "\n".join(lines)}
    return given


def _typed(text: str) -> str:
    """What the human typed, out of its tag; what stands in no such tag the program wrote."""
    for tag in _TYPED:
        start, opened, rest = text.partition(f"<{tag}")
        if opened and rest[:1] in (">", " ") and not start.strip():
            return own_words(rest.partition(">")[2].partition(f"</{tag}>")[0].strip())
    return ""


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be a message of this harness."""
    content = entry.get("content")
    if entry.get("role") not in ("user", "assistant") or not isinstance(content, list):
        return False
    texts = shapes.texts(content)
    return isinstance(entry.get("ts"), int) or any(_typed(text) for text in texts)


def find(config_dir: str, session: str, cwd: str = "") -> str | None:
    """The messages of ``session`` under the program's folder ``config_dir``, or None."""
    if not is_plain_name(session):
        return None
    folder = os.path.join(config_dir, "data", "sessions", session)
    path = os.path.join(folder, f"{session}.messages.json")
    return path if os.path.isfile(path) else None


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in the document ``path``, and then how the reading went.

    TranscriptUnreadable if there is no such file; what stands in it never raises.
    """
    return Transcript(path, Parser(), session, cuts_back=True)


def summary(path: str, session: str, after: int) -> str:
    """Nothing: a summary stands in another document."""
    return ""


def forked_from(path: str, session: str) -> None:
    """None: nothing in such a transcript says so."""


def steps(path: str, session: str) -> None:
    """None: there is no list beside such a transcript."""


HOOKS: tuple[tuple[str, str, int, str], ...] = ()
"""None in settings: a hook is an executable file named after its event."""
ENTRY: tuple[str, ...] = ()


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """No settings: see :data:`HOOKS`."""
    return ""


_VERBS = {"PreCompact": SAVE, "TaskStart": RESTORE, "TaskResume": RESTORE}


def compacted(path: str, after: int) -> int:
    """-1: nothing in such a transcript says so."""
    return -1


def said_up_to(path: str, after: int) -> int:
    """0: what was said before a compaction is there at the event that tells of it."""
    return 0


def parse_event(payload: object) -> Event:
    """What the hook payload asks for.  EventUnknown if it is not one of this harness."""
    if not isinstance(payload, dict):
        raise EventUnknown("The hook payload is not a JSON object.")
    name, session = word(payload, "hookName"), word(payload, "taskId")
    if not name or not session:
        missing = "hookName" if not name else "taskId"
        raise EventUnknown(f"The hook payload has no {missing}.")
    told, roots = payload.get("preCompact"), payload.get("workspaceRoots")
    path = word(told, "contextJsonPath") if isinstance(told, dict) else ""
    cwd = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    source = "startup" if name == "TaskStart" else "resume"
    verb = _VERBS.get(name, NONE)
    return Event(verb, session, path, clean(cwd), source=source, name=name, caller=NAME)


def injection(text: str, event: Event) -> str:
    """The document that Cline adds to the conversation, as far as an event of it can."""
    return canon.text({"cancel": False, "contextModification": text})
