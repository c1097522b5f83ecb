"""The draft: plain JSON there and back, within its bound, and lenient with what it reads."""

from __future__ import annotations

import pytest

from contextspindle.core import canon
from contextspindle.core.draft import ASKED, GOAL, LIMIT, Draft, Item

ITEM = Item(GOAL, "sail to Bergen", 3, "ab12", "re: where?", "first")


def test_a_draft_comes_back_from_its_document():
    draft = Draft((ITEM, Item(ASKED, "é\n次")), 2, 1, 40)
    stored = canon.encode(draft.to_document())
    assert Draft.from_document(canon.decode(stored)) == draft


def test_a_document_is_bounded_and_the_least_useful_items_go():
    items = tuple(Item(ASKED, f"{n} " + "ü" * 100, n) for n in range(1_000))
    draft = Draft((ITEM, *items))
    document = draft.to_document()
    assert len(canon.encode(document)) <= LIMIT
    kept = Draft.from_document(document).items
    assert kept == draft.items[: len(kept)]
    assert len(kept) > 100


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"items": 3},
        {"items": [3, [], ["goal"], ["unknown", "x"], ["goal", 7]]},
        {"items": [], "said": -1, "compactions": "many", "lines": None},
    ],
)
def test_a_damaged_document_gives_what_can_be_used(document):
    assert Draft.from_document(document) == Draft()


def test_an_item_with_fields_missing_or_of_another_type_is_used():
    draft = Draft.from_document({"items": [["goal", "sail"], ["goal", "x", "3", 4, None, []]]})
    assert draft.items == (Item(GOAL, "sail"), Item(GOAL, "x"))


def test_half_a_character_in_any_field_costs_no_other_item():
    half = "half \ud83d"
    items = (Item(GOAL, half, 1, half, half, half), Item(ASKED, "whole"))
    document = Draft(items).to_document()
    canon.encode(document)
    whole = "half \ufffd"
    assert Draft.from_document(document).items == (
        Item(GOAL, whole, 1, whole, whole, whole),
        Item(ASKED, "whole"),
    )
