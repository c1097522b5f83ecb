"""Masking of secrets: what must not be written is taken out before anything is.

A secret is known by its form (a provider's prefix, a key block, a token of three parts) or by its
name (``NAME_TOKEN=``, ``password:``, ``Authorization:``).  Looking for forms alone misses
passwords, looking for randomness alone hides commit hashes and identifiers that the reader needs;
so a value behind a telling name is judged by :func:`_is_secret`, and everything else stays.

Regular expressions are costly to load and slow on long text.  Each rule therefore names literals
without which it cannot match, and is compiled when the first of them is met.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Match, Pattern

MASK = "[masked]"

_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    # Literals, and a pattern that is a secret as a whole.
    (
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
        r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    (
        # The end of a block whose beginning was cut away.
        ("-----END ",),
        r"(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/=]{16,}\s+){1,60}"
        r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
    ),
    (("eyJ",), r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*(?:\.[\w-]+\.[\w-]+)?"),
    (("AKIA", "ASIA", "ABIA", "ACCA"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    (("gh", "github_pat_"), r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,})"),
    (("gl",), r"\bgl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-[\w.-]{18,}"),
    (("sk-",), r"\bsk-(?=[\w-]{0,60}\d)[\w-]{20,}"),
    (("k_live_", "k_test_", "whsec_"), r"\b(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9+/]{10,}=*"),
    (("xox", "xapp-"), r"\b(?:xox[a-z]|xapp)-[\w-]{10,}"),
    (("hooks.slack.com/",), r"(?<=hooks\.slack\.com/)(?:services|workflows)/[\w/]{20,}"),
    (("/api/webhooks/",), r"(?<=/api/webhooks/)\d+/[\w-]{40,}"),
    (("AIza",), r"\bAIza[\w-]{30,}"),
    (("ya29.", "GOCSPX-"), r"\b(?:ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,})"),
    (
        ("npm_", "hf_", "gsk_", "figd_", "r8_", "rubygems_", "dckr_pat_", "lin_api_", "ntn_"),
        r"\b(?:npm_|hf_|gsk_|figd_|r8_|rubygems_|dckr_pat_|lin_api_|ntn_)(?=\w*\d)[\w-]{30,}",
    ),
    (
        ("pypi-", "xai-", "pplx-", "nvapi-"),
        r"\b(?:pypi|xai|pplx|nvapi)-(?=[\w-]{0,60}\d)[\w-]{40,}",
    ),
    (("do", "shp"), r"\b(?:do[opr]_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})"),
    (("SG.",), r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    (("ATATT", "ATCTT"), r"\bAT[AC]TT3[\w=-]{20,}"),
    ((":AA",), r"\b\d{8,10}:AA[\w-]{33}\b"),
    (("AGE-SECRET-KEY-",), r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    (("hvs.", "hvb."), r"\bhv[sb]\.[\w-]{20,}"),
)

_TELLING = (
    r"passw(?:or)?d|passphrase|passwd|(?<=_)pass(?![a-z])|pwd|secret|token|api[_-]?key"
    r"|access[_-]?key|account[_-]?key|private[_-]?key|auth[_-]?key|signing[_-]?key|encryption[_-]?key|credential"
)
_TELLING_STARTS = (
    "pass", "pwd", "secret", "token", "api", "access", "account", "private", "auth", "signing",
    "encryption", "credential",
)  # fmt: skip

_NAMED: tuple[tuple[tuple[str, ...], str], ...] = (
    # Literals (lower case), and a pattern whose groups are: before, value.  The value is masked.
    # user:password@host; the password may hold an @ itself.
    (
        ("://",),
        r"(?P<before>[a-z][a-z0-9+.-]{0,20}://[^\s/:@\"'<>]{0,100}:)"
        r"(?P<value>[^\s/\"'<>]{1,200})(?=@)",
    ),
    (
        ("bearer", "basic", "authorization"),
        r"(?P<before>\b(?:bearer|basic|authorization:\s*token)\s+)(?P<value>[\w.~+/=-]{12,})",
    ),
    (("cookie",), r"(?P<before>\b(?:set-)?cookie:[ \t]*)(?P<value>[^\s\"'][^\n\"']*)"),
    ((" -u",), r"(?P<before> -u[ =]?[\"']?[\w.@-]+:)(?P<value>[^\s\"']+)"),
)

_ASSIGNED = (
    # Only the telling end of the name is matched: a search that begins there is a quick one.
    r"(?P<name>(?:" + _TELLING + r")[\w.-]{0,40})"
    r"(?P<sep>\\?[\"'`]?\]?[ \t]*(?::=|=>|==|[=:])[ \t]*|[ \t]+is[ \t]+)"
    r"(?P<value>\\?\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|[^\s\"'`,;&|<>(){}\[\]\\]+)"
)

_OPTION = (
    r"(?P<name>" + _TELLING + r")(?P<sep>[ \t]+)"
    r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'`,;&|<>(){}\[\]\\-][^\s\"'`;&|<>(){}\[\]\\]*)"
)

_PLACEHOLDERS = (
    "$", "<", "{", "%", "*", "...", "…", "xxx", "XXX", "REDACTED", "your", "YOUR", "process.env",
    "os.environ", "os.getenv", "env.", "ENV[", "example", "changeme", MASK,
)  # fmt: skip
_WORDS = frozenset(
    "string str text bytes byte int integer number float bool boolean any object array list dict"
    " none null nil true false undefined void never unknown required optional empty missing invalid"
    " valid expired present absent set unset not is are was the a an new old same different wrong"
    " correct secret password token value field input output hash hidden enabled disabled default"
    " type function const let var self this error data key keys env environment variable file path"
    " self-signed yes no on off and or in for from with".split()
)
# A name that ends so says something about a secret and is not one itself.
_HARMLESS_ENDS = (
    "file", "path", "name", "names", "id", "ids", "url", "uri", "type", "types", "count", "limit",
    "length", "len", "size", "tokens", "budget", "usage", "field", "header", "format", "policy",
    "manager", "service", "provider", "expiry", "expires", "expires_in", "ttl", "index", "ref",
    "arn", "version", "label", "hint", "prompt", "error", "errors",
)  # fmt: skip


def mask(text: str) -> str:
    """``text`` with every secret in it replaced by :data:`MASK`.  Masking twice is masking once."""
    for literals, pattern in _FORMS:
        if _has_any(text, literals):
            text = _pattern(pattern, 0).sub(MASK, text)
    lower = text.lower()
    for literals, pattern in _NAMED:
        if _has_any(lower, literals):
            text = _pattern(pattern, 2).sub(_masked_value, text)
    return _judged_everywhere(text)


def _judged_everywhere(text: str) -> str:
    """``text`` with the values behind telling names judged, and masked where they are secrets.

    Searching for one pattern of many words would cost more than all other rules together; a plain
    search for the words finds the few places where the pattern can match at all.
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few capitals are longer in lower case
        lower = text.translate(_ASCII_LOWER)
    starts: list[int] = []
    for word in _TELLING_STARTS:
        at = lower.find(word)
        while at >= 0:
            starts.append(at)
            at = lower.find(word, at + 1)
    if not starts:
        return text
    assigned, option = _pattern(_ASSIGNED, 2), _pattern(_OPTION, 2)
    pieces = []
    done = 0
    for start in sorted(starts):
        if start < done:
            continue
        match = assigned.match(text, start)
        if match is None and _is_option(text, start):
            match = option.match(text, start)
        if match is not None:
            pieces += [text[done:start], _judged(match)]
            done = match.end()
    return "".join([*pieces, text[done:]])


_ASCII_LOWER = {code: code + 32 for code in range(65, 91)}


def _is_option(text: str, start: int) -> bool:
    """Whether the word at ``start`` ends a long option: ``--token``, ``--db-password``."""
    at = start
    while at > 0 and start - at < 34 and (text[at - 1].isalnum() or text[at - 1] in "-_"):
        at -= 1
    return text.startswith("--", at)


def _has_any(text: str, literals: tuple[str, ...]) -> bool:
    for literal in literals:  # noqa: SIM110 (any() with a generator costs twice as much)
        if literal in text:
            return True
    return False


def _pattern(source: str, flags: int) -> Pattern[str]:
    import re

    return re.compile(source, flags)  # which keeps what it compiled


def _masked_value(match: Match[str]) -> str:
    value = match["value"]
    if value.startswith(_PLACEHOLDERS) or value.lower() in _WORDS:
        return match[0]
    return match["before"] + MASK


def _judged(match: Match[str]) -> str:
    name, sep, value = match["name"], match["sep"], match["value"]
    bare = value.strip("\\\"'`")
    quoted = len(bare) < len(value)
    if not _is_secret(name, sep, bare, quoted=quoted):
        return match[0]
    return name + sep + value.replace(bare, MASK)


def _is_secret(name: str, sep: str, value: str, *, quoted: bool) -> bool:
    """Whether ``value`` behind a telling ``name`` is the secret itself.

    Code is full of such names with a type, a call or a variable behind them; a person's or a
    configuration's value is quoted, or mixes letters with digits or signs.
    """
    lower = name.lower()
    password = "pass" in lower or "pwd" in lower
    if len(value) < (4 if password else 8) or value.startswith(_PLACEHOLDERS):
        return False
    if value.lower().rstrip(".,!?") in _WORDS or lower.rstrip("\"'").endswith(_HARMLESS_ENDS):
        return False
    if " " in value or "\t" in value or value.startswith(("/", "./", "../", "http")):
        return False  # a sentence, a path, an address
    letters = any(c.isalpha() for c in value)
    digits = any(c.isdigit() for c in value)
    if "is" in sep:
        return digits and letters
    if value.isdigit():
        return password and "=" in sep
    constant = name.isupper() or name.lstrip("-").isupper()
    if constant:
        return not value.isupper() or digits
    if quoted:
        return digits or password or (len(value) >= 16 and not value.islower())
    return digits and letters and "." not in value.strip(".") and "(" not in value
