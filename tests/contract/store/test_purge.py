"""A purge on every store: the text is gone, all else is as it was, older copies are known again."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contextspindle.actions.archive import Archive
from contextspindle.actions.purge import Purger
from contextspindle.core import change
from contextspindle.core.archive import replayed
from contextspindle.core.change import Request
from contextspindle.core.digest import sha256
from contextspindle.core.eraser import Eraser
from contextspindle.core.evidence import PREFIX, read, standings
from contextspindle.core.purge import purge_bytes
from contextspindle.core.redaction import MASK
from contextspindle.core.task import state_bytes
from contextspindle.errors import (
    InvalidInput,
    MergeConflict,
    PurgeUnfinished,
    SpindleError,
    StoreBusy,
    StoreCorrupt,
)
from contextspindle.store.ephemeral import EphemeralStore
from contextspindle.store.inspect import inspect
from contextspindle.store.sqlite import SqliteStore
from tests.databases import by_hand
from tests.strategies import field_texts, hostile_texts

SECRET = 'kq7-"Zx93" 東京'


def purge(store, text=SECRET, *, by="ada", at=9):
    return Purger(store, {}, actor=by, clock=lambda: at).purge(Eraser(text))


def lines(store):
    return list(Archive(store).lines())


def copied(store):
    other = EphemeralStore()
    Archive(other).take_lines(lines(store))
    return other


@pytest.fixture
def leaking(on_store, ask):
    """A task with the text in its second version, and one without it that depends on it."""
    first = on_store.create(ask(goal="first", notes=("n",)), key="once").task.id
    on_store.update(first, ask(notes=(f"it is {SECRET}!",), add_labels=("ui",)))
    on_store.update(first, ask(next="go on"))
    on_store.create(ask(goal="second", add_dependencies=(first,)))
    return first


def test_the_text_is_gone_and_all_else_is_as_it_was(store, leaking):
    before = lines(store)
    assert any(form in line for form in Eraser(SECRET).forms for line in before)
    done = purge(store)
    after = lines(store)
    assert not any(form in line for form in Eraser(SECRET).forms for line in after)
    assert after[2] == before[2]
    assert [*done.tasks] == [leaking]
    with store.read() as txn:
        task = txn.task(leaking)
        assert [one.text for one in task.notes] == ["n", f"it is {MASK}!"]
        assert (task.version, task.next, task.labels) == (3, "go on", ("ui",))
        assert txn.purges(leaking) == (done.tasks[leaking],)
        assert txn.creation("once")[1] == leaking
        assert [one.version for one in txn.changes(leaking, 1, 9)] == [1, 2, 3]
        assert txn.chain(leaking)[1:] == [*done.tasks[leaking].new]
    purge(store)
    assert lines(store) == after


PASTED = {
    "as the id of a task": {"task_id": "topsecretvalue"},
    "as the id of a task in form": {"task_id": "t-topsecretvalue"},
    "in the digest of criteria": {"criteria_hash": "topsecretvalue".ljust(64, "0")},
    "in the digest of a file": {"file": {"path": "a", "size": 1, "sha256": "topsecretvalue"}},
}


@pytest.mark.parametrize("claim", PASTED.values(), ids=PASTED)
def test_a_record_of_evidence_that_says_it_in_any_of_its_parts_loses_it(
    on_store, store, ask, claim
):
    one = on_store.create(ask(goal="g", criteria=["c"], evidence=(("seen", 0),))).task
    whole = {"task_id": one.id, "criteria_hash": "0" * 64, "payload": "p", **claim}
    stored = PREFIX + json.dumps(whole, sort_keys=True)
    step = change.plan(one, ask(notes=("n",)), actor="ada", now=5, look=lambda _: None)
    step = step._replace(evidence=(stored,))
    after = change.apply(one, step)
    step = step._replace(state=sha256(state_bytes(after)))
    with store.write() as txn:  # as another program would write it: ours refuses it
        txn.record(after, step)
    done = purge(store, "topsecretvalue")
    assert ([*done.tasks], done.held) == ([one.id], ())
    assert not any(b"topsecretvalue" in line for line in lines(store))
    with store.read() as txn:
        kept = txn.task(one.id)
    assert kept.evidence[0] == one.evidence[0]
    assert standings(kept)[0] == "fresh"
    assert read(kept.evidence[1].text).payload == "p"


def test_a_text_that_could_not_be_taken_out_is_told_and_not_called_gone(store, on_store, ask):
    """A lease under a mark that no token has is the last place where a text is not looked for."""
    one = on_store.create(ask(goal=f"it is {SECRET}")).task.id
    on_store.claim(one)
    with store.write() as txn:
        txn.keep_lease(one, txn.lease(one)._replace(mark=SECRET))
    eraser = Eraser(SECRET)
    assert Purger(store, {}, actor="ada", clock=lambda: 9).preview(eraser).held == (one,)
    assert purge(store).held == (one,)


def test_a_preview_writes_nothing(store, leaking):
    before = lines(store)
    eraser = Eraser(SECRET)
    would = Purger(store, {}, actor="ada", clock=lambda: 9).preview(eraser)
    assert lines(store) == before
    assert would == purge(store)


def test_the_same_creation_asked_for_again_gives_the_task_and_does_not_bring_it_back(
    on_store, store, ask
):
    request = ask(goal=f"with {SECRET}")
    made = on_store.create(request, key="once").task.id
    purge(store)
    again = on_store.create(request, key="once")
    assert (again.task.id, again.changed) == (made, False)
    assert again.task.goal == f"with {MASK}"


def test_two_keys_that_differ_only_in_texts_that_were_purged_do_not_collide(on_store, store, ask):
    for text in ("SECRET-1", "SECRET-2"):
        on_store.create(ask(goal="g"), key=f"deploy {text}")
        purge(store, text)
    assert on_store.list().total == 2


def test_work_goes_on_after_a_purge(on_store, store, leaking, ask):
    purge(store)
    assert on_store.update(leaking, ask(notes=("more",)), expected=3).task.version == 4
    assert on_store.search(MASK).total == 1
    assert on_store.search("Zx93").total == 0
    history = on_store.history(leaking)
    assert [len(step.purges) for step in history.steps] == [0, 1, 0, 0]
    assert len(on_store.view(leaking).purges) == 1
    assert on_store.view(leaking, version=1).purges == ()


# -- with copies


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_copy_from_before_neither_conflicts_nor_brings_the_text_back(
    store, on_store, leaking, version, ask
):
    whole = copied(store)
    old = EphemeralStore()
    with whole.read() as txn, old.write() as to:
        for stored in txn.everything():
            if stored.task.id == leaking:
                bodies = stored.bodies[:version]
                stored = stored._replace(task=replayed(bodies), bodies=bodies)
            to.adopt(stored, 0)
    purge(store)
    on_store.update(leaking, ask(notes=("since then",)))
    before = lines(store)
    merge = Archive(store).take_store(old)
    assert (merge.created, merge.updated) == (0, 0)
    assert (merge.purged, merge.older) == ((0, 1) if version == 1 else (1, 0))
    assert lines(store) == before


def test_an_older_copy_is_known_after_several_purges(store, on_store, ask):
    task = on_store.create(ask(goal="g SECRET-1", notes=("SECRET-2",))).task.id
    copies = [copied(store)]
    for text in ("SECRET-2", "SECRET-1"):
        purge(store, text)
        on_store.update(task, ask(notes=(f"after {len(copies)}",)))
        copies.append(copied(store))
    before = lines(store)
    for copy in copies:
        Archive(store).take_store(copy)
        assert lines(store) == before


def test_work_on_a_copy_from_before_is_a_conflict_until_it_is_purged_there_too(
    store, leaking, make_ledger, clock, ask
):
    other = copied(store)
    purge(store, by="ada", at=9)
    make_ledger(other, actor="bob", clock=clock).update(leaking, ask(notes=(f"also {SECRET}",)))
    before = lines(store)
    with pytest.raises(MergeConflict, match="purge the same text there first"):
        Archive(store).take_store(other)
    assert lines(store) == before
    purge(other, by="bob", at=10)
    assert Archive(store).take_store(other).tasks == (leaking,)
    assert not any(form in line for form in Eraser(SECRET).forms for line in lines(store))
    assert lines(store)[1].count(b'"first":') == 2  # both purges are on record
    Archive(store).take_store(copied(store))
    purge(store)


def test_a_purged_copy_does_not_rewrite_a_ledger_that_was_not_purged(store, leaking):
    other = copied(store)
    purge(other)
    before = lines(store)
    with pytest.raises(MergeConflict, match="purge the same text here first"):
        Archive(store).take_store(other)
    assert lines(store) == before
    purge(store)
    assert Archive(store).take_store(other).same == 2


def test_export_import_export_is_the_same_to_the_byte_with_purges(store, leaking, tmp_path):
    purge(store)
    exported = lines(store)
    empty = SqliteStore(str(tmp_path / "again" / "ledger.sqlite3"))
    (tmp_path / "again").mkdir()
    empty.create()
    for other in (empty, EphemeralStore()):
        Archive(other).take_lines(exported)
        assert lines(other) == exported
    report = inspect(empty, deep=True)
    assert (report.findings, report.purges) == ((), 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"first":2', b'"first":1'),
        (b'"first":2', b'"first":0'),
        (b'"by":"ada"', b'"by":7'),
        (b'"versions":[2]', b'"versions":[]'),
        (b'"versions":[2]', b'"versions":[9]'),
        (b'"purges":[{', b'"purges":[{},{'),
    ],
)
def test_a_record_of_a_purge_that_does_not_fit_is_refused(store, leaking, old, new):
    purge(store)
    altered = [line.replace(old, new) for line in lines(store)]
    assert altered != lines(store)
    with pytest.raises(InvalidInput, match="Line 2"):
        Archive(EphemeralStore()).take_lines(altered)


# -- any history

plain = field_texts | hostile_texts
planted = st.builds(lambda a, b: a + SECRET + b, plain | st.just(""), plain | st.just(""))
some = plain | planted
requests = st.builds(
    Request,
    st.fixed_dictionaries(
        {},
        optional={
            "goal": some,
            "criteria": some | st.lists(some.map(lambda one: " ".join(one.split())), max_size=3),
            "owner": some,
            "next": some,
            "blocker": some,
        },
    ),
    decisions=some.map(lambda one: (one,)),
    notes=st.lists(some, max_size=2).map(tuple),
    evidence=st.lists(st.tuples(some, st.just(0)), max_size=2).map(tuple),
)


@example([(0, Request({}, decisions=("a\u1cf2",)))], "ada")  # a letter that SQLite does not know
@given(st.lists(st.tuples(st.integers(0, 2), requests), min_size=1, max_size=8), some)
@settings(max_examples=settings.default.max_examples)
def test_wherever_it_was_planted_it_is_gone_and_the_rest_is_as_it_was(
    make_ledger, tmp_path_factory, asked, actor
):
    path = str(tmp_path_factory.mktemp("any") / "tasks" / "ledger.sqlite3")
    file, memory = SqliteStore(path), EphemeralStore()
    file.create()
    for store in (file, memory):
        ledger = make_ledger(store, actor=actor)
        made = [ledger.create(Request({"goal": f"goal {number}"})).task.id for number in range(3)]
        for number, request in asked:
            try:
                ledger.update(made[number], request)
            except SpindleError:
                pass
    before = lines(memory)
    eraser = Eraser(SECRET)
    touched = purge(file).tasks
    assert purge(memory).tasks == touched
    after = lines(file)
    assert lines(memory) == after
    assert inspect(file, deep=True).findings == ()
    assert not any(form in line for form in eraser.forms for line in after)
    for old, new in zip(before, after):
        assert (old == new) is not any(one.encode() in new for one in touched)
    Archive(file).take_lines(before)
    assert lines(file) == after
    file.close()
    raw = b"".join(
        one.read_bytes()
        for one in tmp_path_factory.getbasetemp().rglob("any*/**/*")
        if one.is_file() and path.startswith(str(one.parent))
    )
    assert raw
    assert not any(form in raw for form in eraser.forms)


# -- the file


@pytest.fixture
def leaking_file(sqlite_store, make_ledger, ask):
    ledger = make_ledger(sqlite_store)
    task = ledger.create(ask(goal="g", notes=(f"it is {SECRET}!",))).task.id
    return sqlite_store, task


def test_verify_knows_that_it_was_purged_and_sees_records_that_do_not_fit(leaking_file):
    store, _ = leaking_file
    purge(store)
    report = inspect(store, deep=True)
    assert (report.findings, report.unchecked, report.purges) == ((), (), 1)
    for sql in (
        "UPDATE purges SET body = CAST(replace(body, 'ada', 'bob') AS BLOB)",
        "UPDATE purges SET number = 2",
        "UPDATE purges SET digest = 'x'",
        "UPDATE purges SET task = 7",
        "INSERT INTO purges SELECT task, 2, digest, CAST(body || ' ' AS BLOB) FROM purges",
    ):
        with by_hand(store.path) as raw:
            kept = raw.execute("SELECT * FROM purges").fetchall()
            raw.execute(sql)
        assert "purge" in {one.kind for one in inspect(store).findings}, sql
        with by_hand(store.path) as raw:
            raw.execute("DELETE FROM purges")
            raw.executemany("INSERT INTO purges VALUES (?, ?, ?, ?)", kept)
    assert inspect(store).findings == ()


def test_verify_sees_a_record_that_leads_elsewhere_though_its_digest_fits(leaking_file):
    store, task = leaking_file
    purge(store)
    with store.read() as txn:
        (made,) = txn.purges(task)
    body = purge_bytes(made._replace(new=("0" * 64,) * len(made.new)))
    with by_hand(store.path) as raw:
        raw.execute("UPDATE purges SET body = ?, digest = ?", (body, sha256(body)))
    (finding,) = inspect(store).findings
    assert (finding.kind, finding.task) == ("purge", task)


def test_pages_that_were_freed_before_the_purge_hold_nothing_of_it(sqlite_store, make_ledger, ask):
    ledger = make_ledger(sqlite_store)
    for number in range(8):
        long = "x" * 15_000 + SECRET + "y" * 15_000
        task = ledger.create(ask(goal=f"g {number}", next=long)).task.id
        ledger.update(task, ask(next="short"))

    def freed():
        with by_hand(sqlite_store.path) as raw:
            (count,) = raw.execute("PRAGMA freelist_count").fetchone()
        return count

    assert freed() > 8
    purge(sqlite_store)
    assert freed() == 0
    assert b"kq7" not in b"".join(one.read_bytes() for one in _beside(sqlite_store.path))
    assert inspect(sqlite_store, deep=True).findings == ()


def test_words_that_the_search_index_keeps_of_what_was_replaced_are_gone_too(
    sqlite_store, make_ledger, ask
):
    ledger = make_ledger(sqlite_store)
    word = "qzx0leaked0word"
    task = ledger.create(ask(goal="g", next=word)).task.id
    ledger.update(task, ask(next="replaced before the purge"))

    def kept():
        with by_hand(sqlite_store.path) as raw:
            blocks = raw.execute("SELECT block FROM search_data").fetchall()
            listed = raw.execute("SELECT CAST(word AS BLOB) FROM words").fetchall()
        return [block for (block,) in (*blocks, *listed) if word.encode() in block]

    assert len(kept()) > 1
    purge(sqlite_store, word)
    assert kept() == []
    assert ledger.search("replaced").total == 1


def test_a_damaged_task_is_told_and_nothing_is_purged(leaking_file, make_ledger, ask):
    store, task = leaking_file
    make_ledger(store, ids=lambda: "t-other").create(ask(goal=SECRET))
    with by_hand(store.path) as raw:
        raw.execute("UPDATE changes SET body = CAST(body || ' ' AS BLOB) WHERE task = 1")
    with pytest.raises(StoreCorrupt, match=task):
        purge(store)
    with store.read() as txn:
        assert txn.task("t-other").goal == SECRET


def test_a_reader_keeps_a_purge_from_beginning_or_from_ending(leaking_file):
    store, task = leaking_file
    slow = SqliteStore(store.path, wait=0.1)
    reader = sqlite3.connect(store.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM tasks").fetchall()
    with slow.write() as txn:
        txn.keep_lease(task, None)  # so that the reader needs the log
    with pytest.raises(StoreBusy, match="nothing was written") as refused:
        purge(slow)
    assert refused.type is StoreBusy
    with slow.read() as txn:
        assert txn.purges(task) == ()
    reader.execute("ROLLBACK")

    class Late:
        """A reader that begins when the tasks are purged already."""

        path = "late"

        def purge(self, eraser, *, write):
            if write:
                reader.execute("BEGIN")
                reader.execute("SELECT * FROM tasks").fetchall()
            return 0

    with pytest.raises(PurgeUnfinished, match="out of the tasks"):
        Purger(slow, {"late": Late()}, actor="ada", clock=lambda: 9).purge(Eraser(SECRET))
    with slow.read() as txn:
        assert len(txn.purges(task)) == 1
    reader.close()
    assert purge(slow).tasks == {}
    raw = b"".join(one.read_bytes() for one in _beside(store.path))
    assert b"kq7" not in raw
    slow.close()


def _beside(path):
    return [one for one in Path(path).parent.iterdir() if one.is_file()]
