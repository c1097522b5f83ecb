"""Our hooks in somebody's settings: put in once, taken out without a trace, others untouched."""

from __future__ import annotations

import json
import os
import stat

import pytest

from contextspindle.errors import SettingsDamaged
from contextspindle.harness import hooks, install
from contextspindle.harness.claude_code import HOOKS
from contextspindle.harness.hooks import Wanted

WANTED = tuple(Wanted(*one) for one in HOOKS)
LAUNCHER = "/opt/spindle/bin/contextspindle"
FOREIGN = """{
\t// everybody's favourite
\t"model": "opus",
\t"hooks": {
\t\t"PreCompact": [
\t\t\t{"matcher": "auto", "hooks": [{"type": "command", "command": "notify"}]}
\t\t],
\t\t"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
\t},
\t"unknown": [1, 2.50, "\\u00e9"]
}
"""


def set_up(path, action, launcher=LAUNCHER, **more):
    return install.set_up(str(path), WANTED, launcher, action, **more)


def ours(path):
    from contextspindle.core import jsonc

    return [(one.event, one.command) for one in hooks.found(jsonc.parse(path.read_text()).value)]


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(FOREIGN)
    return path


def test_a_preview_writes_nothing(settings, tmp_path):
    done = set_up(settings, "preview")
    assert done.changed()
    assert settings.read_text() == FOREIGN == done.before
    assert os.listdir(tmp_path) == ["settings.json"]


def test_every_foreign_byte_stays(settings):
    set_up(settings, "write")
    text = settings.read_text()
    for line in FOREIGN.split("\n"):
        assert line.rstrip("]}, ") in text
    assert json.loads(json.dumps("\\u00e9")) in text
    assert ours(settings) == [
        ("PreCompact", f"{LAUNCHER} fuse save"),
        ("SubagentStop", f"{LAUNCHER} fuse save"),
        ("SessionStart", f"{LAUNCHER} fuse restore"),
        ("SessionEnd", f"{LAUNCHER} fuse save"),
    ]


def test_writing_twice_is_writing_once(settings):
    set_up(settings, "write")
    once = settings.read_bytes()
    assert not set_up(settings, "write").changed()
    assert settings.read_bytes() == once


def test_removing_gives_the_very_bytes_back_and_the_copy_goes(settings, tmp_path):
    set_up(settings, "write")
    assert (tmp_path / ("settings.json" + install.BACKUP)).read_text() == FOREIGN
    set_up(settings, "remove")
    assert settings.read_text() == FOREIGN
    assert os.listdir(tmp_path) == ["settings.json"]


def test_what_somebody_added_meanwhile_stays_on_removal(settings):
    set_up(settings, "write")
    changed = settings.read_text().replace('"model": "opus"', '"model": "sonnet", "more": true')
    settings.write_text(changed)
    set_up(settings, "remove")
    assert settings.read_text() == FOREIGN.replace(
        '"model": "opus"', '"model": "sonnet", "more": true'
    )


def test_a_foreign_handler_in_our_group_stays(tmp_path):
    path = tmp_path / "settings.json"
    set_up(path, "write")
    text = path.read_text().replace(
        '"hooks": [\n', '"hooks": [\n          {"type": "command", "command": "theirs"},\n', 1
    )
    path.write_text(text)
    set_up(path, "remove")
    left = json.loads(path.read_text())
    assert left == {
        "hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "theirs"}]}]}
    }


def test_another_installation_replaces_the_first(settings):
    set_up(settings, "write", "/old/venv/bin/contextspindle")
    set_up(settings, "write", "/new/venv/bin/contextspindle")
    assert [command for _, command in ours(settings)] == [
        "/new/venv/bin/contextspindle fuse save",
        "/new/venv/bin/contextspindle fuse save",
        "/new/venv/bin/contextspindle fuse restore",
        "/new/venv/bin/contextspindle fuse save",
    ]
    set_up(settings, "remove")
    assert settings.read_text() == FOREIGN


def test_a_narrow_matcher_of_an_older_version_is_widened(tmp_path):
    path = tmp_path / "settings.json"
    handler = {"type": "command", "command": f"{LAUNCHER} fuse restore", "timeout": 15}
    path.write_text(
        json.dumps({"hooks": {"SessionStart": [{"matcher": "compact", "hooks": [handler]}]}})
    )
    set_up(path, "write")
    groups = json.loads(path.read_text())["hooks"]["SessionStart"]
    assert [group["matcher"] for group in groups] == ["startup|resume|clear|compact|fork"]


@pytest.mark.parametrize(
    "handler",
    [
        {"type": "command", "command": "/x/continuum-cli fuse save"},
        {"type": "command", "command": "'/with blank/contextspindle' fuse restore"},
        {"type": "command", "command": "contextspindle", "args": ["fuse", "save"]},
        {"type": "command", "command": "command -v contextspindle && contextspindle fuse save"},
    ],
)
def test_every_form_of_ours_is_known_again(handler):
    assert hooks.ours(handler)


@pytest.mark.parametrize(
    "handler",
    [
        None,
        "contextspindle fuse save",
        {"type": "command", "command": "echo contextspindle"},
        {"type": "command", "command": "my-contextspindle-wrapper fuse save"},
        {"type": "command", "command": ["contextspindle", "fuse", "save"]},
        {"type": "command", "command": "contextspindle task inbox"},
        {"type": "command", "command": "contextspindle fuse prune --keep-days 7"},
        {"type": "command", "command": "my-logger; contextspindle fuse save"},
        {"type": "command", "command": "contextspindle fuse save >> log"},
        {"type": "command", "command": "contextspindle fuse save; say done"},
        {"type": "command", "command": "contextspindle fuse save # mine"},
        {"type": "command", "command": "contextspindle fuse save &"},
        {"type": "command", "command": "$HOME/bin/contextspindle fuse save"},
        {"type": "command", "command": "X=1/contextspindle fuse save"},
        {"type": "command", "command": "/opt/$X/contextspindle fuse save"},
        {"type": "command", "command": "contextspindle fuse restore --harness $(cat name)"},
        {"type": "command", "command": "contextspindle", "args": ["fuse", "save", "--quiet"]},
        {"type": "command", "command": "contextspindle", "args": ["fuse", "save", 7]},
    ],
)
def test_what_is_not_ours_is_left_alone(handler):
    assert not hooks.ours(handler)


def test_a_folder_with_a_blank_and_an_apostrophe_makes_a_command_that_a_shell_can_run(tmp_path):
    import subprocess

    folder = tmp_path / "First Last's é"
    folder.mkdir()
    launcher = folder / "contextspindle"
    launcher.write_text('#!/bin/sh\nprintf "%s" "$*"\n')
    launcher.chmod(0o755)
    line = install.command_line(str(launcher), "fuse save", shared=False)
    for shell in ("sh", "bash"):
        ran = subprocess.run([shell, "-c", line], capture_output=True, text=True, env={})
        assert ran.stdout == "fuse save"


def test_a_committed_command_names_no_path_and_is_silent_where_it_is_missing():
    import subprocess

    line = install.command_line(LAUNCHER, "fuse save", shared=True)
    assert "/opt" not in line
    ran = subprocess.run(["/bin/sh", "-c", line], capture_output=True, env={"PATH": "/nonexistent"})
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "content", ["[]", "null", "{", '{"hooks": []}', '{"hooks": {"PreCompact": {}}}', "{} x"]
)
@pytest.mark.parametrize("action", ["write", "remove", "preview", "check"])
def test_settings_of_another_form_are_refused_untouched(tmp_path, content, action):
    path = tmp_path / "settings.json"
    path.write_text(content)
    with pytest.raises(SettingsDamaged):
        set_up(path, action)
    assert path.read_text() == content
    assert os.listdir(tmp_path) == ["settings.json"]


def test_settings_that_are_no_utf8_are_refused_untouched(tmp_path):
    path = tmp_path / "settings.json"
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(SettingsDamaged):
        set_up(path, "write")
    assert path.read_bytes() == b'{"a": "\xff"}'


@pytest.mark.parametrize("content", ["", "\n", "\ufeff", "{}", "{ }\n", "\ufeff{}\r\n"])
def test_empty_settings_are_filled_and_given_back(tmp_path, content):
    path = tmp_path / "settings.json"
    path.write_bytes(content.encode())
    set_up(path, "write")
    assert len(ours(path)) == len(HOOKS)
    set_up(path, "remove")
    assert path.read_bytes().decode() == content


def test_a_file_that_was_not_there_is_made_and_taken_away_again(tmp_path):
    path = tmp_path / "new" / "settings.json"
    set_up(path, "write")
    assert len(ours(path)) == len(HOOKS)
    set_up(path, "remove")
    assert not path.exists()


def test_a_link_stays_a_link_and_the_mode_stays(tmp_path):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    link = tmp_path / "settings.json"
    link.symlink_to(real)
    set_up(link, "write")
    assert link.is_symlink()
    assert len(ours(real)) == len(HOOKS)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_check_tells_what_is_missing(settings, tmp_path):
    assert set_up(settings, "check").problems
    set_up(settings, "write")
    assert any("cannot be run" in one for one in set_up(settings, "check").problems)
    runnable = tmp_path / "contextspindle"
    runnable.write_text("#!/bin/sh\n")
    runnable.chmod(0o755)
    set_up(settings, "write", str(runnable))
    assert set_up(settings, "check", str(runnable)).problems == ()
