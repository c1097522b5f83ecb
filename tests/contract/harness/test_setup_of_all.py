"""Everything that a program gets of us goes in together, and comes out again without a trace."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from contextspindle import cli, programs
from contextspindle.core import jsonc
from contextspindle.harness import codex, gemini, hooks
from contextspindle.harness.registration import PROGRAMS
from contextspindle.harness.sections import Section

READS = ("contextspindle_task_show", "contextspindle_task_list")
FOLDERS = {
    "claude-code": ".claude",
    "codex": ".codex",
    "qwen-code": ".qwen",
    "droid": ".factory",
    "gemini": ".gemini",
    "copilot-cli": ".copilot",
    "opencode": "config/opencode",
    "cursor": ".cursor",
    "vscode": "config/Code",
}


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    """No program of this machine is seen, and nothing of a checkout."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("COPILOT_HOME", raising=False)
    monkeypatch.setenv("SHELL", "/bin/sh")
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)


def set_up(name, action, parts=programs.PARTS, scope="user"):
    return programs.set_up(name, scope, action, parts, version="1", reads=READS)


def bytes_below(place: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in sorted(place.rglob("*")) if one.is_file()}


def said(path: Path):
    return jsonc.parse(path.read_bytes().decode()).value


BUSY = """{
    // what everybody here runs
    "theme": "dark", /* not light */
    "hooks": {
        "SessionStart": [
            {"matcher": "auto", "hooks": [{"type": "command", "command": "notify"}]}
        ],
        "Other": [{"hooks": [{"type": "command", "command": "say 'contextspindle'"}]}],
    },
    "mcpServers": {
        "other": {"command": "contextspindle-like", "args": ["mcp"]}, // theirs
    },
    "number": 2.50, "escaped": "\\u00e9"
}
"""
SETTINGS = [
    "",
    "\n",
    "{}",
    "{ }\n",
    "\ufeff{}",
    "{\n}\n",
    "// nothing yet\n{}\n",
    "{\n  // nothing yet\n}\n",
    '{"hooks": {}}',
    '{"hooks":{"SessionStart":[]}}',
    '{"hooks": {"Other": []}, "mcpServers": {}}\n',
    '{\n\t"mcpServers": {\n\t},\n\t"hooks": {\n\t}\n}',
    '{"mcpServers": {}}',
    '{"a":1,"b":[1,2.50,1e3],"c":"\\u00e9 \u65e5\u672c"}',
    '{ "a" : 1 ,\n\n\n   "b":2\n , "c" : [ ] }\n\n\n',
    '{"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "x"}]}]}}',
    '{"mcpServers": {"one": {"command": "x"}}}\n',
    '{"mcpServers":{"one":{"command":"x"}},"hooks":{"BeforeAgent":[]}}',
    '{\n    "hooks": { /* none */ },\n    "a": null\n}\n',
    '{"a": {"b": {"c": [{"d": []}, {}]}},\n}\n',
    BUSY,
    BUSY.replace("\n", "\r\n"),
    "\ufeff" + BUSY,
    BUSY.replace("    ", "\t"),
    BUSY.rstrip("\n"),
]
ORDERS = [
    [("hooks", "server")],
    [("hooks",), ("server",)],
    [("server",), ("hooks",)],
]


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_hooks_and_server_in_one_file_come_out_in_any_order_to_the_byte(home, number):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    text = SETTINGS[number].encode()
    path.write_bytes(text)
    for put, taken in zip(ORDERS * 2, [*ORDERS, *ORDERS[1:], ORDERS[0]], strict=True):
        for parts in put:
            set_up("gemini", "write", parts)
        settings = said(path)
        assert len(hooks.found(settings)) == len(gemini.HOOKS)
        assert settings["mcpServers"]["contextspindle"]["args"] == ["mcp"]
        before = path.read_bytes()
        for parts in put:
            set_up("gemini", "write", parts)
        assert path.read_bytes() == before
        for parts in taken:
            set_up("gemini", "remove", parts)
        assert bytes_below(home) == {str(path): text}


def test_what_another_wrote_meanwhile_stays_when_both_parts_go(home):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {}}')
    set_up("gemini", "write", ("hooks",))
    path.write_text(path.read_text().replace('{"hooks"', '{"theirs": 1, "hooks"', 1))
    set_up("gemini", "write", ("server",))
    set_up("gemini", "remove", ("hooks",))
    set_up("gemini", "remove", ("server",))
    assert said(path) == {"theirs": 1}
    assert os.listdir(path.parent) == ["settings.json"]


def test_the_servers_of_a_person_and_of_a_project_share_a_file_and_its_copy(home):
    path = home / ".claude.json"
    for text in ('{"projects": {}}', '{"mcpServers": {}, "n": 1}\n', "{}"):
        path.write_text(text)
        for scopes in (("user", "project"), ("project", "user")):
            for scope in ("user", "project"):
                set_up("claude-code", "write", ("server",), scope)
            for scope in scopes:
                set_up("claude-code", "remove", ("server",), scope)
            assert path.read_text() == text
    assert bytes_below(home) == {str(path): b"{}"}


OLD = """{
  "hooks": {"EVENT": [
    {"hooks": [{"type": "command", "command": "/old/bin/contextspindle fuse save"}]},
    {"hooks": [{"type": "command", "command": "notify"}]}
  ]},
  "mcpServers": {"contextspindle": {"command": "/old/contextspindle", "args": ["mcp"], "env": {}}}
}
"""


@pytest.mark.parametrize("name", ["gemini", "qwen-code"])
def test_old_entries_of_ours_are_brought_up_to_date_together_and_leave_together(home, name):
    path = home / FOLDERS[name] / "settings.json"
    path.parent.mkdir()
    path.write_text(OLD.replace("EVENT", "PreCompact" if name == "qwen-code" else "PreCompress"))
    assert any(one.problems for one in set_up(name, "check").files)
    set_up(name, "write")
    assert "/old/" not in path.read_text()
    assert not any(one.problems for one in set_up(name, "check").files)
    set_up(name, "remove")
    (event,) = said(path)["hooks"].items()
    assert event[1] == [{"hooks": [{"type": "command", "command": "notify"}]}]
    assert "mcpServers" not in said(path)


TOML = [
    "",
    'model = "x"',
    "# mine\n\n\n",
    '[mcp_servers.other]\ncommand = "a"\n\n\n[z]\na=1\n',
    'a  =  [ 1 ,\n 2 ]\r\n[ mcp_servers . "o" ]\r\ncommand = "x"\r\n',
    "text = '''\n[mcp_servers.contextspindle]\n'''\n",
    '[mcp_servers]\n[mcp_servers.other.env]\nA = "b"   # b',
]


@pytest.mark.parametrize("text", TOML)
def test_codex_gets_all_of_it_and_is_given_its_bytes_back(home, text):
    folder = home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_bytes(text.encode())
    (folder / "hooks.json").write_text('{"hooks": {}}')
    (folder / "AGENTS.md").write_text("Be kind.")
    before = bytes_below(home)
    set_up("codex", "write")
    assert tomllib.loads((folder / "config.toml").read_bytes().decode())["mcp_servers"][
        "contextspindle"
    ]["args"] == ["mcp"]
    assert (folder / "AGENTS.md").read_text().count("contextspindle: begin") == 1
    assert len(hooks.found(said(folder / "hooks.json"))) == len(codex.HOOKS)
    set_up("codex", "remove")
    assert bytes_below(home) == before


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_is_checked_written_once_and_left_as_it_was(home, name):
    (home / FOLDERS[name]).mkdir(parents=True)
    missed = set_up(name, "check").files
    assert all(one.problems for one in missed)
    assert len({(one.path, one.what) for one in missed}) == len(missed)
    assert all(one.changed() for one in set_up(name, "preview").files)
    assert bytes_below(home) == {}
    set_up(name, "write")
    assert not any(one.problems for one in set_up(name, "check").files)
    assert not any(one.changed() for one in set_up(name, "write").files)
    set_up(name, "remove")
    assert bytes_below(home) == {}


RULES = {
    "claude-code": ".claude/CLAUDE.md",
    "codex": ".codex/AGENTS.md",
    "qwen-code": ".qwen/QWEN.md",
    "droid": ".factory/AGENTS.md",
    "gemini": ".gemini/GEMINI.md",
    "copilot-cli": ".copilot/copilot-instructions.md",
    "opencode": "config/opencode/AGENTS.md",
}


@pytest.mark.parametrize("name", RULES)
def test_the_section_goes_into_the_instructions_and_other_words_stay(home, name):
    path = home / RULES[name]
    path.parent.mkdir(parents=True)
    done = set_up(name, "write")
    made = name not in ("claude-code", "opencode")  # those read another file in its place
    assert path.exists() == made
    assert made or any(path.name in note for note in done.left_out)
    set_up(name, "remove")
    path.write_text("Be kind.\r\nAlways.")
    set_up(name, "write")
    text = path.read_bytes().decode()
    assert text.startswith("Be kind.\r\nAlways.\r\n\r\n<!-- contextspindle: begin")
    set_up(name, "remove")
    assert bytes_below(home) == {str(path): b"Be kind.\r\nAlways."}


ENDS = ["\r", "\x0c\n\n\r", "a\r\nb\r", "a\nb\r\n", "a\rb\r"]


@pytest.mark.parametrize("text", ENDS)
def test_lines_that_end_oddly_get_our_section_once_and_are_given_back(home, text):
    """Our own blank line behind a lone return makes no file of the other kind of lines."""
    path = home / ".gemini" / "GEMINI.md"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    set_up("gemini", "write", ("instructions",))
    written = path.read_bytes()
    set_up("gemini", "write", ("instructions",))
    assert path.read_bytes() == written
    set_up("gemini", "remove", ("instructions",))
    assert path.read_bytes() == text.encode()
    section = Section("ours")  # without the copy too
    assert section.without_ours(section.with_ours(text)) == text


def test_a_file_of_two_names_keeps_both_and_says_the_same_under_each(home):
    path, other = home / ".gemini" / "settings.json", home / "dotfiles.json"
    path.parent.mkdir()
    path.write_text(BUSY)
    path.chmod(0o640)
    os.link(path, other)
    set_up("gemini", "write")
    assert path.samefile(other)
    assert other.stat().st_mode & 0o777 == 0o640
    assert "contextspindle" in said(other)["mcpServers"]
    set_up("gemini", "remove")
    assert (path.samefile(other), other.read_text()) == (True, BUSY)
    assert bytes_below(home) == {str(path): BUSY.encode(), str(other): BUSY.encode()}


def test_the_copy_beside_a_committed_file_goes_with_the_last_of_ours(home):
    """It lies in the user's checkout as long as ours is in the file."""
    Path(".mcp.json").write_text('{"mcpServers": {}}\n')
    Path(".claude").mkdir()
    Path(".claude/settings.json").write_text('{"theme": "x"}\n')
    before = bytes_below(Path.cwd())
    set_up("claude-code", "write", programs.PARTS[:2], "shared")
    assert len(bytes_below(Path.cwd())) == 4
    Path(".mcp.json").write_text(Path(".mcp.json").read_text() + "\n")
    set_up("claude-code", "remove", programs.PARTS[:2], "shared")
    assert bytes_below(Path.cwd()).keys() == before.keys()


def test_a_linked_file_stays_a_link_with_both_parts_in_it(home):
    real, path = home / "dotfiles.json", home / ".gemini" / "settings.json"
    path.parent.mkdir()
    real.write_text(BUSY)
    real.chmod(0o640)
    path.symlink_to(real)
    set_up("gemini", "write")
    assert path.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "contextspindle" in said(real)["mcpServers"]
    set_up("gemini", "remove")
    assert (path.is_symlink(), real.read_text()) == (True, BUSY)


# -- the command


@pytest.fixture
def told(capfd):
    """A function that runs the command in this process; gives status, output and errors."""

    def run(*words: str) -> tuple[int, str, str]:
        status = cli.main(["setup", *words])
        return status, *capfd.readouterr()

    return run


def test_where_no_program_is_found_it_says_what_was_looked_for_and_how_to_name_one(told, home):
    status, out, err = told("--write")
    assert (status, out) == (3, "")
    assert "PROGRAM_NOT_FOUND" in err
    for name, folder in FOLDERS.items():
        assert f"{name}: {home}" in err, folder
    assert ", codex;" in err
    assert "contextspindle setup claude-code" in err
    assert bytes_below(home) == {}


def test_all_that_are_found_are_previewed_written_checked_and_taken_out(told, home, tmp_path):
    (home / ".gemini").mkdir()
    command = tmp_path / "bin" / "codex"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    status, out, _ = told()
    assert status == 0
    assert f"==> codex, found by {command}\n" in out
    assert f"==> gemini, found by {home / '.gemini'}\n" in out
    assert out.count("==> ") == 2
    assert out.count("would change so:\n") == 6  # codex has four files, gemini two
    assert out.endswith("\nnothing was written; the same with --write does it\n")
    assert bytes_below(home) == {}
    for words in ((), ("--hooks",), ("--mcp", "--shared")):
        status, out, _ = told(*words, "--check")
        assert status == 6
        again = " ".join(("contextspindle setup", *words, "--write"))
        assert out.endswith(f"\n\n'{again}' brings them up to date.\n")
    status, out, _ = told("--write")
    assert status == 0
    assert out.count("Sessions that are open") == 1
    assert "open /hooks in it. Only you can do that." in out
    status, out, _ = told("--check")
    assert status == 0
    assert out.endswith(", as they should be\n")
    assert told("--remove")[0] == 0
    assert bytes_below(home) == {}


def test_one_that_cannot_be_done_is_told_and_does_not_stop_the_others(told, home):
    for name in ("claude-code", "codex", "gemini"):
        (home / FOLDERS[name]).mkdir()
    damaged = home / ".codex" / "config.toml"
    damaged.write_text("not = toml = at all")
    status, out, _ = told("--write", "--json")
    assert status == 6
    rows = {row["harness"]: row for row in json.loads(out)["data"]["programs"]}
    assert {name: row["error"] and row["error"]["code"] for name, row in rows.items()} == {
        "claude-code": None,
        "codex": "SETTINGS_DAMAGED",
        "gemini": None,
    }
    assert str(damaged) in rows["codex"]["error"]["message"]
    assert os.listdir(home / ".codex") == ["config.toml"]
    assert (home / ".claude" / "settings.json").exists()
    assert (home / ".gemini" / "GEMINI.md").exists()
    status, out, _ = told("--check")
    assert status == 6
    assert f"codex: not done: {damaged}" in out
    assert out.count("missing or out of date") == 0


def test_a_part_can_be_asked_for_alone_and_what_has_no_place_is_left_out(told, home):
    (home / ".cursor").mkdir()
    (home / ".gemini").mkdir()
    assert told("--hooks", "--write")[0] == 0
    assert sorted(bytes_below(home)) == [str(home / ".gemini" / "settings.json")]
    assert "mcpServers" not in said(home / ".gemini" / "settings.json")
    status, out, _ = told("--hooks", "--check")
    assert status == 0
    assert "cursor: left out: cursor has no settings to put hooks into" in out
    status, _, err = told("gemini", "--check")
    assert status == 6
    assert "our server entries are missing" in err
    assert "'contextspindle setup gemini --write'" in err
    assert told("cursor", "--hooks")[0] == 2
    assert told("gemini", "--mcp", "--project")[0] == 2


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("claude", "claude-code"),
        ("Claude_Code", "claude-code"),
        ("codx", "codex"),
        ("qwen", "qwen-code"),
        ("copilot", "copilot-cli"),
        ("vs-code", "vscode"),
        ("gemini-cli", "gemini"),
        ("open-code", "opencode"),
    ],
)
def test_a_program_by_another_name_leads_to_its_own(told, given, meant):
    status, _, err = told(given)
    assert status == 2
    assert f"There is no program '{given}'; known are claude-code, codex" in err
    assert err.endswith(f"\nDid you mean 'contextspindle setup {meant}'?\n")


@pytest.mark.parametrize("given", ["nobody", "c", "", "co"])
def test_a_program_that_is_near_to_none_leads_to_the_help(told, given):
    status, _, err = told(given or "-")
    assert status == 2
    assert "Did you mean" not in err
    assert "--help" in err
