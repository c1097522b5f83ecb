"""A task begun in one program and gone on with in another, by the hooks and commands of each."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.transcripts import SESSION, calls, returns, says, user, written

CODEX = "01a229a6-3f20-7f43-8f7f-e7c242999bb0"


@pytest.fixture
def project(command):
    assert command("init").status == 0
    return command


@pytest.fixture
def git(command):
    def run(*words):
        person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(
            ["git", *person, *words],
            cwd=command.folder,
            env={**command.environment, "GIT_CONFIG_NOSYSTEM": "1"},
            check=True,
            capture_output=True,
        )

    return run


def hook(project, words, event, session, path="", **fields):
    payload = {"hook_event_name": event, "session_id": session, "transcript_path": str(path)}
    payload |= {"cwd": str(project.folder), **fields}
    done = project(*words.split(), input=json.dumps(payload).encode())
    assert (done.status, done.err) == (0, b"")
    if not done.out:
        return ""
    return json.loads(done.out)["hookSpecificOutput"]["additionalContext"]


def of_claude(folder, task):
    """A session of Claude Code that works on a task."""
    command = f"contextspindle task update {task} --next 'sew the sail'"
    told = [user("Build the kite."), calls("c1", "Bash", command=command), returns("c1", "ok")]
    return written(folder / "claude.jsonl", [*told, says("The frame is glued.")])


def of_codex(folder, task):
    """A session of Codex that works on a task through the tools."""

    def item(**payload):
        return {"timestamp": "2026-01-31T09:30:00Z", "type": "response_item", "payload": payload}

    def message(role, kind, text):
        return item(type="message", role=role, content=[{"type": kind, "text": text}])

    given = json.dumps({"id": task, "next": "fly it"})
    lines = [
        {"timestamp": "x", "type": "session_meta", "payload": {"id": CODEX, "cwd": str(folder)}},
        message("user", "input_text", "Go on with the kite."),
        item(
            type="function_call",
            name="contextspindle_task_update",
            namespace="mcp__contextspindle",
            arguments=given,
            call_id="1",
        ),
        item(type="function_call_output", call_id="1", output="ok"),
        message("assistant", "output_text", "The sail is sewn."),
    ]
    return written(folder / f"rollout-2026-01-31T09-30-00-{CODEX}.jsonl", lines)


def test_each_program_is_told_where_the_other_left_off_on_the_one_task_they_share(project):
    made = project("task", "create", "Build the kite", "--criterion", "it flies", "--quiet")
    task = made.out.decode().strip()
    assert made.status == 0, made.err
    path = of_claude(project.folder, task)
    assert hook(project, "fuse save", "SessionEnd", SESSION, path, reason="other") == ""
    words = "fuse restore --harness codex"
    told = hook(project, words, "SessionStart", CODEX, source="startup")
    assert f"another session, claude-code session {SESSION}" in told
    assert 'its agent left off: "The frame is glued."' in told
    path = of_codex(project.folder, task)
    hook(project, "fuse save --harness codex", "SessionEnd", CODEX, path, reason="other")
    told = hook(project, "fuse restore", "SessionStart", "new", source="startup")
    assert f"another session, codex session {CODEX}" in told
    assert 'its agent left off: "The sail is sewn."' in told
    assert SESSION not in told
    handed = project("fuse", "restore", "--from", CODEX[:13], "--json").data
    assert (handed["session"], handed["harness"]) == (CODEX, "codex")
    assert "The record of another session of codex" in handed["text"]
    assert "Go on with the kite." in handed["text"]
    status = project("fuse", "status", "--json").data
    assert [one["harness"] for one in status["sessions"]] == ["codex", "claude-code"]
    assert status["incidents"] == []


@pytest.mark.parametrize("where", ["wt-a", "wt-b", "link"])
def test_what_was_said_in_one_worktree_is_quoted_in_no_other(command, tmp_path, git, where):
    git("init", "-q", ".")
    git("commit", "-q", "--allow-empty", "-m", "x")
    for name in ("wt-a", "wt-b"):
        git("worktree", "add", "-q", str(tmp_path / name))
    (tmp_path / "link").symlink_to(tmp_path / "wt-a")
    assert command("init").status == 0
    task = command("task", "create", "Build the kite", "--quiet").out.decode().strip()
    path = of_claude(tmp_path, task)
    hook(command, "fuse save", "SessionEnd", SESSION, path, cwd=str(tmp_path / "wt-a"))
    folder = str(tmp_path / where)
    words = "fuse restore --harness codex"
    told = hook(command, words, "SessionStart", CODEX, source="startup", cwd=folder)
    assert f"{task} was last worked on in another session, claude-code session {SESSION}" in told
    assert f"All of it: contextspindle fuse restore --from {SESSION}" in told
    assert ("The frame is glued." in told) == (where != "wt-b")


def test_the_end_of_a_session_makes_no_workspace_and_no_incident(command, tmp_path):
    path = of_claude(tmp_path, "t-00000001")
    hook(command, "fuse save", "SessionEnd", SESSION, path)
    assert list(command.folder.iterdir()) == []
    assert command("init").status == 0
    hook(command, "fuse save", "SessionEnd", SESSION, tmp_path / "gone.jsonl")
    status = command("fuse", "status", "--json").data
    assert (status["sessions"], status["incidents"]) == ([], [])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--from", "none"), "SNAPSHOT_NOT_FOUND"),
        (("--from", "a", "--session", "b"), "INVALID_INPUT"),
    ],
)
def test_a_session_that_cannot_be_meant_is_refused(project, words, code):
    done = project("fuse", "restore", *words, "--json")
    assert done.error["code"] == code
