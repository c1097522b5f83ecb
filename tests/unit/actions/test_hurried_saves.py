"""A save that had no time for all of a transcript: it says so, and points to nothing uncertain."""

from __future__ import annotations

import fcntl
import re

import pytest

from contextspindle.actions.fuse import Fuse
from contextspindle.errors import StoreBusy
from contextspindle.harness import claude_code, lines
from contextspindle.store import snapshots
from contextspindle.store.snapshots import JsonLinesLog
from tests.transcripts import SESSION, says, user, written


@pytest.fixture
def fuse(ledger, clock, tmp_path):
    return Fuse(JsonLinesLog(str(tmp_path / "fuse" / "ledger.jsonl")), lambda: ledger, clock=clock)


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A session too long for the time there is: small sizes stand for the real ones."""
    for name, value in {
        "CHUNK": 1_000, "HEAD": 4_000, "TAIL": 8_000, "GLIMPSE": 6_000, "LEAST": 1_000,
    }.items():  # fmt: skip
        monkeypatch.setattr(lines, name, value)
    middle = [says(f"I look at part {number} of the parser.") for number in range(2_000)]
    entries = [
        user("Mend the parser."),
        *middle,
        user("Then ship it to all of the northern harbours."),
        says("Shipping."),
    ]
    return written(tmp_path / "session.jsonl", entries)


def running(step):
    """Three seconds, fewer with every look at them."""
    left = [3.0]

    def look():
        left[0] -= step
        return left[0]

    return look


def hurried(fuse, path, step=0.1):
    transcript = claude_code.read(path, SESSION).within(running(step))
    saved = fuse.save(SESSION, transcript, harness="claude-code")
    return saved, fuse.restore(SESSION, 6_000).text


def test_it_says_how_much_was_read(fuse, path):
    saved, text = hurried(fuse, path)
    read = saved.reading.bytes - saved.reading.skipped
    assert 0 < read < saved.reading.bytes / 4
    assert f"read from the end: {read:,} of {saved.reading.bytes:,} bytes read." in text
    assert "Then ship it to all of the northern harbours." in text
    assert "Mend the parser." in text
    assert "compaction" not in text.split("\n")[1]  # boundaries may have been passed over


def test_pointers_to_lines_that_were_counted_stay_right(fuse, path):
    saved, text = hurried(fuse, path)
    assert saved.reading.guessed == 0
    assert "[L2002] Then ship it to all of the northern harbours." in text
    assert fuse.source(2002, SESSION, lambda _: claude_code.read(path, SESSION)) == [
        "Then ship it to all of the northern harbours."
    ]


def test_there_is_no_pointer_to_a_line_whose_number_is_not_sure(fuse, path, monkeypatch):
    monkeypatch.setattr(lines, "COUNTED", 0)
    saved, text = hurried(fuse, path)
    assert saved.reading.guessed > 0
    assert "[-] Then ship it to all of the northern harbours." in text
    assert "[L1] Mend the parser." in text
    numbers = [int(one) for one in re.findall(r"\[L(\d+)\] ", text)]
    assert all(number < saved.reading.guessed for number in numbers)


def test_with_time_enough_nothing_is_said(fuse, path):
    _, text = hurried(fuse, path, step=0.0)
    assert "read from the end" not in text


def test_what_a_restore_waits_behind_waits_only_briefly_for_another_writer(
    fuse, tmp_path, monkeypatch
):
    monkeypatch.setattr(snapshots, "BRIEFLY", 0.01)
    path = written(tmp_path / "short.jsonl", [user("Mend the parser."), says("I do.")])
    fuse.save(SESSION, claude_code.read(path, SESSION), harness="claude-code")
    written(tmp_path / "short.jsonl", [user("Mend the parser."), says("I do."), user("And ship.")])
    late = claude_code.read(path, SESSION)
    with open(tmp_path / "fuse" / "ledger.jsonl.lock", "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreBusy, match=r"0\.01 seconds"):
            fuse.save(SESSION, late, harness="claude-code", trigger="late")
        with pytest.raises(StoreBusy, match=r"0\.01 seconds"):
            fuse.hear(SESSION, "They mended the parser.")
