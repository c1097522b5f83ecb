"""The commands that write, each with what must hold of the project whatever became of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from contextspindle.actions.archive import Archive
from contextspindle.actions.ledger import Ledger
from contextspindle.actions.memory import Memory
from contextspindle.core.change import Request
from contextspindle.core.task import Task
from contextspindle.store.backup import back_up, opened
from contextspindle.store.incidents import Incidents
from contextspindle.store.inspect import inspect
from contextspindle.store.memory import MemoryStore
from contextspindle.store.safety import before_restore
from contextspindle.store.snapshots import JsonLinesLog
from contextspindle.store.sqlite import SqliteStore

KEPT, OTHER = "t-kept", "t-other"
ADDED = ("t-added1", "t-added2")
"""What the archive and the backup hold besides."""

TRANSCRIPT, ARCHIVE, BACKUP = "session.jsonl", "archive.jsonl", "copy"
OLD_COPIES = tuple(f"daily-2026-01-0{number}.sqlite3" for number in range(1, 8))
LEAKED = b"kq7-Zx93-not-known-to-anybody"
ISSUES, SOURCES = "issues.jsonl", ("beads:bd-1", "beads:bd-2")


class World:
    """A project folder at the moment after a command ended, or was made to."""

    def __init__(self, command: Any, folder: Path) -> None:
        self.command = command
        self.folder = folder
        self.place = folder / ".contextspindle"
        self.path = self.place / "tasks" / "ledger.sqlite3"

    def run(self, *words: str, **options: Any) -> Any:
        """The command, with ``--json``, before a ``--`` of its own."""
        at = words.index("--") if "--" in words else len(words)
        return self.command(*words[:at], "--json", *words[at:], cwd=self.folder, **options)

    def tasks(self) -> dict[str, Task]:
        """Every task; the ledger is sound, and every history leads to its state."""
        if not self.path.exists():
            return {}
        store = SqliteStore(str(self.path))
        report = inspect(store, deep=True)
        assert (report.findings, report.unchecked) == ((), ())
        with store.read() as txn:
            found = {one.task.id: one.task for one in txn.everything()}
        store.close()
        return found

    def exported(self) -> bytes:
        store = SqliteStore(str(self.path))
        found = b"".join(Archive(store).lines())
        store.close()
        return found

    def snapshots(self) -> list[dict[str, Any]]:
        """The sound snapshots, the oldest first."""
        log = JsonLinesLog(str(self.place / "fuse" / "ledger.jsonl"))
        return list(log.all())[::-1]


class Case(NamedTuple):
    """A command under test: its words, and what must hold whatever happened to it."""

    words: tuple[str, ...]
    check: Callable[[World, World, Any], None]
    """Takes the world before, the world after and how the command ended."""
    fresh: bool = False
    """Whether it begins without a workspace."""
    due: bool = False
    """Whether a daily copy is due, and there are as many older ones as stay."""
    given: bytes = b""
    """What it reads from standard input."""
    by_place: bool = False
    """Whether each place that it changes is whole by itself, and again does the rest."""


def init_is_whole_or_can_be_repeated(before: World, after: World, result: Any) -> None:
    if result.status == 0:
        assert after.path.exists()
    assert after.tasks() == {}
    again = after.run("init")
    assert again.status == 0, again.err
    assert (after.place / ".gitignore").read_bytes() == b"*\n"
    assert after.run("task", "inbox").data["total"] == 0


def creation_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    old, found = before.tasks(), after.tasks()
    made = [task for task in found.values() if task.id not in old]
    assert {task_id: found[task_id] for task_id in old} == old
    assert len(made) <= 1
    if result.status == 0:
        assert [task.id for task in made] == [result.data["task"]["id"]]
    for task in made:
        assert (task.version, task.goal, task.next) == (1, "made", "n" * 5_000)
        assert (task.criteria, task.labels) == (("c",), ("ui",))
        assert [entry.text for entry in task.notes] == ["first note"]
    # The caller who got no answer asks again under the same key, and has one task.
    again = after.run(*CASES["task create"].words)
    assert again.status == 0, again.err
    assert [again.data["task"]["id"]] == [task.id for task in made] or not made
    assert len(after.tasks()) == len(old) + 1


def update_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    old, new = _only_kept_moved(before, after, result)
    if new == old:
        return
    assert (new.status, new.next) == ("active", "go on")
    assert new.notes[:-1] == old.notes
    assert new.notes[-1].text == "n" * 9_000
    assert new.evidence[:-1] == old.evidence
    assert '"payload":"seen"' in new.evidence[-1].text


def claim_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    old, new = _only_kept_moved(before, after, result)
    store = SqliteStore(str(after.path))
    with store.read() as txn:
        lease = txn.lease(KEPT)
    store.close()
    # The claim and its lease are there together, or neither is.
    assert (lease.holder if lease else "") == new.claim
    assert new == old or new.claim == "tester"
    if result.status == 0:
        renewed = after.run("task", "renew", result.data["token"])
        assert renewed.status == 0, renewed.err
        again = after.run("task", "claim", KEPT)
        assert again.error["code"] == "CLAIM_HELD"
    elif new == old:
        assert after.run("task", "claim", KEPT).status == 0


def proof_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    old, new = _only_kept_moved(before, after, result)
    if new != old:
        assert new.evidence[:-1] == old.evidence
        assert '"argv":["true"]' in new.evidence[-1].text
        assert new._replace(evidence=old.evidence, version=old.version) == old._replace(
            updated=new.updated, last_actor=new.last_actor
        )


def daily_copy_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    made = _check_copies(after)
    assert made or result.status != 0 or _stopped_short(after)
    assert len(after.tasks()) - len(before.tasks()) in ((1,) if result.status == 0 else (0, 1))
    # What a stopped one left is gone with the next that is due, and that one is whole.
    make_due(after)
    again = after.run("task", "create", "the next of a day")
    assert again.status == 0, again.err
    assert _check_copies(after)
    found = {one.name for one in (after.place / "tasks" / "safety").glob("daily-*")}
    assert not found - {*OLD_COPIES, _today()}
    assert len(found) == 7


def _today() -> str:
    return f"daily-{datetime.now(UTC).date()}.sqlite3"


def _check_copies(world: World) -> bool:
    """Whether there is a copy of today: then it is sound.  If not, all the older ones are there."""
    folder = world.place / "tasks" / "safety"
    made = folder / _today()
    if made.exists():
        store = SqliteStore(str(made))
        report = inspect(store, deep=True)
        assert (report.findings, report.unchecked) == ((), ())
        assert KEPT in {one.task.id for one in _everything(store)}
        store.close()
    else:
        assert {one.name for one in folder.iterdir()} >= set(OLD_COPIES)
    return made.exists()


def _stopped_short(world: World) -> bool:
    """Whether a copy was tried and failed: on a full disk not even that can always be noted."""
    return os.stat(str(world.path) + ".lock").st_mtime > time.time() - 3_600


def make_due(world: World) -> None:
    """A daily copy is due."""
    os.utime(str(world.path) + ".lock", (time.time() - 2 * 86_400,) * 2)


def _everything(store: SqliteStore) -> list[Any]:
    with store.read() as txn:
        return list(txn.everything())


def _only_kept_moved(before: World, after: World, result: Any) -> tuple[Task, Task]:
    """The task before and after; it moved by one version or not at all, and nothing else did."""
    old, new = before.tasks(), after.tasks()
    assert {**new, KEPT: old[KEPT]} == old
    moved = new[KEPT].version - old[KEPT].version
    assert moved == 1 if result.status == 0 else moved in (0, 1)
    assert moved or new[KEPT] == old[KEPT]
    return old[KEPT], new[KEPT]


def save_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    old, new = before.snapshots(), after.snapshots()
    assert new[: len(old)] == old
    added = new[len(old) :]
    assert len(added) == 1 if result.status == 0 else len(added) <= 1
    assert after.tasks() == before.tasks()
    # The next save works, and says the same as the one that got through.
    again = after.run(*CASES["fuse save"].words)
    assert again.status == 0, again.err
    assert again.data["changed"] is not bool(added)
    last = after.snapshots()
    assert len(last) == len(old) + 1
    assert last[:-1] == old
    assert "Ship the harbour plan" in json.dumps(last[-1])
    shown = after.run("fuse", "restore", "--session", "s1")
    assert "Ship the harbour plan" in shown.data["text"]


def export_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    assert after.tasks() == before.tasks()
    made = after.folder / "out.jsonl"
    assert made.exists() or result.status != 0
    if made.exists():
        assert made.read_bytes() == before.exported()
        made.unlink()
    again = after.run("export", "out.jsonl")
    assert again.status == 0, again.err
    assert made.read_bytes() == before.exported()


def taking_in_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    old, new = before.tasks(), after.tasks()
    assert result.status != 0 or new != old
    for words in ((), CASES["import"].words):
        if words:
            again = after.run(*words)
            assert again.status == 0, again.err
            new = after.tasks()
            assert new != old
        if new != old:
            assert set(new) == {*old, *ADDED}
            assert new[KEPT].version == old[KEPT].version + 1
            assert [entry.text for entry in new[KEPT].notes] == ["n1", "brought forward"]
            assert new[ADDED[1]].dependencies == (ADDED[0],)
            assert new[OTHER] == old[OTHER]


def adopting_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    old, new = before.tasks(), after.tasks()
    assert result.status != 0 or new != old
    for _ in range(2):
        assert new == old or {task.source for task in new.values()} == {"", *SOURCES}
        assert {name: new[name] for name in old} == old
        again = after.run(*CASES["import from beads"].words)
        assert again.status == 0, again.err
        new = after.tasks()
    first, second = (next(t for t in new.values() if t.source == name) for name in SOURCES)
    assert (len(new), second.dependencies) == (len(old) + 2, (first.id,))


def backup_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    assert after.tasks() == before.tasks()
    made = after.folder / "again"
    assert made.exists() or result.status != 0
    if not made.exists():
        again = after.run(*CASES["backup"].words)
        assert again.status == 0, again.err
    with opened(str(made)) as (store, manifest):
        assert b"".join(Archive(store).lines()) == before.exported()
        assert manifest["tasks"] == len(before.tasks())
        store.close()


def first_restore_is_whole_or_can_be_repeated(before: World, after: World, result: Any) -> None:
    found = after.tasks()
    assert set(found) == {KEPT, OTHER, *ADDED} if result.status == 0 or found else not found
    again = after.run(*CASES["restore"].words)
    assert again.status == 0, again.err
    assert set(after.tasks()) == {KEPT, OTHER, *ADDED}


def purge_is_completed_by_the_next(before: World, after: World, result: Any) -> None:
    old, new = before.tasks(), after.tasks()
    masked = old[OTHER].notes[0]._replace(text="it is [masked]")
    assert {**new, OTHER: old[OTHER]} == old
    assert new[OTHER] in (old[OTHER], bare := old[OTHER]._replace(notes=(masked,)))
    assert [one["session"] for one in after.snapshots()] == ["s0"]
    if result.status == 0:
        assert holding(after.place) == []
    again = after.run(*CASES["purge"].words, input=LEAKED)
    assert again.status == 0, again.err
    assert holding(after.place) == []
    assert after.tasks() == {**old, OTHER: bare}
    assert [one["draft"]["items"][0][1] for one in after.snapshots()] == ["[masked]"]
    assert after.run("verify").data["purges"] == 1


def holding(place: Path) -> list[Path]:
    """The files of a workspace that hold the text."""
    return [one for one in place.rglob("*") if one.is_file() and LEAKED in one.read_bytes()]


def remembering_is_whole_or_absent(before: World, after: World, result: Any) -> None:
    """The memory is sound, holds the text or not, and no task noticed."""
    assert after.tasks() == before.tasks()
    found = remembered(after)
    assert found in ([], ["the parser of the harbour plan"])
    assert found or result.status != 0
    again = after.run(*CASES["remember"].words)
    assert again.status == 0, again.err
    assert again.data["merged"] is bool(found)
    assert remembered(after) == ["the parser of the harbour plan"]


def remembered(world: World) -> list[str]:
    """The texts of a memory, which is sound; none where there is no file."""
    path = world.folder / ".continuum" / "memory.sqlite3"
    if not path.exists():
        return []
    memory = Memory(MemoryStore(str(path)), clock=lambda: 1)
    assert memory.verify() == []
    return [item.text for item in memory.items()]


CASES = {
    "init": Case(("init",), init_is_whole_or_can_be_repeated, fresh=True),
    "task create": Case(
        (
            *("task", "create", "made", "--criterion", "c", "--label", "ui"),
            *("--note", "first note", "--next", "n" * 5_000, "--key", "once"),
        ),
        creation_is_whole_or_absent,
    ),
    "task update": Case(
        (
            *("task", "update", KEPT, "--status", "active", "--next", "go on"),
            *("--note", "n" * 9_000, "--evidence", "seen"),
        ),
        update_is_whole_or_absent,
    ),
    "task claim": Case(("task", "claim", KEPT), claim_is_whole_or_absent),
    "task prove": Case(("task", "prove", KEPT, "--", "true"), proof_is_whole_or_absent),
    "daily copy": Case(
        ("task", "create", "the first of a day"), daily_copy_is_whole_or_absent, due=True
    ),
    "fuse save": Case(
        ("fuse", "save", "--transcript", TRANSCRIPT, "--session", "s1"), save_is_whole_or_absent
    ),
    "first fuse save": Case(
        ("fuse", "save", "--transcript", TRANSCRIPT, "--session", "s1"),
        save_is_whole_or_absent,
        fresh=True,
    ),
    "remember": Case(
        ("remember", "the parser of the harbour plan", "--session", "s"),
        remembering_is_whole_or_absent,
    ),
    "export": Case(("export", "out.jsonl"), export_is_whole_or_absent),
    "import": Case(("import", ARCHIVE), taking_in_is_whole_or_absent),
    "import from beads": Case(
        ("import", ISSUES, "--from", "beads", "--write"), adopting_is_whole_or_absent
    ),
    "backup": Case(("backup", "again"), backup_is_whole_or_absent),
    "restore": Case(("restore", BACKUP), taking_in_is_whole_or_absent),
    "purge": Case(
        ("purge", "--write"), purge_is_completed_by_the_next, given=LEAKED, by_place=True
    ),
    "first restore": Case(
        ("restore", BACKUP), first_restore_is_whole_or_can_be_repeated, fresh=True
    ),
}
"""Every command that writes; one that is added here is tried at every call, in every mode."""


def make_project(folder: Path, aside: Path) -> SqliteStore:
    """A project with a ledger of two tasks and a snapshot, and with files to take in.

    The archive and the backup come from a copy of the ledger, made ``aside``, that has gone on.
    The store of the ledger is given back open.
    """
    place = folder / ".contextspindle"
    place.mkdir(mode=0o700)
    (place / ".gitignore").write_text("*\n")
    store = SqliteStore(str(place / "tasks" / "ledger.sqlite3"))
    store.create()
    names = iter([KEPT, OTHER])
    ledger = Ledger(store, actor="ada", clock=lambda: 1_000, new_id=lambda: next(names))
    ledger.create(Request({"goal": "kept", "criteria": ["c"]}, notes=("n1",)))
    leaked = LEAKED.decode()
    ledger.create(Request({"goal": "other", "parent": KEPT}, notes=(f"it is {leaked}",)))
    ledger.update(KEPT, Request(evidence=(("e1", 0),)))
    log = JsonLinesLog(str(place / "fuse" / "ledger.jsonl"))
    log.append({"v": 1, "session": "s0", "at": 1, "draft": {"items": [["said", leaked]]}})
    Incidents(str(place / "incidents.jsonl")).add(1, "restore", error=leaked)
    before_restore(store, 1)

    other = SqliteStore(str(aside / "tasks" / "ledger.sqlite3"))
    other.create()
    Archive(other).take_store(store)
    added = iter(ADDED)
    ledger = Ledger(other, actor="bob", clock=lambda: 2_000, new_id=lambda: next(added))
    ledger.update(KEPT, Request(notes=("brought forward",)))
    ledger.create(Request({"goal": "first"}, notes=("n" * 20_000,)))
    ledger.create(Request({"goal": "second"}, add_dependencies=(ADDED[0],)))
    (folder / ARCHIVE).write_bytes(b"".join(Archive(other).lines()))
    back_up(other, str(folder / BACKUP), tool="test", now=2_000)
    (folder / TRANSCRIPT).write_text(_transcript())
    (folder / ISSUES).write_text(
        '{"id":"bd-2","title":"second","status":"closed",'
        '"dependencies":[{"depends_on_id":"bd-1","type":"blocks"}]}\n'
        '{"id":"bd-1","title":"first"}\n'
    )
    other.close()
    return store


def _transcript() -> str:
    turn = {"sessionId": "s1", "cwd": "/project", "version": "2.1.0", "isSidechain": False}
    said = [
        ("user", "Ship the harbour plan before noon, and never touch the archive."),
        ("assistant", [{"type": "text", "text": "I will write the harbour plan."}]),
    ]
    lines = [
        {
            **turn,
            "type": who,
            "uuid": str(number),
            "parentUuid": str(number - 1) if number else None,
            "timestamp": f"2026-01-01T00:00:0{number}.000Z",
            "message": {"role": who, "content": content},
        }
        for number, (who, content) in enumerate(said)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)
