"""Memory: what an item is, what may be asked of it, and what is answered.

An item is a text with who said it, when, in which session, and where it comes from.  It is full, or
a gist that only points to what it was.  Its id is the number under which it was remembered; an id
is never used again.
"""

from __future__ import annotations

from ..errors import InvalidInput, ItemNotFound
from . import text as texts
from .digest import sha256
from .recall import ASKS, PASSAGE, STEP, TIMED, passages, place
from .terms import Lexicon, analyse, wordless
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .task import Task

FULL, GIST = "full", "gist"
"""The tiers of an item."""

MAX_TEXT = 64 * 1024
MAX_NAME = 256
MAX_SOURCE = 1_024
MAX_LABELS = 16
MAX_HITS = 100

DEFAULT_ITEMS = 10_000
DEFAULT_BYTES = 4 * 1024 * 1024
MOST_ITEMS = 1_000_000


class Limits(Value):
    """What a memory holds at most."""

    items: int = DEFAULT_ITEMS
    bytes: int = DEFAULT_BYTES
    """UTF-8 bytes of the texts, gists as shortened."""


class Note(Value):
    """What is to be remembered."""

    text: str
    by: str = ""
    at: int | None = None
    """When it was said, in milliseconds since 1970; None for when it is remembered."""
    session: str = ""
    source: str = ""
    """Where it comes from, and where the whole of it can be read: a reference to follow."""
    labels: tuple[str, ...] = ()
    key: str = ""
    """What the text is the present value of: a later note of the same key takes its place."""
    pinned: bool = False


class Item(Value):
    """What is remembered."""

    seq: int
    slot: int
    text: str
    by: str
    at: int
    session: str
    source: str
    labels: tuple[str, ...]
    key: str
    pinned: bool
    tier: str
    times: int
    """How often it was remembered."""
    last: int
    """When it was remembered the last time."""
    weight: int
    """See :func:`.retention.weight_of`."""

    @property
    def id(self) -> str:
        """The id as it is shown: ``m-17``."""
        return f"m-{self.seq}"


class Entry(Value):
    """How an item stands in the index."""

    terms: dict[str, list[int]]
    """For each term, its passages and counts, packed as in a posting without a slot."""
    said: frozenset[str]
    """Those of the text itself: its date and its speaker say nothing about its worth."""
    length: int
    flags: int
    information: int


def mark_of(what: str, name: str) -> str:
    """What an item of that ``label`` or ``source`` is found by in the index: no term of a text."""
    return f"#{sha256(f'{what}={name}'.encode())[:20]}"


class Hit(Value):
    """An item that answers a query."""

    item: Item
    score: int
    why: tuple[str, ...]
    """The terms that matched; empty for one that is there for its neighbours or its session."""


class Counts(Value):
    """The state of a memory in numbers."""

    items: int
    gists: int
    pinned: int
    bytes: int
    seen: int
    """Items ever remembered, near duplicates not counted."""
    merged: int
    shrunk: int
    dropped: int
    oldest: int
    """When the oldest and the newest item were said; 0 without any."""
    newest: int


class Rebuilt(Value):
    """What a rebuild saved, and where the file as it was is kept."""

    items: int
    lost: int
    """Items that were there and cannot be read any more, as far as that can be told."""
    kept: str


def number_of(given: str) -> int:
    """The number in an id.  InvalidInput if it is none."""
    digits = given.removeprefix("m-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 15:
        raise InvalidInput(
            f"{texts.shortened(given, 40)!r} is not the id of an item",
            hint="Ids look like m-17; 'contextspindle recall' shows them.",
        )
    return int(digits)


def not_there(seq: int) -> ItemNotFound:
    """The error for an id that no item has."""
    return ItemNotFound(f"The memory holds no item m-{seq}")


def checked(note: Note) -> Note:
    """``note`` in valid Unicode and within its limits.  InvalidInput."""
    body = _kept("text", note.text)
    if not body.strip():
        raise InvalidInput("There is no text to remember")
    if texts.size(body) > MAX_TEXT:
        raise InvalidInput(
            f"A text of {texts.size(body):,} bytes is too long to remember",
            hint=f"At most {MAX_TEXT:,} bytes: remember what matters, the whole as its source.",
        )
    labels = tuple(dict.fromkeys(_named("label", label, MAX_NAME) for label in note.labels))
    if not all(label.strip() for label in labels):
        raise InvalidInput("A label is empty", hint="Leave it out, or give it a name.")
    if len(labels) > MAX_LABELS:
        raise InvalidInput(f"{len(labels)} labels are too many", hint=f"At most {MAX_LABELS}.")
    return note._replace(
        text=body,
        by=_named("speaker", note.by, MAX_NAME),
        session=_named("session", note.session, MAX_NAME),
        source=_named("source", note.source, MAX_SOURCE),
        key=_named("key", note.key, MAX_NAME),
        labels=labels,
    )


def _named(what: str, given: str, most: int) -> str:
    given = _kept(what, given)
    if texts.size(given) > most:
        raise InvalidInput(f"The {what} is longer than {most:,} bytes")
    return given


def _kept(what: str, given: str) -> str:
    """``given`` in valid Unicode.  A zero byte is refused here as in a task."""
    if "\0" in given:
        raise InvalidInput(f"The {what} holds a zero byte, which no store can keep")
    return texts.clean(given)


def entry_of(item: Item, lexicon: Lexicon) -> Entry:
    """How an item is found: by its date, by who said it, by its terms, by its labels and source."""
    from .instant import iso

    text, by, at = item.text, item.by, item.at
    found = analyse(text, lexicon=lexicon)
    listed, whole = found.listed, found.whole
    if not listed and not whole:
        listed = analyse(text, keep_stop_words=True, lexicon=lexicon).listed
    if not listed and not whole:
        whole = (wordless(text),)
    date = lexicon.analyse(iso(at)[:10])
    before = date.listed + (lexicon.analyse(by).listed if by else ())
    said, listed = listed, before + listed
    says = len(set(said))
    places: dict[str, list[int]] = {}
    for passage in range(passages(len(listed))):
        counts: dict[str, int] = {}
        for term in listed[passage * STEP : passage * STEP + PASSAGE]:
            counts[term] = counts.get(term, 0) + 1
        for term, count in counts.items():
            places.setdefault(term, []).append(place(0, passage, count))
    marks = [mark_of("label", label) for label in item.labels]
    if item.source:
        marks.append(mark_of("source", item.source))
    for term in dict.fromkeys((*date.whole, *whole, *marks)):
        held = places.setdefault(term, [])
        if not held or held[0] > 0xFF:  # not in the first passage
            held.append(place(0, 0, 1))
    return Entry(
        places,
        frozenset((*said, *whole)),
        len(listed),
        (ASKS if text.rstrip().endswith("?") else 0) | (TIMED if found.timed else 0),
        255 * says // (says + 10),
    )


def about(task: Task) -> str:
    """What to look for where a task is worked on: its goal, its criteria, its next action."""
    return "\n".join((task.goal, *task.criteria, task.next))


def item_of(document: dict[str, Any]) -> Item:
    """The item of a document."""
    document["labels"] = tuple(document["labels"])
    return Item(*[document[name] for name in Item._fields])
