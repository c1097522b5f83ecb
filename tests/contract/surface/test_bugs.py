"""A bug of ours is one line and a file to send, which holds none of the caller's texts."""

from __future__ import annotations

import json
import stat
import tempfile
from pathlib import Path

import pytest

from contextspindle import __version__
from contextspindle.cli import bug

SECRET = "my private text"


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """Where reports are written."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def failed(text: str = SECRET) -> Exception:
    try:
        return ValueError(int(text))
    except ValueError as error:
        return error


def test_the_line_says_what_happened_and_where_the_report_is(place):
    first, second = bug.report(failed(), ["task", "create", SECRET]).splitlines()
    (report,) = place.iterdir()
    assert first.startswith("contextspindle: this is a bug: ValueError: ")
    assert first.endswith(" [INTERNAL]")
    assert str(report) in second
    assert stat.S_IMODE(report.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "words",
    [
        ["task", "create", SECRET],
        ["task", "--json", "create", SECRET],
        ["--workspace", SECRET, "task", "create", "x"],
        ["init", SECRET],
        [SECRET],
        [SECRET, SECRET],
        ["--note", SECRET],
        [],
    ],
)
def test_the_report_names_the_command_and_the_code_but_no_text_of_the_caller(place, words):
    bug.report(failed(), words)
    (report,) = place.iterdir()
    content = report.read_text()
    assert __version__ in content
    assert "ValueError" in content
    assert "in failed" in content
    assert SECRET not in content
    if "create" in words:
        assert "command: task create\n" in content


def test_what_led_to_an_error_is_reported_too_without_its_texts(place):
    try:
        try:
            int(SECRET)
        except ValueError as error:
            raise KeyError(SECRET) from error
    except KeyError as error:
        bug.report(error, ["task", "list"])
    (report,) = place.iterdir()
    content = report.read_text()
    assert "KeyError" in content
    assert "ValueError" in content
    assert SECRET not in content


def test_with_json_it_is_one_document(place):
    said = bug.report(failed(), ["task", "list", "--json"])
    error = json.loads(said)["error"]
    (report,) = place.iterdir()
    assert error["code"] == "INTERNAL"
    assert "ValueError" in error["message"]
    assert str(report) in error["hint"]
    assert said.count("\n") == 1


def test_where_no_report_can_be_written_it_is_printed(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    said = bug.report(failed(), ["task", "list"])
    assert "this is a bug" in said
    assert "in failed" in said
    assert SECRET not in said.split("\n", 1)[1]
