"""Front matter: the part of YAML that is read, and that the rest is given back, not guessed at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.trackers import front_matter
from tests.strategies import texts


def read(*lines):
    return front_matter.read(["---", *lines, "---", "body"])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("To Do", "To Do"),
        ("'2025-06-21 14:03'", "2025-06-21 14:03"),
        ("2025-06-21", "2025-06-21"),
        ("'it''s'", "it's"),
        (r'"a \"b\" \\ \u00e9 \x41 \n c"', 'a "b" \\ é A \n c'),
        ("", ""),
        ("null", ""),
        ("1000", "1000"),
        ("Fix bug #42: now", "Fix bug #42: now"),
        ("@me", "@me"),
        ("[]", []),
        ("[a, b c]", ["a", "b c"]),
        ("['@me', \"x, y\", 'it''s']", ["@me", "x, y", "it's"]),
        ("[@me]", ["@me"]),
    ],
)
def test_a_value_is_read_as_it_was_meant(written, meant):
    found = read(f"key: {written}")
    assert found.values == {"key": meant}
    assert (found.odd, found.body) == ((), 3)


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (["k:", "  - a", "  - 'b c'"], ["a", "b c"]),
        (["k:", "- a", "", "- b"], ["a", "b"]),
        (["k: >-", "  a long", "  title"], "a long title"),
        (["k: >-", "  one", "", "  two"], "one\ntwo"),
        (["k: |-", "  one", "    two"], "one\n  two"),
        (["k: |", "  one", ""], "one"),
        (["k: a plain", "  one goes on"], "a plain one goes on"),
        (["k: [a,", "  b]"], ["a", "b"]),
    ],
)
def test_a_value_of_several_lines_is_read(lines, meant):
    assert read(*lines, "z: 1").values == {"k": meant, "z": "1"}


@pytest.mark.parametrize(
    "lines",
    [
        ["no colon"],
        ["k: {a: 1}"],
        ["k: &x y"],
        ["k: !!str y"],
        ["k: 'open"],
        ["k: 'a' b"],
        ['k: "\\q"'],
        ['k: "\\u12"'],
        ["k: [a"],
        ["k: [[a]]"],
        ["k: ['a' b]"],
        ["k: [a,,b]"],
        ["k:", "  a: 1"],
        ["k: >2", "  a"],
        ["k: >-", "  a", "    b"],
        ["# a remark"],
        ["k:v"],
        ["? k"],
    ],
)
def test_what_is_not_understood_is_given_back_with_its_number(lines):
    found = read("before: 1", *lines, "after: 2")
    assert found.values == {"before": "1", "after": "2"}
    assert found.odd == tuple((number, line) for number, line in enumerate(lines, 3))


def test_a_key_that_stands_twice_counts_once_and_the_other_is_given_back():
    found = read("k: 1", "k: 2")
    assert (found.values, found.odd) == ({"k": "1"}, ((3, "k: 2"),))


@pytest.mark.parametrize("lines", [[], ["x"], ["---"], ["---", "k: 1"], ["", "---", "---"]])
def test_without_its_fences_there_is_none(lines):
    assert front_matter.read(lines) is None


@given(texts.filter(lambda one: "\n" not in one))
def test_any_text_comes_back_from_single_quotes(value):
    quoted = "'" + value.replace("'", "''") + "'"
    assert read(f"k: {quoted}").values == {"k": value}
    assert read(f"k: [{quoted}, x]").values == {"k": [value, "x"]}


@given(st.lists(st.text("ab:-'\"[]{}|>#, \\\té@0", max_size=12), max_size=6))
def test_no_line_makes_it_raise_and_none_is_dropped(lines):
    found = read(*lines)
    if found.body == len(lines) + 2:
        kept = "".join(line for _, line in found.odd) + str(found.values)
        for line in lines:
            word = line.partition(":")[0].strip()
            assert not word or word in kept or repr(word)[1:-1] in kept
