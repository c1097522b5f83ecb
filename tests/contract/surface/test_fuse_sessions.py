"""The hooks over the life of sessions: what each kind of start is told, and what never mixes."""

from __future__ import annotations

import json
import re
import time

import pytest

from tests.transcripts import OTHER, SESSION, Talk, calls, entry, returns, says, user


def snapshots(project):
    return json.loads(project("fuse", "list", "--json").out)["data"]["total"]


# ---- where a session goes on


@pytest.mark.parametrize("variable", ["CLAUDE_PROJECT_DIR", "FACTORY_PROJECT_DIR"])
def test_a_session_that_goes_into_a_checkout_within_its_project_keeps_its_record(
    project, talk, create, variable
):
    create("Mend the mast")
    library = project.folder / "vendor" / "library"
    (library / ".git").mkdir(parents=True)
    project.environment[variable] = str(project.folder)
    talk.save(cwd=str(library))
    assert not (library / ".contextspindle").exists()
    for cwd in (library, project.folder):
        text = talk.told(cwd=str(cwd))
        assert "Never touch the anchor." in text
        assert "[open] Mend the mast" in text
    del project.environment[variable]
    for words in (("task", "inbox"), ("fuse", "list")):
        done = project(*words, "--json", cwd=library)
        assert done.error["code"] == "WORKSPACE_NOT_FOUND"
        assert f"{project.folder}, has one: name it with --workspace" in done.error["hint"]


# ---- the claim of a session


def shown(project, *words):
    done = project(*words)
    assert done.status == 0, done.err
    return done.out.decode()


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("words", ["task claim {task}", "task claim --next"])
def test_a_session_has_its_claim_back_after_a_compaction(project, talk, create, words, form):
    task = create("Mend the mast")
    command = " ".join(["contextspindle", words.format(task=task), *form])
    answer = shown(project, *command.split()[1:])
    token = re.search(rf"{task}\.[0-9a-z]{{16}}", answer)[0]
    talk.write(
        calls("c1", "Bash", command="git status"),
        returns("c1", f"token: {create('Another')}.0123456789abcdef"),
        calls("c2", "Bash", command=command),
        returns("c2", answer),
        user("Thanks, go on."),
    )
    talk.save()
    first = talk.told().partition("## Live tasks")[2].splitlines()[1]
    assert first.startswith("this session's (claimed by you until 20")
    assert f"carry --claim {token}): {task} [open] Mend the mast" in first
    shown(project, "task", "update", task, "--status", "active", "--claim", token)


@pytest.mark.parametrize("words", ["--claim {}", "--claim={}", "--note 'x=y' --claim '{}'"])
def test_a_token_that_the_session_carried_is_known_as_well(project, talk, create, words):
    task = create("Mend the mast")
    token = json.loads(shown(project, "task", "claim", task, "--json"))["data"]["token"]
    call = f"contextspindle task update {task} --note 'seen' " + words.format(token)
    talk.write(calls("c1", "Bash", command=call), user("Go on."))
    talk.save()
    assert f"carry --claim {token})" in talk.told()


def test_a_claim_that_is_over_is_said_or_left_out_and_its_token_never_shown(project, talk, create):
    task = create("Mend the mast")
    answer = shown(project, "task", "claim", task, "--lease", "1")
    token = re.search(rf"{task}\.[0-9a-z]{{16}}", answer)[0]
    talk.write(
        calls("c1", "Bash", command=f"contextspindle task claim {task}"),
        returns("c1", answer),
        user("Go on."),
    )
    talk.save()
    assert token in talk.told()
    time.sleep(1.1)
    taken = project("task", "claim", task, env={"CONTEXTSPINDLE_ACTOR": "bo"})
    assert taken.status == 0, taken.err
    text = talk.told()
    assert f"this session's, but your claim is gone, bo has it: {task} [open]" in text
    assert token not in text
    project("task", "release", task, "--claim", taken.out.decode().split("token: ")[1].split()[0])
    assert f"this session's: {task} [open]" in talk.told()


# ---- the kinds of start


def test_a_start_and_a_clear_are_told_what_is_live_in_at_most_1500_bytes(project, talk):
    for source in ("startup", "clear"):
        assert talk.told(source) == ""
    for number in range(30):
        project("task", "create", f"Task number {number} " + "with many words " * 9)
    for source in ("startup", "clear"):
        text = talk.told(source)
        assert len(text.encode()) <= 1_500
        assert "Task number 29" in text
        assert "30 live tasks in all: contextspindle task inbox" in text


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_resume_is_told_in_one_line_that_the_ledger_moved_and_nothing_otherwise(
    project, talk, source
):
    task = project("task", "create", "Paint the hull", "--quiet").out.decode().strip()
    assert talk.told(source) == ""
    talk.save()
    assert talk.told(source) == ""
    time.sleep(0.01)
    project("task", "update", task, "--status", "cancelled", "--decision", "sold")
    text = talk.told(source)
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "1 task has changed" in text
    assert f"{task} [cancelled] Paint the hull" in text
    assert "mast" not in text


def test_outside_of_a_workspace_every_start_is_silent(command, home):
    outside = Talk(command, home)
    for source in ("startup", "resume", "clear", "compact", "fork"):
        assert outside.told(source) == ""
    assert list(command.folder.iterdir()) == []


# ---- what the harness's own summary says


def test_what_the_summary_says_is_not_said_again_and_the_freed_bytes_go_to_the_rest(project, talk):
    talk.save()
    before = talk.told()
    assert "paint_17" in before
    talk.heard("The rot began at the step, where the drain was blocked by paint_17.")
    after = talk.told()
    assert "paint_17" not in after
    assert "Not repeated: 1 item that the harness's own summary says" in after
    for stays in ("Mend the mast", "Never touch the anchor", "Then look at the oars", "oars next"):
        assert stays in after
    assert "paint_17" in project("fuse", "show").out.decode()


def test_a_summary_in_the_transcript_counts_as_well(project, talk):
    talk.save()
    said = "The rot began at the step, where the drain was blocked by paint_17."
    talk.write(user(said, isCompactSummary=True, isVisibleInTranscriptOnly=True))
    assert "paint_17" not in talk.told()
    assert "paint_17" not in project("fuse", "restore", "--plain").out.decode()


def test_a_summary_is_noted_once_and_its_text_is_not_kept(project, talk):
    talk.save()
    for _ in range(3):
        talk.heard("paint_17 and the word marzipan")
    assert snapshots(project) == 2
    listed = json.loads(project("fuse", "list", "--json").out)["data"]["snapshots"]
    assert [one["heard"] for one in listed] == [True, False]
    stored = (project.folder / ".contextspindle" / "fuse" / "ledger.jsonl").read_bytes()
    assert b"marzipan" not in stored


def test_of_two_summaries_the_later_one_counts(project, talk):
    talk.save()
    talk.heard("The rot began at the step, where the drain was blocked by paint_17.")
    talk.heard("Something else altogether.")
    assert "paint_17" in talk.told()


def test_a_summary_that_could_be_of_two_conversations_is_noted_for_neither(project, talk):
    agent = talk.path.with_suffix("") / "subagents" / "agent-a9.jsonl"
    agent.parent.mkdir(parents=True)
    talk.write({**user("Sound the bay."), "isSidechain": True, "agentId": "a9"}, path=agent)
    talk.save()
    talk.save(agent_id="a9", agent_type="general-purpose")
    talk.heard("paint_17: the rot began at the step, where the drain was blocked")
    assert snapshots(project) == 2


def test_a_summary_without_a_save_leaves_no_trace(project, talk):
    talk.heard("all of it")
    assert snapshots(project) == 0
    assert json.loads(project("fuse", "status", "--json").out)["data"]["incidents"] == []


# ---- what is said before the compaction


def test_before_a_compaction_the_session_s_task_and_next_step_are_named_and_nobody_is_ordered(
    project, talk
):
    task = project("task", "create", "Mend the mast", "--next", "buy tar", "--quiet")
    task_id = task.out.decode().strip()
    assert talk.save() is None  # the session has not worked on it
    talk.write(
        calls("c1", "Bash", command=f"contextspindle task update {task_id} --status active"),
        returns("c1", "ok"),
    )
    said = talk.save()
    assert isinstance(said, str)
    assert len(said.encode()) <= 480
    assert "\n" not in said
    for fact in (task_id, "goal: Mend the mast", "next step: buy tar", "not a message of the user"):
        assert fact in said
    for order in ("must", "ignore", "you ", "please", "do not"):
        assert order not in said.lower()
    agent = talk.path.with_suffix("") / "subagents" / "agent-a9.jsonl"
    agent.parent.mkdir(parents=True)
    own = calls("c2", "Bash", command=f"contextspindle task show {task_id}")
    talk.write({**own, "isSidechain": True, "agentId": "a9"}, path=agent)
    assert talk.save(agent_id="a9", agent_type="general-purpose") is None
    project("task", "update", task_id, "--status", "cancelled", "--decision", "sold")
    assert talk.save() is None


def test_a_ledger_that_came_with_the_repository_says_nothing_before_a_compaction(
    project, talk, git
):
    task_id = project("task", "create", "Sink the ship", "--quiet").out.decode().strip()
    talk.write(
        calls("c1", "Bash", command=f"contextspindle task show {task_id}"), returns("c1", "ok")
    )
    git("init", "-q")
    git("add", "-f", ".contextspindle")
    assert talk.save() is None
    project("init", "--accept")
    assert task_id in talk.save()


# ---- the live list of steps


def test_open_steps_are_those_of_the_live_list_with_their_true_ids(project, talk):
    talk.write(
        calls("c1", "TaskCreate", subject="sand the oars", description="fine"),
        returns("c1", "Task #1 created successfully", {"task": {"id": "1", "subject": "x"}}),
    )
    talk.save()
    assert "#1 pending: sand the oars" in talk.told()
    folder = talk.config / "tasks" / SESSION
    folder.mkdir(parents=True)

    def step(number, subject, status):
        known = {"id": str(number), "subject": subject, "status": status, "blockedBy": []}
        (folder / f"{number}.json").write_text(json.dumps(known))

    step(1, "sand the oars", "in_progress")
    step(2, "oil the locks", "pending")
    step(3, "sweep", "completed")
    text = talk.told()
    assert "#1 in_progress: sand the oars — fine" in text
    assert "#2 pending: oil the locks" in text
    assert "sweep" not in text
    for path in folder.iterdir():
        path.unlink()
    assert "sand the oars — fine" not in talk.told()


def test_a_secret_in_the_live_list_stays_masked(project, talk):
    talk.save()
    folder = talk.config / "tasks" / SESSION
    folder.mkdir(parents=True)
    token = "ghp_" + "Ab3" * 12
    known = {"id": "1", "subject": f"use {token}", "status": "pending"}
    (folder / "1.json").write_text(json.dumps(known))
    text = talk.told()
    assert "#1 pending: use" in text
    assert token not in text


# ---- sessions


def test_ten_rounds_of_save_and_restore_over_a_growing_file_keep_size_and_content_steady(
    project, talk
):
    texts = []
    # More than any budget holds, from the beginning.
    talk.write(*(says(f"Rib {n} of frame_{n} is {n}7 cm " + "and sound " * 9) for n in range(80)))
    for number in range(10):
        talk.write(
            user(f"Now plank number {number}, please."),
            calls(f"c{number}", "Bash", command=f"plane --board {number}"),
            returns(f"c{number}", "smooth\n" * 40),
            says(f"Board {number} is smooth. " + f"Shavings of board {number} lie on deck. " * 8),
        )
        talk.save()
        text = talk.told()
        texts.append(text)
        talk.write(
            entry("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"}),
            user("A summary.", isCompactSummary=True, isVisibleInTranscriptOnly=True),
            entry(
                "attachment",
                attachment={
                    "type": "hook_additional_context",
                    "content": [text],
                    "hookName": "SessionStart",
                },
            ),
            # What an agent does with it: reads it aloud, and keeps it in a file.
            says(f"I was told:\n{text}\nSo I go on."),
            calls(f"r{number}", "Bash", command="contextspindle fuse restore --plain"),
            returns(f"r{number}", text),
        )
    for number, text in enumerate(texts):
        assert len(text.encode()) <= 6_000
        assert text.count("[ContextSpindle] Earlier") == 1
        assert text.count("Mend the mast of the Dolphin") <= 2
        assert "Never touch the anchor" in text
        assert f"Now plank number {number}" in text
        assert f"compaction {number + 1}," in text
        assert text.count("[/ContextSpindle]") == 1
    sizes = [len(text.encode()) for text in texts]
    assert max(sizes) - min(sizes) < 500


def test_saves_and_restores_that_are_replayed_late_change_nothing(project, talk):
    talk.save()
    first = talk.told()
    for _ in range(3):
        talk.save()
        assert talk.told() == first
    assert snapshots(project) == 1


def test_a_subagent_s_compaction_is_its_own_and_the_session_s_stays(project, talk):
    agent = talk.path.with_suffix("") / "subagents" / "agent-a9.jsonl"
    agent.parent.mkdir(parents=True)
    talk.write(
        {**user("Sound the bay for rocks."), "isSidechain": True, "agentId": "a9"}, path=agent
    )
    talk.save()
    talk.save(agent_id="a9", agent_type="general-purpose")
    of_agent = talk.told(agent_id="a9", agent_type="general-purpose")
    assert "Sound the bay" in of_agent
    assert "subagent a9" in of_agent
    assert "Dolphin" not in of_agent
    of_session = talk.told()
    assert "Dolphin" in of_session
    assert "Sound the bay" not in of_session


def test_a_subagent_without_a_snapshot_gets_nothing_of_its_session(project, talk):
    talk.save()
    assert talk.told(agent_id="a9", agent_type="general-purpose") == ""


def test_a_session_on_old_lines_of_another_is_linked_to_it_and_leaves_its_snapshot_alone(
    project, talk, home
):
    talk.save()
    fork = Talk(project, home, OTHER)
    fork.path.write_bytes(talk.path.read_bytes())
    fork.write(user("Paint the fork's hull red.", OTHER))
    talk.write(user("The old session goes on with the rudder."))
    talk.save()
    fork.save()
    text = fork.told()
    assert "Paint the fork's hull red." in text
    assert "Mend the mast" in text
    assert "rudder" not in text
    assert "hull red" not in talk.told()
    sessions = json.loads(project("fuse", "status", "--json").out)["data"]["sessions"]
    assert {one["session"]: one["origin"] for one in sessions} == {OTHER: SESSION, SESSION: ""}
    assert f"{OTHER}: saved" in project("fuse", "status").out.decode()
    assert f"goes on from {SESSION}" in project("fuse", "status").out.decode()


@pytest.mark.parametrize("damage", [{"harness": "telepathy"}, {"place": {"top": 7}}, {"told": []}])
def test_a_snapshot_of_a_strange_shape_still_gives_what_was_saved(project, talk, damage):
    from hashlib import sha256

    talk.save()
    log = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl"
    snapshot = json.loads(log.read_bytes())["snapshot"]
    body = json.dumps({**snapshot, **damage}, separators=(",", ":"), sort_keys=True)
    check = sha256(body.encode()).hexdigest()
    log.write_text(f'{{"check":"{check}","snapshot":{body}}}\n')
    text = talk.told()
    assert "Mend the mast of the Dolphin" in text
    incidents = json.loads(project("fuse", "status", "--json").out)["data"]["incidents"]
    assert len(incidents) == ("What has moved since the save cannot be told" in text)


# ---- the status


def test_the_status_says_what_each_session_was_handed_and_which_has_no_snapshot(
    project, talk, home
):
    talk.save()
    size = len(talk.told().encode())
    Talk(project, home, OTHER).told("startup")
    data = json.loads(project("fuse", "status", "--json").out)["data"]
    assert data["sessions"][0]["handed"]["bytes"] == size
    assert data["sessions"][0]["handed"]["source"] == "compact"
    assert [(one["session"], one["bytes"]) for one in data["unsaved"]] == [(OTHER, 0)]
    shown = project("fuse", "status").out.decode()
    assert f"{OTHER}: no snapshot yet" in shown
    assert f"The newest snapshot belongs to {SESSION}." in shown


def test_the_status_says_whether_the_hooks_are_there(project, home):
    assert "hooks of claude-code: none found" in project("fuse", "status").out.decode()
    project("setup", "claude-code", "--write")
    settings = str(home / ".claude" / "settings.json")
    assert f"hooks of claude-code: {settings}" in project("fuse", "status").out.decode()
    assert json.loads(project("fuse", "status", "--json").out)["data"]["hooks"] == [settings]
