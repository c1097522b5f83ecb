"""The plugin installs what ``setup`` would, and every command that a document names exists."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from contextspindle import __version__
from contextspindle.cli import full, parse
from contextspindle.harness import claude_code, hooks, install
from contextspindle.mcp_server.tools import TOOLS

TEXTS = ("README*.md", "docs/**/*.md", "examples/**/*.md", "integrations/**/*.md")

SAID = re.compile(r"contextspindle (?!-)[a-z]+ [^`\n]*|contextspindle (?:verify|init)\b[^`\n]*")


@pytest.fixture(scope="module")
def plugin(root):
    return root / "integrations" / "claude-code"


def test_the_hooks_of_the_plugin_are_those_that_set_up_writes_for_many(plugin):
    wanted = tuple(hooks.Wanted(*one) for one in claude_code.HOOKS)
    commands = {
        one.words: install.command_line("contextspindle", one.words, shared=True) for one in wanted
    }
    written = json.loads(hooks.with_ours("", wanted, commands))
    assert json.loads((plugin / "hooks" / "hooks.json").read_text()) == written


def test_the_plugin_has_the_version_of_the_program(plugin):
    manifest = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("contextspindle", __version__)


def test_the_plugin_starts_the_server_and_its_tool_names_fit(plugin):
    servers = json.loads((plugin / ".mcp.json").read_text())["mcpServers"]
    assert servers == {"spindle": {"command": "contextspindle", "args": ["mcp"]}}
    longest = max(len(tool.name) for tool in TOOLS)
    assert len("mcp__plugin_contextspindle_spindle__") + longest <= 64


def test_the_skill_says_when_it_is_for_and_fits_what_a_harness_reads(plugin):
    text = (plugin / "skills" / "contextspindle" / "SKILL.md").read_text()
    _, front, body = text.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    assert fields["name"] == "contextspindle"
    assert 100 < len(fields["description"]) <= 1_024
    assert len(body.encode()) < 6_000


def said(root) -> list[tuple[str, str]]:
    """Every command in a code span or block, with the file that says it."""
    found = []
    for pattern in TEXTS:
        for path in sorted(root.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            if path.parent.name == "reference":
                continue  # generated from the table, and held to it elsewhere
            text = text.replace("\\\n", " ")
            parts = re.findall(r"```(sh|console)\n(.*?)```|`([^`\n]+)`", text, re.S)
            for kind, block, span in parts:
                for line in (block or span).splitlines():
                    if kind == "console" and not line.startswith("$ "):
                        continue  # what the command answers
                    match = SAID.search(line.removeprefix("$ "))
                    if match:
                        found.append((str(path.relative_to(root)), match[0]))
    return found


def test_every_command_that_a_document_tells_to_run_can_be_understood(root):
    wrong = []
    commands = said(root)
    assert len(commands) > 50
    for place, line in commands:
        plain = re.split(r"\s(?:[|<>&]|#|2>)", line)[0].replace("...", "x")
        try:
            command, rest = parse.command_of(shlex.split(plain)[1:])
            full.parse(command, [word.replace("VERSION", "3") for word in rest])
        except Exception as error:
            wrong.append((place, line, str(error)))
    assert wrong == []
