"""Salience: what counts as a term, what it weighs, and which quotations cover a session."""

from __future__ import annotations

from contextspindle.core import salience
from contextspindle.core.salience import Terms, choose, terms


def test_terms_are_words_identifiers_paths_and_numbers():
    found = terms("Fix GaugeCache.is_fresh in src/tide.py: #42, ENT-108 and a1b2c3d")
    assert {"fix", "GaugeCache.is_fresh", "src/tide.py", "#42", "ENT-108", "a1b2c3d"} <= found
    assert "in" not in found


def test_a_hash_belongs_to_the_word_behind_it_alone():
    found = terms("see #417, ##beta and a#gamma; #- no #")
    assert found == {"see", "#417", "#beta", "and", "#gamma"}


def test_a_language_without_blanks_gives_pairs():
    assert terms("桅杆断了") == {"桅杆", "杆断", "断了"}


def weigh(entries, *asked):
    counted = Terms()
    for text, said in entries:
        counted.count(terms(text), said=said)
    weight = counted.weights()
    return [weight(term) for term in asked]


def test_an_identifier_weighs_more_than_a_plain_word():
    name, word = weigh([("mend GaugeCache quickly", False)], "GaugeCache", "quickly")
    assert name > word > 0


def test_what_the_human_names_weighs_more():
    one, other = weigh([("alpha_1", False), ("beta_22", True)], "alpha_1", "beta_22")
    assert other > one


def test_what_stands_in_every_entry_weighs_little():
    entries = [(f"the boat_{n}", False) for n in range(100)] + [("boat_5 again", False)] * 2
    everywhere, somewhere = weigh(entries, "the", "boat_5")
    assert everywhere < somewhere / 4


def test_an_unknown_term_weighs_nothing():
    assert weigh([("a_1", False)], "b_2") == [0.0]


def test_memory_is_bounded_and_what_comes_back_is_kept(monkeypatch):
    monkeypatch.setattr(salience, "_KEPT", 200)
    counted = Terms()
    for n in range(1_000):
        counted.count({f"rare_{n}", "often_1"}, said=False)
    assert len(counted._counts) <= 200
    assert counted.weights()("often_1") > 0


def test_each_term_is_worth_less_the_next_time():
    candidates = [({"a", "b"}, 10, 1.0), ({"a", "b"}, 10, 1.0), ({"c"}, 10, 1.0)]
    assert choose(candidates, lambda term: 1.0, 100)[:2] == [0, 2]


def test_what_is_covered_already_comes_later():
    candidates = [({"a"}, 10, 1.0), ({"b"}, 10, 1.0)]
    assert choose(candidates, lambda term: 1.0, 100, covered=["a"]) == [1, 0]


def test_the_choice_keeps_its_budget_and_skips_what_does_not_fit():
    candidates = [({"a", "b", "c", "d"}, 30, 1.0), ({"e"}, 90, 1.0), ({"f"}, 60, 0.1)]
    assert choose(candidates, lambda term: 1.0, 95) == [0, 2]


def test_what_is_worth_nothing_is_not_chosen():
    assert choose([({"a"}, 10, 1.0)], lambda term: 0.0, 100) == []


def test_a_choice_among_many_alike_looks_at_a_bounded_number(monkeypatch):
    monkeypatch.setattr(salience, "LOOKS", 500)
    looks = 0

    def weight(term):
        nonlocal looks
        looks += 1
        return 1.0

    candidates = [({"a", "b"}, 10, 1 + n / 10_000) for n in range(1_000)]
    assert len(choose(candidates, weight, 3_000)) == 300
    assert looks <= 2 * (1_000 + 500 + 300)


def test_the_choice_does_not_depend_on_the_order_of_a_set():
    words = [f"word_{n}" for n in range(60)]
    counted = Terms()
    for at in range(90):
        counted.count({words[at % 60], words[at * 7 % 60], words[at * 11 % 60]}, said=at % 4 == 0)
    weight = counted.weights()
    found = [words[at : at + 9] for at in range(50)]

    def chosen(sets):
        return choose([(one, 40 + at % 3, 1.0) for at, one in enumerate(sets)], weight, 1_500)

    # A view of a dictionary has the order in which its keys came in.
    one = chosen([dict.fromkeys(some).keys() for some in found])
    other = chosen([dict.fromkeys(reversed(some)).keys() for some in found])
    assert one == other == chosen([set(some) for some in found])


def test_weights_add_up_to_the_same_in_any_order():
    counted = Terms()
    for at in range(50):
        counted.count({f"word_{n}" for n in range(at)}, said=at % 3 == 0)
    weights = [counted.weights()(f"word_{n}") for n in range(50)]
    assert sum(weights) == sum(reversed(weights)) == sum(sorted(weights))
