"""The ledger as a whole, through the command: verify, backup, restore, export, import."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from contextspindle.store.sqlite import SCHEMA
from tests.databases import by_hand

HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA wal_autocheckpoint=0")
connection.execute("BEGIN")
count = connection.execute("SELECT count(*) FROM tasks").fetchone()
print("ready", flush=True)
sys.stdin.readline()
assert connection.execute("SELECT count(*) FROM tasks").fetchone() == count
"""


def failed(done, status: int, code: str) -> dict:
    assert (done.status, done.error["code"], done.out) == (status, code, b"")
    return done.error


def exported(project, **more) -> bytes:
    done = project("export", "-", **more)
    assert (done.status, done.err) == (0, b"")
    return done.out


def sound(done) -> bool:
    return (done.status, done.data["sound"], done.data["findings"]) == (0, True, [])


# -- verify


def test_a_sound_ledger_is_said_to_be_sound_and_nothing_is_written(project, create, ledger):
    task = create("g", "--label", "ui", "--key", "k")
    create("part", "--parent", task, "--depends-on", create("need"))
    before = {path: path.read_bytes() for path in ledger.parent.iterdir() if path.is_file()}
    for words, deep in (((), False), (("--deep",), True)):
        done = project("verify", *words, "--json")
        assert sound(done)
        assert (done.data["tasks"], done.data["changes"], done.data["deep"]) == (3, 3, deep)
    assert project("verify").out.decode() == "3 tasks, 3 changes, every digest checked: sound\n"
    after = {path: path.read_bytes() for path in ledger.parent.iterdir() if path.is_file()}
    assert {path: content for path, content in after.items() if path.suffix != ".sqlite3-shm"} == {
        path: content for path, content in before.items() if path.suffix != ".sqlite3-shm"
    }


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        ("UPDATE tasks SET owner = 'mallory'", "row"),
        ("UPDATE tasks SET state = x'00'", "state"),
        ("UPDATE changes SET body = x'7b7d'", "chain"),
        ("DELETE FROM changes", "chain"),
        ("UPDATE totals SET count = 9", "index"),
        ("DELETE FROM labels", "index"),
        ("DELETE FROM creations", "index"),
        ("UPDATE creations SET key = 'another'", "index"),
        ("DELETE FROM search", "search"),
        ("DROP INDEX tasks_by_status", "schema"),
        ("UPDATE tasks SET claim_until = 1 + claim_until", "row"),
        ("UPDATE tasks SET claim_length = 5 WHERE claim_holder IS NULL", "row"),
    ],
)
def test_what_is_wrong_is_found_named_and_ends_with_7(project, create, ledger, damage, kind):
    task = create("g", "--label", "ui", "--key", "k", "--note", "n")
    create("held by nobody")
    project("task", "claim", task)
    with by_hand(ledger) as raw:
        raw.execute(damage)
    done = project("verify", "--json")
    assert (done.status, done.data["sound"]) == (7, False)
    assert kind in {one["kind"] for one in done.data["findings"]}
    told = project("verify")
    assert told.status == 7
    assert re.search(r": [1-9][0-9]* findings?$", told.out.decode().rstrip())


def test_a_search_index_made_of_other_texts_is_found_deep(project, create, ledger):
    task = create("g")
    create("another")
    with by_hand(ledger) as raw:
        raw.execute("UPDATE search SET goal = 'not that' WHERE rowid = 1")
    done = project("verify", "--deep", "--json")
    found = [(one["kind"], one["task"]) for one in done.data["findings"]]
    assert (done.status, found) == (7, [("search", task)])


# -- backup


def test_a_backup_is_one_private_file_and_a_manifest_that_fits_it(project, create, aside):
    create("g")
    done = project("backup", str(aside / "b"), "--json")
    folder = aside / "b"
    assert sorted(os.listdir(folder)) == ["ledger.sqlite3", "manifest.json"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    kept = json.loads((folder / "manifest.json").read_text())
    assert done.data == {**kept, "at": done.data["at"], "folder": str(folder)}
    assert (kept["tasks"], kept["changes"], kept["schema"]) == (1, 1, SCHEMA)
    assert kept["bytes"] == (folder / "ledger.sqlite3").stat().st_size
    assert os.listdir(aside) == ["b"]


@pytest.mark.parametrize("what", ["folder", "file", "link", "empty folder"])
def test_a_backup_never_overwrites(project, aside, what):
    place = aside / "b"
    if what == "file":
        place.write_text("precious")
    elif what == "link":
        place.symlink_to(aside / "nowhere")
    else:
        place.mkdir()
        if what == "folder":
            (place / "precious").write_text("precious")
    error = failed(project("backup", str(place), "--json"), 2, "INVALID_INPUT")
    assert "never overwrites" in error["message"]
    assert os.listdir(aside) == ["b"]


def test_a_backup_does_not_lie_inside_the_workspace(project, aside):
    inside = project.folder / ".contextspindle"
    (aside / "link").symlink_to(inside)
    for place in (inside / "b", inside / "tasks" / "b", aside / "link" / "b"):
        error = failed(project("backup", str(place), "--json"), 2, "INVALID_INPUT")
        assert "inside the workspace" in error["message"]
    failed(project("backup", str(aside / "no" / "b"), "--json"), 2, "INVALID_INPUT")


def test_a_damaged_ledger_is_not_backed_up(project, create, ledger, aside):
    task = create("g")
    with by_hand(ledger) as raw:
        raw.execute("UPDATE tasks SET state = x'00'")
    error = failed(project("backup", str(aside / "b"), "--json"), 7, "STORE_CORRUPT")
    assert task in error["message"]
    assert os.listdir(aside) == []


def test_a_backup_holds_what_was_committed_and_never_folded_back(project, create, ledger, aside):
    process = project.start("task", "create", "the last one", "--quiet")
    task = process.communicate()[0].decode().strip()
    assert Path(f"{ledger}-wal").stat().st_size > 0
    assert project("backup", str(aside / "b")).status == 0
    with by_hand(aside / "b" / "ledger.sqlite3") as raw:
        assert raw.execute("SELECT id FROM tasks").fetchall() == [(task,)]


def test_a_backup_while_others_write_is_of_one_moment_and_sound(project, create, fresh, aside):
    loop = 'for n in 1 2 3 4 5 6 7 8; do "$0" task create "$1 $n" --label ui || exit 1; done'
    writers = [
        subprocess.Popen(
            ["sh", "-c", loop, project.path, f"writer {number}"],
            cwd=project.folder,
            env=project.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for number in range(3)
    ]
    counts = []
    for number in range(4):
        done = project("backup", str(aside / f"b{number}"), "--json")
        assert done.status == 0
        counts.append(done.data["tasks"])
    assert [writer.communicate()[1] for writer in writers] == [b""] * 3
    assert [writer.returncode for writer in writers] == [0] * 3
    assert counts == sorted(counts)
    assert project("backup", str(aside / "last"), "--json").data["tasks"] == 24
    for number, count in enumerate(counts):
        name = f"fresh{number}"
        fresh("init", ".", name=name)
        assert fresh("restore", str(aside / f"b{number}"), name=name).status == 0
        checked = fresh("verify", "--deep", "--json", name=name)
        assert sound(checked)
        assert checked.data["tasks"] == count


# -- restore


def test_a_backup_is_restored_into_a_fresh_workspace_as_it_was(project, create, fresh, aside):
    task = create("g", "--label", "ui", "--key", "k", "--note", "東京")
    project("task", "claim", task)
    project("backup", str(aside / "b"))
    done = fresh("restore", str(aside / "b"), "--json")
    assert (done.status, done.data["created"], done.data["kept"]) == (0, 1, None)
    assert done.data["workspace"] == str(aside / "fresh")
    assert fresh("export", "-").out == exported(project)
    assert sound(fresh("verify", "--deep", "--json"))


def test_a_restore_beside_newer_work_undoes_nothing_and_brings_back_what_is_missing(
    project, create, fresh, aside
):
    old, other = create("old"), create("other")
    project("backup", str(aside / "b"))
    fresh("init", ".")
    project("export", str(aside / "e"))
    fresh("import", str(aside / "e"))
    fresh("task", "update", old, "--next", "newer")
    before = exported(project, cwd=aside / "fresh")
    done = fresh("restore", str(aside / "b"), "--json")
    assert (done.data["older"], done.data["same"], done.data["created"]) == (1, 1, 0)
    assert exported(project, cwd=aside / "fresh") == before
    kept = Path(done.data["kept"])
    assert kept.parent == aside / "fresh" / ".contextspindle" / "tasks" / "safety"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert fresh("task", "show", other).status == 0


def test_a_restore_lists_every_conflict_and_writes_nothing(project, create, fresh, aside):
    ids = [create(f"g{number}") for number in range(3)]
    project("export", str(aside / "e"))
    fresh("init", ".")
    fresh("import", str(aside / "e"))
    for task in ids[:2]:
        project("task", "update", task, "--note", "here")
        fresh("task", "update", task, "--note", "there")
    create("would be new there")
    project("backup", str(aside / "b"))
    before = exported(project, cwd=aside / "fresh")
    error = failed(fresh("restore", str(aside / "b"), "--json"), 4, "MERGE_CONFLICT")
    assert error["details"]["tasks"] == ids[:2]
    assert exported(project, cwd=aside / "fresh") == before


def test_a_restore_under_a_process_that_has_the_ledger_open_harms_neither(
    project, create, ledger, fresh, aside
):
    create("in the backup")
    project("backup", str(aside / "b"))
    wanted = exported(project)
    fresh("init", ".")
    fresh("task", "create", "already there")
    open_there = aside / "fresh" / ".contextspindle" / "tasks" / "ledger.sqlite3"
    inode = open_there.stat().st_ino
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(open_there)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert holder.stdout.readline() == b"ready\n"
    done = fresh("restore", str(aside / "b"), "--json")
    assert (done.status, done.data["created"]) == (0, 1)
    _, said = holder.communicate(b"\n")
    assert (holder.returncode, said) == (0, b"")
    assert open_there.stat().st_ino == inode
    assert set(wanted.splitlines()[1:]) < set(fresh("export", "-").out.splitlines())
    assert sound(fresh("verify", "--deep", "--json"))


def test_only_the_newest_safety_copies_stay(project, create, ledger, aside):
    create("g")
    project("backup", str(aside / "b"))
    kept = [project("restore", str(aside / "b"), "--json").data["kept"] for _ in range(5)]
    assert len(set(kept)) == 5
    assert sorted(map(str, (ledger.parent / "safety").iterdir())) == kept[2:]


def test_the_ledger_is_put_aside_even_if_another_file_of_the_workspace_is_missing(
    project, create, aside
):
    create("g")
    project("backup", str(aside / "b"))
    (project.folder / ".contextspindle" / ".gitignore").unlink()
    assert project("restore", str(aside / "b"), "--json").data["kept"]


def manifest(change):
    def spoil(folder: Path) -> None:
        found = json.loads((folder / "manifest.json").read_text())
        change(found)
        (folder / "manifest.json").write_text(json.dumps(found))

    return spoil


def flipped(folder: Path) -> None:
    copy = folder / "ledger.sqlite3"
    content = bytearray(copy.read_bytes())
    content[len(content) // 2] ^= 1
    copy.write_bytes(content)


SPOILT = {
    "a flipped bit": (flipped, 7, "STORE_CORRUPT"),
    "cut short": (lambda b: os.truncate(b / "ledger.sqlite3", 4096), 7, "STORE_CORRUPT"),
    "no copy": (lambda b: (b / "ledger.sqlite3").unlink(), 7, "STORE_CORRUPT"),
    "no manifest": (lambda b: (b / "manifest.json").unlink(), 2, "INVALID_INPUT"),
    "rubbish": (lambda b: (b / "manifest.json").write_text("{"), 2, "INVALID_INPUT"),
    "a list": (lambda b: (b / "manifest.json").write_text("[]"), 2, "INVALID_INPUT"),
    "no time": (manifest(lambda m: m.pop("at")), 2, "INVALID_INPUT"),
    "a new form": (manifest(lambda m: m.update(version=2)), 2, "INVALID_INPUT"),
    "another count": (manifest(lambda m: m.update(tasks=2)), 7, "STORE_CORRUPT"),
    "another digest": (manifest(lambda m: m.update(sha256="0" * 64)), 7, "STORE_CORRUPT"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_backup_is_refused_before_anything_is_made(project, create, fresh, aside, how):
    create("g")
    project("backup", str(aside / "b"))
    spoil, status, code = SPOILT[how]
    spoil(aside / "b")
    failed(fresh("restore", str(aside / "b"), "--json"), status, code)
    assert os.listdir(aside / "fresh") == []
    before = exported(project)
    failed(project("restore", str(aside / "b"), "--json"), status, code)
    assert exported(project) == before


def test_a_backup_and_a_single_copy_are_restored_through_a_link(project, create, fresh, aside):
    create("g")
    project("backup", str(aside / "b"))
    (aside / "latest").symlink_to(aside / "b")
    assert fresh("restore", str(aside / "latest"), "--json").data["created"] == 1
    (aside / "latest.sqlite3").symlink_to(aside / "b" / "ledger.sqlite3")
    assert fresh("restore", str(aside / "latest.sqlite3"), "--json").data["same"] == 1


def test_what_is_no_backup_at_all_is_said_to_be_none(project, aside):
    for place in (aside, aside / "none", project.folder):
        failed(project("restore", str(place), "--json"), 2, "INVALID_INPUT")


# -- export and import


def test_an_export_is_private_and_never_overwrites(project, create, aside):
    create("g")
    target = aside / "e"
    assert project("export", str(target), "--json").data == {"file": str(target), "tasks": 1}
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    before = target.read_bytes()
    assert before == exported(project)
    (aside / "link").symlink_to(aside / "nowhere")
    for place in (target, aside / "link", aside):
        error = failed(project("export", str(place), "--json"), 2, "INVALID_INPUT")
        assert "never overwrites" in error["message"]
    failed(project("export", str(aside / "no" / "e"), "--json"), 7, "STORE_UNAVAILABLE")
    failed(project("export", "-", "--json"), 2, "INVALID_INPUT")
    assert target.read_bytes() == before
    assert sorted(os.listdir(aside)) == ["e", "link"]


def test_a_dry_run_says_what_an_import_would_do_and_does_not_do_it(project, create, fresh, aside):
    task = create("g")
    project("export", str(aside / "e"))
    fresh("init", ".")
    said = fresh("import", str(aside / "e"), "--dry-run", "--json").data
    assert said == {
        "source": str(aside / "e"),
        "dry_run": True,
        "created": 1,
        "updated": 0,
        "same": 0,
        "older": 0,
        "purged": 0,
        "tasks": [task],
    }
    assert fresh("task", "list", "--json").data["total"] == 0
    done = fresh("import", "-", "--json", input=exported(project)).data
    assert done == {**said, "source": "-", "dry_run": False}
    again = fresh("import", str(aside / "e"), "--json").data
    assert (again["created"], again["same"], again["tasks"]) == (0, 1, [])


@pytest.mark.parametrize("text", [b"", b"no json\n", b"\0", b'{"format":"x"}\n', b"\xff\n"])
def test_what_is_no_export_is_refused(project, text):
    failed(project("import", "-", "--json", input=text), 2, "INVALID_INPUT")
    assert project("task", "list", "--json").data["total"] == 0


def test_a_file_that_cannot_be_read_is_said(project, aside):
    for place in (aside, aside / "none"):
        error = failed(project("import", str(place), "--json"), 2, "INVALID_INPUT")
        assert "cannot be read" in error["message"]


# -- what was meant for another command


def test_an_export_is_not_called_a_damaged_backup_and_the_other_way_round(project, create, aside):
    create("g")
    project("backup", str(aside / "b"))
    project("export", str(aside / "e"))
    error = failed(project("restore", str(aside / "e"), "--json"), 2, "INVALID_INPUT")
    assert f"'contextspindle import {aside / 'e'}'" in error["hint"]
    for place in (aside / "b", aside / "b" / "ledger.sqlite3"):
        error = failed(project("import", str(place), "--json"), 2, "INVALID_INPUT")
        assert "'contextspindle restore" in error["hint"]


def test_what_verify_cannot_look_at_is_not_sent_to_verify_again(project, create, ledger):
    create("g")
    ledger.write_bytes(b"no database at all" * 400)
    error = failed(project("verify", "--json"), 7, "STORE_CORRUPT")
    assert "contextspindle restore COPY" in error["hint"]
    assert "verify" not in error["hint"]


def test_an_export_that_was_cut_off_is_refused(project, create, fresh):
    for number in range(3):
        create(f"g{number}")
    cut = b"".join(exported(project).splitlines(keepends=True)[:3])
    fresh("init", ".")
    error = failed(fresh("import", "-", "--json", input=cut), 2, "INVALID_INPUT")
    assert "3 tasks, and 2 came" in error["message"]
    assert fresh("task", "list", "--json").data["total"] == 0
