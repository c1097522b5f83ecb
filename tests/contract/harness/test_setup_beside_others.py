"""What is not ours in somebody's settings stays, whatever goes wrong and whoever else writes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from contextspindle.errors import SettingsBusy, SettingsDamaged, StoreUnavailable
from contextspindle.harness import install
from tests.contract.harness import test_setup_of_all
from tests.contract.harness.test_setup_of_all import bytes_below, said, set_up

alone = test_setup_of_all._alone


@pytest.fixture
def at_the_replacement(monkeypatch):
    """A function that lets something happen just before a file takes its place."""
    replace = os.replace

    def let(path: Path, happen) -> None:
        def stand_in(source, target):
            if target == str(path):
                happen()
            replace(source, target)

        monkeypatch.setattr(os, "replace", stand_in)

    return let


def fails(error):
    def happen():
        raise error

    return happen


@pytest.mark.parametrize("spoiled", ["config.toml", "hooks.json", "AGENTS.md"])
@pytest.mark.parametrize("how", ["damaged", "read-only", "not to be written", "interrupted"])
def test_a_program_gets_all_or_nothing(home, spoiled, how, at_the_replacement):
    folder = home / ".codex"
    folder.mkdir()
    path = folder / spoiled
    path.write_text(
        {"config.toml": "a = 1\n", "hooks.json": "{}", "AGENTS.md": "Be kind.\n"}[spoiled]
    )
    wanted = StoreUnavailable
    if how == "damaged":
        path.write_text("<!-- contextspindle: begin -->" if spoiled == "AGENTS.md" else "[")
        wanted = SettingsDamaged
    elif how == "read-only":
        path.chmod(0o444)
    elif how == "interrupted":
        at_the_replacement(path, fails(KeyboardInterrupt(spoiled)))
        wanted = KeyboardInterrupt
    else:
        at_the_replacement(path, fails(OSError(5, "Input/output error")))
    before = bytes_below(home)
    with pytest.raises(wanted, match=spoiled):
        set_up("codex", "write")
    assert bytes_below(home) == before


def test_a_removal_that_fails_half_way_leaves_all_as_it_was(home, at_the_replacement):
    folder = home / ".codex"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Be kind.\n")
    set_up("codex", "write")
    (folder / "config.toml").chmod(0o644)
    before = bytes_below(home)
    for error in (OSError(5, "Input/output error"), MemoryError()):
        at_the_replacement(folder / "AGENTS.md", fails(error))
        with pytest.raises((StoreUnavailable, MemoryError)):
            set_up("codex", "remove")
        assert bytes_below(home) == before
        assert (folder / "config.toml").stat().st_mode & 0o777 == 0o644


def test_what_is_left_of_a_killed_set_up_blocks_none(home):
    folder = home / ".gemini"
    folder.mkdir()
    (folder / f"settings.json.{os.getpid()}.part").write_text("half of it")
    set_up("gemini", "write")
    assert "contextspindle" in said(folder / "settings.json")["mcpServers"]


# -- another program writes the file at the same time


@pytest.fixture
def meanwhile(monkeypatch):
    """A function that lets something happen each time that a new text is on the disk beside."""
    fsync = os.fsync

    def let(happen) -> None:
        def stand_in(handle):
            fsync(handle)
            happen()

        monkeypatch.setattr(os, "fsync", stand_in)

    return let


@pytest.mark.parametrize("action", ["write", "remove"])
@pytest.mark.parametrize("start", [None, '{"projects": {}}'])
def test_what_a_program_writes_while_its_file_is_edited_is_kept(home, meanwhile, action, start):
    path = home / ".claude.json"
    if start is not None:
        path.write_text(start)
    if action == "remove":
        set_up("claude-code", "write", ("server",))
    times = iter(range(2))

    def happen():
        for number in times:
            now = said(path) if path.exists() else {}
            path.write_text(json.dumps({**now, "projects": {f"/p{number}": {}}}))
            break

    meanwhile(happen)
    if action == "remove" and start is None:
        path.write_text(json.dumps({**said(path), "n": 1}))
    set_up("claude-code", action, ("server",))
    now = said(path)
    assert now["projects"] == {"/p1": {}}
    assert ("contextspindle" in now.get("mcpServers", {})) == (action == "write")


def test_a_file_that_changes_again_and_again_is_left_to_its_program(home, meanwhile):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    (path.parent / "GEMINI.md").write_text("Be kind.")
    path.write_text("{}")
    count = iter(range(99))
    meanwhile(lambda: path.write_text(f'{{"n": {next(count)}}}'))
    with pytest.raises(SettingsBusy, match=r"settings\.json was changed by another program"):
        set_up("gemini", "write")
    assert sorted(os.listdir(path.parent)) == ["GEMINI.md", "settings.json"]
    assert (list(said(path)), (path.parent / "GEMINI.md").read_text()) == (["n"], "Be kind.")


def test_what_a_program_writes_after_us_is_not_undone(home, at_the_replacement):
    folder = home / ".codex"
    folder.mkdir()
    for name in ("hooks.json", "config.toml", "AGENTS.md"):
        (folder / name).write_text("{}" if name == "hooks.json" else "")

    def happen():
        (folder / "hooks.json").write_text('{"theirs": 1}')
        raise OSError(5, "Input/output error")

    at_the_replacement(folder / "AGENTS.md", happen)
    with pytest.raises(StoreUnavailable, match=r"hooks\.json could not be put back"):
        set_up("codex", "write")
    assert (folder / "hooks.json").read_text() == '{"theirs": 1}'
    assert (folder / "config.toml").read_text() == ""


# -- the copy


ADDED = [
    ('"theme": "dark"', '"theme": "dark", // not light'),
    ('"theme": "dark"', '"theme":   "dark"'),
    ('"on": 1', '"on": true'),
    ('"on": 1', '"on": 1.0'),
]


@pytest.mark.parametrize(("old", "new"), ADDED)
def test_what_a_user_changed_since_stays_though_it_says_the_same(home, old, new):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    text = '{\n  "theme": "dark",\n  "on": 1\n}\n'
    path.write_text(text)
    set_up("gemini", "write")
    path.write_text(path.read_text().replace(old, new, 1))
    set_up("gemini", "remove")
    assert path.read_text() == text.replace(old, new, 1)


def test_a_comment_put_among_ours_stays_when_ours_goes(home):
    path = home / ".gemini" / "settings.json"
    set_up("gemini", "write")
    first, *groups = path.read_text().split('"hooks": [')
    assert len(groups) == 4
    text = f'{first}// why 1\n"hooks": [{groups[0]}"hooks": [ // why 2{groups[1]}'
    text += f'"hooks": [{groups[2]}"hooks": [{groups[3]}'
    text = text.replace('"mcpServers": {', '"mcpServers": {\n    /* why 3 */', 1)
    path.write_text(text)
    set_up("gemini", "remove")
    assert re.findall("why .", path.read_text()) == ["why 1", "why 2", "why 3"]
    left = said(path)
    assert left.pop("mcpServers") == {}
    assert [group["hooks"] for (group,) in left.pop("hooks").values()] == [[], []]
    assert left == {}


def test_a_layout_that_nobody_would_write_is_given_back_to_the_byte(home):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    text = '{"hooks":{"PreCompress":[],}// mine\n,}'
    path.write_text(text)
    set_up("gemini", "write")
    set_up("gemini", "remove")
    assert path.read_text() == text


@pytest.mark.parametrize("copy", [b"", b'{"theme": ', b"\xff\xfe", b"[1]", None])
def test_a_copy_that_is_damaged_is_not_used(home, copy):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"theme": "dark"}\n')
    set_up("gemini", "write", ("hooks",))
    backup = path.parent / f"settings.json{install.BACKUP}"
    backup.unlink()
    if copy is None:
        backup.mkdir()
    else:
        backup.write_bytes(copy)
    set_up("gemini", "remove", ("hooks",))
    assert path.read_text() == '{"theme": "dark"}\n'
    assert backup.exists() == (copy is None)


def test_the_comments_of_a_user_s_settings_do_not_stand_in_the_way(home):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    hook = '{"type": "command", "command": "/old/bin/contextspindle fuse save"}'
    for old in (f'"hooks": {{"PreCompress": [{{"hooks": [{hook}]}}]}},', ""):
        text = f'{{"model": "opus", // keep this\n  {old}\n  // and this\n  "theme": "dark"}}'
        path.write_text(text)
        set_up("gemini", "write")
        set_up("gemini", "remove")
        assert said(path) == {"model": "opus", "theme": "dark"}
        assert '"opus", // keep this\n' in path.read_text()
        assert '// and this\n  "theme"' in path.read_text()
    assert path.read_text() == text


# -- hooks of the user's own that run our command


THEIRS = [
    ("SessionEnd", "contextspindle fuse prune --keep-days 7"),
    ("Stop", "my-logger --x; contextspindle fuse status >> log"),
    ("SessionEnd", "my-logger --x; contextspindle fuse save"),
    ("SessionStart", "/opt/bin/contextspindle fuse restore && say hello"),
    ("PreCompact", "/opt/bin/contextspindle fuse save --transcript x --session y"),
    ("PreCompact", "command -v contextspindle && contextspindle fuse save || say no"),
    ("Stop", "/opt/bin/contextspindle fuse save"),  # the pages say that one may add it there
]


def test_a_line_of_the_user_s_that_runs_our_command_stays(home):
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    for event, command in THEIRS:
        hook = {"hooks": [{"type": "command", "command": command}]}
        text = json.dumps({"hooks": {event: [hook]}}, indent=2)
        path.write_text(text)
        set_up("claude-code", "write", ("hooks",))
        assert hook in said(path)["hooks"][event], command
        assert not any(one.problems for one in set_up("claude-code", "check", ("hooks",)).files)
        set_up("claude-code", "remove", ("hooks",))
        assert path.read_text() == text, command
