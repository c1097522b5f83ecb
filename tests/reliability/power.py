"""What a power loss leaves: a record of file calls, played again up to a moment, and then cut off.

The rules are those that POSIX gives and no more.  What was written to a file before its last sync
is kept; what came later may be kept, lost, or be there in some of its sectors only.  A name in a
folder is kept if the folder was synced after it was given; later ones may be lost.  What a crash
keeps of the rest is drawn from a seed, so that every world can be had again.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SECTOR = 512

FATES = ("lost", "kept", "some writes", "some sectors")
"""What becomes of writes that were not synced."""


class Step(NamedTuple):
    """One recorded call."""

    what: str
    inode: int = 0
    at: int = 0
    data: bytes = b""
    paths: tuple[str, ...] = ()


def steps_of(record: bytes) -> list[Step]:
    """The calls of a record, in order."""
    found = []
    at = 0
    while at < len(record):
        end = record.index(b"\n", at)
        what, *numbers = record[at:end].decode().split()
        values = [int(one) for one in numbers]
        at = end + 1
        if what in ("answer", "sync"):
            found.append(Step(what, *values))
        elif what == "truncate":
            found.append(Step(what, values[0], values[1]))
        else:
            data, at = record[at : at + values[-1]], at + values[-1]
            if what == "write":
                found.append(Step(what, values[0], values[1], data))
            else:
                inode = values[0] if len(values) > 1 else 0
                found.append(Step(what, inode, paths=tuple(os.fsdecode(data).split("\n"))))
    return found


class Before(NamedTuple):
    """A folder as it was, all of it durable."""

    root: str
    names: dict[str, int]
    """The inode of each path."""
    content: dict[int, bytes]
    """What each file holds; folders are not in it."""


def look(root: Path) -> Before:
    """The folder ``root`` as it is."""
    names, content = {str(root): root.stat().st_ino}, {}
    for path in sorted(root.rglob("*")):
        names[str(path)] = path.stat().st_ino
        if path.is_file():
            content[path.stat().st_ino] = path.read_bytes()
    return Before(str(root), names, content)


def moments(steps: list[Step]) -> list[int]:
    """How many steps are done at each moment worth a crash: around every sync, and at the end."""
    found = {0, len(steps)}
    for number, step in enumerate(steps):
        if step.what == "sync":
            found |= {number, number + 1}
        elif step.what in ("rename", "link", "answer"):
            found.add(number + 1)
    return sorted(found)


def after_crash(
    before: Before, steps: list[Step], fate: str, names_kept: str, seed: int
) -> dict[str, bytes | None]:
    """What is there after a crash behind ``steps``: each path with its bytes, None for a folder.

    ``fate`` is one of :data:`FATES`; ``names_kept`` says of what was done to names and not synced:
    ``lost``, ``kept``, or ``some`` for the first few of it.
    """
    chance = random.Random(seed)
    names = _names(before, steps, names_kept, chance)
    found: dict[str, bytes | None] = {}
    for path, (inode, born) in names.items():
        known = before.content.get(inode, b"") if born < 0 else b""
        is_folder = (inode not in before.content) if born < 0 else steps[born].what == "mkdir"
        found[path] = None if is_folder else _content(known, inode, born, steps, fate, chance)
    return found


def _names(
    before: Before, steps: list[Step], names_kept: str, chance: random.Random
) -> dict[str, tuple[int, int]]:
    """Each path with its inode, and with the step that made the file, -1 for one that was there."""
    names = {path: (inode, -1) for path, inode in before.names.items()}
    real = dict(names)  # as the process saw it: it tells which folder a sync was of
    changes = [n for n, one in enumerate(steps) if one.paths and _inside(before, one)]
    durable = set()
    for number in changes:
        folders = {os.path.dirname(path) for path in steps[number].paths}
        inodes = {real[folder][0] for folder in folders if folder in real}
        _apply(real, steps[number], number)
        synced = {one.inode for one in steps[number + 1 :] if one.what == "sync"}
        if inodes <= synced:
            durable.add(number)
    open_ones = [number for number in changes if number not in durable]
    count = {"lost": 0, "kept": len(open_ones)}.get(names_kept)
    kept = open_ones[: chance.randint(0, len(open_ones)) if count is None else count]
    for number in changes:
        if number in durable or number in kept:
            _apply(names, steps[number], number)
    return names


def _inside(before: Before, step: Step) -> bool:
    return all(path.startswith(before.root + "/") for path in step.paths)


def _apply(names: dict[str, tuple[int, int]], step: Step, number: int) -> None:
    """Do to ``names`` what ``step`` did, if what it needs is there."""
    first, last = step.paths[0], step.paths[-1]
    if os.path.dirname(last) not in names:
        return
    if step.what in ("create", "mkdir"):
        names[first] = (step.inode, number)
    elif step.what == "unlink":
        names.pop(first, None)
    elif step.what == "link" and first in names:
        names[last] = names[first]
    elif step.what == "rename" and first in names:
        below = [path for path in names if path == first or path.startswith(first + "/")]
        for path in below:
            names[last + path[len(first) :]] = names.pop(path)


def _content(
    known: bytes, inode: int, born: int, steps: list[Step], fate: str, chance: random.Random
) -> bytes:
    own = [one for one in steps[max(born, 0) :] if one.inode == inode and not one.paths]
    last = max((n for n, one in enumerate(own) if one.what == "sync"), default=-1)
    content = bytearray(known)
    for number, one in enumerate(own):
        if one.what == "sync":
            continue
        if number < last or fate == "kept" or (fate == "some writes" and chance.random() < 0.5):
            _write(content, one.what, one.at, one.data)
        elif fate == "some sectors":
            for at in range(0, max(len(one.data), 1), SECTOR):
                if chance.random() < 0.5:
                    _write(content, one.what, one.at + at, one.data[at : at + SECTOR])
    return bytes(content)


def _write(content: bytearray, what: str, at: int, data: bytes) -> None:
    end = at if what == "truncate" else at + len(data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if what == "truncate":
        del content[at:]
    else:
        content[at:end] = data


def set_up(folder: Path, found: dict[str, bytes | None], root: str) -> None:
    """Make ``found``, which was below ``root``, real below ``folder``."""
    for path in sorted(found):
        place = folder / os.path.relpath(path, root)
        data = found[path]
        if data is None:
            place.mkdir(mode=0o700, exist_ok=True)
        elif not path.endswith("-shm"):  # shared memory: what it held is made anew from the log
            place.write_bytes(data)


def worlds(steps: list[Step], seed: str, count: int | None) -> Iterator[tuple[int, str, str, int]]:
    """Crashes to try: the number of steps, both fates and a seed; ``count`` of them if given."""
    every = [
        (moment, fate, names, number)
        for moment in moments(steps)
        for fate in FATES
        for names in ("lost", "kept", "some")
        for number in range(3 if "some" in fate else 1)
    ]
    if count is None or count >= len(every):
        yield from every
        return
    # The end is what counts most: there, all that was answered must be there.
    final = [one for one in every if one[0] == len(steps)]
    chance = random.Random(seed)
    yield from final
    yield from chance.sample(every[: len(every) - len(final)], max(count - len(final), 0))
