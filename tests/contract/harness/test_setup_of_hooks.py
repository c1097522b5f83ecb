"""The hooks of every harness go into settings of any form, and come out again without a trace."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from contextspindle.core import jsonc
from contextspindle.errors import SettingsDamaged, StoreUnavailable
from contextspindle.harness import ADAPTERS, adapter, hooks, install, registration
from contextspindle.harness.hooks import Wanted

NAMES = [name for name in ADAPTERS if adapter(name).HOOKS]
LAUNCHER = "/opt/spindle/bin/contextspindle"
GROUPED = """{
    // what everybody here runs
    "theme": "dark",
    "hooks": {
        "EVENT": [
            {"matcher": "auto", "hooks": [{"type": "command", "command": "notify"}]}
        ],
        "Other": [{"hooks": [{"type": "command", "command": "say done"}]}],
    },
    "number": 2.50
}
"""
ALONE = """{
\t"version": 1, /* the only one */
\t"hooks": { "EVENT": [{"type": "command", "bash": "notify", "timeoutSec": 3}],
\t\t"errorOccurred": [ {"bash": "say 'contextspindle'"} ]
\t}
}"""


def wanted(name: str) -> tuple[Wanted, ...]:
    chosen = adapter(name)
    return tuple(Wanted(*one, entry=chosen.ENTRY) for one in chosen.HOOKS)


def set_up(name: str, path: Path, action: str, launcher: str = LAUNCHER, **more: Any) -> Any:
    return install.set_up(str(path), wanted(name), launcher, action, **more)


def foreign(name: str) -> list[str]:
    """Settings of others, in the forms that people and programs write."""
    text = (ALONE if adapter(name).ENTRY else GROUPED).replace("EVENT", adapter(name).HOOKS[0][0])
    return [
        text,
        text.replace("\n", "\r\n"),
        "\ufeff" + text,
        '{"version":1,"hooks":{}}' if adapter(name).ENTRY else '{"a":[1,2],"hooks":{"X":[]}}\n',
    ]


def ours(path: Path) -> list[tuple[str, str]]:
    settings = jsonc.parse(path.read_text(encoding="utf-8")).value
    return [(one.event, one.command) for one in hooks.found(settings)]


def installed(name: str) -> list[tuple[str, str]]:
    return sorted((event, f"{LAUNCHER} {words}") for event, words, _, _ in adapter(name).HOOKS)


@pytest.mark.parametrize("name", NAMES)
def test_settings_of_any_form_get_our_hooks_once_and_are_given_back_to_the_byte(name, tmp_path):
    for number, text in enumerate(foreign(name)):
        path = tmp_path / f"{number}.json"
        path.write_bytes(text.encode())
        assert set_up(name, path, "preview").changed()
        assert path.read_bytes() == text.encode()
        set_up(name, path, "write")
        assert sorted(ours(path)) == installed(name)
        for line in text.splitlines():
            assert line.rstrip("]}, ") in path.read_text(encoding="utf-8")
        assert not set_up(name, path, "write").changed()
        set_up(name, path, "remove")
        assert path.read_bytes() == text.encode()
        assert not set_up(name, path, "remove").changed()
    assert sorted(os.listdir(tmp_path)) == [f"{number}.json" for number in range(4)]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_was_not_there_is_gone_again(name, tmp_path):
    path = tmp_path / "new" / "hooks.json"
    set_up(name, path, "write")
    assert sorted(ours(path)) == installed(name)
    set_up(name, path, "remove")
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("name", NAMES)
def test_what_others_add_meanwhile_stays(name, tmp_path):
    path = tmp_path / "hooks.json"
    set_up(name, path, "write")
    text = path.read_text()
    first = json.loads(text)["hooks"][adapter(name).HOOKS[0][0]][0]
    theirs = json.loads(json.dumps(first).replace(LAUNCHER, "notify").replace(" fuse", ""))
    settings = json.loads(text)
    settings["hooks"][adapter(name).HOOKS[0][0]].insert(0, theirs)
    path.write_text(json.dumps(settings, indent=1))
    set_up(name, path, "write")
    assert sorted(ours(path)) == installed(name)
    set_up(name, path, "remove")
    left = json.loads(path.read_text())
    assert left["hooks"] == {adapter(name).HOOKS[0][0]: [theirs]}


@pytest.mark.parametrize("name", NAMES)
def test_an_older_entry_of_ours_is_brought_up_to_date(name, tmp_path):
    path = tmp_path / "hooks.json"
    set_up(name, path, "write", "/old/bin/contextspindle")
    settings = json.loads(path.read_text())
    settings["hooks"].pop(adapter(name).HOOKS[0][0])
    path.write_text(json.dumps(settings))
    assert set_up(name, path, "check").problems[0] == "our hooks are missing or out of date"
    set_up(name, path, "write")
    assert sorted(ours(path)) == installed(name)
    set_up(name, path, "remove")
    assert not path.exists()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ['{"hooks": [', '{"hooks": []}', '{"hooks": {"x": {}}}', "[]"])
def test_damaged_settings_are_refused_and_not_touched(name, text, tmp_path):
    path = tmp_path / "hooks.json"
    path.write_text(text)
    for action in ("write", "remove", "preview", "check"):
        with pytest.raises(SettingsDamaged):
            set_up(name, path, action)
    assert path.read_text() == text
    assert os.listdir(tmp_path) == ["hooks.json"]


@pytest.mark.parametrize("name", ["gemini", "copilot-cli"])
def test_a_linked_file_stays_a_link_and_keeps_its_mode(name, tmp_path):
    text = foreign(name)[0]
    real, path = tmp_path / "dotfiles.json", tmp_path / "hooks.json"
    real.write_text(text)
    real.chmod(0o640)
    path.symlink_to(real)
    set_up(name, path, "write")
    assert path.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    set_up(name, path, "remove")
    assert real.read_text() == text


@pytest.mark.parametrize("name", ["gemini", "copilot-cli"])
def test_a_place_that_cannot_be_written_is_one_clear_error(name, tmp_path):
    text = foreign(name)[0]
    read_only = tmp_path / "read-only"
    read_only.mkdir()
    path = read_only / "hooks.json"
    path.write_text(text)
    full = tmp_path / ("x" * 250 + ".json")  # no file beside it can have a longer name
    full.write_text(text)
    read_only.chmod(0o500)
    try:
        for one in (full,) if os.geteuid() == 0 else (full, path):  # root may write anywhere
            with pytest.raises(StoreUnavailable, match=r"File name too long|Permission denied"):
                set_up(name, one, "write")
            assert one.read_text() == text
    finally:
        read_only.chmod(0o700)
    assert sorted(os.listdir(tmp_path)) == ["read-only", full.name]


@pytest.mark.parametrize("first", ["hooks", "server"])
def test_the_hooks_and_the_server_of_gemini_share_a_file_and_come_out_in_any_order(first, tmp_path):
    path = tmp_path / "settings.json"
    program = registration.PROGRAMS["gemini"]
    server = registration._Entry(program, program.keys, LAUNCHER)
    steps = {
        "hooks": lambda action: set_up("gemini", path, action),
        "server": lambda action: install.carry_out(str(path), server, action),
    }
    second = next(one for one in steps if one != first)
    for text in foreign("gemini")[:3]:
        path.write_bytes(text.encode())
        for order in ([first, second], [second, first]):
            for one in (first, second):
                steps[one]("write")
            for one in order:
                steps[one]("remove")
            assert path.read_bytes() == text.encode()
    assert os.listdir(tmp_path) == ["settings.json"]


def test_the_limits_of_time_are_in_each_program_s_own_unit():
    """Longer than our own deadline of 4.5 s, shorter than a minute."""
    for name in NAMES:
        unit = 1_000 if name in ("gemini", "qwen-code") else 1
        for event, _, timeout, _ in adapter(name).HOOKS:
            if (name, event) == ("codex", "SessionEnd"):
                assert timeout == 3  # it gives no more, and warns of it
                continue
            assert 10 * unit <= timeout <= 60 * unit, name


@pytest.mark.parametrize("name", ["gemini", "copilot-cli"])
def test_set_up_previews_writes_checks_and_removes_and_tells_what_only_the_user_can_do(
    name, command
):
    assert command("init").status == 0
    home = Path(command.environment["HOME"])
    place = {"gemini": ".gemini/settings.json", "copilot-cli": ".copilot/hooks/contextspindle.json"}
    path = home / place[name]
    preview = command("setup", name)
    assert (preview.status, path.exists()) == (0, False)
    assert b"fuse restore --harness" in preview.out
    assert command("setup", name, "--check").status == 6
    written = command("setup", name, "--write").out.decode()
    assert "only where you trust the folder" in written
    assert "Only you can do that." in written
    assert command("setup", name, "--check").status == 0
    content = path.read_text()
    assert "trust" not in content
    assert [one for one in home.rglob("*") if "trust" in one.name] == []
    assert f"hooks of {name}: {path}" in command("fuse", "status").out.decode()
    assert command("setup", name, "--remove").status == 0
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("gemini", ".gemini/settings.json"),
        ("copilot-cli", ".github/hooks/contextspindle.json"),
    ],
)
def test_the_shared_hooks_of_a_project_name_no_path(name, place, command):
    assert command("setup", name, "--shared", "--write").status == 0
    content = (command.folder / place).read_text()
    assert "command -v contextspindle" in content
    assert str(command.folder) not in content
