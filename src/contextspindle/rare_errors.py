"""The errors that no hook and no look at the ledger can end with: defined when one is asked for.

They are told apart from those of :mod:`.errors` by this alone, which is where everybody gets them.
"""

from __future__ import annotations

from .errors import (
    HarnessError,
    InvalidInput,
    NotFound,
    Refused,
    SpindleError,
    StoreBusy,
    StoreError,
)

__all__ = [
    "BudgetTooSmall",
    "ClaimHeld",
    "ClaimLost",
    "Conflict",
    "DoneRefused",
    "IdempotencyConflict",
    "ItemNotFound",
    "MemoryDamaged",
    "MemoryFull",
    "MemoryNotFound",
    "MergeConflict",
    "NothingReady",
    "ProgramNotFound",
    "PurgeUnfinished",
    "RingRefused",
    "SearchFailed",
    "SettingsBusy",
    "SettingsDamaged",
    "SetupIncomplete",
    "VersionConflict",
]


class BudgetTooSmall(InvalidInput):
    """The task's required state does not fit into the byte budget; the message says what would."""

    code = "BUDGET_TOO_SMALL"
    hint = "Ask again with at least the bytes named."


class NothingReady(NotFound):
    """No task can be taken: each is blocked, waits for another, is held, or has ended."""

    code = "NOTHING_READY"
    hint = "'contextspindle task ready --explain ID' says why a task is not ready."


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


class PurgeUnfinished(StoreBusy):
    """The text is out of all that is read, but not out of files that another process is using."""

    code = "PURGE_UNFINISHED"
    hint = "End what reads the workspace, then purge the same text again: it does the rest."


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
