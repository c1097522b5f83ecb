"""Looks at what the program stands on: the disk, the system's rights, and the versions."""

from __future__ import annotations

import os
import platform
import stat
import sys

from .. import __version__, places, programs, workspace
from ..core.text import one_line, quoted
from ..store import health, mounts
from . import NOTE, OK, PROBLEM, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from . import Case

FULL, TIGHT = 16 * 1024 * 1024, 256 * 1024 * 1024
"""Free bytes below which nothing can be relied on, and below which it is worth telling."""


def of_disk(case: Case) -> Iterator[Finding]:
    """Room, rights and the kind of file system of the workspace."""
    if not case.root:
        return
    folder = case.path(places.FOLDER)
    yield _room(folder)
    if os.access(folder, os.W_OK | os.X_OK) and not _read_only(folder):
        yield from _private(folder)
    else:
        yield Finding(
            "disk",
            PROBLEM,
            f"{folder} cannot be written: reading goes on, but hooks and commands save nothing",
            "Give your account the right to write there, or mount it writable.",
        )
    yield on_file_system(folder, mounts.file_system(folder))


def _room(folder: str) -> Finding:
    found = os.statvfs(folder)
    free = found.f_bavail * found.f_frsize
    said = f"{free >> 20:,} MiB are free for {folder}"
    if found.f_files and not found.f_favail:
        return Finding("disk", PROBLEM, f"no more files fit on the disk of {folder}", _MAKE_ROOM)
    state = PROBLEM if free < FULL else NOTE if free < TIGHT else OK
    return Finding("disk", state, said, "" if state == OK else _MAKE_ROOM)


_MAKE_ROOM = "Make room; 'contextspindle fuse prune' and older safety copies free little."


def _read_only(folder: str) -> bool:
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def _private(folder: str) -> Iterator[Finding]:
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    if places.owner(folder) not in (os.geteuid(), -1):
        said = f"{folder} belongs to another user than the one who asks"
        yield Finding("disk", NOTE, said, "Use it from the account that it belongs to.")
    elif mode & 0o077:
        said = f"others on this machine may enter {folder} (mode {mode:o})"
        yield Finding("disk", NOTE, said, f"chmod 700 {quoted(folder)}")


def on_file_system(folder: str, kind: str) -> Finding:
    """Whether the ledger in ``folder`` can trust a file system of this kind."""
    shown = f"file system {one_line(kind) or 'of a kind that this system does not tell'}"
    ledger = os.path.join(folder, workspace.LEDGER)
    if not mounts.needs_rollback_journal(kind) or not os.path.exists(ledger):
        return Finding("disk", OK, shown)
    try:
        journal = health.of_ledger(ledger).journal
    except Exception:
        return Finding("disk", NOTE, f"{shown}, which shares no memory between machines")
    if journal == "wal":
        return Finding(
            "disk",
            PROBLEM,
            f"{shown} shares no memory between machines, which the ledger's journal needs",
            "Use the workspace from one machine at a time; to change it: contextspindle backup"
            " FOLDER, then restore it into a workspace that was made with"
            " CONTEXTSPINDLE_JOURNAL=rollback.",
        )
    return Finding("disk", OK, f"{shown}, with the journal that suits it")


def of_versions(_: Case) -> Iterator[Finding]:
    """Which programs are at work, and whether they can do what is needed."""
    import shutil

    python = f"Python {platform.python_version()}"
    said = f"contextspindle {__version__}, {python}, SQLite {health.sqlite_version()}"
    if health.has_search():
        yield Finding("versions", OK, f"{said} with FTS5, {platform.system()}")
    else:
        yield Finding(
            "versions",
            PROBLEM,
            f"{said}: this SQLite has no FTS5, without which there is no ledger",
            "Use a Python whose SQLite has it: those of python.org and of the systems do.",
        )
    own = programs.launcher()
    if not os.access(own, os.X_OK):
        yield Finding(
            "versions",
            PROBLEM,
            f"there is no command at {own}, which hooks would run",
            "Install the package again, in a place of its own (pipx, uv tool, a venv).",
        )
        return
    there = shutil.which("contextspindle")
    if there is None:
        yield Finding(
            "versions",
            NOTE,
            f"the command {own} is not on the PATH of this shell",
            f"Add {os.path.dirname(own)} to it; committed hooks look there.",
        )
    elif os.path.realpath(there) != os.path.realpath(own):
        yield Finding(
            "versions",
            NOTE,
            f"the PATH leads to another installation, {there}; this is {own}",
            "Keep one, or mind which of them your hooks name.",
        )
    else:
        yield Finding("versions", OK, f"the command is {own}, run by {sys.executable}")
