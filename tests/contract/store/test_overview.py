"""Looks at many tasks at once, on every store: a board, trees, and what was changed last."""

from __future__ import annotations

import pytest

from contextspindle.actions import overview
from contextspindle.actions.overview import Overview
from contextspindle.errors import InvalidInput, StoreCorrupt, TaskNotFound
from contextspindle.store import sqlite_recent


@pytest.fixture
def look(store):
    return Overview(store)


@pytest.fixture
def add(on_store, ask, clock):
    """A function that creates a task a second later; gives its id."""

    def made(goal="x", **words):
        clock.forward(1_000)
        return on_store.create(ask(goal=goal, **words)).task.id

    return made


def shape(tree):
    return [(one.depth, one.task.id, one.parts, one.shown) for one in tree.branches]


# -- a board


def test_a_board_has_the_latest_of_each_status_and_counts_all(look, add, on_store, ask, clock):
    ids = [add() for _ in range(4)]
    add(status="active")
    add(status="cancelled")
    clock.forward(1_000)
    on_store.update(ids[0], ask(notes=("n",)))
    columns = {one.status: one.page for one in look.board(2)}
    assert [*columns] == ["open", "active", "blocked", "done"]
    assert [one.id for one in columns["open"].items] == [ids[0], ids[3]]
    assert [columns[one].total for one in columns] == [4, 1, 0, 0]


@pytest.mark.parametrize("limit", [0, 101])
def test_a_limit_out_of_range_is_refused(look, limit):
    for call in (look.board, look.log):
        with pytest.raises(InvalidInput):
            call(limit)


# -- trees


def test_a_tree_has_a_task_with_its_parts_and_theirs_the_oldest_first(look, add):
    top = add()
    root = add(parent=top)
    first = add(parent=root)
    second = add(parent=root)
    below = add(parent=first)
    tree = look.tree(root)
    assert [one.id for one in tree.above] == [top]
    assert tree.live is None
    assert shape(tree) == [(0, root, 2, 2), (1, first, 1, 1), (2, below, 0, 0), (1, second, 0, 0)]


def test_a_live_task_is_shown_with_the_dependencies_that_are_not_done(look, add, on_store, ask):
    done = add(criteria=["c"])
    on_store.update(done, ask(status="done", evidence=(("seen", 0),)))
    waited_for = add("the store")
    task = add(add_dependencies=(done, waited_for))
    (branch,) = look.tree(task).branches
    assert [(one.id, one.status, one.goal) for one in branch.needs] == [
        (waited_for, "open", "the store")
    ]
    on_store.update(task, ask(status="cancelled", decisions=("no",)))
    assert look.tree(task).branches[0].needs == ()


def test_the_trees_of_a_ledger_are_those_of_what_is_live_each_once(look, add, on_store, ask):
    over = add("a root that has ended", status="cancelled")
    part = add(parent=over)
    add("gone", status="cancelled")
    alone = add()
    other = add(parent=over)
    tree = look.tree()
    assert tree.live == 3
    assert shape(tree) == [(0, over, 2, 2), (1, part, 0, 0), (1, other, 0, 0), (0, alone, 0, 0)]


def test_a_tree_is_bounded_near_the_top_first_and_what_is_left_out_is_counted(look, add):
    root = add()
    children = [add(parent=root) for _ in range(overview.TREE_PARTS + 2)]
    for child in children[:6]:
        for _ in range(overview.TREE_PARTS):
            add(parent=child)
    tree = look.tree(root)
    assert len(tree.branches) == overview.TREE_TASKS
    assert (tree.branches[0].parts, tree.branches[0].shown) == (22, 20)
    by_id = {one.task.id: one for one in tree.branches}
    assert [by_id[one].shown for one in children[:6]] == [20, 20, 20, 19, 0, 0]
    assert [by_id[one].parts for one in children[:6]] == [20] * 6


def test_a_tree_of_no_task_says_so(look):
    with pytest.raises(TaskNotFound):
        look.tree("t-none")
    assert look.tree() == overview.Tree((), (), 0)


# -- what was changed last


def told(log):
    return [(one.change.task, one.change.version, one.goal) for one in log.events]


def test_a_log_has_the_changes_of_all_tasks_the_newest_first(look, add, on_store, ask):
    first, second = add("one"), add("two")
    on_store.update(first, ask(goal="three", decisions=("better",)))
    assert told(look.log()) == [(first, 2, "three"), (second, 1, "two"), (first, 1, "three")]
    assert not look.log().more
    assert told(look.log(1)) == [(first, 2, "three")]
    assert look.log(1).more


def test_a_log_of_one_task_or_one_actor_has_only_theirs(look, add, store, make_ledger, ask, clock):
    first, second = add("one"), add('quotes "actor":"bob" it')
    bob = make_ledger(store, actor="bob", clock=clock)
    bob.update(first, ask(notes=("n",)))
    assert told(look.log(task=first)) == [(first, 2, "one"), (first, 1, "one")]
    assert told(look.log(actor="bob")) == [(first, 2, "one")]
    assert told(look.log(actor="bob", task=second)) == []
    assert told(look.log(actor="bo")) == []
    with pytest.raises(TaskNotFound):
        look.log(task="t-none")


def test_a_log_tells_a_change_that_was_altered(sqlite_store, make_ledger, ask):
    task = make_ledger(sqlite_store).create(ask(goal="one")).task.id
    with sqlite_store.write() as txn:
        sql = "UPDATE changes SET body = CAST(replace(CAST(body AS TEXT), 'one', 'two') AS BLOB)"
        txn._db.execute(sql)
    with pytest.raises(StoreCorrupt, match=f"{task} .* the chain breaks at version 1"):
        Overview(sqlite_store).log()


# -- their cost


def test_no_look_goes_through_all_tasks_or_sorts_them(sqlite_store):
    plans: dict[str, list[str]] = {}
    with sqlite_store.read() as txn:
        run = txn._all

        def noted(sql: str, *values: object) -> list:
            plans[sql] = [row[3] for row in run(f"EXPLAIN QUERY PLAN {sql}", *values)]
            return run(sql, *values)

        txn._all = noted
        txn._one = lambda sql, *values: noted(sql, *values)[0]
        txn.latest("open", 10)
        txn.parts("t-one", 10)
        txn.recent(10)
        txn.recent(10, actor="ada")
        txn.recent(10, task_id="t-one")
    assert {sqlite_recent.OF_ALL, sqlite_recent.OF_ACTOR, sqlite_recent.OF_TASK} <= plans.keys()
    steps = {step for plan in plans.values() for step in plan}
    # The totals are five rows, and the changes are walked backwards by their number, to the limit.
    scanned = {step for step in steps if step.startswith("SCAN")}
    assert scanned - {"SCAN totals", "SCAN c"} <= {"SCAN (subquery-1)", "SCAN (subquery-2)"}
    assert plans[sqlite_recent.OF_ALL][0] == "SCAN c"
    assert not any("TEMP" in step for step in steps)
