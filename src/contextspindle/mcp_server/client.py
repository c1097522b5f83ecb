"""One client of the server: which workspaces it may reach, and the claims that it holds.

A call is about the workspace that its argument names; else the one named when the server was
started, else the one that the client's roots lead to, else the one that the folder leads to in
which the server runs.  It is looked for anew in each call.  An argument leads nowhere that the
client has not opened: what lies outside of its folders is refused.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from .. import config, gitfiles, workspace
from ..core import text
from ..core.claims import task_of
from ..errors import InvalidInput, NotFound, WorkspaceNotFound, WorkspaceRefused
from ..workspace import Workspace
from .wording import ALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..config import Settings


class OpenWorkspace(Workspace):
    """A workspace whose files stay open from call to call, in the thread that opened them."""

    def __init__(self, root: str, settings: Settings) -> None:
        super().__init__(root, settings)
        self._files = self._seen()
        self._store = super().store()
        self._remembered = super()._memory_store()

    def store(self) -> Any:
        """The store of this workspace's ledger, the same in every call."""
        return self._store

    def _memory_store(self) -> Any:
        self._remembered.forget()
        return self._remembered

    def _seen(self) -> tuple[tuple[int, ...], ...]:
        return _identity(self.path), _identity(self.memory_path)

    def fits(self, found: Workspace) -> bool:
        """Whether this is what ``found`` would open: the same files, under the same settings.

        A file that was written over from outside is another one.  So is one into which SQLite has
        folded its log: it is opened anew then, which is seldom and cheap.
        """
        return self.settings == found.settings and self._files == self._seen()

    def close(self) -> None:
        """Give the files back."""
        self._store.close()
        self._remembered.close()


class Client:
    """What is known of one client, from call to call."""

    def __init__(
        self, named: str = "", *, claims: bool = True, opened: threading.local | None = None
    ) -> None:
        """``named`` is the workspace given when the server was started.

        ``claims``: whether tokens are kept from call to call; ``opened`` is what several clients of
        one process share of open ledgers.

        InvalidInput for a setting out of form.
        """
        self._settings = settings = config.load()
        self.named = named or settings.workspace
        self.folder = os.path.realpath(os.getcwd())
        self.claims = claims
        self.session = settings.session
        self.reply_bytes = settings.reply_bytes
        self.roots: tuple[str, ...] | None = None
        """The folders that the client has opened; None where it was not asked, or has none."""
        self.tells = True
        """Whether it answers when it is asked for them."""
        self.late = 0
        """How often it did not answer in time since it last told of a change."""
        self.words = ALL
        """What is said to it, by the tools that it was offered."""
        self._tokens: dict[tuple[str, str], str] = {}
        self._open = opened or threading.local()

    # -- which workspace

    def find(self, named: str = "") -> Workspace:
        """The workspace of a call; ``named`` is its argument.

        WorkspaceNotFound; WorkspaceRefused for one that the client has not opened; InvalidInput
        if its roots lead to several.
        """
        if named:
            return self._kept(self._within(named))
        settings = self._settings
        if self.named:
            return self._kept(workspace.find(self.named, settings=settings))
        if not self.roots:
            return self._kept(workspace.find(start=self.folder, settings=settings))
        found = {}
        for root in self.roots:
            try:
                one = workspace.find(start=root, settings=settings)
            except NotFound:
                continue
            found[one.root] = one
        if not found:
            raise WorkspaceNotFound(f"There is no workspace in {', '.join(self.roots)}")
        if len(found) > 1:
            raise InvalidInput(
                f"Several workspaces are open: {', '.join(sorted(found))}",
                hint="Name one with the argument workspace.",
            )
        return self._kept(found.popitem()[1])

    def fuse_place(self, named: str = "") -> Workspace:
        """Where the hooks of a session that runs here keep what they save."""
        try:
            return self.find(named)
        except WorkspaceNotFound:
            start = self.roots[0] if self.roots else self.folder
            return workspace.for_fuse(self.named, start=start, settings=self._settings)

    def place_to_restore(self, named: str = "") -> Workspace:
        """The workspace of a call, or where one is to be made for it.

        None is made in a home folder, nor at the root: there a user does it.
        """
        try:
            return self.find(named)
        except WorkspaceNotFound:
            start = self._inside(named) if named else (self.roots or (self.folder,))[0]
            place = workspace.place_to_make(self.named, start=start, settings=self._settings)
            if place.root in (os.sep, place.settings.home):
                raise
            return place

    def path(self, space: Workspace, given: str) -> str:
        """The path ``given`` in a call, from the top of the workspace; in a linked worktree, which
        shares its workspace with others, from the top of that.

        WorkspaceRefused if it leads out of the client's folders.
        """
        place = _real(_checkout(space.root, self.roots or (self.folder,)), given)
        if not _is_below(place, (space.root, *self._bounds())):
            raise WorkspaceRefused(
                f"{_shown(given)} is not used:",
                [f"{_shown(place)} lies outside of the folders that are open here"],
                hint="Use a path inside the project, or do it on the command line.",
            )
        return place

    def _within(self, named: str) -> Workspace:
        return workspace.find(start=self._inside(named), settings=self._settings)

    def _inside(self, named: str) -> str:
        """The folder ``named``, if the client may reach it."""
        bounds = self._bounds()
        place = _real((bounds or (self.folder,))[0], named)
        if bounds and not _is_below(place, bounds):
            raise WorkspaceRefused(
                f"The workspace {_shown(named)} is not used:",
                [f"it lies outside of the folders that are open here: {', '.join(bounds)}"],
                hint="Leave the argument out, or open that folder in your program.",
            )
        if not os.path.isdir(place):
            raise WorkspaceNotFound(f"{_shown(place)} is not a folder")
        return place

    def _bounds(self) -> tuple[str, ...]:
        """The folders that arguments may lead to; empty where nothing says which they are."""
        opened: Iterable[str] = self.roots or (self.named or self.folder,)
        found = []
        for one in opened:
            try:
                root = workspace.find(self.named, start=one, settings=self._settings).root
            except NotFound:
                root = gitfiles.shared_place_of(one) or ""
            own = root and _checkout(root, (one,))
            found += [place for place in (own, root, one if self.roots else "") if place]
        return tuple(dict.fromkeys(os.path.realpath(place) for place in found))

    def _kept(self, found: Workspace) -> Workspace:
        """``found``, opened once in each thread and kept open while it is the same."""
        spaces: dict[str, OpenWorkspace] = self._open.__dict__
        self.reply_bytes = found.settings.reply_bytes
        kept = spaces.get(found.folder)
        if kept and kept.fits(found):
            return kept
        if kept:
            kept.close()
        spaces[found.folder] = opened = OpenWorkspace(found.root, self._settings)
        return opened

    def copy_daily(self) -> None:
        """Make the daily copy of what this thread has just written, where it is due."""
        spaces: dict[str, OpenWorkspace] = self._open.__dict__
        for space in spaces.values():
            space.copy_daily()

    # -- claims

    def token(self, space: Workspace, task_id: str) -> str:
        """The token under which this client writes the task; empty if it has claimed it not."""
        token = self._tokens.get((space.folder, task_id), space.settings.claim)
        return token if task_of(token) == task_id else ""

    def keep(self, space: Workspace, task_id: str, token: str) -> None:
        """Carry ``token`` in the writes of this task from now on."""
        if self.claims:
            self._tokens[space.folder, task_id] = token

    def drop(self, space: Workspace, task_id: str) -> None:
        """Carry no token for this task any more."""
        self._tokens.pop((space.folder, task_id), None)
        if self.claims and task_of(space.settings.claim) == task_id:
            self._tokens[space.folder, task_id] = ""  # nor the one that it was started with

    def held(self, space: Workspace) -> list[str]:
        """The tasks that this client has claimed in a workspace."""
        return [
            task
            for (folder, task), token in [*self._tokens.items()]
            if token and folder == space.folder
        ]


def folder_of(uri: str) -> str:
    """The folder that a root's URI names; empty if it is none of this machine."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = os.fsdecode(unquote_to_bytes(parts.path))
    return os.path.realpath(path) if path.startswith("/") else ""


def _shown(path: str) -> str:
    """A path that somebody gave, as it stands in a message."""
    return text.shortened(text.one_line(path), 300)


def _real(base: str, given: str) -> str:
    """The path ``given`` from the folder ``base``; ``~`` is a home folder, as in a shell."""
    if "\0" in given:
        raise InvalidInput("A path holds no null character", hint="")
    return os.path.realpath(os.path.join(base, os.path.expanduser(given)))


def _checkout(root: str, folders: Iterable[str]) -> str:
    """The top of the first checkout around ``folders`` that shares the workspace at ``root``; else
    ``root`` itself."""
    tops = filter(None, map(gitfiles.checkout, folders))
    return next((top for top in tops if gitfiles.shared_place(top) == root), root)


def _is_below(place: str, folders: Iterable[str]) -> bool:
    return any(place == one or place.startswith(one.rstrip(os.sep) + os.sep) for one in folders)


def _identity(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
