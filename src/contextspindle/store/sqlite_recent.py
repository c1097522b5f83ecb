"""The latest changes of a SQLite ledger, across its tasks: found by number, never by a scan."""

from __future__ import annotations

from ..core import canon, change
from ..core.digest import NONE, chained
from ..core.task import LOOK_BACK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.change import Change
    from ..errors import StoreCorrupt

# Each with the digest that it is chained to.  CROSS keeps SQLite to this order of the tables: the
# newest changes first, and of each its task.
_FOUND = (
    "SELECT t.id, c.version, c.digest, c.body, p.digest FROM changes AS c"
    " CROSS JOIN tasks AS t ON t.pk = c.task"
    " LEFT JOIN changes AS p ON p.task = c.task AND p.version = c.version - 1"
)
OF_ALL = f"{_FOUND} ORDER BY c.seq DESC LIMIT ?"
OF_TASK = (
    f"{_FOUND} WHERE c.task = (SELECT pk FROM tasks WHERE id = ?)"  # noqa: S608 (our own words)
    " ORDER BY c.version DESC LIMIT ?"
)
OF_ACTOR = (
    f"{_FOUND} WHERE c.seq > (SELECT max(seq) FROM changes) - ?"  # noqa: S608 (our own words)
    " AND instr(c.body, ?) ORDER BY c.seq DESC LIMIT ?"
)


def recent(
    ask: Callable[..., list[Any]],
    damaged: Callable[[str, str], StoreCorrupt],
    limit: int,
    actor: str,
    task_id: str,
) -> list[Change]:
    """What :meth:`.ports.ReadTxn.recent` promises, by ``ask``, which runs a query."""
    if task_id:
        rows = ask(OF_TASK, task_id, limit if not actor else LOOK_BACK)
    elif actor:
        # As the canonical bytes have it; inside of a text the marks would be escaped.
        wanted = canon.encode({"actor": actor})[1:-1]
        rows = ask(OF_ACTOR, LOOK_BACK, wanted, limit)
    else:
        rows = ask(OF_ALL, limit)
    found = []
    for name, version, digest, body, previous in rows:
        before = NONE if version == 1 else previous
        if before is None or chained(name, before, body) != digest:
            raise damaged(name, f"the chain breaks at version {version}")
        step = change.from_document(canon.decode(body))
        if actor and step.actor != actor:
            continue
        found.append(step)
        if len(found) == limit:
            break
    return found
