"""Commands that remember and recall."""

from __future__ import annotations

import os

from ..core import instant, text
from ..errors import InvalidInput
from ..rendering import hit_lines, kept_lines, memory_lines
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..core.memory import Hit, Item
    from . import Call


def remember(call: Call) -> Reply:
    """Keep a short text for later."""
    from ..core.memory import Note

    values = call.values
    given = values["text"]
    note = Note(
        call.standard_input().removesuffix("\n") if given == "-" else given,
        by=values["by"] or "",
        at=_instant(values["at"]),
        session=values["session"] or "",
        source=values["source"] or "",
        labels=tuple(values["label"]),
        key=_said(values, "key"),
        pinned=values["pin"],
    )
    kept = call.workspace().memory().remember(note)
    item = kept.item
    data = {
        "item": _item_data(item),
        "merged": kept.merged,
        "masked": kept.masked,
        "replaced": kept.replaced,
        "unlabelled": [*kept.unlabelled],
        "shrunk": [*kept.shrunk],
        "dropped": [*kept.dropped],
    }
    return Reply(data, _text(kept_lines(kept)), item.id)


def recall(call: Call) -> Reply:
    """Find what was remembered."""
    from .. import workspace
    from ..core.memory import about

    values = call.values
    query, limit, task = values["query"], values["limit"], values["task"]
    space = call.workspace()
    only = {name: _said(values, name) for name in ("session", "source", "label")}
    if task:
        if limit is None and query is not None and query.isascii() and query.isdigit():
            limit, query = int(query[:9]), None
        if query is not None:
            raise InvalidInput("Give a query or --task, not both")
        query = about(space.ledger().show(task))
    elif query is None:
        raise InvalidInput("There is nothing to look for", hint="Give a query, or --task ID.")
    hits = space.memory().recall(query, 10 if limit is None else limit, **only)
    now = workspace.now()
    data = {"query": query, "hits": [_hit_data(hit, now) for hit in hits]}
    ids = "\n".join(hit.item.id for hit in hits)
    return Reply(data, _text(hit_lines(hits, now)), ids)


def stats(call: Call) -> Reply:
    """Show how much is remembered."""
    space = call.workspace()
    counts, limits = space.memory().stats()
    data = {
        **counts._asdict(),
        "oldest": instant.iso(counts.oldest) if counts.items else "",
        "newest": instant.iso(counts.newest) if counts.items else "",
        "limits": limits._asdict(),
        "file": space.memory_path,
        "file_bytes": _file_bytes(space.memory_path),
    }
    lines = [
        *memory_lines(counts, limits),
        f"file: {text.one_line(space.memory_path)} ({data['file_bytes']:,} bytes)",
    ]
    return Reply(data, _text(lines))


def forget(call: Call) -> Reply:
    """Take one item out of the memory."""
    item = call.workspace().memory().forget(call.values["item"])
    return Reply({"id": item.id}, f"{item.id} forgotten\n", item.id)


def _said(values: dict[str, Any], option: str) -> str:
    """What was given for an option; empty if it was left out.

    InvalidInput for an empty one, as of a variable that is not set: without the key a value would
    replace nothing, without the filter everything would answer.
    """
    given: str | None = values[option]
    if given is not None and not given.strip():
        raise InvalidInput(f"--{option} is empty", hint="Leave it out, or give it a value.")
    return given or ""


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _instant(given: str | None) -> int | None:
    if not given:
        return None
    try:
        return instant.from_iso(given)
    except ValueError as error:
        raise InvalidInput(
            f"--at: {error}", hint="Write 2026-11-30, or 2026-11-30T09:40:00Z."
        ) from None


def _file_bytes(path: str) -> int:
    total = 0
    for tail in ("", "-wal"):
        try:
            total += os.stat(path + tail).st_size
        except OSError:
            continue
    return total


def _item_data(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "text": item.text,
        "tier": item.tier,
        "at": instant.iso(item.at),
        "by": item.by,
        "session": item.session,
        "source": item.source,
        "labels": [*item.labels],
        "key": item.key,
        "pinned": item.pinned,
        "times": item.times,
        "last": instant.iso(item.last),
    }


def _hit_data(hit: Hit, now: int) -> dict[str, Any]:
    return {
        **_item_data(hit.item),
        "score": hit.score,
        "age": instant.age(hit.item.at, now),
        "why": [*hit.why],
    }
