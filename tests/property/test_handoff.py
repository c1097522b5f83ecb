"""A handoff keeps its budget and its frame, whatever was stored and whoever wrote it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import evidence, text
from contextspindle.core.handoff import HEADER, MAX_BUDGET, MIN_BUDGET, assemble
from contextspindle.core.task import Entry, Related
from contextspindle.errors import BudgetTooSmall, InvalidInput
from tests.strategies import BIDI, BREAKS, PLAIN, field_texts, hostile_texts

any_text = field_texts | hostile_texts
blank_or_text = st.just("") | any_text
numbers = st.integers(0, 2**45)


def entries(given_texts):
    return st.lists(st.builds(Entry, numbers, any_text, numbers, given_texts), max_size=4).map(
        tuple
    )


records = st.builds(
    lambda payload, task_id, criteria: evidence.bind(payload, 0, task_id, criteria),
    any_text.filter(lambda found: not found.startswith(evidence.PREFIX)),
    st.sampled_from(["t-one", "t-two"]),
    st.sampled_from([("c",), ("c", "d")]),
)
tasks = st.builds(
    PLAIN._replace,
    version=st.integers(1, 10**6),
    goal=any_text,
    criteria=st.lists(any_text, max_size=3).map(tuple),
    owner=blank_or_text,
    blocker=blank_or_text,
    next=blank_or_text,
    parent=st.sampled_from(["", "t-p"]),
    dependencies=st.sampled_from([(), ("t-a",), ("t-a", "t-b")]),
    decisions=entries(any_text | st.just("long " * 80)),
    evidence=entries(records),
    notes=entries(any_text | st.just("次" * 200)),
    last_actor=any_text,
)
related = st.lists(
    st.builds(
        Related,
        st.sampled_from(["parent", "dependency", "child"]),
        st.just("t-other"),
        st.sampled_from(["open", "done", ""]),
        any_text,
        blank_or_text,
    ),
    max_size=3,
)
around = st.fixed_dictionaries(
    {
        "related": related,
        "hints": st.lists(any_text, max_size=2),
        "warnings": st.lists(any_text, max_size=1),
    }
)
budgets = st.integers(MIN_BUDGET, 3_000) | st.just(MAX_BUDGET)

OURS = re.compile(
    r"(id|goal|status|owner|last actor|criteria|criterion \d+|next|blocker|parent|depends on"
    r"|warning|omitted"
    r"|(decision|evidence|note) \d+ \(\d{4}-\d\d-\d\dT\d\d:\d\dZ, [^\n]*\)"
    r"|(parent|dependency|child) t-other|hint \(not authoritative\)): "
)


def made(task, budget, around):
    try:
        return assemble(task, budget, **around)
    except BudgetTooSmall:
        return None


@given(tasks, budgets, around)
def test_a_handoff_is_valid_utf_8_and_never_over_its_budget(task, budget, around):
    found = made(task, budget, around)
    if found is not None:
        assert len(found.text.encode("utf-8")) <= budget
        assert found.text.endswith("\n")


@given(tasks, budgets, around)
def test_required_lines_are_whole(task, budget, around):
    found = made(task, budget, around)
    if found is None:
        return
    lines = found.text.splitlines()
    for name, value in (
        ("goal", task.goal),
        ("status", task.status),
        ("owner", task.owner or "(none)"),
        ("last actor", task.last_actor),
        ("next", task.next or "(none)"),
        *([("blocker", task.blocker)] if task.blocker else []),
        *([("parent", task.parent)] if task.parent else []),
        *([("depends on", ", ".join(task.dependencies))] if task.dependencies else []),
    ):
        assert f"{name}: {text.one_line(value)}" in lines
    shown = [line for line in lines if line.startswith("criteri")]
    assert len(shown) == max(len(task.criteria), 1)
    for criterion, line in zip(task.criteria, shown):
        assert line.partition(": ")[2] == text.one_line(criterion)


@given(tasks, around)
def test_no_stored_text_can_pass_for_a_line_of_ours(task, around):
    found = assemble(task, MAX_BUDGET, **around)
    lines = found.text.splitlines()
    # As many lines as were made, each with our word before the first stored character.
    assert len(lines) == len(found.lines) + 1 == found.text.count("\n")
    assert lines[0] == HEADER
    assert lines.count(HEADER) == 1
    assert all(OURS.match(line) for line in lines[1:])
    assert [line for line in lines if line.startswith("id: ")] == [
        f"id: t-one version {task.version}"
    ]
    for name in ("goal", "status", "owner", "last actor", "next", "omitted"):
        assert len([line for line in lines if line.startswith(f"{name}: ")]) == 1
    assert lines[-1].startswith("omitted: ")


@given(tasks, budgets, around)
def test_nothing_that_breaks_or_reorders_a_line_is_shown(task, budget, around):
    found = made(task, budget, around)
    if found is not None:
        shown = set(found.text) - {"\n"}
        assert not shown & {*BREAKS, *BIDI, "\ufeff", "\x1b", "\x7f", "\t", "\0"}


@given(tasks, budgets, around)
def test_shown_and_omitted_make_the_total_of_every_kind(task, budget, around):
    found = made(task, budget, around)
    if found is None:
        return
    totals = {
        "decision": len(task.decisions),
        "evidence": len(task.evidence),
        "note": len(task.notes),
        "related": len(around["related"]),
        "hint": len(around["hints"]),
        "warning": len(around["warnings"]),
    }
    for kind, total in totals.items():
        shown = len([line for line in found.lines if line.kind == kind])
        assert shown + found.omitted.get(kind, 0) == total
    assert found.shortened == len([line for line in found.lines if line.shortened])
    trailer = found.text.splitlines()[-1]
    told = {int(number) for number in re.findall(r"(\d+) [a-z]", trailer.partition("; see:")[0])}
    assert told == {*found.omitted.values(), *([found.shortened] if found.shortened else [])}
    if not found.omitted and not found.shortened:
        assert trailer == "omitted: nothing"
    else:
        assert trailer.endswith("; see: contextspindle task show t-one")


@given(tasks, around)
def test_a_large_budget_omits_nothing(task, around):
    found = assemble(task, MAX_BUDGET, **around)
    assert (found.omitted, found.shortened) == ({}, 0)


@given(tasks, around)
def test_exactly_the_bytes_named_are_enough_and_one_less_is_not(task, around):
    if made(task, MIN_BUDGET, around) is not None:
        return
    with pytest.raises(BudgetTooSmall) as first:
        assemble(task, MIN_BUDGET, **around)
    needed = first.value.details["needed"]
    assert f"needs {needed} bytes" in first.value.message
    assert len(assemble(task, needed, **around).text.encode()) <= needed
    with pytest.raises(BudgetTooSmall if needed > MIN_BUDGET else InvalidInput) as caught:
        assemble(task, needed - 1, **around)
    if needed > MIN_BUDGET:
        assert caught.value.details["needed"] == needed


@given(tasks, budgets, around, st.integers(1, 2_000))
def test_more_room_never_fails_where_less_did_not(task, budget, around, more):
    if made(task, budget, around) is not None:
        assert made(task, min(budget + more, MAX_BUDGET), around) is not None


@given(tasks, budgets, around)
def test_the_same_task_gives_the_same_handoff(task, budget, around):
    assert made(task, budget, around) == made(task, budget, around)
