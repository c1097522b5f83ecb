"""A session of a real program in a terminal, cut off from every network: what reached the model.

    unshare -rn python session.py NAME PROGRAM SPINDLE FOLDER < plan.json

Run in a namespace with nothing but loopback.  The program has hooks of its user's already; our own
``setup`` puts ours beside them.  Then come the ``steps`` of the plan: a text is typed and its turn
waited for, ``COMPACT`` has the context compacted.  ``TASK`` stands for the id of a task that the
ledger holds.  At last our hooks are taken out again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.live import harnesses
from tests.live.model import started
from tests.live.terminal import Terminal, typed

TURN_SECONDS = 60.0
COMPACT = "COMPACT"


def main() -> None:
    """Set up, run, remove; then a report in JSON."""
    name, program, spindle, folder = sys.argv[1:5]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    plan = json.load(sys.stdin)
    spec = harnesses.ALL[name]
    model = started(*spec.USAGE)
    place = Path(folder)
    home, project = place / "home", place / "project"
    for part in ("home", "project", "tmp"):
        (place / part).mkdir(parents=True)
    listener, heard = harnesses.listener(place)
    spec.prepare(home, project, model.port, listener)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(place / "tmp"),
        "LANG": "C.UTF-8",
        "SHELL": "/bin/sh",
        **spec.environment(home, model.port),
    }

    def ours(*words: str) -> str:
        ran = subprocess.run(
            [spindle, *words],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout

    def count(event: str) -> int:
        name, _, source = event.partition(":")
        events = [one for one in heard() if one.get("hook_event_name") == name]
        return sum(not source or one.get("source") == source for one in events)

    settings = home / spec.SETTINGS
    before = text(settings)
    ours("init")
    task = ours(
        "task", "create", "LEDGER-GOAL-9: a widget", "--next", "LEDGER-NEXT-3", "--quiet"
    ).strip()
    (place / "other.jsonl").write_text('{"role": "user", "content": "Find OTHER-GOAL-3."}\n')
    ours("fuse", "save", "--transcript", str(place / "other.jsonl"), "--session", "other")
    files = contents(home)
    ours("setup", name, "--hooks", "--write")
    ours("setup", name, "--hooks", "--check")
    now = contents(home)
    changed = [path for path, data in now.items() if files.get(path) != data]
    wrote = [path for path in changed if not path.endswith(".contextspindle-backup")]
    terminal = Terminal(spec.words(json.loads(program)), project, environment)
    steps = []
    try:
        spec.arrive(terminal, count)
        for step in plan:
            first, begun = len(model.requests), time.monotonic()
            if step == COMPACT:
                spec.compact(terminal, count)
            else:
                turn(terminal, step.replace("TASK", task), count, spec.ENDED)
            terminal.still(0.4)
            taken = round(time.monotonic() - begun, 1)
            steps.append({"step": step, "requests": [first, len(model.requests)], "took": taken})
    except TimeoutError as error:
        steps.append({"step": "failed", "error": str(error)})
    finally:
        terminal.end(*spec.LEAVE)
    ours("setup", name, "--hooks", "--remove")
    report = {
        "steps": steps,
        "task": task,
        "requests": [json.dumps(one, ensure_ascii=False) for one in model.requests],
        "kinds": model.kinds,
        "heard": heard(),
        "written": wrote,
        "status": json.loads(ours("fuse", "status", "--json"))["data"],
        "snapshots": json.loads(ours("fuse", "list", "100", "--json"))["data"]["snapshots"],
        "before": before,
        "after": text(settings),
        "screen": terminal.shown()[-4_000:],
    }
    print(json.dumps(report))


def text(path: Path) -> str:
    """What stands in a file; nothing where there is none."""
    return path.read_text() if path.exists() else ""


def contents(folder: Path) -> dict[str, bytes]:
    """What stands in each file below a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def turn(terminal: Terminal, prompt: str, count: Any, event: str) -> None:
    """Type a prompt, and wait for the end of its turn."""
    ended = count(event)
    typed(terminal, prompt)
    terminal.wait(lambda: count(event) > ended, f"the end of the turn {prompt!r}", TURN_SECONDS)


if __name__ == "__main__":
    main()
