"""The real Claude Code and the real Codex: our server connects, and a model's call is recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.pinned import program, skip_without_namespace, version

HERE = Path(__file__).parent
CALLS = {"claude-code": "mcp__contextspindle__", "codex": "mcp__contextspindle/"}
"""How each program calls a tool of ours."""

PROMPT = (
    "do it [[tool {}contextspindle_task_inbox {{}}]]"
    ' [[tool {}contextspindle_task_create {{"goal":"LIVE-GOAL-5","criteria":"[\\"seen\\"]"}}]]'
    ' [[tool {}contextspindle_task_search {{"query":"LIVE-GOAL-5","limit":"5"}}]]'
    " [[say FINISHED-8]]"
)


@pytest.fixture(scope="module", params=CALLS)
def report(request, newest, tmp_path_factory):
    """The report of one session."""
    prefix = CALLS[request.param]
    (path,) = program(request.param, version(request.param, newest=newest))
    spindle = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    folder = tmp_path_factory.mktemp("live")
    ran = subprocess.run(
        [
            *("unshare", "-rn", sys.executable, str(HERE / "mcp_session.py")),
            *(request.param, path, spindle, str(folder / "run")),
        ],
        input=json.dumps([PROMPT.format(prefix, prefix, prefix)]),
        capture_output=True,
        text=True,
        timeout=600,
    )
    skip_without_namespace(ran.stderr)
    assert ran.returncode == 0, ran.stderr[-2_000:]
    return json.loads(ran.stdout)


def test_the_turn_ends_well_and_the_call_of_the_model_changed_the_ledger(report):
    (turn,) = report["turns"]
    assert turn["status"] == 0, turn
    assert "FINISHED-8" in turn["out"]
    assert [task["goal"] for task in report["tasks"]] == ["LIVE-GOAL-5"]


def test_the_model_is_told_what_the_tools_are_for_and_what_they_answered(report):
    last = report["requests"][-1]
    assert "contextspindle_task_update" in last
    assert "Nothing is live" in last
    assert f"{report['tasks'][0]['id']} version 1 [open] created" in last
    assert f"{report['tasks'][0]['id']} [open] p2 LIVE-GOAL-5" in last


def test_our_prompts_cost_the_model_no_tool_of_the_program(report):
    assert "ListMcpResources" not in report["requests"][-1]


def test_nothing_of_ours_is_left_in_the_settings_nor_running(report):
    assert "contextspindle" not in report["after"].replace("/project", "")
    assert report["left"] == []
    assert report["running"] == 0
