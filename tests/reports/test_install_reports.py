"""What was reported of set-ups that broke somebody's settings, tried on ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.conftest import Command

EVENTS = ("PreCompact", "SessionStart", "SubagentStop", "Stop", "PreToolUse", "SessionEnd")


@pytest.fixture
def settings(home) -> Path:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    return path


def foreign(command):
    return {"type": "command", "command": command, "timeout": 9}


def stored(path, event="SessionStart"):
    """The command that our hook runs."""
    groups = json.loads(path.read_text(encoding="utf-8"))["hooks"][event]
    commands = [one["command"] for group in groups for one in group["hooks"]]
    return next(one for one in commands if " fuse " in one)


@pytest.fixture
def installed(command_path, home):
    """A function that gives the command as another installation has it, below a folder."""

    def made(folder: Path) -> Command:
        place = folder / "venv" / "bin"
        place.mkdir(parents=True)
        shutil.copy(command_path, place / "contextspindle")
        real = Path(command_path).resolve().parents[1]
        (place / "python3").symlink_to(Path(os.path.dirname(command_path)) / "python3")
        (folder / "venv" / "lib").symlink_to(real / "lib")
        project = folder / "project"
        project.mkdir()
        return Command(str(place / "contextspindle"), project, home)

    return made


def answers(command, folder, payload, shells=("/bin/sh",), **environment):
    """What a stored hook gives the agent, run by each of the shells."""
    texts = set()
    for shell in shells:
        ran = subprocess.run(
            [shell, "-c", command],
            input=payload("SessionStart"),
            cwd=folder,
            env=environment,
            capture_output=True,
        )
        assert (ran.returncode, ran.stderr) == (0, b"")
        texts.add(json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"])
    return texts.pop()


def test_in01_foreign_hooks_stay_under_every_event_and_the_preview_shows_the_change(
    project, settings
):
    hooks = {event: [{"hooks": [foreign(f"theirs {event}")]}] for event in EVENTS}
    hooks["SessionStart"].append({"matcher": "compact", "hooks": [foreign("theirs compact")]})
    settings.write_text(json.dumps({"hooks": hooks}, indent=2) + "\n")
    before = settings.read_text()
    preview = project("setup", "claude-code", "--hooks").out.decode()
    assert settings.read_text() == before
    assert project("setup", "claude-code", "--hooks", "--write").status == 0
    after = settings.read_text()
    added = [row[1:] for row in preview.split("\n") if row.startswith("+") and row[:3] != "+++"]
    taken = [row[1:] for row in preview.split("\n") if row.startswith("-") and row[:3] != "---"]
    rows = after.split("\n")
    assert all(row in rows for row in added)
    assert all(row.rstrip(",") in [one.rstrip(",") for one in rows] for row in taken)
    found = json.loads(after)["hooks"]
    for event, groups in hooks.items():
        assert [one for one in found[event] if one in groups] == groups


def test_in02_a_large_file_keeps_its_order_and_survives_a_kill_at_any_call(
    project, settings, fault_library
):
    known = {f"key{number}": {"z": number, "a": [1, 2.50]} for number in range(400)}
    settings.write_text(json.dumps(known, indent=1))
    before = settings.read_bytes()
    count = {"LD_PRELOAD": str(fault_library), "FAULT_MODE": "kill"}
    for number in range(1, 40):
        done = project("fuse", "setup", "--write", env={**count, "FAULT_AT": str(number)})
        now = settings.read_bytes()
        if done.status == 0:
            break
        assert now == before or b"fuse restore" in now
        assert list(json.loads(now))[:400] == list(known)
    assert done.status == 0
    assert number > 3
    assert project("fuse", "setup", "--write").status == 0
    found = json.loads(settings.read_text())
    assert list(found)[:400] == list(known)
    assert {name: found[name] for name in known} == known
    kept = settings.with_name(settings.name + ".contextspindle-backup")
    assert kept.read_bytes() == before


GOOD = (
    "",
    "{}",
    '// mine\n{\n  "model": "opus", // dear\n}\n',
    '{\n  /* a\n b */ "a": 1,\n}',
    '\ufeff{"a": 1}',
    '{"a": 1}\r\n',
    '{"a": [1,2,],}',
)
BAD = ("null", "[]", '{"a": ', '{"a" 1}', '\n\n{"a": 1]', '{"hooks": []}', '{"hooks": {"Stop": 1}}')


@pytest.mark.parametrize("content", GOOD)
def test_in03_comments_commas_and_marks_stay_as_they_are(project, settings, content):
    settings.write_bytes(content.encode())
    assert project("fuse", "setup", "--write").status == 0
    after = settings.read_bytes().decode()
    for part in content.split():
        assert part.rstrip("]},") in after
    assert after.startswith("\ufeff") == content.startswith("\ufeff")
    assert project("fuse", "setup", "--check").status == 0
    assert project("fuse", "setup", "--remove").status == 0
    assert settings.read_bytes().decode() == content


@pytest.mark.parametrize("content", BAD)
def test_in03_what_is_damaged_is_refused_with_its_place_and_not_touched(project, settings, content):
    settings.write_text(content)
    for words in (("--write",), ("--remove",), ("--check",)):
        done = project("fuse", "setup", *words, "--json")
        assert (done.status, done.error["code"]) == (6, "SETTINGS_DAMAGED")
        assert settings.read_text() == content
    if content.lstrip().startswith("{") and "hooks" not in content:
        assert "line" in done.error["message"]


def test_in04_a_second_installation_takes_the_place_of_the_first(
    project, installed, settings, tmp_path
):
    second = installed(tmp_path / "second")
    assert project("fuse", "setup", "--write").status == 0
    assert second("fuse", "setup", "--write").status == 0
    hooks = json.loads(settings.read_text())["hooks"]
    commands = [
        one["command"] for groups in hooks.values() for group in groups for one in group["hooks"]
    ]
    assert len(commands) == 4
    assert all(command.startswith(second.path) for command in commands)
    assert second("fuse", "setup", "--check").status == 0


def test_in06_a_foreign_hook_in_our_own_group_stays(project, settings):
    settings.write_text('{"theme": "dark"}')
    project("fuse", "setup", "--write")
    known = json.loads(settings.read_text())
    for groups in known["hooks"].values():
        groups[0]["hooks"].append(foreign("theirs"))
    settings.write_text(json.dumps(known, indent=2))
    assert project("fuse", "setup", "--remove").status == 0
    for groups in known["hooks"].values():
        groups[0]["hooks"] = [one for one in groups[0]["hooks"] if one["command"] == "theirs"]
    assert json.loads(settings.read_text()) == known


def test_in08_hooks_that_were_written_over_are_missed(project, settings):
    settings.write_text('{"theme": "dark"}')
    before = settings.read_bytes()
    said = project("fuse", "setup", "--write").out.decode()
    assert project("doctor").status == 0
    assert "Sessions that are open keep their old settings until they are started again" in said
    assert f"hooks of claude-code: {settings}" in project("fuse", "status").out.decode()
    settings.write_bytes(before)
    shown = project("fuse", "status").out.decode()
    assert "hooks of claude-code: none found" in shown
    assert "a session that is open must be started again" in shown
    done = project("fuse", "setup", "--check", "--json")
    assert (done.status, done.error["code"]) == (6, "SETUP_INCOMPLETE")
    assert "'contextspindle setup claude-code --hooks --write'" in done.error["hint"]
    done = project("setup", "codex", "--mcp", "--shared", "--check", "--json")
    assert "'contextspindle setup codex --mcp --shared --write'" in done.error["hint"]
    looked = project("doctor").out.decode()
    assert "note    hooks: no harness has our hooks" in looked
    assert "Sessions that are open keep their old settings" in looked


@pytest.mark.parametrize("name", ["Zoë 日本", "First Last", "a'b\"c", "$HOME `x` ;"])
def test_in09_letters_of_any_kind_in_the_home_folder_are_no_hindrance(
    installed, payload, project, tmp_path, name
):
    project("fuse", "save", input=payload("PreCompact"))
    folder = tmp_path / name
    ours = installed(folder)
    ours.environment["HOME"] = str(folder)
    assert ours("fuse", "setup", "--write").status == 0
    command = stored(folder / ".claude" / "settings.json")
    text = answers(command, project.folder, payload, PATH=os.defpath, HOME=str(folder))
    assert "login page" in text
    assert ours("fuse", "setup", "--check").status == 0


def test_in10_a_blank_in_the_path_does_not_split_the_command(
    installed, payload, project, home, tmp_path
):
    project("fuse", "save", input=payload("PreCompact"))
    ours = installed(tmp_path / "First Last")
    ours("fuse", "setup", "--write")
    command = stored(home / ".claude" / "settings.json")
    shells = [shell for shell in ("/bin/sh", "/bin/bash", "/bin/zsh") if os.path.exists(shell)]
    text = answers(command, project.folder, payload, shells, PATH=os.defpath, HOME=str(home))
    assert "login page" in text


def test_in11_the_stored_command_needs_no_path(project, payload, home):
    project("fuse", "save", input=payload("PreCompact"))
    project("fuse", "setup", "--write")
    command = stored(home / ".claude" / "settings.json")
    assert command.startswith("/")
    text = answers(command, project.folder, payload, PATH="/nonexistent", HOME=str(home))
    assert "login page" in text


@pytest.mark.parametrize(
    ("there", "edited"),
    [
        ("[mcp_servers.contextspindle]\ncommand = 'contextspindle'\nargs = ['mcp']\n", True),
        ('[mcp_servers."contextspindle"]\ncommand = "contextspindle"\nargs = ["mcp"]\n', True),
        (
            '[ mcp_servers . contextspindle ]\ncommand = "/old/contextspindle"\nargs = ["mcp"]\n',
            True,
        ),
        ("mcp_servers.contextspindle = { command = 'contextspindle', args = ['mcp'] }\n", False),
        ("[mcp_servers]\ncontextspindle = { command = 'contextspindle', args = ['mcp'] }\n", False),
    ],
)
def test_in14_a_table_that_is_there_already_is_never_put_in_twice(project, home, there, edited):
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    text = 'model = "of mine"  # stays\n' + there + '\n[mcp_servers.other]\ncommand = "other"\n'
    path.write_text(text)
    for _ in range(2):
        done = project("setup", "codex", "--mcp", "--write")
        assert (done.status == 0) is edited, done.err
        servers = tomllib.loads(path.read_text())["mcp_servers"]
        assert sorted(servers) == ["contextspindle", "other"]
        assert servers["contextspindle"]["args"] == ["mcp"]
        assert servers["other"] == {"command": "other"}
        assert path.read_text().startswith('model = "of mine"  # stays\n')
    if edited:
        assert servers["contextspindle"]["command"].endswith("/contextspindle")
        assert servers["contextspindle"]["command"] != "/old/contextspindle"
    else:
        assert path.read_text() == text
        assert b"config.toml" in done.err


@pytest.mark.parametrize(
    "narrow", [{"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C"}, {"PYTHONUTF8": "0", "LANG": "C"}]
)
def test_in16_no_character_of_a_title_stops_a_command(project, create, payload, narrow):
    task = create("Ship 🚀 the naïve page 日本", env=narrow)
    project("fuse", "save", input=payload("PreCompact", said="Ship 🚀 it."), env=narrow)
    calls = (
        ("task", "show", task), ("task", "list"), ("task", "inbox"), ("task", "context", task),
        ("task", "history", task), ("task", "search", "naïve"), ("fuse", "restore", "--plain"),
        ("fuse", "status"), ("fuse", "list"), ("fuse", "show"), ("setup", "claude-code"),
        ("verify",), ("fuse", "demo"),
    )  # fmt: skip
    for words in calls:
        for form in ((), ("--json",)):
            done = project(*words, *form, env=narrow)
            assert done.status == 0, (words, done.err)
            shown = done.out.decode("utf-8")
            if form:
                json.loads(shown)
    found = project("task", "show", task, "--json", env=narrow).data
    assert found["goal"] == "Ship 🚀 the naïve page 日本"


def test_in17_a_byte_order_mark_is_passed_over_and_another_encoding_is_noted(project, payload):
    given = payload("PreCompact")
    marked = b"\xef\xbb\xbf" + given.replace(b", ", b",\r\n") + b"\r\n"
    assert project("fuse", "save", input=marked).out == b""
    assert project("fuse", "status", "--json").data["sessions"][0]["items"] > 0
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        done = project("fuse", "save", input=given.decode().encode(encoding))
        assert (done.status, done.out, done.err) == (0, b"", b"")
    incidents = project("fuse", "status", "--json").data["incidents"]
    assert len(incidents) == 3
    assert all("payload cannot be read" in one["what"] for one in incidents)
