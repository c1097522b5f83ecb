"""Turns: neutral values, and our own printout that must not come back as talk."""

from __future__ import annotations

import pytest

from contextspindle.core.transcript import (
    CLOSING,
    NOTHING_QUOTED,
    OPENING,
    SAID,
    Turn,
    told_of,
    without_echo,
)

PRINTED = f"{OPENING}\n## Goal\n[L3] sail to Bergen\n{CLOSING}"
LISTED = f"{NOTHING_QUOTED}\n## Live tasks\nt-1 [open] sail\n{CLOSING}"


def test_a_turn_needs_no_more_than_its_line_and_kind():
    turn = Turn(3, SAID)
    assert (turn.line, turn.kind, turn.text, turn.failed, turn.steps) == (3, "said", "", False, ())


def test_text_that_never_held_our_printout_stays_as_it_is():
    assert without_echo("the ContextSpindle hook is slow") == "the ContextSpindle hook is slow"


@pytest.mark.parametrize("printed", [PRINTED, LISTED])
def test_our_printout_is_taken_out_of_what_surrounds_it(printed):
    assert without_echo(f"before {printed} after") == "before  after"
    assert without_echo(f"before {printed[:-10]}") == "before "
    assert printed.startswith("[ContextSpindle] ")


def test_every_printout_is_taken_out():
    assert without_echo(f"a{PRINTED}b{PRINTED}c") == "abc"
    assert without_echo(f"a{LISTED}b{PRINTED}c{LISTED}d") == "abcd"


def test_a_list_of_tasks_is_no_record_of_a_session():
    text = f"{OPENING}\nSession s, saved 2026-11-30T04:06:23.123Z.\n{CLOSING}"
    assert told_of(text) == ("s", "2026-11-30T04:06:23.123Z")
    assert told_of(text.replace(OPENING, NOTHING_QUOTED)) is None


def test_a_printout_that_lost_its_end_goes_to_the_end():
    assert without_echo("before " + PRINTED[:-10]) == "before "


def test_neither_mark_remains_however_they_are_put_together():
    half = len(CLOSING) // 2
    for text in (CLOSING, f"a{CLOSING}{PRINTED}", CLOSING[:half] + PRINTED + CLOSING[half:]):
        rest = without_echo(text)
        assert OPENING not in rest
        assert NOTHING_QUOTED not in without_echo(text.replace(OPENING, NOTHING_QUOTED))
        assert CLOSING not in rest


def test_the_marks_are_one_line_each():
    assert len(NOTHING_QUOTED.splitlines()) == 1
    assert len(OPENING.splitlines()) == len(CLOSING.splitlines()) == 1


def test_many_printouts_go_as_one_does():
    assert without_echo("a" + 3_000 * f"{PRINTED}b") == "a" + 3_000 * "b"
    nested = CLOSING
    for _ in range(50):
        nested = CLOSING[:9] + nested + CLOSING[9:]
    assert CLOSING not in without_echo(nested)
