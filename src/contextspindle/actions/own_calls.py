"""What a session did in the ledger, told by its own calls of our command or tools.

The task that it worked on last is the one that a restore tells first.  The token of its claim is
kept too: after a compaction nothing else knows it, and without it an agent would be shut out of its
own task until the lease ends.  A token counts only where this session was given it or carried it.
"""

from __future__ import annotations

from itertools import pairwise

from ..core.transcript import CALL, RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.transcript import Turn

_VERBS = frozenset("update show context claim prove release renew".split())
_TOOLS = "contextspindle_task_"
_AROUND = "'\"`;,(){}\\"
"""What may stand around a word in a shell's line or in JSON."""
_CARRIED = ("--claim", "CONTEXTSPINDLE_CLAIM")
_GIVEN = "token"
"""What stands somewhere before a token, on its line of the answer to a claim."""


class OwnCalls:
    """The task that a session worked on last, and the last token that it had for it."""

    def __init__(self) -> None:
        self.task = ""
        self._tokens: dict[str, str] = {}
        self._claims = ""

    @property
    def token(self) -> str:
        """The token for the task; empty if the session never had one."""
        return self._tokens.get(self.task, "")

    def feed(self, turn: Turn) -> None:
        """Take the next turn of the session."""
        if turn.kind == CALL:
            if turn.tool.rpartition(_TOOLS)[2] in _VERBS and _TOOLS in turn.tool:
                self._tool(turn)
            elif "contextspindle" in turn.text:
                self._command(turn)
        elif turn.kind == RESULT and self._claims and turn.call == self._claims:
            self._claims = ""
            self._answer(turn.text)

    def _tool(self, turn: Turn) -> None:
        from ..core.task import is_id

        named = (line[4:] for line in turn.text.split("\n") if line.startswith("id: "))
        self.task = next((word for word in named if is_id(word)), self.task)
        if turn.tool.endswith("_claim"):
            self._claims = turn.call

    def _command(self, turn: Turn) -> None:
        from ..core.task import is_id

        words = turn.text.replace("=", "= ").split()
        for before, word in pairwise(words):
            word = word.strip(_AROUND)
            if before in _VERBS and is_id(word):
                self.task = word
            elif before.strip(_AROUND + "=") in _CARRIED:
                self._keep(word)
            if word == "claim":
                self._claims = turn.call

    def _answer(self, text: str) -> None:
        for line in text.split("\n"):
            given = False
            for raw in line.replace(":", " ").replace(",", " ").split():
                word = raw.strip(_AROUND)
                if given and self._keep(word):
                    self.task = word.partition(".")[0]
                    given = False
                given = given or word == _GIVEN

    def _keep(self, word: str) -> bool:
        from ..core.task import SECRET, is_id

        task, _, secret = word.partition(".")
        if not is_id(task) or len(secret) != SECRET or not secret.isalnum():
            return False
        self._tokens[task] = word
        return True
