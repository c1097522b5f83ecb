"""Links between tasks: parents and dependencies exist, and never lead back to where they began."""

from __future__ import annotations

from ..errors import RingRefused, TaskNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
    """RingRefused if parents or dependencies lead back anywhere on the way from ``starts``."""
    onward: dict[str, Callable[[Brief | None], tuple[str, ...]]] = {
        "parent": lambda brief: (brief.parent,) if brief and brief.parent else (),
        "dependency": lambda brief: brief.dependencies if brief else (),
    }
    for kind, following in onward.items():
        done: set[str] = set()
        for start in starts:
            path = {} if start in done else {start: iter(following(look(start)))}
            while path:
                here = next(reversed(path))
                there = next(path[here], "")
                if not there:
                    done.add(here)
                    del path[here]
                elif there in path:
                    names = list(path)
                    ring = [*names[names.index(there) :], there]
                    raise RingRefused(
                        f"The {kind} would close a ring:", [" -> ".join(ring)], ring=ring
                    )
                elif there not in done:
                    path[there] = iter(following(look(there)))


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
            path = " -> ".join(reversed(ring))
            raise RingRefused(f"The {kind} would close a ring:", [path], ring=list(reversed(ring)))
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
            line = {other: None}
            up = other
            while (up := above(up)) and up not in line:
                line[up] = None
                if up == whole and task.id in line:
                    path = f"{whole} waits for " + ", a part of ".join(line)
                    raise RingRefused(
                        "A task cannot wait for its own part:", [path], ring=[whole, *line]
                    )
