"""What a hot command loads: every module is a cost of every call, so each one is listed here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import contextspindle

SITE = str(Path(contextspindle.__file__).parents[1])

# As the launcher does it: isolated, without site; then the names of what was loaded go to a file.
DRIVER = """
import sys
place, out = sys.argv[1:3]
del sys.argv[1:3]
sys.path.append(place)
started = set(sys.modules)
from contextspindle.cli import main
status = main()
loaded = sorted(set(sys.modules) - started)
with open(out, "w") as file:
    file.write("\\n".join(loaded))
raise SystemExit(status)
"""

FORBIDDEN = set(
    "typing dataclasses enum re pathlib argparse subprocess uuid logging contextlib datetime"
    " tempfile inspect asyncio importlib.metadata json sqlite3 hashlib random socket threading"
    " shutil traceback platform difflib textwrap shlex".split()
)

STANDARD = set(
    "__future__ _collections _collections_abc _functools _json _sha256 _sha2 _sqlite3 _stat abc"
    " fcntl genericpath io os os.path posixpath pwd stat time _thread errno".split()
)
"""What any hot command may load of the standard library."""

MEMORY = {"zlib", "struct", "_struct", "math", "unicodedata"}
"""What the memory needs besides: its checksums, packed pages, logarithms, and other scripts."""

FUSE = {"select", "importlib", "importlib._bootstrap", "importlib._bootstrap_external", "warnings"}
"""What the fuse may load besides: it waits for a payload and takes its harness by name."""

RANKING = {"math", "itertools", "heapq", "_heapq"}
"""What a save needs to rank quotations."""


@pytest.fixture
def loaded(command, tmp_path):
    """The modules that a call of the command loads, the package's own left out."""

    def run(*words: str, payload: dict | None = None, own: bool = False) -> set[str]:
        out = tmp_path / "loaded"
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", DRIVER, SITE, str(out), *words],
            cwd=command.folder,
            env={**command.environment, "TERM": "xterm-256color"},
            input=json.dumps(payload or {}).encode(),
            capture_output=True,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        names = out.read_text().split("\n")
        assert "contextspindle.cli.parse" in names
        return {name for name in names if own == (name.partition(".")[0] == "contextspindle")}

    return run


@pytest.fixture
def task(command) -> str:
    assert command("init").status == 0
    return command("task", "create", "a goal", "--criterion", "c", "--quiet").out.decode().strip()


@pytest.fixture
def transcript(command) -> str:
    """Claude Code's own form, with a secret in it to mask."""
    turn = {"sessionId": "s", "cwd": str(command.folder), "version": "2.1.0", "isSidechain": False}
    said = "Ship it with the key AKIAIOSFODNN7EXAMPLE and password=hunter2hunter2"
    lines = [
        {
            **turn,
            "type": "user",
            "uuid": "1",
            "parentUuid": None,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": "user", "content": said},
        },
        {
            **turn,
            "type": "assistant",
            "uuid": "2",
            "parentUuid": "1",
            "timestamp": "2026-01-01T00:00:01.000Z",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "I will."}]},
        },
    ]
    path = command.folder / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


@pytest.mark.parametrize(
    "verb",
    "inbox list ready search show context history children board tree log".split(),
)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_read_loads_the_lean_start_and_nothing_else(loaded, task, verb, form):
    given = () if verb in ("inbox", "list", "ready", "board", "log") else (task,)
    found = loaded("task", verb, *given, *form)
    assert found & FORBIDDEN == set()
    assert found <= STANDARD


def test_a_read_takes_no_lock(loaded, task):
    assert "fcntl" not in loaded("task", "inbox")
    assert "fcntl" in loaded("task", "create", "another goal")


@pytest.mark.parametrize(
    "words",
    [
        ("create", "another goal", "--key", "k", "--label", "ui"),
        ("update", "TASK", "--note", "n", "--status", "active", "--expect", "1"),
        ("update", "TASK", "--evidence", "seen", "--status=done"),
        ("claim", "TASK"),
        ("claim", "--next", "--json"),
        ("--workspace", ".", "create", "another goal", "--json"),
    ],
)
def test_a_write_loads_the_lean_start_and_nothing_else(loaded, task, words):
    found = loaded("task", *[task if word == "TASK" else word for word in words])
    assert found & FORBIDDEN == set()
    assert found <= STANDARD


@pytest.mark.parametrize(
    "words",
    [
        ("recall", "which parser is it?"),
        ("recall", "数据 été", "5", "--json"),
        ("stats",),
        ("remember", "the parser is slow", "--session", "s"),
        ("forget", "m-1"),
    ],
)
def test_the_memory_loads_the_lean_start_and_what_its_file_needs(loaded, command, task, words):
    assert command("remember", "the parser is slow").status == 0
    found = loaded(*words)
    assert found & FORBIDDEN == set()
    assert found <= STANDARD | MEMORY


def test_what_only_a_write_to_the_memory_needs_is_loaded_by_writes_alone(loaded, command, task):
    assert command("remember", "the parser is slow").status == 0
    write = {"contextspindle.core.redaction", "contextspindle.core.retention"}
    for words in (("recall", "parser"), ("stats",), ("task", "context", task)):
        assert not loaded(*words, own=True) & write
    assert loaded("remember", "it is slow", own=True) >= write


def test_a_handoff_loads_the_memory_only_where_there_is_one(loaded, command, task):
    assert not loaded("task", "context", task) & MEMORY
    assert command("remember", "the goal of it").status == 0
    assert loaded("task", "context", task) <= STANDARD | MEMORY


def test_fuse_save_loads_what_ranking_needs_and_no_ledger(loaded, task, transcript):
    words = ("fuse", "save", "--transcript", transcript, "--session", "s")
    by_hand = loaded(*words)
    payload = {
        "hook_event_name": "PreCompact",
        "trigger": "auto",
        "session_id": "s",
        "transcript_path": transcript,
        "cwd": os.path.dirname(transcript),
    }
    as_hook = loaded("fuse", "save", payload=payload)
    for found in (by_hand, as_hook):
        assert found & FORBIDDEN == set()
        assert found <= (STANDARD | FUSE | RANKING) - {"_sqlite3"}
    own = loaded(*words, own=True)
    assert "contextspindle.core.extract" in own
    unneeded = ("sqlite", "actions.ledger", "actions.moment", "restoration", "rare_errors")
    assert [one for one in own if one.endswith(unneeded)] == []


def test_a_call_loads_no_more_of_the_table_than_the_part_that_it_is_in(loaded, task):
    tables = {one for one in loaded("task", "show", task, own=True) if one.endswith("table")}
    assert tables == {"contextspindle.cli.task_table"}


def test_fuse_restore_loads_the_lean_start_and_nothing_else(loaded, command, task, transcript):
    saved = command("fuse", "save", "--transcript", transcript, "--session", "s")
    assert saved.status == 0
    payload = {
        "hook_event_name": "SessionStart",
        "source": "compact",
        "session_id": "s",
        "transcript_path": transcript,
        "cwd": os.path.dirname(transcript),
    }
    for found in (
        loaded("fuse", "restore", "--plain", "--session", "s"),
        loaded("fuse", "restore", payload=payload),
        loaded("fuse", "restore", payload={**payload, "source": "startup"}),
        loaded("fuse", "restore", payload={**payload, "source": "resume"}),
        loaded("fuse", "status"),
        loaded("prime"),
    ):
        assert found & FORBIDDEN == set()
        assert found <= STANDARD | FUSE
    own = loaded("fuse", "restore", payload=payload, own=True)
    assert "contextspindle.core.restoration" in own
    assert [one for one in own if one.endswith(("rare_errors", "actions.answers", "extract"))] == []


def test_a_call_that_goes_well_makes_no_error_that_is_rare(loaded, command, task):
    for words in (
        ("task", "create", "another goal"),
        ("task", "show", task),
        ("task", "update", task, "--next", "a step"),
        ("task", "inbox"),
        ("task", "list"),
        ("task", "context", task),
        ("task", "claim", task),
    ):
        assert "contextspindle.rare_errors" not in loaded(*words, own=True), words


NOTHING_OWED = {
    "gemini": {"hook_event_name": "AfterTool", "session_id": "s", "transcript_path": "/x"},
    "copilot-cli": {"sessionId": "s", "timestamp": 1, "toolName": "x", "toolResult": {}},
}


@pytest.mark.parametrize("name", NOTHING_OWED)
def test_a_hook_at_every_tool_s_end_loads_no_reader_and_no_ledger(loaded, command, name):
    payload = {**NOTHING_OWED[name], "cwd": str(command.folder)}
    words = ("fuse", "restore", "--harness", name)
    assert loaded(*words, payload=payload) <= STANDARD | FUSE
    heavy = ("lines", "turns", "shapes", "tools", "actions", "sqlite", "snapshots", "draft")
    found = loaded(*words, payload=payload, own=True)
    assert "contextspindle.store.marks" in found
    assert [one for one in found if one.endswith(heavy)] == []


def test_a_hook_before_a_compression_that_hardly_follows_loads_no_more(loaded, command):
    path = command.folder / "s.jsonl"
    path.write_text("{}\n")
    payload = {**NOTHING_OWED["gemini"], "hook_event_name": "PreCompress", "trigger": "auto"}
    payload |= {"cwd": str(command.folder), "transcript_path": str(path)}
    found = loaded("fuse", "save", "--harness", "gemini", payload=payload)
    assert found & FORBIDDEN == set()
    assert found <= STANDARD | FUSE


def test_a_purge_loads_the_lean_start_and_nothing_else(loaded, task):
    for words in ((), ("--write",)):
        found = loaded("purge", *words, payload={"leaked": "a goal"})
        assert found & FORBIDDEN == set()
        assert found <= STANDARD


def test_a_verify_loads_what_decodes_only_for_a_task_that_has_to_be_decoded(loaded, command, task):
    assert command("task", "claim", task).status == 0
    decoding = {"contextspindle.store.decoded", "contextspindle.core.canon"}
    assert not loaded("verify", own=True) & {*decoding, "contextspindle.store.lock"}
    assert command("task", "create", "another goal", "--label", "ui").status == 0
    assert loaded("verify", own=True) >= decoding


def test_the_installed_command_takes_nothing_from_the_folder_or_the_environment(command, task):
    """What -I promises: a project cannot bring its own modules into our command."""
    (command.folder / "os.py").write_text("raise SystemExit(99)")
    (command.folder / "contextspindle").mkdir()
    (command.folder / "contextspindle" / "__init__.py").write_text("raise SystemExit(99)")
    env = {"PYTHONPATH": str(command.folder), "PYTHONHOME": "/nowhere", "PYTHONSTARTUP": "os.py"}
    done = command("task", "list", "--quiet", env=env)
    assert (done.status, done.out.decode(), done.err) == (0, f"{task}\n", b"")


def test_the_driver_sees_a_module_that_is_loaded(loaded, task):
    """The guard itself: a call that needs argparse is seen to load it."""
    assert {"argparse", "re", "difflib"} <= loaded("task", "list", "--help")
