"""Hook payloads of the shape that Claude Code gave them, and others took over.

A JSON object with ``hook_event_name``, ``session_id`` and, for most, ``transcript_path``; a
subagent's has ``agent_id`` too.  What differs from harness to harness is which events ask for
what, and where a subagent's transcript lies: that the adapters say.

Some programs run the hooks of another one's settings, too.  Whose payload it is shows in the
payload alone: variables of the environment reach every program that one of them starts.  A
sign that is missing says nothing: folders can be set, and versions differ in their fields.
"""

from __future__ import annotations

import os

from ..core.text import clean, folded, shortened
from ..core.transcript import END, NONE, Event
from ..errors import EventUnknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def word(payload: dict[str, Any], key: str) -> str:
    """The text under ``key``, or an empty one."""
    value = payload.get(key)
    return clean(value) if isinstance(value, str) else ""


def is_plain_name(name: str) -> bool:
    """Whether ``name`` can be part of a file name: letters, digits, hyphens, underscores."""
    return bool(name) and len(name) <= 128 and name.replace("-", "").replace("_", "").isalnum()


def below_one_of(folder: str, *rest: str) -> str | None:
    """The file ``rest`` below one of the folders in ``folder``, the first that has it; or None."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return None
    paths = (os.path.join(folder, name, *rest) for name in names)
    return next((path for path in paths if os.path.isfile(path)), None)


FIELDS = (
    ("cursor", "cursor_version"),
    ("cursor", "conversation_id"),
    ("vs-code", "hookEventName"),
    ("copilot-cli", "sessionId"),
)
"""Programs, each with a field that only its payloads have."""
FOLDERS = (
    ("claude-code", "/.claude/projects/"),
    ("copilot-cli", "/.copilot/"),
    ("cursor", "/.cursor/"),
    ("droid", "/.factory/"),
    ("gemini", "/.gemini/"),
    ("qwen-code", "/.qwen/"),
)
"""Programs, each with the folder in which its transcripts lie."""
EVENTS = (("gemini", "PreCompress BeforeAgent AfterAgent BeforeModel AfterModel AfterTool"),)
"""Programs, each with events that no other one has."""


def sender(payload: dict[str, Any]) -> str:
    """The program that can only have sent ``payload``; empty if it may be any."""
    for name, field in FIELDS:
        if field in payload and not (field == "sessionId" and "session_id" in payload):
            return name
    place, event = word(payload, "transcript_path"), payload.get("hook_event_name")
    for name, folder in FOLDERS:
        if folder in place:
            return name
    if os.path.basename(place).startswith("rollout-"):
        return "codex"
    for name, events in EVENTS:
        if isinstance(event, str) and event in events.split():
            return name
    # Where a transcript lies is a setting of either: then the number of the turn tells.
    if "timestamp" not in payload and ("turn_id" in payload) != ("prompt_id" in payload):
        return "codex" if "turn_id" in payload else "claude-code"
    return ""


def is_named_after(path: str, name: str) -> bool:
    """Whether the file ``path`` is called after the session or the agent ``name``."""
    called = os.path.splitext(os.path.basename(path))[0]
    return bool(name) and f"-{called}".endswith(f"-{name}")


def event_of(
    payload: object,
    harness: str,
    verbs: dict[str, str],
    own: Callable[[str, str], str] = lambda main, agent: main,
    end_seconds: float = 0.0,
) -> Event:
    """The neutral event of ``payload``; an event that ``verbs`` does not know asks for nothing.

    So does one of another program, which runs these hooks besides its own: ``caller`` names it.
    And so does one of a subagent whose own transcript is not known: the story of the session that
    sent it off is none of its business.  ``own`` gives it from the one that the payload names.
    ``end_seconds`` is when a save at the end of a session has to keep what there is.
    EventUnknown if it names no event or no session, or an agent that cannot be one.
    """
    if not isinstance(payload, dict):
        raise EventUnknown("The hook payload is not a JSON object.")
    if (other := sender(payload)) and other != harness:
        session = word(payload, "session_id") or word(payload, "sessionId")
        place, folder = word(payload, "transcript_path"), word(payload, "cwd")
        return Event(NONE, session, place, folder, caller=other)
    name, session = word(payload, "hook_event_name"), word(payload, "session_id")
    if not name or not session:
        missing = "hook_event_name" if not name else "session_id"
        raise EventUnknown(f"The hook payload has no {missing}.")
    agent = word(payload, "agent_id")
    if agent and not is_plain_name(agent):
        raise EventUnknown(f"The agent id {shortened(folded(agent), 40)!r} is not an id.")
    verb, transcript = verbs.get(name, NONE), word(payload, "transcript_path")
    if agent:
        transcript = own(transcript, agent) if transcript else ""
        verb = verb if is_named_after(transcript, agent) else NONE
    return Event(
        verb,
        session,
        transcript,
        word(payload, "cwd"),
        agent,
        source=word(payload, "source"),
        trigger=END if name == "SessionEnd" else word(payload, "trigger"),
        name=name,
        caller=harness,
        previous=word(payload, "previous_session_id"),
        seconds=end_seconds if name == "SessionEnd" else 0.0,
    )
