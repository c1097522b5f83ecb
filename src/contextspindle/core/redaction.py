"""Masking of secrets: what must not be written is taken out before anything is.

A secret is known by its form (:mod:`.secret_forms`, :mod:`.secret_keys`), or by its place: behind a
telling name (:mod:`.secret_names`), in an address (``user:password@``), in a header, in a line of
``.pgpass``, before a pipe to a program that reads a password.
Looking for forms alone misses passwords, looking for randomness alone hides commit hashes and
identifiers that the reader needs; so what stands at such a place is judged, and all else stays.

Most texts hold no secret, so what cannot be one costs a plain search: each rule begins at a
literal, and none is a regular expression, which would have to be compiled by every new process.
"""

from __future__ import annotations

from .secret_forms import ALNUM, ANY, BASE64, DIGITS, is_filler, is_random, run, spans
from .secret_keys import key_blocks
from .secret_names import (
    FOREIGN,
    LONGEST,
    STARTS,
    WORDS,
    behind_name,
    foreign,
    is_placeholder,
    named,
    quotation,
    skip,
    until,
)
from .text import ELLIPSIS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .secret_forms import Span

    _Rules = dict[str, Callable[[str, int], tuple[Span | None, int]]]

MASK = "[masked]"

_MARGIN = 4_000
"""Characters beyond those that are kept, in which a secret that begins in these may end."""
_PASSES = 6
"""Masking may uncover what one more look masks; more looks than this were never needed."""


def mask(text: str) -> str:
    """``text`` with every secret in it replaced by :data:`MASK`.  Masking twice is masking once."""
    for _ in range(_PASSES if text else 0):
        found = _found(text)
        if not found:
            break
        masked = _masked(text, found)
        if masked == text:
            break
        text = masked
    return text


def mask_start(text: str, limit: int) -> str:
    """The first ``limit`` characters of ``text`` at most, masked.

    What is cut and masked then may have lost the end by which a secret is known; so more is masked
    than is kept.
    """
    if len(text) <= limit + _MARGIN:
        return mask(text)[:limit]
    return mask(text[: limit + _MARGIN])[:-_MARGIN][:limit]


def mask_ends(text: str, limit: int) -> str:
    """``text``, masked: of one of more than ``limit`` characters the lines at its two ends, about
    half as many each, with an ellipsis between them."""
    if len(text) <= limit:
        return mask(text)
    head = mask_start(text, limit // 2)
    tail = mask(text[-(limit // 2) - _MARGIN :])[_MARGIN:][-(limit // 2) :]
    head = head.rpartition("\n")[0] or head
    tail = tail.partition("\n")[2] or tail
    return f"{head}\n{ELLIPSIS}\n{tail}"


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
    if text.isascii():
        yield from _at_literals(text, text.lower(), _PLACES)
        return
    like = text.replace("İ", "I").replace("\u212a", "K")  # the only two that become plain ones
    # Most literals are plain: in plain text, place by place the same, they are found sooner.
    plain = like.encode("ascii", "replace").decode("ascii").lower()
    yield from _at_literals(text, plain, _PLACES)
    for sign in _OF_FOREIGN:
        if sign in text:
            yield from _at_literals(text, like.lower(), _FOREIGN_PLACES)
            break


def _at_literals(text: str, lower: str, places: tuple[tuple[str, _Rules], ...]) -> Iterator[Span]:
    for part, rules in places:
        if part not in lower:
            continue
        for literal, found in rules.items():
            at = lower.find(literal)
            while at >= 0:
                span, onward = found(text, at)
                if span is not None:
                    yield span
                at = lower.find(literal, max(onward, at + 1))


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
        if is_placeholder(value) or value.lower() in WORDS or value in ("80", "443"):
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
    start = skip(text, end, ": \t" if text[end : end + 2] == ": " else " \t")
    if start == end or (at and text[at - 1].isalnum()):
        return None, end
    stop = run(text, start, ANY, LONGEST)
    value = text[start:stop].rstrip(".-")
    if len(value) < 12 or is_placeholder(value) or not is_random(value) or "/." in value:
        return None, end
    if not any(c.isdigit() for c in value) and len(value) < 16:
        return None, end
    if text[at : at + 5].lower() == "basic" and value.strip(BASE64):
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
        line = text[max(0, at - 300) : at].rpartition("\n")[2]
        if "curl" not in line or not text[start : start + 1].isalnum():
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
    if here < 0 or (program == "login" and " -u" not in text[at:end] and _ASKS not in text[at:end]):
        return None, at + 5
    start = here + 3
    attached = text[start : start + 1] not in (" ", "=", '"', "'")
    if program in ("mysql", "maria") and not attached:
        return None, start  # it asks
    if program in ("login", "mongo") and attached:
        return None, start  # another option
    start = skip(text, start, " =\"'")
    stop = until(text, start, " \t\r\n\"'`;|&")
    value = text[start:stop]
    if len(value) < 4 or is_placeholder(value) or value.startswith("-"):
        return None, start
    if not value.strip(DIGITS + ":."):
        return None, start  # a port
    return (start, stop), stop


_ASKS = "--username"


def _piped(text: str, at: int) -> tuple[Span | None, int]:
    """What ``echo`` or ``printf`` gives to a program that reads a password."""
    onward = at + 5
    command = text[max(0, at - 300) : at].rpartition("\n")[2]
    said, pipe, _ = command.rpartition("|")
    word = max(said.rfind("echo "), said.rfind("printf "), said.rfind("<<< "))
    if not pipe or word < 0 or (text.startswith("sudo", at) and not _reads(text, at)):
        return None, onward
    start = at - len(command) + said.index(" ", word) + 1
    end = at - len(command) + len(said.rstrip())
    while text[start] == "-" and text.find(" ", start, end) > 0:
        start = text.find(" ", start, end) + 1  # an option of echo
    if text.startswith(("'%s", '"%s', "%s"), start):
        start = max(text.find(" ", start, end) + 1, start)
    inside = quotation(text, start)
    if inside is not None:
        start, end = inside
    if text.startswith("chpasswd", at):
        start = max(text.find(":", start, end) + 1, start)
    if end - start < 4 or is_placeholder(text[start:end]):
        return None, onward
    return (start, end), onward


def _reads(text: str, at: int) -> bool:
    """Whether ``sudo`` is told to read the password from its input."""
    words = text[at : at + 40].split()[1:3]
    return any(w == "--stdin" or (w[:1] == "-" and w[1:2] != "-" and "S" in w) for w in words)


def _given_cookie(text: str, at: int) -> tuple[Span | None, int]:
    """The cookies that curl is given."""
    start = skip(text, at + (3 if text.startswith(" -b", at) else len(" --cookie")), " =")
    line = text[max(0, at - 300) : at].rpartition("\n")[2]
    end = until(text, start, " \t\r\n\"'`")
    span = quotation(text, start) or (start, end)
    first, equals, value = text[span[0] : span[1]].partition("=")
    if "curl" not in line or not equals or " " in first or len(value) < 4 or is_placeholder(value):
        return None, at + 3
    return span, span[1]


def _pair(text: str, at: int) -> tuple[Span | None, int]:
    """The second of a user and a password: ``auth=('ada', '...')``."""
    first = quotation(text, text.index("(", at) + 1)
    if first is None:
        return None, at + 5
    second = skip(text, first[1] + 1, ", ")
    inside = quotation(text, second)
    if inside is None or inside[1] - inside[0] < 4 or is_placeholder(text[inside[0] : inside[1]]):
        return None, at + 5
    return inside, inside[1]


def _next_word(text: str, at: int) -> tuple[Span | None, int]:
    """The token behind ``ngrok authtoken``."""
    start = skip(text, at + len("authtoken"))
    end = run(text, start, ALNUM + "_-", LONGEST)
    if end - start < 20 or not is_random(text[start:end]):
        return None, start
    return (start, end), end


_LONGEST_HASH = 300


def _hash(text: str, at: int) -> tuple[Span | None, int]:
    """A hash that a password can be found from, as in ``/etc/shadow`` and ``.htpasswd``."""
    end = run(text, at, ALNUM + "$./=,+-", LONGEST)
    parts = text[at:end].split("$")
    if len(parts) < 4 or len(parts[-1]) < 20 or not is_random(parts[-1]):
        # One that begins further on ends there too, unless the run goes on behind what was read.
        return None, end if end - at < LONGEST else max(at + 2, end - _LONGEST_HASH)
    return (at, end), end


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


_ALONE: list[tuple[str, _Rules]] = [
    (literal, {literal: found})
    for literal, found in (
        ("bearer", _scheme),
        ("basic", _scheme),
        ("cookie", _cookie),
        ("mysql", _short_option),
        ("mariadb", _short_option),
        ("login ", _short_option),
        ("redis-cli", _short_option),
        ("identified by", _identified),
        ('"kty"', _web_key),
        *((start, named) for start in STARTS if start not in ("auth", "pass", "token")),
        *((word, foreign) for word in FOREIGN if word.isascii() and word != "mot de passe"),
    )
]
_FOREIGN_PLACES: tuple[tuple[str, _Rules], ...] = tuple(
    (word, {word: foreign}) for word in FOREIGN if not word.isascii()
)
_OF_FOREIGN = ("密", "口", "パ", "비", "п", "П", "ñ", "Ñ")
"""A sign of each of those words, in either case: a text without them has none of the words."""
_PLACES: tuple[tuple[str, _Rules], ...] = (
    ("://", {"://": _address}),
    (":5", dict.fromkeys((":5432:", ":5433:", ":5434:", ":5439:"), _of_pgpass)),
    (":6", dict.fromkeys((":6432:", ":6543:"), _of_pgpass)),
    (":2", dict.fromkeys((":25060:", ":26257:"), _of_pgpass)),
    (":*:", {":*:": _of_pgpass}),
    (
        "auth",
        {
            "auth": named,
            "authorization": _authorization,
            "auth=(": _pair,
            "basicauth(": _pair,
            "authtoken ": _next_word,
        },
    ),
    (
        "pass",
        {
            "pass": named,
            "sshpass": _short_option,
            "chpasswd": _piped,
            "password-stdin": _piped,
            "mot de passe": foreign,
        },
    ),
    ("token", {"token": named, "with-token": _piped}),
    (
        " -",
        {
            " -u": _user_option,
            " --user": _user_option,
            " -b": _given_cookie,
            " --cookie": _given_cookie,
            "sudo -": _piped,
        },
    ),
    ("mongo", dict.fromkeys(("mongo ", "mongosh ", "mongodump "), _short_option)),
    (
        "$",
        dict.fromkeys(
            ("$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2"), _hash
        ),
    ),
    *_ALONE,
)
"""Literals in lower case, and what looks for a secret where one of them stands; those that have a
part in common behind that part, because most texts do not even hold that."""
