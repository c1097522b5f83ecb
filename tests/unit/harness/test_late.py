"""What was written behind a save and ahead of the compaction, as far as its lines are whole."""

from __future__ import annotations

import json
import os

import pytest

from contextspindle.harness import ADAPTERS, adapter, late
from tests.transcripts import calls, entry, returns, says, user


def lines(*entries):
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in entries)


def qwen(kind, **fields):
    return {"uuid": "u", "parentUuid": None, "sessionId": "s", "type": kind, **fields}


RECORD = entry("system", subtype="compact_boundary")
SUMMARY = user("They mended a mast.", isCompactSummary=True)
SAVED = lines(user("Mend the mast."), says("I do."))

FORMS = {
    "claude-code": {
        "talk": user("And the oar."),
        "agent": says("The oar, too."),
        "record": RECORD,
        "aside": entry("last-prompt", lastPrompt="And the oar."),
    },
    "qwen-code": {
        "talk": qwen("user", message={"role": "user", "parts": [{"text": "And the oar."}]}),
        "agent": qwen("assistant", message={"role": "model", "parts": [{"text": "It is."}]}),
        "record": qwen("system", subtype="chat_compression"),
        "aside": qwen("system", subtype="ui_telemetry"),
    },
}


@pytest.fixture
def found(tmp_path):
    """Where talk ends behind what was saved, for entries of a harness; None if there is none."""

    def found(name, *entries, torn=b""):
        path = tmp_path / "t.jsonl"
        path.write_bytes(SAVED + lines(*entries) + torn)
        return adapter(name).said_up_to(str(path), len(SAVED))

    return found


@pytest.mark.parametrize("name", FORMS)
def test_talk_behind_a_save_ends_where_the_record_of_the_compaction_begins(found, name):
    form = FORMS[name]
    talk, agent, record, aside = form["talk"], form["agent"], form["record"], form["aside"]
    end = len(SAVED) + len(lines(talk, aside))
    assert found(name, talk, aside) == end
    assert found(name, talk, aside, torn=lines(agent)[:30]) == end
    assert found(name, talk, aside, record, aside) == end
    # An older one: the agent has spoken since.
    whole = lines(record, talk, agent)
    assert found(name, record, talk, agent) == len(SAVED + whole)
    assert found(name, record, talk, agent, record, aside) == len(SAVED + whole)


@pytest.mark.parametrize("name", FORMS)
def test_where_nothing_was_said_since_the_save_there_is_nothing_to_find(found, name):
    form = FORMS[name]
    talk, record, aside = form["talk"], form["record"], form["aside"]
    assert found(name) == 0
    assert found(name, aside) == 0
    assert found(name, aside, record, aside) == 0
    assert found(name, record, talk) == 0  # what follows a compaction is not before it
    assert found(name, torn=lines(talk)[:-1]) == 0


def test_a_call_and_its_result_are_talk_and_what_the_harness_says_itself_is_none(found):
    assert found("claude-code", calls("c1", "Bash", command="ls"))
    assert found("claude-code", returns("c1", "mast.txt"))
    assert not found("claude-code", user("Caveat: the command below was run.", isMeta=True))
    assert not found("claude-code", RECORD, SUMMARY, user("<command-name>/compact</command-name>"))
    assert not found("claude-code", entry("system", subtype="stop_hook_summary", hookCount=1))


def test_only_the_end_of_a_huge_transcript_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(late, "LOOKED_AT", 2_000)
    path = tmp_path / "t.jsonl"
    aside = lines(*[entry("last-prompt", lastPrompt="x")] * 40)
    path.write_bytes(lines(user("Mend.")) + aside)
    assert adapter("claude-code").said_up_to(str(path), 0) == 0
    path.write_bytes(aside + lines(user("Mend.")))
    assert adapter("claude-code").said_up_to(str(path), 0) == os.path.getsize(path)


@pytest.mark.parametrize("name", ADAPTERS)
def test_without_a_file_nothing_was_said(tmp_path, name):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in ("", "/none", str(tmp_path), str(fifo), "a\0b"):
        assert adapter(name).said_up_to(path, 0) == 0
