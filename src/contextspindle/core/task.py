"""A task: a unit of work that outlives sessions, as one immutable value.

A task's *document* is its plain JSON form.  Its canonical bytes are what the ledger stores and
hashes, so the document leaves out what is empty: a field that a later version adds does not
disturb the digests of the tasks that never use it.
"""

from __future__ import annotations

from . import text
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

STATUSES = ("open", "active", "blocked", "done", "cancelled")
LIVE = ("active", "blocked", "open")
"""The statuses of an inbox, in its order."""

TEXT_LIMIT = 64 * 1024
"""The most UTF-8 bytes of one text field or entry."""
TASK_LIMIT = 2 * 1024 * 1024
"""The most canonical bytes of one task."""
LABEL_LIMIT = 80
KEY_LIMIT = 128
"""The most characters of an idempotency key."""

ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Base 32 without look-alikes, after https://www.crockford.com/base32.html."""
ID_LENGTH = 8
SECRET = 16
"""The letters that the token of a claim has behind its task's id and a full stop."""

COUNT_AHEAD = 1_000
"""How far behind a page its total is counted where counting all would be slow."""

LOOK_BACK = 10_000
"""How many of the latest changes are looked through for those of one actor."""

SUMMARY_LIMITS = {"goal": 160, "next": 200, "blocker": 160, "owner": 80}
"""The most UTF-8 bytes that a summary shows of each text."""


class Entry(Value):
    """One decision, note or evidence record, and when and by whom it was added."""

    at: int
    by: str
    version: int
    text: str


class Task(Value):
    """A task as of one version."""

    id: str
    version: int
    goal: str
    criteria: tuple[str, ...]
    status: str
    owner: str
    blocker: str
    next: str
    parent: str
    dependencies: tuple[str, ...]
    priority: int
    labels: tuple[str, ...]
    decisions: tuple[Entry, ...]
    evidence: tuple[Entry, ...]
    notes: tuple[Entry, ...]
    created: int
    updated: int
    last_actor: str
    claim: str = ""
    """Who has claimed it, empty if nobody has; until when, the lease says."""
    source: str = ""
    """Its name in the program that it was imported from."""


class Brief(Value):
    """What the rules need to know of a task next door; the goal as a summary shows it."""

    id: str
    status: str
    goal: str
    parent: str
    dependencies: tuple[str, ...]


class Summary(Value):
    """A task as a list shows it: texts within :data:`SUMMARY_LIMITS`; ``cut`` names those cut."""

    id: str
    version: int
    status: str
    priority: int
    goal: str
    next: str
    blocker: str
    owner: str
    parent: str
    updated: int
    cut: tuple[str, ...]
    claim: str = ""
    """Who has claimed it, within the limit of an owner."""
    claimed_until: int = 0
    """When that claim ends or ended; 0 if it is not known here, or nobody has."""


class Related(Value):
    """A neighbour with its live status; ``problem`` says why it could not be read, if so."""

    relation: str
    id: str
    status: str
    goal: str
    problem: str = ""


class Page(Value):
    """Some of a longer list: ``next_offset`` is where the rest begins, None at the end."""

    items: tuple[Summary, ...]
    total: int
    next_offset: int | None


TEXTS = ("goal", "status", "owner", "blocker", "next", "parent", "claim", "source")
LISTS = ("criteria", "dependencies", "labels")
ENTRIES = ("decisions", "evidence", "notes")


def _entry_document(entry: Entry) -> dict[str, Any]:
    return {"at": entry.at, "by": entry.by, "text": entry.text, "v": entry.version}


def _entries(items: Iterable[dict[str, Any]]) -> tuple[Entry, ...]:
    return tuple(Entry(e["at"], e["by"], e["v"], e["text"]) for e in items)


def document(task: Task) -> dict[str, Any]:
    """The task as plain JSON values, without its empty fields."""
    values = task._asdict()
    found: dict[str, Any] = {
        "id": task.id,
        "version": task.version,
        "priority": task.priority,
        "created": task.created,
        "updated": task.updated,
        "last_actor": task.last_actor,
    }
    for field in TEXTS:
        if values[field]:
            found[field] = values[field]
    for field in LISTS:
        if values[field]:
            found[field] = list(values[field])
    for field in ENTRIES:
        if values[field]:
            found[field] = [_entry_document(entry) for entry in values[field]]
    return found


def from_document(found: dict[str, Any]) -> Task:
    """The task that :func:`document` described.  KeyError or TypeError if it is not one."""
    get = found.get
    # By position, in the order of the fields: by name takes four times as long.
    return Task(
        found["id"],
        found["version"],
        get("goal", ""),
        tuple(get("criteria", ())),
        found["status"],
        get("owner", ""),
        get("blocker", ""),
        get("next", ""),
        get("parent", ""),
        tuple(get("dependencies", ())),
        found["priority"],
        tuple(get("labels", ())),
        _entries(get("decisions", ())),
        _entries(get("evidence", ())),
        _entries(get("notes", ())),
        found["created"],
        found["updated"],
        found["last_actor"],
        get("claim", ""),
        get("source", ""),
    )


def state_bytes(task: Task) -> bytes:
    """The canonical bytes of the task: what is stored and hashed as its state."""
    from .canon import encode

    return encode(document(task))


def state_digest(task: Task) -> str:
    """The digest of the task's state."""
    from .digest import sha256

    return sha256(state_bytes(task))


def brief(task: Task) -> Brief:
    """The part of ``task`` that rules about other tasks need."""
    goal = text.cut(task.goal, SUMMARY_LIMITS["goal"])
    return Brief(task.id, task.status, goal, task.parent, task.dependencies)


def summary(task: Task, claimed_until: int = 0) -> Summary:
    """The task as a list shows it: each text cut at its limit, on a code point."""
    texts = {field: getattr(task, field) for field in SUMMARY_LIMITS}
    shown = {field: text.cut(texts[field], limit) for field, limit in SUMMARY_LIMITS.items()}
    return Summary(
        task.id,
        task.version,
        task.status,
        task.priority,
        shown["goal"],
        shown["next"],
        shown["blocker"],
        shown["owner"],
        task.parent,
        task.updated,
        tuple(field for field in SUMMARY_LIMITS if shown[field] != texts[field]),
        text.cut(task.claim, SUMMARY_LIMITS["owner"]),
        claimed_until,
    )


def id_from(random: bytes) -> str:
    """A task id from five random bytes."""
    number = int.from_bytes(random[:5], "big")
    return "t-" + "".join(ID_ALPHABET[number >> shift & 31] for shift in range(35, -1, -5))


def is_id(value: str) -> bool:
    """Whether ``value`` has the form of a task id: ``t-`` and up to 78 letters, digits, hyphens."""
    name = value[2:]
    return (
        value.startswith("t-")
        and 1 <= len(name) <= 78
        and name.isascii()
        and name.replace("-", "a").isalnum()
    )
