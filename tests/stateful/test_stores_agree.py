"""A ledger in a file and the plain one in memory get the same requests, and answer the same."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
)

from contextspindle.actions.ledger import Ledger
from contextspindle.actions.overview import Overview
from contextspindle.actions.purge import Purger
from contextspindle.core.change import Request
from contextspindle.core.digest import NONE, chained, sha256
from contextspindle.core.eraser import Eraser
from contextspindle.core.task import STATUSES, state_digest, summary
from contextspindle.errors import SpindleError
from contextspindle.store.ephemeral import EphemeralStore
from contextspindle.store.sqlite import SqliteStore
from tests.conftest import START, Clock, CountedIds
from tests.strategies import field_texts, hostile_texts, labels, raw_texts

ACTORS = ("ada", "bob", "次郎")

any_text = field_texts | hostile_texts | st.sampled_from(["x" * 300, "é" * 100])
texts_or_none = st.lists(any_text, max_size=2).map(tuple)
fields = st.fixed_dictionaries(
    {},
    optional={
        "goal": any_text,
        "criteria": st.lists(st.sampled_from(["a", "b", "c"]), max_size=2) | any_text,
        "status": st.sampled_from([*STATUSES, "wip", "nonsense"]),
        "owner": st.sampled_from(["", "ada", "bob"]) | raw_texts,
        "blocker": st.sampled_from(["", "rain"]),
        "next": st.just("") | any_text,
        "priority": st.integers(-1, 5),
    },
)
plain_requests = st.builds(
    Request,
    fields,
    decisions=texts_or_none,
    notes=texts_or_none,
    evidence=st.lists(st.tuples(any_text, st.integers(0, 2)), max_size=1).map(tuple),
    add_labels=st.lists(labels, max_size=2).map(tuple),
    drop_labels=st.lists(labels, max_size=1).map(tuple),
)
actors = st.sampled_from(ACTORS)
offsets = st.integers(-1, 12)
limits = st.integers(0, 8) | st.just(100)


def outcome(call):
    """What the call gave, or the code and details of its error."""
    try:
        return call()
    except SpindleError as error:
        return error.code, error.details.get("expected"), error.details.get("current")


class Counted:
    """Random bytes that are none: the two ledgers have to make the same tokens."""

    def __init__(self):
        self.count = 0

    def __call__(self, size):
        self.count += 1
        return self.count.to_bytes(size, "big")


class StoresAgree(RuleBasedStateMachine):
    """Several actors, each with connections of its own, interleaved on one file."""

    tasks = Bundle("tasks")
    tokens = Bundle("tokens")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="contextspindle-stateful-")
        path = os.path.join(self.folder, "ledger", "ledger.sqlite3")
        self.clock = Clock(START)
        self.memory = EphemeralStore()
        self.stores = {name: SqliteStore(path) for name in ACTORS}
        self.stores["ada"].create("wal")
        self.path = path
        self.files, self.models = {}, {}
        file_parts, model_parts = ((CountedIds(), Counted()) for _ in range(2))
        for name in ACTORS:
            self.files[name] = self.ledger(self.stores[name], name, *file_parts)
            self.models[name] = self.ledger(self.memory, name, *model_parts)

    def ledger(self, store, actor, ids, random):
        return Ledger(store, actor=actor, clock=self.clock, new_id=ids, random=random)

    def teardown(self):
        for store in self.stores.values():
            store.close()
        shutil.rmtree(self.folder)

    def both(self, actor, call):
        found = outcome(lambda: call(self.files[actor]))
        expected = outcome(lambda: call(self.models[actor]))
        assert found == expected
        return found

    @initialize(target=tasks, waiting=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4))))
    def begin_with_some(self, waiting):
        made = [
            self.both("ada", lambda ledger, n=n: ledger.create(Request({"goal": f"task {n}"})))
            for n in range(5)
        ]
        ids = [one.task.id for one in made]
        for one, other in waiting:
            self.wait_for("bob", ids[one], ids[other])
        return multiple(*ids)

    # -- writing

    @rule(target=tasks, actor=actors, request=plain_requests, goal=any_text)
    def create(self, actor, request, goal):
        request = request._replace(set={"goal": goal, **request.set})
        made = self.both(actor, lambda ledger: ledger.create(request))
        return made.task.id if hasattr(made, "task") else multiple()

    @rule(
        target=tasks,
        actor=actors,
        goal=st.sampled_from(["one", "two", "\ud800"]),
        key=st.sampled_from(["k", "K", "é" * 128, "x" * 129]),
    )
    def create_with_key(self, actor, goal, key):
        made = self.both(actor, lambda ledger: ledger.create(Request({"goal": goal}), key=key))
        return made.task.id if hasattr(made, "task") else multiple()

    @rule(target=tasks, actor=actors, parent=tasks, needs=st.lists(tasks, max_size=2))
    def create_linked(self, actor, parent, needs):
        request = Request({"goal": "linked", "parent": parent}, add_dependencies=tuple(needs))
        made = self.both(actor, lambda ledger: ledger.create(request))
        return made.task.id if hasattr(made, "task") else multiple()

    @rule(actor=actors, task=tasks, request=plain_requests)
    def update(self, actor, task, request):
        self.both(actor, lambda ledger: ledger.update(task, request))

    @rule(actor=actors, task=tasks, expected=st.integers(0, 6))
    def update_expecting(self, actor, task, expected):
        request = Request(notes=("n",))
        self.both(actor, lambda ledger: ledger.update(task, request, expected=expected))

    @rule(actor=actors, task=tasks, other=tasks)
    def make_part(self, actor, task, other):
        self.both(actor, lambda ledger: ledger.update(task, Request({"parent": other})))

    @rule(actor=actors, task=tasks)
    def make_whole(self, actor, task):
        self.both(actor, lambda ledger: ledger.update(task, Request({"parent": ""})))

    @rule(actor=actors, task=tasks, other=tasks)
    def wait_for(self, actor, task, other):
        request = Request(add_dependencies=(other,))
        self.both(actor, lambda ledger: ledger.update(task, request))

    @rule(actor=actors, task=tasks, other=tasks)
    def wait_no_more(self, actor, task, other):
        request = Request(drop_dependencies=(other,))
        self.both(actor, lambda ledger: ledger.update(task, request))

    @rule(actor=actors, task=tasks, others=st.lists(tasks, max_size=3))
    def wait_for_these(self, actor, task, others):
        request = Request({"dependencies": others})
        self.both(actor, lambda ledger: ledger.update(task, request))

    @rule(actor=actors, task=tasks, status=st.sampled_from(["open", "active", "blocked"]))
    def move(self, actor, task, status):
        request = Request({"status": status, "blocker": "rain" * (status == "blocked")})
        self.both(actor, lambda ledger: ledger.update(task, request))

    @rule(actor=actors, task=tasks, wanted=st.lists(labels, max_size=2))
    def label(self, actor, task, wanted):
        self.both(actor, lambda ledger: ledger.update(task, Request({"labels": wanted})))

    @rule(actor=actors, task=tasks)
    def finish(self, actor, task):
        request = Request(
            {"criteria": ["a"], "status": "done", "blocker": ""},
            decisions=("these are the criteria",),
            evidence=(("seen", 0),),
        )
        self.both(actor, lambda ledger: ledger.update(task, request))

    @rule(actor=actors, task=tasks)
    def reopen(self, actor, task):
        request = Request({"status": "open"}, decisions=("again",))
        self.both(actor, lambda ledger: ledger.update(task, request))

    @rule(actor=actors, task=tasks)
    def cancel(self, actor, task):
        request = Request({"status": "cancelled"}, decisions=("not wanted",))
        self.both(actor, lambda ledger: ledger.update(task, request))

    @rule(actor=actors, text=st.sampled_from(["xxxxx", "éééé", "rain", "task 1", "später", "mine"]))
    def purge(self, actor, text):
        done = [
            outcome(
                lambda s=store: Purger(s, {}, actor=actor, clock=self.clock).purge(Eraser(text))
            )
            for store in (self.stores[actor], self.memory)
        ]
        assert done[0] == done[1]
        with self.stores[actor].read() as txn:
            found = {one: txn.purges(one) for one in self.memory.tasks}
        assert found == {one: self.memory.purges.get(one, ()) for one in found}

    # -- claims

    @rule(target=tokens, actor=actors, task=tasks, seconds=st.sampled_from([None, 0, 1, 2]))
    def claim(self, actor, task, seconds):
        found = self.both(actor, lambda ledger: ledger.claim(task, seconds=seconds))
        return found.token if hasattr(found, "token") else multiple()

    @rule(target=tokens, actor=actors)
    def claim_next(self, actor):
        found = self.both(actor, lambda ledger: ledger.claim_next(seconds=1))
        return found.token if hasattr(found, "token") else multiple()

    @rule(actor=actors, token=tokens, request=plain_requests)
    def update_with_token(self, actor, token, request):
        task = token.partition(".")[0]
        self.both(actor, lambda ledger: ledger.update(task, request, claim=token))

    @rule(actor=actors, token=tokens)
    def renew(self, actor, token):
        self.both(actor, lambda ledger: ledger.renew(token))

    @rule(actor=actors, token=tokens, own=st.booleans())
    def release(self, actor, token, own):
        task = token.partition(".")[0]
        self.both(actor, lambda ledger: ledger.release(task, token=token if own else ""))

    @rule(ms=st.integers(-50, 1_000))
    def time_passes(self, ms):
        self.clock.forward(ms)

    @rule(actor=actors)
    def connect_anew(self, actor):
        self.stores[actor].close()

    # -- reading

    @rule(actor=actors, task=tasks, version=st.none() | st.integers(0, 6), short=st.integers(0, 8))
    def show(self, actor, task, version, short):
        start = task[: len(task) - short]
        self.both(actor, lambda ledger: ledger.show(start, version=version))

    @rule(actor=actors, limit=limits, offset=offsets)
    def inbox(self, actor, limit, offset):
        self.both(actor, lambda ledger: ledger.inbox(limit, offset))

    @rule(
        actor=actors,
        offset=offsets,
        limit=limits,
        filters=st.fixed_dictionaries(
            {},
            optional={
                "status": st.lists(st.sampled_from([*STATUSES, "todo"]), max_size=2).map(tuple),
                "owner": st.sampled_from(["", "ada", "bob"]),
                "label": labels,
            },
        ),
    )
    def list(self, actor, offset, limit, filters):
        self.both(actor, lambda ledger: ledger.list(offset, limit, **filters))

    @rule(actor=actors, task=tasks, offset=offsets, limit=limits)
    def children(self, actor, task, offset, limit):
        self.both(actor, lambda ledger: ledger.children(task, offset, limit))

    @rule(actor=actors, task=tasks, first=st.integers(0, 6), limit=limits)
    def history(self, actor, task, first, limit):
        self.both(actor, lambda ledger: ledger.history(task, first, limit))

    @rule(actor=actors, task=tasks | st.just(""), limit=limits, by=st.sampled_from(["", *ACTORS]))
    def overview(self, actor, task, limit, by):
        file, model = Overview(self.stores[actor]), Overview(self.memory)
        for look in (
            lambda view: view.board(limit),
            lambda view: view.tree(task),
            lambda view: view.log(limit, actor=by, task=task),
        ):
            assert outcome(lambda look=look: look(file)) == outcome(lambda look=look: look(model))

    @rule(actor=actors, task=tasks, budget=st.sampled_from([128, 300, 600, 2_048, 100_000]))
    def context(self, actor, task, budget):
        self.both(actor, lambda ledger: ledger.context(task, budget))

    @rule(actor=actors, limit=limits, offset=offsets)
    def ready(self, actor, limit, offset):
        self.both(actor, lambda ledger: ledger.ready(limit, offset))

    @rule(actor=actors, task=tasks)
    def explain_and_view(self, actor, task):
        self.both(actor, lambda ledger: ledger.explain(task))
        self.both(actor, lambda ledger: ledger.view(task))

    @rule(
        actor=actors,
        query=st.sampled_from(["task", "task 1", '"task 2"', "rain", "linked", "n", "a b", "t-0"])
        | any_text,
        limit=limits,
        offset=offsets,
    )
    def search(self, actor, query, limit, offset):
        self.both(actor, lambda ledger: ledger.search(query, limit, offset))

    # -- what the file holds beside the tasks

    @invariant()
    def chains_lead_to_the_states_that_are_kept(self):
        for task_id, task in self.memory.tasks.items():
            assert self.memory.chains[task_id][-1][1].state == state_digest(task)

    @invariant()
    def rows_and_indexes_follow_the_states(self):
        raw = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        raw.row_factory = sqlite3.Row
        rows = {row["id"]: row for row in raw.execute("SELECT * FROM tasks")}
        assert set(rows) == set(self.memory.tasks)
        by_pk = {row["pk"]: row["id"] for row in rows.values()}
        linked = {(by_pk[a], by_pk[b]) for a, b in raw.execute("SELECT * FROM dependencies")}
        marked = {(by_pk[row["task"]], row["label"]) for row in raw.execute("SELECT * FROM labels")}
        totals = dict.fromkeys(STATUSES, 0)
        for task_id, task in self.memory.tasks.items():
            row, shown = rows[task_id], summary(task)
            assert row["digest"] == sha256(row["state"]) == state_digest(task)
            assert row["head"] == self.memory.chains[task_id][-1][0]
            assert (row["version"], row["status"]) == (task.version, task.status)
            assert (row["priority"], row["updated"]) == (task.priority, task.updated)
            assert (row["owner"], row["parent"]) == (task.owner, task.parent or None)
            assert (row["goal"], row["next"], row["blocker"]) == (
                *(shown.goal, shown.next),
                shown.blocker,
            )
            assert row["unmet"] == len(
                [one for one in task.dependencies if self.memory.tasks[one].status != "done"]
            )
            totals[task.status] += 1
        assert linked == {
            (task.id, one) for task in self.memory.tasks.values() for one in task.dependencies
        }
        assert marked == {
            (task.id, one) for task in self.memory.tasks.values() for one in task.labels
        }
        assert dict(raw.execute("SELECT * FROM totals").fetchall()) == totals
        raw.close()

    @invariant()
    def leases_are_those_of_the_holders(self):
        assert self.memory.leases.keys() == {
            one.id for one in self.memory.tasks.values() if one.claim
        }
        with self.stores["ada"].read() as txn:
            for task_id, task in self.memory.tasks.items():
                lease = txn.lease(task_id)
                assert lease == self.memory.leases.get(task_id)
                assert (lease.holder if lease else "") == task.claim

    @invariant()
    def stored_changes_make_unbroken_chains(self):
        raw = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        heads = dict.fromkeys(self.memory.tasks, NONE)
        for task_id, digest, body in raw.execute(
            "SELECT id, changes.digest, body FROM changes JOIN tasks ON pk = task ORDER BY seq"
        ):
            heads[task_id] = chained(task_id, heads[task_id], body)
            assert digest == heads[task_id]
        assert heads == {one: chain[-1][0] for one, chain in self.memory.chains.items()}
        raw.close()


TestStoresAgree = StoresAgree.TestCase
TestStoresAgree.settings = settings(
    max_examples=settings.default.max_examples * 2 // 3,
    stateful_step_count=50,
)
