"""Mounts on which shared memory between processes cannot be trusted.

SQLite's write-ahead log needs memory that all processes share, which network and pass-through file
systems do not give (https://www.sqlite.org/wal.html, "Disadvantages").  There a rollback journal is
used.  It is decided once, when a ledger is made, from the kernel's mount table.
"""

from __future__ import annotations

import os

_UNSHARED = frozenset(
    "9p afpfs afs ceph cifs davfs drvfs fuse fuseblk gpfs lustre ncpfs nfs nfs4 prl_fs smb3 smbfs"
    " vboxsf virtiofs vmhgfs webdav".split()
)

MOUNT_TABLE = "/proc/self/mountinfo"


def file_system(folder: str, table: str = MOUNT_TABLE) -> str:
    """The type of the file system that ``folder`` is on; empty where there is no mount table."""
    try:
        with open(table, "rb") as lines:
            mounts = os.fsdecode(lines.read()).split("\n")
    except OSError:
        return ""
    folder = os.path.realpath(folder)
    best, found = -1, ""
    for line in mounts:
        left, _, right = line.partition(" - ")
        parts = left.split(" ")
        if len(parts) < 5 or not right:
            continue
        point = parts[4]
        for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
            point = point.replace(code, char)
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        # A later mount on the same point hides the earlier one.
        if inside and len(point) >= best:
            best, found = len(point), right.split(" ")[0]
    return found


def needs_rollback_journal(file_system_type: str) -> bool:
    """Whether a write-ahead log would be unsafe on this type of file system."""
    return file_system_type.split(".")[0] in _UNSHARED
