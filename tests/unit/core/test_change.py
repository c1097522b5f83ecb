"""The rules of a change: each refusal with its remedy, all reasons at once, nothing for nothing."""

from __future__ import annotations

import pytest

from contextspindle.core import change, evidence
from contextspindle.core.change import Request, apply, begin, plan, plan_creation
from contextspindle.core.task import STATUSES, TASK_LIMIT, TEXT_LIMIT, Brief, Entry, state_digest
from contextspindle.errors import DoneRefused, InvalidInput, Refused, VersionConflict

EVIDENCE = (("it works", 0),)


def nobody(task_id):
    return None


def known(**statuses):
    """A look at other tasks: t-NAME has the status given."""
    briefs = {
        f"t-{name}": Brief(f"t-{name}", status, name, "", ()) for name, status in statuses.items()
    }
    return briefs.get


def created(look=nobody, now=1_000, **words):
    parts = {name: words.pop(name) for name in Request._fields if name in words}
    request = Request(**{"set": {"goal": "x", **words}, **parts})
    return begin(plan_creation("t-one", request, actor="ada", now=now, look=look))


def planned(task, look=nobody, now=2_000, actor="bob", expected=None, **words):
    parts = {name: words.pop(name) for name in Request._fields if name in words}
    request = Request(**{"set": words, **parts})
    return plan(task, request, actor=actor, now=now, look=look, expected=expected)


def changed(task, **words):
    step = planned(task, **words)
    assert step is not None
    return apply(task, step)


def reasons(kind, task, **words):
    with pytest.raises(kind) as caught:
        planned(task, **words)
    assert type(caught.value) is kind
    for reason in caught.value.reasons:
        assert reason in caught.value.message
    return list(caught.value.reasons)


# -- creation


def test_a_task_needs_a_goal():
    with pytest.raises(InvalidInput, match="goal"):
        plan_creation("t-one", Request(), actor="ada", now=1, look=nobody)


def test_a_new_task_is_open_with_middle_priority_at_version_one():
    made = created()
    assert (made.version, made.status, made.priority) == (1, "open", 2)
    assert (made.created, made.updated, made.last_actor) == (1_000, 1_000, "ada")
    assert (made.criteria, made.dependencies, made.labels, made.notes) == ((), (), (), ())


def test_the_first_change_says_its_defaults_so_that_they_may_change_one_day():
    step = plan_creation("t-one", Request({"goal": "x"}), actor="ada", now=1, look=nobody)
    assert step.set == {"goal": "x", "status": "open", "priority": 2}
    assert step.state == state_digest(begin(step))


def test_a_task_may_be_created_in_any_status_that_its_rules_allow():
    assert created(status="active").status == "active"
    assert created(status="cancelled").status == "cancelled"
    assert created(status="blocked", blocker="b").status == "blocked"
    assert created(status="done", criteria=["c"], evidence=EVIDENCE).status == "done"
    with pytest.raises(Refused):
        created(status="blocked")
    with pytest.raises(DoneRefused):
        created(status="done")


# -- no change for nothing


def test_a_request_that_asks_for_nothing_is_no_change():
    assert planned(created()) is None


@pytest.mark.parametrize(
    "words",
    [
        *({"goal": "x"}, {"status": "todo"}, {"priority": "medium"}, {"owner": " "}),
        *({"criteria": ["a", "b"]}, {"labels": ["ui"]}, {"add_labels": ("ui",)}),
        {"drop_labels": ("ui",), "add_labels": ("ui",)},
    ],
)
def test_a_request_for_what_is_there_already_is_no_change(words):
    assert planned(created(criteria=["a", "b"], labels=["ui"]), **words) is None


def test_a_change_names_only_the_fields_that_differ():
    step = planned(created(owner="ada"), owner="ada", next="n", status="open", priority=2)
    assert step.set == {"next": "n"}


def test_the_same_note_twice_is_two_notes():
    task = changed(created(notes=("n",)), notes=("n", "n"))
    assert [entry.text for entry in task.notes] == ["n", "n", "n"]


# -- versions and time


def test_an_expected_version_that_is_not_current_is_a_conflict():
    task = created()
    with pytest.raises(VersionConflict) as caught:
        planned(task, expected=2, next="n")
    assert "version 1, not 2" in caught.value.message
    assert planned(task, expected=1, next="n").version == 2


def test_versions_are_counted_and_each_change_carries_its_actor_and_time():
    task = changed(created(), notes=("n",), now=5_000, actor="bob")
    assert (task.version, task.updated, task.last_actor, task.created) == (2, 5_000, "bob", 1_000)
    assert task.notes == (Entry(5_000, "bob", 2, "n"),)


def test_a_clock_that_was_set_back_does_not_make_a_task_older():
    task = changed(created(now=9_000), now=1, next="n")
    assert task.updated == 9_000


# -- decisions


@pytest.mark.parametrize(
    ("start", "words", "said"),
    [
        ({}, {"goal": "y"}, "A change of the goal"),
        ({"criteria": ["a"]}, {"criteria": ["b"]}, "A change of the criteria"),
        ({}, {"criteria": ["first"]}, "A change of the criteria"),
        ({"criteria": ["a"]}, {"criteria": []}, "A change of the criteria"),
        ({"criteria": ["a", "b"]}, {"criteria": ["b", "a"]}, "A change of the criteria"),
        ({}, {"status": "cancelled"}, "A cancellation"),
        ({"status": "cancelled"}, {"status": "open"}, "A reopening"),
        ({"status": "done", "criteria": ["a"], "evidence": EVIDENCE}, {"status": "active"},
         "A reopening"),
        ({"status": "done", "criteria": ["a"], "evidence": EVIDENCE}, {"status": "cancelled"},
         "A cancellation"),
    ],
)  # fmt: skip
def test_what_needs_a_recorded_decision_in_the_same_update(start, words, said):
    task = created(decisions=("an earlier one does not count",), **start)
    (reason,) = reasons(Refused, task, **words)
    assert reason.startswith(said)
    assert "--decision" in reason
    after = changed(task, **words, decisions=("because",))
    assert after.decisions[-1].text == "because"


def test_from_cancelled_to_done_is_a_reopening_too():
    task = created(status="cancelled", criteria=["c"])
    (reason,) = reasons(DoneRefused, task, status="done", evidence=EVIDENCE)
    assert reason.startswith("A reopening")


@pytest.mark.parametrize(
    "words",
    [{"status": "active"}, {"owner": "o"}, {"next": "n"}, {"priority": 0}, {"add_labels": ("l",)}],
)
def test_other_changes_need_no_decision(words):
    assert planned(created(), **words)


def test_all_reasons_are_told_at_once():
    found = reasons(Refused, created(), goal="y", criteria=["c"], status="cancelled")
    assert len(found) == 3


# -- blocked


def test_a_blocked_task_needs_a_blocker():
    (reason,) = reasons(Refused, created(), status="blocked")
    assert "--blocker" in reason
    task = changed(created(), status="blocked", blocker="b")
    reasons(Refused, task, blocker="")
    assert changed(task, blocker="", status="open").blocker == ""
    assert changed(task, blocker="another").blocker == "another"


def test_a_task_may_have_a_blocker_without_being_blocked():
    assert changed(created(), blocker="b").status == "open"


# -- the done gate


def test_the_gate_lists_every_reason_with_its_remedy():
    look = known(a="open", b="cancelled", c="done")
    task = created(look=look, blocker="rain", add_dependencies=("t-a", "t-b", "t-c"))
    found = reasons(DoneRefused, task, look=look, status="done")
    assert [reason.split(":")[0] for reason in found] == [
        "It has no completion criteria",
        "Its blocker is not clear",
        "Its dependency t-a is open",
        "Its dependency t-b is cancelled",
    ]
    for reason, remedy in zip(
        found, ("--criterion", "--blocker ''", "finish", "--drop-dependency")
    ):
        assert remedy in reason


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "done"])
def test_a_dependency_that_is_not_done_blocks_and_says_how_it_stands(status):
    task = created(look=known(a=status), criteria=["c"], add_dependencies=("t-a",))
    (reason,) = reasons(DoneRefused, task, look=known(a=status), status="done", evidence=EVIDENCE)
    assert f"t-a is {status}" in reason


def test_the_gate_opens_when_everything_is_met():
    look = known(a="done")
    task = created(look=look, criteria=["c", "d"], add_dependencies=("t-a",), status="active")
    after = changed(task, look=look, status="done", evidence=(("x", 1), ("y", 2)))
    assert after.status == "done"


def test_what_is_missing_may_come_in_the_same_update():
    look = known(a="open")
    task = created(look=look, blocker="rain", add_dependencies=("t-a",))
    after = changed(
        task,
        look=look,
        status="done",
        blocker="",
        criteria=["c"],
        decisions=("these are the criteria",),
        drop_dependencies=("t-a",),
        evidence=EVIDENCE,
    )
    assert after.status == "done"


def test_evidence_must_cover_every_criterion():
    task = created(criteria=["c", "d"])
    (reason,) = reasons(DoneRefused, task, status="done", evidence=(("x", 2),))
    assert reason.startswith(evidence.STALE)
    assert "criterion 1" in reason


def test_evidence_under_other_criteria_is_stale():
    task = changed(created(criteria=["c"]), evidence=EVIDENCE)
    task = changed(task, criteria=["d"], decisions=("better",))
    reason, which = reasons(DoneRefused, task, status="done")
    assert which.startswith("Record 1 was made under other criteria")
    assert reason.startswith(evidence.STALE)
    back = changed(task, criteria=["c"], decisions=("no, as it was",))
    assert changed(back, status="done").status == "done"


def test_evidence_in_the_update_that_changes_the_criteria_is_bound_to_the_new_ones():
    task = changed(created(criteria=["c"]), criteria=["d"], decisions=("d",), evidence=EVIDENCE)
    assert changed(task, status="done").status == "done"


def test_evidence_of_another_task_is_refused_at_the_gate():
    stored = evidence.bind("x", 0, "t-two", ("c",))
    task = created(criteria=["c"])
    found = reasons(DoneRefused, task, status="done", evidence=((stored, 0),))
    assert any(reason.startswith(evidence.MISMATCH) for reason in found)
    assert changed(task, evidence=((stored, 0),)).evidence[0].text == stored


@pytest.mark.parametrize(
    "words",
    [
        {"criteria": ["other"], "decisions": ("d",)},
        {"criteria": [], "decisions": ("d",)},
        {"blocker": "rain"},
        {"add_dependencies": ("t-a",)},
    ],
)
def test_a_done_task_stays_within_the_gate(words):
    look = known(a="open")
    task = created(status="done", criteria=["c"], evidence=EVIDENCE)
    reasons(DoneRefused, task, look=look, **words)
    assert changed(task, look=look, status="active", **{"decisions": ("again",), **words})


def test_a_done_task_takes_notes_and_labels():
    task = created(status="done", criteria=["c"], evidence=EVIDENCE)
    assert changed(task, notes=("n",), add_labels=("l",), next="celebrate").status == "done"


def test_done_twice_is_no_change():
    task = created(status="done", criteria=["c"], evidence=EVIDENCE)
    assert planned(task, status="completed") is None


# -- lists and sizes


def test_lists_can_be_set_and_added_to_in_one_request():
    task = created(labels=["a"])
    after = changed(task, labels=["b", "c"], add_labels=("d",), drop_labels=("c",))
    assert after.labels == ("b", "d")


def test_dropping_what_is_not_there_is_refused():
    with pytest.raises(InvalidInput):
        planned(created(), drop_labels=("ui",))


def test_a_task_holds_two_mebibytes_and_no_more():
    task = created()
    big = "x" * TEXT_LIMIT
    count = TASK_LIMIT // TEXT_LIMIT - 1
    task = changed(task, notes=(big,) * count)
    with pytest.raises(InvalidInput, match=str(TASK_LIMIT)):
        planned(task, notes=(big,))
    assert changed(task, notes=("a small one still fits",))


def test_a_text_beyond_its_limit_is_refused_whole():
    for words in ({"notes": ("x" * (TEXT_LIMIT + 1),)}, {"next": "x" * (TEXT_LIMIT + 1)}):
        with pytest.raises(InvalidInput):
            planned(created(), **words)


# -- the recorded form


def test_the_document_of_a_change_leads_back_to_it_and_is_pinned():
    step = planned(created(), next="é", notes=("n",), labels=["l"])
    assert change.from_document(change.document(step)) == step
    assert (
        change.change_bytes(step)
        == (
            '{"actor":"bob","at":2000,"notes":["n"],"set":{"labels":["l"],"next":"é"},'
            f'"state":"{step.state}","task":"t-one","version":2}}'
        ).encode()
    )


def test_a_change_without_its_state_is_none():
    found = change.document(planned(created(), next="n"))
    del found["state"]
    with pytest.raises(KeyError):
        change.from_document(found)


def test_requests_are_the_same_if_they_ask_the_same():
    one = Request({"goal": "x", "next": "y"}, notes=("n",), evidence=(("e", 1),))
    other = Request({"next": "y", "goal": "x"}, notes=("n",), evidence=(("e", 1),))
    assert change.request_bytes(one) == change.request_bytes(other)
    assert change.request_bytes(one) != change.request_bytes(one._replace(notes=("n", "m")))
    words = {"goal": "g", "priority": "high", "status": "in progress", "criteria": "c"}
    stored = {"goal": "g", "priority": 1, "status": "active", "criteria": ["c"]}
    assert change.request_bytes(Request(set=words)) == change.request_bytes(Request(set=stored))
    other = Request(set={**stored, "priority": 2})
    assert change.request_bytes(Request(set=stored)) != change.request_bytes(other)
    assert change.request_bytes(one) != change.request_bytes(one._replace(evidence=(("e", 0),)))
