"""Looks at the programs that run agents: are our hooks and our server there, and do they run?

A hook is not only looked up but run as its harness would run it, on a workspace that is made for
it and thrown away.
"""

from __future__ import annotations

import os

from .. import programs, workspace
from ..core.text import folded, shortened
from ..errors import SpindleError, in_words
from ..harness import ADAPTERS, adapter, holding, hooks, install, registration, trial
from . import NOTE, OK, PROBLEM, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..harness import Harness
    from ..harness.holding import Holder
    from ..harness.hooks import Found
    from . import Case

SCOPES = ("user", "project", "shared")
GOAL = "a trial of contextspindle doctor"
RESTART = "Sessions that are open keep their old settings until they are started again."


def of_hooks(case: Case) -> Iterator[Finding]:
    """Each harness's hooks in each scope: whole, current, and able to run."""
    having: set[str] = set()
    saved = _saved_by_hooks(case)
    with _Ward(case) as ward:
        for name in ADAPTERS:
            harness = adapter(name)
            for path in _plugins(case, harness):
                having.add(name)
                yield Finding("hooks", OK, f"{name}: {path} is our plugin")
            if harness.HOOKS:
                for finding in _of_harness(case, harness, ward):
                    having.add(name)
                    yield finding
            there = holding.holders(harness, case.settings.folders.get(name, ""), case.project())
            for finding in _beside(harness, there):
                having.add(name)
                yield finding
    said = trial.foreign_text(
        ("/bin/sh", *([case.settings.shell] if os.path.isabs(case.settings.shell) else [])),
        case.settings.startup,
    )
    if said:
        advice = "Take it out of what a shell that runs a command reads, or send it to the terminal"
        yield Finding("hooks", PROBLEM, said, f"{advice} only: agents read it.")
    for name in sorted(saved - having):
        yield Finding(
            "hooks",
            PROBLEM,
            f"{name}: hooks saved sessions here before, but no settings file holds any of ours now",
            f"contextspindle setup {name} --hooks --write; an open session may have written its old"
            " settings back, so end it first.",
        )
    if having:
        for one in programs.known():
            if one.signs and one.name not in having | saved and _can_have_hooks(one.name):
                said = f"{one.name} is on this machine ({', '.join(one.signs)}) without our hooks"
                advice = f"contextspindle setup {one.name} --hooks --write"
                yield Finding("hooks", NOTE, f"{said}: its sessions are not saved", advice)
    elif not saved:
        yield Finding(
            "hooks",
            NOTE,
            "no harness has our hooks: nothing is saved before a compaction",
            f"'contextspindle setup' shows what each program here would get. {RESTART}",
        )


def _can_have_hooks(name: str) -> bool:
    harness = adapter(name) if name in ADAPTERS else None
    return bool(harness and (harness.HOOKS or getattr(harness, "PLUGIN", "")))


def _plugins(case: Case, harness: Harness) -> list[str]:
    """The files of our plugin, in a program that has plugins instead of hooks."""
    if not getattr(harness, "PLUGIN", ""):
        return []
    return holding.hooked(harness, case.settings.folders.get(harness.NAME, ""), case.project())


def _beside(harness: Harness, there: list[Holder]) -> Iterator[Finding]:
    """Hooks in a file that set-up does not write, and hooks that are there twice."""
    name = harness.NAME
    inline = getattr(harness, "INLINE", "")
    for one in there:
        if inline and os.path.basename(one.path) == inline:
            said = f"{name}: {one.path} runs our hooks, in lines of yours: not tried"
            yield Finding("hooks", OK, said)
    for one, other in holding.doubled(there):
        said = f"{name}: {one.path} and {other.path} both run our hooks"
        advice = holding.advice(name, one, other)
        yield Finding("hooks", NOTE, f"{said}: all is saved and handed over twice", advice)


def _saved_by_hooks(case: Case) -> set[str]:
    """The harnesses whose sessions were saved here by a hook."""
    if not case.space:
        return set()
    from ..core.transcript import BY_HAND

    try:
        found = case.space.fuse().sessions()
    except SpindleError:
        return set()  # told of with the sessions
    names = {one.get("harness", "") for one in found if one.get("trigger") not in (None, BY_HAND)}
    return {name for name in names if name in ADAPTERS and adapter(name).HOOKS}


def _of_harness(case: Case, harness: Harness, ward: _Ward) -> Iterator[Finding]:
    folder, project = case.settings.folders[harness.NAME], case.project()
    for scope in SCOPES:
        path = harness.settings_path(folder, project, scope)
        if not os.path.isabs(path) or (scope == "shared" and path == _personal(harness, case)):
            continue  # one that was looked at, or without a home or a project
        try:
            text = install.text_in(path)
            settings = install.meaning(text)
        except (SpindleError, ValueError) as error:
            said = f"{harness.NAME}: {path} cannot be read: {in_words(error)}"
            yield Finding("hooks", PROBLEM, said, "Mend the file; until then its hooks do not run.")
            continue
        yield from _of_settings(harness, scope, path, text or "", settings, ward)


def _personal(harness: Harness, case: Case) -> str:
    return harness.settings_path(case.settings.folders[harness.NAME], case.project(), "project")


def _of_settings(
    harness: Harness, scope: str, path: str, text: str, settings: object, ward: _Ward
) -> Iterator[Finding]:
    place = f"{harness.NAME}: {path}"
    found, ours = hooks.found(settings, told=hooks.running), hooks.found(settings)
    plugin = holding.has_plugin(settings)
    if not found and not plugin:
        return
    if isinstance(settings, dict) and settings.get("disableAllHooks") is True:
        yield Finding(
            "hooks", PROBLEM, f"{place} switches all hooks off (disableAllHooks)", "Take that out."
        )
    if plugin:
        said = f"{place} has our plugin switched on, which brings the hooks"
        if found:
            advice = f"Keep one of the two: contextspindle setup {harness.NAME} --hooks"
            said += ", and the hooks besides: they may run twice"
            yield Finding("hooks", NOTE, said, f"{advice}{_flag(scope)} --remove")
        else:
            yield Finding("hooks", OK, said)
            return
    wanted = tuple(hooks.Wanted(*one, entry=harness.ENTRY) for one in harness.HOOKS)
    commands = {one.words: one.command for one in (*found, *ours)}
    # What runs in a line of the user's alone has no form of ours.
    stand_ins = hooks.stood_in(settings, wanted)
    events = {one.event for one in ours} | {one.event for one in stand_ins}
    repair = f"contextspindle setup {harness.NAME} --hooks{_flag(scope)} --write"
    missing = sorted({one.event for one in wanted if one.words not in commands})
    missing += sorted({one.event for one in wanted} - events - {*missing})
    if missing:
        yield Finding(
            "hooks", PROBLEM, f"{place} has no hook of ours for {', '.join(missing)}", repair
        )
    elif hooks.with_ours(text, wanted, commands) != text:
        yield Finding(
            "hooks",
            PROBLEM,
            f"{place} has our hooks in another form than this version writes: an older one, one"
            " that is there twice, or one with another matcher",
            repair,
        )
    trusted = [one for one in found if scope == "user" or _is_ours_to_the_letter(one, wanted)]
    for one in found:
        if one not in trusted:
            said = (
                f"{place}: {one.event} runs {_shown(one)}: not tried, because a project brings it"
            )
            advice = f"Read it. What setup writes is tried: {repair}"
            yield Finding("hooks", NOTE, said, advice)
    failed = False
    for finding in ward.tried(place, scope, trusted, ours, repair):
        failed = True
        yield finding
    if not failed and not missing:
        tried = ward.folder and trusted == found
        answered = ", and they answered from a bare shell" if tried else ", not tried"
        yield Finding("hooks", OK, f"{place} has our hooks{answered}")


def _is_ours_to_the_letter(one: Found, wanted: tuple[hooks.Wanted, ...]) -> bool:
    """Whether a hook runs what setup writes and nothing besides.

    Whoever looks at a project of somebody else must not run what that brings.
    """
    launchers = (programs.launcher(), *hooks.NAMES)
    return any(one.words == other.words for other in wanted) and any(
        one.command == install.command_line(launcher, one.words, shared=shared)
        for launcher in launchers
        for shared in (False, True)
    )


def _not_on_the_path(told: str) -> Finding:
    """What is wrong with a committed hook, which looks its command up: nothing in the file."""
    import shutil

    launcher = programs.launcher()
    folder, name = os.path.split(launcher)
    if there := shutil.which(name):
        advice = "A program that you start from a shell finds it; one that is started from a"
        advice += f" desktop has a short PATH: put {folder} on that."
        return Finding("hooks", NOTE, f"{told}; on your PATH it is there, as {there}", advice)
    advice = f"Put {folder} on your PATH: a committed hook looks {name} up there, and without it"
    return Finding("hooks", PROBLEM, told, f"{advice} does nothing.")


def _shown(one: Found) -> str:
    return repr(shortened(folded(one.command), 200))


def _flag(scope: str) -> str:
    return "" if scope == "user" else f" --{scope}"


class _Ward:
    """A workspace with one task, in a folder that goes again: what a hook under trial works on."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._answers: dict[str, trial.Answer] = {}
        self.folder = ""
        """Empty if it could not be made: then nothing is tried."""

    def __enter__(self) -> _Ward:
        import tempfile

        from ..core.change import Request

        try:
            self.folder = os.path.realpath(tempfile.mkdtemp(prefix="contextspindle-doctor-"))
            space = workspace.Workspace(self.folder, self._case.settings)
            space.make()
            ledger = space.ledger()
            ledger.create(Request(set={"goal": GOAL}))
        except (SpindleError, OSError):
            self._clear()
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def _clear(self) -> None:
        import shutil

        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = ""

    def tried(
        self, place: str, scope: str, found: list[Found], ours: list[Found], repair: str
    ) -> Iterator[Finding]:
        """What is wrong with each of the hooks; nothing if they do what they should."""
        for one in found if self.folder else ():
            said = self._verdict(one)
            if said:
                told = f"{place}: {one.event} runs {_shown(one)}: {said}"
                committed = install.command_line(programs.launcher(), one.words, shared=True)
                if scope == "shared" and one.command == committed:
                    yield _not_on_the_path(told)  # written again it would be the same
                    continue
                theirs = f"That line is yours: mend it, or take it out, then {repair}"
                yield Finding("hooks", PROBLEM, told, repair if one in ours else theirs)

    def _verdict(self, one: Found) -> str:
        """What is wrong with a hook; empty if nothing is."""
        restores = one.words.startswith("fuse restore")
        if one.command not in self._answers:
            # A restore is asked for what is live; a save is told of an event that asks for nothing.
            self._answers[one.command] = trial.run(
                one.command,
                {
                    "hook_event_name": "SessionStart" if restores else "Trial",
                    "session_id": "trial",
                    "transcript_path": os.path.join(self.folder, "none.jsonl"),
                    "cwd": self.folder,
                    "source": "startup",
                },
                self.folder,
                home=self._case.settings.home,
            )
        answer = self._answers[one.command]
        if complaint := answer.complaint():
            return complaint
        told, foreign = trial.told(answer.out)
        if foreign.strip():
            return f"something else prints {shortened(folded(foreign), 80)!r} where our answer goes"
        if restores and GOAL not in told:
            return "it printed nothing: the command is not on the PATH of a bare shell, or too old"
        return ""


def of_servers(case: Case) -> Iterator[Finding]:
    """Our MCP server in the settings of every program that has it."""
    launcher = programs.launcher()
    names = []
    for name in registration.PROGRAMS:
        standing = registration.standing(
            name,
            settings=case.settings,
            project=case.project() or "/",
            launcher=launcher,
            reads=case.reads,
        )
        for scope, one, off in standing:
            names.append(name)
            for problem in one.problems:
                repair = f"contextspindle setup {name} --mcp{_flag(scope)} --write"
                yield Finding("server", PROBLEM, f"{name}: {one.path}: {problem}", repair)
            if off:
                yield Finding("server", NOTE, f"{name}: {one.path}: {off}")
            elif not one.problems:
                yield Finding("server", OK, f"{name}: {one.path} has our part, as it should be")
    if names and not _has_sdk():
        yield Finding(
            "server",
            PROBLEM,
            "the MCP SDK is not installed, so the server cannot start",
            "Install contextspindle again, with what it depends on.",
        )
    if not names:
        yield Finding(
            "server",
            OK,
            "no program has our MCP server; hooks and commands do not need it",
        )


def _has_sdk() -> bool:
    import importlib.util

    if importlib.util.find_spec("mcp"):
        return True
    import site

    site.main()  # the launcher starts without it, and the server looks again with it too
    return importlib.util.find_spec("mcp") is not None
