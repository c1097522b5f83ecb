"""A task is what its changes make of it: replaying them gives every state it ever had."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given

from contextspindle.core import canon, change
from contextspindle.core.change import Request
from contextspindle.core.digest import NONE, chained
from contextspindle.core.task import from_document, state_bytes, state_digest
from contextspindle.errors import SpindleError
from contextspindle.store.ephemeral import EphemeralStore
from tests.strategies import stories


def lived(stories, clock, ledger):
    """Lead one task through all that is not refused; its states, one a version."""
    states = [ledger.create(Request({"goal": "begin"}, decisions=("first",))).task]
    for request, passed in stories:
        clock.forward(passed)
        try:
            outcome = ledger.update(states[-1].id, request)
        except SpindleError:
            continue
        assert outcome.changed == (outcome.task != states[-1])
        if outcome.changed:
            states.append(outcome.task)
    return states


class Clock:
    def __init__(self):
        self.now = 1_000

    def __call__(self):
        return self.now

    def forward(self, ms):
        self.now += ms


@given(stories)
def test_replaying_the_changes_gives_every_state(make_ledger, stories):
    clock, store = Clock(), EphemeralStore()
    ledger = make_ledger(store, clock=clock)
    states = lived(stories, clock, ledger)
    steps = [step for _, step in store.chains[states[0].id]]
    assert [step.version for step in steps] == [*range(1, len(states) + 1)]
    replayed = change.begin(steps[0])
    for state, step in zip(states, [None, *steps[1:]]):
        if step is not None:
            replayed = change.apply(replayed, step)
        assert replayed == state
        assert ledger.show(state.id, version=state.version) == state


@given(stories)
def test_each_change_holds_the_digest_of_the_state_it_leads_to(make_ledger, stories):
    clock, store = Clock(), EphemeralStore()
    states = lived(stories, clock, make_ledger(store, clock=clock))
    steps = [step for _, step in store.chains[states[0].id]]
    assert [step.state for step in steps] == [state_digest(state) for state in states]


@given(stories)
def test_stored_bytes_alone_give_the_chain_and_the_states(make_ledger, stories):
    clock, store = Clock(), EphemeralStore()
    states = lived(stories, clock, make_ledger(store, clock=clock))
    previous = NONE
    for digest, step in store.chains[states[0].id]:
        body = change.change_bytes(step)
        again = change.from_document(canon.decode(body))
        assert again == step
        assert change.change_bytes(again) == body
        assert digest == chained(states[0].id, previous, body)
        previous = digest
    for state in states:
        assert from_document(canon.decode(state_bytes(state))) == state


@given(stories)
def test_a_history_tells_each_field_as_it_was_and_as_it_became(make_ledger, stories):
    clock = Clock()
    ledger = make_ledger(clock=clock)
    states = lived(stories, clock, ledger)
    steps = ledger.history(states[0].id, 1, 100).steps
    for before, after, step in zip(states, states[1:], steps[1:]):
        for name, value in step.change.set.items():
            told = step.before[name]
            assert value == plain(getattr(after, name))
            assert told == plain(getattr(before, name)) or (
                told is None and not getattr(before, name)
            )
            assert getattr(before, name) != getattr(after, name)


def plain(value):
    return list(value) if isinstance(value, tuple) else value


@given(stories)
def test_rules_hold_in_every_state(make_ledger, stories):
    clock = Clock()
    states = lived(stories, clock, make_ledger(clock=clock))
    for before, after in pairwise(states):
        assert after.version == before.version + 1
        assert after.updated >= before.updated
        assert after.created == before.created
        decided = len(after.decisions) > len(before.decisions)
        if before.goal != after.goal or before.criteria != after.criteria:
            assert decided
        if before.status != after.status and (
            after.status == "cancelled" or before.status in ("done", "cancelled")
        ):
            assert decided
        for name in ("decisions", "evidence", "notes"):
            assert getattr(after, name)[: len(getattr(before, name))] == getattr(before, name)
    for state in states:
        assert state.goal.strip()
        assert state.status != "blocked" or state.blocker
        assert state.status != "done" or (state.criteria and not state.blocker and state.evidence)
