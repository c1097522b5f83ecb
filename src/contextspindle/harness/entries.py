"""What is ours in a JSON settings file, of whatever kind, and what in it says nothing.

Hooks and servers may share a file, and so may the servers of several projects.
"""

from __future__ import annotations

from . import hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SERVER = "contextspindle"
"""What our server is called in every program."""
WORDS = ("mcp",)
"""What our command is told to be it."""
HOLDERS = ("mcpServers", "servers", "mcp")
"""The keys under which programs hold servers."""
_PROJECTS = "projects"


def is_ours(entry: object) -> bool:
    """Whether a server is ours, by the command that it runs."""
    if not isinstance(entry, dict):
        return False
    command, given = entry.get("command"), entry.get("args")
    words: list[Any] = [*command] if isinstance(command, list) else [command]
    words += given if isinstance(given, list) else []
    return (
        len(words) > 1
        and all(isinstance(one, str) for one in words)
        and words[0].rpartition("/")[2] in hooks.NAMES
        and WORDS[0] in words[1:]
    )


def holds_ours(settings: object) -> bool:
    """Whether parsed settings have a hook or a server of ours."""
    if hooks.found(settings):
        return True
    for place in (settings, *_projects(settings).values()):
        for key in HOLDERS if isinstance(place, dict) else ():
            held = place.get(key)
            if isinstance(held, dict) and is_ours(held.get(SERVER)):
                return True
    return False


def settled(settings: object) -> object:
    """Settings without lists of hooks and objects of servers that hold nothing."""
    settings = _without_holders(hooks.without_empty(settings))
    projects = _projects(settings)
    if not isinstance(settings, dict) or _PROJECTS not in settings:
        return settings
    if not isinstance(settings[_PROJECTS], dict):
        return settings
    kept = {name: _without_holders(one) for name, one in projects.items()}
    kept = {name: one for name, one in kept.items() if one != {}}
    rest = {key: value for key, value in settings.items() if key != _PROJECTS}
    return {**rest, _PROJECTS: kept} if kept else rest


def _projects(settings: object) -> dict[str, Any]:
    found = settings.get(_PROJECTS) if isinstance(settings, dict) else None
    return found if isinstance(found, dict) else {}


def _without_holders(place: object) -> object:
    if not isinstance(place, dict):
        return place
    return {key: value for key, value in place.items() if key not in HOLDERS or value != {}}
