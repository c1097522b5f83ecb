"""Cursor: its transcripts of lines, and its hook payloads.

Read after its documentation and what others wrote of it; no session of it was recorded.  A
transcript has calls and no results: where the talk goes on, a call has come back, and an edit is
taken as made.  It has no mark of a compaction, and nothing can be handed over after one.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.text import clean
from ..core.transcript import EDIT, NONE, OUTCOME, PROMPT, RESTORE, SAID, SAVE, TEXT, Event, Turn
from ..errors import EventUnknown
from . import claude_shapes as shapes
from .claude_shapes import own_words, tagged
from .lines import Transcript
from .payloads import below_one_of, is_plain_name, word
from .tools import Calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "cursor"


class Parser:
    """Turns the lines of one conversation, in file order, into turns."""

    def __init__(self) -> None:
        self.known = 0
        self.held: dict[int, str] = {}
        self._calls = Calls(
            "Shell run_terminal_cmd", "StrReplace Write EditFile edit_file", "Task", ""
        )
        self._made: list[Turn] = []  # calls of the line before, which have not come back

    def session(self, entry: dict[str, Any]) -> str:
        """None: a conversation is named by its file alone."""
        return ""

    def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        """The turns of one line: none for one that says nothing."""
        back = self._come_back()
        if not recognises(entry):
            return back
        self.known += 1
        if entry["role"] == "user":
            words = _typed(entry["message"]["content"])
            return [*back, Turn(line, SAID, words, via=PROMPT)] if words else back
        turns = []
        for at, block in enumerate(entry["message"]["content"]):
            kind = block.get("type") if isinstance(block, dict) else ""
            if kind == "text":
                words = own_words(shapes.string(block.get("text")))
                turns += [Turn(line, TEXT, words)] if words else []
            elif kind == "tool_use":
                tool, key = shapes.string(block.get("name")), f"{line}.{at}"
                called = self._calls.call(line, tool, key, block.get("input"))
                self._made += called
                self.held[line] = ""
                turns += called
        return [*back, *turns]

    def _come_back(self) -> list[Turn]:
        """That the calls of the line before are over, and its edits made; told where they stand.

        Nothing is known of what else they gave: no command is told to have printed nothing.
        """
        turns = []
        for made in self._made:
            seal = self.held.get(made.line, "")
            if made.via == EDIT:
                turns += self._calls.result(made.line, made.call, "", failed=False)
            else:
                turns.append(Turn(made.line, OUTCOME, tool=made.tool, call=made.call))
            turns[-1] = turns[-1]._replace(seal=seal)
        self._made = []
        self.held.clear()
        return turns

    def finish(self) -> list[Turn]:
        """None: what the last line called may go on."""
        return []


def _typed(content: list[Any]) -> str:
    """What the human typed: what is tagged as that, else what is not tagged as something else."""
    texts = shapes.texts(content)
    tagged_so = [tagged(text, "user_query") for text in texts if "<user_query>" in text]
    said = tagged_so or [text for text in texts if not text.lstrip().startswith("<")]
    return own_words("\n".join(text for text in said if text))


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be a line of this harness."""
    message = entry.get("message")
    return (
        entry.get("role") in ("user", "assistant")
        and isinstance(message, dict)
        and isinstance(message.get("content"), list)
        and "type" not in entry
    )


def find(config_dir: str, session: str, cwd: str = "") -> str | None:
    """The transcript of ``session`` under the program's folder ``config_dir``, or None."""
    if not is_plain_name(session):
        return None
    projects = os.path.join(config_dir, "projects")
    return below_one_of(projects, "agent-transcripts", session, f"{session}.jsonl")


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of the conversation in ``path``, and then how the reading went.

    TranscriptUnreadable if there is no such file; what stands in it never raises.
    """
    return Transcript(path, Parser(), session, cuts_back=True)


def summary(path: str, session: str, after: int) -> str:
    """Nothing: no summary is written into such a transcript."""
    return ""


def forked_from(path: str, session: str) -> None:
    """None: nothing in such a transcript says so."""


def steps(path: str, session: str) -> None:
    """None: there is no list beside such a transcript."""


HOOKS: tuple[tuple[str, str, int, str], ...] = ()
"""None that set-up would write: see the guide."""
ENTRY: tuple[str, ...] = ()


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """The hooks of the user, or of a project: there is no personal file within a project."""
    folder = config_dir if scope == "user" else os.path.join(project, ".cursor")
    return os.path.join(folder, "hooks.json")


_VERBS = {"preCompact": SAVE, "stop": SAVE, "sessionEnd": SAVE, "sessionStart": RESTORE}


def compacted(path: str, after: int) -> int:
    """-1: its hooks say when it compacts."""
    return -1


def said_up_to(path: str, after: int) -> int:
    """0: what was said before a compaction is there at the event that tells of it."""
    return 0


def parse_event(payload: object) -> Event:
    """What the hook payload asks for.  EventUnknown if it is not one of this harness."""
    if not isinstance(payload, dict):
        raise EventUnknown("The hook payload is not a JSON object.")
    name = word(payload, "hook_event_name")
    session = word(payload, "conversation_id") or word(payload, "session_id")
    if not name or not session:
        missing = "hook_event_name" if not name else "conversation_id"
        raise EventUnknown(f"The hook payload has no {missing}.")
    roots = payload.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return Event(
        _VERBS.get(name, NONE),
        session,
        word(payload, "transcript_path"),
        word(payload, "cwd") or clean(root),
        source="startup",
        trigger=word(payload, "trigger"),
        name=name,
        caller=NAME,
    )


def injection(text: str, event: Event) -> str:
    """The document that Cursor reads context from."""
    return canon.text({"additional_context": text})
