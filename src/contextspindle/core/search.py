"""Search: what of a task can be found, and what a query asks for.

A task is found by the words of its goal before those of its next action, its criteria, and what was
written down on the way.  Any text is a query: there is no syntax to get wrong, but for quotes,
which keep words together.  Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without
blanks, and Korean with few, so that each of their characters counts as a word, and a run of them as
a phrase.
"""

from __future__ import annotations

from . import text
from .task import document
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .task import Task

FIELDS = ("name", "goal", "next", "criteria", "log")
"""What is searched, the most telling first."""

PREFIX_LENGTH = 3
"""From so many characters on, a word also finds those that begin with it."""
MOST_TERMS = 32
"""Terms of a query beyond these are not looked at."""


class Term(Value):
    """Words that must follow each other; with ``prefix`` the last may go on."""

    words: tuple[str, ...]
    prefix: bool


def texts(task: Task) -> tuple[str, ...]:
    """What can be found of a task, a text for each of :data:`FIELDS`."""
    return texts_of(document(task))


def texts_of(found: dict[str, Any]) -> tuple[str, ...]:
    """The same of a task's document."""
    get = found.get
    log = [one["text"] for kind in ("decisions", "notes") for one in get(kind, ())]
    if "evidence" in found:
        from .evidence import read

        log += [read(one["text"]).payload for one in found["evidence"]]
    found_texts = (
        "\n".join((found["id"], get("source", ""), *get("labels", ()))),
        get("goal", ""),
        f"{get('next', '')}\n{get('blocker', '')}",
        "\n".join(get("criteria", ())),
        "\n".join(log),
    )
    # All at once, because nearly always all of them are.
    if "".join(found_texts).isascii():
        return found_texts
    return tuple(map(plain, found_texts))


_APART = {code: " " if not chr(code).isalnum() else chr(code).lower() for code in range(128)}
"""Of each character of ASCII what is left of it in a word."""


def listed(texts: Sequence[str]) -> set[str]:
    """The words in :func:`texts` of a task that are listed, for those that begin so to be found.

    All of them but the second half of an id as they are made: of those the ids are the list.
    """
    found = set("\n".join(texts).translate(_APART).split())
    name, _, _ = texts[0].partition("\n")
    if name.startswith("t-") and name[2:].isalnum() and name.islower():
        found.discard(name[2:])
    return found


def plain(value: str) -> str:
    """``value`` as it is indexed: its words as :func:`words` tells them, whatever the script.

    An index knows less of case and accents than Unicode does, so it is given plain words.  What is
    ASCII it reads as we do.
    """
    return value if value.isascii() else " ".join(words(value))


def words(value: str) -> list[str]:
    """The words of ``value``: runs of letters and digits, without case and accents."""
    found = []
    word = ""
    for char in _folded(value) + " ":
        alone = text.is_unspaced(ord(char))
        if char.isalnum() and not alone:
            word += char
            continue
        if word:
            found.append(word)
            word = ""
        if alone and char.isalnum():
            found.append(char)
    return found


def _folded(value: str) -> str:
    value = value.casefold()
    if value.isascii():
        return value
    import unicodedata

    parts = unicodedata.normalize("NFKD", value)
    bare = "".join(char for char in parts if not unicodedata.combining(char))
    # Together again: a Hangul syllable comes apart into letters as an accented letter does.
    return unicodedata.normalize("NFC", bare).casefold()


def parse(query: str) -> tuple[Term, ...]:
    """What ``query`` asks for; nothing if there is no letter or digit in it."""
    terms = []
    for piece, quoted in _pieces(text.clean(query)):
        found = tuple(words(piece))
        if found:
            last = found[-1]
            goes_on = (
                not quoted and len(last) >= PREFIX_LENGTH and not text.is_unspaced(ord(last[0]))
            )
            terms.append(Term(found, goes_on))
    return tuple(dict.fromkeys(terms))[:MOST_TERMS]


def _pieces(query: str) -> Iterator[tuple[str, bool]]:
    """What stands between blanks, and what stands between quotes."""
    parts = query.split('"')
    for number, part in enumerate(parts):
        # An odd part stands between quotes, if there is a closing one behind it.
        if number % 2 and number < len(parts) - 1:
            yield part, True
        else:
            yield from ((word, False) for word in part.split())


def matches(term: Term, listed: list[str]) -> bool:
    """Whether the words of a text hold the term: what a store without an index asks."""
    span = len(term.words)
    for at in range(len(listed) - span + 1):
        window = listed[at : at + span]
        if tuple(window) == term.words:
            return True
        if (
            term.prefix
            and tuple(window[:-1]) == term.words[:-1]
            and window[-1].startswith(term.words[-1])
        ):
            return True
    return False
