"""The command line: for people and agents, and for the hooks of their programs.

A call is parsed, one action is called, its result is rendered.  Nothing is decided here.  Each
command lives in the module of its noun, which is loaded only for that noun.
"""

from __future__ import annotations

import os
import sys

from ..core.value import Value
from ..errors import BUG_STATUS, INTERRUPT_STATUS, InvalidInput, SpindleError
from . import parse, reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from .. import workspace
    from ..config import Settings
    from .reply import Reply


class Call(Value):
    """One call of a command: its values, and the surroundings it may ask for."""

    values: dict[str, Any]
    opened: list[workspace.Workspace]
    """The workspaces that were asked for."""
    done: list[Callable[[], None]]
    """What is to be done once the answer is written; nothing of it raises."""
    lost: list[Callable[[Exception], None]]
    """What a hook writes an error down with that comes behind it: it ends well all the same."""

    def settings(self) -> Settings:
        """The settings of this process."""
        from .. import config

        return config.load()

    def workspace(self) -> workspace.Workspace:
        """The workspace that the call is about."""
        from .. import workspace

        found = workspace.find(self.values["workspace"] or "")
        self.opened.append(found)
        return found

    def standard_input(self, *, errors: str = "replace") -> str:
        """All of standard input as text: UTF-8, with or without a byte order mark.

        ``errors`` says what becomes of bytes that are none, as ``bytes.decode`` takes it.
        """
        try:
            with open(0, "rb", closefd=False) as stream:
                content = stream.read()
        except OSError as error:
            raise InvalidInput(f"Standard input cannot be read: {error.strerror}") from error
        return content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors)


def main(words: list[str] | None = None) -> int:
    """Run one command.  The exit status; every error has been printed."""
    words = _as_utf8(sys.argv[1:] if words is None else words)
    try:
        return _run(words)
    except (Exception, KeyboardInterrupt) as error:
        return 0 if "fuse" in words and _is_survived(words, error) else _failed(words, error)


def _is_survived(words: list[str], error: BaseException) -> bool:
    """Whether it was a hook that failed: then it is written down, and nobody's work is stopped."""
    from . import hook

    if not hook.is_run_by(words):
        return False
    hook.survived(words, error)
    return True


def _failed(words: list[str], error: BaseException) -> int:
    """The exit status of a command that ended with ``error``, which has been printed."""
    if isinstance(error, SpindleError):
        _name_help(error, words)
        ours = words[: words.index("--")] if "--" in words else words
        as_json = "--json" in ours
        reply.put(reply.ERR, reply.error_document(error) if as_json else reply.error_text(error))
        return error.exit_status
    if isinstance(error, BrokenPipeError):
        return 141  # as a shell reports a command whose reader went away
    if isinstance(error, Exception):
        from .bug import report

        reply.put(reply.ERR, report(error, words))
        return BUG_STATUS
    return INTERRUPT_STATUS


def leave() -> NoReturn:
    """Run one command and end the process at once, without the interpreter's tidying."""
    import gc

    # Tidying on the way could close the ledger, and fold its log back, before there is an answer.
    gc.disable()
    os._exit(main())


def _run(words: list[str]) -> int:
    try:
        command, rest = parse.command_of(words)
        values = parse.parse(command, rest)
    except parse.NotPlain:
        if words == ["--version"]:
            from .. import __version__

            reply.put(reply.OUT, f"contextspindle {__version__}\n")
            return 0
        from . import full

        if not words or words[0] == "help" or _asks_for_help(words):
            reply.put(reply.OUT, full.help_text([word for word in words if word != "help"]))
            return 0
        try:
            command, rest = parse.command_of(words)
        except parse.NotPlain:
            from .mistakes import no_command

            raise no_command(words) from None
        values = full.parse(command, rest)
    module = __import__(f"{__name__}.{command.module}", fromlist=[command.function])
    call = Call(values, [], [], [])
    answer: Reply = getattr(module, command.function)(call)
    try:
        _print(answer, values)
    except Exception as error:
        if not call.lost:
            raise
        call.lost[0](error)
        return 0
    for one in call.done:
        one()
    for space in call.opened:
        space.copy_daily()
    return answer.status


def _name_help(error: SpindleError, words: list[str]) -> None:
    """Have a hint that leads to the help of the command say which that is."""
    if error.hint == InvalidInput.hint:
        try:
            named = " ".join(("contextspindle", *parse.command_of(words)[0].words))
        except parse.NotPlain:
            named = "contextspindle"
        error.hint = f"See '{named} --help'."


def _print(answer: Reply, values: dict[str, Any]) -> None:
    if values["json"]:
        reply.put(reply.OUT, reply.document(answer.data))
        return  # the warnings are in the document
    if values["quiet"] and answer.id is not None:
        reply.put(reply.OUT, f"{answer.id}\n" if answer.id else "")
    elif answer.picture and not values["quiet"] and os.isatty(reply.OUT):
        from . import terminal

        reply.put(reply.OUT, terminal.drawn(answer))
    else:
        reply.put(reply.OUT, reply.tame(answer.text))
    for warning in answer.warnings:
        reply.put(reply.ERR, reply.tame(f"contextspindle: warning: {warning}\n"))


def _asks_for_help(words: list[str]) -> bool:
    options = words[: words.index("--")] if "--" in words else words
    return "--help" in options or "-h" in options


def _as_utf8(words: list[str]) -> list[str]:
    """Arguments are bytes; they are read as UTF-8, whatever the locale says.

    Bytes that are no UTF-8 stay, escaped, because they may be those of a path.
    """
    return [os.fsencode(word).decode("utf-8", "surrogateescape") for word in words]
