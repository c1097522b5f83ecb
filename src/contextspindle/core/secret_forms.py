"""Secrets that are known by their form alone: a provider's prefix, a token of parts.

A prefix is a plain search; what follows it is judged by its alphabet, its length, and whether it
looks drawn by chance, because words are built with the same prefixes.  No regular expression: what
is found is found in time proportional to the text, and nothing has to be compiled first.

The prefixes are the providers' own, as they document them or as their keys are seen.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Span = tuple[int, int]

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
HEX = DIGITS + "abcdefABCDEF"
CAPITALS = UPPER + DIGITS
ALNUM = CAPITALS + UPPER.lower()
WORD = ALNUM + "_"
DASHED = WORD + "-"
DOTTED = DASHED + "."
BASE64 = ALNUM + "+/="
ANY = DOTTED + "+/=~%"

SHORTEST = 16
"""Every form has a run of at least so many letters, digits and signs."""
_JUDGED = 240  # characters of a candidate that are looked at

_PREFIXES: dict[str, tuple[str, int]] = {
    # Prefix: the alphabet of what follows, and the least length of that.
    **dict.fromkeys(("AKIA", "ASIA", "ABIA", "ACCA"), (CAPITALS, 16)),
    **dict.fromkeys(("ABSK", "bedrock-api-key-"), (BASE64, 60)),
    **dict.fromkeys(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), (DOTTED, 30)),
    "github_pat_": (WORD, 22),
    **dict.fromkeys(
        (
            "glpat-", "glptt-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glsoat-", "glft-", "glimt-",
            "glagent-", "gloas-", "glffct-", "glwt-", "GR1348941",
        ),
        (DOTTED, 18),
    ),
    **dict.fromkeys(("sk-", "csk-"), (DASHED, 20)),
    **dict.fromkeys(
        (
            "sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_", "whsec_",
            "sk_org_live_", "sk_org_test_",
            "rzp_live_", "rzp_test_", "shippo_live_", "shippo_test_", "duffel_live_",
            "duffel_test_", "FLWSECK-", "FLWSECK_TEST-",
        ),
        (DASHED + "+/=", 10),
    ),
    **dict.fromkeys(
        (
            "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xoxc-", "xoxd-",
            "xapp-",
        ),
        (DOTTED + "%", 10),
    ),
    **dict.fromkeys(("AIza", "AQ.Ab"), (DASHED, 30)),
    **dict.fromkeys(("ya29.", "GOCSPX-"), (DASHED, 20)),
    **dict.fromkeys(
        (
            "npm_", "hf_", "api_org_", "gsk_", "r8_", "jina_", "pcsk_", "tgp_v1_", "lsv2_pt_",
            "lsv2_sk_", "wandb_v1_", "rubygems_", "rnd_", "figd_", "lin_api_", "lin_oauth_", "ntn_",
            "secret_", "dckr_pat_", "dckr_oat_", "glc_", "glsa_", "sntrys_", "sntryu_", "sbp_",
            "sb_secret_", "pscale_tkn_", "pscale_pw_", "pscale_oauth_", "napi_", "npg_", "AVNS_",
            "cfut_", "cfat_", "cfk_", "vcp_", "vci_", "vca_", "vcr_", "vck_", "nfp_", "bkua_",
            "CCIPAT_", "CCIPRJ_", "sqp_", "squ_", "sqa_", "sgp_", "rdme_", "pnu_", "tfp_", "aio_",
            "mdb_sa_sk_", "CLOJARS_", "fm1r_", "fm2_", "fo1_", "y0_", "re_", "xkeysib-",
            "xsmtpsib-",
        ),
        (DASHED + "+/=", 24),
    ),
    **dict.fromkeys(
        (
            "pypi-", "xai-", "pplx-", "nvapi-", "tvly-", "pul-", "NRAK-", "NRJS-", "PMAK-",
            "HRKU-", "CFPAT-", "ico-", "tskey-", "fio-u-", "pat-na1-", "pat-eu1-", "sq0atp-",
            "sq0csp-", "access-production-", "access-sandbox-", "p8e-",
        ),
        (DASHED, 20),
    ),
    **dict.fromkeys(("dop_v1_", "doo_v1_", "dor_v1_"), (HEX, 64)),
    **dict.fromkeys(("shpat_", "shpca_", "shppa_", "shpss_", "shpua_"), (HEX, 32)),
    **dict.fromkeys(("dapi", "SK", "key-", "fc-"), (HEX, 32)),
    **dict.fromkeys(("ATATT3", "ATCTT3", "ATBB"), (DASHED + "=", 20)),
    **dict.fromkeys(("hvs.", "hvb.", "hvr.", "sl.u.", "sl.B", "mlsn."), (DASHED, 20)),
    **dict.fromkeys(
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.", "dt0c01."), (DOTTED, 30)
    ),
    "SG.": (DOTTED, 36),
    "v1.0-": (HEX + "-", 100),
    **dict.fromkeys(("EAAM", "EAAC"), (ALNUM, 100)),
    **dict.fromkeys(("EZAK", "EZTK"), (ALNUM, 50)),
    "LTAI": (ALNUM, 16),
    "AKID": (ALNUM, 30),
    "AKCp": (ALNUM, 60),
    "oy2": (ALNUM, 43),
    "cio": (ALNUM, 32),
    "AGE-SECRET-KEY-1": (CAPITALS, 40),
    "ops_eyJ": (BASE64, 100),
    # Key blocks in base64, as Kubernetes writes them: -----BEGIN and the kinds of private keys.
    "LS0tLS1CRUdJTiBSU0EgUFJJVkFURS": (BASE64, 16),
    "LS0tLS1CRUdJTiBQUklWQVRFIEtFW": (BASE64, 16),
    "LS0tLS1CRUdJTiBFQyBQUklWQVRFI": (BASE64, 16),
    "LS0tLS1CRUdJTiBPUEVOU1NIIFBSS": (BASE64, 16),
    "LS0tLS1CRUdJTiBFTkNSWVBURUQgU": (BASE64, 16),
}  # fmt: skip
_EXACT = {"AKIA": 16, "ASIA": 16, "ABIA": 16, "ACCA": 16, "dapi": 32, "SK": 32, "key-": 32,
          "fc-": 32, "cio": 32, "oy2": 43}  # fmt: skip
# Prefixes that words have too: what follows must have a long part without a dash.
_WORDLIKE = (
    "sk-", "csk-", "ico-", "pul-", "npm_", "hf_", "re_", "rnd_", "secret_", "y0_",
    "napi_", "aio_", "glc_", "fm2_", "vcr_", "pnu_", "sqa_", "tfp_",
)  # fmt: skip

_BY_START: dict[bytes, list[str]] = {}
for _prefix in _PREFIXES:
    _BY_START.setdefault(_prefix[:2].encode(), []).append(_prefix)
# Everything but letters, digits and the signs that tokens have inside, as blanks.
_APART = bytes(code if chr(code) in DOTTED + "~" else 32 for code in range(256))

_FILLERS = ("example", "your", "redacted", "placeholder", "xxxxx", "dummy", "changeme", "<", "[")


def is_filler(value: str) -> bool:
    """Whether ``value`` only shows where a secret would stand."""
    lower = value[:120].lower()
    for filler in _FILLERS:
        if filler in lower:
            return True
    return len(lower) >= 16 and len(set(lower)) < 3


def is_random(value: str) -> bool:
    """Whether ``value`` looks drawn by chance: digits among letters, or capitals amid a word."""
    judged = value[:_JUDGED]
    has_letter = has_digit = False
    for c in judged:
        has_letter = has_letter or c.isalpha()
        has_digit = has_digit or c.isdigit()
        if has_letter and has_digit:
            return True
    return has_letter and not (judged.islower() or judged.isupper() or judged.istitle())


def run(text: str, at: int, alphabet: str, limit: int = _JUDGED) -> int:
    """Where the run of characters of ``alphabet`` that starts at ``at`` ends."""
    piece = text[at : at + limit]
    return at + len(piece) - len(piece.lstrip(alphabet))


def run_back(text: str, at: int, alphabet: str, limit: int = _JUDGED) -> int:
    """Where the run of characters of ``alphabet`` that ends before ``at`` starts."""
    piece = text[max(0, at - limit) : at]
    return at - len(piece) + len(piece.rstrip(alphabet))


def spans(text: str) -> Iterator[Span]:
    """Where secrets of a known form stand in ``text``, but for key blocks; some may overlap."""
    apart = text.encode("latin-1", "replace").translate(_APART)
    runs = [one for one in apart.split() if len(one) >= SHORTEST]
    if not runs:
        return
    for start in {one.lstrip(b".")[:2] for one in runs}:
        for prefix in _BY_START.get(start, ()):
            yield from _with_prefix(text, prefix)
    for literal, found in _SPECIAL:
        if literal in text:
            yield from found(text, literal)


def places(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


def _with_prefix(text: str, prefix: str) -> Iterator[Span]:
    alphabet, least = _PREFIXES[prefix]
    exact = _EXACT.get(prefix, 0)
    done = 0
    for at in places(text, prefix):
        start = at + len(prefix)
        if at < done or (at and text[at - 1] in DASHED):
            continue
        end = run(text, start, alphabet)
        if end - start < least or (exact and end - start != exact):
            continue
        value = text[start:end].rstrip(".-/")
        if is_filler(value) or not is_random(value):
            continue
        if prefix in _WORDLIKE and not _has_long_part(value):
            continue
        # The rest of a long one, beyond what was judged.
        while end < len(text) and text[end] in alphabet:
            end = run(text, end, alphabet, 4_096)
        end = start + len(text[start:end].rstrip(".-/"))
        done = end
        yield at, end


def _has_long_part(value: str) -> bool:
    parts = value.replace("_", "-").split("-")
    return any(len(part) >= 12 and is_random(part) for part in parts)


# ---- tokens of parts --------------------------------------------------------------------------


def _web_tokens(text: str, literal: str) -> Iterator[Span]:
    """JSON web tokens: two or more parts that begin as encoded JSON does."""
    done = 0
    for at in places(text, literal):
        if at < done or (at and text[at - 1] in DASHED):
            continue
        end = run(text, at, DOTTED, 16_384)
        done = end
        parts = text[at:end].split(".")
        if len(parts) >= 2 and len(parts[0]) >= 10 and len(parts[1]) >= 8:
            yield at, at + len(text[at:end].rstrip("."))


def _telegram(text: str, literal: str) -> Iterator[Span]:
    """The number of a bot, a colon, and 35 characters."""
    for at in places(text, literal):
        start, end = run_back(text, at, DIGITS, 11), run(text, at + 1, DASHED, 36)
        if 8 <= at - start <= 10 and end - at == 36:
            yield start, end


def _discord(text: str, literal: str) -> Iterator[Span]:
    """The encoded number of a bot, six characters, and the rest, with dots between."""
    for at in places(text, literal):
        if text[at + 7 : at + 8] != ".":
            continue
        start = run_back(text, at, DASHED, 40)
        if not 23 <= at - start <= 28 or text[start] not in "MNO":
            continue
        end = run(text, at + 1, DOTTED, 60)
        middle, _, last = text[at + 1 : end].partition(".")
        if len(middle) == 6 and 27 <= len(last) <= 45 and is_random(last):
            yield start, end


def _azure_application(text: str, literal: str) -> Iterator[Span]:
    """Three characters, a digit, the mark, and the rest."""
    for at in places(text, literal):
        start, end = run_back(text, at, DOTTED + "~", 4), run(text, at + 2, DOTTED + "~", 40)
        if at - start == 4 and text[at - 1] in DIGITS and end - at >= 33:
            yield start, end


def _marked_within(text: str, literal: str) -> Iterator[Span]:
    """A long run of letters and digits that has a provider's mark in it."""
    for at in places(text, literal):
        start, end = run_back(text, at, ALNUM), run(text, at, ALNUM)
        if end - start >= 80:
            yield start, end


def _terraform(text: str, literal: str) -> Iterator[Span]:
    for at in places(text, literal):
        start, end = run_back(text, at, ALNUM, 15), run(text, at + len(literal), DASHED)
        if at - start == 14 and end - at >= 60:
            yield start, end


def _airtable(text: str, literal: str) -> Iterator[Span]:
    for at in places(text, literal):
        end = run(text, at + 17, DOTTED, 70)
        if (
            text[at + 17 : at + 18] == "."
            and end - at == 82
            and run(text, at, ALNUM, 18) == at + 17
        ):
            yield at, end


def _mailchimp(text: str, literal: str) -> Iterator[Span]:
    for at in places(text, literal):
        start, end = run_back(text, at, HEX, 33), run(text, at + 3, DIGITS, 3)
        if at - start == 32 and end > at + 3:
            yield start, end


def _address(text: str, literal: str) -> Iterator[Span]:
    """The part of a webhook's address that is its key."""
    for at in places(text, literal):
        start = at + len(literal)
        end = run(text, start, DASHED + "/@")
        if end - start >= 20 and is_random(text[start:end]) and not is_filler(text[start:end]):
            yield start, end


def _refresh(text: str, literal: str) -> Iterator[Span]:
    for at in places(text, literal):
        end = run(text, at + len(literal), DASHED)
        if end - at >= 44 and (not at or text[at - 1] not in DASHED):
            yield at, end


_BEFORE_SIGNATURE = "?&;-, \t\n\"'"  # also of X-Amz-Signature, and of a header's parts


def _signature(text: str, literal: str) -> Iterator[Span]:
    """The signature of an address that is signed: who has it has what it leads to."""
    for at in places(text, literal):
        start = at + len(literal)
        end = run(text, start, ANY, 200)
        before = text[at - 1 : at]
        begins = before in _BEFORE_SIGNATURE if literal[0] == "S" else before in "?&;"
        if begins and end - start >= 32 and is_random(text[start:end]):
            yield start, end


_SPECIAL: tuple[tuple[str, Callable[[str, str], Iterator[Span]]], ...] = (
    ("eyJ", _web_tokens),
    (":AA", _telegram),
    (".", _discord),
    ("Q~", _azure_application),
    ("AZDO", _marked_within),
    ("JQQJ99", _marked_within),
    (".atlasv1.", _terraform),
    ("pat", _airtable),
    ("-us", _mailchimp),
    ("sig=", _signature),
    ("Signature=", _signature),
    ("1//0", _refresh),
    ("hooks.slack.com/services/", _address),
    ("hooks.slack.com/workflows/", _address),
    ("hooks.slack.com/triggers/", _address),
    ("/api/webhooks/", _address),
    ("/webhookb2/", _address),
)
