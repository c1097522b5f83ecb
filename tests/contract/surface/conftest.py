"""A project with tasks in it, for the commands to speak about."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unicodedata
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.transcripts import Talk, says, user


def original_memory(text: bytes = b"the original knew this") -> bytes:
    """A snapshot of the original memory, with one record in it."""
    vector = struct.pack("<Qf", 1, 0.5)
    config = struct.pack("<4Q", 1, 1, 250, 500) + struct.pack("<f", 0.65) + b"\0" + bytes(20)
    record = struct.pack("<Qd", 0, 0.0) + vector * 2 + struct.pack("<fQ", 0.5, len(text)) + text
    body = config + struct.pack("<Q", 1) + vector + struct.pack("<Q", 1) + record
    return b"CTNM0001" + body + struct.pack("<Q", 0)


@pytest.fixture
def project(command):
    """The command, in a folder with a workspace."""
    assert command("init").status == 0
    return command


@pytest.fixture
def task(project) -> str:
    """The id of a task."""
    return project("task", "create", "Ship it", "--quiet").out.decode().strip()


class Screen(NamedTuple):
    """What a command sent to a terminal, and how it ended."""

    status: int
    sent: str
    err: bytes

    @property
    def lines(self) -> list[str]:
        """The lines without their colours; nothing else in them is a control character."""
        shown = re.sub(r"\x1b\[[0-9;]*m", "", self.sent).replace("\r\n", "\n")
        assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in shown.replace("\n", ""))
        return shown.splitlines()

    def columns(self) -> int:
        """The width of the widest line, by the standard's width of each character."""
        return max(map(width_of, self.lines))


def width_of(line: str) -> int:
    """The columns that a line takes."""
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in line)
    return len(line) + wide - sum(unicodedata.combining(one) != 0 for one in line)


def on_terminal(call: list[str], columns: int, folder: Path, environ: dict[str, str]) -> Screen:
    """A call with a terminal of so many columns as its output."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        call,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environ,
    )
    os.close(theirs)
    sent = b""
    with process:
        # On Linux the last read of a terminal that nobody holds any more is an error.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65_536):
                sent += piece
        err = process.stderr.read()
    os.close(ours)
    return Screen(process.returncode, sent.decode(), err)


@pytest.fixture
def screen(command):
    """The command, its output a terminal of so many columns."""

    def run(*words: str, columns: int = 100, env: dict[str, str] | None = None) -> Screen:
        environ = {**command.environment, "TERM": "xterm-256color", **(env or {})}
        return on_terminal([command.path, *words], columns, command.folder, environ)

    return run


@pytest.fixture
def create(project):
    """A function that creates a task; gives its id."""
    return lambda *words: project("task", "create", *words, "--quiet").out.decode().strip()


@pytest.fixture
def git(project):
    """Run git in the project, with nobody's settings."""
    person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    environ = {**project.environment, "GIT_CONFIG_NOSYSTEM": "1"}

    def run(*words: str) -> None:
        subprocess.run(
            ["git", *person, *words],
            cwd=project.folder,
            env=environ,
            capture_output=True,
            check=True,
        )

    return run


@pytest.fixture
def transcript(project) -> str:
    """A small transcript in the project."""
    path = project.folder / "session.jsonl"
    path.write_text(
        '{"role":"user","content":"Ship the login page. Never use tabs."}\n'
        '{"role":"assistant","content":"I will write the form first."}\n'
    )
    return str(path)


GIVEN = {("purge",): b"Ship it"}
"""What a command reads from standard input, where it reads it."""


@pytest.fixture
def every_call(project, task, transcript, create) -> dict[tuple[str, ...], tuple[str, ...]]:
    """A call of each command that succeeds."""

    def claimed() -> str:
        return project("task", "claim", create("held"), "--quiet").out.decode().strip()

    aside = project.folder.parent
    token, given = claimed(), claimed()
    project("backup", str(aside / "backup"))
    project("export", str(aside / "export.jsonl"))
    project("remember", "to be forgotten")
    (aside / "memory.state").write_bytes(original_memory())
    return {
        ("init",): ("init",),
        ("task", "create"): ("task", "create", "Ship the login page", "--criterion", "it works"),
        ("task", "update"): ("task", "update", task, "--note", "a note"),
        ("task", "prove"): ("task", "prove", task, "--", "true"),
        ("task", "claim"): ("task", "claim", create("free"), "--lease", "60"),
        ("task", "renew"): ("task", "renew", token),
        ("task", "release"): ("task", "release", given.partition(".")[0], "--claim", given),
        ("task", "ready"): ("task", "ready", "5"),
        ("task", "board"): ("task", "board"),
        ("task", "tree"): ("task", "tree"),
        ("task", "log"): ("task", "log", "10"),
        ("task", "search"): ("task", "search", "ship it"),
        ("verify",): ("verify",),
        ("backup",): ("backup", str(aside / "another backup")),
        ("restore",): ("restore", str(aside / "backup")),
        ("export",): ("export", str(aside / "another export.jsonl")),
        ("import",): ("import", str(aside / "export.jsonl")),
        ("task", "show"): ("task", "show", task),
        ("task", "list"): ("task", "list"),
        ("task", "inbox"): ("task", "inbox"),
        ("task", "history"): ("task", "history", task),
        ("task", "children"): ("task", "children", task),
        ("task", "context"): ("task", "context", task),
        ("purge",): ("purge",),
        ("doctor",): ("doctor",),
        ("prime",): ("prime",),
        ("onboard",): ("onboard", "AGENTS.md"),
        ("setup",): ("setup", "claude-code"),
        ("mcp",): ("mcp",),
        ("fuse", "setup"): ("fuse", "setup", "--project"),
        ("fuse", "save"): ("fuse", "save", "--transcript", transcript, "--session", "s"),
        ("fuse", "restore"): ("fuse", "restore", "--plain"),
        ("fuse", "status"): ("fuse", "status"),
        ("fuse", "list"): ("fuse", "list"),
        ("fuse", "show"): ("fuse", "show"),
        ("fuse", "source"): ("fuse", "source", "1"),
        ("fuse", "prune"): ("fuse", "prune"),
        ("fuse", "demo"): ("fuse", "demo"),
        ("remember",): ("remember", "We ship it on Fridays", "--by", "ann", "--label", "l"),
        ("recall",): ("recall", "when do we ship?", "5"),
        ("stats",): ("stats",),
        ("forget",): ("forget", "m-1"),
        ("memory", "sync"): ("memory", "sync", transcript),
        ("memory", "import"): ("memory", "import", str(aside / "memory.state")),
        ("memory", "verify"): ("memory", "verify"),
        ("memory", "rebuild"): ("memory", "rebuild"),
        ("completion",): ("completion", "bash"),
    }


@pytest.fixture
def ledger(project) -> Path:
    return project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"


@pytest.fixture
def aside(project) -> Path:
    """A folder beside the project."""
    folder = project.folder.parent / "aside"
    folder.mkdir()
    return folder


@pytest.fixture
def fresh(project, aside):
    """A function that gives the command's answers in a new, empty folder."""

    def called(*words, name="fresh", **more):
        (aside / name).mkdir(exist_ok=True)
        return project(*words, cwd=aside / name, **more)

    return called


@pytest.fixture
def talk(project, home):
    made = Talk(project, home)
    made.write(
        user("Mend the mast of the Dolphin. Never touch the anchor."),
        says("The rot began at the step, where the drain was blocked by paint_17."),
        user("Then look at the oars, at all six of them."),
        says("I look at the oars next."),
    )
    return made
