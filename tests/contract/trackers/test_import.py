"""An import on every store, from every program: repeatable, complete, never over our work."""

from __future__ import annotations

import pytest

from contextspindle.actions.ledger import Ledger
from contextspindle.core.evidence import verified
from contextspindle.core.foreign import Chronicle, Gathered, Past
from contextspindle.errors import DoneRefused, RingRefused
from contextspindle.trackers import original
from contextspindle.trackers.original import File
from tests.trackers import delta, version_file, whole

EARLY, LATE = "2025-01-01T00:00:00Z", "2025-06-01T00:00:00Z"


def one(name="1", **more):
    return {"id": name, **more}


@pytest.fixture
def ledger(importing, clock, ids):
    return Ledger(importing.store, actor="bob", clock=clock, new_id=ids)


def test_a_dry_run_writes_nothing_and_says_the_same(importing, program):
    found = program(one(), one("2", needs=["1", "9"]))
    told = importing(found, dry=True)
    assert importing.state() == []
    done = importing(found)
    assert (told.created, told.updated, told.skipped) == (2, 0, 0)
    assert [(p.kind, p.where) for p in told.problems] == [(p.kind, p.where) for p in done.problems]
    assert done.created == 2
    before = importing.state()
    importing(program(one(title="other")), dry=True)
    assert importing.state() == before


def test_the_same_twice_changes_nothing(importing, program, clock):
    found = program(
        one(status="done", note="a note"), one("2", needs=["1"]), one("3", needs=["3", "9"])
    )
    importing(found)
    before = importing.state()
    clock.forward(60_000)
    report = importing(found)
    assert (report.created, report.updated, report.skipped, report.ids) == (0, 0, 3, ())
    assert importing.state() == before


def test_what_changed_there_comes_over_as_one_change(importing, program, clock):
    importing(program(one(note="first"), one("2")))
    clock.forward(60_000)
    report = importing(program(one(title="another goal", note="second", needs=["2"]), one("2")))
    tasks = importing.tasks()
    task = tasks[program.source("1")]
    assert (report.updated, report.skipped, report.ids) == (1, 1, (task.id,))
    assert (task.version, task.goal) == (2, "another goal")
    assert task.dependencies == (tasks[program.source("2")].id,)
    assert task.decisions[-1].text.startswith("Brought forward from ")
    assert [note.text.partition(": ")[2] for note in task.notes[1:]] == ["first", "second"]
    assert task.updated == clock.now


def test_what_was_taken_back_there_is_taken_back_here(importing, program):
    importing(program(one("2"), one(needs=["2"])))
    importing(program(one("2"), one()))
    assert importing.tasks()[program.source("1")].dependencies == ()


def test_what_changed_there_and_here_is_a_conflict_and_stays(importing, program, ledger, ask):
    importing(program(one(), one("2")))
    task = importing.tasks()[program.source("1")]
    ledger.update(task.id, ask(notes=("seen here",)))
    before = importing.state()
    report = importing(program(one(title="another goal"), one("2")))
    assert (report.conflicts, report.updated, report.skipped) == (1, 0, 1)
    (problem,) = report.problems
    assert problem.kind == "conflict"
    assert task.id in problem.message
    assert importing.state() == before


def test_what_changed_here_alone_stays_as_it_is(importing, program, ledger, ask):
    importing(program(one()))
    task = importing.tasks()[program.source("1")]
    ledger.update(task.id, ask(status="active"))
    report = importing(program(one()))
    assert (report.conflicts, report.skipped, report.problems) == (0, 1, ())
    assert importing.tasks()[program.source("1")].status == "active"


def test_a_claim_that_was_given_back_or_has_run_out_is_no_change_here(
    importing, program, ledger, clock
):
    importing(program(one(), one("2")))
    tasks = importing.tasks()
    back = ledger.claim(tasks[program.source("1")].id)
    ledger.release(back.task.id, token=back.token)
    held = ledger.claim(tasks[program.source("2")].id, seconds=60)
    there = program(one(title="another"), one("2", title="another", status="done"))
    report = importing(there)
    assert (report.updated, report.conflicts) == (1, 1)
    assert f"bob holds {held.task.id} here" in report.problems[0].message
    clock.forward(120_000)
    assert importing(there).updated == 1
    after = importing.tasks()
    assert {task.goal for task in after.values()} == {"another"}
    assert after[program.source("2")].claim == ""
    with importing.store.read() as txn:
        assert txn.lease(held.task.id) is None


def test_a_target_that_comes_later_is_linked_to_though_nothing_else_changed(
    importing, program, ledger, ask
):
    waits = one(needs=["2"])
    importing(program(waits))
    before = importing.state()
    assert importing(program(waits)).skipped == 1
    assert importing.state() == before
    both = program(waits, one("2"))
    report = importing(both)
    assert (report.created, report.updated, report.problems) == (1, 1, ())
    tasks = importing.tasks()
    first, second = tasks[program.source("1")], tasks[program.source("2")]
    assert first.dependencies == (second.id,)
    assert [item.id for item in ledger.ready().items] == [second.id]
    before = importing.state()
    assert importing(both).skipped == 2
    assert importing.state() == before
    # It is still known what came from there, and what was taken back here is not brought again.
    assert importing(program(one(title="new", needs=["2"]), one("2"))).updated == 1
    ledger.update(first.id, ask(drop_dependencies=(second.id,)))
    before = importing.state()
    importing(program(one(title="new", needs=["2"]), one("2")))
    assert importing.state() == before


def test_a_link_that_comes_late_hides_no_change_that_was_made_here(importing, program, ledger, ask):
    importing(program(one(needs=["2"])))
    first = importing.tasks()[program.source("1")].id
    ledger.update(first, ask(next="mine"))
    assert importing(program(one(needs=["2"]), one("2"))).updated == 1
    report = importing(program(one(title="theirs", needs=["2"]), one("2")))
    assert (report.updated, report.conflicts) == (0, 1)
    assert importing.tasks()[program.source("1")].next == "mine"


def test_an_older_copy_never_undoes_newer_work(importing, program):
    importing(program(one(status="done", updated=LATE)))
    report = importing(program(one(title="as it was", updated=EARLY)))
    assert (report.skipped, report.updated) == (1, 0)
    assert [problem.kind for problem in report.problems] == ["older"]
    assert importing.tasks()[program.source("1")].status == "done"


def test_what_is_done_there_is_done_here_and_not_verified(importing, program, ledger, ask):
    importing(program(one(status="done"), one("2", needs=["1"])))
    tasks = importing.tasks()
    done = tasks[program.source("1")]
    assert (done.status, done.evidence) == ("done", ())
    assert done.decisions[0].text.endswith("; not verified here")
    assert verified(done) is False
    assert ledger.view(done.id).verified is False
    assert verified(tasks[program.source("2")]) is None
    # Reopened, it has to meet the conditions of done like any other.
    ledger.update(done.id, ask(status="active", decisions=("look again",)))
    with pytest.raises(DoneRefused):
        ledger.update(done.id, ask(status="done"))
    ledger.update(done.id, ask(criteria=["it works"], decisions=("said so",)))
    ledger.update(done.id, ask(evidence=(("it does", 0),), status="done"))
    assert ledger.view(done.id).verified is True


def test_a_ring_and_a_missing_target_become_notes_and_are_listed(importing, program):
    report = importing(program(one(needs=["2"]), one("2", needs=["1", "gone"])))
    first, second = (importing.tasks()[program.source(name)] for name in ("1", "2"))
    assert (first.dependencies, second.dependencies) == ((second.id,), ())
    assert [problem.kind for problem in report.problems] == ["link", "link"]
    ring, gone = (note.text for note in second.notes if " dependency: " in note.text)
    assert program.source("1") in ring
    assert f"it would close a ring: {second.id} -> {first.id} -> {second.id}" in ring
    assert gone.endswith("(it is not there)")


def test_a_part_may_not_be_waited_for_by_its_whole_whichever_comes_first(importing):
    from tests.contract.trackers.conftest import as_beads

    items = [
        one("w", needs=["p"]),
        one("p", parent="w"),
        one("q", parent="v"),
        one("v", needs=["q"]),
    ]
    report = importing(as_beads(items))
    tasks = importing.tasks()
    assert tasks["beads:w"].dependencies == (tasks["beads:p"].id,)
    assert tasks["beads:p"].parent == ""
    assert tasks["beads:q"].parent == tasks["beads:v"].id
    assert tasks["beads:v"].dependencies == ()
    assert len(report.problems) == 2


def test_a_target_that_was_imported_before_is_linked_to(importing, program):
    importing(program(one()))
    importing(program(one("2", needs=["1"])))
    tasks = importing.tasks()
    assert tasks[program.source("2")].dependencies == (tasks[program.source("1")].id,)


def test_lists_show_items_in_the_order_of_their_creation(importing, program, ledger):
    importing(program(one(updated=LATE), one("2", updated=EARLY)))
    tasks = {task.id: source for source, task in importing.tasks().items()}
    assert len(tasks) == 2
    assert {one.id for one in ledger.list().items} == set(tasks)


def test_what_an_import_made_can_be_found_and_is_ready(importing, program, ledger):
    importing(program(one(note="a walnut"), one("2", needs=["1"])))
    tasks = importing.tasks()
    assert [found.id for found in ledger.search("walnut").items] == [tasks[program.source("1")].id]
    assert [found.id for found in ledger.ready().items] == [tasks[program.source("1")].id]


# -- histories


def chronicle(task_id, *bodies):
    return original.parse(task_id, [File(one["version"], version_file(one)) for one in bodies])[0]


def gathered(*chronicles):
    return Gathered("original", (), tuple(chronicles), ())


FIRST = whole("t-one", 1, goal="g")
SECOND = delta("t-one", 2, ("note", "n"), ("dependency", "t-two"))
OTHER = whole("t-two", 1)


def test_a_history_twice_changes_nothing_and_a_longer_one_comes_forward(importing):
    both = gathered(chronicle("t-one", FIRST, SECOND), chronicle("t-two", OTHER))
    assert importing(both).created == 2
    before = importing.state()
    report = importing(both)
    assert (report.skipped, importing.state()) == (2, before)
    longer = chronicle("t-one", FIRST, SECOND, delta("t-one", 3, ("status", "active")))
    report = importing(gathered(longer, chronicle("t-two", OTHER)))
    assert (report.updated, report.skipped, report.ids) == (1, 1, ("t-one",))
    task = importing.tasks()["t-one"]
    assert (task.version, task.status, task.dependencies) == (3, "active", ("t-two",))
    assert importing(both).skipped == 2
    assert importing.tasks()["t-one"].version == 3


def test_a_link_of_a_history_whose_end_comes_later_is_made_then_and_both_go_on(importing):
    steps = [whole("t-one", 1), delta("t-one", 2, ("dependency", "t-two"))]

    def told(*more):
        return gathered(chronicle("t-one", *steps), *more)

    report = importing(told())
    assert (report.created, [one.kind for one in report.problems]) == (1, ["link"])
    before = importing.state()
    assert importing(told()).skipped == 1
    assert importing.state() == before
    two = chronicle("t-two", OTHER)
    report = importing(told(two))
    assert (report.created, report.updated, report.conflicts, report.problems) == (1, 1, 0, ())
    assert importing.tasks()["t-one"].dependencies == ("t-two",)
    before = importing.state()
    assert importing(told(two)).skipped == 2
    assert importing.state() == before
    steps.append(delta("t-one", 3, ("note", "there"), ("dependency", "t-three")))
    report = importing(told(two))
    assert (report.updated, report.conflicts) == (1, 0)
    task = importing.tasks()["t-one"]
    assert (task.version, task.dependencies) == (4, ("t-two",))
    steps.append(delta("t-one", 4, ("status", "active")))
    three = chronicle("t-three", whole("t-three", 1))
    report = importing(told(two, three))
    assert (report.created, report.updated, report.conflicts) == (1, 1, 0)
    task = importing.tasks()["t-one"]
    assert (task.status, task.dependencies) == ("active", ("t-two", "t-three"))
    before = importing.state()
    assert importing(told(two, three)).skipped == 3
    assert importing.state() == before


def test_a_late_link_comes_though_the_task_went_on_here_and_stays_away_if_taken_back(
    importing, ledger, ask
):
    waits = chronicle("t-one", whole("t-one", 1), delta("t-one", 2, ("dependency", "t-two")))
    importing(gathered(waits))
    ledger.update("t-one", ask(notes=("here",)))
    both = gathered(waits, chronicle("t-two", OTHER))
    assert importing(both).updated == 1
    assert importing.tasks()["t-one"].dependencies == ("t-two",)
    ledger.update("t-one", ask(drop_dependencies=("t-two",)))
    before = importing.state()
    assert importing(both).skipped == 2
    assert importing.state() == before


def test_a_history_that_went_on_here_and_there_is_a_conflict(importing, ledger, ask):
    importing(gathered(chronicle("t-two", OTHER)))
    ledger.update("t-two", ask(notes=("here",)))
    before = importing.state()
    assert importing(gathered(chronicle("t-two", OTHER))).skipped == 1
    moved = chronicle("t-two", OTHER, delta("t-two", 2, ("note", "there")))
    report = importing(gathered(moved))
    assert (report.conflicts, [problem.kind for problem in report.problems]) == (1, ["conflict"])
    assert importing.state() == before


def test_a_history_that_would_close_a_ring_with_what_stays_here_is_refused(importing, ledger, ask):
    importing(gathered(chronicle("t-a", whole("t-a", 1)), chronicle("t-b", whole("t-b", 1))))
    ledger.update("t-a", ask(add_dependencies=("t-b",)))
    before = importing.state()
    waiting = chronicle("t-b", whole("t-b", 1), delta("t-b", 2, ("dependency", "t-a")))
    moved = chronicle("t-a", whole("t-a", 1), delta("t-a", 2, ("note", "there")))
    with pytest.raises(RingRefused):
        importing(gathered(waiting, moved))
    assert importing.state() == before


def test_a_history_larger_than_a_task_may_be_is_listed(importing):
    big = tuple(
        Past(1, "x", {"goal": "g"} if not n else {}, notes=("n" * 60_000,)) for n in range(40)
    )
    report = importing(gathered(Chronicle("t-big", "t-big", big), chronicle("t-two", OTHER)))
    assert (report.created, [problem.kind for problem in report.problems]) == (1, ["unread"])
