"""Changes: every step of a task is a value, and the rules that a step must keep.

``plan`` judges a request against the task as it is and either raises or returns the change;
``apply`` leads a task through a change.  A task is what its changes make of it: replaying them from
the first gives every state that it ever had.
"""

from __future__ import annotations

from ..errors import InvalidInput, Refused
from . import canon, evidence, fields, links, text
from .digest import sha256
from .task import TASK_LIMIT, Entry, Task, state_bytes
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .links import Look

_GATED = ("criteria", "dependencies", "blocker")
"""The fields of a task that is done whose change has to stand the done gate again."""


class Request(Value):
    """What a caller asks for.  ``set`` names the fields to change; the rest is added or dropped."""

    set: dict[str, Any] = {}
    decisions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    evidence: tuple[tuple[str, int], ...] = ()
    """Texts, each with the number of the criterion it is for, 0 for all."""
    add_dependencies: tuple[str, ...] = ()
    drop_dependencies: tuple[str, ...] = ()
    add_labels: tuple[str, ...] = ()
    drop_labels: tuple[str, ...] = ()


class Change(Value):
    """One recorded version step of one task."""

    task: str
    version: int
    at: int
    actor: str
    set: dict[str, Any]
    decisions: tuple[str, ...]
    evidence: tuple[str, ...]
    notes: tuple[str, ...]
    state: str = ""
    """The digest of the state that the change leads to."""
    key: str = ""
    """Of a creation, its idempotency key, and in ``request`` the digest of what was asked."""
    request: str = ""
    """Without a key: the digest of the item of another program that the change took over."""


def document(change: Change) -> dict[str, Any]:
    """The change as plain JSON values, without its empty parts."""
    found: dict[str, Any] = {
        "task": change.task,
        "version": change.version,
        "at": change.at,
        "actor": change.actor,
        "state": change.state,
    }
    if change.set:
        found["set"] = change.set
    for kind, texts in (
        ("decisions", change.decisions),
        ("evidence", change.evidence),
        ("notes", change.notes),
    ):
        if texts:
            found[kind] = list(texts)
    if change.key:
        found["key"] = change.key
    if change.request:
        found["request"] = change.request
    return found


def from_document(found: dict[str, Any]) -> Change:
    """The change that :func:`document` described.  KeyError if it is not one."""
    get = found.get
    # By position, in the order of the fields: by name takes four times as long.
    return Change(
        found["task"],
        found["version"],
        found["at"],
        found["actor"],
        get("set", {}),
        tuple(get("decisions", ())),
        tuple(get("evidence", ())),
        tuple(get("notes", ())),
        found["state"],
        get("key", ""),
        get("request", ""),
    )


def change_bytes(change: Change) -> bytes:
    """The canonical bytes of the change: what is stored and hashed into the chain."""
    return canon.encode(document(change))


def request_bytes(request: Request) -> bytes:
    """The canonical bytes of a request: two creations are the same if these are.

    In whichever words a field was given.  InvalidInput for one out of form.
    """
    found = request._asdict()
    found["set"] = {
        name: list(v) if isinstance(v, tuple) else v
        for name, v in fields.normalised(request.set).items()
    }
    found["evidence"] = [list(pair) for pair in request.evidence]
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()}
    return text.clean(canon.text(plain)).encode()


_BLANK: dict[str, Any] = {
    "goal": "",
    "criteria": (),
    "status": "open",
    "owner": "",
    "blocker": "",
    "next": "",
    "parent": "",
    "dependencies": (),
    "priority": 2,
    "labels": (),
}


def plan_creation(task_id: str, request: Request, *, actor: str, now: int, look: Look) -> Change:
    """The first change of a new task.

    Refused with every reason if a rule forbids it; InvalidInput for a field out of form.
    """
    wanted = fields.normalised(request.set)
    if not wanted.get("goal"):
        raise InvalidInput("A task needs a goal", hint="Say in one sentence what is to be reached.")
    start = _blank(task_id, actor, now)
    change = _planned(start, wanted, request, actor, now, look)
    # Said in the change, so that a default that changes one day does not change what was recorded.
    stated = {name: change.set.get(name, _BLANK[name]) for name in ("status", "priority")}
    return change._replace(set={**change.set, **stated})


def plan(
    task: Task,
    request: Request,
    *,
    actor: str,
    now: int,
    look: Look,
    expected: int | None = None,
    made: tuple[evidence.Record, ...] = (),
    world: evidence.World = evidence.unmoved,
) -> Change | None:
    """The change that ``request`` makes of ``task``, or None if it changes nothing.

    ``expected`` is the version the caller read; VersionConflict if the task has another.  ``made``
    are records of files and commands that we looked at ourselves, ``world`` tells of such records
    whether they still hold.  Refused with every reason if rules forbid the change; InvalidInput for
    a field out of form.
    """
    if expected is not None and expected != task.version:
        from ..errors import VersionConflict

        raise VersionConflict(
            f"Task {task.id} is at version {task.version}, not {expected}; nothing was written",
            expected=expected,
            current=task.version,
        )
    wanted = fields.normalised(request.set)
    change = _planned(task, wanted, request, actor, now, look, made, world)
    if not (change.set or change.decisions or change.evidence or change.notes):
        return None
    return change


def criteria_after(task: Task, request: Request) -> tuple[str, ...]:
    """The criteria of ``task`` as ``request`` leaves them.  InvalidInput if out of form."""
    wanted = {name: value for name, value in request.set.items() if name == "criteria"}
    criteria: tuple[str, ...] = fields.normalised(wanted).get("criteria", task.criteria)
    return criteria


def may_be_gated(request: Request) -> bool:
    """Whether :func:`plan` could ask for the evidence of a task that is done, or is to be."""
    links = request.add_dependencies or request.drop_dependencies
    return bool(links or not request.set.keys().isdisjoint(("status", *_GATED)))


def look_ahead(
    task: Task, request: Request, made: tuple[evidence.Record, ...], world: evidence.World
) -> None:
    """Ask of ``world`` what :func:`plan` would, so that it can know the answers beforehand.

    ``made`` are records as they will be stored.
    """
    if fields.status(request.set.get("status", task.status)) == "done":
        task = task._replace(criteria=criteria_after(task, request))
        evidence.standings(task, world)
        for record in made:
            evidence.standing(record, task.id, task.criteria, world)


def _planned(
    task: Task,
    wanted: dict[str, Any],
    request: Request,
    actor: str,
    now: int,
    look: Look,
    made: tuple[evidence.Record, ...] = (),
    world: evidence.World = evidence.unmoved,
) -> Change:
    wanted = dict(wanted)
    for name, added, dropped in (
        ("dependencies", request.add_dependencies, request.drop_dependencies),
        ("labels", request.add_labels, request.drop_labels),
    ):
        if added or dropped:
            base = wanted.get(name, getattr(task, name))
            wanted[name] = fields.merged(name, base, added, dropped)
    before = task._asdict()
    changed = {name: value for name, value in wanted.items() if before[name] != value}
    criteria = changed.get("criteria", task.criteria)
    change = Change(
        task=task.id,
        version=task.version + 1,
        # A clock that was set back must not make a task older than its last change.
        at=max(now, task.updated),
        actor=actor,
        set={name: list(v) if isinstance(v, tuple) else v for name, v in changed.items()},
        decisions=fields.entries("decision", request.decisions),
        evidence=tuple(
            evidence.bind(given, number, task.id, criteria)
            for given, number in zip(
                fields.entries("evidence", tuple(given for given, _ in request.evidence)),
                (number for _, number in request.evidence),
            )
        )
        + tuple(evidence.write(record) for record in made),
        notes=fields.entries("note", request.notes),
    )
    if changed.get("status") in ("done", "cancelled") and task.claim:
        change.set["claim"] = ""  # what has ended needs no holder
    after = apply(task, change)
    _check_rules(task, after, changed, change, look, world)
    stored = state_bytes(after)
    if len(stored) > TASK_LIMIT:
        raise InvalidInput(
            f"Task {task.id} would take {len(stored)} bytes; a task holds at most {TASK_LIMIT}",
            hint="Put long material into a file and record its path, or open a child task.",
        )
    return change._replace(state=sha256(stored))


def _check_rules(
    before: Task,
    after: Task,
    changed: dict[str, Any],
    change: Change,
    look: Look,
    world: evidence.World,
) -> None:
    links.check(before, after, look)
    reasons: list[str] = []
    if not change.decisions and before.version:
        reasons += [
            f"{what} needs a recorded decision in the same update: add --decision TEXT"
            for what in _decisive(before, after)
        ]
    if after.status == "blocked" and not after.blocker:
        reasons.append("A blocked task needs a blocker: add --blocker TEXT")
    gated = after.status == "done" and (
        before.status != "done" or not changed.keys().isdisjoint(_GATED)
    )
    if gated:
        reasons += _gate(after, look, world)
    if reasons:
        from ..errors import DoneRefused

        kind = DoneRefused if gated else Refused
        if not before.version:  # its id was never anybody's
            verb = "cannot begin as done" if gated else "cannot be created like this"
            raise kind(f"The task {verb}:", reasons)
        verb = "cannot be done" if gated else "cannot be changed like this"
        raise kind(f"Task {after.id} {verb}:", reasons, task=after.id)


def _decisive(before: Task, after: Task) -> list[str]:
    found = []
    if before.goal != after.goal:
        found.append("A change of the goal")
    if before.criteria != after.criteria:
        found.append("A change of the criteria")
    if before.status != after.status:
        if after.status == "cancelled":
            found.append("A cancellation")
        elif before.status in ("done", "cancelled"):
            found.append("A reopening")
    return found


def _gate(task: Task, look: Look, world: evidence.World) -> list[str]:
    reasons = []
    if not task.criteria:
        reasons.append("It has no completion criteria: set them with --criterion TEXT")
    if task.blocker:
        blocker = text.shortened(text.one_line(task.blocker), 80)
        reasons.append(
            f'Its blocker is not clear: it waits for "{blocker}". Once that is resolved, clear it'
            " with --blocker ''"
        )
    for other in task.dependencies:
        brief = look(other)
        status = brief.status if brief else "missing"
        if status != "done":
            remedy = "finish it first"
            if status == "cancelled":
                remedy = f"it will not be done, so remove it with --drop-dependency {other}"
            elif not brief:
                remedy = f"it is not in this ledger, so remove it with --drop-dependency {other}"
            reasons.append(f"Its dependency {other} is {status}: {remedy}")
    return reasons + evidence.gaps(task, world)


def apply(task: Task, change: Change) -> Task:
    """The task after ``change``: for the first change, ``task`` is the blank one it starts from."""

    def added(present: tuple[Entry, ...], texts: tuple[str, ...]) -> tuple[Entry, ...]:
        return present + tuple(Entry(change.at, change.actor, change.version, t) for t in texts)

    wanted: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in change.set.items()
    }
    return task._replace(
        **wanted,
        version=change.version,
        updated=change.at,
        last_actor=change.actor,
        decisions=added(task.decisions, change.decisions),
        evidence=added(task.evidence, change.evidence),
        notes=added(task.notes, change.notes),
    )


def begin(first: Change) -> Task:
    """The task that the first change of a chain makes."""
    return apply(_blank(first.task, first.actor, first.at), first)


def plan_claim(task: Task, holder: str, *, actor: str, now: int) -> Change:
    """The change by which ``holder`` has the task from now on; nobody, if it is empty."""
    change = Change(
        task=task.id,
        version=task.version + 1,
        at=max(now, task.updated),
        actor=actor,
        set={"claim": holder},
        decisions=(),
        evidence=(),
        notes=(),
    )
    return change._replace(state=sha256(state_bytes(apply(task, change))))


def _blank(task_id: str, actor: str, now: int) -> Task:
    return Task(
        id=task_id,
        version=0,
        decisions=(),
        evidence=(),
        notes=(),
        created=now,
        updated=now,
        last_actor=actor,
        **_BLANK,
    )
