"""The examples run as they stand, and show what their page says they show."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import contextspindle
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"


def run(command, name, *words, **environ):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words],
        capture_output=True,
        text=True,
        cwd=command.folder,
        env={**command.environment, **environ},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_second_agent_goes_on_where_the_first_was_killed(command):
    said = run(command, "handover.py", command.path)
    assert "ann is gone: signal 9" in said
    size = re.search(r"I know this from ([\d]+) bytes", said)
    assert size
    assert int(size[1]) <= 2_048
    known = said.partition("from nothing else:\n")[2]
    for kind in (
        "goal",
        "criterion 1",
        "criterion 2",
        "decision 1",
        "evidence 1",
        "note 1",
        "next",
    ):
        assert f"\n  {kind}" in f"\n{known}"
    assert "[done] updated" in known


def test_the_second_agent_knows_what_stands_in_the_handoff_and_nothing_else(project):
    goal = ("task", "create", "Mend the mast", "--criterion", "it stands", "--criterion", "dry")
    task = project(*goal, "--next", "saw the beam", "--quiet").out.decode().strip()
    project(
        *("task", "update", task, "--status", "active", "--decision", "oak, not pine"),
        *("--note", "the wood is here", "--evidence", "looked at it", "--for", "1"),
    )
    said = run(
        project, "handover.py", project.path, "bob", CONTEXTSPINDLE_WORKSPACE=str(project.folder)
    )
    known = re.sub(r" \([^)]*\):", ":", said.partition("from nothing else:\n")[2])
    assert known.splitlines()[:-1] == [
        "  goal: Mend the mast",
        "  criterion 1: it stands",
        "  criterion 2: dry",
        "  decision 1: oak, not pine",
        "  evidence 1: [criterion 1, fresh] looked at it",
        "  note 1: the wood is here",
        "  next: saw the beam",
    ]


def test_the_library_does_what_its_example_shows(command):
    said = run(command, "library.py")
    for words in (
        ", version 1, open\n",
        "refused: DONE_REFUSED\n",
        "done in version 3\n",
        "\ngoal: Ship the login page\n",
        "remembered: Staging is reset every night at two\n",
        "its versions: [1, 2, 3]\n",
    ):
        assert words in said


def test_the_library_example_uses_what_the_package_offers_and_nothing_deeper():
    tree = ast.parse((EXAMPLES / "library.py").read_text(encoding="utf-8"))
    taken = {
        one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "contextspindle"
        for one in node.names
    }
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert taken <= set(contextspindle.__all__)
    assert modules == {"__future__", "contextspindle"}


def test_every_example_is_on_the_page_of_the_examples():
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for path in EXAMPLES.iterdir():
        shown = f"`{path.name}/`" if path.is_dir() else f"`{path.name}`"
        assert path.name in ("README.md", "__pycache__") or shown in page


def test_an_example_without_a_command_finds_the_one_beside_its_python(command, tmp_path):
    environ = {**command.environment, "PATH": os.defpath}
    script = str(EXAMPLES / "handover.py")
    beside = Path(sys.executable).with_name("contextspindle")
    if beside.exists():
        done = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, env=environ, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [sys.executable, script, str(tmp_path / "none")],
        capture_output=True,
        text=True,
        env=environ,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"{tmp_path}/none cannot be run. Install the package first (pipx install .), or name"
        " the command: handover.py COMMAND\n"
    )
