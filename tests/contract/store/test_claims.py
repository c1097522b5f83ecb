"""Claims on every store: one winner, a lease with an end, and a late holder that is refused."""

from __future__ import annotations

import pytest

from contextspindle.core.change import Request
from contextspindle.core.claims import LEASE_MS
from contextspindle.errors import (
    ClaimHeld,
    ClaimLost,
    DoneRefused,
    InvalidInput,
    NothingReady,
    Refused,
    TaskNotFound,
    VersionConflict,
)


@pytest.fixture
def ada(store, make_ledger, clock, ids):
    return make_ledger(store, actor="ada", clock=clock, ids=ids)


@pytest.fixture
def bob(store, make_ledger, clock, ids):
    return make_ledger(store, actor="bob", clock=clock, ids=ids)


@pytest.fixture
def made(ada, ask):
    return ada.create(ask(goal="x", criteria=["c"])).task.id


def ready(ledger):
    return [one.id for one in ledger.ready().items]


# -- claiming


def test_a_claim_is_a_change_of_the_task_and_gives_a_token_and_an_end(ada, made, clock):
    claimed = ada.claim(made)
    assert claimed.token.startswith(f"{made}.")
    assert claimed.until == clock.now + LEASE_MS
    assert (claimed.task.version, claimed.task.claim) == (2, "ada")
    assert ada.show(made) == claimed.task
    assert ada.history(made).steps[1].change.set == {"claim": "ada"}
    view = ada.view(made)
    assert (view.lease.holder, view.lease.until) == ("ada", claimed.until)


def test_every_list_tells_who_has_claimed_a_task_and_until_when(ada, bob, made):
    until = ada.claim(made).until
    lists = (bob.inbox(), bob.list(0, 5), bob.search("x", 5), bob.since(0, 5))
    for page in lists:
        (one,) = page.items
        assert (one.claim, one.claimed_until) == ("ada", until)


def test_a_second_claim_is_refused_even_under_the_same_label(ada, bob, made):
    ada.claim(made)
    for ledger in (bob, ada):
        with pytest.raises(ClaimHeld, match="ada holds"):
            ledger.claim(made)
    assert ada.history(made).total == 2


def test_each_claim_has_a_token_of_its_own(ada, ask):
    ids = [ada.create(ask(goal="x")).task.id for _ in range(3)]
    assert len({ada.claim(one).token.partition(".")[2] for one in ids}) == 3


def test_a_claim_under_its_own_token_is_renewed_and_changes_nothing_else(ada, bob, made, clock):
    claimed = ada.claim(made, seconds=10)
    clock.forward(5_000)
    again = ada.claim(made, token=claimed.token)
    assert again == (claimed.task, claimed.token, clock.now + 10_000, False)
    longer = ada.claim(made, seconds=60, token=claimed.token)
    assert (longer.until, ada.show(made)) == (clock.now + 60_000, claimed.task)
    shorter = ada.claim(made, seconds=10, token=claimed.token)  # what was promised stays
    assert shorter.until == longer.until
    with pytest.raises(ClaimHeld, match="of another claim on it, or mistyped"):
        bob.claim(made, token=f"{made}.{'0' * 16}")
    clock.forward(600_000)  # run out, and nobody took it over
    assert not ada.claim(made, token=claimed.token).anew
    assert ada.update(made, Request(set={"next": "x"}), claim=claimed.token).changed


def test_a_token_that_lost_its_claim_does_not_keep_its_holder_from_a_new_one(ada, bob, made, clock):
    late = ada.claim(made, seconds=10)
    clock.forward(10_000)
    taken = bob.claim(made, seconds=10)
    bob.release(made, token=taken.token)
    anew = ada.claim(made, token=late.token)
    assert (anew.anew, anew.token != late.token) == (True, True)


@pytest.mark.parametrize("words", [{"status": "cancelled", "decisions": ("no",)}, "done"])
def test_what_has_ended_cannot_be_claimed(ada, made, ask, words):
    if words == "done":
        words = {"status": "done", "evidence": (("e", 0),)}
    ada.update(made, ask(**words))
    with pytest.raises(Refused, match="cannot be claimed"):
        ada.claim(made)


def test_a_claim_takes_the_whole_id_of_a_task_that_is_there(ada, made):
    with pytest.raises(TaskNotFound):
        ada.claim(made[:-1])
    with pytest.raises(InvalidInput):
        ada.claim("no id")
    with pytest.raises(InvalidInput, match="out of range"):
        ada.claim(made, seconds=0)
    assert ada.history(made).total == 1


# -- the lease


def test_a_lease_that_has_run_out_is_taken_over_and_the_late_holder_is_refused(
    ada, bob, made, clock, ask
):
    late = ada.claim(made, seconds=10)
    clock.forward(9_999)
    with pytest.raises(ClaimHeld):
        bob.claim(made)
    clock.forward(1)
    taken = bob.claim(made, seconds=10)
    assert taken.task.claim == "bob"
    for request in (ask(next="mine"), ask(notes=("n",)), ask(status="active")):
        with pytest.raises(ClaimLost, match="bob holds it"):
            ada.update(made, request, claim=late.token)
    with pytest.raises(ClaimLost):
        ada.renew(late.token)
    with pytest.raises(ClaimLost):
        ada.release(made, token=late.token)
    assert ada.show(made) == taken.task


def test_the_late_holder_is_refused_even_when_the_next_lease_has_run_out_too(
    ada, bob, made, clock, ask
):
    late = ada.claim(made, seconds=10)
    clock.forward(10_000)
    bob.claim(made, seconds=10)
    clock.forward(10_000)
    with pytest.raises(ClaimLost):
        ada.update(made, ask(next="mine"), claim=late.token)


def test_every_write_of_the_holder_puts_the_end_off(ada, bob, made, clock, ask):
    token = ada.claim(made, seconds=10).token
    for number in range(4):
        clock.forward(9_000)
        ada.update(made, ask(notes=(f"{number}",)), claim=token)
    with pytest.raises(ClaimHeld):
        bob.claim(made)
    assert ada.view(made).lease.until == clock.now + 10_000


def test_a_write_of_the_holder_that_changes_nothing_puts_the_end_off_too(ada, made, clock, ask):
    token = ada.claim(made, seconds=10).token
    clock.forward(5_000)
    assert not ada.update(made, ask(goal="x"), claim=token).changed
    assert ada.view(made).lease.until == clock.now + 10_000


def test_a_renewal_moves_the_lease_and_nothing_else(ada, made, clock):
    claimed = ada.claim(made, seconds=10)
    clock.forward(5_000)
    renewed = ada.renew(claimed.token)
    assert renewed == (claimed.task, claimed.token, clock.now + 10_000, False)
    assert ada.show(made) == claimed.task
    assert ada.history(made).total == 2


def test_a_refused_write_of_the_holder_does_not_move_the_lease(ada, made, clock, ask):
    claimed = ada.claim(made, seconds=10)
    clock.forward(5_000)
    with pytest.raises(DoneRefused):
        ada.update(made, ask(status="done"), claim=claimed.token)
    with pytest.raises(VersionConflict):
        ada.update(made, ask(next="y"), claim=claimed.token, expected=1)
    assert ada.view(made).lease.until == claimed.until


@pytest.mark.parametrize("token", ["", "x", "t-one", "t-one.", ".x", "t-é.x", "no id.x"])
def test_what_is_no_token_is_refused(ada, made, token):
    with pytest.raises(InvalidInput):
        ada.renew(token)


# -- writes while it is held


def test_others_may_add_entries_while_a_task_is_held_and_change_nothing(ada, bob, made, ask):
    ada.claim(made)
    added = bob.update(made, ask(decisions=("d",), notes=("n",), evidence=(("e", 0),)))
    assert added.changed
    for request in (
        ask(next="x"),
        ask(status="active", notes=("n",)),
        ask(add_labels=("ui",)),
        ask(owner="bob"),
    ):
        with pytest.raises(ClaimHeld, match="nothing was written"):
            bob.update(made, request)
    assert bob.show(made) == added.task


def test_the_holder_without_the_token_is_another(ada, made, ask):
    ada.claim(made)
    with pytest.raises(ClaimHeld):
        ada.update(made, ask(next="x"))


def test_after_the_end_anybody_may_write_and_the_claim_stays_until_somebody_takes_over(
    ada, bob, made, clock, ask
):
    claimed = ada.claim(made, seconds=10)
    clock.forward(10_000)
    assert bob.update(made, ask(next="x")).task.claim == "ada"
    assert ada.update(made, ask(next="y"), claim=claimed.token).changed


def test_the_token_of_one_task_opens_no_other(ada, bob, made, ask):
    other = ada.create(ask(goal="other")).task.id
    bob.claim(other)
    token = ada.claim(made).token
    with pytest.raises(ClaimHeld):
        ada.update(other, ask(next="x"), claim=token)
    assert ada.create(ask(goal="part", parent=other)).changed


@pytest.mark.parametrize("words", [{"status": "cancelled", "decisions": ("no",)}, "done"])
def test_a_task_that_ends_is_nobodys_in_the_same_change(ada, made, ask, words):
    if words == "done":
        words = {"status": "done", "evidence": (("e", 0),)}
    token = ada.claim(made).token
    ended = ada.update(made, ask(**words), claim=token).task
    assert ended.claim == ""
    assert ada.view(made).lease is None
    assert ada.history(made).total == 3
    with pytest.raises(ClaimLost):
        ada.update(made, ask(notes=("n",)), claim=token)


# -- giving it back


def test_a_release_is_a_change_and_makes_the_task_free(ada, bob, made):
    token = ada.claim(made).token
    released = ada.release(made, token=token)
    assert (released.changed, released.task.claim, released.task.version) == (True, "", 3)
    assert bob.claim(made).task.claim == "bob"
    with pytest.raises(ClaimLost):
        ada.renew(token)


def test_nobody_else_can_release_a_live_claim_and_anybody_one_that_has_run_out(
    ada, bob, made, clock
):
    ada.claim(made, seconds=10)
    with pytest.raises(ClaimHeld):
        bob.release(made)
    clock.forward(10_000)
    assert bob.release(made).changed


def test_a_task_that_nobody_holds_is_released_without_a_change(ada, made):
    assert not ada.release(made).changed
    assert ada.history(made).total == 1


# -- ready


def test_ready_is_what_can_be_taken_the_highest_priority_first_then_the_oldest(ada, bob, ask):
    ids = [
        ada.create(ask(goal=f"g{n}", priority=priority)).task.id
        for n, priority in enumerate((3, 1, 2, 1, 0))
    ]
    assert ready(ada) == [ids[4], ids[1], ids[3], ids[2], ids[0]]
    ada.update(ids[4], ask(status="blocked", blocker="rain"))
    ada.update(ids[1], ask(status="active"))
    ada.update(ids[3], ask(add_dependencies=(ids[0],)))
    bob.claim(ids[2])
    assert ready(ada) == [ids[1], ids[0]]


def test_what_waits_becomes_ready_when_all_that_it_waits_for_is_done(ada, ask):
    needs = [ada.create(ask(goal="n", criteria=["c"])).task.id for _ in range(2)]
    waiting = ada.create(ask(goal="w", priority=0, add_dependencies=tuple(needs))).task.id
    for number, one in enumerate(needs):
        assert waiting not in ready(ada), number
        ada.update(one, ask(status="done", evidence=(("e", 0),)))
    assert ready(ada) == [waiting]
    ada.update(needs[0], ask(status="open", decisions=("again",)))
    assert ready(ada) == [needs[0]]


def test_a_cancelled_dependency_still_stands_in_the_way(ada, ask):
    need = ada.create(ask(goal="n")).task.id
    waiting = ada.create(ask(goal="w", add_dependencies=(need,))).task.id
    ada.update(need, ask(status="cancelled", decisions=("no",)))
    assert ready(ada) == []
    assert ada.explain(waiting).obstacles == (f"its dependency {need} is cancelled",)
    ada.update(waiting, ask(drop_dependencies=(need,)))
    assert ready(ada) == [waiting]


def test_a_held_task_is_ready_again_when_its_lease_has_run_out(ada, bob, made, clock):
    ada.claim(made, seconds=10)
    assert ready(bob) == []
    clock.forward(10_000)
    assert ready(bob) == [made]
    assert bob.claim_next().task.id == made


def test_explain_names_every_obstacle_and_agrees_with_the_list(ada, bob, made, ask):
    assert ada.explain(made[:-1]) == (ada.show(made), ())
    ada.update(made, ask(status="blocked", blocker="rain"))
    bob.claim(made)
    found = ada.explain(made).obstacles
    assert [one.split(" ")[0] for one in found] == ["its", "it", "bob"]
    assert ready(ada) == []


def test_the_best_ready_task_is_claimed_and_then_the_next_one(ada, bob, ask):
    ids = [ada.create(ask(goal="g", priority=p)).task.id for p in (2, 0, 1)]
    assert [who.claim_next().task.id for who in (ada, bob, ada)] == [ids[1], ids[2], ids[0]]
    with pytest.raises(NothingReady):
        bob.claim_next()


def test_ready_comes_in_pages_with_a_total(ada, ask):
    ids = [ada.create(ask(goal="g")).task.id for _ in range(7)]
    found, offset = [], 0
    while offset is not None:
        page = ada.ready(3, offset)
        assert page.total == 7
        found += [one.id for one in page.items]
        offset = page.next_offset
    assert found == ids
    for limit, offset in ((0, 0), (101, 0), (1, -1)):
        with pytest.raises(InvalidInput):
            ada.ready(limit, offset)
