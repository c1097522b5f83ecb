"""Settings as text: what is read, what is refused, and that an edit changes its own place only."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import jsonc

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
INDENTS = st.sampled_from([None, 1, 2, 4, "\t"])
COMMENTED = """\
{
  // the model
  "model": "x", /* } not the end { */
  "list": [1, 2, /* three */ 3,],
  "nested": {"a": "// no comment", "b": []},
}
"""


def written(value, indent, line_end):
    return json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", line_end)


def at(node, *path):
    for step in path:
        node = node.items[step] if isinstance(step, int) else node.member(step)
    return node


def test_comments_and_trailing_commas_are_read():
    value = jsonc.parse(COMMENTED).value
    assert value == {
        "model": "x",
        "list": [1, 2, 3],
        "nested": {"a": "// no comment", "b": []},
    }


def test_a_byte_order_mark_is_passed_over():
    assert jsonc.parse('\ufeff {"a": 1}').value == {"a": 1}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("{\n  bad\n}", 2),
        ('{"a": 1\n "b": 2}', 2),
        ("[1, 2", 1),
        ('{"a" 1}', 1),
        ('{"a":\n\n}', 3),
        ("{} {}", 1),
        ("/* open", 1),
        ("[" * 300, 1),
        ('{"a": NaN}', 1),
        ("[,]", 1),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text, line):
    with pytest.raises(ValueError, match=rf"^line {line}: "):
        jsonc.parse(text)


@given(OBJECTS, INDENTS, st.sampled_from(["\n", "\r\n"]))
def test_any_json_is_read_as_the_public_package_reads_it(value, indent, line_end):
    assert jsonc.parse(written(value, indent, line_end)).value == value


@given(OBJECTS, INDENTS, st.sampled_from(["\n", "\r\n"]), VALUES)
def test_a_member_that_is_added_is_there_and_removing_it_gives_the_text_back(
    value, indent, line_end, more
):
    value.pop("ours", None)
    text = written(value, indent, line_end)
    added = jsonc.add_member(text, jsonc.parse(text), "ours", more)
    assert jsonc.parse(added).value == {**value, "ours": more}
    assert jsonc.remove_member(added, jsonc.parse(added), "ours") == text
    if "\r\n" in text:
        assert "\n" not in added.replace("\r\n", "")


@given(st.lists(VALUES, max_size=4), INDENTS, VALUES)
def test_an_item_that_is_added_is_the_last_and_removing_it_gives_the_text_back(value, indent, more):
    text = written(value, indent, "\n")
    added = jsonc.add_item(text, jsonc.parse(text), more)
    assert jsonc.parse(added).value == [*value, more]
    assert jsonc.remove_item(added, jsonc.parse(added), len(value)) == text


@given(st.lists(VALUES, min_size=1, max_size=4), INDENTS, st.data())
def test_any_item_can_be_removed_and_the_others_stay(value, indent, data):
    index = data.draw(st.integers(0, len(value) - 1))
    text = written(value, indent, "\n")
    left = jsonc.remove_item(text, jsonc.parse(text), index)
    assert jsonc.parse(left).value == value[:index] + value[index + 1 :]


def test_an_edit_keeps_every_comment():
    text = jsonc.add_item(COMMENTED, at(jsonc.parse(COMMENTED), "list"), {"a": 1})
    text = jsonc.add_member(text, at(jsonc.parse(text), "nested"), "c", [1])
    text = jsonc.add_member(text, jsonc.parse(text), "hooks", {})
    for comment in ("// the model", "/* } not the end { */", "/* three */"):
        assert comment in text
    value = jsonc.parse(text).value
    assert value["list"] == [1, 2, 3, {"a": 1}]
    assert value["nested"] == {"a": "// no comment", "b": [], "c": [1]}


def test_a_key_that_stands_there_twice_counts_as_readers_take_it():
    assert jsonc.parse('{"a": 1, "a": 2}').member("a").value == 2
