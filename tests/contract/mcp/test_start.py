"""How the server finds the SDK: beside itself, elsewhere in the environment, or nowhere."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import contextspindle

from .conftest import HELLO

LAUNCHED = """
import sys
sys.path.append(sys.argv[1])
del sys.argv[1]
from contextspindle.cli import leave
leave()
"""


@pytest.fixture
def alone(tmp_path) -> Path:
    """A folder that holds our package and nothing beside it."""
    place = tmp_path / "alone"
    shutil.copytree(
        Path(contextspindle.__file__).parent,
        place / "contextspindle",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return place


def launched(python, place, project, *words):
    """The command as the launcher starts it: isolated, and without ``site``."""
    return subprocess.run(
        [python, "-I", "-S", "-c", LAUNCHED, str(place), *words],
        input=json.dumps(HELLO).encode() + b"\n",
        capture_output=True,
        cwd=project.folder,
        env=project.environment,
        timeout=60,
    )


def test_the_sdk_is_found_where_the_interpreter_looks_ordinarily(alone, project):
    done = launched(sys.executable, alone, project, "mcp")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "contextspindle"


def test_without_the_sdk_it_says_what_is_missing_and_the_rest_works(alone, project):
    python = sys._base_executable
    has = subprocess.run([python, "-I", "-c", "import mcp.server"], capture_output=True)
    if has.returncode == 0:
        pytest.skip("the interpreter below this environment has the SDK itself")
    done = launched(python, alone, project, "mcp")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"The package mcp is missing" in done.stderr
    assert launched(python, alone, project, "task", "inbox").returncode == 0
    shown = launched(python, alone, project, "mcp", "--json")
    assert len(json.loads(shown.stdout)["data"]["tools"]) > 10
