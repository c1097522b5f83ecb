"""Links between tasks: parents and dependencies exist, and never lead back to where they began."""

from __future__ import annotations

from ..errors import TaskNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..errors import RingRefused
    from .task import Brief, Task

    Look = Callable[[str], Brief | None]


def check(before: Task, after: Task, look: Look) -> None:
    """Raise unless every new link of ``after`` keeps the rules.

    TaskNotFound names a task that does not exist.  RingRefused prints the ring: a task cannot be
    its own ancestor, wait for itself over any number of steps, or wait for one of its own
    descendants, which is a part of it already.
    """
    known = before.version > 0  # nothing leads to a task that is only now made
    if after.parent and after.parent != before.parent:
        _exists("parent", after.parent, look)
    if known and after.parent and after.parent != before.parent:
        _no_ring(
            "parent",
            after,
            [after.parent],
            lambda brief: [brief.parent] if brief.parent else [],
            look,
        )
    new = [other for other in after.dependencies if other not in before.dependencies]
    for other in new:
        _exists("dependency", other, look)
    if known and new:
        _no_ring("dependency", after, new, lambda brief: brief.dependencies, look)
    if known and (new or after.parent != before.parent):
        _no_own_part(before, after, look)


def check_rings(starts: Iterable[str], look: Look) -> None:
    """RingRefused if parents or dependencies lead back anywhere on the way from ``starts``.

    Or if one of them, or a task above one, waits for a part of its own.
    """
    starts = [*starts]
    known: dict[str, tuple[str, tuple[str, ...]]] = {}

    def linked(one: str) -> tuple[str, tuple[str, ...]]:
        if one not in known:
            brief = look(one)
            known[one] = (brief.parent, brief.dependencies) if brief else ("", ())
        return known[one]

    def above(one: str) -> str:
        return linked(one)[0]

    def needs(one: str) -> tuple[str, ...]:
        return linked(one)[1]

    _no_ring_from("parent", starts, lambda one: (above(one),) if above(one) else ())
    _no_ring_from("dependency", starts, needs)
    wholes: dict[str, None] = {}
    for start in starts:
        whole = start
        while whole and whole not in wholes:
            wholes[whole] = None
            whole = above(whole)
    for whole in wholes:
        for other in needs(whole):
            if line := _way_up(other, whole, above):
                raise _own_part(whole, line)


def _no_ring_from(kind: str, starts: list[str], onward: Callable[[str], tuple[str, ...]]) -> None:
    """Walk ``onward`` from each of ``starts``, over each task once; RingRefused for a way back."""
    done: set[str] = set()
    for start in starts:
        path = {} if start in done else {start: iter(onward(start))}
        while path:
            here = next(reversed(path))
            there = next(path[here], "")
            if not there:
                done.add(here)
                del path[here]
            elif there in path:
                names = list(path)
                ring = [*names[names.index(there) :], there]
                raise _closed(kind, ring)
            elif there not in done:
                path[there] = iter(onward(there))


def _exists(kind: str, other: str, look: Look) -> None:
    if look(other) is None:
        raise TaskNotFound(
            f"The {kind} {other} does not exist",
            hint="It is named by its whole id; 'contextspindle task list' shows the ids.",
        )


def _no_ring(
    kind: str, task: Task, first: list[str], onward: Callable[[Brief], Iterable[str]], look: Look
) -> None:
    """Walk ``onward`` from ``first``; RingRefused if the walk comes back to ``task``."""
    came_from: dict[str, str] = dict.fromkeys(first, task.id)
    waiting = list(came_from)
    while waiting:
        here = waiting.pop()
        if here == task.id:
            ring = [here]
            step = came_from[here]
            while step != task.id:
                ring.append(step)
                step = came_from[step]
            ring.append(task.id)
            raise _closed(kind, ring[::-1])
        brief = look(here)
        for there in onward(brief) if brief else ():
            if there not in came_from:
                came_from[there] = here
                waiting.append(there)


def _no_own_part(before: Task, task: Task, look: Look) -> None:
    """RingRefused if the task waits for a part of its own, or one above it waits for the task.

    What is below a task counts as the task: a link can close such a ring from either of its ends.
    """

    parents = {task.id: task.parent}  # many dependencies lead up the same way

    def above(one: str) -> str:
        if one not in parents:
            brief = look(one)
            parents[one] = brief.parent if brief else ""
        return parents[one]

    waiting = {task.id: task.dependencies}
    whole = task.parent if task.parent != before.parent else ""
    while whole and whole not in waiting:
        brief = look(whole)
        waiting[whole] = brief.dependencies if brief else ()
        whole = above(whole)
    for whole, needs in waiting.items():
        for other in needs:
            line = _way_up(other, whole, above)
            if task.id in line:
                raise _own_part(whole, line)


def _way_up(part: str, whole: str, above: Callable[[str], str]) -> list[str]:
    """The tasks from ``part`` up to ``whole``; none if it is not a part of that."""
    line = {part: None}
    up = part
    while (up := above(up)) and up not in line:
        line[up] = None
        if up == whole:
            return [*line]
    return []


def _closed(kind: str, ring: list[str]) -> RingRefused:
    from ..errors import RingRefused

    return RingRefused(f"The {kind} would close a ring:", [" -> ".join(ring)], ring=ring)


def _own_part(whole: str, line: list[str]) -> RingRefused:
    from ..errors import RingRefused

    path = f"{whole} waits for " + ", a part of ".join(line)
    return RingRefused("A task cannot wait for its own part:", [path], ring=[whole, *line])
