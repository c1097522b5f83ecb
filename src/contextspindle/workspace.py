"""The workspace: found, made and wired here, and nowhere else.

One resolver serves reads and writes: a folder named by the caller, else by the environment, else
the nearest folder upwards that holds a ``.contextspindle``.  :mod:`.places` knows the way up.
"""

from __future__ import annotations

import os
import stat

from . import config, gitfiles, places
from .core.text import quoted
from .core.value import Value
from .errors import InvalidInput, StoreReadOnly, WorkspaceNotFound, WorkspaceRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .actions.adopt import Adopter
    from .actions.archive import Archive
    from .actions.fuse import Fuse
    from .actions.ledger import Ledger
    from .actions.memory import Memory
    from .actions.overview import Overview
    from .actions.purge import Purged
    from .checkout import Checkout
    from .config import Settings
    from .core.archive import Merge
    from .core.foreign import Gathered
    from .core.task import Task
    from .harness import Harness
    from .store.canary import Canary
    from .store.incidents import Incidents
    from .store.inspect import Report
    from .store.marks import Marks
    from .store.memory import MemoryStore
    from .store.safety import Copies
    from .store.snapshots import JsonLinesLog
    from .store.sqlite import SqliteStore

FOLDER = places.FOLDER
MEMORY = os.path.join(".continuum", "memory.sqlite3")
LEDGER = places.LEDGER


class Made(Value):
    """What ``init`` did: the files it wrote, none if all were there."""

    root: str
    wrote: tuple[str, ...]
    journal: str


class Restored(Value):
    """What a restore did, from which backup, and where the ledger as it was is kept."""

    merge: Merge
    manifest: dict[str, Any]
    kept: str


class Workspace:
    """A ledger and its settings, at ``root``."""

    def __init__(self, root: str, settings: Settings, *, plain: bool = False) -> None:
        """``plain``: its own settings file is not read.  InvalidInput if that is out of form."""
        self.root = root
        self.folder = os.path.join(root, FOLDER)
        self.memory_path = os.path.join(root, MEMORY)
        file = os.path.join(self.folder, "config.json")
        self.settings = settings if plain else config.with_file(settings, file)
        self.path = os.path.join(self.folder, LEDGER)
        self.made = False  # whether this process wrote anything of it that was missing
        self._written = False

    def outlived_by(self) -> str:
        """The folder that all worktrees share, if this workspace goes with one; else empty."""
        shared = gitfiles.shared_place(self.root)
        return shared if shared != self.root else ""

    def store(self) -> SqliteStore:
        """The store of this workspace's ledger."""
        from .store.sqlite import SqliteStore

        making = f"This makes one: contextspindle init {quoted(self.root)}"
        return SqliteStore(self.path, wrote=self._note_write, missing=making)

    def _note_write(self) -> None:
        self._written = True

    def copy_daily(self) -> None:
        """Make the daily copy if it is due, after the answer to a write: nothing is raised."""
        keep, written, self._written = self.settings.daily_copies, self._written, False
        if not (written and keep):
            return
        from .store.sqlite import copy_due

        at = now()
        if copy_due(self.path, at):
            from .store.safety import attempt

            if problem := attempt(self.store(), at, keep, self.settings.daily_copy_mb):
                self.incidents().add(at, f"The daily copy was not made: {problem}")

    def copies(self) -> Copies:
        """The daily safety copies that there are."""
        from .store.safety import copies

        return copies(self.path, self.settings.daily_copies, self.settings.daily_copy_mb)

    def ledger(self) -> Ledger:
        """The ledger's actions on this workspace."""
        from .actions.ledger import Ledger
        from .core.task import id_from

        return Ledger(
            self.store(),
            actor=self.settings.actor,
            clock=now,
            new_id=lambda: id_from(os.urandom(5)),
            surroundings=self.checkout,
            hints=self._hints,
        )

    def overview(self) -> Overview:
        """The looks at many tasks at once."""
        from .actions.overview import Overview

        return Overview(self.store())

    def archive(self) -> Archive:
        """The actions on the ledger as a whole."""
        from .actions.archive import Archive

        return Archive(self.store(), now)

    def lines_as(self, tracker: str, *, progress: Callable[[int], object] = id) -> Iterator[bytes]:
        """Every task as it is now, in the form of the program ``tracker``."""
        from .trackers import writer

        return writer(tracker)(self.archive().tasks(progress))

    def adopter(self) -> Adopter:
        """The door by which tasks of other programs come in."""
        from .actions.adopt import Adopter
        from .core.task import id_from

        return Adopter(
            self.store(),
            actor=self.settings.actor,
            clock=now,
            new_id=lambda: id_from(os.urandom(5)),
        )

    def write_file(self, path: str, lines: Iterable[bytes]) -> int:
        """A new file of ``lines``, whole and durable; how many they were.

        FileExistsError if there is one already.  InvalidInput for a place among our own files:
        under some names SQLite would take it for a part of the ledger.
        """
        from .store.private import write_pieces

        real = os.path.realpath(path)
        for own in (self.folder, os.path.dirname(self.memory_path)):
            if real.startswith(os.path.realpath(own) + os.sep):
                raise InvalidInput(f"{path} lies inside the workspace; an export belongs elsewhere")
        count = write_pieces(path, lines)
        self._note("export", path)
        return count

    def _note(self, kind: str, path: str) -> None:
        from .store.copies import CopyList

        CopyList.of(self.folder).add(now(), kind, os.path.abspath(path))

    def purge(self, given: str, *, write: bool) -> Purged:
        """Take a text out of everything that is kept; without ``write``, only say where it is.

        InvalidInput for a text that cannot be looked for; see :class:`.actions.purge.Purger`.
        """
        from .actions.purge import Purger
        from .core.eraser import Eraser
        from .store import copies

        eraser = Eraser(given)
        outside = copies.outside(self.folder, eraser)
        places = copies.places(self.folder)
        if os.path.lexists(self.memory_path):
            from .store.memory_purge import Remembered

            places["memory"] = Remembered(self._memory_store())
        purger = Purger(self.store(), places, actor=self.settings.actor, clock=now)
        purged = purger.purge(eraser) if write else purger.preview(eraser)
        original = os.path.join(os.path.dirname(self.memory_path), "memory.state")
        if os.path.isfile(original) and copies.holds(original, eraser):
            outside[original] = "memory of the original"
        left = tuple(copies.left(self.folder, eraser))
        unread = tuple(one for one in (*left, *outside) if copies.unread(one, eraser))
        return purged._replace(left=left, outside=outside, unread=unread)

    def verify(self, *, deep: bool = False, progress: Callable[[int], object] = id) -> Report:
        """What an inspection of the ledger found; nothing is written."""
        from .store.inspect import inspect

        return inspect(self.store(), deep=deep, progress=progress)

    def back_up(self, folder: str, *, progress: Callable[[int], object] = id) -> dict[str, Any]:
        """A backup of the ledger in the new folder ``folder``; its manifest."""
        from . import __version__
        from .store.backup import back_up

        made = back_up(self.store(), folder, tool=__version__, now=now(), progress=progress)
        self._note("backup", folder)
        return made

    def restore(self, place: str, *, progress: Callable[[int], object] = id) -> Restored:
        """Take a backup or a safety copy in, after a copy of the ledger as it was is put aside."""
        from .actions.archive import Archive
        from .store.backup import opened
        from .store.safety import before_restore

        store = self.store()
        kept: list[str] = []

        def make_ready() -> None:
            if store.path not in self.make().wrote:
                kept.append(before_restore(store, now()))

        with opened(place) as (source, manifest):
            merge = Archive(store, now).take_store(source, progress=progress, judged=make_ready)
        return Restored(merge, manifest, "".join(kept))

    def checkout(self) -> Checkout:
        """The project's files, as evidence is bound to them."""
        from .checkout import Checkout
        from .core.redaction import mask

        return Checkout(self.root, mask)

    def snapshots(self) -> JsonLinesLog:
        """The snapshot log of this workspace."""
        from .store.snapshots import JsonLinesLog

        return JsonLinesLog(os.path.join(self.folder, "fuse", "ledger.jsonl"))

    def fuse(self) -> Fuse:
        """The fuse's actions on this workspace."""
        from . import drift
        from .actions.fuse import Fuse

        return Fuse(self.snapshots(), self.ledger, clock=now, drift=drift, beside=harness)

    def handed(self) -> Incidents:
        """What was handed to which session, and when: a file of the same kind as the incidents."""
        from .store.incidents import Incidents

        return Incidents(os.path.join(self.folder, "handed.jsonl"))

    def canary(self) -> Canary:
        """The mark in the next restored text, by which it is seen to arrive."""
        from .store.canary import Canary

        return Canary(os.path.join(self.folder, "canary.json"))

    def memory(self) -> Memory:
        """The memory's actions on this workspace."""
        from .actions.memory import Memory
        from .core.memory import Limits

        limits = Limits(self.settings.memory_items, self.settings.memory_bytes)
        return Memory(self._memory_store(), limits, clock=now)

    def _memory_store(self) -> MemoryStore:
        from .store.memory import MemoryStore

        return MemoryStore(self.memory_path, self.settings.journal)

    def original_memory(self, path: str) -> list[tuple[int, str]]:
        """The texts of an original memory's snapshot, with their numbers."""
        from .trackers.original_memory import texts

        return texts(path or os.path.join(os.path.dirname(self.memory_path), "memory.state"))

    def _hints(self, task: Task) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the memory holds for a task's handoff, and why it holds nothing."""
        if not os.path.lexists(self.memory_path):
            return (), ()
        if self.accepted(os.path.dirname(self.memory_path)):
            return self.memory().hints(task)
        return (), ("the memory came with the repository and is not accepted: no hints",)

    def incidents(self) -> Incidents:
        """The incident file of this workspace."""
        return places.incidents(self.folder)

    def make(self) -> Made:
        """Everything that a workspace has on disk, what is missing of it written now."""
        from .store.private import FOLDER_MODE, make_folder, write_new

        if not os.path.isdir(self.root):
            raise WorkspaceNotFound(
                f"{self.root} is not a folder", hint="Name a folder that exists."
            )
        wrote = []
        if make_folder(self.folder):
            wrote.append(self.folder + os.sep)
        elif (
            stat.S_IMODE(os.stat(self.folder).st_mode) & 0o077
            and places.owner(self.folder) == os.geteuid()
        ):
            os.chmod(self.folder, FOLDER_MODE)
        ignore = os.path.join(self.folder, ".gitignore")
        if write_new(ignore, b"*\n"):
            wrote.append(ignore)
        store = self.store()
        if store.create(self.settings.journal):
            wrote.append(store.path)
        journal = store.journal()
        store.close()
        self.made = bool(wrote)
        return Made(self.root, tuple(wrote), journal)

    def accepted(self, folder: str = "") -> bool:
        """Whether text of this workspace, or of ``folder``, may be handed to an agent unasked.

        A workspace whose files git tracks came with somebody's repository: the user has to accept
        it first.
        """
        if not gitfiles.tracked(folder or self.folder):
            return True
        try:
            with open(
                places.accepted_list(self.settings), encoding="utf-8", errors="surrogateescape"
            ) as file:
                return places.as_line(self.folder) in file.read().split("\n")
        except (OSError, WorkspaceRefused):
            return False

    def accept(self) -> str:
        """Record that the user trusts this workspace; the path of the record."""
        path = places.accepted_list(self.settings)
        if not self.accepted():
            try:
                os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                with open(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
                    file.write(places.as_line(self.folder) + "\n")
            except OSError as error:
                raise StoreReadOnly(f"{path}: {error.strerror}") from error
        return path


def harness(name: str = "", *, transcript: str = "") -> Harness:
    """The adapter called ``name``, else the one whose lines the file ``transcript`` holds."""
    from .harness import adapter, detect

    return adapter(name) if name else detect(transcript)


def gathered(place: str, tracker: str) -> Gathered:
    """What the program ``tracker`` keeps at ``place``: read, and nothing there is changed."""
    from .trackers import gather

    return gather(place, tracker)


def now() -> int:
    """Milliseconds since 1970 in UTC."""
    import time

    return time.time_ns() // 1_000_000


def find(
    named: str = "", *, start: str | None = None, settings: Settings | None = None
) -> Workspace:
    """The workspace for a command run in ``start`` (the current folder).

    ``named`` is the folder given with ``--workspace``.  WorkspaceNotFound; WorkspaceRefused if the
    nearest one is not safe to use.
    """
    settings = settings or config.load()
    return Workspace(places.find(named, start, settings), settings)


def place_to_make(
    named: str = "", *, start: str | None = None, settings: Settings | None = None
) -> Workspace:
    """Where ``init`` makes a workspace: as named, else the top of the checkout, else here.

    For a linked worktree that is the place that all of them share.
    """
    settings = settings or config.load()
    named = named or settings.workspace
    if named:
        root = places.named(named)
    else:
        # What commands find from here is what init is about: a second one would hide it.
        here = places.here(start)
        root = places.walk(here, settings)[0] or gitfiles.shared_place_of(here) or here
    places.check_links(root)
    return Workspace(root, settings)


def for_fuse(
    named: str = "",
    *,
    start: str | None = None,
    settings: Settings | None = None,
    make: bool = False,
) -> Workspace:
    """The workspace of a session that runs in ``start``; with ``make``, made if there is none.

    Where its program names a project around ``start``, that decides (:func:`.places.of_project`).
    Where no workspace should appear unasked (HOME, the root, a temporary folder, a folder that
    cannot be written) the user's state folder holds one, keyed by the path.
    """
    settings = settings or config.load()
    if not (named or settings.workspace):
        start = places.of_project(start, settings)
    try:
        found = find(named, start=start, settings=settings)
        if make and not os.path.exists(found.path):
            found.make()  # whoever made it was stopped half way
        return found
    except WorkspaceNotFound as error:
        hint = error.hint
        if named or settings.workspace:
            if not make:
                raise
            place = Workspace(places.named(named or settings.workspace), settings)
            place.make()
            return place
    root, away = places.for_hook(start, settings)
    if make and away:
        places.make_away(root)
    if not make and not os.path.isdir(os.path.join(root, FOLDER)):
        raise WorkspaceNotFound(f"There is no workspace for {root}", hint=hint)
    place = Workspace(root, settings)
    if make:
        place.make()
    return place


def incidents(named: str = "", *, start: str | None = None) -> Incidents:
    """The incidents of a session that runs in ``start``, even where settings are out of form.

    WorkspaceNotFound; WorkspaceRefused.
    """
    root = places.of_session(named, start, config.surroundings())
    return places.incidents(os.path.join(root, FOLDER))


def as_it_stands(named: str = "") -> tuple[Workspace, str]:
    """The workspace of a session that runs here; and what is wrong with its settings, if they are
    out of form: then each of them is at its default."""
    try:
        return for_fuse(named), ""
    except InvalidInput as error:
        settings = config.surroundings()
        root = places.of_session(named, None, settings)
        return Workspace(root, settings, plain=True), f"{error.message} [{error.code}]"


def marks() -> Marks | None:
    """The marks of the user's sessions, in whatever workspace; None without a home."""
    return places.marks(config.load())
