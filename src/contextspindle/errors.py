"""Every error that ContextSpindle raises on purpose.

    SpindleError
    ├─ InvalidInput             2   an argument, a setting, a file
    │  ├─ AmbiguousId
    │  └─ BudgetTooSmall
    ├─ NotFound                 3
    │  ├─ WorkspaceNotFound
    │  ├─ TaskNotFound
    │  ├─ NothingReady
    │  ├─ SnapshotNotFound
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
    │  ├─ DoneRefused
    │  ├─ RingRefused
    │  ├─ MemoryFull
    │  └─ WorkspaceRefused
    ├─ HarnessError             6
    │  ├─ TranscriptUnreadable
    │  ├─ SettingsDamaged
    │  ├─ SettingsBusy
    │  ├─ SetupIncomplete
    │  └─ EventUnknown
    └─ StoreError               7
       ├─ StoreBusy            75   try again
       │  └─ PurgeUnfinished
       ├─ StoreUnavailable
       ├─ StoreReadOnly
       ├─ StoreFull
       ├─ StoreCorrupt
       ├─ MemoryDamaged
       ├─ SearchFailed
       └─ SchemaTooNew

A class carries its stable code, the exit status of a command that ends with it, and a hint: what to
do next.  The first line of its docstring is its entry in the documentation.  Anything else that
escapes is a bug (exit status 70); an interrupt is 130.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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


class BudgetTooSmall(InvalidInput):
    """The task's required state does not fit into the byte budget; the message says what would."""

    code = "BUDGET_TOO_SMALL"
    hint = "Ask again with at least the bytes named."


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


class NothingReady(NotFound):
    """No task can be taken: each is blocked, waits for another, is held, or has ended."""

    code = "NOTHING_READY"
    hint = "'contextspindle task ready --explain ID' says why a task is not ready."


class SnapshotNotFound(NotFound):
    """No snapshot was saved for this session."""

    code = "SNAPSHOT_NOT_FOUND"
    hint = "'contextspindle fuse status' shows what was saved."


class MemoryNotFound(NotFound):
    """Nothing was remembered in this workspace yet: there is no memory."""

    code = "MEMORY_NOT_FOUND"
    hint = "'contextspindle remember TEXT' makes one."


class ItemNotFound(NotFound):
    """The memory holds no item of this id; it may have been let go."""

    code = "ITEM_NOT_FOUND"
    hint = "'contextspindle recall QUERY' shows ids."


class ProgramNotFound(NotFound):
    """No program that runs agents was found on this machine."""

    code = "PROGRAM_NOT_FOUND"
    hint = "Name one: 'contextspindle setup claude-code'. 'contextspindle setup --help' lists them."


class Conflict(SpindleError):
    """Somebody else was first; nothing was written."""

    code = "CONFLICT"
    exit_status = 4


class VersionConflict(Conflict):
    """The task is not at the version that the caller expected."""

    code = "VERSION_CONFLICT"
    hint = "Read the task again, then repeat the update on what it says now."


class IdempotencyConflict(Conflict):
    """The idempotency key was used before, for another request."""

    code = "IDEMPOTENCY_CONFLICT"
    hint = "Use a new key for a new task."


class ClaimHeld(Conflict):
    """Another holds a live claim on the task, and the change does more than add entries."""

    code = "CLAIM_HELD"
    hint = (
        "If the claim is yours, carry its token: --claim TOKEN, or CONTEXTSPINDLE_CLAIM."
        " Else take another task (contextspindle task claim --next), or wait for the lease to end."
    )


class ClaimLost(Conflict):
    """The token does not hold the task: taken over, released or mistyped."""

    code = "CLAIM_LOST"
    hint = (
        "If the token is whole, read the task again; claim it anew if it is free. Do not repeat the"
        " write blindly."
    )


class MergeConflict(Conflict):
    """Tasks have one history here and another in what is taken in; nothing was written."""

    code = "MERGE_CONFLICT"
    hint = "Restore into a fresh workspace, and carry over by hand what is wanted."


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


class DoneRefused(Refused):
    """The task does not meet the conditions of done."""

    code = "DONE_REFUSED"
    hint = "Mend each reason; they can go into one update."


class RingRefused(Refused):
    """The parent or dependency would close a ring."""

    code = "RING_REFUSED"
    hint = "Remove one link of the ring first."


class MemoryFull(Refused):
    """The memory is full and nothing in it may go, or the text is larger than all of it may be."""

    code = "MEMORY_FULL"
    hint = "Forget something, or raise the limit (memory_items, memory_bytes)."


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


class SettingsDamaged(HarnessError):
    """The settings file of a harness is not of the form that it must have; it was not touched."""

    code = "SETTINGS_DAMAGED"
    hint = "Mend the file, then try again; until then nothing of ours is put in or taken out."


class SettingsBusy(HarnessError):
    """Another program changed a settings file each time that it was edited; it was left to it."""

    code = "SETTINGS_BUSY"
    hint = "Try again; if it goes on, end the program that writes the file first."


class SetupIncomplete(HarnessError):
    """Our part in a program's settings is missing, out of date, or cannot be run."""

    code = "SETUP_INCOMPLETE"
    hint = "'contextspindle setup HARNESS --write' brings them up to date."


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


class PurgeUnfinished(StoreBusy):
    """The text is out of all that is read, but not out of files that another process is using."""

    code = "PURGE_UNFINISHED"
    hint = "End what reads the workspace, then purge the same text again: it does the rest."


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


class MemoryDamaged(StoreError):
    """The memory's file is damaged, or not a memory; the ledger does not depend on it."""

    code = "MEMORY_DAMAGED"
    hint = (
        "'contextspindle memory rebuild' saves what can be read and keeps the damaged file aside."
        " Tasks are untouched."
    )


class SearchFailed(StoreError):
    """It could not be searched, which does not mean that there is nothing to find."""

    code = "SEARCH_FAILED"
    hint = "'contextspindle verify' looks at the ledger; 'task list' goes on working."


class SchemaTooNew(StoreError):
    """The store was written by a newer version of the program; it was not touched."""

    code = "SCHEMA_TOO_NEW"
    hint = "Upgrade ContextSpindle on this machine."
