"""Recorded sessions: what was last said survives, in every one of them, at every usual budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextspindle.core import canon
from contextspindle.core.draft import LAST, LIMIT, Draft
from contextspindle.core.extract import Extractor
from contextspindle.core.restoration import Header, assemble
from contextspindle.core.text import block, cut, cut_start, size
from contextspindle.core.transcript import SAID
from contextspindle.harness import claude_code, claude_turns, detect, lines

pytestmark = pytest.mark.real_data

TERSE = 8
"""Bytes up to which an answer says nothing without its question."""


def rows(data_folder: Path) -> list[dict[str, str]]:
    table = (data_folder / "probes" / "last-said.tsv").read_text(encoding="utf-8").splitlines()
    names = table[0].split("\t")
    return [dict(zip(names, row.split("\t"))) for row in table[1:] if row]


def cut_to(data_folder: Path, row: dict[str, str], folder: Path) -> Path:
    """The transcript as it was when the last line of the row was written."""
    raw = (data_folder / row["transcript"]).read_bytes().split(b"\n")
    path = folder / "cut.jsonl"
    path.write_bytes(b"\n".join(raw[: int(row["cut_line"])]) + b"\n")
    return path


def saved(path: Path) -> tuple[Draft, Any]:
    """The draft as a snapshot would give it back, and the transcript it was made from."""
    transcript = detect(str(path)).read(str(path))
    extractor = Extractor()
    for turn in transcript:
        extractor.feed(turn)
    stored = canon.encode(extractor.draft().to_document())
    assert len(stored) <= LIMIT
    return Draft.from_document(canon.decode(stored)), transcript.reading


def words_of(entry: dict[str, Any]) -> str:
    """What the human said in a recorded entry, taken from it in the simplest way."""
    content = entry["message"]["content"] if "message" in entry else entry["content"]
    if isinstance(content, str):
        return content
    texts = []
    for part in content:
        inner = part.get("text") or part.get("content")
        texts.append(inner if isinstance(inner, str) else "")
    return "\n".join(texts).rpartition("the user said:\n")[2]


def sample(text: str) -> str:
    """The start of the words in the table, whose middle may be missing there."""
    return text.partition(" …")[0]


@pytest.mark.parametrize("budget", [2_000, 6_000])
def test_the_last_words_are_restored_in_every_session(data_folder, tmp_path, budget):
    found = rows(data_folder)
    assert len(found) >= 10
    for row in found:
        path = cut_to(data_folder, row, tmp_path)
        draft, _ = saved(path)
        text = assemble(draft, Header("s" * 36, 1, "2026-11-30T04:06:23.123Z"), budget=budget)
        assert size(text) <= budget
        text.encode("utf-8")
        entry = json.loads(path.read_bytes().split(b"\n")[int(row["line"]) - 1])
        words = block(words_of(entry)).strip("\n")
        assert words.startswith(block(sample(json.loads(row["text_json"]))).strip("\n")[:60])
        if size(words) <= 500:
            assert words in text, row
        else:
            assert cut(words, 200) in text, row
            assert cut_start(words, 200) in text, row
        (item,) = draft.of(LAST)
        assert item.line == int(row["line"])
        if size(words) <= TERSE:
            assert item.about, row
            assert "(re: " in text


def test_every_recorded_session_is_read_whole(data_folder):
    for path in sorted((data_folder / "transcripts" / "claude-code").glob("*.jsonl")):
        draft, reading = saved(path)
        assert (reading.unreadable, reading.oversized, reading.foreign) == (0, 0, 0), path
        assert reading.known > 100
        assert draft.said >= 3


def test_skipping_noise_by_its_bytes_skips_no_turn(data_folder):
    for path in sorted((data_folder / "transcripts" / "claude-code").glob("*.jsonl")):
        everything = lines.Transcript(str(path), claude_turns.Parser())
        assert list(everything) == list(claude_code.read(str(path))), path


def test_looking_for_the_human_s_words_only_finds_them_all(data_folder):
    for path in sorted((data_folder / "transcripts" / "claude-code").glob("*.jsonl")):
        frugal = lines.Transcript(
            str(path), claude_turns.Parser(), worth=lambda line, _: claude_code.worth(line, True)
        )
        whole = [(t.line, t.text) for t in claude_code.read(str(path)) if t.kind == SAID]
        assert [(t.line, t.text) for t in frugal if t.kind == SAID] == whole, path


def test_recorded_hook_payloads_are_understood(data_folder):
    folder = data_folder / "harness" / "captures"
    verbs = set()
    for path in sorted((folder / "claude-code").glob("*.hooks.jsonl")):
        for row in path.read_text(encoding="utf-8").splitlines():
            hook = json.loads(row)
            event = claude_code.parse_event(hook["stdin"])
            verbs.add((hook["hook"], event.verb))
            assert event.caller == "claude-code"
            if event.agent and event.transcript:
                assert event.transcript.endswith(f"/subagents/agent-{event.agent}.jsonl")
    assert {("PreCompact", "save"), ("SessionStart", "restore")} <= verbs
    for path in sorted((folder / "copilot-cli").glob("*.hooks.jsonl")):
        for row in path.read_text(encoding="utf-8").splitlines():
            event = claude_code.parse_event(json.loads(row)["stdin"])
            assert (event.verb, event.caller) == ("none", "copilot-cli"), row[:200]


def test_recorded_sessions_of_the_newest_version_are_read(data_folder):
    folder = data_folder / "harness" / "captures" / "claude-code"
    with_talk = 0
    for path in sorted(folder.glob("*.jsonl")):
        if path.name.endswith(".hooks.jsonl"):
            continue
        agent = path.stem.partition(".subagent-agent-")[2]
        transcript = claude_code.read(str(path), agent=agent)
        said = [turn.text for turn in transcript if turn.kind == SAID]
        assert not any("hook additional context" in text or text.startswith("<") for text in said)
        with_talk += bool(said)
    assert with_talk >= 10
