"""Installing: a settings file changed with care, and changed back.

A file is read, edited as text, read again, and put in place whole.  What it was before the first
change is kept beside it; taking the last of ours out again gives those bytes back, unless somebody
else has changed the file meanwhile, and then only our part goes.

What belongs together is a list of pieces, which may share files: all of them are brought, or none.
Programs write their settings whenever they like: a file that is not any more what was read is read
and edited anew.
"""

from __future__ import annotations

import os
import shlex

from ..core import jsonc
from ..core.text import clean
from ..core.value import Value
from ..errors import InvalidInput, SettingsBusy, SettingsDamaged, SpindleError, StoreUnavailable
from . import entries, hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from .hooks import Wanted

    class Part(Protocol):
        """What is ours in a file of somebody's, and how it gets in and out of its text."""

        NAME: str
        """What it is, in the plural."""

        def left_of(self, kept: str, text: str) -> bool:
            """Whether the text is all that is left of ``kept``, as ours came in and went.

            ValueError if one is not of its form.
            """

        def there(self, text: str) -> bool:
            """Whether our part is in it, in any form."""

        def shared(self, text: str) -> bool:
            """Whether anything of ours is in it, this part or another."""

        def with_ours(self, text: str) -> str:
            """The text with our part as it is wanted; the same one if it has it.  ValueError."""

        def without_ours(self, text: str) -> str:
            """The text without our part.  ValueError."""


BACKUP = ".contextspindle-backup"

TRIES = 5
"""How often a file is edited anew that another program changes meanwhile."""

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


class Piece(Value):
    """One part of ours, and the file that it goes into."""

    path: str
    part: Part
    needs: str = ""
    """The command that must be there for it to work."""
    look: Callable[[], list[str]] = list
    """Finds further problems when a check is asked for."""
    folders: int = 0
    """How many folders were made for the file: they go with it, as far as they are empty."""


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

    def left_of(self, kept: str, text: str) -> bool:
        # A file that says no more than which version it has says nothing.
        return entries.left_of(kept, text, hooks.VERSION if self._wanted[0].entry else None)

    def there(self, text: str) -> bool:
        return bool(hooks.found(meaning(text), {one.event for one in self._wanted}))

    def shared(self, text: str) -> bool:
        return entries.holds_ours(meaning(text))

    def with_ours(self, text: str) -> str:
        return hooks.with_ours(text, self._wanted, self._commands)

    def without_ours(self, text: str) -> str:
        return hooks.without_ours(text, self._wanted)


class _Together:
    """Several parts that share a file, as one."""

    def __init__(self, parts: list[Part]) -> None:
        self.NAME = " and ".join(part.NAME for part in parts)
        self._parts = parts

    def left_of(self, kept: str, text: str) -> bool:
        return self._parts[0].left_of(kept, text)

    def there(self, text: str) -> bool:
        return any(part.there(text) for part in self._parts)

    def shared(self, text: str) -> bool:
        return any(part.shared(text) for part in self._parts)

    def with_ours(self, text: str) -> str:
        for part in self._parts:
            text = part.with_ours(text)
        return text

    def without_ours(self, text: str) -> str:
        for part in self._parts:
            text = part.without_ours(text)
        return text


def hooks_piece(
    path: str,
    wanted: tuple[Wanted, ...],
    launcher: str,
    *,
    shared: bool = False,
    shells: tuple[str, ...] = (),
    startup: tuple[str, ...] = (),
) -> Piece:
    """Our hooks in the settings file ``path``.

    A check of them also asks whether the ``shells`` that may run a hook say something of their own.
    """
    commands = {one.words: command_line(launcher, one.words, shared=shared) for one in wanted}

    def look() -> list[str]:
        from .trial import foreign_text

        said = foreign_text(shells, startup)
        return [said] if said else []

    return Piece(path, _Hooks(wanted, commands), "" if shared else launcher, look)


def set_up(path: str, wanted: tuple[Wanted, ...], launcher: str, action: str, **more: Any) -> Setup:
    """Bring our hooks into the settings file ``path``, take them out, or look at them.

    ``more`` as for :func:`hooks_piece`; SettingsDamaged if the file is not what it should be: then
    it is not touched.
    """
    return carried_out([hooks_piece(path, wanted, launcher, **more)], action)[0]


def carried_out(pieces: list[Piece], action: str) -> list[Setup]:
    """Bring all ``pieces`` into their files, take them out, or look: all of them, or none.

    An answer for each file, and from a check for each piece.  SettingsDamaged if a file is not what
    it should be, StoreUnavailable if one cannot be written, SettingsBusy if another program changes
    one again and again: then every file is as it was.
    """
    if action == CHECK:
        return [
            carry_out(one.path, one.part, CHECK, needs=one.needs, look=one.look) for one in pieces
        ]
    files: dict[str, list[Part]] = {}
    for one in pieces:
        files.setdefault(os.path.realpath(one.path), []).append(one.part)
    done = _until_done(
        lambda: [
            _planned(path, parts[0] if len(parts) == 1 else _Together(parts), action)
            for path, parts in files.items()
        ],
        action,
    )
    if action == REMOVE:
        for one in pieces:
            _forget_folders(one)
    return done


def _until_done(plan: Callable[[], list[_Change]], action: str) -> list[Setup]:
    """What ``plan`` gives is done, all of it or nothing; anew as long as a file changes meanwhile.

    The errors of :func:`carried_out`.
    """
    path = ""
    for _ in range(TRIES):
        put: list[_Written] = []
        try:
            return [_done(change, action, put) for change in plan()]
        except _ChangedMeanwhile as changed:
            _put_back(put)
            path = changed.args[0]
        except BaseException:
            _put_back(put)
            raise
    raise SettingsBusy(f"{path} was changed by another program {TRIES} times while it was edited")


def _put_back(put: list[_Written]) -> None:
    """Every file as it was before; but not one that somebody else has written to since."""
    left = []
    for path, before, after, mode in reversed(put):
        try:
            if _content(path) != before:
                _put(path, before, expected=after, mode=mode)
        except (_ChangedMeanwhile, OSError):
            left.append(path)
    if left:
        raise StoreUnavailable(
            f"not all was done, and {', '.join(left)} could not be put back",
            hint="'contextspindle setup --check' tells what is there.",
        )


def _forget_folders(piece: Piece) -> None:
    path = os.path.realpath(piece.path)
    for _ in range(0 if os.path.exists(path) else piece.folders):
        path = os.path.dirname(path)
        try:
            os.rmdir(path)
        except OSError:  # something else is in it by now
            return


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
    place = os.path.realpath(path)
    if action != CHECK:

        def plan() -> list[_Change]:
            return [_planned(place, part, action, keep=keep, rest=rest)]

        return _until_done(plan, action)[0]
    change = _planned(place, part, action)
    before = change.before
    problems = [] if change.after == before else [f"our {part.NAME} are missing or out of date"]
    if needs and not os.access(needs, os.X_OK):
        problems.append(f"{needs} cannot be run")
    problems += look()
    return Setup(change.path, action, before, before, tuple(problems), part.NAME)


class _ChangedMeanwhile(Exception):
    """The file is not what it was when it was read."""


class _Written(Value):
    """A file that is written: what was in it, and what comes into it; None is no file."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int


class _Change(Value):
    """What is to be done to one file."""

    path: str
    part: Part
    before: str | None
    after: str | None
    keep: bool


def _planned(
    path: str, part: Part, action: str, *, keep: bool = True, rest: str | None = None
) -> _Change:
    """What there is to do; nothing is written.  The errors of :func:`carried_out`."""
    before = text_in(path)
    try:
        if action == REMOVE:
            after = _given_back(path, part, before) if keep else _taken_out(part, before, rest)
        else:
            after = part.with_ours(before or "")
        part.there(after or "")  # what is put in place can be read again
    except ValueError as error:
        raise SettingsDamaged(f"{path}: {error}; it was not touched") from error
    if after is not None and clean(after) != after:
        raise InvalidInput(
            f"{path} cannot hold our {part.NAME}: they name a path that is not UTF-8",
            hint="Rename that folder; nothing was touched.",
        )
    # By its mode: a rename would pass over it, and so does whoever may write everything.
    writes = action in (WRITE, REMOVE) and before is not None and after != before
    if writes and not _mode(path) & 0o222:
        raise StoreUnavailable(
            f"{path} is read-only; it was not touched",
            hint="Whoever made it so may have a reason; chmod u+w lets us write it.",
        )
    return _Change(path, part, before, after, keep)


def _done(change: _Change, action: str, put: list[_Written]) -> Setup:
    """The change is done; what is written is added to ``put`` just before."""
    path, part, before, after, keep = change

    def write(path: str, old: bytes | None, new: str | None) -> None:
        content = None if new is None else new.encode()
        put.append(_Written(path, old, content, _mode(path)))
        try:
            _put(path, content, expected=old)
        except _ChangedMeanwhile:
            put.pop()
            raise

    if action in (WRITE, REMOVE) and after != before:
        old = None if before is None else before.encode()
        try:
            if keep and action == WRITE and before is not None and not part.shared(before):
                write(path + BACKUP, _content(path + BACKUP), before)
            write(path, old, after)
            over = keep and action == REMOVE and not part.shared(after or "")
            if over and os.path.isfile(path + BACKUP):
                write(path + BACKUP, _content(path + BACKUP), None)
        except OSError as error:
            raise StoreUnavailable(f"{path}: {error.strerror}") from error
    return Setup(path, action, before, after, what=part.NAME)


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
    """The text without our part: the very one from before the first change, if that is all.

    It is, if nobody has changed a byte since.  A copy that cannot be read is not used.
    """
    if before is None:
        return None
    after = part.without_ours(before)
    if after == before:
        return before
    try:
        kept = text_in(path + BACKUP)
        same = part.left_of(kept or "", after) or _came_and_went(part, kept or "") == after
    except (SpindleError, ValueError):
        return after
    return kept if same else after


def _came_and_went(part: Part, text: str) -> str:
    return part.without_ours(part.with_ours(text))


def _taken_out(part: Part, before: str | None, rest: str | None) -> str | None:
    after = part.without_ours(before or "")
    return before if before is None or after == before else after or rest


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _mode(path: str) -> int:
    """The mode of a file; of one that is not there, the one that it is made with."""
    try:
        return os.stat(path).st_mode & 0o777
    except OSError:
        return 0o600


def _put(
    path: str, content: bytes | None, *, expected: bytes | None, mode: int | None = None
) -> None:
    """The whole file or none of it; no content is no file.

    A file of several names is written where it is, and a crash may then cut it off.
    _ChangedMeanwhile if it does not hold what is ``expected``: then it stays so.
    """
    if content is None:
        _expect(path, expected)
        os.unlink(path)
        folder = os.path.dirname(path)
        if os.path.basename(folder) in hooks.NAMES and not os.listdir(folder):
            os.rmdir(folder)  # it was made for this file
        return
    if os.path.exists(path) and os.stat(path).st_nlink > 1:
        # Its other names are to say the same; a file put in its place would be another one.
        _expect(path, expected)
        with open(path, "r+b") as file:
            file.write(content)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    mode = _mode(path) if mode is None else mode
    # A name that nobody has: in containers two processes have one number.
    aside = f"{path}.{os.urandom(6).hex()}.part"
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
        os.chmod(aside, mode)
        _expect(path, expected)
        os.replace(aside, path)
    except BaseException:
        if os.path.exists(aside):
            os.unlink(aside)
        raise


def _expect(path: str, expected: bytes | None) -> None:
    if _content(path) != expected:
        raise _ChangedMeanwhile(path)
