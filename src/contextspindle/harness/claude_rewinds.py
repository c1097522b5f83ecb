"""Rewinds in Claude Code's transcripts: the human went back to before a prompt, and typed another.

What was said before the rewind stays in the file, and nothing says that it was taken back.  It
shows in the parents alone: the new prompt stands under the entry that an earlier prompt stands
under.  Chains of parents break too often to be followed, so nothing else is concluded from them.
"""

from __future__ import annotations

from ..core.transcript import COMMAND, PROMPT, SAID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.transcript import Turn

_BETWEEN = ("system", "attachment")
"""Entries of the harness, which may or may not stand between the talk and a prompt."""
_KEPT = 2_000  # prompts and such entries remembered


class Rewinds:
    """Knows under which entry of the talk each prompt stands."""

    def __init__(self) -> None:
        self._prompts: dict[str, int] = {}
        self._between: dict[str, str] = {}

    def met(self, line: int, entry: dict[str, Any], turns: list[Turn]) -> int:
        """The line from which on the talk was taken back by this entry; 0 if it was not."""
        parent = entry.get("parentUuid")
        if not isinstance(parent, str):
            return 0
        kind = entry.get("type")
        parent = self._between.get(parent, parent)
        if kind in _BETWEEN and isinstance(own := entry.get("uuid"), str):
            _keep(self._between, own, parent)
        if kind != "user" or not any(t.kind == SAID and t.via in (PROMPT, COMMAND) for t in turns):
            return 0
        first = self._prompts.get(parent, 0)
        if first:
            self._prompts = {of: at for of, at in self._prompts.items() if at < first}
        _keep(self._prompts, parent, line)
        return first


def _keep(known: dict[str, Any], key: str, value: object) -> None:
    known[key] = value
    if len(known) > _KEPT:
        del known[next(iter(known))]
