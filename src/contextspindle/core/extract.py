"""Extraction: from the turns of a session to the draft that outlives its context.

    extractor = Extractor()
    for turn in turns:
        extractor.feed(turn)
    draft = extractor.draft()

One pass, bounded memory, no model of language.  What must be there is kept in any case: the goal,
the last words of the human, where the agent left off.  Everything else competes: the state of the
work (:mod:`.progress`), what the human said, and what else could be quoted (:mod:`.candidates`) are
ranked together (:mod:`.ranking`), so that a reader's budget, whatever it is, gets the best of them.

Every item is a quotation; the words around it are the restoration's.  Secrets are masked here,
before a text is cut into passages: half a secret would no longer be recognised as one.
"""

from __future__ import annotations

from . import quotes, ranking, salience
from .candidates import SHORT, Candidates, distinct, is_rule, telling_rows
from .draft import (
    ASKED,
    CUT,
    DECIDED,
    FAILED,
    FIRST,
    GOAL,
    LAST,
    LATER,
    LEFT,
    REPORT,
    RULE,
    STATE,
    SUMMARY,
    UNANSWERED,
    Draft,
    Item,
)
from .progress import GAVE, TEST, Progress
from .ranking import FILE, PLAN, WRITTEN, Passage
from .redaction import mask, mask_ends
from .text import cut, cut_start, folded, middle_out, shortened, size
from .transcript import (
    ANSWER,
    BACK,
    BOUNDARY,
    CALL,
    COMMAND,
    COMMAND_LINE,
    DETAIL,
    EDIT,
    INTERRUPT,
    LAUNCH,
    OUTCOME,
    PROPOSAL,
    RECAP,
    REFUSAL,
    RESULT,
    SAID,
    SHELL,
    TEXT,
    Turn,
)
from .transcript import PLAN as SENT_OFF
from .transcript import SUMMARY as SUMMARISED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 64_000
"""Characters of a text; of a longer one the two ends are read."""

PICKS = 30_000
"""Bytes of what is ranked that are kept for the choice at the time of restoring."""

SAYINGS = 10_000
"""Bytes of the human's words kept beyond that choice."""

_VERBATIM = 6_000  # bytes of one utterance
_SAID = 600  # utterances held whole
_TERSE = 25  # bytes up to which an utterance says little without its question
_PICKING = 200  # bytes up to which words that name an option are a choice among those offered
_OFFER = 100  # bytes of such an option beside words that say something themselves
_QUESTION = 360
WHOLE = 500
"""Bytes of the human's last words that every usual budget shows whole."""

_STEP = 180  # bytes of each of the following
_DATA = ("{", "[{", '["')  # how a row begins that is for programs: cut short it tells nothing
_TRAIL = 2  # calls and results kept of what the agent did after its last words


_STRANGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What comes of such a turn."""


class _Utterance:
    """Something the human said."""

    __slots__ = ("cut", "item", "short", "terms", "text", "turn")

    def __init__(self, turn: Turn, text: str, question: str, terms: set[str]) -> None:
        self.turn = turn
        self.cut = size(text) > _VERBATIM
        if self.cut:
            text = f"{cut(text, _VERBATIM // 2)}\n…\n{cut_start(text, _VERBATIM // 2)}"
        self.text = text
        self.short = size(text) <= SHORT
        self.terms = terms
        self.item = Item(ASKED, text, turn.line, turn.seal, question)


class Extractor:
    """Feed it the turns of one session in order; ask for the draft at any time."""

    def __init__(self) -> None:
        self._candidates = Candidates()
        self._progress = Progress()
        self._said: list[_Utterance] = []
        self._first: _Utterance | None = None
        self._count = 0
        self._compactions = 0
        self._line = 0
        self._text: Turn | None = None  # the agent's last words
        self._trail: list[Item] = []  # what it did after them
        self._before = ""  # its words since the human spoke, for the question behind an answer
        self._plan: Turn | None = None
        self._acted = 0  # the line of its last call
        self._waiting: list[_Utterance] = []  # what the human said since the agent did anything
        self._interrupted = False

    def feed(self, turn: Turn) -> None:
        """Take in one turn."""
        self._line = max(self._line, turn.line)
        self._candidates.turns += 1
        self._progress.feed(turn)
        kind = turn.kind
        if kind == SAID:
            self._hear(turn)
        elif kind == TEXT:
            self._waiting, self._interrupted, self._trail = [], False, []
            masked = mask_ends(turn.text, LONGEST)
            self._text = turn._replace(text=masked)
            self._before = cut_start(f"{self._before}\n{masked}", 6_000)
            self._candidates.read(turn, masked, WRITTEN)
        elif kind in (CALL, LAUNCH):
            self._waiting = []
            self._acted = turn.line
            shown = mask(turn.about)
            self._follow(turn, [shown])
            self._candidates.act(turn, shown)
        elif kind == RESULT:
            routine = turn.via == EDIT and not turn.failed
            # Of an edit that went well nothing is shown, unless its tool is hardly ever used.
            shows = not routine or self._candidates.is_rare(turn.tool)
            rows = telling_rows(turn) if shows else []
            self._follow(turn, rows)
            self._candidates.show(turn, rows)
        elif kind == DETAIL:
            self._candidates.read(turn, mask_ends(turn.text, LONGEST), DETAIL)
        elif kind in (OUTCOME, RECAP):
            self._candidates.read(turn, mask_ends(turn.text or turn.about, LONGEST), REPORT)
        elif kind == PROPOSAL:
            self._propose(turn)
        elif kind == SUMMARISED:
            self._candidates.read(turn, mask_ends(turn.text, LONGEST), SUMMARY)
        elif kind == BOUNDARY:
            self._compactions += 1
        elif kind == INTERRUPT:
            self._interrupted = True
        elif kind == BACK:
            self._go_back(int(turn.about))
        elif kind == SHELL:
            ran = mask_ends(turn.text, LONGEST)
            self._candidates.act(turn._replace(kind=CALL, tool="user's shell", about=ran), ran)

    def take(self, turn: Turn) -> bool:
        """The same.  False if the turn is of a shape that nobody has met: then it is passed over,
        because one of them must not cost all the others."""
        try:
            self.feed(turn)
        except _STRANGE:
            return False
        return True

    # ---- taking in ----

    def _hear(self, turn: Turn) -> None:
        text = mask_ends(turn.text, LONGEST)
        self._count += 1
        previous = self._said[-1] if self._said else None
        if previous is not None and self._interrupted and _repeats(previous.text, text):
            # Stopped and said again in other words: the first wording was taken back.
            self._forget(previous)
        found = salience.terms(text)
        occasion = self._occasion(turn, text)
        utterance = _Utterance(turn._replace(text=""), text, occasion, found)
        self._said.append(utterance)
        if self._first is None and (len(found) > 2 or turn.via == COMMAND):
            self._first = utterance
        if len(self._said) > _SAID:
            del self._said[1]
        self._candidates.hear(turn, text, occasion, found)
        self._waiting.append(utterance)
        self._interrupted = False
        self._before = ""

    def _occasion(self, turn: Turn, text: str) -> str:
        """What the words answer or refuse, where they mean little alone."""
        if turn.via == ANSWER:
            return shortened(f"re: {folded(mask(turn.about))}", _QUESTION)
        if turn.via == REFUSAL:
            about = folded(mask(turn.about))
            if " " not in about:  # a path: the file's name tells enough
                about = about.rpartition("/")[2] or about
            return shortened(f"refusing {turn.tool} {about}", 100)
        if turn.via == COMMAND or size(text) > _PICKING or not self._before:
            return ""
        offered = quotes.option(self._before, text)
        if size(text) > _TERSE:
            return f"re: {shortened(offered, _OFFER)}" if offered else ""
        offered = shortened(offered, 2 * _OFFER)
        asked = quotes.question(self._before, _QUESTION - size(offered))
        return f"re: {offered} {asked}" if offered else f"re: {asked}"

    def _forget(self, utterance: _Utterance) -> None:
        if self._said and self._said[-1] is utterance:
            self._said.pop()
        if self._first is utterance:
            self._first = None
        if utterance in self._waiting:
            self._waiting.remove(utterance)
        self._candidates.forget(utterance.turn.line)

    def _go_back(self, first: int) -> None:
        """What was said from line ``first`` on was taken back, by whoever said it."""
        unsaid = [one for one in self._said if one.turn.line >= first]
        self._said = [one for one in self._said if one.turn.line < first]
        self._waiting = [one for one in self._waiting if one.turn.line < first]
        self._trail = [item for item in self._trail if item.line < first]
        self._count -= len(unsaid)
        if self._first in unsaid:
            self._first = None
        if self._text is not None and self._text.line >= first:
            self._text = None
        if self._plan is not None and self._plan.line >= first:
            self._plan = None
        self._before = ""
        self._interrupted = False
        self._progress.forget(first)
        for line in {p.item.line for p in self._candidates if p.item.line >= first}:
            self._candidates.forget(line)

    def _follow(self, turn: Turn, shown: list[str]) -> None:
        """Keep what the agent did last, after its last words: the call, and what it gave, of which
        ``shown`` is what can be shown, masked.

        What it only looked at stands where it looked.
        """
        if turn.kind == CALL and not turn.via and not self._candidates.is_rare(turn.tool):
            return
        if turn.kind != RESULT:
            text, about = shortened(folded(shown[0]), _STEP), f"then {turn.tool}"
        elif turn.failed or turn.via == COMMAND_LINE or self._candidates.is_rare(turn.tool):
            rows = [row for row in shown if not row.startswith(_DATA)]
            text, about = " … ".join(rows[-2:]), turn.tool if turn.failed else f"{turn.tool} gave"
        else:
            return
        if text:
            mark = FAILED if turn.failed else ""
            text = shortened(text, _STEP)
            # What was tried again in the same words is said once, where it stands last.
            known = [one for one in self._trail if (one.text, one.about) != (text, about)]
            self._trail = [*known, Item(LEFT, text, turn.line, turn.seal, about, mark)][-_TRAIL:]

    def _propose(self, turn: Turn) -> None:
        text = mask_ends(turn.text, LONGEST)
        if not turn.failed:
            self._plan = turn._replace(text=text)
        self._waiting = []
        self._candidates.read(turn, text, PLAN)

    # ---- giving out ----

    @property
    def terms(self) -> salience.Terms:
        """The terms of the session so far."""
        return self._candidates.terms

    def draft(self) -> Draft:
        """What is worth keeping of the turns so far.  Asking changes nothing."""
        weight = self.terms.weights()
        fixed, passages, covered = self.candidates(weight)
        chosen = ranking.ranked(passages, self.terms, weight, PICKS, covered)
        picks = _newest_files_first([passages[index].item for index in chosen])
        picks += _unchosen(passages, set(chosen))
        return Draft((*fixed, *picks), self._count, self._compactions, self._line)

    def candidates(
        self, weight: Callable[[str], float]
    ) -> tuple[list[Item], list[Passage], list[str]]:
        """What is kept in any case, all that competes for the other room, and the covered terms."""
        fixed = [*self._goal(weight), *self._last(), *self._left()]
        covered: list[str] = []
        last = {item.line for item in fixed if item.section == LAST}
        # A long goal that is the last words stands among these alone.
        shown = [
            (item, _surely_shown(item))
            for item in fixed
            if item.section != GOAL or item.line not in last
        ]
        for _, text in shown:
            covered += salience.terms(text)
        told = [(item, folded(text)) for item, text in shown]
        passages = [p for p in distinct(self._candidates) if not _is_told(p.item, told)]
        asked = {one.line for one in fixed if one.section in (GOAL, LAST) and one.mark != FIRST}
        for passage in passages:
            passage.in_force = passage.item.line in asked
        trail = [item.text for item in fixed if item.section == LEFT]
        for item in self._progress.items():
            ran, _, verdict = item.text.rpartition(GAVE)
            if item.about == TEST and ran in trail and any(verdict in text for text in trail):
                continue  # the run and how it went stand where the agent left off
            turn = self._candidates.turns * item.line // max(self._line, 1)
            passages.append(Passage(item, ranking.state_kind(item), turn))
        return fixed, passages, covered

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
        later = self._later(course)
        if later is not None:
            items.append(_goal_item(later, LATER))
        return items

    def _later(self, course: _Utterance) -> _Utterance | None:
        """What was asked for after the course, where the last words do not say it themselves: no
        work has been done on it yet that could show what the course is now."""
        last = self._said[-1]
        if not last.short:
            return None
        for utterance in reversed(self._said):
            if utterance.turn.line <= max(course.turn.line, self._acted):
                return None
            if not utterance.short and utterance.turn.via not in (ANSWER, REFUSAL, COMMAND):
                return utterance
        return None

    def _course(self, weight: Callable[[str], float]) -> _Utterance | None:
        """The utterance that speaks most of what the agent has lately been busy with."""
        recent = self._candidates.terms.recent()

        def score(utterance: _Utterance) -> float:
            found, about = utterance.terms, 0.0
            for term in found:
                if uses := recent.get(term):
                    about += weight(term) * min(uses, 4)
            # Long ones mention much; what counts is how much of them is about the work at hand.
            return float(about / (8 + len(found)) ** 0.6)

        best, chosen = 0.0, None
        for utterance in self._said:
            now = score(utterance)
            if utterance.short and (
                utterance.item.about or is_rule(utterance.turn, utterance.text)
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
        words = [Item(LEFT, text, self._text.line, self._text.seal)] if text else []
        # What has no result is told as that.
        running = {turn.line for turn in self._progress.calls.values()}
        return [*words, *(item for item in self._trail if item.line not in running)]


def _goal_item(utterance: _Utterance, mark: str) -> Item:
    """The request as a goal: without what was pasted into it as code."""
    turn = utterance.turn
    text = folded(utterance.text)
    if "```" in text:
        text = " … ".join(quotes.passages(utterance.text)) or text
    if turn.via != SENT_OFF and size(text) > 700:
        # What is asked stands at either end of a long paste.
        text = middle_out(text, 700)
    about = utterance.item.about if turn.via == ANSWER else ""
    return Item(GOAL, shortened(text, 1_200), turn.line, turn.seal, about, mark)


def _surely_shown(item: Item) -> str:
    """What a reader sees of a fixed item at the usual budgets; the rest of it competes."""
    if item.section == GOAL:
        return cut(item.text, 160 if item.mark == FIRST else 300)
    if item.section == LAST and (size(item.text) > WHOLE or CUT in item.mark):
        return f"{cut(item.text, 250)}\n{cut_start(item.text, 250)}"
    return cut_start(item.text, 400) if item.section == LEFT else item.text


def _is_told(item: Item, fixed: list[tuple[Item, str]]) -> bool:
    """Whether one of the fixed items holds this passage already, in what a reader sees of it."""
    for told, text in fixed:
        # A rule stands among the rules, even if it is a part of the goal.
        shown = item.section != RULE or told.section in (LAST, ASKED)
        if item.line == told.line and shown and item.text in text:
            return True
    return False


def _repeats(before: str, after: str) -> bool:
    """Whether ``after`` says what ``before`` said, perhaps with something changed or added."""
    old, new = set(before.lower().split()), set(after.lower().split())
    return bool(old) and len(old & new) >= 0.6 * len(old)


def _newest_files_first(items: list[Item]) -> list[Item]:
    """``items`` with the changed files among them in the order of their last change."""
    places = [at for at, item in enumerate(items) if item.section == STATE and item.about == FILE]
    ordered = list(items)
    for at, item in zip(places, sorted((items[at] for at in places), key=lambda i: -i.line)):
        ordered[at] = item
    return ordered


def _unchosen(passages: list[Passage], chosen: set[int]) -> list[Item]:
    """What the human said and nothing else in the session speaks of, newest first."""
    items = []
    room = SAYINGS
    for index in range(len(passages) - 1, -1, -1):
        item = passages[index].item
        if index not in chosen and item.section in (RULE, DECIDED, ASKED):
            room -= item.bytes()
            if room < 0:
                break
            items.append(item)
    return sorted(items, key=lambda item: item.section != RULE)
