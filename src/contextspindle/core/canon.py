"""Canonical JSON: one byte string for one value, on every machine and Python.

What is hashed is what is stored: UTF-8, keys in code point order, no spaces, no ASCII escaping.
Callers put integers, strings, booleans, lists and dictionaries in, never floats.

The ``json`` package spends three quarters of its import on ``re``, which a command cannot afford,
so the C parts beneath it are used directly where this interpreter has them.  They are private to
CPython: :func:`public_codec` does the same through ``json``, and a test holds the two equal.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Encoder = Callable[[Any], str]
    Scanner = Callable[[str, int], tuple[Any, int]]

_BLANK = " \t\n\r"


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _no_default(value: object) -> Any:
    raise TypeError(f"{type(value).__name__} has no canonical form")


class _Context:
    """What the C scanner asks of its decoder."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_no_constant)
    memo: dict[str, str] = {}


def _lenient_integer(digits: str) -> int | None:
    try:
        return int(digits)
    except ValueError:  # more digits than this interpreter turns into a number
        return None


def _lenient_constant(name: str) -> None:
    """Nothing, for what is no JSON and some writers write all the same: ``NaN``, ``Infinity``."""


class _LenientContext(_Context):
    # Another kind of function than in the class above, which the scanner does not mind.
    parse_int = staticmethod(_lenient_integer)  # type: ignore[assignment]
    parse_constant = staticmethod(_lenient_constant)


def lean_codec() -> tuple[Encoder, Scanner]:
    """The encoder and scanner made of CPython's C parts; ImportError or TypeError without them."""
    import _json

    make: Any = _json.make_encoder
    chunks = make(
        None,
        _no_default,
        _json.encode_basestring,
        None,
        ":",
        ",",
        True,
        False,
        False,
    )
    scan: Any = _json.make_scanner(_Context)  # type: ignore[arg-type]
    probe = {"b": [1, "é\n"], "a": None}
    text = "".join(chunks(probe, 0))
    if text != '{"a":null,"b":[1,"é\\n"]}' or scan(text, 0) != (probe, len(text)):
        raise TypeError("this interpreter's C parts of json work differently")
    return lambda value: "".join(chunks(value, 0)), scan


def public_codec() -> tuple[Encoder, Scanner]:
    """The same through the public ``json`` package: slower to import, there on every Python."""
    import json

    encoder = json.JSONEncoder(
        ensure_ascii=False,
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
        check_circular=False,
        default=_no_default,
    )
    decoder = json.JSONDecoder(parse_constant=_no_constant, strict=False)
    scan_once: Scanner = decoder.scan_once  # type: ignore[attr-defined]  # public, not in the stubs
    return encoder.encode, scan_once


def lean_lenient() -> Scanner:
    """The scanner of :func:`scan_leniently` made of C parts; raises like :func:`lean_codec`."""
    import _json

    # A class in the place of a decoder: it is asked for its attributes alone.
    scan: Scanner = _json.make_scanner(_LenientContext)  # type: ignore[arg-type]
    return scan


def public_lenient() -> Scanner:
    """The same through the public ``json`` package."""
    import json

    decoder = json.JSONDecoder(
        parse_int=_lenient_integer, parse_constant=_lenient_constant, strict=False
    )
    found: Scanner = decoder.scan_once  # type: ignore[attr-defined]  # public, not in the stubs
    return found


try:
    _encode, _scan = lean_codec()
    _scan_leniently = lean_lenient()
except (ImportError, AttributeError, TypeError):  # pragma: no cover (another implementation)
    _encode, _scan = public_codec()
    _scan_leniently = public_lenient()


def text(value: object) -> str:
    """The canonical JSON of ``value`` as text.  TypeError for a value that JSON does not have."""
    return _encode(value)


def encode(value: object) -> bytes:
    """The canonical JSON of ``value``: the bytes to store, and to hash.

    UnicodeEncodeError if a string holds half a surrogate pair (see :func:`.text.clean`).
    """
    return _encode(value).encode("utf-8")


def scan(source: str, at: int = 0) -> tuple[Any, int]:
    """One JSON value of ``source`` from index ``at`` (blanks skipped), and the index behind it.

    ValueError where no value can be read, also for one nested beyond the interpreter's depth.
    """
    return _scanned(source, at, _scan)


def scan_leniently(source: str, at: int = 0) -> tuple[Any, int]:
    """Like :func:`scan`, with None for ``NaN``, ``Infinity`` and an integer of too many digits.

    For what other programs wrote, where :func:`scan` cannot read it.
    """
    return _scanned(source, at, _scan_leniently)


def _scanned(source: str, at: int, scan: Scanner) -> tuple[Any, int]:
    end = len(source)
    while at < end and source[at] in _BLANK:
        at += 1
    try:
        return scan(source, at)
    except StopIteration:
        raise ValueError(f"no JSON value at character {at}") from None
    except SystemError:
        # Older CPythons look for their error class in `json.decoder`, but only if that is loaded.
        import json.decoder

        try:
            return json.JSONDecoder(strict=False).raw_decode(source, at)
        except RecursionError:
            raise ValueError("JSON nested too deeply") from None
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None


def decode(source: bytes | str) -> Any:
    """The one value that ``source`` holds.  ValueError if it is not exactly one JSON value."""
    if isinstance(source, bytes):
        source = source.decode("utf-8")
    value, end = scan(source)
    if source[end:].strip(_BLANK):
        raise ValueError(f"text behind the JSON value at character {end}")
    return value
