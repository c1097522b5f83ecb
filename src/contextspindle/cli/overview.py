"""Commands that show many tasks at once: a board, trees, and what happened last."""

from __future__ import annotations

from ..core import text
from ..core.task import LOOK_BACK
from ..rendering import (
    column_data,
    column_lines,
    event_data,
    event_line,
    tree_data,
    tree_lines,
)
from .reply import Reply
from .task import BEGIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..actions.overview import Tree
    from . import Call


def board(call: Call) -> Reply:
    """Show what is open, active, blocked and done."""
    limit = call.values["limit"] if call.values["limit"] is not None else 10
    columns = call.workspace().overview().board(limit)
    lines = [line for one in columns for line in column_lines(one)]
    note = ""
    if not any(one.page.total for one in columns):
        note = BEGIN
    elif any(len(one.page.items) < one.page.total for one in columns):
        note = "more: contextspindle task list --status STATUS"
    data = {"columns": [column_data(one) for one in columns]}
    said = _text([*lines, *([note] if note else [])])
    return Reply(data, said, picture=lambda face: face.board(columns, note))


def tree(call: Call) -> Reply:
    """Show a task with its parts, or the trees of what is live."""
    found = call.workspace().overview().tree(call.values["id"] or "")
    empty = (
        "Nothing is live. 'contextspindle task create GOAL' records a task, and with --parent ID a"
        " part of one."
    )
    note = _left_out(found)
    lines = [*(tree_lines(found) if found.branches else (empty,)), *note]
    data, more = tree_data(found), "".join(note)
    return Reply(data, _text(lines), picture=lambda face: face.tree(found, empty, more))


def _left_out(found: Tree) -> list[str]:
    from ..actions.overview import LIVE_TASKS

    if found.live is None or found.live <= LIVE_TASKS:
        return []
    return [f"from {LIVE_TASKS} of {found.live:,} live tasks; the rest: contextspindle task inbox"]


def log(call: Call) -> Reply:
    """Show what was changed last."""
    values = call.values
    limit = values["limit"] if values["limit"] is not None else 20
    actor = values["by"] or ""
    found = call.workspace().overview().log(limit, actor=actor, task=values["task"] or "")
    data = {"changes": [event_data(one) for one in found.events], "more": found.more}
    empty = BEGIN
    if actor:
        who = text.shortened(text.one_line(actor), 60)
        empty = f"No change by {who!r} is among the latest {LOOK_BACK:,}."
    lines = [event_line(one) for one in found.events] or [empty]
    return Reply(data, _text(lines), picture=lambda face: face.log(found, empty))


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
