"""What each tool does: its arguments become one action's, and what came of it becomes text.

A function here has the name that the table gives for its tool.  It takes the client and the values
of the call, and knows no rule: those are the actions'.
"""

from __future__ import annotations

import contextlib

from ..core import instant, text
from ..core.change import Request
from ..core.claims import task_of
from ..core.evidence import asked
from ..errors import (
    ClaimHeld,
    ClaimLost,
    InvalidInput,
    NothingReady,
    SnapshotNotFound,
    WorkspaceRefused,
)
from ..rendering import (
    backed_up,
    hit_lines,
    kept_lines,
    memory_lines,
    merge_line,
    nothing_found,
    past_end,
    report_lines,
    step_lines,
    summary_line,
    task_lines,
)
from . import pages
from .client import Client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..actions.answers import Outcome
    from ..core.claims import Claimed
    from ..core.task import Page
    from ..workspace import Workspace

    Values = dict[str, Any]

PAGE = 20
"""How many tasks a list has where no limit is given."""
_READ_ON = 100
"""Bytes kept for the line that says how to read on."""
PAGE_BYTES = 7_000
"""The most bytes of a list where no limit is given: fewer tasks, rather than a long reply."""

_NAMED = 10
"""How many ids a line of ours names."""
_ABOUT = frozenset(("id", "workspace", "expected_version", "claim", "criterion"))
"""The arguments of an update that change nothing by themselves."""
_NOT_FOR: dict[str, dict[str, str]] = {
    "claim": {},
    "next": {
        "id": "next takes the best ready task; to take this one, use claim.",
        "token": "next takes a task that nobody holds; to go on with yours, use claim.",
    },
    "renew": {"lease": "The claim keeps its length; claim with id and lease gives it another."},
    "release": {"lease": "Leave it out: what is given back has no lease."},
}
"""The arguments that an action of a claim does not take, and what to do instead."""

_HELD = (
    "If the claim is yours, give its token as token. Else take another task with action next, or"
    " wait for the lease to end."
)

_FIELDS = ("goal", "status", "owner", "blocker", "next", "parent", "priority")


def create(client: Client, values: Values) -> str:
    """Record a new task."""
    space = client.find(values["workspace"] or "")
    outcome = space.ledger().create(_request(values), key=values["key"] or "")
    said = "created" if outcome.changed else "already there: the task that this key created"
    return _outcome(client, outcome, said)


def update(client: Client, values: Values) -> str:
    """Change a task."""
    space = client.find(values["workspace"] or "")
    task_id, request = values["id"], _request(values)
    files = [client.path(space, one) for one in values["evidence_files"] or ()]
    if values["criterion"] is not None and not (values["evidence"] or files):
        raise InvalidInput("criterion names the one that evidence is for, and none is given")
    if all(values[one] is None for one in values.keys() - _ABOUT):
        raise InvalidInput(
            "There is nothing to change: no argument says what",
            hint="null is an argument that was not given; an empty text clears. To keep a"
            " claim, use contextspindle_task_claim with action renew.",
        )
    criterion = asked(values["criterion"])
    ledger = space.ledger()
    given = values["claim"] or ""
    token = given or client.token(space, task_id)
    with _carrying(client, space, task_id, token):
        outcome = ledger.update(
            task_id,
            request,
            expected=values["expected_version"],
            claim=token,
            made=ledger.look_at(task_id, files, criterion, request) if files else (),
        )
    if not outcome.task.claim:
        client.drop(space, task_id)
    elif task_of(given) == task_id:
        client.keep(space, task_id, given)
    said = "updated" if outcome.changed else "unchanged: nothing in it was new"
    return _outcome(client, outcome, said)


def show(client: Client, values: Values) -> str:
    """Show one task whole."""
    space = client.find(values["workspace"] or "")
    return _lines(*task_lines(space.ledger().view(values["id"], version=values["version"])))


def list(client: Client, values: Values) -> str:  # noqa: A001 (the tool's own word)
    """List tasks."""
    ledger = client.find(values["workspace"] or "").ledger()
    page = ledger.list(
        values["offset"] or 0,
        _limit(values),
        status=tuple(values["status"] or ()),
        owner=values["owner"] or "",
        label=values["label"] or "",
        parent=values["parent"] or "",
    )
    return _page(client, page, values, "No task matches.")


def inbox(client: Client, values: Values) -> str:
    """List what is live."""
    ledger = client.find(values["workspace"] or "").ledger()
    empty = client.words.of_tools("Nothing is live. contextspindle task create records a task.")
    return _page(client, ledger.inbox(_limit(values), values["offset"] or 0), values, empty)


def search(client: Client, values: Values) -> str:
    """Find tasks by words."""
    ledger = client.find(values["workspace"] or "").ledger()
    page = ledger.search(values["query"], _limit(values), values["offset"] or 0)
    return _page(client, page, values, nothing_found(values["query"]))


def children(client: Client, values: Values) -> str:
    """List the parts of a task."""
    ledger = client.find(values["workspace"] or "").ledger()
    page = ledger.children(values["id"], values["offset"] or 0, _limit(values))
    return _page(client, page, values, "It has no parts.")


def ready(client: Client, values: Values) -> str:
    """List what can be taken now, or say why a task cannot."""
    ledger = client.find(values["workspace"] or "").ledger()
    if values["explain"] is None:
        page = ledger.ready(_limit(values), values["offset"] or 0)
        return _page(client, page, values, "Nothing is ready.")
    found = ledger.explain(values["explain"])
    head = f"{found.task.id} is {'not ready' if found.obstacles else 'ready'}"
    return _lines(head, *(f"- {text.one_line(one)}" for one in found.obstacles))


def context(client: Client, values: Values) -> str:
    """The handoff of one task."""
    space = client.find(values["workspace"] or "")
    budget = values["budget"] if values["budget"] is not None else space.settings.context_budget
    return client.words.of_handoff(space.ledger().context(values["id"], budget).text)


def history(client: Client, values: Values) -> str:
    """What changed in each version."""
    ledger = client.find(values["workspace"] or "").ledger()
    first = values["from"] if values["from"] is not None else 1
    found = ledger.history(values["id"], first, _limit(values))
    lines = [line for step in found.steps for line in step_lines(step)]
    if found.next_version:
        lines.append(f"{found.total} versions; more with from: {found.next_version}")
    if not lines:
        lines.append(f"{found.task_id} has no version from {first} on; its last is {found.total}.")
    return _lines(*lines)


def claim(client: Client, values: Values) -> str:
    """Take a task, prolong the lease, or give it back."""
    space = client.find(values["workspace"] or "")
    action, ledger = values["action"], space.ledger()
    for name, instead in _NOT_FOR[action].items():
        if values[name] not in (None, ""):
            raise InvalidInput(f"{action} takes no {name}; nothing was done", hint=instead)
    if action == "next":
        try:
            return _claimed(client, space, ledger.claim_next(seconds=values["lease"]))
        except NothingReady as error:
            if held := client.held(space):
                error.hint += f" Claimed from here already: {text.some(held, _NAMED)}."
            raise
    task_id, token = _asked_for(client, space, values)
    try:
        with _carrying(client, space, task_id, token):
            if action == "claim":
                found = ledger.claim(task_id, seconds=values["lease"], token=token)
                return _claimed(client, space, found)
            if action == "renew":
                return _renewed(client, space, ledger.renew(token))
            outcome = ledger.release(task_id, token=token)
    except ClaimHeld as error:
        error.hint = _HELD
        raise
    client.drop(space, task_id)
    said = "released" if outcome.changed else "unchanged: nobody had claimed it"
    return _outcome(client, outcome, said)


def _asked_for(client: Client, space: Workspace, values: Values) -> tuple[str, str]:
    """The task that a claim is about, and the token for it: one that is given, else a kept one."""
    action, task_id, token = values["action"], values["id"] or "", values["token"] or ""
    of = task_of(token)
    if task_id and of and of != task_id:
        raise InvalidInput(
            f"The token is of {of}, not of {task_id}; nothing was done",
            hint="Give the token of this task, or leave one of the two out.",
        )
    if not task_id and not token and action == "claim":
        raise InvalidInput("claim needs an id", hint="next takes the best ready task.")
    if not task_id and not token:
        held = client.held(space)
        if len(held) != 1:
            raise InvalidInput(
                f"{action} needs an id: {len(held)} tasks are claimed from here",
                hint=f"They are {text.some(held, _NAMED)}."
                if held
                else "Give the id, and the claim's token.",
            )
        task_id = held[0]
    task_id = task_id or of or token
    token = token or client.token(space, task_id)
    if action == "renew" and not token:
        raise InvalidInput(f"{task_id} is not claimed from here; give its token", hint="")
    return task_id, token


@contextlib.contextmanager
def _carrying(client: Client, space: Workspace, task_id: str, token: str) -> Iterator[None]:
    """Work under ``token``: if it does not hold the task and is the one kept, it is kept no more.

    Any other that is refused may be mistyped, and says nothing of the one that is kept.
    """
    try:
        yield
    except ClaimLost:
        if token == client.token(space, task_id):
            client.drop(space, task_id)
        raise


def verify(client: Client, values: Values) -> str:
    """Look whether the ledger is sound."""
    space = client.find(values["workspace"] or "")
    return _lines(*report_lines(space.verify(deep=bool(values["deep"])), space.copies()))


def backup(client: Client, values: Values) -> str:
    """Copy the ledger into a new folder."""
    space = client.find(values["workspace"] or "")
    folder = client.path(space, values["folder"])
    found = space.back_up(folder)
    return _lines(f"{backed_up(found)} in {text.one_line(folder)}")


def restore(client: Client, values: Values) -> str:
    """Take a backup in."""
    space = client.place_to_restore(values["workspace"] or "")
    done = space.restore(client.path(space, values["folder"]))
    lines = [f"restored into {text.one_line(space.root)}: {merge_line(done.merge)}"]
    if done.kept:
        lines.append(f"the ledger as it was is kept in {text.one_line(done.kept)}")
    return _lines(*lines)


def handoff(client: Client, values: Values) -> str:
    """What the fuse would restore."""
    from ..actions.fuse import MAX_BUDGET, MIN_BUDGET

    space = client.fuse_place(values["workspace"] or "")
    if not space.accepted():
        raise WorkspaceRefused(
            "Nothing of this workspace is handed over:",
            ["git tracks it, so it came with the repository"],
            hint="A user who trusts it runs: contextspindle init --accept",
        )
    fuse = space.fuse()
    budget = values["budget"] if values["budget"] is not None else space.settings.fuse_budget
    if budget <= MAX_BUDGET:
        # It is one reply: what a larger one would hold is left out in our words, not cut.
        budget = min(budget, max(pages.room(client.reply_bytes) * 9 // 10, MIN_BUDGET))
    if values["session"] and values["from"]:
        raise InvalidInput("Give session or from, one of the two")
    another, session = bool(values["from"]), values["session"] or client.session or None
    try:
        found = fuse.restore(
            values["from"] or session, budget, another=another, reader=client.reader
        )
    except SnapshotNotFound as error:
        error.hint = "Nothing is live either: contextspindle task create records a task."
        if another:
            error.hint = "The start of a session's id is enough; without from, the newest is told."
        raise
    return client.words.of_handoff(found.text)


def remember(client: Client, values: Values) -> str:
    """Keep a text for later."""
    from ..core.memory import Note

    space = client.find(values["workspace"] or "")
    note = Note(
        values["text"],
        session=client.session,
        source=values["source"] or "",
        labels=tuple(values["labels"] or ()),
        key=values["key"] or "",
        pinned=bool(values["pin"]),
    )
    return _lines(*kept_lines(space.memory().remember(note)))


def recall(client: Client, values: Values) -> str:
    """Find what was remembered."""
    space = client.find(values["workspace"] or "")
    query, task = values["query"], values["task"]
    if bool(query) == bool(task):
        raise InvalidInput("Give a query or a task, one of the two")
    limit = values["limit"] if values["limit"] is not None else 10
    memory = space.memory()
    if task:
        hits = memory.recall_for(space.ledger().show(task), limit)
    else:
        hits = memory.recall(query, limit)
    return _lines(*hit_lines(hits))


def stats(client: Client, values: Values) -> str:
    """How much is remembered."""
    space = client.find(values["workspace"] or "")
    return _lines(*memory_lines(*space.memory().stats()))


# -- what is asked


def _request(values: Values) -> Request:
    fields = {name: values[name] for name in _FIELDS if values[name] is not None}
    if values["criteria"] is not None:
        fields["criteria"] = values["criteria"] or ""

    def texts(*names: str) -> tuple[str, ...]:
        return tuple(one for name in names for one in values.get(name) or ())

    return Request(
        set=fields,
        decisions=texts("decisions"),
        notes=texts("notes"),
        evidence=tuple((one, asked(values["criterion"])) for one in texts("evidence")),
        add_dependencies=texts("dependencies", "add_dependencies"),
        drop_dependencies=texts("drop_dependencies"),
        add_labels=texts("labels", "add_labels"),
        drop_labels=texts("drop_labels"),
    )


def _limit(values: Values) -> int:
    limit: int = values["limit"] if values["limit"] is not None else PAGE
    return limit


# -- what is answered


def _lines(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def _outcome(client: Client, outcome: Outcome, said: str) -> str:
    task = outcome.task
    lines = [f"{task.id} version {task.version} [{task.status}] {said}"]
    for one in outcome.warnings:
        lines.append(f"warning: {text.one_line(client.words.of_tools(one))}")
    return _lines(*lines)


def _page(client: Client, page: Page, values: Values, empty: str) -> str:
    """A page of tasks on a line each, and how to read on, whole within one reply; a short one where
    no limit was given."""
    room = pages.room(client.reply_bytes)
    if values["limit"] is None:
        room = min(room, PAGE_BYTES)
    room -= _READ_ON
    lines: Any = []
    for one in page.items:
        line = summary_line(one)
        room -= pages.travels(line + "\n")
        if lines and room < 0:
            break
        lines.append(line)
    if not lines:
        return _lines(past_end(page, values["offset"] or 0) or empty)
    following = (values["offset"] or 0) + len(lines)
    if len(lines) < len(page.items) or page.next_offset is not None:
        lines.append(f"{len(lines)} of {page.total}; more with offset: {following}")
    return _lines(*lines)


def _claimed(client: Client, space: Workspace, found: Claimed) -> str:
    client.keep(space, found.task.id, found.token)
    task = found.task
    already = "" if found.anew else "already "
    piece = min(600, pages.room(client.reply_bytes) // 6)  # the token stands behind them
    until = instant.iso(found.until)
    lines = [
        f"{task.id} is {already}yours until {until}; each update puts the end off",
        f"goal: {text.shortened(text.one_line(task.goal), piece)}",
    ]
    if task.next:
        lines.append(f"next: {text.shortened(text.one_line(task.next), piece)}")
    carried = "updates from here carry it" if client.claims else "give it as claim in updates"
    return _lines(*lines, f"token ({carried}): {found.token}")


def _renewed(client: Client, space: Workspace, found: Claimed) -> str:
    client.keep(space, found.task.id, found.token)
    return _lines(f"{found.task.id} is yours until {instant.iso(found.until)}")


def do(client: Client, function: str, values: Values) -> str:
    """What the tool behind ``function`` answers; every error of ours is raised."""
    answer: str = globals()[function](client, values)
    return answer
