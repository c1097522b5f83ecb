"""Settings as text: what is read, what is refused, and that an edit changes its own place only."""

from __future__ import annotations

import json
import re

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


# -- comments everywhere


class Author:
    """Writes documents as people do: blanks and comments wherever they may stand."""

    def __init__(self, draw):
        self.draw = draw
        self.comments = 0

    def one_of(self, *choices):
        return self.draw(st.sampled_from(choices))

    def comment(self):
        self.comments += 1
        form = self.one_of("// c#, ]} {\n", "// c#  \r\n", "/* c# , // ]} */", "/* c#\n\n */")
        return form.replace("#", str(self.comments))

    def gap(self, *, bare=True):
        pieces = self.draw(st.lists(st.sampled_from([" ", "\n", "\r\n", "\t", "#"]), max_size=3))
        if not bare and "#" not in pieces:
            pieces.append("#")
        return "".join(self.comment() if one == "#" else one for one in pieces)

    def value(self, depth):
        if depth == 0 or self.one_of(True, False):
            return self.one_of("1", "2.50", '"// no comment"', '"\\u00e9 /*"', "null", "true")
        opening, closing = self.one_of("{}", "[]")
        count = self.draw(st.integers(0, 3))
        if not count:
            return opening + (self.gap(bare=False) if self.one_of(True, False) else "") + closing
        entries = []
        for number in range(count):
            key = f'"k{number}"{self.gap()}:{self.gap()}' if opening == "{" else ""
            entries.append(self.gap() + key + self.value(depth - 1) + self.gap())
        end = "," + self.gap() if self.one_of(True, False) else ""
        return opening + ",".join(entries) + end + closing


@st.composite
def documents(draw):
    author = Author(draw)
    return author.gap() + author.value(3) + author.gap()


def holders(node):
    """Every object and array of a document."""
    if isinstance(node.value, (dict, list)):
        yield node
    for one in (*node.items, *(child for _, _, child in node.members)):
        yield from holders(one)


def comments(text):
    return [int(one) for one in re.findall(r"c([0-9]+)", text)]


@given(documents(), VALUES, st.data())
def test_what_is_added_among_comments_comes_out_to_the_byte(text, value, data):
    places = list(holders(jsonc.parse(text)))
    if not places:
        return
    node = data.draw(st.sampled_from(places))
    of_object = isinstance(node.value, dict)
    if of_object:
        added = jsonc.add_member(text, node, "ours", value)
    else:
        added = jsonc.add_item(text, node, value)
    now = next(one for one in holders(jsonc.parse(added)) if one.start == node.start)
    if of_object:
        assert now.value == {**node.value, "ours": value}
        assert jsonc.remove_member(added, now, "ours") == text
    else:
        assert now.value == [*node.value, value]
        assert jsonc.remove_item(added, now, len(node.value)) == text


@given(documents(), st.data())
def test_what_is_removed_anywhere_takes_no_comment_and_no_value_of_others_along(text, data):
    places = [one for one in holders(jsonc.parse(text)) if one.value]
    if not places:
        return
    node = data.draw(st.sampled_from(places))
    index = data.draw(st.integers(0, len(node.value) - 1))
    if isinstance(node.value, dict):
        key, start, child = node.members[index]
        left = jsonc.remove_member(text, node, key)
        wanted = {name: one for name, one in node.value.items() if name != key}
    else:
        child = node.items[index]
        start = child.start
        left = jsonc.remove_item(text, node, index)
        wanted = node.value[:index] + node.value[index + 1 :]
    assert comments(left) == comments(text[:start] + text[child.end :])
    now = jsonc.parse(left)
    assert next(one for one in holders(now) if one.start == node.start).value == wanted
    assert repr(now.value) == repr(said(jsonc.parse(text), node.start, wanted))


def said(node, changed, value):
    """What a document says, with another value where one of its parts begins."""
    if node.start == changed:
        return value
    if isinstance(node.value, dict):
        return {key: said(child, changed, value) for key, _, child in node.members}
    if isinstance(node.value, list):
        return [said(child, changed, value) for child in node.items]
    return node.value


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            '{"model": "opus", // keep this\n  "ours": {},\n  "theme": "dark"}',
            '{"model": "opus", // keep this\n  "theme": "dark"}',
        ),
        (
            '{\n  "ours": {},\n  // about the theme\n  "theme": "dark"\n}',
            '{\n  // about the theme\n  "theme": "dark"\n}',
        ),
        (
            '{\n  "ours": 1, // theirs\n  "theme": "dark"\n}',
            '{\n  // theirs\n  "theme": "dark"\n}',
        ),
        ('{"a": 1, // one\n "ours": 2,\n}', '{"a": 1, // one\n}'),
        ('{"a": 1 // one\n , "ours": 2}', '{"a": 1 // one\n  }'),
        ('{"a": 1, // one\n "ours": 2}', '{"a": 1 // one\n }'),
        ('{ // none\n "ours": 2 }', "{ // none\n }"),
        ('{"a": 1, "ours": 2, "b": 3}', '{"a": 1, "b": 3}'),
        ('{"a": 0, "ours": 1, "ours": 2}', '{"a": 0, "ours": 1}'),
    ],
)
def test_commas_and_comments_stay_where_they_stand(text, left):
    assert jsonc.remove_member(text, jsonc.parse(text), "ours") == left


def test_a_comment_behind_the_last_entry_stays_with_it():
    text = '{\n  "a": 1 // one\n}\n'
    added = jsonc.add_member(text, jsonc.parse(text), "ours", 2)
    assert added == '{\n  "a": 1, // one\n  "ours": 2\n}\n'


def test_a_holder_of_nothing_else_goes_too_unless_there_is_a_comment_in_it():
    text = '{"a": {"b": [{"ours": 1}]}, "c": 2}'
    assert jsonc.removed(text, "a", "b", 0, "ours") == '{"c": 2}'
    for kept in (
        '{"a": {/* mine */"b": [{"ours": 1}]}, "c": 2}',
        '{"a": /* mine */ {"b": [{"ours": 1}]}, "c": 2}',
        '{"a": {"b": [{"ours": 1}] // mine\n}, "c": 2}',
    ):
        assert jsonc.parse(jsonc.removed(kept, "a", "b", 0, "ours")).value == {"a": {}, "c": 2}
        assert "mine" in jsonc.removed(kept, "a", "b", 0, "ours")
