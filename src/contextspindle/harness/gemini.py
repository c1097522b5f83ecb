"""Gemini CLI: finding and reading its sessions, and its hook protocol.

There is no event after a compression, and the one before it comes at every turn of the model.  What
tells of a real one is a line that sets the conversation anew, with a snapshot of the state in it
that was not there before.  So the event before it is noted, and looked behind at the next one that
can hand something to the agent: its prompt, or in the middle of a turn the end of a tool's call.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.transcript import LOOK, NOTE, RESTORE, SAVE, Event
from .payloads import event_of, is_plain_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .lines import Transcript

NAME = "gemini"


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
    return len(line) > 1 and (not frugal or b'"type":"user"' in head or b'"$rewindTo"' in head)


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be a line of this harness."""
    if "projectHash" in entry:
        return "sessionId" in entry
    return entry.get("type") == "gemini" and "id" in entry and "content" in entry


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in the transcript ``path``, and then how the reading went.

    TranscriptUnreadable if there is no such file; what stands in it never raises.
    """
    # Most hooks read no transcript, and what they do not need they must not load.
    from .gemini_turns import Parser
    from .lines import Transcript

    return Transcript(path, Parser(), session, worth, cuts_back=True)


def summary(path: str, session: str, after: int) -> str:
    """The harness's own summary that the transcript holds behind byte ``after``, if any."""
    from .gemini_turns import Parser
    from .looks import summary_behind

    return summary_behind(path, after, b"<state_snapshot>", Parser())


def forked_from(path: str, session: str) -> None:
    """None: nothing in such a transcript says so."""


def steps(path: str, session: str) -> None:
    """None: there is no list beside such a transcript."""


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """The settings of the user, or of a project: there is no personal file within a project."""
    folder = config_dir if scope == "user" else os.path.join(project, ".gemini")
    return os.path.join(folder, "settings.json")


def compacted(path: str, after: int) -> int:
    """Where the line of the latest compression behind byte ``after`` begins; -1 if none came about.

    A conversation is also set anew when a session is resumed, and when old output is shortened:
    such a line repeats a snapshot, under the id that it had.
    """
    from .gemini_turns import snapshot
    from .lines import objects
    from .looks import marked_behind, stands_in

    found = -1
    known: set[str] = set()
    for at, line in marked_behind(path, after, b"<state_snapshot>"):
        for entry in objects(line)[0]:
            changed = entry.get("$set")
            told = snapshot(changed) if isinstance(changed, dict) else None
            if told is None or told[0] in known:
                continue
            known.add(told[0])
            if not stands_in(path, canon.encode(told[0]), 0, after):
                found = at
    return found


HOOKS = (
    ("PreCompress", "fuse save --harness gemini", 30_000, ""),
    ("BeforeAgent", "fuse restore --harness gemini", 15_000, ""),
    ("AfterTool", "fuse restore --harness gemini", 15_000, ".*"),
    ("SessionStart", "fuse restore --harness gemini", 15_000, ""),
)
"""Event, what to run, milliseconds until the harness gives up, matcher."""
ENTRY: tuple[str, ...] = ()

_VERBS = {
    "PreCompress": SAVE,
    "SessionEnd": SAVE,
    "SessionStart": RESTORE,
    "BeforeAgent": LOOK,
    "AfterTool": LOOK,
}


def said_up_to(path: str, after: int) -> int:
    """0: what was said before a compaction is there at the event that tells of it."""
    return 0


def parse_event(payload: object) -> Event:
    """What the hook payload asks for.  EventUnknown if it is not one of this harness."""
    event = event_of(payload, NAME, _VERBS)
    if event.name != "PreCompress":
        return event
    # Of those that the user did not ask for hardly any is followed by a compression.
    return event._replace(verb=SAVE if event.trigger == "manual" else NOTE, untold=True)


def injection(text: str, event: Event) -> str:
    """The one JSON document to print so that the agent reads ``text``; nothing for no text.

    Only a document is read here: anything else would be shown to the user.
    """
    if not text or event.verb not in (RESTORE, LOOK):
        return ""
    return canon.text(
        {"hookSpecificOutput": {"additionalContext": text, "hookEventName": event.name}}
    )
