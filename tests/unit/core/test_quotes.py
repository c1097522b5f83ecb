"""Quotations: passages that stand alone, in the source's own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import quotes
from contextspindle.core.text import cut, folded, size
from tests.strategies import texts


def test_lines_are_passages_without_their_list_marks():
    assert quotes.passages("- one\n* two\n\n> three") == ["one", "two", "three"]


def test_a_heading_and_a_line_with_a_colon_lead_the_next_line():
    assert quotes.passages("# Plan\nHoist first:\n- the main sail\n- the jib") == [
        "Plan Hoist first: - the main sail",
        "the jib",
    ]


def test_a_heading_with_nothing_behind_it_stands_alone():
    assert quotes.passages("text\n## Next steps") == ["text", "Next steps"]


def test_pieces_are_sentences_and_their_numbers_tell_what_follows_what():
    text = (
        "It broke! The mast of the yawl is three cm short. The oars of it are wet as well.\n- dry"
    )
    assert quotes.pieces(text) == [
        (0, "It broke! The mast of the yawl is three cm short."),
        (1, "The oars of it are wet as well."),
        (4, "dry"),
    ]


@given(texts)
def test_passages_and_pieces_are_what_the_source_says(text):
    source = folded(text)
    for passage in quotes.passages(text):
        assert passage in source
    for _, piece in quotes.pieces(text):
        assert piece in source


def test_code_between_fences_is_left_out():
    assert quotes.passages("before\n```python\nx = 1\n```\nafter") == ["before", "after"]


def test_a_long_line_is_cut_behind_sentences():
    line = "The mast is broken. " * 10
    found = quotes.passages(line, 100)
    assert all(passage.endswith("broken.") for passage in found)
    assert " ".join(found) == line.strip()


def test_a_long_line_of_a_language_without_blanks_is_cut_behind_sentences():
    found = quotes.passages("桅杆断了。" * 40, 100)
    assert all(passage.endswith("。") and size(passage) <= 100 for passage in found)


@given(st.text(max_size=400) | texts, st.integers(40, 200))
def test_pieces_of_a_line_are_bounded_and_lose_nothing(text, limit):
    line = folded(text)
    found = quotes.sentences(line, limit)
    assert all(size(piece) <= limit for piece in found)
    assert "".join("".join(found).split()) == "".join(line.split())


def test_the_ending_starts_at_a_sentence_where_it_can():
    text = "It took long. " + "We sailed on and on. " * 5 + "Shall we dock?"
    assert quotes.ending(text, 60).startswith("We sailed")
    assert quotes.ending("Shall we dock?", 60) == "Shall we dock?"


def test_the_question_is_the_last_sentence_that_asks():
    text = "Done. Should I use a script or a command? I can do either."
    assert quotes.question(text, 200).endswith("a script or a command?")
    assert "I can do either" not in quotes.question(text, 200)


def test_a_one_character_answer_finds_the_option_it_picks():
    text = "Choose:\n**1. Under sail** - slow\n2. By motor\nOption C: row\nWhich?"
    assert quotes.option(text, "1") == "**1. Under sail** - slow"
    assert quotes.option(text, "2.") == "2. By motor"
    assert quotes.option(text, "c") == "Option C: row"
    assert quotes.option(text, "4") == quotes.option(text, "yes") == ""


def test_words_that_begin_with_a_number_or_name_an_option_find_it_too():
    text = "Choose:\n1. Under sail\n2. By motor\n- **#3**: tow\nOption C: row\nWhich?"
    assert quotes.option(text, "2, but keep the sails ready") == "2. By motor"
    assert quotes.option(text, "1 does seem like a decent path") == "1. Under sail"
    assert quotes.option(text, "let's go with option c please") == "Option C: row"
    assert quotes.option(text, "do #3 and be quick") == "- **#3**: tow"
    for none in ("a tow would be nice", "1. a list\n2. of their own", "2026 is far", "in 2 days"):
        assert quotes.option(text, none) == "", none


@pytest.mark.parametrize(
    ("line", "passage"),
    [
        ("- **Minor:**\n 3. Comment in `x`", "**Minor:** 3. Comment in `x`"),
        ("`x` is `y`", "`x` is `y`"),
        ("**a**", "a"),
        ("- `a` and **b**", "`a` and **b**"),
        ("**deck.go:960** - Fixed", "**deck.go:960** - Fixed"),
        ("- **#4**: Valid", "**#4**: Valid"),
        ("**`x` is** y", "**`x` is** y"),
        ("| a | `b` |", "a | `b`"),
        ("**Use `x` now**", "Use `x` now"),
        ("# `x`", "x"),
        ("see `y`", "see `y`"),
    ],
)
def test_marks_of_emphasis_and_code_stay_in_pairs_or_go(line, passage):
    assert quotes.passages(line) == [passage]


def test_the_number_of_an_item_stays_with_the_item():
    text = "More comments came in, here are the **new** ones of them: **1. `deck.go:103`** - Empty."
    assert [piece for _, piece in quotes.pieces(text)][-1].endswith("**1. `deck.go:103`** - Empty.")
    told = "The harbour master says that we may stay for all of 4. Then we must be gone for good."
    assert len(quotes.pieces(told)) == 2


def test_to_cut_a_long_line_no_more_of_it_is_looked_at_than_a_piece_holds(monkeypatch):
    looked_at = []

    def watched(text, limit):
        looked_at.append(len(text))
        return cut(text, limit)

    monkeypatch.setattr(quotes, "cut", watched)
    line = "桅杆" * 3_000
    assert "".join(quotes.sentences(line, 100)) == line
    assert max(looked_at) <= 101


def test_a_long_row_of_headings_leads_nothing():
    found = quotes.pieces("# the mast of the yawl\n" * 2_000 + "is broken")
    assert all(size(piece) <= quotes.PIECE for _, piece in found)
    assert len(found) < 100
