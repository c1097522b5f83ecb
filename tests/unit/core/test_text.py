"""Shown text: valid Unicode, one line where promised, within its bytes, whole code points."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contextspindle.core import text
from tests.strategies import BIDI, BREAKS, hostile, raw_texts, texts

limits = st.integers(-3, 60)


# -- clean


@given(texts)
def test_valid_text_stays_as_it_is(value):
    assert text.clean(value) == value


@given(raw_texts)
def test_any_text_becomes_valid_and_stays_so(value):
    cleaned = text.clean(value)
    cleaned.encode("utf-8")
    assert text.clean(cleaned) == cleaned


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("\ud800", "\ufffd"),
        ("a\udc80b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),  # a pair that came in as two halves
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud800\ud83d\ude00\x00é", "\ufffd😀\x00é"),
    ],
)
def test_each_lone_surrogate_is_replaced_and_all_else_stays(value, expected):
    assert text.clean(value) == expected


@given(raw_texts)
def test_size_counts_bytes(value):
    assert text.size(value) == len(value.encode("utf-8", "surrogatepass"))


# -- one line


@given(raw_texts | hostile)
def test_one_line_is_one_line_without_controls(value):
    shown = text.one_line(value)
    assert len(shown.splitlines()) <= 1
    assert not set(shown) & {*BREAKS, *BIDI, "\ufeff", "\t"}
    assert not [mark for mark in shown if ord(mark) < 32 or 127 <= ord(mark) < 160]
    assert text.one_line(shown) == shown


@pytest.mark.parametrize("mark", BREAKS)
def test_every_line_break_is_shown_as_one(mark):
    assert text.one_line(f"a{mark}b") == "a⏎b"
    assert text.block(f"a{mark}b") == "a\nb"
    assert text.folded(f"a{mark} b") == "a b"


@pytest.mark.parametrize("mark", [*BIDI, "\ufeff", "\x00", "\x07", "\x1b", "\x7f", "\x9b"])
def test_every_control_and_override_is_replaced(mark):
    assert text.one_line(f"a{mark}b") == "a\ufffdb"
    assert text.block(f"a{mark}b") == "a\ufffdb"
    assert text.folded(f"a{mark}b") == "a\ufffdb"


def test_a_carriage_return_with_its_line_feed_is_one_break():
    assert text.one_line("a\r\nb\n\rc") == "a⏎b⏎⏎c"
    assert text.block("a\r\nb\rc\td") == "a\nb\nc\td"


@given(raw_texts | hostile)
def test_a_block_has_line_feeds_and_tabs_only(value):
    shown = text.block(value)
    assert not [mark for mark in shown if ord(mark) < 32 and mark not in "\n\t"]
    assert shown.splitlines() == shown.removesuffix("\n").split("\n") or not shown


@given(raw_texts | hostile)
def test_folded_text_has_single_spaces(value):
    shown = text.folded(value)
    assert shown == " ".join(shown.split())
    assert len(shown.splitlines()) <= 1


def test_what_is_replaced_is_replaced_in_any_company():
    """A text without controls is not looked through, so none may be taken for one without."""
    for code in (*range(0x3000), 0xFEFF, 0xFFFD, 0xD800, 0xE0001, 0x1F9F5):
        alone, beside = chr(code), "\0" + chr(code)
        assert "\ufffd" + text.one_line(alone) == text.one_line(beside)
        assert "\ufffd" + text.block(alone) == text.block(beside)


def test_ordinary_text_of_any_script_stays():
    value = "naïve 次の — “quoted” עברית ع 👩‍👩‍👧 a\u00adb"
    assert text.one_line(value) == text.block(value) == value


# -- cut


@given(raw_texts, limits)
def test_any_text_is_cut_within_its_limit(value, limit):
    for cut in (text.cut, text.cut_start):
        assert text.size(cut(value, limit)) <= max(limit, 0)


@given(texts, limits)
def test_a_cut_is_the_longest_start_that_fits(value, limit):
    shown = text.cut(value, limit)
    assert text.size(shown) <= max(limit, 0)
    assert value.startswith(shown)
    if shown != value:
        assert text.size(value[: len(shown) + 1]) > limit


@given(texts, limits)
def test_a_cut_start_is_the_longest_end_that_fits(value, limit):
    shown = text.cut_start(value, limit)
    assert text.size(shown) <= max(limit, 0)
    assert value.endswith(shown)
    if shown != value:
        assert text.size(value[len(value) - len(shown) - 1 :]) > limit


@given(texts, limits)
def test_shortened_text_fits_and_is_marked_where_it_was_cut(value, limit):
    shown = text.shortened(value, limit)
    assert text.size(shown) <= max(limit, 0)
    if text.size(value) <= limit:
        assert shown == value
    elif limit >= 3:
        assert shown.endswith(text.ELLIPSIS)
        assert value.startswith(shown.removesuffix(text.ELLIPSIS))


@example("abcdefgh", 3)
@given(texts, limits)
def test_text_cut_in_the_middle_fits_and_shows_both_ends(value, limit):
    shown = text.middle_out(value, limit)
    assert text.size(shown) <= max(limit, 0)
    if text.size(value) <= limit:
        assert shown == value
    elif limit >= 5:
        head, mark, tail = shown.partition(f" {text.ELLIPSIS} ")
        assert mark
        assert value.startswith(head)
        assert value.endswith(tail)


def test_a_character_of_several_bytes_is_never_cut_in_two():
    assert text.cut("é😀", 1) == ""
    assert text.cut("é😀", 5) == "é"
    assert text.cut("é😀", 6) == "é😀"
    assert text.cut_start("😀é", 5) == "é"
    assert text.shortened("éééé", 6) == "é…"
