"""A command that dies, tears a write or finds the disk full at any call leaves all or nothing."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from contextspindle.actions.ledger import Ledger
from contextspindle.core import change
from contextspindle.core.change import Request
from contextspindle.core.task import Task
from contextspindle.store.sqlite import SqliteStore

SAMPLE = 9
"""How many calls of each command are tried where not all are."""


class World:
    """A project folder at the moment after a command ended, or was made to."""

    def __init__(self, command, folder: Path) -> None:
        self.command = command
        self.folder = folder
        self.place = folder / ".contextspindle"
        self.path = self.place / "tasks" / "ledger.sqlite3"

    def run(self, *words, **options):
        return self.command(*words, "--json", cwd=self.folder, **options)

    def ledger(self) -> tuple[SqliteStore, Ledger]:
        store = SqliteStore(str(self.path))
        return store, Ledger(store, actor="checker", clock=lambda: 1, new_id=lambda: "t-checked")

    def tasks(self) -> list[Task]:
        """Every task, its history replayed and found to lead to its state."""
        store, ledger = self.ledger()
        found = [ledger.show(one.id) for one in ledger.list(0, 100).items]
        for task in found:
            steps = ledger.history(task.id, 1, 100).steps
            replayed = change.begin(steps[0].change)
            for step in steps[1:]:
                replayed = change.apply(replayed, step.change)
            assert replayed == task
        store.close()
        return found


class Case(NamedTuple):
    """A command under test: its words, and what must hold whatever happened to it."""

    words: tuple[str, ...]
    check: Callable[[World, World, object], None]
    """Takes the world before, the world after and how the command ended."""
    fresh: bool = False
    """Whether it begins without a workspace."""


def init_is_whole_or_can_be_repeated(before: World, after: World, result) -> None:
    if result.status == 0:
        assert after.path.exists()
    if after.path.exists():
        assert after.tasks() == []
    again = after.run("init")
    assert again.status == 0, again.err
    assert (after.place / ".gitignore").read_bytes() == b"*\n"
    assert after.run("task", "inbox").data["total"] == 0


def creation_is_whole_or_absent(before: World, after: World, result) -> None:
    old = {task.id: task for task in before.tasks()}
    found = {task.id: task for task in after.tasks()}
    made = [task for task in found.values() if task.id not in old]
    assert {task.id: found[task.id] for task in old.values()} == old
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


def update_is_whole_or_absent(before: World, after: World, result) -> None:
    (old,) = (task for task in before.tasks() if task.id == KEPT)
    (new,) = (task for task in after.tasks() if task.id == KEPT)
    assert len(before.tasks()) == len(after.tasks())
    if result.status == 0:
        assert new.version == old.version + 1
    if new.version == old.version:
        assert new == old
        return
    assert (new.version, new.status, new.next) == (old.version + 1, "active", "go on")
    assert new.notes[:-1] == old.notes
    assert new.notes[-1].text == "n" * 9_000
    assert new.evidence[:-1] == old.evidence
    assert '"payload":"seen"' in new.evidence[-1].text


KEPT = "t-kept"
CASES = {
    "init": Case(("init",), init_is_whole_or_can_be_repeated, fresh=True),
    "task create": Case(
        (
            *(
                "task",
                "create",
                "made",
                "--criterion",
                "c",
                "--label",
                "ui",
                "--note",
                "first note",
            ),
            *("--next", "n" * 5_000, "--key", "once"),
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
}
"""Every command that writes; one that is added here is tried at every call, in every mode."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A project with a ledger of two tasks, as short-lived processes leave it."""
    folder = tmp_path_factory.mktemp("kept")
    place = folder / ".contextspindle"
    place.mkdir(mode=0o700)
    (place / ".gitignore").write_text("*\n")
    store = SqliteStore(str(place / "tasks" / "ledger.sqlite3"))
    store.create()
    names = iter([KEPT, "t-other"])
    ledger = Ledger(store, actor="ada", clock=lambda: 1_000, new_id=lambda: next(names))
    ledger.create(Request({"goal": "kept", "criteria": ["c"]}, notes=("n1",)))
    ledger.create(Request({"goal": "other", "parent": KEPT}))
    ledger.update(KEPT, Request(evidence=(("e1", 0),)))
    # Copied while it is open: the log beside it is not folded back, as after a short process.
    copy = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(folder, copy)
    store.close()
    return copy


@pytest.fixture
def world(command, tmp_path, kept):
    """A function that gives a fresh world for a case."""
    count = iter(range(10_000))

    def made(case: Case) -> World:
        folder = tmp_path / f"project-{next(count)}"
        if case.fresh:
            folder.mkdir()
        else:
            shutil.copytree(kept, folder)
        return World(command, folder)

    return made


@pytest.fixture
def calls(world, fault_library, tmp_path):
    """A function that gives the names of the calls that a case makes when nothing goes wrong."""

    def counted(case: Case) -> list[str]:
        counter = tmp_path / "calls"
        for _ in range(2):  # the first time, byte code may be compiled as well
            counter.unlink(missing_ok=True)
            result = world(case).run(
                *case.words,
                env={
                    "LD_PRELOAD": str(fault_library),
                    "FAULT_MODE": "count",
                    "FAULT_COUNT": str(counter),
                },
            )
            assert result.status == 0, result.err
        return counter.read_text().split()

    return counted


def chosen(name: str, mode: str, calls: list[str], long_run: bool) -> list[int]:
    """The numbers of the calls to try: all that the mode is about, or some, always the same."""
    numbers = [number for number, call in enumerate(calls, 1) if mode != "torn" or "write" in call]
    if long_run or len(numbers) <= SAMPLE:
        return numbers
    # One from each stretch, so that no phase of the command goes untried.
    draw = random.Random(f"{name} {mode}")
    ends = [len(numbers) * part // SAMPLE for part in range(SAMPLE + 1)]
    return [numbers[draw.randrange(start, end)] for start, end in pairwise(ends)]


def check_sound(world: World) -> None:
    """What holds of every world with a ledger: it can be read, and it goes on."""
    raw = sqlite3.connect(world.path)
    assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
    raw.close()
    inbox = world.run("task", "inbox")
    assert inbox.status == 0, inbox.err
    for one in inbox.data["tasks"]:
        found = world.run("task", "show", one["id"])
        assert found.status == 0, found.err
        assert found.data["version"] == one["version"]
    for one in inbox.data["tasks"][:1]:
        after = world.run("task", "update", one["id"], "--note", "goes on")
        assert after.status == 0, after.err
        assert after.data["task"]["version"] == one["version"] + 1
    made = world.run("task", "create", "goes on")
    assert made.status == 0, made.err
    world.tasks()


@pytest.mark.parametrize("mode", ["kill", "torn", "full"])
@pytest.mark.parametrize("name", CASES)
def test_a_command_stopped_at_any_call_leaves_all_or_nothing(
    world, calls, fault_library, long_run, name, mode
):
    case = CASES[name]
    for number in chosen(name, mode, calls(case), long_run):
        before, after = world(case), world(case)
        result = after.run(
            *case.words,
            env={
                "LD_PRELOAD": str(fault_library),
                "FAULT_MODE": mode,
                "FAULT_AT": str(number),
            },
        )
        where = f"{name}, {mode} at call {number}"
        if mode != "full":
            assert result.status == -9, (where, result)
        elif result.status != 0:
            assert (result.status, result.out) == (7, b""), (where, result)
            assert json.loads(result.err)["error"]["code"] == "STORE_FULL", (where, result)
        try:
            case.check(before, after, result)
            check_sound(after)
        except BaseException as error:
            error.add_note(where)
            raise


def test_every_call_of_a_write_is_seen(calls):
    """The library sees what it must: a commit is written and synced before it is answered."""
    for name in ("task create", "task update"):
        seen = calls(CASES[name])
        answered = len(seen) - seen[::-1].index("write")
        assert "fdatasync" in seen[:answered] or "fsync" in seen[:answered]
        assert any(call.startswith("pwrite") for call in seen[:answered])
        assert not any(call.startswith("pwrite") for call in seen[answered:])
