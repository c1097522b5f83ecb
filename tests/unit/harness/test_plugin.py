"""Our plugin as a file: written once, replaced when older, taken away with what was made for it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from contextspindle.errors import SettingsDamaged
from contextspindle.harness import adapter, holding, opencode, plugin
from contextspindle.harness.install import carried_out

FOREIGN = "// contextspindle, by somebody else\nexport const Other = async () => ({})\n"


@pytest.fixture
def launcher(tmp_path):
    path = tmp_path / "bin" / "contextspindle"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def home(tmp_path):
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def carry_out(home, launcher):
    path = opencode.settings_path(str(home / "config" / "opencode"), "", "user")

    def run(action, **more):
        given = {"version": "1.2.3", **more}
        named = given.pop("launcher", launcher)
        (done,) = carried_out([plugin.piece(path, opencode.PLUGIN, named, **given)], action)
        assert done.path == path
        return done

    run.file = Path(path)
    return run


def test_a_preview_makes_nothing(carry_out, home):
    done = carry_out("preview")
    assert done.changed()
    assert "export const ContextSpindle" in done.after
    assert list(home.iterdir()) == []


def test_what_is_written_names_the_command_the_version_and_leaves_no_gap(carry_out, launcher):
    carry_out("write")
    text = carry_out.file.read_text()
    assert f'const COMMAND = "{launcher}"' in text
    assert "version 1.2.3," in text
    assert "@" not in text.replace("@param", "")
    assert stat.S_IMODE(carry_out.file.stat().st_mode) == 0o600
    assert not carry_out("write").changed()
    assert carry_out("check").problems == ()


def test_a_command_of_any_name_is_a_string_of_the_language(carry_out):
    carry_out("write", launcher='/a "b"\\c/contextspindle')
    assert 'const COMMAND = "/a \\"b\\"\\\\c/contextspindle"' in carry_out.file.read_text()


def test_a_committed_plugin_names_no_path(carry_out):
    carry_out("write", shared=True)
    assert 'const COMMAND = "contextspindle"' in carry_out.file.read_text()
    assert carry_out("check", shared=True).problems == ()


def test_removal_takes_the_folders_along_that_were_made(carry_out, home):
    carry_out("write")
    carry_out("remove")
    assert list(home.iterdir()) == []
    assert not carry_out("remove").changed()


@pytest.mark.parametrize("there", ["config", "config/opencode", "config/opencode/plugins"])
def test_removal_leaves_the_folders_that_were_there(carry_out, home, there):
    (home / there).mkdir(parents=True)
    carry_out("write")
    carry_out("write", launcher="/somewhere/else/contextspindle")  # an update forgets nothing
    carry_out("remove")
    assert (home / there).is_dir()
    assert not list((home / there).iterdir())


def test_removal_leaves_what_came_into_a_folder_since(carry_out, home):
    carry_out("write")
    other = home / "config" / "opencode" / "package.json"
    other.write_text("{}")
    carry_out("remove")
    assert other.exists()
    assert not carry_out.file.parent.exists()


@pytest.mark.parametrize("action", ["write", "preview", "check"])
def test_another_file_of_that_name_is_refused_untouched(carry_out, action):
    carry_out.file.parent.mkdir(parents=True)
    carry_out.file.write_text(FOREIGN)
    with pytest.raises(SettingsDamaged, match="another file"):
        carry_out(action)
    assert not carry_out("remove").changed()
    assert carry_out.file.read_text() == FOREIGN
    assert os.listdir(carry_out.file.parent) == ["contextspindle.js"]


def test_an_older_version_of_ours_is_replaced_and_known_as_older(carry_out, home):
    carry_out("write")
    text = carry_out.file.read_text()
    carry_out.file.write_text(text.replace("1.2.3", "0.0.1").replace("SIGKILL", "SIGTERM"))
    assert not plugin.installed(str(carry_out.file), opencode.PLUGIN)
    assert carry_out("check").problems == ("our plugin files are missing or out of date",)
    carry_out("write")
    assert carry_out.file.read_text() == text
    assert plugin.installed(str(carry_out.file), opencode.PLUGIN)
    carry_out("remove")
    assert list(home.iterdir()) == []


def test_a_check_tells_when_nothing_is_there_and_when_the_command_is_gone(carry_out, launcher):
    assert carry_out("check").problems
    carry_out("write")
    os.unlink(launcher)
    assert carry_out("check").problems == (f"{launcher} cannot be run",)


def test_the_files_that_hold_it_are_found(carry_out, home, tmp_path):
    found = lambda: holding.hooked(  # noqa: E731
        adapter("opencode"), str(home / "config" / "opencode"), str(tmp_path)
    )
    assert found() == []
    carry_out("write")
    assert found() == [str(carry_out.file)]
