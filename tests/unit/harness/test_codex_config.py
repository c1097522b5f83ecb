"""Our server in Codex's settings: a table among a user's own, its approvals, a skill, a section."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import pytest

from contextspindle.errors import SettingsDamaged
from tests.unit.harness import test_registration
from tests.unit.harness.test_registration import LAUNCHER, OPTIONS, READS

machine = test_registration.machine

CONFIG = """model = "x"  # mine
notify = [
    "a", # [mcp_servers.contextspindle]
]
text = '''
[mcp_servers.contextspindle]
'''

[mcp_servers.other]
command = "a"

[mcp_servers.other.env]
A = "b"

[profiles.x]
model = "y\""""


@pytest.fixture
def codex(machine):
    """Codex's settings, with a good deal in them."""
    folder = machine.home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(CONFIG)
    (folder / "AGENTS.md").write_text("# Mine\n\nBe kind.\n")
    return folder


def server(codex):
    return tomllib.loads((codex / "config.toml").read_text())["mcp_servers"]["contextspindle"]


def test_codex_gets_a_server_with_its_reading_tools_approved_a_skill_and_a_section(machine, codex):
    machine("codex")
    assert server(codex) == {
        "command": LAUNCHER,
        "args": ["mcp"],
        "tools": {one: {"approval_mode": "approve"} for one in READS},
    }
    assert (codex / "config.toml").read_text().startswith(CONFIG)
    skill = (codex / "skills" / "contextspindle" / "SKILL.md").read_text()
    assert skill.startswith("---\nname: contextspindle\n")
    rules = (codex / "AGENTS.md").read_text()
    assert rules.startswith("# Mine\n\nBe kind.\n\n<!-- contextspindle: begin")
    assert rules.count("<!-- contextspindle: ") == 2


def test_codex_is_given_back_its_very_bytes(machine, codex):
    machine("codex")
    machine("codex", "remove")
    assert (codex / "config.toml").read_text() == CONFIG
    assert (codex / "AGENTS.md").read_text() == "# Mine\n\nBe kind.\n"
    assert sorted(os.listdir(codex)) == ["AGENTS.md", "config.toml", "skills"]


def test_what_a_user_changed_meanwhile_stays_when_ours_goes(machine, codex):
    machine("codex")
    path = codex / "config.toml"
    path.write_text(path.read_text() + '\n[mcp_servers.contextspindle.env]\nA = "b"\n[z]\na = 1\n')
    rules = codex / "AGENTS.md"
    rules.write_text(rules.read_text() + "\nAnd more.\n")
    machine("codex", "remove")
    said = tomllib.loads(path.read_text())
    assert said == {**tomllib.loads(CONFIG), "z": {"a": 1}}
    assert "# mine" in path.read_text()
    assert rules.read_text() == "# Mine\n\nBe kind.\n\nAnd more.\n"


def test_codex_keeps_what_a_user_set_on_our_server(machine, codex):
    machine("codex")
    path = codex / "config.toml"
    path.write_text(
        path.read_text()
        .replace(LAUNCHER, "/old/contextspindle")
        .replace(f'tools.{READS[0]}.approval_mode = "approve"\n', "")
        .replace(f'{READS[1]}.approval_mode = "approve"', f'{READS[1]}.approval_mode = "prompt"')
        + "startup_timeout_sec = 30\n"
    )
    machine("codex")
    assert server(codex) == {
        "command": LAUNCHER,
        "args": ["mcp"],
        "startup_timeout_sec": 30,
        "tools": {
            READS[0]: {"approval_mode": "approve"},
            READS[1]: {"approval_mode": "prompt"},
        },
    }


def test_a_comment_above_the_next_table_stays_when_ours_goes(machine, codex):
    machine("codex")
    path = codex / "config.toml"
    text = path.read_text()
    more = "\n# about z\n# and more\n[z] # z\na = 1\n"
    path.write_text(text + "# below ours\n" + more)
    machine("codex", "remove")
    assert path.read_text() == CONFIG + "\n\n# below ours\n" + more


def test_what_says_the_same_but_is_of_another_type_is_no_reason_to_give_the_copy_back(
    machine, codex
):
    path = codex / "config.toml"
    path.write_text("on = 1\nnot_a_number = nan\n")
    machine("codex")
    path.write_text(path.read_text().replace("on = 1", "on = true # now"))
    machine("codex", "remove")
    assert path.read_text() == "on = true # now\nnot_a_number = nan\n"


def test_an_update_keeps_what_a_user_wrote_into_our_table(machine, codex):
    path = codex / "config.toml"
    path.write_text(
        CONFIG + "\n\n[mcp_servers.contextspindle] # ours\n"
        'command_note = "mine"\n'
        'command = "/old/contextspindle" # moved "#" twice\n'
        'args = [ # none\n  "mcp",\n  "x",\n]\n'
        'args_of_mine = ["y"]\n'
        f'tools.{READS[0]}.approval_mode_note = "mine"\n'
        "# about z\n[z]\na = 1\n"
    )
    machine("codex")
    text = path.read_text()
    assert server(codex) == {
        "command": LAUNCHER,
        "args": ["mcp", "x"],
        "command_note": "mine",
        "args_of_mine": ["y"],
        "tools": {
            READS[0]: {"approval_mode": "approve", "approval_mode_note": "mine"},
            READS[1]: {"approval_mode": "approve"},
        },
    }
    assert '[mcp_servers.contextspindle] # ours\ncommand_note = "mine"\n' in text
    assert f'command = "{LAUNCHER}"  # moved "#" twice\nargs = [ # none\n' in text
    assert text.endswith("\n# about z\n[z]\na = 1\n")


@pytest.mark.parametrize(
    "content",
    [
        'mcp_servers = { contextspindle = { command = "/x/contextspindle", args = ["mcp"] } }\n',
        'mcp_servers = { other = { command = "x" } }\n',
        '[mcp_servers.contextspindle]\ncommand = "/x/contextspindle"\nargs = ["mcp"]\n'
        'tools = { contextspindle_task_show = { approval_mode = "approve" } }\n',
        '[mcp_servers]\ncontextspindle.command = "/x/contextspindle"\n'
        'contextspindle.args = ["mcp", "x"]\n',
        '[mcp_servers.contextspindle]\ncommand = "docker"\n',
        "not = toml = at all",
    ],
)
def test_codex_settings_of_a_form_that_is_not_edited_are_refused_before_anything(
    machine, codex, content
):
    (codex / "config.toml").write_text(content)
    with pytest.raises(SettingsDamaged):
        machine("codex")
    assert (codex / "config.toml").read_text() == content
    assert sorted(os.listdir(codex)) == ["AGENTS.md", "config.toml"]
    assert (codex / "AGENTS.md").read_text() == "# Mine\n\nBe kind.\n"


def test_a_form_that_is_not_edited_is_called_that_with_what_to_do(machine, codex):
    (codex / "config.toml").write_text('mcp_servers = { other = { command = "x" } }\n')
    with pytest.raises(SettingsDamaged) as refused:
        machine("codex")
    assert "written in a way that is not edited" in refused.value.message
    assert "give each server a table of its own" in refused.value.message
    assert "twice" not in refused.value.message


APPROVED = [
    '[mcp_servers.contextspindle.tools.{0}]\napproval_mode = "{1}"\n',
    '[mcp_servers.contextspindle.tools]\n{0}.approval_mode = "{1}"\n',
    '[mcp_servers.contextspindle.tools]\n{0} = {{ approval_mode = "{1}" }}\n',
    '[mcp_servers.contextspindle.tools.{0}]\nnote = "mine"\n',
]


@pytest.mark.parametrize("form", APPROVED)
@pytest.mark.parametrize("ours_first", [True, False])
def test_approvals_that_codex_wrote_into_tables_of_their_own_stay(
    machine, codex, form, ours_first, monkeypatch
):
    monkeypatch.setattr(os, "access", lambda *_: True)
    path = codex / "config.toml"
    ours = '[mcp_servers.contextspindle]\ncommand = "/old/contextspindle"\nargs = ["mcp"]\n'
    theirs = form.format(READS[1], "prompt")
    text = "\n".join([ours, theirs] if ours_first else [theirs, ours]) + '\n[z]\na = "b"\n'
    path.write_text(text)
    machine("codex")
    assert server(codex)["command"] == LAUNCHER
    tools = server(codex)["tools"]
    assert tools[READS[0]] == {"approval_mode": "approve"}
    mode = "approve" if "note" in form else "prompt"
    assert tools[READS[1]]["approval_mode"] == mode
    for line in theirs.splitlines():
        assert line in path.read_text()
    assert not any(one.problems for one in machine("codex", "check"))
    machine("codex", "remove")
    assert tomllib.loads(path.read_text()) == {"z": {"a": "b"}}


def test_options_that_a_user_gave_our_server_stay_in_codex_too(machine, codex, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: True)
    machine("codex")
    path = codex / "config.toml"
    for words in OPTIONS:
        machine("codex", launcher="/old/contextspindle")
        text = re.sub(r"^args = .*$", f"args = {json.dumps(words)}", path.read_text(), flags=re.M)
        path.write_text(text)
        assert machine("codex", "check")[0].problems != ()
        machine("codex")
        assert path.read_text() == text.replace("/old/contextspindle", LAUNCHER)
        assert not any(one.problems for one in machine("codex", "check"))


def test_a_skill_or_marks_of_somebody_elses_are_left_alone_and_nothing_is_written(machine, codex):
    skill = codex / "skills" / "contextspindle" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("mine")
    with pytest.raises(SettingsDamaged, match="another file of this name"):
        machine("codex")
    assert (codex / "config.toml").read_text() == CONFIG
    skill.unlink()
    rules = codex / "AGENTS.md"
    rules.write_text("<!-- contextspindle: begin -->\nno end\n")
    with pytest.raises(SettingsDamaged, match="marks"):
        machine("codex")
    assert (codex / "config.toml").read_text() == CONFIG


def test_nobody_is_approved_for_a_colleague(machine):
    machine("codex", "write", "shared")
    said = tomllib.loads(machine.place("codex", "shared").read_text())
    assert said["mcp_servers"]["contextspindle"] == {"command": "contextspindle", "args": ["mcp"]}
    assert [Path(path).name for path in machine.files()] == ["config.toml"]


def test_a_section_from_an_older_version_is_replaced_in_its_place(machine, codex):
    rules = codex / "AGENTS.md"
    old = "<!-- contextspindle: begin; old -->\nold words\n<!-- contextspindle: end -->\n"
    rules.write_text(f"before\n\n{old}\nbehind\n")
    machine("codex")
    text = rules.read_text()
    assert text.startswith("before\n\n<!-- contextspindle: begin")
    assert text.endswith("<!-- contextspindle: end -->\n\nbehind\n")
    assert "old words" not in text
