"""Items of other programs: what is neutral about them, and what taking them in comes to.

Nothing that an item says is dropped.  What has a field of its own goes there; what has none, or
does not fit, becomes a note that names its origin; what cannot be kept at all is a problem, listed
with its place.
"""

from __future__ import annotations

from ..errors import InvalidInput
from . import fields, text
from .task import LABEL_LIMIT, TEXT_LIMIT
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

SOURCE_LIMIT = 512
"""The most bytes of an item's name, and of the name of one that it is linked to."""

# The kinds of problems.
UNREAD = "unread"  # it could not be read, and was not imported
UNPLACED = "unplaced"  # it was read and belongs to no task: the message holds it
LINK = "link"  # a parent or dependency that cannot be; it became a note
CONFLICT = "conflict"  # changed there and here; it stays as it is here
OWN = "own"  # exported from this very ledger; passed over
OLDER = "older"  # the copy there is older than what was imported before; passed over


class Problem(Value):
    """One thing that did not come through as it was: its kind, where it stands, and what it is."""

    kind: str
    where: str
    message: str


class Foreign(Value):
    """One item of another program, in our words; its links name the sources of other items."""

    source: str
    where: str
    digest: str
    """Of all that the item says: it is the same while this is."""
    set: dict[str, Any]
    there: str = ""
    """Its status in the other program's own word."""
    parent: str = ""
    dependencies: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    created: int | None = None
    updated: int | None = None
    own: str = ""
    """The id that it has in the ledger that it was exported from, if one of ours."""


class Past(Value):
    """One version of a task in a history that is taken over as it was."""

    at: int
    actor: str
    set: dict[str, Any]
    decisions: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """Stored records, which keep what they claim."""
    notes: tuple[str, ...] = ()


class Chronicle(Value):
    """A task with its whole history, which keeps its id."""

    id: str
    where: str
    versions: tuple[Past, ...]

    def links(self) -> tuple[str, tuple[str, ...]]:
        """The parent and the dependencies that the newest version has."""
        parent: str = ""
        needs: tuple[str, ...] = ()
        for past in self.versions:
            parent = past.set.get("parent", parent)
            needs = tuple(past.set.get("dependencies", needs))
        return parent, needs


class Gathered(Value):
    """What was found in the files of a program."""

    program: str
    items: tuple[Foreign, ...] = ()
    chronicles: tuple[Chronicle, ...] = ()
    problems: tuple[Problem, ...] = ()


class Report(Value):
    """What an import came to; ``ids`` are the tasks that it made or brought forward."""

    program: str
    created: int
    updated: int
    skipped: int
    conflicts: int
    problems: tuple[Problem, ...]
    ids: tuple[str, ...]


def kept(value: str) -> str:
    """``value`` as every store can hold it: what no Unicode text may contain becomes U+FFFD."""
    return text.clean(value).replace("\0", "\ufffd")


def pieces(head: str, body: str) -> list[str]:
    """``body`` as notes that begin with ``head``, as many as its length needs; none if blank."""
    body = kept(body)
    if not body.strip():
        return []
    room = TEXT_LIMIT - text.size(head) - 48
    if text.size(body) <= room:
        return [f"{head}: {body}"]
    parts = []
    while body:
        parts.append(text.cut(body, room))
        body = body[len(parts[-1]) :]
    return [f"{head} (part {n} of {len(parts)}): {part}" for n, part in enumerate(parts, 1)]


def source_of(program: str, name: str) -> str:
    """What an item called ``name`` is called here.  InvalidInput if it cannot be told apart."""
    cleaned = kept(name).strip()
    if not cleaned or text.one_line(cleaned) != cleaned or text.size(cleaned) > SOURCE_LIMIT:
        raise InvalidInput(
            f"its id {text.shortened(text.one_line(name), 80)!r} is not"
            f" one line of 1 to {SOURCE_LIMIT} bytes"
        )
    return f"{program}:{cleaned}"


def status_of(program: str, word: str, special: dict[str, str]) -> tuple[str, str]:
    """Our status for another program's ``word``, and a blocker where ours needs one.

    ``special`` are the words that mean something else there than the common ones.  A word that
    nobody knows counts as open; the word itself stays in what the import records.
    """
    name = word.strip().lower().replace("-", "_").replace(" ", "_")
    try:
        found = special.get(name) or fields.status(word or "open")
    except InvalidInput:
        found = "open"
    return found, f"{kept(word).strip()} in {program}" if found == "blocked" else ""


def priority_of(given: object) -> int | None:
    """Our priority for a number or a word; None if it is neither."""
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        return None
    try:
        return fields.priority(given)
    except InvalidInput:
        return None


def listed(value: str) -> tuple[list[str], str]:
    """The items of a text that is nothing but a Markdown list, else the text as one.

    And the numbers of those that are ticked off, by comma.
    """
    lines = [line for line in value.split("\n") if line.strip()]
    found = [_item(line.rstrip("\r")) for line in lines]
    if not all(found):
        return [value], ""
    items = [ticked(one) for one in found]
    return [one for _, one in items], ", ".join(
        str(number) for number, (done, _) in enumerate(items, 1) if done
    )


def _item(line: str) -> str:
    for mark in ("- ", "* ", "+ "):
        if line.startswith(mark):
            return line[2:].strip()
    number, dot, rest = line.partition(". ")
    return rest.strip() if dot and number.isascii() and number.isdigit() else ""


def ticked(item: str) -> tuple[bool, str]:
    """Whether an item of a list is ticked off, and its text without the box."""
    box, text_behind = item[:3].lower(), item[3:].strip()
    if box in ("[ ]", "[x]") and text_behind:
        return box == "[x]", text_behind
    return False, item


def fitted(program: str, wanted: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """``wanted`` in the form that fields have, and notes with what does not fit into them."""
    found: dict[str, Any] = {}
    notes: list[str] = []
    for name, value in wanted.items():
        if name == "criteria":
            found[name] = _criteria(program, value, notes)
        elif name == "labels":
            found[name] = _labels(program, value, notes)
        elif isinstance(value, str):
            found[name] = _short(program, name, value, notes)
        else:
            found[name] = value
    fit = fields.normalised(found)
    if fit.get("status") == "blocked" and fit.get("blocker") == "":
        fit["blocker"] = unnamed(program)
    return fit, notes


def unnamed(program: str) -> str:
    """The blocker of what is blocked in another program, which does not say by what."""
    return f"blocked in {program}"


def _short(program: str, name: str, value: str, notes: list[str]) -> str:
    value = kept(value)
    if text.size(value) <= TEXT_LIMIT:
        return value
    notes += pieces(f"{program} {name}, whole", value)
    return text.shortened(value, TEXT_LIMIT)


def _criteria(program: str, given: Iterable[str], notes: list[str]) -> list[str]:
    found = [one for one in map(kept, given) if one.strip()]
    whole = "\n".join(found)
    if text.size(whole) > TEXT_LIMIT:
        notes += pieces(f"{program} criteria, whole", whole)
        return [f"what the notes say under '{program} criteria, whole'"]
    # An item of a list is one line; where one is not, all of them are one text.
    return [whole] if len(found) > 1 and any("\n" in one for one in found) else found


def _labels(program: str, given: Iterable[str], notes: list[str]) -> list[str]:
    found = []
    for one in given:
        label = kept(one).strip()
        if label and text.one_line(label) == label and text.size(label) <= LABEL_LIMIT:
            found.append(label)
        else:
            notes += pieces(f"{program} label", one)
    return found
