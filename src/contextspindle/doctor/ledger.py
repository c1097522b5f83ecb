"""Looks at what the workspace keeps: ledger, memory, copies, sessions, incidents."""

from __future__ import annotations

import os

from .. import errors, places, workspace
from ..core import instant, text
from ..core.transcript import BY_HAND
from ..errors import MemoryNotFound
from ..store import health
from . import NOTE, OK, PROBLEM, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..store.health import Health
    from . import Case

LONG_LOG = 16 * 1024 * 1024
"""Bytes of a write-ahead log that only a reader which stays can explain."""
SHOWN = 5
"""Findings, sessions or incidents of a kind that are named."""
RECENT_MS = 7 * 86_400_000
"""How long an incident is worth telling."""
QUIET_MS = 600_000
"""How long after a save a harness may still be at its compaction."""


def of_ledger(case: Case) -> Iterator[Finding]:
    """Whether the ledger opens and is sound; with ``deep``, all that ``verify --deep`` looks at."""
    if not case.root:
        return
    path = case.path(os.path.join(workspace.FOLDER, workspace.LEDGER))
    if not os.path.lexists(path):
        yield Finding(
            "ledger",
            PROBLEM,
            f"there is none at {path}",
            f"contextspindle init {text.quoted(case.root)}",
        )
        return
    found = health.of_ledger(path)
    advice = errors.StoreCorrupt.hint
    yield from _soundness("ledger", found, "task", advice)
    if found.log_bytes > LONG_LOG:
        yield Finding(
            "ledger",
            NOTE,
            f"its log has {_size(found.log_bytes)}: a program has been reading it for long",
            f"fuser -v {path} names it; the log is folded back when it has ended.",
        )
    if case.deep and found.schema == found.newest and case.space:
        report = case.space.verify(deep=True)
        for one in report.findings[:SHOWN]:
            about = f"{one.task}: " if one.task else ""
            yield Finding("ledger", PROBLEM, f"{one.kind}: {about}{one.message}", advice)
        if not report.findings:
            said = f"all changes replayed ({report.changes:,}), and nothing found"
            yield Finding("ledger", OK, said)
        for unchecked in report.unchecked:
            yield Finding("ledger", NOTE, f"not looked at: {unchecked}")


def of_memory(case: Case) -> Iterator[Finding]:
    """The same of the memory, where there is one."""
    path = case.path(workspace.MEMORY) if case.root else ""
    if not path or not os.path.lexists(path):
        return
    try:
        found = health.of_memory(path)
        advice = errors.MemoryDamaged.hint
        yield from _soundness("memory", found, "item", advice)
        if case.deep and case.space:
            findings = case.space.memory().verify()
            for one in findings[:SHOWN]:
                yield Finding("memory", PROBLEM, one, advice)
            if not findings:
                yield Finding("memory", OK, "every item and its index looked at, and nothing found")
    except MemoryNotFound:
        return  # it went meanwhile


def _soundness(area: str, found: Health, thing: str, advice: str) -> Iterator[Finding]:
    for line in found.findings:
        yield Finding(area, PROBLEM, f"the file is damaged: {line}", advice)
    said = f"{found.held:,} {thing}{'s' * (found.held != 1)}, {_size(found.bytes)}"
    said += f", schema {found.schema}"
    said += f", journal {found.journal}"
    if found.schema < found.newest:
        yield Finding(
            area,
            NOTE,
            f"{said}: an older schema than this program's, {found.newest}",
            "The next command brings it up to date, once a copy of it is put aside.",
        )
    elif not found.findings:
        yield Finding(area, OK, said + ("" if found.looked else "; too large for a quick look"))


def of_copies(case: Case) -> Iterator[Finding]:
    """The daily safety copies."""
    if not case.space or not os.path.isfile(case.space.path):
        return
    copies = case.space.copies()
    if copies.problem:
        yield Finding(
            "copies",
            NOTE,
            f"no daily copies are made: {copies.problem}",
            "contextspindle backup FOLDER makes one now.",
        )
    if copies.days:
        said = f"daily copies: {len(copies.days)}, the newest of {copies.days[-1]}"
        yield Finding("copies", OK, f"{said}, in {copies.folder}")
    elif not copies.problem:
        yield Finding("copies", OK, "none yet: the first write of another day makes one")


def of_sessions(case: Case) -> Iterator[Finding]:
    """What was saved and handed over last, by session."""
    if not case.space:
        return
    from .sessions import seen

    now = workspace.now()
    sessions, unsaved = seen(case.space, now)
    for one in sessions[:SHOWN]:
        yield _session(one, now)
    if len(sessions) > SHOWN:
        yield Finding("sessions", OK, f"{len(sessions) - SHOWN} more: contextspindle fuse status")
    for one in unsaved[:SHOWN]:
        said = f"{text.one_line(one['session'])}: no snapshot yet; handed {one['bytes']} bytes"
        yield Finding("sessions", OK, f"{said} at {one['at']} ({one['source']})")
    if not sessions and not unsaved:
        yield Finding(
            "sessions", NOTE, "nothing was saved or handed over here yet: no hook has run"
        )


def _session(one: dict[str, Any], now: int) -> Finding:
    name, given = text.one_line(one["session"]), one["handed"]
    saved = instant.from_iso(one["saved"])
    said = f"{name}: saved {one['saved']} ({instant.ago(saved, now)})"
    said += f", {text.counted(one['items'], 'item')}"
    if one["problem"]:
        return Finding(
            "sessions",
            NOTE,
            f"{said}, {text.one_line(one['problem'])}",
            "The agent's program named no transcript that could be read; see the incidents.",
        )
    if given:
        said += f"; handed {given['bytes']} bytes at {given['at']} ({given['source']})"
        late = one["saved"] > given["at"]
    else:
        late = True
    if late and one["trigger"] != BY_HAND and now - saved > QUIET_MS:
        return Finding(
            "sessions",
            NOTE,
            f"{said}; nothing was handed over since that save",
            "If it was compacted, the restore hook did not run, or its folder is not trusted;"
            " 'contextspindle doctor --canary' tries it.",
        )
    return Finding("sessions", OK, said)


def of_incidents(case: Case) -> Iterator[Finding]:
    """What hooks survived lately, each kind once, with what its error advises."""
    if not case.root:
        return
    since = workspace.now() - RECENT_MS
    kinds: dict[str, list[dict[str, Any]]] = {}
    for one in places.incidents(case.path(places.FOLDER)).newest(200):
        if one["at"] >= since:
            kinds.setdefault(one["what"], []).append(one)
    hints = {one.code: one.hint for one in errors.every()}
    newest = sorted(kinds.items(), key=lambda item: -item[1][-1]["at"])
    for what, times in newest[:SHOWN]:
        code = what.rpartition("[")[2].rstrip("]")
        count = f"{len(times)} times, the last " if len(times) > 1 else ""
        said = f"{text.one_line(what)} ({count}{instant.iso(times[-1]['at'])})"
        advice = hints.get(code, "")
        if code == "TimeoutError":
            advice = "The machine or the disk was slow; what was saved before that stands."
        yield Finding("incidents", NOTE, said, advice)
    if len(newest) > SHOWN:
        said = f"{len(newest) - SHOWN} more kinds"
        yield Finding("incidents", NOTE, said, "contextspindle fuse status")
    if not newest:
        yield Finding("incidents", OK, "none within a week")


def _size(count: int) -> str:
    if count < 1 << 20:
        return f"{-(-count >> 10):,} KiB"
    return f"{count / (1 << 20):,.1f} MiB"
