"""Task Master: ``tasks.json``, a list of tasks for each tag, each with its subtasks.

Ids are numbers or strings and count within their tag; those of subtasks count within their task, so
that ``5.2`` is the second subtask of the fifth task.  A subtask becomes a task, a part of its task.
"""

from __future__ import annotations

from ..core import foreign
from ..core.foreign import UNPLACED, UNREAD, Foreign, Gathered, Problem
from ..errors import InvalidInput, in_words
from . import sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "taskmaster"

DEFAULT_TAG = "master"
STATUSES = {"deferred": "blocked"}  # put off: it must not be handed out as ready
_COUNTS = ("created", "updated", "version", "lastModified", "taskCount", "completedCount", "tags")


def find(place: str) -> str | None:
    """The task file at or below ``place``."""
    return sources.first_file(
        place, (".taskmaster", "tasks", "tasks.json"), ("tasks", "tasks.json"), ("tasks.json",)
    )


def recognises(found: str) -> bool:
    """Whether the file begins as an object with lists of tasks."""
    start = sources.start_of(found).lstrip()
    return start.startswith(b"{") and b'"tasks"' in start


def gather(found: str) -> Gathered:
    """The tasks of a file."""
    return parse(sources.read_file(found))


def parse(content: bytes) -> Gathered:
    """The tasks of ``content``.  InvalidInput if it is not a file of this program."""
    try:
        source = content.decode("utf-8")
        sources.refuse_conflict(source.split("\n"))
        found = sources.parsed(source)
    except ValueError as error:
        raise InvalidInput(
            f"The file cannot be read: {in_words(error)}; nothing was imported"
        ) from error
    if not isinstance(found, dict):
        raise InvalidInput("The file holds no object; nothing was imported")
    if isinstance(found.get("tasks"), list):
        # Before there were tags, the file was what a tag holds now.
        old = {name: found.pop(name) for name in ("tasks", "metadata") if name in found}
        found = {DEFAULT_TAG: old, **found}
    items: list[Foreign] = []
    problems: list[Problem] = []
    for tag, its in found.items():
        if not isinstance(its, dict) or not isinstance(its.get("tasks"), list):
            problems.append(Problem(UNPLACED, f"tag {tag}", sources.shown(its)))
            continue
        problems += _beside(tag, its)
        if not its["tasks"]:
            problems.append(Problem(UNPLACED, f"tag {tag}", "it has no tasks"))
        for number, one in enumerate(its["tasks"], 1):
            _task(tag, one, number, items, problems)
    return Gathered(NAME, tuple(items), (), tuple(problems))


def _beside(tag: str, found: dict[str, Any]) -> list[Problem]:
    """What a tag says beside its tasks, its own counts left off."""
    rest = {name: value for name, value in found.items() if name != "tasks"}
    if isinstance(about := rest.get("metadata"), dict):
        rest["metadata"] = {name: one for name, one in about.items() if name not in _COUNTS}
    rest = {name: value for name, value in rest.items() if value not in (None, "", [], {})}
    return [Problem(UNPLACED, f"tag {tag}", sources.shown(rest))] if rest else []


def _task(tag: str, found: Any, number: int, items: list[Foreign], problems: list[Problem]) -> None:
    """A task and its subtasks."""
    parts = found.get("subtasks") if isinstance(found, dict) else None
    parts = parts if isinstance(parts, list) else []
    siblings, none = frozenset(_name(one) for one in parts), frozenset[str]()
    name = _name(found)
    where = f"tag {tag}, task {name or f'number {number}'}"
    listed = [(found, name, "", where)]
    for count, one in enumerate(parts, 1):
        its = _name(one)
        place = f"{where}, subtask {its or f'number {count}'}"
        listed.append((one, f"{name}.{its}" if name and its else "", name, place))
    for one, whole, parent, place in listed:
        try:
            items.append(_item(tag, one, whole, parent, siblings if parent else none, place))
        except (ValueError, InvalidInput) as error:
            problems.append(Problem(UNREAD, place, in_words(error)))


def _name(found: Any) -> str:
    value = found.get("id") if isinstance(found, dict) else None
    return str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else ""


def _source(tag: str, name: str) -> str:
    return foreign.source_of(NAME, f"{tag}:{name}")


def _item(
    tag: str, found: Any, name: str, parent: str, siblings: frozenset[str], where: str
) -> Foreign:
    if not isinstance(found, dict):
        raise ValueError(f"it is not an object: {sources.shown(found)}")
    if not name:
        raise ValueError(f"it has no id, or its task has none: {sources.shown(found)}")
    source = _source(tag, name)
    its = sources.Fields(found, NAME)
    its.drop("id", "isSubtask")
    if isinstance(its.peek("subtasks"), list) and not parent:
        its.drop("subtasks")
    for stray in ("parentId", "parentTaskId", "parentTask"):
        if parent and str(its.peek(stray)) == parent:
            its.drop(stray)
    goal = "\n\n".join(
        part for part in (its.text("title"), its.text("description")) if part.strip()
    )
    if not goal:
        raise ValueError(f"{source} has no title: {sources.shown(found)}")
    there = its.word("status")
    status, blocker = foreign.status_of(NAME, there, STATUSES)
    priority = foreign.priority_of(its.peek("priority"))
    if priority is not None:
        its.drop("priority")
    its.note("details", its.text("details"))
    needs = []
    for one in its.items("dependencies"):
        needed = _name({"id": one})
        try:
            if not needed:
                raise InvalidInput("it is no id")
            needs.append(_source(tag, f"{parent}.{needed}" if needed in siblings else needed))
        except InvalidInput:
            its.note("dependency", sources.shown(one))
    wanted = {
        "goal": goal,
        "criteria": [*its.texts("acceptanceCriteria"), its.text("testStrategy")],
        "status": status,
        "blocker": blocker,
        "owner": its.text("assignee"),
        "labels": [*([tag] if tag != DEFAULT_TAG else []), *its.texts("tags")],
        "priority": 2 if priority is None else priority,
    }
    created, updated = its.time("createdAt"), its.time("updatedAt")
    its.keep_left()
    fields, more = foreign.fitted(NAME, wanted)
    # Its subtasks are items of their own: what changes in them does not change it.
    own = {key: value for key, value in found.items() if parent or key != "subtasks"}
    return Foreign(
        source=source,
        where=where,
        digest=sources.digest_of(own),
        set=fields,
        there=foreign.kept(there),
        parent=_source(tag, parent) if parent else "",
        dependencies=tuple(needs),
        notes=(*more, *its.notes),
        created=created,
        updated=updated,
    )
