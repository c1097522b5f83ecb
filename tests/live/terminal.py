"""A program in a terminal of its own: typed to as a person would, read, and waited for."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path

CONTROL = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # a title, a colour
    rb"|\x1b[P_^X][^\x1b]*\x1b\\"
    rb"|\x1b\[[0-?]*[ -/]*[@-~]"
    rb"|\x1b[^\[\]]"
)
# What a terminal is asked, and what this one answers: a program waits for it.
ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[0c": b"\x1b[?62;22c",
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}
ENTER, DOWN, ESCAPE, INTERRUPT = "\r", "\x1b[B", "\x1b", "\x03"


class Terminal:
    """The program ``words`` in a terminal of 140 columns and 50 rows."""

    def __init__(self, words: list[str], folder: Path, environment: dict[str, str]) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
        self._child = subprocess.Popen(
            words,
            cwd=folder,
            env={**environment, "TERM": "xterm-256color", "COLUMNS": "140", "LINES": "50"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)),
        )
        os.close(theirs)
        self._ours = ours
        self._raw = b""
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        answered = 0
        while True:
            try:
                piece = os.read(self._ours, 1 << 16)
            except OSError:
                piece = b""
            if not piece:
                return
            with self._changed:
                self._raw += piece
                self._changed.notify_all()
            asked = self._raw[answered:]
            answered = len(self._raw) - 8  # a question may have come in two pieces
            for question, reply in ANSWERS.items():
                for _ in range(asked.count(question)):
                    os.write(self._ours, reply)
                    answered = len(self._raw)

    def mark(self) -> int:
        """Where what is shown from now on begins."""
        return len(self._raw)

    def shown(self, since: int = 0) -> str:
        """What was shown since a mark: no colours, and no blanks, which a screen may leave out."""
        return "".join(CONTROL.sub(b"", self._raw[since:]).decode("utf-8", "replace").split())

    def type(self, text: str) -> None:
        """Type a text, without an end of the line."""
        os.write(self._ours, text.encode())

    def wait(self, until: Callable[[], object], what: str, seconds: float) -> None:
        """Go on as soon as ``until`` holds.  TimeoutError with what the screen shows, otherwise."""
        end = time.monotonic() + seconds
        while not until():
            if time.monotonic() > end or self._child.poll() is not None:
                raise TimeoutError(f"{what} did not come; the screen: {self.shown()[-3_000:]}")
            with self._changed:
                self._changed.wait(0.1)

    def still(self, seconds: float) -> None:
        """Go on as soon as nothing new was shown for so long."""
        size, since = -1, time.monotonic()
        while time.monotonic() - since < seconds:
            if len(self._raw) != size:
                size, since = len(self._raw), time.monotonic()
            with self._changed:
                self._changed.wait(seconds / 4)

    def end(self, *keys: str) -> None:
        """Leave the program by ``keys``; it and what it started are ended if it stays."""
        for key in keys:
            if self._child.poll() is None:
                self.type(key)
                try:
                    self._child.wait(1.5)
                except subprocess.TimeoutExpired:
                    continue
        try:
            self._child.wait(8 if keys else 0)
        except subprocess.TimeoutExpired:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
        os.close(self._ours)


def typed(terminal: Terminal, text: str) -> None:
    """Type a text, see its end on the screen, and send it off."""
    before, last = terminal.mark(), "".join(text.split())[-6:]
    terminal.type(text)
    terminal.wait(lambda: last in terminal.shown(before), f"what was typed: {last!r}", 10)
    time.sleep(0.3)  # more than a program takes for the pace of a paste
    terminal.type(ENTER)
