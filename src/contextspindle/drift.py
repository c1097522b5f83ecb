"""Drift: what has moved in the checkout of a session since its snapshot was saved.

Only git's own files and the times of the work's files are read.  Starting git would cost a hook
more than all the rest of it, and would run what the configuration of a repository names.
"""

from __future__ import annotations

import os

from . import gitfiles
from .core.text import folded, shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

FEW = 200
"""A hook looks at every file of a checkout that tracks no more; in a larger one, at those alone
that the session has changed."""
MANY = 20_000
"""As many, where nobody waits for a harness."""

NAMED = 5
"""The most files that are named of each kind."""

_MADE_A_COMMIT = ("commit", "cherry-pick", "revert", "merge", "pull", "am", "rebase")


def place(folder: str) -> dict[str, str]:
    """What to remember at a save of where the session works: checkout, commit and branch.

    Empty outside of a checkout.
    """
    top = gitfiles.checkout(os.path.realpath(folder)) if folder else None
    if top is None:
        return {}
    commit, branch = gitfiles.head(top)
    found = {"top": top, "commit": commit, "branch": branch}
    return {name: value for name, value in found.items() if value}


def since(
    place: dict[str, Any], at: int, files: Iterable[str], *, thorough: bool = False
) -> list[str]:
    """Lines on what has moved since ``at`` (milliseconds) in a place that :func:`place` gave.

    ``files`` are the paths of those that the session changed: the only ones that are looked at in a
    checkout that tracks more than :data:`FEW` files, or :data:`MANY` if this is to
    be ``thorough``.  Nothing if nothing has moved.
    """
    top = place.get("top", "")
    if not top:
        return []
    if not os.path.isdir(top):
        return [f"The folder that it worked in is gone: {top}"]
    lines = [*_commits(top, place.get("commit", "")), *_branch(top, place.get("branch", ""))]
    changed = _files(top, at, files, MANY if thorough else FEW)
    if changed:
        lines.append("Changed on disk since the save: " + ", ".join(changed) + ".")
    return lines


def _commits(top: str, before: str) -> list[str]:
    now, _ = gitfiles.head(top)
    if now == before or not now:
        return []
    moves = gitfiles.moves_of_head(top)
    at = next((at for at in range(len(moves) - 1, -1, -1) if moves[at][0] == before), None)
    if before and at is None:
        return [f"HEAD has moved since the save, from {before[:12]} to {now[:12]}."]
    later = moves[at + 1 :] if at is not None else moves
    made = [move for move in later if move[1].startswith(_MADE_A_COMMIT)]
    if not made:
        return [f"HEAD has moved since the save, to {now[:12]}."]
    commit, what = made[-1]
    subject = shortened(folded(what.partition(": ")[2]), 80)
    count = f"{len(made)} commits" if len(made) > 1 else "1 commit"
    latest = f'{commit[:7]} "{subject}"'
    return [f"{count} since the save, the latest {latest}: next steps may be outdated."]


def _branch(top: str, before: str) -> list[str]:
    _, now = gitfiles.head(top)
    if now == before:
        return []
    return [f"The branch is now {now or 'none'}; at the save it was {before or 'none'}."]


def _files(top: str, at: int, files: Iterable[str], limit: int) -> list[str]:
    """The files that changed, came or went: a few by name, the others by their number."""
    tracked = gitfiles.names(top, limit)
    listed = sorted({os.path.relpath(file, top) for file in files}) if tracked is None else tracked
    moment = at * 1_000_000
    changed = []
    folders = {""}
    for name in listed:
        folder, slash, _ = name.rpartition("/")
        if slash:
            folders.add(folder)
        try:
            found = os.lstat(f"{top}/{name}")
        except OSError:
            if _touched(f"{top}/{folder}", moment):
                changed.append(f"{name} (gone)")
            continue
        if found.st_mtime_ns > moment and found.st_mode & 0o170000 != 0o040000:
            changed.append(name)
    if tracked is not None:
        changed += _fresh(top, moment, folders, set(tracked))
    shown = [shortened(folded(name), 120) for name in changed[:NAMED]]
    if len(changed) > NAMED:
        shown.append(f"{len(changed) - NAMED} more")
    return shown


def _touched(folder: str, moment: int) -> bool:
    try:
        return os.stat(folder).st_mtime_ns > moment
    except OSError:
        return True  # it went with its file


def _fresh(top: str, moment: int, folders: set[str], tracked: set[str]) -> list[str]:
    """Files that nobody tracks yet, in folders that hold tracked ones."""
    ignored = _ignored(top)
    found = []
    for folder in sorted(folders):
        if not _touched(f"{top}/{folder}", moment):
            continue
        try:
            entries = sorted(os.scandir(f"{top}/{folder}"), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if name in tracked or entry.name in ignored or _suffix(entry.name) in ignored:
                continue
            try:
                is_new = entry.stat(follow_symlinks=False).st_ctime_ns > moment
                if is_new and entry.is_file(follow_symlinks=False):
                    found.append(f"{name} (new)")
            except OSError:
                continue
    return found


def _suffix(name: str) -> str:
    return "*" + name[name.rfind(".") :] if "." in name else ""


def _ignored(top: str) -> set[str]:
    """The plain names and endings of the first ignore file: what is built stands there."""
    try:
        with open(f"{top}/.gitignore", encoding="utf-8", errors="replace") as file:
            return {line.strip().strip("/") for line in file if not line.startswith("#")}
    except OSError:
        return set()
