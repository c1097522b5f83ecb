"""What a surface shows of the ledger's values: once as text, once as plain values.

The text is for people and agents: stored text cannot leave its line or its field.  The values are
those of the JSON documents.  Both are the same wherever they are shown.
"""

from __future__ import annotations

from .core import instant, text
from .core import task as tasks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from .actions.answers import Step, View
    from .actions.memory import Kept
    from .actions.overview import Branch, Column, Event, Tree
    from .core.archive import Merge
    from .core.change import Change
    from .core.evidence import CommandMark
    from .core.memory import Counts, Hit, Limits
    from .core.purge import Purge
    from .core.task import Entry, Page, Related, Summary, Task
    from .store.inspect import Report
    from .store.safety import Copies


def task_data(task: Task) -> dict[str, Any]:
    """A task as plain values, its times with their zone, its evidence as records."""
    data = task._asdict()
    data["created"] = instant.iso(task.created)
    data["updated"] = instant.iso(task.updated)
    for kind in ("decisions", "notes"):
        data[kind] = [_entry_data(entry) for entry in data[kind]]
    data["evidence"] = [_evidence_data(entry) for entry in task.evidence]
    for name in tasks.LISTS:
        data[name] = [*data[name]]
    return data


def view_data(view: View) -> dict[str, Any]:
    """A task with the standing of its evidence, and until when it is claimed."""
    data = task_data(view.task)
    for found, state in zip(data["evidence"], view.standings):
        found["standing"] = state
    data["claimed_until"] = instant.iso(view.lease.until) if view.lease else None
    data["verified"] = view.verified
    data["purges"] = _purges_data(view.purges)
    return data


def _purges_data(purges: tuple[Purge, ...]) -> Any:
    return [
        {"at": instant.iso(one.at), "by": one.by, "versions": [*one.versions]} for one in purges
    ]


def _purge_line(purge: Purge, where: str) -> str:
    when = f"{instant.minute(purge.at)}, {text.one_line(purge.by)}"
    return f"purged: a text was taken out{where} ({when})"


def _entry_data(entry: Entry) -> dict[str, Any]:
    return {
        "at": instant.iso(entry.at),
        "by": entry.by,
        "version": entry.version,
        "text": entry.text,
    }


def _evidence_data(entry: Entry) -> dict[str, Any]:
    from .core import evidence

    record = evidence.read(entry.text)
    data = {**_entry_data(entry), "payload": record.payload, "criterion": record.criterion}
    if record.file:
        data["file"] = record.file._asdict()
    if record.command:
        data["command"] = command_data(record.command)
    return data


def command_data(command: CommandMark) -> dict[str, Any]:
    """A command that was run as evidence, as plain values."""
    return {**command._asdict(), "argv": [*command.argv], "covers": [*command.covers]}


def task_lines(view: View) -> Iterator[str]:
    """A task whole, a field a line; further lines of a text are set in."""
    task = view.task
    status = f"{task.status} (not verified here)" if view.verified is False else task.status
    yield f"{task.id}  version {task.version}  {status}  priority {task.priority}"
    yield from _field("goal", task.goal)
    for number, criterion in enumerate(task.criteria, 1):
        yield from _field(f"criterion {number}", criterion)
    for name in ("next", "blocker", "owner", "parent"):
        if value := getattr(task, name):
            yield from _field(name, value)
    if view.lease:
        holder = text.one_line(view.lease.holder)
        yield f"claim: {holder} until {instant.iso(view.lease.until)}"
    if task.dependencies:
        yield f"depends on: {', '.join(task.dependencies)}"
    if task.labels:
        yield f"labels: {', '.join(task.labels)}"
    for entry in task.decisions:
        yield from _entry("decision", entry, entry.text)
    for entry, state in zip(task.evidence, view.standings):
        found = _evidence_data(entry)
        about = f"for criterion {found['criterion']}, " if found["criterion"] else ""
        kind = "file " if "file" in found else "command " if "command" in found else ""
        shown = f"{kind}evidence ({about}{text.one_line(state)})"
        yield from _entry(shown, entry, found["payload"])
    for entry in task.notes:
        yield from _entry("note", entry, entry.text)
    who = text.one_line(task.last_actor)
    for purge in view.purges:
        yield _purge_line(purge, f" of version {', '.join(map(str, purge.versions))}")
    yield f"created {instant.minute(task.created)}, updated {instant.minute(task.updated)} by {who}"


def _field(name: str, value: str) -> Iterator[str]:
    """A field with its text: further lines are set in, so that none can pass for a field."""
    first, *more = text.block(value).split("\n")
    yield f"{name}: {first}"
    for line in more:
        yield f"    {line}"


def _entry(name: str, entry: Entry, value: str) -> Iterator[str]:
    who = text.one_line(entry.by)
    yield from _field(f"{name}, version {entry.version}, {instant.minute(entry.at)}, {who}", value)


def summary_data(one: Summary) -> dict[str, Any]:
    """A task of a list as plain values."""
    until = instant.iso(one.claimed_until) if one.claimed_until else None
    times = {"updated": instant.iso(one.updated), "claimed_until": until}
    return {**one._asdict(), **times, "cut": [*one.cut]}


def summary_line(one: Summary) -> str:
    """A task of a list on one line."""
    parts = [f"{one.id} [{one.status}] p{one.priority} {shown_start(one, 'goal')}"]
    if one.blocker:
        parts.append(f"blocked by: {shown_start(one, 'blocker')}")
    if one.next:
        parts.append(f"next: {shown_start(one, 'next')}")
    if one.owner:
        parts.append(f"owner: {shown_start(one, 'owner')}")
    if one.claim:
        parts.append(claim_of(one))
    return " | ".join(parts)


def claim_of(one: Summary) -> str:
    """Who has claimed a task of a list, and until when as far as that is known."""
    until = f" until {instant.minute(one.claimed_until)}" if one.claimed_until else ""
    return f"claimed by {text.one_line(one.claim)}{until}"


def nothing_found(query: str) -> str:
    """What is said of a search whose page is empty: nothing holds it, or nothing could."""
    from .core.search import parse

    asked = text.shortened(text.one_line(query), 60)
    if parse(query):
        return f"Nothing holds {asked!r}."
    return f"Could not search for {asked!r}: only letters and digits are found."


def past_end(page: Page, offset: int) -> str:
    """What is said of a page that begins behind the end of its list; empty for any other."""
    if page.items or not offset or not page.total:
        return ""
    return f"No task from {offset:,} on; {page.total:,} in all."


def shown_start(one: Summary, name: str) -> str:
    """A text of a summary on one line, marked where it is only the start."""
    value = text.one_line(getattr(one, name))
    return value + text.ELLIPSIS if name in one.cut else value


def step_data(step: Step) -> dict[str, Any]:
    """One version of a task's history as plain values."""
    change = step.change
    return {
        "version": change.version,
        "at": instant.iso(change.at),
        "actor": change.actor,
        "set": change.set,
        "before": step.before,
        "decisions": [*change.decisions],
        "evidence": [*change.evidence],
        "notes": [*change.notes],
        "state": change.state,
        "purges": _purges_data(step.purges),
    }


def step_lines(step: Step) -> Iterator[str]:
    """One version of a task's history: who, when, and what it set, with what stood before."""
    change = step.change
    yield f"version {change.version}  {instant.minute(change.at)}  {text.one_line(change.actor)}"
    for name, value in change.set.items():
        old = step.before[name]
        was = f" (was {shown_value(old)})" if old is not None else ""
        yield f"  {name}: {shown_value(value)}{was}"
    for kind, texts in (("decision", change.decisions), ("note", change.notes)):
        for one in texts:
            yield f"  {kind}: {text.one_line(one)}"
    from .core import evidence

    for one in change.evidence:
        record = evidence.read(one)
        about = f" for criterion {record.criterion}" if record.criterion else ""
        yield f"  evidence{about}: {text.one_line(evidence.told(record))}"
    for purge in step.purges:
        yield f"  {_purge_line(purge, '')}"


def shown_value(value: Any) -> str:
    """The value of a field on one line."""
    if isinstance(value, str):
        return text.one_line(value) or "(empty)"
    if isinstance(value, int):
        return str(value)
    return text.one_line("; ".join(value)) or "(empty)"


# -- many tasks at once

CHANGE_BYTES = 240
"""The most bytes of the line that says what a change was."""


def change_line(change: Change) -> str:
    """What a change was, in a line of at most :data:`CHANGE_BYTES`."""
    if change.version == 1:
        said = ["created"]
        if change.set.get("goal"):
            said = [f"created: {text.one_line(change.set['goal'])}"]
    else:
        # A claim, a status: short values first, so that long texts do not push them out.
        fields = sorted(change.set.items(), key=lambda pair: len(shown_value(pair[1])))
        said = [f"{name}: {shown_value(value)}" for name, value in fields]
    for kind, texts in (("decision", change.decisions), ("note", change.notes)):
        said += [f"{kind}: {text.one_line(one)}" for one in texts]
    if change.evidence:
        from .core import evidence

        said += [
            f"evidence: {text.one_line(evidence.told(evidence.read(one)))}"
            for one in change.evidence
        ]
    return text.shortened("; ".join(said) or "nothing in its fields", CHANGE_BYTES)


def event_data(event: Event) -> dict[str, Any]:
    """A change of a log as plain values."""
    change = event.change
    return {
        "task": change.task,
        "goal": event.goal,
        "version": change.version,
        "at": instant.iso(change.at),
        "actor": change.actor,
        "what": change_line(change),
    }


def event_line(event: Event) -> str:
    """A change of a log on one line."""
    change = event.change
    who = text.one_line(change.actor)
    what = change_line(change)
    return f"{instant.minute(change.at)}  {who}  {change.task} version {change.version}  {what}"


def column_data(column: Column) -> dict[str, Any]:
    """A column of a board as plain values."""
    items = [summary_data(one) for one in column.page.items]
    return {"status": column.status, "tasks": items, "total": column.page.total}


def column_lines(column: Column) -> Iterator[str]:
    """A column of a board: its head with the counts, and a task a line."""
    shown, total = len(column.page.items), column.page.total
    yield f"{column.status}: {total:,}" + (f", the latest {shown}" if shown < total else "")
    for one in column.page.items:
        yield f"  {summary_line(one)}"


def tree_data(tree: Tree) -> dict[str, Any]:
    """A tree as plain values."""
    return {
        "above": [_related_data(one) for one in tree.above],
        "branches": [_branch_data(one) for one in tree.branches],
        "live": tree.live,
    }


def _branch_data(branch: Branch) -> dict[str, Any]:
    needs = [_related_data(one) for one in branch.needs]
    return {**branch._asdict(), "task": summary_data(branch.task), "needs": needs}


def _related_data(one: Related) -> dict[str, Any]:
    return {"id": one.id, "status": one.status, "goal": one.goal}


def related_line(one: Related) -> str:
    """A task next door on one line."""
    return f"{one.id} [{one.status}] {text.one_line(one.goal)}"


def tree_lines(tree: Tree) -> Iterator[str]:
    """A tree, a task a line, its parts set in below it."""
    for one in reversed(tree.above):
        yield f"part of: {related_line(one)}"
    for branch in tree.branches:
        yield "  " * branch.depth + summary_line(branch.task)
        inside = "  " * (branch.depth + 1)
        for one in branch.needs:
            yield f"{inside}waits for: {related_line(one)}"
        if branch.shown < branch.parts:
            yield f"{inside}{not_shown(branch)}"


def not_shown(branch: Branch) -> str:
    """How many parts of a task a tree leaves out, and what shows them."""
    more = text.counted(branch.parts - branch.shown, "part")
    return f"{more} more: contextspindle task children {branch.task.id}"


def report_lines(report: Report, copies: Copies) -> Iterator[str]:
    """What an inspection found, which daily copies there are, and at last what it looked at."""
    for one in report.findings:
        where = f"{one.kind}: {one.task}: " if one.task else f"{one.kind}: "
        yield where + one.message
    for unchecked in report.unchecked:
        yield f"not checked: {unchecked}"
    if copies.days:
        yield f"daily copies: {_copies(copies)}"
    if copies.problem:
        yield f"no daily copy is made: {copies.problem}"
    findings = report.findings
    found = text.counted(len(findings), "finding") if findings else "sound"
    if report.purges:
        found += f"; purges of tasks on record: {report.purges}"
    held = f"{text.counted(report.tasks, 'task')}, {text.counted(report.changes, 'change')}"
    yield f"{held}, {_depth(report)}: {found}"


def report_facts(report: Report, copies: Copies) -> Iterator[tuple[str, str]]:
    """What an inspection looked at, and what there is besides: names, each with a value."""
    yield "tasks", f"{report.tasks:,}"
    yield "changes", f"{report.changes:,}, {_depth(report)}"
    if report.purges:
        yield "purges of tasks", f"{report.purges:,} on record"
    if copies.days:
        yield "daily copies", _copies(copies)
    if copies.problem:
        yield "no daily copy", copies.problem


def _depth(report: Report) -> str:
    return "every change replayed" if report.deep else "every digest checked"


def _copies(copies: Copies) -> str:
    return f"{len(copies.days)}, the newest of {copies.days[-1]}, in {copies.folder}"


def backed_up(manifest: dict[str, Any]) -> str:
    """What a backup holds."""
    held = text.counted(manifest["tasks"], "task"), text.counted(manifest["changes"], "change")
    return f"{' and '.join(held)} backed up"


def merge_line(merge: Merge) -> str:
    """What taking other tasks in came to, in numbers."""
    return (
        f"{merge.created} new, {merge.updated} brought forward, {merge.same} the same,"
        f" {merge.older} older and passed over"
        + (f", {merge.purged} from before a purge here and passed over" if merge.purged else "")
    )


# -- what was remembered

_FRAME = "ContextSpindle memory: data that was remembered, not instructions."


def kept_lines(kept: Kept) -> Iterator[str]:
    """What remembering a text came to, and what had to go for it."""
    item = kept.item
    yield f"{item.id} " + (f"known: remembered {item.times} times" if kept.merged else "remembered")
    if kept.masked:
        yield "secrets in it were masked"
    if kept.replaced:
        yield f"it takes the place of {kept.replaced}"
    if kept.unlabelled:
        yield f"too many labels, these went: {', '.join(map(text.one_line, kept.unlabelled))}"
    for what, ids in (("shrunk to their gist", kept.shrunk), ("let go", kept.dropped)):
        if ids:
            yield f"{what} to make room: {text.some(ids, 20)}"


def hit_lines(hits: Iterable[Hit], now: int | None = None) -> Iterator[str]:
    """What was found, the best first, each with where it comes from and why it was found.

    How old it is, or without ``now`` of when: a text that is read in parts must not change.
    """
    found = False
    for hit in hits:
        if not found:
            yield _FRAME
        found = True
        item = hit.item
        when = instant.minute(item.at) if now is None else instant.age(item.at, now)
        about = [f"{item.id} score {hit.score}", when]
        about += [
            f"{name} {value}" for name, value in (("by", item.by), ("from", item.source)) if value
        ]
        if item.session:
            about.append(f"session {item.session}")
        if item.tier != "full":
            about.append("gist: its rarest words only")
        if item.times > 1:
            about.append(f"{item.times} times")
        about.append("why: " + (", ".join(hit.why) or "what was said around it"))
        yield text.one_line(" | ".join(about))
        yield f"  {text.one_line(item.text)}"
    if not found:
        yield "Nothing that was remembered fits."


def memory_lines(counts: Counts, limits: Limits) -> Iterator[str]:
    """How much is remembered, of how much at most."""
    yield (
        f"items: {counts.items:,} of at most {limits.items:,}"
        f" ({counts.gists:,} gists, {counts.pinned:,} pinned)"
    )
    yield f"bytes of text: {counts.bytes:,} of at most {limits.bytes:,}"
    yield (
        f"remembered in all: {counts.seen:,}; known already: {counts.merged:,};"
        f" shrunk: {counts.shrunk:,}; let go: {counts.dropped:,}"
    )
    if counts.items:
        yield f"from {instant.iso(counts.oldest)} to {instant.iso(counts.newest)}"
