"""What a transaction promises on every store: all or nothing, and a view that does not move."""

from __future__ import annotations

import pytest

from contextspindle.errors import StoreBusy, TaskNotFound


class Abandoned(Exception):
    pass


def abandoned(block, act):
    """Do ``act`` in a transaction that is given up at its end."""
    with block as txn:
        act(txn)
        raise Abandoned


def test_leaving_the_block_commits(store, put):
    made = put(goal="kept")
    with store.read() as txn:
        assert txn.task(made.id) == made


def test_an_exception_rolls_a_creation_back(store, planned):
    def act(txn):
        after, step = planned(goal="gone")
        txn.record(after, step._replace(key="key", request="r" * 64))
        assert txn.task("t-one").goal == "gone"

    with pytest.raises(Abandoned):
        abandoned(store.write(), act)
    with store.read() as txn:
        assert txn.brief("t-one") is None
        assert txn.creation("key") is None
        assert txn.listing(0, 10).total == 0
        assert txn.inbox(0, 10).total == 0
        with pytest.raises(TaskNotFound):
            txn.changes("t-one", 1, 10)


def test_an_exception_rolls_an_update_back(store, put, planned):
    before = put(goal="as it was", add_labels=("ui",))
    step = planned(before, status="active", add_labels=("api",), notes=("lost",))
    with pytest.raises(Abandoned):
        abandoned(store.write(), lambda txn: txn.record(*step))
    with store.read() as txn:
        assert txn.task("t-one") == before
        assert len(txn.changes("t-one", 1, 10)) == 1
        assert txn.listing(0, 10, label="api").total == 0
        assert txn.listing(0, 10, status=("open",)).total == 1


def test_a_store_goes_on_after_a_rollback(store, put, planned):
    with pytest.raises(Abandoned):
        abandoned(store.write(), lambda txn: txn.record(*planned(goal="gone")))
    assert put(goal="second try").version == 1


def test_a_write_sees_what_it_wrote_itself(store, planned):
    with store.write() as txn:
        first, step = planned(goal="one")
        txn.record(first, step)
        second, step = planned(first, next="then this")
        txn.record(second, step)
        assert txn.task("t-one") == second
        assert txn.resolve("t-o") == "t-one"
        assert txn.brief("t-one").status == "open"
        assert [one.version for one in txn.changes("t-one", 1, 10)] == [1, 2]
        assert txn.inbox(0, 10).items[0].next == "then this"


def test_a_read_does_not_move_while_others_write(store, kind, put, planned):
    before = put(goal="one")
    with store.read() as txn:
        assert txn.task("t-one") == before
        if kind == "sqlite-rollback":
            # There a writer waits for its readers, and says so rather than waiting for good.
            with pytest.raises(StoreBusy):
                put(before, next="later")
        else:
            put(before, next="later")
            put(task_id="t-two", goal="two")
        assert txn.task("t-one") == before
        assert txn.brief("t-two") is None
        assert txn.listing(0, 10).total == 1
        assert txn.inbox(0, 10).items[0].next == ""
        assert len(txn.changes("t-one", 1, 10)) == 1
    if kind != "sqlite-rollback":
        with store.read() as txn:
            assert txn.task("t-one").next == "later"
            assert txn.listing(0, 10).total == 2


def test_a_read_writes_nothing_back(store, put):
    before = put(goal="one")
    with store.read() as txn:
        txn.task("t-one")
    assert put(before, next="later").version == 2
    with pytest.raises(Abandoned):
        abandoned(store.read(), lambda txn: txn.task("t-one"))
    with store.read() as txn:
        assert txn.task("t-one").version == 2


def test_a_reader_can_be_used_again_after_an_error(store, put):
    put(goal="one")
    with pytest.raises(TaskNotFound), store.read() as txn:
        txn.task("t-two")
    with store.read() as txn:
        assert txn.task("t-one").goal == "one"
