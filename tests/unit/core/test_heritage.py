"""What a fork takes over: goal, rules and decisions, as quotations without a line."""

from __future__ import annotations

from contextspindle.core.draft import (
    ASKED,
    DECIDED,
    FIRST,
    FOUND,
    GOAL,
    LAST,
    LEFT,
    RULE,
    STATE,
    STEP,
    Draft,
    Item,
)
from contextspindle.core.heritage import BEFORE, inherited

OWN = Draft(
    (
        Item(GOAL, "paint it red", 9, "s9"),
        Item(LAST, "paint it red", 9, "s9"),
        Item(LEFT, "I paint.", 10, "s10"),
        Item(STATE, "side", 9, "s9", about="branch"),
        Item(FOUND, "the paint is dry", 10, "s10"),
    ),
    said=1,
    compactions=1,
)
OLD = Draft(
    (
        Item(GOAL, "mend the mast", 3, "s3"),
        Item(GOAL, "hello", 1, "s1", mark=FIRST),
        Item(LAST, "go on", 5, "s5"),
        Item(LEFT, "I go on.", 6, "s6"),
        Item(STEP, "sand the oars", 4, "s4", about="#1 pending"),
        Item(STATE, "main", 1, "s1", about="branch"),
        Item(STATE, "1a2b3c4 mast", 4, "s4", about="commit"),
        Item(RULE, "never touch the anchor", 2, "s2"),
        Item(DECIDED, "yes", 2, "s2", about="re: tar?"),
        Item(ASKED, "and the oars", 5, "s5"),
        Item(FOUND, "the paint is dry", 6, "s6"),
    ),
    compactions=3,
)


def test_goal_rules_steps_and_decisions_are_taken_over_and_the_rest_stays_the_parent_s():
    draft = inherited(OWN, OLD)
    texts = [(item.section, item.text) for item in draft.items]
    assert texts[:5] == [
        (GOAL, "paint it red"),
        (GOAL, "mend the mast"),
        (GOAL, "hello"),
        (STEP, "sand the oars"),
        (RULE, "never touch the anchor"),
    ]
    assert (DECIDED, "yes") in texts
    assert (STATE, "1a2b3c4 mast") in texts
    for gone in ((LAST, "go on"), (LEFT, "I go on."), (STATE, "main")):
        assert gone not in texts
    assert texts.count((FOUND, "the paint is dry")) == 1
    assert draft.compactions == 3


def test_what_is_taken_over_has_no_line_for_it_is_in_another_file():
    for item in inherited(OWN, OLD).items:
        is_own = item in OWN.items
        assert is_own or (item.line, item.seal) == (0, "")
        assert is_own or item.section != GOAL or item.about == BEFORE


def test_a_fork_with_steps_of_its_own_keeps_those():
    own = OWN._replace(items=(*OWN.items, Item(STEP, "mix red", 9, about="#1 pending")))
    assert [item.text for item in inherited(own, OLD).of(STEP)] == ["mix red"]
