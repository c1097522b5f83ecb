"""The real Claude Code, our own set-up, a compaction, and what the model is told after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.outcome import Row, deliveries
from tests.live.pinned import program, skip_without_namespace, version

HERE = Path(__file__).parent

MANUAL, AUTO, AGENT, RESUMED, FORKED = range(5)
RUNS = [
    {
        "prompts": [
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
    },
    {
        "prompts": [
            "My goal is AUTO-GOAL-1: sail round the cape. Never touch AUTO-RULE-2."
            ' [[tool TaskCreate {"subject":"AUTO-OPEN-5 sew","description":"the jib"}]]'
            ' [[tool TaskCreate {"subject":"AUTO-DONE-6 mend","description":"a net"}]]'
            ' [[tool TaskUpdate {"taskId":"2","status":"completed"}]]'
            ' [[tool Bash {"command":"echo contextspindle task show TASK","description":"look"}]]'
            # What stands in the prompt itself stays, so these are put together by the tool.
            ' [[tool Bash {"command":"echo The drain FACT-IN-$(echo SUMMARY)-4 was cleaned."}]]'
            ' [[tool Bash {"command":"echo The keel FACT-OF-$(echo OURS)-5 is cracked."}]]'
            " [[say Both are looked at.]]",
            "Fill it, please. [[full say]] [[say The next step is AUTO-STEP-3.]]",
            "go on [[say AUTO-AFTER]]",
            'now MID-REQUEST-8 [[full tool]] [[tool Bash {"command":"echo mid","description":"m"}]]'
            " [[say never said]]",
        ]
    },
    {
        "prompts": [
            "My goal is MAIN-GOAL-1: chart the bay. [[tool Agent "
            '{"description":"look","subagent_type":"general-purpose","run_in_background":false,'
            '"prompt":"SUB-GOAL-5: count the reefs. Never wake SUB-RULE-6. <<full tool>>'
            ' <<tool Bash {\\"command\\":\\"echo s1\\",\\"description\\":\\"x\\"}>>'
            ' <<tool Bash {\\"command\\":\\"echo s2\\",\\"description\\":\\"x\\"}>>'
            ' <<tool Bash {\\"command\\":\\"echo s3\\",\\"description\\":\\"x\\"}>>'
            ' <<say never said>>"}]] [[say The next step is MAIN-STEP-3.]]',
            "and then MAIN-REQUEST-7 [[say yes]]",
            "/compact",
            "go on [[say MAIN-AFTER]]",
        ]
    },
    {
        "of": AUTO,
        "before": ["task", "create", "MOVED-77: caulk the deck", "--quiet"],
        "prompts": [
            "resumed with RESUMED-REQUEST-9 [[say resumed]]",
            "/compact",
            "go on [[say RESUMED-AFTER]]",
        ],
    },
    {
        "of": AUTO,
        "fork": True,
        "prompts": [
            "forked with FORK-REQUEST-8 [[say forked]]",
            "/compact",
            "go on [[say FORK-AFTER]]",
        ],
    },
]


@pytest.fixture(scope="session")
def which(newest) -> str:
    """The version that is run."""
    return version("claude-code", newest=newest)


@pytest.fixture(scope="session")
def report(which, running, tell, tmp_path_factory) -> dict:
    """What came of all the runs; sessions of other programs are ``running`` beside them."""
    (claude,) = program("claude-code", which)
    spindle = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    folder = tmp_path_factory.mktemp("live")
    ran = subprocess.run(
        [
            *("unshare", "-rn", sys.executable, str(HERE / "claude_code.py")),
            *(claude, spindle, str(folder / "run")),
        ],
        input=json.dumps(RUNS),
        capture_output=True,
        text=True,
        timeout=600,
    )
    skip_without_namespace(ran.stderr)
    assert ran.returncode == 0, ran.stderr[-2_000:]
    found = json.loads(ran.stdout)
    tell(Row.of("claude-code", which, found["heard"], waits(found)))
    return found


def waits(report: dict) -> list[int]:
    """For each compaction of a session, in which request after it the model has our record."""
    told = []
    for run in (MANUAL, AUTO):
        requests = report["runs"][run]["requests"]
        kinds = ["summary" if is_for_a_summary(one) else "turn" for one in requests]
        told += deliveries(requests, kinds)
    return told


def asked(report: dict, run: int, prompt: str) -> str:
    """What the model was sent with a prompt."""
    return next(one for one in report["runs"][run]["requests"] if prompt in one)


def behind_summary(report: dict, run: int, number: int) -> str:
    """What the model was sent first after the summary of that number was written."""
    requests = report["runs"][run]["requests"]
    written = [at for at, one in enumerate(requests) if is_for_a_summary(one)]
    return requests[written[number] + 1]


def is_for_a_summary(request: str) -> bool:
    return "detailed summary" in json.dumps(json.loads(request)[-1])


def record(request: str) -> str:
    """The newest of our records in what the model was sent."""
    text = request[request.rindex("[ContextSpindle]") :]
    return text[: text.index("[/ContextSpindle]")]


def test_every_turn_ended_well(report):
    for run, wanted in zip(report["runs"], RUNS, strict=True):
        assert run["results"] == ["success"] * len(wanted["prompts"])


def test_after_compaction_the_model_is_told_goal_rule_next_step_and_live_task(report):
    told = asked(report, MANUAL, "AFTER-ONE")
    assert "[ContextSpindle]" in told
    for fact in ("GOAL-7431", "Never touch the file vendor.txt", "CONSTRAINT-12", "STEP-55"):
        assert fact in told, fact
    assert "LEDGER-GOAL-9" in told
    assert "LEDGER-NEXT-3" in told


def test_a_second_compaction_keeps_the_first_goal_and_adds_what_came_since(report):
    told = record(asked(report, MANUAL, "AFTER-THREE"))
    for fact in ("GOAL-7431", "vendor.txt", "REQUEST-77"):
        assert fact in told, fact
    # What was handed over the first time was not quoted the second time.
    assert told.count("[ContextSpindle]") == 1


def test_after_an_automatic_compaction_goal_rule_open_items_and_next_step_are_there(report):
    told = record(asked(report, AUTO, "AUTO-AFTER"))
    for fact in ("AUTO-GOAL-1", "AUTO-RULE-2", "#1 pending: AUTO-OPEN-5 sew", "AUTO-STEP-3"):
        assert fact in told, fact
    assert f"this session's: {report['task']}" in told
    assert "AUTO-DONE-6" not in told.partition("Open steps")[2].partition("##")[0]


def test_after_one_in_the_middle_of_a_turn_the_request_it_was_about_is_there_too(report):
    told = record(behind_summary(report, AUTO, 1))
    for fact in ("AUTO-GOAL-1", "AUTO-RULE-2", "#1 pending: AUTO-OPEN-5", "MID-REQUEST-8"):
        assert fact in told, fact
    assert "compaction 2" in told


def test_a_subagent_gets_its_own_goal_back_and_nothing_of_its_session(report):
    told = record(behind_summary(report, AGENT, 0))
    for fact in ("SUB-GOAL-5", "SUB-RULE-6", "subagent"):
        assert fact in told, fact
    assert "MAIN-GOAL-1" not in told


def test_the_session_of_a_compacted_subagent_gets_its_own_goal_back(report):
    told = record(asked(report, AGENT, "MAIN-AFTER"))
    for fact in ("MAIN-GOAL-1", "MAIN-STEP-3", "MAIN-REQUEST-7"):
        assert fact in told, fact


def test_a_resumed_session_is_told_in_a_line_that_the_ledger_moved(report):
    told = asked(report, RESUMED, "RESUMED-REQUEST-9")
    line = record(told)
    assert "1 task has changed since this session's snapshot" in line
    assert "MOVED-77" in line
    assert "AUTO-GOAL-1" not in line


def test_a_compaction_after_a_resume_keeps_what_was_before_it(report):
    told = record(asked(report, RESUMED, "RESUMED-AFTER"))
    for fact in ("AUTO-GOAL-1", "AUTO-RULE-2", "AUTO-OPEN-5", "RESUMED-REQUEST-9", "MOVED-77"):
        assert fact in told, fact


def test_a_fork_goes_on_from_its_session_and_knows_nothing_of_what_that_did_later(report):
    told = record(asked(report, FORKED, "FORK-AFTER"))
    for fact in ("AUTO-GOAL-1", "AUTO-RULE-2", "FORK-REQUEST-8"):
        assert fact in told, fact
    fork, parent = report["runs"][FORKED]["session"], report["runs"][AUTO]["session"]
    assert fork in told
    assert parent not in told
    origins = {one["session"]: one["origin"] for one in report["status"]["sessions"]}
    assert (origins[fork], origins[parent]) == (parent, "")


def test_no_session_is_told_anything_of_another(report):
    own = {MANUAL: "GOAL-7431", AUTO: "AUTO-", AGENT: "MAIN-GOAL-1"}
    for run, words in own.items():
        for other in own.keys() - {run}:
            for request in report["runs"][other]["requests"]:
                assert words not in request


def test_what_the_summary_says_is_not_said_again(report):
    summaries = [one for run in report["runs"] for one in run["requests"] if is_for_a_summary(one)]
    told = record(asked(report, AUTO, "AUTO-AFTER"))
    for fact in ("FACT-IN-SUMMARY-4", "FACT-OF-OURS-5"):
        assert fact in summaries[2]
    assert "FACT-OF-OURS-5" in told
    assert "FACT-IN-SUMMARY-4" not in told
    assert "Not repeated" in told


def test_the_model_that_writes_the_summary_is_told_the_task_of_the_session(report):
    requests = report["runs"][AUTO]["requests"]
    asked_for = json.loads(next(one for one in requests if is_for_a_summary(one)))[-1]
    said = json.dumps(asked_for).partition("Additional Instructions:")[2]
    assert f"task {report['task']}; goal: LEDGER-GOAL-9" in said
    assert "next step: LEDGER-NEXT-3" in said
    # The session that has no task of its own says nothing there.
    requests = report["runs"][MANUAL]["requests"]
    silent = json.loads(next(one for one in requests if is_for_a_summary(one)))[-1]
    assert "ContextSpindle" not in json.dumps(silent).partition("Additional Instructions:")[2]


def test_what_was_saved_is_in_the_status_and_nothing_went_wrong(report):
    status = report["status"]
    sessions = {one["session"] for one in status["sessions"]}
    own = {run["session"] for run in report["runs"]}
    assert {one.partition("/")[0] for one in sessions} == own
    assert len(sessions - own) == 1  # the subagent
    assert all(one["handed"]["bytes"] for one in status["sessions"])
    assert status["incidents"] == []


def test_removal_leaves_the_settings_as_they_were(report):
    assert report["after"] == report["before"]
