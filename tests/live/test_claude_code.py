"""The real Claude Code, our own set-up, a compaction, and what the model is told after it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VERSION = "2.1.332"
PACKAGE = "@anthropic-ai/claude-code"
HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".live" / f"claude-code-{VERSION}"

PROMPTS = [
    "My goal is GOAL-7431: build a widget. Never touch the file vendor.txt."
    ' [[tool Bash {"command":"echo hi-from-bash","description":"say hi"}]]'
    ' [[tool Bash {"command":"false","description":"fail"}]]'
    " [[say I build it in small steps.]]",
    "Use sqlite for CONSTRAINT-12. [[say Done so far; the next step is STEP-55.]]",
    "/compact",
    "go on [[say AFTER-ONE]]",
    "and on, with REQUEST-77 [[say AFTER-TWO]]",
    "/compact",
    "go on once more [[say AFTER-THREE]]",
]


@pytest.fixture(scope="session")
def claude() -> str:
    """The program, installed once into a cache beside the repository's own files."""
    for tool in ("npm", "unshare", "ip"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is needed to run the real program cut off from the network")
    program = next(CACHE.glob("node_modules/@anthropic-ai/claude-code-*/claude"), None)
    if program is None:
        CACHE.mkdir(parents=True, exist_ok=True)
        ran = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", f"{PACKAGE}@{VERSION}"],
            cwd=CACHE,
            capture_output=True,
            text=True,
        )
        program = next(CACHE.glob("node_modules/@anthropic-ai/claude-code-*/claude"), None)
        if program is None:
            pytest.skip(f"{PACKAGE} cannot be had here: {ran.stderr.strip()[-200:]}")
    return str(program)


@pytest.fixture(scope="session")
def session(claude, tmp_path_factory) -> dict:
    """The report of one session."""
    spindle = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    folder = tmp_path_factory.mktemp("live")
    ran = subprocess.run(
        [
            *("unshare", "-rn", sys.executable, str(HERE / "claude_code.py")),
            *(claude, spindle, str(folder / "run")),
        ],
        input=json.dumps(PROMPTS),
        capture_output=True,
        text=True,
        timeout=600,
    )
    if "Operation not permitted" in ran.stderr:
        pytest.skip(f"no namespace can be made here: {ran.stderr.strip()[-200:]}")
    assert ran.returncode == 0, ran.stderr[-2_000:]
    return json.loads(ran.stdout)


def asked(session: dict, prompt: str) -> str:
    """What the model was sent with a prompt."""
    return next(one for one in session["requests"] if prompt in one)


def test_every_turn_ended_well(session):
    assert session["results"] == ["success"] * len(PROMPTS)


def test_after_compaction_the_model_is_told_goal_rule_next_step_and_live_task(session):
    told = asked(session, "AFTER-ONE")
    assert "[ContextSpindle]" in told
    for fact in ("GOAL-7431", "Never touch the file vendor.txt", "CONSTRAINT-12", "STEP-55"):
        assert fact in told, fact
    assert "LEDGER-GOAL-9" in told
    assert "LEDGER-NEXT-3" in told


def test_a_second_compaction_keeps_the_first_goal_and_adds_what_came_since(session):
    told = asked(session, "AFTER-THREE")
    last = told[told.rindex("[ContextSpindle]") :]
    for fact in ("GOAL-7431", "vendor.txt", "REQUEST-77"):
        assert fact in last, fact
    # What was handed over the first time was not quoted the second time.
    assert last.count("[ContextSpindle]") == 1


def test_what_was_saved_is_in_the_status_and_nothing_went_wrong(session):
    assert len(session["status"]["sessions"]) == 1
    assert session["status"]["incidents"] == []


def test_removal_leaves_the_settings_as_they_were(session):
    assert session["settings"] == '{"theme": "dark"}'
