"""Places of every kind: odd paths, no home, read-only, other journals, and where a hook writes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
from pathlib import Path

import pytest

from contextspindle import places, workspace
from contextspindle.config import Settings
from contextspindle.errors import StoreError, WorkspaceNotFound, WorkspaceRefused
from contextspindle.workspace import FOLDER


@pytest.fixture
def settings(home: Path, tmp_path: Path) -> Settings:
    (tmp_path / "temporary").mkdir()
    return Settings(
        home=str(home), state=str(home / "state"), temporary=(str(tmp_path / "temporary"),)
    )


def modes(top: Path) -> dict[str, int]:
    return {str(p.relative_to(top)): stat.S_IMODE(p.lstat().st_mode) for p in top.rglob("*")}


# -- what a hook makes


def test_a_hook_makes_the_workspace_at_the_top_of_the_checkout(tmp_path, settings, git, ledger_of):
    git("init", tmp_path / "checkout")
    (tmp_path / "checkout" / "src").mkdir()
    place = workspace.for_fuse(start=str(tmp_path / "checkout/src"), settings=settings, make=True)
    assert place.root == str(tmp_path / "checkout")
    assert ledger_of(place).inbox().total == 0


def test_a_hook_makes_the_workspace_in_the_sessions_folder_outside_a_checkout(tmp_path, settings):
    (tmp_path / "plain").mkdir()
    place = workspace.for_fuse(start=str(tmp_path / "plain"), settings=settings, make=True)
    assert place.root == str(tmp_path / "plain")
    assert (tmp_path / "plain" / FOLDER / ".gitignore").read_text() == "*\n"


def test_a_hook_uses_the_workspace_that_is_there(tmp_path, settings):
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    workspace.place_to_make(str(tmp_path / "outer"), settings=settings).make()
    place = workspace.for_fuse(start=str(tmp_path / "outer/inner"), settings=settings, make=True)
    assert place.root == str(tmp_path / "outer")
    assert not (tmp_path / "outer" / "inner" / FOLDER).exists()


def test_a_hook_makes_the_workspace_where_it_was_named(tmp_path, settings):
    for name in ("by argument", "by environment"):
        (tmp_path / name).mkdir()
    named = str(tmp_path / "by argument")
    told = settings._replace(workspace=str(tmp_path / "by environment"))
    assert workspace.for_fuse(named, settings=told, make=True).root == named
    assert workspace.for_fuse(start="/", settings=told, make=True).root == told.workspace


# -- where a session has gone to another checkout


@pytest.fixture
def library(tmp_path, git):
    """A checkout within the checkout ``project``."""
    git("init", tmp_path / "project")
    git("init", tmp_path / "project" / "vendor" / "library")
    return tmp_path / "project" / "vendor" / "library"


@pytest.mark.parametrize("there_already", [True, False])
def test_a_session_keeps_to_its_programs_project_in_a_checkout_within(
    tmp_path, settings, library, there_already
):
    told = settings._replace(projects=(str(tmp_path / "project"),))
    if there_already:
        workspace.place_to_make(str(tmp_path / "project"), settings=settings).make()
    place = workspace.for_fuse(start=str(library), settings=told, make=True)
    assert place.root == str(tmp_path / "project")
    assert workspace.for_fuse(start=str(library), settings=told).root == place.root
    assert places.of_session("", str(library), told) == place.root
    assert not (library / FOLDER).exists()


def test_the_project_is_found_under_another_spelling_and_from_its_own_folder(
    tmp_path, settings, library
):
    (tmp_path / "alias").symlink_to(tmp_path / "project")
    told = settings._replace(projects=(f"{tmp_path}/alias/",))
    for start in (library, tmp_path / "project", tmp_path / "alias" / "vendor"):
        place = workspace.for_fuse(start=str(start), settings=told, make=True)
        assert place.root == str(tmp_path / "project")


@pytest.mark.parametrize("kind", ["beside", "home", "root", "temporary", "foreign", "absent"])
def test_a_project_that_cannot_be_the_sessions_decides_nothing(home, tmp_path, settings, git, kind):
    places_of = {"home": home, "root": Path("/"), "temporary": Path(settings.temporary[0])}
    project = places_of.get(kind, tmp_path / "other")
    if kind in ("beside", "foreign"):
        project.mkdir()
    if kind == "foreign":
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder to another user")
        os.chown(project, 65534, 65534)
    inside = tmp_path / "otherwise" if kind == "beside" else project / "a" / "checkout"
    if kind == "root":
        inside = tmp_path / "a" / "checkout"
    git("init", inside)
    told = settings._replace(projects=(str(project) if kind != "absent" else "/nowhere",))
    assert workspace.for_fuse(start=str(inside), settings=told, make=True).root == str(inside)


def test_a_workspace_that_was_named_wins_over_the_project(tmp_path, settings, library):
    (tmp_path / "named").mkdir()
    told = settings._replace(projects=(str(tmp_path / "project"),))
    place = workspace.for_fuse(
        str(tmp_path / "named"), start=str(library), settings=told, make=True
    )
    assert place.root == str(tmp_path / "named")


def test_the_project_says_nothing_about_commands(tmp_path, settings, library):
    told = settings._replace(projects=(str(tmp_path / "project"),))
    workspace.place_to_make(str(tmp_path / "project"), settings=told).make()
    with pytest.raises(WorkspaceNotFound) as caught:
        workspace.find(start=str(library), settings=told)
    # Whoever follows the usual advice there has two ledgers from then on.
    assert f"up to {library}" in caught.value.message or str(library) in caught.value.message
    assert f"{tmp_path / 'project'}, has one: name it with --workspace" in caught.value.hint
    assert "contextspindle init" in caught.value.hint
    assert workspace.place_to_make(start=str(library), settings=told).root == str(library)


def test_no_workspace_above_a_checkout_is_named_that_could_not_be_meant(home, settings, git):
    workspace.place_to_make(str(home), settings=settings).make()
    git("init", home / "checkout")
    with pytest.raises(WorkspaceNotFound) as caught:
        workspace.find(start=str(home / "checkout"), settings=settings)
    assert "--workspace DIR" in caught.value.hint


# -- where a hook makes none


@pytest.mark.parametrize("kind", ["home", "root", "temporary", "foreign"])
def test_a_hook_makes_none_in_an_unwelcome_place_but_one_for_it_in_the_state_folder(
    home, tmp_path, settings, kind
):
    places = {"home": home, "root": Path("/"), "temporary": tmp_path / "temporary"}
    if kind == "foreign":
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder to another user")
        places["foreign"] = tmp_path / "theirs"
        places["foreign"].mkdir()
        os.chown(places["foreign"], 65534, 65534)
    start = str(places[kind])
    with pytest.raises(WorkspaceNotFound):
        workspace.for_fuse(start=start, settings=settings)
    made = workspace.for_fuse(start=start, settings=settings, make=True)
    assert Path(made.root).parent == home / "state" / "places"
    assert not (places[kind] / FOLDER).exists()
    assert workspace.for_fuse(start=start, settings=settings).root == made.root
    assert set(modes(home / "state").values()) <= {0o700, 0o600}


def test_two_unwelcome_places_have_two_workspaces(home, tmp_path, settings):
    roots = {
        workspace.for_fuse(start=start, settings=settings, make=True).root
        for start in (str(home), str(tmp_path / "temporary"))
    }
    assert len(roots) == 2


def test_without_a_state_folder_the_refusal_says_what_to_set(tmp_path, settings):
    bare = settings._replace(home="", state="")
    with pytest.raises(WorkspaceRefused) as caught:
        workspace.for_fuse(start=str(tmp_path / "temporary"), settings=bare, make=True)
    assert "CONTEXTSPINDLE_WORKSPACE" in caught.value.hint


def test_a_state_folder_that_cannot_be_made_is_an_error_on_purpose(home, tmp_path, settings):
    (home / "state").write_text("a file")
    with pytest.raises(StoreError, match=str(home / "state")):
        workspace.for_fuse(start=str(tmp_path / "temporary"), settings=settings, make=True)


# -- modes


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_every_folder_is_0700_and_every_file_0600_whatever_the_umask(command, umask):
    def run(*words: str) -> None:
        subprocess.run(
            [command.path, *words],
            cwd=command.folder,
            env=command.environment,
            umask=umask,
            check=True,
            capture_output=True,
        )

    run("init")
    run("task", "create", "a goal")
    transcript = command.folder / "transcript.jsonl"
    transcript.write_text('{"role":"user","content":"Ship it"}\n')
    run("fuse", "save", "--transcript", str(transcript), "--session", "s")
    incidents = command.folder / FOLDER / "incidents.jsonl"
    before = os.umask(umask)
    try:
        workspace.Workspace(str(command.folder), Settings()).incidents().add(1, "something")
    finally:
        os.umask(before)
    found = modes(command.folder)
    assert {
        name: mode
        for name, mode in found.items()
        if name.startswith(FOLDER)
        and mode != (0o700 if (command.folder / name).is_dir() else 0o600)
    } == {}
    ledger = f"{FOLDER}/tasks/ledger.sqlite3"
    for name in ("", "-wal", "-shm", ".lock"):
        assert ledger + name in found
    assert {f"{FOLDER}/fuse/ledger.jsonl", f"{FOLDER}/fuse/ledger.jsonl.lock"} <= found.keys()
    assert incidents.exists()


# -- homes


@pytest.mark.parametrize("home_is", [None, "", "/does/not/exist", "relative"])
def test_the_command_works_without_a_home(command, home_is):
    del command.environment["HOME"], command.environment["XDG_STATE_HOME"]
    env = {} if home_is is None else {"HOME": home_is}
    assert command("init", env=env).status == 0
    task = command("task", "create", "a goal", "--quiet", env=env).out.decode().strip()
    assert command("task", "inbox", "--quiet", env=env).out.decode() == f"{task}\n"


# -- paths

ODD = [
    "with space",
    "ünïcödé 日本 🧵",
    "per%cent%41 ?query#hash&x=1",
    "quote' \" back\\slash",
    "line\nfeed",
    "line\u2028separator",
    "‮right to left",
    "-dash",
    "~tilde",
    "x" * 200,
]


@pytest.mark.parametrize("name", ODD)
def test_a_workspace_works_whatever_its_path_holds(command, name):
    folder = command.folder / name
    folder.mkdir()
    assert command("init", cwd=folder).status == 0
    task = command("task", "create", "a goal", "--quiet", cwd=folder).out.decode().strip()
    assert command("task", "show", task, "--json", cwd=folder).data["goal"] == "a goal"
    named = command("task", "list", f"--workspace={folder}", "--json", cwd=Path("/"))
    assert [one["id"] for one in named.data["tasks"]] == [task]
    assert command("init", "--json", cwd=folder).data["root"] == str(folder)


def test_a_workspace_works_in_a_folder_whose_name_is_not_utf8(command):
    folder = os.fsencode(command.folder) + b"/not \xff utf-8"
    os.mkdir(folder)
    inside = Path(os.fsdecode(folder))
    assert command("init", cwd=inside).status == 0
    task = command("task", "create", "a goal", "--quiet", cwd=inside).out.decode().strip()
    assert command("task", "show", task, "--json", cwd=inside).data["goal"] == "a goal"
    by_environment = command(
        "task", "list", "--quiet", cwd=Path("/"), env={"CONTEXTSPINDLE_WORKSPACE": str(inside)}
    )
    assert by_environment.out.decode() == f"{task}\n"
    assert command("init", "--json", cwd=inside).data["wrote"] == []


# -- file systems


def test_a_rollback_journal_serves_where_it_is_set(command):
    env = {"CONTEXTSPINDLE_JOURNAL": "rollback"}
    assert command("init", "--json", env=env).data["journal"] == "rollback"
    assert "journal: rollback, as set\n" in command("init", env=env).out.decode()
    task = command("task", "create", "a goal", "--quiet").out.decode().strip()
    assert command("task", "update", task, "--note", "n").status == 0
    assert command("task", "show", task, "--json").data["version"] == 2
    ledger = command.folder / FOLDER / "tasks" / "ledger.sqlite3"
    # https://www.sqlite.org/fileformat.html: 1 is a rollback journal, 2 a write-ahead log.
    assert ledger.read_bytes()[18:20] == b"\1\1"
    assert {path.name for path in ledger.parent.iterdir()} == {
        "ledger.sqlite3",
        "ledger.sqlite3.lock",
    }


def test_the_journal_can_be_set_in_the_settings_file_before_the_ledger_is_made(command):
    (command.folder / FOLDER).mkdir()
    (command.folder / FOLDER / "config.json").write_text('{"journal": "rollback"}')
    assert command("init", "--json").data["journal"] == "rollback"


def test_an_ordinary_disk_has_a_write_ahead_log(command):
    assert command("init", "--json").data["journal"] == "wal"
    assert "journal" not in command("init").out.decode()


@pytest.fixture
def read_only(command):
    """Run the command while its project is mounted read-only."""
    unshare = shutil.which("unshare")
    namespace = [unshare, "-m"] if os.geteuid() == 0 else [unshare, "-rm"]
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && '

    def in_it(shell: str, *words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*namespace, "sh", "-c", mount + shell, str(command.folder), *words],
            env={**command.environment, "PATH": os.environ["PATH"]},
            capture_output=True,
        )

    if not unshare or in_it("true").returncode:
        pytest.skip("needs a mount namespace (unshare -m) to mount a folder read-only")
    assert in_it("touch here").returncode != 0
    return lambda *words: in_it('exec "$@"', command.path, *words)


@pytest.mark.parametrize("journal", ["wal", "wal, folded back", "rollback"])
def test_a_read_only_workspace_can_be_read_and_says_so_when_written(command, read_only, journal):
    env = {"CONTEXTSPINDLE_JOURNAL": journal.split(",")[0]}
    assert command("init", env=env).status == 0
    task = command("task", "create", "a goal", "--quiet").out.decode().strip()
    if journal == "wal, folded back":
        connection = sqlite3.connect(command.folder / FOLDER / "tasks" / "ledger.sqlite3")
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        connection.close()
        assert not list(command.folder.glob("**/*-wal"))
    for words in (("list",), ("show", task), ("context", task), ("inbox",), ("history", task)):
        done = read_only("task", *words)
        assert (done.returncode, done.stderr) == (0, b"")
        assert task.encode() in done.stdout or words[0] == "history"
    for words in (("create", "x"), ("update", task, "--note", "x")):
        done = read_only("task", *words, "--json")
        assert done.returncode == 7
        assert b'"code":"STORE_READ_ONLY"' in done.stderr
        assert done.stdout == b""
    assert command("task", "list", "--json").data["total"] == 1
    assert command("task", "show", task, "--json").data["version"] == 1


def test_init_in_a_read_only_folder_says_so(read_only):
    done = read_only("init", "--json")
    assert done.returncode == 7
    assert b'"code":"STORE_READ_ONLY"' in done.stderr


def test_the_doctor_of_a_read_only_workspace_says_what_that_means(command, read_only):
    assert command("init").status == 0
    task = command("task", "create", "a goal", "--quiet").out.decode().strip()
    done = read_only("doctor")
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"problem disk: " in done.stdout
    assert b"cannot be written: reading goes on" in done.stdout
    assert b"ok      ledger: 1 task, " in done.stdout
    assert task.encode() in read_only("prime").stdout
