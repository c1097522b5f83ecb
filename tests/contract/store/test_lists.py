"""Lists on every store: which tasks, in which order, in which parts, with which total."""

from __future__ import annotations

import pytest

from contextspindle.core.task import SUMMARY_LIMITS, summary
from contextspindle.errors import InvalidInput


def names(page):
    return [one.id for one in page.items]


def test_an_empty_store_has_empty_lists(store):
    with store.read() as txn:
        for page in (txn.inbox(0, 10), txn.listing(0, 10), txn.listing(5, 10, label="x")):
            assert (page.items, page.total, page.next_offset) == ((), 0, None)


def test_the_inbox_holds_active_then_blocked_then_open_the_latest_updated_first(store, put):
    for number, (task_id, status) in enumerate(
        [
            ("t-o1", "open"),
            ("t-a1", "active"),
            ("t-b1", "blocked"),
            ("t-o2", "open"),
            ("t-a2", "active"),
            ("t-x", "cancelled"),
            ("t-b2", "blocked"),
        ]
    ):
        put(
            task_id=task_id,
            goal="x",
            status=status,
            blocker="b" * (status == "blocked"),
            now=number,
        )
    with store.read() as txn:
        page = txn.inbox(0, 10)
    assert names(page) == ["t-a2", "t-a1", "t-b2", "t-b1", "t-o2", "t-o1"]
    assert (page.total, page.next_offset) == (6, None)


def test_a_place_beyond_every_store_is_refused_and_a_far_one_is_empty(store, on_store, put):
    task = put(goal="g")
    for far in (1 << 62, 10**30):
        with pytest.raises(InvalidInput):
            on_store.list(far, 5)
        with pytest.raises(InvalidInput):
            on_store.history(task.id, far)
    assert on_store.list((1 << 62) - 1, 5).items == ()
    assert on_store.history(task.id, (1 << 62) - 1).steps == ()


def test_an_update_moves_a_task_up_in_the_inbox(store, put):
    first = put(task_id="t-a", goal="x", now=1)
    put(task_id="t-b", goal="x", now=2)
    put(first, notes=("n",), now=3)
    with store.read() as txn:
        assert names(txn.inbox(0, 10)) == ["t-a", "t-b"]


def test_what_changed_since_a_moment_is_of_any_status_and_the_latest_comes_first(store, put):
    statuses = ("open", "active", "cancelled", "open", "blocked")
    for number, status in enumerate(statuses, 1):
        blocker = "b" * (status == "blocked")
        put(task_id=f"t-{number}", goal="x", status=status, blocker=blocker, now=number)
    with store.read() as txn:
        assert (txn.since(5, 9).items, txn.since(5, 9).total) == ((), 0)
        assert names(txn.since(2, 9)) == ["t-5", "t-4", "t-3"]
        page = txn.since(0, 2)
    assert (names(page), page.total) == (["t-5", "t-4"], 5)


def test_of_tasks_updated_at_one_instant_the_newest_created_comes_first(store, put):
    first = put(task_id="t-b", goal="x", now=5)
    put(task_id="t-a", goal="x", now=5)
    put(first, notes=("n",), now=5)
    with store.read() as txn:
        assert names(txn.inbox(0, 10)) == ["t-a", "t-b"]


def test_done_and_cancelled_leave_the_inbox_and_come_back_when_reopened(store, put):
    made = put(goal="x", criteria=["c"])
    done = put(made, status="done", evidence=(("e", 0),))
    with store.read() as txn:
        assert txn.inbox(0, 10).total == 0
    put(done, status="open", decisions=("again",))
    with store.read() as txn:
        assert names(txn.inbox(0, 10)) == ["t-one"]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_the_parts_of_a_list_make_the_whole_once(store, put, limit):
    for number in range(7):
        status = ("active", "blocked", "open")[number % 3]
        put(task_id=f"t-{number}", goal="x", status=status, blocker="b", now=number)
    with store.read() as txn:
        for whole, part in (
            (txn.inbox(0, 100), txn.inbox),
            (txn.listing(0, 100), txn.listing),
        ):
            found, offset = [], 0
            while offset is not None:
                page = part(offset, limit)
                assert page.total == 7
                assert len(page.items) <= limit
                found += page.items
                offset = page.next_offset
            assert tuple(found) == whole.items


def test_an_offset_behind_the_end_gives_nothing_and_no_next(store, put):
    put(goal="x")
    with store.read() as txn:
        for page in (txn.inbox(1, 10), txn.inbox(99, 10), txn.listing(1, 10), txn.listing(99, 10)):
            assert (page.items, page.total, page.next_offset) == ((), 1, None)


def test_a_listing_shows_the_newest_created_first_whatever_was_updated(store, put):
    first = put(task_id="t-z", goal="x")
    put(task_id="t-a", goal="x")
    put(first, notes=("n",))
    with store.read() as txn:
        assert names(txn.listing(0, 10)) == ["t-a", "t-z"]


@pytest.fixture
def some(put):
    put(task_id="t-p", goal="p", owner="ada")
    put(task_id="t-a", goal="a", owner="ada", parent="t-p", add_labels=("ui", "api"))
    put(task_id="t-b", goal="b", owner="bob", parent="t-p", add_labels=("ui",), status="active")
    put(task_id="t-c", goal="c", parent="t-p", add_labels=("UI",), status="cancelled")
    put(task_id="t-d", goal="d", owner="Ada", status="active")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["t-d", "t-c", "t-b", "t-a", "t-p"]),
        ({"status": ("active",)}, ["t-d", "t-b"]),
        ({"status": ("open", "cancelled")}, ["t-c", "t-a", "t-p"]),
        ({"status": ("done",)}, []),
        ({"owner": "ada"}, ["t-a", "t-p"]),
        ({"owner": "nobody"}, []),
        ({"label": "ui"}, ["t-b", "t-a"]),
        ({"label": "UI"}, ["t-c"]),
        ({"label": "u%"}, []),
        ({"parent": "t-p"}, ["t-c", "t-b", "t-a"]),
        ({"parent": "t-a"}, []),
        ({"parent": "t-p", "label": "ui", "owner": "ada", "status": ("open",)}, ["t-a"]),
        ({"parent": "t-p", "label": "ui", "owner": "ada", "status": ("active",)}, []),
    ],
)
def test_a_listing_meets_every_filter_given(store, some, filters, expected):
    with store.read() as txn:
        page = txn.listing(0, 10, **filters)
        assert names(page) == expected
        assert page.total == len(expected)
        first = txn.listing(0, 1, **filters)
        assert names(first) == expected[:1]
        assert first.total == len(expected)
        assert first.next_offset == (1 if len(expected) > 1 else None)


def test_filters_follow_the_task(store, put):
    made = put(goal="x", owner="ada", add_labels=("ui",))
    put(made, owner="", drop_labels=("ui",), add_labels=("api",))
    with store.read() as txn:
        assert names(txn.listing(0, 10, owner="ada")) == []
        assert names(txn.listing(0, 10, label="ui")) == []
        assert names(txn.listing(0, 10, label="api")) == ["t-one"]


@pytest.mark.parametrize("unit", ["a", "é", "三", "😀"])
def test_a_summary_is_cut_on_a_code_point_and_says_where(store, put, unit):
    texts = dict.fromkeys(SUMMARY_LIMITS, unit * 300)
    made = put(**texts)
    with store.read() as txn:
        found = txn.listing(0, 1).items[0]
        assert txn.inbox(0, 1).items[0] == found
    assert found == summary(made)
    assert found.cut == tuple(SUMMARY_LIMITS)
    for name, limit in SUMMARY_LIMITS.items():
        shown = getattr(found, name)
        assert texts[name].startswith(shown)
        assert limit - len(unit.encode()) < len(shown.encode()) <= limit


def test_a_text_that_just_fits_is_not_marked_as_cut(store, put):
    made = put(**{name: "x" * limit for name, limit in SUMMARY_LIMITS.items()})
    with store.read() as txn:
        assert txn.listing(0, 1).items[0] == summary(made)
        assert txn.listing(0, 1).items[0].cut == ()


def test_a_summary_follows_the_task(store, put):
    made = put(goal="x" * 200, next="n", status="active")
    after = put(made, goal="y", decisions=("d",), next="m", priority=0)
    with store.read() as txn:
        assert txn.listing(0, 1).items == (summary(after),)
