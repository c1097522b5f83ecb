"""The writers' queue: one at a time, in turn, a bounded wait, and nothing left behind."""

from __future__ import annotations

import _thread
import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from contextspindle.errors import SpindleError, StoreBusy, WorkspaceRefused
from contextspindle.store.lock import Lock

WITHIN = 10.0  # how long a test waits for what must come at once


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "lock")


def threads_become(count: int) -> bool:
    until = time.monotonic() + WITHIN
    while _thread._count() != count and time.monotonic() < until:
        time.sleep(0.001)
    return _thread._count() == count


@pytest.fixture(autouse=True)
def no_thread_stays():
    """Who gave up still waits in the kernel; once the lock was free, that has an end too."""
    before = _thread._count()
    yield
    assert threads_become(before)


def is_free(path: str) -> bool:
    """Whether another process could have the lock now."""
    handle = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def test_the_lock_is_held_inside_the_block_and_free_behind_it(path):
    with Lock(path):
        assert not is_free(path)
    assert is_free(path)


def test_the_lock_is_given_back_when_the_block_raises(path):
    with pytest.raises(KeyError), Lock(path):
        raise KeyError
    assert is_free(path)


def test_one_lock_can_be_used_again(path):
    lock = Lock(path)
    for _ in range(3):
        with lock:
            assert not is_free(path)


def test_a_wait_that_is_too_long_ends_with_store_busy_and_says_how_long(path):
    with Lock(path):
        began = time.monotonic()
        with pytest.raises(StoreBusy, match=r"for 0\.2 seconds; nothing was written") as caught:
            Lock(path, wait=0.2).__enter__()
        assert time.monotonic() - began >= 0.2
    assert caught.value.exit_status == 75


def test_one_who_gave_up_does_not_keep_the_lock_that_came_too_late(path):
    before = _thread._count()
    with Lock(path):
        for _ in range(3):
            with pytest.raises(StoreBusy):
                Lock(path, wait=0.01).__enter__()
        assert threads_become(before + 3)
    # Each of them still has its turn in the kernel's queue, and must pass it on.
    assert threads_become(before)
    assert is_free(path)


def test_one_who_waits_has_the_lock_as_soon_as_it_is_free(path):
    had = threading.Event()

    def second() -> None:
        with Lock(path, wait=WITHIN):
            had.set()

    with Lock(path):
        waiting = threading.Thread(target=second)
        waiting.start()
        assert not had.wait(0.1)
    assert had.wait(WITHIN)
    waiting.join(WITHIN)


def test_only_one_of_many_is_inside_at_a_time(path):
    inside: list[int] = []
    most: list[int] = []

    def writer() -> None:
        for _ in range(20):
            with Lock(path, wait=WITHIN):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    writers = [threading.Thread(target=writer) for _ in range(8)]
    for one in writers:
        one.start()
    for one in writers:
        one.join(WITHIN)
    assert len(most) == 160
    assert max(most) == 1


def test_a_process_that_is_killed_leaves_the_lock_free(path):
    program = (
        "import sys; from contextspindle.store.lock import Lock\n"
        f"with Lock({path!r}):\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"held\n"
        assert not is_free(path)
        holder.kill()
        holder.wait(WITHIN)
    assert is_free(path)


def test_a_child_process_does_not_inherit_the_lock(path):
    with Lock(path):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        assert is_free(path)
    finally:
        child.kill()
        child.wait()


def test_the_file_is_private_and_stays(path):
    before = os.umask(0)
    try:
        with Lock(path):
            pass
    finally:
        os.umask(before)
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_a_link_in_its_place_is_refused_and_no_file_made(path, tmp_path):
    os.symlink(tmp_path / "target", path)
    with pytest.raises(WorkspaceRefused):
        Lock(path).__enter__()
    assert not (tmp_path / "target").exists()


def test_a_folder_that_is_not_there_is_an_error_on_purpose(tmp_path):
    with pytest.raises(SpindleError, match="No such file"):
        Lock(str(tmp_path / "gone" / "lock")).__enter__()
