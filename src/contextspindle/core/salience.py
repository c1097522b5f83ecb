"""What a session is about, by counting: terms, their weight, and the quotations that cover them.

No word list of any language: a term weighs by its shape (an identifier, a number or a name more
than a plain word), by how often the session comes back to it, and by who said it.  Words that stand
in every other entry weigh nothing.  A quotation is worth the terms that no better quotation has
brought yet, so the choice covers the session instead of repeating its loudest subject.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

_KEPT = 40_000
_RECENT = 80
_LONGEST = 120
LOOKS = 60_000
"""How often a choice judges a quotation anew."""
BESIDE = 7
"""Bytes that a quotation saves where it stands behind the pointer of another."""

# Runs of word characters, joined inside by the signs that identifiers, paths and versions use.
_TERM = r"#?\w+(?:[._/:@-]+\w+)*"


def terms(text: str) -> set[str]:
    """The distinct terms of ``text``, folded; long runs without a blank (CJK) as pairs."""
    import re

    found = set()
    for word in re.findall(_TERM, text):
        if word.isascii():
            if 3 <= len(word) <= _LONGEST or (word.isalnum() and not word.isalpha()):
                found.add(word if is_marked(word) else word.lower())
        elif ord(max(word)) >= 0x2E80:
            found.update(word[i : i + 2] for i in range(len(word) - 1))
        elif len(word) >= 3:
            found.add(word.lower())
    return found


def is_marked(word: str) -> bool:
    """Whether the shape of ``word`` says that it names something."""
    return not word.isalpha() or not (word.islower() or word.istitle())


class Terms:
    """Counts of a session's terms, in bounded memory: the rarest old ones are forgotten first."""

    def __init__(self) -> None:
        self.entries = 0
        # For each: entries with it, of those said by the human, the last and the first of them.
        self._counts: dict[str, list[int]] = {}
        self._recent: list[set[str]] = []

    def count(self, found: set[str], *, said: bool) -> None:
        """Take note of the terms of one entry."""
        self.entries += 1
        counts, entry = self._counts, self.entries
        if not said:
            self._recent.append(found)
            if len(self._recent) > 2 * _RECENT:
                del self._recent[:_RECENT]
        for term in found:
            known = counts.get(term)
            if known is None:
                counts[term] = [1, int(said), entry, entry]
            else:
                known[0] += 1
                known[1] += said
                known[2] = entry
        if len(counts) > _KEPT:
            horizon = entry // 2
            self._counts = {
                term: known
                for term, known in counts.items()
                if known[0] > 1 or known[1] or known[2] > horizon
            }
            if len(self._counts) > _KEPT:
                ranked = sorted(self._counts.items(), key=lambda item: item[1][2])
                self._counts = dict(ranked[-_KEPT // 2 :])

    def known(self, term: str) -> list[int] | None:
        """Entries with ``term``, those said by the human, the last and the first of them."""
        return self._counts.get(term)

    def recent(self) -> dict[str, int]:
        """In how many of the agent's latest entries each term stands."""
        found: dict[str, int] = {}
        for terms_of_entry in self._recent[-_RECENT:]:
            for term in terms_of_entry:
                found[term] = found.get(term, 0) + 1
        return found

    def weights(self) -> Callable[[str], float]:
        """The weight of a term, as a function: 0 for one that is everywhere or nowhere."""
        from math import log2

        counts, entries = self._counts, max(self.entries, 1)
        known_weights: dict[str, float] = {}

        def weight(term: str) -> float:
            found = known_weights.get(term)
            if found is not None:
                return found
            known = counts.get(term)
            if known is None:
                return 0.0
            uses, said, last, _ = known
            marked = is_marked(term)
            share = uses / entries
            value = log2(1 + uses) * (1.0 if marked else 0.45)
            if share > 0.03 and entries > 40:
                value *= 0.03 / share if not marked else (0.03 / share) ** 0.5
            value *= (1.6 if said else 1.0) * (0.6 + 0.6 * last / entries)
            known_weights[term] = value
            return value

        return weight


def choose(
    candidates: list[tuple[set[str], int, float]],
    weight: Callable[[str], float],
    budget: int,
    covered: Iterable[str] = (),
    kept: Sequence[float] = (),
    groups: Sequence[Hashable] = (),
) -> list[int]:
    """Indexes of the candidates worth their bytes, best first, within ``budget`` bytes.

    A candidate is its terms, its size and a factor.  What one covers is worth a third the next
    time; ``kept`` says for each what it is worth beside its terms, whatever is covered.  Once one
    of a group is chosen, the others of it take :data:`BESIDE` bytes less.

    Values only fall, but for those of such a group, which are judged anew at once: so one that is
    still the best after being judged anew is the best.  After :data:`LOOKS` times the next one is
    taken for that.
    """
    import heapq

    choice = _Choice(candidates, weight, covered, kept, groups)
    heap = [(-choice.value(index), index) for index in range(len(candidates))]
    heapq.heapify(heap)
    looks = LOOKS
    while heap and budget > 0:
        _, index = heapq.heappop(heap)
        if index in choice.chosen:
            continue
        now = choice.value(index)
        if heap and -heap[0][0] > now and looks:
            looks -= 1
            heapq.heappush(heap, (-now, index))
            continue
        if now <= 0:
            break
        size = choice.size(index)
        if size <= budget:
            budget -= size
            for other in choice.take(index):
                heapq.heappush(heap, (-choice.value(other), other))
    return list(choice.chosen)


class _Choice:
    """What is chosen so far, and what the others are worth beside it."""

    def __init__(
        self,
        candidates: list[tuple[set[str], int, float]],
        weight: Callable[[str], float],
        covered: Iterable[str],
        kept: Sequence[float],
        groups: Sequence[Hashable],
    ) -> None:
        self.chosen: dict[int, None] = {}
        self._candidates = candidates
        self._weight = weight
        self._kept = kept
        self._groups = groups
        self._members: dict[Hashable, list[int]] = {}
        for index, group in enumerate(groups):
            self._members.setdefault(group, []).append(index)
        self._times: dict[str, float] = {}  # what a term is worth now, where it is covered
        self._cover(covered)

    def _cover(self, found: Iterable[str]) -> None:
        times = self._times
        for term in found:
            times[term] = times.get(term, 1.0) / 3

    def size(self, index: int) -> int:
        """The bytes it would take now."""
        size = self._candidates[index][1]
        if self._groups and self._groups[index] not in self._members:
            return max(size - BESIDE, BESIDE)
        return size

    def value(self, index: int) -> float:
        """What it would be worth a byte."""
        found, _, factor = self._candidates[index]
        weight, times = self._weight, self._times
        total = self._kept[index] if self._kept else 0.0
        for term in found:
            total += weight(term) * times.get(term, 1.0)
        return factor * total / self.size(index)

    def take(self, index: int) -> list[int]:
        """Choose it; those that are worth more beside it."""
        self.chosen[index] = None
        self._cover(self._candidates[index][0])
        if not self._groups:
            return []
        others = self._members.pop(self._groups[index], [])
        return [other for other in others if other not in self.chosen]
