"""How many calls run, what they leave open, and what becomes of those that are cancelled."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import threading

import anyio
import pytest

from contextspindle import Request, make_workspace
from contextspindle.mcp_server import client as clients
from contextspindle.mcp_server import lanes
from contextspindle.mcp_server.client import Client as Seat
from contextspindle.mcp_server.lanes import Lane

from .test_stdio import cancelling, text_of


class Held:
    """A call that runs until it is let go."""

    def __init__(self):
        self.begun = threading.Semaphore(0)
        self.free = threading.Event()
        self.ran = 0

    def __call__(self):
        self.ran += 1
        self.begun.release()
        assert self.free.wait(20)
        return self.ran


def test_a_cancelled_call_keeps_its_place_until_it_ends_and_one_that_waits_is_dropped():
    held = Held()
    later = []

    async def talk():
        lane = Lane(2)
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(lane.run, held)
            for _ in range(2):
                assert await anyio.to_thread.run_sync(held.begun.acquire, True, 20)
            tasks.cancel_scope.cancel()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lane.run, lambda: later.append("ran"))
            await anyio.sleep(0.1)
            assert (held.ran, later, lane.busy) == (2, [], True)
            held.free.set()
        assert (held.ran, later) == (2, ["ran"])
        await quiet(lane)

    anyio.run(talk)


def test_what_has_not_begun_when_a_lane_is_stopped_never_begins():
    held = Held()

    async def talk():
        lane = Lane(1)
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(lane.run, held)
            assert await anyio.to_thread.run_sync(held.begun.acquire, True, 20)
            lane.stop()
            held.free.set()
            await quiet(lane)
            assert held.ran == 1
            tasks.cancel_scope.cancel()

    anyio.run(talk)


def test_a_call_that_is_cancelled_at_any_moment_gives_its_place_back():
    async def talk():
        lane = Lane(1)
        for moments in range(8):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lane.run, list)
                for _ in range(moments):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
            await quiet(lane)
        with anyio.fail_after(20):
            assert await lane.run(list) == []

    anyio.run(talk)


async def quiet(lane):
    """Returns when nothing runs in it."""
    with anyio.fail_after(20):
        while lane.busy:
            await anyio.sleep(0.01)


@pytest.fixture
def locked(project):
    """The ledger of the project, locked by somebody else until the test ends the lock."""
    raw = sqlite3.connect(
        project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3", isolation_level=None
    )
    raw.execute("BEGIN IMMEDIATE")
    yield raw
    raw.close()


def test_a_read_does_not_stand_behind_writers_that_wait(line, locked):
    server = line()
    server.greet()
    for number in range(1, 2 * lanes.THREADS):
        server.call(number, "task_create", goal=f"g{number}")
    server.call(50, "task_inbox")
    assert server.read()["id"] == 50
    locked.execute("ROLLBACK")
    assert len(server.rest()) == 2 * lanes.THREADS - 1


def test_cancelled_writes_do_not_pile_up_beside_the_limit(line, locked, project):
    server = line()
    server.greet()
    for number in range(1, 31):
        server.call(number, "task_create", goal=f"g{number}")
    server.call(50, "task_inbox")
    assert server.read()["id"] == 50
    server.send(*(cancelling(number) for number in range(1, 31)))
    server.send({"jsonrpc": "2.0", "id": 51, "method": "ping"})
    assert server.read()["id"] == 51
    locked.execute("ROLLBACK")
    server.call(52, "task_create", goal="last")
    assert server.read()["id"] == 52
    assert server.rest() == []
    assert make_workspace(str(project.folder)).ledger().inbox(100).total <= lanes.THREADS + 1


@pytest.fixture
def many(project):
    """Ten workspaces below the project's folder."""
    first = project.folder / "p0"
    first.mkdir()
    space = make_workspace(str(first))
    space.ledger().create(Request(set={"goal": "one"}))
    space.ledger()
    folders = [project.folder / f"p{number}" for number in range(1, 10)]
    for folder in folders:
        shutil.copytree(first, folder)
    return [first, *folders]


def open_files():
    return {
        os.readlink(f"/proc/self/fd/{one}")
        for one in os.listdir("/proc/self/fd")
        if os.path.lexists(f"/proc/self/fd/{one}")
    }


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="looks at open files as Linux shows")
def test_a_few_workspaces_stay_open_and_the_others_are_closed(project, many, monkeypatch):
    monkeypatch.chdir(project.folder)
    seat = Seat()
    for folder in many * 2:
        assert seat.find(folder.name).ledger().inbox(1).total == 1
    opened = open_files()
    kept = [one.name for one in many[1:] if f"{one}/.contextspindle/tasks/ledger.sqlite3" in opened]
    assert kept == ["p8", "p9"]


def test_a_server_that_has_no_file_left_lets_go_of_what_it_has_open_and_goes_on(
    line, project, many, monkeypatch
):
    monkeypatch.setattr(clients, "KEPT", 100)
    monkeypatch.setattr(lanes, "THREADS", 1)
    server = line()
    server.greet()
    server.call(1, "task_inbox", workspace="p0")
    assert "one" in text_of(server.read())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(int(one) for one in os.listdir("/dev/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 12, hard))
    try:
        for number, folder in enumerate(many * 2, 10):
            server.call(number, "task_inbox", workspace=folder.name)
            assert "one" in text_of(server.read())
        server.call(90, "task_create", goal="g", workspace="p1")
        said = server.read()
        if said["result"].get("isError"):
            assert "call again" in text_of(said).lower()
            server.call(91, "task_create", goal="g", workspace="p1")
            said = server.read()
        assert "created" in text_of(said)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
