"""Plain transcripts: lines of ``{"role": "user", "content": "..."}``, from any program.

The content is a string or a list of text blocks; a role other than ``user`` and ``assistant`` is
passed over.  There is no hook protocol: such a transcript is saved by hand.
"""

from __future__ import annotations

from ..core.text import clean
from ..core.transcript import PROMPT, SAID, TEXT, Event, Turn, without_echo
from ..errors import EventUnknown
from .claude_shapes import text_blocks
from .lines import Transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "plain"


class Parser:
    """Turns plain entries into turns."""

    def __init__(self) -> None:
        self.known = 0
        self.held: dict[int, str] = {}

    def session(self, entry: dict[str, Any]) -> str:
        """The session that ``entry`` names, by either of the usual fields, or an empty string."""
        told = entry.get("session_id") or entry.get("sessionId")
        return told if isinstance(told, str) else ""

    def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        """What ``entry`` says: one turn, or none."""
        role = entry.get("role")
        if role not in ("user", "assistant"):
            return []
        self.known += 1
        words = clean(without_echo("\n".join(text_blocks({"message": entry})))).strip("\r\n")
        if not words.strip():
            return []
        return [Turn(line, SAID, words, via=PROMPT) if role == "user" else Turn(line, TEXT, words)]

    def finish(self) -> list[Turn]:
        """Nothing is held back."""
        return []


def recognises(entry: dict[str, Any]) -> bool:
    """Whether ``entry`` is a plain line of talk."""
    return entry.get("role") in ("user", "assistant") and isinstance(
        entry.get("content"), str | list
    )


def find(config_dir: str, session: str, cwd: str = "") -> None:
    """None: there is no place where such transcripts are kept."""


def read(path: str, session: str = "", agent: str = "") -> Transcript:
    """The turns of ``session`` in ``path``, as :func:`.claude_code.read` gives them."""
    return Transcript(path, Parser(), session)


def summary(path: str, session: str, after: int) -> str:
    """Nothing: no program writes one into such a transcript."""
    return ""


def forked_from(path: str, session: str) -> None:
    """None: nothing in such a transcript says so."""


def steps(path: str, session: str) -> None:
    """None: there is no list beside such a transcript."""


HOOKS: tuple[tuple[str, str, int, str], ...] = ()
ENTRY: tuple[str, ...] = ()


def settings_path(config_dir: str, project: str, scope: str) -> str:
    """No settings: nothing runs hooks here."""
    return ""


def compacted(path: str, after: int) -> int:
    """-1: nothing is compacted here."""
    return -1


def said_up_to(path: str, after: int) -> int:
    """0: what was said before a compaction is there at the event that tells of it."""
    return 0


def parse_event(payload: object) -> Event:
    """EventUnknown: no program sends hook payloads for this format."""
    raise EventUnknown("A plain transcript has no hook payloads.")


def injection(text: str, event: Event) -> str:
    """The text as it is: there is no document to wrap it in."""
    return text
