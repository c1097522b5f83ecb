"""Commands on tasks."""

from __future__ import annotations

from ..core import text
from ..rendering import (
    nothing_found,
    past_end,
    step_data,
    step_lines,
    summary_data,
    summary_line,
    task_data,
    task_lines,
    view_data,
)
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..actions.answers import Outcome
    from ..core.change import Request
    from ..core.task import Page
    from . import Call


BEGIN = "There is nothing here yet. 'contextspindle task create GOAL' records a task."

# What a person at a terminal is told to do next where a list is empty.
_PART = "'contextspindle task create GOAL --parent ID' records one."
_FEWER = "Every word must be there: fewer words, or the start of one, find more."


def create(call: Call) -> Reply:
    """Record a new task."""
    values = _Texts(call)
    request = _request(values, {"goal": values.text("goal")})
    key = call.values["key"]
    if key is not None:  # an empty one, as of a variable that is not set, would promise nothing
        from ..core import fields

        key = fields.key(key)
    outcome = call.workspace().ledger().create(request, key=key or "")
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
    criterion = 0
    if proofs:
        from ..core.evidence import asked

        criterion = asked(call.values["for"])
    files = call.values["evidence_file"]
    if not (files or any(request)):
        from ..errors import InvalidInput

        raise InvalidInput(
            "There is nothing to change: no option says what",
            hint="For example --status, --next, --note, --decision, --evidence; to keep a claim:"
            " 'contextspindle task renew'.",
        )
    space = call.workspace()
    ledger = space.ledger()
    outcome = ledger.update(
        call.values["id"],
        request,
        expected=call.values["expect"],
        claim=call.values["claim"] or space.settings.claim,
        made=ledger.look_at(call.values["id"], files, criterion, request) if files else (),
    )
    return _outcome(outcome, "updated" if outcome.changed else "unchanged: nothing in it was new")


def show(call: Call) -> Reply:
    """Show one task whole."""
    view = call.workspace().ledger().view(call.values["id"], version=call.values["as_of"])
    lines = "".join(f"{line}\n" for line in task_lines(view))
    return Reply(view_data(view), lines, view.task.id, picture=lambda face: face.task(view))


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
            more += f" --{name} {text.quoted(values[name])}"
    more += "".join(f" --status {text.quoted(one)}" for one in values["status"])
    filtered = more != "task list {next} {limit}"
    empty, then = BEGIN, ""
    if filtered:
        empty, then = "No task matches.", "'contextspindle task list' shows all."
    limit = values["limit"] or 50
    return page_reply(page, empty, more, limit, then, offset=values["offset"])


def inbox(call: Call) -> Reply:
    """List what is live."""
    limit = call.values["limit"] if call.values["limit"] is not None else 20
    page = call.workspace().ledger().inbox(limit, call.values["offset"] or 0)
    empty = "Nothing is live. 'contextspindle task create GOAL' records a task."
    return page_reply(page, empty, "task inbox {limit} {next}", limit, offset=call.values["offset"])


def search(call: Call) -> Reply:
    """Find tasks by words."""
    values = call.values
    limit = values["limit"] if values["limit"] is not None else 20
    page = call.workspace().ledger().search(values["query"], limit, values["offset"] or 0)
    empty = "" if page.items else nothing_found(values["query"])
    more = "task search QUERY {limit} {next}"
    offset = values["offset"]
    return page_reply(page, empty, more, limit, _FEWER, offset=offset, words=values["query"])


def children(call: Call) -> Reply:
    """List the parts of a task."""
    values = call.values
    limit = values["limit"] if values["limit"] is not None else 50
    page = call.workspace().ledger().children(values["id"], values["offset"] or 0, limit)
    more = f"task children {values['id']} {{next}} {{limit}}"
    return page_reply(page, "It has no parts.", more, limit, _PART, offset=values["offset"])


def history(call: Call) -> Reply:
    """Show what changed in each version."""
    values = call.values
    first = values["from"] if values["from"] is not None else 1
    limit = values["limit"] if values["limit"] is not None else 20
    found = call.workspace().ledger().history(values["id"], first, limit)
    lines = [line for step in found.steps for line in step_lines(step)]
    rest = ""
    if found.next_version:
        command = f"contextspindle task history {found.task_id} {found.next_version} {limit}"
        rest = f"{found.total} versions; more: {command}"
    if not lines:
        rest = f"{found.task_id} has no version from {first} on; its last is {found.total}."
    if rest:
        lines.append(rest)
    data = {
        "id": found.task_id,
        "changes": [step_data(step) for step in found.steps],
        "total": found.total,
        "next_version": found.next_version,
    }
    shown = "".join(f"{line}\n" for line in lines)
    return Reply(data, shown, found.task_id, picture=lambda face: face.history(found, rest))


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
    return Reply(data, found.text)


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


def page_reply(
    page: Page,
    empty: str,
    more: str,
    limit: int,
    then: str = "",
    *,
    offset: int | None,
    words: str = "",
) -> Reply:
    """A page of tasks, with the command that shows the rest.

    ``then`` says what to do next where there is none, and ``words`` are marked where they stand:
    both for a person at a terminal.
    """
    past = past_end(page, offset or 0)
    lines = [summary_line(one) for one in page.items] or [past or empty]
    command = ""
    if page.next_offset is not None:
        # Filters of the caller's may follow, so only the first of each is ours.
        command = more.replace("{next}", str(page.next_offset), 1).replace("{limit}", str(limit), 1)
        command = f"contextspindle {command}"
        lines.append(f"{len(page.items)} of {page.total}; more: {command}")
    data = {
        "tasks": [summary_data(one) for one in page.items],
        "total": page.total,
        "next_offset": page.next_offset,
    }
    ids = "\n".join(one.id for one in page.items)
    said = past or f"{empty} {then}".strip()
    return Reply(
        data,
        "\n".join(lines) + "\n",
        ids,
        picture=lambda face: face.tasks(page, empty=said, more=command, query=words),
    )
