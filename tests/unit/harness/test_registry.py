"""The registry: adapters by name, and the format found from the content."""

from __future__ import annotations

import subprocess
import sys

import pytest

from contextspindle.core.transcript import SAID, TEXT
from contextspindle.errors import EventUnknown, InvalidInput, TranscriptUnreadable
from contextspindle.harness import ADAPTERS, adapter, detect, plain
from tests.transcripts import SESSION, entry, says, user, written

TALK = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "mend the mast"},
    {"role": "assistant", "content": [{"type": "text", "text": "Mended."}]},
    {"role": "user", "content": "thanks", "session_id": "other"},
]


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_adapter_offers_the_whole_contract(name):
    module = adapter(name)
    assert name == module.NAME
    for function in (
        "find",
        "read",
        "recognises",
        "summary",
        "steps",
        "forked_from",
        "compacted",
        "parse_event",
        "injection",
    ):
        assert callable(getattr(module, function))


def test_an_unknown_harness_is_refused_with_the_known_ones():
    with pytest.raises(InvalidInput, match="claude-code, codex"):
        adapter("telepathy")


def test_the_format_is_found_behind_any_number_of_control_entries(tmp_path):
    control = [
        {"type": "mode", "mode": "plan", "sessionId": SESSION},
        {"type": "file-history-snapshot", "messageId": "x"},
        {"type": "last-prompt", "lastPrompt": "x"},
        {"type": "summary", "summary": "another conversation"},
        "not even JSON",
    ]
    path = written(tmp_path / "a.jsonl", [*control * 40, user("hello")])
    assert detect(path).NAME == "claude-code"


def test_plain_lines_are_found_and_read(tmp_path):
    path = written(tmp_path / "a.jsonl", TALK)
    assert detect(path).NAME == "plain"
    turns = list(plain.read(path, "mine"))
    assert [(turn.line, turn.kind, turn.text) for turn in turns] == [
        (2, SAID, "mend the mast"),
        (3, TEXT, "Mended."),
    ]


@pytest.mark.parametrize("entries", [[], ["plain words"], [{"type": "event_msg", "payload": {}}]])
def test_a_file_of_no_known_form_is_unreadable(tmp_path, entries):
    with pytest.raises(TranscriptUnreadable):
        detect(written(tmp_path / "a.jsonl", entries))


def test_talk_quoted_inside_an_entry_does_not_decide(tmp_path):
    path = written(tmp_path / "a.jsonl", [says('{"role":"user","content":"phantom"}'), *TALK])
    assert detect(path).NAME == "claude-code"
    assert not plain.recognises(entry("user", message={"role": "user", "content": "x"}))


def test_a_plain_transcript_has_no_hooks():
    with pytest.raises(EventUnknown):
        plain.parse_event({"hook_event_name": "PreCompact", "session_id": "x"})


def loaded_by(program):
    """The modules that a fresh interpreter has loaded after running ``program``."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    return set(done.stdout.split())


def test_asking_for_one_harness_loads_no_other():
    loaded = loaded_by("from contextspindle.harness import adapter; adapter('plain')")
    assert "contextspindle.harness.plain" in loaded
    assert "contextspindle.harness.claude_code" not in loaded


HEAVY = {
    "typing", "dataclasses", "pathlib", "argparse", "subprocess", "logging", "contextlib", "json",
    "datetime", "tempfile", "inspect", "sqlite3", "hashlib",
}  # fmt: skip


def test_a_restore_loads_no_regular_expressions_and_nothing_heavy():
    loaded = loaded_by(
        "from contextspindle.core.restoration import Header, assemble\n"
        "from contextspindle.core.draft import Draft, Item\n"
        "from contextspindle.harness import adapter\n"
        "payload = {'hook_event_name': 'SessionStart', 'session_id': 'x'}\n"
        "adapter('claude-code').parse_event(payload)\n"
        "assemble(Draft((Item('last', 'a\\nb', 1), Item('found', 'x', 2))), Header('x'))"
    )
    assert not loaded & (HEAVY | {"re", "enum", "collections", "functools"})


def test_a_save_loads_no_regular_expressions_and_nothing_heavy(tmp_path):
    path = written(tmp_path / "a.jsonl", [user("mend the mast, password: hunter2"), says("ok")])
    loaded = loaded_by(
        "from contextspindle.core.extract import Extractor\n"
        "from contextspindle.harness import adapter\n"
        "extractor = Extractor()\n"
        f"for turn in adapter('claude-code').read({path!r}): extractor.feed(turn)\n"
        "extractor.draft().to_document()"
    )
    assert not loaded & (HEAVY | {"re", "enum", "collections", "functools"})
