"""Told: what the harness's own summary says already, so that a handoff need not say it again.

After a compaction the model reads two texts: the summary that the harness had written, and ours.  A
quotation counts as told to the degree in which its words stand in that summary, a name or a number
more than a plain word, and not as a whole while a name or a number of it is missing there.  What is
told goes, and of the rest what is newest to the reader moves up; goal, rules, last words, next step
and open steps stay, whatever the summary says.  A name that an edit brought in stands behind all
else: a summary lists what was made, and what it passes over there was seldom needed.

What is kept of a summary is one digit for each item of a draft, never its text.
"""

from __future__ import annotations

from .draft import (
    ASKED,
    DECIDED,
    GOAL,
    LAST,
    LEFT,
    NAME,
    RULE,
    RUNNING,
    STATE,
    STEP,
    UNANSWERED,
    Draft,
)
from .ranking import FILE
from .text import folded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .draft import Item

ALWAYS = (GOAL, LAST, RULE, LEFT, STEP, RUNNING)
"""Sections that stay whole."""

_TOLD = 8
"""The digit from which on an item is not said again."""
_NAMES = 1.5
"""How much more a name or a number weighs than a plain word."""
_LATER = 0.25
"""How far an item that is told entirely would move back, in lengths of the list."""
_SIGNS = "._/:@-"
_EDGES = ".,;:!?()[]{}\"'`*<>…#=|&%$~^+-_/\\"
_WIDE = 0x2E80
"""From here on scripts write without blanks."""


def marks(draft: Draft, summary: str) -> str:
    """How far ``summary`` tells each item of ``draft``: a digit each, 9 for all of it."""
    text = folded(summary).lower()
    words = _words(text)
    return "".join(str(_degree(item, words, text)) for item in draft.items)


def untold(draft: Draft, told: str) -> tuple[Draft, int]:
    """``draft`` without what is told by the marks ``told``, and how many items went.

    Marks that are not of this draft change nothing.
    """
    if len(told) != len(draft.items) or not (told.isascii() and told.isdigit()):
        return draft, 0
    fixed: list[Item] = []
    picks: list[tuple[Item, int]] = []
    names: list[Item] = []
    for item, mark in zip(draft.items, told):
        degree = int(mark)
        if item.section in ALWAYS or item.mark == UNANSWERED:
            fixed.append(item)
        elif degree < _TOLD:
            if item.section == STATE:
                fixed.append(item)
            elif item.about == NAME:
                names.append(item)
            else:
                picks.append((item, degree))
    count = max(len(picks), 1)
    order = sorted(range(len(picks)), key=lambda at: at / count + _LATER * picks[at][1] / 9)
    items = (*fixed, *(picks[at][0] for at in order), *names)
    return draft._replace(items=items), len(draft.items) - len(items)


def _degree(item: Item, words: set[str], text: str) -> int:
    whole = told = 0.0
    human = item.section in (ASKED, DECIDED)
    most = 9
    for word in _words(folded(item.text).lower()):
        weight = _weight(word, human)
        whole += weight
        if word in words or (weight > 1 and word in text):
            told += weight
        elif weight > 1 or human:
            # A name is missing; or a word of the human, where a "not" must not go for being short.
            most = _TOLD - 1
    alone = item.text.lower()
    if "/" in alone and " " not in alone and item.about != FILE and alone not in text:
        most = (
            _TOLD - 1
        )  # a branch or an address is a name as a whole; a file goes by its last part
    return min(int(10 * told / whole), most) if whole else 0


def _weight(word: str, human: bool) -> float:
    if not word.isalpha():
        return _NAMES
    return 1.0 if human or len(word) > 3 or ord(word[0]) >= _WIDE else 0.0


def _words(text: str) -> set[str]:
    found = set()
    for raw in text.replace("/", " / ").split():
        word = raw.strip(_EDGES)
        if word.isascii() or ord(max(word)) < _WIDE:
            found.add(word)
        else:
            found.update(word[at : at + 2] for at in range(max(len(word) - 1, 1)))
    found.discard("")
    return found
