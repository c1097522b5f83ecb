"""Installing: a settings file changed with care, and changed back.

A file is read, edited as text, read again, and put in place whole.  What it was before the first
change is kept beside it; taking our part out again gives those bytes back, unless somebody else has
changed the file meanwhile, and then only our part goes.
"""

from __future__ import annotations

import os
import shlex

from ..core import jsonc
from ..core.text import folded, shortened
from ..core.value import Value
from ..errors import InvalidInput, SettingsDamaged, StoreUnavailable
from . import hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Protocol

    from . import Harness
    from .hooks import Wanted

    class Part(Protocol):
        """What is ours in a file of somebody's, and how it gets in and out of its text."""

        NAME: str
        """What it is, in the plural."""

        def means(self, text: str | None) -> object:
            """What the whole text says.  ValueError if it is not of its form."""

        def there(self, text: str) -> bool:
            """Whether our part is in it, in any form."""

        def with_ours(self, text: str) -> str:
            """The text with our part as it is wanted; the same one if it has it.  ValueError."""

        def without_ours(self, text: str) -> str:
            """The text without our part.  ValueError."""


BACKUP = ".contextspindle-backup"

PREVIEW, WRITE, REMOVE, CHECK = "preview", "write", "remove", "check"


class Setup(Value):
    """What a set-up did or would do to one file."""

    path: str
    action: str
    before: str | None
    """The text of the file; None where there is none."""
    after: str | None
    problems: tuple[str, ...] = ()
    """What a check found missing; nothing if all is as it should be."""
    what: str = "hooks"
    """What of ours it is about, in the plural."""

    def changed(self) -> bool:
        """Whether the file differs, or would."""
        return self.before != self.after


def bring(
    harness: Harness,
    path: str,
    launcher: str,
    action: str,
    *,
    version: str,
    shared: bool,
    shells: tuple[str, ...],
    startup: tuple[str, ...],
) -> Setup:
    """Bring what ``harness`` needs of us to ``path``: our hooks, or our plugin where it has those.

    InvalidInput if it can have neither; else as :func:`set_up`.
    """
    if source := getattr(harness, "PLUGIN", ""):
        from . import plugin

        return plugin.set_up(path, source, launcher, action, version=version, shared=shared)
    if not harness.HOOKS:
        raise InvalidInput(f"{harness.NAME} has no settings to put hooks into")
    wanted = tuple(hooks.Wanted(*one, entry=harness.ENTRY) for one in harness.HOOKS)
    return set_up(path, wanted, launcher, action, shared=shared, shells=shells, startup=startup)


def command_line(launcher: str, words: str, *, shared: bool) -> str:
    """What a hook runs.  A committed file cannot name one person's path, so it asks the PATH."""
    if shared:
        name = os.path.basename(launcher)
        return f"command -v {name} >/dev/null 2>&1 && {name} {words} || true"
    return f"{shlex.quote(launcher)} {words}"


class _Hooks:
    """Our hooks, as a part of a settings file."""

    NAME = "hooks"

    def __init__(self, wanted: tuple[Wanted, ...], commands: dict[str, str]) -> None:
        self._wanted = wanted
        self._commands = commands

    def means(self, text: str | None) -> object:
        said = hooks.without_empty(meaning(text))
        # A file that says no more than which version it has says nothing.
        return {} if said == hooks.VERSION and self._wanted[0].entry else said

    def there(self, text: str) -> bool:
        return bool(hooks.found(meaning(text)))

    def with_ours(self, text: str) -> str:
        return hooks.with_ours(text, self._wanted, self._commands)

    def without_ours(self, text: str) -> str:
        return hooks.without_ours(text)


def set_up(
    path: str,
    wanted: tuple[Wanted, ...],
    launcher: str,
    action: str,
    *,
    shared: bool = False,
    shells: tuple[str, ...] = (),
    startup: tuple[str, ...] = (),
) -> Setup:
    """Bring our hooks into the settings file ``path``, take them out, or look at them.

    A look also asks whether the ``shells`` that may run a hook say something of their own.
    SettingsDamaged if the file is not what it should be: then it is not touched.
    """
    commands = {one.words: command_line(launcher, one.words, shared=shared) for one in wanted}

    def look() -> list[str]:
        said = foreign_text(shells, startup)
        return [said] if said else []

    needs = "" if shared else launcher
    return carry_out(path, _Hooks(wanted, commands), action, needs=needs, look=look)


def carry_out(
    path: str,
    part: Part,
    action: str,
    *,
    needs: str = "",
    look: Callable[[], list[str]] = list,
    keep: bool = True,
    rest: str | None = None,
) -> Setup:
    """Bring our ``part`` into the file ``path``, take it out, or look at it.

    ``needs`` is the command that must be there for it to work, and ``look`` finds further problems
    when a check is asked for.  Where a part can be taken out to the byte, no copy need be kept;
    a file in which nothing is left then becomes ``rest``, and None is no file.  SettingsDamaged if
    the file is not what it should be: then it is not touched.
    """
    path = os.path.realpath(path)  # a link into somebody's collection of settings stays one
    before = text_in(path)
    try:
        if action == REMOVE:
            after = _given_back(path, part, before) if keep else _taken_out(part, before, rest)
        else:
            after = part.with_ours(before or "")
        part.means(after)  # what is put in place can be read again
    except ValueError as error:
        raise SettingsDamaged(f"{path}: {error}; it was not touched") from error
    if action == CHECK:
        problems = [] if after == before else [f"our {part.NAME} are missing or out of date"]
        if needs and not os.access(needs, os.X_OK):
            problems.append(f"{needs} cannot be run")
        problems += look()
        return Setup(path, action, before, before, tuple(problems), part.NAME)
    if action in (WRITE, REMOVE) and after != before:
        try:
            if keep and action == WRITE and before is not None and not part.there(before):
                _put(path + BACKUP, before)
            _put(path, after)
            if keep and action == REMOVE:
                _forget(path)
        except OSError as error:
            raise StoreUnavailable(f"{path}: {error.strerror}") from error
    return Setup(path, action, before, after, what=part.NAME)


def foreign_text(shells: Iterable[str], startup: Iterable[str]) -> str:
    """What a shell prints before a hook's own answer, as a problem; empty if it prints nothing.

    ``startup`` are files that it may read, in which the text is looked for.
    """
    import subprocess

    for shell in shells:
        try:
            ran = subprocess.run(  # noqa: S603 (the user's own shell)
                [shell, "-c", ":"], input=b"", capture_output=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        said = folded(ran.stdout.decode("utf-8", "replace"))
        if said:
            likely = next((path for path in startup if _holds_words(path, said)), "")
            named = f"; it stands in {likely}" if likely else ""
            return f"{shell} prints {shortened(said, 60)!r} before our answer{named}"
    return ""


def _holds_words(path: str, said: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return said.split()[0] in file.read()
    except OSError:
        return False


def meaning(text: str | None) -> object:
    """What a JSON text says; an empty one says nothing, which is what an empty object says."""
    return jsonc.parse(text).value if text and text.strip(" \t\r\n\ufeff") else {}


def text_in(path: str) -> str | None:
    """The text of a settings file; None if there is none.  SettingsDamaged if it is no UTF-8."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SettingsDamaged(f"{path} is not UTF-8; it was not touched") from error
    except OSError as error:
        raise StoreUnavailable(f"{path}: {error.strerror}") from error


def _given_back(path: str, part: Part, before: str | None) -> str | None:
    """The text without our part: the very one from before the first change, if it says the same."""
    if before is None:
        return None
    after = part.without_ours(before)
    if after == before:
        return before
    kept = text_in(path + BACKUP)
    return kept if part.means(kept) == part.means(after) else after


def _taken_out(part: Part, before: str | None, rest: str | None) -> str | None:
    after = part.without_ours(before or "")
    return before if before is None or after == before else after or rest


def _forget(path: str) -> None:
    if os.path.exists(path + BACKUP):
        os.unlink(path + BACKUP)


def _put(path: str, content: str | None) -> None:
    """The whole file or none of it; no content is no file."""
    if content is None:
        os.unlink(path)
        folder = os.path.dirname(path)
        if os.path.basename(folder) in hooks.NAMES and not os.listdir(folder):
            os.rmdir(folder)  # it was made for this file
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        mode = os.stat(path).st_mode & 0o777
    except OSError:
        mode = 0o600
    aside = f"{path}.{os.getpid()}.part"
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
        os.chmod(aside, mode)
        os.replace(aside, path)
    except BaseException:
        if os.path.exists(aside):
            os.unlink(aside)
        raise
