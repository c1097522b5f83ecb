"""Sessions of the real Claude Code, cut off from every network: prints what reached the model.

    unshare -rn python claude_code.py CLAUDE SPINDLE FOLDER < runs.json

Run in a namespace with nothing but loopback.  Our hooks are installed by our own ``setup``; then
come the runs, each one process with its ``prompts``, a turn each, ``/compact`` among them.  A run
may go on with the session of an earlier one (``of``, its number), forked off it (``fork``), after a
call of our own command (``before``).  ``TASK`` in a prompt stands for the id of a task that the
ledger holds.  At last the hooks are taken out again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.live import harnesses
from tests.live.model import Model, started

TURN_SECONDS = 90


def main() -> None:
    """Set up, run, remove; then a report in JSON."""
    claude, spindle, folder = sys.argv[1:4]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    model = started()
    place = Path(folder)
    for name in ("home", "config", "project", "tmp"):
        (place / name).mkdir(parents=True)
    environment = surroundings(place, model)

    def ours(*words: str) -> str:
        ran = subprocess.run(
            [spindle, *words],
            cwd=place / "project",
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout

    settings = place / "config" / "settings.json"
    listener, heard = harnesses.listener(place)
    hooks = harnesses.matching(("SessionStart", "PreCompact", "PostCompact"), listener, 20)
    before = json.dumps({"theme": "dark", "hooks": hooks})
    settings.write_text(before)
    ours("init")
    task = ours("task", "create", "LEDGER-GOAL-9: a widget", "--next", "LEDGER-NEXT-3", "--quiet")
    ours("setup", "claude-code", "--hooks", "--write")
    runs: list[dict[str, Any]] = []
    for run in json.load(sys.stdin):
        if "before" in run:
            ours(*run["before"])
        words = ["--resume", runs[run["of"]]["session"]] if "of" in run else []
        if run.get("fork"):
            words.append("--fork-session")
        prompts = [prompt.replace("TASK", task.strip()) for prompt in run["prompts"]]
        first = len(model.requests)
        ended, session = turns([claude, *words], place / "project", environment, prompts)
        requests = [json.dumps(one["messages"]) for one in model.requests[first:]]
        runs.append({"results": ended, "session": session, "requests": requests})
    status = ours("fuse", "status", "--json")
    listed = ours("fuse", "list", "100", "--json")
    ours("setup", "claude-code", "--hooks", "--remove")
    report = {
        "runs": runs,
        "task": task.strip(),
        "status": json.loads(status)["data"],
        "snapshots": json.loads(listed)["data"]["snapshots"],
        "heard": heard(),
        "before": before,
        "after": settings.read_text(),
    }
    print(json.dumps(report))


def surroundings(place: Path, model: Model) -> dict[str, str]:
    """What Claude Code needs to know, with its folders in ``place``."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(place / "home"),
        "CLAUDE_CONFIG_DIR": str(place / "config"),
        "TMPDIR": str(place / "tmp"),
        "LANG": "C.UTF-8",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}",
        "ANTHROPIC_API_KEY": "sk-ant-stand-in",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "IS_SANDBOX": "1",
        "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000",
        "CLAUDE_CODE_ENABLE_TASKS": "1",
        "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
    }


def turns(
    claude: list[str], folder: Path, environment: dict[str, str], prompts: list[str]
) -> tuple[list[str], str]:
    """How each prompt's turn ended, and the session's id."""
    child = subprocess.Popen(
        [
            *(*claude, "-p", "--input-format", "stream-json", "--output-format", "stream-json"),
            *("--verbose", "--permission-mode", "bypassPermissions"),
        ],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    ended, session = [], ""
    watchdog = threading.Timer(TURN_SECONDS * len(prompts), child.kill)
    watchdog.start()
    for prompt in prompts:
        content = [{"type": "text", "text": prompt}]
        message = {"type": "user", "message": {"role": "user", "content": content}}
        child.stdin.write(json.dumps(message) + "\n")
        child.stdin.flush()
        for line in child.stdout:
            event = json.loads(line)
            if event.get("type") == "result":
                ended.append(str(event.get("subtype")))
                session = str(event.get("session_id"))
                break
    child.stdin.close()
    child.wait(timeout=30)
    watchdog.cancel()
    return ended, session


if __name__ == "__main__":
    main()
