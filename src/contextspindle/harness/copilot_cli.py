"""GitHub Copilot CLI: its event log, and its hook protocol with names of its own.

An event says by its type what happened; a compaction is told when it is complete, and may run while
the turn goes on.  A hook's payload names no transcript but before a compaction and at a stop, and
no event: which one it is shows in its fields.  No event tells that a compaction is complete.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.transcript import LOOK, NONE, RESTORE, SAVE, Event
from ..errors import EventUnknown
from .payloads import event_of, is_plain_name, sender, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .lines import Transcript

NAME = "copilot-cli"

KINDS = (
    "session.start",
    "session.resume",
    "session.context_changed",
    "session.compaction_complete",
    "user.message",
    "assistant.message",
    "tool.execution_complete",
)
"""The events that say something."""


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
        return kind in KINDS and (not frugal or kind == "user.message")
    return len(line) > 1


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be an event of this harness."""
    return entry.get("type") in KINDS and isinstance(entry.get("data"), dict) and "id" in entry


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in the event log ``path``, and then how the reading went.

    TranscriptUnreadable if there is no such file; what stands in it never raises.
    """
    # Most hooks read no transcript, and what they do not need they must not load.
    from .copilot_turns import Parser
    from .lines import Transcript

    return Transcript(path, Parser(), session, worth, cuts_back=True)


def summary(path: str, session: str, after: int) -> str:
    """The harness's own summary that the transcript holds behind byte ``after``, if any."""
    from .copilot_turns import Parser
    from .looks import summary_behind

    return summary_behind(path, after, b'"session.compaction_complete"', Parser())


def forked_from(path: str, session: str) -> None:
    """None: nothing in such a transcript says so."""


def steps(path: str, session: str) -> None:
    """None: there is no list beside such a transcript."""


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """A hooks file of our own, among the user's or a project's: every one there is read."""
    folder = config_dir if scope == "user" else os.path.join(project, ".github")
    return os.path.join(folder, "hooks", "contextspindle.json")


def compacted(path: str, after: int) -> int | None:
    """Where the line of the latest compaction behind byte ``after`` begins.

    -1 if it failed; None if it is not complete: the agent may go on meanwhile.
    """
    from .lines import objects
    from .looks import marked_behind

    found: int | None = None
    for at, line in marked_behind(path, after, b'"session.compaction_'):
        for entry in objects(line)[0]:
            kind, data = entry.get("type"), entry.get("data")
            if kind == "session.compaction_complete" and isinstance(data, dict):
                found = at if data.get("success") else found or -1
            elif kind == "session.compaction_start" and found == -1:
                found = None
    return found


HOOKS = (
    ("preCompact", "fuse save --harness copilot-cli", 30, ""),
    ("userPromptSubmitted", "fuse restore --harness copilot-cli", 15, ""),
    ("postToolUse", "fuse restore --harness copilot-cli", 15, ""),
    ("sessionStart", "fuse restore --harness copilot-cli", 15, ""),
)
"""Event, what to run, seconds until the harness gives up, matcher."""
ENTRY: tuple[str, ...] = ("bash", "timeoutSec")

_FIELDS = (
    ("trigger", "preCompact"),
    ("toolResult", "postToolUse"),
    ("toolName", "preToolUse"),
    ("transformedPrompt", "userPromptTransformed"),
    ("prompt", "userPromptSubmitted"),
    ("source", "sessionStart"),
    ("stopReason", "agentStop"),
    ("reason", "sessionEnd"),
)
"""A field of a payload, and the event that it tells, if none before it does."""

_VERBS = {
    "preCompact": SAVE,
    "userPromptSubmitted": LOOK,
    "postToolUse": LOOK,
    "sessionStart": RESTORE,
    "agentStop": SAVE,
    "sessionEnd": SAVE,
    # Under such names of events the payload is another one, with the name in it.
    "PreCompact": SAVE,
    "UserPromptSubmit": LOOK,
    "PostToolUse": LOOK,
    "SessionStart": RESTORE,
    "Stop": SAVE,
    "SessionEnd": SAVE,
}


def said_up_to(path: str, after: int) -> int:
    """0: what was said before a compaction is there at the event that tells of it."""
    return 0


def parse_event(payload: object) -> Event:
    """What the hook payload asks for.  EventUnknown if it is not one of this harness."""
    event: Event | None = None
    if isinstance(payload, dict) and sender(payload) == NAME and "hook_event_name" not in payload:
        name = next((told for field, told in _FIELDS if field in payload), "")
        event = Event(
            _VERBS.get(name, NONE),
            word(payload, "sessionId"),
            word(payload, "transcriptPath"),
            word(payload, "cwd"),
            source=word(payload, "source"),
            trigger=word(payload, "trigger"),
            name=name,
            caller=NAME,
        )
        if not event.session:
            raise EventUnknown("The hook payload has no sessionId.")
    event = event or event_of(payload, NAME, _VERBS)
    if event.source == "new":
        event = event._replace(source="startup")
    return event._replace(untold=event.name in ("preCompact", "PreCompact"))


def injection(text: str, event: Event) -> str:
    """The one JSON document to print so that the agent reads ``text``; nothing for no text."""
    if not text or event.verb not in (RESTORE, LOOK):
        return ""
    return canon.text({"additionalContext": text})
