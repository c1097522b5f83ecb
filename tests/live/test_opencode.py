"""The real OpenCode, our own plugin, a compaction, and what the model is told after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.outcome import Row, deliveries
from tests.live.pinned import program, skip_without_namespace, version
from tests.programs import installed

HERE = Path(__file__).parent

MANUAL, AUTO, AGENT, FORKED, AGAIN, WITHOUT = range(6)
RUNS = [
    {
        "prompts": [
            "My goal is GOAL-7431: build a widget. Never touch the file vendor.txt."
            ' [[tool bash {"command":"echo hi-from-bash","description":"say hi"}]]'
            ' [[tool bash {"command":"false","description":"fail"}]]'
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
            ' [[tool todowrite {"todos":['
            '{"content":"AUTO-OPEN-5 sew","status":"pending","priority":"high"},'
            '{"content":"AUTO-DONE-6 mend","status":"completed","priority":"low"}]}]]'
            ' [[tool bash {"command":"echo contextspindle task show TASK","description":"look"}]]'
            # What stands in the prompt itself stays, so these are put together by the tool.
            ' [[tool bash {"command":"echo The drain FACT-IN-$(echo SUMMARY)-4 was cleaned.",'
            '"description":"a"}]]'
            ' [[tool bash {"command":"echo The keel FACT-OF-$(echo OURS)-5 is cracked.",'
            '"description":"b"}]]'
            " [[say Both are looked at.]]",
            "Fill it, please. [[full say]] [[say The next step is AUTO-STEP-3.]]",
            "go on [[say AUTO-AFTER]]",
            'now MID-REQUEST-8 [[full tool]] [[tool bash {"command":"echo mid","description":"m"}]]'
            " [[say never said]]",
        ]
    },
    {
        "prompts": [
            "My goal is MAIN-GOAL-1: chart the bay. [[tool task "
            '{"description":"look","subagent_type":"general",'
            '"prompt":"SUB-GOAL-5: count the reefs. Never wake SUB-RULE-6. <<full tool>>'
            ' <<tool bash {\\"command\\":\\"echo s1\\",\\"description\\":\\"x\\"}>>'
            ' <<tool bash {\\"command\\":\\"echo s2\\",\\"description\\":\\"x\\"}>>'
            ' <<say never said>>"}]] [[say The next step is MAIN-STEP-3.]]',
            "and then MAIN-REQUEST-7 [[say yes]]",
            "/compact",
            "go on [[say MAIN-AFTER]]",
        ],
    },
    {
        "fork": AUTO,
        "prompts": [
            "forked with FORK-REQUEST-8 [[say forked]]",
            "/compact",
            "go on [[say FORK-AFTER]]",
        ],
    },
    {"again": AUTO, "prompts": ["resumed with RESUMED-REQUEST-9 [[say resumed]]"]},
    {
        "without": True,
        "prompts": ["GOAL-ALONE-1 [[say alone]]", "/compact", "go on [[say ALONE-AFTER]]"],
    },
]


@pytest.fixture(scope="session")
def report(newest, tell, tmp_path_factory) -> dict:
    """What came of all the runs."""
    which = version("opencode", newest=newest)
    (opencode,) = program("opencode", which)
    # What OpenCode would fetch beside plugins.
    modules = installed(f"opencode-plugin-{which}", "node_modules", f"@opencode-ai/plugin@{which}")
    spindle = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    folder = tmp_path_factory.mktemp("live")
    ran = subprocess.run(
        [
            *("unshare", "-rn", sys.executable, str(HERE / "opencode.py")),
            *(opencode, spindle, modules, str(folder / "run")),
        ],
        input=json.dumps(RUNS),
        capture_output=True,
        text=True,
        timeout=900,
    )
    skip_without_namespace(ran.stderr)
    assert ran.returncode == 0, ran.stderr[-2_000:]
    found: dict = json.loads(ran.stdout)
    talk = [found["runs"][one] for one in (MANUAL, AUTO)]
    waits = [wait for one in talk for wait in deliveries(one["requests"], one["kinds"])]
    # It has no hooks of a user's to hear the events: what is counted is what its model was asked.
    asked = {"a summary asked for": sum(one["kinds"].count("summary") for one in talk)}
    tell(Row("opencode", which, asked, {}, waits))
    return found


def asked(report: dict, run: int, prompt: str) -> str:
    """What the model was sent with a prompt."""
    return next(one for one in report["runs"][run]["requests"] if prompt in one)


def is_for_a_summary(request: str) -> bool:
    return "context summarization agent" in json.dumps(json.loads(request)[:1])


def behind_summary(report: dict, run: int, number: int) -> str:
    """What the model was sent first after the summary of that number was written."""
    requests = report["runs"][run]["requests"]
    written = [at for at, one in enumerate(requests) if is_for_a_summary(one)]
    return requests[written[number] + 1]


def record(request: str) -> str:
    """The one record of ours in what the model was sent."""
    assert request.count("[ContextSpindle]") == 1
    text = request[request.index("[ContextSpindle]") :]
    return text[: text.index("[/ContextSpindle]")]


def test_every_turn_ended_well(report):
    for run, wanted in zip(report["runs"], RUNS, strict=True):
        expected = ["True" if one == "/compact" else "stop" for one in wanted["prompts"]]
        assert run["results"] == expected


def test_at_its_start_a_session_is_told_the_live_tasks_and_no_story(report):
    told = record(asked(report, MANUAL, "small steps"))
    assert "LEDGER-GOAL-9" in told
    assert "## Goal" not in told


def test_after_compaction_the_model_is_told_goal_rule_next_step_and_live_task(report):
    told = record(asked(report, MANUAL, "AFTER-ONE"))
    for fact in ("GOAL-7431", "Never touch the file vendor.txt", "CONSTRAINT-12", "STEP-55"):
        assert fact in told, fact
    assert "LEDGER-GOAL-9" in told
    assert "LEDGER-NEXT-3" in told


def test_the_text_is_the_same_one_until_the_next_compaction(report):
    first, second = (record(asked(report, MANUAL, one)) for one in ("AFTER-ONE", "AFTER-TWO"))
    assert first == second


def test_a_second_compaction_keeps_the_first_goal_and_adds_what_came_since(report):
    told = record(asked(report, MANUAL, "AFTER-THREE"))
    for fact in ("GOAL-7431", "vendor.txt", "REQUEST-77", "compaction 2"):
        assert fact in told, fact


def test_after_an_automatic_compaction_goal_rule_open_items_and_next_step_are_there(report):
    told = record(asked(report, AUTO, "AUTO-AFTER"))
    for fact in ("AUTO-GOAL-1", "AUTO-RULE-2", "pending: AUTO-OPEN-5 sew", "AUTO-STEP-3"):
        assert fact in told, fact
    assert f"this session's: {report['task']}" in told
    assert "AUTO-DONE-6" not in told.partition("Open steps")[2].partition("##")[0]


def test_after_one_in_the_middle_of_a_turn_the_request_it_was_about_is_there_too(report):
    told = record(behind_summary(report, AUTO, 1))
    for fact in ("AUTO-GOAL-1", "AUTO-RULE-2", "AUTO-OPEN-5", "MID-REQUEST-8", "compaction 2"):
        assert fact in told, fact


def test_a_subagent_gets_its_own_goal_back_and_nothing_of_its_session(report):
    told = record(behind_summary(report, AGENT, 0))
    for fact in ("SUB-GOAL-5", "SUB-RULE-6"):
        assert fact in told, fact
    assert "MAIN-GOAL-1" not in told
    # Before that it was told nothing: it has a task of its own.
    starts = [json.dumps(json.loads(one)[1]) for one in report["runs"][AGENT]["requests"]]
    own = [one for one in starts if "SUB-GOAL-5: count" in one and "MAIN-GOAL-1" not in one]
    assert "[ContextSpindle]" not in own[0]


def test_the_session_of_a_compacted_subagent_gets_its_own_goal_back(report):
    told = record(asked(report, AGENT, "MAIN-AFTER"))
    for fact in ("MAIN-GOAL-1", "MAIN-STEP-3", "MAIN-REQUEST-7"):
        assert fact in told, fact


def test_a_fork_has_the_story_that_it_was_forked_with(report):
    for prompt in ("FORK-REQUEST-8", "FORK-AFTER"):
        told = record(asked(report, FORKED, prompt))
        for fact in ("AUTO-GOAL-1", "AUTO-RULE-2", report["runs"][FORKED]["session"]):
            assert fact in told, fact
        assert report["runs"][AUTO]["session"] not in told


def test_a_session_that_goes_on_after_a_restart_is_told_its_story_again(report):
    told = record(asked(report, AGAIN, "RESUMED-REQUEST-9"))
    for fact in ("AUTO-GOAL-1", "AUTO-RULE-2", "MID-REQUEST-8"):
        assert fact in told, fact


def test_without_our_command_opencode_goes_on_as_ever(report):
    for request in report["runs"][WITHOUT]["requests"]:
        assert "[ContextSpindle]" not in request
    assert "ALONE-AFTER" in report["runs"][WITHOUT]["requests"][-1]


def test_no_session_is_told_anything_of_another(report):
    own = {MANUAL: "GOAL-7431", AUTO: "AUTO-", AGENT: "MAIN-GOAL-1"}
    for run, words in own.items():
        for other in own.keys() - {run}:
            for request in report["runs"][other]["requests"]:
                assert words not in request


def test_a_request_for_a_summary_has_no_record_of_ours_in_it(report):
    summaries = [one for run in report["runs"] for one in run["requests"] if is_for_a_summary(one)]
    assert len(summaries) == 8
    for one in summaries:
        assert "[ContextSpindle]" not in one


def test_what_the_summary_says_is_not_said_again(report):
    told = record(asked(report, AUTO, "AUTO-AFTER"))
    assert "FACT-OF-OURS-5" in told
    assert "FACT-IN-SUMMARY-4" not in told
    assert "Not repeated" in told


def test_the_model_that_writes_the_summary_is_told_the_task_of_the_session(report):
    asked_for = next(one for one in report["runs"][AUTO]["requests"] if is_for_a_summary(one))
    assert f"task {report['task']}; goal: LEDGER-GOAL-9" in asked_for
    # The session that has no task of its own says nothing there.
    silent = next(one for one in report["runs"][MANUAL]["requests"] if is_for_a_summary(one))
    assert "LEDGER-GOAL-9" not in silent


def test_what_was_saved_is_in_the_status_and_nothing_went_wrong(report):
    status = report["status"]
    sessions = {one["session"] for one in status["sessions"]}
    own = {run["session"] for run in report["runs"][:WITHOUT]}
    assert sessions == own | set(report["children"])
    assert status["incidents"] == []


def test_a_pointer_leads_back_to_the_message(report):
    assert report["transcript"] == f"opencode export {report['runs'][MANUAL]['session']}"
    assert "GOAL-7431" in report["source"] or "CONSTRAINT-12" in report["source"]


def test_removal_leaves_the_folder_as_it_was(report):
    # What OpenCode itself puts into any such folder is not ours to take away.
    assert set(report["left"]) - set(report["before"]) <= {".gitignore"}
    assert not [one for one in report["temporary"] if "contextspindle" in one]
