"""The project's files and its git checkout: what evidence of files and commands is bound to.

The state of covered files is asked of git, whose index knows unchanged files without reading them,
and of the checkout that they are in: a linked worktree and a submodule have their own.  It is asked
on a copy of the index, with an object store of its own, so that nothing of the user's repository is
touched.  What git does not know (outside of a checkout, or ignored and covered by name) is read.
"""

from __future__ import annotations

import os

from .core.evidence import CommandMark, FileMark
from .errors import InvalidInput, in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .core.evidence import Record

TAIL_BYTES = 4_000
"""The most bytes kept of the end of a command's output."""
COVERED_FILES = 200_000
"""The most files that are read to know a state, outside of a git checkout."""
_OURS = (".contextspindle", ".continuum", ".git")
_CHANGED = "changed while it ran"
"""In place of a state: what the command covers was one thing before it and another behind it."""
_PLAIN_GIT = ("core.fsmonitor=false", "core.splitIndex=false", f"core.hooksPath={os.devnull}")


class Checkout:
    """The files at and below ``root``, the folder of the workspace."""

    def __init__(self, root: str, mask: Callable[[str], str]) -> None:
        """``mask`` takes secrets out of output before it is kept."""
        self._root = root
        self._mask = mask
        self._states: dict[tuple[str, tuple[str, ...]], str] = {}

    # -- looking

    def file(self, path: str) -> FileMark:
        """The file at ``path``, from the current folder, as it is now.  InvalidInput if none."""
        place = os.path.realpath(path)
        found = _digest_of(place)
        if found is None:
            raise InvalidInput(f"{path} is not a file that can be read")
        return FileMark(self._from_root(place), *found)

    def moved(self, record: Record) -> str:
        """What of that which a record is bound to is not as it was; empty if all is."""
        if record.file:
            now = _digest_of(os.path.join(self._root, record.file.path))
            if now is None:
                return f"{record.file.path} is gone"
            if now != (record.file.size, record.file.sha256):
                return f"{record.file.path} has changed"
        ran = record.command
        if ran and ran.tree:
            named = ", ".join(ran.covers) or "the checkout"
            if ran.tree == _CHANGED:
                return f"{named} changed while the command ran"
            try:
                now_there = self._state(self._standing(ran.folder), ran.covers)
            except InvalidInput as error:
                return error.message
            if now_there != ran.tree:
                return f"{named} has changed since the command ran"
        return ""

    # -- running

    def run(
        self, argv: tuple[str, ...], covers: tuple[str, ...], show: Callable[[bytes], object]
    ) -> tuple[CommandMark, tuple[str, ...]]:
        """Run a command in the current folder: what is to be known of it, and what it changed.

        ``covers`` are paths from the current folder; empty for all of a git checkout.  ``show``
        gets the output as it comes.  InvalidInput if the command cannot be started.  What is
        covered is looked at before and after: a command that changes it proves nothing of either
        state, and the paths of what it changed are named.
        """
        import hashlib
        import subprocess
        import time

        if not argv:
            raise InvalidInput("There is no command to run")
        try:
            folder = os.getcwd()
        except OSError as error:
            raise InvalidInput(f"The current folder does not exist: {error.strerror}") from error
        paths = tuple(self._from_root(os.path.realpath(one)) for one in covers)
        for one in paths:
            if not os.path.lexists(os.path.join(self._root, one)):
                raise InvalidInput(f"There is no {one} to cover")
        commit = (self._git(folder, "rev-parse", "--verify", "-q", "HEAD") or b"").decode().strip()
        before = self._listed(folder, paths)
        tree = _digested(before)
        started = time.monotonic()
        digest = hashlib.sha256()
        tail = b""
        try:
            child = subprocess.Popen(  # noqa: S603 (the user's own command)
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{argv[0]} cannot be run: {in_words(error)}") from error
        with child:
            assert child.stdout is not None
            while piece := os.read(child.stdout.fileno(), 1 << 16):
                show(piece)
                digest.update(piece)
                tail = (tail + piece)[-4 * TAIL_BYTES :]
            status = child.wait()
        self._states.clear()
        after = self._listed(folder, paths)
        if after != before:
            tree = _CHANGED
        shown = self._mask(tail.decode("utf-8", "replace")).encode()[-TAIL_BYTES:]
        mark = CommandMark(
            argv=argv,
            folder=self._from_root(folder),
            status=status if status >= 0 else 128 - status,
            milliseconds=int((time.monotonic() - started) * 1_000),
            output=digest.hexdigest(),
            tail=shown.decode("utf-8", "ignore"),
            commit=commit,
            covers=paths,
            tree=tree,
        )
        return mark, _differing(before, after)

    # -- the state of files

    def _standing(self, folder: str) -> str:
        """Where a command ran, or what is left of the way there."""
        place = os.path.join(self._root, folder)
        while not os.path.isdir(place):
            place = os.path.dirname(place)
        return os.path.normpath(place)

    def _state(self, folder: str, covers: tuple[str, ...]) -> str:
        """The digest of names, modes and contents; empty if nothing is covered."""
        if (folder, covers) not in self._states:
            self._states[folder, covers] = _digested(self._listed(folder, covers))
        return self._states[folder, covers]

    def _listed(self, folder: str, covers: tuple[str, ...]) -> bytes | None:
        """Names, modes and digests of what is covered; None if nothing is.

        Without ``covers``, of the whole checkout around ``folder``.
        """
        if covers:
            places = [os.path.join(self._root, one) for one in covers]
        else:
            top = self._git(folder, "rev-parse", "--show-toplevel")
            top = top or self._git(self._root, "rev-parse", "--show-toplevel")
            if not top:
                return None
            places = [os.fsdecode(top.removesuffix(b"\n"))]
        return b"\0\0".join(map(self._below, places))

    def _below(self, place: str) -> bytes:
        """The files at and below ``place``, by git's reckoning where it has one."""
        if not os.path.lexists(place):
            return b"gone"
        is_folder = os.path.isdir(place) and not os.path.islink(place)
        folder, name = (place, ".") if is_folder else os.path.split(place)
        listed = self._by_git(folder, name)
        return self._by_reading(place) if listed is None else listed

    def _by_git(self, folder: str, name: str) -> bytes | None:
        """What git would commit of it, untracked files too; None if it knows nothing of it."""
        import shutil
        import tempfile

        index = self._git(folder, "rev-parse", "--git-path", "index")
        objects = self._git(folder, "rev-parse", "--git-path", "objects")
        if not index or not objects:
            return None
        if self._git(folder, "check-ignore", "-q", "--", name) is not None:
            return None
        index_path, objects_path = (
            os.path.join(folder, os.fsdecode(one.removesuffix(b"\n"))) for one in (index, objects)
        )
        wanted = f":(literal){name}" if name != "." else "."
        with tempfile.TemporaryDirectory(prefix="contextspindle-") as aside:
            copy = os.path.join(aside, "index")
            if os.path.exists(index_path):
                # With its time, by which git tells which entries may have changed since unseen.
                shutil.copy2(index_path, copy)
            os.mkdir(os.path.join(aside, "objects"))
            apart = {"GIT_INDEX_FILE": copy, "GIT_OBJECT_DIRECTORY": os.path.join(aside, "objects")}
            words = ("add", "--all", "--ignore-errors", "--", wanted)
            if self._git(folder, *words, more=apart, passing=1) is None:
                return None
            # Not before: git would mark each object there that it finds again as newly used.
            apart["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = objects_path
            listed = self._git(folder, "ls-files", "--stage", "-z", "--", wanted, more=apart)
            others = ("ls-files", "--others", "--exclude-standard", "-z", "--", wanted)
            left = self._git(folder, *others, more=apart)
        if listed is None or left is None:
            return None
        # What it could not add, and other repositories within, of which it knows the commit alone.
        names = [one for one in left.split(b"\0") if one]
        names += [
            one.partition(b"\t")[2] for one in listed.split(b"\0") if one.startswith(b"160000 ")
        ]
        for one in names:
            within = os.path.join(folder, os.fsdecode(one.rstrip(b"/")))
            if within != folder and os.path.lexists(within):
                listed += one + b"\0" + self._within(within)
        return listed

    def _within(self, place: str) -> bytes:
        if os.path.lexists(os.path.join(place, ".git")):
            return self._below(place)
        return b"" if os.path.isdir(place) else self._by_reading(place)

    def _git(
        self, folder: str, *words: str, more: dict[str, str] | None = None, passing: int = 0
    ) -> bytes | None:
        """What git answers in ``folder``; None where it fails or is missing.

        An exit status up to ``passing`` is none of a failure.
        """
        import subprocess

        from .config import for_git

        options = [part for one in _PLAIN_GIT for part in ("-c", one)]
        try:
            done = subprocess.run(  # noqa: S603 (git, with words of ours)
                ["git", *options, "-C", folder, *words],  # noqa: S607
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=for_git(GIT_OPTIONAL_LOCKS="0", LC_ALL="C", **(more or {})),
                check=False,
            )
        except (OSError, ValueError):
            return None
        return done.stdout if 0 <= done.returncode <= passing else None

    def _by_reading(self, place: str) -> bytes:
        lines: list[str] = []
        self._read_below(place, lines)
        return "\0".join(lines).encode("utf-8", "surrogateescape")

    def _read_below(self, place: str, lines: list[str]) -> None:
        import stat

        try:
            mode = os.lstat(place).st_mode
            if stat.S_ISDIR(mode):
                for name in sorted(os.listdir(place)):
                    if name not in _OURS:
                        self._read_below(os.path.join(place, name), lines)
                return
            link = os.readlink(place) if stat.S_ISLNK(mode) else ""
        except OSError:
            mode, link = 0, ""
        found = _digest_of(place)
        runs = "x" if mode & stat.S_IXUSR else "-"
        lines.append(
            f"{self._from_root(place)} {link} {runs} {found[1] if found else 'unreadable'}"
        )
        if len(lines) > COVERED_FILES:
            raise InvalidInput(
                f"More than {COVERED_FILES:,} files are covered",
                hint="Name with --covers what the command is about.",
            )

    def _from_root(self, place: str) -> str:
        inside = place == self._root or place.startswith(self._root.rstrip(os.sep) + os.sep)
        return os.path.relpath(place, self._root) if inside else place


def _digested(listed: bytes | None) -> str:
    from .core.digest import sha256

    return "" if listed is None else sha256(listed)


def _differing(before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """The paths of which two lists say different things, in order."""
    if before == after:
        return ()
    entries = set((before or b"").split(b"\0")) ^ set((after or b"").split(b"\0"))
    # An entry of git is "mode digest stage<tab>path", one of ours "path link mode digest".
    paths = {
        one.partition(b"\t")[2] or one.rsplit(b" ", 3)[0] for one in entries if one.strip(b"\0")
    }
    return tuple(sorted(os.fsdecode(one) for one in paths))


def _digest_of(path: str) -> tuple[int, str] | None:
    """Size and SHA-256 of a regular file; of a link, what it points to."""
    import hashlib
    import stat

    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            return file.tell(), digest.hexdigest()
    except OSError:
        return None
