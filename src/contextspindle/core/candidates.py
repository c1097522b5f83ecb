"""Candidates: every quotation of a session that a handoff could have, in bounded memory.

Each kind of turn gives what can stand alone: the sentences of what was written, whole short
utterances of the human, what was called, the telling rows of what came back.  None is judged
here; that needs the whole session and is done by :mod:`.ranking` when a draft is asked for.
"""

from __future__ import annotations

from . import quotes, ranking, salience
from .draft import ASKED, DECIDED, FAILED, FOUND, NAME, REPORT, RULE, SUMMARY, Item
from .ranking import CALLED, FAILURE, PLAN, SHOWN, UNREAD, WRITTEN, WROTE, Passage
from .redaction import mask, mask_start
from .text import cut, cut_start, folded, shortened, size
from .transcript import ANSWER, ASIDE, CALL, EDIT, QUEUED, REFUSAL, Turn
from .transcript import PLAN as SENT_OFF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KEPT = 6_000
"""The most candidates held at once."""

SHORT = 60  # an utterance up to so many bytes is a quotation by itself, and hardly a goal
_ROW = 200  # bytes of a call, or of a row of what it gave
_QUESTION = 150  # bytes of the question that an answer is shown with
_SAYING = 4  # terms from which on prose says something without naming anything
_RARE = 3  # uses of a tool up to which it counts as rare
_REMARK = "<system-reminder>"  # what a harness adds to a result, for the agent alone
_EDIT = 2_000  # characters of what an edit writes that are looked at for names
_NAME = 8  # characters that such a name has at least
_NAMES = 3  # of one edit
_TAIL = 4_000  # bytes of a result that are looked at
_BRIEF_ROW = 8  # characters up to which a row tells nothing
_PASTED = 300  # bytes of a row from which on it is cut to its beginning, if it is data
_BEGINNING = 100
_SIGNS = '{}[]"=|<>\\'
_STATUS = 16  # characters that such a row has at most
_END = 150  # pieces of what was said that are kept of either end
_TELLING = 3  # rows of a result that say of themselves that something went wrong

# How programs in any language mark that something went wrong.
_WRONG = ("FAIL", "ERROR", "Error:", "error:", "panic:", "fatal:", "Traceback", "✗", "✘", "❌")

# Signs that a sentence is meant to hold from now on.  Only a hint: it moves a quotation up and
# into its section; words in other languages are found by the channels and the weights as well.
# What was written against a call (a refusal, a word thrown in) needs only a weak sign.
_STRONG = tuple(
    f" {sign} "
    for sign in (
        "don't|dont|do not|never|always|must|prefer|avoid|make sure|ensure|remember|from now on"
        "|shouldn't|no need"
        "|nie|niemals|immer|stets|kein|keine|müssen|müsst|darf nicht|dürfen nicht|auf keinen fall"
        "|ab jetzt|ab sofort|künftig|rühr|rühre|fass nicht"
        "|ne pas|jamais|toujours|il faut|ne touche pas|ne touchez pas|n'utilise pas"
        "|n'utilisez pas|ne modifie pas|ne modifiez pas|évite|évitez|assure-toi"
        "|siempre|nunca|jamás|debes|hay que|no toques|no uses|no modifiques|no cambies"
        "|asegúrate|a partir de ahora"
        "|sempre|devemos|não toque|não mexa|não use|não altere|evite|a partir de agora"
        "|mai|devi|bisogna|non toccare|non usare|non modificare|assicurati|d'ora in poi"
        "|никогда|всегда|нельзя|обязательно|впредь"
        "|يجب"
    ).split("|")
)
_WEAK = tuple(
    f" {sign} " for sign in "not|no|only|instead|please|should|let's|nicht|bitte|não|не".split("|")
)
# These stand within a word or before a mark; a word of a sentence that orders nothing (a path that
# is absolute, a number of millions) must not hold them.
_GLYPHS = (
    "不要", "不用", "别", "必须", "一定要", "禁止", "总是", "永远", "务必",
    "请勿", "切勿", "不许", "以后都", "以后请", "今后", "一律", "千万要", "千万记",
    "しないで", "必ず", "絶対に", "決して", "ないでください", "てはいけ", "しないこと",
    "하지 마", "지 마세요", "지 마라", "지 말고", "지 말 것", "항상", "반드시", "절대로", "절대 안",
    "не трогай", "ни в коем случае",
    "nicht anfassen", "nicht anrühren", "désormais",
    "دائما", "دائمًا", "أبدا", "أبدًا",
    "لا تستخدم", "لا تلمس", "لا تغير", "لا تعدل", "لا تحذف", "ممنوع",
)  # fmt: skip


class Candidates:
    """Feed it turns by their kind, in order."""

    def __init__(self) -> None:
        self.terms = salience.Terms()
        self.turns = 0  # turns so far; the caller counts them up
        self._kept: list[Passage] = []
        self._uses: dict[str, int] = {}  # calls by tool
        self._unread: list[Passage] = []  # what was reported to it since it wrote anything
        self._spoke: list[Passage] = []  # what the agent wrote last, if it did nothing since

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._kept)

    # ---- the human ----

    def hear(self, turn: Turn, text: str, occasion: str, found: set[str]) -> None:
        """Words of the human, masked; ``occasion`` is what they answer or refuse."""
        self.terms.count(found, said=True)
        for passage in self._spoke:
            # What the agent wrote before it fell silent is its report, not a thought on the way.
            passage.reported = True
        self._spoke = []
        about = shortened(occasion, _QUESTION)
        answers = turn.via == ANSWER or (size(text) <= SHORT and bool(about))
        plain = DECIDED if answers and turn.via != REFUSAL else ASKED
        if size(text) <= _ROW:
            section = RULE if plain == ASKED and is_rule(turn, text) else plain
            terms = found | salience.terms(about) if answers else found
            # A word against what the agent was about to do counts like a rule, whatever its form.
            kind = RULE if turn.via == REFUSAL else section
            self._keep(Item(section, folded(text), turn.line, turn.seal, about), kind, terms)
            return
        # That something was pasted is told, and where; scraps of it would tell nothing.
        rows = [
            shortened(row, _BEGINNING) if len(row) > _PASTED and _is_data(row) else row
            for row in text.split("\n")
        ]
        pieces = _ends(turn, quotes.pieces("\n".join(rows)))
        for place, (at, piece) in enumerate(pieces):
            section, kind = plain, PLAN
            if turn.via != SENT_OFF:
                section = kind = RULE if is_rule(turn, piece) else plain
            if _is_data(piece):
                kind = SHOWN  # pasted: not the human's own words
            item = Item(section, piece, turn.line, turn.seal, "" if place else about, "", at)
            self._keep(item, kind, None, place, len(pieces))
        del self._kept[: -2 * KEPT]

    def forget(self, line: int) -> None:
        """Words that the human took back."""
        self._kept = [passage for passage in self._kept if passage.item.line != line]

    # ---- the agent and what works for it ----

    def read(self, turn: Turn, text: str, kind: str) -> None:
        """Prose, masked."""
        self._spoke = []
        if kind == WRITTEN:
            for passage in self._unread:
                passage.kind = REPORT
            self._unread = []
        pieces = quotes.pieces(text)
        mark = FAILED if turn.failed else ""
        found: set[str] = set()
        first = len(self._kept)
        about = kind if kind in (REPORT, SUMMARY) else ""
        for place, (at, piece) in enumerate(pieces):
            terms = salience.terms(piece)
            found |= terms
            if len(terms) < _SAYING and not any(map(salience.is_marked, terms)):
                continue  # "All clean.", "Let me check:"
            item = Item(FOUND, piece, turn.line, turn.seal, about, mark, at)
            sort = UNREAD if kind == REPORT else kind
            passage = self._keep(item, sort, terms, place, len(pieces))
            if sort == UNREAD:
                self._unread.append(passage)
        self.terms.count(found, said=False)
        if kind == WRITTEN:
            self._spoke = self._kept[first:]
        if len(self._kept) > KEPT:
            self._thin_out()

    def act(self, turn: Turn, shown: str) -> None:
        """A call, or work that was sent off; ``shown`` is what it is about, masked."""
        self._spoke = []
        self._uses[turn.tool] = self._uses.get(turn.tool, 0) + 1
        found = salience.terms(shown)
        if turn.via == EDIT:
            self._name(turn)
        elif turn.text and turn.text != turn.about:
            found |= salience.terms(turn.text[:2_000])
        self.terms.count(found, said=False)
        if turn.kind == CALL and turn.via != EDIT and size(shown) > 12:
            text = shortened(folded(shown), _ROW)
            item = Item(FOUND, text, turn.line, turn.seal, _label(turn.tool))
            self._keep(item, CALLED, None, rarity=self._rarity(turn.tool))

    def _name(self, turn: Turn) -> None:
        """The names that an edit brings into the session: what was made there is called so."""
        text = mask_start(turn.text, _EDIT)
        known = self.terms.known
        new = [
            term
            for term in salience.terms(text)
            if len(term) >= _NAME
            and salience.is_marked(term)
            and term[0].isalpha()
            and known(term) is None
        ]
        new.sort(key=lambda term: (-len(term), term))
        for at, term in enumerate(sorted(new[:_NAMES], key=text.find)):
            item = Item(FOUND, term, turn.line, turn.seal, NAME, "", 2 * at)
            self._keep(item, WROTE, None, at, len(new))

    def show(self, turn: Turn, rows: list[str]) -> None:
        """What a call gave, of which ``rows`` are the :func:`telling_rows`."""
        if turn.via == EDIT and not turn.failed:
            return
        mark = FAILED if turn.failed else ""
        found: set[str] = set()
        for at, row in enumerate(rows):
            wrong = turn.failed or _is_wrong(row)
            item = Item(FOUND, row, turn.line, turn.seal, _label(turn.tool), mark, 2 * at)
            kind = FAILURE if wrong else SHOWN
            passage = self._keep(item, kind, None, at, len(rows), self._rarity(turn.tool))
            if wrong:
                found |= passage.terms
        if found:
            # What succeeded weighs by how often the talk comes back to it; an error weighs itself.
            self.terms.count(found, said=False)

    def is_rare(self, tool: str) -> bool:
        """Whether a tool is hardly ever used: what it does is then no matter of course."""
        return self._uses.get(tool, 0) <= _RARE

    # ---- keeping ----

    def _keep(
        self,
        item: Item,
        kind: str,
        terms: set[str] | None,
        at: int = 0,
        count: int = 1,
        rarity: float = 0.0,
    ) -> Passage:
        entry = self.terms.entries + 1
        passage = Passage(item, kind, self.turns, entry, at, count, terms, rarity)
        self._kept.append(passage)
        return passage

    def _rarity(self, tool: str) -> float:
        return 1 / self._uses.get(tool, 1)

    def _thin_out(self) -> None:
        """Forget the half that promises least, of the human's words only those of long ago, where
        there is nothing else; a quarter is free then, so that this is seldom done."""
        weight = self.terms.weights()
        promised = [
            sum(map(weight, passage.terms)) / ranking.cost(passage.item) for passage in self._kept
        ]
        limit = sorted(promised)[len(promised) // 2]
        self._kept = [
            passage
            for passage, value in zip(self._kept, promised)
            if passage.item.section != FOUND or value > limit
        ]
        del self._kept[: -KEPT * 3 // 4]


def _ends(turn: Turn, pieces: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Of the many pieces of a long paste those at its two ends, and those between them that seem
    meant to hold; no three of them alike but for words with digits (a log's times and ids)."""
    if len(pieces) <= 2 * _END:
        return pieces
    seen: dict[str, int] = {}
    several = []
    for piece in pieces:
        words = (word for word in piece[1].split() if not any(map(str.isdigit, word)))
        form = " ".join(words)
        seen[form] = seen.get(form, 0) + 1
        if seen[form] < 3:
            several.append(piece)
    if len(several) <= 2 * _END:
        return several
    between = [piece for piece in several[_END:-_END] if is_rule(turn, piece[1])]
    return [*several[:_END], *between[: _END // 2], *several[-_END:]]


def _label(tool: str) -> str:
    """A tool's name without the server that offers it."""
    return tool.rpartition("__")[2] or tool


def telling_rows(turn: Turn) -> list[str]:
    """Rows of a result that say most: the first, the last, and those that tell of trouble."""
    text = turn.text.partition(_REMARK)[0]
    if len(text) > _TAIL or size(text) > _TAIL:
        # Whole rows of the end; of a single endless row, its start.
        rows_of_end = cut_start(text, _TAIL).partition("\n")[2]
        text = mask(rows_of_end) if rows_of_end else cut(mask_start(text, _TAIL), _TAIL)
    else:
        text = mask(text)
    # Rows with colours in them are made for eyes, and seldom quoted in what follows.
    rows = [row for row in text.split("\n") if len(row) > _BRIEF_ROW and "\x1b" not in row]
    if not rows:
        return []
    wrong: list[str] = []
    if _is_wrong(text):
        wrong = [row for row in rows if _is_wrong(row)]
    picked = [*rows[: 2 if turn.failed else 1], *wrong[:_TELLING], *rows[-2:]]
    shown = [shortened(folded(row), _ROW) for row in dict.fromkeys(picked)]
    return [row for row in dict.fromkeys(shown) if len(row) > _BRIEF_ROW and not _is_status(row)]


def _is_wrong(row: str) -> bool:
    """Whether it tells of trouble."""
    for sign in _WRONG:  # noqa: SIM110 (any() with a generator costs twice as much)
        if sign in row:
            return True
    return False


def _is_status(row: str) -> bool:
    """Whether it is the harness's *Exit code 1*: that it failed is said beside it anyway."""
    return len(row) < _STATUS and row.lower().startswith("exit code")


def is_rule(turn: Turn, text: str) -> bool:
    """Whether the words seem meant to hold beyond the moment."""
    if text.rstrip().endswith(("?", "？")):
        return False
    padded = f" {folded(text).lower().replace('’', chr(39))} "
    signs = _STRONG + _WEAK if turn.via in (REFUSAL, QUEUED, ASIDE, ANSWER) else _STRONG
    return any(sign in padded for sign in signs) or any(glyph in padded for glyph in _GLYPHS)


def _is_data(piece: str) -> bool:
    """Whether it is what programs write for programs: every tenth character is of their signs."""
    return 10 * sum(map(piece.count, _SIGNS)) > len(piece)


def distinct(passages: Iterable[Passage]) -> list[Passage]:
    """``passages`` without repetitions: of those with one text the last remains."""
    last: dict[str, Passage] = {}
    for passage in passages:
        last.pop(passage.item.text, None)
        last[passage.item.text] = passage
    return list(last.values())
