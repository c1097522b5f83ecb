"""Real programs in a terminal, our own set-up, compactions, and what the model is told then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextspindle.harness import adapter
from tests.live import harnesses
from tests.live.outcome import Row, deliveries
from tests.live.pinned import skip_without_namespace

HERE = Path(__file__).parent
CLOSING = "[/ContextSpindle]"


NAMES = [name for name in harnesses.ALL if adapter(name).HOOKS]


@pytest.fixture(scope="module", params=NAMES)
def name(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def report(name, running, tell) -> dict:
    """What came of one session of one program."""
    one = running[name]
    if one.skipped:
        pytest.skip(one.skipped)
    status = one.child.wait(timeout=600)
    complaint = (one.folder / "err").read_text()
    skip_without_namespace(complaint)
    assert status == 0, complaint[-2_000:]
    found = json.loads((one.folder / "out").read_text())
    tell(Row.of(name, one.version, found["heard"], deliveries(found["requests"], found["kinds"])))
    return found


def record(report: dict, compaction: int) -> str:
    """Our record of a compaction, in the first request that the model read it in."""
    waits = deliveries(report["requests"], report["kinds"])
    assert waits[compaction - 1], f"the record of compaction {compaction} never reached the model"
    sent = next(one for one in report["requests"] if f"compaction {compaction}, " in one)
    text = sent[sent.index("[ContextSpindle]", sent.index(f"compaction {compaction}, ") - 300) :]
    return text[: text.index(CLOSING)]


def test_every_turn_ended_well(report):
    assert [one for one in report["steps"] if "error" in one] == []


def test_after_a_compaction_by_hand_the_next_request_tells_goal_rule_steps_and_task(name, report):
    assert deliveries(report["requests"], report["kinds"])[0] == 1
    told = record(report, 1)
    for fact in ("GOAL-7431", "Never touch the file vendor.txt", "CONSTRAINT-12", "STEP-55"):
        assert fact in told, fact
    if harnesses.ALL[name].STEPS:
        assert "in_progress: OPEN-21 sew" in told
        assert "DONE-22" not in told.partition("Open steps")[2].partition("##")[0]
    assert f"{report['task']} [open] LEDGER-GOAL-9: a widget | next: LEDGER-NEXT-3" in told


def test_after_a_second_one_the_first_goal_is_told_and_what_came_since(name, report):
    latest = harnesses.ALL[name].AUTOMATIC or 1
    assert 0 < deliveries(report["requests"], report["kinds"])[1] <= latest
    told = record(report, 2)
    for fact in ("GOAL-7431", "vendor.txt", "CONSTRAINT-12", "LATE-REQUEST-8"):
        assert fact in told, fact


def test_a_record_quotes_no_record_and_nothing_of_another_session(report):
    for request in report["requests"]:
        assert "OTHER-GOAL-3" not in request
    for compaction in range(1, len(deliveries(report["requests"], report["kinds"])) + 1):
        assert record(report, compaction).count("[ContextSpindle]") == 1


def test_set_up_wrote_into_one_file_only_and_no_trust_into_any(name, report):
    assert report["written"] == [harnesses.ALL[name].SETTINGS]


def test_the_user_s_own_hooks_were_called_beside_ours(name, report):
    heard = {one.get("hook_event_name") for one in report["heard"]}
    assert heard == set(harnesses.ALL[name].EVENTS)


def test_what_was_saved_is_in_the_status_and_nothing_went_wrong(name, report):
    assert report["status"]["incidents"] == []
    own = [one for one in report["status"]["sessions"] if one["session"] != "other"]
    assert own
    assert {one["harness"] for one in own} == {name}


def test_removal_leaves_the_settings_as_they_were(report):
    assert report["after"] == report["before"]
