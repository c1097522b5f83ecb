"""A command that dies, tears a write or finds the disk full at any call leaves all or nothing."""

from __future__ import annotations

import json
import random
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from tests.crash.cases import (
    CASES,
    OLD_COPIES,
    TRANSCRIPT,
    Case,
    World,
    make_due,
    make_project,
    update_is_whole_or_absent,
)

SAMPLE = 5
"""How many calls of each command are tried in each mode where not all are."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A project as short-lived processes leave it."""
    folder = tmp_path_factory.mktemp("kept")
    store = make_project(folder, tmp_path_factory.mktemp("aside"))
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
        shutil.copytree(kept, folder)
        if case.fresh:
            shutil.rmtree(folder / ".contextspindle")
        found = World(command, folder)
        if case.due:
            make_due(found)
            (found.place / "tasks" / "safety").mkdir(exist_ok=True)
            for name in OLD_COPIES:
                (found.place / "tasks" / "safety" / name).write_text("older")
        return found

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
                input=case.given,
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
    """What holds of every world: its ledger is sound, and it goes on."""
    if not world.path.exists():
        # A workspace that was cut short while it was made is completed by the command for that.
        assert world.run("init").status == 0
    before = world.tasks()
    made = world.run("task", "create", "goes on", "--parent", next(iter(before), ""))
    assert made.status == 0, made.err
    assert world.tasks().keys() - before == {made.data["task"]["id"]}


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
            input=case.given,
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


def test_a_first_save_stopped_at_any_call_is_completed_or_says_how(
    world, calls, fault_library, long_run
):
    """A folder without a ledger may be left: whatever comes next mends it, or names what does."""
    case = CASES["first fuse save"]
    for number in chosen("the first save", "kill", calls(case), long_run):
        left = world(case)
        result = left.run(
            *case.words,
            env={"LD_PRELOAD": str(fault_library), "FAULT_MODE": "kill", "FAULT_AT": str(number)},
        )
        assert result.status == -9
        half = left.place.exists() and not left.path.exists()
        for words in (
            case.words,
            ("task", "create", "g"),
            ("task", "inbox"),
            ("init",),
        ):
            after = World(left.command, left.folder.with_name(f"{left.folder.name}-{words[-1]}"))
            shutil.copytree(left.folder, after.folder)
            before = sorted(after.folder.rglob("*"))
            done = after.run(*words)
            where = (number, words, done)
            if words[0] == "task" and done.status:
                assert (done.status, done.error["code"]) == (3, "WORKSPACE_NOT_FOUND"), where
                assert sorted(after.folder.rglob("*")) == before, where
                hint = done.error["hint"]
                assert "contextspindle init" in hint, where
                if half:  # what it says to run is run as it stands there
                    _, root = hint.split(" init ")
                    assert root == str(after.folder), where
                assert after.run("init").status == 0, where
                done = after.run(*words)
            assert done.status == 0, where
            assert (after.place / ".gitignore").read_bytes() == b"*\n", where
            assert after.run("task", "create", "goes on").status == 0, where
            assert not list(after.place.rglob("*.new")), where
            shutil.rmtree(after.folder)


@pytest.mark.parametrize("verb", ["save", "restore"])
def test_a_hook_that_finds_the_disk_full_ends_with_0_and_harms_nothing(
    world, fault_library, long_run, verb
):
    case = CASES["fuse save"]
    before = world(case)
    old = before.snapshots()
    for number in range(1, 60, 1 if long_run else 10):
        after = world(case)
        payload = {
            "session_id": "s1",
            "transcript_path": str(after.folder / TRANSCRIPT),
            "cwd": str(after.folder),
            "hook_event_name": {"save": "PreCompact", "restore": "SessionStart"}[verb],
            "source": "compact",
            "trigger": "auto",
        }
        done = after.command(
            *("fuse", verb),
            input=json.dumps(payload).encode(),
            cwd=after.folder,
            env={
                "LD_PRELOAD": str(fault_library),
                "FAULT_MODE": "full",
                "FAULT_AT": str(number),
            },
        )
        assert done.status == 0, (number, done)
        assert b"Traceback" not in done.out + done.err
        assert after.snapshots()[: len(old)] == old, number
        assert after.tasks() == before.tasks(), number
        again = after.run(*case.words)
        assert again.status == 0, (number, again)


def test_every_call_of_a_write_is_seen(calls):
    """The library sees what it must: a commit is written and synced before it is answered."""
    for name in ("task create", "task update"):
        seen = calls(CASES[name])
        answered = len(seen) - seen[::-1].index("write")
        assert "fdatasync" in seen[:answered] or "fsync" in seen[:answered]
        assert any(call.startswith("pwrite") for call in seen[:answered])
        assert not any(call.startswith("pwrite") for call in seen[answered:])


def test_a_search_for_beginnings_writes_no_more_than_a_list_does(calls):
    """What it works out aside stays in memory, so that it works on a disk that is full."""
    listing = Case(("task", "inbox"), update_is_whole_or_absent)
    search = Case(("task", "search", "kep"), update_is_whole_or_absent)
    assert calls(search) == calls(listing)
