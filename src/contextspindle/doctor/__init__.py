"""The doctor: looks at everything that this program depends on here, and says what to do next.

Every look gives findings and changes nothing of the user's.  What a look stumbles over becomes a
finding too: where things are broken, a report of the rest is wanted most.
"""

from __future__ import annotations

import os

from .. import config, gitfiles, places, workspace
from ..core.text import quoted
from ..core.value import Value
from ..errors import SpindleError, WorkspaceNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..config import Settings
    from ..workspace import Workspace

OK, NOTE, PROBLEM = "ok", "note", "problem"
"""All is well; something to know; something that does not work."""


class Finding(Value):
    """One thing that was looked at: of which area, how it stands, and what to do if it is wrong."""

    area: str
    state: str
    what: str
    do: str = ""


class Case(Value):
    """What there is to be looked at; without a ``root`` there is no workspace."""

    settings: Settings
    here: str
    """The folder that the command was run in; empty if it is gone."""
    root: str
    space: Workspace | None
    """The workspace; None too if its settings cannot be read."""
    deep: bool
    reads: tuple[str, ...]
    """The names of the tools that change nothing."""

    def path(self, name: str) -> str:
        """Where something of the workspace lies."""
        return os.path.join(self.root, name)

    def project(self) -> str:
        """The folder whose settings apply to a session that is begun here."""
        return places.project(self.root, self.here)


def examined(
    named: str = "", *, deep: bool = False, reads: tuple[str, ...] = ()
) -> tuple[str, list[Finding]]:
    """The root of the workspace, empty without one, and what was found.  Nothing is raised."""
    from . import harnesses, ledger, surroundings

    findings: list[Finding] = []
    case = _case(named, deep, reads, findings)
    looks: tuple[tuple[str, Callable[[Case], Iterator[Finding]]], ...] = (
        ("ledger", ledger.of_ledger),
        ("memory", ledger.of_memory),
        ("copies", ledger.of_copies),
        ("disk", surroundings.of_disk),
        ("hooks", harnesses.of_hooks),
        ("server", harnesses.of_servers),
        ("sessions", ledger.of_sessions),
        ("incidents", ledger.of_incidents),
        ("versions", surroundings.of_versions),
    )
    for area, look in looks:
        findings += _survived(area, look, case)
    return case.root, findings


def of_error(area: str, error: SpindleError, state: str = PROBLEM) -> Finding:
    """An error as a finding: its own words, and its own advice."""
    return Finding(area, state, f"{error.message} [{error.code}]", error.hint)


def _survived(
    area: str, look: Callable[[Case], Iterator[Finding]], case: Case
) -> Iterator[Finding]:
    try:
        yield from look(case)
    except SpindleError as error:
        yield of_error(area, error)
    except Exception as error:
        said = f"this could not be looked at: {type(error).__name__}: {error}"
        yield Finding(area, PROBLEM, said, "If it stays, report it as a fault of contextspindle.")


def _case(named: str, deep: bool, reads: tuple[str, ...], findings: list[Finding]) -> Case:
    """What there is, with findings on how it was found."""
    try:
        settings = config.load()
    except SpindleError as error:
        findings.append(of_error("settings", error))
        settings = config.surroundings()
    try:
        here = places.here(None)
    except SpindleError as error:
        findings.append(of_error("workspace", error))
        here = ""
    root, space = "", None
    try:
        root, why = _root(named, here, settings)
        if root:
            findings.append(Finding("workspace", OK, f"{root}: {why}"))
        else:
            findings.append(Finding("workspace", NOTE, why, _would_make(named, settings)))
    except SpindleError as error:
        findings.append(of_error("workspace", error))
    if root:
        try:
            space = workspace.Workspace(root, settings)
            if shared := space.outlived_by():
                findings.append(_passing(shared))
            if not space.accepted():
                said = "git tracks this workspace: it came with the repository, and is not accepted"
                advice = f"If you trust it: contextspindle init {quoted(root)} --accept"
                findings.append(Finding("workspace", PROBLEM, said, advice))
        except SpindleError as error:
            findings.append(of_error("settings", error))
    return Case(settings, here, root, space, deep, reads)


def _passing(shared: str) -> Finding:
    """What is to be known of a workspace in a linked worktree."""
    said = "it lies in a linked worktree: 'git worktree remove' takes it away with that"
    if os.path.lexists(os.path.join(shared, places.FOLDER)):
        advice = f"Export it, and import that where all worktrees share one, in {quoted(shared)}."
    else:
        advice = (
            f"Move {places.FOLDER} and .continuum to {quoted(shared)}, which all worktrees share."
        )
    return Finding("workspace", NOTE, said, advice)


def _root(named: str, here: str, settings: Settings) -> tuple[str, str]:
    """The root of the workspace, and why it is that one; or none, and why there is none."""
    chosen = named or settings.workspace
    by = "named with --workspace" if named else "named by CONTEXTSPINDLE_WORKSPACE"
    if not chosen and not here:
        return "", "without a current folder there is nowhere to look for a workspace"
    try:
        root = workspace.find(named, settings=settings).root
    except WorkspaceNotFound as error:
        if not chosen:
            away = _away(here, settings)
            if away and os.path.isdir(os.path.join(away, places.FOLDER)):
                return away, f"the one that hooks use for {here}, where none should be made"
        return "", error.message
    except SpindleError as error:
        # Its settings are read with it, and are told of on their own.
        if error.exit_status != 2:
            raise
        root = places.named(chosen) if chosen else places.walk(here, settings)[0] or ""
    if chosen:
        return root, by
    if root == here:
        return root, "the current folder"
    above = here.startswith(root.rstrip(os.sep) + os.sep)
    return root, f"the nearest above {here}" if above else f"the one of the worktrees of {here}"


def _away(here: str, settings: Settings) -> str:
    """The folder that stands for a project in which no workspace is made unasked."""
    project = gitfiles.shared_place_of(here) or here
    if not places.unwelcome(project, settings) or not settings.state:
        return ""
    return places.away(project, settings)


def _would_make(named: str, settings: Settings) -> str:
    try:
        place = workspace.place_to_make(named, settings=settings)
    except SpindleError as error:
        return error.hint
    if named or settings.workspace:
        return f"contextspindle init {quoted(place.root)}"
    if away := _away(place.root, settings):
        return f"'contextspindle init' would make one in {place.root}; a hook makes its own, {away}"
    return f"'contextspindle init' makes one in {place.root}; so does a hook that saves a session."
