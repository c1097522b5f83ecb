"""After a power loss at any moment, what was answered is there, and the rest is whole or absent."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from contextspindle.errors import SpindleError
from contextspindle.store.backup import opened
from tests.crash.cases import CASES, KEPT, World, make_project, remembered
from tests.reliability import power

SAMPLE = 60
"""How many crashes of each command are tried where not all are."""


@pytest.fixture(scope="session")
def recorder(tmp_path_factory) -> Path:
    """The compiled record.c; the tests that want it are skipped where it cannot be had."""
    if sys.platform != "linux":
        pytest.skip("calls are recorded with LD_PRELOAD, which only Linux has here")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("recording calls needs a C compiler: install cc or gcc")
    library = tmp_path_factory.mktemp("record") / "record.so"
    source = Path(__file__).with_name("record.c")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"],
        check=True,
    )
    return library


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A project as short-lived processes leave it."""
    folder = tmp_path_factory.mktemp("kept")
    store = make_project(folder, tmp_path_factory.mktemp("aside"))
    copy = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(folder, copy)
    store.close()
    return copy


def state_of(folder: Path):
    """All that a user has in a project: tasks, snapshots, hints, an export and a backup."""
    world = World(None, folder)
    exported = folder / "out.jsonl"
    backup = None
    if (folder / "again").exists():
        with opened(str(folder / "again")) as (store, manifest):
            store.close()
            backup = manifest["tasks"]
    return (
        world.tasks() if world.path.exists() else None,
        world.snapshots(),
        remembered(world),
        exported.read_bytes() if exported.exists() else None,
        backup,
    )


@pytest.mark.parametrize("name", CASES)
def test_what_was_answered_survives_a_power_loss_and_the_rest_is_whole_or_absent(
    command, recorder, project, tmp_path, long_run, name
):
    case = CASES[name]
    folder = tmp_path / "recorded"
    shutil.copytree(project, folder)
    if case.fresh:
        shutil.rmtree(folder / ".contextspindle")
    known = state_of(folder)
    before = power.look(folder)
    record = tmp_path / "record"
    result = World(command, folder).run(
        *case.words,
        input=case.given,
        env={"LD_PRELOAD": str(recorder), "RECORD_TO": str(record)},
    )
    assert result.status == 0, result.err
    steps = power.steps_of(record.read_bytes())
    wanted = state_of(folder)
    assert wanted != known
    crash = tmp_path / "crash"
    for moment, fate, names, seed in power.worlds(steps, name, None if long_run else SAMPLE):
        where = f"{name}: behind step {moment} of {len(steps)}, {fate}, names {names}, {seed}"
        crash.mkdir()
        found = power.after_crash(before, steps[:moment], fate, names, seed)
        power.set_up(crash, found, before.root)
        answered = any(step.what == "answer" for step in steps[:moment])
        try:
            state = state_of(crash)
            if answered:
                assert state == wanted
            elif case.by_place:
                for part, either in zip(state, zip(known, wanted)):
                    assert part in either
            else:
                # A ledger without tasks is what a first start that was cut short may leave.
                assert state in (known, wanted) or (case.fresh and state[0] == {})
        except BaseException as error:
            error.add_note(where)
            raise
        shutil.rmtree(crash)


def test_the_model_loses_what_was_never_synced(tmp_path):
    """The harness itself: without a sync nothing is sure, with one everything before it is."""
    root = str(tmp_path)
    before = power.Before(root, {root: 1, f"{root}/a": 2}, {2: b"old"})
    made = power.Step("create", 3, paths=(f"{root}/b",))
    steps = [
        power.Step("write", 2, 0, b"new"),
        made,
        power.Step("write", 3, 0, b"x" * 1_024),
        power.Step("sync", 3),
        power.Step("write", 3, 1_024, b"y" * 1_024),
    ]
    lost = power.after_crash(before, steps, "lost", "lost", 0)
    assert lost == {root: None, f"{root}/a": b"old"}
    kept = power.after_crash(before, steps, "kept", "kept", 0)
    assert kept == {root: None, f"{root}/a": b"new", f"{root}/b": b"x" * 1_024 + b"y" * 1_024}
    named = power.after_crash(before, [*steps, power.Step("sync", 1)], "lost", "lost", 0)
    assert named[f"{root}/b"] == b"x" * 1_024
    torn = {
        power.after_crash(before, steps, "some sectors", "kept", seed)[f"{root}/b"]
        for seed in range(20)
    }
    assert len(torn) > 2
    assert all(one.startswith(b"x" * 1_024) for one in torn if one)


def test_a_command_leaves_the_log_where_it_is(command, recorder, project, tmp_path):
    """Folding it back would cost more than the write: not even by chance, at any length of it."""
    for size in range(0, 4_000, 250):
        folder = tmp_path / f"recorded-{size}"
        shutil.copytree(project, folder)
        done = World(command, folder).run("task", "update", KEPT, "--note", "n" * size or "n")
        assert done.status == 0
        assert (folder / ".contextspindle" / "tasks" / "ledger.sqlite3-wal").exists(), size


def test_a_record_tells_of_every_sync_of_a_commit(command, recorder, project, tmp_path):
    folder = tmp_path / "recorded"
    shutil.copytree(project, folder)
    record = tmp_path / "record"
    World(command, folder).run(
        *CASES["task update"].words, env={"LD_PRELOAD": str(recorder), "RECORD_TO": str(record)}
    )
    steps = power.steps_of(record.read_bytes())
    whats = [step.what for step in steps]
    log = (folder / ".contextspindle" / "tasks" / "ledger.sqlite3-wal").stat().st_ino
    writes = [n for n, step in enumerate(steps) if step.what == "write" and step.inode == log]
    syncs = [n for n, step in enumerate(steps) if step.what == "sync" and step.inode == log]
    assert writes
    assert max(writes) < max(syncs) < whats.index("answer")
    with pytest.raises(SpindleError), opened(str(folder / "nothing")):
        pass
