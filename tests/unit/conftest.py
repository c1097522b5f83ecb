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
        assert done.returncode == 0, done.stderr

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
