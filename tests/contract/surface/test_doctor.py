"""The doctor: it finds what is wrong, says what to do, and itself survives everything."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess

import pytest

from contextspindle import doctor
from contextspindle.doctor import NOTE, OK, PROBLEM, surroundings
from contextspindle.workspace import Workspace, find
from tests.contract.surface.test_documents import check, described
from tests.databases import by_hand


@pytest.fixture
def here(project, monkeypatch):
    """The project, with this process in it, and none of the programs of whoever runs the tests."""
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.chdir(project.folder)
    return project


def looked(area: str = "", **more) -> list[doctor.Finding]:
    """What the doctor finds in the current folder, of one area if named."""
    return [one for one in doctor.examined(**more)[1] if area in ("", one.area)]


def problems(area: str = "", **more) -> list[str]:
    return [f"{one.what} -> {one.do}" for one in looked(area, **more) if one.state == PROBLEM]


def content(folder) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".sqlite3-shm"  # where SQLite's readers sign up
    }


def rewritten(path, change) -> None:
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))


def ledger_of(project):
    return project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"


# -- where all is well


def test_a_sound_workspace_has_no_problem_and_nothing_is_written(here, task):
    here("remember", "the parser is slow")
    find().store().close()
    before = content(here.folder)
    done = here("doctor", "--json")
    assert (done.status, done.err) == (0, b"")
    assert (done.data["well"], done.data["problems"]) == (True, 0)
    assert done.data["workspace"] == str(here.folder)
    areas = {one["area"] for one in done.data["findings"]}
    wanted = "workspace ledger memory copies disk hooks server sessions incidents versions"
    assert areas == set(wanted.split())
    assert content(here.folder) == before
    check(done.data, "[doctor](#)", "doctor", described())


def test_what_is_wrong_makes_the_status_1_and_is_told_with_what_to_do(here, task):
    os.unlink(ledger_of(here))
    done = here("doctor")
    assert done.status == 1
    shown = done.out.decode()
    assert "problem ledger: there is none at" in shown
    assert f"\n        -> contextspindle init {here.folder}\n" in shown
    assert shown.splitlines()[-1].startswith("1 problem, ")


def test_a_deep_look_does_what_verify_does(here, task):
    here("remember", "the parser is slow")
    assert [one.state for one in looked("ledger", deep=True)] == [OK, OK]
    assert [one.state for one in looked("memory", deep=True)] == [OK, OK]
    with by_hand(ledger_of(here)) as raw:
        raw.execute("UPDATE tasks SET owner = 'nobody'")
    assert problems("ledger") == []
    (found,) = problems("ledger", deep=True)
    assert task in found
    assert "contextspindle verify" in found


# -- where it is not


def test_outside_of_a_workspace_it_says_so_and_what_would_be_done(command, monkeypatch):
    monkeypatch.chdir(command.folder)
    (found,) = looked("workspace")
    assert found.state == NOTE
    assert f"There is no workspace in {command.folder}" in found.what
    assert f"makes one in {command.folder}" in found.do
    assert problems() == []
    assert os.listdir(command.folder) == []


def test_it_says_how_the_workspace_was_found(here, monkeypatch):
    def why(named=""):
        return looked("workspace", named=named)[0].what.partition(": ")[2]

    assert why() == "the current folder"
    assert why(str(here.folder)) == "named with --workspace"
    below = here.folder / "src"
    below.mkdir()
    monkeypatch.chdir(below)
    assert why() == f"the nearest above {below}"
    monkeypatch.setenv("CONTEXTSPINDLE_WORKSPACE", str(here.folder))
    assert why() == "named by CONTEXTSPINDLE_WORKSPACE"


def test_a_workspace_that_is_named_and_not_there_is_said(here):
    (found,) = looked("workspace", named="/does/not/exist")
    assert (found.state, found.do) == (NOTE, "contextspindle init /does/not/exist")


@pytest.mark.parametrize("spoiled", ["garbage", "torn", "empty", "index"])
def test_a_damaged_ledger_is_a_finding(here, task, spoiled):
    find().store().scrub() if spoiled == "torn" else None
    path = ledger_of(here)
    if spoiled == "index":
        with by_hand(path) as raw:
            (page,) = raw.execute(
                "SELECT rootpage FROM sqlite_master WHERE name = 'changes'"
            ).fetchone()
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        whole = bytearray(path.read_bytes())
        whole[(page - 1) * 4096 : (page - 1) * 4096 + 200] = b"\xff" * 200
        path.write_bytes(whole)
    else:
        shapes = {"garbage": b"x" * 9_000, "torn": path.read_bytes()[:5_000], "empty": b""}
        for side in ("-wal", "-shm"):
            if os.path.exists(f"{path}{side}"):
                os.unlink(f"{path}{side}")
        path.write_bytes(shapes[spoiled])
    found = problems("ledger")
    assert found
    assert all("restore" in one for one in found)
    done = here("doctor", "--json")
    assert (done.status, done.err) == (1, b"")


def test_a_newer_schema_is_named_and_an_older_one_is_not_migrated(here, task):
    def schema(number):
        with by_hand(ledger_of(here)) as raw:
            raw.execute(f"PRAGMA user_version={number}")

    schema(99)
    assert "Upgrade" in problems("ledger")[0]
    assert "schema 99" in problems("ledger")[0]
    schema(1)
    (found,) = looked("ledger", deep=True)
    assert (found.state, "brings it up to date" in found.do) == (NOTE, True)
    with by_hand(ledger_of(here)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (1,)


def test_a_damaged_memory_is_told_with_its_own_remedy(here):
    here("remember", "x")
    path = here.folder / ".continuum" / "memory.sqlite3"
    path.write_bytes(b"x" * 9_000)
    assert "memory rebuild" in problems("memory")[0]
    assert problems("ledger") == []


def test_settings_that_cannot_be_read_do_not_hide_the_rest(here, monkeypatch):
    settings = here.folder / ".contextspindle" / "config.json"
    settings.write_text("{")
    (found,) = problems("settings")
    assert str(settings) in found
    for named in ("", str(here.folder)):
        assert [one.state for one in looked("ledger", named=named)] == [OK]
    monkeypatch.setenv("CONTEXTSPINDLE_FUSE_BUDGET", "many")
    assert "CONTEXTSPINDLE_FUSE_BUDGET" in problems("settings")[0]


def test_without_a_home_folder_it_reports(here):
    for env in ({"HOME": "/does/not/exist"}, {"HOME": ""}):
        done = here("doctor", "--json", env=env)
        assert (done.status, done.err) == (0, b"")


def test_a_folder_that_is_gone_is_told(command):
    gone = command.folder / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", f"rmdir '{gone}'; exec '{command.path}' doctor --json"],
        cwd=gone,
        env=command.environment,
        capture_output=True,
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    found = json.loads(done.stdout)["data"]["findings"]
    assert found[0]["what"].startswith("The current folder does not exist")


def test_a_folder_that_others_may_enter_is_told(here):
    folder = here.folder / ".contextspindle"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    (found,) = [one for one in looked("disk") if one.state == NOTE]
    assert found.do == f"chmod 700 {folder}"


def test_what_came_with_the_repository_is_told(here, git):
    git("init")
    git("add", "-f", ".contextspindle/.gitignore")
    assert "init" in problems("workspace")[0]
    assert "--accept" in problems("workspace")[0]


def test_a_link_in_the_place_of_a_workspace_is_told(command, monkeypatch):
    monkeypatch.chdir(command.folder)
    (command.folder / ".contextspindle").symlink_to("/")
    assert "symbolic link" in problems("workspace")[0]


def test_a_look_that_fails_in_a_way_that_nobody_foresaw_is_a_finding_too(here):
    folder = here.folder / ".contextspindle" / "tasks"
    shutil.rmtree(folder)
    folder.write_text("no folder")
    assert [one.area for one in looked() if one.state == PROBLEM] == ["ledger"]
    find().snapshots().append({"v": 1, "session": "s", "at": 1_000, "draft": 5})
    (found,) = problems("sessions")
    assert "could not be looked at: TypeError" in found
    assert looked("versions") != []


# -- servers, sessions, incidents


def test_servers_are_told_with_the_file_that_holds_them(here, home):
    assert [one.what.partition(" ")[0] for one in looked("server")] == ["no"]
    for words in (("claude-code", "--shared"), ("codex",)):
        assert here("setup", *words, "--mcp", "--write").status == 0
    reads = tuple(one["name"] for one in here("mcp", "--json").data["tools"] if one["reads"])
    found = looked("server", reads=reads)
    assert [one.state for one in found] == [OK] * 4
    assert str(here.folder / ".mcp.json") in found[0].what
    rewritten(
        here.folder / ".mcp.json",
        lambda one: one["mcpServers"]["contextspindle"].update(command="/elsewhere/contextspindle"),
    )
    (home / ".codex" / "config.toml").write_text("[mcp_servers")
    first, second = problems("server", reads=reads)
    assert "setup claude-code --mcp --shared --write" in first
    assert str(home / ".codex" / "config.toml") in second


def test_a_server_that_is_switched_off_is_told(here, home):
    here("setup", "droid", "--mcp", "--write")
    path = home / ".factory" / "mcp.json"
    rewritten(path, lambda one: one["mcpServers"]["contextspindle"].update(disabled=True))
    (found,) = looked("server")
    assert (found.state, str(path) in found.what) == (NOTE, True)
    assert 'switched off in it, by "disabled": true' in found.what


def test_a_save_without_a_restore_behind_it_is_told(here):
    space = find()
    draft = {"v": 1, "session": "s", "harness": "claude-code", "cwd": "", "trigger": "auto"}
    space.snapshots().append({**draft, "at": 1_000_000})
    (found,) = looked("sessions")
    assert (found.state, "--canary" in found.do) == (NOTE, True)
    space.handed().add(2_000_000, "compact", session="s", bytes="300")
    (found,) = looked("sessions")
    assert (found.state, "handed 300 bytes" in found.what) == (OK, True)


def test_incidents_are_told_once_each_with_what_their_error_advises(here):
    from contextspindle.workspace import now

    incidents = find().incidents()
    incidents.add(1_000, "save: long ago [STORE_FULL]")
    for _ in range(3):
        incidents.add(now(), "save: the disk is full [STORE_FULL]")
    incidents.add(now(), "hook: it took longer than 4.5 s [TimeoutError]")
    late, full = sorted(looked("incidents"), key=lambda one: one.what)
    assert "slow" in late.do
    assert "3 times" in full.what
    assert "Free some space" in full.do


def test_the_versions_are_told(here):
    from contextspindle import __version__

    said = looked("versions")[0].what
    assert f"contextspindle {__version__}, Python 3." in said
    assert "FTS5" in said


def test_a_file_system_without_shared_memory_is_no_place_for_this_journal(here):
    def on(kind, root):
        return surroundings.on_file_system(str(root / ".contextspindle"), kind).state

    assert on("ext4", here.folder) == OK
    assert on("nfs4", here.folder) == PROBLEM
    other = here.folder / "other"
    other.mkdir()
    Workspace(str(other), find().settings._replace(journal="rollback")).make()
    assert on("nfs4", other) == OK
