"""One agent dies at its work, and another goes on from 2,048 bytes.

    python examples/handover.py [COMMAND]

Two processes share nothing but a ledger.  The first claims a task, records what it does, and ends
itself with a signal that nothing can catch, in the middle of a sentence.  The second is given no
word of it: it takes the task over when the first one's lease has ended, reads one handoff, and says
what it knows from that alone.  COMMAND is the ``contextspindle`` to run; if it is left out, the one
beside this Python, or else on the PATH.  It all happens in a folder that is gone afterwards.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time

BUDGET = 2_048
LEASE = "1"
"""In seconds: without it, the second agent would wait for the 1,800 of a lease."""


def found() -> str:
    """The command that belongs to this Python, or else whichever the shell would run."""
    beside = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    return beside if os.access(beside, os.X_OK) else "contextspindle"


def run(command: str, *words: str, actor: str, claim: str = "") -> str:
    """What the command prints; its own message and the end of this program if it fails."""
    environ = {**os.environ, "CONTEXTSPINDLE_ACTOR": actor, "CONTEXTSPINDLE_CLAIM": claim}
    try:
        done = subprocess.run([command, *words], capture_output=True, text=True, env=environ)
    except OSError:
        raise SystemExit(
            f"{command} cannot be run. Install the package first (pipx install .), or name"
            " the command: handover.py COMMAND"
        ) from None
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def ann(command: str) -> None:
    """The first agent: it takes the best task, works, records, and dies."""
    token = run(
        command, "task", "claim", "--next", "--lease", LEASE, "--quiet", actor="ann"
    ).strip()
    task = token.partition(".")[0]
    run(
        *(command, "task", "update", task, "--status", "active"),
        *(
            "--decision",
            "A broken row becomes an error value: callers want all rows, not the first",
        ),
        *("--note", "Done: the parser keeps the line number; test_parser.py has the failing case"),
        *("--evidence", "pytest tests/test_parser.py: 12 passed", "--for", "1"),
        *("--next", "Print the line number in report.py, function summary"),
        actor="ann",
        claim=token,
    )
    print("ann: now I only have to open report.py and", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def bob(command: str) -> None:
    """The second agent: it takes the best task that is free, and reads one handoff."""
    token = ""
    while not token:
        # Another agent would take another task; here there is only this one.
        ready = run(command, "task", "ready", "--quiet", actor="bob").strip()
        if ready:
            token = run(command, "task", "claim", ready, "--quiet", actor="bob").strip()
        else:
            time.sleep(0.1)
    handoff = run(command, "task", "context", token.partition(".")[0], str(BUDGET), actor="bob")
    assert len(handoff.encode()) <= BUDGET

    known = [line.partition(": ") for line in handoff.splitlines()]
    print(f"bob: I know this from {len(handoff.encode())} bytes, and from nothing else:")
    for kind in ("goal", "criterion", "decision", "evidence", "note", "next"):
        for name, _, said in known:
            if name.split()[0] == kind:
                print(f"  {name}: {said}")

    task = token.partition(".")[0]
    done = ("--evidence", "report.py prints it; pytest: 14 passed", "--for", "2")
    end = run(command, "task", "update", task, *done, "--status", "done", actor="bob", claim=token)
    print(end.strip())


def main(command: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CONTEXTSPINDLE_WORKSPACE"] = folder
        run(command, "init", actor="ada")
        run(
            *(command, "task", "create", "Make the importer survive broken rows"),
            *("--criterion", "the parser's tests pass"),
            *("--criterion", "a broken row is reported with its line number"),
            *("--next", "write the failing test"),
            actor="ada",
        )
        first = subprocess.run([sys.executable, __file__, command, "ann"])
        print(f"ann is gone: signal {-first.returncode}", flush=True)
        return subprocess.run([sys.executable, __file__, command, "bob"]).returncode


if __name__ == "__main__":
    program, *role = sys.argv[1:] or [found()]
    if role:
        sys.exit({"ann": ann, "bob": bob}[role[0]](program))
    sys.exit(main(program))
