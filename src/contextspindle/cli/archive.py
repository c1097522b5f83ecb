"""Commands on the ledger as a whole."""

from __future__ import annotations

import os

from ..config import wants_plain
from ..core import instant, text
from ..errors import InvalidInput, SpindleError, StoreCorrupt
from ..rendering import backed_up, merge_line, report_facts, report_lines
from . import reply
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..core.archive import Merge
    from ..workspace import Workspace
    from . import Call
    from .terminal import Meter

FINDINGS_STATUS = 7


def verify(call: Call) -> Reply:
    """Look whether the ledger is sound."""
    space = call.workspace()
    copies = space.copies()
    with _progress(call, "looked at", _held(space)) as progress:
        try:
            report = space.verify(deep=call.values["deep"], progress=progress)
        except StoreCorrupt as error:  # so badly that there is nothing more to list
            error.hint = StoreCorrupt.remedy
            if copies.days:
                error.hint += f" Daily copies are in {copies.folder}."
            raise
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
    facts = [*report_facts(report, copies)]
    return Reply(
        data,
        lines,
        status=status,
        picture=lambda face: face.report(report.findings, report.unchecked, facts),
    )


def backup(call: Call) -> Reply:
    """Copy the ledger into a new folder."""
    folder = os.path.abspath(call.values["folder"])
    space = call.workspace()
    with _progress(call, "checked", _held(space)) as progress:
        manifest = space.back_up(folder, progress=progress)
    line = f"{backed_up(manifest)} in {folder}\n"
    data = {**manifest, "at": instant.iso(manifest["at"]), "folder": folder}
    return Reply(data, line, folder)


def restore(call: Call) -> Reply:
    """Take a backup in."""
    from .. import workspace

    space = workspace.place_to_make(call.values["workspace"] or "")
    with _progress(call, "taken in") as progress:
        done = space.restore(call.values["backup"], progress=progress)
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
    space = call.workspace()
    if target == "-" and call.values["json"]:
        raise InvalidInput("The export itself goes to standard output; leave --json out")
    program = call.values["as"]
    # Where the lines themselves go to the terminal, a count among them would only disturb.
    shown = target == "-" and os.isatty(reply.OUT)
    with _Untold() if shown else _progress(call, "written", _held(space)) as progress:
        lines = (
            space.lines_as(program, progress=progress)
            if program
            else space.archive().lines(progress)
        )
        if target == "-":
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
        with _progress(call, "taken in") as progress:
            merge = archive.take_lines(lines, progress=progress)
    data = {"source": source, "dry_run": call.values["dry_run"], **_merge_data(merge)}
    said = "would be imported" if call.values["dry_run"] else "imported"
    return Reply(data, f"{said}: {merge_line(merge)}\n")


def _lines(source: str) -> Iterator[bytes]:
    """The lines of a file, or of standard input, ending at line feeds only."""
    try:
        with open(0 if source == "-" else source, "rb", closefd=source != "-") as file:
            yield from file
    except OSError as error:
        hint = None
        if os.path.isfile(os.path.join(source, "manifest.json")):
            hint = f"If it is a backup: 'contextspindle restore {source}' takes it in."
        raise InvalidInput(f"{source} cannot be read: {error.strerror}", hint=hint) from error


def _merge_data(merge: Merge) -> dict[str, object]:
    return {**merge._asdict(), "tasks": [*merge.tasks]}


class _Untold:
    """Nobody looks."""

    def __enter__(self) -> _Untold:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, _: int) -> None:
        pass


def _progress(call: Call, verb: str, total: Callable[[], int] = int) -> Meter | _Untold:
    """A line that says how far it is, for a person at a terminal: work may take long.

    ``total`` is asked only then; 0 where nobody knows how much there is.
    """
    asked = call.values["json"] or call.values["quiet"]
    if asked or not os.isatty(reply.ERR) or wants_plain():
        return _Untold()
    from .terminal import Meter

    return Meter(verb, total())


def _held(space: Workspace) -> Callable[[], int]:
    """How many tasks the ledger holds, as far as it can still say."""

    def count() -> int:
        try:
            return space.ledger().list(0, 1).total
        except SpindleError:
            return 0

    return count
