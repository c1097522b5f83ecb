"""The original ContextSpindle: a folder a task, a file a version, each with a checksum.

A version is a whole task (schema 1) or what changed (schema 2).  Here each becomes a change of the
task's chain, at its own time and by its own actor, so that the history comes over with the task,
and so does its id.  A version that cannot be read leaves its place: a note says what is missing,
and the next whole version says again how the task stands.

Its evidence could be any text.  Such text is kept as a record bound to no criteria at all, which is
shown and never counts.
"""

from __future__ import annotations

import os

from ..core import canon, evidence, foreign
from ..core.foreign import UNREAD, Chronicle, Gathered, Past, Problem
from ..core.task import TEXT_LIMIT, is_id
from ..core.text import size
from ..core.value import Value
from ..errors import InvalidInput, in_words
from . import sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

NAME = "original"

FOLDER = os.path.join(".contextspindle", "tasks")
MOST_MISSING = 10_000
"""Versions that may be missing before one: a file of a higher number is none of the task's."""
UNBOUND = "0" * 64
"""The criteria hash of evidence that was bound to none: no text has it."""

_TEXTS = ("goal", "status", "owner", "blocker", "next")
_LISTS = {"decision": "decisions", "note": "notes", "evidence": "evidence"}
_WHOLE = frozenset(
    "schema id version created_ms updated_ms last_actor goal criteria status blocker next owner"
    " parent dependencies decisions evidence notes".split()
)
_DELTA = frozenset("schema id version updated_ms actor changes".split())
_LATEST = 253_402_300_799_999  # the end of the year 9999


class File(Value):
    """One version's file: its number, and its bytes, or why there are none."""

    version: int
    content: bytes
    problem: str = ""


def find(place: str) -> str | None:
    """The folder of tasks at or below ``place``, or the folder of one task."""
    for folder in (os.path.join(place, FOLDER), os.path.join(place, "tasks"), place):
        if any(_task_folders(folder)) or _versions(folder):
            return folder
    return None


def recognises(found: str) -> bool:
    """Nothing else keeps files of such names."""
    return bool(found)


def _task_folders(folder: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if is_id(name) and os.path.isdir(path) and _versions(path):
            yield path


def _versions(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [name for name in names if len(name) == 25 and _number(name)]


def _number(name: str) -> int:
    stem, ending = name[:-5], name[-5:]
    return int(stem) if ending == ".json" and stem.isascii() and stem.isdigit() else 0


def gather(found: str) -> Gathered:
    """The tasks of a folder, or of the folder of one task."""
    chronicles: list[Chronicle] = []
    problems: list[Problem] = []
    for folder in [found] if _versions(found) else _task_folders(found):
        task_id = os.path.basename(os.path.abspath(folder))
        if os.path.islink(folder):
            problems.append(Problem(UNREAD, task_id, "it is a symbolic link"))
            continue
        files = [_file(folder, name) for name in _versions(folder)]
        others = set(os.listdir(folder)) - set(_versions(folder))
        problems += [
            Problem(UNREAD, f"{task_id}/{name}", "it is not a version of a task")
            for name in sorted(others)
        ]
        try:
            chronicle, told = parse(task_id, files)
            chronicles.append(chronicle)
            problems += told
        except ValueError as error:
            problems.append(Problem(UNREAD, task_id, in_words(error)))
    return Gathered(NAME, (), tuple(chronicles), tuple(problems))


def _file(folder: str, name: str) -> File:
    path = os.path.join(folder, name)
    if os.path.islink(path):
        return File(_number(name), b"", "it is a symbolic link")
    try:
        return File(_number(name), sources.read_file(path))
    except InvalidInput as error:
        return File(_number(name), b"", error.message)


def checksum(body: bytes) -> str:
    """The FNV-1a hash of 64 bits, in hex: http://www.isthe.com/chongo/tech/comp/fnv/."""
    found = 0xCBF29CE484222325
    for byte in body:
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{found:016x}"


def parse(task_id: str, files: list[File]) -> tuple[Chronicle, list[Problem]]:
    """The chronicle of a task.  ValueError if no version says what the task was."""
    bodies: dict[int, dict[str, Any]] = {}
    problems: dict[int, str] = {}
    beyond: list[Problem] = []
    for count, file in enumerate(files, 1):
        try:
            if file.version > count + MOST_MISSING:
                beyond.append(
                    Problem(
                        UNREAD, f"{task_id}, version {file.version}", "its number lies far beyond"
                    )
                )
                continue
            bodies[file.version] = _body(task_id, file)
        except ValueError as error:
            problems[file.version] = in_words(error)
    first = next((body for body in bodies.values() if body["schema"] == 1), None)
    if first is None:
        raise ValueError("none of its versions says what the task was")
    history = _History(task_id, first)
    for version in range(1, max((*bodies, *problems)) + 1):
        if version in bodies:
            history.add(bodies[version])
        else:
            problems.setdefault(version, "it is missing")
            history.skip(version, problems[version])
    told = [
        Problem(UNREAD, f"{task_id}, version {version}", problems[version])
        for version in sorted(problems)
    ]
    return Chronicle(task_id, task_id, tuple(history.versions)), told + beyond


def _body(task_id: str, file: File) -> dict[str, Any]:
    """The body of a version, its form checked as far as the history needs it."""
    if file.problem:
        raise ValueError(file.problem)
    outer = sources.parsed(file.content.decode("utf-8"))
    inner = outer.get("body") if isinstance(outer, dict) else None
    if not isinstance(inner, str):
        raise ValueError("it has no body")
    if outer.get("checksum") != checksum(inner.encode("utf-8", "surrogatepass")):
        raise ValueError("its checksum does not match")
    found = sources.parsed(inner)
    if not isinstance(found, dict):
        raise ValueError("its body is not an object")
    if (found.get("id"), found.get("version")) != (task_id, file.version):
        raise ValueError("it is of another task or version")
    changes = found.get("changes")
    found.setdefault("schema", 1 if changes is None else 2)
    if found["schema"] == 1:
        if not isinstance(found.get("goal"), str) or not found["goal"].strip():
            raise ValueError("it has no goal")
    elif found["schema"] != 2:
        raise ValueError(f"its schema {found['schema']} is not known")
    elif not isinstance(changes, list) or not all(map(_is_pair, changes)):
        raise ValueError("its changes are not pairs of key and value")
    return found


def _is_pair(found: Any) -> bool:
    return isinstance(found, dict) and isinstance(found.get("key"), str) and "value" in found


class _History:
    """The versions of one task, as its bodies are gone through in order."""

    def __init__(self, task_id: str, first: dict[str, Any]) -> None:
        self._id = task_id
        self._first = first
        self._at = _instant(first.get("created_ms")) or _instant(first.get("updated_ms")) or 0
        self._state: dict[str, Any] = {"criteria": (), "dependencies": (), "parent": ""}
        self._state.update(dict.fromkeys(_TEXTS, ""), status="open")
        self._entries: dict[str, list[str]] = {kind: [] for kind in _LISTS.values()}
        self.versions: list[Past] = []

    def skip(self, version: int, why: str) -> None:
        """A version that cannot be read: its place is kept."""
        goal = {} if self.versions else {"goal": foreign.kept(self._first["goal"])}
        fields, more = foreign.fitted(NAME, goal)
        self._state.update(fields)
        note = f"{NAME} version {version} could not be read: {why}; what it changed is not here"
        self.versions.append(Past(self._at, NAME, fields, notes=(note, *more)))

    def add(self, body: dict[str, Any]) -> None:
        """A version that was read."""
        notes: list[str] = []
        wanted, entries = (self._whole if body["schema"] == 1 else self._delta)(body, notes)
        if not self.versions:
            wanted.setdefault("goal", self._first["goal"])
        known = _WHOLE if body["schema"] == 1 else _DELTA
        lines = [f"{name}: {sources.shown(body[name])}" for name in body if name not in known]
        notes += foreign.pieces(f"{NAME} fields", "\n".join(lines))
        links = {name: wanted.pop(name) for name in ("parent", "dependencies") if name in wanted}
        fields, more = foreign.fitted(NAME, wanted)
        notes += more
        self._name_blocker(fields)
        for name, one in links.items():
            fields[name] = one
        changed = {name: one for name, one in fields.items() if self._state[name] != one}
        self._state.update(changed)
        actor = body.get("last_actor" if body["schema"] == 1 else "actor")
        self._at = self._time(body, notes)
        self.versions.append(
            Past(
                at=self._at,
                actor=foreign.kept(actor) if isinstance(actor, str) and actor else "unknown",
                set=changed,
                decisions=self._texts("decision", entries["decisions"], notes),
                evidence=tuple(self._record(one, notes) for one in entries["evidence"]),
                notes=(*self._texts("note", entries["notes"], notes), *notes),
            )
        )
        for kind, texts in entries.items():
            self._entries[kind] += texts

    def _name_blocker(self, fields: dict[str, Any]) -> None:
        """What is blocked has a blocker, by our rules; one that we put in goes when it is not."""
        after = {**self._state, **fields}
        if after["status"] == "blocked" and not after["blocker"]:
            fields["blocker"] = foreign.unnamed(NAME)
        elif after["status"] != "blocked" and after["blocker"] == foreign.unnamed(NAME):
            fields["blocker"] = ""

    def _time(self, body: dict[str, Any], notes: list[str]) -> int:
        """When it was: of the first version, when the task was created."""
        names = ("updated_ms",) if self.versions else ("created_ms", "updated_ms")
        found = [at for name in names if (at := _instant(body.get(name))) is not None]
        if len(found) < len(names) or len(set(found)) > 1:
            said = [f"{name}: {sources.shown(body.get(name))}" for name in names]
            notes += foreign.pieces(f"{NAME} times", "\n".join(said))
        return found[0] if found else self._at

    def _texts(self, name: str, texts: list[str], notes: list[str]) -> tuple[str, ...]:
        """Entries as they are stored; one that is too long becomes several notes."""
        found = []
        for one in texts:
            value = foreign.kept(one)
            if not value.strip():
                continue
            if size(value) > TEXT_LIMIT:
                notes += foreign.pieces(f"{NAME} {name}", value)
            else:
                found.append(value)
        return tuple(found)

    def _record(self, given: str, notes: list[str]) -> str:
        """A record, which keeps what it claims; of any other text, one that claims nothing."""
        value = foreign.kept(given)
        if value.startswith(evidence.PREFIX):
            try:
                plain = evidence.pasted(value)
                if canon.decode(value[len(evidence.PREFIX) :]) == canon.decode(
                    evidence.write(plain)[len(evidence.PREFIX) :]
                ):
                    return evidence.write(plain)
                notes += foreign.pieces(f"{NAME} evidence, whole", value)
                return evidence.write(plain)
            except (InvalidInput, ValueError):
                pass  # then it is text like any other
        return evidence.write(evidence.Record(self._id, UNBOUND, value))

    def _whole(
        self, body: dict[str, Any], notes: list[str]
    ) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """The fields of a whole version, and the entries that it has beyond those known."""
        wanted = self._fields([(name, body.get(name)) for name in (*_TEXTS, "criteria")], notes)
        wanted["parent"] = _link(body.get("parent"), "parent", notes)
        needs = body.get("dependencies")
        listed = needs if isinstance(needs, list) else [needs] if needs else []
        linked = [_link(one, "dependency", notes) for one in listed]
        wanted["dependencies"] = tuple(dict.fromkeys(one for one in linked if one))
        entries: dict[str, list[str]] = {}
        for kind, known in self._entries.items():
            given = body.get(kind)
            texts = [sources.shown(one) for one in given] if isinstance(given, list) else []
            if given and not isinstance(given, list):
                texts = [sources.shown(given)]
            left = list(known)
            fresh = []
            for one in texts:
                if one in left:
                    left.remove(one)
                else:
                    fresh.append(one)
            entries[kind] = fresh
        return wanted, entries

    def _delta(
        self, body: dict[str, Any], notes: list[str]
    ) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """The fields that a delta sets, and the entries that it adds."""
        pairs: list[tuple[str, Any]] = []
        needs = list(self._state["dependencies"])
        entries: dict[str, list[str]] = {kind: [] for kind in _LISTS.values()}
        links: dict[str, Any] = {}
        for one in body["changes"]:
            key, value = one["key"], one["value"]
            if key in _LISTS:
                entries[_LISTS[key]].append(sources.shown(value))
            elif key == "dependency":
                needs += [link] if (link := _link(value, key, notes)) else []
                links["dependencies"] = tuple(dict.fromkeys(needs))
            elif key == "parent":
                links["parent"] = _link(value, key, notes)
            elif key in (*_TEXTS, "criteria"):
                pairs.append((key, value))
            else:
                notes += foreign.pieces(f"{NAME} {key}"[:100], f"{key}: {sources.shown(value)}")
        return {**self._fields(pairs, notes), **links}, entries

    def _fields(self, pairs: list[tuple[str, Any]], notes: list[str]) -> dict[str, Any]:
        wanted: dict[str, Any] = {}
        for name, value in pairs:
            if name in wanted:  # set twice in one version: the last counts, the first is kept
                notes += foreign.pieces(f"{NAME} {name}, at first", sources.shown(wanted[name]))
            if name == "criteria" and isinstance(value, list):
                wanted[name] = [sources.shown(one) for one in value]
                continue
            said = "" if value is None else sources.shown(value)
            if name == "criteria":
                wanted[name] = [said] if said.strip() else []
            elif name == "goal" and not said.strip():
                continue
            elif name == "status":
                wanted[name] = foreign.status_of(NAME, said, {})[0]
                if foreign.kept(said) != wanted[name]:
                    notes += foreign.pieces(f"{NAME} status", said)
            else:
                wanted[name] = said
        return wanted


def _link(value: Any, name: str, notes: list[str]) -> str:
    if value in (None, ""):
        return ""
    if isinstance(value, str) and is_id(value):
        return value
    notes += foreign.pieces(f"{NAME} {name}", sources.shown(value))
    return ""


def _instant(value: Any) -> int | None:
    """Milliseconds, which stand there as a number or as its digits."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 15:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LATEST:
        return value
    return None
