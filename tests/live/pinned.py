"""The programs that the live tests run, and the version of each: the one place that says so.

``make test-live-newest`` asks npm for the newest of each instead.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from typing import NamedTuple

import pytest

from tests.programs import installed


class Pin(NamedTuple):
    """A program as npm has it; ``where`` it is in the folder that it is installed into.

    ``node`` is the version of node that it needs, where it brings none of its own.
    """

    package: str
    version: str
    where: str
    node: str = ""


_ON = f"{sys.platform}-{'arm64' if platform.machine() in ('arm64', 'aarch64') else 'x64'}"
_MODULES = "node_modules"

PINS = {
    "claude-code": Pin(
        "@anthropic-ai/claude-code", "2.1.332", f"{_MODULES}/@anthropic-ai/claude-code-*/claude"
    ),
    "codex": Pin("@openai/codex", "0.171.0", f"{_MODULES}/@openai/codex-*/vendor/*/bin/codex"),
    "qwen-code": Pin(
        "@qwen-code/qwen-code", "0.24.4", f"{_MODULES}/@qwen-code/qwen-code/cli.js", "22.23.5"
    ),
    "droid": Pin(f"@factory/cli-{_ON}", "0.225.2", f"{_MODULES}/@factory/cli-*/bin/droid"),
    "gemini": Pin(
        "@google/gemini-cli", "0.61.0", f"{_MODULES}/@google/gemini-cli/bundle/gemini.js", "22.23.5"
    ),
    "copilot-cli": Pin(
        f"@github/copilot-{_ON}", "1.0.102", f"{_MODULES}/@github/copilot-*/copilot"
    ),
    "opencode": Pin("opencode-ai", "1.18.33", f"{_MODULES}/opencode-linux-*/bin/opencode"),
}
"""By the name that our own set-up knows each by."""


def version(name: str, *, newest: bool = False) -> str:
    """The version of a program that is to be run."""
    if not newest:
        return PINS[name].version
    ran = subprocess.run(
        ["npm", "view", PINS[name].package, "version"], capture_output=True, text=True
    )
    if ran.returncode or not ran.stdout.strip():
        pytest.skip(f"npm does not say which {name} is the newest: {ran.stderr.strip()[-200:]}")
    return ran.stdout.strip()


def program(name: str, version: str) -> list[str]:
    """The words that start a program, installed if it is not there yet; else the test is skipped.

    It is run cut off from the network, so the tools for that are asked for as well.
    """
    pin = PINS[name]
    tools = ("unshare", "ip")
    found = installed(f"{name}-{version}", pin.where, f"{pin.package}@{version}", tools=tools)
    if not pin.node:
        return [found]
    package = f"node-{_ON}"
    node = installed(
        f"node-{pin.node}", f"{_MODULES}/{package}/bin/node", f"{package}@{pin.node}", tools=tools
    )
    return [node, found]


def skip_without_namespace(complaint: str) -> None:
    """Skip the test if what was said on standard error is that no namespace can be made."""
    if "unshare failed" in complaint or "Operation not permitted" in complaint:
        pytest.skip(f"no namespace can be made here: {complaint.strip()[-200:]}")
