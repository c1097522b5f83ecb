"""Sessions in another language, with goals that move, summaries in cipher, and replayed forks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextspindle.actions.fuse import MIN_BUDGET, Fuse
from contextspindle.core.draft import GOAL
from contextspindle.harness import codex
from contextspindle.store.snapshots import JsonLinesLog
from tests.transcripts import written

FORK = "613a9a68-8816-40b2-a2d4-041ade599da6"
PARENT = "9cd28a74-da7e-4458-a91a-fffec2be9d7a"


@pytest.fixture
def fuse(ledger, clock, tmp_path):
    return Fuse(JsonLinesLog(str(tmp_path / "fuse" / "ledger.jsonl")), lambda: ledger, clock=clock)


def line(kind, /, **payload):
    return {"timestamp": "2026-01-31T09:30:00Z", "type": kind, "payload": payload}


def said(role, text):
    kind = "input_text" if role == "user" else "output_text"
    return line("response_item", type="message", role=role, content=[{"type": kind, "text": text}])


def kept(fuse, tmp_path, *lines, session=FORK):
    """The text that a restore gives of a session of these lines."""
    path = written(
        tmp_path / f"rollout-x-{session}.jsonl", [line("session_meta", id=session), *lines]
    )
    fuse.save(session, codex.read(path, session), harness="codex")
    return fuse.restore(session, 6_000).text


# -- Chinese


@pytest.fixture
def chinese(data_folder) -> Path:
    return data_folder / "transcripts" / "codex" / "cpolar-1412.jsonl"


@pytest.mark.real_data
@pytest.mark.parametrize("budget", [MIN_BUDGET, 1_200, 3_000, 6_000, 9_500])
def test_a_session_in_chinese_keeps_its_last_words_and_goal_within_every_budget(
    fuse, chinese, budget
):
    fuse.save(FORK, codex.read(str(chinese), FORK), harness="codex")
    text = fuse.restore(FORK, budget).text
    assert len(text.encode()) <= budget
    assert "\ufffd" not in text
    assert "init应该放在--help的第一行显示" in text
    assert "检查目前项目的设计" in text


@pytest.mark.real_data
def test_of_the_facts_that_its_reader_needs_most_are_there(fuse, chinese, data_folder):
    """A sentence has no blanks there, and no ASCII full stop."""
    probes = json.loads((data_folder / "probes" / "codex_zh_cpolar_cli.json").read_text())["probes"]
    fuse.save(FORK, codex.read(str(chinese), FORK), harness="codex")
    text = fuse.restore(FORK, 9_500).text
    found = [any(one in text for one in probe["needle"]) for probe in probes]
    assert sum(found) >= 0.6 * len(found), [p["needle"] for p, hit in zip(probes, found) if not hit]


def test_rules_answers_and_steps_in_other_scripts_come_back_as_they_were_said(fuse, tmp_path):
    plan = [{"step": "набросать парус", "status": "in_progress"}]
    text = kept(
        fuse,
        tmp_path,
        said("user", "重写解析器。绝对不要修改 vendor.txt。"),
        said("assistant", "使用 sqlite 还是 json?"),
        said("user", "用 sqlite。"),
        line(
            "response_item",
            type="function_call",
            name="update_plan",
            arguments=json.dumps({"plan": plan}),
            call_id="1",
        ),
        line("response_item", type="function_call_output", call_id="1", output="Plan updated"),
        said("assistant", "次は索引を作ります。"),
    )
    for fact in ("重写解析器", "绝对不要修改 vendor.txt", "用 sqlite。", "次は索引を作ります。"):
        assert fact in text
    assert "in_progress: набросать парус" in text


# -- goals that move


def test_a_goal_that_moved_is_the_later_one_and_the_first_is_named_as_such(fuse, tmp_path):
    text = kept(
        fuse,
        tmp_path,
        said("user", "Build a login page with a password form and a reset link."),
        said("assistant", "The login page is done."),
        said("user", "Forget the login page. Now write the importer for the old database."),
        said("assistant", "I read the schema first."),
    )
    goals = text.partition("## Goal")[2].partition("\n## ")[0]
    assert "write the importer for the old database" in goals.split("\n")[1]
    assert "the first request: Build a login page" in goals


@pytest.mark.real_data
def test_in_the_real_session_the_goal_is_a_later_request_than_the_first(fuse, chinese):
    fuse.save(FORK, codex.read(str(chinese), FORK), harness="codex")
    goals = [item for item in fuse_items(fuse) if item["section"] == GOAL]
    lines = [item["line"] for item in goals]
    assert min(lines) < 10
    assert max(lines) > 250


def fuse_items(fuse):
    from contextspindle.core.draft import Draft

    return [one._asdict() for one in Draft.from_document(fuse.snapshot(FORK)["draft"]).items]


# -- a summary that nobody can read


def test_where_the_summary_is_in_cipher_all_that_was_said_before_it_is_told(fuse, tmp_path):
    history = [{"type": "compaction", "encrypted_content": "gAAAAABotACIPHER"}]
    text = kept(
        fuse,
        tmp_path,
        said("user", "Build the kite, never with nylon."),
        said("assistant", "The frame is glued; next I sew the sail."),
        line("compacted", message="", replacement_history=history),
        said("user", "And paint it."),
        said("assistant", "Painting."),
        line("compacted", message="", replacement_history=history),
    )
    for fact in ("Build the kite, never with nylon.", "And paint it.", "compaction 3"):
        assert fact in text
    assert "CIPHER" not in text
    assert "Not repeated" not in text


# -- a fork that begins with a replay of what it was forked from


@pytest.mark.real_data
def test_a_fork_that_replays_its_parent_is_one_session_with_one_telling_of_it(fuse, chinese):
    saved = fuse.save(FORK, codex.read(str(chinese), FORK), harness="codex")
    assert saved.reading.foreign == 1  # the head of the parent that it replays
    text = fuse.restore(FORK, 9_500).text
    assert f"Session {FORK}" in text
    assert PARENT not in text
    assert text.count("检查目前项目的设计") <= 2  # the goal, and at most the words themselves


def test_what_a_fork_replays_twice_was_said_once(fuse, tmp_path):
    """A rollout may hold its parent's head and lines again at each resumption."""
    replay = [
        line("session_meta", id=PARENT),
        said("user", "Mend the mast, never with nylon."),
        said("assistant", "The mast is mended."),
    ]
    text = kept(fuse, tmp_path, *replay, said("user", "Now the sail."))
    assert "Mend the mast, never with nylon." in text
    assert "Now the sail." in text
    assert f"Session {FORK}" in text
