"""A made-up session, the same every time: a long one in which each fact that matters is said once.

It is what `fuse demo` saves and restores.  Nothing in it was ever said by anybody; the talk around
the facts is drawn from a small stock of words, so that what is kept is kept for its place and its
shape, and not because it stands out from silence.
"""

from __future__ import annotations

from . import canon
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SESSION = "demo-0001"
MESSAGES = 95
BYTES = 185_000
"""About how many the transcript has."""


class Fact(Value):
    """Something that whoever goes on must know: what kind of thing, and the words that show it."""

    kind: str
    words: str


FACTS = (
    Fact("goal", "move the invoice export to the new queue"),
    Fact("constraint", "never touch the file legacy_rates.csv"),
    Fact("preference", "write commit messages in German"),
    Fact("decision", "retries stop after 4 attempts"),
    Fact("answer to a question", "Postgres 15 on port 5544"),
    Fact("reversed decision", "keep the old endpoint until March"),
    Fact("root cause", "the lock was taken twice in drain_batch"),
    Fact("error met", "QUEUE_FULL_0x2F"),
    Fact("file changed", "src/export/worker_pool.py"),
    Fact("commit", "9c41d7e"),
    Fact("test result", "2 failed, 311 passed"),
    Fact("subagent's result", "the sandbox account is tenant-8812"),
    Fact("open step", "backfill the June invoices"),
    Fact("last request", "make the batch size configurable"),
)

_STOCK = (
    "module value caller branch result check handler reader order buffer parser layer record"
    " helper config option output string number folder version test case change line code"
    " function class method field type name list entry item block state step part form place"
).split()
_JOINS = "the a this that each one more also then here still now with for from into over".split()


class _Chance:
    """Numbers that look drawn and are always the same."""

    def __init__(self) -> None:
        self._state = 20_260_101

    def below(self, limit: int) -> int:
        self._state = (self._state * 1_103_515_245 + 12_345) % (1 << 31)
        return (self._state >> 8) % limit

    def sentence(self) -> str:
        words: list[str] = []
        for _ in range(5 + self.below(9)):
            stock = _JOINS if len(words) % 2 else _STOCK
            words.append(stock[self.below(len(stock))])
        return " ".join(words).capitalize() + "."

    def text(self, size: int) -> str:
        parts: list[str] = []
        length = 0
        while length < size:
            parts.append(self.sentence())
            length += len(parts[-1]) + 1
        return " ".join(parts)


def transcript() -> bytes:
    """The lines of the session, in the form of Claude Code's transcripts."""
    chance = _Chance()
    matters = _matters(chance)
    # What matters is spread over the whole length; the last two are the end of the session.
    told, ended = matters[:-2], matters[-2:]
    count = MESSAGES - len(matters)
    room = BYTES - sum(len(canon.encode(entry)) + 1 for entry in matters)
    lines = told[:1]
    taken = 1
    for number in range(count):
        due = len(told) * number // count
        lines += told[taken:due]
        taken = max(taken, due)
        # A call that nothing answers would look like one that still runs.
        lines.append(_filler(chance, 0 if number == count - 1 else number, room // count))
    return b"".join(canon.encode(one) + b"\n" for one in [*lines, *told[taken:], *ended])


def _matters(chance: _Chance) -> list[dict[str, Any]]:
    """What is said and done that matters, in order, with its call before each result."""
    return [
        _said(
            "Please move the invoice export to the new queue. It must run every night."
            " And never touch the file legacy_rates.csv, finance owns it."
        ),
        _call("c1", "Bash", command="cat docs/export.md"),
        _result("c1", chance.text(1_500)),
        _said("One more thing: write commit messages in German, as the others do."),
        _wrote("Which database should the tests use?"),
        _said("Postgres 15 on port 5544, it is the one in the compose file."),
        _wrote(chance.text(300) + " How often do we retry?"),
        _said("Let us say retries stop after 4 attempts, then it goes to the dead letters."),
        _call("c2", "Bash", command="python -m export --once"),
        _result("c2", "Traceback: worker stopped\nExportError: QUEUE_FULL_0x2F", failed=True),
        _wrote(
            "Found it: the lock was taken twice in drain_batch, so the second worker waited."
            f" {chance.text(200)}"
        ),
        _said("First I wanted it gone, but no: keep the old endpoint until March."),
        _call("c3", "Agent", description="find the sandbox", prompt="find the sandbox account"),
        _result("c3", "I looked through the settings: the sandbox account is tenant-8812."),
        _call("c4", "Edit", file_path="/home/ada/shop/src/export/worker_pool.py"),
        _result("c4", "The file was updated."),
        _call("c5", "Bash", command="git commit -m 'Export: Sperre nur einmal nehmen'"),
        _result("c5", "[main 9c41d7e] Export: Sperre nur einmal nehmen\n 1 file changed"),
        _call(
            "c6", "TaskCreate", subject="backfill the June invoices", description="after release"
        ),
        _result("c6", "Task #1 created successfully"),
        _call("c7", "Bash", command="python -m pytest -q"),
        _result("c7", "FAILED test_export.py\n2 failed, 311 passed in 40 s", failed=True),
        _said("Then make the batch size configurable, and look at the two failures after that."),
        _wrote("I read the settings first; next I add the option to the worker."),
    ]


def _filler(chance: _Chance, number: int, size: int) -> dict[str, Any]:
    """Every third message is talk, the others are a call and its long result."""
    if number % 3 == 0:
        return _wrote(chance.text(size // 2))
    path = f"/home/ada/shop/src/part_{number // 3}.py"
    if number % 3 == 1:
        return _call(f"f{number}", "Read", file_path=path)
    return _result(f"f{number - 1}", chance.text(size * 5 // 2 - 570))


def _entry(kind: str, content: Any) -> dict[str, Any]:
    return {
        "cwd": "/home/ada/shop",
        "gitBranch": "main",
        "isSidechain": False,
        "message": {"content": content, "role": kind},
        "sessionId": SESSION,
        "type": kind,
        "uuid": "demo",
    }


def _said(text: str) -> dict[str, Any]:
    return _entry("user", text)


def _wrote(text: str) -> dict[str, Any]:
    return _entry("assistant", [{"text": text, "type": "text"}])


def _call(call: str, tool: str, **given: str) -> dict[str, Any]:
    return _entry("assistant", [{"id": call, "input": given, "name": tool, "type": "tool_use"}])


def _result(call: str, text: str, *, failed: bool = False) -> dict[str, Any]:
    block = {"content": text, "is_error": failed, "tool_use_id": call, "type": "tool_result"}
    return _entry("user", [block])
