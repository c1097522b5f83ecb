"""The files that evidence is bound to: their state changes when they do, and only then."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from contextspindle.checkout import TAIL_BYTES, Checkout
from contextspindle.core.evidence import Record
from contextspindle.core.redaction import mask
from contextspindle.errors import InvalidInput
from tests.unit.checkouts import EDITS, everything, moved, ran

UNUSUAL = [
    "with space",
    "line\nfeed",
    "tab\there",
    'quo"te',
    "naïve 次 😀",
    "-option",
    ":(top)magic",
    "star*[a]?",
]


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("covers", [(), ("src",)], ids=["all", "src"])
def test_in_a_checkout_every_change_of_what_is_covered_shows(repo, edit, covers):
    mark = ran(repo, covers=covers)
    assert moved(repo, mark) == ""
    EDITS[edit](repo)
    assert moved(repo, mark) == f"{'src' if covers else 'the checkout'} has changed since" + (
        " the command ran"
    )


@pytest.mark.parametrize("edit", EDITS)
def test_outside_of_a_checkout_every_change_of_what_is_covered_shows(tree, edit):
    mark = ran(tree, covers=("src",))
    assert (mark.commit, mark.tree[64:], moved(tree, mark)) == ("", "-git", "")
    EDITS[edit](tree)
    assert "src has changed" in moved(tree, mark)


def test_outside_of_a_checkout_nothing_is_covered_that_is_not_named(tree):
    mark = ran(tree)
    assert (mark.commit, mark.tree, mark.covers) == ("", "", ())
    EDITS["an edit"](tree)
    assert moved(tree, mark) == ""


@pytest.mark.parametrize("covers", [(), (".",), ("src",)], ids=str)
def test_what_git_ignores_does_not_matter(repo, covers):
    mark = ran(repo, covers=covers)
    (repo / "src" / "main.o").write_bytes(b"\x7f")
    (repo / "src" / "build").mkdir()
    (repo / "src" / "build" / "log").write_text("x")
    assert moved(repo, mark) == ""


def test_a_command_that_writes_only_what_git_ignores_proves_something(repo):
    mark = ran(repo, "touch", "src/main.o", covers=("src",))
    assert (mark.status, moved(repo, mark)) == (0, "")


@pytest.mark.parametrize("covered", ["build", "build/app", "src/main.o"])
def test_what_git_ignores_is_covered_if_it_is_named(repo, covered):
    (repo / "build").mkdir()
    for name in ("build/app", "src/main.o"):
        (repo / name).write_bytes(b"1")
    mark = ran(repo, covers=(covered,))
    assert moved(repo, mark) == ""
    for name in ("build/app", "src/main.o"):
        (repo / name).write_bytes(b"2")
    assert f"{covered} has changed" in moved(repo, mark)


def test_what_is_not_covered_does_not_matter(repo):
    mark = ran(repo, covers=("src",))
    (repo / "README").write_text("changed")
    assert moved(repo, mark) == ""
    assert "src, README has changed" in moved(repo, mark._replace(covers=("src", "README")))


def test_a_commit_of_what_was_covered_changes_nothing(repo, git):
    (repo / "src" / "new.c").write_text("new")
    mark = ran(repo)
    git("-C", repo, "add", ".")
    git("-C", repo, "commit", "-m", "second")
    assert moved(repo, mark) == ""
    assert ran(repo).commit != mark.commit


def test_a_file_that_is_written_again_with_the_same_bytes_has_not_changed(repo):
    mark = ran(repo)
    (repo / "README").write_text("read me\n")
    os.utime(repo / "README", (1, 1))
    assert moved(repo, mark) == ""


def test_an_edit_in_the_moment_of_the_last_commit_is_not_missed(repo, git):
    """Git knows such a file by the time of its index alone: size and second are the same."""
    git("-C", repo, "config", "core.trustctime", "false")  # a test cannot turn that one back
    index = repo / ".git" / "index"
    moment = (index.stat().st_mtime_ns // 10**9 - 60) * 10**9
    main = repo / "src" / "main.c"
    os.utime(main, ns=(moment, moment))
    git("-C", repo, "update-index", "--refresh")
    os.utime(index, ns=(moment, moment))
    mark = ran(repo)
    main.write_text("int mine;\n")
    os.utime(main, ns=(moment, moment))
    assert moved(repo, mark) != ""


def test_what_was_changed_and_changed_back_has_not_changed(repo):
    mark = ran(repo)
    EDITS["an edit"](repo)
    (repo / "src" / "main.c").write_text("int main;\n")
    assert moved(repo, mark) == ""


def test_a_checkout_without_a_commit_is_covered_too(tree, git):
    git("init", tree)
    mark = ran(tree)
    assert (mark.commit, mark.tree[64:], moved(tree, mark)) == ("", "-git", "")
    git("-C", tree, "add", ".")
    git("-C", tree, "commit", "-m", "first")
    assert moved(tree, mark) == ""
    EDITS["an edit"](tree)
    assert moved(tree, mark) != ""


def test_a_folder_below_covers_the_whole_checkout(repo, monkeypatch):
    monkeypatch.chdir(repo / "src")
    mark = ran(repo)
    assert (mark.folder, mark.covers) == ("src", ())
    (repo / "README").write_text("changed")
    assert moved(repo, mark) != ""


def test_covered_paths_are_those_of_the_current_folder_and_kept_from_the_root(repo, monkeypatch):
    monkeypatch.chdir(repo / "src")
    assert ran(repo, covers=("main.c", "..", str(repo / "README"))).covers == (
        *("src/main.c", "."),
        "README",
    )
    with pytest.raises(InvalidInput, match="There is no src/none to cover"):
        ran(repo, covers=("none",))


@pytest.mark.parametrize("name", UNUSUAL)
def test_any_name_can_be_covered_in_a_checkout_and_outside(tree, git, name):
    (tree / name).write_text("1")
    outside = ran(tree, covers=(f"./{name}",))
    git("init", tree)
    inside, whole = ran(tree, covers=(f"./{name}",)), ran(tree)
    assert [moved(tree, mark) for mark in (inside, whole)] == ["", ""]
    (tree / "other").write_text("no matter")
    assert moved(tree, inside) == ""
    (tree / name).write_text("2")
    assert all(moved(tree, mark) for mark in (outside, inside, whole))


# -- repositories within, beside and around


def test_a_submodule_is_covered_down_to_its_files(repo, tmp_path, git):
    other = tmp_path / "other"
    other.mkdir()
    (other / "lib.c").write_text("1")
    git("init", other)
    git("-C", other, "add", ".")
    git("-C", other, "commit", "-m", "lib")
    git("-C", repo, "submodule", "add", other, "lib")
    git("-C", repo, "commit", "-m", "with lib")
    whole, file = ran(repo), ran(repo, covers=("lib/lib.c",))
    assert [moved(repo, mark) for mark in (whole, file)] == ["", ""]
    (repo / "lib" / "lib.c").write_text("2")
    assert all(moved(repo, mark) for mark in (whole, file))


@pytest.mark.parametrize("committed", [True, False])
def test_a_repository_that_lies_within_hides_nothing(repo, git, committed):
    within = repo / "within"
    within.mkdir()
    (within / "a").write_text("1")
    git("init", within)
    if committed:
        git("-C", within, "add", ".")
        git("-C", within, "commit", "-m", "a")
    mark = ran(repo)
    assert moved(repo, mark) == ""
    (within / "a").write_text("2")
    assert moved(repo, mark) != ""
    (within / "a").write_text("1")
    EDITS["an edit"](repo)
    assert moved(repo, mark) != ""


@pytest.fixture
def linked(repo, tmp_path, git, monkeypatch) -> Path:
    """A linked worktree beside the checkout, which is the current folder now."""
    git("-C", repo, "worktree", "add", tmp_path / "linked")
    monkeypatch.chdir(tmp_path / "linked")
    return tmp_path / "linked"


def test_in_a_linked_worktree_it_is_that_tree_that_is_covered(repo, linked):
    for covers in ((), ("src",)):
        mark = ran(repo, covers=covers)
        assert (mark.folder, moved(repo, mark)) == (str(linked), "")
        (repo / "src" / "main.c").write_text(f"not the one, {covers}\n")
        assert moved(repo, mark) == ""
        (linked / "src" / "main.c").write_text(f"the one, {covers}\n")
        assert moved(repo, mark) != ""


def test_when_a_linked_worktree_is_gone_the_same_tree_elsewhere_still_counts(repo, linked, git):
    (linked / "src" / "main.c").write_text("better\n")
    whole, part = ran(repo), ran(repo, covers=("src",))
    os.chdir(repo)
    git("-C", repo, "worktree", "remove", "--force", linked)
    assert moved(repo, whole) != ""
    (repo / "src" / "main.c").write_text("better\n")
    assert moved(repo, whole) == ""
    assert moved(repo, part) != ""


def test_a_hook_of_git_does_not_lead_to_another_repository(repo, tmp_path, git, monkeypatch):
    other = tmp_path / "other"
    git("init", other)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    mark = ran(repo)
    assert mark.commit
    EDITS["an edit"](repo)
    assert moved(repo, mark) != ""
    assert not (other / ".git" / "index").exists()


@pytest.mark.parametrize("setting", ["plain", "split index", "untracked cache", "hook"])
def test_nothing_of_the_repository_is_touched(repo, git, setting):
    if setting == "split index":
        git("-C", repo, "config", "core.splitIndex", "true")
        git("-C", repo, "update-index", "--split-index")
    if setting == "untracked cache":
        git("-C", repo, "config", "core.untrackedCache", "true")
    if setting == "hook":
        hook = repo / ".git" / "hooks" / "post-index-change"
        hook.write_text("#!/bin/sh\ntouch .git/was-here\n")
        hook.chmod(0o755)
    (repo / "src" / "new.c").write_text("x" * 10_000)
    (repo / "README").write_text("changed")
    before = everything(repo)
    mark = ran(repo, covers=(".", "src/new.c"))
    assert moved(repo, ran(repo)) == ""
    assert moved(repo, mark) == ""
    assert everything(repo) == before


# -- running


def test_how_a_command_ended_is_kept(repo):
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, capture_output=True).stdout
    mark = ran(repo, "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (mark.status, mark.folder) == (3, ".")
    assert mark.output == hashlib.sha256(b"out\nerr\n").hexdigest()
    assert mark.tail == "out\nerr\n"
    assert mark.commit == head.decode().strip()
    assert mark.milliseconds >= 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_command_that_a_signal_ended_has_128_and_its_number(tree, number):
    assert ran(tree, "sh", "-c", f"kill -{number.value} $$").status == 128 + number


@pytest.mark.parametrize("argv", [("no-such-command-anywhere",), ("./README",), ("src",), ("",)])
def test_a_command_that_cannot_be_started_is_a_mistake_and_no_proof(tree, argv):
    with pytest.raises(InvalidInput, match="cannot be run"):
        ran(tree, *argv)


def test_a_command_that_changes_what_it_covers_proves_nothing(repo):
    for covers, named in (((), "the checkout"), (("src",), "src")):
        mark = ran(repo, "sh", "-c", f"date +%s%N >src/{len(covers)}.c", covers=covers)
        assert mark.status == 0
        assert moved(repo, mark) == f"{named} changed while the command ran"


@pytest.mark.parametrize("covers", [(), ("src",)])
def test_what_a_command_changed_is_named_by_git_and_without_it(repo, monkeypatch, covers):
    for program in ("touch README", "echo 1 >src/new; rm src/main.c; echo 2 >'src/two words'"):
        _, changed = Checkout(str(repo), mask).run(("sh", "-c", program), covers, bytes)
        if program == "touch README":
            assert changed == ()
    assert changed == ("src/main.c", "src/new", "src/two words")
    monkeypatch.setenv("PATH", "/nowhere")
    argv = (sys.executable, "-c", "open('src/new', 'w').write('3')")
    _, changed = Checkout(str(repo), mask).run(argv, ("src",), bytes)
    assert changed == ("src/new",)


def test_output_of_megabytes_is_passed_on_and_digested_and_only_its_end_is_kept(tree):
    shown = []
    program = "import sys; sys.stdout.write('0123456789abcde\\n' * 400_000 + 'the end')"
    mark, _ = Checkout(str(tree), mask).run((sys.executable, "-c", program), (), shown.append)
    whole = b"0123456789abcde\n" * 400_000 + b"the end"
    assert b"".join(shown) == whole
    assert mark.output == hashlib.sha256(whole).hexdigest()
    assert mark.tail.endswith("abcde\nthe end")
    assert len(mark.tail.encode()) <= TAIL_BYTES
    assert whole.decode().endswith(mark.tail)


def test_the_end_that_is_kept_is_cut_at_a_character_and_takes_any_bytes(tree):
    mark = ran(tree, sys.executable, "-c", "print('é' * 9_000)")
    assert set(mark.tail) <= {"é", "\n"}
    mark = ran(tree, "printf", r"a\377b")
    assert mark.tail == "a\ufffdb"
    assert mark.output == hashlib.sha256(b"a\xffb").hexdigest()


def test_secrets_in_the_output_are_masked_before_they_are_kept(tree):
    secret = "ghp_" + "a1B2" * 9
    mark = ran(tree, "sh", "-c", f"echo token {secret}; echo DB_PASSWORD=hunter2hunter2")
    assert secret not in mark.tail
    assert "hunter2" not in mark.tail
    assert mark.tail.count("[masked]") == 2


def test_no_command_at_all_is_a_mistake(tree):
    with pytest.raises(InvalidInput, match="no command"):
        Checkout(str(tree), mask).run((), (), bytes)


def test_a_command_gets_no_standard_input(tree):
    assert ran(tree, "cat").output == hashlib.sha256(b"").hexdigest()


# -- files


def test_a_file_is_known_by_its_bytes(tree):
    checkout = Checkout(str(tree), mask)
    mark = checkout.file("README")
    assert mark == ("README", 8, hashlib.sha256(b"read me\n").hexdigest())
    record = Record("t-one", "0" * 64, "", file=mark)
    assert checkout.moved(record) == ""
    (tree / "README").write_text("changed")
    assert checkout.moved(record) == "README has changed"
    (tree / "README").unlink()
    assert checkout.moved(record) == "README is gone"
    (tree / "README").mkdir()
    assert checkout.moved(record) == "README is gone"


def test_the_path_of_a_file_is_kept_from_the_root_or_whole_if_it_lies_outside(tree, monkeypatch):
    outside = tree.parent / "project-2"
    outside.write_text("x")
    monkeypatch.chdir(tree / "src")
    checkout = Checkout(str(tree), mask)
    assert checkout.file("main.c").path == "src/main.c"
    assert checkout.file("../README").path == "README"
    assert checkout.file("../../project-2").path == str(outside)


@pytest.mark.parametrize("path", ["none", "src", "", "pipe"])
def test_what_is_no_file_is_refused(tree, path):
    os.mkfifo(tree / "pipe")
    with pytest.raises(InvalidInput, match="not a file that can be read"):
        Checkout(str(tree), mask).file(path)
