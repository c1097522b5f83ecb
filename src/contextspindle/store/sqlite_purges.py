"""What a purge reads of a SQLite ledger: the tasks that hold a text, and what is on record."""

from __future__ import annotations

from ..core.canon import decode
from ..core.digest import sha256
from ..core.purge import from_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.purge import Purge
    from ..errors import StoreCorrupt


def purges(
    ask: Callable[..., list[Any]], damaged: Callable[[str, str], StoreCorrupt], task_id: str
) -> tuple[Purge, ...]:
    """The purges of a task that are on record, in order, by ``ask``, which runs a query."""
    rows = ask(
        "SELECT digest, body FROM purges WHERE task = (SELECT pk FROM tasks WHERE id = ?)"
        " ORDER BY number",
        task_id,
    )
    if any(type(body) is not bytes or sha256(body) != digest for digest, body in rows):
        raise damaged(task_id, "the record of a purge does not match its digest")
    return tuple(from_document(decode(body)) for _, body in rows)


def holding(ask: Callable[..., list[Any]], forms: tuple[bytes, ...]) -> list[str]:
    """The ids of tasks that hold one of ``forms``, now or in their history."""

    def asked(column: str) -> str:
        return " OR ".join([f"instr({column}, ?)"] * len(forms))

    rows = ask(
        f"SELECT id FROM tasks WHERE {asked('state')}"  # noqa: S608 (our own words)
        f" OR pk IN (SELECT task FROM changes WHERE {asked('body')})"
        f" OR pk IN (SELECT task FROM purges WHERE {asked('body')}) ORDER BY pk",
        *(forms * 3),
    )
    return [task_id for (task_id,) in rows]
