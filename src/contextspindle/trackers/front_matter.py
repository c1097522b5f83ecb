"""Front matter: the part of YAML that Backlog.md writes above its tasks, and nothing more.

A key and a scalar (plain, quoted, or a block of lines), or a list of scalars.  Every value stays
text, a date too.  A line that this reader does not understand is not guessed at: it is given back
with its number, so that it can be kept as it stands.
"""

from __future__ import annotations

from ..core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FENCE = "---"

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "/": "/", "0": "\0", " ": " "}
_WIDTHS = {"x": 2, "u": 4, "U": 8}


class FrontMatter(Value):
    """The values by their keys; ``odd`` are lines not understood, with their numbers."""

    values: dict[str, str | list[str]]
    odd: tuple[tuple[int, str], ...]
    body: int
    """The index of the first line behind it."""


def read(lines: list[str]) -> FrontMatter | None:
    """The front matter that ``lines`` begin with; None if they begin with none."""
    if not lines or lines[0].rstrip() != FENCE:
        return None
    end = next((n for n, line in enumerate(lines) if n and line.rstrip() == FENCE), None)
    if end is None:
        return None
    values: dict[str, str | list[str]] = {}
    odd: list[tuple[int, str]] = []
    at = 1
    while at < end:
        start, line = at, lines[at]
        at += 1
        while at < end and (lines[at][:1] in (" ", "\t") or _is_item(lines[at]) or not lines[at]):
            at += 1
        below = lines[start + 1 : at]
        try:
            if not line.strip() and not any(map(str.strip, below)):
                continue
            key, value = _entry(line, below)
            if key in values:
                raise ValueError("a key that stands twice")
            values[key] = value
        except ValueError:
            odd += [(n + 1, lines[n]) for n in range(start, at) if lines[n].strip()]
    return FrontMatter(values, tuple(odd), end + 1)


def _is_item(line: str) -> bool:
    return line == "-" or line.startswith("- ")


def _entry(line: str, below: list[str]) -> tuple[str, str | list[str]]:
    key, colon, rest = line.partition(":")
    if not colon or key != key.strip() or not key.replace("_", "a").replace("-", "a").isalnum():
        raise ValueError("not a key and its value")
    if rest and rest[0] not in " \t":
        raise ValueError("no blank behind the colon")
    rest = rest.strip()
    if rest[:1] in ("|", ">"):
        return key, _block(rest, below)
    below = [one for one in below if one.strip()]
    if not rest and below and all(map(_is_item, map(str.lstrip, below))):
        return key, [_scalar(one.lstrip()[1:].strip()) for one in below]
    whole = " ".join([rest, *map(str.strip, below)])  # a long scalar goes on in lines set in
    if any(_is_item(one) for one in below) or (not rest and below):
        raise ValueError("a value of another kind")
    return key, [*_flow(whole)] if whole.startswith("[") else _scalar(whole)


def _block(head: str, below: list[str]) -> str:
    """A scalar of several lines: kept as they are behind ``|``, joined by blanks behind ``>``."""
    if head[1:] not in ("", "-", "+"):
        raise ValueError("a block with a width of its own")
    indent = min((len(one) - len(one.lstrip(" ")) for one in below if one.strip()), default=0)
    if not indent:
        raise ValueError("a block that is not set in")
    lines = [one[indent:] for one in below]
    while lines and not lines[-1].strip():
        lines.pop()
    if head[0] == "|":
        return "\n".join(lines)
    found = ""
    for number, line in enumerate(lines):
        if line[:1] == " " or (number and lines[number - 1][:1] == " "):
            raise ValueError("lines set in within a folded block")
        if not line:
            found += "\n"
        else:
            found += ("" if not found or found.endswith("\n") else " ") + line
    return found


def _flow(given: str) -> Iterator[str]:
    """The scalars of ``[a, 'b', "c"]``."""
    if not given.endswith("]"):
        raise ValueError("a list without an end")
    inner = given[1:-1].strip()
    at = 0
    while at < len(inner):
        if inner[at] in "'\"":
            end = _quote_end(inner, at)
        else:
            end = inner.find(",", at)
            end = len(inner) if end < 0 else end
        part = inner[at:end].strip()
        if not part or part[0] in "[{":
            raise ValueError("a list of another kind")
        yield _scalar(part)
        at = end
        while at < len(inner) and inner[at] == " ":
            at += 1
        if at < len(inner) and inner[at] != ",":
            raise ValueError("no comma between items")
        at += 1
        while at < len(inner) and inner[at] == " ":
            at += 1


def _quote_end(given: str, at: int) -> int:
    """The index behind the quoted scalar that begins at ``at``."""
    quote, here = given[at], at + 1
    while here < len(given):
        if given[here] == "\\" and quote == '"':
            here += 2
        elif given[here] != quote:
            here += 1
        elif quote == "'" and given[here + 1 : here + 2] == "'":
            here += 2
        else:
            return here + 1
    raise ValueError("a quotation without an end")


def _scalar(given: str) -> str:
    """The text of a scalar; a plain one as it stands, with what YAML would not let it hold."""
    if given[:1] in ("'", '"'):
        if _quote_end(given, 0) != len(given):
            raise ValueError("text behind a quotation")
        inner = given[1:-1]
        return inner.replace("''", "'") if given[0] == "'" else _unescaped(inner)
    if given[:1] in ("{", "&", "*", "!", "%"):
        raise ValueError("a value of another kind")
    return "" if given in ("null", "~") else given


def _unescaped(inner: str) -> str:
    found, at = "", 0
    while at < len(inner):
        if inner[at] != "\\":
            found, at = found + inner[at], at + 1
            continue
        letter = inner[at + 1]
        if letter in _WIDTHS:
            digits = inner[at + 2 : at + 2 + _WIDTHS[letter]]
            if len(digits) != _WIDTHS[letter] or int(digits, 16) > 0x10FFFF:
                raise ValueError("an escape without its digits")
            found, at = found + chr(int(digits, 16)), at + 2 + len(digits)
        elif letter in _ESCAPES:
            found, at = found + _ESCAPES[letter], at + 2
        else:
            raise ValueError("an escape of another kind")
    return found
