"""Trying a stored hook: run as a harness runs it, from a bare shell and within a time.

A harness that was started from a desktop has a short PATH, reads no profile, and hands the hook's
payload over on standard input.  What works in a terminal may fail there, so it is tried there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess

from ..core.text import folded, shortened
from ..core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

BARE_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
"""The PATH that a program has which no shell has started."""
SECONDS = 10.0
"""How long a hook is waited for: its own deadline is half of that."""
_READ = 256 * 1024


class Answer(Value):
    """What came of a trial; without a status it was stopped, or never began."""

    status: int | None
    out: str
    err: str

    def complaint(self) -> str:
        """Why it cannot be trusted to work, without a look at what it printed; else empty."""
        said = f": {shortened(folded(self.err), 200)}" if self.err.strip() else ""
        if self.status is None:
            return f"it did not end within {SECONDS:g} s{said}"
        if self.status:
            return f"it ended with status {self.status}{said}"
        return ""


def run(
    command: str,
    payload: dict[str, str],
    folder: str,
    *,
    home: str,
    shell: str = "/bin/sh",
    seconds: float = SECONDS,
) -> Answer:
    """Run the hook ``command`` once, in ``folder``, in which it finds the workspace to use.

    Whatever it starts has ended when this returns.
    """
    environ = {
        "PATH": BARE_PATH,
        "CONTEXTSPINDLE_WORKSPACE": folder,
        "XDG_STATE_HOME": os.path.join(folder, "state"),
        "TMPDIR": folder,
    }
    if home:
        environ["HOME"] = home
    # Files and not pipes: what the command may have left running would keep a pipe open.
    places = [os.path.join(folder, f"trial.{name}") for name in ("in", "out", "err")]
    with open(places[0], "w", encoding="utf-8") as file:
        json.dump(payload, file)
    with open(places[0], "rb") as given, open(places[1], "wb") as out, open(places[2], "wb") as err:
        process = subprocess.Popen(  # noqa: S603 (the very command that is in the settings)
            [shell, "-c", command],
            stdin=given,
            stdout=out,
            stderr=err,
            cwd=folder,
            env=environ,
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # nothing is left of it
        process.wait()
    return Answer(status, _text(places[1]), _text(places[2]))


def _text(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(_READ).decode("utf-8", "replace")


def told(out: str) -> tuple[str, str]:
    """What a hook's output hands to the agent, and what stands before it that is not ours.

    The first is empty if there is no answer of ours in it; the second is then all of the output.
    """
    start = out.find('{"hookSpecificOutput":')
    if start < 0:
        return "", out
    try:
        found = json.loads(out[start:])
        text = found["hookSpecificOutput"]["additionalContext"]
    except (ValueError, LookupError, TypeError):
        return "", out
    return (text, out[:start]) if isinstance(text, str) else ("", out)


def foreign_text(shells: Iterable[str], startup: Iterable[str]) -> str:
    """What a shell prints before a hook's own answer, as a problem; empty if it prints nothing.

    ``startup`` are files that it may read, in which the text is looked for.
    """
    for shell in shells:
        try:
            ran = subprocess.run(  # noqa: S603 (the user's own shell)
                [shell, "-c", ":"], input=b"", capture_output=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        said = folded(ran.stdout.decode("utf-8", "replace"))
        if said:
            likely = next((path for path in startup if _holds_words(path, said)), "")
            named = f"; it stands in {likely}" if likely else ""
            return f"{shell} prints {shortened(said, 60)!r} before our answer{named}"
    return ""


def _holds_words(path: str, said: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return said.split()[0] in file.read()
    except OSError:
        return False
