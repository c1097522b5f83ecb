"""What was reported of the text after compaction, tried on this one: one test a report."""

from __future__ import annotations

import json

import pytest

from contextspindle.core.transcript import OPENING
from tests.transcripts import SESSION, calls, entry, refuses, returns, says, user


def talk(turns: int, subject: str = "the parser") -> list[dict]:
    """The agent at work, with nothing of note."""
    entries = []
    for number in range(turns):
        call = f"talk{number}"
        entries += [
            says(f"I look at part {number} of {subject}."),
            calls(call, "Read", file_path=f"/src/part{number}.py"),
            returns(call, f"def part{number}():\n    return {number}\n"),
        ]
    return entries


def section(text: str, heading: str) -> str:
    """The lines below a heading, up to the next one."""
    _, found, rest = text.partition(f"\n## {heading}")
    return rest.partition("\n## ")[0] if found else ""


def heading_above(text: str, words: str) -> str:
    """The heading of the section in which the words stand first."""
    return text.partition(words)[0].rpartition("\n## ")[2].partition("\n")[0]


def headings(text: str) -> list[str]:
    return [line[3:] for line in text.split("\n") if line.startswith("## ")]


def boundary() -> list[dict]:
    """A compaction: the mark, and what the program's own model wrote to replace the talk."""
    summary = "This session is being continued from a previous conversation. Summary: work went on."
    return [
        entry("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"}),
        user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True),
    ]


def test_cc01_what_was_called_off_is_no_goal(compacted):
    text, _ = compacted(
        [
            user("Plan A: rewrite the importer with coroutines and a thread pool."),
            says("Plan A is ready. Shall I go on?"),
            user("yes, approved"),
            *talk(3, "the importer"),
            user("Drop plan A. Do plan B: keep the importer and cache its parsed schema instead."),
            *talk(30, "the schema cache"),
        ]
    )
    goal = section(text, "Goal")
    assert "plan B: keep the importer and cache its parsed schema" in goal
    first = [line for line in goal.split("\n") if "Plan A: rewrite" in line]
    assert all("first" in line or "began" in line for line in first), goal


def test_cc02_work_is_done_when_the_ledger_says_so(project, compacted):
    task = project("task", "create", "Ship the login page", "--quiet").out.decode().strip()
    before = project("task", "show", task, "--json").data
    text, _ = compacted(
        [
            user(f"Ship the login page, as task {task} says."),
            calls("c", "Bash", command=f"contextspindle task show {task}"),
            returns("c", "open"),
            says(f"Task {task} is finished, the login page is shipped."),
        ]
    )
    assert f"{task} [open] Ship the login page" in text
    claimed = [line for line in text.split("\n") if "is finished" in line]
    assert all(line.startswith("[L") for line in claimed), claimed
    assert project("task", "show", task, "--json").data == before


@pytest.mark.parametrize("budget", [500, 1_000, 2_000, 6_000])
def test_cc03_the_last_question_is_there_word_for_word_near_the_top(compacted, budget):
    question = "Why does the second retry of the upload wait for exactly nine seconds?"
    text, _ = compacted([user("Speed the upload up."), *talk(100), user(question)], budget=budget)
    assert len(text.encode()) <= budget
    assert 0 <= text.find(question) < 2_000


def test_cc04_a_fact_to_go_by_stays_over_two_compactions(compacted):
    rule = "Use psql against the local database, never the remote one."
    entries = [user("Find the slow query."), *talk(9), user(rule), *talk(60), user("Go on.")]
    for _ in range(2):
        text, _ = compacted([*entries, *boundary()])
        (line,) = [one for one in text.split("\n") if rule in one]
        assert line.startswith("[L29]")
        assert "agent" not in heading_above(text, rule)
        entries = [*entries, *boundary(), *talk(60, "the query plan"), user("Go on, please.")]


def test_cc05_what_was_changed_and_that_it_passed_is_told(compacted):
    entries = [user("Split the settings module.")]
    for number in range(5):
        entries += [
            calls(f"e{number}", "Edit", file_path=f"/srv/settings/part{number}.py"),
            returns(f"e{number}", "updated", {"filePath": "x"}),
        ]
    entries += [calls("t", "Bash", command="pytest -q"), returns("t", "41 passed in 2.1s")]
    text, _ = compacted(entries)
    for number in range(5):
        assert f"part{number}.py" in text
    assert "41 passed" in text


def test_cc06_a_call_without_a_result_is_told_and_an_interruption_is_no_goal(compacted):
    text, _ = compacted(
        [
            user("Build the image and push it."),
            calls("c", "Bash", command="docker build -t tides ."),
            user("[Request interrupted by user for tool use]"),
        ]
    )
    assert "interrupted by user" not in text
    assert "docker build -t tides ." in text
    assert "No result" in heading_above(text, "docker build -t tides .")
    assert "Build the image and push it." in section(text, "Goal")


def test_cc07_open_tasks_that_do_not_fit_are_counted(project, compacted):
    made = [
        project("task", "create", f"Item {number}", "--quiet").out.decode().strip()
        for number in range(12)
    ]
    for task in made[:4]:
        words = ("--status", "cancelled", "--decision", "not needed")
        assert project("task", "update", task, *words).status == 0
    for task in made[4:]:
        assert project("task", "show", task, "--json").data["status"] == "open"
    text, _ = compacted([user("Work the list off."), says("Yes.")], budget=2_000)
    shown = [task for task in made[4:] if task in text]
    assert len(text.encode()) <= 2_000
    assert not [task for task in made[:4] if task in text]
    assert len(shown) == 8 or f"{8 - len(shown)} more" in text or "Left out" in text


def test_cc08_the_status_of_a_task_is_the_one_of_now(project, compacted):
    task = project("task", "create", "Ship it", "--quiet").out.decode().strip()
    project("task", "update", task, "--status", "active")
    entries = [
        user("Ship it."),
        calls("c", "Bash", command=f"contextspindle task show {task}"),
        returns("c", "active"),
    ]
    text, _ = compacted(entries)
    assert f"{task} [active]" in text
    words = ("--status", "cancelled", "--decision", "shipped by others")
    project("task", "update", task, *words)
    restored = project("fuse", "restore", "--plain", "--session", SESSION).out.decode()
    assert f"{task} [cancelled]" in restored
    assert f"{task} [active]" not in restored


def test_cc09_tasks_belong_to_the_project_and_not_to_a_session(project, compacted):
    task = project("task", "create", "Ship it", "--quiet").out.decode().strip()
    compacted([user("Ship it."), says("Yes.")])
    event = {
        "hook_event_name": "SessionStart",
        "source": "compact",
        "session_id": "another",
        "cwd": str(project.folder),
    }
    restored = project("fuse", "restore", input=json.dumps(event).encode())
    text = json.loads(restored.out)["hookSpecificOutput"]["additionalContext"]
    assert task in text


def test_cc10_what_was_sent_off_and_has_not_come_back_is_told(compacted):
    entries = [user("Review the three modules.")]
    for name in ("parser", "cache", "export"):
        entries += [
            calls(
                name,
                "Task",
                description=f"Review the {name}",
                prompt=f"Look at {name}, write out.md",
            ),
            returns(
                name,
                "Async agent launched successfully. agentId: x",
                {"isAsync": True, "status": "async_launched", "agentId": f"agent-{name}"},
            ),
        ]
    entries.append(
        user(
            "<task-notification><task-id>agent-cache</task-id><status>completed</status>"
            "<summary>Agent done</summary><result>The cache never evicts.</result>"
            "</task-notification>"
        )
    )
    text, _ = compacted(entries)
    running = [line for line in text.split("\n") if "Task sent" in line]
    assert len(running) == 2
    assert "Review the parser" in "".join(running)
    assert "Review the export" in "".join(running)
    assert "The cache never evicts." in text


def test_cc13_ten_compactions_keep_goal_and_size(compacted):
    entries = [
        user("Port the scheduler to the new clock and keep its tests green."),
        user("Never touch the public interface."),
        calls("c", "TaskCreate", subject="port the timer wheel"),
        returns("c", "Task #1 created", {"task": {"id": "1"}}),
        *talk(12, "the scheduler"),
    ]
    sizes = []
    for number in range(10):
        text, _ = compacted(entries)
        sizes.append(len(text))
        assert "Port the scheduler to the new clock" in section(text, "Goal")
        assert "Never touch the public interface." in text
        assert "port the timer wheel" in text
        assert text.count(OPENING) == 1
        # What was printed goes into the next context, and into the transcript.
        context = {"type": "hook_additional_context", "content": [text]}
        entries += [*boundary(), entry("attachment", attachment=context)]
        entries += [says(f"Step {number} of the port is next."), *talk(1)]
    assert max(sizes) <= 6_000
    assert sizes[-1] < sizes[0] + 1_500


def test_cc14_no_line_says_what_nobody_said(compacted):
    entries = [user("Draw the map."), *talk(5), says("I must never ship without a review.")]
    text, snapshot = compacted(entries)
    said = " ".join(json.dumps(one) for one in entries)
    for item in snapshot["draft"]["items"]:
        words = item[1].replace("…", " ").split(" -> ")[0].split()
        assert all(json.dumps(word)[1:-1] in said for word in words), item
    assert not [item for item in snapshot["draft"]["items"] if item[0] == "rule"]
    assert "Constraints" not in headings(text)


def test_cc15_the_text_yields_to_the_user_and_to_the_project(compacted):
    text, snapshot = compacted(
        [user("Ship it."), says("We never ship without approval."), *talk(3)]
    )
    assert text.startswith(OPENING)
    assert "the user and the project's rules come first" in OPENING
    assert not [item for item in snapshot["draft"]["items"] if item[0] == "rule"]


def test_cc18_a_step_comes_with_its_reason_and_what_was_found_since(compacted):
    why = "only if this branch added it"
    text, _ = compacted(
        [
            user("Clean the branch up."),
            calls("c", "TaskCreate", subject="remove the settings screen", description=why),
            returns("c", "Task #1 created", {"task": {"id": "1"}}),
            *talk(4),
            says("The settings screen is older than this branch, git blame shows."),
            *talk(2),
        ]
    )
    assert [
        line for line in text.split("\n") if "remove the settings screen" in line and why in line
    ]
    assert "The settings screen is older than this branch" in text


def test_cc19_a_second_compaction_knows_what_was_before_the_first(compacted):
    entries = [
        user("Move the billing job to the queue."),
        user("Never retry a charge. Always log the invoice number."),
        calls("a", "TaskCreate", subject="write the worker"),
        returns("a", "Task #1 created", {"task": {"id": "1"}}),
        calls("b", "TaskUpdate", taskId="1", status="completed"),
        returns("b", "Updated", {"success": True, "taskId": "1"}),
        *talk(10),
        *boundary(),
        *talk(10, "the queue"),
    ]
    text, _ = compacted(entries)
    assert "Move the billing job to the queue." in section(text, "Goal")
    assert "Never retry a charge." in text
    assert "Always log the invoice number." in text
    assert [line for line in text.split("\n") if "write the worker" in line and "done" in line]


def test_cc20_the_text_itself_holds_the_live_tasks(project, compacted):
    made = {
        project("task", "create", goal, "--quiet").out.decode().strip(): goal
        for goal in ("Chart the coast", "Mend the sail", "Fill the casks", "Hire a cook", "Sail")
    }
    text, _ = compacted([user("What is next?"), says("The sail.")])
    for task, goal in made.items():
        assert f"{task} [open] {goal}" in text


def test_cc01_a_plan_that_was_refused_is_not_the_goal(compacted):
    text, _ = compacted(
        [
            user("Add a login page to the site."),
            calls("p", "ExitPlanMode", plan="# Plan\nRewrite the site in another framework."),
            refuses("p", "no, keep the framework"),
            *talk(5, "the login page"),
        ]
    )
    assert "Rewrite the site" not in section(text, "Goal")
    assert "no, keep the framework" in text
