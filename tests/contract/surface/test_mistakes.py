"""What is said to somebody who does not know the commands yet: what is wrong, and what to write."""

from __future__ import annotations

import re
import shlex

import pytest

from contextspindle.cli import full, mistakes, parse, table
from contextspindle.errors import InvalidInput


def said(*words: str) -> InvalidInput:
    """The error for a call that no command takes, made as the command line makes it."""
    given = [*words]
    try:
        command, rest = parse.command_of(given)
    except parse.NotPlain:
        return mistakes.no_command(given)
    with pytest.raises(InvalidInput) as caught:
        full.parse(command, rest)
    return caught.value


# -- options without a command


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("-v", "contextspindle has no option -v", "Did you mean --version?"),
        ("-V", "contextspindle has no option -V", "Did you mean --version?"),
        ("-v task list", "contextspindle has no option -v", "Did you mean --version?"),
        ("--foo", "contextspindle has no option --foo", "See 'contextspindle --help'."),
        ("--foo=1 zzz", "There is no command 'zzz'", "See 'contextspindle --help'."),
        (
            "task update t-1 --expected-version 3",
            "contextspindle task update has no option --expected-version",
            "Did you mean --expect?",
        ),
        ("--jsn", "contextspindle has no option --jsn", "Did you mean --json?"),
        ("--json", "There is no command beside '--json'", "See 'contextspindle --help'."),
        ("--workspace", "There is no command beside '--workspace'", "See 'contextspindle --help'."),
        (
            "--workspace /x",
            "There is no command beside '--workspace'",
            "See 'contextspindle --help'.",
        ),
        ("--version --json", "--version stands alone", "Write: contextspindle --version"),
        ("task -x", "contextspindle has no option -x", "See 'contextspindle --help'."),
    ],
)
def test_an_option_without_a_command_is_named(words, message, hint):
    error = said(*words.split())
    assert (error.message, error.hint) == (message, hint)


def test_help_lists_the_option_that_prints_the_version():
    assert "contextspindle --version" in full.help_text([])


# -- words that are no command


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("upgrade", ()),
        ("task frobnicate", ()),
        ("task lst", ("task list",)),
        ("tsk list", ("task list",)),
        ("tasks", ("task list",)),
        ("tasks create", ("task create",)),
        ("inbox", ("task inbox",)),
        ("version", ("--version",)),
        ("status", ("doctor", "fuse status", "task board")),
        ("done", ("task update ID --status done",)),
        ("task done t-1", ("task update ID --status done",)),
        ("task delete", ("task update ID --status cancelled --decision TEXT",)),
        ("task rm", ("task update ID --status cancelled --decision TEXT",)),
        ("memory stats", ("stats",)),
        ("memory list", ("recall QUERY",)),
        ("fuse log", ("fuse list",)),
        ("stat", ("stats",)),
    ],
)
def test_only_what_is_near_or_does_what_is_meant_is_suggested(words, near):
    hint = said(*words.split()).hint
    if near:
        named = " or ".join(f"'contextspindle {one}'" for one in near)
        assert hint == f"Did you mean {named}?"
    else:
        assert hint.startswith("See 'contextspindle ")


def test_every_suggestion_is_a_call_that_its_command_takes():
    for words in mistakes.MEANT.values():
        for suggestion in {one for found in words.values() for one in found} - {"--version"}:
            command, rest = parse.command_of(shlex.split(suggestion))
            assert full.parse(command, rest), suggestion


def test_a_word_that_is_a_command_is_never_taken_for_another():
    for noun, words in mistakes.MEANT.items():
        for word in words:
            assert parse.find([noun, word] if noun else [word])[0] is None, word


@pytest.mark.parametrize("noun", ["task", "fuse", "memory"])
def test_a_noun_alone_is_answered_with_its_commands(noun):
    error = said(noun)
    assert f"'contextspindle {noun}'" in error.message
    assert error.hint == full.help_text([noun]).rstrip()
    for one in table.COMMANDS:
        assert (f"  {' '.join(one.words)} " in error.hint) == (one.words[0] == noun)


# -- words that have no place


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("task create Fix the bug", "no place for 'the'", "task create 'Fix the bug'."),
        ("task create it's red", "no place for 'red'", "task create 'it'\\''s red'."),
        ("task search child one", "LIMIT: 'one' is not a", "task search 'child one'."),
        ("recall staging reset", "LIMIT: 'reset' is not a", "recall 'staging reset'."),
        ("remember a b", "no place for 'b'", "remember 'a b'."),
        ("setup claude-code gemini", "no place for 'gemini'", "It takes one HARNESS only."),
        ("stats foo", "no place for 'foo'", "It takes options only."),
        ("task list 5 5 5", "no place for '5'", "It takes OFFSET, LIMIT."),
    ],
)
def test_words_too_many_are_answered_with_how_to_write_it(words, message, hint):
    error = said(*words.split(" "))
    assert message in error.message
    assert f"{hint} See 'contextspindle " in error.hint


@pytest.mark.parametrize("words", ["ls", "ls -la", "pytest --maxfail=1", "--for 1 ls"])
def test_a_command_to_prove_with_is_told_where_it_stands_whatever_its_options(words):
    error = said("task", "prove", "t-1", *words.split())
    assert error.message == "COMMAND is missing: it stands behind '--'"
    assert "task prove t-3fz81qmk -- npm test" in error.hint


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("task list -1", "OFFSET: -1 is out of range (0 or more)"),
        ("task list 0 -1", "LIMIT: -1 is out of range (1 to 100)"),
        ("task update t-1 --for -1", "--for: -1 is out of range (1 or more)"),
        ("task claim t-1 --lease=-5", "--lease: -5 is out of range (1 to 604,800)"),
        ("fuse prune --keep-days -1", "--keep-days: -1 is out of range (0 or more)"),
        ("task list 9999999999999999999", "OFFSET: 9999999999999999999 is out of range"),
        ("task list 1.5", "OFFSET: '1.5' is not a whole number"),
        ("task list --json=1", "--json takes no value"),
        ("task create g --note", "--note needs its TEXT"),
        ("task create g --note -x", "--note needs its TEXT: '-x' looks like an option"),
        ("task create g -n x", "contextspindle task create has no option -n"),
    ],
)
def test_a_value_that_is_not_right_is_named_with_what_it_can_be(words, message):
    assert said(*words.split()).message.startswith(message)


def test_the_range_of_a_number_is_the_one_that_its_help_tells():
    for command in table.COMMANDS:
        for one in (*command.positionals, *command.options):
            if one.kind == "number" and re.search(r"\d to \d", one.help):
                assert one.bounds in one.help, (command.words, one)


# -- errors of actions


def test_the_help_that_an_error_leads_to_is_named(project, task):
    done = project("task", "update", task, "--for", "1")
    assert done.err.endswith(b"\nSee 'contextspindle task update --help'.\n")


def test_a_date_that_is_none_is_shown_as_it_was_typed(project):
    for given in ("yesterday", "2026-13-40", "2026-11-30T25:00"):
        assert repr(given) in project("remember", "x", "--at", given).err.decode()


def test_a_start_of_an_id_is_answered_with_the_whole_one_where_writing_needs_it(project, task):
    other = project("task", "create", "b", "--quiet").out.decode().strip()
    start = next(task[:n] for n in range(3, 11) if not other.startswith(task[:n]))
    for words in (
        ("update", start, "--note", "n"),
        ("update", start, "--status", "done"),
        ("claim", start),
        ("release", start),
        ("prove", start, "--", "true"),
    ):
        done = project("--json", "task", *words)
        assert (done.status, done.error["code"]) == (3, "TASK_NOT_FOUND"), words
        assert (start in done.error["message"], task in done.error["message"]) == (True, True)
        assert done.error["hint"] == f"Give the whole id: {task}"
    assert project("task", "show", task, "--json").data["version"] == 1
    done = project("task", "update", "t-", "--note", "n", "--json")
    assert done.status == 2


def test_a_page_behind_the_end_says_so_on_every_list(project, task):
    for words in (
        ("list", "10"),
        ("inbox", "5", "10"),
        ("ready", "5", "10"),
        ("search", "ship", "5", "10"),
    ):
        assert project("task", *words).out.decode() == "No task from 10 on; 1 in all.\n", words
    assert project("task", "children", task, "10").out.decode() == "It has no parts.\n"
    project("task", "create", "part", "--parent", task)
    shown = project("task", "children", task, "10").out.decode()
    assert shown == "No task from 10 on; 1 in all.\n"


# -- paths in hints


def test_a_hint_about_a_folder_can_be_followed(project, tmp_path_factory):
    place = tmp_path_factory.mktemp("it's a place")
    nowhere, file = place / "nowhere", place / "file"
    file.write_text("x")
    for path in (nowhere, file):
        for words in (("verify",), ("task", "list"), ("fuse", "status")):
            done = project(*words, "--workspace", str(path))
            assert done.status == 3
            assert f"{path} is not a folder" in done.err.decode()
            assert "contextspindle init" not in done.err.decode()
    hint = project("verify", "--workspace", str(place), "--json").error["hint"]
    call = shlex.split(hint.partition("contextspindle ")[2])
    assert call == ["init", str(place)]
    assert project(*call).status == 0
    assert project("verify", "--workspace", str(place)).status == 0


# -- words of ours, not of Python's


def test_no_words_of_python_are_in_what_a_user_is_told(project, task):
    broken = project.folder / "broken.json"
    broken.write_bytes(b"\xff\xfe{")
    (project.folder / "object.json").write_text("{a}\n")
    (project.folder / "empty").mkdir()
    calls = {
        ("task", "prove", task, "--", "no-such-command"): "No such file or directory",
        ("task", "prove", task, "--", "./broken.json"): "Permission denied",
        ("import", "object.json"): "line 1, column 2 is not JSON",
        ("import", "broken.json"): "byte 1 is not UTF-8",
        ("import", "object.json", "--from", "taskmaster"): "line 1, column 2 is not JSON",
        ("import", "broken.json", "--from", "taskmaster"): "byte 1 is not UTF-8",
        ("restore", "empty"): "No such file or directory",
    }
    for words, wanted in calls.items():
        told = project(*words).err.decode()
        assert wanted in told, words
        assert not any(one in told for one in ("Errno", "codec", "Expecting")), told
    told = project("purge", input=b"a\xff").err.decode()
    assert "byte 2 is not UTF-8" in told
    settings = project.folder / ".contextspindle" / "config.json"
    for content, wanted in (('{"actor": 1}', "'actor' must be text"), ("{a}", "is not JSON: line")):
        settings.write_text(content)
        assert wanted in project("task", "list").err.decode()
