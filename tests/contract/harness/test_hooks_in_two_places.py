"""What would run twice is told, and a line of the user's that does our work is not doubled."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from contextspindle.harness import ADAPTERS, adapter, holding, hooks
from contextspindle.harness.hooks import Wanted
from tests.contract.harness import test_setup_of_all
from tests.contract.harness.test_setup_of_all import said, set_up

alone = test_setup_of_all._alone
told = test_setup_of_all.told
HOOKS = ("hooks",)
HOOKED = [one for one in ADAPTERS if adapter(one).HOOKS or hasattr(adapter(one), "PLUGIN")]


def notes(name, action, scope="user", parts=HOOKS):
    return [note for _, note in set_up(name, action, parts, scope).notes]


@pytest.mark.parametrize("name", HOOKED)
def test_hooks_in_a_second_scope_are_told_whatever_is_asked_and_how_to_keep_one(home, name):
    assert notes(name, "write") == []
    for action in ("preview", "write", "check"):
        (note,) = notes(name, action, "shared")
        assert f"{home}/" in note
        assert "twice" in note
        assert f"'contextspindle setup {name} --hooks --shared --remove' takes out those in" in note
        assert f"'contextspindle setup {name} --hooks --remove' takes out those in {home}" in note
        assert not any(one.problems for one in set_up(name, "check", HOOKS).files)
    (note,) = notes(name, "check")
    assert "--hooks --shared --remove" in note
    assert notes(name, "remove", "shared") == []
    assert notes(name, "check") == []


def test_the_same_file_of_two_scopes_is_one(home, monkeypatch):
    """In the home folder, the settings of the user are those of the project."""
    monkeypatch.chdir(home)
    set_up("claude-code", "write", HOOKS)
    assert notes("claude-code", "check", "shared") == []
    other = home / "other"
    (other / ".codex").mkdir(parents=True)
    monkeypatch.chdir(other)
    set_up("codex", "write", HOOKS)
    (other / ".codex" / "hooks.json").symlink_to(home / ".codex" / "hooks.json")
    assert notes("codex", "check") == []


def test_of_a_user_s_two_scopes_those_of_the_project_are_to_go(home):
    set_up("claude-code", "write", HOOKS)
    (note,) = notes("claude-code", "write", "project")
    assert note.endswith(
        "Keep one of the two: 'contextspindle setup claude-code --hooks --project --remove' takes"
        f" out those in {Path.cwd()}/.claude/settings.local.json."
    )


def test_our_plugin_is_a_second_place_too(home):
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"enabledPlugins": {"contextspindle@market": true}}')
    (note,) = notes("claude-code", "preview")
    assert f"{path} has our hooks too" in note
    path.write_text('{"enabledPlugins": {"contextspindle@market": false}}')
    assert notes("claude-code", "preview") == []


INLINE = """[features]
hooks = true

[[hooks.PreCompact]]
[[hooks.PreCompact.hooks]]
type = "command"
command = "/opt/bin/contextspindle fuse save --harness codex"
"""


@pytest.mark.parametrize("scope", ["user", "shared"])
def test_hooks_of_codex_that_a_user_wrote_into_its_other_file_are_told(home, scope):
    folder = home / ".codex" if scope == "user" else Path(".codex")
    folder.mkdir()
    (folder / "config.toml").write_text(INLINE)
    (note,) = notes("codex", "preview")
    assert f"{folder.resolve() / 'config.toml'} has our hooks too" in note
    assert "'contextspindle setup codex --hooks --remove' takes out those in" in note
    assert "take our command out" not in note  # what a user wrote was meant
    (folder / "config.toml").write_text(INLINE.replace("fuse save", "task list"))
    assert notes("codex", "preview") == []
    (folder / "config.toml").write_text("not = toml = at all")
    assert notes("codex", "preview") == []


def test_the_command_says_it_in_text_and_as_data_and_takes_nothing_back(told, home):
    assert told("claude-code", "--hooks", "--write")[0] == 0
    status, out, _ = told("claude-code", "--hooks", "--shared", "--write")
    place = Path.cwd() / ".claude" / "settings.json"
    assert status == 0
    assert f"claude-code: note: {place}: {home}/.claude/settings.json has our hooks too" in out
    status, out, _ = told("claude-code", "--hooks", "--check")
    assert (status, "as they should be" in out, "see the note" in out) == (0, False, True)
    status, out, _ = told("claude-code", "--hooks", "--check", "--json")
    (row,) = json.loads(out)["data"]["programs"]
    assert [one.partition(": ")[0] for one in row["notes"]] == [f"{home}/.claude/settings.json"]


# -- lines of the user's that do what a hook of ours would


def changed(path, event, change):
    settings = said(path)
    for group in settings["hooks"][event]:
        for one in group.get("hooks", [group]):
            change(group, one)
    path.write_text(json.dumps(settings, indent=1))


def events(path):
    return [(one.event, one.command) for one in hooks.found(said(path), told=hooks.running)]


@pytest.mark.parametrize("name", [one for one in HOOKED if adapter(one).HOOKS])
def test_a_hook_of_ours_with_an_option_more_is_still_the_hook_of_its_event(home, name):
    """It stays as the user wrote it, nothing is put beside it, and nothing is said to be amiss."""
    set_up(name, "write", HOOKS)
    path = Path(set_up(name, "check", HOOKS).files[0].path)
    event, words, *_ = next(one for one in adapter(name).HOOKS if "restore" in one[1])

    def more(_, one):
        key = "bash" if "bash" in one else "command"
        one[key] = one[key].replace(words, f"{words} --budget 8000")

    changed(path, event, more)
    before = path.read_bytes()
    assert not any(one.problems for one in set_up(name, "check", HOOKS).files)
    assert not any(one.changed() for one in set_up(name, "write", HOOKS).files)
    assert path.read_bytes() == before
    (note,) = notes(name, "remove")
    assert "lines of yours in it still run our hooks" in note
    assert [command.rpartition("--budget ")[2] for _, command in events(path)] == ["8000"]


def test_what_was_put_beside_such_a_line_is_taken_out_again(home):
    path = home / ".claude" / "settings.json"
    set_up("claude-code", "write", HOOKS)
    settings = said(path)
    ours = settings["hooks"]["SessionStart"][0]
    theirs = json.loads(json.dumps(ours).replace("fuse restore", "fuse restore --budget 8000"))
    settings["hooks"]["SessionStart"] = [theirs, ours]
    path.write_text(json.dumps(settings))
    assert any(one.problems for one in set_up("claude-code", "check", HOOKS).files)
    set_up("claude-code", "write", HOOKS)
    assert said(path)["hooks"]["SessionStart"] == [theirs]
    assert not any(one.problems for one in set_up("claude-code", "check", HOOKS).files)


FULL = "startup|resume|clear|compact|fork"
STANDS = [
    (FULL, "/x/contextspindle fuse restore --budget 8000", True),
    ("", "say hello; contextspindle fuse restore", True),
    ("*", "contextspindle fuse restore | tee log", True),
    ("fork|compact|clear|resume|startup|more", "contextspindle fuse restore --budget 500", True),
    ("startup", "contextspindle fuse restore --budget 8000", False),
    (FULL, "contextspindle fuse save --budget 8000", False),
    (FULL, "contextspindle fuse restore --harness codex", False),
    (FULL, "contextspindle fuse restore --budget 8000 --harness=codex", False),
    (FULL, "contextspindle fuse restore --plain > note", False),
    (FULL, "contextspindle fuse restore --session=abc", False),
    (FULL, "contextspindle fuse restore --json", False),
    (None, "contextspindle fuse restore --budget 8000", False),
    (FULL, "contextspindle fuse restore", False),  # this is ours
]


@pytest.mark.parametrize(("matcher", "command", "stands"), STANDS)
def test_a_line_stands_for_ours_if_it_does_the_same_whenever_ours_would(matcher, command, stands):
    group = {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
    settings = {"hooks": {"SessionStart": [group], "Other": [group]}}
    wanted = (
        Wanted("SessionStart", "fuse restore", 15, FULL),
        Wanted("PreCompact", "fuse save", 30),
    )
    assert hooks.stood_in(settings, wanted) == ([wanted[0]] if stands else [])


def test_a_line_for_another_program_is_told_by_its_words():
    def running(command):
        return hooks.running({"type": "command", "command": command})

    line = "x; /a/contextspindle fuse restore --budget 8000 --harness codex; y"
    assert running(line) == "fuse restore --harness codex"
    assert running("contextspindle fuse save; y") == "fuse save"
    assert running("contextspindle fuse save --harness=codex") == "fuse save --harness codex"
    assert running("contextspindle fuse save --session x") == "fuse save --session x"


# -- a server that is switched off


OFF = [
    ("opencode", '"enabled": true', '"enabled": false'),
    ("droid", '"type": "stdio"', '"type": "stdio", "disabled": true'),
    ("codex", 'args = ["mcp"]', 'args = ["mcp"]\nenabled = false'),
    ("gemini", '"mcpServers"', '"mcp": {"excluded": ["contextspindle"]}, "mcpServers"'),
    ("qwen-code", '"mcpServers"', '"mcp": {"excluded": ["contextspindle"]}, "mcpServers"'),
]


@pytest.mark.parametrize(("name", "old", "new"), OFF)
def test_a_server_that_is_switched_off_stays_so_and_is_told(told, home, name, old, new):
    assert told(name, "--mcp", "--write")[0] == 0
    path = Path(set_up(name, "check", ("server",)).files[0].path)
    text = path.read_text()
    assert old in text
    assert set_up(name, "check", ("server",)).notes == []
    path.write_text(text.replace(old, new))
    status, out, _ = told(name, "--mcp", "--check")
    assert status == 0
    assert f"{name}: note: {path}: our server is switched off in it, by " in out
    assert f"{path} has our server entries, as they should be" not in out
    assert told(name, "--mcp", "--write")[0] == 0
    assert path.read_text() == text.replace(old, new)


def test_no_file_that_holds_hooks_is_told_where_none_can_be_read(home):
    """A home or a project that is not there holds nothing, and a damaged file runs nothing."""
    set_up("claude-code", "write", HOOKS, "shared")
    assert holding.holders(adapter("claude-code"), "", "") == []
    assert len(holding.holders(adapter("claude-code"), "", os.getcwd())) == 1
    set_up("claude-code", "remove", HOOKS, "shared")
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{")
    assert holding.holders(adapter("claude-code"), str(home / ".claude"), os.getcwd()) == []
