"""Claude Code: finding, reading and parsing its transcripts, and speaking its hook protocol.

A transcript is a file of JSON lines, appended to while the session lives and never shortened: a
compaction adds a boundary and a summary, and leaves what was said before it in place.  So the file
is read in file order from its head; chains of ``parentUuid`` break too often to be followed.

Versions from 1.0 to 2.1 are told apart by what a line holds, not by its version field.
"""

from __future__ import annotations

import os

from ..core import canon
from ..core.transcript import HEAR, NONE, RESTORE, SAVE, Event
from .payloads import below_one_of, event_of, is_plain_name, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.transcript import Step
    from .lines import Transcript

NAME = "claude-code"

# ---- finding -------------------------------------------------------------------------------


def find(config_dir: str, session: str, cwd: str = "") -> str | None:
    """The transcript of ``session`` under the harness's folder ``config_dir``, or None.

    The project folder is named after ``cwd``; a session that was begun elsewhere is looked for in
    the other project folders too.
    """
    if not is_plain_name(session):
        return None
    projects = os.path.join(config_dir, "projects")
    name = session + ".jsonl"
    if cwd:
        mangled = "".join(c if c.isascii() and c.isalnum() else "-" for c in cwd)
        path = os.path.join(projects, mangled, name)
        if os.path.isfile(path):
            return path
    return below_one_of(projects, name)


def subagent_transcript(main: str, agent: str) -> str:
    """The transcript of subagent ``agent``: the harness names the ``main`` one of its session."""
    return os.path.join(main.removesuffix(".jsonl"), "subagents", f"agent-{agent}.jsonl")


# ---- reading -------------------------------------------------------------------------------

_TYPE = b'"type":"'
# Kinds of line that hold no talk, by the first type named in the line: in some the envelope comes
# first, in others the attachment or the message.
_NOISE = frozenset(
    b"progress file-history-snapshot file-history-delta last-prompt mode permission-mode ai-title"
    b" custom-title agent-name bridge-session atis-latch tools-used cost-state api-request"
    b" api-request-blob api-request-shape summary hook_success hook_additional_context"
    b" hook_system_message hook_cancelled skill_listing deferred_tools_delta agent_listing_delta"
    b" mcp_instructions_delta environment model session_context prompt_snapshot date date_change"
    b" auto_mode remote_session_change command_permissions edited_text_file diagnostics"
    b" plan_mode_exit file task_status".split()
)
# The kinds that a line of the agent names first: the envelope's, or that of a whole message.
_AGENT = (b"assistant", b"message", b"thinking", b"tool_use")
# What a tool result has in it when it holds words of the human.
_BESIDE_RESULT = (b"the user said:", b'"answers"', b'},{"type":"text"')


def worth(line: bytes, frugal: bool) -> bool:
    """Whether ``line`` may hold a turn: a guess from its bytes that never misses one.

    ``frugal`` asks for lines with the human's words only, and may miss what stands in others.
    """
    at = line.find(_TYPE)
    if at >= 0:
        start = at + len(_TYPE)
        kind = line[start : line.find(b'"', start)]
        if kind in _NOISE:
            return False
    elif len(line) < 2:
        return False
    if not frugal:
        return True
    # Most of a huge file is settled by now: the rest of a long line is not looked at.
    if at >= 0 and kind in _AGENT:
        return False
    if at < 0 or kind != b"user":
        if b'"queue-operation"' in line or b'"queued_command"' in line:
            return True
        if b'"user"' not in line:
            return False
    if b'"tool_result"' in line:
        for mark in _BESIDE_RESULT:  # noqa: SIM110 (any() with a generator costs twice as much)
            if mark in line:
                return True
        return False
    return b'"isMeta":true' not in line


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be a line of this harness."""
    if ("sessionId" not in entry and "uuid" not in entry) or "provenance" in entry:
        return False  # the latter is Qwen Code, whose lines are otherwise alike
    kind = entry.get("type")
    if kind in ("user", "assistant"):
        return isinstance(entry.get("message"), dict)
    return kind in ("system", "attachment", "queue-operation", "progress") and (
        "parentUuid" in entry or "operation" in entry
    )


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in the transcript ``path``, and then how the reading went.

    Without a session all lines count.  With an ``agent`` the file is that subagent's own.
    TranscriptUnreadable if there is no such file; what stands in it never raises.
    """
    # A restore reads no transcript, and what it does not need it must not load.
    from .claude_turns import Parser
    from .lines import Transcript

    return Transcript(path, Parser(agent), session, worth, _precedes, _hands_over)


def _hands_over(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` is a plan that was sent into a fresh context, where its own id begins."""
    from .claude_shapes import text_blocks
    from .claude_turns import PLAN_OPENING

    return isinstance(entry.get("planContent"), str) or any(
        text.startswith(PLAN_OPENING) for text in text_blocks(entry)
    )


def _precedes(path: str, own: str, old: str) -> bool:
    """Whether session ``old`` falls silent once ``own`` has begun: a fork, or a resume.

    Two sessions that write into one file side by side do not become one.
    """
    from .lines import is_called_after
    from .looks import later

    # An id in quotation marks of its own is a field; inside of a text they would be escaped.
    found = later(path, _quoted(own), _quoted(old))
    return is_called_after(path, own) if found is None else not found


def _quoted(word: str) -> bytes:
    return b'"%b"' % word.encode(errors="replace")


def summary(path: str, session: str, after: int) -> str:
    """The harness's own summary that the transcript holds behind byte ``after``, if any."""
    try:
        if os.stat(path).st_size <= after:
            return ""
    except (OSError, ValueError):
        return ""
    from .claude_beside import summary as written

    return written(path, session, after)


def forked_from(path: str, session: str) -> tuple[str, str] | None:
    """The session that this one was forked from, and the time of the snapshot it was handed."""
    from .claude_beside import forked_from as named

    return named(path, session)


def steps(path: str, session: str) -> tuple[Step, ...] | None:
    """The task list of ``session`` as it is now; None if the harness keeps none for it."""
    projects = os.path.dirname(os.path.dirname(path))
    tasks = os.path.join(os.path.dirname(projects), "tasks")
    if os.path.basename(projects) != "projects" or not os.path.isdir(tasks):
        return None
    from .claude_beside import steps as listed

    return listed(tasks, session)


# ---- the hook protocol ---------------------------------------------------------------------

USER, PROJECT, SHARED = "user", "project", "shared"


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """The settings of the user, of the user in a project, or of everybody in it (committed)."""
    if scope == USER:
        return os.path.join(config_dir, "settings.json")
    name = "settings.local.json" if scope == PROJECT else "settings.json"
    return os.path.join(project, ".claude", name)


HOOKS = (
    ("PreCompact", "fuse save", 30, ""),
    # The agent that writes the summary has no type; all others are passed over.
    ("SubagentStop", "fuse save", 15, "^$"),
    ("SessionStart", "fuse restore", 15, "startup|resume|clear|compact|fork"),
    ("SessionEnd", "fuse save", 15, ""),
)
"""Event, what to run, seconds until the harness gives up, matcher."""
ENTRY: tuple[str, ...] = ()

END_SECONDS = 0.8
"""At the end of a session the hooks of a plugin have 1.5 seconds, all of them together."""

_VERBS = {
    "PreCompact": SAVE,
    "Stop": SAVE,
    "SubagentStop": NONE,
    "SessionEnd": SAVE,
    "SessionStart": RESTORE,
}


def compacted(path: str, after: int) -> int:
    """-1: an event tells of every compaction."""
    return -1


_RECORDS = (b'"subtype":"compact_boundary"', b'"isCompactSummary":true')
"""What the lines have in them that tell of a compaction."""


def said_up_to(path: str, after: int) -> int:
    """Where the talk ends that was written behind byte ``after``, ahead of the latest compaction.

    0 if there is none.  Lines are written some tenths of a second late, beside the hooks.
    """
    from .late import said_up_to as found

    return found(path, after, _RECORDS, worth)


def parse_event(payload: object) -> Event:
    """What the hook payload asks for.  EventUnknown if it is not one of this harness.

    A payload of another program that runs this harness's hooks gives an event with the verb
    ``none`` and that program's name as ``caller``: it must be answered with silence.
    """
    event = event_of(payload, NAME, _VERBS, subagent_transcript, END_SECONDS)
    assert isinstance(payload, dict)
    if event.caller != NAME:
        return event
    if isinstance(payload.get("timestamp"), str):  # ours sends none
        bare = not event.transcript and "permission_mode" not in payload
        return event._replace(verb=NONE, caller="copilot-cli" if bare else "unknown")
    if event.name == "SubagentStop":
        # The summary is in no file yet when a session starts again behind it: only here it is said.
        # What it thought before it, in an analysis, the model never sees again.
        _, written, rest = word(payload, "last_assistant_message").partition("<summary>")
        told = rest.partition("</summary>")[0]
        if written and not word(payload, "agent_type"):
            return event._replace(verb=HEAR, agent="", summary=told)
        return event._replace(agent="")
    return event


def injection(text: str, event: Event) -> str:
    """The one JSON document to print so that a model reads ``text``; nothing for no text.

    A session start takes an object in.  Before a compaction Claude Code hands whatever is printed,
    braces included, to the model that writes the summary: there the document is a string.  Those
    that took its protocol over do not, and any other event is answered with silence.
    """
    if text and event.name == "PreCompact" and event.caller == NAME:
        return canon.text(text)
    if not text or event.verb != RESTORE:
        return ""
    return canon.text(
        {"hookSpecificOutput": {"additionalContext": text, "hookEventName": "SessionStart"}}
    )
