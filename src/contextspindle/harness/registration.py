"""The programs that run agents: how each is found, and where it keeps servers and instructions.

An entry of ours is known by the command that it runs, so that one from an older place is brought up
to date, and a server of somebody else's that has our name is left alone.  What a user added to our
entry stays.
"""

from __future__ import annotations

import os
import sys

from ..core import canon, jsonc
from ..core.value import Value
from ..errors import InvalidInput, SettingsDamaged, SpindleError, StoreError, in_words
from . import codex_config, entries, install
from .entries import SERVER, WORDS, is_ours
from .install import Piece, Setup
from .sections import Section, WholeFile, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..config import Settings
    from .install import Part

USER, PROJECT, SHARED = "user", "project", "shared"


class Place(Value):
    """The file of a scope, and the keys under which it holds servers."""

    path: str
    keys: tuple[str, ...]


class _Program(Value):
    """Where a program keeps its servers; a path begins at one of the folders of ``_folders``."""

    user: str
    shared: str
    folder: str
    """Where it keeps its own settings: one sign that it is here."""
    commands: tuple[str, ...]
    """What it is called on the PATH: another sign."""
    rules: str = ""
    """A file of instructions that it gives to its agents in every project, where it has one."""
    makes_rules: bool = True
    """Whether we make that file: not where the program reads another one as long as it is not
    there."""
    keys: tuple[str, ...] = ("mcpServers",)
    more: tuple[tuple[str, Any], ...] = ()
    """What an entry needs besides the command and its words."""
    one_list: bool = False
    """Whether the command and its words are one list."""
    off: tuple[str, bool] | None = None
    """The key of an entry, and its value, that switch the server off."""
    excludes: bool = False
    """Whether the settings may name servers that are not to run."""


_STDIO = (("type", "stdio"),)
PROGRAMS = {
    "claude-code": _Program(
        "{claude}",
        "{project}/.mcp.json",
        folder="{claude-code}",
        commands=("claude",),
        rules="{claude-code}/CLAUDE.md",
        makes_rules=False,
        more=_STDIO,
    ),
    "codex": _Program(
        "{codex}/config.toml",
        "{project}/.codex/config.toml",
        folder="{codex}",
        commands=("codex",),
        rules="{codex}/AGENTS.md",
    ),
    "qwen-code": _Program(
        "{qwen-code}/settings.json",
        "{project}/.qwen/settings.json",
        folder="{qwen-code}",
        commands=("qwen",),
        rules="{qwen-code}/QWEN.md",
        excludes=True,
    ),
    "droid": _Program(
        "{droid}/mcp.json",
        "{project}/.factory/mcp.json",
        folder="{droid}",
        commands=("droid",),
        rules="{droid}/AGENTS.md",
        more=_STDIO,
        off=("disabled", True),
    ),
    "gemini": _Program(
        "{home}/.gemini/settings.json",
        "{project}/.gemini/settings.json",
        folder="{gemini}",
        commands=("gemini",),
        rules="{gemini}/GEMINI.md",
        excludes=True,
    ),
    "copilot-cli": _Program(
        "{copilot-cli}/mcp-config.json",
        "{project}/.github/mcp.json",
        folder="{copilot-cli}",
        commands=("copilot",),
        rules="{copilot-cli}/copilot-instructions.md",
        more=(("type", "local"), ("tools", ["*"])),
    ),
    "opencode": _Program(
        "{config}/opencode/opencode.json",
        "{project}/opencode.json",
        folder="{config}/opencode",
        commands=("opencode",),
        rules="{config}/opencode/AGENTS.md",
        makes_rules=False,
        keys=("mcp",),
        more=(("type", "local"), ("enabled", True)),
        one_list=True,
        off=("enabled", False),
    ),
    "cursor": _Program(
        "{home}/.cursor/mcp.json",
        "{project}/.cursor/mcp.json",
        folder="{home}/.cursor",
        commands=("cursor", "cursor-agent"),
    ),
    "vscode": _Program(
        "{code}/User/mcp.json",
        "{project}/.vscode/mcp.json",
        folder="{code}",
        commands=("code",),
        keys=("servers",),
        more=_STDIO,
    ),
}
"""Every program whose settings are known, by the name that commands use."""


class Found(Value):
    """A program, and what tells that it is here: nothing, if it is not."""

    name: str
    signs: tuple[str, ...]
    looked: tuple[str, ...]
    """What was looked for."""


def look(settings: Settings, which: Callable[[str], str | None]) -> list[Found]:
    """Every program that is known; ``which`` tells where a command is on the PATH, if it is."""
    listed = []
    for name, program in PROGRAMS.items():
        folder = program.folder.format_map(_folders(settings, ""))
        signs = [folder] if os.path.isabs(folder) and os.path.isdir(folder) else []
        signs += [place for place in map(which, program.commands) if place]
        looked = ([folder] if os.path.isabs(folder) else []) + [*program.commands]
        listed.append(Found(name, tuple(signs), tuple(looked)))
    return listed


def register(
    name: str,
    scope: str,
    action: str,
    *,
    settings: Settings,
    project: str,
    launcher: str,
    reads: tuple[str, ...],
) -> list[Setup]:
    """Bring our server into the settings of the program ``name``, take it out, or look at it.

    ``reads`` are the tools that change nothing.  One answer for each file.  InvalidInput for a
    program or a scope that is not known; SettingsDamaged: then nothing was touched.
    """
    pieces = server_pieces(
        name, scope, settings=settings, project=project, launcher=launcher, reads=reads
    )
    return install.carried_out(pieces, action)


def server_pieces(
    name: str,
    scope: str,
    *,
    settings: Settings,
    project: str,
    launcher: str,
    reads: tuple[str, ...],
) -> list[Piece]:
    """Our server in the settings of the program ``name``, and what belongs to it.  InvalidInput."""
    needs = "" if scope == SHARED else launcher
    parts = _parts(name, scope, settings, project, launcher, reads)
    return [Piece(path, part, needs) for path, part in parts]


def rules_piece(name: str, settings: Settings) -> Piece | None:
    """Our section in the instructions that the program ``name`` gives in every project, if any."""
    program = PROGRAMS[name]
    path = program.rules.format_map(_folders(settings, ""))
    if not os.path.isabs(path) or not (program.makes_rules or os.path.exists(path)):
        return None
    return Piece(path, Section(text_of("rules.md")))


def switched_off(pieces: list[Piece]) -> list[tuple[str, str]]:
    """The files, of those that ``pieces`` go into, in which our server is switched off, and how."""
    told = ((one.path, _off(one.part, install.text_in(one.path) or "")) for one in pieces)
    return [(path, said) for path, said in told if said]


def _off(part: Part, text: str) -> str:
    by = part.switched_off(text) if isinstance(part, (_Entry, codex_config.Server)) else ""
    return by and f"our server is switched off in it, by {by}; take that out, and it is on again"


def standing(
    name: str, *, settings: Settings, project: str, launcher: str, reads: tuple[str, ...]
) -> list[tuple[str, Setup, str]]:
    """Each scope of the program ``name`` in which our server is, with a check of every file.

    And whether it is switched off there.  A file that is damaged has that as its problem.
    """
    found = []
    for scope in (USER, PROJECT, SHARED):
        try:
            parts = _parts(name, scope, settings, project, launcher, reads)
        except InvalidInput:
            continue  # the program has no such scope, or there is no home folder
        for number, (path, part) in enumerate(parts):
            try:
                text = install.text_in(path) or ""
                if not part.there(text):
                    if not number:
                        break  # no server here
                    continue
                needs = "" if scope == SHARED else launcher
                looked = install.carry_out(path, part, install.CHECK, needs=needs)
                found.append((scope, looked, _off(part, text)))
            except (SettingsDamaged, StoreError) as error:
                found.append((scope, Setup(path, install.CHECK, None, None, (error.message,)), ""))
            except ValueError as error:
                damage = f"it cannot be read: {in_words(error)}"
                found.append((scope, Setup(path, install.CHECK, None, None, (damage,)), ""))
    return found


def _parts(
    name: str,
    scope: str,
    settings: Settings,
    project: str,
    launcher: str,
    reads: tuple[str, ...],
) -> list[tuple[str, Part]]:
    """What is ours in which file of the program ``name``.  InvalidInput."""
    if name not in PROGRAMS:
        known = ", ".join(PROGRAMS)
        raise InvalidInput(f"Nothing is known of servers of {name!r}; known are {known}.")
    place = _place(name, scope, settings, project)
    command = os.path.basename(launcher) if scope == SHARED else launcher
    if name == "codex":
        approved = reads if scope == USER else ()  # nobody approves for a colleague
        parts: list[tuple[str, Part]] = [
            (place.path, codex_config.Server(SERVER, command, WORDS, approved))
        ]
        if scope == USER:
            skill = os.path.join(settings.folders["codex"], "skills", SERVER, "SKILL.md")
            parts.append((skill, WholeFile(text_of("codex_skill.md"))))
            rules = rules_piece(name, settings)
            assert rules is not None
            parts.append((rules.path, rules.part))
        return parts
    part = _Entry(PROGRAMS[name], place.keys, command)
    if name == "opencode":
        return [(path, part) for path in _of_both(place.path, part)]
    return [(place.path, part)]


def _of_both(path: str, part: _Entry) -> list[str]:
    """Which of two files that OpenCode reads is ours: with comments by its name, or without.

    The one that holds our entry, and both if both do; else the one that is there.
    """
    named = path + "c"
    if not os.path.exists(named):
        return [path]
    holding = []
    for one in (named, path):
        try:
            if part.there(install.text_in(one) or ""):
                holding.append(one)
        except (SpindleError, ValueError):
            continue  # told when it is to be edited, if it is
    return holding or [named]


def _place(name: str, scope: str, settings: Settings, project: str) -> Place:
    program = PROGRAMS[name]
    if scope == PROJECT and name != "claude-code":
        raise InvalidInput(
            f"{name} has no settings of yours alone in a project",
            hint="Use --shared for the committed ones, or leave both out for your own everywhere.",
        )
    form = program.shared if scope == SHARED else program.user
    path = form.format_map(_folders(settings, project))
    if not os.path.isabs(path):
        raise InvalidInput("There is no home folder", hint="Use --shared in a project.")
    keys = program.keys if scope != PROJECT else ("projects", project, *program.keys)
    return Place(path, keys)


def _folders(settings: Settings, project: str) -> dict[str, str]:
    home = settings.home
    claude = settings.folders["claude-code"]
    inside = os.path.join(claude, ".claude.json")
    usual = claude == os.path.join(home, ".claude") and not os.path.exists(inside)
    code = settings.config_home
    if sys.platform == "darwin":
        code = os.path.join(home, "Library", "Application Support") if home else ""
    return {
        **{name: folder or "." for name, folder in settings.folders.items()},
        "home": home or ".",
        "project": project,
        "claude": os.path.join(home, ".claude.json") if usual else inside,
        "config": settings.config_home or ".",
        "code": os.path.join(code, "Code") if code else ".",
    }


class _Entry:
    """Our server as an entry of a JSON file."""

    NAME = "server entries"

    def __init__(self, program: _Program, keys: tuple[str, ...], command: str) -> None:
        self._program = program
        self._keys = keys
        self._command = command
        self._wanted: dict[str, Any] = dict(program.more)
        if program.one_list:
            self._wanted["command"] = [command, *WORDS]
        else:
            self._wanted |= {"command": command, "args": [*WORDS]}

    def left_of(self, kept: str, text: str) -> bool:
        """Whether the text is what was kept, but for what held nothing."""
        return entries.left_of(kept, text)

    def there(self, text: str) -> bool:
        """Whether the file has our entry."""
        return bool(text.strip(entries.BLANK)) and self._found(text)[1] is not None

    def shared(self, text: str) -> bool:
        """Whether the file has anything of ours."""
        return entries.holds_ours(install.meaning(text))

    def with_ours(self, text: str) -> str:
        """The text with our entry."""
        if not text.strip(entries.BLANK):
            text += "{}\n"
        reached, entry = self._found(text)
        if entry is None:
            first, *rest = (*self._keys, SERVER)[len(reached) - 1 :]
            value: Any = self._wanted
            for key in reversed(rest):
                value = {key: value}
            return jsonc.add_member(text, reached[-1], first, value)
        if not is_ours(entry.value):
            raise ValueError(f"the server {SERVER!r} in it is not ours")
        for key, value in self._wanted.items():
            _, now = self._found(text)
            assert now is not None
            node = now.member(key)
            if node is None:
                text = jsonc.add_member(text, now, key, value)
            elif node.value == value or key not in ("command", "args", "type"):
                continue
            elif not _starts_it(node):
                text = jsonc.replaced(text, node, value)
            elif key == "command" and node.items[0].value != self._command:
                text = jsonc.replaced(text, node.items[0], self._command)
        return text

    def switched_off(self, text: str) -> str:
        """What in the text switches our server off, as it stands there; empty if nothing does."""
        _, entry = self._found(text) if text.strip(entries.BLANK) else ([], None)
        if entry is None or not is_ours(entry.value):
            return ""
        if self._program.off:
            key, value = self._program.off
            if entry.value.get(key) is value:
                return f'"{key}": {canon.text(value)}'
        said = install.meaning(text)
        rules = said.get("mcp") if self._program.excludes and isinstance(said, dict) else None
        excluded = rules.get("excluded") if isinstance(rules, dict) else None
        return '"mcp.excluded"' if isinstance(excluded, list) and SERVER in excluded else ""

    def without_ours(self, text: str) -> str:
        """The text without our entry, and without the objects that held nothing else."""
        if not text.strip(entries.BLANK):
            return text
        _, entry = self._found(text)
        if entry is None or not is_ours(entry.value):
            return text
        return jsonc.removed(text, *self._keys, SERVER)

    def _found(self, text: str) -> tuple[list[jsonc.Node], jsonc.Node | None]:
        """The objects on the way to our entry, as far as there are any; and the entry."""
        reached = [jsonc.parse(text)]
        for depth, key in enumerate((*self._keys, SERVER)):
            if not isinstance(reached[-1].value, dict):
                where = ".".join(self._keys[:depth]) or "the file"
                raise ValueError(f"{where} is not an object")
            node = reached[-1].member(key)
            if node is None:
                return reached, None
            reached.append(node)
        return reached[:-1], reached[-1]


def _starts_it(words: jsonc.Node) -> bool:
    """Whether a list of words starts our server, whatever options a user has put among them."""
    return isinstance(words.value, list) and WORDS[0] in words.value
