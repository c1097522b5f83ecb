"""One task in two real programs, cut off from every network: begun, gone on with, and taken back.

    unshare -rn python relay.py CLAUDE CODEX SPINDLE FOLDER

Claude Code works on a task and ends; Codex goes on with it in the same project and ends; Claude
Code begins anew.  Both have our hooks, from our own ``setup``.  Prints what reached the models.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.live import claude_code, harnesses
from tests.live.model import started
from tests.live.session import turn
from tests.live.terminal import Terminal

BEGUN = (
    'begin [[tool Bash {"command":"SPINDLE task update TASK --status active'
    ' --next RELAY-NEXT-4","description":"x"}]] [[say RELAY-LEFT-5: the frame is glued.]]'
)
GONE_ON = (
    'go on [[tool exec_command {"cmd":"SPINDLE task update TASK --evidence RELAY-PROOF-6'
    ' --for 1 --next RELAY-NEXT-7"}]]'
    ' [[tool exec_command {"cmd":"SPINDLE fuse restore --from SESSION"}]]'
    " [[say RELAY-LEFT-8: the sail is sewn.]]"
)
TAKEN_BACK = (
    'and on [[tool Bash {"command":"SPINDLE task show TASK","description":"x"}]] [[say so]]'
)


def main() -> None:
    """Set up, three sessions one after the other, remove; then a report in JSON."""
    claude, codex, spindle, folder = sys.argv[1:5]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    model, place, spec = started(), Path(folder), harnesses.Codex
    for name in ("home", "config", "project", "tmp"):
        (place / name).mkdir(parents=True)
    home, project = place / "home", place / "project"
    listener, heard = harnesses.listener(place)
    spec.prepare(home, project, model.port, listener)
    environment = claude_code.surroundings(place, model) | spec.environment(home, model.port)

    def ours(*words: str) -> Any:
        ran = subprocess.run(
            [spindle, *words, "--json"],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(ran.stdout)["data"]

    def count(event: str) -> int:
        return sum(one["hook_event_name"] == event for one in heard())

    ours("init")
    words = ("RELAY-GOAL-1: a kite", "--criterion", "RELAY-CRITERION-2", "--next", "RELAY-NEXT-3")
    made = ours("task", "create", *words)["task"]
    for name in ("claude-code", "codex"):
        ours("setup", name, "--hooks", "--write")
    marks = [0]

    def asked_of_claude(prompt: str) -> str:
        text = prompt.replace("TASK", made["id"]).replace("SPINDLE", spindle)
        ended, session = claude_code.turns([claude], project, environment, [text])
        assert ended == ["success"], ended
        marks.append(len(model.requests))
        return session

    first = asked_of_claude(BEGUN)
    terminal = Terminal(spec.words([codex]), project, environment)
    try:
        spec.arrive(terminal, count)
        text = GONE_ON.replace("TASK", made["id"]).replace("SPINDLE", spindle)
        text = text.replace("SESSION", first)
        turn(terminal, text, count, spec.ENDED)
    finally:
        terminal.end(*spec.LEAVE)
    marks.append(len(model.requests))
    asked_of_claude(TAKEN_BACK)
    parts = [model.requests[at:end] for at, end in pairwise(marks)]
    report = {
        "made": made,
        "task": ours("task", "show", made["id"]),
        "first": first,
        "requests": [[json.dumps(one, ensure_ascii=False) for one in part] for part in parts],
        "status": ours("fuse", "status"),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
