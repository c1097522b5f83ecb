"""What unit tests share: git, run with nobody's settings, and ledgers that are closed again."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from contextspindle.actions.ledger import Ledger
from contextspindle.workspace import Workspace


@pytest.fixture
def git(home: Path):
    """Run git; the test fails if git does."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    always = ["git", *person, "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]

    def run(*words: str | Path) -> None:
        done = subprocess.run([*always, *map(str, words)], env=environ, capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


@pytest.fixture
def ledger_of():
    """The ledger of a workspace; what it holds open is closed when the test ends."""
    with contextlib.ExitStack() as closing:

        def opened(place: Workspace) -> Ledger:
            ledger = place.ledger()
            closing.callback(ledger._store.close)
            return ledger

        yield opened


@pytest.fixture
def tree(tmp_path: Path, monkeypatch) -> Path:
    """A project outside of any git checkout."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.c").write_text("int main;\n")
    (folder / "README").write_text("read me\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def repo(tree: Path, git) -> Path:
    """The same as a git checkout with one commit; builds are ignored."""
    (tree / ".gitignore").write_text("*.o\nbuild/\n")
    git("init", tree)
    git("-C", tree, "add", ".")
    git("-C", tree, "commit", "-m", "first")
    return tree
