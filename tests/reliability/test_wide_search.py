"""A search finds every word that begins as it asks, however many there are and however common."""

from __future__ import annotations

import pytest

from contextspindle.core.change import Request
from contextspindle.store import sqlite_read


@pytest.fixture
def ledger(sqlite_store, make_ledger):
    made = make_ledger(sqlite_store)
    for number in range(100):
        made.create(Request({"goal": f"many wide{number:03} wood"}))
    made.create(Request({"goal": "manyfold"}, notes=("wooden",)))
    return made


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ("wide", 100),  # more words than are looked for one by one
        ("wide00", 10),
        ("wide099", 1),
        ("many", 101),  # a word with more places than are read at a time, and one behind it
        ("man", 101),
        ("manyf", 1),
        ("woo", 101),
        ("wooden", 1),
        ("many wide05", 10),
        ('"many wide05"', 0),
        ("woodx", 0),
    ],
)
def test_every_word_that_begins_so_is_found(ledger, query, total):
    assert ledger.search(query, 100).total == total


@pytest.mark.parametrize("most", [1, 2, 64, 1_000])
def test_how_many_are_looked_for_one_by_one_changes_nothing_that_is_found(
    ledger, monkeypatch, most
):
    queries = ("wide", "wide0", "wide01", "man", "many", "woo", "many wide0", "manyfold")
    wanted = [ledger.search(query, 100) for query in queries]
    monkeypatch.setattr(sqlite_read, "MOST_WORDS", most)
    assert [ledger.search(query, 100) for query in queries] == wanted
