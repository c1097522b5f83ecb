"""What was reported of sessions that were taken for another, tried on ours."""

from __future__ import annotations

import json
import shutil
import subprocess
import time

import pytest


def line(said, session="s-1", role="user", **more):
    message = {"role": role, "content": said}
    return (
        json.dumps(
            {
                "type": role,
                "sessionId": session,
                "uuid": "u",
                "isSidechain": False,
                "message": message,
                **more,
            }
        )
        + "\n"
    )


@pytest.fixture
def hook(project):
    """A function that runs a hook of a session; gives what the agent is told."""

    def run(event, session, path="/none", cwd=None, **more):
        verb = "save" if event == "PreCompact" else "restore"
        more.setdefault(
            "trigger" if verb == "save" else "source", "auto" if verb == "save" else "compact"
        )
        payload = {
            "hook_event_name": event,
            "session_id": session,
            "transcript_path": str(path),
            "cwd": str(cwd or project.folder),
            **more,
        }
        done = project("fuse", verb, input=json.dumps(payload).encode(), cwd=cwd)
        assert (done.status, done.err) == (0, b"")
        if not done.out:
            return ""
        return json.loads(done.out)["hookSpecificOutput"]["additionalContext"]

    return run


@pytest.fixture
def git(project):
    def run(*words, cwd=None):
        environ = {**project.environment, "GIT_CONFIG_NOSYSTEM": "1"}
        person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(
            ["git", *person, *words],
            cwd=cwd or project.folder,
            env=environ,
            check=True,
            capture_output=True,
        )

    run("init", "-q", "-b", "main")
    run("commit", "-q", "--allow-empty", "-m", "first")
    return run


def test_si01_of_two_sessions_in_one_file_only_the_hook_s_own_is_read(project, hook):
    path = project.folder / "both.jsonl"
    mine = [line("Mend the mast."), line("Then the oars.")]
    other = [line("Sink the ship.", "s-2"), line("Burn the sails.", "s-2")]
    path.write_text(mine[0] + other[0] + mine[1] + other[1] + line("no id", ""))
    hook("PreCompact", "s-1", path)
    text = hook("SessionStart", "s-1", path)
    assert "Then the oars." in text
    assert "Sink" not in text
    assert "Burn" not in text
    saved = project("fuse", "save", "--transcript", str(path), "--session", "s-1", "--json").data
    assert saved["reading"]["foreign"] == 2


def test_si04_what_was_made_in_a_worktree_is_found_when_it_is_gone(project, git, hook, tmp_path):
    side = tmp_path / "side"
    git("worktree", "add", "-q", str(side), "-b", "side")
    path = tmp_path / "t.jsonl"
    path.write_text(line("Mend the mast."))
    hook("PreCompact", "s-1", path, cwd=side)
    assert project("task", "create", "Paint the hull", cwd=side).status == 0
    git("worktree", "remove", "--force", str(side))
    assert b"Paint the hull" in project("task", "inbox").out
    text = hook("SessionStart", "s-1", path)
    assert "Mend the mast." in text
    assert f"The folder that it worked in is gone: {side}" in text


@pytest.mark.parametrize("pointed", [True, False], ids=["a .git file beside it", "nothing beside"])
def test_si04_the_same_where_the_repository_is_bare_and_all_worktrees_are_linked(
    project, git, hook, tmp_path, pointed
):
    shop = tmp_path / "shop"
    git("clone", "-q", "--bare", str(project.folder), str(shop / ".bare"))
    if pointed:
        (shop / ".git").write_text("gitdir: ./.bare\n")
    for name in ("feat", "other"):
        git("-C", str(shop / ".bare"), "worktree", "add", "-q", "-b", name, str(shop / name))
    path = tmp_path / "t.jsonl"
    path.write_text(line("Mend the mast."))
    assert project("init", cwd=shop / "feat").status == 0
    assert project("task", "create", "Paint the hull", cwd=shop / "feat").status == 0
    hook("PreCompact", "s-1", path, cwd=shop / "feat")
    assert b"Paint the hull" in project("task", "inbox", cwd=shop / "other").out
    git("-C", str(shop / ".bare"), "worktree", "remove", str(shop / "feat"))
    assert b"Paint the hull" in project("task", "inbox", cwd=shop / "other").out
    assert "Mend the mast." in hook("SessionStart", "s-1", path, cwd=shop / "other")


def test_si05_a_snapshot_that_was_cut_off_is_passed_over_and_the_one_before_is_named(project, hook):
    path = project.folder / "t.jsonl"
    path.write_text(line("Mend the mast."))
    hook("PreCompact", "s-1", path)
    log = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl"
    whole = log.read_bytes()
    path.write_text(line("Mend the mast.") + line("Then the oars."))
    hook("PreCompact", "s-1", path)
    newer = log.read_bytes()[len(whole) :]
    log.write_bytes(whole + newer[: len(newer) // 2])
    assert hook("SessionStart", "s-1", path, source="resume") == ""
    done = project("fuse", "restore", "--plain", "--json").data
    assert "Mend the mast." in done["text"]
    assert "oars" not in done["text"]
    assert (done["session"], "saved 20" in done["text"]) == ("s-1", True)
    assert project("fuse", "status", "--json").data["sessions"][0]["age"]


def test_si06_a_fork_is_linked_to_its_parent_and_knows_nothing_of_its_later_work(project, hook):
    old = project.folder / "a.jsonl"
    old.write_text(line("Mend the mast.", "a"))
    hook("SessionStart", "a", old, source="resume")
    hook("PreCompact", "a", old)
    new = project.folder / "b.jsonl"
    new.write_text(line("Mend the mast.", "a") + line("Paint it red.", "b"))
    old.write_text(line("Mend the mast.", "a") + line("Paint it blue.", "a"))
    hook("PreCompact", "a", old)
    hook("PreCompact", "b", new)
    text = hook("SessionStart", "b", new)
    assert "Paint it red." in text
    assert "Mend the mast." in text
    assert "blue" not in text
    assert "Paint it blue." in hook("SessionStart", "a", old)
    known = project("fuse", "status", "--json").data["sessions"]
    assert {one["session"]: one["origin"] for one in known} == {"a": "", "b": "a"}


def test_si06_a_fork_that_begins_behind_a_compaction_keeps_its_parent_s_goal_and_rules(
    project, hook
):
    old = project.folder / "a.jsonl"
    old.write_text(line("Mend the mast. Never touch the anchor.", "a"))
    hook("PreCompact", "a", old)
    handed = hook("SessionStart", "a", old)
    later = line("Paint it blue.", "a") + line("And the rudder green, if you can.", "a")
    old.write_text(old.read_text() + later)
    time.sleep(0.01)
    hook("PreCompact", "a", old)
    attachment = {
        "type": "hook_additional_context",
        "content": [handed],
        "hookEvent": "SessionStart",
    }
    kept = json.dumps(
        {
            "type": "attachment",
            "sessionId": "b",
            "isSidechain": False,
            "uuid": "u",
            "attachment": attachment,
        },
        separators=(",", ":"),
    )
    new = project.folder / "b.jsonl"
    summary = line("A short summary.", "b", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    new.write_text(summary + kept + "\n" + line("Paint it red.", "b"))
    hook("PreCompact", "b", new)
    text = hook("SessionStart", "b", new)
    goal = "(in the session before) Mend the mast."
    for fact in ("Paint it red.", goal, "Never touch the anchor."):
        assert fact in text
    assert "blue" not in text
    assert "Session b," in text


def test_si08_the_status_says_which_session_has_no_snapshot_and_whose_the_newest_is(project, hook):
    path = project.folder / "t.jsonl"
    path.write_text(line("Mend the mast.", "a"))
    hook("PreCompact", "a", path)
    hook("SessionStart", "b", path, source="resume")
    shown = project("fuse", "status").out.decode()
    assert "b: no snapshot yet" in shown
    assert "The newest snapshot belongs to a." in shown
    data = project("fuse", "status", "--json").data
    assert [one["session"] for one in data["unsaved"]] == ["b"]
    assert [one["session"] for one in data["sessions"]] == ["a"]


def test_si09_a_session_without_a_snapshot_gets_the_ledger_and_no_other_s_story(
    project, hook, create
):
    path = project.folder / "t.jsonl"
    path.write_text(line("The word is marzipan.", "a"))
    hook("PreCompact", "a", path)
    assert hook("SessionStart", "b") == ""
    create("Paint the hull")
    text = hook("SessionStart", "b")
    assert "Paint the hull" in text
    assert "No snapshot of this session was saved" in text
    assert "marzipan" not in text


def test_si10_a_word_said_in_one_worktree_is_not_heard_in_another(
    project, git, hook, create, tmp_path
):
    create("Paint the hull")
    for name in ("wt-a", "wt-b"):
        git("worktree", "add", "-q", str(tmp_path / name), "-b", name)
    path = tmp_path / "t.jsonl"
    path.write_text(line("The word is marzipan.", "a"))
    hook("PreCompact", "a", path, cwd=tmp_path / "wt-a")
    for source in ("startup", "compact", "resume", "clear", "fork"):
        text = hook("SessionStart", "b", cwd=tmp_path / "wt-b", source=source)
        assert "marzipan" not in text
        assert ("Paint the hull" in text) == (source in ("startup", "compact", "clear"))


def test_si10_it_is_not_heard_there_by_another_program_either(project, git, create, tmp_path):
    task = create("Paint the hull")
    for name in ("wt-a", "wt-b"):
        git("worktree", "add", "-q", str(tmp_path / name), "-b", name)
    call = {"command": f"contextspindle task update {task} --status active"}
    use = {"type": "tool_use", "id": "c1", "name": "Bash", "input": call}
    path = tmp_path / "t.jsonl"
    path.write_text(
        line("Go on.", "a")
        + line([use], "a", "assistant")
        + line([{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}], "a")
        + line([{"type": "text", "text": "The word is marzipan."}], "a", "assistant")
    )

    def hook(event, verb, cwd, **more):
        payload = {"hook_event_name": event, "cwd": str(cwd), **more}
        done = project("fuse", *verb, input=json.dumps(payload).encode(), cwd=cwd)
        assert (done.status, done.err) == (0, b"")
        return done.out.decode()

    hook("PreCompact", ["save"], tmp_path / "wt-a", session_id="a", transcript_path=str(path))
    for name, heard in (("wt-b", False), ("wt-a", True)):
        start = {"session_id": "new", "transcript_path": None, "source": "startup"}
        verb = ["restore", "--harness", "codex"]
        text = hook("SessionStart", verb, tmp_path / name, **start)
        assert "contextspindle fuse restore --from a" in text
        assert ("marzipan" in text) == heard


def test_si12_what_has_moved_in_the_repository_since_is_said(project, git, hook):
    (project.folder / "a.txt").write_text("one")
    git("add", "a.txt")
    git("commit", "-q", "-m", "second")
    path = project.folder / "t.jsonl"
    path.write_text(line("Mend the mast."))
    time.sleep(0.02)
    hook("PreCompact", "s-1", path)
    assert "since the save" not in hook("SessionStart", "s-1", path)
    time.sleep(0.02)
    for number in (1, 2):
        git("commit", "-q", "--allow-empty", "-m", f"change {number}")
    (project.folder / "a.txt").write_text("dirty")
    text = hook("SessionStart", "s-1", path)
    assert "2 commits since the save" in text
    assert "next steps may be outdated" in text
    assert "Changed on disk since the save: a.txt." in text


def test_si14_settings_that_are_committed_do_not_hide_the_ledger_in_a_worktree(
    project, git, create, tmp_path
):
    (project.folder / ".contextspindle" / "config.json").write_text('{"actor": "ada"}')
    git("add", "-f", ".contextspindle/config.json", ".contextspindle/.gitignore")
    git("commit", "-q", "-m", "settings")
    task = create("Paint the hull")
    side = tmp_path / "side"
    git("worktree", "add", "-q", str(side), "-b", "side")
    assert (side / ".contextspindle" / "config.json").exists()
    assert project("task", "list", "--quiet", cwd=side).out.decode().split() == [task]
    assert project("task", "create", "From the side", cwd=side).status == 0
    assert project("task", "list", "--json").data["total"] == 2
    assert not list(side.rglob("ledger.sqlite3"))


def test_si17_below_a_workspace_it_is_found_and_two_of_one_name_stay_apart(
    project, place, hook, create
):
    task = create("Paint the hull")
    below = project.folder / "sub" / "deep"
    below.mkdir(parents=True)
    assert project("task", "list", "--quiet", cwd=below).out.decode().split() == [task]
    path = project.folder / "t.jsonl"
    path.write_text(line("Mend the mast."))
    hook("PreCompact", "s-1", path, cwd=below)
    assert "Mend the mast." in hook("SessionStart", "s-1", path)
    assert not list(below.rglob(".contextspindle"))
    other = place("other") / "project"
    other.mkdir()
    project("init", ".", cwd=other)
    assert project("task", "list", "--quiet", cwd=other).out == b""
    # Nothing is there of what the first one saved; what the session itself says is its own.
    assert json.loads(project("fuse", "list", "--json", cwd=other).out)["data"]["total"] == 0
    assert hook("SessionStart", "s-1", path.with_name("none"), cwd=other) == ""


def test_si19_a_link_to_a_folder_is_the_folder(project, hook, create, tmp_path):
    task = create("Paint the hull")
    link = tmp_path / "by-another-name"
    link.symlink_to(project.folder)
    path = project.folder / "t.jsonl"
    path.write_text(line("Mend the mast."))
    hook("PreCompact", "s-1", path, cwd=link)
    assert "Mend the mast." in hook("SessionStart", "s-1", path)
    assert project("task", "list", "--quiet", cwd=link).out.decode().split() == [task]
    state = project.environment["XDG_STATE_HOME"]
    shutil.rmtree(state, ignore_errors=True)
    assert len(list(tmp_path.rglob("ledger.sqlite3"))) == 1
