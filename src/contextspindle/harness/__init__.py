"""The programs that run agents, behind one small contract.

An adapter is a module with these names; what it does not do specially it says in one line:

    NAME                                the harness, as settings and commands spell it
    find(config_dir, session, cwd)      the transcript's path, or None
    read(path, session, agent)          the turns: a Transcript to iterate, then ask for its reading
    recognises(entry)                   whether a JSON object can only be a line of this harness
    summary(path, session, after)       its own summary, written behind that byte; empty if none is
    steps(path, session)                the agent's list of steps as it is now, or None
    forked_from(path, session)          session and time of the snapshot that a fork goes on from
    compacted(path, after)              where a compaction stands behind that byte, if any does
    said_up_to(path, after)             where talk ends that was written behind that byte, late
    parse_event(payload)                a hook's payload as a neutral Event, or EventUnknown
    injection(text, event)              what to print so that the agent reads the text
    HOOKS                               the hooks to install; none, if it has no settings
    ENTRY                               how a hook is written there, if not in Claude Code's way
    settings_path(config_dir, project, scope)   the settings file of a scope

A program that has plugins instead of hooks names in ``PLUGIN`` our text that its plugin is made of.
One that reads hooks from another file beside its settings names that in ``INLINE``.

An adapter is loaded when it is asked for, by name: a hook pays for its own harness only.
"""

from __future__ import annotations

from ..errors import InvalidInput, TranscriptUnreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from ..core.transcript import Event, Step
    from .lines import Transcript

    class Harness(Protocol):
        """What every adapter module offers."""

        NAME: str

        def find(self, config_dir: str, session: str, cwd: str = "") -> str | None:
            """The path of a session's transcript, or None."""

        def read(self, path: str, session: str = "", agent: str = "") -> Transcript:
            """The turns of a transcript."""

        def recognises(self, entry: dict[str, Any]) -> bool:
            """Whether this can only be a line of this harness."""

        def summary(self, path: str, session: str, after: int) -> str:
            """The harness's own summary that the transcript holds behind a byte, if any."""

        def steps(self, path: str, session: str) -> tuple[Step, ...] | None:
            """The agent's list of steps as it is now; None if there is none to be read."""

        def forked_from(self, path: str, session: str) -> tuple[str, str] | None:
            """The session that a fork goes on from, and the time of the snapshot it was handed."""

        def compacted(self, path: str, after: int) -> int | None:
            """Where the line of the latest compaction behind byte ``after`` begins.

            -1 if none came about; None if one may still be under way.
            """

        def said_up_to(self, path: str, after: int) -> int:
            """Where the talk ends that was written behind byte ``after``, ahead of the latest
            compaction; 0 for none, and for a program whose lines are there when a hook is run."""

        def parse_event(self, payload: object) -> Event:
            """The neutral event of a hook payload."""

        HOOKS: tuple[tuple[str, str, int, str], ...]
        ENTRY: tuple[str, ...]
        """The keys of a hook's command and time limit, where hooks stand in no groups."""

        def settings_path(self, config_dir: str, project: str, scope: str) -> str:
            """The settings file that applies to the user, or to a project."""

        def injection(self, text: str, event: Event) -> str:
            """What to print so that the agent reads the text."""


ADAPTERS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "qwen-code": "qwen_code",
    "droid": "droid",
    "gemini": "gemini",
    "copilot-cli": "copilot_cli",
    "opencode": "opencode",
    "cursor": "cursor",
    "cline": "cline",
    "plain": "plain",
}
"""Name of the harness to its module here, in the order in which the format is asked for."""

_LOOK_AT = 400
"""Lines looked at to find the format: real files begin with any number of control entries."""


def adapter(name: str) -> Harness:
    """The adapter called ``name``.  InvalidInput if there is none."""
    try:
        module = ADAPTERS[name]
    except KeyError:
        known = ", ".join(ADAPTERS)
        raise InvalidInput(f"There is no harness {name!r}; known are {known}.") from None
    # Not importlib's function: that package loads warnings, and a hook counts milliseconds.
    loaded: Any = __import__(f"{__name__}.{module}", fromlist=("NAME",))
    return loaded  # type: ignore[no-any-return]


def detect(path: str) -> Harness:
    """The adapter whose lines ``path`` holds, found from the content.

    The first line that only one harness can have written decides, however many control entries
    stand before it.  TranscriptUnreadable if no line of the file's start is known to any.
    """
    from .documents import opened
    from .lines import objects

    adapters = [adapter(name) for name in ADAPTERS]
    for number, line, _, _ in opened(path):
        if number > _LOOK_AT:
            break
        for entry in objects(line)[0]:
            for candidate in adapters:
                if candidate.recognises(entry):
                    return candidate
    raise TranscriptUnreadable(f"The transcript {path!r} holds no line of a known form.")
