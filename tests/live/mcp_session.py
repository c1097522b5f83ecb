"""A real program with our MCP server, cut off from every network: prints what came of a prompt.

    unshare -rn python mcp_session.py claude-code|codex PROGRAM SPINDLE FOLDER < prompts.json

Our own ``setup --mcp`` tells the program of the server, the model's stand-in calls its tools, and
at last the entries are taken out again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.live.model import Model, started

SECONDS = 120


def main() -> None:
    """Set up, ask, look at the ledger, remove; then a report in JSON."""
    name, program, spindle, folder = sys.argv[1:5]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    place = Path(folder)
    for part in ("home", "config", "project", "tmp"):
        (place / part).mkdir(parents=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "tmp"),
        "LANG": "C.UTF-8",
    }
    model = started()
    if name == "codex":
        words, settings = codex(program, place, environment, model)
    else:
        words, settings = claude(program, place, environment, model)
    before = settings.read_text()

    def ours(*given: str) -> str:
        return subprocess.run(
            [spindle, *given],
            cwd=place / "project",
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    ours("init")
    ours("setup", name, "--mcp", "--write")
    ours("setup", name, "--mcp", "--check")
    turns = []
    for prompt in json.load(sys.stdin):
        ran = subprocess.run(
            [*words, prompt],
            cwd=place / "project",
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        turns.append({"status": ran.returncode, "out": ran.stdout[-4_000:], "err": ran.stderr})
    tasks = json.loads(ours("task", "list", "--json"))["data"]["tasks"]
    ours("setup", name, "--mcp", "--remove")
    left = [str(path) for path in place.rglob("*") if "contextspindle" in path.name.lower()]
    report = {
        "turns": turns,
        "tasks": tasks,
        "requests": [json.dumps(one) for one in model.requests],
        "before": before,
        "after": settings.read_text(),
        "left": [path for path in left if "/project/" not in path and "/.cache/" not in path],
        "running": servers(spindle),
    }
    print(json.dumps(report))


def claude(
    program: str, place: Path, environment: dict[str, str], model: Model
) -> tuple[list[str], Path]:
    """How Claude Code is asked, and the file that holds its servers."""
    environment |= {
        "CLAUDE_CONFIG_DIR": str(place / "config"),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}",
        "ANTHROPIC_API_KEY": "sk-ant-stand-in",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "IS_SANDBOX": "1",
    }
    settings = place / "config" / ".claude.json"
    settings.write_text('{"hasCompletedOnboarding": true}')
    return [program, "-p", "--permission-mode", "bypassPermissions"], settings


def codex(
    program: str, place: Path, environment: dict[str, str], model: Model
) -> tuple[list[str], Path]:
    """How Codex is asked, and its settings."""
    environment |= {"CODEX_HOME": str(place / "config"), "STAND_IN_KEY": "none"}
    settings = place / "config" / "config.toml"
    settings.write_text(
        f"""model = "stand-in"
model_provider = "stand-in"  # on loopback
check_for_update_on_startup = false
mcp_optional_startup_grace_ms = 60000

[model_providers.stand-in]
name = "stand-in"
base_url = "http://127.0.0.1:{model.port}/v1"
wire_api = "responses"
env_key = "STAND_IN_KEY"

[analytics]
enabled = false

[projects."{place / "project"}"]
trust_level = "trusted"
"""
    )
    return [program, "exec", "--skip-git-repo-check"], settings


def servers(spindle: str) -> int:
    """How many of our servers still run."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        count += b"mcp" in words and spindle.encode().rpartition(b"/")[0] in b" ".join(words)
    return count


if __name__ == "__main__":
    main()
