"""What an agent that comes back needs to read: one active task with 24 notes among 999 others.

    python benchmarks/workload.py --json figures.json

The other way to get at it is to read every summary there is, page by page.  Both are counted in
bytes, and it is said what each leaves out.  All through the command as it is installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from typing import Any

from common import RARE, arguments_of, fill, keep, load, workspace

TASKS = 1_000
BUDGETS = (512, 1_024, 2_048, 4_096)
ANCHOR = {
    "goal": "Keep the session over a restart of the login service",
    "criteria": ["a restart loses no session", "the audit passes", "the docs say how"],
    "next": "write the test that restarts the service between two requests",
    "status": "active",
}


class Caller:
    """Runs the command on one workspace, and times it."""

    def __init__(self, command: str, folder: str) -> None:
        self.command = command
        self.folder = folder

    def __call__(self, *words: str, folder: str = "") -> tuple[bytes, float]:
        """What it printed, and the milliseconds it took.  SystemExit if it failed."""
        place = folder or self.folder
        before = time.perf_counter()
        done = subprocess.run(
            [self.command, *words, "--workspace", place],
            capture_output=True,
            env={"PATH": os.defpath, "HOME": place},
            check=False,
        )
        took = (time.perf_counter() - before) * 1_000
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr.decode()}")
        return done.stdout, round(took, 1)


def main() -> None:
    """Fill, ask, count."""
    arguments = arguments_of(__doc__)
    before = load()
    with tempfile.TemporaryDirectory(prefix="spindle-bench-") as base:
        folder = os.path.join(base, "project")
        os.mkdir(folder)
        anchor = fill(folder, TASKS, **ANCHOR)
        found = measure(Caller(arguments.command, folder), anchor, base)
    print(json.dumps(found, indent=1))
    keep(arguments, before, tasks=TASKS, **found)


def measure(call: Caller, anchor: str, base: str) -> dict[str, Any]:
    """Every step of the day, in its order."""
    # What was worked on last stands first.
    call("task", "update", anchor, "--note", "stopped here")
    task = workspace(call.folder).ledger().show(anchor)
    inbox, inbox_ms = call("task", "inbox", "10")
    hits, search_ms = call("task", "search", RARE)
    summaries = pages(call)
    contexts = [context(call, anchor, budget, task) for budget in BUDGETS]
    _, verify_ms = call("verify")
    copy, fresh = os.path.join(base, "copy"), os.path.join(base, "fresh")
    os.mkdir(fresh)
    _, backup_ms = call("backup", copy)
    _, restore_ms = call("restore", copy, folder=fresh)
    same = call("export", "-")[0] == call("export", "-", folder=fresh)[0]
    return {
        "inbox_10": {
            "bytes": len(inbox),
            "ms": inbox_ms,
            "anchor_is_first": inbox.startswith(anchor.encode()),
        },
        "search": {"bytes": len(hits), "ms": search_ms, "finds_anchor": anchor.encode() in hits},
        "all_summaries": {
            "bytes": len(summaries),
            "has_goal": task.goal in summaries.decode(),
            "has_next": task.next in summaries.decode(),
            "omits_notes": sum(note.text not in summaries.decode() for note in task.notes),
            "omits_criteria": sum(one not in summaries.decode() for one in task.criteria),
        },
        "contexts": contexts,
        "verify_ms": verify_ms,
        "backup_ms": backup_ms,
        "restore_ms": restore_ms,
        "restored_is_the_same": same,
    }


def pages(call: Caller) -> bytes:
    """Every summary of the ledger, page by page, as a client would read them."""
    found = b""
    offset: int | None = 0
    while offset is not None:
        page, _ = call("task", "list", str(offset), "100", "--json")
        found += page
        offset = json.loads(page)["data"]["next_offset"]
    return found


def context(call: Caller, anchor: str, budget: int, task: Any) -> dict[str, Any]:
    """The handoff at one budget: what is in it, and what it says that it leaves out."""
    out, took = call("task", "context", anchor, str(budget), "--json")
    data = json.loads(out)["data"]
    text: str = data["text"]
    return {
        "budget": budget,
        "bytes": len(text.encode()),
        "has_goal": task.goal in text,
        "has_next": task.next in text,
        "omits_notes": sum(note.text not in text for note in task.notes),
        "omits_criteria": sum(one not in text for one in task.criteria),
        "says_omitted": sum(data["omitted"].values()),
        "ms": took,
    }


if __name__ == "__main__":
    main()
