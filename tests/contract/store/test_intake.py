"""An archive that fits together and that no writer of ours made is refused, on every store."""

from __future__ import annotations

import pytest

from contextspindle.actions.archive import Archive
from contextspindle.core import canon
from contextspindle.core.archive import Stored, digests
from contextspindle.core.change import apply, begin, from_document
from contextspindle.core.claims import Lease
from contextspindle.core.digest import sha256
from contextspindle.core.evidence import PREFIX
from contextspindle.core.task import state_bytes
from contextspindle.errors import InvalidInput
from contextspindle.store.ephemeral import EphemeralStore


def lines(store):
    return list(Archive(store).lines())


def _forged(step, **parts):
    """A line of one task as nobody altered it: chain, state and all fit what its change says."""

    def put(exported):
        found = canon.decode(exported[1])
        one = found["changes"][step]
        given = {**one, **parts, "set": {**one.get("set", {}), **parts.get("set", {})}}
        given = {name: value for name, value in given.items() if value != {}}
        found["changes"][step] = given
        task = None
        for change_ in found["changes"]:
            change_["set"] = {k: v for k, v in change_.get("set", {}).items() if v is not None}
            read = from_document(change_)
            task = apply(task, read) if task else begin(read)
            change_["state"] = sha256(state_bytes(task))
            if not change_["set"]:
                del change_["set"]
        bodies = tuple(map(canon.encode, found["changes"]))
        found["head"] = digests(found["changes"][0]["task"], bodies)[-1]
        return [exported[0], canon.encode(found) + b"\n", *exported[2:]]

    return put


def _evidence(more):
    """Evidence of ``t-x`` that says ``more``: JSON, as nothing here would write it."""
    return {"evidence": [f'{PREFIX}{{"criteria_hash":"{"0" * 64}","task_id":"t-x",{more}}}']}


def _file(path='"a"', size="1"):
    return _evidence(f'"payload":"p","file":{{"path":{path},"sha256":"","size":{size}}}')


def _ran(folder='""', covers='"a"', milliseconds="1"):
    return _evidence(
        '"payload":"p","command":{"argv":["true"],"commit":"","output":"","status":0,"tail":"",'
        f'"tree":"","folder":{folder},"covers":[{covers}],"milliseconds":{milliseconds}}}'
    )


BAD = {
    name: _forged(step, **parts)
    for name, step, parts in [
        ("a time that is text", 0, {"at": "zzz"}),
        ("a time beyond the years", 1, {"at": 10**30}),
        ("a time that is no whole number", 1, {"at": 1.5}),
        ("a version that is true", 0, {"version": True}),
        ("an actor that is a number", 0, {"actor": 5}),
        ("an actor without a name", 0, {"actor": ""}),
        ("an actor with a zero byte", 0, {"actor": "a\0"}),
        ("another id", 1, {"set": {"id": "t-other"}}),
        ("a goal of 5 MB", 0, {"set": {"goal": "x" * 5_000_000}}),
        ("a goal with a zero byte", 0, {"set": {"goal": "a\0b"}}),
        ("no goal", 0, {"set": {"goal": None}}),
        ("an empty goal", 1, {"set": {"goal": ""}}),
        ("a goal that is a list", 1, {"set": {"goal": ["x"]}}),
        ("a line break in a criterion", 0, {"set": {"criteria": ["a\nb", "c"]}}),
        ("criteria that are text", 1, {"set": {"criteria": "ab"}}),
        ("a line break in a label", 0, {"set": {"labels": ["a\nb"]}}),
        ("a label twice", 0, {"set": {"labels": ["a", "a"]}}),
        ("a status that is none", 0, {"set": {"status": "closed"}}),
        ("a priority beyond", 0, {"set": {"priority": 7}}),
        ("a parent that is no id", 1, {"set": {"parent": "../x"}}),
        ("a claim that is a number", 1, {"set": {"claim": 0}}),
        ("a source that comes late", 1, {"set": {"source": "beads:1"}}),
        ("a key of 100,000 characters", 0, {"key": "k" * 100_000, "request": "0" * 64}),
        ("a key that comes late", 1, {"key": "k", "request": "0" * 64}),
        ("a request that is text", 0, {"request": "what"}),
        ("a note that is a number", 1, {"notes": [5]}),
        ("a note of 5 MB", 1, {"notes": ["x" * 5_000_000]}),
        ("an empty decision", 1, {"decisions": [" "]}),
        ("evidence that is none", 1, {"evidence": ["seen"]}),
        ("evidence with half a character", 1, _evidence(r'"payload":"\ud800"')),
        ("evidence for a criterion beyond", 1, _evidence('"payload":"p","for":1000000')),
        ("a file that no path leads to", 1, _file(r'"a\u0000b"')),
        ("a file of half a character", 1, _file(r'"\ud800"')),
        ("a file of less than nothing", 1, _file(size="-1")),
        ("a command in no folder", 1, _ran(folder=r'"\u0000"')),
        ("a command that covers half a character", 1, _ran(covers=r'"\udfff"')),
        ("a command of ages", 1, _ran(milliseconds="9" * 400)),
        ("blocked by nothing", 1, {"set": {"status": "blocked"}}),
        ("a part of another kind", 1, {"more": "x"}),
    ]
}


GOOD = {
    "blocked by something": {"set": {"status": "blocked", "blocker": "rain"}},
    "evidence that was pasted": _evidence('"payload":"p","more":1'),
    "a file": _file(),
    "a command": _ran(),
}


@pytest.fixture
def exported(make_ledger, ask):
    """The lines of another ledger, with a task of two versions."""
    other = EphemeralStore()
    there = make_ledger(other)
    made = there.create(ask(goal="g", criteria=["c"])).task.id
    there.update(made, ask(notes=("n",)))
    return lines(other)


@pytest.mark.parametrize("put", BAD.values(), ids=BAD)
def test_a_change_that_no_writer_makes_is_refused_though_all_of_it_fits_together(
    store, exported, put
):
    with pytest.raises(InvalidInput, match="Line 2 cannot be used") as caught:
        Archive(store).take_lines(put(exported))
    assert "nothing was imported" in caught.value.message
    assert len(lines(store)) == 1
    assert Archive(store).take_lines(exported).created == 1


@pytest.mark.parametrize("parts", GOOD.values(), ids=GOOD)
def test_what_differs_from_it_by_what_is_wrong_alone_is_taken_in(store, exported, parts):
    put = _forged(1, **parts)(exported)
    assert Archive(store).take_lines(put).created == 1
    assert lines(store) == put


@pytest.mark.parametrize("name", ["blocked by nothing", "a file that no path leads to", "no goal"])
def test_a_ledger_that_fits_together_is_judged_like_an_archive(store, exported, name):
    found = canon.decode(BAD[name](exported)[-1])
    steps = [from_document(one) for one in found["changes"]]
    task = begin(steps[0])
    for step in steps[1:]:
        task = apply(task, step)
    other = EphemeralStore()
    with other.write() as txn:
        txn.adopt(Stored(task, tuple(map(canon.encode, found["changes"])), None), 0)
        txn.join(task)
    with pytest.raises(InvalidInput, match="cannot be taken in") as caught:
        Archive(store).take_store(other)
    assert caught.value.details["task"] == task.id
    assert len(lines(store)) == 1


def test_a_task_that_has_ended_is_nobodys(store, make_ledger, ask):
    other = EphemeralStore()
    there = make_ledger(other)
    there.claim(there.create(ask(goal="g")).task.id)
    put = _forged(1, set={"status": "cancelled"})(lines(other))
    with pytest.raises(InvalidInput, match="is cancelled, and claimed"):
        Archive(store).take_lines(put)


def _leased(**parts):
    def put(exported):
        found = canon.decode(exported[1])
        lease = Lease(*found["lease"])._replace(**parts)
        return [exported[0], canon.encode({**found, "lease": list(lease)}) + b"\n"]

    return put


LEASES = {
    "of years": _leased(length=400 * 86_400_000),
    "that ends in years": _leased(until=2_000_000_000_000),
    "that ends beyond the years": _leased(until=10**30),
    "of no length": _leased(length=0),
    "under a mark that is none": _leased(mark="m"),
}


@pytest.mark.parametrize("put", LEASES.values(), ids=LEASES)
def test_a_lease_that_nobody_can_have_is_refused(store, make_ledger, ask, put):
    other = EphemeralStore()
    there = make_ledger(other)
    there.claim(there.create(ask(goal="g")).task.id)
    taken_in = Archive(store, lambda: there.list().items[0].updated)
    with pytest.raises(InvalidInput, match="Line 2 cannot be used: the lease"):
        taken_in.take_lines(put(lines(other)))
    assert taken_in.take_lines(lines(other)).created == 1


def test_what_is_imported_is_read_to_its_end_before_a_writer_has_to_wait(store, on_store, ask):
    on_store.create(ask(goal="g"))
    exported = lines(store)

    def waiting():
        *most, last = exported
        yield from most
        on_store.create(ask(goal="made while the import waited"))
        yield last

    assert Archive(store).rehearse(waiting()).same == 1
    assert Archive(store).take_lines(waiting()).same == 1
