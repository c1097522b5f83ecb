"""Our MCP server in other programs' settings: put in, brought up to date, taken out, no trace."""

from __future__ import annotations

import json
import os
import re
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
        "args": ["mcp", "--tools", "few"],
    }


OPTIONS = [
    ["mcp", "--tools", "few"],
    ["mcp", "--resources", "--workspace", "/x y"],
    ["--workspace", "/x", "mcp"],
]


@pytest.mark.parametrize("name", JSON_PROGRAMS)
@pytest.mark.parametrize("words", OPTIONS)
def test_options_that_a_user_gave_our_server_stay_as_they_stand(machine, name, words, monkeypatch):
    """Only the command is ours to change, whatever stands behind it."""
    monkeypatch.setattr(os, "access", lambda *_: True)
    machine(name, "write", launcher="/old/bin/contextspindle")
    place = machine.place(name)
    laid_out = ",\n      ".join(json.dumps(one) for one in words)
    theirs = re.sub(r'"mcp"(?=\s*\])', lambda _: laid_out, place.read_text())
    place.write_text(theirs)
    machine(name)
    assert place.read_text() == theirs.replace("/old/bin/contextspindle", LAUNCHER)
    assert not any(one.problems for one in machine(name, "check"))
    assert not any(one.changed() for one in machine(name, "write"))
    machine(name, "remove")
    assert "contextspindle" not in (place.read_text() if place.exists() else "")


def test_a_command_without_the_word_that_starts_our_server_gets_it(machine):
    place = machine.place("opencode")
    place.parent.mkdir(parents=True)
    place.write_text(
        '{"mcp": {"contextspindle": {"command": ["/old/contextspindle"], "args": ["mcp"]}}}'
    )
    machine("opencode")
    assert json.loads(place.read_text())["mcp"]["contextspindle"]["command"] == [LAUNCHER, "mcp"]


def test_an_entry_stays_in_the_file_of_opencode_that_it_is_in(machine):
    """OpenCode reads both files; one that comes later does not hide our entry from us."""
    plain = machine.place("opencode")
    plain.parent.mkdir(parents=True)
    plain.write_text('{"theme": "x"}\n')
    machine("opencode")
    named = plain.with_suffix(".jsonc")
    named.write_text('{\n  // mine\n  "theme": "y"\n}\n')
    assert machine.place("opencode") == plain
    assert not machine("opencode", "write")[0].changed()
    machine("opencode", "remove")
    assert plain.read_text() == '{"theme": "x"}\n'
    assert machine.place("opencode") == named
    machine("opencode")
    assert "contextspindle" in named.read_text()
    assert plain.read_text() == '{"theme": "x"}\n'


def test_an_entry_that_is_in_both_files_of_opencode_leaves_both(machine):
    plain = machine.place("opencode")
    plain.parent.mkdir(parents=True)
    machine("opencode")
    named = plain.with_suffix(".jsonc")
    named.write_bytes(plain.read_bytes())
    machine("opencode", "remove")
    assert [one for one in machine.files() if "contextspindle" in Path(one).read_text()] == []


def test_a_file_of_opencode_that_is_damaged_is_told_and_hides_no_other(machine):
    plain = machine.place("opencode")
    plain.parent.mkdir(parents=True)
    plain.with_suffix(".jsonc").write_text("{")
    with pytest.raises(SettingsDamaged, match="jsonc"):
        machine("opencode")
    ours = '"mcp": {"contextspindle": {"command": ["/old/contextspindle", "mcp"]}}'
    plain.write_text(f'{{"theme": "x", {ours}}}')
    machine("opencode", "remove")
    assert json.loads(plain.read_text()) == {"theme": "x"}


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


def test_the_actions_are_those_of_the_hooks():
    assert (*("preview", "write", "remove", "check"),) == (
        install.PREVIEW,
        install.WRITE,
        install.REMOVE,
        install.CHECK,
    )
