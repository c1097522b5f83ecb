"""What has moved in a checkout since a save, seen without starting git."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from contextspindle import drift, gitfiles

LATER = time.time() + 100


@pytest.fixture
def repository(tmp_path):
    top = tmp_path / "shop"
    top.mkdir()
    environ = {"PATH": os.defpath, "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*words, cwd=top):
        person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", *person, *words], cwd=cwd, env=environ, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    git("init", "-q", "-b", "main")
    for name in ("a.txt", "src/b.py", "src/deep/c.py"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name)
    git("add", ".")
    git("commit", "-q", "-m", "first")
    for path in (top, *top.rglob("*")):
        os.utime(path, (1, 1))
    git.top = top
    return git


def saved(repository):
    return drift.place(str(repository.top / "src"))


def now():
    """A moment behind all that was written up to here, and before all that comes."""
    time.sleep(0.02)
    at = time.time_ns() // 1_000_000
    time.sleep(0.02)  # the time of a file is that of the kernel's last tick, some milliseconds ago
    return at


def since(place, at, files=(), **more):
    return "\n".join(drift.since(place, at, files, **more))


def test_the_place_is_the_checkout_with_its_commit_and_branch(repository):
    place = saved(repository)
    assert place == {
        "top": str(repository.top),
        "commit": repository("rev-parse", "HEAD"),
        "branch": "main",
    }
    repository("pack-refs", "--all")
    assert saved(repository) == place
    repository("checkout", "-q", "--detach")
    assert saved(repository) == {name: place[name] for name in ("top", "commit")}


def test_outside_of_a_checkout_there_is_no_place_and_nothing_moves(tmp_path):
    assert drift.place(str(tmp_path)) == {}
    assert drift.place("") == {}
    assert drift.since({}, 0, []) == []


def test_nothing_moved_is_nothing_said(repository):
    assert since(saved(repository), now()) == ""


@pytest.mark.parametrize("packed", [False, True])
def test_commits_since_are_counted_and_the_latest_is_named(repository, packed):
    place, at = saved(repository), now()
    for number in (1, 2):
        repository("commit", "-q", "--allow-empty", "-m", f"change {number}")
    if packed:
        repository("pack-refs", "--all")
    said = since(place, at)
    assert said.startswith("2 commits since the save")
    assert f'{repository("rev-parse", "--short=7", "HEAD")} "change 2"' in said
    assert "may be outdated" in said


def test_a_move_that_made_no_commit_and_another_branch_are_told(repository):
    repository("commit", "-q", "--allow-empty", "-m", "second")
    place, at = saved(repository), now()
    repository("reset", "-q", "--soft", "HEAD~1")
    assert "HEAD has moved" in since(place, at)
    repository("checkout", "-q", "-b", "fix/oars")
    assert "The branch is now fix/oars; at the save it was main." in since(place, at)


def test_without_a_reflog_it_is_still_told_that_head_moved(repository):
    place, at = saved(repository), now()
    repository("commit", "-q", "--allow-empty", "-m", "change")
    (repository.top / ".git" / "logs" / "HEAD").unlink()
    assert f"from {place['commit'][:12]} to" in since(place, at)


def test_files_that_changed_came_or_went_are_named(repository):
    place, at = saved(repository), now()
    (repository.top / "a.txt").write_text("other")
    (repository.top / "src" / "new.py").write_text("x")
    (repository.top / "src" / "deep" / "c.py").unlink()
    said = since(place, at)
    assert "a.txt" in said
    assert "src/new.py (new)" in said
    assert "src/deep/c.py (gone)" in said
    assert "b.py" not in said


def test_what_was_gone_at_the_save_is_no_news(repository):
    (repository.top / "src" / "deep" / "c.py").unlink()
    assert since(saved(repository), now()) == ""


def test_what_is_ignored_by_name_or_ending_is_no_news(repository):
    (repository.top / ".gitignore").write_text("*.log\nbuilt.txt\n")
    place, at = saved(repository), now()
    for name in ("x.log", "built.txt", "kept.txt"):
        (repository.top / name).write_text("x")
    said = since(place, at)
    assert "kept.txt (new)" in said
    assert "x.log" not in said
    assert "built.txt" not in said


def test_many_are_counted_and_five_are_named(repository):
    place, at = saved(repository), now()
    for number in range(9):
        (repository.top / f"n{number}").write_text("x")
    assert "n4 (new), 4 more." in since(place, at)


def test_in_a_large_checkout_only_the_session_s_own_files_are_looked_at(repository, monkeypatch):
    place, at = saved(repository), now()
    (repository.top / "a.txt").write_text("other")
    (repository.top / "src" / "b.py").write_text("other")
    own = [str(repository.top / "src" / "b.py")]
    monkeypatch.setattr(drift, "FEW", 2)
    assert since(place, at, own) == "Changed on disk since the save: src/b.py."
    assert "a.txt" in since(place, at, own, thorough=True)


def test_a_linked_worktree_has_its_own_head(repository, tmp_path):
    repository("worktree", "add", "-q", str(tmp_path / "wt"), "-b", "side")
    place, at = drift.place(str(tmp_path / "wt")), now()
    assert place["branch"] == "side"
    repository("commit", "-q", "--allow-empty", "-m", "on main")
    assert since(place, at) == ""
    repository("commit", "-q", "--allow-empty", "-m", "on side", cwd=tmp_path / "wt")
    assert "1 commit since the save, the latest" in since(place, at)
    assert '"on side"' in since(place, at)
    repository("worktree", "remove", "--force", str(tmp_path / "wt"))
    assert "is gone" in since(place, at)


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_the_names_are_those_of_git_in_every_version_of_the_index(repository, version):
    if version == "3":
        (repository.top / "later").write_text("x")
        repository("add", "--intent-to-add", "later")
    else:
        repository("update-index", "--index-version", version)
    top = str(repository.top)
    assert gitfiles.names(top, 100) == repository("ls-files").split("\n")
    assert gitfiles.names(top, 2) is None


@pytest.mark.parametrize("content", [b"", b"DIRC", b"x" * 99, b"DIRC\0\0\0\2\0\0\0\7" + b"y" * 30])
def test_a_damaged_index_is_not_read(repository, content):
    (repository.top / ".git" / "index").write_bytes(content)
    assert gitfiles.names(str(repository.top), 100) in (None, [])
    assert since(saved(repository), now()) == ""
