"""How a call may be written, what is suggested for one that is not right, and what help shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from contextspindle import __version__
from contextspindle.cli import full, table

ID = re.compile(r"t-[0-9a-hjkmnp-tv-z]{8}")


def test_the_workspace_may_be_named_before_between_and_behind_the_words(project, task):
    root, elsewhere = str(project.folder), Path("/")
    for words in (
        ("--workspace", root, "task", "list"),
        (f"--workspace={root}", "task", "list"),
        ("task", "--workspace", root, "list"),
        ("task", "list", "--workspace", root),
        ("task", "list", f"--workspace={root}"),
        ("--json", "task", "--workspace", root, "list", "--quiet"),
    ):
        done = project(*words, cwd=elsewhere)
        assert (done.status, task in done.out.decode()) == (0, True), words


def test_a_named_workspace_wins_over_the_environment_and_that_over_the_nearest(project, task):
    root = str(project.folder)
    for name in ("other", "third"):
        (project.folder / name).mkdir()
        project("init", ".", cwd=project.folder / name)
    third = project.folder / "third"
    env = {"CONTEXTSPINDLE_WORKSPACE": root}
    assert task in project("task", "list", cwd=third, env=env).out.decode()
    named = project("task", "list", "--workspace", "../other", cwd=third, env=env)
    assert named.out.decode().startswith("There is nothing here yet. 'contextspindle task create")
    assert task not in project("task", "list", cwd=third).out.decode()


def test_quiet_prints_the_id_alone(project, task):
    created = project("task", "create", "g", "--quiet").out.decode()
    assert ID.fullmatch(created.removesuffix("\n"))
    for verb in ("show", "history"):
        assert project("task", verb, task, "--quiet").out.decode() == f"{task}\n"
    assert project("task", "update", task, "--note", "n", "--quiet").out.decode() == f"{task}\n"
    assert project("task", "list", "--quiet").out.decode() == created + f"{task}\n"


@pytest.mark.parametrize("words", ["task context", "task board", "prime", "fuse restore --plain"])
def test_quiet_takes_nothing_away_where_the_help_does_not_offer_it(project, task, words):
    given = [*words.split(), *([task] if words == "task context" else [])]
    plain, quiet = project(*given), project(*given, "--quiet")
    assert plain.out == quiet.out != b""
    assert "--quiet" not in project(*words.split()[:2], "--help").out.decode()


def test_numbers_follow_as_plain_words(project):
    ids = [project("task", "create", f"g{n}", "--quiet").out.decode().strip() for n in range(5)]
    newest_first = ids[::-1]
    for words, wanted in (
        (("inbox", "2"), newest_first[:2]),
        (("inbox", "2", "3"), newest_first[3:]),
        (("list", "1", "3"), newest_first[1:4]),
        (("list", "4", "--status", "open", "1"), newest_first[4:]),
    ):
        found = project("task", *words, "--quiet").out.decode().split()
        assert sorted(found) == sorted(wanted) if words[0] == "inbox" else found == wanted
    assert len(project("task", "context", ids[0], "300").out) <= 300
    project("task", "update", ids[0], "--note", "n")
    assert project("task", "history", ids[0], "2", "1").out.decode().startswith("version 2 ")


def test_the_command_for_the_rest_of_a_list_goes_on_with_the_same_list(project):
    for owner in ("it's {me}", "you", "it's {me}", "it's {me}"):
        project("task", "create", "g", "--owner", owner)
    words = ["task", "list", "0", "1", "--owner", "it's {me}", "--status", "open"]
    found = []
    while words:
        lines = project(*words).out.decode().splitlines()
        found.append(lines[0].split()[0])
        words = shlex.split(lines[1].partition(" more: contextspindle ")[2]) if lines[1:] else []
    assert len(set(found)) == len(found) == 3


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("task", "lst"), "Did you mean 'contextspindle task list'?"),
        (("tasks", "inbox"), "Did you mean 'contextspindle task inbox'?"),
        (("inbox",), "Did you mean 'contextspindle task inbox'?"),
        (("task", "craete", "a goal"), "Did you mean 'contextspindle task create'?"),
        (("init", "--acept"), "Did you mean --accept?"),
        (("task", "create", "g", "--critrion=x"), "Did you mean --criterion?"),
        (("task", "list", "--jsn"), "Did you mean --json?"),
        (("zzzzzz",), "See 'contextspindle --help'."),
        (("task", "list", "--zzzzzz"), "See 'contextspindle task list --help'."),
    ],
)
def test_an_unknown_word_is_answered_with_the_nearest(command, words, hint):
    done = command(*words)
    assert done.status == 2
    assert done.err.decode().splitlines()[-1] == hint


@pytest.mark.parametrize(
    "words",
    [
        ("task", "create"),
        ("task", "create", "g", "another goal"),
        ("task", "create", "g", "--note"),
        ("task", "create", "g", "-n", "x"),
        ("task", "list", "-1"),
        ("task", "list", "1.5"),
        ("task", "list", "5", "5", "5"),
        ("task", "list", "9" * 30),
        ("task", "list", "--json=1"),
        ("task", "update", "t-1", "--expect", "x"),
        ("task", "update", "t-1", "--for", "1"),
        ("",),
        ("--",),
        ("--workspace",),
    ],
)
def test_a_call_that_is_not_right_ends_with_2_and_a_hint(project, words):
    done = project(*words)
    assert (done.status, done.out) == (2, b"")
    first, hint = done.err.decode().splitlines()
    assert first.endswith(" [INVALID_INPUT]")
    assert hint


def test_behind_two_dashes_a_text_may_look_like_an_option(project):
    task = project("task", "create", "--quiet", "--", "--json").out.decode().strip()
    assert project("task", "show", task, "--json").data["goal"] == "--json"


# -- help


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_help_without_a_command_lists_every_command(command, words):
    done = command(*words)
    assert (done.status, done.err) == (0, b"")
    for one in table.COMMANDS:
        assert f"  {' '.join(one.words)} " in done.out.decode()
    for title, _ in full.TOPICS:
        assert f"\n{title}:\n" in done.out.decode()


def test_every_command_stands_below_one_heading():
    listed = [one for _, commands in full.topics() for one in commands]
    assert sorted(listed) == sorted(table.COMMANDS)
    assert all(commands for _, commands in full.topics())


@pytest.mark.parametrize("words", [("task", "--help"), ("help", "task"), ("task", "-h")])
def test_help_for_a_noun_lists_its_commands_and_no_others(command, words):
    said = command(*words).out.decode()
    assert "task update" in said
    assert "fuse save" not in said


@pytest.mark.parametrize("one", table.COMMANDS, ids=lambda one: " ".join(one.words))
def test_every_command_has_help_with_its_options_and_examples(command, one):
    for words in (
        (*one.words, "--help"),
        ("help", *one.words),
        ("--workspace", "x", *one.words, "-h"),
    ):
        done = command(*words)
        assert (done.status, done.err) == (0, b"")
        said = done.out.decode()
        assert said.startswith(f"usage: contextspindle {' '.join(one.words)}")
        if any(place.kind == "rest" for place in one.positionals):
            assert said.index("[OPTION]...") < said.index(" -- COMMAND...")
        assert one.summary in said
        for option in (*one.options, *one.general()):
            assert f"  {option.flag}" in said
        assert ("  --quiet" in said) == bool(one.quiet)
        for example in one.examples:
            assert f"  {example}\n" in said
        assert max(map(len, said.splitlines())) <= 100


def test_the_version_is_printed(command):
    done = command("--version")
    assert (done.status, done.out.decode()) == (0, f"contextspindle {__version__}\n")


def test_a_task_that_is_refused_at_its_creation_is_named_by_no_id(project):
    error = project("task", "create", "x", "--status", "done", "--json").error
    assert error["code"] == "DONE_REFUSED"
    assert not ID.search(error["message"])
    assert "task" not in error["details"]


def test_an_update_without_anything_to_change_is_refused(project, task):
    for more in ((), ("--expect", "1")):
        done = project("task", "update", task, *more, "--json")
        assert (done.status, done.error["code"]) == (2, "INVALID_INPUT")
        assert "nothing to change" in done.error["message"]


def test_where_nothing_above_is_looked_at_the_folder_is_said_once(command):
    (command.folder / ".git").mkdir()
    message = command("task", "list", "--json").error["message"]
    assert message.count(str(command.folder)) == 1


@pytest.mark.parametrize("pointer", ["2", "L2", "[L2]", "l2"])
def test_a_pointer_is_taken_as_it_is_printed(project, transcript, pointer):
    error = project("fuse", "source", pointer, "--json").error
    assert error["code"] == "SNAPSHOT_NOT_FOUND"
    assert project("fuse", "source", f"{pointer}x", "--json").error["code"] == "INVALID_INPUT"


def test_an_empty_key_is_refused_where_it_would_promise_what_it_does_not_keep(project):
    done = project("task", "create", "Mend it", "--key", "", "--json")
    assert (done.status, done.error["code"]) == (2, "INVALID_INPUT")
    assert done.error["message"] == "The idempotency key has 0 characters"
    assert project("task", "list", "--json").data["total"] == 0


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("task", "inbox", "--workspace", ""), "--workspace"),
        (("task", "inbox", "--workspace="), "--workspace"),
        (("task", "prove", "0", "--covers", "", "--", "true"), "--covers"),
        (("init", ""), "PATH"),
        (("backup", ""), "FOLDER"),
        (("restore", ""), "BACKUP"),
        (("import", ""), "FILE"),
        (("export", ""), "FILE"),
        (("memory", "import", ""), "FILE"),
        (("fuse", "save", "--transcript", ""), "--transcript"),
    ],
)
def test_an_empty_path_is_refused_and_not_taken_for_one_that_was_left_out(project, words, shown):
    done = (
        project(*words, "--json") if "--" not in words else project(words[0], "--json", *words[1:])
    )
    assert (done.status, done.error["code"]) == (2, "INVALID_INPUT")
    assert done.error["message"] == f"{shown} is empty: it names no path"
