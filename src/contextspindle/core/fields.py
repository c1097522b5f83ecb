"""Fields of a task as people and agents write them, brought into the one form that is stored."""

from __future__ import annotations

from ..errors import InvalidInput
from . import text
from .task import LABEL_LIMIT, STATUSES, TEXT_LIMIT, is_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

STATUS_ALIASES = {
    "todo": "open",
    "new": "open",
    "pending": "open",
    "backlog": "open",
    "deferred": "open",
    "reopened": "open",
    "in_progress": "active",
    "doing": "active",
    "started": "active",
    "wip": "active",
    "working": "active",
    "review": "active",
    "in_review": "active",
    "waiting": "blocked",
    "on_hold": "blocked",
    "stuck": "blocked",
    "closed": "done",
    "complete": "done",
    "completed": "done",
    "finished": "done",
    "resolved": "done",
    "canceled": "cancelled",
    "dropped": "cancelled",
    "abandoned": "cancelled",
    "wontfix": "cancelled",
    "wont_fix": "cancelled",
}
PRIORITY_ALIASES = {
    "critical": 0,
    "urgent": 0,
    "highest": 0,
    "high": 1,
    "medium": 2,
    "normal": 2,
    "low": 3,
    "lowest": 4,
}


def status(given: str) -> str:
    """The status that ``given`` names, by its own name or a common other one."""
    word = str(given).strip().lower().replace("-", "_").replace(" ", "_")
    found = word if word in STATUSES else STATUS_ALIASES.get(word.replace("to_do", "todo"))
    if found is None:
        raise InvalidInput(
            f"There is no status {text.shortened(repr(given), 80)}",
            hint="Use one of " + ", ".join(STATUSES) + ".",
        )
    return found


def priority(given: str | int) -> int:
    """The priority that ``given`` names: 0 (highest) to 4, or high, medium, low."""
    word = str(given).strip().lower()
    if word in PRIORITY_ALIASES:
        return PRIORITY_ALIASES[word]
    word = word.removeprefix("p")
    if word in ("0", "1", "2", "3", "4"):
        return int(word)
    raise InvalidInput(
        f"There is no priority {text.shortened(repr(given), 80)}",
        hint="Use 0 (highest) to 4, or high, medium, low.",
    )


def task_id(given: str) -> str:
    """``given``, if it has the form of a whole task id."""
    if not isinstance(given, str) or not is_id(given):
        raise InvalidInput(
            f"{text.shortened(str(given), 80)!r} is not a task id",
            hint="An id is t- and letters, digits, hyphens; 'contextspindle task list' shows them.",
        )
    return given


def _bounded(name: str, given: object) -> str:
    if not isinstance(given, str):
        raise InvalidInput(f"The {name} must be text, not {type(given).__name__}")
    value = text.clean(given)
    if "\0" in value:
        # PostgreSQL cannot hold it, and the same rule holds on every store.
        raise InvalidInput(f"The {name} holds a zero byte, which no store can keep")
    if text.size(value) > TEXT_LIMIT:
        raise InvalidInput(
            f"The {name} has {text.size(value)} bytes; at most {TEXT_LIMIT} are kept",
            hint="Put long material into a file and name its path.",
        )
    return value


def _text(name: str) -> Callable[[object], str]:
    def checked(given: object) -> str:
        value = _bounded(name, given)
        return value if value.strip() else ""

    return checked


def _criteria(given: object) -> tuple[str, ...]:
    items = [given] if isinstance(given, str) else given
    if not isinstance(items, (list, tuple)):
        raise InvalidInput("The criteria must be one text or a list of texts")
    found = tuple(item for item in map(_text("criterion"), items) if item)
    if len(found) > 1:
        for item in found:
            if "\n" in item:
                # Items are hashed joined by line feeds: one inside would let two lists look alike.
                raise InvalidInput(
                    "A criterion of a list cannot hold a line break",
                    hint="Give one line to each criterion, or all of them as one text.",
                )
    if text.size("\n".join(found)) > TEXT_LIMIT:
        raise InvalidInput(f"The criteria together have more than {TEXT_LIMIT} bytes")
    return found


def _listed(name: str, given: object) -> Iterable[Any]:
    """``given``, if it is a list: the letters of a text would be taken for items."""
    if not isinstance(given, (list, tuple)):
        raise InvalidInput(f"The {name} must be a list of texts, not {type(given).__name__}")
    return given


def _parent(given: object) -> str:
    value = _text("parent")(given)
    return task_id(value) if value else ""


def _label(given: object) -> str:
    value = _bounded("label", given).strip()
    if not value or text.one_line(value) != value or text.size(value) > LABEL_LIMIT:
        raise InvalidInput(
            f"{text.shortened(str(given), 80)!r} is not a label",
            hint=f"A label is one line of 1 to {LABEL_LIMIT} bytes.",
        )
    return value


_NORMAL: dict[str, Callable[[Any], Any]] = {
    "goal": _text("goal"),
    "criteria": _criteria,
    "status": status,
    "owner": _text("owner"),
    "blocker": _text("blocker"),
    "next": _text("next action"),
    "parent": _parent,
    "dependencies": lambda given: merged("dependencies", (), given, ()),
    "priority": priority,
    "labels": lambda given: merged("labels", (), given, ()),
}


def normalised(given: dict[str, Any]) -> dict[str, Any]:
    """``given`` with each field in its stored form.  InvalidInput names the first that has none."""
    for name in given:
        if name not in _NORMAL:
            raise InvalidInput(f"A task has no field {name!r} that can be set")
    found = {name: _NORMAL[name](value) for name, value in given.items()}
    if found.get("goal") == "":
        raise InvalidInput("The goal cannot be empty")
    return found


def merged(
    name: str, present: Iterable[str], added: Iterable[str], dropped: Iterable[str]
) -> tuple[str, ...]:
    """``present`` with ``added`` and without ``dropped``, in order, each once.

    InvalidInput if one to drop is not there.
    """
    one = task_id if name == "dependencies" else _label
    found = dict.fromkeys(present)
    for item in _listed(name, dropped):
        if item not in found:
            raise InvalidInput(
                f"{text.shortened(str(item), 80)!r} is not among the {name} of the task",
                hint="'contextspindle task show ID' lists them.",
            )
        del found[item]
    found.update(dict.fromkeys(one(item) for item in _listed(name, added)))
    return tuple(found)


def entries(name: str, given: Iterable[object]) -> tuple[str, ...]:
    """Texts to add as entries, each checked; InvalidInput for an empty one."""
    found = tuple(map(_text(name), _listed(f"{name} entries", given)))
    if "" in found:
        raise InvalidInput(f"The {name} is empty")
    return found


def key(given: str) -> str:
    """An idempotency key in its stored form: 1 to 128 characters."""
    if not isinstance(given, str):
        raise InvalidInput(f"The idempotency key must be text, not {type(given).__name__}")
    value = text.clean(given)
    if not 1 <= len(value) <= 128 or "\0" in value:
        raise InvalidInput(
            f"The idempotency key has {len(value)} characters", hint="Use 1 to 128 characters."
        )
    return value
