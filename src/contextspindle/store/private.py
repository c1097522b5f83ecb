"""Files of one user: private from the first moment, never through a link, durable when said so."""

from __future__ import annotations

import os
import stat

from ..errors import StoreFull, StoreReadOnly, StoreUnavailable, WorkspaceRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..errors import StoreError

FOLDER_MODE = 0o700
FILE_MODE = 0o600
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
"""How a file is opened that must not be there yet."""


def translated(error: OSError, path: str) -> StoreError:
    """The error to raise for what the operating system said about ``path``."""
    import errno

    said = f"{path}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(said)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return StoreReadOnly(said)
    return StoreUnavailable(said)


def refuse_link(path: str) -> None:
    """WorkspaceRefused if ``path`` is a symbolic link: writes there would land elsewhere."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return
    if stat.S_ISLNK(mode):
        raise WorkspaceRefused(
            "The workspace cannot be used:",
            [f"{path} is a symbolic link; put a real folder or file in its place"],
        )


def make_folder(path: str) -> bool:
    """A folder that only its owner may enter.  False if it was there already."""
    refuse_link(path)
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        if not os.path.isdir(path):
            raise StoreUnavailable(f"{path} is not a folder") from None
        return False
    except OSError as error:
        raise translated(error, path) from error
    sync_folder(os.path.dirname(path))
    return True


def sync_folder(path: str) -> None:
    """The entries of the folder ``path`` survive power loss."""
    handle = os.open(path or ".", os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        # Some network file systems know no sync of a folder; there is nothing else to try.
        pass
    finally:
        os.close(handle)


def write_new(path: str, data: bytes) -> bool:
    """A file of ``data``: private, synced, whole from the moment that it appears.

    False if there was one already: it stays.
    """
    if os.path.lexists(path):
        refuse_link(path)
        return False
    fresh = f"{path}.{os.getpid()}"  # two processes may be at it, each with its own
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, FILE_MODE)
        try:
            write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(fresh, path)
    except OSError as error:
        if os.path.lexists(fresh):
            os.unlink(fresh)
        raise translated(error, path) from error
    sync_folder(os.path.dirname(path))
    return True


def write_pieces(path: str, pieces: Iterable[bytes]) -> int:
    """A new file of ``pieces``: private, synced, whole from the moment that it appears.

    How many they were.  FileExistsError if there is one already: nothing is ever overwritten.
    """
    aside = part_of(path)
    count = 0
    try:
        handle = os.open(aside, NEW, FILE_MODE)
        try:
            with open(handle, "wb") as file:
                for piece in pieces:
                    file.write(piece)
                    count += 1
                file.flush()
                os.fsync(handle)
            _named(aside, path)
        finally:
            if os.path.lexists(aside):
                os.unlink(aside)
        sync_folder(os.path.dirname(path))
    except FileExistsError:
        raise
    except OSError as error:
        raise translated(error, path) from error
    return count


def part_of(path: str) -> str:
    """A name beside ``path`` that nobody has, for what becomes it when it is whole.

    The process that has a number now is not the one that had it when a file was left.
    """
    number = 0
    while os.path.lexists(aside := f"{path}.{os.getpid()}.{number}.part"):
        number += 1
    return aside


def _named(aside: str, path: str) -> None:
    """What is whole under the name ``aside`` is called ``path``, if nothing is called so."""
    import errno

    try:
        # Unlike a rename, a link fails where a file is there already.
        os.link(aside, path)
    except OSError as error:
        unable = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK)
        if error.errno not in unable:
            raise
        # A file system without links: an empty file takes the name, and is replaced by the whole.
        os.close(os.open(path, NEW, FILE_MODE))
        try:
            os.rename(aside, path)
        except OSError:
            os.unlink(path)
            raise


def replace_file(path: str, data: bytes) -> None:
    """The file ``path`` holds ``data``, durably; until then, and after a crash, what it held.

    WorkspaceRefused if it is a symbolic link.
    """
    refuse_link(path)
    fresh = f"{path}.{os.getpid()}"
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, FILE_MODE)
        try:
            write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(fresh, path)
    except OSError as error:
        if os.path.lexists(fresh):
            os.unlink(fresh)
        raise translated(error, path) from error
    sync_folder(os.path.dirname(path))


def append_line(path: str, line: bytes) -> int:
    """``line`` at the end of a private file, on a line of its own; the bytes it has then.

    OSError.  It is not synced.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, FILE_MODE)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            line = b"\n" + line  # whoever wrote before was cut off: its line ends here
        write_all(handle, line)
    finally:
        os.close(handle)
    return size + len(line)


def write_all(handle: int, data: bytes) -> None:
    """Every byte of ``data`` written, however short the single writes are."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
