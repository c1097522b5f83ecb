"""The draft: what one save keeps of a session, as quotations that know where they come from.

A draft is a list of items, the most useful first.  It is what a snapshot stores, and all that a
restore has: the budget of the reader is not known yet, so there is more in it than any reader will
get, in an order in which it can be cut anywhere.
"""

from __future__ import annotations

from . import canon
from .text import clean, size
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

LIMIT = 56_000
"""The most bytes that a draft's document has: a snapshot of 64 KiB holds more than the draft."""

# Sections, by the name that is stored.
GOAL = "goal"  # the request that set the course (mark FIRST: the one that opened the session)
LAST = "last"  # what the human said last, raw (mark UNANSWERED: and nothing was done since)
RULE = "rule"  # what the human wants always or never
LEFT = "left"  # what the agent wrote last
STEP = "step"  # an open step of the agent's own list; ``about`` is its key and status
RUNNING = "running"  # sent off or called, and no result came; ``about`` is the tool
STATE = "state"  # where the work stands; ``about`` says which: branch, commit, files, test, ...
DECIDED = "decided"  # an answer or approval; ``about`` is the question
ASKED = "asked"  # other words of the human
FOUND = "found"  # results, errors and what the agent reported
SECTIONS = (GOAL, LAST, RULE, LEFT, STEP, RUNNING, STATE, DECIDED, ASKED, FOUND)

NOTE = " — "
"""Between a step's title and what its list says about it."""

# Whose words an item of FOUND is, if not the agent's; else ``about`` is the tool.
NAME = "name"  # a name that an edit brought into the session
REPORT = "report"  # of a subagent or of work in the background
SUMMARY = "summary"  # of the harness, at an earlier compaction

FIRST = "first"
LATER = "later"  # of a goal: asked for after the one before it
UNANSWERED = "unanswered"
FAILED = "failed"
UNCOMMITTED = "uncommitted"  # of a file: no commit came after its last change, as far as is seen
_DEFAULTS = (0, "", "", "", 0)
_TYPES = [str, str, int, str, str, str, int]
CUT = "cut"  # a very long text of which the start and the end were kept


class Item(Value):
    """One quotation: masked text, the line it stands on (0: none), and the seal of that line."""

    section: str
    text: str
    line: int = 0
    seal: str = ""
    about: str = ""
    mark: str = ""
    at: int = 0  # its place among the quotations of its turn

    def bytes(self) -> int:
        """About what the item costs where it is shown."""
        return size(self.text) + size(self.about) + 16


class Draft(Value):
    """What is worth keeping of a session.  ``items`` are in the order in which they are kept."""

    items: tuple[Item, ...] = ()
    said: int = 0  # how often the human spoke
    compactions: int = 0  # boundaries before this point
    lines: int = 0  # the last line seen

    def of(self, *sections: str) -> list[Item]:
        """The items of these sections, in their order here."""
        return [item for item in self.items if item.section in sections]

    def to_document(self) -> dict[str, Any]:
        """The draft as plain JSON, in valid Unicode, at most :data:`LIMIT` bytes in canonical form.

        What does not fit is the least useful of it, from the end of ``items``.
        """
        document = self._document(self.items)
        try:
            if len(canon.encode(document)) <= LIMIT:
                return document
        except UnicodeEncodeError:
            pass  # half a surrogate pair, taken out below
        room = LIMIT - len(canon.encode(self._document(())))
        kept: list[Item] = []
        for given in self.items:
            item = given._replace(
                text=clean(given.text),
                seal=clean(given.seal),
                about=clean(given.about),
                mark=clean(given.mark),
            )
            room -= len(canon.encode(list(item))) + 1
            if room < 0:
                break
            kept.append(item)
        return self._document(kept)

    def _document(self, items: Iterable[Item]) -> dict[str, Any]:
        return {
            "items": [list(item) for item in items],
            "said": self.said,
            "compactions": self.compactions,
            "lines": self.lines,
        }

    @classmethod
    def from_document(cls, document: object) -> Draft:
        """The draft of a document; of one with unknown or damaged parts, what can be used."""
        if not isinstance(document, dict):
            return cls()
        items = []
        listed = document.get("items")
        for fields in listed if isinstance(listed, list) else ():
            if not isinstance(fields, list) or len(fields) < 2:
                continue
            sound = [*map(type, fields)] == _TYPES and fields[0] in SECTIONS
            if sound and fields[2] >= 0 <= fields[6]:  # as it was written: nearly always
                items.append(Item(*fields))
                continue
            section, text, line, seal, about, mark, at = [*fields, *_DEFAULTS[len(fields) - 2 :]][
                :7
            ]
            if section in SECTIONS and isinstance(text, str):
                items.append(
                    Item(
                        section,
                        text,
                        _whole(line),
                        _word(seal),
                        _word(about),
                        _word(mark),
                        _whole(at),
                    )
                )
        return cls(
            tuple(items),
            _whole(document.get("said")),
            _whole(document.get("compactions")),
            _whole(document.get("lines")),
        )


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
