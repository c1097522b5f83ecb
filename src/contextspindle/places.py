"""Where workspaces are looked for, where none is made unasked, and where trust is recorded.

The way up from a folder ends at the top of the git checkout, below HOME, and at a folder of
somebody else; it never reads what lies beyond.
"""

from __future__ import annotations

import os

from . import gitfiles
from .core.text import quoted
from .errors import WorkspaceNotFound, WorkspaceRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .config import Settings
    from .store.incidents import Incidents
    from .store.marks import Marks

FOLDER = ".contextspindle"
LEDGER = os.path.join("tasks", "ledger.sqlite3")


def here(start: str | None) -> str:
    """The true path of ``start``, or of the current folder.  WorkspaceNotFound if it is gone."""
    try:
        return os.path.realpath(start if start is not None else os.getcwd())
    except OSError as error:
        raise WorkspaceNotFound(f"The current folder does not exist: {error.strerror}") from error


def named(named: str) -> str:
    """The root that a name given by the caller means: the project's, or its workspace's folder."""
    root = here(os.path.expanduser(named) if named.startswith("~") else named)
    return os.path.dirname(root) if os.path.basename(root) == FOLDER else root


def walk(here: str, settings: Settings) -> tuple[str | None, str]:
    """The root of the nearest workspace, or None; and the folder where the way up ended."""
    folder = here
    while True:
        if folder == settings.home and folder != here:
            return None, folder
        holds = os.path.lexists(os.path.join(folder, FOLDER))
        top = os.path.lexists(os.path.join(folder, ".git"))
        if top and not _is_foreign(folder):
            # A linked worktree shares the workspace of its repository.
            shared = gitfiles.shared_place(folder)
            if shared != folder and not (holds and _is_in_use(folder, shared)):
                holds = os.path.lexists(os.path.join(shared, FOLDER))
                folder = shared if holds else folder
        if holds:
            _check_owner(folder)
            check_links(folder)
            return folder, folder
        above = os.path.dirname(folder)
        if top or folder in (settings.home, above) or _is_foreign(folder):
            return None, folder
        folder = above


def _is_in_use(top: str, shared: str) -> bool:
    """Whether a linked worktree keeps to a ledger of its own, rather than to the ``shared`` place.

    Where there is a workspace in both, its own was made there only if there is no main worktree: so
    it was done once.  Beside a main one it came in with a commit, or as a copy.
    """
    folder = os.path.join(top, FOLDER)
    if not os.path.lexists(os.path.join(folder, LEDGER)):
        return False
    if not os.path.lexists(os.path.join(shared, FOLDER)):
        return True
    return gitfiles.main_worktree(top) != shared and not gitfiles.tracked(folder)


def find(named_as: str, start: str | None, settings: Settings) -> str:
    """The root of the workspace for what runs in ``start``; ``named_as`` is one that was named.

    WorkspaceNotFound; WorkspaceRefused if the nearest one is not safe to use.
    """
    if chosen := named_as or settings.workspace:
        root = named(chosen)
        if not os.path.isdir(root):
            raise WorkspaceNotFound(f"{root} is not a folder", hint="Name a folder that exists.")
        if not os.path.lexists(os.path.join(root, FOLDER)):
            raise WorkspaceNotFound(
                f"There is no workspace in {root}",
                hint=f"This makes one: contextspindle init {quoted(root)}",
            )
        check_links(root)
        return root
    place = here(start)
    found, stopped = walk(place, settings)
    if found is None:
        above = f" nor above it, up to {stopped}" if stopped != place else ""
        around = _around(stopped, settings)
        raise WorkspaceNotFound(
            f"There is no workspace in {place}{above}",
            hint=f"The project around it, {quoted(around)}, has one: name it with --workspace to"
            " use it; 'contextspindle init' makes one here."
            if around
            else None,
        )
    return found


def _around(top: str, settings: Settings) -> str:
    """The root of the workspace of what is around the checkout at ``top``; empty without one."""
    above = os.path.dirname(top)
    if not os.path.lexists(os.path.join(top, ".git")) or settings.home in (top, above):
        return ""
    try:
        return walk(above, settings)[0] or ""
    except WorkspaceRefused:
        return ""


def _check_owner(root: str) -> None:
    # The folder itself too: in one that many may write to, anybody could have put it there.
    for place in (root, os.path.join(root, FOLDER)):
        if _is_foreign(place):
            raise WorkspaceRefused(
                "The nearest workspace is not used:",
                [f"{place} belongs to another user; name it with --workspace to use it"],
            )


def _is_foreign(folder: str) -> bool:
    return owner(folder) not in (os.geteuid(), -1)


def check_links(root: str) -> None:
    """WorkspaceRefused if the workspace in ``root`` is a symbolic link."""
    place = os.path.join(root, FOLDER)
    if os.path.islink(place):
        raise WorkspaceRefused(
            "The workspace cannot be used:",
            [f"{place} is a symbolic link; put a real folder there"],
        )


def owner(path: str) -> int:
    """The user that owns ``path``; -1 if there is nothing."""
    try:
        return os.stat(path).st_uid
    except OSError:
        return -1


def project(root: str, here: str) -> str:
    """The folder whose settings apply to a session that is begun in ``here``, with the workspace at
    ``root``, which may be elsewhere.  Empty if neither is given."""
    # The workspace of a linked worktree may lie in no checkout at all.
    start = here if here and gitfiles.shared_place_of(here) == root else root or here
    return (gitfiles.top_of(start) or start) if start else ""


# -- where a hook may make one


def unwelcome(root: str, settings: Settings) -> bool:
    """Whether no workspace may appear in ``root`` unasked."""
    return (
        root in (settings.home, os.sep, *settings.temporary)
        or not os.access(root, os.W_OK)
        or owner(root) != os.geteuid()
    )


def for_hook(start: str | None, settings: Settings) -> tuple[str, bool]:
    """Where the hooks of a session in ``start`` make a workspace if there is none; and whether that
    is a folder that stands for another."""
    place = here(start)
    root = gitfiles.shared_place_of(place) or place
    return (away(root, settings), True) if unwelcome(root, settings) else (root, False)


def of_project(start: str | None, settings: Settings) -> str:
    """The folder that decides for a session that is in ``start`` now.

    It is its program's project where ``start`` lies in that, so that a session which goes into
    another checkout there, such as a submodule, has one workspace all the while.  A project in
    which no workspace may appear unasked decides nothing.
    """
    place = here(start)
    for one in map(os.path.realpath, settings.projects):
        if place.startswith(one.rstrip(os.sep) + os.sep) and not unwelcome(one, settings):
            return one
    return place


def of_session(named_as: str, start: str | None, settings: Settings) -> str:
    """The root of the workspace that the hooks of a session in ``start`` use.

    WorkspaceNotFound if there is none yet; WorkspaceRefused.
    """
    if not (named_as or settings.workspace):
        start = of_project(start, settings)
    try:
        return find(named_as, start, settings)
    except WorkspaceNotFound:
        if named_as or settings.workspace:
            raise
        root, _ = for_hook(start, settings)
        if not os.path.isdir(os.path.join(root, FOLDER)):
            raise
        return root


def away(root: str, settings: Settings) -> str:
    """The folder of the user that stands for ``root``.  WorkspaceRefused without a home."""
    if not settings.state:
        raise WorkspaceRefused(
            f"No workspace is made in {root}:",
            ["it is no place for one, and without a home folder there is no other"],
            hint="Name one with CONTEXTSPINDLE_WORKSPACE.",
        )
    from .core.digest import sha256

    return os.path.join(settings.state, "places", sha256(os.fsencode(root))[:16])


def make_away(root: str) -> None:
    """Make such a folder, private to the user."""
    from .store.private import translated

    places = os.path.dirname(root)
    try:
        for folder in (os.path.dirname(places), places, root):  # the mode is that of the last one
            os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise translated(error, root) from error


def as_line(path: str) -> str:
    """``path`` on one line: a line feed in it must not look like the end of an entry."""
    return path.replace("\\", "\\\\").replace("\n", "\\n")


def accepted_list(settings: Settings) -> str:
    """The file of the workspaces that the user trusts.  WorkspaceRefused without a home."""
    if not settings.state:
        raise WorkspaceRefused(
            "The workspace cannot be accepted:", ["there is no home folder to remember it in"]
        )
    return os.path.join(settings.state, "accepted")


def incidents(folder: str) -> Incidents:
    """The incidents of the workspace in ``folder``."""
    from .store.incidents import Incidents

    return Incidents(os.path.join(folder, "incidents.jsonl"))


def marks(settings: Settings) -> Marks | None:
    """The marks of sessions; None without a home to keep them in."""
    if not settings.state:
        return None
    from .store.marks import Marks

    return Marks(os.path.join(settings.state, "marks"))
