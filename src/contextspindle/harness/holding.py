"""Which files run our hooks for a program: it reads several, and what is in two of them runs twice.

Besides what set-up writes these are lines of the user's that run our command, wherever the program
reads hooks, and our plugin where there is one.
"""

from __future__ import annotations

import os

from ..core import jsonc
from ..core.value import Value
from . import hooks
from .sections import SIGN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import Harness

USER, PROJECT, SHARED = "user", "project", "shared"
SETUP, LINES, PLUGIN = "setup", "lines", "plugin"
"""Who put hooks there: set-up, the user in lines of their own, or our plugin."""
PLUGIN_NAME = "contextspindle@"
"""How the name of our plugin begins in the settings of Claude Code; its market stands behind."""
_WHOLE = frozenset([("plugin", "")])
"""What a file does that is our plugin as a whole."""
_TO_GO = (PROJECT, SHARED, USER)
"""Of two scopes, the hooks of the first can be spared: those of the user are for every project."""


class Holder(Value):
    """One file that runs hooks of ours."""

    path: str
    scope: str
    does: frozenset[tuple[str, str]]
    """Event and words of each."""
    by: str


def hooked(harness: Harness, config_dir: str, project: str) -> list[str]:
    """The settings files that run every hook of ours for ``harness``, in whatever line.

    Of a program with plugins, the files of our plugin as it is now.
    """
    if plugin := getattr(harness, "PLUGIN", ""):
        from .plugin import installed

        paths = dict.fromkeys(path for _, path in _files(harness, config_dir, project))
        return [path for path in paths if installed(path, plugin)]
    wanted = _all_of(harness)
    listed = [one.path for one in holders(harness, config_dir, project) if wanted <= one.does]
    return [*dict.fromkeys(listed)] if wanted else []


def holders(harness: Harness, config_dir: str, project: str) -> list[Holder]:
    """Every file that runs hooks of ours for ``harness``.  One that cannot be read runs none."""
    listed: list[Holder] = []
    seen = set()
    for scope, path in _files(harness, config_dir, project):
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if getattr(harness, "PLUGIN", ""):
                if SIGN in text:
                    listed.append(Holder(path, scope, _WHOLE, SETUP))
                continue
            settings = _settings(path, text)
        except (OSError, ValueError):
            continue
        running = hooks.found(settings, told=hooks.running)
        does = frozenset((one.event, one.words) for one in running) & _all_of(harness)
        if does:
            written = hooks.found(settings, [event for event, _ in does])
            by_setup = bool(written) and not path.endswith(".toml")
            listed.append(Holder(path, scope, does, SETUP if by_setup else LINES))
        if has_plugin(settings):
            listed.append(Holder(path, scope, _all_of(harness), PLUGIN))
    return listed


def coming(harness: Harness, path: str, scope: str) -> Holder:
    """The file that set-up puts all hooks for ``harness`` into."""
    does = _WHOLE if getattr(harness, "PLUGIN", "") else _all_of(harness)
    return Holder(path, scope, does, SETUP)


def doubled(there: list[Holder], more: Holder | None = None) -> list[tuple[Holder, Holder]]:
    """The pairs that do the same, of those that are ``there``, or of ``more`` with each of them."""
    if more:
        real = os.path.realpath(more.path)
        others = [one for one in there if os.path.realpath(one.path) != real or one.by == PLUGIN]
        return [(more, one) for one in others if one.does & more.does]
    return [
        (one, other)
        for number, one in enumerate(there)
        for other in there[number + 1 :]
        if one.does & other.does and one.path != other.path
    ]


def advice(name: str, one: Holder, other: Holder) -> str:
    """Which of two to take out, and how."""
    # What a user wrote was meant, and set-up can take back its own.
    out, kept = sorted((one, other), key=lambda it: (it.by != SETUP, _TO_GO.index(it.scope)))
    said = f"Keep one of the two: {_taking_out(name, out)}."
    if out.scope == SHARED and kept.scope == USER:
        said += f" If others use those, keep them: {_taking_out(name, kept)}."
    return said


def _taking_out(name: str, one: Holder) -> str:
    if one.by == SETUP:
        flag = "" if one.scope == USER else f" --{one.scope}"
        return f"'contextspindle setup {name} --hooks{flag} --remove' takes out those in {one.path}"
    if one.by == PLUGIN:
        return f"switch our plugin off in {one.path}"
    return f"take our command out of {one.path}, where the lines are yours"


def has_plugin(settings: object) -> bool:
    """Whether parsed settings switch our plugin on."""
    enabled = settings.get("enabledPlugins") if isinstance(settings, dict) else None
    return isinstance(enabled, dict) and any(
        str(name).startswith(PLUGIN_NAME) and on is True for name, on in enabled.items()
    )


def _files(harness: Harness, config_dir: str, project: str) -> list[tuple[str, str]]:
    """The files that a program may read hooks from, with the scope of each.

    What is a project's only is told as what everybody has.
    """
    listed = []
    inline = getattr(harness, "INLINE", "")
    for scope in (USER, SHARED, PROJECT):
        if scope == USER and not config_dir:
            continue  # nobody's home is here
        path = harness.settings_path(config_dir, project, scope)
        if not os.path.isabs(path):
            continue  # there is no project
        listed.append((scope, path))
        if inline:
            listed.append((scope, os.path.join(os.path.dirname(path), inline)))
    return listed


def _settings(path: str, text: str) -> Any:
    if path.endswith(".toml"):
        import tomllib

        return tomllib.loads(text)
    return jsonc.parse(text).value


def _all_of(harness: Harness) -> frozenset[tuple[str, str]]:
    return frozenset((event, words) for event, words, _, _ in harness.HOOKS)
