"""beads: one JSON object a line, in ``.beads/issues.jsonl`` or as its export prints it.

Of its links, ``parent-child`` is our parent, and those that hold work up there are dependencies;
all others are notes.  The same form is written for the programs that show it.
"""

from __future__ import annotations

from ..core import foreign, instant
from ..core.evidence import read, standings
from ..core.foreign import UNPLACED, UNREAD, Foreign, Gathered, Problem
from ..errors import InvalidInput, in_words
from . import sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..core.task import Task

NAME = "beads"

STATUSES = {
    "hooked": "active",
    "pinned": "open",
    "deferred": "blocked",  # put off: it must not be handed out as ready
    "tombstone": "cancelled",
}
GATING = ("blocks", "conditional-blocks", "waits-for")
_DERIVED = ("dependency_count", "dependent_count", "comment_count", "schema_version", "_type")

OURS = "contextspindle"
"""What an export of ours calls itself, and the key of what only we can read."""


def find(place: str) -> str | None:
    """The issue file at or below ``place``."""
    return sources.first_file(
        place, (".beads", "issues.jsonl"), (".beads", "beads.jsonl"), ("issues.jsonl",)
    )


def recognises(found: str) -> bool:
    """Whether the file has lines of issues, whatever the state of others."""
    for line in sources.start_of(found).split(b"\n")[:50]:
        try:
            one = sources.parsed(line.decode("utf-8"))
        except ValueError:
            continue
        if isinstance(one, dict) and ("_type" in one or {"id", "title"} <= one.keys()):
            return "tasks" not in one
    return False


def gather(found: str) -> Gathered:
    """The issues of a file."""
    return parse(sources.read_file(found))


def parse(content: bytes) -> Gathered:
    """The issues of ``content``, which is lines.  InvalidInput for marks of an unfinished merge."""
    items: list[Foreign] = []
    problems: list[Problem] = []
    lines = content.split(b"\n")
    sources.refuse_conflict([line.decode("utf-8", "replace") for line in lines])
    for number, line in enumerate(lines, 1):
        where = f"line {number}"
        if not line.strip():
            continue
        try:
            found = sources.parsed(line.decode("utf-8"))
            if not isinstance(found, dict):
                raise ValueError("it is not an object")
            if found.get("_type", "issue") != "issue":
                problems.append(Problem(UNPLACED, where, sources.shown(found)))
                continue
            items.append(_issue(found, where))
        except (ValueError, InvalidInput) as error:
            problems.append(Problem(UNREAD, where, in_words(error)))
    return Gathered(NAME, tuple(items), (), tuple(problems))


def _issue(found: dict[str, Any], where: str) -> Foreign:
    its = sources.Fields(found, NAME)
    its.drop(*_DERIVED)
    name, title = its.word("id"), its.text("title")
    source = foreign.source_of(NAME, name)
    if not title.strip():
        raise ValueError(f"{source} has no title: {sources.shown(found)}")
    own = _own(its)
    description = its.text("description")
    goal = own.get("goal", "")
    if _titled(goal) != (title, description):
        goal = _goal(title, description)
    there = its.text("status")
    if own and _exported(own.get("status", "")) != there:
        # It went on there since: what the export said of its standing is of the past.
        its.note("blocker when it was exported", own.pop("blocker", ""))
        own.pop("status", "")
    status, blocker = foreign.status_of(NAME, own.get("status", there), STATUSES)
    if its.peek("defer_until") and there == "deferred":
        blocker += f" until {its.text('defer_until')}"
    kind = its.text("issue_type", "type")
    parent, needs = _links(its, name)
    criteria, ticked = foreign.listed(its.text("acceptance_criteria"))
    its.note("criteria ticked off", ticked)
    priority = foreign.priority_of(its.peek("priority"))
    if priority is not None:
        its.drop("priority")
    for part in ("design", "notes"):
        its.note(part, its.text(part))
    its.note("close reason, not verified here", its.text("close_reason"))
    _comments(its)
    wanted = {
        "goal": goal,
        "criteria": criteria,
        "status": status,
        "blocker": own.get("blocker", blocker),
        "next": own.get("next", ""),
        "owner": its.text("assignee"),
        "labels": its.texts("labels") + ([f"type:{kind}"] if kind not in ("", "task") else []),
        "priority": 2 if priority is None else priority,
    }
    created, updated = its.time("created_at"), its.time("updated_at")
    its.keep_left()
    fields, more = foreign.fitted(NAME, wanted)
    return Foreign(
        source=source,
        where=where,
        digest=sources.digest_of({k: v for k, v in found.items() if k not in _DERIVED}),
        set=fields,
        there=foreign.kept(there),
        parent=parent,
        dependencies=tuple(needs),
        notes=(*more, *its.notes),
        created=created,
        updated=updated,
        own=own.get("id", ""),
    )


def _goal(title: str, description: str) -> str:
    return f"{title}\n\n{description}" if description.strip() else title


def _own(its: sources.Fields) -> dict[str, str]:
    """What an export of ours says beyond what beads has words for."""
    metadata = its.peek("metadata")
    if its.peek("source_system") != OURS or not isinstance(metadata, dict):
        return {}
    ours = metadata.get(OURS)
    if set(metadata) != {OURS} or not isinstance(ours, dict):
        return {}
    if not set(ours) <= {"id", "goal", "status", "blocker", "next"}:
        return {}
    if not all(isinstance(one, str) for one in ours.values()):
        return {}
    its.drop("metadata", "source_system")
    return dict(ours)


def _links(its: sources.Fields, name: str) -> tuple[str, list[str]]:
    parent = ""
    needs: list[str] = []
    more: list[str] = []
    for one in its.items("dependencies"):
        link = sources.Fields(one if isinstance(one, dict) else {"link": one}, NAME)
        kind, other = link.text("type"), link.word("depends_on_id")
        mine = link.peek("issue_id") in (None, name)
        if mine:
            link.drop("issue_id")
        named = _source(other) if mine else ""
        placed = False
        if named and kind == "parent-child" and not parent:
            parent, placed = named, True
        elif named and kind in GATING:
            needs.append(named)
            placed = kind == GATING[0]
        link.keep_left()
        if link.notes or not placed:
            said = [f"{kind} {other}".strip(), *(note.partition(": ")[2] for note in link.notes)]
            more.append(", ".join(part for part in said if part))
    its.note("links", "\n".join(more))
    repeated = its.peek("parent")
    if isinstance(repeated, str) and _source(repeated):
        parent = parent or _source(repeated)
        if parent == _source(repeated):
            its.drop("parent")
    return parent, needs


def _source(name: str) -> str:
    try:
        return foreign.source_of(NAME, name)
    except InvalidInput:
        return ""


def _comments(its: sources.Fields) -> None:
    for one in its.items("comments"):
        comment = sources.Fields(one if isinstance(one, dict) else {"comment": one}, NAME)
        said = comment.text("text")
        comment.drop("issue_id")
        number, author, at = (comment.word(part) for part in ("id", "author", "created_at"))
        comment.keep_left()
        by = f"by {author}" if author else ""
        head = ", ".join(part for part in (number, by, at) if part)
        its.note("comment", "\n".join([head, said, *comment.notes]))


# -- the other way


def lines(tasks: list[Task]) -> Iterator[bytes]:
    """Tasks as lines of beads, under the names that they had there, else under our ids."""
    names: dict[str, str] = {}
    used = {task.id for task in tasks}
    for task in tasks:
        program, _, name = task.source.partition(":")
        names[task.id] = name if program == NAME and name not in used else task.id
        used.add(names[task.id])
    for task in tasks:
        yield _line(task, names)


def _exported(status: str) -> str:
    """The word of beads for a status of ours."""
    return {"active": "in_progress", "done": "closed", "cancelled": "closed"}.get(status, status)


def _line(task: Task, names: dict[str, str]) -> bytes:
    import json

    title, description = _titled(task.goal)
    ended = task.status in ("done", "cancelled")
    labels = [one for one in task.labels if not one.startswith("type:")]
    kinds = [one[len("type:") :] for one in task.labels if one.startswith("type:")]
    found = {
        "id": names[task.id],
        "title": title,
        "description": description,
        "acceptance_criteria": _criteria(task.criteria),
        "status": _exported(task.status),
        "priority": task.priority,
        "issue_type": kinds[0] if kinds else "task",
        "assignee": task.owner,
        "created_at": instant.iso(task.created),
        "updated_at": instant.iso(task.updated),
        "closed_at": instant.iso(task.updated) if ended else "",
        "close_reason": task.status if ended else "",
        "source_system": OURS,
        "labels": labels + [f"type:{one}" for one in kinds[1:]],
        "dependencies": _dependencies(task, names),
        "comments": _entries(task, names[task.id]),
        "metadata": {
            OURS: {
                "id": task.id,
                "status": task.status,
                **({"goal": task.goal} if _goal(title, description) != task.goal else {}),
                **({"blocker": task.blocker} if task.blocker else {}),
                **({"next": task.next} if task.next else {}),
            }
        },
    }
    kept = {name: value for name, value in found.items() if value not in ("", [])}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _titled(goal: str) -> tuple[str, str]:
    """A goal as a title, which is one line of at most 500 characters, and a description."""
    title, _, description = goal.partition("\n\n")
    if "\n" in title or len(title) > 500:
        return goal.split("\n")[0][:500], goal
    return title, description


def _criteria(criteria: tuple[str, ...]) -> str:
    if len(criteria) == 1:
        return criteria[0]
    return "\n".join(f"- {one}" for one in criteria)


def _dependencies(task: Task, names: dict[str, str]) -> list[dict[str, str]]:
    named = [(other, "blocks") for other in task.dependencies]
    named += [(task.parent, "parent-child")] if task.parent else []
    return [
        {
            "issue_id": names[task.id],
            "depends_on_id": names.get(other, other),
            "type": kind,
            "created_at": instant.iso(task.created),
        }
        for other, kind in named
    ]


def _entries(task: Task, name: str) -> list[dict[str, str]]:
    said = [(one, "decision", one.text) for one in task.decisions]
    said += [
        (one, f"evidence ({state})", read(one.text).payload)
        for one, state in zip(task.evidence, standings(task))
    ]
    said += [(one, "note", one.text) for one in task.notes]
    said.sort(key=lambda part: part[0].at)
    return [
        {
            "id": str(number),
            "issue_id": name,
            "author": entry.by,
            "text": f"{kind}: {text}",
            "created_at": instant.iso(entry.at),
        }
        for number, (entry, kind, text) in enumerate(said, 1)
    ]
