"""From where a path in an argument leads: where the agent works, as on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import mcp_types as types
import pytest

from contextspindle import make_workspace

from .conftest import HELLO, READY, asking


@pytest.fixture
def worktree(project, tmp_path):
    """A linked worktree of the project, with files of its own."""
    env = {**project.environment, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    who = ("-c", "user.email=a@example.org", "-c", "user.name=a")
    folder = tmp_path / "linked"

    def git(*words):
        subprocess.run(
            ["git", *who, *words], cwd=project.folder, env=env, check=True, capture_output=True
        )

    (project.folder / "f.txt").write_text("of the main checkout")
    git("init", "-q")
    git("add", "f.txt")
    git("commit", "-qm", "a")
    git("worktree", "add", "-q", str(folder))
    (folder / "f.txt").write_text("of the worktree")
    (folder / "new.txt").write_text("only there")
    return folder


def opened(*folders):
    async def answer(_context):
        uris = [types.Root(uri=one.as_uri()) for one in folders]
        return types.ListRootsResult(roots=uris)

    return {"list_roots_callback": answer}


def evidence_of(project, task):
    shown = json.loads(project("task", "show", task, "--json").out)
    return [one["file"]["path"] for one in shown["data"]["evidence"]]


async def proven(call, path, **given):
    task = (await call("task_create", goal="g", criteria=["c"], **given)).task
    return task, await call("task_update", id=task, evidence_files=[path], **given)


@pytest.mark.parametrize("how", ["the folder it runs in", "the open folder", "a named workspace"])
def test_a_file_is_taken_from_the_worktree_in_which_the_agent_works(inside, project, worktree, how):
    found = {}

    async def talk(call):
        for path in ("f.txt", "new.txt", str(worktree / "f.txt")):
            found[path], said = await proven(call, path)
            assert not said.error, said.text
        assert not (await call("task_backup", folder="copy")).error

    where = opened(worktree) if "open" in how else {"cwd": worktree}
    inside(talk, named=str(project.folder) if "named" in how else "", **where)
    for path, task in found.items():
        assert evidence_of(project, task) == [str(worktree / path)]
    assert (worktree / "copy" / "manifest.json").exists()
    assert not (project.folder / "copy").exists()


@pytest.mark.parametrize("how", ["the folder it runs in", "the open folder", "a named workspace"])
def test_a_file_is_taken_from_the_subfolder_in_which_the_agent_works(inside, project, how):
    below = project.folder / "pkg"
    below.mkdir()
    (below / "f.txt").write_text("below")
    (project.folder / "f.txt").write_text("at the top")
    found = []

    async def talk(call):
        for path in ("f.txt", "../f.txt"):
            task, said = await proven(call, path)
            assert not said.error, said.text
            found.append(task)
        assert (await proven(call, "../../f.txt"))[1].code == "WORKSPACE_REFUSED"

    where = opened(below) if "open" in how else {"cwd": below}
    inside(talk, named=str(project.folder) if "named" in how else "", **where)
    assert [evidence_of(project, task) for task in found] == [["pkg/f.txt"], ["f.txt"]]


def test_a_checkout_around_the_project_is_not_open_with_it(inside, tmp_path):
    project = tmp_path / "all" / "project"
    project.mkdir(parents=True)
    make_workspace(str(project))
    (tmp_path / "all" / ".git").mkdir()
    (tmp_path / "all" / "f.txt").write_text("of somebody else")

    async def talk(call):
        for given in ({}, {"workspace": str(project)}):
            assert (await proven(call, "../f.txt", **given))[1].code == "WORKSPACE_REFUSED"

    inside(talk, cwd=project)
    inside(talk, **opened(project))


def test_a_file_that_several_folders_hold_must_be_named_whole(inside, project):
    folders = [project.folder / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
        (folder / "f.txt").write_text(folder.name)
    (folders[1] / "g.txt").write_text("only there")

    async def talk(call):
        task, said = await proven(call, "f.txt")
        assert said.code == "INVALID_INPUT"
        assert all(str(folder / "f.txt") in said.text for folder in folders)
        assert evidence_of(project, task) == []
        task, said = await proven(call, str(folders[0] / "f.txt"))
        assert evidence_of(project, task) == ["one/f.txt"]
        task, said = await proven(call, "g.txt")
        assert evidence_of(project, task) == ["two/g.txt"]
        task, said = await proven(call, "f.txt", workspace=str(project.folder))
        assert said.code == "INVALID_INPUT"

    inside(talk, **opened(*folders))


def test_a_file_is_taken_from_the_folder_that_the_argument_names(inside, project):
    """Where the folder that is open leads to another workspace, or to none."""
    other = project.folder / "other"
    below = other / "below"
    below.mkdir(parents=True)
    make_workspace(str(other))
    for folder in (project.folder, other, below):
        (folder / "f.txt").write_text(folder.name)

    async def talk(call):
        for named, path in ((other, "f.txt"), (below, "below/f.txt")):
            _, said = await proven(call, "f.txt", workspace=str(named))
            assert not said.error, said.text
            shown = (await call("task_show", id=said.task, workspace=str(other))).text
            assert f"tester: {path}\n" in shown

    inside(talk)


def test_a_server_whose_folder_is_gone_says_so(project, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    started = subprocess.Popen(
        ["sh", "-c", 'rmdir "$PWD"; exec "$0" mcp', project.path],
        cwd=gone,
        env=project.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    lines = (HELLO, READY, asking(1, "task_inbox"))
    raw = "".join(json.dumps(one) + "\n" for one in lines)
    out, err = started.communicate(raw.encode(), timeout=60)
    answers = {one["id"]: one for one in map(json.loads, out.splitlines())}
    assert started.returncode == 0, err
    text = answers[1]["result"]["content"][0]["text"]
    assert "[WORKSPACE_NOT_FOUND]" in text


def test_a_path_is_utf_8_whatever_the_locale_says(project, tmp_path):
    place = tmp_path / "été 日本"
    place.mkdir()
    make_workspace(str(place))
    (place / "é.txt").write_text("x")
    lines = (
        HELLO,
        READY,
        asking(1, "task_create", goal="g", workspace=str(place)),
        asking(2, "task_backup", folder="é copy", workspace=str(place)),
    )
    done = subprocess.run(
        [sys.executable, "-m", "contextspindle", "mcp"],  # the launcher sees to UTF-8 itself
        input="".join(json.dumps(one) + "\n" for one in lines).encode(),
        capture_output=True,
        cwd="/",
        env={
            **project.environment,
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
        },
        timeout=60,
    )
    answers = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    for number in (1, 2):
        assert not answers[number]["result"].get("isError"), answers[number]
    assert (place / "é copy" / "manifest.json").exists()
