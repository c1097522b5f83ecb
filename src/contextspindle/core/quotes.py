"""Quotations: cutting a text into passages that can stand alone, each still the source's words."""

from __future__ import annotations

from .text import ELLIPSIS, cut, cut_start, folded, size

PASSAGE = 280
"""The bytes that a passage has at most, unless one sentence is longer."""

PIECE = 160
"""And a sentence, where sentences are asked for."""

_WHOLE = 1 << 30
_LEAD = 1_000  # bytes of headings from which on they lead no further ones
_NUMBER = 20  # characters before a full stop that tell whether it is that of an item
_BRIEF = 45
_WIDE_STOPS = "。！？；"
_STOPS = ".!?;" + _WIDE_STOPS
_ENDS = (". ", "! ", "? ", "; ", "。", "！", "？", "；", ".) ", ": ")
_BEFORE_ITEM = ("", *_STOPS, ":", "：", "-", ",")
_MARKERS = "-*#>•|=_~` \t"
_PAIRED = ("**", "`")


def passages(text: str, limit: int = PASSAGE) -> list[str]:
    """The passages of ``text``, each on one line: lines, and the sentences of long lines.

    A heading or a line that ends with a colon leads the line after it, with whatever mark stands
    between them: a passage is what the source says, white space aside.  Lines of code between
    fences are left out: they stand in the files.
    """
    found = []
    lead = ""
    fenced = False
    for raw in text.split("\n"):
        if raw.lstrip().startswith("```"):
            fenced = not fenced
            if lead:
                found.append(_unmarked(lead))
                lead = ""
            continue
        marked = folded(raw)
        line = _unmarked(marked)
        if fenced:
            continue
        if not line or line == ELLIPSIS:
            if marked and lead:  # a rule between them: what leads ends here
                found.append(_unmarked(lead))
                lead = ""
            continue
        if len(line) < 90 and (raw.lstrip().startswith("#") or line.rstrip("*").endswith(":")):
            room = min(limit // 2, _LEAD)
            lead = f"{lead} {marked}" if lead and size(lead) < room else _unlisted(marked)
            continue
        if lead:
            line = f"{lead} {marked}"
            lead = ""
        if size(line) <= limit:
            found.append(line)
        else:
            found += sentences(line, limit)
    if lead:
        found.append(_unmarked(lead))
    return found


def _unlisted(line: str) -> str:
    """``line`` without the mark of a list or a heading before it, but with that of emphasis or code
    that ends within it."""
    bare = line.lstrip(_MARKERS)
    before = line[: len(line) - len(bare)]
    opens = [before.rfind(sign) for sign in _PAIRED if sign in bare and sign in before]
    return line[min(opens) :] if opens else bare


def _unmarked(line: str) -> str:
    """The same without such marks behind it too, but with those of what begins within it."""
    bare = line.rstrip(_MARKERS)
    behind = line[len(bare) :]
    inner = bare.lstrip(_MARKERS)
    closes = [behind.find(sign) + len(sign) for sign in _PAIRED if sign in inner and sign in behind]
    return _unlisted(line[: len(bare) + max(closes)] if closes else bare)


def sentences(line: str, limit: int = PASSAGE) -> list[str]:
    """``line`` cut behind the ends of sentences, into pieces of at most ``limit`` bytes."""
    found = []
    start = 0
    while len(head := cut(line[start : start + limit + 1], limit)) < len(line) - start:
        at = max(head.rfind(end) + len(end) for end in _ENDS)
        if at < len(head) // 3:
            at = head.rfind(" ") + 1
        if at < len(head) // 3:
            at = len(head)
        found.append(head[:at].strip())
        start += at
        while line[start : start + 1].isspace():
            start += 1
    if start < len(line):
        found.append(line[start:])
    return found


def pieces(text: str) -> list[tuple[int, str]]:
    """The sentences of ``text``'s passages: the smallest quotations that still say something.

    What is very short (*Found it!*) stays with the sentence behind it.  The numbers tell their
    order; those of two that only a blank separates in the source follow each other.
    """
    found: list[tuple[int, str]] = []
    number = -1
    for passage in passages(text, _WHOLE):
        start = 0
        ends = [*_stops(passage), len(passage)] if size(passage) > _BRIEF else [len(passage)]
        for end in ends:
            piece = passage[start:end].strip()
            if not piece or (size(piece) < _BRIEF and end < len(passage)):
                continue
            for part in [piece] if size(piece) <= PIECE else sentences(piece, PIECE):
                number += 1
                found.append((number, part))
                number += 1
            number -= passage[end : end + 1] == " "
            start = end
        number += 1
    return found


def _stops(line: str) -> list[int]:
    """The places behind every end of a sentence in ``line``."""
    found = []
    for sign in _STOPS:
        at = line.find(sign) + 1
        while 0 < at < len(line):
            if sign in _WIDE_STOPS or (line[at] == " " and not _counts(line, at - 1)):
                found.append(at)
            at = line.find(sign, at) + 1
    return sorted(found)


def _counts(line: str, at: int) -> bool:
    """Whether the full stop at ``at`` belongs to the number of an item of a list."""
    start = at
    while start > max(0, at - 3) and line[start - 1].isdigit():
        start -= 1
    before = line[max(0, start - _NUMBER) : start].rstrip(" *#(")[-1:]
    return line[at] == "." and 0 < at - start <= 2 and before in _BEFORE_ITEM


def ending(text: str, limit: int) -> str:
    """The end of ``text`` on one line, whole sentences where that is possible."""
    flat = folded(text)
    if size(flat) <= limit:
        return flat
    tail = cut_start(flat, limit)
    starts = [at + len(end) for end in _ENDS if 0 <= (at := tail.find(end)) < len(tail) // 2]
    return tail[min(starts) :] if starts else tail.partition(" ")[2] or tail


def question(text: str, limit: int) -> str:
    """What ``text`` asks at its end: the last sentence with a question mark, or the last words."""
    flat = ending(text, 3 * limit)
    at = max(flat.rfind("?"), flat.rfind("？"))
    if at >= 0 and size(flat[at:]) < 2 * limit:
        return ending(flat[: at + 1], limit // 2 if at > 20 else limit)
    return ending(flat, limit // 2)


def option(text: str, answer: str) -> str:
    """The line of ``text`` that offers what ``answer`` picks, or nothing.

    It picks by being no more than the option's number or letter, by a number at its start (*2, but
    without the cache*), or by naming it (*option b*, *#3*).
    """
    key = _picked(answer.strip().lower())
    if not key:
        return ""
    for raw in reversed(text.split("\n")):
        line = raw.strip().lstrip("-*#>( ").lower()
        if line.startswith("option "):
            line = line[len("option ") :]
        if line.startswith(key) and line[len(key) : len(key) + 1] in tuple(".):*"):
            return folded(raw)
    return ""


def _picked(answer: str) -> str:
    """The number or letter of the option that ``answer`` is about, or nothing."""
    alone = answer.rstrip(".):")
    if len(alone) <= 2:
        return alone if alone.isalnum() else ""
    words = answer.replace(",", " ").replace(":", " ").split()
    if words[0].isdigit() and len(words[0]) <= 2:
        return words[0]
    for before, word in zip(["", *words], words):
        if before == "option" and len(word.rstrip(".)")) <= 2:
            return word.rstrip(".)")
        if word[0] == "#" and word[1:].isdigit() and len(word) <= 3:
            return word[1:]
    return ""
