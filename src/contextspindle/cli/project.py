"""Commands about the project as a whole."""

from __future__ import annotations

from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Call


def init(call: Call) -> Reply:
    """Make a workspace, or say that it is there."""
    from .. import workspace

    named = call.values["path"] or call.values["workspace"] or ""
    place = workspace.place_to_make(named)
    made = place.make()
    lines = [f"wrote {path}" for path in made.wrote]
    lines.insert(0, f"workspace: {made.root}" + ("" if made.wrote else " (all there already)"))
    journal = "wal" if made.journal == "wal" else "rollback"
    if journal == "rollback":
        set_so = place.settings.journal == journal
        why = "as set" if set_so else "because this file system cannot share memory safely"
        lines.append(f"journal: rollback, {why}")
    if shared := place.outlived_by():
        lines.append(
            "This is a linked worktree: 'git worktree remove' takes the workspace with it. All"
            f" worktrees share one in {shared}"
        )
    accepted = place.accepted()
    if call.values["accept"]:
        lines.append(f"accepted, as recorded in {place.accept()}")
        accepted = True
    elif not accepted:
        lines.append(
            "This workspace is tracked by git: it came with the repository. Nothing of it is handed"
            " to an agent unasked until you run: contextspindle init --accept"
        )
    data = {
        "root": made.root,
        "wrote": list(made.wrote),
        "journal": journal,
        "accepted": accepted,
    }
    return Reply(data, "\n".join(lines) + "\n", made.root)
