"""A hook never harms the agent: its own deadline, status 0, silence where there is nothing to say.

What goes wrong here is written down as an incident instead of being printed, because the program
that runs the hook would hand it to the model or stop its work.
"""

from __future__ import annotations

import os
import time

from ..core.value import Value
from ..errors import EventUnknown, SpindleError, in_words
from . import parse, reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.transcript import Event

READ_SECONDS = 1.0
"""How long to wait for the payload: a harness may leave standard input open behind it."""
QUIET_SECONDS = 0.03
"""After so long without more of it, it is taken as it is."""
SOFT_SECONDS = 3.0
"""When to stop reading a transcript and keep what there is."""
HARD_SECONDS = 4.5
"""When to end, whatever is going on."""
PAYLOAD_LIMIT = 16 * 1024 * 1024
"""The most bytes of a payload."""

VERBS = (("fuse", "save"), ("fuse", "restore"))
"""The commands that are hooks."""
BY_HAND = frozenset(("--transcript", "--plain", "--session", "--from", "--json"))
"""Options that no harness gives: who gives one reads what went wrong."""


class Deadline(Value):
    """The moments of one hook, on the monotonic clock."""

    started: float
    seconds: float = SOFT_SECONDS

    def left(self) -> float:
        """Seconds until it is time to keep what there is; negative afterwards."""
        return self.started + self.seconds - time.monotonic()

    def passed(self) -> bool:
        """Whether it is time to keep what there is."""
        return self.left() < 0


def guarded(late: Callable[[], None]) -> Deadline:
    """From now on the process ends by itself, with status 0, before the harness would end it.

    ``late`` is called first: whoever is ended says so.
    """
    import _thread

    def end() -> None:
        time.sleep(HARD_SECONDS)
        try:
            late()
        finally:
            os._exit(0)

    _thread.start_new_thread(end, ())
    return Deadline(time.monotonic())


def payload() -> Any:
    """The JSON document on standard input, read no further than it goes.

    EventUnknown if none comes in time.  A byte order mark is passed over.
    """
    import select

    from ..core import canon

    data = bytearray()
    piece = b""
    tried, due = 0, False  # the bytes of the last try; whether what there is may be the whole
    until = time.monotonic() + READ_SECONDS
    problem = "nothing came on standard input"
    while (left := until - time.monotonic()) > 0:
        if select.select([0], [], [], min(left, QUIET_SECONDS) if due else left)[0]:
            piece = os.read(0, 1 << 16)
            data += piece
            if len(data) > PAYLOAD_LIMIT:
                problem = f"it has more than {PAYLOAD_LIMIT >> 20} MiB"
                break
            if not data:
                break
            problem = f"its end did not come within {READ_SECONDS:g} s"
            due = not piece or piece.rstrip().endswith(b"}")
            if piece and len(data) < 2 * tried:
                continue  # each piece of a long text may end like a document
        elif not due:
            break
        if due:
            tried, due = len(data), False
            try:
                return canon.decode(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
            except ValueError as error:
                problem = problem if piece else in_words(error)
        if not piece:
            break
    raise EventUnknown(f"The hook payload cannot be read: {problem}")


def folder_of(found: object) -> str:
    """The folder that a payload names, in whatever form the rest of it is; empty if it does not."""
    cwd = found.get("cwd") if isinstance(found, dict) else None
    return cwd if isinstance(cwd, str) else ""


# -- what went wrong


def is_run_by(words: list[str]) -> bool:
    """Whether these words are a hook's, and a program runs them: no terminal is its input."""
    try:
        command, rest = parse.command_of(words)
    except parse.NotPlain:
        return False
    given = {word.partition("=")[0] for word in rest}
    return command.words in VERBS and not given & BY_HAND and not os.isatty(0)


def survived(words: list[str], error: BaseException) -> None:
    """Write down what a hook of these words ended with outside of its own course.

    Its payload, if it is still to be read, says where; nothing is raised.
    """
    try:
        guarded(lambda: None)
        try:
            found = payload()
        except (SpindleError, OSError, ValueError):
            found = None
            if isinstance(error, SpindleError):
                # No harness leaves its payload out: whoever typed this reads what is wrong.
                reply.put(reply.ERR, reply.error_text(error))
        hint = getattr(error, "hint", "")
        said = f"{error}. {hint}" if hint else str(error)
        note(_named(words), folder_of(found), error, said=said)
    except Exception:
        return


def note(
    named: str, start: str, error: BaseException, *, event: Event | None = None, said: str = ""
) -> None:
    """Write the incident to the workspace ``named``, else to that of a session in ``start``.

    Nothing is left to do if that fails.
    """
    from .. import workspace

    try:
        add(workspace.incidents(named, start=start or None), "hook", error, event=event, said=said)
    except Exception:
        return


def add(
    incidents: Any,
    what: str,
    error: BaseException,
    *,
    event: Event | None = None,
    said: str = "",
) -> None:
    """One more incident: ``what`` went wrong, at which event, and the error, ``said`` or as is."""
    from .. import workspace

    code = error.code if isinstance(error, SpindleError) else type(error).__name__
    incidents.add(
        workspace.now(),
        f"{what}: {said or error} [{code}]",
        event=event.name if event else "",
        session=event.session if event else "",
    )


def _named(words: list[str]) -> str:
    """The workspace that the words name; empty if they name none."""
    for at, word in enumerate(words):
        flag, equals, given = word.partition("=")
        if flag == "--workspace":
            return parse.word_of("path", given if equals else "".join(words[at + 1 : at + 2]))
    return ""
