"""Terms: what of a text can be found, and what a query looks for.

A text becomes a list of terms in their order: words without case and accents, English ones as their
stems, words that say nothing left out.  What programmers write is kept whole and in its parts:
``retryCount``, ``pkg::name`` and ``ZED-417`` are found by either.  Dates and numbers have one form.
Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without blanks, and Korean with few, so
that pairs of their characters count as words; every other script goes by words.

The same text gives the same terms on every version of Python: what is not ASCII is judged by the
tables of Unicode 3.2, which each of them carries unchanged, and characters of later versions are
letters as they stand.
"""

from __future__ import annotations

from .stemming import stem
from .text import is_unspaced
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    _Spoken = tuple[str, bool, int, bool]
    """The term of a word, whether it says nothing about a text, the number of the month that it
    names, and whether it says when something was."""

LONGEST = 64
"""The most characters of a term; what is longer is cut there, in texts and in queries alike."""

STOP_WORDS = frozenset(
    "a about above after again all also am an and any are as at be because been before being below"
    " between both but by can cannot could d did do does doing don done down during each else ever"
    " few for from further get gets getting go goes going gonna got had has have having he her here"
    " hers herself hey hi him himself his how i if in into is isn it its itself just let like ll m"
    " many may me might mine more most much must my myself need no nor not now of off oh ok on once"
    " one only or other our ours out over own please put re really s same say says shall she should"
    " so some still such t tell than that the their theirs them themselves then there these they"
    " thing things this those though through to too under until up upon us use used using ve very"
    " want was we well were what when where whether which while who whom whose why will with would"
    " yeah yes yet you your yours yourself".split()
)
"""Words that say nothing about a text."""

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_MONTH_OF = {
    **{name: number for number, name in enumerate(_MONTHS, 1)},
    **{name[:3]: number for number, name in enumerate(_MONTHS, 1)},
    "sept": 9,
}
_TIME_WORDS = frozenset(
    "ago yesterday today tonight tomorrow morning afternoon evening night noon midnight week weeks"
    " weekend month months year years day days hour hours minute minutes monday tuesday wednesday"
    " thursday friday saturday sunday last next recently lately soon earlier since daily weekly"
    " monthly yearly summer winter spring autumn fall christmas easter birthday".split()
).union(_MONTHS)

_MOST_MET = 4_096  # words whose terms are kept at hand

_SMALL = {ord(old): new for old, new in zip("’‘ʼ“”„–—…•\u00a0", "'''\"\"\"-- * ")}
_SMALL[ord("…")] = " "
_SMALL[ord("•")] = " "
_APART = {code: 32 for code in range(128) if not chr(code).isalnum()}
MARKS = "".join(chr(code) for code in range(33, 127) if not chr(code).isalnum())
"""What of ASCII is no letter, digit or blank."""


class Terms(Value):
    """What a text is found by: its terms in their order, and besides them its identifiers whole."""

    listed: tuple[str, ...]
    """The words of the text in their order, repeated as they are there."""
    whole: tuple[str, ...]
    """Identifiers, dates and the like as they are written, each once."""
    timed: bool
    """Whether a word of the text says when something was."""


class Lexicon:
    """What words and short texts were found to be before: a writer meets most of them again.

    It holds so many at most that it may stay as long as a process; what it answers is what would
    be worked out anew.
    """

    def __init__(self) -> None:
        self._spoken: dict[str, _Spoken] = {}
        self._pieces: dict[str, tuple[list[str], dict[str, None]]] = {}
        self._words: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._texts: dict[str, Terms] = {}

    def spoken(self, word: str) -> _Spoken:
        """What a lower-case word says."""
        found = self._spoken.get(word)
        if found is None:
            found = _kept(self._spoken, word, _spoken(word))
        return found

    def piece(self, piece: str) -> tuple[list[str], dict[str, None]]:
        """The words of a piece between blanks, and what it is whole; not to be changed."""
        found = self._pieces.get(piece)
        if found is None:
            words: list[str] = []
            whole: dict[str, None] = {}
            _take(piece, words, whole)
            found = _kept(self._pieces, piece, (words, whole))
        return found

    def word(self, word: str) -> tuple[str, tuple[str, ...]]:
        """A word as it is written, and its terms, of which it may have none."""
        found = self._words.get(word)
        if found is None:
            found = _kept(self._words, word, _word(word, self))
        return found

    def analyse(self, text: str) -> Terms:
        """The terms of a short text: a name, a date."""
        found = self._texts.get(text)
        if found is None:
            found = _kept(self._texts, text, analyse(text, lexicon=self))
        return found


def _kept(known: dict[str, Any], name: str, found: Any) -> Any:
    """``found``, at hand from now on."""
    if len(known) >= _MOST_MET:
        known.clear()
    known[name] = found
    return found


def analyse(text: str, *, keep_stop_words: bool = False, lexicon: Lexicon | None = None) -> Terms:
    """The terms of ``text``."""
    listed: list[str] = []
    whole: dict[str, None] = {}
    plain: list[str] = []
    for piece in _plain(text).split():
        if lexicon:
            words, names = lexicon.piece(piece)
            plain += words
            whole.update(names)
        else:
            _take(piece, plain, whole)
    spoken = lexicon.spoken if lexicon else _spoken
    timed = False
    for at, word in enumerate(plain):
        term, stops, month, says_when = spoken(word)
        if stops and not keep_stop_words and not (word == "may" and _near_number(plain, at)):
            continue
        if month:
            date = _date_around(plain, at, month)
            if date:
                whole[date] = None
        timed = timed or says_when
        listed.append(term)
    return Terms(tuple(listed), tuple([word[:LONGEST] for word in whole]), timed)


def _spoken(word: str) -> _Spoken:
    """What a lower-case word says; it is found by its stem, a month by that of its whole name."""
    month = _MONTH_OF.get(word, 0)
    return (
        stem(_MONTHS[month - 1] if month else word)[:LONGEST],
        word in STOP_WORDS,
        month,
        bool(month) or word in _TIME_WORDS or _is_year(word),
    )


def _plain(text: str) -> str:
    """``text`` without the typographic forms of what ASCII has."""
    if text.isascii():
        return text
    text = text.translate(_SMALL)
    return text if text.isascii() else _folded(text)


def _take(piece: str, plain: list[str], whole: dict[str, None]) -> None:
    """The words of one piece between blanks, and the piece whole if it is more than a word."""
    if not piece.isascii():
        _take_unicode(piece, plain, whole)
        return
    if piece.isalnum():
        _take_word(piece, plain, whole)
        return
    core = piece.strip(MARKS)
    if core.isalnum():
        _take_word(core, plain, whole)
        return
    parts = core.translate(_APART).split()
    if not parts:
        return
    first = parts[0]
    if core[len(first)] == "'":
        # A short form, or whose it is: the rest says nothing.
        for part in parts:
            _take_word(part, plain, whole)
        return
    number = core.replace(",", "")
    if number.isdigit() and len(parts[-1]) == 3:
        plain.append(number)
        return
    if len(core) == 10 and core[4] == core[7] and core[4] in "-/" and _is_year(first):
        year, month, day = parts[0], parts[1], parts[-1]
        if len(parts) == 3 and (month + day).isdigit() and 1 <= int(month) <= 12:
            plain += [str(int(day)), _MONTHS[int(month) - 1], year]
            return
    for part in parts:
        _take_word(part, plain, whole)
    whole[core.lower()] = None


def _take_word(word: str, plain: list[str], whole: dict[str, None]) -> None:
    if word.islower() or (word.istitle() and word.isalpha()) or word.isupper() or word.isdigit():
        lower = word.lower()
        if lower[-2:] in ("st", "nd", "rd", "th") and lower[:-2].isdigit():
            lower = lower[:-2]
        plain.append(lower)
        return
    parts = list(_humps(word))
    if len(parts) > 1:
        whole[word.lower()] = None
    plain += parts


def _humps(word: str) -> Iterator[str]:
    """The words of ``camelCase``, ``HTTPServer`` and the like."""
    start = 0
    for at in range(1, len(word)):
        upper = word[at].isupper()
        if upper and (
            not word[at - 1].isupper() or (at + 1 < len(word) and word[at + 1].islower())
        ):
            yield word[start:at].lower()
            start = at
    yield word[start:].lower()


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit()


def _is_year(word: str) -> bool:
    return len(word) == 4 and _is_number(word) and word[:2] in ("19", "20")


def _near_number(words: list[str], at: int) -> bool:
    """Whether a number stands beside the word: "May" is a month there."""
    return any(map(_is_number, words[max(at - 1, 0) : at + 2]))


def _date_around(words: list[str], at: int, month: int) -> str:
    """The date that is written around the name of a month; empty if it is no whole date."""
    around = words[max(at - 2, 0) : at] + words[at + 1 : at + 3]
    day = next((word for word in around if _is_number(word) and 1 <= int(word[:3]) <= 31), "")
    year = next((word for word in around if _is_year(word)), "")
    return f"{year}-{month:02d}-{int(day):02d}" if day and year else ""


# -- other scripts


def _folded(text: str) -> str:
    """``text`` with one form for each character, without accents."""
    from unicodedata import ucd_3_2_0 as tables

    found = []
    for char in tables.normalize("NFKD", text):
        if char.isascii():
            found.append(char)
            continue
        # Accents and vowel points go; in the scripts further on such marks are letters.
        if tables.category(char) != "Mn" or ord(char) >= 0x0900:
            found.append(char)
    # Together again: a Hangul syllable comes apart as an accented letter does.
    return tables.normalize("NFC", "".join(found))


def _take_unicode(piece: str, plain: list[str], whole: dict[str, None]) -> None:
    """The same where a piece is not ASCII: runs of one kind, each by its rule."""
    from unicodedata import ucd_3_2_0 as tables

    run, kind = "", ""
    for char in piece + " ":
        code = ord(char)
        if code < 128:
            found = "word" if char.isalnum() else ""
        elif is_unspaced(code):
            found = "pair" if tables.category(char)[0] not in "PZS" else ""
        else:
            category = tables.category(char)
            found = "word" if category[0] in "LNM" or category in ("Cn", "So") else ""
        if found != kind:
            if kind == "word":
                if run.isascii():
                    _take_word(run, plain, whole)
                else:
                    plain.append(
                        "".join(c.lower() if tables.category(c) != "Cn" else c for c in run)
                    )
            elif kind == "pair":
                plain += [run[at : at + 2] for at in range(len(run))]
            run, kind = "", found
        if found:
            run += char


def wordless(text: str) -> str:
    """What a text without any word is found by: its signs, without the blanks between them.

    No word begins like it, so that none is taken for it, and it is spelt like none.
    """
    return "!" + "".join(text.split())[:LONGEST]


def lone(listed: Iterable[str]) -> Iterator[str]:
    """Of the terms of a text in their order, the characters that would have been paired and stand
    alone; the last of a run is none, because the pair before it says the same."""
    before = ""
    for term in listed:
        ends_a_run = len(before) == 2 and before[1] == term
        if len(term) == 1 and is_unspaced(ord(term)) and not ends_a_run:
            yield term
        before = term


def words_of(text: str, lexicon: Lexicon | None = None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The words of ``text`` as they are written, each with its terms; those without left out."""
    for word in text.split():
        found = lexicon.word(word) if lexicon else _word(word, None)
        if found[1]:
            yield found


def _word(word: str, lexicon: Lexicon | None) -> tuple[str, tuple[str, ...]]:
    core = word.strip(MARKS)
    if core.isascii() and core.isalpha() and (core.islower() or core.istitle()):
        # A plain word, as most are: what analyse would say of it, without its lists.
        lower = core.lower()
        if lower in STOP_WORDS:
            return core, ()
        return core, ((lexicon.spoken if lexicon else _spoken)(lower)[0],)
    found = analyse(word, lexicon=lexicon)
    return word.strip(MARKS + "“”‘’…—–") or word, found.listed + found.whole
