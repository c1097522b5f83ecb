"""Commands on the ledger as a whole."""

from __future__ import annotations

import os

from ..core import instant, text
from ..errors import InvalidInput
from ..rendering import backed_up, merge_line, report_lines
from . import reply
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..core.archive import Merge
    from . import Call

FINDINGS_STATUS = 7


def verify(call: Call) -> Reply:
    """Look whether the ledger is sound."""
    space = call.workspace()
    report = space.verify(deep=call.values["deep"], progress=_progress("looked at"))
    copies = space.copies()
    data = {
        "sound": not report.findings,
        "tasks": report.tasks,
        "changes": report.changes,
        "deep": report.deep,
        "purges": report.purges,
        "findings": [one._asdict() for one in report.findings],
        "unchecked": [*report.unchecked],
        "daily_copies": {**copies._asdict(), "days": [*copies.days]},
    }
    status = FINDINGS_STATUS if report.findings else 0
    lines = "".join(f"{line}\n" for line in report_lines(report, copies))
    return Reply(data, lines, status=status)


def backup(call: Call) -> Reply:
    """Copy the ledger into a new folder."""
    folder = os.path.abspath(call.values["folder"])
    manifest = call.workspace().back_up(folder, progress=_progress("checked"))
    line = f"{backed_up(manifest)} in {folder}\n"
    data = {**manifest, "at": instant.iso(manifest["at"]), "folder": folder}
    return Reply(data, line, folder)


def restore(call: Call) -> Reply:
    """Take a backup in."""
    from .. import workspace

    space = workspace.place_to_make(call.values["workspace"] or "")
    done = space.restore(call.values["backup"], progress=_progress("taken in"))
    lines = [f"restored into {space.root}: {merge_line(done.merge)}"]
    if done.kept:
        lines.append(f"the ledger as it was is kept in {done.kept}")
    data = {
        "workspace": space.root,
        "backup": {**done.manifest, "at": instant.iso(done.manifest["at"])},
        "kept": done.kept or None,
        **_merge_data(done.merge),
    }
    return Reply(data, "".join(f"{line}\n" for line in lines))


def export(call: Call) -> Reply:
    """Write the whole ledger as lines of JSON."""
    target = call.values["file"]
    progress = _progress("written")
    space = call.workspace()
    program = call.values["as"]
    lines = (
        space.lines_as(program, progress=progress) if program else space.archive().lines(progress)
    )
    if target == "-":
        if call.values["json"]:
            raise InvalidInput("The export itself goes to standard output; leave --json out")
        for line in lines:
            reply.put_bytes(reply.OUT, line)
        return Reply(None, "")
    try:
        count = space.write_file(target, lines)
    except FileExistsError as error:
        raise InvalidInput(f"{target} is there already; an export never overwrites") from error
    count -= not program  # an archive begins with a line of its own
    data = {"file": os.path.abspath(target), "tasks": count}
    return Reply(data, f"{text.counted(count, 'task')} exported to {target}\n", data["file"])


def take_in(call: Call) -> Reply:
    """Take an export in."""
    if call.values["from"]:
        from .adopt import take_in as adopt

        return adopt(call)
    if call.values["write"]:
        raise InvalidInput("--write belongs to --from; an export is imported without it")
    archive = call.workspace().archive()
    source = call.values["file"]
    lines = _lines(source)
    if call.values["dry_run"]:
        merge = archive.rehearse(lines)
    else:
        merge = archive.take_lines(lines, progress=_progress("taken in"))
    data = {"source": source, "dry_run": call.values["dry_run"], **_merge_data(merge)}
    said = "would be imported" if call.values["dry_run"] else "imported"
    return Reply(data, f"{said}: {merge_line(merge)}\n")


def _lines(source: str) -> Iterator[bytes]:
    """The lines of a file, or of standard input, ending at line feeds only."""
    try:
        with open(0 if source == "-" else source, "rb", closefd=source != "-") as file:
            yield from file
    except OSError as error:
        raise InvalidInput(f"{source} cannot be read: {error.strerror}") from error


def _merge_data(merge: Merge) -> dict[str, object]:
    return {**merge._asdict(), "tasks": [*merge.tasks]}


def _untold(_: int) -> None:
    """Nobody looks."""


def _progress(verb: str) -> Callable[[int], None]:
    """A line that counts, on a terminal only, for work that takes long enough to see it."""
    if not os.isatty(reply.ERR):
        return _untold

    def tell(count: int) -> None:
        if not count % 1_000:
            reply.put(reply.ERR, f"\r{count:,} tasks {verb}")

    return tell
