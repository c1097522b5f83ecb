"""Every error that ContextSpindle raises on purpose.

    SpindleError
    ├─ InvalidInput             2   an argument, a setting, a file
    │  ├─ AmbiguousId
    │  └─ BudgetTooSmall
    ├─ NotFound                 3
    │  ├─ WorkspaceNotFound
    │  ├─ TaskNotFound
    │  ├─ SnapshotNotFound
    │  ├─ NothingReady
    │  ├─ MemoryNotFound
    │  ├─ ItemNotFound
    │  └─ ProgramNotFound
    ├─ Conflict                 4
    │  ├─ VersionConflict
    │  ├─ IdempotencyConflict
    │  ├─ ClaimHeld
    │  ├─ ClaimLost
    │  └─ MergeConflict
    ├─ Refused                  5   a rule; lists every reason
    │  ├─ WorkspaceRefused
    │  ├─ DoneRefused
    │  ├─ RingRefused
    │  └─ MemoryFull
    ├─ HarnessError             6
    │  ├─ TranscriptUnreadable
    │  ├─ EventUnknown
    │  ├─ SettingsDamaged
    │  ├─ SettingsBusy
    │  └─ SetupIncomplete
    └─ StoreError               7
       ├─ StoreUnavailable
       ├─ StoreReadOnly
       ├─ StoreFull
       ├─ StoreCorrupt
       ├─ SchemaTooNew
       ├─ MemoryDamaged
       ├─ SearchFailed
       └─ StoreBusy            75   try again
          └─ PurgeUnfinished

Every class is had from here.  Those that no hook needs stand in :mod:`.rare_errors` and are made
when they are asked for.

A class carries its stable code, the exit status of a command that ends with it, and a hint: what to
do next.  The first line of its docstring is its entry in the documentation.  Anything else that
escapes is a bug (exit status 70); an interrupt is 130.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .rare_errors import *  # noqa: F403  (all of its __all__ is had from here)
else:

    def __getattr__(name):
        if name.startswith("__"):  # what every import asks a module for
            raise AttributeError(name)
        from . import rare_errors

        if name not in rare_errors.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(rare_errors, name)


BUG_STATUS = 70
INTERRUPT_STATUS = 130


class SpindleError(Exception):
    """Something that ContextSpindle raises on purpose."""

    code = "ERROR"
    exit_status = 1
    hint = ""

    def __init__(self, message: str, *, hint: str | None = None, **details: object) -> None:
        """``details`` are plain JSON values, given to programs beside the message."""
        super().__init__(message)
        self.message = message
        self.details = details
        if hint is not None:
            self.hint = hint


def in_words(error: Exception) -> str:
    """Why, for a reader: what an exception of Python's own says is for its programmers."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1:,} is not UTF-8"
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}" if error.args else "a value is missing"
    if isinstance(error, (TypeError, AttributeError, IndexError)):
        return "a value is of the wrong kind"
    line, column = getattr(error, "lineno", 0), getattr(error, "colno", 0)
    return f"line {line}, column {column} is not JSON" if line else str(error)


class InvalidInput(SpindleError):
    """An argument, a setting or a file does not have the form it must have."""

    code = "INVALID_INPUT"
    exit_status = 2
    hint = "See --help of the command."


class AmbiguousId(InvalidInput):
    """The start of an id fits more than one task."""

    code = "AMBIGUOUS_ID"
    hint = "Give more of the id."


class NotFound(SpindleError):
    """The thing named does not exist."""

    code = "NOT_FOUND"
    exit_status = 3


class WorkspaceNotFound(NotFound):
    """There is no .contextspindle folder from here up to the top of the project."""

    code = "WORKSPACE_NOT_FOUND"
    hint = "Run 'contextspindle init' in the project, or name a workspace with --workspace DIR."


class TaskNotFound(NotFound):
    """No task has this id."""

    code = "TASK_NOT_FOUND"
    hint = "'contextspindle task list' shows the ids."


class SnapshotNotFound(NotFound):
    """No snapshot was saved for this session."""

    code = "SNAPSHOT_NOT_FOUND"
    hint = "'contextspindle fuse status' shows what was saved."


class Refused(SpindleError):
    """A rule forbids it; every reason is listed, each with what would mend it."""

    code = "REFUSED"
    exit_status = 5

    def __init__(
        self, message: str, reasons: Sequence[str], *, hint: str | None = None, **details: object
    ) -> None:
        super().__init__(
            message + "".join(f"\n  - {reason}" for reason in reasons),
            hint=hint,
            reasons=list(reasons),
            **details,
        )
        self.reasons = tuple(reasons)


class WorkspaceRefused(Refused):
    """The workspace is not safe to use: of a foreign owner, or a symbolic link."""

    code = "WORKSPACE_REFUSED"


class HarnessError(SpindleError):
    """Something of the agent's program cannot be used."""

    code = "HARNESS_ERROR"
    exit_status = 6


class TranscriptUnreadable(HarnessError):
    """The transcript is missing, not a file, or holds no entry of a known form."""

    code = "TRANSCRIPT_UNREADABLE"
    hint = "Give the path of a transcript; the fuse takes it with --transcript."


class EventUnknown(HarnessError):
    """The hook payload on standard input is not one that this harness sends."""

    code = "EVENT_UNKNOWN"
    hint = "By hand, use --transcript PATH --session ID instead of a payload."


class StoreError(SpindleError):
    """The store could not do it; what was committed before is untouched."""

    code = "STORE_ERROR"
    exit_status = 7


class StoreBusy(StoreError):
    """Another process held the lock as long as a command waits; nothing was written."""

    code = "STORE_BUSY"
    exit_status = 75
    hint = "Try again."


class StoreUnavailable(StoreError):
    """The store's file cannot be opened, read or written."""

    code = "STORE_UNAVAILABLE"
    hint = "Check the path and its permissions."


class StoreReadOnly(StoreError):
    """The store can be read here but not written."""

    code = "STORE_READ_ONLY"
    hint = "Write from an account and a place that may; reading goes on."


class StoreFull(StoreError):
    """The disk is full; the change was not recorded and nothing is damaged."""

    code = "STORE_FULL"
    hint = "Free some space, then repeat the command."


class StoreCorrupt(StoreError):
    """Stored bytes are damaged: they do not match their digest, or the database is malformed."""

    code = "STORE_CORRUPT"
    remedy = (
        "Keep the file as it is, make a workspace in another folder, and there restore the newest"
        " backup or daily copy: contextspindle restore COPY."
    )
    hint = f"'contextspindle verify' lists what is damaged. {remedy}"


class SchemaTooNew(StoreError):
    """The store was written by a newer version of the program; it was not touched."""

    code = "SCHEMA_TOO_NEW"
    hint = "Upgrade ContextSpindle on this machine."


def every() -> list[type[SpindleError]]:
    """All of them but the root, each behind the one that it is a kind of, by their exit status."""
    from . import rare_errors  # noqa: F401  (to make its classes, which are found below)

    def below(kind: type[SpindleError]) -> list[type[SpindleError]]:
        kinds = sorted(kind.__subclasses__(), key=lambda one: one.exit_status)
        return [one for child in kinds for one in (child, *below(child))]

    return below(SpindleError)
