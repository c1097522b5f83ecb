"""What a workspace is not trusted with: links, folders of others, what came with a repository."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from contextspindle import gitfiles, workspace
from contextspindle.config import Settings
from contextspindle.core.change import Request
from contextspindle.errors import WorkspaceRefused
from contextspindle.workspace import FOLDER

SOMEBODY = 65534

as_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can give a folder to another user"
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=str(tmp_path), state=str(tmp_path / "state"), temporary=("/nowhere",))


@pytest.fixture
def project(tmp_path: Path, settings: Settings) -> Path:
    """A folder with a workspace."""
    return made(tmp_path / "project", settings)


def made(root: Path, settings: Settings) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    workspace.place_to_make(str(root), settings=settings).make()
    return root


# -- links


@pytest.mark.parametrize("linked", ["", "tasks", "tasks/ledger.sqlite3"])
def test_a_symbolic_link_in_the_ledgers_path_is_refused_and_its_target_untouched(
    tmp_path, settings, project, linked, ledger_of
):
    victim = made(tmp_path / "victim", settings)
    theirs = ledger_of(workspace.find(str(victim), settings=settings))
    task = theirs.create(Request(set={"goal": "the victim's"})).task
    theirs._store.close()
    target = victim / FOLDER / linked
    link = project / FOLDER / linked
    os.rename(link, tmp_path / "moved away")
    link.symlink_to(target)
    before = {p: p.read_bytes() for p in (victim / FOLDER).rglob("*") if p.is_file()}

    def ledger():
        return ledger_of(workspace.find(start=str(project), settings=settings))

    for attempt in (
        lambda: ledger().inbox(),
        lambda: ledger().update(task.id, Request(notes=("mine",))),
        lambda: made(project, settings),
    ):
        with pytest.raises(WorkspaceRefused) as caught:
            attempt()
        assert f"{link} is a symbolic link" in caught.value.message
    assert {p: p.read_bytes() for p in (victim / FOLDER).rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("name", ["tasks/ledger.sqlite3.lock", ".gitignore"])
def test_a_dangling_link_in_place_of_a_file_to_be_made_creates_nothing_elsewhere(
    tmp_path, settings, project, name
):
    link = project / FOLDER / name
    link.unlink()
    link.symlink_to(tmp_path / "made by mistake")
    with pytest.raises(WorkspaceRefused):
        made(project, settings)
    assert not (tmp_path / "made by mistake").exists()


def test_a_writer_takes_no_lock_through_a_link(tmp_path, settings, project, ledger_of):
    link = project / FOLDER / "tasks" / "ledger.sqlite3.lock"
    link.unlink()
    link.symlink_to(tmp_path / "made by mistake")
    ledger = ledger_of(workspace.find(str(project), settings=settings))
    with pytest.raises(WorkspaceRefused):
        ledger.create(Request(set={"goal": "g"}))
    assert not (tmp_path / "made by mistake").exists()


@pytest.mark.parametrize("name", ["fuse", "fuse/ledger.jsonl", "fuse/ledger.jsonl.lock"])
def test_a_symbolic_link_in_the_snapshot_logs_path_is_refused(tmp_path, settings, project, name):
    target = tmp_path / "target"
    link = project / FOLDER / name
    if name == "fuse":
        target.mkdir()
    else:
        link.parent.mkdir()
    link.symlink_to(target)
    log = workspace.find(str(project), settings=settings).snapshots()
    with pytest.raises(WorkspaceRefused):
        log.append({"session": "s", "at": 1})
    if not name.endswith(".lock"):
        for attempt in (lambda: log.prune(2), log.newest, lambda: list(log.all())):
            with pytest.raises(WorkspaceRefused):
                attempt()
    assert list(target.iterdir()) == [] if name == "fuse" else not target.exists()


@pytest.mark.parametrize("folder", [True, False])
def test_a_link_to_a_log_is_not_put_aside_by_letting_snapshots_go(
    tmp_path, settings, project, folder
):
    space = workspace.find(str(project), settings=settings)
    for at in range(3):
        space.snapshots().append({"session": "s", "at": at})
    link = project / FOLDER / "fuse" / ("" if folder else "ledger.jsonl")
    target = tmp_path / "target"
    link.rename(target)
    link.symlink_to(target)
    log = target / "ledger.jsonl" if folder else target
    before = log.read_bytes()
    with pytest.raises(WorkspaceRefused):
        space.snapshots().prune(9)
    assert (link.is_symlink(), log.read_bytes()) == (True, before)


def test_a_canary_is_given_out_through_no_link(tmp_path, settings, project):
    canary = workspace.find(str(project), settings=settings).canary()
    canary.arm("word", 1)
    link = project / FOLDER / "canary.json"
    target = tmp_path / "target"
    link.rename(target)
    link.symlink_to(target)
    before = target.read_bytes()
    canary.given(2, "s", "claude-code", "")
    with pytest.raises(WorkspaceRefused):
        canary.arm("another", 3)
    assert (link.is_symlink(), target.read_bytes()) == (True, before)


def test_incidents_are_never_written_through_a_link(tmp_path, settings, project):
    (project / FOLDER / "incidents.jsonl").symlink_to(tmp_path / "target")
    workspace.find(str(project), settings=settings).incidents().add(1, "something")
    assert not (tmp_path / "target").exists()


# -- other users


@as_root
def test_a_workspace_in_a_folder_of_another_user_is_refused_and_named(settings, project):
    (project / "sub").mkdir()
    os.chown(project, SOMEBODY, SOMEBODY)
    for start in (project, project / "sub"):
        with pytest.raises(WorkspaceRefused, match=f"{project} belongs to another user"):
            workspace.find(start=str(start), settings=settings)
    assert workspace.find(str(project), settings=settings).root == str(project)


@as_root
def test_a_workspace_that_another_user_put_into_a_shared_folder_is_refused(settings, project):
    os.chmod(project, 0o1777)
    os.chown(project / FOLDER, SOMEBODY, SOMEBODY)
    with pytest.raises(WorkspaceRefused, match="belongs to another user"):
        workspace.find(start=str(project), settings=settings)
    assert workspace.find(str(project), settings=settings).root == str(project)


@as_root
def test_a_folder_of_another_user_ends_the_way_up(settings, project):
    (project / "theirs" / "mine").mkdir(parents=True)
    os.chown(project / "theirs", SOMEBODY, SOMEBODY)
    with pytest.raises(workspace.WorkspaceNotFound, match=f"up to {project / 'theirs'}") as caught:
        workspace.find(start=str(project / "theirs" / "mine"), settings=settings)
    assert str(project) not in caught.value.hint


@as_root
def test_a_main_worktree_of_another_user_is_refused(tmp_path, settings, project, git):
    linked = tmp_path / "linked"
    git("init", project)
    git("-C", project, "commit", "--allow-empty", "-m", "x")
    git("-C", project, "worktree", "add", linked)
    os.chown(project, SOMEBODY, SOMEBODY)
    with pytest.raises(WorkspaceRefused, match=f"{project} belongs to another user"):
        workspace.find(start=str(linked), settings=settings)


# -- what a repository brought


def test_an_untracked_workspace_needs_no_accepting(settings, project, git):
    git("init", project)
    assert not gitfiles.tracked(str(project / FOLDER))
    assert workspace.find(str(project), settings=settings).accepted()


def test_a_tracked_workspace_is_not_accepted_until_the_user_says_so(
    tmp_path, settings, project, git
):
    git("init", project)
    git("-C", project, "add", "-f", FOLDER)
    place = workspace.find(str(project), settings=settings)
    assert not place.accepted()
    record = Path(place.accept())
    assert place.accepted()
    assert record.is_relative_to(settings.state)
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    place.accept()
    assert record.read_text() == f"{project / FOLDER}\n"
    other = made(tmp_path / "other", settings)
    git("init", other)
    git("-C", other, "add", "-f", FOLDER)
    assert not workspace.find(str(other), settings=settings).accepted()


@pytest.mark.parametrize("objects", ["sha1", "sha256"])
@pytest.mark.parametrize(
    "form", ["--index-version 2", "--index-version 3", "--index-version 4", "--split-index"]
)
def test_every_form_of_the_index_tells_a_tracked_workspace(settings, project, git, form, objects):
    git("init", f"--object-format={objects}", project)
    # Neighbours in the order of the index, so that version 4 stores least of our folder's name.
    for name in ("a file", ".contextspindl", ".contextspindle-x", "x" * 250, "y" * 250):
        (project / name).write_text("x")
    git("-C", project, "add", ".")
    git("-C", project, "add", "--intent-to-add", "-f", FOLDER)
    git("-C", project, "update-index", *form.split())
    assert gitfiles.tracked(str(project / FOLDER))
    git("-C", project, "rm", "--cached", "-r", "-q", "-f", FOLDER)
    assert form == "--split-index" or not gitfiles.tracked(str(project / FOLDER))


def test_a_git_index_that_cannot_be_read_counts_as_one_that_tracks(settings, project, git):
    git("init", project)
    (project / ".git" / "index").write_bytes(b"DIRC\0\0\0\4\0\0\0\xff")
    assert gitfiles.tracked(str(project / FOLDER))


def test_a_workspace_that_came_as_a_submodule_is_a_tracked_one(tmp_path, settings, project, git):
    parts, clone = tmp_path / "parts", tmp_path / "clone"
    git("init", parts)
    (parts / "tasks").mkdir()
    (parts / "tasks" / "ledger.sqlite3").write_text("anything")
    git("-C", parts, "add", "-f", ".")
    git("-C", parts, "commit", "-m", "x")
    git("init", tmp_path / "lure")
    git("-C", tmp_path / "lure", "submodule", "add", parts, FOLDER)
    git("-C", tmp_path / "lure", "commit", "-m", "x")
    git("clone", "--recurse-submodules", tmp_path / "lure", clone)
    assert (clone / FOLDER / "tasks" / "ledger.sqlite3").is_file()
    assert gitfiles.tracked(str(clone / FOLDER))


def test_another_spelling_of_the_folder_is_tracked_too(settings, project, git):
    """A file system that does not tell cases apart shows it under our name."""
    git("init", project)
    (project / ".ContextSpindle").mkdir()
    (project / ".ContextSpindle" / "x").write_text("x")
    git("-C", project, "add", "-f", ".ContextSpindle")
    assert gitfiles.tracked(str(project / FOLDER))


def test_a_workspace_below_the_top_and_in_a_linked_worktree_is_found_tracked(
    tmp_path, settings, project, git
):
    git("init", project)
    below = made(project / "packages" / "shop", settings)
    git("-C", project, "add", "-f", "packages")
    git("-C", project, "commit", "-m", "x")
    git("-C", project, "worktree", "add", tmp_path / "linked")
    assert gitfiles.tracked(str(below / FOLDER))
    assert gitfiles.tracked(str(tmp_path / "linked" / "packages" / "shop" / FOLDER))


def test_accepting_one_workspace_accepts_no_other_whatever_its_name_holds(tmp_path, settings, git):
    target = made(tmp_path / "b", settings)
    lure = made(Path(f"{tmp_path}/a\n{tmp_path}/b"), settings)
    for root in (target, lure):
        git("init", root)
        git("-C", root, "add", "-f", FOLDER)
    place = workspace.find(str(lure), settings=settings)
    place.accept()
    assert place.accepted()
    assert not workspace.find(str(target), settings=settings).accepted()


def test_without_a_home_a_tracked_workspace_cannot_be_accepted(settings, project, git):
    git("init", project)
    git("-C", project, "add", "-f", FOLDER)
    place = workspace.find(str(project), settings=settings._replace(home="", state=""))
    assert not place.accepted()
    with pytest.raises(WorkspaceRefused, match="no home folder"):
        place.accept()
