"""Settings: the one reader of the environment and of settings files.

The environment wins over ``.contextspindle/config.json``, which wins over the defaults.  What is
here is the list of everything that can be set.
"""

from __future__ import annotations

import os

from .core import text
from .core.value import Value
from .errors import InvalidInput, in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

JOURNALS = ("auto", "wal", "rollback")
MOST_COPIES = 366
"""The most daily copies that can be asked for."""


class Settings(Value):
    """One frozen answer to every question about the surroundings."""

    workspace: str = ""
    """A workspace named by the environment; empty to look for one."""
    actor: str = "local"
    """Who acts: a label, not an authentication."""
    claim: str = ""
    """The token of the claim under which this process writes."""
    journal: str = "auto"
    """The journal of a new ledger: ``wal``, ``rollback``, or ``auto`` by the kind of mount."""
    context_budget: int = 2_048
    """The bytes of ``task context`` where none are given."""
    fuse_budget: int = 6_000
    """The bytes of ``fuse restore`` where none are given."""
    daily_copies: int = 7
    """How many daily safety copies of the ledger stay; 0 makes none."""
    daily_copy_mb: int = 64
    """The MiB of a ledger above which no daily copy of it is made."""
    reply_bytes: int = 20_000
    """The most bytes of one reply over MCP, 2,000 to 1,000,000; what is longer comes in parts."""
    mcp_token: str = ""
    """What a client of ``contextspindle mcp --http`` shows; a new one at each start if empty."""
    session: str = ""
    """The session of the harness that started this process, where it says so."""
    memory_items: int = 10_000
    """The most items that a memory holds."""
    memory_bytes: int = 4_194_304
    """The most UTF-8 bytes that the texts of a memory have together."""
    home: str = ""
    """The user's home folder, empty if there is none that exists."""
    state: str = ""
    """The folder for what belongs to the user and to no project; empty without a home."""
    folders: dict[str, str] = {}
    """The folder of each harness's own settings, by its name; empty without a home."""
    config_home: str = ""
    """The folder in which programs keep a user's settings; empty without a home."""
    projects: tuple[str, ...] = ()
    """Folders that a harness, for whose session this process runs, says are that session's."""
    temporary: tuple[str, ...] = ()
    """Folders for temporary files, where no workspace is made unasked."""
    shell: str = ""
    """The user's shell, if it is named."""
    startup: tuple[str, ...] = ()
    """Files that a shell may read before it runs a command."""


FILE_SETTINGS: dict[str, type] = {
    "actor": str,
    "journal": str,
    "context_budget": int,
    "fuse_budget": int,
    "daily_copies": int,
    "daily_copy_mb": int,
    "reply_bytes": int,
    "memory_items": int,
    "memory_bytes": int,
}
"""What ``config.json`` may hold, each with its type."""
_KINDS: dict[type, str] = {str: "text", int: "a whole number"}

ENVIRONMENT: dict[str, str] = {
    "CONTEXTSPINDLE_WORKSPACE": "workspace",
    "CONTEXTSPINDLE_ACTOR": "actor",
    "CONTEXTSPINDLE_CLAIM": "claim",
    "CONTEXTSPINDLE_JOURNAL": "journal",
    "CONTEXTSPINDLE_CONTEXT_BUDGET": "context_budget",
    "CONTEXTSPINDLE_FUSE_BUDGET": "fuse_budget",
    "CONTEXTSPINDLE_DAILY_COPIES": "daily_copies",
    "CONTEXTSPINDLE_DAILY_COPY_MB": "daily_copy_mb",
    "CONTEXTSPINDLE_REPLY_BYTES": "reply_bytes",
    "CONTEXTSPINDLE_MCP_TOKEN": "mcp_token",
    "CONTEXTSPINDLE_MEMORY_ITEMS": "memory_items",
    "CONTEXTSPINDLE_MEMORY_BYTES": "memory_bytes",
}
"""The variables that set something, each with the setting it sets."""

HARNESS_FOLDERS: dict[str, tuple[str, str]] = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude"),
    "cline": ("", ".cline"),
    "codex": ("CODEX_HOME", ".codex"),
    "copilot-cli": ("COPILOT_HOME", ".copilot"),
    "cursor": ("", ".cursor"),
    "droid": ("", ".factory"),
    "gemini": ("", ".gemini"),
    "opencode": ("", ".config/opencode"),
    "qwen-code": ("", ".qwen"),
}
"""Where a harness keeps its own settings: the variable that names the folder, if it has one, and
the folder in the home folder otherwise."""
PROJECT_FOLDERS = ("CLAUDE_PROJECT_DIR", "FACTORY_PROJECT_DIR")
"""The variables by which a harness tells its hooks the folder in which a session began."""
STARTUP = (".zshenv", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile")
"""Names of such files in a home folder."""

MEMORY_LIMITS = (
    ("memory_items", 1, 1_000_000),
    ("memory_bytes", 1_024, 1_073_741_824),
)
"""The least and the most that the limits of a memory can be."""

GIT_LOCAL = frozenset(
    "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_PREFIX"
    " GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_IMPLICIT_WORK_TREE GIT_SHALLOW_FILE"
    " GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS".split()
)
"""What is true of one repository, or of one call, only: see ``git rev-parse --local-env-vars``."""


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process.  InvalidInput for a variable that is out of form."""
    environ = os.environ if environ is None else environ
    given: dict[str, Any] = {}
    for variable, setting in ENVIRONMENT.items():
        value = environ.get(variable)
        if value:
            number = FILE_SETTINGS.get(setting) is int
            given[setting] = _number(variable, value) if number else value
    if "actor" in given:
        given["actor"] = _as_utf8(given["actor"])
    return _checked(surroundings(environ)._replace(**given), "The environment")


def surroundings(environ: Mapping[str, str] | None = None) -> Settings:
    """Where things are on this machine and which workspace is named; all else at its default.

    Nothing in it can be out of form: whoever has to tell of a setting that is goes by this.
    """
    environ = os.environ if environ is None else environ
    home = _home(environ)
    state_base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state_base):  # relative ones are to be ignored, says the XDG specification
        state_base = os.path.join(home, ".local", "state") if home else ""
    temporary = [environ.get("TMPDIR", ""), "/tmp", "/var/tmp"]  # noqa: S108 (recognised, not used)
    config_home = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    folders = {
        name: (environ.get(variable) if variable else "")
        or (os.path.join(home, folder) if home else "")
        for name, (variable, folder) in HARNESS_FOLDERS.items()
    }
    folders["opencode"] = os.path.join(config_home, "opencode") if config_home else ""
    return Settings(
        workspace=environ.get("CONTEXTSPINDLE_WORKSPACE", ""),
        actor=_as_utf8(environ.get("USER") or environ.get("LOGNAME") or "local"),
        session=environ.get("CLAUDE_CODE_SESSION_ID", ""),
        home=home,
        state=os.path.join(state_base, "contextspindle") if state_base else "",
        folders=folders,
        config_home=config_home,
        projects=tuple(environ[name] for name in PROJECT_FOLDERS if environ.get(name)),
        temporary=tuple(os.path.realpath(folder) for folder in temporary if folder),
        shell=environ.get("SHELL", ""),
        startup=(
            *(environ[name] for name in ("BASH_ENV", "ENV") if environ.get(name)),
            *(os.path.join(home, name) for name in STARTUP if home),
        ),
    )


def wants_plain(environ: Mapping[str, str] | None = None) -> bool:
    """Whether a terminal is to get text alone: it knows no more, or its user wants no colours."""
    environ = os.environ if environ is None else environ
    return bool(environ.get("NO_COLOR")) or environ.get("TERM", "") in ("", "dumb")


def for_git(**more: str) -> dict[str, str]:
    """The environment of a git that finds its repository by the folder alone: ours, with ``more``.

    A hook of git's gets variables that name a repository, and its index, which may be another.
    """
    return {**{name: v for name, v in os.environ.items() if name not in GIT_LOCAL}, **more}


def with_file(settings: Settings, path: str, environ: Mapping[str, str] | None = None) -> Settings:
    """``settings`` with what the file at ``path`` says and the environment does not.

    InvalidInput names the file and what is wrong in it.
    """
    environ = os.environ if environ is None else environ
    if not os.path.isfile(path):
        return settings
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return settings
    from .core.canon import decode

    try:
        found = decode(content.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:
        raise InvalidInput(
            f"{path} is not JSON: {in_words(error)}", hint="Mend or remove the file."
        ) from None
    if not isinstance(found, dict):
        raise InvalidInput(f"{path} must hold one JSON object", hint="Mend or remove the file.")
    from_environment = {setting for name, setting in ENVIRONMENT.items() if environ.get(name)}
    for name, value in found.items():
        wanted = FILE_SETTINGS.get(name)
        if wanted is None or type(value) is not wanted:
            problem = "is not a setting" if wanted is None else f"must be {_KINDS[wanted]}"
            raise InvalidInput(
                f"{path}: {name!r} {problem}", hint="Settings: " + ", ".join(FILE_SETTINGS) + "."
            )
    given = {name: value for name, value in found.items() if name not in from_environment}
    return _checked(settings._replace(**given), path)


def _number(variable: str, value: str) -> int:
    if not (value.isascii() and value.isdigit()) or len(value) > 18:
        raise InvalidInput(f"{variable} must be a whole number, not {text.shortened(value, 40)!r}")
    return int(value)


def _as_utf8(value: str) -> str:
    """A variable is bytes; as a text it is read as UTF-8, whatever the locale says."""
    return os.fsencode(value).decode("utf-8", "replace")


def _checked(settings: Settings, source: str) -> Settings:
    if settings.journal not in JOURNALS:
        raise InvalidInput(f"{source}: journal must be one of {', '.join(JOURNALS)}")
    if not 0 <= settings.daily_copies <= MOST_COPIES:
        raise InvalidInput(f"{source}: daily_copies must be from 0 to {MOST_COPIES}")
    if settings.daily_copy_mb < 1:
        raise InvalidInput(f"{source}: daily_copy_mb must be at least 1; daily_copies 0 makes none")
    if not 2_000 <= settings.reply_bytes <= 1_000_000:
        raise InvalidInput(f"{source}: reply_bytes must be 2,000 to 1,000,000")
    for name, least, most in MEMORY_LIMITS:
        if not least <= getattr(settings, name) <= most:
            raise InvalidInput(f"{source}: {name} must be {least:,} to {most:,}")
    actor = settings.actor
    if text.one_line(actor) != actor or len(actor) > 200 or not actor.strip():
        raise InvalidInput(f"{source}: actor must be one line of at most 200 characters")
    return settings


def _home(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    if "HOME" not in environ:
        import pwd

        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            home = ""
    return os.path.realpath(home) if home and os.path.isabs(home) and os.path.isdir(home) else ""
