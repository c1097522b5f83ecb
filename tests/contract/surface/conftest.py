"""A project with tasks in it, for the commands to speak about."""

from __future__ import annotations

import pytest


@pytest.fixture
def project(command):
    """The command, in a folder with a workspace."""
    assert command("init").status == 0
    return command


@pytest.fixture
def task(project) -> str:
    """The id of a task."""
    return project("task", "create", "Ship it", "--quiet").out.decode().strip()


@pytest.fixture
def transcript(project) -> str:
    """A small transcript in the project."""
    path = project.folder / "session.jsonl"
    path.write_text(
        '{"role":"user","content":"Ship the login page. Never use tabs."}\n'
        '{"role":"assistant","content":"I will write the form first."}\n'
    )
    return str(path)


@pytest.fixture
def every_call(project, task, transcript) -> dict[tuple[str, ...], tuple[str, ...]]:
    """A call of each command that succeeds."""
    return {
        ("init",): ("init",),
        ("task", "create"): ("task", "create", "Ship the login page", "--criterion", "it works"),
        ("task", "update"): ("task", "update", task, "--note", "a note"),
        ("task", "show"): ("task", "show", task),
        ("task", "list"): ("task", "list"),
        ("task", "inbox"): ("task", "inbox"),
        ("task", "history"): ("task", "history", task),
        ("task", "children"): ("task", "children", task),
        ("task", "context"): ("task", "context", task),
        ("fuse", "save"): ("fuse", "save", "--transcript", transcript, "--session", "s"),
        ("fuse", "restore"): ("fuse", "restore", "--plain"),
        ("fuse", "status"): ("fuse", "status"),
    }
