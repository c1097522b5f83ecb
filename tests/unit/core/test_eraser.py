"""A text is taken out in every spelling, nothing else is, and the history stays a history."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contextspindle.core import archive, canon, change, evidence
from contextspindle.core.claims import Lease
from contextspindle.core.eraser import LEAST, Eraser, rewritten
from contextspindle.core.purge import brought_up, fits
from contextspindle.core.redaction import MASK
from contextspindle.core.text import folded, size
from contextspindle.errors import InvalidInput
from tests.strategies import texts

SECRET = 'pa"ss\\wörd\n東京'


@pytest.mark.parametrize(
    "given", ["", "abc", "  abc \n", "é", "mask", "masked]", "[masked]", "x" * 70_000]
)
def test_a_text_that_is_too_short_too_long_or_a_part_of_the_mask_is_refused(given):
    with pytest.raises(InvalidInput):
        Eraser(given)


def test_a_text_is_found_as_given_on_one_line_and_as_json_writes_it():
    eraser = Eraser(SECRET)
    spellings = [
        SECRET,
        folded(SECRET),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(SECRET)[1:-1])[1:-1],
        json.dumps(json.dumps(SECRET, ensure_ascii=False), ensure_ascii=False)[3:-3],
    ]
    for one in spellings:
        assert eraser.of(f"a {one}{one} b") == f"a {MASK}{MASK} b"
        for dump in (json.dumps, canon.text):
            twice = dump(dump({"x": one}))
            assert eraser.holds(twice.encode())
            bare = eraser.line(twice.encode())
            assert json.loads(json.loads(bare)) == {"x": MASK}
    for other in ("", "pa", SECRET[:-1], SECRET[1:], SECRET.upper()):
        assert eraser.of(other) == other
        assert not eraser.is_in(other)


@given(texts, texts, texts, st.integers(0, 3))
def test_afterwards_the_text_is_nowhere_and_nothing_has_grown(text, before, behind, times):
    assume(size(text.strip()) >= LEAST and text not in MASK)
    eraser = Eraser(text)
    value = before + text * times + behind
    bare = eraser.of(value)
    assert not eraser.is_in(bare)
    assert size(bare) <= max(size(value), size(eraser.mask))
    assert bare == value or eraser.is_in(value)
    for raw in (json.dumps([value]), canon.text([value]), value):
        line = eraser.line(raw.encode())
        assert not eraser.holds(line) or not eraser.is_in(str(canon.decode(line)))


@pytest.mark.parametrize("text", ["]aske", "d][m", "d] [ma", "xx[m", "]yyy", "****", "*a***"])
def test_a_text_that_the_mask_could_make_anew_is_gone_all_the_same(text):
    eraser = Eraser(text)
    for times in (1, 2, 3, 20):
        for value in (text * times, text[0] + text * times, (text + " ") * times):
            assert not eraser.is_in(eraser.of(value))


def test_where_a_text_was_cut_a_piece_of_it_goes_too():
    eraser = Eraser("sk-0123456789abcdef")
    assert eraser.of_cut("the key sk-0123456… and") == f"the key {MASK}… and"
    assert eraser.of_cut("start … 56789abcdef: end") == f"start … {MASK}: end"
    for other in ("the key sk-0123…", "sk-0123456 and …", "… of 56789abcdef", "sk-0123456"):
        assert eraser.of_cut(other) == other


# -- a history


def stored(*requests, actor="ada", lease=None):
    """A task with a history of these requests."""
    task = None
    bodies = []
    for number, request in enumerate(requests):
        if task is None:
            step = change.plan_creation(
                "t-one", request, actor=actor, now=number, look=lambda _: None
            )
            task = change.begin(step)
        else:
            step = change.plan(task, request, actor=actor, now=number, look=lambda _: None)
            task = change.apply(task, step)
        bodies.append(change.change_bytes(step))
    return archive.Stored(task, tuple(bodies), lease)


def test_every_field_loses_the_text_and_versions_times_and_links_stay(ask):
    eraser = Eraser(SECRET)
    whole = stored(
        ask(goal="plain"),
        ask(
            goal=SECRET,
            criteria=["a", folded(SECRET)],
            owner=SECRET,
            next=f"then {SECRET}",
            blocker=SECRET,
            add_labels=("ui", folded(SECRET)),
            decisions=(SECRET,),
            notes=(SECRET, "kept"),
            evidence=((SECRET, 2),),
        ),
        ask(notes=("later",)),
        actor=SECRET,
    )
    found = rewritten(whole, eraser, at=9, by=SECRET)
    bare = found.stored.task
    assert not [one for one in found.stored.bodies if eraser.holds(one)]
    assert archive.replayed(found.stored.bodies) == bare
    assert (bare.id, bare.version, bare.created, bare.updated) == ("t-one", 3, 0, 2)
    assert (bare.goal, bare.criteria, bare.next) == (MASK, ("a", MASK), f"then {MASK}")
    assert (bare.owner, bare.blocker, bare.last_actor) == (MASK, MASK, MASK)
    assert bare.labels == ("ui", MASK)
    assert [one.text for one in bare.notes] == [MASK, "kept", "later"]
    record = evidence.read(bare.evidence[0].text)
    assert (record.payload, record.criterion) == (MASK, 2)
    assert found.purge.by == MASK
    assert (found.purge.first, found.purge.versions) == (1, (1, 2, 3))


def test_versions_before_the_first_that_held_it_keep_their_digests(ask):
    whole = stored(ask(goal="g"), ask(notes=("n",)), ask(notes=(SECRET,)), ask(notes=("later",)))
    found = rewritten(whole, Eraser(SECRET), at=9, by="ada")
    old = archive.digests("t-one", whole.bodies)
    new = archive.digests("t-one", found.stored.bodies)
    assert new[:2] == old[:2]
    assert not set(new[2:]) & set(old)
    assert found.purge == (9, "ada", 3, (3,), tuple(old[2:]), tuple(new[2:]))
    assert brought_up(old, [found.purge]) == new
    assert fits([found.purge], new)
    assert not fits([found.purge], old)


def test_a_task_without_the_text_is_left_alone(ask):
    whole = stored(ask(goal="wörd\n東"), ask(notes=("pass",)))
    assert rewritten(whole, Eraser(SECRET), at=9, by="ada") is None
    # In the bytes of JSON it stands as the end of an escape, which it is not.
    assert rewritten(stored(ask(goal="a\nbcd")), Eraser("nbcd"), at=9, by="ada") is None


def test_evidence_stays_bound_to_the_criteria_in_their_new_words(ask):
    whole = stored(
        ask(goal="g", criteria=[f"log in with {SECRET}"]),
        ask(evidence=(("seen", 0),)),
        ask(criteria=["another"], decisions=("d",)),
        ask(evidence=(("seen", 0),)),
        ask(criteria=[f"log in with {SECRET}"], decisions=("d",)),
    )
    before = evidence.standings(whole.task)
    assert before == ["fresh", "stale"]
    bare = rewritten(whole, Eraser(SECRET), at=9, by="ada").stored.task
    assert evidence.standings(bare) == before


def test_a_claim_goes_on_under_the_masked_name(ask):
    claimed = stored(ask(goal="g"))
    step = change.plan_claim(claimed.task, SECRET, actor=SECRET, now=5)
    bodies = (*claimed.bodies, change.change_bytes(step))
    lease = Lease(SECRET, "mark", 9, 9)
    whole = archive.Stored(change.apply(claimed.task, step), bodies, lease)
    found = rewritten(whole, Eraser(SECRET), at=9, by="ada").stored
    assert found.task.claim == found.lease.holder == MASK
    assert found.lease.mark == "mark"


def test_a_key_and_a_source_that_hold_it_go_and_others_stay():
    def made(key, source):
        body = change.plan_creation(
            "t-one", change.Request({"goal": f"g {SECRET}"}), actor="a", now=1, look=lambda _: None
        )
        step = body._replace(
            key=key, request="0" * 64, set={**body.set, "source": source}, state="0" * 64
        )
        return archive.Stored(change.begin(step), (change.change_bytes(step),), None)

    kept = archive.steps(rewritten(made("k", "s:1"), Eraser(SECRET), at=9, by="a").stored)[0]
    gone = archive.steps(
        rewritten(made(f"k {SECRET}", f"s:{SECRET}"), Eraser(SECRET), at=9, by="a").stored
    )[0]
    assert (kept.key, kept.request, kept.set["source"]) == ("k", "0" * 64, "s:1")
    assert (gone.key, gone.request, "source" in gone.set) == ("", "", False)


def test_copies_that_are_purged_apart_are_the_same_again_even_if_one_went_on(ask):
    steps = [ask(goal=f"g {SECRET}"), ask(notes=("n",))]
    here = rewritten(stored(*steps), Eraser(SECRET), at=1, by="ada").stored
    more = rewritten(stored(*steps, ask(notes=(SECRET,))), Eraser(SECRET), at=2, by="bob").stored
    assert more.bodies[:2] == here.bodies
    chains = [archive.digests("t-one", one.bodies) for one in (here, more)]
    assert archive.compared(*chains, here.purges) == archive.AHEAD


def test_a_second_purge_leads_old_digests_all_the_way(ask):
    whole = stored(ask(goal="first SECRET-ONE"), ask(notes=("SECRET-TWO",)))
    one = rewritten(whole, Eraser("SECRET-ONE"), at=1, by="SECRET-TWO").stored
    two = rewritten(one, Eraser("SECRET-TWO"), at=2, by="ada").stored
    chains = [archive.digests("t-one", it.bodies) for it in (whole, one, two)]
    for old in chains:
        assert brought_up(old, two.purges) == chains[2]
        for length in (1, 2):
            assert brought_up(old[:length], two.purges) == chains[2][:length]
    assert fits(two.purges, chains[2])
    assert [purge.by for purge in two.purges] == [MASK, "ada"]


def test_a_record_that_leads_round_in_a_circle_ends(ask):
    whole = stored(ask(goal=f"g {SECRET}"))
    purge = rewritten(whole, Eraser(SECRET), at=1, by="ada").purge
    back = purge._replace(old=purge.new, new=purge.old)
    assert len(brought_up(purge.old, [purge, back])) == 1
    assert not fits([purge, back], purge.new)
