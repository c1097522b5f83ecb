"""Fields as they are written come into one stored form, or are refused with what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import fields
from contextspindle.core.task import LABEL_LIMIT, STATUSES, TEXT_LIMIT
from contextspindle.errors import InvalidInput
from tests.strategies import field_texts, raw_texts

# -- status and priority


@pytest.mark.parametrize("name", STATUSES)
def test_a_status_is_taken_by_its_own_name_in_any_case(name):
    for given_name in (name, name.upper(), f"  {name.title()} "):
        assert fields.status(given_name) == name


@pytest.mark.parametrize(
    ("given_name", "meant"),
    [
        *(("in_progress", "active"), ("In-Progress", "active"), ("in progress", "active")),
        *(("closed", "done"), ("completed", "done"), ("todo", "open"), ("to do", "open")),
        *(("TO-DO", "open"), ("canceled", "cancelled"), ("wont-fix", "cancelled")),
        *(("on hold", "blocked"), ("pending", "open"), ("resolved", "done")),
    ],
)
def test_a_status_is_taken_by_a_common_other_name(given_name, meant):
    assert fields.status(given_name) == meant


def test_every_other_name_means_a_status():
    assert set(fields.STATUS_ALIASES.values()) == set(STATUSES)
    assert not set(fields.STATUS_ALIASES) & set(STATUSES)


@pytest.mark.parametrize("name", ["", " ", "opened!", "act", "done done", "0"])
def test_an_unknown_status_is_refused_with_those_there_are(name):
    with pytest.raises(InvalidInput) as caught:
        fields.status(name)
    assert all(status in caught.value.hint for status in STATUSES)


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [(number, number) for number in range(5)]
    + [(str(number), number) for number in range(5)]
    + [("P0", 0), ("p4", 4), ("high", 1), ("Medium", 2), (" low ", 3), ("critical", 0)],
)
def test_a_priority_is_a_number_or_a_word(given_value, meant):
    assert fields.priority(given_value) == meant


@pytest.mark.parametrize("given_value", [5, -1, "5", "-1", "", "1.0", "01", "²", "pp1", True, None])
def test_an_unknown_priority_is_refused(given_value):
    with pytest.raises(InvalidInput):
        fields.priority(given_value)


# -- texts


@given(field_texts)
def test_a_valid_text_is_kept_byte_for_byte(value):
    assert fields.normalised({"goal": value})["goal"] == value


@given(raw_texts)
def test_any_text_is_kept_as_valid_unicode_or_refused(value):
    try:
        kept = fields.normalised({"next": value})["next"]
    except InvalidInput:
        assert "\0" in value
    else:
        kept.encode("utf-8")


@pytest.mark.parametrize("name", ["goal", "owner", "blocker", "next", "parent"])
@pytest.mark.parametrize("value", [None, 3, b"x", ["x"], {"a": 1}])
def test_what_is_no_text_is_refused(name, value):
    with pytest.raises(InvalidInput):
        fields.normalised({name: value})


@pytest.mark.parametrize("name", ["goal", "owner", "blocker", "next", "criteria"])
def test_a_zero_byte_is_refused(name):
    with pytest.raises(InvalidInput, match="zero byte"):
        fields.normalised({name: "a\0b"})


@pytest.mark.parametrize("unit", ["x", "é", "😀"])
def test_a_text_of_64_kib_is_kept_and_one_byte_more_refused(unit):
    most = unit * (TEXT_LIMIT // len(unit.encode()))
    assert fields.normalised({"goal": most})["goal"] == most
    with pytest.raises(InvalidInput, match=str(TEXT_LIMIT)):
        fields.normalised({"goal": most + "x"})


@pytest.mark.parametrize("name", ["owner", "blocker", "next", "parent"])
@pytest.mark.parametrize("value", ["", " ", "\n\t ", "\u3000"])
def test_a_blank_text_clears_the_field(name, value):
    assert fields.normalised({name: value}) == {name: ""}


@pytest.mark.parametrize("value", ["", " \n"])
def test_a_goal_cannot_be_cleared(value):
    with pytest.raises(InvalidInput, match="goal"):
        fields.normalised({"goal": value})


@pytest.mark.parametrize("name", ["id", "version", "created", "decisions", "nothing", ""])
def test_a_field_that_cannot_be_set_is_refused_by_name(name):
    with pytest.raises(InvalidInput, match=repr(name)):
        fields.normalised({name: "x"})


# -- criteria


def test_criteria_are_one_text_or_a_list_and_blank_items_are_dropped():
    assert fields.normalised({"criteria": "one\ntwo"})["criteria"] == ("one\ntwo",)
    assert fields.normalised({"criteria": ["a", " ", "b"]})["criteria"] == ("a", "b")
    assert fields.normalised({"criteria": ("a",)})["criteria"] == ("a",)
    for empty in ("", [], ["", " "], ()):
        assert fields.normalised({"criteria": empty})["criteria"] == ()


def test_a_criterion_of_a_list_holds_no_line_feed():
    with pytest.raises(InvalidInput, match="line break"):
        fields.normalised({"criteria": ["a\nb", "c"]})
    assert fields.normalised({"criteria": ["a\nb", " "]})["criteria"] == ("a\nb",)


def test_criteria_together_are_bounded():
    half = "x" * (TEXT_LIMIT // 2)
    with pytest.raises(InvalidInput, match="together"):
        fields.normalised({"criteria": [half, half]})
    assert fields.normalised({"criteria": [half, half[1:]]})


@pytest.mark.parametrize("value", [None, 3, {"a": 1}, [3], [["a"]], [None]])
def test_criteria_of_another_kind_are_refused(value):
    with pytest.raises(InvalidInput):
        fields.normalised({"criteria": value})


# -- ids, labels, keys


@pytest.mark.parametrize("value", ["abc", "t-", "t-é", "t-a b", "T-a", "t-" + "x" * 200])
def test_a_parent_or_dependency_must_be_a_whole_id(value):
    with pytest.raises(InvalidInput, match="not a task id"):
        fields.normalised({"parent": value})
    with pytest.raises(InvalidInput, match="not a task id"):
        fields.merged("dependencies", (), (value,), ())


@pytest.mark.parametrize("value", ["ui", "a b", "次", "x" * LABEL_LIMIT, "  trimmed "])
def test_what_is_a_label(value):
    assert fields.merged("labels", (), (value,), ()) == (value.strip(),)


@pytest.mark.parametrize(
    "value", ["", "  ", "a\nb", "a\tb", "a\u2028b", "a\u202eb", "a\0b", "x" * (LABEL_LIMIT + 1)]
)
def test_what_is_no_label(value):
    with pytest.raises(InvalidInput):
        fields.merged("labels", (), (value,), ())


def test_lists_are_merged_in_order_each_item_once():
    assert fields.merged("labels", ("a", "b", "c"), ("d", "a", "d"), ("b",)) == ("a", "c", "d")
    assert fields.merged("labels", ("a",), ("a",), ("a",)) == ("a",)
    assert fields.merged("labels", (), (), ()) == ()


def test_dropping_what_is_not_there_is_refused():
    with pytest.raises(InvalidInput, match="'b' is not among the labels"):
        fields.merged("labels", ("a",), (), ("b",))
    with pytest.raises(InvalidInput, match="among the dependencies"):
        fields.merged("dependencies", ("t-a",), (), ("t-b",))


@given(st.lists(st.sampled_from("abcde")), st.lists(st.sampled_from("abcde")))
def test_a_merge_is_a_set_in_the_order_of_arrival(present, added):
    found = fields.merged("labels", present, added, ())
    assert found == tuple(dict.fromkeys(present + added))
    assert fields.merged("labels", found, added, ()) == found


def test_an_empty_entry_is_refused_and_others_are_kept():
    assert fields.entries("note", ("a", "b\nc", "a")) == ("a", "b\nc", "a")
    for bad in (("",), ("a", " "), ("\0",), (3,)):
        with pytest.raises(InvalidInput, match="note"):
            fields.entries("note", bad)


@pytest.mark.parametrize("value", ["k", "é" * 128, " ", "a\nb"])
def test_what_is_an_idempotency_key(value):
    assert fields.key(value) == value


@pytest.mark.parametrize("value", ["", "x" * 129, "a\0b"])
def test_what_is_no_idempotency_key(value):
    with pytest.raises(InvalidInput):
        fields.key(value)


@pytest.mark.parametrize("value", [None, 5, True, ["open"]], ids=repr)
def test_a_status_of_another_kind_is_refused(value):
    with pytest.raises(InvalidInput, match="There is no status"):
        fields.normalised({"status": value})


@pytest.mark.parametrize("name", ["labels", "dependencies"])
@pytest.mark.parametrize("value", ["t-abc", None, 5], ids=repr)
def test_what_is_no_list_is_not_taken_for_one(name, value):
    with pytest.raises(InvalidInput, match=f"The {name} must be a list"):
        fields.normalised({name: value})
    with pytest.raises(InvalidInput, match=f"The {name} must be a list"):
        fields.merged(name, (), value, ())
    with pytest.raises(InvalidInput, match=f"The {name} must be a list"):
        fields.merged(name, ("t-a",), (), value)


@pytest.mark.parametrize("value", ["a note", None, 5], ids=repr)
def test_entries_of_another_kind_are_refused(value):
    with pytest.raises(InvalidInput, match="must be a list"):
        fields.entries("note", value)


@pytest.mark.parametrize("value", [None, 5, b"k"], ids=repr)
def test_a_key_or_an_id_of_another_kind_is_refused(value):
    with pytest.raises(InvalidInput, match="must be text"):
        fields.key(value)
    with pytest.raises(InvalidInput, match="not a task id"):
        fields.task_id(value)
