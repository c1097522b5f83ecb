"""The fast parser and argparse give the same values for every call that the fast one serves."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contextspindle.cli import full, mistakes, parse, table
from contextspindle.errors import InvalidInput

PLAIN = ["a goal", "t-3fz81qmk", "é 日本 🧵", "two\nlines", 'it\'s "quoted" \\', "x" * 300, "-"]
NUMBERS = ["0", "5", "007", "100", "9" * 18]
ODD = ["", "--", "-x", "-5", "- a b", "-x a=b", "a=b", "=", "--note=a b", "--json", "--json=1"]
ODD += ["--jso", "--help", "-h", "9" * 19, "٣", "1.5", " 5", "@file", "\ufeff", "--no such", "---"]


def fits(kind: str) -> st.SearchStrategy[str]:
    return st.sampled_from(NUMBERS) if kind == "number" else st.sampled_from(PLAIN)


def options_of(command: table.Command) -> list[table.Option]:
    return [one for one in (*command.options, *table.GLOBAL_OPTIONS) if one.flag != "--help"]


@st.composite
def option_words(draw, command: table.Command, value) -> list[str]:
    option = draw(st.sampled_from(options_of(command)))
    if option.kind == "switch":
        return [option.flag]
    given = draw(value(option.kind))
    return [f"{option.flag}={given}"] if draw(st.booleans()) else [option.flag, given]


@st.composite
def calls(draw, value, *, too_many: int) -> tuple[table.Command, list[str]]:
    """A command and the words behind its name, options and places in any order."""
    command = draw(st.sampled_from(table.COMMANDS))
    required = sum(one.required for one in command.positionals)
    count = draw(st.integers(required, len(command.positionals) + too_many))
    kinds = [one.kind for one in command.positionals] + ["text"] * too_many
    parts = [[draw(value(kind))] for kind in kinds[:count] if kind != "rest"]
    for words in draw(st.lists(option_words(command, value), max_size=5)):
        parts.insert(draw(st.integers(0, len(parts))), words)
    behind = ["--", *draw(st.lists(value("text"), min_size=1))] if "rest" in kinds else []
    return command, [word for part in parts for word in part] + behind


def odd_or_fitting(kind: str) -> st.SearchStrategy[str]:
    return fits(kind) | st.sampled_from(ODD + NUMBERS + PLAIN) | st.text(max_size=6)


CREATE, _ = parse.find(["task", "create"])
assert CREATE


@given(calls(odd_or_fitting, too_many=1))
@example((CREATE, ["goal", "--note", "--note=a b"]))
@example((CREATE, ["goal", "--note", "-x a=b"]))
@example((CREATE, ["--workspace=", "goal", "--key="]))
@example((CREATE, ["--workspace=--", "goal"]))
def test_what_the_fast_parser_serves_argparse_reads_alike(call):
    command, words = call
    try:
        values = parse.parse(command, words)
    except parse.NotPlain:
        return
    assert full.parse(command, words) == values


@given(calls(fits, too_many=0))
def test_every_well_formed_call_is_served_by_the_fast_parser(call):
    command, words = call
    values = parse.parse(command, words)
    assert values.keys() == table.values_of(command).keys()
    assert full.parse(command, words) == values


@given(calls(fits, too_many=0), st.data())
def test_global_options_may_stand_before_between_and_behind_the_words_of_a_command(call, data):
    command, rest = call
    some = st.lists(
        st.sampled_from([["--json"], ["--quiet"], ["--workspace", "task"], ["--workspace=x"]]),
        max_size=2,
    )
    words: list[str] = []
    before: list[str] = []
    for word in command.words:
        for option in data.draw(some):
            words += option
            before += option
        words.append(word)
    found, others = parse.command_of([*words, *rest])
    assert found == command
    assert parse.parse(command, others) == parse.parse(command, [*before, *rest])


@given(st.lists(st.sampled_from(ODD + PLAIN) | st.text(max_size=5), max_size=5))
def test_any_words_at_all_either_name_a_command_or_are_no_call(words):
    try:
        command, _ = parse.command_of(words)
    except parse.NotPlain:
        assert isinstance(mistakes.no_command(words), InvalidInput)
    else:
        assert command in table.COMMANDS


@given(calls(odd_or_fitting, too_many=2))
def test_argparse_gives_every_value_of_the_command_or_says_what_is_wrong(call):
    command, words = call
    try:
        values = full.parse(command, words)
    except InvalidInput as error:
        said = [error.message, error.hint]
    else:
        said = list(values)
        assert said == list(table.values_of(command))
    assert all(said)


@pytest.mark.parametrize("text", ["-x", "--json", "-5", "--note=x", "--"])
def test_behind_two_dashes_every_word_is_taken_as_it_is(text):
    assert full.parse(CREATE, ["--json", "--", text])["goal"] == text
    assert full.parse(CREATE, ["--note", "n", "--", text])["note"] == ["n"]


def test_an_option_whose_value_is_missing_takes_no_other_option_for_it():
    for words in (["g", "--note"], ["g", "--note", "--json"], ["g", "--note", "--", "x"]):
        with pytest.raises(InvalidInput, match="--note"):
            full.parse(CREATE, words)
