"""The command that takes a text out of everything that is kept."""

from __future__ import annotations

import os

from ..core import instant
from ..core.text import one_line
from ..errors import InvalidInput, in_words
from . import reply
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..actions.purge import Purged
    from . import Call

LEFT_STATUS = 7
ASIDE = "copies put aside"
"""The place whose items are removed as a whole."""
SHOWN = 50
"""The most tasks that the text lists; the document has all of them."""


def purge(call: Call) -> Reply:
    """Take the text on standard input out of everything that is kept, or say where it is."""
    from .. import workspace

    write = call.values["write"]
    space = workspace.for_fuse(call.values["workspace"] or "")
    found = space.purge(_given(call), write=write)
    lines = "".join(f"{line}\n" for line in _lines(found, write=write))
    stays = found.left or found.named or found.held
    return Reply(_data(found, write=write), lines, status=LEFT_STATUS if stays and write else 0)


def _given(call: Call) -> str:
    if os.isatty(0):
        reply.put(reply.ERR, "The text to purge, ended by Enter and Ctrl-D:\n")
    try:
        given = call.standard_input(errors="strict")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The text on standard input is not UTF-8: {in_words(error)}") from error
    return given.removesuffix("\n").removesuffix("\r")


def _data(found: Purged, *, write: bool) -> dict[str, Any]:
    return {
        "written": write,
        "tasks": [
            {
                "id": task_id,
                "at": instant.iso(one.at),
                "versions": [*one.versions],
                "old_head": one.old[-1],
                "new_head": one.new[-1],
            }
            for task_id, one in found.tasks.items()
        ],
        "places": [one._asdict() for one in found.places],
        "left": [
            *({"kind": "task id", "where": one} for one in found.named),
            *({"kind": "task", "where": one} for one in found.held),
            *({"kind": "file", "where": one} for one in found.left),
        ],
        "outside": [{"kind": kind, "path": path} for path, kind in found.outside.items()],
    }


def _lines(found: Purged, *, write: bool) -> Iterator[str]:
    held = [one for one in found.places if one.items]
    if not found.tasks and not held:
        yield "The text is in no task and in no file that is purged."
    for number, (task_id, one) in enumerate(found.tasks.items()):
        if number == SHOWN:
            yield f"and {len(found.tasks) - SHOWN} more tasks; --json lists all of them"
            break
        versions = ", ".join(map(str, one.versions))
        done = "is now" if write else "would become"
        said = f"{'purged' if write else 'would be purged'} in version {versions}"
        yield f"task {task_id}: {said}; head {one.old[-1]} {done} {one.new[-1]}"
    for place in held:
        done = "removed" if place.place == ASIDE else "purged"
        done = done if write else f"would be {done}"
        yield f"{place.place}: {place.items} {done} in {one_line(place.path)}"
    for task_id in found.named:
        yield f"stays: the id of task {task_id} holds it, and an id is never changed"
    for task_id in found.held:
        yield f"stays: task {task_id} holds it where it cannot be taken out"
    for path in found.left:
        yield f"stays: {one_line(path)}, no file of this program, {_why(path in found.unread)}"
    for path, kind in found.outside.items():
        yield f"outside: {one_line(kind)} {one_line(path)} {_why(path in found.unread)}"
        if kind == "transcript":
            yield "  and the next save of its session takes the text in again"
    if not write and (found.tasks or held):
        yield "nothing was written; the same with --write does it, and it cannot be undone"
    elif write and (found.tasks or held):
        yield "done: the text is out of all that is purged"


def _why(unread: bool) -> str:
    return "cannot be read: nobody can say that it does not hold it" if unread else "holds it"
