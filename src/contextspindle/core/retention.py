"""Retention: what a bounded memory keeps when it is full.

An item is worth what its sixteen rarest terms tell, more so where no other item tells it; less if
it only asks or greets, more for names and numbers.  Where bytes are short it is worth that by the
byte, where items are short it is worth that less the longer it is, because length alone would win
otherwise.  The least valuable item first shrinks to its gist, the rarest of its words in their
order; a gist goes next.  Age plays no part.
"""

from __future__ import annotations

from math import log

from .terms import words_of
from .text import cut, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .terms import Lexicon

RAREST = 16
GIST_WORDS = 12
_ALONE, _SHARED = 1.5, 0.5
_ASKING, _GREETING = 0.7, 0.8
_LONG = 30
_LONGEST_WORD = 48  # bytes: a text without blanks is one word
_GREETINGS = frozenset(
    "thanks thank wow hey hi hello bye ok okay great cool awesome yeah yes no sure haha glad nice"
    " congrats congratulations good that sounds absolutely definitely exactly totally".split()
)
UNIT = 1_000_000


def weight_of(text: str) -> int:
    """What kind of text it is, as thousandths: a factor of its worth that never changes."""
    weight = 1_000.0
    if text.rstrip().endswith("?"):
        weight *= _ASKING
    words = text.split()
    if words and words[0].strip(".,!?'").lower().partition("'")[0] in _GREETINGS:
        weight *= _GREETING
    telling = sum(1 for word in words[1:200] if word[:1].isupper() or any(map(str.isdigit, word)))
    return round(weight * (1 + 0.1 * min(5, telling)))


def worth(
    terms: Iterable[tuple[int, int]], seen: int, weight: int, length: int, bytes_: int
) -> tuple[int, int]:
    """What an item is worth as one of the items, and by its bytes: whole numbers to compare.

    ``terms`` are, for each of its rarest terms, how many items ever held it, and how many do now;
    ``seen`` is how many items there ever were; ``weight`` as :func:`weight_of` gives it.
    """
    value = 0.0
    for ever, now in terms:
        idf = log(1 + (seen - ever + 0.5) / (ever + 0.5)) if seen >= ever else 0.1
        value += _SHARED * idf + _ALONE * idf / (now if now > 1 else 1)
    value *= weight / 1_000
    return (
        round(value * UNIT * _LONG / max(length, _LONG)),
        round(value * UNIT / max(bytes_, 1)),
    )


def gist(text: str, ever: Callable[[str], int], lexicon: Lexicon | None = None) -> str:
    """The rarest words of ``text`` in their order; ``ever`` is how many items ever held a term.

    Empty if nothing shorter than the text tells it.
    """
    words: list[tuple[int, int, str]] = []
    known: set[str] = set()
    for at, (word, terms) in enumerate(words_of(text, lexicon)):
        if terms[0] not in known:
            known.add(terms[0])
            words.append((min(map(ever, terms)), at, cut(word, _LONGEST_WORD)))
    words.sort()
    kept = " ".join(word for _, _, word in sorted(words[:GIST_WORDS], key=_where))
    return kept if size(kept) < size(text) else ""


def _where(word: tuple[int, int, str]) -> int:
    return word[1]


def fold(text: str) -> str:
    """``text`` as near duplicates share it: without case, with single blanks."""
    return " ".join(text.casefold().split())
