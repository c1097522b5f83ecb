"""Commands on tasks."""

from __future__ import annotations

from ..core import instant, text
from ..core import task as tasks
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..actions.answers import Outcome, Step, View
    from ..core.change import Request
    from ..core.evidence import CommandMark
    from ..core.purge import Purge
    from ..core.task import Entry, Page, Summary, Task
    from . import Call


def create(call: Call) -> Reply:
    """Record a new task."""
    values = _Texts(call)
    request = _request(values, {"goal": values.text("goal")})
    outcome = call.workspace().ledger().create(request, key=call.values["key"] or "")
    said = "created" if outcome.changed else "already there: the task that this key created"
    return _outcome(outcome, said)


def update(call: Call) -> Reply:
    """Change a task."""
    values = _Texts(call)
    first = {"goal": values.text("goal")} if call.values["goal"] is not None else {}
    request = _request(values, first)
    proofs = call.values["evidence"] or call.values["evidence_file"]
    if call.values["for"] is not None and not proofs:
        from ..errors import InvalidInput

        raise InvalidInput("--for names the criterion of an --evidence, and none is given")
    space = call.workspace()
    ledger = space.ledger()
    files = call.values["evidence_file"]
    outcome = ledger.update(
        call.values["id"],
        request,
        expected=call.values["expect"],
        claim=call.values["claim"] or space.settings.claim,
        made=ledger.look_at(call.values["id"], files, call.values["for"] or 0, request)
        if files
        else (),
    )
    return _outcome(outcome, "updated" if outcome.changed else "unchanged: nothing in it was new")


def show(call: Call) -> Reply:
    """Show one task whole."""
    view = call.workspace().ledger().view(call.values["id"], version=call.values["as_of"])
    lines = "".join(f"{line}\n" for line in _task_lines(view))
    return Reply(view_data(view), lines, view.task.id)


def list(call: Call) -> Reply:  # noqa: A001 (the command's own word)
    """List tasks."""
    values = call.values
    page = (
        call.workspace()
        .ledger()
        .list(
            values["offset"] or 0,
            values["limit"] if values["limit"] is not None else 50,
            status=tuple(values["status"]),
            owner=values["owner"] or "",
            label=values["label"] or "",
            parent=values["parent"] or "",
        )
    )
    more = "task list {next} {limit}"
    for name in ("owner", "label", "parent"):
        if values[name]:
            more += f" --{name} {_quoted(values[name])}"
    more += "".join(f" --status {_quoted(one)}" for one in values["status"])
    return page_reply(page, "No task matches.", more, values["limit"] or 50)


def inbox(call: Call) -> Reply:
    """List what is live."""
    limit = call.values["limit"] if call.values["limit"] is not None else 20
    page = call.workspace().ledger().inbox(limit, call.values["offset"] or 0)
    empty = "Nothing is live. 'contextspindle task create GOAL' records a task."
    return page_reply(page, empty, "task inbox {limit} {next}", limit)


def search(call: Call) -> Reply:
    """Find tasks by words."""
    values = call.values
    limit = values["limit"] if values["limit"] is not None else 20
    page = call.workspace().ledger().search(values["query"], limit, values["offset"] or 0)
    asked = text.shortened(text.one_line(values["query"]), 60)
    return page_reply(page, f"Nothing holds {asked!r}.", "task search QUERY {limit} {next}", limit)


def children(call: Call) -> Reply:
    """List the parts of a task."""
    values = call.values
    limit = values["limit"] if values["limit"] is not None else 50
    page = call.workspace().ledger().children(values["id"], values["offset"] or 0, limit)
    return page_reply(
        page, "It has no parts.", f"task children {values['id']} {{next}} {{limit}}", limit
    )


def history(call: Call) -> Reply:
    """Show what changed in each version."""
    values = call.values
    first = values["from"] if values["from"] is not None else 1
    limit = values["limit"] if values["limit"] is not None else 20
    found = call.workspace().ledger().history(values["id"], first, limit)
    lines = [line for step in found.steps for line in _step_lines(step)]
    if found.next_version:
        lines.append(
            f"{found.total} versions; more: contextspindle task history {found.task_id}"
            f" {found.next_version} {limit}"
        )
    data = {
        "id": found.task_id,
        "changes": [_step_data(step) for step in found.steps],
        "total": found.total,
        "next_version": found.next_version,
    }
    return Reply(data, "".join(f"{line}\n" for line in lines), found.task_id)


def context(call: Call) -> Reply:
    """Print one task's handoff."""
    space = call.workspace()
    budget = call.values["budget"]
    found = space.ledger().context(
        call.values["id"], space.settings.context_budget if budget is None else budget
    )
    data = {
        "text": found.text,
        "bytes": text.size(found.text),
        "budget": found.budget,
        "lines": [line._asdict() for line in found.lines],
        "omitted": found.omitted,
        "shortened": found.shortened,
    }
    return Reply(data, found.text, found.lines[0].task)


# -- what is asked


class _Texts:
    """The texts of a call; one of them may be ``-``, which stands for standard input."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._read = False

    def given(self, name: str) -> bool:
        return name in self._call.values and self._call.values[name] not in (None, [])

    def text(self, name: str) -> str:
        return self._resolved(self._call.values[name])

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(self._resolved(one) for one in self._call.values.get(name, []))

    def number(self, name: str) -> int:
        return self._call.values.get(name) or 0

    def _resolved(self, value: str) -> str:
        if value != "-":
            return value
        if self._read:
            from ..errors import InvalidInput

            raise InvalidInput("Only one text can come from standard input")
        self._read = True
        return self._call.standard_input()


def _request(values: _Texts, fields: dict[str, Any]) -> Request:
    from ..core.change import Request

    for name in ("status", "owner", "blocker", "next", "parent", "priority"):
        if values.given(name):
            fields[name] = values.text(name)
    if values.given("criterion"):
        fields["criteria"] = [*values.texts("criterion")]
    return Request(
        set=fields,
        decisions=values.texts("decision"),
        notes=values.texts("note"),
        evidence=tuple((one, values.number("for")) for one in values.texts("evidence")),
        add_dependencies=values.texts("depends_on"),
        drop_dependencies=values.texts("drop_dependency"),
        add_labels=values.texts("label"),
        drop_labels=values.texts("drop_label"),
    )


# -- what is answered


def _outcome(outcome: Outcome, said: str) -> Reply:
    task = outcome.task
    data = {
        "task": task_data(task),
        "changed": outcome.changed,
        "warnings": [*outcome.warnings],
    }
    line = f"{task.id} version {task.version} [{task.status}] {said}\n"
    return Reply(data, line, task.id, outcome.warnings)


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


def _entry_data(entry: Entry) -> dict[str, Any]:
    return {
        "at": instant.iso(entry.at),
        "by": entry.by,
        "version": entry.version,
        "text": entry.text,
    }


def _evidence_data(entry: Entry) -> dict[str, Any]:
    from ..core import evidence

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


def _task_lines(view: View) -> Iterator[str]:
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
    yield f"created {instant.iso(task.created)}, updated {instant.iso(task.updated)} by {who}"


def _purge_line(purge: Purge, where: str) -> str:
    when = f"{instant.iso(purge.at)}, {text.one_line(purge.by)}"
    return f"purged: a text was taken out{where} ({when})"


def _field(name: str, value: str) -> Iterator[str]:
    """A field with its text: further lines are set in, so that none can pass for a field."""
    first, *more = text.block(value).split("\n")
    yield f"{name}: {first}"
    for line in more:
        yield f"    {line}"


def _entry(name: str, entry: Entry, value: str) -> Iterator[str]:
    who = text.one_line(entry.by)
    yield from _field(f"{name}, version {entry.version}, {instant.iso(entry.at)}, {who}", value)


def page_reply(page: Page, empty: str, more: str, limit: int) -> Reply:
    """A page of tasks, with the command that shows the rest."""
    lines = [_summary_line(one) for one in page.items] or [empty]
    if page.next_offset is not None:
        # Filters of the caller's may follow, so only the first of each is ours.
        command = more.replace("{next}", str(page.next_offset), 1).replace("{limit}", str(limit), 1)
        lines.append(f"{len(page.items)} of {page.total}; more: contextspindle {command}")
    data = {
        "tasks": [_summary_data(one) for one in page.items],
        "total": page.total,
        "next_offset": page.next_offset,
    }
    ids = "\n".join(one.id for one in page.items)
    return Reply(data, "\n".join(lines) + "\n", ids)


def _quoted(value: str) -> str:
    """``value`` as one word of a shell."""
    shown = text.one_line(value)
    return shown if shown.replace("-", "a").isalnum() else "'" + shown.replace("'", "'\\''") + "'"


def _summary_data(one: Summary) -> dict[str, Any]:
    return {**one._asdict(), "updated": instant.iso(one.updated), "cut": [*one.cut]}


def _summary_line(one: Summary) -> str:
    parts = [f"{one.id} [{one.status}] p{one.priority} {_cut(one, 'goal')}"]
    if one.blocker:
        parts.append(f"blocked by: {_cut(one, 'blocker')}")
    if one.next:
        parts.append(f"next: {_cut(one, 'next')}")
    if one.owner:
        parts.append(f"owner: {_cut(one, 'owner')}")
    return " | ".join(parts)


def _cut(one: Summary, name: str) -> str:
    value = text.one_line(getattr(one, name))
    return value + text.ELLIPSIS if name in one.cut else value


def _step_data(step: Step) -> dict[str, Any]:
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


def _step_lines(step: Step) -> Iterator[str]:
    change = step.change
    yield f"version {change.version}  {instant.iso(change.at)}  {text.one_line(change.actor)}"
    for name, value in change.set.items():
        old = step.before[name]
        was = f" (was {_shown(old)})" if old is not None else ""
        yield f"  {name}: {_shown(value)}{was}"
    for kind, texts in (("decision", change.decisions), ("note", change.notes)):
        for one in texts:
            yield f"  {kind}: {text.one_line(one)}"
    from ..core import evidence

    for one in change.evidence:
        record = evidence.read(one)
        about = f" for criterion {record.criterion}" if record.criterion else ""
        yield f"  evidence{about}: {text.one_line(record.payload)}"
    for purge in step.purges:
        yield f"  {_purge_line(purge, '')}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return text.one_line(value) or "(empty)"
    if isinstance(value, int):
        return str(value)
    return text.one_line("; ".join(value)) or "(empty)"
