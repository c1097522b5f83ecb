"""Text that is safe to show: valid Unicode, one line, cut at code points, measured in bytes.

Stored text comes from people, agents and tool output.  What is shown of it must not be able to
pass for something else: a line break, a control character or a bidirectional override in a note
could end its line and look like a field of its own (CVE-2021-42574 names the bidirectional ones).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ELLIPSIS = "…"

# Line and paragraph separators, in the sense of str.splitlines.
_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
# Marks and overrides that reorder what a person sees.
_BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_CONTROLS = [c for c in range(0xA0) if c < 0x20 or c >= 0x7F]

_HARMLESS: dict[int, str] = dict.fromkeys(_CONTROLS, "�")
_HARMLESS.update({ord(mark): "\ufffd" for mark in _BIDI + "\ufeff"})
_ONE_LINE: dict[int, str] = {**_HARMLESS, **{ord(mark): "⏎" for mark in _BREAKS}, 9: " "}
_BLOCK: dict[int, str] = {**_HARMLESS, **{ord(mark): "\n" for mark in _BREAKS}, 9: "\t"}


def clean(value: str) -> str:
    """``value`` as valid Unicode: each lone surrogate becomes U+FFFD, all else stays."""
    try:
        value.encode("utf-8")
        return value
    except UnicodeEncodeError:
        # A proper pair that came in as two halves is one character; what is left alone is lost.
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def size(value: str) -> int:
    """The length of ``value`` in UTF-8 bytes."""
    return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))


def one_line(value: str) -> str:
    """``value`` on one line: breaks shown as ``⏎``, controls and overrides as U+FFFD."""
    if value.isprintable():  # nothing that is replaced is; and to ask is ten times faster
        return value
    return clean(value).replace("\r\n", "\n").translate(_ONE_LINE)


def folded(value: str) -> str:
    """``value`` on one line, every run of blanks and breaks as one space."""
    if value.isprintable() and "  " not in value and value[:1] != " " != value[-1:]:
        return value  # nearly always: the one blank in it is the space
    joined = " ".join(value.split())
    if joined.isprintable() and "\x1f" not in value:  # which is a blank to split, and none to see
        return joined
    return " ".join(clean(value).translate(_BLOCK).split())


def block(value: str) -> str:
    """``value`` with its line breaks (all as LF) and tabs, other controls as U+FFFD."""
    if value.replace("\n", "").replace("\t", "").isprintable():
        return value
    return clean(value).replace("\r\n", "\n").translate(_BLOCK)


def is_unspaced(code: int) -> bool:
    """Whether the character is of a script that is written without blanks, or Korean."""
    return code >= 0x0E00 and (
        code <= 0x0EFF  # Thai, Lao
        or 0x1000 <= code <= 0x109F  # Burmese
        or 0x1100 <= code <= 0x11FF  # Hangul letters
        or 0x1780 <= code <= 0x17FF  # Khmer
        or 0x2E80 <= code <= 0xA4CF  # CJK radicals to Yi: kana, bopomofo, ideographs
        or 0xA960 <= code <= 0xA97F
        or 0xAC00 <= code <= 0xD7FF  # Hangul syllables
        or 0xF900 <= code <= 0xFAFF
        or 0xFF66 <= code <= 0xFFDC  # half-width kana and Hangul
        or 0x1B000 <= code <= 0x1B16F
        or 0x20000 <= code <= 0x3FFFF
    )


def cut(value: str, limit: int) -> str:
    """The longest start of ``value`` of at most ``limit`` UTF-8 bytes, whole code points only."""
    limit = max(limit, 0)
    raw = value[: limit + 1].encode("utf-8", "surrogatepass")  # a character has a byte or more
    if len(raw) <= limit:
        return value
    return raw[:limit].decode("utf-8", "ignore")


def cut_start(value: str, limit: int) -> str:
    """The longest end of ``value`` of at most ``limit`` UTF-8 bytes, whole code points only."""
    limit = max(limit, 0)
    raw = value[-limit - 1 :].encode("utf-8", "surrogatepass")
    if len(raw) <= limit:
        return value
    return raw[len(raw) - limit :].decode("utf-8", "ignore")


def shortened(value: str, limit: int) -> str:
    """``value`` in at most ``limit`` bytes, its end marked with an ellipsis where it was cut."""
    if size(value) <= limit:
        return value
    if limit < 3:
        return cut(value, limit)
    return cut(value, limit - 3).rstrip() + ELLIPSIS


def quoted(value: str) -> str:
    """``value`` as one word of a shell, on one line."""
    shown = one_line(value)
    bare = shown.translate(dict.fromkeys(map(ord, "-_./:@%+,="), "a"))
    plain = bare.isascii() and bare.isalnum()
    return shown if plain else "'" + shown.replace("'", "'\\''") + "'"


def counted(number: int, noun: str) -> str:
    """``number`` with a ``noun`` that takes an s for more or less than one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def some(names: Sequence[str], most: int) -> str:
    """The first ``most`` of ``names``, and how many more there are."""
    rest = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def middle_out(value: str, limit: int) -> str:
    """``value`` in at most ``limit`` bytes: its start and its end, an ellipsis between them."""
    if size(value) <= limit:
        return value
    if limit < 5:
        return cut(value, limit)
    room = limit - 5
    tail = cut_start(value, room // 2)
    return cut(value, room - room // 2).rstrip() + f" {ELLIPSIS} " + tail.lstrip()
