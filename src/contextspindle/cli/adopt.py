"""Importing the tasks of another program, which is read and never changed."""

from __future__ import annotations

from ..core import text
from ..errors import InvalidInput
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.foreign import Report
    from . import Call

SHOWN = 50
"""The most problems that the text lists; the document has all of them."""


def take_in(call: Call) -> Reply:
    """Take the tasks of another program in, or say what that would come to."""
    from .. import workspace

    values = call.values
    if values["write"] and values["dry_run"]:
        raise InvalidInput("--write and --dry-run are opposites; give one of them")
    dry = not values["write"]
    space = call.workspace()
    report = space.adopter().take(workspace.gathered(values["file"], values["from"]), dry=dry)
    data = {
        "source": values["file"],
        "from": report.program,
        "dry_run": dry,
        "created": report.created,
        "updated": report.updated,
        "skipped": report.skipped,
        "conflicts": report.conflicts,
        "problems": [one._asdict() for one in report.problems],
        "ids": [*report.ids],
    }
    return Reply(data, "".join(f"{line}\n" for line in _lines(report, dry=dry)))


def _lines(report: Report, *, dry: bool) -> list[str]:
    lines = [
        f"{'would be imported' if dry else 'imported'} from {report.program}:"
        f" {report.created} new, {report.updated} brought forward,"
        f" {report.skipped} passed over, {report.conflicts} conflicts"
    ]
    for one in report.problems[:SHOWN]:
        said = text.shortened(text.one_line(one.message), 500)
        lines.append(f"  {one.kind}: {text.one_line(one.where)}: {said}")
    if len(report.problems) > SHOWN:
        lines.append(f"  and {len(report.problems) - SHOWN} more; --json lists all of them")
    if dry and (report.created or report.updated):
        lines.append("nothing was written; the same with --write does it")
    return lines
