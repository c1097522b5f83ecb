"""Codex CLI: finding and reading its rollouts, and speaking its hook protocol.

A rollout is a file of JSON lines under ``sessions/YYYY/MM/DD/``, named after the moment and the
session.  It is appended to; a compaction adds a line and takes none away, and where the summary
is encrypted the lines before it are all there is to read.  Its hooks are shaped like Claude
Code's, and have to be approved by the user once, in Codex itself.
"""

from __future__ import annotations

import os

from ..core.transcript import RESTORE, SAVE, Event
from .claude_code import injection as injection
from .codex_turns import Parser
from .lines import Transcript
from .looks import summary_behind
from .payloads import event_of, is_plain_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "codex"

_KINDS = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
# Lines that are no talk: by the start of the payload, which follows the type in every version.
_NOISE = (
    b'"type":"reasoning"',
    b'"type":"token_count"',
    b'"type":"agent_reasoning"',
    b'"type":"ghost_snapshot"',
    b'"type":"exec_command_end"',
    b'"type":"exec_command_output_delta"',
    b'"type":"token_usage_record"',
    b'"type":"world_state"',
)
_ENVELOPE = 240
_ID = 36
"""The length of a session's id, with which the name of its rollout ends."""


def find(config_dir: str, session: str, cwd: str = "") -> str | None:
    """The rollout of ``session`` under Codex's folder ``config_dir``, or None: the newest one."""
    if not is_plain_name(session):
        return None
    ending = f"-{session}.jsonl"
    for folder, below, files in os.walk(os.path.join(config_dir, "sessions")):
        below.sort(reverse=True)
        for name in sorted(files, reverse=True):
            if name.startswith("rollout-") and name.endswith(ending):
                return os.path.join(folder, name)
    return None


def worth(line: bytes, frugal: bool) -> bool:
    """Whether ``line`` may hold a turn: a guess from its bytes that never misses one."""
    head = line[:_ENVELOPE]
    if any(mark in head for mark in _NOISE):
        return False
    if not frugal:
        return len(line) > 1
    if b'"user_message"' in head or b'"role":"user"' in head or b'"UserMessage"' in line:
        return True
    return b'"thread_rolled_back"' in head


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be a line of this harness."""
    return (
        entry.get("type") in _KINDS
        and isinstance(entry.get("payload"), dict)
        and isinstance(entry.get("timestamp"), str)
    )


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in the rollout ``path``, and then how the reading went.

    A subagent's rollout is that of a session of its own, which goes by the ``agent``.

    TranscriptUnreadable if there is no such file; what stands in it never raises.
    """
    name = os.path.basename(path).partition("rollout-")[2].removesuffix(".jsonl")
    return Transcript(path, Parser(), agent or session, worth, called=name[-_ID:])


def summary(path: str, session: str, after: int) -> str:
    """The harness's own summary that the rollout holds behind byte ``after``, if it can be read."""
    return summary_behind(path, after, b'"type":"compacted"', Parser())


def forked_from(path: str, session: str) -> None:
    """None: a fork takes over the whole rollout of its parent."""


def steps(path: str, session: str) -> None:
    """None: there is no list beside the rollout."""


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """The hooks file of the user, or of a project: Codex has no personal one within a project."""
    folder = config_dir if scope == "user" else os.path.join(project, ".codex")
    return os.path.join(folder, "hooks.json")


HOOKS = (
    ("PreCompact", "fuse save --harness codex", 30, ""),
    ("SessionStart", "fuse restore --harness codex", 15, "startup|resume|clear|compact"),
    ("SessionEnd", "fuse save --harness codex", 3, ""),  # it gives no more than three seconds
)
"""Event, what to run, seconds until the harness gives up, matcher."""
ENTRY: tuple[str, ...] = ()
INLINE = "config.toml"
"""A file beside that of the hooks, in which a user may write hooks too."""

END_SECONDS = 2.0
"""Of the three that it gives at the end of a session."""

_VERBS = {"PreCompact": SAVE, "SessionEnd": SAVE, "Stop": SAVE, "SessionStart": RESTORE}


def compacted(path: str, after: int) -> int:
    """-1: an event tells of every compaction."""
    return -1


def said_up_to(path: str, after: int) -> int:
    """0: what was said before a compaction is there at the event that tells of it."""
    return 0


def parse_event(payload: object) -> Event:
    """What the hook payload asks for.  EventUnknown if it is not one of this harness."""
    return event_of(payload, NAME, _VERBS, end_seconds=END_SECONDS)
