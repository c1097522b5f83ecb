"""What an inspection does with a task that is out of the ordinary: it decodes, and compares.

The document of a state is held against all that says again what it says: the columns of its row,
its lease, its dependencies and labels, and if deep the texts of the search index.  So are a
creation key against the first change, the records of purges against the chain, and if deep the
changes against the state.  Most tasks need none of it, and for them it is not even loaded.
"""

from __future__ import annotations

from ..core import canon
from .inspect import LEASED
from .sqlite_write import SPREAD, spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .inspect import Inspection

_ROW = f"SELECT unmet, {LEASED}, {', '.join(SPREAD)} FROM tasks WHERE pk = ?"  # noqa: S608 (our own words)
# The table beneath the index, because reading through the index takes twice as long.
_TEXTS = "SELECT c0, c1, c2, c3, c4 FROM search_content WHERE id = ?"


def task(look: Inspection, pk: int, task_id: str, state: bytes) -> None:
    """All that stands in other places against the document of a state."""
    found = canon.decode(state)
    ((unmet, leased, *columns),) = look.ask(_ROW, pk)
    look.counts[found["status"]] += 1
    for name, one, other in zip(SPREAD, columns, spread(found)):
        if one != other:
            look.find("row", task_id, f"the column {name} does not say what the state says")
    if look.deep:
        _texts(look, pk, task_id, found)
    if leased or "claim" in found:
        look.lease(pk, task_id, found.get("claim", ""))
    _needs(look, task_id, found.get("dependencies", ()), look.needs.of(pk), unmet)
    labels = sorted(label for _, label in look.labels.of(pk))
    if labels != sorted(found.get("labels", ())):
        look.find("index", task_id, "the labels are not those of the state")


def _texts(look: Inspection, pk: int, task_id: str, found: dict[str, Any]) -> None:
    from ..core.search import listed, texts_of

    wanted = texts_of(found)
    look.words |= listed(wanted)
    if look.ask(_TEXTS, pk) != [wanted]:
        look.find("search", task_id, "the index does not hold its texts")


def _needs(look: Inspection, task_id: str, wanted: Any, rows: list[Any], unmet: int) -> None:
    if sorted(str(other) for _, other, _ in rows) != sorted(wanted):
        look.find("index", task_id, "the dependencies are not those of the state")
    if unmet != sum(status != "done" for _, _, status in rows):
        look.find("row", task_id, "its count of open dependencies is wrong")


def replay(look: Inspection, task_id: str, chain: list[Any]) -> None:
    """The changes lead to what they say that they lead to."""
    from ..core.archive import replayed

    try:
        replayed(tuple(body for _, _, _, body in chain))
    except (ValueError, KeyError, TypeError) as error:
        look.find("replay", task_id, str(error))


def key(look: Inspection, task_id: str, chain: list[Any], stored: list[Any]) -> None:
    """The idempotency key of the first change is the one that is looked up."""
    wanted = []
    first = canon.decode(chain[0][3]) if chain else {}
    if "key" in first:
        wanted = [(first["key"], first["request"])]
    if [row[1:] for row in stored] != wanted:
        look.find("index", task_id, "the creation key is not that of the first change")


def purges(look: Inspection, task_id: str, stored: list[Any], chain: list[Any]) -> None:
    """What the records say was replaced leads to the chain as it is."""
    from ..core.purge import fits, from_document

    look.purges += len(stored)
    if [row[1] for row in stored] != list(range(1, len(stored) + 1)):
        look.find("purge", task_id, "the record of a purge is missing")
    if any(look.sha256(body) != digest for _, _, digest, body in stored):
        look.find("purge", task_id, "the record of a purge does not match its digest")
        return
    found = [from_document(canon.decode(body)) for _, _, _, body in stored]
    if not fits(found, [row[2] for row in chain]):
        look.find("purge", task_id, "the record of a purge does not lead to the chain")
