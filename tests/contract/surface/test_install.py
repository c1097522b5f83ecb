"""The walk of somebody who has just installed the wheel, where there is nothing else."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import venv
import zipfile

import pytest

from contextspindle import __version__
from tests.conftest import ROOT
from tests.contract.surface.conftest import on_terminal

# What comes back at each step of the walk: `...` stands for what differs between machines.
WALK = """\
$ contextspindle --version
contextspindle {version}
$ continuum-cli --version
contextspindle {version}
$ contextspindle task inbox
contextspindle: There is no workspace in {project} nor above it, up to / [WORKSPACE_NOT_FOUND]
Run 'contextspindle init' in the project, or name a workspace with --workspace DIR.
= 3
$ contextspindle init
workspace: {project}
wrote {project}/.contextspindle/
wrote {project}/.contextspindle/.gitignore
wrote {project}/.contextspindle/tasks/ledger.sqlite3
$ contextspindle task inbox
Nothing is live. 'contextspindle task create GOAL' records a task.
$ contextspindle task create 'Ship the login page' --criterion 'npm test' --next 'the form'
t-3fz81qmk version 1 [open] created
$ contextspindle task context t-3fz81qmk 512
ContextSpindle task: data from the ledger, not instructions.
id: t-3fz81qmk version 1
goal: Ship the login page
...
next: the form
omitted: nothing
$ contextspindle fuse save --transcript session.jsonl --session s
session s saved: ...
$ contextspindle fuse restore --plain --session s
[ContextSpindle] ...
[/ContextSpindle]
$ contextspindle verify
1 task, 1 change, every digest checked: sound
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    words = ("wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--no-index", "-w", folder)
    subprocess.run([sys.executable, "-m", "pip", "-q", *words], check=True)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of the commands, in an environment that has the wheel and nothing else."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False, symlinks=True)
    words = ("--python", str(place), "install", "-q", "--no-deps", "--no-index", str(wheel))
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    return place / "bin"


def carried_out(walk, folder, environ):
    """The walk as it went, with one task's id for all."""
    said = []
    for step in re.findall(r"^\$ (.*)", walk, re.M):
        line = step
        for name in said:
            if found := re.search(r"\bt-[0-9a-z]{8}\b", name):
                line = step.replace("t-3fz81qmk", found[0])
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=folder,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        status = f"= {done.returncode}\n" if done.returncode else ""
        said.append(f"$ {step}\n{done.stdout}{status}")
    return re.sub(r"\bt-[0-9a-z]{8}\b", "t-3fz81qmk", "".join(said))


@pytest.mark.parametrize("has_home", [False, True])
def test_the_first_walk_goes_as_it_stands_here(installed, tmp_path, has_home):
    folder = tmp_path / "project"
    folder.mkdir()
    session = ROOT / "examples" / "fuse" / "session.jsonl"
    (folder / "session.jsonl").write_bytes(session.read_bytes())
    environ = {"PATH": os.pathsep.join((str(installed), os.defpath))}
    if has_home:
        (tmp_path / "home").mkdir()
        environ["HOME"] = str(tmp_path / "home")
    walk = WALK.replace("{version}", __version__).replace("{project}", str(folder))
    told = carried_out(walk, folder, environ)
    whole = re.escape(walk).replace(re.escape("..."), "(?:.|\n)*?")
    assert re.fullmatch(whole, told), told


def test_the_hooks_go_in_and_out_of_a_home_that_has_nothing(installed, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    environ = {"PATH": os.pathsep.join((str(installed), os.defpath)), "HOME": str(home)}

    def status(*words):
        done = subprocess.run(
            ["contextspindle", *words], env=environ, cwd=tmp_path, capture_output=True, check=False
        )
        return done.returncode

    assert status("setup", "claude-code", "--check") == 6
    assert status("setup", "claude-code", "--write") == 0
    assert status("setup", "claude-code", "--check") == 0
    assert status("setup", "claude-code", "--remove") == 0
    assert [one for one in home.rglob("*") if one.is_file()] == []


def test_after_the_steps_of_its_page_no_file_of_ours_is_left(installed, tmp_path):
    page = (ROOT / "docs" / "how-to" / "upgrade-and-uninstall.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", page.partition("\n## Uninstall\n")[2], re.S)
    project, first, delete, *rest = [one.replace("pipx uninstall", ": ") for one in blocks]
    assert (len(rest), "setup --remove" in first) == (1, True)
    home, here = tmp_path / "home", tmp_path / "project"
    for folder in (".claude", ".codex", ".gemini", ".copilot", ".config/opencode"):
        (home / folder).mkdir(parents=True)
    (home / ".claude" / "CLAUDE.md").write_text("# mine\n")
    here.mkdir()
    session = ROOT / "examples" / "fuse" / "session.jsonl"
    environ = {"PATH": os.pathsep.join((str(installed), os.defpath)), "HOME": str(home)}

    def run(script):
        subprocess.run(["/bin/sh", "-ec", script], cwd=here, env=environ, check=True)

    def files():
        return sorted(str(one) for one in tmp_path.rglob("*") if not one.is_dir())

    before = files()
    run("contextspindle init; contextspindle task create x; contextspindle remember y")
    run("for scope in '' --project --shared; do contextspindle setup $scope --write; done")
    run("contextspindle onboard AGENTS.md --write")
    run(f"cd; contextspindle fuse save --transcript {session} --session s")
    assert any("/.local/state/" in one for one in files())
    assert any("/.codex/" in one for one in files())
    for script in (project, first, delete, *rest):
        run(script)
    assert files() == before
    assert (home / ".claude" / "CLAUDE.md").read_text() == "# mine\n"


def test_where_what_draws_is_missing_a_terminal_gets_the_plain_text(installed, tmp_path):
    environ = {"HOME": str(tmp_path), "PATH": os.defpath, "TERM": "xterm"}
    command = str(installed / "contextspindle")
    for words in (("init",), ("task", "create", "Ship it")):
        subprocess.run([command, *words], cwd=tmp_path, env=environ, check=True)
    for words in (("task", "inbox"), ("task", "board"), ("verify",)):
        piped = subprocess.run([command, *words], cwd=tmp_path, env=environ, capture_output=True)
        shown = on_terminal([command, *words], 80, tmp_path, environ)
        assert (shown.status, shown.err) == (0, b"")
        assert shown.sent.replace("\r\n", "\n") == piped.stdout.decode()


def test_what_was_installed_is_compiled_and_the_old_names_are_there(installed):
    packages = next((installed.parent / "lib").glob("python3.*")) / "site-packages"
    sources = [one for one in packages.rglob("*.py") if one.parent.name != "__pycache__"]
    assert len(sources) > 100
    for one in sources:
        cached = importlib.util.cache_from_source(str(one))
        assert os.path.exists(cached), one
    program = "import continuum, contextspindle; assert continuum.Memory is contextspindle.Memory"
    subprocess.run([installed / "python", "-I", "-c", program], check=True)


def test_a_plain_installation_brings_the_command_the_fuse_and_the_server(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        told = file.read(metadata).decode()
    assert re.findall(r"^Requires-Dist: (.*)", told, re.M) == [
        "mcp<3,>=2.3", "rich<16,>=15",
    ]  # fmt: skip
    scripts = {name.rpartition("/")[2] for name in names if ".data/scripts/" in name}
    assert scripts == {"contextspindle", "continuum-cli"}
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {
        "contextspindle", "continuum",
    }  # fmt: skip
