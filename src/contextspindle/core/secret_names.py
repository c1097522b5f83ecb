"""Secrets that are known by their name: behind ``password:``, ``NAME_TOKEN=``, ``--api-key``.

Half of what stands behind such a name is no secret: a type, a call, a variable, a label, a number
of tokens.  So the name is looked at as a whole, with its end, which often says what of a secret is
meant; the way in which the value is given to it; and the value.
"""

from __future__ import annotations

from .secret_forms import ALNUM, BASE64, is_filler, is_random, run, run_back
from .text import is_unspaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .secret_forms import Span

LONGEST = 2_000  # the most characters of a value
_NAME = 48  # and of the name before it, to either side of its telling part
_NAMING = ALNUM + "_-."
_BLANKS = " \t"

# What tells of a secret in a name, in lower case, by its first three letters.  What must stand
# before it is in _BEFORE: `pass` and `key` alone are words of every test run.
_TELLING = {
    "pas": ("password", "passwd", "passphrase", "passwort", "pass"),
    "pwd": ("pwd",),
    "sec": ("secret",),
    "tok": ("token",),
    "key": ("key-data", "key"),
    "cre": ("credential",),
    "aut": ("auth",),
    "psk": ("psk",),
    "web": ("webhook_url",),
}
STARTS = ("pass", "pwd", "secret", "token", "key", "credential", "auth", "psk", "webhook_url")
"""Literals of which every telling name holds one."""
_KEYS = (
    "api", "access", "account", "private", "auth", "signing", "encryption", "master", "shared",
    "subscription", "functions",
)  # fmt: skip
FOREIGN = (
    "密码", "密碼", "口令", "パスワード", "비밀번호", "пароль", "contraseña", "kennwort",
    "mot de passe", "senha",
)  # fmt: skip
"""What a password is called in other languages, in lower case."""
_BEFORE = {
    "pass": ("_", "-", "store", "key"),
    "key": tuple(f"{word}{sign}" for word in _KEYS for sign in ("", "_", "-")),
    "auth": ("_", '"'),
    "psk": ("_",),
}
_ENDS = frozenset((*"_-", *(end for word in _KEYS for end in (word[-1], word[-1].upper()))))
"""What stands right before a `key` that tells: most stand alone, or behind another word."""
_PASSWORDS = ("pass", "pwd")

# A name that ends so says something about a secret and is not one itself.
_HARMLESS_ENDS = (
    "file", "path", "dir", "name", "names", "id", "ids", "url", "uri", "type", "types", "count",
    "limit", "length", "len", "size", "tokens", "budget", "usage", "field", "fields", "header",
    "format", "policy", "manager", "service", "provider", "expiry", "expires", "expires_in",
    "expiration", "ttl", "age", "index", "ref", "arn", "version", "label", "hint", "prompt",
    "error", "errors", "placeholder", "message", "title", "description", "help", "regex", "pattern",
    "schema", "strength", "validator", "endpoint", "store", "class", "used", "total", "position",
    "offset", "start", "end", "ring", "chain", "scope", "scopes", "kind", "status", "state",
    "enabled", "required", "exists", "visible", "input", "column", "algorithm", "issuer",
)  # fmt: skip
_PLACEHOLDERS = (
    "$", "<", "{", "%", "*", "...", "…", "xxx", "XXX", "REDACTED", "your", "YOUR", "process.env",
    "os.environ", "os.getenv", "env.", "ENV[", "ENV.", "example", "changeme", "secrets.", "vault:",
    "!", "@", "arn:", "[masked]",
)  # fmt: skip
WORDS = frozenset(
    "string str text bytes byte int integer number float bool boolean any object array list dict"
    " none null nil true false undefined void never unknown required optional empty missing invalid"
    " valid expired present absent set unset not is are was the a an new old same different wrong"
    " correct secret password token value field input output hash hidden enabled disabled default"
    " type function const let var self this error data key keys env environment variable file path"
    " self-signed yes no on off and or in for from with must should can cannot enter please your"
    " reset change confirm forgot login username user email name sign".split()
)
"""Values that say something about a secret."""
_SPEECH = frozenset(
    "is are was be been must should can cannot will would may has have the a an your our their its"
    " this that of to at in on for from with by and or not no please enter reset change confirm"
    " forgot type password passwords passphrase secret token invalid required wrong least"
    " characters length missing expired new old again here there than then when where which who"
    " field value user username email".split()
)
"""Words that a sentence has, and a phrase to remember seldom."""

_STOPS = " \t\r\n\"'`,;&|<>(){}[]\\"


def until(text: str, at: int, stops: str, limit: int = LONGEST) -> int:
    """Where the first character of ``stops`` stands at or behind ``at``, or the end."""
    piece = text[at : at + limit]
    for stop in stops:
        found = piece.find(stop)
        if found >= 0:
            piece = piece[:found]
    return at + len(piece)


def skip(text: str, at: int, characters: str = _BLANKS) -> int:
    return run(text, at, characters, 100)


def quotation(text: str, at: int) -> Span | None:
    """The inside of the quotation that opens at ``at``, escaped or not; None if none opens."""
    opened = run(text, at, "\\", 8)
    quote = text[opened : opened + 1]
    if not quote or quote not in "\"'`":
        return None
    mark = text[at : opened + 1]
    start = opened + 1
    line_end = text.find("\n", start, start + LONGEST)
    limit = line_end if line_end >= 0 else min(len(text), start + LONGEST)
    end = start
    while True:
        end = text.find(mark, end, limit)
        if end < 0:
            return start, limit  # its end was cut away
        if opened > at or not _is_escaped(text, end):
            return start, end
        end += 1


def _is_escaped(text: str, at: int) -> bool:
    return (at - run_back(text, at, "\\", 40)) % 2 == 1


def is_placeholder(value: str) -> bool:
    if value.startswith("$2") and value[2:4] in ("a$", "b$", "y$"):
        return False  # a hash that a password can be found from
    return not value or value.startswith(_PLACEHOLDERS) or is_filler(value)


def _strip(text: str, start: int, end: int, characters: str) -> int:
    return start + len(text[start:end].rstrip(characters))


def named(text: str, at: int) -> tuple[Span | None, int]:
    """The value behind the name that begins to tell at ``at``."""
    window = text[at : at + 16].lower()
    if window[:3] == "key" and text[at - 1 : at] not in _ENDS and window[3:8] != "-data":
        return None, at + 1
    telling = ""
    for word in _TELLING.get(window[:3], ()):
        if window.startswith(word):
            telling = word
            break
    if not telling:
        return None, at + 1
    needed = _BEFORE.get(telling)
    bare_pass = False
    if needed and not text[max(0, at - 16) : at].lower().endswith(needed):
        if telling != "pass":
            return None, at + 1
        bare_pass = True
    name_end = run(text, at, _NAMING, _NAME)
    if name_end < len(text) and text[name_end].isalnum():
        return None, name_end
    name_end = at + len(text[at:name_end].rstrip(".-"))
    name_start = run_back(text, at, _NAMING, _NAME)
    name = text[name_start:name_end]
    if bare_pass and not _is_of_login(text, name_start, name):
        return None, at + 1
    if (
        telling == "pass"
        and not bare_pass
        and text[at + 4 : at + 5].islower()
        and text[at - 1] != "-"
    ):
        return None, name_end  # a word that only begins so
    start, kind = behind_name(text, name_start, name_end)
    if not kind or (name == "token" and _line_before(text, name_start).endswith("nexpected")):
        return None, name_end
    span, quoted = _value(text, start, name_start, kind)
    if span is None:
        return None, max(start, name_end)
    value = text[span[0] : span[1]]
    called = text[span[1] : span[1] + 1] in ("(", "[") and not quoted
    if called or not _is_secret(name, telling, kind, value, quoted=quoted):
        # What stands there may be a name itself: --secret token=...
        return None, max(start, name_end)
    return span, span[1]


def _is_of_login(text: str, at: int, name: str) -> bool:
    """Whether ``pass`` in the name at ``at`` is a password: DBPASS, or beside a user's name."""
    if name.isupper() and name.endswith("PASS") and len(name) > 4:
        return not name.endswith(_ORDINARY) and text.startswith("=", at + len(name))
    before = text[max(0, at - _BESIDE) : at].lower()
    return name.lower() == "pass" and any(f"{word}:" in before for word in _USERS)


_ORDINARY = ("BYPASS", "COMPASS", "TRESPASS", "SURPASS", "OVERPASS", "UNDERPASS", "ENCOMPASS")
_USERS = ("user", "username", "login", "email", "name")
_BESIDE = 80  # characters before it in which a user's name stands


def foreign(text: str, at: int) -> tuple[Span | None, int]:
    """The value behind a password's name in another language than English."""
    word = next(one for one in FOREIGN if text[at : at + len(one)].lower() == one)
    end = at + len(word)
    start, kind = behind_name(text, at, end)
    if kind not in (_ASSIGNED, _IS):
        return None, end
    span, quoted = _value(text, start, at, kind)
    value = text[span[0] : span[1]] if span else ""
    if span is None or not _is_secret("password", "password", kind, value, quoted=quoted):
        return None, end
    return span, span[1]


_OPTION, _ELEMENT, _CELL, _LINE, _IS, _QUOTED_NEXT, _ASSIGNED, _PAIR = (
    "option",
    "element",
    "cell",
    "line",
    "is",
    "'",
    "=",
    "value",
)


# What gives a value to a name, by its first character.
_GIVING = {
    "=": ("===", "==", "=>", "="),
    "!": ("!==", "!="),
    ":": (":=", ":"),
    "?": ("?=",),
    "+": ("+=",),
    "：": ("：",),
}


def behind_name(text: str, name_start: int, name_end: int) -> tuple[int, str]:
    """Where the value begins that is given to the name, and how; nothing for a bare mention."""
    at = run(text, name_end, "\\", 8)
    if text[at : at + 1] in ('"', "'", "`"):
        at += 1
    if text[at : at + 1] == "]":
        at += 1
    if text.startswith("**", at):  # in bold
        at += 2
    here = skip(text, at)
    for sign in _GIVING.get(text[here : here + 1], ()):
        if text.startswith(sign, here):
            return _behind_sign(text, name_start, here + len(sign))
    if text[here : here + 1] == "|" and "|" in _line_before(text, name_start):
        return skip(text, here + 1), _CELL
    if text[here : here + 1] == ">" and text[name_start - 1 : name_start] == "<":
        return here + 1, _ELEMENT
    pair = skip(text, here, " \t\r\n,\"'\\")
    if pair > at and text.startswith("value", pair):
        pair = skip(text, pair + 5, "\"' \t\\")
        if text[pair : pair + 1] in (":", "="):
            return skip(text, pair + 1), _PAIR
    return _behind_blank(text, name_start, here) if here > at else (0, "")


def _behind_blank(text: str, name_start: int, at: int) -> tuple[int, str]:
    """The same where only a blank stands before ``at``."""
    for word in _VERBS:
        if text.startswith(word, at):
            return skip(text, at + len(word)), _IS
    if _line_before(text, name_start).endswith(_SETTERS):
        return at, _ASSIGNED
    if text.startswith("--", name_start) or text.startswith("-pass", name_start):
        return at, _OPTION
    if text[at : at + 1] == "'" or _is_of_netrc(text, name_start):
        return at, _QUOTED_NEXT
    return 0, ""


def _behind_sign(text: str, name_start: int, at: int) -> tuple[int, str]:
    """The same behind the sign that ends before ``at``."""
    start = skip(text, at + 2 if text.startswith("** ", at) else at)
    if text[at - 1] == ":" and text[start : start + 1] in ("\n", ":", "/"):
        if text[start] == "\n":
            return _next_line(text, name_start, start)
        return 0, ""  # a scope, an address
    return start, _ASSIGNED


_VERBS = ("is: ", "is ", "ist ", "lautet ")
_SETTERS = ("ENV", "ARG", "setx", "setx /m", "set -gx", "set -Ux", "set -x", "configure set")


def _line_before(text: str, at: int) -> str:
    """What stands before ``at`` on its line, but for blanks around it."""
    return text[max(0, at - _BESIDE) : at].rpartition("\n")[2].strip()


def _next_line(text: str, name_start: int, at: int) -> tuple[int, str]:
    """Where a value begins that stands alone on the line behind the name's own."""
    before = _line_before(text, name_start).rpartition(":")[2].strip("*#->| ")
    start = skip(text, at + 1)
    end = until(text, start, "\r\n")
    if before and not before.replace(" ", "").replace(",", "").isalpha():
        return 0, ""
    if any(word in _STATEMENTS for word in before.split()) or " " in text[start:end].strip():
        return 0, ""
    return start, _LINE


_STATEMENTS = ("if", "elif", "while", "for", "case", "def", "class", "with", "except", "lambda")


def _is_drawn(value: str) -> bool:
    """Whether a word with nothing but its place to tell of it looks like a password."""
    lower, upper = any(map(str.islower, value)), any(map(str.isupper, value))
    signs = any(c in "!#^?+~*%&$@" for c in value[1:])
    kinds = lower + upper + any(map(str.isdigit, value)) + signs
    return len(value) >= 8 and kinds >= 3 and not any(c in "()=[]{}:;." for c in value)


def _is_of_netrc(text: str, at: int) -> bool:
    """Whether the name at ``at`` stands behind a ``machine`` and its ``login``."""
    before = text[max(0, at - 200) : at].split()
    return len(before) >= 2 and "login" in before[-3:] and "machine" in before[-6:]


def _value(text: str, at: int, name_start: int, kind: str) -> tuple[Span | None, bool]:
    """The value that begins at ``at``, and whether it is quoted."""
    for lead in ("pass:", "f", "b", "r"):  # of openssl; of Python's strings
        if text.startswith(lead, at) and (lead == "pass:" or text[at + 1 : at + 2] in ('"', "'")):
            at += len(lead)
            break
    inside = quotation(text, at)
    if inside is not None:
        return inside, True
    if kind == _ELEMENT:
        return (at, until(text, at, "<\n")), True
    if kind in (_CELL, _LINE):
        end = until(text, at, " \t\r\n|`\"'")
        return ((at, end), False) if end > at else (None, False)
    before = _line_before(text, name_start)
    name = text[name_start : until(text, name_start, " =:", _NAME)]
    if kind == _ASSIGNED and before.endswith(";") and text[at - 1] == "=":
        end = until(text, at, ";\"'\n")  # a part of a connection string, blanks and all
        return (at, _strip(text, at, end, " ")), True
    end = until(text, at, _STOPS)
    if kind == _ASSIGNED and text[at - 1] == "=" and name.isupper():
        # As in .env, up to the blank: signs that end a value elsewhere are part of it here.
        whole = until(text, at, " \t\r\n\"'`")
        leads = ("", "export", "set", "-", "ENV", "ARG", "-e", "env")
        if before in leads or "(" not in text[at:whole]:
            return (at, whole), False
    if text[end : end + 1] == "&" and text[at - 1] in ": ：\t":
        whole = until(text, end, " \t\r\n\"'`<>)")
        end = end if "=" in text[end:whole] else whole  # else the parts of a query
    end = _strip(text, at, end, ".!?:" if kind == _IS else "")
    return ((at, end), False) if end > at else (None, False)


def _is_secret(name: str, telling: str, kind: str, value: str, *, quoted: bool) -> bool:
    """Whether ``value`` behind a telling ``name`` is the secret itself.

    Code is full of such names with a type, a call or a variable behind them; a person's or a
    configuration's value is quoted, or mixes letters with digits or signs.
    """
    lower = name.lower().lstrip("-")
    password = any(word in telling for word in _PASSWORDS)
    if len(value) < (4 if password else 8) or is_placeholder(value):
        return False
    if telling != "webhook_url" and lower.endswith(_HARMLESS_ENDS):
        return False
    constant = name.isupper()
    if value.lower().rstrip(".,!?") in WORDS or _is_message(value, quoted=quoted and not constant):
        return False
    if "tokens" in lower or lower.startswith("tokeniz"):
        return False
    if kind in (_CELL, _LINE):
        return _is_drawn(value) and (password or not _is_sized(value))
    if " " in value or "\t" in value:
        return quoted and (password or constant) and not _is_sentence(value, constant=constant)
    if value.startswith(("/", "./", "../", "~/", "http://", "https://")):
        return "webhook" in lower
    judged = value[:200]
    letters = any(c.isalpha() for c in judged)
    digits = any(digit in judged for digit in "0123456789") or (
        not judged.isascii() and any(c.isdigit() for c in judged)
    )
    if telling == "auth":
        return len(value) >= 12 and is_random(value) and not value.strip(BASE64)
    if kind == _IS:
        return digits and letters
    if kind == _QUOTED_NEXT and password:
        return True
    if value.isdigit():
        return password and (kind != _ASSIGNED or quoted or len(value) < 16)
    if constant:
        return not value.isupper() or digits or (password and value.isalpha() and len(value) > 8)
    if quoted:
        return digits or password or (len(value) >= 16 and not value.islower())
    signs = password and any(c in "!#^?+~*%" for c in judged[1:])
    return ((digits and letters) or signs) and not _is_code(value, "" if password else telling)


def _is_code(value: str, telling: str) -> bool:
    """Whether the bare ``value`` reads as an expression: a path of names, or a type that the
    ``telling`` name is for (*IDToken2*)."""
    stem = value.rstrip("0123456789")
    if telling and ((stem.isalpha() and telling in stem.lower()) or _is_sized(value)):
        return True
    return "." in value.strip(".") and not value.strip(ALNUM + "_.")


_SIZES = frozenset(("8", "16", "32", "64", "128", "256", "384", "512", "25519"))
_OF_TYPES = frozenset("array buffer bytes float hash int key seed string uint vector".split())


def _is_sized(value: str) -> bool:
    """Whether ``value`` is words in camel case around a number that types and curves are called
    by, one of them what types are called: *Uint8Array*, *ed25519Seed*."""
    numbers = "".join(c if c.isdigit() else " " for c in value).split()
    if len(numbers) != 1 or numbers[0] not in _SIZES or not (value.isalnum() and value.isascii()):
        return False
    apart = "".join(f" {c}" if c.isupper() else c for c in value.replace(numbers[0], " "))
    words = apart.lower().split()
    return not value.islower() and not _OF_TYPES.isdisjoint(words) and min(map(len, words)) > 1


def _is_message(value: str, *, quoted: bool) -> bool:
    """Whether ``value`` says something in a script without blanks, in which no word can be told
    from another: four signs of it, or half of it, are of one.

    What is not ``quoted`` only where it names the password itself, as *your password* does.  Not
    with a word that mixes letters, digits or signs: it may be a password amid the talk.
    """
    if value.isascii():
        return False
    found = sum(is_unspaced(ord(c)) for c in value)
    if not quoted:
        bare = value.strip("\\")
        return found == len(bare) and any(word in bare.lower() for word in FOREIGN)
    words = "".join(" " if is_unspaced(ord(c)) or c in _AROUND else c for c in value).split()
    bare_words = (word.strip(".,:;!?#-").replace("_", "") for word in words)
    plain = all(not word or word.isalpha() or word.isdigit() for word in bare_words)
    return plain and (found >= 4 or 2 * found >= len(value))


_AROUND = "'\"`(){}[]<>：，。、！？；（）「」"


def _is_sentence(value: str, *, constant: bool) -> bool:
    """Whether words in quotes say something, instead of being a phrase to remember."""
    words = [word.strip(".,!?:;()").lower() for word in value.split()]
    if value.rstrip()[-1:] in (".", "?", "!", ":", "…") and not constant:
        return True
    known = sum(word in _SPEECH for word in words)
    return known >= (2 if constant else 1) or any(c in value for c in "{}<>$%=")
