"""Commands on the memory as a whole."""

from __future__ import annotations

import os

from ..core import text
from .archive import FINDINGS_STATUS
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..actions.memory import Taken
    from . import Call


def sync(call: Call) -> Reply:
    """Remember what a transcript says."""
    from .. import workspace

    values = call.values
    path = os.path.abspath(values["transcript"])
    adapter = workspace.harness(values["harness"] or "", transcript=path)
    session = values["session"] or os.path.splitext(os.path.basename(path))[0]
    taken = call.workspace().memory().sync(session, adapter.read(path, values["session"] or ""))
    return _taken({"transcript": path, "session": session}, taken)


def take_in(call: Call) -> Reply:
    """Take in the memory of the original."""
    space = call.workspace()
    path = os.path.abspath(call.values["file"]) if call.values["file"] else ""
    taken = space.memory().take_in_original(space.original_memory(path))
    return _taken({"file": path}, taken)


def verify(call: Call) -> Reply:
    """Look whether the memory is sound."""
    found = call.workspace().memory().verify()
    lines = [*found, f"memory: {len(found)} findings" if found else "memory: sound"]
    data = {"sound": not found, "findings": found}
    return Reply(
        data,
        "".join(f"{text.one_line(line)}\n" for line in lines),
        status=FINDINGS_STATUS if found else 0,
    )


def rebuild(call: Call) -> Reply:
    """Make a fresh memory of what can be read of the present one."""
    memory = call.workspace().memory()
    done = memory.rebuild(force=call.values["force"])
    if done is None:
        items = memory.stats()[0].items
        said = "memory: sound, so nothing was done; --force makes a fresh one all the same\n"
        return Reply({"items": items, "lost": 0, "kept": ""}, said, "")
    line = f"{done.items:,} items saved, {done.lost:,} lost; the file as it was: {done.kept}\n"
    return Reply(done._asdict(), line, done.kept)


def _taken(data: dict[str, Any], taken: Taken) -> Reply:
    line = (
        f"{taken.added} remembered, {taken.merged} known already, {taken.before} taken before;"
        f" {taken.shrunk} shrunk and {taken.dropped} let go to make room\n"
    )
    if taken.cut:
        line += f"{text.counted(taken.cut, 'text')} too long: cut, and labelled 'cut'\n"
    if taken.unlabelled:
        line += f"{text.counted(taken.unlabelled, 'label')} too many, the earlier ones: gone\n"
    return Reply({**data, **taken._asdict()}, line)
