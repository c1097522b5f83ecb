"""Archive lines: what one carries, what is refused in one, and how two histories compare."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import archive, canon, change, claims
from contextspindle.core.archive import AHEAD, BEHIND, CONFLICT, NEW, SAME, Stored
from contextspindle.core.change import Request
from contextspindle.core.digest import sha256
from contextspindle.core.task import state_bytes
from tests.strategies import field_texts


def stored(*requests, task_id="t-one", lease=None, goal="x"):
    """A task that went through the requests."""
    first = change.plan_creation(
        task_id, Request({"goal": goal}), actor="ada", now=5, look=lambda _: None
    )
    task, steps = change.begin(first), [first]
    for number, request in enumerate(requests):
        step = change.plan(task, request, actor="ada", now=10 + number, look=lambda _: None)
        task, steps = change.apply(task, step), [*steps, step]
    if lease:
        step = change.plan_claim(task, lease.holder, actor="ada", now=50)
        task, steps = change.apply(task, step), [*steps, step]
    return Stored(task, tuple(change.change_bytes(step) for step in steps), lease)


LEASE = claims.granted("ada", "t-one.secret", 50, 1_000)
NOTE, NEXT = Request(notes=("n",)), Request({"next": "y"})


def document(line):
    return canon.decode(line)


# -- the form


def test_an_archive_begins_with_what_it_is():
    header = archive.header(3)
    assert header == b'{"format":"contextspindle ledger","tasks":3,"version":1}\n'
    assert archive.promised(header) == 3
    assert archive.promised(b'{"format":"contextspindle ledger","version":1}\n') == 0


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b'{"format":"something else","version":1}',
        b'{"format":"contextspindle ledger"}',
        b'{"format":"contextspindle ledger","version":2}',
        b'{"format":"contextspindle ledger","tasks":-1,"version":1}',
        b'{"format":"contextspindle ledger","tasks":"all","version":1}',
        b"<<<<<<< HEAD",
        b"\xff\xfe",
    ],
)
def test_what_begins_otherwise_is_no_archive(line):
    with pytest.raises(ValueError, match=r".+"):
        archive.promised(line)


def test_a_line_is_canonical_and_carries_changes_head_and_lease():
    line = archive.line_of(stored(NOTE, lease=LEASE))
    assert line == canon.encode(document(line)) + b"\n"
    found = document(line)
    assert sorted(found) == ["changes", "head", "lease"]
    assert [one["version"] for one in found["changes"]] == [1, 2, 3]
    assert found["lease"] == list(LEASE)
    assert "lease" not in document(archive.line_of(stored(NOTE)))


@given(st.lists(st.builds(Request, notes=st.lists(field_texts, max_size=2).map(tuple)), max_size=4))
def test_a_line_is_read_as_it_was_written(requests):
    given_ = stored(*[one for one in requests if one.notes], goal="é 次\n")
    assert archive.read_line(archive.line_of(given_)) == given_


def test_the_state_is_what_the_changes_lead_to():
    assert archive.replayed(stored(NOTE, NEXT).bodies).next == "y"
    with pytest.raises(ValueError, match="without changes"):
        archive.replayed(())


# -- what is refused


def altered(**more):
    found = document(archive.line_of(stored(NOTE, NEXT, lease=LEASE)))
    return canon.encode({**found, **more})


def rewritten(change_number, **more):
    """A line in which one change says something else, and every digest of the chain fits."""
    found = document(archive.line_of(stored(NOTE, NEXT, lease=LEASE)))
    found["changes"][change_number] |= more
    bodies = tuple(canon.encode(one) for one in found["changes"])
    found["head"] = archive.digests("t-one", bodies)[-1]
    return canon.encode(found)


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[]",
        b"7",
        b"null",
        b'{"changes":[]',
        b"=======",
        b">>>>>>> theirs",
        altered(changes=[]),
        altered(changes={}),
        altered(changes=[7]),
        altered(changes=[{}]),
        altered(head="0" * 64),
        altered(head=7),
        altered(lease=[]),
        altered(lease=["ada"]),
        altered(lease=["ada", "m", "soon", 1]),
        altered(lease=["ada", "m", 1, True]),
        altered(lease=["bob", *list(LEASE)[1:]]),
        rewritten(1, notes=["another note"]),
        rewritten(1, version=7),
        rewritten(1, task="t-two"),
        rewritten(1, state="0" * 64),
        rewritten(0, set={"goal": 7}),
    ],
    ids=lambda line: line[:40],
)
def test_a_line_that_was_altered_is_refused(line):
    with pytest.raises(ValueError, match=r".+"):
        archive.read_line(line)


def test_a_line_without_its_lease_is_refused_and_so_is_one_without_a_holder():
    found = document(archive.line_of(stored(lease=LEASE)))
    del found["lease"]
    with pytest.raises(ValueError, match="lease of t-one"):
        archive.read_line(canon.encode(found))
    found = document(archive.line_of(stored()))
    with pytest.raises(ValueError, match="lease of t-one"):
        archive.read_line(canon.encode({**found, "lease": list(LEASE)}))


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "whatever"},
        {"priority": 9},
        {"priority": "high"},
        {"goal": 7},
        {"labels": [7]},
        {"labels": ["ui", None]},
        {"dependencies": ["../../etc"]},
        {"parent": "no id"},
        {"owner": None},
    ],
    ids=str,
)
def test_a_field_out_of_form_is_refused_even_if_every_digest_fits(fields):
    first = change.plan_creation(
        "t-one", Request({"goal": "x"}), actor="ada", now=5, look=lambda _: None
    )
    forged = first._replace(set={**first.set, **fields})
    forged = forged._replace(state=sha256(state_bytes(change.begin(forged))))
    body = change.change_bytes(forged)
    line = canon.encode(
        {"changes": [canon.decode(body)], "head": archive.digests("t-one", (body,))[-1]}
    )
    with pytest.raises(ValueError, match=r".+"):
        archive.read_line(line)


def test_evidence_that_nobody_could_read_is_refused():
    first = change.plan_creation(
        "t-one", Request({"goal": "x"}), actor="ada", now=5, look=lambda _: None
    )
    forged = first._replace(evidence=("evidence://v1/rubbish",))
    forged = forged._replace(state=sha256(state_bytes(change.begin(forged))))
    body = change.change_bytes(forged)
    line = canon.encode(
        {"changes": [canon.decode(body)], "head": archive.digests("t-one", (body,))[-1]}
    )
    with pytest.raises(ValueError, match="malformed"):
        archive.read_line(line)


# -- histories


@pytest.mark.parametrize(
    ("here", "there", "found"),
    [
        ([], ["a"], NEW),
        (["a"], ["a"], SAME),
        (["a"], ["a", "b"], AHEAD),
        (["a", "b"], ["a"], BEHIND),
        (["a", "b"], ["a", "c"], CONFLICT),
        (["a"], ["b"], CONFLICT),
        (["a", "b"], ["a", "c", "d"], CONFLICT),
        (["a", "b", "c"], ["a", "d"], CONFLICT),
    ],
)
def test_how_the_history_there_stands_to_the_one_here(here, there, found):
    assert archive.compared(here, there) == found


def test_two_tasks_never_share_a_digest_even_with_the_same_changes():
    bodies = stored(NOTE).bodies
    assert not set(archive.digests("t-one", bodies)) & set(archive.digests("t-two", bodies))
