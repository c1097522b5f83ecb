"""Git's own files, read without git: where a checkout begins, whose worktree it is, what it tracks,
which commit is checked out, and how it came there.

A command and a hook ask this before they do anything, and starting git would cost more than all the
rest.  Formats: https://git-scm.com/docs/gitrepository-layout, https://git-scm.com/docs/index-format.
"""

from __future__ import annotations

import os

_LOG_TAIL = 64 * 1024
"""The bytes that are read of the end of a reflog."""


def tracked(folder: str) -> bool:
    """Whether the git checkout around ``folder`` tracks files in it, by the bytes of its index.

    As a submodule the folder is one entry without a slash; a split index keeps most entries in a
    file beside it; and where the file system tells no cases apart, any spelling is our folder.
    """
    top = checkout(os.path.dirname(folder))
    if top is None:
        return False
    wanted = os.fsencode(os.path.basename(folder)).lower()
    git = _git_folder(top)
    try:
        beside = [name for name in os.listdir(git) if name.startswith("sharedindex.")]
    except OSError:
        return False
    for name in ("index", *beside):
        try:
            with open(os.path.join(git, name), "rb") as file:
                index = file.read().lower()
        except OSError:
            continue
        if index[4:8] == b"\0\0\0\4":
            found = _names(index, 32 if _uses_sha256(git) else 20)
            if found is None:
                return True  # not readable: better asked once too often
            index = found
        if wanted + b"/" in index or wanted + b"\0" in index:
            return True
    return False


def checkout(folder: str) -> str | None:
    """The top of the git checkout that ``folder`` is in."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def top_of(folder: str) -> str | None:
    """The top of the checkout that ``folder`` is in; of a linked worktree, its main one's."""
    top = checkout(folder)
    return main_worktree(top) if top else None


def shared_place_of(folder: str) -> str | None:
    """The folder that all worktrees share of the checkout that ``folder`` is in."""
    top = checkout(folder)
    return shared_place(top) if top else None


def head(top: str) -> tuple[str, str]:
    """The commit that is checked out at ``top``, and its branch; empty where there is none."""
    git = _git_folder(top)
    first = _first_line(os.path.join(git, "HEAD"))
    if not first.startswith("ref:"):
        return first, ""
    name = first[len("ref:") :].strip()
    common = os.path.join(git, _first_line(os.path.join(git, "commondir")))
    commit = _first_line(os.path.join(git, name)) or _first_line(os.path.join(common, name))
    if not commit:
        try:
            with open(
                os.path.join(common, "packed-refs"), encoding="utf-8", errors="surrogateescape"
            ) as file:
                for line in file:
                    packed, _, named = line.rstrip("\n").partition(" ")
                    if named == name:
                        commit = packed
        except OSError:
            pass
    return commit, name.removeprefix("refs/heads/")


def moves_of_head(top: str) -> list[tuple[str, str]]:
    """The latest moves of HEAD, the oldest first: the commit it came to, and what moved it."""
    path = os.path.join(_git_folder(top), "logs", "HEAD")
    try:
        with open(path, "rb") as file:
            whole = file.seek(0, os.SEEK_END) <= _LOG_TAIL
            file.seek(0 if whole else -_LOG_TAIL, os.SEEK_SET if whole else os.SEEK_END)
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return []
    found = []
    for line in lines if whole else lines[1:]:
        who, _, what = line.partition("\t")
        words = who.split(" ", 2)
        if len(words) == 3:
            found.append((words[1], what))
    return found


def names(top: str, limit: int) -> list[str] | None:
    """The paths that the index of the checkout at ``top`` holds, in its order.

    None for more than ``limit`` of them, or an index that cannot be read in this way.
    """
    git = _git_folder(top)
    try:
        with open(os.path.join(git, "index"), "rb") as file:
            start = file.read(12)
            count = int.from_bytes(start[8:12], "big")
            if start[:4] != b"DIRC" or count > limit:
                return None
            index = start + file.read()
    except OSError:
        return None
    hash_size = 32 if _uses_sha256(git) else 20
    if index[4:8] == b"\0\0\0\4":
        packed = _names(index, hash_size)
        if packed is None:
            return None
        return [os.fsdecode(name) for name in packed.split(b"\0")[:count]]
    found = []
    at = 12
    fixed = 42 + hash_size
    for _ in range(count):
        flags = index[at + fixed - 2 : at + fixed - 1]
        first = at + fixed + (2 if flags and flags[0] & 0x40 else 0)
        end = index.find(b"\0", first)
        if end < 0:
            return None
        found.append(os.fsdecode(index[first:end]))
        at += (end - at + 8) & ~7
    return found


def _git_folder(top: str) -> str:
    """Where git keeps the state of the checkout at ``top``."""
    place = os.path.join(top, ".git")
    text = _first_line(place)
    if text.startswith("gitdir:"):
        return os.path.normpath(os.path.join(top, text[len("gitdir:") :].strip()))
    return place


def _names(index: bytes, hash_size: int) -> bytes | None:
    """The paths of a git index of version 4, which shortens each by what it shares with the last.

    None if they cannot be read.
    """
    names = []
    name = b""
    at = 12
    try:
        for _ in range(int.from_bytes(index[8:12], "big")):
            at += 40 + hash_size
            at += 4 if index[at] & 0x40 else 2
            dropped = index[at] & 0x7F
            while index[at] & 0x80:
                at += 1
                dropped = (dropped + 1) << 7 | index[at] & 0x7F
            end = index.index(b"\0", at + 1)
            name = name[: len(name) - dropped] + index[at + 1 : end]
            names.append(name)
            at = end + 1
    except (IndexError, ValueError):
        return None
    return b"\0".join(names) + b"\0"


def _uses_sha256(git: str) -> bool:
    common = os.path.join(git, _first_line(os.path.join(git, "commondir")))
    try:
        with open(os.path.join(common, "config"), "rb") as file:
            return b"sha256" in file.read().lower()
    except OSError:
        return False


def main_worktree(top: str) -> str:
    """The main worktree of a linked one; ``top`` itself for any other checkout."""
    return _main_of(_repository(top)) or top


def shared_place(top: str) -> str:
    """The folder that all worktrees of the repository share, of a linked one; else ``top`` itself.

    Git takes it away with none of them: it is the main worktree, or where there is none, or none
    that can be known, the repository's own folder.
    """
    shared = _repository(top)
    if not shared:
        return top
    if main := _main_of(shared):
        return main
    # What lies beside a repository may be anything, other repositories too: so it has to say that
    # it is this one's.  A submodule's repository names its checkout.
    for place in (os.path.dirname(shared), _named_checkout(shared)):
        if place and _are_one(_git_folder(place), shared):
            return os.path.realpath(place)
    return os.path.realpath(shared)


def _main_of(repository: str) -> str:
    main = os.path.dirname(repository)
    return main if os.path.basename(repository) == ".git" and os.path.isdir(main) else ""


def _repository(top: str) -> str:
    """The folder of the repository that the linked worktree ``top`` is of.

    Empty for any other checkout.
    """
    git = _git_folder(top)
    common = _first_line(os.path.join(git, "commondir"))
    back = _first_line(os.path.join(git, "gitdir"))
    if not common or not back:
        return ""
    shared = os.path.normpath(os.path.join(git, common))
    # Git keeps the link in both directions, and the one that leads back in the repository itself.
    # One that is not so is not git's.
    leads_back = _are_one(os.path.join(git, back), os.path.join(top, ".git"))
    its_own = leads_back and _are_one(os.path.dirname(git), os.path.join(shared, "worktrees"))
    return shared if its_own else ""


def _are_one(path: str, other: str) -> bool:
    """Whether two paths are the same; they mostly are to the letter, which costs nothing to see."""
    return path == other or os.path.realpath(path) == os.path.realpath(other)


def _named_checkout(repository: str) -> str:
    """The checkout that the settings of a repository name; empty if they name none.

    It counts only if that leads back here, so the section of the settings need not be looked at.
    """
    try:
        with open(
            os.path.join(repository, "config"), encoding="utf-8", errors="surrogateescape"
        ) as file:
            for line in file:
                name, equals, value = line.strip().partition("=")
                if equals and name.strip().lower() == "worktree":
                    return os.path.normpath(os.path.join(repository, value.strip().strip('"')))
    except OSError:
        pass
    return ""


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline().strip()
    except OSError:
        return ""
