"""Claims by many processes at one moment: one has the task, and no task is had twice."""

from __future__ import annotations

import json

import pytest

from contextspindle.core.change import Request
from contextspindle.store.inspect import inspect
from contextspindle.store.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path):
    made = str(tmp_path / "tasks" / "ledger.sqlite3")
    SqliteStore(made).create()
    return made


@pytest.fixture
def ledger(path, make_ledger, ids):
    store = SqliteStore(path)
    yield make_ledger(store, ids=ids)
    store.close()


def check_sound(path):
    report = inspect(SqliteStore(path), deep=True)
    assert (report.findings, report.unchecked) == ((), ())


def test_of_thirty_two_processes_that_claim_one_task_exactly_one_has_it(
    worker, path, ledger, long_run
):
    rounds = 200 if long_run else 20
    tasks = [ledger.create(Request({"goal": f"{turn}"})).task.id for turn in range(rounds)]
    workers = [worker("claim_rounds", path, number) for number in range(32)]
    assert [one.line() for one in workers] == ["ready"] * 32
    for one in workers:
        one.tell(json.dumps(tasks))
    won = sorted(turn for one in workers for turn in one.result())
    assert won == list(range(rounds))
    for task_id in tasks:
        task = ledger.show(task_id)
        assert task.version == 2
        assert ledger.view(task_id).lease.holder == task.claim != ""
    check_sound(path)


def test_sixteen_processes_that_take_the_best_ready_task_never_take_one_twice(
    together, path, ledger
):
    made = [
        ledger.create(Request({"goal": f"{number}", "priority": number % 5})).task.id
        for number in range(40)
    ]
    blocked = ledger.create(Request({"goal": "blocked", "status": "blocked", "blocker": "b"}))
    waiting = ledger.create(Request({"goal": "waits"}, add_dependencies=(made[0],)))
    taken = together("claim_until_nothing_is_ready", path, 16)
    assert sorted(task_id for some in taken for task_id in some) == sorted(made)
    for number, some in enumerate(taken):
        for task_id in some:
            task = ledger.show(task_id)
            assert (task.owner, task.claim) == (f"{number}", f"worker {number}")
    for other in (blocked, waiting):
        assert ledger.show(other.task.id).claim == ""
    check_sound(path)


def test_of_notes_that_sixteen_processes_append_none_is_lost(together, path, ledger, long_run):
    made = ledger.create(Request({"goal": "shared"})).task.id
    name, workers, each = ("append_many_notes", 16, 50) if long_run else ("append_notes", 16, 15)
    assert together(name, path, workers) == ["done"] * workers
    task = ledger.show(made)
    assert task.version == 1 + workers * each
    assert [entry.version for entry in task.notes] == [*range(2, task.version + 1)]
    assert {entry.text for entry in task.notes} == {
        f"{number}.{one}" for number in range(workers) for one in range(each)
    }
    check_sound(path)
