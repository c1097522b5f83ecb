"""What commands say of a workspace that lies in a linked worktree, or is shared by several."""

from __future__ import annotations

import subprocess

from contextspindle.doctor import NOTE, OK

from .test_doctor import looked


def test_a_workspace_that_goes_with_a_linked_worktree_is_named(command, monkeypatch, tmp_path):
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path))
    subprocess.run((*git, "init", "-q", "origin"), check=True)
    subprocess.run((*git, "-C", "origin", "commit", "-q", "--allow-empty", "-m", "x"), check=True)
    subprocess.run((*git, "clone", "-q", "--bare", "origin", "bare"), check=True)
    bare, feat = tmp_path / "bare", tmp_path / "feat"
    subprocess.run((*git, "-C", "bare", "worktree", "add", "-q", str(feat)), check=True)
    monkeypatch.chdir(feat)
    assert f"All worktrees share one in {bare}\n" in command("init", ".", cwd=feat).out.decode()
    sound, passing = looked("workspace")
    assert (sound.state, passing.state) == (OK, NOTE)
    assert "git worktree remove" in passing.what
    assert f"Move .contextspindle and .continuum to {bare}, " in passing.do
    (feat / ".contextspindle").rename(bare / ".contextspindle")
    (moved,) = looked("workspace")
    assert moved.what == f"{bare}: the one of the worktrees of {feat}"
    assert b"linked worktree" not in command("init", cwd=feat).out
    # Where a session that is begun here has its project's settings, the doctor looks.
    settings = feat / ".claude" / "settings.json"
    assert command("setup", "claude-code", "--hooks", "--project", "--write", cwd=feat).status == 0
    assert settings.exists() or (feat / ".claude" / "settings.local.json").exists()
    assert any(str(feat) in one.what for one in looked("hooks")), looked("hooks")
    assert str(feat / ".claude") in command("fuse", "status", cwd=feat).out.decode()
