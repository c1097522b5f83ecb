"""The handoff in particular: which lines, in which order, what is shortened, what is counted."""

from __future__ import annotations

import pytest

from contextspindle.core import evidence, handoff
from contextspindle.core.handoff import HEADER, assemble
from contextspindle.core.task import Entry, Related
from contextspindle.errors import BudgetTooSmall, InvalidInput
from tests.strategies import PLAIN

AT = 1_767_225_600_000


def entries(*texts, by="ada"):
    return tuple(Entry(AT, by, number, text) for number, text in enumerate(texts, 1))


def lines(found):
    return found.text.splitlines()


def test_a_plain_task_has_its_required_lines_in_order():
    assert lines(assemble(PLAIN)) == [
        HEADER,
        "id: t-one version 1",
        "goal: x",
        "status: open",
        "owner: (none)",
        "last actor: ada",
        "criteria: (none)",
        "next: (none)",
        "omitted: nothing",
    ]


def test_a_full_task_has_all_of_them():
    task = PLAIN._replace(
        criteria=("a", "b"),
        owner="bob",
        blocker="rain",
        next="wait",
        parent="t-p",
        dependencies=("t-a", "t-b"),
        status="blocked",
    )
    assert lines(assemble(task))[2:] == [
        "goal: x",
        "status: blocked",
        "owner: bob",
        "last actor: ada",
        "criterion 1: a",
        "criterion 2: b",
        "next: wait",
        "blocker: rain",
        "parent: t-p",
        "depends on: t-a, t-b",
        "omitted: nothing",
    ]


def test_one_criterion_is_not_numbered():
    assert "criteria: all of it⏎in lines" in lines(
        assemble(PLAIN._replace(criteria=("all of it\nin lines",)))
    )


def test_optional_lines_come_most_useful_first_and_newest_first():
    task = PLAIN._replace(
        criteria=("c",),
        decisions=entries("d1", "d2"),
        notes=entries("n1", "n2"),
        evidence=entries(evidence.bind("e1", 0, "t-one", ("c",))),
    )
    found = assemble(
        task,
        related=[Related("child", "t-c", "open", "part")],
        hints=["remembered"],
        warnings=["one memory is damaged"],
    )
    assert lines(found)[8:] == [
        "warning: one memory is damaged",
        "decision 2 (2026-01-01T00:00Z, ada): d2",
        "decision 1 (2026-01-01T00:00Z, ada): d1",
        "evidence 1 (2026-01-01T00:00Z, ada): [fresh] e1",
        "child t-c: [open] part",
        "hint (not authoritative): remembered",
        "note 2 (2026-01-01T00:00Z, ada): n2",
        "note 1 (2026-01-01T00:00Z, ada): n1",
        "omitted: nothing",
    ]


def test_evidence_is_shown_with_its_standing():
    task = PLAIN._replace(
        criteria=("a", "b"),
        evidence=entries(
            evidence.bind("old", 0, "t-one", ("before",)),
            evidence.bind("foreign", 0, "t-two", ("a", "b")),
            evidence.bind("good", 2, "t-one", ("a", "b")),
        ),
    )
    shown = [line.split(": ", 1)[1] for line in lines(assemble(task)) if line.startswith("evid")]
    assert shown == [
        "[criterion 2, fresh] good",
        f"[{evidence.MISMATCH}] foreign",
        "[stale] old",
    ]


def test_a_neighbour_that_could_not_be_read_is_a_line_of_its_own():
    found = assemble(PLAIN, related=[Related("parent", "t-p", "", "", "could not be read: x")])
    assert "parent t-p: could not be read: x" in lines(found)


def test_every_line_says_where_it_comes_from():
    task = PLAIN._replace(decisions=entries("d1", "d2"))
    found = assemble(task, related=[Related("child", "t-c", "open", "part")])
    assert [line.text for line in found.lines] == lines(found)[:-1]
    second, first = (line for line in found.lines if line.kind == "decision")
    assert (second.task, second.version, second.entry) == ("t-one", 2, 2)
    assert (first.version, first.entry) == (1, 1)
    assert [line.task for line in found.lines if line.kind == "related"] == ["t-c"]


@pytest.mark.parametrize("budget", [-1, 0, 127, 1_000_001])
def test_a_budget_out_of_range_is_refused(budget):
    with pytest.raises(InvalidInput) as caught:
        assemble(PLAIN, budget)
    assert not isinstance(caught.value, BudgetTooSmall)
    assert "1,000,000" in caught.value.hint


def test_the_ends_of_the_range_are_taken():
    with pytest.raises(BudgetTooSmall):
        assemble(PLAIN, handoff.MIN_BUDGET)
    assert assemble(PLAIN, handoff.MAX_BUDGET).budget == handoff.MAX_BUDGET


def test_what_does_not_fit_is_counted_by_kind_with_the_command_that_shows_it():
    task = PLAIN._replace(decisions=entries("d" * 300), notes=entries(*["n" * 300] * 3))
    found = assemble(task, 256)
    assert lines(found)[-1] == ("omitted: 1 decision, 3 notes; see: contextspindle task show t-one")
    assert found.omitted == {"decision": 1, "note": 3}


def test_a_long_item_is_shown_shortened_and_marked_where_the_whole_does_not_fit():
    found = assemble(PLAIN._replace(decisions=entries("word " * 400)), 700)
    shown = lines(found)[-2]
    assert shown.startswith("decision 1 (")
    assert shown.endswith("…")
    assert len(shown.encode()) <= handoff.SHORTENED
    assert lines(found)[-1] == (
        "omitted: the rest of 1 shortened line; see: contextspindle task show t-one"
    )
    assert (found.shortened, found.omitted) == (1, {})
    assert [line.shortened for line in found.lines if line.kind == "decision"] == [True]


def test_a_smaller_item_still_fits_after_a_larger_one_did_not():
    task = PLAIN._replace(decisions=entries("small", "large " * 60))
    found = assemble(task, 340)
    assert [line.entry for line in found.lines if line.kind == "decision"] == [1]


def test_required_state_is_whole_or_not_at_all():
    task = PLAIN._replace(goal="g" * 5_000)
    with pytest.raises(BudgetTooSmall) as caught:
        assemble(task, 2_048)
    needed = caught.value.details["needed"]
    assert str(needed) in caught.value.message
    assert "goal: " + "g" * 5_000 in lines(assemble(task, needed))


def test_a_long_name_of_an_actor_does_not_fill_a_line():
    found = assemble(PLAIN._replace(notes=entries("n", by="a" * 200)))
    (line,) = (line for line in lines(found) if line.startswith("note"))
    assert len(line) < 100
