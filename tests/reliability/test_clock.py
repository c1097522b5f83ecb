"""A clock that is set back, or far ahead, does not disturb a ledger."""

from __future__ import annotations

from contextspindle.core.change import Request
from contextspindle.core.claims import LEASE_MS
from contextspindle.store.inspect import inspect

DAY = 86_400_000


def sound(store):
    report = inspect(store, deep=True)
    return (report.findings, report.unchecked) == ((), ())


def test_versions_never_run_back_in_time_when_the_clock_is_set_back(
    sqlite_store, make_ledger, clock
):
    ledger = make_ledger(sqlite_store, clock=clock)
    made = ledger.create(Request({"goal": "x", "criteria": ["c"]})).task
    clock.now -= 400 * DAY
    for number in range(3):
        clock.now -= DAY
        ledger.update(made.id, Request(notes=(f"{number}",), evidence=((f"{number}", 0),)))
    clock.now += 1_000 * DAY
    task = ledger.update(made.id, Request({"status": "done"})).task
    times = [step.change.at for step in ledger.history(made.id).steps]
    assert times == sorted(times)
    assert times[:4] == [made.created] * 4
    assert [entry.at for entry in task.notes] == [made.created] * 3
    assert (task.created, task.updated) == (made.created, clock.now)
    assert sound(sqlite_store)


def test_a_lease_does_not_shrink_and_is_not_lost_when_the_clock_is_set_back(
    sqlite_store, make_ledger, clock
):
    ledger = make_ledger(sqlite_store, clock=clock)
    made = ledger.create(Request({"goal": "x"})).task.id
    claimed = ledger.claim(made)
    clock.now -= DAY
    ledger.update(made, Request({"next": "go on"}), claim=claimed.token)
    assert ledger.view(made).lease.until == claimed.until
    renewed = ledger.renew(claimed.token)
    assert renewed.until == claimed.until
    assert not ledger.ready().items
    clock.now = claimed.until + 1
    taken = ledger.claim(made)
    assert taken.until == clock.now + LEASE_MS
    assert sound(sqlite_store)


def test_lists_and_readiness_hold_when_the_clock_runs_backwards_between_tasks(
    sqlite_store, make_ledger, clock
):
    ledger = make_ledger(sqlite_store, clock=clock)
    made = []
    for number in range(5):
        made.append(ledger.create(Request({"goal": f"{number}"})).task.id)
        clock.now -= DAY
    # The oldest of a priority is the one that was recorded first, whatever the clock said.
    assert [one.id for one in ledger.ready().items] == made
    assert [one.id for one in ledger.list().items] == made[::-1]
    assert [one.id for one in ledger.inbox().items] == made
    for task_id in made:
        assert ledger.claim_next().task.id == task_id
    assert sound(sqlite_store)


def test_a_clock_before_1970_is_survived(sqlite_store, make_ledger, clock):
    clock.now = -5
    ledger = make_ledger(sqlite_store, clock=clock)
    made = ledger.create(Request({"goal": "x"}, notes=("n",))).task
    assert ledger.claim(made.id).task.version == 2
    assert "goal: x" in ledger.context(made.id).text.lower()
    assert sound(sqlite_store)
