"""The programs that run agents, as they are on this machine: our part in their settings.

Each is known by an adapter; where its settings lie is told by the user's own settings and the
folder that a session is in.
"""

from __future__ import annotations

import os

from . import config, gitfiles, places
from .errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .harness.install import Setup


def set_up(
    name: str, scope: str, action: str, *, version: str, project: str | None = None
) -> Setup:
    """Bring the hooks of a harness into its settings, take them out, preview or check them.

    ``scope`` is ``user``, ``project`` or ``shared``; ``project`` a folder in the checkout, else the
    current one, ``version`` ours.
    """
    from .harness import adapter
    from .harness.install import bring

    chosen = adapter(name)
    here = places.here(project)
    settings = config.load()
    place = chosen.settings_path(
        settings.folders.get(name, ""), gitfiles.top_of(here) or here, scope
    )
    if place and not os.path.isabs(place):
        raise InvalidInput("There is no home folder", hint="Use --project in a project.")
    return bring(
        *(chosen, place, launcher(), action),
        version=version,
        shared=scope == "shared",
        shells=("/bin/sh", *([settings.shell] if os.path.isabs(settings.shell) else [])),
        startup=settings.startup,
    )


def hooked(folder: str) -> dict[str, list[str]]:
    """The settings files that hold our hooks, by harness, for a session in ``folder``."""
    from .harness import ADAPTERS, adapter
    from .harness.hooks import hooked as holding

    place, homes = gitfiles.top_of(folder) or folder, config.load().folders
    return {name: holding(adapter(name), homes.get(name, ""), place) for name in ADAPTERS}


def register(
    name: str, scope: str, action: str, *, reads: tuple[str, ...], project: str | None = None
) -> list[Setup]:
    """The same for our MCP server in the settings of an agent's program; an answer for each file.

    ``reads`` are its tools that change nothing.
    """
    from .harness.registration import register as carried_out

    here = places.here(project)
    return carried_out(
        name,
        scope,
        action,
        settings=config.load(),
        project=gitfiles.top_of(here) or here,
        launcher=launcher(),
        reads=reads,
    )


def launcher() -> str:
    """The absolute path of the installed command: beside the interpreter, else on the PATH."""
    import sys

    beside = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    if os.access(beside, os.X_OK):
        return beside
    import shutil

    return os.path.abspath(shutil.which("contextspindle") or beside)
