"""The project's files and its git checkout: what evidence of files and commands is bound to.

The state of covered files is asked of git, whose index knows unchanged files without reading them,
and of the checkout that they are in: a linked worktree and a submodule have their own.  Git only
lists and digests here: it writes neither an object nor its index, and no program that the settings
of a repository name is run.  What git does not know (outside of a checkout, or ignored and covered
by name) is read.
"""

from __future__ import annotations

import os

from . import gitfiles
from .core.evidence import UNSETTLED, CommandMark, FileMark
from .errors import InvalidInput, in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .core.evidence import Record

TAIL_BYTES = 4_000
"""The most bytes kept of the end of a command's output."""
COVERED_FILES = 200_000
"""The most files that are read to know a state."""
COVERED_BYTES = 256 * 1024 * 1024
"""The most bytes that they have together.  Git knows most files without reading them."""
GROWTH = 1024 * 1024
"""By how many bytes a file may turn out longer than it said it is."""
_OURS = (".contextspindle", ".continuum", ".git")
_BY_GIT = "-git"
_BY_READING = "-read"
"""Behind a digest: whether git was asked for the state that it is of.  Older ones have neither."""
_PLAIN_GIT = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}")
_NO_GIT = (FileNotFoundError, PermissionError)
"""What starting git meets where there is none."""
_NO_CHECKOUT = (b"not a git repository", b"must be run in a work tree")


class Checkout:
    """The files at and below ``root``, the folder of the workspace."""

    def __init__(self, root: str, mask: Callable[[str], str]) -> None:
        """``mask`` takes secrets out of output before it is kept."""
        self._root = root
        self._mask = mask
        self._states: dict[tuple[str, tuple[str, ...], str], str] = {}
        self._bytes = 0
        self._files = 0

    # -- looking

    def file(self, path: str) -> FileMark:
        """The file at ``path``, from the current folder, as it is now.  InvalidInput if none."""
        place = os.path.realpath(path)
        found = _digest_of(place)
        if found is None:
            raise InvalidInput(f"{path} is not a file that can be read")
        return FileMark(self._recorded(place), *found)

    def moved(self, record: Record) -> str:
        """What of that which a record is bound to is not as it was; empty if all is."""
        if record.file:
            now = _digest_of(os.path.join(self._root, record.file.path), record.file.size)
            if now is None:
                return f"{record.file.path} is gone"
            if now != (record.file.size, record.file.sha256):
                return f"{record.file.path} has changed"
        ran = record.command
        if ran and ran.tree:
            named = ", ".join(ran.covers) or "the checkout"
            if ran.tree == UNSETTLED:
                return f"{named} changed while the command ran"
            by = ran.tree[64:]
            if by not in (_BY_GIT, _BY_READING):
                return f"the state of {named} was recorded in an older form"
            try:
                now_there = self._state(self._standing(ran.folder), ran.covers, by)
            except InvalidInput as error:
                return f"{named} could not be looked at: {error.message}"
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
        state, and the paths of what it changed are named.  InvalidInput, and nothing is run, if
        it cannot be looked at.
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
        paths = tuple(self._recorded(os.path.realpath(one)) for one in covers)
        for one in paths:
            if not os.path.lexists(os.path.join(self._root, one)):
                raise InvalidInput(f"There is no {one} to cover")
        ran_in = self._recorded(folder)
        by = _BY_GIT
        try:
            head = self._git_or_no(folder, "rev-parse", "--verify", "-q", "HEAD")
        except InvalidInput as error:
            there_is_none = isinstance(error.__cause__, _NO_GIT)
            if not there_is_none or (not paths and gitfiles.checkout(folder)):
                raise
            head, by = b"", _BY_READING
        before = self._listed(folder, paths, by)
        tree = _digested(before, by)
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
        after = self._listed(folder, paths, by)
        if after != before:
            tree = UNSETTLED
        shown = self._mask(tail.decode("utf-8", "replace")).encode()[-TAIL_BYTES:]
        mark = CommandMark(
            argv=argv,
            folder=ran_in,
            status=status if status >= 0 else 128 - status,
            milliseconds=int((time.monotonic() - started) * 1_000),
            output=digest.hexdigest(),
            tail=shown.decode("utf-8", "ignore"),
            commit=(head or b"").decode().strip(),
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

    def _state(self, folder: str, covers: tuple[str, ...], by: str) -> str:
        """The digest of names, modes and contents; empty if nothing is covered."""
        asked = (folder, covers, by)
        if asked not in self._states:
            self._states[asked] = _digested(self._listed(*asked), by)
        return self._states[asked]

    def _listed(self, folder: str, covers: tuple[str, ...], by: str) -> bytes | None:
        """Names, modes and digests of what is covered; None if nothing is.

        Without ``covers``, of the whole checkout around ``folder``.  InvalidInput if it cannot be
        told, or if too much would have to be read.
        """
        self._bytes = self._files = 0
        if covers:
            places = [os.path.join(self._root, one) for one in covers]
        elif by == _BY_READING:
            return None
        else:
            top = self._top(folder)[0] or self._top(self._root)[0]
            if not top:
                above = gitfiles.checkout(folder)
                if above is None:
                    return None
                raise InvalidInput(f"Git finds no checkout at {above}, which has a .git")
            places = [top]
        return b"\0\0".join(self._below(place, by) for place in places)

    def _below(self, place: str, by: str) -> bytes:
        """The files at and below ``place``, by git's reckoning where it has one."""
        if not os.path.lexists(place):
            return b"gone"
        listed = self._by_git(place) if by == _BY_GIT else None
        return self._by_reading(place) if listed is None else listed

    def _by_git(self, place: str) -> bytes | None:
        """What git would commit of it, untracked files too; None if it knows nothing of it.

        A tracked file counts as it is in the checkout, also where git was told not to look.
        """
        is_folder = os.path.isdir(place) and not os.path.islink(place)
        folder, name = (place, ".") if is_folder else os.path.split(place)
        folder = os.path.realpath(folder)
        top, digests = self._top(folder)
        wanted = os.path.relpath(os.path.join(folder, name), top) if top else ".."
        if wanted.split(os.sep)[0] == "..":
            return None
        ignored = ("check-ignore", "-q", "--", f":(top){wanted}")
        if wanted != "." and self._git_or_no(top, *ignored) is not None:
            return None
        plain, trusts_modes = self._settings(top)
        at = ("-z", "--", f":(literal){wanted}" if wanted != "." else ".")
        listed: dict[bytes, bytes] = {}
        doubtful: set[bytes] = set()
        within: list[bytes] = []
        for entry in _items(self._git(top, "ls-files", "--stage", "-v", *at)):
            said, _, path = entry.partition(b"\t")
            tag, mode, digest, _ = said.split(b" ")
            if mode == b"160000":  # another repository: its files count, not its commit
                within.append(path)
                listed[path] = mode
                continue
            listed[path] = mode + b" " + digest
            if tag != b"H":  # in conflict, or git was told to take it for unchanged or absent
                doubtful.add(path)
        words = ("diff-files", "--name-status", "--ignore-submodules=all", *at)
        told = iter(_items(self._git(top, *words, settings=plain)))
        for status, path in zip(told, told):
            if status == b"D":
                listed.pop(path, None)
            else:
                doubtful.add(path)
        for path in _items(self._git(top, "ls-files", "--others", "--exclude-standard", *at)):
            if path.endswith(b"/"):
                within.append(path)
            else:
                doubtful.add(path)
        self._digest(top, doubtful, listed, digests, plain, trusts_modes)
        found = [listed[path] + b"\t" + path for path in sorted(listed)]
        for path in within:
            inner = os.path.join(top, os.fsdecode(path.rstrip(b"/")))
            if inner != top and os.path.lexists(os.path.join(inner, ".git")):
                found += [path, self._below(inner, _BY_GIT)]
        return b"\0".join(found)

    def _top(self, folder: str) -> tuple[str, str]:
        """The top of the checkout around ``folder``, empty if none; and how it digests files."""
        words = ("rev-parse", "--show-toplevel", "--show-object-format")
        said = self._git_or_no(folder, *words)
        top, _, digests = os.fsdecode((said or b"").removesuffix(b"\n")).rpartition("\n")
        return top, digests

    def _settings(self, top: str) -> tuple[tuple[str, ...], bool]:
        """Settings with which git runs no filter's program, and whether modes are to be trusted.

        Conversions of git's own, such as those of line ends, are left as they are.
        """
        words = ("config", "-z", "--get-regexp", r"^(filter\..*|core\.filemode)$")
        drivers: set[str] = set()
        trusts_modes = True
        for one in _items(self._git_or_no(top, *words) or b""):
            key, _, value = os.fsdecode(one).partition("\n")
            if key == "core.filemode":
                trusts_modes = value.lower() not in ("false", "no", "off", "0")
            else:
                drivers.add(key.rpartition(".")[0])
        for driver in drivers:
            if "=" in driver:
                raise InvalidInput(f"Git's setting {driver} cannot be switched off by its name")
        plain = (
            f"{driver}.{what}"
            for driver in sorted(drivers)
            for what in ("clean=", "process=", "required=false")
        )
        return tuple(plain), trusts_modes

    def _digest(
        self,
        top: str,
        paths: set[bytes],
        listed: dict[bytes, bytes],
        digests: str,
        plain: tuple[str, ...],
        trusts_modes: bool,
    ) -> None:
        """Put the files that git does not know to be unchanged into ``listed``, as they are."""
        import hashlib
        import stat

        files: list[tuple[bytes, bytes]] = []
        for path in sorted(paths):
            before = listed.pop(path, b"")
            place = os.path.join(top, os.fsdecode(path))
            try:
                found = os.lstat(place)
                if stat.S_ISLNK(found.st_mode):
                    target = os.fsencode(os.readlink(place))
                    digest = hashlib.new(digests if digests == "sha256" else "sha1")
                    digest.update(b"blob %d\0" % len(target) + target)
                    listed[path] = b"120000 " + digest.hexdigest().encode()
                    continue
            except OSError:
                continue  # it is gone, as one that is only in the index
            if stat.S_ISREG(found.st_mode) and os.access(place, os.R_OK):
                self._count(found.st_size)
                runs = found.st_mode & stat.S_IXUSR
                if not trusts_modes:
                    runs = before.startswith(b"100755")
                files.append((path, b"100755 " if runs else b"100644 "))
            elif not stat.S_ISDIR(found.st_mode):
                listed[path] = b"000000 unreadable"
        if not files:
            return
        told = b"".join(_quoted(path) + b"\n" for path, _ in files)
        said = self._git(top, "hash-object", "--stdin-paths", settings=plain, told=told).split()
        if len(said) != len(files):
            raise InvalidInput("Git did not digest every file that it was asked for")
        listed.update({path: mode + one for (path, mode), one in zip(files, said)})

    def _count(self, size: int) -> None:
        self._files += 1
        self._bytes += size
        if self._files > COVERED_FILES:
            what = f"{COVERED_FILES:,} files"
        elif self._bytes > COVERED_BYTES:
            what = f"{COVERED_BYTES >> 20} MiB of files"
        else:
            return
        raise InvalidInput(
            f"Too much is covered: more than {what} would have to be read",
            hint="Name with --covers what the command is about, or let git ignore what is not.",
        )

    def _git(
        self, folder: str, *words: str, settings: tuple[str, ...] = (), told: bytes = b""
    ) -> bytes:
        """What git answers in ``folder``.  InvalidInput with its reason if it fails."""
        status, said, complaint = self._run_git(folder, words, settings, told)
        if status:
            raise _failed(status, complaint)
        return said

    def _git_or_no(self, folder: str, *words: str) -> bytes | None:
        """The same of a question that can be answered with no, which is the answer of no checkout
        as well: then None."""
        status, said, complaint = self._run_git(folder, words)
        if status == 1 or any(one in complaint for one in _NO_CHECKOUT):
            return None
        if status:
            raise _failed(status, complaint)
        return said

    def _run_git(
        self, folder: str, words: tuple[str, ...], settings: tuple[str, ...] = (), told: bytes = b""
    ) -> tuple[int, bytes, bytes]:
        import subprocess

        from .config import for_git

        options = [part for one in (*_PLAIN_GIT, *settings) for part in ("-c", one)]
        try:
            done = subprocess.run(  # noqa: S603 (git, with words of ours)
                ["git", *options, "-C", folder, *words],  # noqa: S607
                input=told,
                capture_output=True,
                env=for_git(GIT_OPTIONAL_LOCKS="0", GIT_NO_LAZY_FETCH="1", LC_ALL="C"),
                check=False,
            )
        except _NO_GIT as error:
            raise InvalidInput(f"Git cannot be run: {error.strerror}") from error
        except (OSError, ValueError) as error:
            raise InvalidInput(f"Git cannot be run: {error}") from error
        return done.returncode, done.stdout, done.stderr

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
        try:
            said = os.stat(place).st_size if mode else 0
        except OSError:
            said = 0
        self._count(said)
        found = _digest_of(place)
        if found and found[0] > said:
            self._bytes += found[0] - said
        runs = "x" if mode & stat.S_IXUSR else "-"
        lines.append(
            f"{self._from_root(place)} {link} {runs} {found[1] if found else 'unreadable'}"
        )

    def _recorded(self, place: str) -> str:
        """The path of ``place`` as a record holds it.  InvalidInput if none could find it again."""
        path = self._from_root(place)
        try:
            path.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(path).decode("utf-8", "replace")
            raise InvalidInput(
                f"The name of {shown} is not UTF-8, so evidence cannot name it",
                hint="Rename it, or name a folder above it.",
            ) from None
        return path

    def _from_root(self, place: str) -> str:
        inside = place == self._root or place.startswith(self._root.rstrip(os.sep) + os.sep)
        return os.path.relpath(place, self._root) if inside else place


def _failed(status: int, complaint: bytes) -> InvalidInput:
    said = complaint.decode("utf-8", "replace").strip() or f"status {status}"
    return InvalidInput(
        f"Git cannot tell what is there: {said.splitlines()[0]}",
        hint="Run 'git status' there, which says more.",
    )


def _digested(listed: bytes | None, by: str) -> str:
    from .core.digest import sha256

    return "" if listed is None else sha256(listed) + by


def _items(said: bytes) -> list[bytes]:
    return said.split(b"\0")[:-1]


def _quoted(path: bytes) -> bytes:
    """A path for a line of git's input: where it would not be read as it is, in octal."""
    if path.startswith(b'"') or b"\n" in path or path.endswith(b"\r"):
        return b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'
    return path


def _differing(before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """The paths of which two lists say different things, in order."""
    if before == after:
        return ()
    entries = set((before or b"").split(b"\0")) ^ set((after or b"").split(b"\0"))
    # An entry of git is "mode digest<tab>path", one of ours "path link mode digest".
    paths = {
        one.partition(b"\t")[2] or one.rsplit(b" ", 3)[0] for one in entries if one.strip(b"\0")
    }
    return tuple(sorted(os.fsdecode(one) for one in paths))


def _digest_of(path: str, size: int = -1) -> tuple[int, str] | None:
    """Size and SHA-256 of a regular file; of a link, what it points to.

    One that has another ``size`` than is wanted is not read; its digest is empty.
    """
    import hashlib
    import stat

    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return None
        if size >= 0 and found.st_size != size:
            return found.st_size, ""
        digest = hashlib.sha256()
        length = 0
        # Some files of the system's own wait for what is to come, or never end.
        with open(path, "rb", buffering=0, opener=_without_waiting) as file:
            while piece := file.read(1 << 18):
                digest.update(piece)
                length += len(piece)
                if length > found.st_size + GROWTH:
                    return None
        return length, digest.hexdigest()
    except (OSError, ValueError):  # a record that was imported may name what no path can be
        return None


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
