"""One client of the server: which workspaces it may reach, and the claims that it holds.

A call is about the workspace that its argument names; else the one named when the server was
started, else the one that the client's roots lead to, else the one that the folder leads to in
which the server runs.  It is looked for anew in each call.  An argument leads nowhere that the
client has not opened: what lies outside of its folders is refused.  A path in an argument is taken
from where the client works, which may be a subfolder or a linked worktree of the project.
"""

from __future__ import annotations

import errno
import os
import threading
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from .. import config, gitfiles, workspace
from ..core import text
from ..core.claims import task_of
from ..core.value import Value
from ..errors import InvalidInput, NotFound, SpindleError, WorkspaceNotFound, WorkspaceRefused
from ..workspace import Workspace
from .wording import ALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..config import Settings


KEPT = 2
"""How many workspaces stay open in a thread: those that were used last."""
_SPARE = 8
"""How many files a call opens at most that finds its workspace closed."""


class Folders(Value):
    """The folders that a client has open; none where it cannot tell, or has none."""

    here: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    """What it said, if none of that is a folder of this machine."""
    said: bool = True
    """Whether what it can tell is known."""


UNSAID = Folders(said=False)
"""Of a client that can tell them, and has not yet."""


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
        self,
        named: str = "",
        *,
        claims: bool = True,
        alone: bool = True,
        opened: threading.local | None = None,
    ) -> None:
        """``named`` is the workspace given when the server was started.

        ``claims``: whether tokens are kept from call to call; ``alone``: whether nobody else is
        served, so that the session and the claim in the server's environment are this client's;
        ``opened`` is what several clients of one process share of open ledgers.

        InvalidInput for a setting out of form.
        """
        settings = config.load()
        if not alone:
            settings = settings._replace(session="", claim="")
        self._settings = settings
        self.named = named or settings.workspace
        self.claims = claims
        self.session = settings.session
        self.reader = settings.session or (None if alone else "")
        """Whose process this is, as far as that is known; None if a client alone is believed."""
        self.reply_bytes = settings.reply_bytes
        self.words = ALL
        """What is said to it, by the tools that it was offered."""
        self.folders = Folders()
        try:
            self._folder = os.path.realpath(os.getcwd())
        except OSError:
            self._folder = ""
        self._argument = ""
        self._tokens: dict[tuple[str, str], str] = {}
        self._open = opened or threading.local()

    def during(self, folders: Folders) -> Client:
        """This client as one call sees it, with these folders open."""
        one = object.__new__(type(self))  # as copy.copy does, which takes longer
        one.__dict__.update(self.__dict__)
        one.folders = folders
        return one

    @property
    def folder(self) -> str:
        """The folder that the server runs in.  WorkspaceNotFound if it is gone."""
        if not self._folder:
            raise WorkspaceNotFound(
                "The folder that this server was started in does not exist",
                hint="Name a workspace when it is started, or start it in another folder.",
            )
        return self._folder

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
        self._check_said()
        if not self.folders.here:
            return self._kept(workspace.find(start=self.folder, settings=settings))
        found: dict[str, Workspace] = {}
        problem: SpindleError | None = None
        for root in self.folders.here:
            try:
                one = workspace.find(start=root, settings=settings)
            except NotFound:
                continue
            except SpindleError as error:
                problem = problem or error
                continue
            found[one.root] = one
        if not found:
            where = ", ".join(self.folders.here)
            raise problem or WorkspaceNotFound(f"There is no workspace in {where}")
        if len(found) > 1:
            raise InvalidInput(
                f"Several workspaces are open: {', '.join(sorted(found))}",
                hint="Name one with the argument workspace.",
            )
        return self._kept(found.popitem()[1])

    def _check_said(self) -> None:
        """WorkspaceRefused while what the client has open is not known: nothing stands for it."""
        if self.folders.said and not self.folders.elsewhere:
            return
        said = ", ".join(self.folders.elsewhere)
        raise WorkspaceRefused(
            "No workspace is chosen:",
            [
                f"{said} is no folder of this machine"
                if said
                else "your program has not said which folders it has open"
            ],
            hint="Name a folder with the argument workspace."
            if said
            else "Call again, or name a folder with the argument workspace.",
        )

    def fuse_place(self, named: str = "") -> Workspace:
        """Where the hooks of a session that runs here keep what they save."""
        try:
            return self.find(named)
        except WorkspaceNotFound:
            start = self.folders.here[0] if self.folders.here else self.folder
            return workspace.for_fuse(self.named, start=start, settings=self._settings)

    def place_to_restore(self, named: str = "") -> Workspace:
        """The workspace of a call, or where one is to be made for it.

        None is made in a home folder, nor at the root: there a user does it.
        """
        try:
            return self.find(named)
        except WorkspaceNotFound:
            start = self._inside(named) if named else self._starts()[0]
            place = workspace.place_to_make(self.named, start=start, settings=self._settings)
            if place.root in (os.sep, place.settings.home):
                raise
            return place

    def path(self, space: Workspace, given: str) -> str:
        """The path ``given`` in a call about ``space``, from the folder in which the client works.

        WorkspaceRefused if it leads out of the client's folders; InvalidInput if it may be one of
        several files.
        """
        bases = self._bases(space)
        places = list(dict.fromkeys(_real(base, given) for base in bases))
        there = [place for place in places if os.path.lexists(place)]
        if len(there) > 1:
            raise InvalidInput(
                f"{_shown(given)} may be {' or '.join(map(_shown, there))}",
                hint="Give the whole path of one.",
            )
        place = (there or places)[0]
        bounds = [space.root, *self._bounds()]
        # What is left are linked worktrees of the project.
        bounds += [gitfiles.checkout(one) or one for one in bases if not _is_below(one, bounds)]
        if not _is_below(place, bounds):
            raise WorkspaceRefused(
                f"{_shown(given)} is not used:",
                [f"{_shown(place)} lies outside of the folders that are open here"],
                hint="Use a path inside the project, or do it on the command line.",
            )
        return place

    def _bases(self, space: Workspace) -> list[str]:
        """The folders from which a path in a call about ``space`` may be meant: those in which the
        client works there, and the one that the call named."""
        found = [self._argument] if self._argument else []
        settings = self._settings._replace(workspace="")
        try:
            starts = self._starts()
        except WorkspaceNotFound:
            starts = ()
        for start in starts:
            try:
                leads = workspace.find(start=start, settings=settings).root == space.root
            except SpindleError:
                continue
            if leads:
                found.append(start)
        return found or [space.root]

    def _starts(self) -> tuple[str, ...]:
        """The folders in which the client works."""
        return self.folders.here or (self.folder,)

    def _within(self, named: str) -> Workspace:
        self._argument = self._inside(named)
        return workspace.find(start=self._argument, settings=self._settings)

    def _inside(self, named: str) -> str:
        """The folder ``named``, if the client may reach it."""
        bounds = self._bounds()
        place = _real((bounds or (self.folder,))[0], named)
        if bounds and not _is_below(place, bounds):
            raise WorkspaceRefused(
                f"The workspace {_shown(named)} is not used:",
                [f"it lies outside of the folders that are open here: {', '.join(bounds)}"],
                hint="Leave the argument out, or open that folder in your program."
                if self.folders.said
                else "Your program has not said which folders it has open: call again.",
            )
        if not os.path.isdir(place):
            raise WorkspaceNotFound(f"{_shown(place)} is not a folder")
        return place

    def _bounds(self) -> tuple[str, ...]:
        """The folders that arguments may lead to; empty where nothing says which they are."""
        here = self.folders.here
        found = []
        for one in here or (self.named or self.folder,):
            try:
                root = workspace.find(self.named, start=one, settings=self._settings).root
            except SpindleError:
                root = gitfiles.shared_place_of(one) or ""
            own = root and _checkout(root, (one,))
            found += [place for place in (own, root, one if here else "") if place]
        return tuple(dict.fromkeys(os.path.realpath(place) for place in found))

    def _kept(self, found: Workspace) -> Workspace:
        """``found``, opened once in each thread and kept open while it is the same, and in use."""
        spaces: dict[str, OpenWorkspace] = self._open.__dict__  # the one that was used last behind
        self.reply_bytes = found.settings.reply_bytes
        kept = spaces.pop(found.folder, None)
        if kept and not kept.fits(found):
            kept.close()
            kept = None
        while len(spaces) >= KEPT:
            spaces.pop(next(iter(spaces))).close()
        spaces[found.folder] = kept = kept or OpenWorkspace(found.root, self._settings)
        return kept

    def let_go(self) -> bool:
        """Whether no more files could be opened; then what this thread had open is closed."""
        spare: list[int] = []
        try:
            spare += (os.open(os.devnull, os.O_RDONLY) for _ in range(_SPARE))
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                return False
        finally:
            for one in spare:
                os.close(one)
        if len(spare) == _SPARE:
            return False
        spaces: dict[str, OpenWorkspace] = self._open.__dict__
        while spaces:
            spaces.popitem()[1].close()
        return True

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
        if self.claims and task_of(space.settings.claim) == task_id:
            self._tokens[space.folder, task_id] = ""  # nor the one that it was started with
        else:
            self._tokens.pop((space.folder, task_id), None)

    def held(self, space: Workspace) -> list[str]:
        """The tasks that this client has claimed in a workspace."""
        kept = list(self._tokens.items())
        return [task for (folder, task), token in kept if token and folder == space.folder]

    @property
    def holds(self) -> bool:
        """Whether this client has claimed a task."""
        return any(list(self._tokens.values()))


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
    # An argument is text, and a path its UTF-8, whatever the locale says.
    path = os.fsdecode(given.encode("utf-8", "replace"))
    return os.path.realpath(os.path.join(base, os.path.expanduser(path)))


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
