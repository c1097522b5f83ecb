"""OpenCode: its sessions as messages with parts, and what our plugin there asks for.

OpenCode keeps sessions in a database of its own.  They come out of it as messages: our plugin
hands them over as lines, and ``opencode export`` prints them as one document.  A message counts as
a line in both alike, so that a pointer into what the plugin handed over leads to the export.
"""

from __future__ import annotations

import os

from ..core import canon, digest
from ..core.text import clean
from ..core.transcript import (
    ANSWER,
    BOUNDARY,
    PROMPT,
    REFUSAL,
    RESTORE,
    SAID,
    SAVE,
    SUMMARY,
    TEXT,
    Event,
    Turn,
)
from ..errors import TranscriptUnreadable, in_words
from . import claude_shapes as shapes
from .claude_shapes import own_words
from .lines import SEAL, Transcript
from .payloads import event_of, is_plain_name, word
from .tools import Calls, patched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "opencode"
PLUGIN = "opencode_plugin.js"

_HANDED = "handed.jsonl"
"""What our plugin calls the file that it hands over, which is gone afterwards."""
_EXPORT = "opencode export "
_EXPORT_SECONDS = 60

_FEEDBACK = "rejected permission to use this specific tool call with the following feedback: "


class Parser:
    """Turns the messages of one session, in their order, into turns."""

    def __init__(self) -> None:
        self.known = 0
        self.held: dict[int, str] = {}
        self._calls = Calls("bash", "edit write multiedit patch apply_patch", "task", "todowrite")

    def session(self, entry: dict[str, Any]) -> str:
        """The session that a message is of."""
        info = entry.get("info")
        return shapes.string(info.get("sessionID")) if isinstance(info, dict) else ""

    def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        """The turns of one message: none for one that says nothing."""
        if not recognises(entry):
            return []
        self.known += 1
        info = entry["info"]
        parts = [part for part in entry["parts"] if isinstance(part, dict)]
        if info["role"] == "user":
            turns = _user(line, parts)
        elif info.get("summary") is True:
            turns = _summary(line, info, parts)
        else:
            turns = [turn for part in parts for turn in self._part(line, part)]
        if not turns:
            return []
        seal = _seal(info, parts)
        return [turn._replace(seal=seal) for turn in turns]

    def finish(self) -> list[Turn]:
        """Nothing is held back."""
        return []

    def _part(self, line: int, part: dict[str, Any]) -> list[Turn]:
        kind = part.get("type")
        if kind == "text" and not part.get("synthetic"):
            words = own_words(shapes.string(part.get("text")))
            return [Turn(line, TEXT, words)] if words else []
        return self._tool(line, part) if kind == "tool" else []

    def _tool(self, line: int, part: dict[str, Any]) -> list[Turn]:
        tool, call = shapes.string(part.get("tool")), shapes.string(part.get("callID"))
        state = part.get("state")
        if not isinstance(state, dict):
            return []
        status, inputs = state.get("status"), _inputs(state.get("input"))
        error = shapes.string(state.get("error"))
        code = _detail(state).get("exit")
        failed = status == "error" or (isinstance(code, int) and code != 0)
        turns = []
        for at, given in enumerate(inputs):
            key = f"{call}#{at}" if at else call
            turns += self._calls.call(line, tool, key, given)
            if status in ("completed", "error"):
                text = error or shapes.string(state.get("output"))
                turns += self._calls.result(line, key, text, failed=failed)
        if tool == "question":
            turns += _answers(line, state, call)
        words = own_words(error.partition(_FEEDBACK)[2])
        if words:
            about = shapes.about_of(inputs[0])
            turns.append(Turn(line, SAID, words, REFUSAL, clean(tool), call, about))
        return turns


def _user(line: int, parts: list[dict[str, Any]]) -> list[Turn]:
    """What the human typed; what the program added to it says that it is synthetic."""
    said = []
    for part in parts:
        kind = part.get("type")
        if kind == "compaction":
            return []
        if kind == "text" and not part.get("synthetic") and not part.get("ignored"):
            said.append(own_words(shapes.string(part.get("text"))))
        elif kind == "file" and shapes.string(part.get("mime")).startswith("image/"):
            said.append("[Image]")
    words = "\n".join(text for text in said if text)
    return [Turn(line, SAID, words, via=PROMPT)] if words else []


def _summary(line: int, info: dict[str, Any], parts: list[dict[str, Any]]) -> list[Turn]:
    """A compaction, once its summary is written."""
    if info.get("error") or not info.get("finish"):
        return []
    texts = [shapes.string(part.get("text")) for part in parts if part.get("type") == "text"]
    words = own_words("\n".join(texts))
    turns = [Turn(line, BOUNDARY)]
    return [*turns, Turn(line, SUMMARY, words)] if words else turns


def _answers(line: int, state: dict[str, Any], call: str) -> list[Turn]:
    """What the human chose or wrote, each with its question."""
    given, answers = state.get("input"), _detail(state).get("answers")
    asked = given.get("questions") if isinstance(given, dict) else None
    turns = []
    for question, answer in zip(_list(asked), _list(answers)):
        words = clean(", ".join(one for one in _list(answer) if isinstance(one, str)).strip())
        if words and isinstance(question, dict):
            about = clean(shapes.string(question.get("question")))
            turns.append(Turn(line, SAID, words, ANSWER, "question", call, about))
    return turns


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _detail(state: dict[str, Any]) -> dict[str, Any]:
    detail = state.get("metadata")
    return detail if isinstance(detail, dict) else {}


def _inputs(given: object) -> list[dict[str, Any]]:
    """The input of a call; of a patch, one for each file.  Files go by the name that others use."""
    if not isinstance(given, dict):
        return [{}]
    files = patched(shapes.string(given.get("patchText")))
    if files:
        return [{"file_path": path} for path in files]
    return [{"file_path" if key == "filePath" else key: value for key, value in given.items()}]


def _seal(info: dict[str, Any], parts: list[dict[str, Any]]) -> str:
    """The seal of what a message says, which stays while OpenCode notes usage and times in it."""
    said: list[object] = [shapes.string(info.get("id"))]
    for part in parts:
        if part.get("type") == "text":
            said.append(shapes.string(part.get("text")))
        elif part.get("type") == "tool" and isinstance(part.get("state"), dict):
            state = part["state"]
            said.append([state.get(key) for key in ("status", "input", "output", "error")])
    return digest.sha256(canon.text(said).encode("utf-8", "replace"))[:SEAL]


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` can only be a message of this harness."""
    info = entry.get("info")
    return (
        isinstance(info, dict)
        and info.get("role") in ("user", "assistant")
        and isinstance(info.get("sessionID"), str)
        and isinstance(entry.get("parts"), list)
    )


def find(config_dir: str, session: str, cwd: str = "") -> None:
    """None: the sessions stand in a database of the program's own."""


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in the file ``path``, and then how the reading went.

    What our plugin handed over is named by the command that prints it again, and such a name is
    read by running it.  TranscriptUnreadable if there is no such file, or the command fails.
    """
    if path.startswith(_EXPORT):
        return _exported(path)
    transcript = Transcript(path, Parser(), session, cuts_back=True)
    if os.path.basename(path) == _HANDED and is_plain_name(session):
        transcript.path = _EXPORT + session
    return transcript


def _exported(command: str) -> Transcript:
    import shutil
    import subprocess
    import tempfile

    from .documents import Document

    session = command.removeprefix(_EXPORT)
    program = shutil.which("opencode")
    if program is None or not is_plain_name(session):
        raise TranscriptUnreadable(
            f"The session is in OpenCode's own database: {command!r} cannot be run here",
            hint="The command 'opencode' has to be on the PATH.",
        )
    try:
        with tempfile.TemporaryFile() as file:
            subprocess.run(  # noqa: S603 (the program itself, and an id)
                [program, "export", session],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.DEVNULL,
                timeout=_EXPORT_SECONDS,
                check=True,
            )
            document = Document(command, os.dup(file.fileno()))
    except (OSError, subprocess.SubprocessError) as error:
        raise TranscriptUnreadable(f"{command!r} failed: {_why(error)}") from None
    return Transcript(command, Parser(), session, raw=document, cuts_back=True)


def summary(path: str, session: str, after: int) -> str:
    """Nothing: the plugin says what the summary is."""
    return ""


def forked_from(path: str, session: str) -> None:
    """None: a fork has the messages of its session as its own."""


def steps(path: str, session: str) -> None:
    """None: there is no list beside such a transcript."""


HOOKS: tuple[tuple[str, str, int, str], ...] = ()
"""None in settings: the plugin does it."""
ENTRY: tuple[str, ...] = ()


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """The plugin's file, of the user or of a project: there is no personal one within a project."""
    folder = config_dir if scope == "user" else os.path.join(project, ".opencode")
    return os.path.join(folder, "plugins", "contextspindle.js")


_VERBS = {
    "session.compacting": SAVE,
    "session.compacted": RESTORE,
    "session.start": RESTORE,
}


def compacted(path: str, after: int) -> int:
    """-1: its hooks say when it compacts."""
    return -1


def said_up_to(path: str, after: int) -> int:
    """0: what was said before a compaction is there at the event that tells of it."""
    return 0


def parse_event(payload: object) -> Event:
    """What our plugin asks for.  EventUnknown if the payload is not one of its."""
    event = event_of(payload, NAME, _VERBS)
    return event._replace(summary=word(payload, "summary") if isinstance(payload, dict) else "")


def injection(text: str, event: Event) -> str:
    """The document that the plugin reads the text from."""
    return canon.text({"text": text})


def _why(error: Exception) -> str:
    import subprocess

    if isinstance(error, subprocess.CalledProcessError):
        return f"it ended with status {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it took longer than {_EXPORT_SECONDS} s"
    return in_words(error)
