"""The resolver: which workspace a command uses, how one is made, and that looking makes nothing."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from contextspindle import workspace
from contextspindle.config import Settings
from contextspindle.core.change import Request
from contextspindle.errors import SpindleError, WorkspaceNotFound
from contextspindle.workspace import FOLDER


@pytest.fixture
def settings(home: Path, tmp_path: Path) -> Settings:
    return Settings(home=str(home), state=str(tmp_path / "state"), temporary=("/nowhere",))


def made(root: Path, settings: Settings) -> Path:
    """A workspace at ``root``."""
    root.mkdir(parents=True, exist_ok=True)
    workspace.place_to_make(str(root), settings=settings).make()
    return root


def found(start: Path, settings: Settings) -> Path:
    return Path(workspace.find(start=str(start), settings=settings).root)


def tree(top: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything below ``top``: mode, modification time and content of each entry."""
    entries = {}
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            path = Path(folder, name)
            at = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(at.st_mode) else b""
            entries[str(path)] = (at.st_mode, at.st_mtime_ns, content)
    return entries


# -- the nearest


def test_the_nearest_ancestor_with_a_workspace_is_used(home, settings):
    outer = made(home / "outer", settings)
    inner = made(outer / "inner", settings)
    (inner / "a" / "b").mkdir(parents=True)
    (outer / "other").mkdir()
    assert found(inner / "a" / "b", settings) == inner
    assert found(outer / "other", settings) == outer
    assert found(outer, settings) == outer


def test_without_a_workspace_the_error_says_where_it_looked_and_what_to_run(home, settings):
    (home / "a" / "b").mkdir(parents=True)
    with pytest.raises(WorkspaceNotFound) as caught:
        workspace.find(start=str(home / "a" / "b"), settings=settings)
    assert str(home / "a" / "b") in caught.value.message
    assert "contextspindle init" in caught.value.hint


def test_a_named_folder_wins_over_the_environment_and_the_environment_over_the_nearest(
    home, settings
):
    near, by_environment, named = (made(home / name, settings) for name in ("n", "e", "m"))
    told = settings._replace(workspace=str(by_environment))
    assert Path(workspace.find(start=str(near), settings=told).root) == by_environment
    assert Path(workspace.find(str(named), start=str(near), settings=told).root) == named


def test_a_named_folder_is_honoured_as_given_and_not_searched_upwards(home, settings):
    outer = made(home / "outer", settings)
    (outer / "inner").mkdir()
    with pytest.raises(WorkspaceNotFound) as caught:
        workspace.find(str(outer / "inner"), settings=settings)
    assert f"contextspindle init {outer / 'inner'}" in caught.value.hint


def test_the_folder_of_the_workspace_itself_may_be_named(home, settings):
    root = made(home / "shop", settings)
    assert Path(workspace.find(str(root / FOLDER), settings=settings).root) == root


def test_home_is_not_searched_from_below_but_is_from_itself(home, settings):
    made(home, settings)
    (home / "work").mkdir()
    with pytest.raises(WorkspaceNotFound):
        found(home / "work", settings)
    assert found(home, settings) == home


def test_the_way_up_ends_at_home_also_when_it_begins_there(home, settings):
    made(home, settings)
    (home / "person").mkdir()
    with pytest.raises(WorkspaceNotFound):
        found(home / "person", settings._replace(home=str(home / "person")))


def test_two_spellings_of_one_folder_are_one_workspace(home, settings):
    real = made(home / "real", settings)
    (real / "sub").mkdir()
    (home / "alias").symlink_to(real)
    assert found(home / "alias" / "sub", settings) == real
    assert Path(workspace.find(str(home / "alias"), settings=settings).root) == real
    assert Path(workspace.find(f"{home}/x/../real/", settings=settings).root) == real


def test_a_folder_that_is_gone_gives_an_error_on_purpose(home):
    program = (
        "import os, sys; from contextspindle import workspace\n"
        "os.rmdir(os.getcwd())\n"
        "for make in (workspace.find, workspace.place_to_make):\n"
        "    for named in ('', 'sub'):\n"
        "        try: make(named)\n"
        "        except workspace.WorkspaceNotFound as error: print(error.message)\n"
    )
    (home / "gone").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=home / "gone", capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout.count("The current folder does not exist") == 4


# -- git


def test_the_way_up_ends_at_the_top_of_the_git_checkout(home, settings, git):
    outer = made(home / "outer", settings)
    git("init", outer / "checkout")
    (outer / "checkout" / "src").mkdir()
    with pytest.raises(WorkspaceNotFound) as caught:
        found(outer / "checkout" / "src", settings)
    assert f"up to {outer / 'checkout'}" in caught.value.message
    made(outer / "checkout", settings)
    assert found(outer / "checkout" / "src", settings) == outer / "checkout"


def test_a_linked_worktree_uses_the_workspace_of_its_main_worktree(home, settings, git):
    main, linked = home / "main", home / "elsewhere" / "linked"
    git("init", main)
    git("-C", main, "commit", "--allow-empty", "-m", "x")
    git("-C", main, "worktree", "add", linked)
    (linked / "src").mkdir()
    with pytest.raises(WorkspaceNotFound):
        found(linked / "src", settings)
    made(main, settings)
    assert found(linked / "src", settings) == main
    assert workspace.place_to_make(start=str(linked / "src"), settings=settings).root == str(main)


def test_a_linked_worktree_with_a_tracked_workspace_of_its_own_still_uses_the_main_one(
    home, settings, git
):
    main, linked = home / "main", home / "linked"
    git("init", main)
    made(main, settings)
    git("-C", main, "add", "-f", FOLDER)
    git("-C", main, "commit", "-m", "x")
    git("-C", main, "worktree", "add", linked)
    assert (linked / FOLDER).is_dir()
    assert found(linked, settings) == main


def test_a_copy_of_a_workspace_in_a_linked_worktree_hides_none_of_the_main_one(home, settings, git):
    main, linked = home / "main", home / "linked"
    git("init", main)
    git("-C", main, "commit", "--allow-empty", "-m", "x")
    git("-C", main, "worktree", "add", linked)
    shutil.copytree(made(main, settings) / FOLDER, linked / FOLDER)
    assert found(linked, settings) == main


def test_a_copy_of_a_linked_worktree_stands_for_itself(home, settings, git):
    main, linked = home / "main", home / "linked"
    git("init", main)
    git("-C", main, "commit", "--allow-empty", "-m", "x")
    git("-C", main, "worktree", "add", linked)
    made(main, settings)
    shutil.copytree(linked, home / "copy")
    with pytest.raises(WorkspaceNotFound):
        found(home / "copy", settings)


@pytest.fixture
def bare(home, git):
    """A bare repository in a folder with two worktrees of it: ``feat`` and ``other``."""
    git("init", home / "origin")
    git("-C", home / "origin", "commit", "--allow-empty", "-m", "x")
    git("clone", "--bare", home / "origin", home / "shop" / ".bare")
    for name in ("feat", "other"):
        git("-C", home / "shop" / ".bare", "worktree", "add", home / "shop" / name, "-b", name)
    return home / "shop"


@pytest.mark.parametrize("pointed", [True, False], ids=["a .git file beside it", "nothing beside"])
def test_worktrees_of_a_bare_repository_share_a_workspace_that_outlives_each(
    home, settings, git, bare, pointed
):
    root = bare / ".bare"
    if pointed:
        root = bare
        (bare / ".git").write_text("gitdir: ./.bare\n")
    (bare / "feat" / "src").mkdir()
    made_in = workspace.place_to_make(start=str(bare / "feat" / "src"), settings=settings)
    assert made_in.root == str(root)
    made_in.make()
    for start in (bare / "feat" / "src", bare / "other", root):
        assert found(start, settings) == root
    git("-C", bare / ".bare", "worktree", "remove", bare / "feat")
    assert not (bare / "feat").exists()
    assert found(bare / "other", settings) == root


def test_a_hook_in_a_worktree_of_a_bare_repository_makes_what_all_of_them_share(settings, bare):
    place = workspace.for_fuse(start=str(bare / "feat"), settings=settings, make=True)
    assert place.root == str(bare / ".bare")
    assert workspace.for_fuse(start=str(bare / "other"), settings=settings).root == place.root
    assert not (bare / "feat" / FOLDER).exists()


def test_worktrees_within_the_bare_repository_share_what_is_in_it(home, settings, git, bare):
    git("clone", "--bare", home / "origin", bare / "second.git")
    git("-C", bare / "second.git", "worktree", "add", bare / "second.git" / "feat", "-b", "feat")
    workspace.place_to_make(start=str(bare / "second.git" / "feat"), settings=settings).make()
    assert found(bare / "second.git" / "feat", settings) == bare / "second.git"
    assert found(bare / "second.git", settings) == bare / "second.git"
    # Repositories that lie beside each other have nothing in common.
    with pytest.raises(WorkspaceNotFound):
        found(bare / "feat", settings)


def test_a_ledger_that_is_in_a_worktree_of_a_bare_repository_stays_in_use_there(settings, bare):
    made(bare / "feat", settings)
    assert found(bare / "feat", settings) == bare / "feat"
    assert workspace.place_to_make(start=str(bare / "other"), settings=settings).root == str(
        bare / ".bare"
    )
    made(bare / ".bare", settings)
    assert found(bare / "feat", settings) == bare / "feat"
    assert found(bare / "other", settings) == bare / ".bare"


def test_a_ledger_that_came_with_a_commit_hides_none_of_a_bare_repository(settings, git, bare):
    made(bare / "feat", settings)
    git("-C", bare / "feat", "add", "-f", FOLDER)
    assert found(bare / "feat", settings) == bare / "feat"
    made(bare / ".bare", settings)
    assert found(bare / "feat", settings) == bare / ".bare"


def test_settings_that_came_with_a_commit_begin_no_ledger_in_a_linked_worktree(settings, git, bare):
    for name in ("feat", "other"):
        (bare / name / FOLDER).mkdir()
        (bare / name / FOLDER / "config.json").write_text("{}")
        git("-C", bare / name, "add", "-f", FOLDER)
        with pytest.raises(WorkspaceNotFound):
            found(bare / name, settings)
    place = workspace.for_fuse(start=str(bare / "feat"), settings=settings, make=True)
    assert place.root == str(bare / ".bare")
    assert workspace.place_to_make(start=str(bare / "other"), settings=settings).root == place.root
    assert found(bare / "other", settings) == bare / ".bare"


def test_worktrees_of_a_submodule_share_the_workspace_of_its_checkout(home, settings, git):
    git("init", home / "origin")
    git("-C", home / "origin", "commit", "--allow-empty", "-m", "x")
    git("init", home / "outer")
    git("-C", home / "outer", "submodule", "add", home / "origin", "part")
    git("-C", home / "outer" / "part", "worktree", "add", home / "linked")
    place = workspace.place_to_make(start=str(home / "linked"), settings=settings)
    assert place.root == str(home / "outer" / "part")
    place.make()
    assert found(home / "linked", settings) == home / "outer" / "part"


def test_worktrees_of_a_repository_that_lies_apart_share_the_workspace_in_it(home, settings, git):
    git("init", "--separate-git-dir", home / "apart.git", home / "main")
    git("-C", home / "main", "commit", "--allow-empty", "-m", "x")
    git("-C", home / "main", "worktree", "add", home / "linked")
    place = workspace.place_to_make(start=str(home / "linked"), settings=settings)
    assert place.root == str(home / "apart.git")
    place.make()
    assert found(home / "linked", settings) == home / "apart.git"


def test_a_link_by_a_relative_path_is_followed(home, settings, git):
    git("init", home / "main")
    git("-C", home / "main", "commit", "--allow-empty", "-m", "x")
    git("-C", home / "main", "worktree", "add", home / "linked")
    # As git 2.48 writes it where worktree.useRelativePaths is set.
    (home / "linked" / ".git").write_text("gitdir: ../main/.git/worktrees/linked\n")
    back = home / "main" / ".git" / "worktrees" / "linked" / "gitdir"
    back.write_text("../../../../linked/.git\n")
    made(home / "main", settings)
    assert found(home / "linked", settings) == home / "main"


def test_a_submodule_stands_for_itself(home, settings, git):
    inner, outer = home / "inner", home / "outer"
    git("init", inner)
    git("-C", inner, "commit", "--allow-empty", "-m", "x")
    git("init", outer)
    git("-C", outer, "submodule", "add", inner, "part")
    made(outer, settings)
    with pytest.raises(WorkspaceNotFound):
        found(outer / "part", settings)
    assert workspace.place_to_make(start=str(outer / "part"), settings=settings).root == str(
        outer / "part"
    )


@pytest.mark.parametrize("back", [None, "elsewhere", "project"])
@pytest.mark.parametrize("kind", ["checkout", "bare"])
def test_a_forged_git_file_is_not_followed(home, settings, git, back, kind):
    victim, project = made(home / "victim", settings), home / "project"
    git("init", *(["--bare"] if kind == "bare" else []), victim)
    forged = home / "forged"
    forged.mkdir()
    repository = victim if kind == "bare" else victim / ".git"
    (forged / "commondir").write_text(f"{repository}\n")
    if back:
        (forged / "gitdir").write_text(f"{home}/{back}/.git\n")
    project.mkdir()
    (project / ".git").write_text(f"gitdir: {forged}\n")
    with pytest.raises(WorkspaceNotFound):
        found(project, settings)
    assert workspace.place_to_make(start=str(project), settings=settings).root == str(project)


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"gitdir: /\n", b"\xff\0\n", b"x" * 100_000])
def test_a_damaged_git_file_ends_the_way_up_and_nothing_more(home, settings, content):
    (home / "project").mkdir()
    (home / "project" / ".git").write_bytes(content)
    with pytest.raises(WorkspaceNotFound):
        found(home / "project", settings)
    made(home / "project", settings)
    assert found(home / "project", settings) == home / "project"


# -- init


def test_init_goes_to_the_top_of_the_checkout_or_else_here(home, settings, git):
    (home / "plain" / "sub").mkdir(parents=True)
    git("init", home / "checkout")
    (home / "checkout" / "sub").mkdir()
    for start, root in (("plain/sub", "plain/sub"), ("checkout/sub", "checkout")):
        place = workspace.place_to_make(start=str(home / start), settings=settings)
        assert place.root == str(home / root)


def test_init_says_what_it_wrote_and_the_second_time_that_it_wrote_nothing(home, settings):
    root = home / "shop"
    root.mkdir()
    place = workspace.place_to_make(str(root), settings=settings)
    first = place.make()
    assert set(first.wrote) == {
        f"{root}/{FOLDER}/",
        f"{root}/{FOLDER}/.gitignore",
        f"{root}/{FOLDER}/tasks/ledger.sqlite3",
    }
    before = tree(root)
    assert place.make().wrote == ()
    assert tree(root).keys() == before.keys()
    assert (root / FOLDER / ".gitignore").read_bytes() == b"*\n"


def test_init_writes_only_what_is_missing(home, settings):
    root = made(home / "shop", settings)
    (root / FOLDER / ".gitignore").unlink()
    again = workspace.place_to_make(str(root), settings=settings).make()
    assert again.wrote == (f"{root}/{FOLDER}/.gitignore",)


def test_init_closes_a_workspace_folder_that_was_open_to_others(home, settings):
    (home / FOLDER).mkdir(mode=0o755)
    made(home, settings)
    assert stat.S_IMODE((home / FOLDER).stat().st_mode) == 0o700


def test_init_in_a_folder_that_does_not_exist_says_so_and_makes_nothing(home, settings):
    with pytest.raises(WorkspaceNotFound, match="is not a folder"):
        workspace.place_to_make(str(home / "typo"), settings=settings).make()
    assert tree(home) == {}


def test_init_where_a_file_has_the_folders_name_says_so(home, settings):
    (home / FOLDER).write_text("x")
    with pytest.raises(SpindleError, match="is not a folder"):
        workspace.place_to_make(str(home), settings=settings).make()
    assert (home / FOLDER).read_text() == "x"


# -- reading creates nothing


def test_looking_for_a_workspace_creates_nothing(home, settings, git):
    git("init", home / "checkout")
    before = tree(home)
    for start in (home, home / "checkout"):
        with pytest.raises(WorkspaceNotFound):
            found(start, settings)
        workspace.place_to_make(start=str(start), settings=settings)
        with pytest.raises(WorkspaceNotFound):
            workspace.for_fuse(start=str(start), settings=settings)
    assert tree(home) == before


def test_reading_a_workspace_without_a_ledger_creates_nothing(home, settings, ledger_of):
    (home / FOLDER).mkdir()
    place = workspace.find(start=str(home), settings=settings)
    with pytest.raises(WorkspaceNotFound):
        ledger_of(place).inbox()
    with pytest.raises(WorkspaceNotFound):
        ledger_of(place).create(Request(set={"goal": "g"}))
    assert place.snapshots().newest() is None
    assert place.incidents().newest(5) == []
    assert list(tree(home)) == [str(home / FOLDER)]


def test_reading_a_ledger_changes_no_byte_of_it(home, settings, ledger_of):
    place = workspace.find(str(made(home / "shop", settings)), settings=settings)
    writer = ledger_of(place)
    task = writer.create(Request(set={"goal": "g"})).task
    files = (home / "shop" / FOLDER).rglob("*")
    before = {path: path.read_bytes() for path in files if path.is_file()}
    reader = ledger_of(place)
    assert reader.show(task.id) == task
    assert reader.list().total == reader.inbox().total == 1
    assert task.id in reader.context(task.id).text
    after = {p: p.read_bytes() for p in (home / "shop" / FOLDER).rglob("*") if p.is_file()}
    # The shared memory beside the write-ahead log holds the readers' marks.
    assert {p: c for p, c in after.items() if p.suffix != ".sqlite3-shm"} == {
        p: c for p, c in before.items() if p.suffix != ".sqlite3-shm"
    }
