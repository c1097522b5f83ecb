"""Arguments as they arrive, made into what a tool takes.

Models and clients write numbers, switches and lists as text; what can only mean one thing is taken
for it.  An argument that a tool does not have is refused by name, so that nothing an agent meant is
dropped in silence.  ``null`` is an argument that was not given.
"""

from __future__ import annotations

import difflib
import json
from typing import Any

from ..core import text
from ..errors import InvalidInput
from .shape import Argument, Tool

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}
_DIGITS = 18


def taken(tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
    """Every argument of ``tool``, None where it was not given.

    InvalidInput names what is wrong.
    """
    known = {one.name: one for one in tool.arguments}
    for name in given:
        if name not in known:
            raise _unknown(tool, name)
    values: dict[str, Any] = dict.fromkeys(known)
    for name, value in given.items():
        if value is not None:
            values[name] = _READERS[known[name].kind](known[name], value)
    missing = [one.name for one in tool.arguments if one.required and values[one.name] is None]
    if missing:
        chosen = next((one for one in tool.arguments if one.name in missing and one.choices), None)
        said = f"{chosen.name} is one of {', '.join(chosen.choices)}. " if chosen else ""
        raise InvalidInput(f"{tool.name} needs {', '.join(missing)}", hint=said + _takes(tool))
    return values


def as_object(given: Any) -> dict[str, Any] | None:
    """The object that a text writes out in JSON; an empty one for an empty list; else None."""
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except (ValueError, RecursionError):
            return None
    if given == []:
        return {}  # what some languages make of an object without names
    return given if isinstance(given, dict) else None


def _unknown(tool: Tool, name: str) -> InvalidInput:
    shown = text.shortened(text.one_line(name), 80)
    near = nearest(name, [one.name for one in tool.arguments])
    meant = f"Did you mean {near!r}? " if near else ""
    return InvalidInput(
        f"{tool.name} has no argument {shown!r}; nothing was done", hint=meant + _takes(tool)
    )


def nearest(word: str, known: list[str]) -> str:
    """The one of ``known`` that ``word`` most likely stands for; empty if none does."""
    inside = [one for one in known if word and (word in one.split("_") or one in word.split("_"))]
    found = difflib.get_close_matches(word, known, 1, 0.6) or inside
    return found[0] if found else ""


def _takes(tool: Tool) -> str:
    return "It takes: " + ", ".join(one.name for one in tool.arguments) + "."


def _text(argument: Argument, value: Any) -> str:
    if isinstance(value, str):
        found = value
    elif isinstance(value, int) and not isinstance(value, bool):
        found = str(value)
    elif isinstance(value, float) and value.is_integer() and abs(value) < 10**_DIGITS:
        found = str(int(value))
    else:
        raise _wrong(argument, "a text", value)
    if argument.choices and found not in argument.choices:
        near = nearest(found, [*argument.choices])
        raise InvalidInput(
            f"{argument.name} must be one of {', '.join(argument.choices)}",
            hint=f"Did you mean {near!r}?" if near else None,
        )
    return found


def _number(argument: Argument, value: Any) -> int:
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**_DIGITS:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) < 10**_DIGITS:
            return value
        raise InvalidInput(f"{argument.name} has more than {_DIGITS} digits", hint="")
    if isinstance(value, str):
        digits = value.strip().removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS:
            return int(value)
    raise _wrong(argument, "a whole number", value)


def _switch(argument: Argument, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    raise _wrong(argument, "true or false", value)


def _list(argument: Argument, value: Any) -> list[str]:
    """A list; a text that holds a JSON list is that list, any other text is its only item."""
    if isinstance(value, str):
        found: Any = None
        if value.lstrip().startswith("["):
            try:
                found = json.loads(value)
            except (ValueError, RecursionError):
                found = None
        whole = [value] if value.strip() else []
        value = found if isinstance(found, list) else whole
    if not isinstance(value, list):
        raise _wrong(argument, "a list of texts", value)
    for one in value:
        if isinstance(one, bool) or not isinstance(one, str | int | float):
            raise _wrong(argument, "a list of texts", value)
    return [_text(argument, one) for one in value]


_READERS = {"text": _text, "number": _number, "switch": _switch, "list": _list}


def _wrong(argument: Argument, wanted: str, value: Any) -> InvalidInput:
    shown = text.shortened(text.one_line(json.dumps(value, ensure_ascii=False)), 60)
    return InvalidInput(f"{argument.name} must be {wanted}, not {shown}", hint="")
