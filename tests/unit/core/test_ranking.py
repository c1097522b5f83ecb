"""Ranking: what is seen of a quotation, and which of many are worth their bytes."""

from __future__ import annotations

from contextspindle.core import ranking, weights
from contextspindle.core.draft import FOUND, STATE, STEP, Item
from contextspindle.core.ranking import WRITTEN, Judge, Passage, choice, cost, ranked
from contextspindle.core.salience import Terms, terms


def passage(text, line=1, kind=WRITTEN, **fields):
    return Passage(Item(FOUND, text, line), kind, line, **fields)


def counted(*texts):
    counts = Terms()
    for text in texts:
        counts.count(terms(text), said=False)
    return counts


TEXTS = [f"The mast_{n} is {n} cm short and needs a splice." for n in range(20)]


def test_every_sign_that_the_weights_know_can_be_seen():
    counts = counted(*TEXTS)
    passages = [passage(text, n) for n, text in enumerate(TEXTS)]
    seen = set(Judge(passages, counts, counts.weights()).signs(passages[0]))
    kinds = {*weights.WORTH, WRITTEN}
    assert set(weights.SIGNS) - kinds <= seen
    assert seen - set(weights.SIGNS) == set()


def test_a_promise_is_a_likelihood_whatever_is_seen():
    for amount in (-1e9, -1.0, 0.0, 1.0, 1e9):
        assert 0 <= ranking.promise(dict.fromkeys(weights.SIGNS, amount)) <= 1


def test_what_names_something_promises_more_than_small_talk():
    counts = counted(*TEXTS, "Found: `mast.step` at line 42 drops ActionCondense.", "Let me see it")
    passages = [
        passage("Found: `mast.step` at line 42 drops ActionCondense.", 22),
        passage("Let me see it:", 22),
    ]
    judge = Judge(passages, counts, counts.weights())
    named, idle = map(judge.value, passages)
    assert named > idle


def test_the_same_candidates_give_the_same_order_within_the_bytes():
    passages = [passage(text, n) for n, text in enumerate(TEXTS)]
    first, second = (
        ranked(passages, counts, counts.weights(), 400, ())
        for counts in (counted(*TEXTS), counted(*TEXTS))
    )
    assert first == second
    assert 0 < sum(cost(passages[at].item) for at in first) <= 400


def test_what_is_told_already_comes_after_what_is_new():
    counts = counted("alpha_1 beta_2", "gamma_3 delta_4")
    passages = [passage("alpha_1 beta_2", 1), passage("gamma_3 delta_4", 2)]
    chosen = choice(passages, [1.0, 1.0], counts.weights(), 500, ["alpha_1", "beta_2"])
    assert chosen == [1, 0]


def test_behind_the_pointer_of_another_a_quotation_costs_less():
    counts = counted("alpha_1", "beta_2", "gamma_3")
    passages = [passage("alpha_1", 1), passage("beta_22", 2), passage("gamma_3", 1)]
    weight = counts.weights()
    chosen = choice(passages, [3.0, 1.0, 0.9], weight, 500, ())
    assert chosen == [0, 2, 1]


def test_of_a_step_only_the_title_is_counted_and_of_a_file_its_path():
    assert cost(Item(STEP, "hoist — " + "long " * 90, about="#1 pending")) < 60
    assert cost(Item(STATE, "src/a.py", 9, about="file")) < 16
