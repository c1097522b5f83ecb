"""The programs that run agents, as they are on this machine: our part in their settings.

Each is known by an adapter; where its settings lie is told by the user's own settings and the
folder that a session is in.
"""

from __future__ import annotations

import os

from . import config, gitfiles, places
from .core.value import Value
from .errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .config import Settings
    from .harness.install import Piece, Setup
    from .harness.registration import Found

HOOKS, SERVER, RULES = "hooks", "server", "instructions"
PARTS = (HOOKS, SERVER, RULES)
"""What a program gets of us: the hooks of the fuse, the MCP server, words in its instructions."""


class Outcome(Value):
    """What became of one program."""

    files: list[Setup]
    """An answer for each file, and from a check for each part."""
    left_out: list[str]
    """What the program cannot get, each with why."""


def known() -> list[Found]:
    """Every program that can be set up, and what tells that it is on this machine."""
    import shutil

    from .harness.registration import look

    return look(config.load(), shutil.which)


def set_up(
    name: str,
    scope: str,
    action: str,
    parts: Iterable[str] = PARTS,
    *,
    version: str,
    reads: tuple[str, ...] = (),
    project: str | None = None,
) -> Outcome:
    """Bring our ``parts`` into the settings of a program, take them out, preview or check them.

    ``scope`` is ``user``, ``project`` or ``shared``; ``project`` a folder in the checkout, else the
    current one; ``version`` is ours, ``reads`` are the tools of the server that change nothing.
    All is done or nothing.
    InvalidInput if there is no part that the program can have there; SettingsDamaged if a file is
    not what it should be; StoreUnavailable if one cannot be written.
    """
    from .harness.install import carried_out
    from .harness.registration import PROGRAMS, server_pieces

    if name not in PROGRAMS:
        raise InvalidInput(f"There is no program {name!r}; known are {', '.join(PROGRAMS)}.")
    settings = config.load()
    here = places.here(project)
    top = gitfiles.top_of(here) or here
    pieces: list[Piece] = []
    refused: list[InvalidInput] = []
    notes: list[str] = []
    for part in parts:
        try:
            if part == HOOKS:
                pieces.append(_hooks(name, scope, settings, top, version))
            elif part == SERVER:
                pieces += server_pieces(
                    *(name, scope), settings=settings, project=top, launcher=launcher(), reads=reads
                )
            elif scope == "user":
                _add_rules(name, settings, pieces, notes)
        except InvalidInput as error:
            refused.append(error)
    if not pieces and refused:
        raise refused[0]
    return Outcome(carried_out(pieces, action), [one.message for one in refused] + notes)


def _hooks(name: str, scope: str, settings: Settings, top: str, version: str) -> Piece:
    from .harness import ADAPTERS, adapter
    from .harness.hooks import Wanted
    from .harness.install import hooks_piece

    chosen = adapter(name) if name in ADAPTERS else None
    plugin = getattr(chosen, "PLUGIN", "")
    if not chosen or not (chosen.HOOKS or plugin):
        raise InvalidInput(f"{name} has no settings to put hooks into")
    place = chosen.settings_path(settings.folders[name], top, scope)
    if not os.path.isabs(place):
        raise InvalidInput("There is no home folder", hint="Use --project in a project.")
    if plugin:
        from .harness.plugin import piece

        return piece(place, plugin, launcher(), version=version, shared=scope == "shared")
    return hooks_piece(
        place,
        tuple(Wanted(*one, entry=chosen.ENTRY) for one in chosen.HOOKS),
        launcher(),
        shared=scope == "shared",
        shells=("/bin/sh", *([settings.shell] if os.path.isabs(settings.shell) else [])),
        startup=settings.startup,
    )


def _add_rules(name: str, settings: Settings, pieces: list[Piece], notes: list[str]) -> None:
    from .harness.registration import PROGRAMS, rules_piece

    piece = rules_piece(name, settings)
    if piece and piece.path not in [one.path for one in pieces]:  # with its server, Codex has them
        pieces.append(piece)
    elif not piece and PROGRAMS[name].rules:
        file = os.path.basename(PROGRAMS[name].rules)
        notes.append(f"instructions, because there is no {file} of yours to put them into")


def hooked(folder: str) -> dict[str, list[str]]:
    """The settings files that hold our hooks, by harness, for a session in ``folder``."""
    from .harness import ADAPTERS, adapter
    from .harness.hooks import hooked as holding

    place, homes = gitfiles.top_of(folder) or folder, config.surroundings().folders
    return {name: holding(adapter(name), homes.get(name, ""), place) for name in ADAPTERS}


def launcher() -> str:
    """The absolute path of the installed command: beside the interpreter, else on the PATH."""
    import sys

    beside = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    if os.access(beside, os.X_OK):
        return beside
    import shutil

    return os.path.abspath(shutil.which("contextspindle") or beside)
