"""Quotations: cutting a text into passages that can stand alone, each still the source's words."""

from __future__ import annotations

from .text import cut, cut_start, folded, size

PASSAGE = 280
"""The bytes that a passage has at most, unless one sentence is longer."""

PIECE = 160
"""And a sentence, where sentences are asked for."""

_WHOLE = 1 << 30
_BRIEF = 45
_WIDE_STOPS = "。！？；"
_STOPS = ".!?;" + _WIDE_STOPS
_ENDS = (". ", "! ", "? ", "; ", "。", "！", "？", "；", ".) ", ": ")
_MARKERS = "-*#>•|=_~` \t"


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
                found.append(lead.rstrip(_MARKERS))
                lead = ""
            continue
        marked = folded(raw)
        line = marked.strip(_MARKERS)
        if fenced:
            continue
        if not line:
            if marked and lead:  # a rule between them: what leads ends here
                found.append(lead.rstrip(_MARKERS))
                lead = ""
            continue
        if len(line) < 90 and (raw.lstrip().startswith("#") or line.rstrip("*").endswith(":")):
            lead = (
                f"{lead} {marked}" if lead and size(lead) < limit // 2 else marked.lstrip(_MARKERS)
            )
            continue
        if lead:
            line = f"{lead} {marked}"
            lead = ""
        if size(line) <= limit:
            found.append(line)
        else:
            found += sentences(line, limit)
    if lead:
        found.append(lead.rstrip(_MARKERS))
    return found


def sentences(line: str, limit: int = PASSAGE) -> list[str]:
    """``line`` cut behind the ends of sentences, into pieces of at most ``limit`` bytes."""
    found = []
    rest = line
    while size(rest) > limit:
        head = cut(rest, limit)
        at = max(head.rfind(end) + len(end) for end in _ENDS)
        if at < len(head) // 3:
            at = head.rfind(" ") + 1
        if at < len(head) // 3:
            at = len(head)
        found.append(rest[:at].strip())
        rest = rest[at:].lstrip()
    if rest:
        found.append(rest)
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
    return [
        at
        for at in range(1, len(line))
        if line[at - 1] in _STOPS and (line[at - 1] in _WIDE_STOPS or line[at] == " ")
    ]


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
    """The line of ``text`` that offers what a one-character ``answer`` picks, or nothing."""
    key = answer.strip().rstrip(".):").lower()
    if not key or len(key) > 2 or not key.isalnum():
        return ""
    for raw in reversed(text.split("\n")):
        line = raw.strip().lstrip("-*#>( ").lower()
        if line.startswith("option "):
            line = line[len("option ") :]
        if line.startswith(key) and line[len(key) : len(key) + 1] in tuple(".):*"):
            return folded(raw)
    return ""
