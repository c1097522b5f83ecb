"""Git's own files, read without git: where a checkout begins, whose worktree it is, what it tracks.

A command and a hook ask this before they do anything, and starting git would cost more than all the
rest.  Formats: https://git-scm.com/docs/gitrepository-layout, https://git-scm.com/docs/index-format.
"""

from __future__ import annotations

import os


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
    git = _git_folder(top)
    common = _first_line(os.path.join(git, "commondir"))
    back = _first_line(os.path.join(git, "gitdir"))
    # Git keeps the link in both directions; one that does not lead back here is not git's.
    if not common or os.path.realpath(back) != os.path.realpath(os.path.join(top, ".git")):
        return top
    shared = os.path.normpath(os.path.join(git, common))
    main = os.path.dirname(shared)
    return main if os.path.basename(shared) == ".git" and os.path.isdir(main) else top


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline().strip()
    except OSError:
        return ""
