"""Ranking: which items of a memory answer a query, best first, and why.

An item scores by the best of its passages (bm25 over stems), by its neighbours in the same session,
by its session as a whole, and a little by words that are spelt alike.  What is short is helped by
what was said around it, and an answer by the question before it; a long item stands for itself.
Small factors prefer items of a speaker who is named, of a time where one is asked for, statements
over questions, and what says much.

Everything is arithmetic on the stored index: no clock, no chance, no order of hashing.  Scores are
compared as whole numbers, so that the last bit of a logarithm decides nothing.
"""

from __future__ import annotations

from math import log
from zlib import crc32

from .terms import MARKS, analyse, lone, wordless
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    Record = tuple[int, int, int, int, int, int, int, int]
    """An item as ranking sees it; slots and sessions are numbers within the store.

    Its number, its session (0 for none), the slots before and behind it there (-1 for none),
    :func:`name_mark` of who said it (0 for nobody), its terms, flags, and how much it says (0 to
    255).
    """

    class Index(Protocol):
        """What ranking asks of a stored memory."""

        def totals(self) -> Totals:
            """The sums over all items."""

        def postings(self, term: str) -> Sequence[int]:
            """Where a term stands, each place packed by :func:`place`; in the order of slots."""

        def spelt_with(self, gram: str) -> Sequence[str]:
            """The terms that hold three letters in a row."""

        def beginning_with(self, char: str) -> Sequence[str]:
            """The terms that begin with a character that is not ASCII."""

        def records(self) -> Sequence[Record]:
            """What is known of each item, by its slot; a few dozen bytes an item."""

        def session_length(self, number: int) -> int:
            """How many terms the items of a session have together."""


PASSAGE, STEP = 60, 45
"""Terms of a passage, and from the start of one to the start of the next."""

_K1, _B = 0.9, 0.5
_SESSION_K1, _SESSION_B, _SESSION_WEIGHT = 1.2, 0.75, 0.8
_BEHIND, _BEHIND_2, _BEFORE, _BEFORE_2 = 0.35, 0.2, 0.25, 0.1
_ANSWERS = 0.25  # more of the item before, if that one asks
_SHORT = 40  # terms up to which an item is helped in full by what is around it
_LONG, _FADE = 30, -0.3
_NAMED, _TIMED, _ASKS, _SAYS_MUCH = 1.15, 1.2, 0.85, 0.3
_ALIKE, _ALIKE_WEIGHT, _MOST_ALIKE = 0.5, 0.2, 6
_CANDIDATES = 300  # the best items of their own: with their neighbours, what is ranked
_MOST_TERMS = 64

ASKS, TIMED = 1, 2
"""Flags of a record: the text ends with a question mark; it says when something was."""

UNIT = 1_000_000


class Totals(Value):
    """Sums over the items of a memory."""

    items: int
    passages: int
    terms: int
    sessions: int


class Query(Value):
    """What is looked for."""

    terms: tuple[str, ...]
    names: frozenset[int]
    when: bool
    """Whether it asks for a time."""
    lone: frozenset[str] = frozenset()
    """Those of its terms that are one character of a script whose texts are found by pairs."""


class Found(Value):
    """An item that answers, and the terms of the query that it holds itself."""

    score: int
    """In millionths; to be compared within one query only."""
    seq: int
    slot: int
    terms: tuple[str, ...]


def place(slot: int, passage: int, count: int) -> int:
    """A posting as one number."""
    return slot << 24 | passage << 8 | min(count, 255)


def passages(length: int) -> int:
    """How many passages an item of so many terms has."""
    return 1 if length <= PASSAGE else -(-(length - PASSAGE) // STEP) + 1


def passage_length(length: int, passage: int) -> int:
    """How many terms that passage of such an item has."""
    return min(PASSAGE, length - STEP * passage)


def name_mark(name: str) -> int:
    """A number for the first word of a name, by which a query is seen to name somebody."""
    found = analyse(name, keep_stop_words=True).listed
    return crc32(found[0].encode()) or 1 if found else 0


def parse(text: str) -> Query:
    """What ``text`` looks for: any text is a query, there is no syntax."""
    found = analyse(text)
    terms = found.listed + found.whole or analyse(text, keep_stop_words=True).listed
    if not terms and text.strip():
        terms = (wordless(text),)
    terms = tuple(dict.fromkeys(terms))[:_MOST_TERMS]
    names = frozenset(crc32(term.encode()) for term in terms)
    return Query(terms, names, _asks_when(text), frozenset(lone(found.listed)))


def _asks_when(text: str) -> bool:
    words = text.lower().replace("?", " ").split()[:12]
    if "when" in words[:3]:
        return True
    for at, word in enumerate(words[:4]):
        if word in ("what", "which") and not {"time", "date", "day", "month", "year"}.isdisjoint(
            words[at + 1 : at + 4]
        ):
            return True
        if word == "how" and words[at + 1 : at + 2] == ["long"]:
            return True
    return False


def grams(term: str) -> list[str]:
    """The threes of letters that a term is spelt with, its ends marked; none if it is too short."""
    if len(term) < 4 or any(char in MARKS for char in term):
        return []  # an identifier is exact
    framed = f"^{term}$"
    return list(dict.fromkeys(framed[at : at + 3] for at in range(len(framed) - 2)))


def _spelt_alike(term: str, index: Index) -> Iterator[tuple[float, str, Sequence[int]]]:
    """Other terms that share at least half of their threes, the likest first, and their places."""
    own = grams(term)
    shared: dict[str, int] = {}
    for gram in own:
        for other in index.spelt_with(gram):
            shared[other] = shared.get(other, 0) + 1
    found = []
    for other, count in shared.items():
        # Of as many threes as letters: a repeated one counts in few words, and then little.
        likeness = 2 * count / (len(own) + len(other))
        if likeness >= _ALIKE and other != term:
            found.append((-likeness, other))
    found.sort()
    held = 0
    for negative, other in found:
        postings = index.postings(other)
        if postings:  # else no item holds it any more: what was let go takes no place
            held += 1
            yield -negative, other, postings
        if held == _MOST_ALIKE:
            break


def _wherever(char: str, index: Index) -> Sequence[int]:
    """Where a character stands: each begins a pair, or is the last of its run and a term."""
    counts: dict[int, int] = {}
    for term in index.beginning_with(char):
        for posting in index.postings(term):
            counts[posting >> 8] = counts.get(posting >> 8, 0) + (posting & 255)
    return [at << 8 | min(counts[at], 255) for at in sorted(counts)]


def rank(
    query: Query, index: Index, *, session: int = 0, only: set[int] | None = None
) -> Iterator[Found]:
    """The items that answer ``query``, the best first; of equal ones the older.

    With a ``session`` only its items, with ``only`` those of its slots, and then all of them; else
    a few hundred at most.
    """
    totals = index.totals()
    wanted: list[tuple[str, float, Sequence[int]]] = [
        (term, 1.0, _wherever(term, index) if term in query.lone else index.postings(term))
        for term in query.terms
    ]
    known = set(query.terms)
    for term in query.terms:
        for likeness, other, postings in _spelt_alike(term, index):
            if other not in known:
                known.add(other)
                wanted.append((other, _ALIKE_WEIGHT * likeness, postings))
    wanted = [one for one in wanted if one[2]]
    records = index.records()
    own, in_sessions = _own_scores(wanted, records, totals)
    if session:  # before the cut: what is around an item is of its session too
        own = {slot: score for slot, score in own.items() if records[slot][1] == session}
    if len(own) > _CANDIDATES and only is None:
        best = sorted(own, key=own.__getitem__, reverse=True)[:_CANDIDATES]
        own = {slot: own[slot] for slot in best}
    sessions = _session_scores(in_sessions, index, totals)
    scores = _near_scores(own, records)
    found = []
    names, when = query.names, query.when
    ranked = own.keys() | scores.keys()
    for slot in ranked if only is None else ranked & only:
        seq, session, _, _, speaker, length, flags, information = records[slot]
        around = scores.get(slot, 0.0) + sessions.get(session, 0.0)
        if length > _SHORT:
            around *= _SHORT / length
        score = (own.get(slot, 0.0) + around) * (1 + _SAYS_MUCH * information / 255)
        if speaker in names:
            score *= _NAMED
        if flags:
            if when and flags & TIMED:
                score *= _TIMED
            if flags & ASKS:
                score *= _ASKS
        found.append((-int(score * UNIT), seq, slot))
    found.sort()
    for negative, seq, slot in found:
        if negative:
            yield Found(-negative, seq, slot, _held(slot, wanted))


def _held(slot: int, wanted: list[tuple[str, float, Sequence[int]]]) -> tuple[str, ...]:
    """The terms that stand in the item itself."""
    first = slot << 24
    held = []
    for term, _, postings in wanted:
        at, end = 0, len(postings)
        while at < end:  # as bisect does it, which costs more to load than this to run
            middle = (at + end) >> 1
            if postings[middle] < first:
                at = middle + 1
            else:
                end = middle
        if at < len(postings) and postings[at] >> 24 == slot:
            held.append(term)
    return tuple(held)


def _own_scores(
    wanted: list[tuple[str, float, Sequence[int]]], records: Sequence[Record], totals: Totals
) -> tuple[dict[int, float], list[tuple[float, dict[int, int]]]]:
    """Each item by the best of its passages; and how often each session holds each term."""
    mean = max(totals.terms / max(totals.passages, 1), 1.0)
    own: dict[int, float] = {}
    long: dict[int, float] = {}  # by slot and passage
    in_sessions = []
    flat, slope = _K1 * (1 - _B), _K1 * _B / mean
    for _, weight, postings in wanted:
        held = len(postings)
        gain = log(1 + (totals.passages - held + 0.5) / (held + 0.5)) * weight * (_K1 + 1)
        sessions: dict[int, int] = {}
        for posting in postings:
            slot = posting >> 24
            count = posting & 255
            _, session, _, _, _, length, _, _ = records[slot]
            if length <= PASSAGE:
                score = gain * count / (count + flat + slope * length)
                own[slot] = own[slot] + score if slot in own else score
            else:
                of = posting >> 8
                length = passage_length(length, of & 0xFFFF)
                score = gain * count / (count + flat + slope * length)
                long[of] = long[of] + score if of in long else score
            sessions[session] = sessions[session] + count if session in sessions else count
        in_sessions.append((weight, sessions))
    for of, score in long.items():
        slot = of >> 16
        if score > own.get(slot, 0.0):
            own[slot] = score
    for slot in own:
        length = records[slot][5]
        if length > _LONG:
            own[slot] *= (length / _LONG) ** _FADE
    return own, in_sessions


def _session_scores(
    in_sessions: list[tuple[float, dict[int, int]]], index: Index, totals: Totals
) -> dict[int, float]:
    """Each session as one long text."""
    scores: dict[int, float] = {}
    mean = max(totals.terms / max(totals.sessions, 1), 1.0)
    shares: dict[int, float] = {}
    for weight, sessions in in_sessions:
        sessions.pop(0, None)  # what belongs to no session
        held = len(sessions)
        gain = log(1 + (totals.sessions - held + 0.5) / (held + 0.5)) * weight * (_SESSION_K1 + 1)
        for session, count in sessions.items():
            share = shares.get(session)
            if share is None:
                length = index.session_length(session)
                share = _SESSION_K1 * (1 - _SESSION_B + _SESSION_B * length / mean)
                shares[session] = share
            scores[session] = scores.get(session, 0.0) + gain * count / (count + share)
    return {session: _SESSION_WEIGHT * score for session, score in scores.items()}


def _near_scores(own: dict[int, float], records: Sequence[Record]) -> dict[int, float]:
    """What the items around an item in its session lend to it."""
    near: dict[int, float] = {}
    for slot in sorted(own):
        score = own[slot]
        _, _, before, after, _, _, flags, _ = records[slot]
        if after >= 0:
            share = _BEHIND + _ANSWERS if flags & ASKS else _BEHIND
            near[after] = near.get(after, 0.0) + share * score
            after = records[after][3]
            if after >= 0:
                near[after] = near.get(after, 0.0) + _BEHIND_2 * score
        if before >= 0:
            near[before] = near.get(before, 0.0) + _BEFORE * score
            before = records[before][2]
            if before >= 0:
                near[before] = near.get(before, 0.0) + _BEFORE_2 * score
    return near
