"""Our MCP server in other programs' settings: put in, brought up to date, taken out, no trace."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from contextspindle import config
from contextspindle.core import jsonc
from contextspindle.errors import InvalidInput, SettingsDamaged
from contextspindle.harness import install
from contextspindle.harness.registration import PROGRAMS, register

LAUNCHER = "/opt/spindle/bin/contextspindle"
READS = ("contextspindle_task_show", "contextspindle_task_list")
JSON_PROGRAMS = [name for name in PROGRAMS if name != "codex"]
FOREIGN = """\ufeff{
\t// everybody's favourite
\t"a": [1, 2.50, "\\u00e9"], /* kept */
\t"mcpServers": {"other": {"command": "x"}, },
\t"servers": {"other": {"command": "x"}},
\t"mcp": {"other": {"type": "local", "command": ["x"]}},
}
"""


class Machine:
    """Somebody's home and project."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.project = home / "code" / "Zoë 日本 shop"
        self.project.mkdir(parents=True)
        self.settings = config.load(
            {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "USER": "ada"}
        )

    def __call__(self, name, action="write", scope="user", launcher=LAUNCHER):
        return register(
            name,
            scope,
            action,
            settings=self.settings,
            project=str(self.project),
            launcher=launcher,
            reads=READS,
        )

    def place(self, name, scope="user"):
        """The settings file of a program."""
        return Path(self(name, "preview", scope)[0].path)

    def files(self):
        return sorted(str(path) for path in self.home.rglob("*") if path.is_file())


@pytest.fixture
def machine(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return Machine(Path(os.path.realpath(home)))


def scopes(name):
    return ("user", "project", "shared") if name == "claude-code" else ("user", "shared")


EVERY = [(name, scope) for name in PROGRAMS for scope in scopes(name)]


@pytest.mark.parametrize(("name", "scope"), EVERY)
def test_a_preview_writes_nothing_and_says_what_would_be(machine, name, scope):
    done = machine(name, "preview", scope)
    assert all(one.changed() for one in done)
    assert machine.files() == []


@pytest.mark.parametrize(("name", "scope"), EVERY)
def test_what_was_not_there_is_gone_again_after_removal(machine, name, scope):
    machine(name, "write", scope)
    assert machine.files() != []
    machine(name, "remove", scope)
    assert machine.files() == []


@pytest.mark.parametrize(("name", "scope"), EVERY)
def test_writing_twice_is_writing_once_and_a_check_is_content(machine, name, scope, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: True)
    assert any(one.problems for one in machine(name, "check", scope))
    machine(name, "write", scope)
    before = {path: Path(path).read_bytes() for path in machine.files()}
    assert not any(one.changed() for one in machine(name, "write", scope))
    assert {path: Path(path).read_bytes() for path in machine.files()} == before
    assert not any(one.problems for one in machine(name, "check", scope))


@pytest.mark.parametrize("name", JSON_PROGRAMS)
def test_every_foreign_byte_stays_and_removal_gives_the_very_bytes_back(machine, name):
    for scope in scopes(name):
        place = machine.place(name, scope)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(FOREIGN.encode())
        machine(name, "write", scope)
        written = place.read_text(encoding="utf-8")
        said = jsonc.parse(written).value
        for part in ("a", "mcpServers", "servers", "mcp"):
            was = jsonc.parse(FOREIGN).value[part]
            now = said[part]
            if isinstance(now, dict):
                now = {key: one for key, one in now.items() if key != "contextspindle"}
            assert now == was
        for comment in ("// everybody's favourite", "/* kept */", "2.50", "\\u00e9"):
            assert comment in written
        machine(name, "remove", scope)
        assert place.read_bytes() == FOREIGN.encode()


ENTRIES = {
    "claude-code": ("mcpServers", {"type": "stdio", "command": LAUNCHER, "args": ["mcp"]}),
    "qwen-code": ("mcpServers", {"command": LAUNCHER, "args": ["mcp"]}),
    "droid": ("mcpServers", {"type": "stdio", "command": LAUNCHER, "args": ["mcp"]}),
    "gemini": ("mcpServers", {"command": LAUNCHER, "args": ["mcp"]}),
    "cursor": ("mcpServers", {"command": LAUNCHER, "args": ["mcp"]}),
    "vscode": ("servers", {"type": "stdio", "command": LAUNCHER, "args": ["mcp"]}),
    "opencode": ("mcp", {"type": "local", "enabled": True, "command": [LAUNCHER, "mcp"]}),
    "copilot-cli": (
        "mcpServers",
        {"type": "local", "tools": ["*"], "command": LAUNCHER, "args": ["mcp"]},
    ),
}


@pytest.mark.parametrize("name", JSON_PROGRAMS)
def test_the_entry_has_the_form_that_the_program_reads(machine, name):
    machine(name)
    key, entry = ENTRIES[name]
    said = json.loads(machine.place(name).read_text())
    assert said == {key: {"contextspindle": entry}}


def test_each_program_keeps_its_servers_where_it_does(machine):
    home, project = str(machine.home), str(machine.project)
    places = {
        "claude-code": (f"{home}/.claude.json", f"{project}/.mcp.json"),
        "codex": (f"{home}/.codex/config.toml", f"{project}/.codex/config.toml"),
        "qwen-code": (f"{home}/.qwen/settings.json", f"{project}/.qwen/settings.json"),
        "droid": (f"{home}/.factory/mcp.json", f"{project}/.factory/mcp.json"),
        "gemini": (f"{home}/.gemini/settings.json", f"{project}/.gemini/settings.json"),
        "opencode": (f"{home}/config/opencode/opencode.json", f"{project}/opencode.json"),
        "cursor": (f"{home}/.cursor/mcp.json", f"{project}/.cursor/mcp.json"),
        "vscode": (f"{home}/config/Code/User/mcp.json", f"{project}/.vscode/mcp.json"),
        "copilot-cli": (f"{home}/.copilot/mcp-config.json", f"{project}/.github/mcp.json"),
    }
    assert places.keys() == PROGRAMS.keys()
    for name, (user, shared) in places.items():
        if os.uname().sysname == "Linux" or name != "vscode":
            assert str(machine.place(name)) == user
        assert str(machine.place(name, "shared")) == shared


def test_a_committed_entry_names_the_command_and_no_persons_path(machine):
    for name in PROGRAMS:
        machine(name, "write", "shared")
        text = machine.place(name, "shared").read_text()
        assert LAUNCHER not in text
        assert '"contextspindle"' in text


def test_claude_codes_own_entry_for_a_project_is_below_that_project(machine):
    machine("claude-code", "write", "project")
    said = json.loads(machine.place("claude-code").read_text())
    servers = said["projects"][str(machine.project)]["mcpServers"]
    assert servers["contextspindle"]["command"] == LAUNCHER


def test_an_entry_of_ours_is_brought_up_to_date_and_what_a_user_added_stays(machine):
    place = machine.place("gemini")
    place.parent.mkdir(parents=True)
    place.write_text(
        '{"mcpServers": {"contextspindle": {"command": "/old/bin/contextspindle",'
        ' "env": {"CONTEXTSPINDLE_ACTOR": "ada"}, "args": ["mcp", "--tools", "few"]}}}'
    )
    machine("gemini")
    entry = json.loads(place.read_text())["mcpServers"]["contextspindle"]
    assert entry == {
        "command": LAUNCHER,
        "env": {"CONTEXTSPINDLE_ACTOR": "ada"},
        "args": ["mcp"],
    }


@pytest.mark.parametrize(
    "content",
    [
        '{"mcpServers": {"contextspindle": {"command": "docker", "args": ["run", "mcp"]}}}',
        '{"mcpServers": {"contextspindle": "x"}}',
        '{"mcpServers": []}',
        '{"mcpServers": null}',
        "[]",
        "null",
        "{",
        '{"a": 1,, }',
    ],
)
def test_a_file_of_another_form_or_a_server_of_somebody_elses_is_refused(machine, content):
    place = machine.place("cursor")
    place.parent.mkdir(parents=True)
    place.write_text(content)
    with pytest.raises(SettingsDamaged):
        machine("cursor")
    assert place.read_text() == content
    assert machine.files() == [str(place)]


def test_a_program_or_a_scope_that_is_not_known_is_refused(machine):
    with pytest.raises(InvalidInput, match="claude-code, codex, qwen-code"):
        machine("telepathy")
    with pytest.raises(InvalidInput) as refused:
        machine("cursor", scope="project")
    assert "--shared" in refused.value.hint


# -- codex

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
        "args": ["mcp"],
        "command_note": "mine",
        "args_of_mine": ["y"],
        "tools": {
            READS[0]: {"approval_mode": "approve", "approval_mode_note": "mine"},
            READS[1]: {"approval_mode": "approve"},
        },
    }
    assert '[mcp_servers.contextspindle] # ours\ncommand_note = "mine"\n' in text
    assert f'command = "{LAUNCHER}"  # moved "#" twice\nargs = ["mcp"]\n' in text
    assert text.endswith("\n# about z\n[z]\na = 1\n")


@pytest.mark.parametrize(
    "content",
    [
        'mcp_servers = { contextspindle = { command = "/x/contextspindle", args = ["mcp"] } }\n',
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


def test_the_actions_are_those_of_the_hooks():
    assert (*("preview", "write", "remove", "check"),) == (
        install.PREVIEW,
        install.WRITE,
        install.REMOVE,
        install.CHECK,
    )
