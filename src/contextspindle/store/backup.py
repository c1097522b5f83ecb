"""Backups: a folder with one consistent copy of the ledger, and what is needed to trust it.

The copy is SQLite's own online backup, so that it can be taken while others write.  It is inspected
before it is moved into place, and again, by its digest, before anything is restored from it.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager

from ..core import archive, canon
from ..core.text import counted
from ..errors import InvalidInput, StoreCorrupt, in_words
from .driver import driver, translated, translated_copy
from .inspect import inspect
from .private import FOLDER_MODE, part_of, sync_folder, write_new
from .private import translated as translated_os
from .schema import copy_to
from .sqlite import SCHEMA, SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .inspect import Report

COPY = "ledger.sqlite3"
MANIFEST = "manifest.json"


def back_up(
    store: SqliteStore,
    folder: str,
    *,
    tool: str,
    now: int,
    progress: Callable[[int], object] = id,
) -> dict[str, Any]:
    """A backup in the new folder ``folder``; the manifest.

    InvalidInput if the folder exists or lies inside the ledger.  StoreCorrupt if what was copied is
    not sound: then there is no backup.
    """
    folder = os.path.abspath(folder)
    inside = os.path.realpath(os.path.dirname(os.path.dirname(store.path)))
    if os.path.realpath(folder).startswith(inside + os.sep):
        raise InvalidInput(f"{folder} lies inside the workspace; a backup belongs elsewhere")
    if os.path.lexists(folder):
        raise InvalidInput(f"{folder} is there already; a backup never overwrites")
    if not os.path.isdir(os.path.dirname(folder)):
        raise InvalidInput(f"{os.path.dirname(folder)} is not a folder")
    aside = part_of(folder)
    try:
        os.mkdir(aside, FOLDER_MODE)
        try:
            manifest = _filled(store, aside, tool=tool, now=now, progress=progress)
            os.rename(aside, folder)
        except BaseException:
            _remove(aside)
            raise
        sync_folder(os.path.dirname(folder))
    except driver.Error as error:
        raise translated(error, store.path) from error
    except OSError as error:
        raise translated_os(error, folder) from error
    return manifest


def _filled(
    store: SqliteStore, folder: str, *, tool: str, now: int, progress: Callable[[int], object]
) -> dict[str, Any]:
    path = os.path.join(folder, COPY)
    try:
        copy_to(store.open_reader(), path)
    except driver.Error as error:
        raise translated_copy(error, store.path, path) from error
    with closing(SqliteStore(path)) as copy:
        manifest = _manifest(path, check_sound(copy, progress), tool=tool, at=now)
    write_new(os.path.join(folder, MANIFEST), canon.encode(manifest) + b"\n")
    return manifest


def check_sound(copy: SqliteStore, progress: Callable[[int], object] = id) -> Report:
    """What an inspection of a fresh copy found.  StoreCorrupt if that is damage."""
    report = inspect(copy, progress=progress)
    if report.findings:
        first = report.findings[0]
        raise StoreCorrupt(
            f"The ledger is damaged, so there is no backup: {first.task} {first.message}",
            hint="'contextspindle verify' lists what is damaged.",
        )
    return report


def _manifest(path: str, report: Report, *, tool: str, at: int) -> dict[str, Any]:
    return {
        "format": "contextspindle backup",
        "version": 1,
        "at": at,
        "tool": tool,
        "schema": SCHEMA,
        "tasks": report.tasks,
        "changes": report.changes,
        "file": os.path.basename(path),
        "bytes": os.path.getsize(path),
        "sha256": _sha256_of(path),
    }


@contextmanager
def opened(place: str) -> Iterator[tuple[SqliteStore, dict[str, Any]]]:
    """The ledger in a backup, and its manifest, for a ``with`` block.

    ``place`` is a backup's folder, or a safety copy; that has no manifest, and what is told of it
    is what it shows itself.  Neither is ever changed: one of an older schema is copied, and the
    copy brought up to date.  InvalidInput if it is no backup; StoreCorrupt if the copy is not the
    one that was written, or is damaged.
    """
    real = os.path.realpath(place)  # a link is refused where we write, and here we only read
    path, manifest = (real, None) if os.path.isfile(real) else _from_folder(real)
    _refuse_export(path)
    with _of_this_schema(path) as store:
        report = inspect(store)
        if report.findings:
            raise StoreCorrupt(
                f"The copy in {place} is damaged: {report.findings[0].message}",
                hint="Use another backup.",
            )
        if manifest and (manifest.get("tasks"), manifest.get("changes")) != (
            report.tasks,
            report.changes,
        ):
            raise StoreCorrupt(
                f"The copy in {place} is not what its manifest says: it holds"
                f" {counted(report.tasks, 'task')} and {counted(report.changes, 'change')}",
                hint="Use another backup.",
            )
        if manifest is None:
            at = os.stat(path).st_mtime_ns // 1_000_000
            manifest = _manifest(path, report, tool="", at=at)
        yield store, manifest


@contextmanager
def _of_this_schema(path: str) -> Iterator[SqliteStore]:
    """The ledger at ``path``, or a copy of it: opening an older one would bring it up to date.

    What a write-ahead log or a journal beside it says belongs to it, and to the copy.
    """
    if _schema_of(path) >= SCHEMA:
        with closing(SqliteStore(path)) as store:
            _refuse_other(store)
            yield store
        return
    import shutil
    import tempfile

    aside = ""
    try:
        try:
            aside = tempfile.mkdtemp(prefix="contextspindle-")
            source = _AsItIs(path)
            try:
                _refuse_other(source)
                copy_to(source.open_reader(), os.path.join(aside, COPY))
            finally:
                source.close()
        except driver.Error as error:
            raise translated_copy(error, path, os.path.join(aside, COPY)) from error
        except OSError as error:
            raise translated_os(error, aside or path) from error
        with closing(SqliteStore(os.path.join(aside, COPY))) as store:
            yield store
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _refuse_export(path: str) -> None:
    """InvalidInput if the file is an export, which another command takes in."""
    try:
        with open(path, "rb") as file:
            archive.promised(file.readline(1_000))
    except (OSError, ValueError):
        return
    raise InvalidInput(
        f"{path} is an export, not a backup",
        hint=f"'contextspindle import {path}' takes it in.",
    )


def _refuse_other(store: SqliteStore) -> None:
    """InvalidInput if it is the database of another program: schemas are numbered elsewhere too."""
    try:
        sql = "SELECT count(*) FROM sqlite_master WHERE name IN ('tasks', 'changes')"
        ((found,),) = store.open_reader().execute(sql).fetchall()
    except driver.Error as error:
        raise translated(error, store.path) from error
    if not found:
        raise InvalidInput(f"{store.path} is not a backup: it is the database of another program")


class _AsItIs(SqliteStore):
    """A ledger that is read and stays of its schema."""

    newest = 0


def _schema_of(path: str) -> int:
    """The schema that a closed database says it has, without opening it; 0 if it is none.

    InvalidInput if the file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(100)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
    # SQLite's file format: "user version", four bytes, the highest first.
    return int.from_bytes(head[60:64], "big")


def _from_folder(folder: str) -> tuple[str, dict[str, Any]]:
    """The database file of a backup, which is as it was written, and its manifest."""
    try:
        with open(os.path.join(folder, MANIFEST), "rb") as file:
            manifest = canon.decode(file.read())
        path = os.path.join(folder, COPY)
        known = (manifest["format"], manifest["version"]) == ("contextspindle backup", 1)
        size, digest = manifest["bytes"], manifest["sha256"]
        if {type(manifest["at"]), type(manifest["schema"])} != {int}:
            raise ValueError("its manifest does not say when it was made, or of which schema")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{folder} is not a backup: {in_words(error)}") from error
    if not known:
        raise InvalidInput(f"{folder} is a backup in a form that this program does not know")
    try:
        sound = os.path.getsize(path) == size and _sha256_of(path) == digest
    except OSError as error:
        raise StoreCorrupt(f"The copy in {folder} cannot be read: {error.strerror}") from error
    if not sound:
        raise StoreCorrupt(
            f"The copy in {folder} is not the one that was backed up; nothing was restored",
            hint="Use another backup.",
        )
    return path, manifest


def _remove(folder: str) -> None:
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)


def _sha256_of(path: str) -> str:
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
