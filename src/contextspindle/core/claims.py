"""Claims: a lease on a task, so that two agents do not do the same work.

Whoever claims a task gets a token and carries it in its writes.  The lease has an end, because an
agent may die; after it another may take the task over, and from then on the late holder's token is
worth nothing, so that what it still writes is refused instead of being mixed in.  While a lease
runs, others may add decisions, notes and evidence, and nothing else.
"""

from __future__ import annotations

from ..errors import InvalidInput, Refused
from . import instant
from .digest import lease_check, sha256
from .task import ID_ALPHABET, LIVE, SECRET, is_id
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..errors import ClaimHeld
    from .change import Request
    from .task import Brief, Task

LEASE_MS = 30 * 60_000
"""How long a lease runs where nothing else is asked for."""
MIN_LEASE_MS = 1_000
MAX_LEASE_MS = 7 * 86_400_000


class Lease(Value):
    """Who holds a task until when; ``mark`` is the digest of the token, which no ledger has."""

    holder: str
    mark: str
    until: int
    length: int
    """Milliseconds by which each write of the holder puts ``until`` off."""

    def live(self, now: int) -> bool:
        """Whether the lease has not run out."""
        return now < self.until

    def check(self) -> str:
        """What shows that the lease was not altered: it is not in the chain."""
        return lease_check(self.holder, self.mark, self.until, self.length)

    def extended(self, now: int) -> Lease:
        """The lease with its whole length ahead again."""
        return self._replace(until=max(self.until, now + self.length))


class Claimed(Value):
    """A task that is the caller's, the token to carry, and the end of the lease."""

    task: Task
    token: str
    until: int
    anew: bool = True
    """Whether it is so only now; False where the caller held it already."""


def token_for(task_id: str, random: bytes) -> str:
    """A fresh token for a task, from ten random bytes: it names its task, and cannot be guessed."""
    number = int.from_bytes(random[:10], "big")
    secret = "".join(ID_ALPHABET[number >> shift & 31] for shift in range(5 * SECRET - 5, -1, -5))
    return f"{task_id}.{secret}"


def task_of(token: str) -> str:
    """The task that a token names; empty if it has not the form of one."""
    task_id, _, secret = token.partition(".")
    return task_id if secret and is_id(task_id) else ""


def mark_of(token: str) -> str:
    """What is stored of a token: enough to know it again, too little to use it."""
    return sha256(token.encode())[:32]


def length(seconds: int | None) -> int:
    """The length of a lease in milliseconds.  InvalidInput if it is out of range."""
    if seconds is None:
        return LEASE_MS
    if type(seconds) is not int:  # a fraction would not be stored as it was digested
        raise InvalidInput("The seconds of a lease must be a whole number")
    if not MIN_LEASE_MS <= seconds * 1_000 <= MAX_LEASE_MS:
        raise InvalidInput(
            f"A lease of {seconds} seconds is out of range", hint="Use 1 second to 7 days."
        )
    return seconds * 1_000


def granted(holder: str, token: str, now: int, lasting: int) -> Lease:
    """A new lease from ``now`` on."""
    return Lease(holder, mark_of(token), now + lasting, lasting)


def check_claim(task: Task, lease: Lease | None, now: int, token: str = "") -> None:
    """Refused if the task has ended, ClaimHeld while another has it; else it can be claimed.

    ``token`` is one that the caller has, and that does not hold the task.
    """
    if task.status not in LIVE:
        raise Refused(
            f"Task {task.id} cannot be claimed:",
            [f"it is {task.status}: reopen it first, with --status open --decision TEXT"],
            task=task.id,
        )
    if lease and lease.live(now):
        raise _held(task.id, lease, now, token)


def holds(lease: Lease | None, token: str) -> bool:
    """Whether a claim is the one that ``token`` was given for."""
    return bool(lease and token and lease.mark == mark_of(token))


def check_holder(task_id: str, lease: Lease | None, token: str) -> Lease:
    """The caller's lease.  ClaimLost if the token does not hold the task any more."""
    if lease is None or not holds(lease, token):
        # Only the mark of the present token is known: one that was taken over from and one that was
        # mistyped look alike.
        from ..errors import ClaimLost

        why = f"{lease.holder} holds it under another" if lease else "nobody holds it any more"
        raise ClaimLost(
            f"This token does not hold the claim on {task_id}: {why}; nothing was written",
            task=task_id,
            holder=lease.holder if lease else None,
        )
    return lease


def check_write(
    task_id: str, lease: Lease | None, token: str, request: Request, now: int
) -> Lease | None:
    """The lease to keep after a write, put off if the holder writes.

    A ``token`` of another task counts as none.  ClaimLost if it was once for this task; ClaimHeld
    if another holds the task and the request does more than add entries.
    """
    if token and token.partition(".")[0] == task_id:
        return check_holder(task_id, lease, token).extended(now)
    if lease and lease.live(now) and not _only_adds(request):
        raise _held(task_id, lease, now, token)
    return lease


def _only_adds(request: Request) -> bool:
    return not (
        request.set
        or request.add_dependencies
        or request.drop_dependencies
        or request.add_labels
        or request.drop_labels
    )


def _held(task_id: str, lease: Lease, now: int, token: str = "") -> ClaimHeld:
    from ..errors import ClaimHeld

    left = instant.age(now, max(lease.until, now + 1_000))
    about = ""
    if token:
        other = task_of(token)
        about = f"; the token given is {f'of {other}' if other else 'not that of a claim'}"
        if other == task_id:
            about = "; the token given is of another claim on it, or mistyped"
    return ClaimHeld(
        f"{lease.holder} holds {task_id} until {instant.iso(lease.until)} ({left} left){about};"
        " nothing was written",
        task=task_id,
        holder=lease.holder,
        until=instant.iso(lease.until),
    )


def obstacles(task: Task, lease: Lease | None, dependencies: list[Brief], now: int) -> list[str]:
    """Why the task is not ready to be taken; nothing if it is."""
    found = []
    if task.status not in ("open", "active"):
        found.append(f"its status is {task.status}")
    if task.blocker:
        found.append(f"it is blocked by: {task.blocker}")
    found += [
        f"its dependency {other.id} is {other.status}"
        for other in dependencies
        if other.status != "done"
    ]
    if lease and lease.live(now):
        found.append(f"{lease.holder} holds it until {instant.iso(lease.until)}")
    return found
