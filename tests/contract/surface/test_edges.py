"""What arrives at the edge of a process: odd bytes, closed streams, nothing to print."""

from __future__ import annotations

import json
import os
import subprocess

import pytest


def test_a_path_of_any_bytes_is_found_and_a_text_of_odd_bytes_is_made_valid(command):
    name = b"gr\xf6\xdfe"
    (command.folder / os.fsdecode(name)).mkdir()
    assert command(b"init", name).status == 0
    made = command("task", "create", b"odd \xff text", "--json", b"--workspace", name)
    assert json.loads(made.out)["data"]["task"]["goal"] == "odd \ufffd text"
    found = command("task", "list", "--owner", b"\xff", b"--workspace=" + name)
    assert (found.status, found.out) == (0, b"No task matches.\n")


def test_closed_standard_input_is_a_mistake_and_not_a_bug(project):
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec '{project.path}' task create - <&-"],
        capture_output=True,
        cwd=project.folder,
        env=project.environment,
    )
    assert done.returncode == 2
    assert b"Standard input cannot be read" in done.stderr


@pytest.mark.parametrize("words", [("task", "list"), ("task", "inbox")])
def test_quiet_prints_nothing_where_there_is_no_id(project, words):
    assert project(*words, "--quiet").out == b""


def test_warnings_are_in_the_document_and_not_beside_it(project):
    def create(*more):
        return project("task", "create", "g", *more, "--quiet").out.decode().strip()

    parent = create("--criterion", "c")
    child = create("--parent", parent)
    done = project("task", "update", parent, "--evidence", "e", "--status", "done", "--json")
    assert done.err == b""
    assert json.loads(done.out)["data"]["warnings"] == [f"Children still open: {child}"]
    project("task", "update", parent, "--status", "open", "--decision", "more to do")
    told = project("task", "update", parent, "--evidence", "e", "--status", "done")
    assert told.err.decode() == f"contextspindle: warning: Children still open: {child}\n"


def test_init_below_a_workspace_is_about_that_workspace(project):
    below = project.folder / "src" / "deep"
    below.mkdir(parents=True)
    done = project("init", "--json", cwd=below)
    assert json.loads(done.out)["data"]["root"] == str(project.folder)
    assert not (below / ".contextspindle").exists()
    assert project("init", ".", cwd=below).status == 0
    assert (below / ".contextspindle").is_dir()
