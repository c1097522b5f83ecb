"""What the verbs of the ledger answer, as values."""

from __future__ import annotations

from ..core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.change import Change
    from ..core.claims import Lease
    from ..core.evidence import CommandMark
    from ..core.purge import Purge
    from ..core.task import Task


class Outcome(Value):
    """A task after a command: ``changed`` is False if there was nothing to write."""

    task: Task
    changed: bool
    warnings: tuple[str, ...] = ()


class View(Value):
    """A task as it is shown: with its lease, and the standing of each of its evidence records."""

    task: Task
    lease: Lease | None
    standings: tuple[str, ...]
    verified: bool | None = None
    """Whether its evidence satisfies its criteria; None unless it is done."""
    purges: tuple[Purge, ...] = ()
    """What was taken out of its history."""


class Proof(Value):
    """What running a command as evidence came to."""

    outcome: Outcome
    command: CommandMark
    changed: tuple[str, ...] = ()
    """Covered files that the command changed: then it proves nothing."""


class Readiness(Value):
    """Whether a task can be taken, and what stands in the way."""

    task: Task
    obstacles: tuple[str, ...]


class Step(Value):
    """One version in a task's history: the change, and the value each field it set had before."""

    change: Change
    before: dict[str, Any]
    purges: tuple[Purge, ...] = ()
    """Those that took something out of it."""


class History(Value):
    """Part of a task's history; ``next_version`` is where the rest begins, None at the end."""

    task_id: str
    steps: tuple[Step, ...]
    total: int
    next_version: int | None
