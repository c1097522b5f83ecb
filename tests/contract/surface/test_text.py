"""Texts go in and come out byte for byte, whatever the locale, the channel or the reader does."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TEXTS = {
    "full-width": "全角（括号）：「引用」，。！？；～－＿",
    "quotes": 'it\'s "both" `and` ‘curly’ “ones”',
    "backslashes": "C:\\new\\table \\\\server \\u0041 \\",
    "line breaks": "one\ntwo\r\nthree\rfour\n\nend",
    "right to left": "עברית ‏و العربية \u202eoverride\u202c",
    "joined emoji": "👩🏽‍🚀 👨‍👩‍👧‍👦 🏳️‍🌈",
    "combining": "e\u0301 é ﬁ ǅ İ ß",
    "controls": "bell\a esc\x1b[31m tab\t del\x7f c1\x85 feff\ufeff sep\u2028\u2029",
    "astral": "\U0010ffff \U0001d11e \ue000 \ufffe",
    "json": '{"a": [1, null, "\\n"]}',
    "options": "--json --note=x -- - 'quoted'",
}


def shown(project, task: str, **env: str) -> dict:
    return project("task", "show", task, "--json", env=env).data


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_text_comes_back_as_it_went_in_as_an_argument_and_from_standard_input(project, text):
    words = ("--quiet", f"--note={text}", "--next", "-", "--", text)
    task = project("task", "create", *words, input=text.encode()).out.decode().strip()
    found = shown(project, task)
    assert [found["goal"], found["notes"][0]["text"], found["next"]] == [text] * 3


def test_a_text_of_60_kilobytes_comes_back_whole(project):
    text = ("0123456789 é 日本 🧵 \\ \" '\n" * 2_500)[:48_000]
    assert 60_000 < len(text.encode()) < 65_536
    task = project("task", "create", text, "--quiet").out.decode().strip()
    project("task", "update", task, "--note", "-", input=text.encode())
    found = shown(project, task)
    assert found["goal"] == found["notes"][0]["text"] == text


def test_standard_input_may_begin_with_a_byte_order_mark(project):
    words = ("task", "create", "-", "--quiet")
    task = project(*words, input=b"\xef\xbb\xbfa goal").out.decode().strip()
    assert shown(project, task)["goal"] == "a goal"


def test_bytes_that_are_not_utf8_become_replacement_characters(project):
    broken = b"a \xff b \xc3 c \xed\xa0\x80 d"
    wanted = broken.decode("utf-8", "replace")
    words = ("--quiet", b"--next=" + broken, "-")
    task = project("task", "create", *words, input=broken).out.decode().strip()
    found = shown(project, task)
    assert (found["goal"], found["next"]) == (wanted, wanted)


def test_a_zero_byte_is_refused_and_nothing_written(project):
    done = project("task", "create", "-", "--json", input=b"a\0b")
    assert (done.status, done.error["code"]) == (2, "INVALID_INPUT")
    assert "zero byte" in done.error["message"]
    assert project("task", "list", "--json").data["total"] == 0


def test_only_one_text_can_come_from_standard_input(project):
    done = project("task", "create", "-", "--note", "-", input=b"text")
    assert done.status == 2
    assert b"Only one text" in done.err


LOCALES = [
    {"LC_ALL": "C"},
    {"LC_ALL": "POSIX", "LANG": "C"},
    {"LANG": "de_DE.ISO-8859-1"},
    {"LC_ALL": "C", "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]
WORDS = "Größe 大小 🧵"


@pytest.mark.parametrize("env", LOCALES, ids=str)
def test_text_is_utf8_whatever_the_locale(project, env):
    env = {**env, "CONTEXTSPINDLE_ACTOR": WORDS}
    words = ("--quiet", "--next", WORDS, "-")
    done = project("task", "create", *words, input=WORDS.encode(), env=env)
    task = done.out.decode().strip()
    found = shown(project, task, **env)
    assert (found["goal"], found["next"], found["last_actor"]) == (WORDS,) * 3
    for words in (("show", task), ("list",), ("context", task), ("history", task)):
        assert WORDS.encode() in project("task", *words, env=env).out
    missing = project("task", "list", "--owner", WORDS, "--parent", WORDS, env=env)
    assert WORDS.encode() in missing.err


@pytest.fixture
def latin(tmp_path):
    """An environment whose locale really is ISO 8859-1."""
    if not shutil.which("localedef"):
        pytest.skip("needs localedef to make a locale that is not UTF-8")
    made = tmp_path / "locales"
    made.mkdir()
    command = ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(made / "de_DE.ISO-8859-1")]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this system has no sources for the locale de_DE.ISO-8859-1")
    return {"LOCPATH": str(made), "LC_ALL": "de_DE.ISO-8859-1"}


def test_text_and_paths_are_utf8_where_the_locale_is_really_another(project, latin):
    folder = project.folder / "Größe 大小"
    folder.mkdir()
    env = {**latin, "CONTEXTSPINDLE_ACTOR": WORDS}
    assert project("init", cwd=folder, env=env).status == 0
    task = project("task", "create", WORDS, "--quiet", cwd=folder, env=env).out.decode().strip()
    found = project("task", "show", task, "--json", cwd=folder, env=env).data
    assert (found["goal"], found["last_actor"]) == (WORDS, WORDS)


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC-14", "", "nonsense"])
def test_the_time_zone_does_not_matter(project, task, zone):
    here = shown(project, task, TZ="UTC")
    assert shown(project, task, TZ=zone) == here
    assert here["created"].endswith("Z")
    assert project("task", "context", task, env={"TZ": zone}).out.count(b"Ship it") == 1


# -- what reads it, or does not


def through(project, shell: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """The command within a line of shell, in which "$@" is the command."""
    return subprocess.run(
        ["sh", "-c", shell, "sh", project.path, *words],
        cwd=project.folder,
        env=project.environment,
        capture_output=True,
    )


def test_a_reader_that_goes_away_leaves_no_traceback(project):
    task = project("task", "create", "x" * 60_000, "--quiet").out.decode().strip()
    for number in range(8):
        project("task", "update", task, "--note", f"{number}" * 60_000)
    whole = project("task", "show", task).out
    assert len(whole) > 65_536 * 4  # more than a pipe holds
    for shell in ('"$@" | head -n 1', '"$@" | true', '"$@" 2>&1 | head -c 10'):
        done = through(project, shell, "task", "show", task)
        assert done.stderr == b""
        assert whole.startswith(done.stdout)
    done = through(project, '("$@"; echo $? >&2) | true', "task", "show", task)
    assert done.stderr == b"141\n"


def test_an_error_whose_reader_went_away_still_has_its_exit_status(project):
    for shell in ('("$@" 2>&1; echo $? >&3) 3>status | true', '"$@" 2>&-; echo $? >status'):
        through(project, shell, "task", "show", "t-none")
        assert (project.folder / "status").read_text() == "3\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_said_and_is_no_bug(project, task):
    for shell, why in (('"$@" >/dev/full', b"No space left"), ('"$@" >&-', b"Bad file descriptor")):
        done = through(project, shell, "task", "update", task, "--note", shell)
        assert done.returncode == 7
        assert why in done.stderr
        assert b"Standard output cannot be written" in done.stderr
        assert b"bug" not in done.stderr
    assert shown(project, task)["version"] == 3  # what was done stays done, and the hint says so


def test_no_colour_and_no_control_sequence_is_ever_printed(project):
    task = project("task", "create", "\x1b[31mred\x1b[0m", "--quiet").out.decode().strip()
    for words in (("show", task), ("list",), ("context", task), ("history", task), ("inbox",)):
        assert b"\x1b" not in project("task", *words, env={"TERM": "xterm-256color"}).out


def test_nothing_that_is_printed_steers_the_terminal_be_it_a_path_or_a_session(project, transcript):
    odd = "odd\x1b[31m\u202e"
    (project.folder / odd).mkdir()
    source = project.folder / f"{odd}.jsonl"
    source.write_bytes(Path(transcript).read_bytes())
    named = ("--session", odd)
    for words in (
        ("init", odd),
        ("fuse", "save", "--transcript", source.name, *named),
        ("fuse", "status"),
        ("fuse", "list"),
        ("fuse", "show", *named),
        ("fuse", "show", "--session", "no\x1b[31m"),
        ("fuse", "source", "99", *named),
        ("fuse", "restore", "--plain", *named),
        ("backup", f"{odd}-backup"),
        ("backup", f"{odd}-backup"),
        ("export", f"{odd}-export"),
        ("import", f"{odd}-none"),
        ("onboard", f"{odd}.md", "--write"),
        ("doctor",),
        ("task", "list", "--workspace", f"{odd}-none"),
    ):
        done = project(*words)
        assert done.out + done.err, words
        assert b"\x1b" not in done.out + done.err, words
        assert "\u202e" not in (done.out + done.err).decode(), words
