"""The real Claude Code and the real Codex: our server connects, and a model's call is recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import installed

HERE = Path(__file__).parent
PROGRAMS = {
    "claude-code": (
        *("@anthropic-ai/claude-code", "2.1.332"),
        *("node_modules/@anthropic-ai/claude-code-*/claude", "mcp__contextspindle__"),
    ),
    "codex": (
        *("@openai/codex", "0.171.0"),
        *("node_modules/@openai/codex-*/vendor/*/bin/codex", "mcp__contextspindle/"),
    ),
}
"""Package, version, where the program is in it, and how it calls a tool of ours."""

PROMPT = (
    "do it [[tool {}contextspindle_task_inbox {{}}]]"
    ' [[tool {}contextspindle_task_create {{"goal":"LIVE-GOAL-5","criteria":"[\\"seen\\"]"}}]]'
    ' [[tool {}contextspindle_task_search {{"query":"LIVE-GOAL-5","limit":"5"}}]]'
    " [[say FINISHED-8]]"
)


@pytest.fixture(scope="module", params=PROGRAMS)
def report(request, tmp_path_factory):
    """The report of one session."""
    package, version, where, prefix = PROGRAMS[request.param]
    name = f"{package.rpartition('/')[2]}-{version}"
    program = installed(name, where, f"{package}@{version}", tools=("unshare", "ip"))
    spindle = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    folder = tmp_path_factory.mktemp("live")
    ran = subprocess.run(
        [
            *("unshare", "-rn", sys.executable, str(HERE / "mcp_session.py")),
            *(request.param, program, spindle, str(folder / "run")),
        ],
        input=json.dumps([PROMPT.format(prefix, prefix, prefix)]),
        capture_output=True,
        text=True,
        timeout=600,
    )
    if "Operation not permitted" in ran.stderr:
        pytest.skip(f"no namespace can be made here: {ran.stderr.strip()[-200:]}")
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
