"""Hook payloads of the shape that Claude Code gave them, and others took over.

A JSON object with ``hook_event_name``, ``session_id`` and, for most, ``transcript_path``; a
subagent's has ``agent_id`` too.  What differs from harness to harness is which events ask for
what, and where a subagent's transcript lies: that the adapters say.
"""

from __future__ import annotations

from ..core.text import clean, folded, shortened
from ..core.transcript import NONE, Event
from ..errors import EventUnknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def word(payload: dict[str, Any], key: str) -> str:
    """The text under ``key``, or an empty one."""
    value = payload.get(key)
    return clean(value) if isinstance(value, str) else ""


def is_plain_name(name: str) -> bool:
    """Whether ``name`` can be part of a file name: letters, digits, hyphens, underscores."""
    return bool(name) and len(name) <= 128 and name.replace("-", "").replace("_", "").isalnum()


def event_of(payload: object, harness: str, verbs: dict[str, str]) -> Event:
    """The neutral event of ``payload``; an event that ``verbs`` does not know asks for nothing.

    EventUnknown if it names no event or no session, or an agent that cannot be one.
    """
    if not isinstance(payload, dict):
        raise EventUnknown("The hook payload is not a JSON object.")
    name, session = word(payload, "hook_event_name"), word(payload, "session_id")
    if not name or not session:
        missing = "hook_event_name" if not name else "session_id"
        raise EventUnknown(f"The hook payload has no {missing}.")
    agent = word(payload, "agent_id")
    if agent and not is_plain_name(agent):
        raise EventUnknown(f"The agent id {shortened(folded(agent), 40)!r} is not an id.")
    return Event(
        verbs.get(name, NONE),
        session,
        word(payload, "transcript_path"),
        word(payload, "cwd"),
        agent,
        source=word(payload, "source"),
        trigger=word(payload, "trigger"),
        name=name,
        caller=harness,
        previous=word(payload, "previous_session_id"),
    )
