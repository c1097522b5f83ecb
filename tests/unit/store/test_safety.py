"""Daily copies: what the command cannot show, because it would need a disk of a certain size."""

from __future__ import annotations

import os

import pytest

from contextspindle.errors import StoreFull
from contextspindle.store.safety import copies, daily
from contextspindle.store.sqlite import copy_due

DAY = 86_400_000


@pytest.fixture
def path(sqlite_store) -> str:
    found: str = sqlite_store.path
    os.utime(found + ".lock", (0, 0))
    return found


def test_a_copy_that_would_leave_too_little_room_is_not_made(sqlite_store, path, monkeypatch):
    real = os.statvfs(os.path.dirname(path))
    few = 16 * 1024 * 1024 // real.f_frsize  # what is to stay free, and nothing for the copy
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*real[:4], few, *real[5:])))
    with pytest.raises(StoreFull):
        daily(sqlite_store, 5 * DAY, keep=7, most_mb=64)
    assert copies(path, 7, 64).days == ()
    assert not copy_due(path, 5 * DAY)  # once a day is enough to find that out


def test_a_day_begins_at_midnight_in_utc_and_has_one_copy(sqlite_store, path):
    for at, made in ((DAY, True), (2 * DAY - 1, False), (2 * DAY, True), (2 * DAY + 1, False)):
        assert copy_due(path, at) is made
        assert bool(daily(sqlite_store, at, keep=7, most_mb=64)) is made
    assert copies(path, 7, 64).days == ("1970-01-02", "1970-01-03")


def test_a_day_that_comes_again_under_a_wrong_clock_keeps_its_copy(sqlite_store, path):
    first = daily(sqlite_store, 3 * DAY, keep=7, most_mb=64)
    inode = os.stat(first).st_ino
    assert daily(sqlite_store, 4 * DAY, keep=7, most_mb=64)
    assert copy_due(path, 3 * DAY)
    assert daily(sqlite_store, 3 * DAY, keep=7, most_mb=64) == ""
    assert os.stat(first).st_ino == inode


def test_without_its_side_file_no_copy_is_due(path):
    os.unlink(path + ".lock")
    assert not copy_due(path, 9 * DAY)
