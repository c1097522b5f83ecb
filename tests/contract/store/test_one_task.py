"""What every store gives of one task: its state, brief, neighbours, changes and key."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from contextspindle.core.task import SUMMARY_LIMITS, Related, state_digest
from contextspindle.errors import AmbiguousId, TaskNotFound
from tests.strategies import field_texts

LONG_TEXT = "é" * 500


def test_a_task_comes_back_as_it_was_recorded(store, put):
    for one in ("t-a", "t-b", "t-p"):
        put(task_id=one, goal=one)
    made = put(
        goal="goal\nwith lines",
        criteria=["one", "zwei é", "三"],
        status="blocked",
        owner="ada",
        blocker="the weather",
        next="wait",
        parent="t-p",
        priority=0,
        add_dependencies=("t-a", "t-b"),
        add_labels=("ui", "次"),
        decisions=("d1", "d2"),
        notes=("n1",),
        evidence=(("e1", 0), ("e2", 2)),
    )
    with store.read() as txn:
        assert txn.task("t-one") == made


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(field_texts)
def test_any_text_comes_back_byte_for_byte(store, put, text):
    with store.read() as txn:
        number = txn.listing(0, 1).total
    made = put(task_id=f"t-{number}", goal=text, next=text, notes=(text,))
    with store.read() as txn:
        found = txn.task(made.id)
    assert (found.goal, found.next, found.notes[0].text) == (text, text, text)


def test_a_task_that_does_not_exist_is_not_found(store):
    with store.read() as txn:
        with pytest.raises(TaskNotFound, match="t-none"):
            txn.task("t-none")
        with pytest.raises(TaskNotFound, match="t-none"):
            txn.changes("t-none", 1, 10)
        with pytest.raises(TaskNotFound, match="t-none"):
            txn.resolve("t-none")
        assert txn.brief("t-none") is None


# -- resolve


def test_a_unique_start_resolves_to_its_id(store, put):
    put(task_id="t-abc1", goal="a")
    put(task_id="t-abd2", goal="b")
    with store.read() as txn:
        assert txn.resolve("t-abc") == "t-abc1"
        assert txn.resolve("t-abc1") == "t-abc1"


def test_an_id_that_is_the_start_of_another_resolves_to_itself(store, put):
    put(task_id="t-ab", goal="a")
    put(task_id="t-abc", goal="b")
    with store.read() as txn:
        assert txn.resolve("t-ab") == "t-ab"


def test_an_ambiguous_start_names_some_of_the_ids(store, put):
    for number in range(7):
        put(task_id=f"t-ab{number}", goal="x")
    with store.read() as txn, pytest.raises(AmbiguousId) as caught:
        txn.resolve("t-ab")
    assert "t-ab0" in caught.value.message
    assert "t-ab4" in caught.value.message


def test_letters_count_in_their_case(store, put):
    put(task_id="t-ABC", goal="a")
    put(task_id="t-abc", goal="b")
    put(task_id="t-zzz", goal="c")
    with store.read() as txn:
        assert txn.resolve("t-A") == "t-ABC"
        assert txn.resolve("t-a") == "t-abc"
        assert txn.resolve("t-z") == "t-zzz"


# -- brief and related


def test_a_brief_holds_what_rules_ask(store, put):
    put(task_id="t-p", goal="parent")
    put(task_id="t-d", goal="dependency")
    put(goal="short", parent="t-p", add_dependencies=("t-d",), status="active")
    with store.read() as txn:
        found = txn.brief("t-one")
    assert (found.id, found.status, found.goal, found.parent, found.dependencies) == (
        *("t-one", "active", "short", "t-p"),
        ("t-d",),
    )


def test_a_brief_holds_the_goal_as_a_summary_shows_it(store, put):
    put(goal=LONG_TEXT)
    with store.read() as txn:
        assert txn.brief("t-one").goal == LONG_TEXT[: SUMMARY_LIMITS["goal"] // 2]


def test_a_brief_follows_the_task(store, put):
    for one in ("t-p", "t-d", "t-e"):
        put(task_id=one, goal=one)
    made = put(goal="x", parent="t-p", add_dependencies=("t-d", "t-e"))
    put(made, parent="", drop_dependencies=("t-d",), status="active")
    with store.read() as txn:
        found = txn.brief("t-one")
    assert (found.parent, found.dependencies, found.status) == ("", ("t-e",), "active")


def test_neighbours_come_with_their_live_status(store, put):
    put(task_id="t-p", goal="parent")
    dependency = put(task_id="t-d", goal="dependency")
    put(dependency, status="active")
    made = put(goal="x", parent="t-p", add_dependencies=("t-d",))
    put(task_id="t-c1", goal="child one", parent="t-one")
    put(task_id="t-c2", goal="child two", parent="t-one", status="cancelled")
    with store.read() as txn:
        found = txn.related(made, 20)
    assert found == [
        Related("parent", "t-p", "open", "parent"),
        Related("dependency", "t-d", "active", "dependency"),
        Related("child", "t-c2", "cancelled", "child two"),
        Related("child", "t-c1", "open", "child one"),
    ]


def test_neighbours_are_bounded_by_kind(store, put):
    for number in range(5):
        put(task_id=f"t-d{number}", goal="x")
    made = put(goal="x", add_dependencies=tuple(f"t-d{number}" for number in range(5)))
    for number in range(5):
        put(task_id=f"t-c{number}", goal="x", parent="t-one")
    with store.read() as txn:
        found = [(one.relation, one.id) for one in txn.related(made, 2)]
    assert found == [
        *(("dependency", "t-d0"), ("dependency", "t-d1")),
        *(("child", "t-c4"), ("child", "t-c3")),
    ]


def test_open_children_are_those_neither_done_nor_cancelled(store, put):
    put(goal="parent")
    put(task_id="t-a", goal="a", parent="t-one")
    put(task_id="t-b", goal="b", parent="t-one", status="blocked", blocker="x")
    put(task_id="t-c", goal="c", parent="t-one", status="cancelled")
    done = put(task_id="t-d", goal="d", parent="t-one", criteria=["c"])
    put(done, status="done", evidence=(("e", 0),))
    put(task_id="t-e", goal="e", parent="t-a")
    with store.read() as txn:
        assert txn.open_children("t-one") == ["t-a", "t-b"]
        assert txn.open_children("t-e") == []


# -- changes


def test_changes_come_in_order_and_in_parts(store, put):
    made = put(goal="x")
    for number in range(2, 8):
        made = put(made, notes=(f"note {number}",))
    with store.read() as txn:
        assert [one.version for one in txn.changes("t-one", 1, 100)] == [*range(1, 8)]
        assert [one.version for one in txn.changes("t-one", 3, 2)] == [3, 4]
        assert [one.version for one in txn.changes("t-one", 7, 100)] == [7]
        assert txn.changes("t-one", 8, 100) == []
        assert txn.changes("t-one", 3, 1)[0].notes == ("note 3",)


def test_a_change_comes_back_as_it_was_recorded_with_the_digest_of_its_state(store, planned):
    made, step = planned(goal="x", criteria=["a", "b"], decisions=("d",), evidence=(("e", 1),))
    with store.write() as txn:
        txn.record(made, step)
    with store.read() as txn:
        assert txn.changes("t-one", 1, 1) == [step]
    assert step.state == state_digest(made)


def test_changes_of_tasks_do_not_mix(store, put):
    one, two = put(task_id="t-a", goal="a"), put(task_id="t-b", goal="b")
    put(one, notes=("of a",))
    put(two, notes=("of b",))
    with store.read() as txn:
        assert [step.notes for step in txn.changes("t-a", 1, 9)] == [(), ("of a",)]
        assert [step.notes for step in txn.changes("t-b", 1, 9)] == [(), ("of b",)]


# -- creation


def test_a_creation_is_found_under_its_key_only(store, planned):
    after, step = planned(goal="x")
    with store.write() as txn:
        txn.record(after, step._replace(key="key é", request="r" * 64))
    with store.read() as txn:
        assert txn.creation("key é") == ("r" * 64, "t-one")
        assert txn.creation("key") is None
        assert txn.creation("KEY É") is None
