"""The verbs of the ledger on every store: one promise each, one answer, one refusal."""

from __future__ import annotations

import pytest

from contextspindle.core.task import state_digest
from contextspindle.errors import (
    AmbiguousId,
    BudgetTooSmall,
    DoneRefused,
    IdempotencyConflict,
    InvalidInput,
    Refused,
    RingRefused,
    TaskNotFound,
    VersionConflict,
)

# -- create


def test_a_creation_gives_the_task_as_it_is_kept(on_store, ask):
    outcome = on_store.create(ask(goal="x", next="y"))
    assert outcome.changed
    assert outcome.task.version == 1
    assert on_store.show(outcome.task.id) == outcome.task


def test_an_id_that_is_taken_is_passed_over(store, make_ledger, ask):
    given = iter(["t-same", "t-same", "t-same", "t-other"])
    ledger = make_ledger(store, ids=lambda: next(given))
    assert ledger.create(ask(goal="one")).task.id == "t-same"
    assert ledger.create(ask(goal="two")).task.id == "t-other"


def test_a_refused_creation_leaves_nothing(on_store, ask):
    with pytest.raises(Refused):
        on_store.create(ask(goal="x", status="blocked"), key="k")
    assert on_store.list().total == 0
    assert on_store.create(ask(goal="x", status="blocked", blocker="y"), key="k").changed


def test_the_same_request_under_a_key_gives_the_task_as_it_is_now(on_store, ask):
    made = on_store.create(ask(goal="x", add_labels=("ui",)), key="k").task
    later = on_store.update(made.id, ask(status="active")).task
    again = on_store.create(ask(goal="x", add_labels=("ui",)), key="k")
    assert (again.task, again.changed) == (later, False)
    assert on_store.list().total == 1


def test_another_request_under_a_key_is_a_conflict_that_names_the_task(on_store, ask):
    made = on_store.create(ask(goal="x"), key="k").task
    with pytest.raises(IdempotencyConflict) as caught:
        on_store.create(ask(goal="y"), key="k")
    assert caught.value.details["task"] == made.id
    assert on_store.list().total == 1


def test_keys_are_told_apart_exactly(on_store, ask):
    ids = {on_store.create(ask(goal="x"), key=key).task.id for key in ("k", "K", " k", "k ", "ḱ")}
    assert len(ids) == 5


def test_without_a_key_the_same_request_makes_another_task(on_store, ask):
    assert on_store.create(ask(goal="x")).task.id != on_store.create(ask(goal="x")).task.id


def test_a_key_works_for_a_request_with_half_a_surrogate_pair(on_store, ask):
    made = on_store.create(ask(goal="a\ud800b"), key="k")
    assert made.task.goal == "a\ufffdb"
    assert on_store.create(ask(goal="a\ud800b"), key="k").task == made.task


# -- update


def test_an_update_gives_the_task_as_it_is_kept(on_store, clock, ask):
    made = on_store.create(ask(goal="x")).task
    clock.forward(10)
    after = on_store.update(made.id, ask(next="y")).task
    assert (after.version, after.next, after.updated - made.updated) == (2, "y", 10)
    assert on_store.show(made.id) == after


def test_an_update_that_changes_nothing_writes_nothing_and_says_so(on_store, clock, ask):
    made = on_store.create(ask(goal="x", add_labels=("ui",))).task
    clock.forward(10)
    for request in (ask(), ask(goal="x"), ask(status="todo"), ask(add_labels=("ui",))):
        assert on_store.update(made.id, request) == (made, False, ())
    assert on_store.history(made.id).total == 1


def test_an_expected_version_that_is_not_current_is_a_conflict_with_both_numbers(on_store, ask):
    made = on_store.create(ask(goal="x")).task
    on_store.update(made.id, ask(next="y"), expected=1)
    for stale in (1, 3, 0):
        with pytest.raises(VersionConflict) as caught:
            on_store.update(made.id, ask(next="z"), expected=stale)
        assert caught.value.details == {"expected": stale, "current": 2}
    assert on_store.show(made.id).next == "y"
    assert on_store.update(made.id, ask(next="z"), expected=2).task.version == 3


def test_a_conflict_is_told_even_if_the_request_changes_nothing(on_store, ask):
    made = on_store.create(ask(goal="x")).task
    with pytest.raises(VersionConflict):
        on_store.update(made.id, ask(goal="x"), expected=7)


def test_a_refused_update_leaves_the_task_as_it_was(on_store, ask):
    made = on_store.create(ask(goal="x")).task
    with pytest.raises(DoneRefused):
        on_store.update(made.id, ask(status="done", next="y", notes=("n",)))
    assert on_store.show(made.id) == made
    assert on_store.history(made.id).total == 1


def test_an_update_takes_the_whole_id_only(on_store, ask):
    made = on_store.create(ask(goal="x")).task
    with pytest.raises(TaskNotFound):
        on_store.update(made.id[:-1], ask(next="y"))
    with pytest.raises(InvalidInput):
        on_store.update(made.id[2:], ask(next="y"))


def test_closing_a_parent_with_open_children_warns_and_names_them(on_store, ask):
    parent = on_store.create(ask(goal="p", criteria=["c"])).task
    child = on_store.create(ask(goal="c", parent=parent.id)).task
    outcome = on_store.update(parent.id, ask(status="done", evidence=(("e", 0),)))
    assert outcome.changed
    assert len(outcome.warnings) == 1
    assert child.id in outcome.warnings[0]
    again = on_store.update(parent.id, ask(notes=("closed already",)))
    assert again.warnings == ()


def test_closing_a_parent_whose_children_are_closed_does_not_warn(on_store, ask):
    parent = on_store.create(ask(goal="p", criteria=["c"])).task
    on_store.create(ask(goal="c", parent=parent.id, status="cancelled"))
    outcome = on_store.update(parent.id, ask(status="done", evidence=(("e", 0),)))
    assert outcome.warnings == ()


def test_links_must_lead_to_tasks_and_close_no_ring(on_store, ask):
    a = on_store.create(ask(goal="a")).task.id
    b = on_store.create(ask(goal="b", add_dependencies=(a,))).task.id
    c = on_store.create(ask(goal="c", add_dependencies=(b,), parent=b)).task.id
    with pytest.raises(TaskNotFound):
        on_store.update(a, ask(parent="t-none"))
    with pytest.raises(TaskNotFound):
        on_store.update(a, ask(add_dependencies=("t-none",)))
    with pytest.raises(RingRefused) as caught:
        on_store.update(a, ask(add_dependencies=(c,)))
    assert caught.value.details["ring"] == [a, c, b, a]
    with pytest.raises(RingRefused) as caught:
        on_store.update(b, ask(parent=c))
    assert caught.value.details["ring"] == [b, c, b]
    for link in ({"parent": a}, {"add_dependencies": (a,)}):
        with pytest.raises(RingRefused):
            on_store.update(a, ask(**link))
    assert on_store.update(c, ask(drop_dependencies=(b,))).changed
    assert on_store.update(a, ask(add_dependencies=(c,))).changed


def test_the_gate_judges_dependencies_as_they_are_now(on_store, ask):
    needed = on_store.create(ask(goal="first", criteria=["c"])).task.id
    made = on_store.create(ask(goal="then", criteria=["c"], add_dependencies=(needed,))).task.id
    with pytest.raises(DoneRefused, match=f"{needed} is open"):
        on_store.update(made, ask(status="done", evidence=(("e", 0),)))
    on_store.update(needed, ask(status="done", evidence=(("e", 0),)))
    assert on_store.update(made, ask(status="done", evidence=(("e", 0),))).task.status == "done"


def test_writers_without_an_expected_version_lose_no_entries(store, make_ledger, ids, ask):
    ada, bob = (make_ledger(store, actor=name, ids=ids) for name in ("ada", "bob"))
    made = ada.create(ask(goal="x")).task
    for number in range(5):
        ada.update(made.id, ask(notes=(f"a{number}",), add_labels=(f"a{number}",)))
        bob.update(made.id, ask(notes=(f"b{number}",), add_labels=(f"b{number}",)))
    found = ada.show(made.id)
    assert {one.text for one in found.notes} == {f"{w}{n}" for w in "ab" for n in range(5)}
    assert set(found.labels) == {f"{w}{n}" for w in "ab" for n in range(5)}
    assert {one.by for one in found.notes} == {"ada", "bob"}
    assert found.last_actor == "bob"


# -- show and history


@pytest.fixture
def story(on_store, clock, ask):
    """A task with five versions, and each of its states."""
    made = on_store.create(ask(goal="x", criteria=["a"], add_labels=("ui",)))
    states = [made.task]
    for words in (
        {"status": "active", "owner": "ada"},
        {"goal": "y", "decisions": ("because",), "owner": ""},
        {"criteria": ["a", "b"], "decisions": ("more",), "drop_labels": ("ui",)},
        {"evidence": (("e", 0),), "status": "done"},
    ):
        clock.forward(1_000)
        states.append(on_store.update(made.task.id, ask(**words)).task)
    return states


def test_the_task_can_be_seen_as_it_was_at_every_version(on_store, story):
    for state in story:
        assert on_store.show(state.id, version=state.version) == state


@pytest.mark.parametrize("version", [0, -1, 6, 10**9])
def test_a_version_that_never_was_is_refused(on_store, story, version):
    with pytest.raises(InvalidInput):
        on_store.show(story[0].id, version=version)


def test_history_says_what_changed_and_what_stood_before(on_store, story):
    found = on_store.history(story[0].id)
    assert [step.change.version for step in found.steps] == [1, 2, 3, 4, 5]
    assert (found.total, found.next_version) == (5, None)
    assert found.steps[2].change.set == {"goal": "y", "owner": ""}
    assert found.steps[2].before == {"goal": "x", "owner": "ada"}
    assert found.steps[3].before == {"criteria": ["a"], "labels": ["ui"]}
    assert found.steps[3].change.decisions == ("more",)
    assert [step.change.state for step in found.steps] == [state_digest(one) for one in story]


def test_the_parts_of_a_history_make_the_whole(on_store, story):
    whole = on_store.history(story[0].id)
    for limit in (1, 2, 3, 5):
        found, first = [], 1
        while first:
            part = on_store.history(story[0].id, first, limit)
            found += part.steps
            first = part.next_version
        assert tuple(found) == whole.steps


def test_a_history_from_behind_the_end_is_empty(on_store, story):
    found = on_store.history(story[0].id, 6)
    assert (found.steps, found.total, found.next_version) == ((), 5, None)


def test_reading_takes_the_start_of_an_id_with_and_without_its_prefix(on_store, ask):
    made = on_store.create(ask(goal="x")).task
    for start in (made.id, made.id[:-1], made.id[2:], "t-0", "0"):
        assert on_store.show(start) == made
    assert on_store.history("t-0").task_id == made.id
    assert on_store.context("t-0").lines[0].task == made.id
    assert on_store.children("t-0").total == 0
    on_store.create(ask(goal="y"))
    with pytest.raises(AmbiguousId):
        on_store.show("t-0")


@pytest.mark.parametrize("start", ["", "t-", "t-é", "a b", "t-a'--", "%", "t-" + "a" * 79, "\0"])
def test_what_cannot_be_an_id_is_refused(on_store, ask, start):
    on_store.create(ask(goal="x"))
    with pytest.raises(InvalidInput):
        on_store.show(start)


# -- lists and context


@pytest.mark.parametrize("limit", [0, -1, 101])
def test_a_limit_out_of_range_is_refused(on_store, ask, limit):
    made = on_store.create(ask(goal="x")).task
    for call in (
        lambda: on_store.inbox(limit),
        lambda: on_store.list(0, limit),
        lambda: on_store.children(made.id, 0, limit),
        lambda: on_store.history(made.id, 1, limit),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_an_offset_below_zero_is_refused(on_store, ask):
    made = on_store.create(ask(goal="x")).task
    for call in (
        lambda: on_store.inbox(1, -1),
        lambda: on_store.list(-1),
        lambda: on_store.children(made.id, -1),
        lambda: on_store.history(made.id, 0),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_a_list_takes_aliases_of_status_and_the_start_of_a_parent(on_store, ask):
    parent = on_store.create(ask(goal="p")).task
    child = on_store.create(ask(goal="c", parent=parent.id, status="in_progress")).task
    found = on_store.list(status=("doing",), parent=parent.id[:-1] + parent.id[-1])
    assert [one.id for one in found.items] == [child.id]
    with pytest.raises(InvalidInput):
        on_store.list(status=("nonsense",))
    with pytest.raises(TaskNotFound):
        on_store.list(parent="t-none")


def test_a_context_shows_live_neighbours_and_keeps_its_budget(on_store, ask):
    needed = on_store.create(ask(goal="needed", criteria=["c"])).task.id
    made = on_store.create(ask(goal="x", add_dependencies=(needed,))).task.id
    assert f"dependency {needed}: [open] needed\n" in on_store.context(made).text
    on_store.update(needed, ask(status="done", evidence=(("e", 0),)))
    assert f"dependency {needed}: [done] needed\n" in on_store.context(made).text
    assert len(on_store.context(made, 400).text.encode()) <= 400
    with pytest.raises(BudgetTooSmall):
        on_store.context(made, 128)
