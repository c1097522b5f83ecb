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
    from .install import Piece

_MADE = "folders made for it: "
_OWN = ("// version ", "const COMMAND = ")
"""How the lines begin that differ from one installation to another."""


def piece(path: str, source: str, launcher: str, *, version: str, shared: bool = False) -> Piece:
    """The plugin made of our text ``source`` at ``path``; ``version`` is what it says of itself."""
    from .install import Piece

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
    return Piece(path, part, "" if shared else launcher, folders=made)


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
