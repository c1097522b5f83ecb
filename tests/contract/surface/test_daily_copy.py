"""The daily safety copy, through the command: made after the answer, bounded, never in the way."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from contextspindle.core import instant
from tests.databases import by_hand

DAY = 86_400


@pytest.fixture
def ledger(project) -> Path:
    return project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"


@pytest.fixture
def safety(ledger) -> Path:
    return ledger.parent / "safety"


@pytest.fixture
def yesterday(ledger):
    """A function that lets the last try of a daily copy be of another day."""

    def moved(days: int = 1) -> None:
        os.utime(str(ledger) + ".lock", (time.time() - days * DAY,) * 2)

    return moved


def today() -> str:
    return instant.iso(time.time_ns() // 1_000_000)[:10]


def names(safety: Path) -> list[str]:
    return sorted(one.name for one in safety.iterdir()) if safety.is_dir() else []


def copy_of(day: str) -> str:
    return f"daily-{day}.sqlite3"


def tasks_in(path: Path) -> int:
    raw = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    count: int = raw.execute("SELECT count(*) FROM tasks").fetchone()[0]
    raw.close()
    return count


def incidents(project) -> list[str]:
    path = project.folder / ".contextspindle" / "incidents.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line)["what"] for line in lines]


def test_the_first_write_of_a_day_makes_a_private_copy_that_holds_it(
    project, create, safety, yesterday
):
    create("on the first day there is no need of one")
    assert names(safety) == []
    yesterday()
    create("the first of today")
    assert names(safety) == [copy_of(today())]
    made = safety / copy_of(today())
    assert tasks_in(made) == 2
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(safety.stat().st_mode) == 0o700
    before = made.stat()
    create("the second of today")
    assert (made.stat().st_mtime_ns, made.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert incidents(project) == []


@pytest.mark.parametrize("form", [(), ("--json",), ("--quiet",)])
def test_every_form_of_an_answer_is_followed_by_the_copy(project, safety, yesterday, form):
    yesterday()
    assert project("task", "create", "g", *form).status == 0
    assert names(safety) == [copy_of(today())]


def test_a_read_and_a_write_that_was_refused_make_none(project, create, safety, yesterday):
    task = create("g")
    yesterday()
    project("task", "show", task)
    project("task", "list")
    project("verify")
    assert project("task", "update", task, "--status", "done").status == 5
    assert project("fuse", "restore", "--plain").status == 0
    assert names(safety) == []


def test_only_so_many_stay_and_the_oldest_goes_first(project, create, safety, yesterday):
    days = [f"2026-01-{number:02d}" for number in range(1, 10)]
    safety.mkdir(mode=0o700)
    others = ["daily-notes.sqlite3", "daily-2026-01-01.txt", "mine", "restore-1.sqlite3"]
    for name in [*map(copy_of, days), *others]:
        (safety / name).write_text("x")
    yesterday()
    create("g")
    kept = [*map(copy_of, days[-6:]), copy_of(today())]
    assert names(safety) == sorted([*kept, *others])
    yesterday()
    (project.folder / ".contextspindle" / "config.json").write_text('{"daily_copies": 2}')
    create("g")
    assert names(safety) == sorted([*kept[-2:], *others])


def test_a_copy_dated_ahead_by_a_wrong_clock_never_costs_todays(project, create, safety, yesterday):
    safety.mkdir(mode=0o700)
    ahead = [copy_of(f"2999-01-0{number}") for number in range(1, 8)]
    past = copy_of("2026-01-01")
    for name in (*ahead, past):
        (safety / name).write_text("x")
    yesterday()
    create("g")
    assert names(safety) == sorted([past, copy_of(today()), *ahead[2:]])


@pytest.mark.parametrize("how", ["file", "environment"])
def test_it_can_be_switched_off_and_verify_says_so(project, create, safety, yesterday, how):
    env = {"CONTEXTSPINDLE_DAILY_COPIES": "0"} if how == "environment" else {}
    if how == "file":
        (project.folder / ".contextspindle" / "config.json").write_text('{"daily_copies": 0}')
    yesterday()
    assert project("task", "create", "g", env=env).status == 0
    assert names(safety) == []
    told = project("verify", "--json", env=env).data["daily_copies"]
    assert told["days"] == []
    assert "daily_copies" in told["problem"]
    assert b"no daily copy is made: switched off" in project("verify", env=env).out


def test_above_its_size_none_is_made_and_verify_says_which_setting_allows_it(
    project, create, safety, yesterday
):
    task = create("g")
    for _ in range(9):
        project("task", "update", task, "--note", "n" * 60_000, "--next", "x" * 60_000)
    env = {"CONTEXTSPINDLE_DAILY_COPY_MB": "1"}
    yesterday()
    project("task", "update", task, "--note", "one more", env=env)
    assert names(safety) == []
    problem = project("verify", "--json", env=env).data["daily_copies"]["problem"]
    assert "daily_copy_mb allows 1" in problem
    yesterday()
    project("task", "update", task, "--note", "and one")
    assert names(safety) == [copy_of(today())]
    told = project("verify", "--json").data["daily_copies"]
    assert told == {"folder": str(safety), "days": [today()], "problem": ""}
    assert (
        f"daily copies: 1, the newest of {today()}, in {safety}" in project("verify").out.decode()
    )


def test_a_damaged_ledger_is_not_copied_and_no_older_copy_goes(
    project, create, ledger, safety, yesterday
):
    create("g")
    old = create("old")
    safety.mkdir(mode=0o700)
    kept = [copy_of(f"2026-01-0{number}") for number in range(1, 9)]
    for name in kept:
        (safety / name).write_text("x")
    with by_hand(ledger) as raw:
        raw.execute("UPDATE tasks SET state = x'7b7d' WHERE id = ?", (old,))
    yesterday()
    done = project("task", "create", "another", "--json")
    assert (done.status, done.err) == (0, b"")
    assert done.data["task"]["goal"] == "another"
    assert names(safety) == kept
    (told,) = incidents(project)
    assert "daily copy" in told
    assert old in told
    assert b"daily copy" in project("fuse", "status").out
    # It is not tried again at every write.
    create("and another")
    assert len(incidents(project)) == 1


@pytest.mark.parametrize("in_the_way", ["file", "link"])
def test_a_copy_that_cannot_be_made_costs_the_write_nothing(
    project, safety, yesterday, tmp_path, in_the_way
):
    if in_the_way == "file":
        safety.write_text("mine")
    else:
        (tmp_path / "elsewhere").mkdir()
        safety.symlink_to(tmp_path / "elsewhere")
    yesterday()
    done = project("task", "create", "g", "--json")
    assert (done.status, done.err) == (0, b"")
    assert len(incidents(project)) == 1
    assert project("task", "list", "--json").data["total"] == 1
    assert in_the_way == "file" or list((tmp_path / "elsewhere").iterdir()) == []


def test_what_a_killed_copy_left_is_removed_and_nothing_else(project, create, safety, yesterday):
    safety.mkdir(mode=0o700)
    ours = ["copy.part", "copy.part-journal"]
    mine = ["other.part", "copy.part.mine"]
    for name in (*ours, *mine):
        (safety / name).write_text("x")
    yesterday()
    create("g")
    assert names(safety) == sorted([*mine, copy_of(today())])


def test_a_ledger_is_restored_from_a_daily_copy(project, create, safety, yesterday, tmp_path):
    task = create("kept", "--note", "n")
    yesterday()
    create("kept too")
    wanted = project("export", "-").out
    create("made after the copy")
    fresh = tmp_path / "again"
    fresh.mkdir()
    made = str(safety / copy_of(today()))
    done = project("restore", made, "--workspace", str(fresh), "--json")
    assert (done.status, done.data["created"]) == (0, 2)
    assert done.data["backup"]["tasks"] == 2
    assert done.data["backup"]["file"] == copy_of(today())
    assert done.data["backup"]["at"].startswith(today())
    assert project("export", "-", "--workspace", str(fresh)).out == wanted
    assert project("task", "show", task, "--workspace", str(fresh)).status == 0
    assert names(safety) == [copy_of(today())]  # reading it left nothing beside it


def test_a_spoilt_copy_is_refused_before_anything_is_made(
    project, create, safety, yesterday, tmp_path
):
    task = create("g")
    yesterday()
    create("h")
    made = safety / copy_of(today())
    with by_hand(made) as raw:
        raw.execute("UPDATE tasks SET state = x'7b7d' WHERE id = ?", (task,))
    fresh = tmp_path / "again"
    fresh.mkdir()
    for content, status, code in ((None, 7, "STORE_CORRUPT"), (b"text", 7, "STORE_CORRUPT")):
        if content is not None:
            made.write_bytes(content)
        done = project("restore", str(made), "--workspace", str(fresh), "--json")
        assert (done.status, done.error["code"]) == (status, code)
    assert list(fresh.iterdir()) == []


def test_a_restore_is_taken_back_from_the_copy_it_put_aside(project, create, tmp_path):
    create("there before")
    wanted = project("export", "-").out
    project("backup", str(tmp_path / "b"))
    kept = project("restore", str(tmp_path / "b"), "--json").data["kept"]
    (tmp_path / "again").mkdir()
    done = project("restore", kept, "--workspace", str(tmp_path / "again"))
    assert done.status == 0
    assert project("export", "-", "--workspace", str(tmp_path / "again")).out == wanted


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ('{"daily_copies": -1}', "daily_copies"),
        ('{"daily_copies": 367}', "daily_copies"),
        ('{"daily_copy_mb": 0}', "daily_copy_mb"),
        ('{"daily_copies": "7"}', "daily_copies"),
    ],
)
def test_a_setting_out_of_range_is_refused(project, content, named):
    (project.folder / ".contextspindle" / "config.json").write_text(content)
    done = project("task", "list", "--json")
    assert (done.status, done.error["code"]) == (2, "INVALID_INPUT")
    assert named in done.error["message"]
