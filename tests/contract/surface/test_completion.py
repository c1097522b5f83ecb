"""Completion, asked of the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from contextspindle.cli.table import COMMANDS, GLOBAL_OPTIONS


@pytest.fixture
def complete(project):
    """What a shell offers behind words; the last one is being typed."""
    os.symlink(project.path, project.folder / "contextspindle")
    path = os.pathsep.join((str(project.folder), os.environ["PATH"]))

    def asked(shell, *words):
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not on this machine")
        script = project("completion", shell)
        assert script.status == 0
        (project.folder / "script").write_bytes(script.out)
        done = subprocess.run(
            [shell, "-c" if shell != "zsh" else "-fc", ASK[shell], shell, *words]
            if shell != "fish"
            else ["fish", "--no-config", "-c", ASK[shell], *words],
            cwd=project.folder,
            env={**project.environment, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == "", done.stderr
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    return asked


ASK = {
    "bash": """source ./script
        COMP_WORDS=(contextspindle "$@"); COMP_CWORD=$#
        _contextspindle; printf '%s\\n' "${COMPREPLY[@]}" """,
    # Its completion system needs a terminal: what would be described is printed instead.
    "zsh": """compdef() { :; }
        _describe() { print -rl -- ${(P)2%%:*}; }
        _files() { :; }
        source ./script
        words=(contextspindle "$@"); CURRENT=$#words; PREFIX=$words[-1]
        _contextspindle""",
    "fish": """source ./script
        complete -C (string join ' ' -- contextspindle (string escape -- $argv))""",
}
SHELLS = tuple(ASK)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_words_of_commands_are_offered(complete, shell):
    first = complete(shell, "")
    assert {one.words[0] for one in COMMANDS} <= set(first)
    assert set(complete(shell, "memory", "")) == {
        one.words[1] for one in COMMANDS if one.words[0] == "memory"
    }


@pytest.mark.parametrize("shell", SHELLS)
def test_the_options_of_a_command_are_offered_and_no_others(complete, shell):
    command = next(one for one in COMMANDS if one.words == ("task", "update"))
    wanted = {one.flag for one in (*command.options, *GLOBAL_OPTIONS)}
    assert set(complete(shell, "task", "update", "t-3fz81qmk", "--")) == wanted


@pytest.mark.parametrize("shell", SHELLS)
def test_the_values_of_options_and_words_are_offered(complete, create, shell):
    assert complete(shell, "setup", "cl") == ["claude-code"] or shell == "zsh"
    assert "claude-code" in complete(shell, "setup", "cl")
    assert "open" in complete(shell, "task", "list", "--status", "o")
    assert not {"t-", create("one")} & {*complete(shell, "task", "update", "t-1", "--status", "")}
    assert {"bash", "zsh", "fish"} <= {*complete(shell, "completion", "")}
    assert "--write" in complete(shell, "setup", "--")


def test_the_values_that_are_offered_are_those_that_are_taken():
    from contextspindle.cli.completion import SCRIPTS
    from contextspindle.cli.mcp import CHOICES
    from contextspindle.core import fields, task
    from contextspindle.harness import ADAPTERS
    from contextspindle.harness.registration import PROGRAMS
    from contextspindle.trackers import TRACKERS, WRITERS

    taken = {
        "--status": {*task.STATUSES},
        "--harness": {*ADAPTERS},
        "--tools": {*CHOICES},
        "--as": {*WRITERS},
        "--from": {*TRACKERS, "auto"},
        "harness": {*PROGRAMS},
        "shell": {*SCRIPTS},
    }
    for command in COMMANDS:
        for one in (*command.options, *command.positionals):
            name = getattr(one, "flag", one.name)
            if name == "--priority":
                assert [*map(fields.priority, one.choices)]
            elif one.choices:
                assert {*one.choices} == taken[name], command.words


@pytest.mark.parametrize("shell", SHELLS)
def test_ids_of_tasks_are_offered_where_one_is_wanted(complete, create, shell):
    ids = {create("one"), create("two")}
    assert set(complete(shell, "task", "show", "t-")) == ids
    assert not ids & set(complete(shell, "task", "search", "t-"))


def test_a_shell_that_is_not_known_is_refused_with_those_that_are(project):
    done = project("completion", "tcsh", "--json")
    assert done.status == 2
    assert "bash, zsh, fish" in done.error["hint"]
