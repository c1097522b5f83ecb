"""Trying a stored hook: run from a bare shell, within a time, and nothing of it left running."""

from __future__ import annotations

import json
import os
import select

import pytest

from contextspindle.harness import trial

ANSWER = '{"hookSpecificOutput":{"additionalContext":"told","hookEventName":"SessionStart"}}'


@pytest.fixture
def run(tmp_path):
    def tried(command: str, **more) -> trial.Answer:
        return trial.run(command, {"cwd": "here"}, str(tmp_path), home="", **more)

    return tried


def test_a_hook_gets_the_payload_and_nothing_of_this_environment(run, monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_OF_THIS_SHELL", "x")
    answer = run("cat; env")
    assert answer.status == 0
    payload, _, rest = answer.out.partition("}")
    assert json.loads(payload + "}") == {"cwd": "here"}
    environ = dict(line.split("=", 1) for line in rest.splitlines() if "=" in line)
    assert "SECRET_OF_THIS_SHELL" not in environ
    assert "HOME" not in environ
    assert environ["PATH"] == trial.BARE_PATH
    assert environ["CONTEXTSPINDLE_WORKSPACE"] == str(tmp_path)


def test_a_hook_that_does_not_end_is_stopped_with_all_that_it_started(run, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    answer = run(f"sleep 60 > '{pipe}' & wait", seconds=0.5)
    assert answer.status is None
    assert "did not end" in answer.complaint()
    # Whoever holds the other end of the pipe is gone, or will be at once.
    assert select.select([reader], [], [], 10)[0] == [reader]
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_what_a_hook_leaves_in_the_background_does_not_keep_the_trial(run):
    answer = run("sleep 60 & echo done")
    assert (answer.status, answer.out) == (0, "done\n")


def test_how_it_ended_is_told_with_its_last_words(run):
    assert run("true").complaint() == ""
    assert run("echo no >&2; exit 3").complaint() == "it ended with status 3: no"
    assert "status 127" in run(f"{os.sep}does/not/exist").complaint()


@pytest.mark.parametrize(
    ("out", "told", "foreign"),
    [
        (ANSWER + "\n", "told", ""),
        ("Welcome\n" + ANSWER, "told", "Welcome\n"),
        ("", "", ""),
        ("Welcome", "", "Welcome"),
        (ANSWER + "\nBye", "", ANSWER + "\nBye"),
        ('{"hookSpecificOutput":[]}', "", '{"hookSpecificOutput":[]}'),
    ],
)
def test_an_answer_is_told_apart_from_what_stands_around_it(out, told, foreign):
    assert trial.told(out) == (told, foreign)
