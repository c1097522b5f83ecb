"""The shape of a tool: what it is called, what it takes, and what it does to the ledger."""

from __future__ import annotations

from ..core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KINDS = ("text", "number", "switch", "list")
"""What an argument can be; a ``list`` is of texts."""

_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "number": {"type": "integer"},
    "switch": {"type": "boolean"},
    "list": {"type": "array", "items": {"type": "string"}},
}


class Argument(Value):
    """One argument; ``help`` is empty where its name says all."""

    name: str
    kind: str = "text"
    help: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()


class Tool(Value):
    """One tool: where its function is, what it takes, and what it may be trusted with."""

    name: str
    function: str
    """Its name in :mod:`.calls`."""
    summary: str
    """What an agent reads before it calls."""
    arguments: tuple[Argument, ...]
    command: tuple[str, ...]
    """The words of the command that does the same."""
    reads: bool = True
    """Whether it changes nothing."""
    destroys: bool = False
    """Whether what was there can be gone after it."""
    repeats: bool = False
    """Whether doing it twice is doing it once."""


def schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, in words that every client knows.

    An object of plain types: no references, no alternatives, no bounds, no defaults.  What a value
    must keep is said in its description, and checked when it arrives.
    """
    properties: dict[str, Any] = {}
    for one in tool.arguments:
        properties[one.name] = {**_TYPES[one.kind]}
        if one.choices:
            properties[one.name]["enum"] = [*one.choices]
        if one.help:
            properties[one.name]["description"] = one.help
    found: dict[str, Any] = {"type": "object", "properties": properties}
    required = [one.name for one in tool.arguments if one.required]
    if required:
        found["required"] = required
    return found
