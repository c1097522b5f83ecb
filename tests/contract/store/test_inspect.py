"""What a row says is held against its state, whether that had to be decoded or not."""

from __future__ import annotations

import sqlite3
from hashlib import sha256

import pytest

from contextspindle.core.canon import decode, encode
from contextspindle.core.search import listed, texts_of
from contextspindle.store import inspect as inspection
from contextspindle.store.inspect import inspect
from contextspindle.store.sqlite import SqliteStore
from contextspindle.store.sqlite_write import SPREAD


@pytest.fixture
def full(sqlite_store, make_ledger, ask):
    """A ledger with a task that has every field that is a column, and a bare one."""
    ledger = make_ledger(sqlite_store)
    parent = ledger.create(ask(goal="parent")).task.id
    ledger.create(
        ask(
            goal="whole",
            next="go on",
            owner="ada",
            blocker="a stone",
            status="blocked",
            parent=parent,
            notes=("noted",),
        )
    )
    ledger.create(ask(goal="bare", notes=("noted",)))
    return sqlite_store


def told(store, sql):
    """What an inspection tells once ``sql`` was done to the file."""
    store.close()
    raw = sqlite3.connect(store.path, isolation_level=None)
    raw.execute(sql)
    raw.close()
    return [(one.kind, one.message) for one in inspect(SqliteStore(store.path)).findings]


VALUES = {
    "version": "version",
    "status": "'open'",
    "priority": "4",
    "updated": "updated + 1",
    "owner": "'ad'",
    "parent": "'t-another'",
    "source": "'made up'",
    "goal": "'whol'",
    "next": "'go o'",
    "blocker": "'a ston'",
    "cut": "'goal'",
}


@pytest.mark.parametrize("column", [one for one in VALUES if one != "version"])
@pytest.mark.parametrize("goal", ["whole", "bare"])
def test_a_column_that_says_something_else_is_told(full, column, goal):
    value = "'active'" if (column, goal) == ("status", "bare") else VALUES[column]
    found = told(full, f"UPDATE tasks SET {column} = {value} WHERE goal = '{goal}'")
    assert ("row", f"the column {column} does not say what the state says") in found


@pytest.mark.parametrize("column", ["owner", "parent", "next", "blocker"])
def test_a_column_that_has_lost_what_the_state_says_is_told(full, column):
    value = "NULL" if column == "parent" else "''"
    found = told(full, f"UPDATE tasks SET {column} = {value} WHERE goal = 'whole'")
    assert ("row", f"the column {column} does not say what the state says") in found


def test_a_parent_that_is_lost_where_there_is_no_owner_is_told(full, make_ledger, ask):
    parent = make_ledger(full).list().items[0].id
    make_ledger(full, ids=lambda: "t-childless").create(ask(goal="child", parent=parent))
    found = told(full, "UPDATE tasks SET parent = NULL WHERE goal = 'child'")
    assert ("row", "the column parent does not say what the state says") in found


def test_every_column_that_says_something_again_was_tried():
    assert {*VALUES} == {*SPREAD} - {"id"}


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"labels": ["x"]}, "the labels are not those of the state"),
        ({"dependencies": ["t-x"]}, "the dependencies are not those of the state"),
        ({"claim": "ada"}, "the lease is not that of the holder"),
    ],
)
def test_a_state_with_more_than_its_row_and_the_tables_beside_it_is_told(full, field, message):
    """As a mistake of the program would leave it: with digests that are right."""
    full.close()
    raw = sqlite3.connect(full.path, isolation_level=None)
    pk, task, state, body = raw.execute(
        "SELECT pk, id, state, body FROM tasks JOIN changes ON task = pk WHERE goal = 'bare'"
    ).fetchone()
    altered = encode(decode(state) | field)
    step = encode(decode(body) | {"state": sha256(altered).hexdigest()})
    head = sha256(f"{task}\n{'0' * 64}\n".encode() + step).hexdigest()
    digest = sha256(altered).hexdigest()
    raw.execute(
        "UPDATE tasks SET state=?, digest=?, head=? WHERE pk=?", (altered, digest, head, pk)
    )
    raw.execute("UPDATE changes SET digest=?, body=? WHERE task=?", (head, step, pk))
    raw.close()
    found = [one.message for one in inspect(SqliteStore(full.path)).findings]
    assert found == [message]


@pytest.mark.parametrize(
    ("sql", "messages"),
    [
        (
            "UPDATE tasks SET unmet = 1 WHERE goal = 'bare'",
            ["its count of open dependencies is wrong"],
        ),
        (
            "INSERT INTO labels SELECT 'ui', pk FROM tasks WHERE goal = 'bare'",
            ["the labels are not those of the state"],
        ),
        (
            "INSERT INTO dependencies SELECT one.pk, other.pk FROM tasks AS one, tasks AS other"
            " WHERE one.goal = 'bare' AND other.goal = 'parent'",
            [
                "the dependencies are not those of the state",
                "its count of open dependencies is wrong",
            ],
        ),
    ],
)
def test_more_beside_a_task_than_its_state_says_is_told(full, sql, messages):
    assert [message for _, message in told(full, sql)] == messages


@pytest.mark.parametrize(("goal", "row"), [("whole", 2), ("bare", 3)])
def test_changes_of_a_task_that_is_not_there_are_told(full, goal, row):
    """Of one between others, and of the last."""
    found = told(full, f"DELETE FROM tasks WHERE goal = '{goal}'")
    assert ("chain", f"changes of a task that is not there (row {row})") in found


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("UPDATE changes SET digest = 'd' WHERE task = 3", "the chain breaks at version 1"),
        ("UPDATE changes SET version = 2 WHERE task = 3", "the chain breaks at version 2"),
        ("DELETE FROM changes WHERE task = 3", "the chain does not end where the task says"),
        ("UPDATE tasks SET head = 'd' WHERE pk = 3", "the chain does not end where the task says"),
        (
            "UPDATE tasks SET digest = 'd' WHERE pk = 3",
            "the newest change does not lead to the state",
        ),
    ],
)
def test_a_chain_that_does_not_hold_is_told(full, sql, message):
    assert ("chain", message) in told(full, sql)


NOBODY = "claim_holder = NULL, claim_mark = NULL, claim_until = NULL, claim_length = NULL"


@pytest.mark.parametrize("goal", ["whole", "bare", "labelled"])
@pytest.mark.parametrize(
    ("to", "messages"),
    [
        ("goal = goal", set()),
        ("claim_until = claim_until + 1", {"the lease does not match its digest"}),
        ("claim_mark = 'm'", {"the lease does not match its digest"}),
        ("claim_check = NULL", {"the lease does not match its digest"}),
        (
            "claim_holder = 'eve'",
            {"the lease is not that of the holder", "the lease does not match its digest"},
        ),
        (
            "claim_holder = NULL",
            {"the lease is not that of the holder", "a lease without a holder"},
        ),
        (NOBODY, {"the lease is not that of the holder", "a lease without a holder"}),
        (f"{NOBODY}, claim_check = NULL", {"the lease is not that of the holder"}),
    ],
)
def test_a_lease_that_is_not_the_one_that_was_given_is_told(
    full, make_ledger, ask, goal, to, messages
):
    ledger = make_ledger(full)
    ledger.create(ask(goal="labelled", add_labels=("ui",)))
    for one in ledger.list().items:
        ledger.claim(one.id)
    found = told(full, f"UPDATE tasks SET {to} WHERE goal = '{goal}'")
    assert {*found} == {("row", message) for message in messages}


@pytest.mark.parametrize(
    ("to", "messages"),
    [
        ("claim_mark = 'm'", {"a lease without a holder"}),
        ("claim_check = 'c'", {"a lease without a holder"}),
        (
            "claim_holder = 'eve'",
            {"the lease is not that of the holder", "the lease does not match its digest"},
        ),
    ],
)
def test_a_lease_that_nobody_was_given_is_told(full, to, messages):
    found = told(full, f"UPDATE tasks SET {to} WHERE goal = 'bare'")
    assert {*found} == {("row", message) for message in messages}


@pytest.mark.parametrize(
    "hostile", ['","owner":"eve', 'a "next":"b" c', "back\\slash", "次", "\x01"]
)
def test_a_text_that_looks_like_a_field_is_sound_and_is_none(
    sqlite_store, make_ledger, ask, hostile
):
    make_ledger(sqlite_store).create(ask(goal=hostile, criteria=(hostile,), notes=(hostile,)))
    assert inspect(sqlite_store, deep=True).findings == ()
    assert told(sqlite_store, "UPDATE tasks SET owner = 'eve'")


def test_a_ledger_is_known_by_the_digest_of_its_schema(sqlite_store):
    made = sqlite_store.open_reader().execute(
        "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
    )
    if sqlite3.sqlite_version_info < (3, 42):  # what SQLite lists of its own tables may change
        assert sha256(repr(made.fetchall()).encode()).hexdigest() == inspection.LISTING


@pytest.mark.parametrize("listing", [inspection.LISTING, ""])
def test_a_schema_that_is_not_known_is_compared(sqlite_store, monkeypatch, listing):
    monkeypatch.setattr(inspection, "LISTING", listing)
    assert inspect(sqlite_store).findings == ()
    found = told(sqlite_store, "DROP INDEX tasks_ready")
    assert ("schema", "index tasks_ready is missing or altered") in found


# -- the list of words


def test_an_altered_word_of_the_list_is_told(full):
    found = told(full, "UPDATE words SET again = 'whold' WHERE word = 'whole'")
    assert found == [("search", "altered in the list of words: 1")]


def test_a_word_that_is_missing_from_the_list_is_told_if_all_is_asked(full):
    assert told(full, "DELETE FROM words WHERE word = 'whole'") == []
    (found,) = inspect(SqliteStore(full.path), deep=True).findings
    assert found.message == "missing from the list of words: 1"


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ({"id": "t-abc2", "goal": "Some-Words, 12 times"}, {"t", "some", "words", "12", "times"}),
        ({"id": "t-gh-12", "goal": "x"}, {"t", "gh", "12", "x"}),
        ({"id": "t-Big", "goal": "x"}, {"t", "big", "x"}),
        ({"id": "t-abc2", "goal": "Größe 日本"}, {"t", "grosse", "日", "本"}),
        ({"id": "t-abc2", "goal": "it", "source": "abc2"}, {"t", "it"}),
    ],
)
def test_the_words_of_a_task_are_listed_but_for_an_id_that_is_looked_up(task, words):
    assert listed(texts_of(task)) == words
