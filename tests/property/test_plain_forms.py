"""What is written for a process that has just started does what the plain form of it does."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from contextspindle.actions.relay import without_tokens
from contextspindle.core import quotes, redaction, salience, text
from contextspindle.core.task import SECRET
from tests.strategies import hostile, raw_texts

TERM = re.compile(r"#?\w+(?:[._/:@-]+\w+)*")
TOKEN = re.compile(rf"\b(t-[0-9A-Za-z-]{{1,78}})\.[0-9A-Za-z]{{{SECRET}}}\b")

any_text = raw_texts | hostile
_signs = st.text(st.sampled_from("ab1_#./:@- \né中ß²½ⅷ\u0301\u200b\xa0'\"٣—→"), max_size=20)
_stops = st.text(st.sampled_from("ab1. .!?;。！-#("), max_size=20)
_of_tokens = st.sampled_from(
    [
        "t-", ".", "a" * SECRET, "7" * (SECRET - 1), "b" * (SECRET + 1), "-", "_", "é", " ", "中",
        "t-3fz81qmk", f".{'c' * SECRET}", f"t-3fz81qmk.{'d' * SECRET}", "\n", "x" * 77, "y" * 78,
    ]
)  # fmt: skip


@given(_signs | any_text)
@example("".join(map(chr, range(0x2190, 0x21A0))) + " many_signs é")
@settings(max_examples=500)
def test_words_are_those_that_the_expression_finds(given_text):
    assert salience._words(given_text) == TERM.findall(given_text)


@given(any_text | st.characters().map("a{0}b {0}".format))
@example("a\x1fb")
@settings(max_examples=500)
def test_folding_is_cleaning_and_joining(given_text):
    shown = text.clean(given_text).translate(text._BLOCK)
    assert text.folded(given_text) == " ".join(shown.split())


@given(st.lists(_of_tokens, max_size=8).map("".join))
@settings(max_examples=500)
def test_a_token_is_what_the_expression_finds(given_text):
    assert without_tokens(given_text) == TOKEN.sub(r"\1.(token)", given_text)


@given(_stops | any_text)
@settings(max_examples=300)
def test_a_sentence_ends_at_every_stop_that_counts_nothing(line):
    ends = [
        at
        for at in range(1, len(line))
        if line[at - 1] in "。！？；"
        or (line[at - 1] in ".!?;" and line[at] == " " and not quotes._counts(line, at - 1))
    ]
    assert quotes._stops(line) == ends


def test_what_is_looked_for_in_a_text_holds_the_part_by_which_the_text_is_passed_over():
    for part, rules in redaction._PLACES:
        assert [literal for literal in rules if part not in literal] == []
        assert part == part.lower()


def test_a_word_of_another_script_holds_a_sign_by_which_a_text_is_passed_over():
    for word, _ in redaction._FOREIGN_PLACES:
        for form in (word, word.upper(), word.title()):
            assert any(sign in form for sign in redaction._OF_FOREIGN), form


@given(raw_texts, st.sampled_from(["password", "PASSWORD", "API_KEY"]))
def test_signs_of_other_scripts_around_it_hide_no_name(strange, name):
    for around in (strange, f"{strange}\u2192"):
        assert "h8Fq2Lw9x" not in redaction.mask(f'{around}\n{name} = "h8Fq2Lw9xZr7"')
