"""The other programs that keep tasks, behind one small contract: their files are read, no more.

A tracker is a module with these names:

    NAME                  the program, as commands spell it, and its sources begin
    find(place)           the file or folder of this program at or below ``place``, or None
    recognises(found)     whether what ``find`` found can only be of this program, by its content
    gather(found)         what it holds, as neutral items, with all that cannot be kept

Finding, reading and parsing are apart: parsing takes text and gives values, so that it can be tried
with any text.  A tracker is loaded when it is asked for, by name.
"""

from __future__ import annotations

from ..errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    from ..core.foreign import Gathered
    from ..core.task import Task

    class Tracker(Protocol):
        """What every tracker module offers."""

        NAME: str

        def find(self, place: str) -> str | None:
            """The file or folder of this program at or below ``place``, or None."""

        def recognises(self, found: str) -> bool:
            """Whether what was found can only be of this program, by its content."""

        def gather(self, found: str) -> Gathered:
            """What ``found`` holds.  InvalidInput if it cannot be used as a whole."""


TRACKERS = {
    "beads": "beads",
    "taskmaster": "task_master",
    "backlog": "backlog",
    "original": "original",
}
"""Name of the program to its module here."""

PLACES = {
    "beads": ".beads/issues.jsonl",
    "taskmaster": ".taskmaster/tasks/tasks.json",
    "backlog": "backlog/tasks/",
    "original": ".contextspindle/tasks/t-.../",
}
"""Where each program mostly keeps its tasks, for whoever looks for them."""

AUTO = "auto"
"""Stands for the one program whose files are found."""


def tracker(name: str) -> Tracker:
    """The tracker called ``name``.  InvalidInput if there is none."""
    try:
        module = TRACKERS[name]
    except KeyError:
        known = ", ".join((*TRACKERS, AUTO))
        raise InvalidInput(f"There is no import from {name!r}", hint=f"Use {known}.") from None
    loaded: Any = __import__(f"{__name__}.{module}", fromlist=("NAME",))
    return loaded  # type: ignore[no-any-return]


WRITERS = ("beads",)
"""The programs whose form can be written too."""


def writer(name: str) -> Callable[[list[Task]], Iterator[bytes]]:
    """What gives tasks as the lines of a program.  InvalidInput if there is no such export."""
    if name not in WRITERS:
        raise InvalidInput(f"There is no export as {name!r}", hint=f"Use {', '.join(WRITERS)}.")
    loaded: Any = tracker(name)
    return loaded.lines  # type: ignore[no-any-return]


def gather(place: str, name: str) -> Gathered:
    """What the program ``name`` keeps at ``place``; with ``auto``, the one that is found there.

    InvalidInput if there is nothing of it, or if it cannot be used as a whole.
    """
    if place == "-" and name == AUTO:
        raise InvalidInput("Standard input is read once: say with --from whose it is")
    found: dict[str, str] = {}
    for one in TRACKERS if name == AUTO else (name,):
        there = tracker(one).find(place)
        if there is not None and (name != AUTO or tracker(one).recognises(there)):
            found[one] = there
    if not found:
        whose = "a known program" if name == AUTO else name
        wanted = PLACES if name == AUTO else (name,)
        mostly = ", ".join(f"{PLACES[one]} ({one})" for one in wanted)
        raise InvalidInput(
            f"{place} holds nothing of {whose}",
            hint=f"Name the project, or the file or folder itself; mostly that is {mostly}.",
        )
    if len(found) > 1:
        raise InvalidInput(
            f"{place} holds files of several programs: {', '.join(found)}",
            hint="Name one of them with --from.",
        )
    ((whose, there),) = found.items()
    return tracker(whose).gather(there)
