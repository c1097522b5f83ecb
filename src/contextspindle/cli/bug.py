"""A bug of ours: one line for the reader, and a file with what a report needs."""

from __future__ import annotations

import os
import platform
import tempfile
import traceback

from .. import __version__
from ..core import text
from ..errors import SpindleError
from . import parse, reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def report(error: Exception, words: list[str]) -> str:
    """What to print.  The report holds no text of the caller, which may be private.

    So it names the command without its words, and each error without its message.
    """
    content = "\n".join(
        [
            f"contextspindle {__version__}",
            f"Python {platform.python_version()}, {platform.platform()}",
            f"command: {_command(words)}",
            *_trace(error),
        ]
    )
    shown = text.shortened(text.one_line(f"{type(error).__name__}: {error}"), 300)
    found = SpindleError(f"this is a bug: {shown}")
    found.code = "INTERNAL"
    try:
        handle, path = tempfile.mkstemp(prefix="contextspindle-bug-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(content)
        found.hint = f"Nothing half-done is recorded. The report to send is in {path}"
    except OSError:
        found.hint = content
    return reply.error_document(found) if "--json" in words else reply.error_text(found)


def _command(words: list[str]) -> str:
    try:
        return " ".join(parse.command_of(words)[0].words)
    except parse.NotPlain:
        return "none that there is"


def _trace(error: BaseException) -> Iterator[str]:
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier:
        yield from _trace(earlier)
        yield "which led to"
    yield "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__
