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

_INSIDE = "./:@-"
"""Signs that join word characters to identifiers, paths and versions, and `_` is one itself."""
_LEADS = f"#{_INSIDE}"
_FEW = 8
_APART = "".join(c if c.isalnum() or c in f"#_{_INSIDE}" else " " for c in map(chr, range(128)))


def terms(text: str) -> set[str]:
    """The distinct terms of ``text``, folded; long runs without a blank (CJK) as pairs."""
    found = set()
    for word in set(_words(text)):
        if word.isascii():
            if word.islower() and word.isalpha():
                if 3 <= len(word) <= _LONGEST:
                    found.add(word)
            elif 3 <= len(word) <= _LONGEST or (word.isalnum() and not word.isalpha()):
                found.add(word if is_marked(word) else word.lower())
        elif ord(max(word)) >= 0x2E80:
            found.update(word[i : i + 2] for i in range(len(word) - 1))
        elif len(word) >= 3:
            found.add(word.lower())
    return found


def _words(text: str) -> list[str]:
    """Runs of word characters, joined inside by such signs, a `#` before some.

    As ``re.findall(r"#?\\w+(?:[._/:@-]+\\w+)*", text)`` gives them: importing ``re`` is
    dear to a process that has just started.
    """
    if "#" in text:
        text = text.replace("#", " #")
    table: str | dict[int, str] = _APART
    if not text.isascii():
        strange = [c for c in set(text) if not (c.isascii() or c.isalnum())]
        if len(strange) <= _FEW:  # dashes and arrows: without them most texts are ASCII
            for sign in strange:
                text = text.replace(sign, " ")
    if not text.isascii():
        table = {ord(c): c if c.isalnum() or c in _INSIDE or c in "#_" else " " for c in set(text)}
    words = [run.strip(_INSIDE) for run in text.translate(table).split()]
    if "#" in text:
        words = [
            word.strip(_LEADS) if word[:1] == "#" and not _begins(word) else word for word in words
        ]
    return [word for word in words if word]


def _begins(word: str) -> bool:
    """Whether the `#` at its start has a word behind it."""
    return word[1:2].isalnum() or word[1:2] == "_"


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

    @property
    def known(self) -> Callable[[str], list[int] | None]:
        """Gives for a term its entries, those said by the human, the last and the first of them."""
        return self._counts.get

    def recent(self) -> dict[str, int]:
        """In how many of the agent's latest entries each term stands."""
        found: dict[str, int] = {}
        for terms_of_entry in self._recent[-_RECENT:]:
            for term in terms_of_entry:
                found[term] = found.get(term, 0) + 1
        return found

    def weights(self) -> Callable[[str], float]:
        """The weight of a term, as a function: 0 for one that is everywhere or nowhere."""
        return _Weights(self._counts, max(self.entries, 1)).__getitem__


class _Weights(dict[str, float]):
    """The weights that were asked for; any other is found out when it is."""

    def __init__(self, counts: dict[str, list[int]], entries: int) -> None:
        from math import log2

        self._counts, self._entries, self._log2 = counts, entries, log2

    def __missing__(self, term: str) -> float:
        known = self._counts.get(term)
        if known is None:
            return 0.0
        uses, said, last, _ = known
        marked = is_marked(term)
        share = uses / self._entries
        value = self._log2(1 + uses) * (1.0 if marked else 0.45)
        if share > 0.03 and self._entries > 40:
            value *= 0.03 / share if not marked else (0.03 / share) ** 0.5
        value *= (1.6 if said else 1.0) * (0.6 + 0.6 * last / self._entries)
        self[term] = value = exact(value)
        return value


def exact(value: float) -> float:
    """``value`` in whole parts of 2**20: a sum of such values is exact, so that it does not depend
    on the order of a set, which is another one in every process."""
    return round(value * 1_048_576) / 1_048_576


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

    choice = _Choice(candidates, weight, kept, groups)
    choice.cover(covered)
    totals, sizes = choice.totals, choice.sizes
    factors = [factor for _, _, factor in candidates]
    heap = [(-factors[at] * totals[at] / sizes[at], at) for at in range(len(candidates))]
    heapq.heapify(heap)
    chosen: dict[int, None] = {}
    looks = LOOKS
    while heap and budget > 0:
        index = heap[0][1]
        if index in chosen:
            heapq.heappop(heap)
            continue
        now = -factors[index] * totals[index] / sizes[index]
        if looks and len(heap) > 1 and min(heap[1:3])[0] < now:
            looks -= 1
            heapq.heapreplace(heap, (now, index))
            continue
        if now >= 0:
            break
        heapq.heappop(heap)
        if sizes[index] <= budget:
            budget -= sizes[index]
            chosen[index] = None
            choice.cover(candidates[index][0])
            for other in choice.beside(index):
                if other not in chosen:
                    heapq.heappush(heap, (-factors[other] * totals[other] / sizes[other], other))
    return list(chosen)


class _Choice:
    """What each candidate is worth and takes now, beside those that are chosen."""

    def __init__(
        self,
        candidates: list[tuple[set[str], int, float]],
        weight: Callable[[str], float],
        kept: Sequence[float],
        groups: Sequence[Hashable],
    ) -> None:
        self.totals = list(kept) or [0.0] * len(candidates)
        self.sizes = [size for _, size, _ in candidates]
        self._weight = weight
        self._worth: dict[str, float] = {}  # of a term now, where it is covered
        self._holding: dict[str, list[int]] = {}
        for index, (found, _, _) in enumerate(candidates):
            self.totals[index] += sum(map(weight, found))
            for term in found:
                self._holding.setdefault(term, []).append(index)
        self._groups = groups
        self._members: dict[Hashable, list[int]] = {}
        for index, group in enumerate(groups):
            self._members.setdefault(group, []).append(index)

    def cover(self, found: Iterable[str]) -> None:
        """What has one of these terms is worth less."""
        worth, totals, holding = self._worth, self.totals, self._holding
        for term in found:
            before = worth[term] if term in worth else self._weight(term)
            worth[term] = now = exact(before / 3) or before
            lost = before - now
            if lost > 0:
                for index in holding.get(term, ()):
                    totals[index] -= lost

    def beside(self, index: int) -> list[int]:
        """The others of its group, if they take less from now on."""
        if not self._groups:
            return []
        members = self._members.pop(self._groups[index], [])
        for other in members:
            self.sizes[other] = max(self.sizes[other] - BESIDE, BESIDE)
        return members
