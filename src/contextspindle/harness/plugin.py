"""Our plugin in a program that has plugins instead of hooks: a file that is ours as a whole.

The file says which folders were made for it, so that taking it away takes those along, as far as
nothing else has come into them.
"""

from __future__ import annotations

import os

from ..core import canon
from .sections import WholeFile, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .install import Setup

_MADE = "folders made for it: "
_OWN = ("// version ", "const COMMAND = ")
"""How the lines begin that differ from one installation to another."""


def set_up(
    path: str, source: str, launcher: str, action: str, *, version: str, shared: bool = False
) -> Setup:
    """Bring the plugin made of our text ``source`` to ``path``, take it away, or look at it.

    ``version`` is the one of ours that the file is to name.
    SettingsDamaged if there is another file of that name: then it is not touched.
    """
    from . import install

    path = os.path.realpath(path)
    made = _made(path)
    command = os.path.basename(launcher) if shared else launcher
    part = WholeFile(
        text_of(source)
        .replace("@VERSION@", version)
        .replace("@FOLDERS@", str(made))
        .replace("@COMMAND@", canon.text(command)),
        "plugin files",
    )
    done = install.carry_out(path, part, action, needs="" if shared else launcher)
    if action == install.REMOVE and done.changed():
        folder = os.path.dirname(path)
        for _ in range(made):
            try:
                os.rmdir(folder)
            except OSError:  # something else is in it by now
                break
            folder = os.path.dirname(folder)
    return done


def installed(path: str, source: str) -> bool:
    """Whether the plugin of our text ``source`` is at ``path``, whatever command it runs."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return _common(file.read()) == _common(text_of(source))
    except OSError:
        return False


def _common(text: str) -> list[str]:
    return [line for line in text.split("\n") if not line.startswith(_OWN)]


def _made(path: str) -> int:
    """How many folders were made for the file; where there is none, how many would have to be."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            told = file.read(2_000).partition(_MADE)[2].partition("\n")[0].strip()
        return int(told) if told.isascii() and told.isdigit() and len(told) < 3 else 0
    except OSError:
        pass
    count, folder = 0, os.path.dirname(path)
    while folder and not os.path.isdir(folder):
        count, folder = count + 1, os.path.dirname(folder)
    return count
