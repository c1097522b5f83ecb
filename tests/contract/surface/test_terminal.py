"""What a person at a terminal sees: tables that fit, colours of ours alone, plain where asked."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from contextspindle.cli import face, terminal
from tests.contract.surface.conftest import width_of
from tests.databases import by_hand

ODD = "[red]as it stands[/red] :rocket: ログイン画面 🚀 é\x1b[31m\x07\u202e\x9b2J " + "x" * 90


@pytest.fixture
def busy(project, create) -> dict[str, str]:
    """A project with something of everything, texts that are hard to show among it."""
    whole = create("Ship the login page", "--criterion", "seen", "--status", "active", "--label=ui")
    part = create("Write the form", "--parent", whole, "--next", ODD, "--owner", ODD)
    odd = create(ODD, "--blocker", ODD, "--status", "blocked", "--parent", whole)
    project("task", "update", odd, "--priority", "1")
    create("Choose a store", "--parent", part, "--depends-on", odd, "--priority", "0")
    done = create("Pick a font", "--criterion", "seen")
    project("task", "update", done, "--evidence", ODD, "--status", "done")
    project("task", "update", whole, "--decision", ODD, "--note", f"one\n{ODD}", "--evidence", ODD)
    return {"WHOLE": whole, "PART": part}


VIEWS = [
    ("task", "board"),
    ("task", "tree"),
    ("task", "tree", "PART"),
    ("task", "log"),
    ("task", "list", "0", "2"),
    ("task", "inbox"),
    ("task", "ready"),
    ("task", "show", "WHOLE"),
    ("task", "history", "WHOLE"),
    ("task", "search", "login"),
    ("verify",),
    ("doctor",),
]


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_every_picture_fits_its_terminal_and_holds_no_control_character_of_a_text(
    screen, busy, columns
):
    for words in VIEWS:
        done = screen(*[busy.get(word, word) for word in words], columns=columns)
        assert (done.status, done.err) == (0, b""), words
        assert "\x1b[" in done.sent, words
        assert 0 < done.columns() <= columns, words


def test_markup_in_a_text_is_shown_as_it_stands(screen, create):
    task = create("[red]alert[/red] [link=https://example.org]x[/link] :rocket:")
    for verb in ("board", "tree", "log", "list", "show", "history"):
        words = (verb, task) if verb in ("show", "history") else (verb,)
        shown = " ".join(" ".join(screen("task", *words, columns=99).lines).split())
        assert "[red]alert[/red] [link=https://example.org]x[/link] :rocket:" in shown, verb


def test_without_a_terminal_or_colours_there_is_the_plain_text(project, screen, busy):
    for words in (("task", "board"), ("task", "tree"), ("task", "inbox"), ("task", "show", "PART")):
        words = [busy.get(word, word) for word in words]
        plain = project(*words).out.decode()
        assert "\x1b" not in plain
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            assert screen(*words, env=env).sent.replace("\r\n", "\n") == plain
        assert screen(*words, env={"NO_COLOR": ""}).sent.replace("\r\n", "\n") != plain


def test_a_document_and_an_id_are_the_same_on_a_terminal(project, screen, busy):
    for words in ("task inbox --json", "task inbox --quiet", "task board --quiet", "--json verify"):
        words = words.split()
        assert screen(*words).sent.replace("\r\n", "\n") == project(*words).out.decode()


def test_a_board_stands_side_by_side_where_there_is_room(screen, busy):
    (head,) = (line for line in screen("task", "board", columns=120).lines if "active" in line)
    assert all(word in head for word in ("open", "active", "blocked", "recently done"))
    narrow = screen("task", "board", columns=70).lines
    assert [line for line in narrow if line and line[0] in "○●■✓"] == [
        "○ open 2",
        "● active 1",
        "■ blocked 1",
        "✓ recently done 1",
    ]


def test_what_is_empty_says_what_to_do_next(project, screen, create):
    create_one = "contextspindle task create GOAL"
    for words, told in [
        (("task", "board"), create_one),
        (("task", "tree"), create_one),
        (("task", "log"), create_one),
        (("task", "log", "--by", "bob"), "No change by 'bob' is among the latest 10,000."),
        (("task", "list"), create_one),
        (("task", "list", "--owner", "bob"), "contextspindle task list"),
        (("task", "inbox"), create_one),
        (("task", "ready"), "contextspindle task ready --explain ID"),
        (("task", "search", "nothing"), "Every word must be there"),
    ]:
        assert told in " ".join(screen(*words, columns=200).lines), words
    task = create("x")
    assert f"{create_one} --parent ID" in screen("task", "children", task).lines[0]


def test_findings_of_verify_are_a_table(project, screen, create):
    task = create("x")
    ledger = project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"
    with by_hand(ledger) as raw:
        raw.execute("UPDATE tasks SET owner = 'nobody'")
    done = screen("verify", columns=80)
    assert (done.status, done.lines[0].split()) == (7, ["Kind", "Task", "What", "is", "wrong"])
    assert any(task in line for line in done.lines)
    assert done.columns() <= 80


# -- how far long work is


def test_a_meter_tells_how_far_work_is_and_leaves_nothing_behind(capfd):
    with terminal.Meter("looked at", 2_000, patience=0) as tell:
        tell(1_000)
    out, err = capfd.readouterr()
    assert out == ""
    assert "1,000 of 2,000 tasks looked at" in err
    assert err.startswith("\r\x1b[2K")
    assert err.endswith("\r\x1b[2K")
    assert "\n" not in err


def test_a_meter_of_short_work_says_nothing(capfd):
    with terminal.Meter("looked at", 2_000, patience=3_600) as tell:
        for count in range(2_000):
            tell(count)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("width", [20, 40, 60, 200])
@pytest.mark.parametrize("total", [0, 1_000_000])
def test_a_meter_never_fills_its_line(width, total):
    for count in (0, 1, 999_999, 2_000_000):
        line = face.meter("looked at", count, total, 12.3, width)
        shown = re.sub(r"\x1b\[[0-9;]*m", "", line)
        assert width_of(shown) < width


@pytest.mark.parametrize("columns", [32, 60, 200])
def test_help_keeps_to_the_width_of_the_terminal(screen, columns):
    for words in ((), ("task", "update"), ("setup",)):
        lines = screen(*words, "--help", columns=columns).lines
        lines = lines[: lines.index("examples:")] if words else lines
        assert max(map(len, lines)) <= min(columns, 88), words


def test_a_board_keeps_to_a_narrow_terminal(screen, busy):
    assert max(map(width_of, screen("task", "board", columns=28).lines)) <= 28


def test_a_person_who_starts_the_server_is_told_whom_it_waits_for(project):
    controller, terminal = os.openpty()
    process = subprocess.Popen(
        [project.path, "mcp"],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=project.folder,
        env=project.environment,
    )
    os.close(terminal)
    try:
        assert b"contextspindle setup --mcp" in process.stderr.readline()
        os.write(controller, b"\x04")  # the end of its input, as a person types it
        assert process.communicate(timeout=30)[0] == b""
    finally:
        process.kill()
        process.wait()
        os.close(controller)
