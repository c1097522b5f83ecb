"""What an item is worth, what is left of it as a gist, and which texts are the same."""

from __future__ import annotations

from contextspindle.core.retention import GIST_WORDS, fold, gist, weight_of, worth


def test_rare_terms_are_worth_more_and_more_where_nobody_else_has_them():
    def by_items(*terms):
        return worth(terms, 1_000, 1_000, 10, 100)[0]

    assert by_items((1, 1)) > by_items((500, 1))
    assert by_items((5, 1)) > by_items((5, 5))
    assert by_items((1, 1), (1, 1)) > by_items((1, 1))


def test_length_alone_wins_nothing():
    short, long = (worth([(3, 1)], 100, 1_000, n, n * 6) for n in (20, 600))
    assert short[0] > long[0]
    assert short[1] > long[1]


def test_a_question_and_a_greeting_weigh_less_names_and_numbers_more():
    plain = weight_of("the parser is slow")
    assert weight_of("is the parser slow?") < plain
    assert weight_of("Thanks, the parser is slow") < plain
    assert weight_of("the parser takes 40 ms on Amber") > plain


def test_a_gist_is_the_rarest_words_in_their_order():
    text = "We decided with accounting that amounts are rounded half to even, as on heron and amber"
    ever = {"heron": 1, "amber": 1}
    found = gist(text + " " + "parser " * 30, lambda term: ever.get(term, 9))
    assert found.split().index("heron") < found.split().index("amber")
    assert len(found.split()) <= GIST_WORDS
    assert set(found.split()) <= set(text.replace(",", "").split()) | {"parser"}


def test_a_text_without_blanks_has_a_short_gist_and_a_terse_one_has_none():
    assert 0 < len(gist("请" * 500, lambda term: 1).encode()) <= 48
    assert gist("parser", lambda term: 1) == ""
    assert gist("...", lambda term: 1) == ""


def test_texts_that_differ_in_case_and_blanks_alone_are_the_same():
    assert fold("  The\tParser\n is SLOW ") == fold("the parser is slow")
    assert fold("the parser is slow!") != fold("the parser is slow")
