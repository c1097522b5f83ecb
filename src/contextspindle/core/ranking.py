"""Ranking: which quotations of a session are worth their bytes to whoever goes on with it.

A candidate is judged by signs that need no language: who speaks, how long ago, where it stands in
its turn, how many names, numbers and recurring terms it has, whether its terms come back later.
:mod:`.weights` says what each sign is worth, as a script learned it from recorded sessions.  The
choice then takes what is worth most a byte, and counts what is covered already for less.
"""

from __future__ import annotations

from math import exp, log

from . import salience
from .draft import NAME, NOTE, STATE, STEP, Item
from .text import size
from .weights import BASE, SIGNS, WORTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Kinds of candidates beside the sections: where a quotation of FOUND comes from.
WRITTEN, PLAN = "written", "plan"
CALLED, SHOWN, FAILURE = "called", "shown", "failure"
UNREAD = "unread"  # of a report that the agent has not said anything after
WROTE = "wrote"  # a name that an edit brought into the session

FILE, DONE = "file", "step done"
_UNSAID = 0.5  # weight of a candidate beside its terms: even unknown words say something
_NEAR = 30  # turns before the end that count as the final stretch


class Passage:
    """A candidate quotation, with what its judgement needs to know of where it stood."""

    __slots__ = (
        "at", "count", "entry", "in_force", "item", "kind", "rarity", "reported", "terms", "turn",
    )  # fmt: skip

    def __init__(
        self,
        item: Item,
        kind: str,
        turn: int,
        entry: int = 0,
        at: int = 0,
        count: int = 1,
        terms: set[str] | None = None,
        rarity: float = 0.0,
    ) -> None:
        self.item = item
        self.kind = kind
        self.turn = turn  # the number of its turn
        self.entry = entry  # the number of the entry whose terms were counted with it
        self.at = at  # its place among the passages of its turn
        self.count = count
        self.terms = salience.terms(item.text) if terms is None else terms
        self.rarity = rarity  # how seldom its tool is used
        self.in_force = False  # whether it is of the request that the work is about now
        self.reported = False  # whether the agent fell silent after its turn


def state_kind(item: Item) -> str:
    """The kind of an item of state, a step, or a work without result."""
    if item.section != STATE:
        return item.section
    return item.about if item.about in (FILE, DONE) else STATE


class Judge:
    """What is seen of each candidate of one session, and what that promises."""

    def __init__(
        self, passages: list[Passage], counts: salience.Terms, weight: Callable[[str], float]
    ) -> None:
        self._counts = counts
        self._weight = weight
        self._turns = max((passage.turn for passage in passages), default=0)

    def signs(self, passage: Passage) -> dict[str, float]:
        """What is seen of a candidate, by the names that :mod:`.weights` knows."""
        text = passage.item.text
        length = size(text)
        marked = new = later = said = 0
        total = most = 0.0
        known_of, weight, is_marked = self._counts.known, self._weight, salience.is_marked
        entry = passage.entry
        for term in passage.terms:
            value = weight(term)
            total += value
            if value > most:
                most = value
            known = known_of(term)
            if known is not None and known[1]:
                said += 1
            if is_marked(term):
                marked += 1
                if known is not None:
                    later += known[2] > entry
                    new += known[3] >= entry
        many = len(passage.terms)
        turns = self._turns
        age = turns - passage.turn
        return {
            passage.kind: 1.0,
            "bytes": log(length + 10),
            "age": log(1 + age),
            "place": passage.turn / max(turns, 1),
            "near": age < _NEAR,
            "siblings": log(1 + passage.count),
            "first": passage.at == 0,
            "last": passage.at == passage.count - 1,
            "salience": log(1 + total),
            "density": 10 * total / (length + 10),
            "peak": most,
            "names": log(1 + marked),
            "terms": log(1 + many),
            "share of names": marked / (many + 1),
            "new names": log(1 + new),
            "names used later": later / marked if marked else 0.0,
            "said terms": log(1 + said),
            "code": "`" in text,
            "bold": "**" in text,
            "digit": _has_digit(text),
            "path": "/" in text,
            "leads on": text.endswith((":", "：", "...")),
            "asks": text.endswith(("?", "？")),
            "numbered": text[:2].rstrip(".)").isdigit(),
            "reported": passage.reported,
            "in force": passage.in_force,
            "rare tool": passage.rarity,
        }

    def value(self, passage: Passage) -> float:
        """What a candidate is worth by these signs and its kind."""
        return promise(self.signs(passage)) * WORTH.get(passage.kind, 1.0)


def _has_digit(text: str) -> bool:
    for digit in "0123456789":  # a generator in any() costs three times as much
        if digit in text:
            return True
    return not text.isascii() and any(map(str.isdigit, text))


def promise(found: dict[str, float]) -> float:
    """How likely a candidate with these signs is to be what the work needs, 0 to 1."""
    value = BASE
    for sign, amount in found.items():
        if amount:
            value += SIGNS.get(sign, 0.0) * amount
    return 1 / (1 + exp(-max(min(value, 30.0), -30.0)))


def cost(item: Item) -> int:
    """About what an item takes where it is shown."""
    if item.section == STATE and item.about in (FILE, DONE):
        return size(item.text) + (2 if item.about == FILE else 9)
    if item.about == NAME:
        return size(item.text) + 9
    if item.section == STEP:
        return size(item.text.partition(NOTE)[0]) + size(item.about) + 12
    about = min(size(item.about), 150) + 3 if item.about else 0
    return size(item.text) + about + 10


def ranked(
    passages: list[Passage],
    counts: salience.Terms,
    weight: Callable[[str], float],
    budget: int,
    covered: Iterable[str],
) -> list[int]:
    """Indexes of the passages worth keeping, best first, in at most ``budget`` bytes.

    ``weight`` is what ``counts`` says of a term.
    """
    judge = Judge(passages, counts, weight)
    values = [judge.value(passage) for passage in passages]
    return choice(passages, values, weight, budget, covered)


def choice(
    passages: list[Passage],
    values: list[float],
    weight: Callable[[str], float],
    budget: int,
    covered: Iterable[str],
) -> list[int]:
    """The same from the values of the passages."""
    candidates = []
    for passage, value in zip(passages, values):
        total = sum(map(weight, passage.terms)) + _UNSAID
        candidates.append((passage.terms, cost(passage.item), value / total))
    kept = [_UNSAID] * len(candidates)
    groups = [(p.item.section, p.item.line or -at) for at, p in enumerate(passages)]
    return salience.choose(candidates, weight, budget, covered, kept, groups)
