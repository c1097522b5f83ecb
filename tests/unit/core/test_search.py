"""Search: which words a text has in any script, and what a query of any form asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import evidence, search
from contextspindle.core.search import FIELDS, MOST_TERMS, Term
from contextspindle.core.task import Entry
from tests.strategies import PLAIN, hostile, raw_texts, texts


def one(*words, prefix=False):
    return (Term(words, prefix),)


# -- words


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("Ship the login-page!", ["ship", "the", "login", "page"]),
        ("ZED-417", ["zed", "417"]),
        ("pkg::name.c", ["pkg", "name", "c"]),
        ("snake_case", ["snake", "case"]),
        ("Café ÉCOLE", ["cafe", "ecole"]),
        ("Cafe\u0301", ["cafe"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("Việt Nam", ["viet", "nam"]),
        ("İstanbul", ["istanbul"]),
        ("ﬁle", ["file"]),
        ("Ελλάς", ["ελλασ"]),
        ("東京都", ["東", "京", "都"]),
        ("一db二", ["一", "db", "二"]),
        ("カタカナ", ["カ", "タ", "カ", "ナ"]),
        ("ｶﾀｶﾅ", ["カ", "タ", "カ", "ナ"]),
        ("한국어", ["한", "국", "어"]),
        ("\u1112\u1161\u11ab국", ["한", "국"]),
        ("ล็อกอิน", ["ล", "อ", "ก", "อ", "น"]),
        ("ເຂົ້າ ພາສາ", ["ເ", "ຂ", "າ", "ພ", "າ", "ສ", "າ"]),
        ("ភាសា", ["ភ", "ស"]),
        ("မြန်မာ", ["မ", "န", "မ"]),
        ("、。「」…", []),
        ("👩🏽‍🚀 ok", ["ok"]),
        ("", []),
    ],
)
def test_the_words_of_a_text(value, found):
    assert search.words(value) == found


@given(texts | hostile)
def test_the_words_of_the_words_are_the_words(value):
    found = search.words(value)
    assert search.words(" ".join(found)) == found


@given(texts)
def test_case_does_not_matter(value):
    assert search.words(value.casefold()) == search.words(value)


@given(texts)
def test_what_is_indexed_has_the_words_of_the_text(value):
    assert search.words(search.plain(value)) == search.words(value)


def test_a_text_of_ascii_is_indexed_as_it_is():
    assert search.plain("It's  A-1!") == "It's  A-1!"


# -- queries


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("login", one("login", prefix=True)),
        ("db", one("db")),
        ("ZED-417", one("zed", "417", prefix=True)),
        ("NOTE:later", one("note", "later", prefix=True)),
        ('"login page"', one("login", "page")),
        ('say "a b" now', one("say", prefix=True) + one("a", "b") + one("now", prefix=True)),
        ('an "open quote', one("an") + one("open", prefix=True) + one("quote", prefix=True)),
        ("twice twice", one("twice", prefix=True)),
        ("京都", one("京", "都")),
        ("都", one("都")),
        ("국어", one("국", "어")),
        ("-4021", one("4021", prefix=True)),
        ("a* OR b NOT c", one("a") + one("or") + one("b") + one("not", prefix=True) + one("c")),
    ],
)
def test_what_a_query_asks_for(query, asked):
    assert search.parse(query) == asked


@pytest.mark.parametrize("query", ["", " ", '"', '""', "* - : ()", "\0", "…", "\ud800", "👍"])
def test_a_query_without_a_letter_asks_for_nothing(query):
    assert search.parse(query) == ()


@given(raw_texts)
def test_any_text_is_a_query(query):
    for term in search.parse(query):
        assert term.words
        assert all(word and search.words(word) == [word] for word in term.words)


def test_a_query_is_bounded_in_its_terms():
    many = " ".join(f"w{n}" for n in range(100))
    assert len(search.parse(many)) == MOST_TERMS


# -- matching


def matches(query, text):
    return all(search.matches(term, search.words(text)) for term in search.parse(query))


@given(st.lists(st.sampled_from(["login", "Straße", "東京", "한국", "x1", "größe"]), min_size=1))
def test_a_text_holds_each_of_its_own_words(words):
    text = " ".join(words)
    for word in words:
        assert matches(word, text)
    assert matches(f'"{text}"', text)


def test_words_between_quotes_must_follow_each_other():
    assert matches('"login page"', "the login page")
    assert not matches('"login page"', "the page, login")
    assert matches("login page", "the page, login")


def test_three_letters_find_the_words_that_begin_with_them_and_two_do_not():
    assert matches("log", "login")
    assert not matches("lo", "login")
    assert not matches("gin", "login")
    assert not matches('"log"', "login")


def test_a_part_of_a_line_of_characters_is_found_and_a_scattered_one_is_not():
    assert matches("京都", "東京都庁")
    assert not matches("東都", "東京都庁")
    assert matches("ล็อกอิน", "แก้ไขหน้าล็อกอินให้ปลอดภัย")
    assert not matches("ไขล็อก", "แก้ไขหน้าล็อกอินให้ปลอดภัย")


# -- what can be found of a task


def test_every_text_of_a_task_has_its_field():
    def entry(text):
        return (Entry(1, "ada", 1, text),)

    task = PLAIN._replace(
        goal="Goal",
        next="Next",
        blocker="Blocker",
        criteria=("Criterion",),
        labels=("Label",),
        source="bd-1",
        decisions=entry("Decision"),
        notes=entry("Note"),
        evidence=entry(evidence.bind("Payload", 0, "t-one", ())),
    )
    found = dict(zip(FIELDS, search.texts(task)))
    assert found == {
        "name": "t-one\nbd-1\nLabel",
        "goal": "Goal",
        "next": "Next\nBlocker",
        "criteria": "Criterion",
        "log": "Decision\nNote\nPayload",
    }


def test_of_evidence_the_payload_is_searched_and_not_the_record():
    record = evidence.bind("seen", 0, "t-one", ("c",))
    task = PLAIN._replace(evidence=(Entry(1, "ada", 1, record),))
    assert search.texts(task)[FIELDS.index("log")] == "seen"
