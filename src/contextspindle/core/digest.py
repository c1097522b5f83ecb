"""Digests: what makes silent damage visible.

``hashlib`` loads OpenSSL, several milliseconds of a command that takes a dozen; the interpreter's
own SHA-256 gives the same digest and is there at once.  For bulk work :func:`bulk_sha256` trades
the import for a faster hash.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import sha256 as _sha256
else:
    try:
        from _sha2 import sha256 as _sha256  # CPython 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256 as _sha256
        except ImportError:
            from hashlib import sha256 as _sha256

NONE = "0" * 64
"""The digest before the first change of a task."""


def sha256(data: bytes) -> str:
    """The SHA-256 of ``data`` in lower-case hex."""
    return _sha256(data).hexdigest()


def bulk_sha256() -> Callable[[bytes], str]:
    """A function like :func:`sha256`, quicker from about a thousand records on."""
    import hashlib

    return lambda data: hashlib.sha256(data).hexdigest()


def chained(task_id: str, previous: str, body: bytes) -> str:
    """The digest of a change: of its task, of the change before it and of its stored bytes.

    ``previous`` is the digest of the change before, in hex, or :data:`NONE`.
    """
    return _sha256(b"%b\n%b\n%b" % (task_id.encode(), previous.encode(), body)).hexdigest()


def lease_check(holder: str, mark: str, until: int, length: int) -> str:
    """What shows that a lease was not altered, for it is in no change: 16 digits of a digest."""
    return sha256(f"{holder}\n{mark}\n{until}\n{length}".encode())[:16]


def is_digest(value: str, length: int = 64) -> bool:
    """Whether ``value`` is a digest as it is written here: so many lower-case hex digits."""
    return len(value) == length and not value.strip("0123456789abcdef")
