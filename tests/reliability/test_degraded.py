"""A ledger that is damaged or cannot be written: one clear line and advice, and hooks go on."""

from __future__ import annotations

import json
import os
import random
import shutil

import pytest

from tests.crash.cases import ARCHIVE, BACKUP, KEPT, LEAKED, TRANSCRIPT, make_project
from tests.databases import by_hand
from tests.reliability.ledgers import kill_a_writer

READS = [
    ("task", "inbox"),
    ("task", "list"),
    ("task", "ready"),
    ("task", "show", KEPT),
    ("task", "context", KEPT),
    ("task", "history", KEPT),
    ("task", "children", KEPT),
    ("task", "search", "kept"),
    ("export", "-"),
]
WRITES = [
    ("task", "create", "new"),
    ("task", "update", KEPT, "--note", "n"),
    ("task", "claim", KEPT),
    ("task", "claim", "--next"),
    ("task", "prove", KEPT, "--", "true"),
    ("import", ARCHIVE),
    ("restore", BACKUP),
    ("purge", "--write"),
]
OTHERS = [("verify",), ("backup", "again")]
HOOKS = [("fuse", "save"), ("fuse", "restore")]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A project whose ledger is one file, with no log beside it."""
    folder = tmp_path_factory.mktemp("kept") / "project"
    folder.mkdir()
    store = make_project(folder, tmp_path_factory.mktemp("aside"))
    store.open_writer().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    for left in ("-wal", "-shm"):
        if os.path.exists(store.path + left):
            os.unlink(store.path + left)
    return folder


@pytest.fixture
def project(command, kept):
    """A copy of it, in the folder in which the command runs."""
    shutil.copytree(kept, command.folder, dirs_exist_ok=True)
    return command.folder


def payload(folder, event):
    return json.dumps(
        {
            "session_id": "s1",
            "transcript_path": str(folder / TRANSCRIPT),
            "cwd": str(folder),
            "hook_event_name": event,
            "trigger": "auto",
            "source": "compact",
        }
    ).encode()


def check_one_clear_line(done, words):
    """It worked, or it said so in a line that names a code, and a line that says what to do."""
    assert done.status in (0, 3, 4, 5, 7), (words, done)
    if done.status == 0 or words[0] == "verify":
        return
    lines = done.err.decode().splitlines()
    assert len(lines) == 2, (words, lines)
    assert lines[0].startswith("contextspindle: "), (words, lines)
    assert lines[0].endswith("]"), (words, lines)
    assert "Traceback" not in lines[0]


def damaged(content, page, chance):
    """The file with one page of it overwritten."""
    return content[: page * 4_096] + chance.randbytes(4_096) + content[(page + 1) * 4_096 :]


def test_whichever_page_is_overwritten_every_command_says_so_clearly(
    command, project, long_run, tmp_path
):
    path = project / ".contextspindle" / "tasks" / "ledger.sqlite3"
    whole = path.read_bytes()
    pages = len(whole) // 4_096
    chance = random.Random(3)
    # Damage of page 5 shows in one command only when its reading ends.
    chosen = range(pages) if long_run else [0, 1, 5, *chance.sample(range(6, pages), 2)]
    for page in chosen:
        broken = damaged(whole, page, chance)
        for words in (*READS, *WRITES, *OTHERS):
            for one in path.parent.iterdir():
                if one.is_file():
                    one.unlink()
            path.write_bytes(broken)
            shutil.rmtree(project / "again", ignore_errors=True)
            done = command(*words, input=LEAKED)
            check_one_clear_line(done, words)
            if words == ("verify",):
                assert done.status == 7, page
                assert "Traceback" not in (done.out + done.err).decode()
            if words[0] == "backup":
                assert done.status == 7, page
                assert not (project / "again").exists()
        for words in HOOKS:
            event = "PreCompact" if words[1] == "save" else "SessionStart"
            done = command(*words, input=payload(project, event))
            assert done.status == 0, (page, words, done)
            assert b"Traceback" not in done.out + done.err
        assert b"harbour plan" in command(*HOOKS[1], input=payload(project, "SessionStart")).out


def test_a_task_that_cannot_be_read_is_told_with_the_command_that_finds_the_rest(command, project):
    path = project / ".contextspindle" / "tasks" / "ledger.sqlite3"
    path.write_bytes(path.read_bytes().replace(b'"goal":"kept"', b'"goal":"kopt"'))
    done = command("task", "show", KEPT)
    assert done.status == 7
    first, second = done.err.decode().splitlines()
    assert KEPT in first
    assert str(path) in first
    assert "contextspindle verify" in second
    assert "backup" in second


@pytest.fixture
def bound(command, tmp_path):
    """The command, bound by permissions: root goes without the right to pass over them."""
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root may write everything, and there is no setpriv to take that away")
        wrapper = tmp_path / "bound"
        rights = "-dac_override,-dac_read_search"
        wrapper.write_text(
            f"#!/bin/sh\nexec setpriv --bounding-set={rights} --inh-caps={rights}"
            f" '{command.path}' \"$@\"\n"
        )
        wrapper.chmod(0o700)
        command.path = str(wrapper)
    return command


def test_an_interrupted_write_is_not_read_by_who_cannot_undo_it(bound, project):
    place = project / ".contextspindle" / "tasks"
    path = place / "ledger.sqlite3"
    with by_hand(path) as raw:
        raw.execute("PRAGMA journal_mode=DELETE")
    kill_a_writer(str(path))
    for one in (*place.iterdir(), place):
        if not one.is_dir() or one == place:
            os.chmod(one, 0o500)
    try:
        for words in READS:
            done = bound(*words)
            if words[0] == "task":
                assert done.status == 7, (words, done)
                assert b"was interrupted" in done.err
            assert b"never said" not in done.out + done.err
            check_one_clear_line(done, words)
    finally:
        os.chmod(place, 0o700)


def test_a_ledger_that_may_not_be_written_is_read_and_every_write_says_so(bound, project):
    place = project / ".contextspindle"
    for folder, _, files in os.walk(place):
        for name in files:
            os.chmod(os.path.join(folder, name), 0o400)
        os.chmod(folder, 0o500)
    try:
        for words in READS:
            done = bound(*words)
            assert done.status == 0, (words, done)
        for words in WRITES:
            done = bound(*words, input=LEAKED)
            check_one_clear_line(done, words)
            assert done.status == 7, words
        for words in HOOKS:
            event = "PreCompact" if words[1] == "save" else "SessionStart"
            assert bound(*words, input=payload(project, event)).status == 0
    finally:
        for folder, _, _ in os.walk(place):
            os.chmod(folder, 0o700)
