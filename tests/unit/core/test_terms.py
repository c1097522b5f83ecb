"""What of a text can be found: words, identifiers whole and in parts, dates, numbers, scripts."""

from __future__ import annotations

import pytest

from contextspindle.core.terms import analyse, words_of


def terms(text):
    found = analyse(text)
    return set(found.listed + found.whole)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("retryCount", {"retrycount", "retri", "count"}),
        ("retry_count", {"retry_count", "retri", "count"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("ZED-417", {"zed-417", "zed", "417"}),
        ("pkg::name", {"pkg::name", "pkg", "name"}),
        ("(src/app/main.py),", {"src/app/main.py", "src", "app", "main", "py"}),
        ("retry:30", {"retry:30", "retri", "30"}),
        ("v1.2.3", {"v1.2.3", "v1", "2", "3"}),
        ("1,000,000", {"1000000"}),
        ("the 3rd", {"3"}),
        ("2026-03-09", {"2026-03-09", "9", "march", "2026"}),
        ("on 9 March, 2026", {"2026-03-09", "9", "march", "2026"}),
        ("March 9th 2026", {"2026-03-09", "9", "march", "2026"}),
        ("9 Mar 2026", {"2026-03-09", "9", "march", "2026"}),
        ("数据库", {"数据", "据库", "库"}),
        ("東京タワー", {"東京", "京タ", "タワ", "ワー", "ー"}),
        ("데이터", {"데이", "이터", "터"}),
        ("แยก", {"แย", "ยก", "ก"}),
        ("ကို", {"ကိ", "ို", "ု"}),
        ("Ünïcödé", {"unicod"}),
        ("Привет, МИР", {"привет", "мир"}),
        ("“quoted” — it’s", {"quot"}),
        ("ＦＵＬＬ width", {"full", "width"}),
        ("db 東京", {"db", "東京", "京"}),
    ],
)
def test_a_text_is_found_by(text, wanted):
    assert terms(text) == wanted


def test_words_that_say_nothing_are_left_out_unless_they_are_kept():
    assert analyse("what is it that you do").listed == ()
    assert analyse("do it now", keep_stop_words=True).listed == ("do", "it", "now")


def test_a_month_is_told_from_a_word_by_the_number_beside_it():
    assert "mai" in terms("on 8 May")
    assert terms("you may") == set()


@pytest.mark.parametrize("text", ["yesterday", "in 2024", "last week", "8 May", "on Friday"])
def test_a_text_that_says_when_is_seen(text):
    assert analyse(text).timed


def test_a_text_that_does_not_say_when_is_seen_too():
    assert not analyse("the parser holds 4096 bytes").timed


def test_the_words_of_a_text_come_with_their_terms():
    assert list(words_of("Never use retryCount, please!")) == [
        ("Never", ("never",)),
        ("retryCount", ("retri", "count", "retrycount")),
    ]
