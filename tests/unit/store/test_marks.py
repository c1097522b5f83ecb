"""Marks: the older one stays, one at a time has it, and it is gone when it is settled."""

from __future__ import annotations

import os
import stat
import threading

from contextspindle.store.marks import KEEP_SECONDS, Marks


def test_a_mark_is_taken_left_and_settled(tmp_path):
    marks = Marks(str(tmp_path / "state" / "marks"))
    assert not marks.has("s")
    assert marks.take("s") is None
    marks.set("s", 41)
    marks.set("s", 97)  # what stands behind the older one is not settled yet
    assert marks.has("s")
    assert not marks.has("t")
    for _ in range(2):
        mark = marks.take("s")
        assert mark is not None
        assert mark.after == 41
        mark.leave()
    mark = marks.take("s")
    assert mark is not None
    mark.settle()
    assert marks.take("s") is None
    marks.set("s", 97)
    mark = marks.take("s")
    assert mark is not None
    assert mark.after == 97
    mark.leave()


def test_of_two_that_take_a_mark_one_waits_and_finds_it_settled(tmp_path):
    marks = Marks(str(tmp_path))
    marks.set("s", 1)
    mine = marks.take("s")
    assert mine is not None
    theirs: list[object] = []
    other = threading.Thread(target=lambda: theirs.append(marks.take("s")))
    other.start()
    assert theirs == []
    mine.settle()
    other.join()
    assert theirs == [None]


def test_a_mark_is_private_and_names_no_session(tmp_path):
    marks = Marks(str(tmp_path / "marks"))
    marks.set("a-session\n/agent", 1)
    (path,) = (tmp_path / "marks").iterdir()
    assert "session" not in path.name
    assert path.read_bytes() == b"1\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_only_marks_that_are_old_are_swept_away(tmp_path):
    marks = Marks(str(tmp_path))
    marks.set("old", 1)
    (old,) = tmp_path.iterdir()
    os.utime(old, (1_000, 1_000))
    marks.set("new", 1)
    marks.sweep(old.stat().st_mtime + KEEP_SECONDS + 1)
    assert not marks.has("old")
    assert marks.has("new")
    Marks(str(tmp_path / "nowhere")).sweep(0)
