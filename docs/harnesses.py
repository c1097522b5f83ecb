"""What each harness is promised to do with our hooks, event by event, and how that is known.

``docs/generate.py`` makes the page ``reference/harnesses.md`` of it, and the tests in
``tests/contract/harness/test_promises.py`` hold the adapters to it, with recorded payloads.  A new
harness is a row in ``HARNESSES``, one in ``PROMISES`` for each event of its that is recorded or
installed, and what it cannot do in ``LIMITS``.
"""

from __future__ import annotations

from typing import NamedTuple

LIVE, DOCUMENTED, SOURCE = "live", "documentation", "source"
KINDS = {
    LIVE: "seen with the real program of that version, which ran against a stand-in for a model;"
    " where its payloads were recorded, the tests run on them",
    DOCUMENTED: "its documentation says so, and it was not run",
    SOURCE: "its source or its package says so, and it was not run",
}
"""How something is known."""

SAVE, HEAR, RESTORE, NOTE, LOOK, NONE = "save", "hear", "restore", "note", "look", "none"
DEEP, FLAT, STRING = "hookSpecificOutput.additionalContext", "additionalContext", "a JSON string"
OWN = "`text`, for our plugin"
"""Where the text stands in what is answered."""


class Harness(NamedTuple):
    """One program, and what is the same for all its events."""

    title: str
    version: str
    unit: str
    """What its limits of time are counted in."""
    trust: str
    """What it asks its user before it runs a hook."""


class Promise(NamedTuple):
    """What becomes of one event."""

    harness: str
    event: str
    verb: str
    """What it asks for in neutral words: ``core/transcript.py`` has them."""
    promise: str
    source: str = LIVE
    when: tuple[tuple[str, str], ...] = ()
    """Fields of the payload, with what they must hold for this row to be the one: ``*`` is any."""
    answer: str = ""
    """Where the text stands in the answer, if there can be one."""


class Limit(NamedTuple):
    """Something that is not promised."""

    harness: str
    what: str
    source: str


HARNESSES = {
    "claude-code": Harness(
        "Claude Code", "2.1.332", "seconds", "whether you trust the folder; before that none runs"
    ),
    "codex": Harness("Codex CLI", "0.171.0", "seconds", "to approve each hook, in `/hooks`"),
    "qwen-code": Harness("Qwen Code", "0.24.4", "milliseconds", "whether you trust the folder"),
    "droid": Harness("Factory Droid", "0.225.2", "seconds", "whether you trust the folder"),
    "gemini": Harness(
        "Gemini CLI",
        "0.61.0",
        "milliseconds",
        "whether you trust the folder, for a project's hooks",
    ),
    "copilot-cli": Harness(
        "GitHub Copilot CLI",
        "1.0.102",
        "seconds",
        "whether you trust the folder, for a project's hooks",
    ),
    "opencode": Harness("OpenCode", "1.18.33", "seconds", "nothing"),
}

_SAVES = "An extract of the transcript is saved."
_ENDS = "A snapshot is saved, if there is a workspace; another program's session is told of it."
_BY_HAND = "Saves, if you add `fuse save` there, unless nothing was said since the last save."
_LIVE_TASKS = (
    "The agent is given the live tasks, in at most 1,500 bytes; nothing if there are none."
)
_RECORD = "The agent is given the record of what was said before, in at most 6,000 bytes."
_NEWS = "The agent is given one line if tasks have changed since the session's snapshot."
_OWED = (
    "If a compaction stands in the transcript that the agent was given nothing for yet, it is given"
    " the record, once. Otherwise nothing."
)
_RESUMED = "The same record, if one is still owed; else one line if tasks have changed."
_UNUSED = "Nothing: it is not used."


def _started(harness: str, *sources: tuple[str, str, str], answer: str) -> tuple[Promise, ...]:
    name = "sessionStart" if harness == "copilot-cli" else "SessionStart"
    return tuple(
        Promise(harness, name, RESTORE, said, known, (("source", source),), answer)
        for source, said, known in sources
    )


def _unused(harness: str, events: str) -> tuple[Promise, ...]:
    return tuple(Promise(harness, event, NONE, _UNUSED) for event in events.split())


PROMISES = (
    Promise(
        "claude-code",
        "PreCompact",
        SAVE,
        f"{_SAVES} The model that writes the summary is told the session's task, if it has one.",
        answer=STRING,
    ),
    Promise(
        "claude-code",
        "PreCompact",
        SAVE,
        "The subagent's own transcript is saved, under the subagent.",
        when=(("agent_type", "*"),),
        answer=STRING,
    ),
    Promise(
        "claude-code",
        "SubagentStop",
        HEAR,
        "What the harness's own summary says is noted, so that it is not said again.",
        when=(("agent_type", ""),),
    ),
    Promise(
        "claude-code",
        "SubagentStop",
        NONE,
        "Nothing: the matcher keeps it away.",
        when=(("agent_type", "*"),),
    ),
    *_started(
        "claude-code",
        ("startup", _LIVE_TASKS, LIVE),
        ("clear", _LIVE_TASKS, LIVE),
        ("compact", _RECORD, LIVE),
        ("resume", _NEWS, LIVE),
        ("fork", _NEWS, LIVE),
        answer=DEEP,
    ),
    Promise("claude-code", "Stop", SAVE, _BY_HAND),
    Promise("claude-code", "SessionEnd", SAVE, _ENDS),
    *_unused(
        "claude-code",
        "PostCompact UserPromptSubmit PreToolUse PostToolUse SubagentStart TaskCreated",
    ),
    Promise("codex", "PreCompact", SAVE, _SAVES),
    *_started(
        "codex",
        ("startup", _LIVE_TASKS, LIVE),
        ("clear", _LIVE_TASKS, LIVE),
        ("compact", _RECORD, LIVE),
        ("resume", _NEWS, LIVE),
        answer=DEEP,
    ),
    Promise("codex", "Stop", SAVE, _BY_HAND),
    Promise("codex", "SessionEnd", SAVE, _ENDS),
    *_unused("codex", "PostCompact UserPromptSubmit PreToolUse PostToolUse"),
    Promise("qwen-code", "PreCompact", SAVE, _SAVES),
    *_started(
        "qwen-code",
        ("startup", _LIVE_TASKS, LIVE),
        ("clear", _LIVE_TASKS, LIVE),
        ("compact", _RECORD, LIVE),
        ("resume", _NEWS, DOCUMENTED),
        answer=DEEP,
    ),
    Promise("qwen-code", "Stop", SAVE, _BY_HAND),
    Promise("qwen-code", "SessionEnd", SAVE, _ENDS),
    *_unused("qwen-code", "PostCompact UserPromptSubmit PreToolUse PostToolUse Notification"),
    Promise("droid", "PreCompact", SAVE, _SAVES),
    *_started(
        "droid",
        ("startup", _LIVE_TASKS, LIVE),
        ("clear", _LIVE_TASKS, DOCUMENTED),
        ("compact", f"{_RECORD} It is that of the session before, which the event names.", LIVE),
        ("resume", _NEWS, LIVE),
        answer=DEEP,
    ),
    Promise("droid", "Stop", SAVE, _BY_HAND),
    Promise("droid", "SessionEnd", SAVE, _ENDS),
    Promise("droid", "UserPromptSubmit", LOOK, _OWED, answer=DEEP),
    Promise("droid", "PostToolUse", LOOK, _OWED, answer=DEEP),
    *_unused("droid", "PreToolUse"),
    Promise(
        "gemini",
        "PreCompress",
        NOTE,
        "It comes at every turn of the model, so it is noted how far the transcript reaches; a"
        " snapshot is saved where much was said since the last one.",
        when=(("trigger", "auto"),),
    ),
    Promise(
        "gemini", "PreCompress", SAVE, f"{_SAVES} It is noted too.", when=(("trigger", "manual"),)
    ),
    Promise("gemini", "BeforeAgent", LOOK, _OWED, answer=DEEP),
    Promise("gemini", "AfterTool", LOOK, _OWED, answer=DEEP),
    *_started(
        "gemini",
        ("startup", _LIVE_TASKS, LIVE),
        ("clear", _LIVE_TASKS, LIVE),
        ("resume", _RESUMED, LIVE),
        answer=DEEP,
    ),
    Promise("gemini", "SessionEnd", SAVE, f"{_BY_HAND} It comes up to three times."),
    *_unused("gemini", "AfterAgent BeforeModel BeforeTool"),
    Promise(
        "copilot-cli", "preCompact", SAVE, f"{_SAVES} How far the transcript reaches is noted."
    ),
    Promise("copilot-cli", "userPromptSubmitted", LOOK, _OWED, answer=FLAT),
    Promise("copilot-cli", "postToolUse", LOOK, _OWED, answer=FLAT),
    *_started(
        "copilot-cli",
        ("new", _LIVE_TASKS, LIVE),
        ("startup", _LIVE_TASKS, DOCUMENTED),
        ("resume", _RESUMED, LIVE),
        answer=FLAT,
    ),
    Promise("copilot-cli", "agentStop", SAVE, _BY_HAND),
    Promise("copilot-cli", "sessionEnd", SAVE, _BY_HAND),
    *_unused("copilot-cli", "preToolUse userPromptTransformed"),
    Promise(
        "opencode",
        "session.compacting",
        SAVE,
        f"{_SAVES} The model that writes the summary is told the session's task, if it has one.",
        answer=OWN,
    ),
    Promise(
        "opencode",
        "session.compacted",
        RESTORE,
        f"{_RECORD} It stays the same until the next compaction, and is stored nowhere.",
        answer=OWN,
    ),
    Promise("opencode", "session.start", RESTORE, _LIVE_TASKS, answer=OWN),
)

PLUGIN_SECONDS = 6
"""How long the plugin for OpenCode waits for an answer."""

LIMITS = (
    Limit(
        "opencode",
        "Version 2: its plugins are others, and ours does nothing there.",
        DOCUMENTED,
    ),
    Limit(
        "claude-code",
        "A text of more than 10,000 characters is put into a file, and its beginning shown; so none"
        " of ours is longer than 9,500 bytes.",
        LIVE,
    ),
    Limit(
        "codex",
        "Where the summary is encrypted it cannot be left out of the record what it says.",
        SOURCE,
    ),
    Limit("codex", "The compaction of a subagent.", SOURCE),
    Limit(
        "qwen-code",
        "The compaction of a subagent: a payload that names the session's transcript for it is"
        " answered with silence.",
        DOCUMENTED,
    ),
    Limit(
        "droid",
        "The compaction of a subagent: a payload that names the session's transcript for it is"
        " answered with silence.",
        DOCUMENTED,
    ),
    Limit(
        "qwen-code",
        "After an automatic compaction the record may come one request of the model later.",
        LIVE,
    ),
    Limit(
        "droid",
        "Between a compaction that the program makes by itself and the next prompt or end of a"
        " tool's call the agent works without the record: no event comes in between.",
        LIVE,
    ),
    Limit(
        "gemini",
        "Between an automatic compression and the next prompt or tool call the agent works without"
        " the record: no event comes in between that can give it.",
        LIVE,
    ),
    Limit(
        "gemini",
        "A compression that only shortens the output of tools, with no summary, is none.",
        SOURCE,
    ),
    Limit(
        "gemini",
        "The compression of a subagent. Its events name the session, so a record that is owed may"
        " reach a subagent whose tool ends first.",
        SOURCE,
    ),
    Limit("gemini", "`<` and `>` in what was said arrive as `&lt;` and `&gt;`.", LIVE),
    Limit(
        "copilot-cli",
        "Its documentation says that what a hook says to a prompt is dropped; this version takes it"
        " in. Where it is dropped, nothing tells us so.",
        LIVE,
    ),
    Limit(
        "copilot-cli",
        "Copilot CLI runs the hooks of a project's `.claude` settings as well. Those that were"
        " installed for Claude Code stay silent there: `setup copilot-cli` installs its own.",
        LIVE,
    ),
    Limit("copilot-cli", "The compaction of a subagent: it was not seen.", DOCUMENTED),
)


def row_of(harness: str, event: str, payload: dict[str, object]) -> Promise:
    """The row of an event: of those whose fields are as the payload has them the narrowest.

    LookupError if there is none.
    """
    fitting = [
        one
        for one in PROMISES
        if (one.harness, one.event) == (harness, event)
        and all(
            payload.get(name) == value or (value == "*" and payload.get(name))
            for name, value in one.when
        )
    ]
    if not fitting:
        raise LookupError(f"{harness}: nothing is said of {event} with {payload}")
    return max(fitting, key=lambda one: len(one.when))
