"""The programs that run agents, as they are on this machine: our part in their settings.

Each is known by an adapter; where its settings lie is told by the user's own settings and the
folder that a session is in.
"""

from __future__ import annotations

import os

from . import config, gitfiles, places
from .core.value import Value
from .errors import InvalidInput, WorkspaceNotFound

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
    notes: list[tuple[str, str]]
    """What else is to be known of a file: the file, and what it is."""


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
    from .harness.registration import PROGRAMS, server_pieces, switched_off

    if name not in PROGRAMS:
        meant = _meant(name, PROGRAMS)
        raise InvalidInput(
            f"There is no program {name!r}; known are {', '.join(PROGRAMS)}",
            hint=f"Did you mean 'contextspindle setup {meant}'?" if meant else None,
        )
    settings = config.load()
    here = places.here(project)
    top = gitfiles.top_of(here) or here
    pieces: list[Piece] = []
    refused: list[InvalidInput] = []
    left_out: list[str] = []
    hooks_at = ""
    for part in parts:
        try:
            if part == HOOKS:
                pieces.append(_hooks(name, scope, settings, top, version))
                hooks_at = pieces[-1].path
            elif part == SERVER:
                pieces += server_pieces(
                    *(name, scope), settings=settings, project=top, launcher=launcher(), reads=reads
                )
            elif scope == "user":
                _add_rules(name, settings, pieces, left_out)
        except InvalidInput as error:
            refused.append(error)
    if not pieces and refused:
        raise refused[0]
    files = carried_out(pieces, action)
    notes = [] if action == "remove" else switched_off(pieces)
    if hooks_at:
        notes += _notes_of_hooks(name, scope, action, settings, top, hooks_at)
    notes = [(os.path.realpath(path), said) for path, said in notes]
    return Outcome(files, [one.message for one in refused] + left_out, notes)


def _meant(name: str, known: Iterable[str]) -> str:
    """The one program that a name which is none may stand for; nothing if it is not near."""
    import difflib

    bare = {one.replace("-", ""): one for one in known}
    word = "".join(letter for letter in name.lower() if letter.isalnum())
    begun = [one for spelt, one in bare.items() if len(word) > 2 and spelt.startswith(word)]
    near = difflib.get_close_matches(word, bare, 1, 0.75)
    if len(begun) == 1:
        return begun[0]
    return bare[near[0]] if near else ""


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


def _notes_of_hooks(
    name: str, scope: str, action: str, settings: Settings, top: str, path: str
) -> list[tuple[str, str]]:
    """What else runs our hooks for a program, besides those that are put into ``path``."""
    from .harness import adapter, holding

    chosen = adapter(name)
    there = holding.holders(chosen, settings.folders[name], top)
    if action == "remove":
        return [
            (one.path, "lines of yours in it still run our hooks; only you take them out")
            for one in there
            if os.path.realpath(one.path) == os.path.realpath(path) and one.by == holding.LINES
        ]
    mine = holding.coming(chosen, path, scope)
    return [
        (
            path,
            f"{other.path} has our hooks too: with both, all is saved and handed over twice."
            f" {holding.advice(name, mine, other)}",
        )
        for _, other in holding.doubled(there, mine)
    ]


def _add_rules(name: str, settings: Settings, pieces: list[Piece], left_out: list[str]) -> None:
    from .harness.registration import PROGRAMS, rules_piece

    piece = rules_piece(name, settings)
    if piece and piece.path not in [one.path for one in pieces]:  # with its server, Codex has them
        pieces.append(piece)
    elif not piece and PROGRAMS[name].rules:
        file = os.path.basename(PROGRAMS[name].rules)
        left_out.append(f"instructions, because there is no {file} of yours to put them into")


def hooked(root: str) -> dict[str, list[str]]:
    """The settings files that hold our hooks, by harness, for a session that is begun here, with
    the workspace at ``root``."""
    from .harness import ADAPTERS, adapter
    from .harness.holding import hooked as held

    try:
        here = places.here(None)
    except WorkspaceNotFound:  # it is gone
        here = ""
    place, homes = places.project(root, here), config.surroundings().folders
    return {name: held(adapter(name), homes.get(name, ""), place) for name in ADAPTERS}


def launcher() -> str:
    """The absolute path of the installed command: beside the interpreter, else on the PATH."""
    import sys

    beside = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    if os.access(beside, os.X_OK):
        return beside
    import shutil

    return os.path.abspath(shutil.which("contextspindle") or beside)
