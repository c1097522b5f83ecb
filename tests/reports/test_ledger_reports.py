"""What was reported of ledgers of other programs, tried on this one: one test a report."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path

import pytest

from contextspindle.store import mounts, schema
from contextspindle.store.sqlite import BACKUPS, SqliteStore
from tests.databases import by_hand

CREATE = (
    'n=0; while [ $n -lt {count} ]; do n=$((n+1)); "$C" task create "{name} $n" || exit 1; done'
)
UPDATE = (
    'n=0; while [ $n -lt {count} ]; do n=$((n+1)); "$C" task update {task} {words} "$n" || exit 1;'
    " done"
)


def total(project, **more):
    return project("task", "list", "--json", **more).data["total"]


def test_ld01_writers_at_the_same_moment_all_land(project, shells, sound, long_run):
    count = 50 if long_run else 4
    ended = shells([CREATE.format(count=count, name=f"w{number}") for number in range(8)])
    assert [(status, err) for status, _, err in ended] == [(0, "")] * 8
    assert total(project) == sound()["tasks"] == 8 * count


def test_ld02_ten_writers_beside_a_long_reader_do_not_wait_long_and_the_log_stays_small(
    project, create, shells, reader, ledger, long_run
):
    create("first")
    end = reader()
    count = 60 if long_run else 3
    ended = shells([CREATE.format(count=count, name=f"w{number}") for number in range(10)])
    assert [(status, err) for status, _, err in ended] == [(0, "")] * 10
    log = Path(f"{ledger}-wal")
    grown = log.stat().st_size
    assert grown < 64 * 1024 * 10 * count  # nothing is written over and over
    end()
    shells([CREATE.format(count=count, name="after")])
    assert log.stat().st_size <= max(grown, 5 * 1024 * 1024)
    assert total(project) == 1 + 11 * count


def test_ld03_two_processes_that_change_different_fields_keep_both(
    project, create, shells, show, long_run
):
    task, count = create("g"), 100 if long_run else 10
    ended = shells(
        [
            UPDATE.format(count=count, task=task, words="--note a --next"),
            UPDATE.format(count=count, task=task, words="--note b --owner"),
        ]
    )
    assert [(status, err) for status, _, err in ended] == [(0, "")] * 2
    found = show(task)
    assert (found["next"], found["owner"], found["version"]) == (*[str(count)] * 2, 1 + 2 * count)
    assert sorted(one["text"] for one in found["notes"]) == ["a"] * count + ["b"] * count


def test_ld06_ids_of_two_places_do_not_collide(project, create, place, sound, show):
    base = create("base")
    project("export", "../base")
    there = place("there")
    project("import", "../base", cwd=there)
    for folder in (project.folder, there):
        for number in range(5):
            words = ("task", "create", f"{folder.name} {number}", "--parent", base)
            assert project(*words, cwd=folder).status == 0
    project("export", "../theirs", cwd=there)
    assert project("import", "../theirs").status == 0
    assert total(project) == 11
    children = project("task", "children", base, "--json").data["tasks"]
    assert len({one["id"] for one in children}) == 10
    assert {one["parent"] for one in children} == {base}
    sound()


def test_ld09_an_older_export_does_not_undo_what_was_closed_later(project, create, show):
    task = create("g", "--criterion", "c")
    project("export", "../old")
    project("task", "update", task, "--evidence", "seen", "--status", "done")
    done = project("import", "../old", "--json")
    assert (done.status, done.data["older"], done.data["updated"]) == (0, 1, 0)
    assert show(task)["status"] == "done"


def test_ld10_an_export_never_drops_what_only_others_had_put_into_its_file(project, create):
    create("mine")
    project("export", "../shared")
    shared = project.folder.parent / "shared"
    with shared.open("ab") as file:
        file.write(b'{"foreign":1}\n{"foreign":2}\n')
    before = shared.read_bytes()
    create("another")
    done = project("export", "../shared")
    assert done.status == 2
    assert b"never overwrites" in done.err
    assert shared.read_bytes() == before


def test_ld12_everything_comes_through_an_export_and_an_import(project, create, place):
    need, parent = create("need"), create("parent", "--key", "k")
    words = ("--label", "ui", "--label", "später", "--depends-on", need, "--parent", parent)
    task = create("g", "--criterion", "a", "--criterion", "b", *words, "--priority", "0")
    project("task", "update", task, "--owner", "ada", "--next", "n", "--decision", "d")
    project("task", "update", task, "--note", "n", "--evidence", "e", "--for", "1")
    project("task", "update", need, "--status", "blocked", "--blocker", "rain")
    project("task", "claim", task)
    there = place("there")
    first = project("export", "-").out
    assert project("import", "-", input=first, cwd=there).status == 0
    assert project("export", "-", cwd=there).out == first
    for words in (("show", task), ("history", task), ("list", "--label", "ui")):
        here = project("task", *words, "--json").data
        assert project("task", *words, "--json", cwd=there).data == here


@pytest.mark.parametrize("statement", range(3))
def test_ld13_a_migration_that_fails_leaves_the_old_ledger_a_copy_and_a_second_chance(
    project, create, show, ledger, statement
):
    task = create("g")
    step = ["ALTER TABLE tasks ADD COLUMN x TEXT", "CREATE INDEX ix ON tasks (x)", "SELECT 1"]
    broken = [*step[:statement], "INSERT INTO nowhere VALUES (1)", *step[statement:]]
    raw = sqlite3.connect(ledger, isolation_level=None)
    steps = schema.migrations()
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        schema.migrate(raw, str(ledger), [*steps, ";\n".join(broken) + ";"])
    assert show(task)["goal"] == "g"
    assert project("task", "update", task, "--note", "n").status == 0
    (copy,) = (ledger.parent / BACKUPS).iterdir()
    aside = SqliteStore(str(copy))
    with aside.read() as txn:
        assert txn.task(task).goal == "g"
    aside.close()
    schema.migrate(raw, str(ledger), [*steps, ";\n".join(step) + ";"])
    assert raw.execute("PRAGMA user_version").fetchone() == (len(steps) + 1,)
    raw.close()


@pytest.fixture
def newer(create, alter, ledger):
    """A ledger as a newer program left it; gives its bytes."""
    create("g")
    alter("PRAGMA user_version=99")
    return ledger.read_bytes()


def test_ld14_a_ledger_of_a_newer_program_is_refused_untouched_and_hooks_go_on(
    project, newer, ledger, payload
):
    for words in (("list",), ("create", "x"), ("search", "g"), ("claim", "--next")):
        done = project("task", *words, "--json")
        assert (done.status, done.error["code"]) == (7, "SCHEMA_TOO_NEW")
        assert done.error["details"] == {"found": 99, "known": schema.SCHEMA}
        assert "99" in done.error["message"]
    for words in (("verify",), ("backup", "../b"), ("export", "-"), ("import", "../none")):
        assert project(*words).status in (2, 7)
    assert ledger.read_bytes() == newer
    for verb, event in (("save", "PreCompact"), ("restore", "SessionStart")):
        assert project("fuse", verb, input=payload(event)).status == 0


def test_ld15_of_a_newer_ledger_it_says_upgrade_and_never_delete(project, newer):
    said = b"".join(
        project(*words).err
        for words in (("task", "list"), ("verify",), ("task", "create", "x"), ("backup", "../b"))
    ).decode()
    assert "Upgrade ContextSpindle" in said
    assert not {"delete", "erase", "remove", "damaged", "corrupt"} & set(said.lower().split())


def test_ld16_ten_processes_that_start_at_once_on_an_empty_folder_all_succeed(command, tmp_path):
    running = [command.start("init") for _ in range(10)]
    assert [one.communicate()[1] for one in running] == [b""] * 10
    assert {one.returncode for one in running} == {0}
    running = [command.start("task", "create", f"{number}") for number in range(10)]
    assert [one.communicate()[1] for one in running] == [b""] * 10
    checked = command("verify", "--json")
    assert (checked.status, checked.data["tasks"]) == (0, 10)
    assert not (command.folder / ".contextspindle" / "tasks" / "safety").exists()


def test_ld17_a_full_disk_is_said_and_costs_nothing_that_was_there(
    project, create, show, sound, fault_library, payload
):
    task = create("g")
    full = {"LD_PRELOAD": str(fault_library), "FAULT_MODE": "full", "FAULT_AT": "1"}
    done = project("task", "create", "x", "--json", env=full)
    assert (done.status, done.error["code"]) == (7, "STORE_FULL")
    saved = project("fuse", "save", input=payload("PreCompact"), env=full)
    assert saved.status == 0
    snapshots = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl"
    snapshots.parent.mkdir(exist_ok=True)
    snapshots.touch()  # what a full disk leaves
    assert show(task)["goal"] == "g"
    create("there is space again")
    assert project("fuse", "save", input=payload("PreCompact")).status == 0
    assert b"login page" in project("fuse", "restore", "--plain").out
    assert sound()["tasks"] == 2


def test_ld18_where_processes_share_no_memory_a_rollback_journal_is_used_and_said(
    project, place, tmp_path
):
    for kind in ("virtiofs", "9p", "drvfs", "nfs", "nfs4", "cifs", "fuse.sshfs"):
        assert mounts.needs_rollback_journal(kind), kind
    assert not mounts.needs_rollback_journal("ext4")
    there = tmp_path / "there"
    there.mkdir()
    done = project("init", ".", cwd=there, env={"CONTEXTSPINDLE_JOURNAL": "rollback"})
    assert b"journal: rollback" in done.out
    calls = [("task", "create", f"{n}", "--workspace", str(there)) for n in range(8)]
    running = [project.start(*call) for call in calls]
    assert [one.communicate()[1] for one in running] == [b""] * 8
    tasks = there / ".contextspindle" / "tasks"
    assert not (tasks / "ledger.sqlite3-wal").exists()
    checked = project("verify", "--json", cwd=there)
    assert (checked.status, checked.data["tasks"]) == (0, 8)


def test_ld20_of_a_damaged_ledger_one_line_says_which_file_and_what_to_do(
    project, create, ledger, payload
):
    task = create("g")
    project("backup", "../b")
    with by_hand(ledger) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = ledger.read_bytes()
    ledger.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
    for words in (("list",), ("show", task), ("create", "x"), ("update", task, "--note", "n")):
        done = project("task", *words)
        said = done.err.decode()
        assert done.status == 7
        assert said.count("[STORE_CORRUPT]") == 1
        assert str(ledger) in said
        assert "contextspindle verify" in said
        assert "restore" in said
        assert "Traceback" not in said
        assert len(said.splitlines()) == 2
    assert project("verify").status == 7
    for verb, event in (("save", "PreCompact"), ("restore", "SessionStart")):
        done = project("fuse", verb, input=payload(event))
        assert (done.status, done.err) == (0, b"")


def test_ld22_a_restore_beside_an_open_ledger_is_the_backup_and_not_undone(
    project, create, place, reader, sound
):
    create("in the backup")
    project("backup", "../b")
    wanted = project("export", "-").out
    there = place("there")
    end = reader(there / ".contextspindle" / "tasks" / "ledger.sqlite3")
    assert project("restore", "../b", cwd=there).status == 0
    end()
    assert project("export", "-", cwd=there).out == wanted
    sound(cwd=there)


def test_ld23_a_backup_holds_the_newest_write_though_it_is_only_in_the_log(
    project, create, ledger, tmp_path
):
    task = create("not folded back")
    assert Path(f"{ledger}-wal").stat().st_size > 0
    assert task.encode() not in ledger.read_bytes()
    assert project("backup", "../b").status == 0
    assert task.encode() in (tmp_path / "b" / "ledger.sqlite3").read_bytes()
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    assert project("restore", "../b", cwd=fresh).status == 0
    assert project("task", "show", task, cwd=fresh).status == 0
    assert project("verify", cwd=fresh).status == 0


def test_ld25_looking_at_odd_rows_changes_nothing_and_hides_nothing(project, create, ledger):
    long = create("x" * 60_000, "--note", "y" * 60_000)
    odd = create("odd", "--owner", "\u202e[31m", "--label", "次")
    with by_hand(ledger) as raw:
        raw.execute("UPDATE tasks SET updated = 99999999999999 WHERE id = ?", (odd,))
        raw.execute("UPDATE tasks SET status = 'paused' WHERE id = ?", (odd,))
    before = ledger.read_bytes()
    for words in ((), ("--deep",)):
        done = project("verify", *words, "--json")
        assert done.status == 7
        assert {one["task"] for one in done.data["findings"] if one["task"]} == {odd}
    assert ledger.read_bytes() == before
    assert project("task", "show", long).status == project("task", "show", odd).status == 0
    assert project("repair").status == 2  # there is nothing that could destroy what it mends


def test_ld28_no_ring_is_closed_in_however_many_steps(project, create):
    a, b, c = create("a"), create("b"), create("c")

    def ring(*words):
        done = project("task", "update", *words, "--json")
        assert (done.status, done.error["code"]) == (5, "RING_REFUSED")
        return done.error["details"]["ring"]

    assert project("task", "update", b, "--parent", a).status == 0
    assert set(ring(a, "--parent", b)) == {a, b}
    assert project("task", "update", a, "--depends-on", c).status == 0
    assert project("task", "update", a, "--depends-on", b).status == 5  # a part of it
    d = create("d", "--depends-on", a)
    assert ring(c, "--depends-on", d) == [c, d, a, c]
    ready = project("task", "ready", "--quiet", timeout=20).out.decode().split()
    assert set(ready) == {b, c}


def test_ld30_what_is_called_off_leaves_no_link_dangling(project, create, show, sound):
    root = create("root")
    child = create("child", "--parent", root)
    grandchild = create("grandchild", "--parent", child)
    outside = create("outside", "--depends-on", child)
    assert project("task", "delete", root).status == 2
    done = project("task", "update", root, "--status", "cancelled", "--decision", "no", "--json")
    assert done.data["warnings"] == [f"Children still open: {child}"]
    project("task", "update", child, "--status", "cancelled", "--decision", "no")
    assert [show(one)["status"] for one in (child, grandchild)] == ["cancelled", "open"]
    said = project("task", "ready", "--explain", outside).out.decode()
    assert f"its dependency {child} is cancelled" in said
    sound()


def test_ld31_ids_do_not_shift_and_are_printed_when_they_are_made(project, create, show):
    ids = [create(f"g{number}", "--criterion", "c") for number in range(3)]
    project("task", "update", ids[1], "--evidence", "e", "--status", "done")
    project("task", "update", ids[2], "--note", "on the third")
    assert [len(show(one)["notes"]) for one in ids] == [0, 0, 1]
    assert show(ids[2])["goal"] == "g2"
    said = project("task", "create", "another").out.decode()
    assert said.split()[0] not in ids
    assert said.split()[0] in project("task", "list", "--quiet").out.decode()


def test_ld34_text_comes_back_byte_for_byte(project, create, show, place):
    text = "“full” 'width'：；、！ \\n \\ \"q\" \r\n line\n\tעברית العربية 👩🏽‍🚀 👨‍👩‍👧 \u202e"
    task = create(text, "--note", text, "--criterion", text, "--next", text)
    there = place("there")
    assert project("import", "-", input=project("export", "-").out, cwd=there).status == 0
    for folder in (project.folder, there):
        found = show(task, cwd=folder)
        assert {found["goal"], found["next"], found["criteria"][0], found["notes"][0]["text"]} == {
            text
        }
    handoff = project("task", "context", task, "9000").out.decode()
    assert "“full” 'width'：；、！ \\n \\ \"q\" ⏎ line⏎ עברית العربية 👩🏽‍🚀 👨‍👩‍👧" in handoff
    too_long = project("task", "create", "-", "--json", input=b"x" * 100_000)
    assert (too_long.status, too_long.error["code"]) == (2, "INVALID_INPUT")
    assert "65536" in too_long.error["message"]


def test_ld35_of_twenty_that_claim_one_wins_and_a_crash_wedges_nothing(project, create, shells):
    task = create("g")
    ended = shells([f'CONTEXTSPINDLE_ACTOR=w{n} "$C" task claim {task} --json' for n in range(20)])
    won = [json.loads(out)["data"] for status, out, _ in ended if status == 0]
    assert len(won) == 1
    holder = won[0]["task"]["claim"]
    lost = [json.loads(err)["error"] for status, _, err in ended if status]
    assert {one["code"] for one in lost} == {"CLAIM_HELD"}
    assert {one["details"]["holder"] for one in lost} == {holder}
    assert len(lost) == 19
    # One who is gone for good holds a task no longer than its lease.
    left = create("h")
    gone = {"CONTEXTSPINDLE_ACTOR": "gone"}
    assert project("task", "claim", left, "--lease", "1", env=gone).status == 0
    until = time.monotonic() + 30
    while project("task", "claim", left).status and time.monotonic() < until:
        pass
    assert project("task", "show", left, "--json").data["claim"] == "tester"


def test_ld37_instants_do_not_depend_on_the_time_zone(project, create, show):
    task = create("g", env={"TZ": "America/Denver"})
    first = show(task, env={"TZ": "Asia/Tokyo"})
    assert first["created"].endswith("Z")
    assert abs(time.time() - _seconds(first["created"])) < 120
    later = create("later", env={"TZ": "Pacific/Kiritimati"})
    assert show(later, env={"TZ": "Pacific/Pago_Pago"})["created"] >= first["created"]
    listed = project("task", "inbox", "--quiet", env={"TZ": "America/Denver"}).out.decode()
    assert listed.split() == [later, task]


def _seconds(iso: str) -> float:
    import datetime

    return datetime.datetime.fromisoformat(iso).timestamp()


@pytest.mark.parametrize(
    ("line", "put"),
    [(3, b"<<<<<<< HEAD\n"), (3, b"=======\n"), (2, b'{"changes":[{"task":"t-x"}],"head":""}\n')],
)
def test_ld38_one_bad_line_fails_the_whole_import_and_is_named(project, create, place, line, put):
    for number in range(3):
        create(f"g{number}")
    lines = project("export", "-").out.splitlines(keepends=True)
    there = place("there")
    spoilt = b"".join([*lines[: line - 1], put, *lines[line - 1 :]])
    done = project("import", "-", "--json", input=spoilt, cwd=there)
    assert (done.status, done.error["details"]["line"]) == (2, line)
    assert total(project, cwd=there) == 0


def test_ld39_where_nothing_can_be_written_reading_goes_on_and_hooks_end_well(ordinary):
    assert ordinary("init").status == 0
    task = ordinary("task", "create", "g", "--quiet").out.decode().strip()
    for path in (ordinary.folder, *ordinary.folder.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    for words in (("list",), ("show", task), ("context", task), ("search", "g"), ("ready",)):
        done = ordinary("task", *words)
        assert (done.status, task in done.out.decode()) == (0, True), words
    assert ordinary("verify").status == 0
    for words in (("create", "x"), ("update", task, "--note", "n"), ("claim", task)):
        done = ordinary("task", *words, "--json")
        assert (done.status, done.error["code"]) == (7, "STORE_READ_ONLY"), words
    event = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "s"}
    event |= {"cwd": str(ordinary.folder), "transcript_path": "/does/not/exist"}
    assert ordinary("fuse", "restore", input=json.dumps(event).encode()).status == 0
    assert ordinary("fuse", "save", input=json.dumps(event).encode()).status == 0


def test_ld40_the_number_of_statements_does_not_grow_with_the_tasks(
    tmp_path, make_ledger, ask, long_run
):
    store = SqliteStore(str(tmp_path / "tasks" / "ledger.sqlite3"))
    store.create()
    ledger = make_ledger(store)
    counts = []
    made: list[str] = []
    for size in (100, 10_000 if long_run else 600):
        while len(made) < size:
            needs = tuple(made[-1 - 7 * n] for n in range(5) if 7 * n < len(made))
            made.append(ledger.create(ask(goal=f"g {len(made)}", add_dependencies=needs)).task.id)
        statements: list[str] = []
        store.open_reader().set_trace_callback(statements.append)
        ledger.list(0, 20), ledger.ready(20), ledger.inbox(20), ledger.context(made[-1])
        ledger.search("g", 20), ledger.children(made[0]), ledger.explain(made[-1])
        store.open_reader().set_trace_callback(None)
        # What the index asks its own tables stands there as a comment.
        counts.append(len([one for one in statements if not one.startswith("--")]))
    assert 10 < counts[1] <= counts[0] < 100
    store.close()


@pytest.mark.parametrize("value", [None, "", "/does/not/exist", "relative"])
def test_ld41_without_a_home_nothing_lands_in_the_current_folder(command, tmp_path, value):
    environ = {name: value for name, value in command.environment.items() if name != "HOME"}
    environ.pop("XDG_STATE_HOME")
    environ |= {} if value is None else {"HOME": value}
    command.environment = environ
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for words in (("task", "list"), ("task", "create", "x"), ("fuse", "status")):
        assert command(*words, cwd=elsewhere).status == 3
    event = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "s"}
    event |= {"cwd": str(elsewhere), "transcript_path": str(tmp_path / "none")}
    done = command("fuse", "restore", input=json.dumps(event).encode(), cwd=elsewhere)
    assert done.status == 0
    assert os.listdir(elsewhere) == []
    assert command("init").status == 0
    assert command("task", "create", "x").status == 0
