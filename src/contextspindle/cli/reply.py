"""What a command answers: the same facts as text for a reader and as one JSON document."""

from __future__ import annotations

import os

from ..core.value import Value
from ..errors import StoreUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..errors import SpindleError

SCHEMA_VERSION = 1
"""The version of the JSON documents; fields may be added under the same number."""

OUT, ERR = 1, 2


class Reply(Value):
    """The result of a command; ``id`` is what ``--quiet`` prints, if it has one."""

    data: Any
    text: str
    id: str | None = None
    warnings: tuple[str, ...] = ()
    status: int = 0
    picture: Callable[[Any], Any] | None = None
    """What a person at a terminal sees in place of the text, drawn by :mod:`.face`."""


def document(data: Any) -> str:
    """The JSON document of a result."""
    from ..core import canon

    return canon.text({"schema_version": SCHEMA_VERSION, "data": data}) + "\n"


def error_document(error: SpindleError) -> str:
    """The JSON document of an error."""
    from ..core import canon

    found: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
    details = {name: value for name, value in error.details.items() if value is not None}
    if details:
        found["details"] = details
    return canon.text({"schema_version": SCHEMA_VERSION, "error": found}) + "\n"


def error_text(error: SpindleError) -> str:
    """An error as a person reads it: what happened, its code, what to do next."""
    hint = f"\n{error.hint}" if error.hint else ""
    return tame(f"contextspindle: {error.message} [{error.code}]{hint}\n")


def tame(shown: str) -> str:
    """``shown`` without what steers a terminal: the name of a path or a session may hold it."""
    if shown.replace("\n", "").isprintable():
        return shown
    from ..core import text

    return text.block(shown)


def put(stream: int, shown: str) -> None:
    """Write to standard output or error: UTF-8 whatever the locale, all of it.

    BrokenPipeError if the reader of the output has gone; StoreUnavailable if it cannot be written.
    What nobody can read on standard error is still in the exit status.
    """
    put_bytes(stream, shown.encode("utf-8", "replace"))


def put_bytes(stream: int, shown: bytes) -> None:
    """The same, for what is bytes already."""
    data = memoryview(shown)
    try:
        while data:
            data = data[os.write(stream, data) :]
    except OSError as error:
        if stream == ERR:
            return
        if isinstance(error, BrokenPipeError):
            raise
        raise StoreUnavailable(
            f"Standard output cannot be written: {error.strerror}",
            hint="What the command did is done; only its answer is lost.",
        ) from error
