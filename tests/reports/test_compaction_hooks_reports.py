"""What was reported of hooks around a compaction, tried on ours."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from contextspindle.cli.hook import HARD_SECONDS
from contextspindle.core.text import size

HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "connect-claude-code.md"


def document(done):
    """What a hook printed: nothing, or exactly one JSON document."""
    assert done.status == 0
    return json.loads(done.out) if done.out else None


def told(done):
    return document(done)["hookSpecificOutput"]["additionalContext"]


def status(project):
    return project("fuse", "status", "--json").data


@pytest.mark.parametrize("path", ["", None, 7, "/does/not/exist"])
def test_ch01_a_save_without_a_transcript_is_marked_and_stops_nothing(project, payload, path):
    project("task", "create", "Ship the login page")
    saved = project("fuse", "save", input=payload("PreCompact", transcript_path=path))
    assert document(saved) is None
    known = status(project)
    assert known["sessions"][0]["problem"]
    assert len(known["incidents"]) == 1
    text = told(project("fuse", "restore", input=payload("SessionStart", transcript_path=path)))
    assert "Ship the login page" in text
    assert "The transcript could not be read at the save" in text


def test_ch02_no_environment_and_no_folder_is_no_reason_to_save_nothing(project, payload):
    for path in sorted((project.folder / ".contextspindle").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (project.folder / ".contextspindle").rmdir()
    ran = subprocess.run(
        [project.path, "fuse", "save"],
        input=payload("PreCompact"),
        env={},
        cwd="/",
        capture_output=True,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    known = status(project)
    assert known["sessions"][0]["items"] > 0
    assert known["sessions"][0]["saved"]
    assert "saved 20" in project("fuse", "status").out.decode()


@pytest.mark.parametrize("trigger", ["manual", "auto"])
def test_ch04_no_input_and_no_failure_blocks_a_compaction(project, payload, trigger):
    ledger = project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"
    given = payload("PreCompact", trigger=trigger)
    inputs = (given, b"{", b"", b'{"hook_event_name": "PreCompact"}', b"[1]", given[:40])
    for damage in (None, b"not a database" * 500):
        if damage:
            ledger.write_bytes(damage)
            log = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl"
            log.unlink()
            log.mkdir()
        for one in inputs:
            done = project("fuse", "save", input=one)
            assert done.status == 0
            assert b"block" not in done.out
            assert not done.out or isinstance(json.loads(done.out), str)


def test_ch05_a_hook_ends_by_itself_and_says_so_whatever_it_waits_for(project, payload, home):
    # Standard input that is never closed, behind a payload that is whole.
    child = subprocess.Popen(
        [project.path, "fuse", "save"],
        cwd=project.folder,
        env=project.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    child.stdin.write(payload("PreCompact"))
    child.stdin.flush()
    assert child.wait(timeout=60) == 0
    child.stdin.close()
    assert child.stdout.read() == b""
    child.stdout.close()
    assert status(project)["sessions"][0]["items"] > 0
    # A log that somebody else holds, and a ledger that is locked.
    lock = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl.lock"
    with lock.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        changed = payload("PreCompact", said="Never lose this.")
        assert document(project("fuse", "save", input=changed)) is None
    assert len(status(project)["incidents"]) == 1
    raw = sqlite3.connect(project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3")
    raw.execute("BEGIN EXCLUSIVE")
    assert "login page" in told(project("fuse", "restore", input=payload("SessionStart")))
    raw.close()
    # The harness is told how long to wait: longer than we take.
    project("setup", "claude-code", "--write")
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    for groups in settings["hooks"].values():
        for group in groups:
            assert all(one["timeout"] > HARD_SECONDS for one in group["hooks"])


def test_ch05_a_transcript_of_a_gigabyte_is_saved_too(project, payload):
    given = payload("PreCompact")
    path = Path(json.loads(given)["transcript_path"])
    line = path.read_bytes()
    with path.open("r+b") as file:
        file.truncate(1 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + line.replace(b"Ship the login page", b"Then the logout"))
    assert document(project("fuse", "save", input=given)) is None
    # However slow the disk is: what was read within the time is saved, and is said to be a part.
    saved = status(project)["sessions"][0]
    text = project("fuse", "restore", "--plain").out.decode()
    assert "Ship the login page" in text
    assert saved["partial"] != ("Then the logout" in text)


def test_ch07_a_word_that_only_the_talk_holds_comes_back_and_there_is_a_second_way(
    project, payload
):
    said = "The canary is quetzal-4711. Ship the login page."
    project("fuse", "save", input=payload("PreCompact", said=said))
    assert "quetzal-4711" in told(project("fuse", "restore", input=payload("SessionStart")))
    assert b"quetzal-4711" in project("fuse", "restore", "--plain", "--session", "s-1").out
    # Whether the harness showed it to the model is to be asked of the model itself.
    page = HOW_TO.read_text()
    assert "canary" in page
    assert "fuse restore --plain --session" in page


def test_ch08_starts_that_are_replayed_say_the_same_and_store_nothing(project, payload):
    project("fuse", "save", input=payload("PreCompact"))
    log = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl"
    before = log.read_bytes()
    texts = {told(project("fuse", "restore", input=payload("SessionStart"))) for _ in range(3)}
    assert len(texts) == 1
    assert log.read_bytes() == before
    assert "Session s-1, compaction 1, saved 20" in texts.pop()


def test_ch09_every_kind_of_start_is_matched_and_a_narrow_entry_of_ours_is_rewritten(project, home):
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    old = {"type": "command", "command": "/old/bin/contextspindle fuse restore", "timeout": 15}
    settings.write_text(
        json.dumps({"hooks": {"SessionStart": [{"matcher": "startup|resume", "hooks": [old]}]}})
    )
    assert project("fuse", "setup", "--check").status == 6
    assert project("setup", "claude-code", "--hooks", "--write").status == 0
    groups = json.loads(settings.read_text())["hooks"]["SessionStart"]
    assert len(groups) == 1
    kinds = set(groups[0]["matcher"].split("|"))
    assert kinds >= {"startup", "resume", "clear", "compact", "fork"}
    assert groups[0]["hooks"][0]["command"] == f"{project.path} fuse restore"


@pytest.mark.parametrize("budget", ["9500", "9999", "10000", "10001", "30000"])
def test_ch11_what_is_handed_over_stays_below_the_limit_and_begins_with_what_matters(
    project, payload, budget
):
    project("task", "create", "Ship it", "--next", "write the logout")
    given = payload("PreCompact", said="Ship the login page. Never use tabs.")
    with open(json.loads(given)["transcript_path"], "a") as file:
        for n in range(200):
            text = f"Rope {n} of mast_{n} is {n} cm long " + "and sound " * 12
            message = {"role": "assistant", "content": text}
            entry = {"type": "assistant", "sessionId": "s-1", "isSidechain": False, "uuid": "u"}
            file.write(json.dumps({**entry, "message": message}) + "\n")
    project("fuse", "save", input=given)
    setting = {"CONTEXTSPINDLE_FUSE_BUDGET": budget}
    text = told(project("fuse", "restore", input=payload("SessionStart"), env=setting))
    assert size(text) <= 9_500
    assert size(text) > 5_000
    start = text.encode()[:2_000].decode(errors="ignore")
    for fact in ("Ship the login page", "Never use tabs", "write the logout"):
        assert fact in start
    assert "Left out: " in text
    assert text.endswith("[/ContextSpindle]\n")
    if int(budget) > 9_500:
        assert project("fuse", "restore", "--plain", "--budget", budget).status == 2


EVENTS = (
    {"hook_event_name": "PreCompact", "trigger": "manual"},
    {"hook_event_name": "PreCompact", "trigger": "auto", "agent_id": "a1", "agent_type": "x"},
    {"hook_event_name": "SubagentStop", "agent_type": "", "last_assistant_message": "<summary>x"},
    {"hook_event_name": "SubagentStop", "agent_type": "x", "last_assistant_message": "done"},
    *(
        {"hook_event_name": "SessionStart", "source": source}
        for source in ("startup", "resume", "clear", "compact", "fork", "something new")
    ),
    {"hook_event_name": "Stop"},
    {"hook_event_name": "SessionEnd", "reason": "other"},
    {"hook_event_name": "PostCompact", "trigger": "auto", "compact_summary": "x"},
    {"hook_event_name": "Unheard"},
)


def test_ch13_every_event_is_answered_by_one_document_or_by_nothing(project, payload, create):
    task = create("Ship it", "--next", "write")
    call = {
        "type": "tool_use",
        "id": "c",
        "name": "Bash",
        "input": {"command": f"contextspindle task show {task}"},
    }
    for fresh in (True, False):
        for event in EVENTS:
            given = json.loads(payload("PreCompact"))
            entry = {
                "type": "assistant",
                "sessionId": "s-1",
                "isSidechain": False,
                "uuid": "u2",
                "message": {"role": "assistant", "content": [call]},
            }
            with open(given["transcript_path"], "a") as file:
                file.write(json.dumps(entry) + "\n")
            given = json.dumps({**given, **event}).encode()
            loud = {"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1", "PYTHONVERBOSE": "1"}
            for verb in ("save", "restore"):
                done = project("fuse", verb, input=given, env=loud)
                document(done)
                assert done.out.count(b"\n") <= 1
        if fresh:  # and once more where everything is to be made first
            for path in sorted((project.folder / ".contextspindle").rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            (project.folder / ".contextspindle").rmdir()


def test_ch14_a_greeting_of_the_shell_does_not_reach_the_answer_and_is_found(
    project, home, payload
):
    project("fuse", "save", input=payload("PreCompact"))
    project("setup", "claude-code", "--write")
    for name in (".bashrc", ".bash_profile", ".profile", ".zshenv"):
        (home / name).write_text("echo Ahoy-from-the-shell\n")
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    for shell in ("sh", "bash"):
        ran = subprocess.run(
            [shell, "-c", command],
            input=payload("SessionStart"),
            env=project.environment,
            cwd=project.folder,
            capture_output=True,
        )
        assert "login page" in json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"]
    login = subprocess.run(
        ["bash", "-lc", command],
        input=payload("SessionStart"),
        env=project.environment,
        cwd=project.folder,
        capture_output=True,
    )
    greeting, _, rest = login.stdout.partition(b"\n")
    assert b"Ahoy" in greeting  # the shell's own doing, and what ours adds is one document
    assert "login page" in rest.decode()
    assert project("fuse", "setup", "--check").status == 0
    spoiled = {"SHELL": "/bin/bash", "BASH_ENV": str(home / ".bashrc")}
    found = project("fuse", "setup", "--check", "--json", env=spoiled)
    assert (found.status, found.error["code"]) == (6, "SETUP_INCOMPLETE")
    assert "Ahoy-from-the-shell" in found.error["message"]
    assert str(home / ".bashrc") in found.error["message"]


def test_ch17_making_and_setting_up_again_leave_a_snapshot_as_it_is(project, payload):
    project("fuse", "save", input=payload("PreCompact"))
    log = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl"
    before, text = log.read_bytes(), told(project("fuse", "restore", input=payload("SessionStart")))
    for words in (
        ("init",),
        ("fuse", "setup", "--write"),
        ("fuse", "setup", "--write"),
        ("init", "--accept"),
    ):
        assert project(*words).status == 0
    assert log.read_bytes() == before
    assert told(project("fuse", "restore", input=payload("SessionStart"))) == text
