"""A task as a value: its document goes there and back, ids have one form, a summary an end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import canon, task
from contextspindle.core.task import Entry, Task
from tests.strategies import PLAIN, field_texts, labels, texts

numbers = st.integers(0, 2**53)
entries = st.lists(st.builds(Entry, numbers, texts, numbers, field_texts), max_size=3).map(tuple)
ids = st.binary(min_size=5, max_size=5).map(task.id_from)
tasks = st.builds(
    Task,
    id=ids,
    version=st.integers(1, 10**6),
    goal=field_texts,
    criteria=st.lists(field_texts, max_size=3).map(tuple),
    status=st.sampled_from(task.STATUSES),
    owner=texts,
    blocker=texts,
    next=texts,
    parent=st.just("") | ids,
    dependencies=st.lists(ids, max_size=3, unique=True).map(tuple),
    priority=st.integers(0, 4),
    labels=st.lists(labels, unique=True, max_size=3).map(tuple),
    decisions=entries,
    evidence=entries,
    notes=entries,
    created=numbers,
    updated=numbers,
    last_actor=field_texts,
)


@given(tasks)
def test_a_document_leads_back_to_its_task(made):
    assert task.from_document(task.document(made)) == made


@given(tasks)
def test_stored_bytes_lead_back_to_their_task_and_to_the_same_bytes(made):
    stored = task.state_bytes(made)
    again = task.from_document(canon.decode(stored))
    assert again == made
    assert task.state_bytes(again) == stored
    assert task.state_digest(again) == task.state_digest(made)


@given(tasks)
def test_a_document_leaves_out_what_is_empty(made):
    assert not [name for name, value in task.document(made).items() if value in ("", [], ())]


def test_the_document_of_a_plain_task_is_pinned():
    # These bytes are hashed and kept: a change here makes every stored digest wrong.
    assert task.state_bytes(PLAIN) == (
        b'{"created":5,"goal":"x","id":"t-one","last_actor":"ada","priority":2,'
        b'"status":"open","updated":6,"version":1}'
    )


def test_the_document_of_an_entry_is_pinned():
    made = PLAIN._replace(notes=(Entry(7, "bob", 2, "é"),))
    assert b'"notes":[{"at":7,"by":"bob","text":"\xc3\xa9","v":2}]' in task.state_bytes(made)


@given(tasks, tasks)
def test_different_tasks_have_different_digests(one, other):
    assert (task.state_digest(one) == task.state_digest(other)) == (one == other)


@pytest.mark.parametrize("name", ["id", "version", "status", "priority", "created", "updated"])
def test_a_document_without_a_required_field_is_none(name):
    found = task.document(PLAIN)
    del found[name]
    with pytest.raises(KeyError):
        task.from_document(found)


# -- ids


@given(st.binary(min_size=5, max_size=5))
def test_an_id_is_made_of_eight_letters_without_look_alikes(random):
    made = task.id_from(random)
    assert task.is_id(made)
    assert len(made) == 10
    assert not set(made[2:]) & set("ilouILOU")


@given(st.binary(min_size=5, max_size=5), st.binary(min_size=5, max_size=5))
def test_different_bytes_make_different_ids(one, other):
    assert (task.id_from(one) == task.id_from(other)) == (one == other)


def test_the_ends_of_the_id_space():
    assert task.id_from(bytes(5)) == "t-00000000"
    assert task.id_from(b"\xff" * 5) == "t-zzzzzzzz"
    assert task.id_from(b"\x00\x00\x00\x00\x21") == "t-00000011"


@pytest.mark.parametrize("value", ["t-a", "t-A-9", "t-" + "a" * 78, "t--", "t-0"])
def test_what_is_an_id(value):
    assert task.is_id(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "t",
        "t-",
        "T-a",
        "a",
        "t_a",
        "t-" + "a" * 79,
        "t-é",
        "t-a b",
        "t-a\n",
        "t-a_",
        "t-²",
        "t-١",
    ],
)
def test_what_is_no_id(value):
    assert not task.is_id(value)


# -- summaries


@given(tasks)
def test_a_summary_is_within_its_limits_and_names_what_it_cut(made):
    shown = task.summary(made)
    for name, limit in task.SUMMARY_LIMITS.items():
        whole, part = getattr(made, name), getattr(shown, name)
        assert len(part.encode()) <= limit
        assert whole.startswith(part)
        assert (name in shown.cut) == (whole != part)
    assert (shown.id, shown.version, shown.status) == (made.id, made.version, made.status)
    assert (shown.priority, shown.parent, shown.updated) == (
        *(made.priority, made.parent),
        made.updated,
    )


def test_a_brief_is_the_part_that_rules_ask_for():
    made = PLAIN._replace(goal="é" * 100, parent="t-p", dependencies=("t-b", "t-a"))
    assert task.brief(made) == task.Brief("t-one", "open", "é" * 80, "t-p", ("t-b", "t-a"))
