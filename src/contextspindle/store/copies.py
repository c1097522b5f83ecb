"""Everything that is kept beside the ledger, and the copies of it, for a purge to look into.

What is ours and was only put aside, to be safe or half made, goes as a whole if it holds the text:
such a copy is never opened to be written.  Backups and exports belong to the user, transcripts to
the harness: those that hold the text are named.
"""

from __future__ import annotations

import os

from ..core import canon
from ..errors import WorkspaceRefused
from .driver import driver
from .incidents import Incidents
from .lock import Lock
from .private import append_line, refuse_link, replace_file, sync_folder, translated
from .snapshots import JsonLinesLog
from .sqlite import BACKUPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.eraser import Eraser
    from ..ports import Place

_CHUNK = 1 << 20
_LEDGER = ("ledger.sqlite3", "ledger.sqlite3-wal", "ledger.sqlite3-shm", "ledger.sqlite3-journal")


def places(folder: str) -> dict[str, Place]:
    """Every place in the workspace ``folder`` beside its ledger, by what it is called."""
    return {
        "snapshots": _snapshots(folder),
        "incidents": Incidents(os.path.join(folder, "incidents.jsonl")),
        "what was handed over": Incidents(os.path.join(folder, "handed.jsonl")),
        "list of copies": CopyList.of(folder),
        "copies put aside": CopiesAside(folder),
    }


def outside(folder: str, eraser: Eraser) -> dict[str, str]:
    """What holds the text and is not ours to change: path to what it is.

    Backups and exports that were made from here, as far as they are where they were put, and the
    transcripts that snapshots were made of.
    """
    found = CopyList.of(folder).there()
    for snapshot in _snapshots(folder).all():
        path = snapshot.get("transcript")
        if isinstance(path, str) and os.path.isabs(path) and os.path.isfile(path):
            found.setdefault(path, "transcript")
    return {path: kind for path, kind in found.items() if holds(path, eraser)}


def left(folder: str, eraser: Eraser) -> list[str]:
    """The files of the workspace ``folder`` that hold the text and that no place knows."""
    known = {os.path.join(folder, "tasks", name) for name in _LEDGER}
    known.update(place.path for place in places(folder).values())
    return [
        one
        for one in _files(folder)
        if one not in known and not is_aside(one) and holds(one, eraser)
    ]


def _snapshots(folder: str) -> JsonLinesLog:
    return JsonLinesLog(os.path.join(folder, "fuse", "ledger.jsonl"))


class CopiesAside:
    """Safety copies, and what a process that was cut off has left half made, in a workspace."""

    def __init__(self, folder: str) -> None:
        self.path = folder

    def purge(self, eraser: Eraser, *, write: bool) -> int:
        """Remove those that hold a text, or cannot be read; see :class:`.ports.Place`."""
        copies = os.path.join(self.path, "tasks", BACKUPS)
        refuse_link(copies)  # it would not be looked into
        if write and os.path.isdir(copies):
            with Lock(copies + ".lock"):  # a copy in the making was begun before this purge
                return self._purge(eraser, write=True)
        return self._purge(eraser, write=write)

    def _purge(self, eraser: Eraser, *, write: bool) -> int:
        held = [one for one in _files(self.path) if is_aside(one) and holds(one, eraser)]
        for path in held if write else ():
            try:
                os.unlink(path)
                sync_folder(os.path.dirname(path))
            except FileNotFoundError:
                pass  # whoever was at it has ended in the meantime
            except OSError as error:
                raise translated(error, path) from error
        return len(held)


def is_aside(path: str) -> bool:
    """Whether a file of a workspace is a safety copy, or has a name given up when it is whole."""
    folder, name = os.path.split(path)
    for journal in ("-journal", "-wal", "-shm"):
        name = name.removesuffix(journal)
    stem, _, ending = name.rpartition(".")
    half_made = ending in ("new", "part") or (ending.isdigit() and "." in stem)
    return half_made or os.path.basename(folder) == BACKUPS


class CopyList:
    """The note of what was handed out of a workspace, a line each: when, what, and where to."""

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def of(cls, folder: str) -> CopyList:
        """That of the workspace ``folder``."""
        return cls(os.path.join(folder, "copies.jsonl"))

    def add(self, at: int, kind: str, to: str) -> None:
        """One more line, if the file can be written; what was handed out is, in any case."""
        try:
            refuse_link(self.path)
            line = canon.text({"at": at, "kind": kind, "path": to})
            # A path of bytes that are no UTF-8 stands in it as JSON escapes, by which it is found.
            append_line(self.path, line.encode("utf-8", "backslashreplace") + b"\n")
        except (OSError, ValueError, WorkspaceRefused):
            pass

    def there(self) -> dict[str, str]:
        """What is where it was put: its path, and what it is."""
        found = {}
        for line in self._lines():
            try:
                one = canon.decode(line)
                if os.path.exists(one["path"]):
                    found[one["path"]] = str(one["kind"])
            except (ValueError, KeyError, TypeError):
                continue
        return found

    def purge(self, eraser: Eraser, *, write: bool) -> int:
        """Take a text out of every line; how many held it.  See :class:`.ports.Place`."""
        refuse_link(self.path)
        lines = self._lines()
        bare = [eraser.line(line) for line in lines]
        held = sum(one != line for one, line in zip(bare, lines))
        if held and write:
            replace_file(self.path, b"\n".join(bare))
        return held

    def _lines(self) -> list[bytes]:
        try:
            with open(self.path, "rb") as file:
                return file.read().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise translated(error, self.path) from error


def holds(path: str, eraser: Eraser) -> bool:
    """Whether a file, or a file in a folder, holds a text.

    Also if it cannot be read: then nobody could say that it does not.
    """
    return _looked_for(path, eraser) is not False


def unread(path: str, eraser: Eraser) -> bool:
    """Whether it is for want of reading that :func:`holds` says so."""
    return _looked_for(path, eraser) is None


def _looked_for(path: str, eraser: Eraser) -> bool | None:
    """Whether the text is there; None if it was not found and not all of it can be read."""
    if os.path.isdir(path):
        found = {_looked_for(one, eraser) for one in _files(path)}
        return True if True in found else None if None in found else False
    database: bool | None = False
    try:
        with open(path, "rb") as file:
            if file.read(16) == b"SQLite format 3\0":
                database = _in_database(path, eraser)
            file.seek(0)
            before = b""
            while not database and (chunk := file.read(_CHUNK)):
                if eraser.holds(before + chunk):
                    return True
                before = (before + chunk)[-len(eraser.forms[0]) :]
    except OSError:
        return None
    return database


def _in_database(path: str, eraser: Eraser) -> bool | None:
    """Whether a value in a database holds it: in the file, a long one lies in pieces.

    None if it cannot be read.
    """
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        db = driver.connect(f"file:{name}?mode=ro&immutable=1", uri=True, isolation_level=None)
        try:
            plain = "type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            for (table,) in db.execute(f"SELECT name FROM sqlite_master WHERE {plain}").fetchall():  # noqa: S608
                quoted = table.replace('"', '""')
                for row in db.execute(f'SELECT * FROM "{quoted}"'):  # noqa: S608 (its own name)
                    for value in row:
                        data = value.encode() if isinstance(value, str) else value
                        if isinstance(data, bytes) and eraser.holds(data):
                            return True
        finally:
            db.close()
    except (driver.Error, UnicodeError):
        return None
    return False


def _files(folder: str) -> Iterator[str]:
    """Every file below a folder; no link is followed."""
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(place, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield path
