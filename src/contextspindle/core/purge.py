"""Purges on record: which histories were written anew, and which digests they had before.

A purge changes what is said in old versions, so all digests from there on are others.  That is not
hidden: each task keeps, for every purge, the digests before and after, version by version.  So a
copy from before a purge is known for what it is: it neither counts as another history, nor is the
text that was taken out taken in again.
"""

from __future__ import annotations

from . import canon
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


class Purge(Value):
    """One purge of one task: ``old`` and ``new`` are its digests from version ``first`` on."""

    at: int
    by: str
    first: int
    versions: tuple[int, ...]
    """Those that held the text; the others only got new digests."""
    old: tuple[str, ...]
    new: tuple[str, ...]


def purge_bytes(purge: Purge) -> bytes:
    """The canonical bytes of a record: what is stored and exported of it."""
    return canon.encode(document(purge))


def document(purge: Purge) -> dict[str, Any]:
    """The record as plain JSON values."""
    lists = ("versions", "old", "new")
    return {**purge._asdict(), **{name: [*getattr(purge, name)] for name in lists}}


def from_document(found: dict[str, Any]) -> Purge:
    """The record that :func:`document` described.  ValueError or the like if it is none."""
    purge = Purge(
        found["at"],
        found["by"],
        found["first"],
        tuple(found["versions"]),
        tuple(found["old"]),
        tuple(found["new"]),
    )
    numbers = (purge.at, purge.first, *purge.versions)
    texts = (purge.by, *purge.old, *purge.new)
    if {*map(type, numbers)} != {int} or {*map(type, texts)} != {str}:
        raise TypeError("the record of a purge")
    last = purge.first + len(purge.new) - 1
    if len(purge.old) != len(purge.new) or not 1 <= purge.first <= min(purge.versions):
        raise ValueError("the record of a purge does not fit together")
    if max(purge.versions) > last:
        raise ValueError("the record of a purge names a version that it does not reach")
    return purge


def brought_up(chain: Sequence[str], purges: Iterable[Purge]) -> list[str]:
    """The digests ``chain`` of a copy as they are after the purges on record.

    Digests that no purge has replaced stay as they are.
    """
    after: dict[tuple[int, str], str] = {}
    for purge in purges:
        for number, (old, new) in enumerate(zip(purge.old, purge.new), purge.first):
            if old != new:
                after[number, old] = new
    found = []
    for number, digest in enumerate(chain, 1):
        seen = {digest}
        while (number, digest) in after:
            digest = after[number, digest]
            if digest in seen:
                break  # a record that leads round in a circle is no record of ours
            seen.add(digest)
        found.append(digest)
    return found


def fits(purges: Sequence[Purge], chain: Sequence[str]) -> bool:
    """Whether everything that the records say was replaced leads to the digests of ``chain``."""
    for purge in purges:
        before = purge.first - 1
        past = [*chain[:before], *purge.old]
        if brought_up(past, purges) != list(chain[: len(past)]):
            return False
    return True
