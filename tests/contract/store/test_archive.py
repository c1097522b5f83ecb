"""Export and import on every store: all that a ledger holds, all or nothing, no newer work lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextspindle.actions.archive import Archive
from contextspindle.core import canon
from contextspindle.core.archive import header
from contextspindle.core.change import Request
from contextspindle.core.evidence import CommandMark, FileMark, Record, criteria_hash
from contextspindle.errors import (
    InvalidInput,
    MergeConflict,
    RingRefused,
    StoreCorrupt,
    StoreUnavailable,
)
from contextspindle.store.ephemeral import EphemeralStore
from contextspindle.store.inspect import inspect
from contextspindle.store.sqlite import SqliteStore
from tests.databases import by_hand
from tests.strategies import field_texts, hostile_texts, labels


def lines(store):
    return list(Archive(store).lines())


def copied(store):
    """Another ledger that took in what this one holds."""
    other = EphemeralStore()
    Archive(other).take_lines(lines(store))
    return other


@pytest.fixture
def full(on_store, clock, ask):
    """A ledger that holds something of everything; gives its ids."""
    first = on_store.create(
        ask(
            goal="everything: 'quotes' \"both\" \\ 東京 👩🏽‍🚀 \u202e",
            criteria=["one", "two"],
            owner="ada",
            next="then\nthis",
            priority=0,
            add_labels=("ui", "später"),
            decisions=("why",),
            notes=("n",),
        ),
        key="a key",
    ).task.id
    second = on_store.create(
        ask(goal="part", parent=first, add_dependencies=(), blocker="rain", status="blocked")
    ).task.id
    third = on_store.create(ask(goal="waits", add_dependencies=(second,))).task.id
    clock.forward(5)
    bound = criteria_hash(("one", "two"))
    file = Record(first, bound, "f", 1, file=FileMark("a/b", 3, "0" * 64))
    ran = CommandMark(("x",), ".", 1, 5, "0" * 64, "tail", "c" * 40, ("src",), "d" * 64)
    on_store.update(
        first,
        ask(evidence=(("seen", 2),)),
        made=(file, Record(first, bound, "x", 0, command=ran)),
    )
    on_store.update(second, ask(goal="renamed", decisions=("better",), drop_labels=()))
    on_store.claim(third, seconds=60)
    on_store.update(first, ask(status="cancelled", decisions=("enough",)))
    return first, second, third


# -- the whole


def test_export_import_export_is_the_same_to_the_byte(store, full, tmp_path):
    exported = lines(store)
    assert len(exported) == 4
    empty = SqliteStore(str(tmp_path / "again" / "ledger.sqlite3"))
    (tmp_path / "again").mkdir()
    empty.create()
    for other in (empty, EphemeralStore()):
        merge = Archive(other).take_lines(exported)
        assert merge == (3, 0, 0, 0, full, 0)
        assert lines(other) == exported
    assert inspect(empty, deep=True).findings == ()
    empty.close()


def test_what_was_imported_is_the_ledger_that_it_was(store, on_store, full, make_ledger, clock):
    here, there = on_store, make_ledger(copied(store), clock=clock)
    for one in full:
        assert there.show(one) == here.show(one)
        assert there.history(one) == here.history(one)
    for one in full[1:]:  # the first has evidence of files, and there are none here
        assert there.view(one) == here.view(one)
        assert there.context(one) == here.context(one)
    assert there.list() == here.list()
    assert there.ready() == here.ready()
    assert there.search("renamed") == here.search("renamed")
    assert there.children(full[0]) == here.children(full[0])


def test_an_idempotency_key_works_after_the_import(store, full, make_ledger, ask):
    there = make_ledger(copied(store))
    request = ask(
        goal="everything: 'quotes' \"both\" \\ 東京 👩🏽‍🚀 \u202e",
        criteria=["one", "two"],
        owner="ada",
        next="then\nthis",
        priority=0,
        add_labels=("ui", "später"),
        decisions=("why",),
        notes=("n",),
    )
    again = there.create(request, key="a key")
    assert (again.changed, again.task.id) == (False, full[0])


def test_a_claim_goes_with_its_task_and_its_token_works_there(
    store, on_store, make_ledger, ask, clock
):
    made = on_store.create(ask(goal="x")).task.id
    token = on_store.claim(made).token
    there = make_ledger(copied(store), clock=clock)
    assert there.update(made, ask(next="y"), claim=token).changed


def test_an_export_holds_no_token(store, on_store, ask):
    made = on_store.create(ask(goal="x")).task.id
    secret = on_store.claim(made).token.partition(".")[2]
    assert secret.encode() not in b"".join(lines(store))


def test_a_line_altered_in_what_no_state_holds_is_refused(store, on_store, ask):
    """An idempotency key is in a change and in no state: only the chain vouches for it."""
    on_store.create(ask(goal="g"), key="once")
    header, line = lines(store)
    altered = line.replace(b'"key":"once"', b'"key":"other"')
    assert altered != line
    with pytest.raises(InvalidInput, match=r"Line 2 .* it was altered"):
        Archive(EphemeralStore()).take_lines([header, altered])


def test_importing_its_own_export_changes_nothing_however_often(store, full):
    before = lines(store)
    for _ in range(2):
        assert Archive(store).take_lines(before) == (0, 0, 3, 0, (), 0)
        assert lines(store) == before


def test_an_empty_ledger_is_an_archive_too(store):
    exported = lines(store)
    assert len(exported) == 1
    assert Archive(store).take_lines(exported) == (0, 0, 0, 0, (), 0)


def test_a_task_of_a_damaged_history_is_not_exported(sqlite_store, make_ledger, ask):
    ledger = make_ledger(sqlite_store)
    made = ledger.create(ask(goal="x", notes=("first",))).task.id
    ledger.update(made, ask(notes=("second",)))
    with by_hand(sqlite_store.path) as raw:
        raw.execute("UPDATE changes SET body = CAST(replace(body, 'first', 'other') AS BLOB)")
    with pytest.raises(StoreCorrupt, match=made):
        lines(sqlite_store)


requests = st.builds(
    Request,
    st.fixed_dictionaries(
        {},
        optional={
            "criteria": st.lists(st.sampled_from(["a", "b"]), max_size=2) | hostile_texts,
            "owner": field_texts,
            "next": hostile_texts,
            "priority": st.integers(0, 4),
            "status": st.sampled_from(["open", "active"]),
        },
    ),
    decisions=st.lists(field_texts, min_size=1, max_size=2).map(tuple),
    notes=st.lists(hostile_texts, max_size=2).map(tuple),
    evidence=st.lists(st.tuples(field_texts, st.just(0)), max_size=1).map(tuple),
    add_labels=st.lists(labels, max_size=2).map(tuple),
)


@given(
    st.lists(
        st.tuples(
            hostile_texts,
            requests,
            st.none() | st.text(max_size=9),
            st.integers(0, 3),
            st.booleans(),
        ),
        max_size=4,
    )
)
@settings(max_examples=settings.default.max_examples // 2)
def test_any_ledger_comes_through_whole(make_ledger, tmp_path_factory, tasks):
    store = EphemeralStore()
    ledger = make_ledger(store)
    made = []
    for number, (goal, request, key, links, held) in enumerate(tasks):
        first = Request({"goal": goal})
        key = f"{number}{key}".replace("\0", "") if key else ""
        one = ledger.create(first, key=key).task.id
        if made:
            linked = Request({"parent": made[links % len(made)]} if links % 2 else {})
            ledger.update(one, linked._replace(add_dependencies=(made[links % len(made)],)))
        ledger.update(one, request)
        if held:
            ledger.claim(one, seconds=9)
        made.append(one)
    exported = lines(store)
    folder: Path = tmp_path_factory.mktemp("archive")
    file = SqliteStore(str(folder / "ledger.sqlite3"))
    file.create()
    Archive(file).take_lines(exported)
    assert lines(file) == exported
    assert inspect(file, deep=True).findings == ()
    file.close()


# -- beside what is there


@pytest.fixture
def two(store, on_store, make_ledger, clock, ask):
    """The ledger, another that took it in, and the ids of both."""
    ids = [on_store.create(ask(goal=f"task {n}", criteria=["c"])).task.id for n in range(3)]
    other = copied(store)
    return on_store, make_ledger(other, actor="bob", clock=clock), other, ids


def test_an_older_copy_never_undoes_newer_work(store, two, ask):
    here, _, other, ids = two
    here.update(ids[0], ask(status="done", evidence=(("e", 0),)))
    before = lines(store)
    merge = Archive(store).take_lines(lines(other))
    assert (merge.older, merge.same, merge.created, merge.updated) == (1, 2, 0, 0)
    assert here.show(ids[0]).status == "done"
    assert lines(store) == before


def test_a_newer_copy_brings_a_task_forward_with_its_history(store, two, ask):
    here, there, other, ids = two
    there.update(ids[1], ask(status="active", next="on it", add_labels=("ui",)))
    there.update(ids[1], ask(notes=("n",), add_dependencies=(ids[0],)))
    new = there.create(ask(goal="new", parent=ids[1]), key="k").task.id
    merge = Archive(store).take_lines(lines(other))
    assert merge == (1, 1, 2, 0, (ids[1], new), 0)
    assert lines(store) == lines(other)
    assert here.history(ids[1]).total == 3
    assert [one.id for one in here.list(label="ui").items] == [ids[1]]
    assert [one.id for one in here.search("on it").items] == [ids[1]]
    assert ids[1] not in [one.id for one in here.ready().items]


def test_a_copy_that_is_newer_in_one_and_older_in_another_task_gives_and_takes(store, two, ask):
    here, there, other, ids = two
    here.update(ids[0], ask(notes=("here",)))
    there.update(ids[1], ask(notes=("there",)))
    merge = Archive(store).take_lines(lines(other))
    assert merge == (0, 1, 1, 1, (ids[1],), 0)
    assert here.show(ids[0]).notes[0].text == "here"
    assert here.show(ids[1]).notes[0].text == "there"


def test_every_conflict_is_listed_and_nothing_is_written(store, two, ask):
    here, there, other, ids = two
    for one in ids[:2]:
        here.update(one, ask(notes=("here",)))
        there.update(one, ask(notes=("there",)))
    there.update(ids[2], ask(notes=("would be brought forward",)))
    there.create(ask(goal="would be new"))
    before = lines(store)
    with pytest.raises(MergeConflict, match="nothing was written") as caught:
        Archive(store).take_lines(lines(other))
    assert caught.value.details["tasks"] == ids[:2]
    assert all(f"{one} has another history there" in caught.value.message for one in ids[:2])
    assert lines(store) == before


def test_two_places_that_made_tasks_under_one_key_are_a_conflict_that_names_both(store, two, ask):
    here, there, other, _ = two
    mine = here.create(ask(goal="mine"), key="issue-42").task.id
    there._new_id = lambda: "t-theirs"
    there.create(ask(goal="theirs"), key="issue-42")
    before = lines(store)
    with pytest.raises(MergeConflict, match=f"'issue-42', which made {mine} here") as caught:
        Archive(store).take_lines(lines(other))
    assert caught.value.details["tasks"] == ["t-theirs"]
    assert lines(store) == before


@pytest.mark.parametrize("link", ["dependency", "parent"])
def test_links_made_on_both_sides_cannot_close_a_ring(store, two, ask, link):
    here, there, other, (a, b, c) = two
    if link == "dependency":
        here.update(a, ask(add_dependencies=(b,)))
        there.update(c, ask(add_dependencies=(a,)))
        there.update(b, ask(add_dependencies=(c,)))
    else:
        here.update(a, ask(parent=b))
        there.update(b, ask(parent=a))
    before = lines(store)
    with pytest.raises(RingRefused) as caught:
        Archive(store).take_lines(lines(other))
    ring = caught.value.details["ring"]
    assert ring[0] == ring[-1]
    assert {a, b} <= set(ring)
    assert lines(store) == before


def test_links_made_on_both_sides_cannot_have_a_task_wait_for_its_own_part(store, two, ask):
    here, there, other, (a, b, c) = two
    here.update(b, ask(parent=a))
    there.update(c, ask(parent=b))
    there.update(a, ask(add_dependencies=(c,)))
    before = lines(store)
    with pytest.raises(RingRefused, match="its own part") as caught:
        Archive(store).take_lines(lines(other))
    assert caught.value.details["ring"] == [a, c, b, a]
    assert lines(store) == before


def test_tasks_that_wait_for_each_other_in_any_order_of_lines_are_taken_in(store, two, ask):
    here, there, other, (a, b, c) = two
    there.update(a, ask(add_dependencies=(c,)))
    late = there.create(ask(goal="late")).task.id
    there.update(b, ask(parent=late, add_dependencies=(late,)))
    header, *rest = lines(other)
    assert Archive(store).take_lines([header, *reversed(rest)]).updated == 2
    assert here.show(b).parent == late


def test_a_link_to_a_task_that_is_neither_here_nor_there_is_refused(store, two, ask):
    _, there, other, _ = two
    late = there.create(ask(goal="late")).task.id
    there.create(ask(goal="part", parent=late))
    before = lines(store)
    _, *rest = lines(other)
    without = [line for line in rest if f'"task":"{late}"'.encode() not in line]
    without.insert(0, header(len(without)))
    with pytest.raises(InvalidInput, match=late):
        Archive(store).take_lines(without)
    assert lines(store) == before


def test_a_rehearsal_says_the_same_and_writes_nothing(store, two, ask):
    _, there, other, ids = two
    there.update(ids[0], ask(notes=("n",)))
    there.create(ask(goal="new"))
    before = lines(store)
    rehearsed = Archive(store).rehearse(lines(other))
    assert lines(store) == before
    assert Archive(store).take_lines(lines(other)) == rehearsed


def test_a_ledger_takes_another_in_by_the_same_rules(store, two, ask):
    _, there, other, ids = two
    there.update(ids[0], ask(notes=("n",)))
    assert Archive(store).take_store(other) == (0, 1, 2, 0, (ids[0],), 0)
    assert lines(store) == lines(other)


# -- what cannot be used


def spoilt(number, line):
    def put(exported):
        return [*exported[: number - 1], line, *exported[number:]]

    return number, put


BAD = {
    "a conflict marker": spoilt(3, b"<<<<<<< HEAD\n"),
    "a separator": spoilt(2, b"=======\n"),
    "half a line": (4, lambda exported: [*exported[:3], exported[3][:40]]),
    "another value": (3, lambda exported: [*exported[:2], b"7\n", exported[3]]),
    "a changed word": (4, lambda e: [*e[:3], e[3].replace(b"task 2", b"task 9")]),
    "a lost change": (2, lambda e: [e[0], _without_first_change(e[1]), *e[2:]]),
    "no text": spoilt(3, b"\xff\xfe\n"),
    "no header": (1, lambda exported: exported[1:]),
    "another header": spoilt(1, b'{"format":"contextspindle ledger","version":9}\n'),
    "a lease out of form": (2, lambda e: [e[0], _with_lease(e[1]), *e[2:]]),
    "rubbish at the end": (5, lambda exported: [*exported, b"rubbish"]),
}


def _without_first_change(line):
    found = canon.decode(line)
    return canon.encode({**found, "changes": found["changes"][1:]})


def _with_lease(line):
    return canon.encode({**canon.decode(line), "lease": ["", "m", "soon", 1]})


@pytest.mark.parametrize("blanks", [[b"\n"], [b" \n", b"\r\n"]])
def test_blank_lines_are_no_archive_and_do_not_stand_for_its_header(store, two, blanks):
    _, _, other, _ = two
    before = lines(store)
    with pytest.raises(InvalidInput, match="empty"):
        Archive(store).take_lines(blanks)
    with pytest.raises(InvalidInput, match=f"Line {len(blanks) + 1} cannot be used"):
        Archive(store).take_lines([*blanks, *lines(other)[1:]])
    assert Archive(store).take_lines([*blanks, *lines(other)]).same == 3
    assert lines(store) == before


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_line_is_named_and_nothing_is_imported(store, two, ask, bad):
    _, there, other, ids = two
    for one in ids:
        there.update(one, ask(notes=("n",)))
    number, put = BAD[bad]
    before = lines(store)
    with pytest.raises(InvalidInput, match=f"Line {number} cannot be used") as caught:
        Archive(store).take_lines(put(lines(other)))
    assert caught.value.details["line"] == number
    assert "nothing was imported" in caught.value.message
    assert lines(store) == before


def test_an_archive_of_a_newer_form_says_to_upgrade_the_program(store, two):
    newer = b'{"format":"contextspindle ledger","tasks":0,"version":2}\n'
    with pytest.raises(InvalidInput, match="it has version 2, not 1") as caught:
        Archive(store).take_lines([newer])
    assert "upgrade" in caught.value.hint


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_an_archive_that_was_cut_off_between_two_lines_is_refused(two, kept):
    """Each line that is left is sound, so the first one says how many there were."""
    exported = lines(two[2])
    here = EphemeralStore()
    for take in (Archive(here).take_lines, Archive(here).rehearse):
        with pytest.raises(InvalidInput, match=r"cut off.* nothing was imported") as caught:
            take([*exported[:kept], b"\n"])
        assert caught.value.details["missing"] == 4 - kept
    assert len(lines(here)) == 1


def test_an_archive_from_before_the_count_was_written_is_taken_in(two):
    exported = lines(two[2])
    old = b'{"format":"contextspindle ledger","version":1}\n'
    here = EphemeralStore()
    assert Archive(here).take_lines([old, *exported[1:3]]).created == 2
    assert lines(here) == [exported[0].replace(b'"tasks":3', b'"tasks":2'), *exported[1:3]]


def test_where_nothing_can_be_put_aside_little_is_taken_in_and_much_is_refused_whole(
    make_ledger, tmp_path, monkeypatch, ask
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    one = EphemeralStore()
    ledger = make_ledger(one)
    ledger.create(ask(goal="small"))
    here = EphemeralStore()
    assert Archive(here).take_lines(lines(one)).created == 1
    for number in range(10):
        ledger.create(ask(goal=f"large {number}", notes=("x" * 65_000,) * 14))
    with pytest.raises(StoreUnavailable, match=r"put aside: .*; nothing was written"):
        Archive(here).take_lines(lines(one))
    assert len(lines(here)) == 2


def test_nothing_at_all_is_no_archive(store):
    with pytest.raises(InvalidInput, match="empty"):
        Archive(store).take_lines([])


def test_blank_lines_between_are_no_harm(store, two):
    _, _, other, _ = two
    header, *rest = lines(other)
    assert Archive(store).take_lines([header, b"\n", *rest, b"\n"]).same == 3


def test_a_task_that_stands_there_twice_is_counted_once_as_new(two, store):
    header, *rest = lines(store)
    empty = EphemeralStore()
    assert Archive(empty).take_lines([header, *rest, *rest])[:3] == (3, 0, 3)
    assert lines(empty) == [header, *rest]
