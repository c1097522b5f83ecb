"""Leases: who may write while a task is held, until when, and what stands in a taker's way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import claims
from contextspindle.core.change import Request
from contextspindle.core.claims import LEASE_MS, MAX_LEASE_MS, MIN_LEASE_MS, Lease
from contextspindle.core.task import STATUSES, Brief
from contextspindle.errors import ClaimHeld, ClaimLost, InvalidInput, Refused
from tests.strategies import PLAIN

TOKEN = claims.token_for("t-one", bytes(10))
ADDING = Request(decisions=("d",), notes=("n",), evidence=(("e", 0),))
CHANGING = [
    Request({"next": "x"}),
    Request(add_labels=("ui",)),
    Request(drop_labels=("ui",)),
    Request(add_dependencies=("t-two",)),
    Request(drop_dependencies=("t-two",)),
]


def lease(now=1_000, lasting=10_000, token=TOKEN):
    return claims.granted("ada", token, now, lasting)


# -- tokens


def test_a_token_names_its_task_and_carries_80_random_bits():
    assert TOKEN == "t-one." + "0" * 16
    assert claims.token_for("t-one", b"\xff" * 10) == "t-one." + "z" * 16
    made = {claims.token_for("t-one", (1 << bit).to_bytes(10, "big")) for bit in range(80)}
    assert len(made) == 80


def test_of_a_token_only_a_digest_is_kept():
    assert len(lease().mark) == 32
    assert TOKEN.partition(".")[2] not in repr(lease())


def test_two_tokens_have_two_marks():
    other = claims.token_for("t-one", b"\1" * 10)
    assert claims.mark_of(other) != claims.mark_of(TOKEN)


# -- the length of a lease


def test_a_lease_runs_for_half_an_hour_unless_told_otherwise():
    assert claims.length(None) == LEASE_MS == 1_800_000
    assert claims.length(60) == 60_000


@pytest.mark.parametrize("seconds", [1, 7 * 86_400])
def test_the_shortest_and_the_longest_lease_are_granted(seconds):
    assert MIN_LEASE_MS <= claims.length(seconds) <= MAX_LEASE_MS


@pytest.mark.parametrize("seconds", [0, -1, 7 * 86_400 + 1, 10**12])
def test_a_lease_out_of_range_is_refused(seconds):
    with pytest.raises(InvalidInput, match="out of range"):
        claims.length(seconds)


@pytest.mark.parametrize("seconds", [1.5, 60.0, True, "60"], ids=repr)
def test_a_lease_is_of_whole_seconds_or_its_digest_would_not_fit_it(seconds):
    with pytest.raises(InvalidInput, match="whole number"):
        claims.length(seconds)


def test_a_lease_is_live_until_its_end_and_not_at_it():
    held = lease(now=1_000, lasting=500)
    assert held.live(1_499)
    assert not held.live(1_500)


def test_a_lease_is_put_off_by_its_whole_length_and_never_brought_forward():
    held = lease(now=1_000, lasting=500)
    assert held.extended(1_200).until == 1_700
    assert held.extended(900) == held


@pytest.mark.parametrize("field", ["holder", "mark", "until", "length"])
def test_every_part_of_a_lease_is_in_its_check(field):
    held = lease()
    other = "x" if isinstance(getattr(held, field), str) else 7
    assert held._replace(**{field: other}).check() != held.check()


# -- claiming


def test_a_task_that_nobody_holds_can_be_claimed():
    for status in ("open", "active", "blocked"):
        claims.check_claim(PLAIN._replace(status=status), None, 0)


@pytest.mark.parametrize("status", ["done", "cancelled"])
def test_a_task_that_has_ended_cannot_be_claimed(status):
    with pytest.raises(Refused, match=f"it is {status}"):
        claims.check_claim(PLAIN._replace(status=status), None, 0)


def test_a_held_task_is_refused_with_its_holder_and_the_end():
    with pytest.raises(ClaimHeld) as caught:
        claims.check_claim(PLAIN, lease(now=0, lasting=10_000), 4_000)
    details = caught.value.details
    assert (details["holder"], details["until"]) == ("ada", "1970-01-01T00:00:10.000Z")
    assert "ada holds t-one until" in caught.value.message


def test_a_lease_that_has_run_out_is_no_obstacle():
    claims.check_claim(PLAIN, lease(now=0, lasting=10_000), 10_000)


# -- writing


def test_the_holder_writes_and_the_lease_is_put_off():
    held = lease(now=0, lasting=10_000)
    for request in (ADDING, *CHANGING):
        kept = claims.check_write("t-one", held, TOKEN, request, 5_000)
        assert kept.until == 15_000


def test_the_holder_may_write_late_as_long_as_nobody_took_over():
    held = lease(now=0, lasting=10_000)
    assert claims.check_write("t-one", held, TOKEN, CHANGING[0], 60_000).until == 70_000


@pytest.mark.parametrize("request_", CHANGING, ids=str)
def test_others_may_change_nothing_while_the_lease_runs(request_):
    held = lease(now=0, lasting=10_000)
    with pytest.raises(ClaimHeld):
        claims.check_write("t-one", held, "", request_, 5_000)
    assert claims.check_write("t-one", held, "", request_, 10_000) == held


def test_others_may_add_decisions_notes_and_evidence_and_the_lease_stays_as_it_is():
    held = lease(now=0, lasting=10_000)
    assert claims.check_write("t-one", held, "", ADDING, 5_000) == held


def test_the_token_of_another_task_counts_as_none():
    token = claims.token_for("t-two", bytes(10))
    assert claims.check_write("t-one", None, token, CHANGING[0], 0) is None
    with pytest.raises(ClaimHeld, match="the token given is of t-two"):
        claims.check_write("t-one", lease(now=0), token, CHANGING[0], 5_000)


@pytest.mark.parametrize("token", ["bad", "t-two.", ".secret", "no id.secret"])
def test_a_token_out_of_form_is_said_to_be_none_where_it_is_missed(token):
    with pytest.raises(ClaimHeld, match="the token given is not that of a claim"):
        claims.check_write("t-one", lease(now=0), token, CHANGING[0], 5_000)


@pytest.mark.parametrize("request_", [ADDING, CHANGING[0]], ids=["adding", "changing"])
def test_a_token_that_holds_the_task_no_more_is_refused_even_for_a_note(request_):
    for held in (None, lease(token=claims.token_for("t-one", b"\1" * 10))):
        with pytest.raises(ClaimLost, match="nothing was written"):
            claims.check_write("t-one", held, TOKEN, request_, 5_000)


def test_a_token_that_does_not_hold_says_who_does_and_not_how_that_came():
    taken = Lease("bob", claims.mark_of("t-one.other"), 9, 9)
    with pytest.raises(ClaimLost, match=r"not hold .* bob holds it") as caught:
        claims.check_holder("t-one", taken, TOKEN)
    assert caught.value.details["holder"] == "bob"
    with pytest.raises(ClaimLost) as caught:
        claims.check_holder("t-one", None, TOKEN)
    assert caught.value.details["holder"] is None


@given(st.text(max_size=40))
def test_no_other_text_passes_for_the_token(text):
    if text != TOKEN:
        with pytest.raises(ClaimLost):
            claims.check_holder("t-one", lease(), text)


# -- ready


def brief(task_id, status):
    return Brief(task_id, status, "g", "", ())


def test_a_free_open_or_active_task_is_ready():
    for status in ("open", "active"):
        task = PLAIN._replace(status=status, dependencies=("t-two",))
        assert claims.obstacles(task, None, [brief("t-two", "done")], 0) == []


def test_every_obstacle_is_named_at_once():
    task = PLAIN._replace(status="blocked", blocker="rain", dependencies=("t-two", "t-three"))
    others = [brief("t-two", "cancelled"), brief("t-three", "open")]
    found = claims.obstacles(task, lease(now=0, lasting=10_000), others, 5_000)
    assert found == [
        "its status is blocked",
        "it is blocked by: rain",
        "its dependency t-two is cancelled",
        "its dependency t-three is open",
        "ada holds it until 1970-01-01T00:00:10.000Z",
    ]


@pytest.mark.parametrize("status", STATUSES)
def test_only_what_is_open_or_active_is_ready(status):
    found = claims.obstacles(PLAIN._replace(status=status), None, [], 0)
    assert (found == []) == (status in ("open", "active"))


def test_a_lease_that_has_run_out_does_not_make_a_task_unready():
    assert claims.obstacles(PLAIN, lease(now=0, lasting=10), [], 10) == []
