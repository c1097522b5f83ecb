"""A look at a checkout: what git was told not to see, what it must not do, what cannot be seen."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from contextspindle.checkout import COVERED_BYTES, Checkout
from contextspindle.core.evidence import FileMark, Record
from contextspindle.core.redaction import mask
from contextspindle.errors import InvalidInput
from tests.unit.checkouts import EDITS, everything, moved, ran

NOT_UTF8 = os.fsdecode(b"gr\xf6\xdfe")


# -- what git was told not to look at, and what it must not do


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
@pytest.mark.parametrize("covers", [(), ("src",), ("src/main.c",)], ids=str)
def test_a_file_that_git_was_told_not_to_look_at_is_looked_at(repo, git, bit, covers):
    git("-C", repo, "update-index", bit, "src/main.c")
    mark = ran(repo, covers=covers)
    assert moved(repo, mark) == ""
    for edit in ("an edit", "a mode", "a deletion"):
        EDITS[edit](repo)
        assert moved(repo, mark) != ""
        (repo / "src" / "main.c").write_text("int main;\n")
        (repo / "src" / "main.c").chmod(0o644)
        assert moved(repo, mark) == ""


def test_a_sparse_checkout_is_covered_as_far_as_it_is_there(repo, git):
    (repo / "doc").mkdir()
    (repo / "doc" / "page").write_text("1")
    git("-C", repo, "add", ".")
    git("-C", repo, "commit", "-m", "doc")
    git("-C", repo, "sparse-checkout", "set", "src")
    assert not (repo / "doc").exists()
    mark = ran(repo)
    assert moved(repo, mark) == ""
    (repo / "doc").mkdir()
    (repo / "doc" / "page").write_text("2")
    assert moved(repo, mark) != ""


def marker(path: Path) -> str:
    """The path of a program that leaves a file behind, and empties what goes through it."""
    program = path / "program"
    program.write_text(f"#!/bin/sh\ntouch {path}/was-run\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    "setting", ["filter.a.clean", "filter.a.process", "core.fsmonitor", "diff.external"]
)
def test_no_program_that_a_repository_names_is_run(repo, git, tmp_path, setting):
    (repo / ".gitattributes").write_text("*.c filter=a diff=a\n")
    git("-C", repo, "add", ".")
    git("-C", repo, "config", setting, marker(tmp_path))
    git("-C", repo, "config", "filter.a.required", "true")
    # As new as the index, so that git itself would have to look into it.
    os.utime(repo / "src" / "main.c", (2**31, 2**31))
    (repo / "src" / "new.c").write_text("new")
    mark = ran(repo)
    assert moved(repo, mark) == ""
    EDITS["an edit"](repo)
    assert moved(repo, mark) != ""
    assert not (tmp_path / "was-run").exists()


def test_the_line_ends_that_git_itself_would_convert_do_not_matter(repo, git):
    (repo / ".gitattributes").write_text("*.txt text eol=crlf\n")
    (repo / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    mark = ran(repo)
    git("-C", repo, "add", ".")
    git("-C", repo, "commit", "-m", "second")
    assert moved(repo, mark) == ""
    os.utime(repo / "a.txt", (1, 1))
    assert moved(repo, mark) == ""
    (repo / "a.txt").write_bytes(b"one\r\n")
    assert moved(repo, mark) != ""


@pytest.mark.parametrize("trusted", ["true", "false"])
def test_a_commit_changes_nothing_whether_or_not_git_trusts_modes(repo, git, trusted):
    git("-C", repo, "config", "core.fileMode", trusted)
    (repo / "src" / "run").write_text("#!/bin/sh\n")
    (repo / "src" / "run").chmod(0o755)
    (repo / "README").write_text("changed")
    (repo / "README").chmod(0o755)
    mark = ran(repo)
    git("-C", repo, "add", ".")
    git("-C", repo, "commit", "-m", "second")
    assert moved(repo, mark) == ""


def test_in_a_repository_of_sha256_it_is_the_same(tree, git):
    git("init", "--object-format=sha256", tree)
    EDITS["a link"](tree)
    mark = ran(tree)
    git("-C", tree, "add", ".")
    git("-C", tree, "commit", "-m", "first")
    assert moved(tree, mark) == ""
    EDITS["an edit"](tree)
    assert moved(tree, mark) != ""


def test_a_conflict_and_what_came_of_it_are_looked_at(repo, git):
    git("-C", repo, "branch", "other")
    for branch, text in (("other", "1\n"), ("-", "2\n")):
        git("-C", repo, "checkout", "-q", branch)
        (repo / "src" / "main.c").write_text(text)
        git("-C", repo, "commit", "-am", text)
    with pytest.raises(AssertionError, match="conflict"):
        git("-C", repo, "merge", "other")
    conflict = (repo / "src" / "main.c").read_text()
    assert "<<<<" in conflict
    mark = ran(repo)
    assert moved(repo, mark) == ""
    EDITS["an edit"](repo)
    assert moved(repo, mark) != ""
    (repo / "src" / "main.c").write_text(conflict)
    git("-C", repo, "add", ".")
    assert moved(repo, mark) == ""


# -- what cannot be looked at


def test_without_git_a_checkout_cannot_be_looked_at_and_nothing_is_run(repo, monkeypatch):
    mark = ran(repo)
    monkeypatch.setenv("PATH", "/nowhere")
    said = moved(repo, mark)
    assert said.startswith("the checkout could not be looked at: Git cannot be run: ")
    with pytest.raises(InvalidInput, match="Git cannot be run"):
        ran(repo, sys.executable, "-c", "open('was-run', 'w')")
    assert not (repo / "was-run").exists()


def test_without_git_covered_files_are_read_and_so_they_are_once_it_is_there(repo, monkeypatch):
    with monkeypatch.context() as bare:
        bare.setenv("PATH", "/nowhere")
        mark = ran(repo, sys.executable, "-c", "", covers=("src",))
        assert (mark.commit, mark.tree[64:], moved(repo, mark)) == ("", "-read", "")
    assert moved(repo, mark) == ""
    EDITS["an edit"](repo)
    assert moved(repo, mark) == "src has changed since the command ran"


def test_a_git_that_fails_is_told_with_its_reason(repo, tmp_path, monkeypatch):
    mark = ran(repo)
    (repo / ".git" / "index").write_bytes(b"no index at all")
    said = moved(repo, mark)
    assert said.startswith("the checkout could not be looked at: Git cannot tell what is there: ")
    assert "index" in said
    with pytest.raises(InvalidInput, match="index"):
        ran(repo)


def test_a_repository_that_git_does_not_trust_is_no_folder_without_one(repo, monkeypatch):
    mark = ran(repo)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert "dubious ownership" in moved(repo, mark)
    with pytest.raises(InvalidInput, match="dubious ownership"):
        ran(repo)


def test_a_checkout_that_git_does_not_find_is_no_folder_without_one(repo, monkeypatch):
    mark = ran(repo)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(repo))
    monkeypatch.chdir(repo / "src")
    (repo / ".git" / "HEAD").unlink()
    assert "Git finds no checkout" in moved(repo, mark)
    with pytest.raises(InvalidInput, match="Git finds no checkout"):
        ran(repo)


def test_no_room_for_temporary_files_is_no_matter(repo, monkeypatch):
    mark = ran(repo)
    monkeypatch.setenv("TMPDIR", "/nowhere")
    assert moved(repo, mark) == ""


@pytest.mark.parametrize("covers", [(), ("big",), ("build",)], ids=str)
def test_too_much_to_look_at_is_refused_and_said(repo, git, covers):
    (repo / "build").mkdir()
    mark = ran(repo, covers=tuple(one for one in covers if one == "build"))
    for name in ("big", "build/big"):
        with open(repo / name, "wb") as file:
            file.truncate(COVERED_BYTES + 1)
    with pytest.raises(InvalidInput, match="more than 256 MiB") as caught:
        ran(repo, "touch", "was-run", covers=covers)
    assert "--covers" in caught.value.hint
    assert not (repo / "was-run").exists()
    assert "could not be looked at: Too much is covered" in moved(repo, mark)
    assert moved(repo, ran(repo, covers=("src",))) == ""


def test_a_look_writes_no_object_anywhere(repo, tmp_path, monkeypatch):
    """Of what is not committed a digest is enough."""
    place = tmp_path / "temporary"
    place.mkdir(mode=0o500)
    monkeypatch.setenv("TMPDIR", str(place))
    (repo / "src" / "new.c").write_text("new")
    before = everything(repo)
    assert moved(repo, ran(repo)) == ""
    assert everything(repo) == before


def test_a_record_of_an_older_form_is_stale_and_says_so(repo):
    mark = ran(repo)
    said = moved(repo, mark._replace(tree=mark.tree[:64]))
    assert said == "the state of the checkout was recorded in an older form"


def test_a_name_that_is_not_utf8_counts_but_cannot_be_recorded(repo, monkeypatch):
    (repo / NOT_UTF8).mkdir()
    (repo / NOT_UTF8 / "file").write_text("1")
    whole = ran(repo)
    with pytest.raises(InvalidInput, match="not UTF-8"):
        ran(repo, covers=(NOT_UTF8,))
    with pytest.raises(InvalidInput, match="not UTF-8"):
        Checkout(str(repo), mask).file(f"{NOT_UTF8}/file")
    monkeypatch.chdir(repo / NOT_UTF8)
    with pytest.raises(InvalidInput, match="not UTF-8"):
        ran(repo)
    assert moved(repo, whole) == ""
    (repo / NOT_UTF8 / "file").write_text("2")
    assert moved(repo, whole) != ""


# -- files that records name, and that are none


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "a" * 5_000], ids=["zero", "half", "long"])
def test_a_record_that_names_what_no_path_can_be_says_that_it_is_gone(tmp_path, path):
    record = Record("t-x", "", "p", file=FileMark(path, 1, "0" * 64))
    assert Checkout(str(tmp_path), mask).moved(record) == f"{path} is gone"


@pytest.mark.skipif(not os.path.exists("/proc/self/pagemap"), reason="a file of Linux")
def test_a_file_that_goes_on_without_end_is_not_read_to_its_end(tmp_path):
    with pytest.raises(InvalidInput, match="not a file that can be read"):
        Checkout(str(tmp_path), mask).file("/proc/self/pagemap")


def test_a_file_that_becomes_a_pipe_before_it_is_read_is_not_waited_for(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    opened = os.open
    monkeypatch.setattr(os, "open", lambda path, *more: opened(tmp_path / "pipe", *more))
    record = Record("t-x", "", "p", file=FileMark("file", 1, "0" * 64))
    assert Checkout(str(tmp_path), mask).moved(record) == "file has changed"
