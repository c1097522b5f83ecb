"""A project for reports to be tried in: everything goes through the installed command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.crash.conftest import fault_library
from tests.databases import by_hand

__all__ = ["fault_library"]

NOBODY = 65534


@pytest.fixture
def project(command):
    """The command, in a folder with a workspace."""
    assert command("init").status == 0
    return command


@pytest.fixture
def create(project):
    """A function that creates a task; gives its id."""

    def made(*words, **more):
        done = project("task", "create", *words, "--quiet", **more)
        assert done.status == 0, done.err
        return done.out.decode().strip()

    return made


@pytest.fixture
def show(project):
    """A function that gives a task."""
    return lambda task, **more: project("task", "show", task, "--json", **more).data


@pytest.fixture
def place(project, tmp_path):
    """A function that makes another workspace; gives its folder."""

    def made(name):
        folder = tmp_path / name
        folder.mkdir()
        assert project("init", ".", cwd=folder).status == 0
        return folder

    return made


@pytest.fixture
def sound(project):
    """A function that asserts that a ledger is sound, down to every change."""

    def checked(**more):
        done = project("verify", "--deep", "--json", **more)
        assert (done.status, done.data["findings"]) == (0, [])
        return done.data

    return checked


@pytest.fixture
def ledger(project) -> Path:
    return project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"


@pytest.fixture
def alter(ledger):
    """A function that changes the ledger's file behind the program's back."""

    def altered(sql, *values):
        with by_hand(ledger) as raw:
            raw.execute(sql, values)

    return altered


@pytest.fixture
def shells(project):
    """A function that runs lines of shell at once, each with "$C" for the command."""

    def run(lines, **env):
        environ = {**project.environment, "C": project.path, **env}
        started = [
            subprocess.Popen(
                ["sh", "-c", line],
                cwd=project.folder,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for line in lines
        ]
        ended = [(*one.communicate(timeout=300), one.returncode) for one in started]
        return [(status, out.decode(), err.decode()) for out, err, status in ended]

    return run


@pytest.fixture
def reader(ledger):
    """A function that starts a process which has the ledger open and reads one moment of it."""
    program = (
        "import sqlite3, sys\n"
        "raw = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "raw.execute('BEGIN')\n"
        "count = raw.execute('SELECT count(*) FROM tasks').fetchone()\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "assert raw.execute('SELECT count(*) FROM tasks').fetchone() == count\n"
    )
    started = []

    def start(path=ledger):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        assert process.stdout.readline() == b"ready\n"

        def end():
            _, said = process.communicate(b"\n", timeout=60)
            assert (process.returncode, said) == (0, b"")

        return end

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def ordinary(command_path):
    """The command as a user who is not root, in a folder of that user's own."""
    folder = Path(tempfile.mkdtemp(prefix="contextspindle-ordinary-"))
    root = os.geteuid() == 0
    if root:
        os.chown(folder, NOBODY, NOBODY)

    class Ordinary(Command):
        def __call__(self, *words, input=b"", env=None, **more):  # noqa: A002
            done = subprocess.run(
                [self.path, *words],
                input=input,
                capture_output=True,
                cwd=self.folder,
                env={**self.environment, **(env or {})},
                timeout=60,
                **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if root else {}),
            )
            return type(shape)(done.returncode, done.stdout, done.stderr)

    shape = Command(command_path, folder, folder)("--version")
    made = Ordinary(command_path, folder, folder)
    try:
        if made("--version").status != 0:
            pytest.skip("an ordinary user cannot run the command where it is installed")
    except PermissionError:
        pytest.skip("an ordinary user cannot run the command where it is installed")
    yield made
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o700)
    shutil.rmtree(folder)


@pytest.fixture
def worked(project):
    """A function that saves a session which was asked for something and called on a task."""
    import json

    def saved(session, said, task, branch="main"):
        path = project.folder / f"{session}.jsonl"
        turn = {
            "sessionId": session,
            "cwd": str(project.folder),
            "gitBranch": branch,
            "version": "2.1.0",
            "isSidechain": False,
        }
        call = {"command": f"contextspindle task show {task}"}
        contents = [
            ("user", said),
            ("assistant", [{"type": "tool_use", "id": "c1", "name": "Bash", "input": call}]),
        ]
        lines = [
            {
                **turn,
                "type": who,
                "uuid": str(number),
                "parentUuid": str(number - 1) if number else None,
                "timestamp": f"2026-01-01T00:00:0{number}.000Z",
                "message": {"role": who, "content": content},
            }
            for number, (who, content) in enumerate(contents)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        done = project("fuse", "save", "--transcript", str(path), "--session", session)
        assert done.status == 0, done.err

    return saved


@pytest.fixture
def payload(project):
    """A function that gives what a harness sends to a hook, and writes the transcript for it."""
    import json

    def made(event, said="Ship the login page.", session="s-1", **more):
        path = project.folder / "transcript.jsonl"
        turn = {
            "type": "user",
            "uuid": "u1",
            "parentUuid": None,
            "sessionId": session,
            "cwd": str(project.folder),
            "version": "2.1.0",
            "isSidechain": False,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": "user", "content": said},
        }
        path.write_text(json.dumps(turn) + "\n")
        return json.dumps(
            {
                "hook_event_name": event,
                "session_id": session,
                "transcript_path": str(path),
                "cwd": str(project.folder),
                **({"trigger": "auto"} if event == "PreCompact" else {"source": "compact"}),
                **more,
            }
        ).encode()

    return made


@pytest.fixture
def compacted(project, tmp_path_factory):
    """A function that saves a session as its program would before compaction, and restores it.

    Gives the text that the agent reads, and the snapshot.
    """
    import json

    from tests.transcripts import SESSION, written

    path = tmp_path_factory.mktemp("sessions") / f"{SESSION}.jsonl"

    def through(entries, *, budget=6_000, transcript=None, end=b"\n"):
        if entries is not None:
            written(path, entries, end=end)
        event = {
            "session_id": SESSION,
            "transcript_path": str(transcript or path),
            "cwd": str(project.folder),
        }
        before = {**event, "hook_event_name": "PreCompact", "trigger": "auto"}
        saved = project("fuse", "save", input=json.dumps(before).encode())
        assert (saved.status, saved.err) == (0, b"")
        assert not saved.out or isinstance(json.loads(saved.out), str)  # words to the summary
        after = {**event, "hook_event_name": "SessionStart", "source": "compact"}
        restored = project(
            "fuse",
            "restore",
            input=json.dumps(after).encode(),
            env={"CONTEXTSPINDLE_FUSE_BUDGET": str(budget)},
        )
        assert (restored.status, restored.err) == (0, b"")
        log = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl"
        snapshot = json.loads(log.read_bytes().splitlines()[-1])["snapshot"]
        text = ""
        if restored.out:
            answer = json.loads(restored.out.decode("utf-8"))
            text = answer["hookSpecificOutput"]["additionalContext"]
        return text, snapshot

    through.path = path
    return through
