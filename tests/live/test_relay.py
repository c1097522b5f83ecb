"""A task begun in the real Claude Code, gone on with in the real Codex, and taken back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.pinned import program, skip_without_namespace, version

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def report(newest, running, tmp_path_factory) -> dict:
    """What came of the three sessions; those of other programs are ``running`` beside them."""
    (claude,), (codex,) = (
        program(name, version(name, newest=newest)) for name in ("claude-code", "codex")
    )
    spindle = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    folder = tmp_path_factory.mktemp("relay")
    ran = subprocess.run(
        [
            *("unshare", "-rn", sys.executable, str(HERE / "relay.py")),
            *(claude, codex, spindle, str(folder / "run")),
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    skip_without_namespace(ran.stderr)
    assert ran.returncode == 0, ran.stderr[-2_000:]
    return json.loads(ran.stdout)


def test_it_is_one_task_with_its_id_criteria_evidence_and_next_step(report):
    made, task = report["made"], report["task"]
    assert task["id"] == made["id"]
    assert (made["version"], task["version"]) == (1, 3)
    assert task["criteria"] == ["RELAY-CRITERION-2"]
    (evidence,) = task["evidence"]
    assert evidence["payload"] == "RELAY-PROOF-6"
    assert (task["status"], task["next"]) == ("active", "RELAY-NEXT-7")


def test_the_first_request_of_the_second_program_tells_whose_work_it_was_and_where_it_left_off(
    report,
):
    told = report["requests"][1][0]
    assert f"{report['made']['id']} [active] RELAY-GOAL-1: a kite | next: RELAY-NEXT-4" in told
    assert f"another session, claude-code session {report['first']}" in told
    assert "RELAY-LEFT-5: the frame is glued." in told


def test_on_demand_the_second_program_is_given_all_of_it_as_another_s(report):
    told = report["requests"][1][-1]
    assert "The record of another session of claude-code, handed over" in told


def test_the_first_program_is_told_the_same_of_the_second_when_it_begins_anew(report):
    told = report["requests"][2][0]
    assert "another session, codex session" in told
    assert "RELAY-LEFT-8: the sail is sewn." in told
    assert "RELAY-LEFT-5" not in told
    assert "next: RELAY-NEXT-7" in told


def test_each_session_was_saved_at_its_end_and_nothing_went_wrong(report):
    saved = {one["harness"] for one in report["status"]["sessions"]}
    assert saved == {"claude-code", "codex"}
    assert report["status"]["incidents"] == []
