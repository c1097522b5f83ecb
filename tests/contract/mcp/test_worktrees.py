"""A client in a linked worktree, which shares its workspace with others."""

from __future__ import annotations

import subprocess

import pytest

from contextspindle import make_workspace

from .test_workspaces import Folders


@pytest.mark.parametrize("kind", ["a checkout", "a bare repository"])
@pytest.mark.parametrize("opened", [True, False], ids=["open folder", "none open"])
def test_in_a_linked_worktree_a_path_is_one_of_its_own_files(inside, tmp_path, kind, opened):
    main, side = tmp_path / "main", tmp_path / "side"
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(main))
    subprocess.run(("git", "init", "-q", str(main)), check=True)
    subprocess.run((*git, "commit", "-q", "--allow-empty", "-m", "x"), check=True)
    if kind == "a bare repository":
        bare = tmp_path / "bare"
        subprocess.run(("git", "clone", "-q", "--bare", str(main), str(bare)), check=True)
        git = (*git[:-1], str(bare))
    else:
        (main / "report.txt").write_text("of the main worktree")
    subprocess.run((*git, "worktree", "add", "-q", "-b", "side", str(side)), check=True)
    make_workspace(str(bare if kind == "a bare repository" else main))
    (side / "report.txt").write_text("of the side")

    async def talk(call):
        assert not (await call("task_inbox", workspace=".")).error
        task = (await call("task_create", goal="g")).task
        for path in ("report.txt", str(side / "report.txt")):
            said = await call("task_update", id=task, evidence_files=[path])
            assert not said.error, said.text
        said = await call("task_show", id=task)
        assert str(side / "report.txt") in said.text
        (side / "report.txt").write_text("another")
        assert "has changed" in (await call("task_show", id=task)).text
        said = await call("task_update", id=task, evidence_files=[str(tmp_path / "else.txt")])
        assert said.code == "WORKSPACE_REFUSED"

    more = {"list_roots_callback": Folders(side)} if opened else {}
    inside(talk, cwd=side, **more)
