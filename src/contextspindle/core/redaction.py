"""Masking of secrets: what must not be written is taken out before anything is.

A secret is known by its form (:mod:`.secret_forms`), or by its place: behind a telling name
(:mod:`.secret_names`), in an address (``user:password@``), in a header, in a line of ``.pgpass``.
Looking for forms alone misses passwords, looking for randomness alone hides commit hashes and
identifiers that the reader needs; so what stands at such a place is judged, and all else stays.

Most texts hold no secret, so what cannot be one costs a plain search: each rule begins at a
literal, and none is a regular expression, which would have to be compiled by every new process.
"""

from __future__ import annotations

from .secret_forms import ALNUM, ANY, is_filler, is_random, key_blocks, run, spans
from .secret_names import (
    LONGEST,
    STARTS,
    WORDS,
    behind_name,
    is_placeholder,
    named,
    quotation,
    skip,
    until,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .secret_forms import Span

MASK = "[masked]"

_PASSES = 6
"""Masking may uncover what one more look masks; more looks than this were never needed."""


def mask(text: str) -> str:
    """``text`` with every secret in it replaced by :data:`MASK`.  Masking twice is masking once."""
    for _ in range(_PASSES):
        masked = _masked(text, _found(text))
        if masked == text:
            break
        text = masked
    return text


def mask_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command, masked, also where one word tells what the next one is.

    ``--password`` and what follows it are two words, and one secret.
    """
    masked = [mask(word) for word in words]
    for _ in range(_PASSES):
        line, places = "", []
        for word in masked:
            quote = "'" if any(c in word for c in " \t\n") and "'" not in word else ""
            places.append((len(line) + len(quote), len(line) + len(quote) + len(word)))
            line += f"{quote}{word}{quote} "
        found = _found(line)
        before = masked
        masked = [
            _masked(
                line[start:end],
                [
                    (max(a, start) - start, min(b, end) - start)
                    for a, b in found
                    if a < end and b > start
                ],
            )
            for start, end in places
        ]
        if masked == before:
            break
    return tuple(masked)


def _found(text: str) -> list[Span]:
    """Where secrets stand in ``text``, in order; some may overlap."""
    plain = _without_escapes(text) if "\\" in text else text
    return sorted({*key_blocks(text), *spans(plain), *_placed(plain)})


def _masked(text: str, found: list[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in found:
        if end <= done:
            continue
        if start > done or not pieces:
            pieces += [text[done:start], MASK]
        done = end
    return "".join([*pieces, text[done:]])


def _without_escapes(text: str) -> str:
    """``text`` with the breaks that JSON has escaped as breaks, at the same places.

    The letter of an escape would pass for the first one of the word behind it.
    """
    return text.replace("\\n", "\n ").replace("\\r", "  ").replace("\\t", "  ")


def _placed(text: str) -> Iterator[Span]:
    """Where secrets stand in ``text`` that are known by their place."""
    lower = text.lower()
    if len(lower) != len(text):  # a few capitals are longer in lower case
        lower = text.translate(_ASCII_LOWER)
    for literal, found in _PLACES:
        at = lower.find(literal)
        while at >= 0:
            span, onward = found(text, at)
            if span is not None:
                yield span
            at = lower.find(literal, max(onward, at + 1))


_ASCII_LOWER = {code: code + 32 for code in range(65, 91)}


# ---- in an address, a header, a line of a file ------------------------------------------------


def _address(text: str, at: int) -> tuple[Span | None, int]:
    """The password in ``scheme://user:password@host``; it may hold signs that it should not."""
    start = at + 3
    if text.find("@", start, start + 300) < 0:
        return None, start
    end = until(text, start, " \t\r\n\"'<>`\\", 300)
    slash = text.find("/", start, end)
    head = slash if slash >= 0 else end
    sign = text.rfind("@", start, head)
    colon = text.find(":", start, head)
    if sign < 0 and 0 <= colon < head and not text[colon + 1 : head].isdigit():
        sign = text.rfind("@", start, end)  # a slash in the password
        if "?" in text[start : max(sign, start)]:
            sign = -1
    if sign <= start:
        return None, start
    if 0 <= colon < sign:
        value = text[colon + 1 : sign]
        if is_placeholder(value) or value.lower() in WORDS:
            return None, start
        return (colon + 1, sign), sign
    user = text[start:sign]  # a token instead of a name
    if len(user) >= 20 and is_random(user) and not is_filler(user) and "/" not in user:
        return (start, sign), sign
    return None, start


_SCHEMES = ("bearer", "basic", "token", "digest", "apikey", "bot", "negotiate", "key")


def _authorization(text: str, at: int) -> tuple[Span | None, int]:
    """What stands behind ``Authorization:``, whatever its scheme."""
    start, onward = behind_name(text, at, at + len("authorization"))[0], at + 13
    if text.startswith(",", skip(text, onward, "\"' ")):  # as two arguments of a call
        start = skip(text, onward, "\"' ,")
    if not start:
        return None, onward
    start = skip(text, start, "\\\"'`fb")
    word = run(text, start, ALNUM + "-_", 40)
    scheme = text[start:word].lower()
    if scheme in _SCHEMES and text[word : word + 1] == " ":
        start = skip(text, word)
        end = run(text, start, ANY + ":", LONGEST)
        value = text[start:end]
        if len(value) >= 6 and not is_placeholder(value) and value.lower() not in WORDS:
            return (start, end), end
        return None, onward
    end = run(text, start, ANY + ":", LONGEST)
    value = text[start:end]
    if len(value) >= 16 and is_random(value) and not is_placeholder(value):
        return (start, end), end
    return None, onward


def _scheme(text: str, at: int) -> tuple[Span | None, int]:
    """``Bearer`` or ``Basic`` with what looks like a key, wherever they are written."""
    end = run(text, at, ALNUM, 10)
    start = skip(text, end)
    if start == end or (at and text[at - 1].isalnum()):
        return None, end
    stop = run(text, start, ANY, LONGEST)
    value = text[start:stop].rstrip(".-")
    if len(value) < 12 or is_placeholder(value) or not is_random(value) or "/." in value:
        return None, end
    if not any(c.isdigit() for c in value) and len(value) < 16:
        return None, end
    return (start, start + len(value)), stop


def _cookie(text: str, at: int) -> tuple[Span | None, int]:
    """The line behind ``Cookie:`` or ``Set-Cookie:``."""
    start = at + len("cookie")
    if text[start : start + 1] in ('"', "'"):
        start += 1
    if text[start : start + 1] != ":":
        return None, start
    start = skip(text, start + 1, " \t\"'")
    end = until(text, start, "\r\n\"'`")
    first, equals, rest = text[start:end].partition("=")
    value = rest.partition(";")[0]
    if not equals or " " in first or len(value) < 4 or is_placeholder(value):
        return None, start
    return (start, end), end


def _user_option(text: str, at: int) -> tuple[Span | None, int]:
    """``-u name:password``, as curl takes it; two numbers are ids of users."""
    start = at + (len(" --user") if text.startswith(" --user", at) else len(" -u"))
    if text[start : start + 1] not in (" ", "=", '"', "'"):
        return None, start
    start = skip(text, start, " =\"'")
    colon = run(text, start, ALNUM + "_.-@+", 100)
    if text[colon : colon + 1] != ":" or colon == start:
        return None, start
    end = until(text, colon + 1, " \t\r\n\"'`\\")
    user, value = text[start:colon], text[colon + 1 : end]
    if len(value) < 3 or is_placeholder(value) or (user.isdigit() and value.isdigit()):
        return None, start
    if user == value:  # docker run -u node:node
        return None, start
    return (colon + 1, end), end


def _short_option(text: str, at: int) -> tuple[Span | None, int]:
    """The ``-p`` or ``-a`` of a program that takes a password by it."""
    program = text[at : at + 5].lower()
    end = until(text, at, "\n;|&", 400)
    option = " -a" if program == "redis" else " -p"
    here = text.find(option, at, end)
    if here < 0:
        return None, at + 5
    start = here + 3
    if program == "mysql" and text[start : start + 1] in (" ", ""):
        return None, start  # it asks
    start = skip(text, start, " =\"'")
    stop = until(text, start, " \t\r\n\"'`;|&")
    value = text[start:stop]
    if len(value) < 4 or is_placeholder(value) or value.startswith("-") or value.isdigit():
        return None, start
    return (start, stop), stop


def _of_pgpass(text: str, at: int) -> tuple[Span | None, int]:
    """A line of ``.pgpass``: host, port, database, user and password, with colons between."""
    end = until(text, at, " \t\r\n\"'")
    parts = text[max(0, at - 200) : end].split()[-1].strip("\"'").split(":")
    if len(parts) != 5 or "/" in parts[0] or len(parts[4]) < 4 or is_placeholder(parts[4]):
        return None, at + 1
    return (end - len(parts[4]), end), end


def _identified(text: str, at: int) -> tuple[Span | None, int]:
    """``IDENTIFIED BY '...'`` of SQL."""
    start = skip(text, at + len("identified by"))
    inside = quotation(text, start)
    if inside is None or inside[1] - inside[0] < 4 or is_placeholder(text[inside[0] : inside[1]]):
        return None, start + 1
    return inside, inside[1]


def _web_key(text: str, at: int) -> tuple[Span | None, int]:
    """The private part of a JSON web key."""
    opened, closed = max(text.rfind("{", max(0, at - LONGEST), at), 0), until(text, at, "}")
    place = text.find('"d"', opened, closed)
    inside = quotation(text, skip(text, place + 3, " :")) if place >= 0 else None
    if inside is None or inside[1] - inside[0] < 20:
        return None, closed
    return inside, max(inside[1], closed)


_PLACES: tuple[tuple[str, Callable[[str, int], tuple[Span | None, int]]], ...] = (
    ("://", _address),
    ("authorization", _authorization),
    ("bearer", _scheme),
    ("basic", _scheme),
    ("cookie", _cookie),
    (" -u", _user_option),
    (" --user", _user_option),
    ("sshpass", _short_option),
    ("mysql", _short_option),
    ("docker login", _short_option),
    ("redis-cli", _short_option),
    (":5432:", _of_pgpass),
    (":*:", _of_pgpass),
    ("identified by", _identified),
    ('"kty"', _web_key),
    *((start, named) for start in STARTS),
)
"""Literals in lower case, and what looks for a secret where one of them stands."""
