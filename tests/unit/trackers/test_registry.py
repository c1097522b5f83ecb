"""The registry: trackers by name, and the one whose files are found."""

from __future__ import annotations

import json

import pytest

from contextspindle import trackers
from contextspindle.errors import InvalidInput
from tests.trackers import whole, write_original


@pytest.mark.parametrize("name", trackers.TRACKERS)
def test_every_tracker_offers_the_whole_contract(name):
    module = trackers.tracker(name)
    assert name == module.NAME
    for function in ("find", "recognises", "gather"):
        assert callable(getattr(module, function))


def test_an_unknown_program_is_refused_with_the_known_ones():
    with pytest.raises(InvalidInput) as caught:
        trackers.tracker("abacus")
    assert "beads, taskmaster, backlog, original, auto" in caught.value.hint
    with pytest.raises(InvalidInput) as caught:
        trackers.writer("backlog")
    assert "beads" in caught.value.hint


def lay_out(place, name):
    """The files of a program below ``place``."""
    if name == "beads":
        (place / ".beads").mkdir()
        (place / ".beads" / "issues.jsonl").write_text('{"id":"bd-1","title":"t"}\n')
    elif name == "taskmaster":
        (place / "tasks").mkdir()
        content = {"tasks": [{"id": 1, "title": "t"}]}
        (place / "tasks" / "tasks.json").write_text(json.dumps(content))
    elif name == "backlog":
        (place / "backlog" / "tasks").mkdir(parents=True)
        (place / "backlog" / "tasks" / "task-1.md").write_text("---\nid: TASK-1\ntitle: t\n---\n")
    else:
        write_original(place / ".contextspindle" / "tasks", whole("t-one", 1))


@pytest.mark.parametrize("name", trackers.TRACKERS)
@pytest.mark.parametrize("asked", ["auto", "its own"])
def test_the_program_whose_files_are_there_is_found(tmp_path, name, asked):
    lay_out(tmp_path, name)
    found = trackers.gather(str(tmp_path), "auto" if asked == "auto" else name)
    assert (found.program, len(found.items) + len(found.chronicles)) == (name, 1)
    assert found.problems == ()


def test_files_of_several_programs_are_told_apart_by_the_caller(tmp_path):
    lay_out(tmp_path, "beads")
    lay_out(tmp_path, "original")
    with pytest.raises(InvalidInput, match="several programs: beads, original"):
        trackers.gather(str(tmp_path), "auto")
    assert trackers.gather(str(tmp_path), "original").program == "original"


def test_a_place_that_holds_nothing_of_a_program_is_refused(tmp_path):
    for name in ("auto", *trackers.TRACKERS):
        with pytest.raises(InvalidInput, match="holds nothing of") as refused:
            trackers.gather(str(tmp_path), name)
        for one in trackers.TRACKERS if name == "auto" else (name,):
            assert trackers.PLACES[one] in refused.value.hint, one
        assert ("backlog/" in refused.value.hint) == (name in ("auto", "backlog"))
    with pytest.raises(InvalidInput, match="Standard input is read once"):
        trackers.gather("-", "auto")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    folder = tmp_path / "issues.jsonl"
    folder.mkdir()
    with pytest.raises(InvalidInput):
        trackers.gather(str(folder), "beads")
    with pytest.raises(InvalidInput, match=r"nowhere\.jsonl holds nothing"):
        trackers.gather(str(tmp_path / "nowhere.jsonl"), "beads")
