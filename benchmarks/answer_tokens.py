"""What our ten commonest answers cost an agent: tokens of cl100k, as text and as JSON.

    python benchmarks/answer_tokens.py --json figures.json
    npm install --prefix /some/folder backlog.md task-master-ai
    python benchmarks/answer_tokens.py --peers /some/folder/node_modules/.bin

The same ten tasks are put into a workspace of ours and, with --peers, into a project of each
program found there.  Where a program has no such command, or asks a model for it, there is no
figure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

from common import arguments_of, keep, load

GOALS = (
    "Keep the session over a restart of the login service",
    "Show the queue of failed payments to the support team",
    "Move the nightly export to the new schema",
    "Make the search index survive a full disk",
    "Warn before an invoice is sent twice",
    "Let users change their address without a new login",
    "Cut the start of the worker to half a second",
    "Write the guide for the release of version two",
    "Log out everybody whose password was reset",
    "Test the import of files that are larger than memory",
)
CRITERIA = ("the tests of it pass", "nothing is lost when it fails", "the docs say how")
NEXT = "write the test that fails today"
NOTE = "The cache is filled before the schema is known, so the first request always misses."
DECISION = "One file for each day: a single one would be locked while it is written."
WORD = "session"
VERBS = (
    *("create", "show", "inbox", "ready", "update", "claim"),
    *("context", "search", "note and decision", "prime"),
)

Words = tuple[str, ...]
Asked = dict[str, tuple[Words | None, Words | None]]
"""For each verb the command that answers in text, and the one that answers in JSON."""


class Program:
    """A program in a folder of its own."""

    def __init__(self, command: str, folder: str) -> None:
        self.command = command
        self.folder = folder

    def __call__(self, *words: str) -> str:
        """What it prints.  SystemExit if it fails."""
        done = subprocess.run(
            [self.command, *words],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "HOME": self.folder, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{self.command} {' '.join(words)}: {done.stderr.decode()}")
        return done.stdout.decode()


def ours(run: Program) -> Asked:
    """Our own tasks, and what is asked of them."""
    run("init")
    criteria = [word for one in CRITERIA for word in ("--criterion", one)]
    made = [
        run("task", "create", goal, *criteria, "--next", NEXT, "--quiet").strip() for goal in GOALS
    ]
    first, other = made[0], made[1]
    run("task", "update", first, "--note", NOTE, "--decision", DECISION, "--status", "active")
    asked: dict[str, Words] = {
        "create": ("task", "create", "Another goal", *criteria, "--next", NEXT),
        "show": ("task", "show", first),
        "inbox": ("task", "inbox"),
        "ready": ("task", "ready"),
        "update": ("task", "update", first, "--next"),
        "claim": ("task", "claim"),
        "context": ("task", "context", first),
        "search": ("task", "search", WORD),
        "note and decision": ("task", "update", first, "--decision", DECISION, "--note"),
        "prime": ("prime",),
    }
    # What writes is asked twice, and must have something to write each time.
    twice: Asked = {verb: (words, (*words, "--json")) for verb, words in asked.items()}
    for verb, given in (("update", (NEXT + " now", NEXT)), ("note and decision", (NOTE, NOTE))):
        twice[verb] = ((*asked[verb], given[0]), (*asked[verb], given[1], "--json"))
    twice["claim"] = (("task", "claim", other), ("task", "claim", made[2], "--json"))
    return twice


def backlog(run: Program) -> Asked:
    """Those of Backlog.md."""
    subprocess.run(["git", "init", "-q", run.folder], check=True)
    run("init", "demo", "--defaults", "--integration-mode", "none")
    criteria = [word for one in CRITERIA for word in ("--ac", one)]
    for goal in GOALS:
        run("task", "create", goal, *criteria, "-d", NEXT, "--plain")
    first = ("task", "edit", "1", "--plain")
    run(*first, "--append-notes", f"{NOTE}\n{DECISION}", "-s", "In Progress")
    return {
        "create": (("task", "create", "Another goal", *criteria, "-d", NEXT, "--plain"), None),
        "show": _both("task", "view", "1"),
        "inbox": _both("task", "list"),
        "ready": _both("task", "list", "--ready"),
        "update": ((*first, "-d", NEXT + " now"), None),
        "claim": (("task", "edit", "2", "-s", "In Progress", "-a", "@me", "--plain"), None),
        "search": _both("search", WORD),
        "note and decision": ((*first, "--append-notes", f"{NOTE}\n{DECISION}"), None),
        "prime": (("instructions", "overview"), None),
    }


def _both(*words: str) -> tuple[Words, Words]:
    return (*words, "--plain"), (*words, "--json")


def task_master(run: Program) -> Asked:
    """Those of Task Master; a change of a task's texts asks a model there."""
    run("init", "-y", "--no-git")
    place = os.path.join(run.folder, ".taskmaster", "tasks", "tasks.json")
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as file:
        json.dump({"master": {"tasks": [], "metadata": {}}}, file)  # else a model would write it
    for goal in GOALS:
        run("add-task", f"--title={goal}", f"--description={NEXT}", f"--details={NOTE}")
    created = ("add-task", "--title=Another goal", f"--description={NEXT}", f"--details={NOTE}")
    claimed = ("set-status", "--id=2", "--status=in-progress")
    return {
        "create": (created, None),
        "show": (("show", "1"), ("show", "1", "--json")),
        "inbox": (("list", "--compact"), ("list", "--json")),
        "ready": (("list", "--ready", "--compact"), ("list", "--ready", "--json")),
        "claim": (claimed, ("set-status", "--id=3", "--status=in-progress", "--format=json")),
    }


PEERS: dict[str, Callable[[Program], Asked]] = {"backlog": backlog, "task-master": task_master}


def counted(run: Program, asked: Asked, count: Callable[[str], int]) -> dict[str, Any]:
    """The tokens of each answer, and None where there is none."""
    return {
        verb: [count(run(*words)) if words else None for words in asked.get(verb, (None, None))]
        for verb in VERBS
    }


def vocabulary() -> Callable[[str], int]:
    """How many tokens a text has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai
    encoding = bpe_openai.get_encoding("cl100k_base")
    return lambda text: len(encoding.encode(text))


def main() -> None:
    """Fill, ask, count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--peers", metavar="FOLDER", help="where commands of others are installed")
    arguments = arguments_of(__doc__, parser)
    before, count = load(), vocabulary()
    results = []
    with tempfile.TemporaryDirectory(prefix="spindle-bench-") as base:
        for name, prepare in {"contextspindle": ours, **PEERS}.items():
            command = arguments.command
            if name in PEERS:
                command = os.path.join(os.path.abspath(arguments.peers or base), name)
                if not os.access(command, os.X_OK):
                    continue
            folder = os.path.join(base, name)
            os.mkdir(folder)
            run = Program(command, folder)
            version = run("--version").split()[-1]
            tokens = counted(run, prepare(run), count)
            results.append({"program": name, "version": version, "tokens": tokens})
    print(json.dumps(results, indent=1))
    keep(arguments, before, encoding="cl100k_base", tasks=len(GOALS), results=results)


if __name__ == "__main__":
    main()
