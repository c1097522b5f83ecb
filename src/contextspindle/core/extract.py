"""Extraction: from the turns of a session to the draft that outlives its context.

    extractor = Extractor()
    for turn in turns:
        extractor.feed(turn)
    draft = extractor.draft()

One pass, bounded memory, no model, no language.  Three things are kept.  What must be there: the
goal, the last words of the human, where the agent left off, the state of the work
(:mod:`.progress`).  What the human said, because nothing else in a transcript sets a rule or takes
a decision.  And as many further passages as cover what the session is about (:mod:`.salience`).

Every item is a quotation; the words around it are the restoration's.  Secrets are masked here,
before a text is cut into passages: half a secret would no longer be recognised as one.
"""

from __future__ import annotations

from . import quotes, salience
from .draft import (
    ASKED,
    CUT,
    DECIDED,
    FAILED,
    FIRST,
    FOUND,
    GOAL,
    LAST,
    LEFT,
    RULE,
    UNANSWERED,
    Draft,
    Item,
)
from .progress import Progress
from .redaction import mask
from .text import cut, cut_start, folded, middle_out, shortened, size
from .transcript import (
    ANSWER,
    ASIDE,
    BOUNDARY,
    CALL,
    COMMAND,
    EDIT,
    INTERRUPT,
    LAUNCH,
    OUTCOME,
    PLAN,
    PROPOSAL,
    QUEUED,
    RECAP,
    REFUSAL,
    RESULT,
    SAID,
    SHELL,
    SUMMARY,
    TEXT,
    Turn,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PICKS = 20_000
"""Bytes of passages kept for the choice at the time of restoring."""

SAYINGS = 10_000
"""Bytes of the human's words kept beyond that choice."""

_POOL = 6_000  # passages held at once
_VERBATIM = 6_000  # bytes of one utterance
_SAID = 600  # utterances held whole
_SHORT = 60  # an utterance up to so many bytes is one passage, and hardly a goal
_TERSE = 25  # and up to so many it says little without its question
_QUESTION = 360

# How much a passage counts, by who it comes from.
_SAYS, _PASTES, _PLANS, _REPORTS, _WRITES, _SHOWS, _DOES = 2.4, 1.0, 1.1, 1.2, 1.0, 0.5, 0.3
_REPORTED = 1.5

# Signs that a sentence is meant to hold from now on.  Only a hint: it moves a passage up and into
# its section; words in other languages are found by the channels and the weights as well.  What
# was written against a call (a refusal, a word thrown in) needs only a weak sign.
_STRONG = tuple(
    f" {sign} "
    for sign in (
        "don't|dont|do not|never|always|must|prefer|avoid|make sure|ensure|remember|from now on"
        "|shouldn't|no need|nie|niemals|immer|kein|keine|ne pas|jamais|toujours|siempre|nunca"
        "|sempre|никогда|всегда"
    ).split("|")
)
_WEAK = tuple(
    f" {sign} " for sign in "not|no|only|instead|please|should|let's|nicht|bitte|não|не".split("|")
)
_GLYPHS = (
    "不要", "不用", "别", "必须", "一定要", "禁止", "总是", "永远", "务必", "しないで", "必ず",
)  # fmt: skip


class _Passage:
    """A candidate quotation."""

    __slots__ = ("factor", "item", "terms")

    def __init__(self, item: Item, terms: set[str], factor: float) -> None:
        self.item = item
        self.terms = terms
        self.factor = factor


class _Utterance:
    """Something the human said."""

    __slots__ = ("cut", "item", "short", "terms", "text", "turn")

    def __init__(self, turn: Turn, text: str, question: str, terms: set[str]) -> None:
        self.turn = turn
        self.cut = size(text) > _VERBATIM
        if self.cut:
            text = f"{cut(text, _VERBATIM // 2)}\n…\n{cut_start(text, _VERBATIM // 2)}"
        self.text = text
        self.short = size(text) <= _SHORT
        self.terms = terms
        self.item = Item(ASKED, text, turn.line, turn.seal, question)


class Extractor:
    """Feed it the turns of one session in order; ask for the draft at any time."""

    def __init__(self) -> None:
        self._terms = salience.Terms()
        self._progress = Progress()
        self._pool: list[_Passage] = []
        self._said: list[_Utterance] = []
        self._first: _Utterance | None = None
        self._count = 0
        self._compactions = 0
        self._line = 0
        self._text: Turn | None = None  # the agent's last words
        self._before = ""  # its words since the human spoke, for the question behind an answer
        self._plan: Turn | None = None
        self._waiting: list[_Utterance] = []  # what the human said since the agent did anything
        self._interrupted = False
        self._spoke: list[_Passage] = []  # passages of the agent's last words
        self._acted = False  # whether it called a tool after them

    def feed(self, turn: Turn) -> None:
        """Take in one turn."""
        self._line = max(self._line, turn.line)
        self._progress.feed(turn)
        kind = turn.kind
        if kind == SAID:
            self._hear(turn)
        elif kind == TEXT:
            self._waiting, self._interrupted = [], False
            masked = mask(turn.text)
            self._text = turn._replace(text=masked)
            self._before = cut_start(f"{self._before}\n{masked}", 6_000)
            self._spoke = self._gather(turn, masked, FOUND, _WRITES)
            self._acted = False
        elif kind in (CALL, LAUNCH):
            self._waiting, self._acted = [], True
            self._do(turn)
        elif kind == RESULT:
            self._show(turn)
        elif kind == OUTCOME:
            self._gather(turn, mask(turn.text or turn.about), FOUND, _REPORTS)
        elif kind == PROPOSAL:
            self._propose(turn)
        elif kind == SUMMARY and not self._said:
            # The only source of what came before this file.
            self._gather(turn, mask(turn.text), FOUND, _REPORTS)
        elif kind == RECAP:
            self._gather(turn, mask(turn.text), FOUND, _REPORTS)
        elif kind == BOUNDARY:
            self._compactions += 1
        elif kind == INTERRUPT:
            self._interrupted = True
        elif kind == SHELL:
            self._gather(turn, mask(turn.text), FOUND, _DOES)

    # ---- taking in ----

    def _hear(self, turn: Turn) -> None:
        text = mask(turn.text)
        self._count += 1
        previous = self._said[-1] if self._said else None
        if previous is not None and self._interrupted and _repeats(previous.text, text):
            # Stopped and said again in other words: the first wording was taken back.
            self._forget(previous)
        found = salience.terms(text)
        self._terms.count(found, said=True)
        utterance = _Utterance(turn._replace(text=""), text, self._occasion(turn, text), found)
        self._said.append(utterance)
        if self._first is None and (len(found) > 2 or turn.via == COMMAND):
            self._first = utterance
        if len(self._said) > _SAID:
            del self._said[1]
        if self._spoke and not self._acted:
            # What the agent said before it fell silent is its report, not a thought on the way.
            for passage in self._spoke:
                passage.factor *= _REPORTED
        self._spoke = []
        self._pool += self._passages_of(utterance, text)
        self._waiting.append(utterance)
        self._interrupted = False
        self._before = ""

    def _occasion(self, turn: Turn, text: str) -> str:
        """What the words answer or refuse, where they mean little alone."""
        if turn.via == ANSWER:
            return shortened(f"answering: {folded(mask(turn.about))}", _QUESTION)
        if turn.via == REFUSAL:
            about = folded(mask(turn.about))
            return shortened(f"refusing {turn.tool} {about.rpartition('/')[2] or about}", 100)
        if size(text) > _TERSE or not self._before:
            return ""
        offered = shortened(quotes.option(self._before, text), 200)
        asked = quotes.question(self._before, _QUESTION - size(offered))
        return f"answering: {offered} {asked}" if offered else f"answering: {asked}"

    def _passages_of(self, utterance: _Utterance, text: str) -> list[_Passage]:
        turn, occasion, found = utterance.turn, utterance.item.about, utterance.terms
        answers = turn.via == ANSWER or (utterance.short and bool(occasion))
        plain = DECIDED if answers and turn.via != REFUSAL else ASKED
        if utterance.short or size(text) <= quotes.PASSAGE:
            section = RULE if plain == ASKED and _is_rule(turn, text) else plain
            item = Item(section, folded(text), turn.line, turn.seal, occasion)
            terms = found | salience.terms(occasion) if answers else found
            return [_Passage(item, terms, _SAYS * (1.25 if section == RULE else 1.0))]
        factor = _PLANS if turn.via == PLAN else _SAYS if size(text) < 1_600 else _PASTES
        listed: list[_Passage] = []
        for passage in quotes.passages(text):
            section = RULE if turn.via != PLAN and _is_rule(turn, passage) else plain
            item = Item(section, passage, turn.line, turn.seal, occasion if not listed else "")
            listed.append(_Passage(item, salience.terms(passage), factor))
        return listed

    def _forget(self, utterance: _Utterance) -> None:
        if self._said and self._said[-1] is utterance:
            self._said.pop()
        if self._first is utterance:
            self._first = None
        if utterance in self._waiting:
            self._waiting.remove(utterance)
        self._pool = [p for p in self._pool if p.item.line != utterance.turn.line]

    def _gather(self, turn: Turn, text: str, section: str, factor: float) -> list[_Passage]:
        """Take the passages of ``text`` as candidates, and give them back."""
        taken = []
        found: set[str] = set()
        mark = FAILED if turn.failed else ""
        for passage in quotes.passages(text):
            terms = salience.terms(passage)
            found |= terms
            item = Item(section, passage, turn.line, turn.seal, "", mark)
            taken.append(_Passage(item, terms, factor))
        self._pool += taken
        self._terms.count(found, said=False)
        if len(self._pool) > _POOL:
            self._thin_out()
        return taken

    def _do(self, turn: Turn) -> None:
        shown = mask(turn.about)
        terms = salience.terms(shown)
        if turn.text and turn.text != turn.about:
            terms |= salience.terms(turn.text[:2_000])
        self._terms.count(terms, said=False)
        if turn.kind == CALL and turn.via != EDIT and size(shown) > 12:
            item = Item(FOUND, shortened(shown, 240), turn.line, turn.seal, turn.tool)
            self._pool.append(_Passage(item, salience.terms(item.text), _DOES))

    def _show(self, turn: Turn) -> None:
        """Of a result: what went wrong, or its last line."""
        if turn.via == EDIT and not turn.failed:
            return
        text = turn.text if size(turn.text) < 4_000 else cut_start(turn.text, 4_000)
        rows = [row for row in map(folded, mask(text).split("\n")) if len(row) > 8]
        if not rows:
            return
        picked = [*rows[:2], rows[-1]] if turn.failed else rows[-1:]
        mark = FAILED if turn.failed else ""
        found: set[str] = set()
        for row in dict.fromkeys(picked):
            item = Item(FOUND, shortened(row, 240), turn.line, turn.seal, turn.tool, mark)
            terms = salience.terms(item.text)
            found |= terms
            self._pool.append(_Passage(item, terms, _SHOWS))
        if turn.failed:
            # What succeeded weighs by how often the talk comes back to it; an error weighs itself.
            self._terms.count(found, said=False)

    def _propose(self, turn: Turn) -> None:
        text = mask(turn.text)
        if not turn.failed:
            self._plan = turn._replace(text=text)
        self._waiting = []
        self._gather(turn, text, FOUND, 0.3 if turn.failed else _PLANS)

    def _thin_out(self) -> None:
        """Forget the half of the passages that promises least, never the human's."""
        weight = self._terms.weights()

        def promise(passage: _Passage) -> float:
            total = sum(map(weight, passage.terms))
            return passage.factor * total / (passage.item.bytes() + 40)

        limit = sorted(map(promise, self._pool))[len(self._pool) // 2]
        self._pool = [p for p in self._pool if p.item.section != FOUND or promise(p) > limit][
            -_POOL:
        ]

    # ---- giving out ----

    def draft(self) -> Draft:
        """What is worth keeping of the turns so far.  Asking changes nothing."""
        weight = self._terms.weights()
        fixed = [*self._goal(weight), *self._last(), *self._left()]
        covered: list[str] = []
        for item in fixed:
            covered += salience.terms(item.text if item.section != LAST else cut(item.text, 1_500))
        state = self._progress.items()
        for item in state[:24]:
            covered += salience.terms(item.text)
        pool = [p for p in _distinct(self._pool) if not _is_told(p.item, fixed)]
        candidates = [
            (p.terms, p.item.bytes() + 8, p.factor * self._recency(p.item.line)) for p in pool
        ]
        chosen = salience.choose(candidates, weight, PICKS, covered)
        picks = [pool[index].item for index in chosen]
        picks += self._unchosen(pool, set(chosen))
        return Draft((*fixed, *state, *picks), self._count, self._compactions, self._line)

    def _unchosen(self, pool: list[_Passage], chosen: set[int]) -> list[Item]:
        """What the human said and nothing else in the session speaks of, newest first."""
        items = []
        room = SAYINGS
        for index in range(len(pool) - 1, -1, -1):
            item = pool[index].item
            if index not in chosen and item.section in (RULE, DECIDED, ASKED):
                room -= item.bytes()
                if room < 0:
                    break
                items.append(item)
        return sorted(items, key=lambda item: item.section != RULE)

    def _recency(self, line: int) -> float:
        return 0.85 + 0.3 * line / max(self._line, 1)

    def _goal(self, weight: Callable[[str], float]) -> list[Item]:
        """The request that opened the session, and the one that set the course it is on."""
        first = self._first or (self._said[0] if self._said else None)
        if first is None:
            return []
        course = self._course(weight) or first
        items = []
        plan = self._plan
        if plan is not None and plan.line > course.turn.line:
            text = shortened(folded(plan.text), 1_200)
            items.append(Item(GOAL, text, plan.line, plan.seal, "approved plan"))
        items.append(_goal_item(course, ""))
        if folded(course.text) != folded(first.text):
            items.append(_goal_item(first, FIRST))
        return items

    def _course(self, weight: Callable[[str], float]) -> _Utterance | None:
        """The utterance that speaks most of what the agent has lately been busy with."""
        recent = self._terms.recent()

        def score(utterance: _Utterance) -> float:
            found = utterance.terms
            about = sum(weight(term) * min(recent.get(term, 0), 4) for term in found)
            # Long ones mention much; what counts is how much of them is about the work at hand.
            return float(about / (8 + len(found)) ** 0.6)

        best, chosen = 0.0, None
        for utterance in self._said:
            now = score(utterance)
            if utterance.short and (
                utterance.item.about or _is_rule(utterance.turn, utterance.text)
            ):
                now *= 0.6
            if now > 0 and now >= 0.9 * best:  # of two alike the later one holds
                best, chosen = max(now, best), utterance
        return chosen

    def _last(self) -> list[Item]:
        """What the human said last, word for word, and all else that still waits for an answer."""
        if not self._said:
            return []
        last = max(self._said, key=lambda u: u.turn.line)
        mark = UNANSWERED if last in self._waiting else ""
        if last.cut:
            mark = f"{mark} {CUT}".strip()
        items = [Item(LAST, last.text, last.turn.line, last.turn.seal, last.item.about, mark)]
        for u in self._waiting[-4:]:
            if u is not last:
                text = shortened(folded(u.text), 600)
                items.append(Item(ASKED, text, u.turn.line, u.turn.seal, "", UNANSWERED))
        return items

    def _left(self) -> list[Item]:
        if self._text is None:
            return []
        text = quotes.ending(self._text.text, 900)
        return [Item(LEFT, text, self._text.line, self._text.seal)] if text else []


def _goal_item(utterance: _Utterance, mark: str) -> Item:
    """The request as a goal: without what was pasted into it as code."""
    turn = utterance.turn
    text = " ".join(quotes.passages(utterance.text)) or folded(utterance.text)
    if turn.via != PLAN and size(text) > 700:
        # What is asked stands at either end of a long paste.
        text = middle_out(text, 700)
    about = utterance.item.about if turn.via == ANSWER else ""
    return Item(GOAL, shortened(text, 1_200), turn.line, turn.seal, about, mark)


def _is_rule(turn: Turn, text: str) -> bool:
    """Whether the words seem meant to hold beyond the moment."""
    if text.rstrip().endswith(("?", "？")):
        return False
    padded = f" {folded(text).lower().replace('’', chr(39))} "
    signs = _STRONG + _WEAK if turn.via in (REFUSAL, QUEUED, ASIDE, ANSWER) else _STRONG
    return any(sign in padded for sign in signs) or any(glyph in padded for glyph in _GLYPHS)


def _is_told(item: Item, fixed: list[Item]) -> bool:
    """Whether the fixed items hold this passage already, where a reader surely sees it."""
    for told in fixed:
        if item.line == told.line:
            seen = told.text if told.section != GOAL else cut(told.text, 300)
            is_said = item.section != FOUND and told.section in (LAST, ASKED)
            # A rule stands among the rules, even if it is a part of the goal.
            if is_said or (item.text in seen and item.section != RULE):
                return True
    return False


def _repeats(before: str, after: str) -> bool:
    """Whether ``after`` says what ``before`` said, perhaps with something changed or added."""
    old, new = set(before.lower().split()), set(after.lower().split())
    return bool(old) and len(old & new) >= 0.6 * len(old)


def _distinct(pool: list[_Passage]) -> list[_Passage]:
    """``pool`` without repetitions: of passages with one text the last remains."""
    last: dict[str, _Passage] = {}
    for passage in pool:
        last.pop(passage.item.text, None)
        last[passage.item.text] = passage
    return list(last.values())
