"""The incident file: never raises, never grows without end, never shows a damaged line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from contextspindle.store.incidents import LIMIT, Incidents


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "incidents.jsonl"


@pytest.fixture
def incidents(path: Path) -> Incidents:
    return Incidents(str(path))


def test_the_newest_come_last_and_no_more_than_asked(incidents):
    for number in range(5):
        incidents.add(number, f"number {number}", session="s")
    assert [one["what"] for one in incidents.newest(2)] == ["number 3", "number 4"]
    assert len(incidents.newest(20)) == 5
    assert incidents.newest(1) == [{"at": 4, "what": "number 4", "session": "s"}]


def test_without_a_file_there_are_none(incidents, path):
    assert incidents.newest(5) == []
    assert not path.exists()


def test_details_without_a_value_are_left_out_and_long_ones_cut(incidents):
    incidents.add(1, "w" * 5_000, session="", event=None, path="p" * 5_000)
    (found,) = incidents.newest(1)
    assert found == {"at": 1, "what": "w" * 2_000, "path": "p" * 500}


def test_any_text_can_be_written_on_one_line(incidents, path):
    incidents.add(1, "two\nlines \ud800 \0 \u2028", detail="\ud83e\uddf5 \udcff")
    assert path.read_bytes().count(b"\n") == 1
    (found,) = incidents.newest(1)
    assert found["what"] == "two\nlines \ufffd \0 \u2028"
    assert found["detail"] == "🧵 \ufffd"


@pytest.mark.parametrize(
    "damage", [b"{torn", b"\xff\xfe", b"[1]", b"7", b"null", b'"text"', b"{}", b"[" * 9_999]
)
def test_a_damaged_line_is_passed_over(incidents, path, damage):
    incidents.add(1, "before")
    with path.open("ab") as file:
        file.write(damage + b"\n")
    incidents.add(2, "behind")
    assert [one["what"] for one in incidents.newest(5)] == ["before", "behind"]


def test_a_line_that_was_cut_off_takes_only_itself_along(incidents, path):
    incidents.add(1, "whole")
    with path.open("ab") as file:
        file.write(b'{"at":2,"what":"torn')
    incidents.add(3, "next")
    incidents.add(4, "last")
    assert [one["what"] for one in incidents.newest(5)] == ["whole", "next", "last"]


def test_the_older_half_goes_when_the_file_has_grown(incidents, path):
    line = json.dumps({"at": 1, "what": "old", "detail": "x" * 400}) + "\n"
    path.write_text(line * (LIMIT // len(line)))
    incidents.add(1, "y" * 1_000)
    incidents.add(2, "newest")
    assert path.stat().st_size < LIMIT * 0.6
    found = incidents.newest(10_000)
    assert found[-1]["what"] == "newest"
    assert all(one["what"] in ("old", "y" * 1_000, "newest") for one in found)
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("place", ["missing folder", "folder", "link", "full"])
def test_an_incident_that_cannot_be_written_raises_nothing(tmp_path, place):
    path = tmp_path / "incidents.jsonl"
    if place == "missing folder":
        path = tmp_path / "missing" / "incidents.jsonl"
    elif place == "folder":
        path.mkdir()
    elif place == "link":
        path.symlink_to(tmp_path / "target")
    elif os.path.exists("/dev/full"):
        path = Path("/dev/full")
    Incidents(str(path)).add(1, "something")
    assert not (tmp_path / "missing").exists()
    assert not (tmp_path / "target").exists()
    assert place == "full" or Incidents(str(path)).newest(3) == []
