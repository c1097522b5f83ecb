"""Words that belong together share a stem; what is no English word stays as it is."""

from __future__ import annotations

import pytest

from contextspindle.core.stemming import stem

# From the examples of Porter's article.
STEMS = {
    "caresses": "caress", "ponies": "poni", "cats": "cat", "feed": "feed", "agreed": "agre",
    "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing",
    "conflated": "conflat", "sized": "size", "hopping": "hop", "falling": "fall",
    "hissing": "hiss", "filing": "file", "happy": "happi", "sky": "sky", "relational": "relat",
    "rational": "ration", "digitizer": "digit", "vietnamization": "vietnam", "operator": "oper",
    "hopefulness": "hope", "formaliti": "formal", "triplicate": "triplic", "goodness": "good",
    "revival": "reviv", "adjustable": "adjust", "replacement": "replac", "adoption": "adopt",
    "probate": "probat", "rate": "rate", "cease": "ceas", "controlling": "control", "roll": "roll",
}  # fmt: skip


@pytest.mark.parametrize("word", STEMS)
def test_a_word_has_the_stem_of_the_article(word):
    assert stem(word) == STEMS[word]


@pytest.mark.parametrize("word", ["", "a", "is", "zed417", "пироги", "naïve", "数据", "x1s"])
def test_what_is_no_english_word_is_left_as_it_is(word):
    assert stem(word) == word


@pytest.mark.parametrize("word", ["sss", "ied", "ing", "eed", "yyy", "ational", "ion", "s" * 99])
def test_a_word_that_is_all_suffix_has_a_stem_too(word):
    assert stem(word)
