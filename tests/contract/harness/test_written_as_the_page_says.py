"""The adapter on the page "write a harness" keeps the contract, as it stands there."""

from __future__ import annotations

import json
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from contextspindle import config, harness, programs
from contextspindle.core.transcript import BOUNDARY, RESTORE, SAID, SAVE, TEXT
from contextspindle.harness import adapter, detect, registration
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "how-to" / "write-a-harness.md").read_text(encoding="utf-8")


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
    return found


@pytest.fixture
def quill(tmp_path, monkeypatch):
    """The module of the page, entered in the registry as the page says."""
    name = f"{harness.__name__}.quill"
    path = tmp_path / "quill.py"
    path.write_text(block("python"), encoding="utf-8")
    spec = spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(harness, "quill", module, raising=False)
    spec.loader.exec_module(module)
    names = list(harness.ADAPTERS)
    before = {one: harness.ADAPTERS[one] for one in names if one != "plain"}
    monkeypatch.setattr(harness, "ADAPTERS", {**before, "quill": "quill", "plain": "plain"})
    return module


@pytest.fixture
def transcript(tmp_path):
    path = tmp_path / "home" / "sessions" / "s-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(block("text"), encoding="utf-8")
    return path


def test_it_offers_every_name_of_the_contract(quill):
    listed = harness.__doc__.split("\n\n")[2]
    names = re.findall(r"^    (\w+)", listed, re.M)
    assert {"NAME", "read", "injection", "settings_path"} <= set(names)
    assert [name for name in names if not hasattr(quill, name)] == []
    assert adapter("quill") is quill


def test_it_finds_and_reads_the_transcript_of_the_page(quill, transcript):
    home = str(transcript.parent.parent)
    assert quill.find(home, "s-1") == str(transcript)
    assert quill.find(home, "../s-1") is None
    assert detect(str(transcript)) is quill
    told = [(turn.line, turn.kind, turn.text) for turn in quill.read(str(transcript), "s-1")]
    assert told == [
        (2, SAID, "Mend the importer. Never drop a row."),
        (4, TEXT, "I will start with the parser."),
        (5, BOUNDARY, ""),
    ]


def test_it_takes_the_hooks_of_the_page(quill):
    payload = json.loads(block("json"))
    event = quill.parse_event(payload)
    assert (event.verb, event.session, event.transcript) == (
        SAVE,
        "s-1",
        payload["transcript_path"],
    )
    assert quill.injection("a record", event) == ""
    after = quill.parse_event({**payload, "hook_event_name": "AfterFold"})
    assert after.verb == RESTORE
    assert json.loads(quill.injection("a record", after)) == {"context": "a record"}
    assert quill.injection("", after) == ""
    assert {one[0] for one in quill.HOOKS} == {"BeforeFold", "AfterFold"}


def test_entered_where_the_page_says_it_is_set_up_and_taken_out_again(quill, home, monkeypatch):
    rows = dict(re.findall(r"^\| `([A-Z_]+)` in [^|]+ \| [^|]*`(\"quill\": .+?)`", PAGE, re.M))
    assert set(rows) == {"ADAPTERS", "HARNESS_FOLDERS", "PROGRAMS"}
    words = {"_Program": registration._Program}
    monkeypatch.setitem(
        config.HARNESS_FOLDERS, "quill", eval(f"{{{rows['HARNESS_FOLDERS']}}}")["quill"]
    )
    monkeypatch.setitem(
        registration.PROGRAMS, "quill", eval(f"{{{rows['PROGRAMS']}}}", words)["quill"]
    )
    place = home / ".quill" / "settings.json"
    programs.set_up("quill", "user", "write", version="1")
    events = json.loads(place.read_text())["hooks"]
    assert list(events) == ["BeforeFold", "AfterFold"]
    assert "quill" in [one.name for one in programs.known() if one.signs]
    programs.set_up("quill", "user", "remove", version="1")
    assert not place.exists()
