"""Commands on taking work: what is ready, who has it, and proof by running a command."""

from __future__ import annotations

from ..core import instant, text
from ..errors import InvalidInput
from ..rendering import command_data, task_data
from . import reply
from .reply import Reply
from .task import page_reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.claims import Claimed
    from . import Call

FAILED_STATUS = 5
_NAMED, _LISTED = 3, 100
"""The most changed files that a line names, and the document."""


_WHY = "'contextspindle task ready --explain ID' says what keeps a task back."


def claim(call: Call) -> Reply:
    """Take a task for yourself."""
    values = call.values
    if bool(values["id"]) == values["next"]:
        raise InvalidInput("Name one task, or --next for the best that is ready")
    space = call.workspace()
    seconds = values["lease"]
    if values["next"]:
        if values["claim"]:
            raise InvalidInput("--next takes a task that nobody holds, so it goes without --claim")
        return _claimed(space.ledger().claim_next(seconds=seconds))
    token = values["claim"] or space.settings.claim
    found = space.ledger().claim(values["id"], seconds=seconds, token=token)
    return _claimed(found, "" if found.anew else "already ")


def renew(call: Call) -> Reply:
    """Put the end of your lease off."""
    space = call.workspace()
    token = call.values["token"] or space.settings.claim
    if not token:
        raise InvalidInput(
            "There is no token", hint="Give the one that 'contextspindle task claim' printed."
        )
    return _claimed(space.ledger().renew(token))


def release(call: Call) -> Reply:
    """Give a claimed task back."""
    space = call.workspace()
    token = call.values["claim"] or space.settings.claim
    outcome = space.ledger().release(call.values["id"], token=token)
    said = "released" if outcome.changed else "unchanged: nobody had claimed it"
    data = {"task": task_data(outcome.task), "changed": outcome.changed, "warnings": []}
    return Reply(data, f"{outcome.task.id} {said}\n", outcome.task.id)


def ready(call: Call) -> Reply:
    """List what can be taken now, or say why a task cannot."""
    ledger = call.workspace().ledger()
    if call.values["explain"] is not None:
        found = ledger.explain(call.values["explain"])
        data = {
            "id": found.task.id,
            "ready": not found.obstacles,
            "obstacles": [*found.obstacles],
        }
        head = f"{found.task.id} is {'not ready' if found.obstacles else 'ready'}\n"
        lines = [f"  - {text.one_line(one)}\n" for one in found.obstacles]
        return Reply(data, head + "".join(lines), found.task.id)
    limit = call.values["limit"] if call.values["limit"] is not None else 20
    offset = call.values["offset"]
    page = ledger.ready(limit, offset or 0)
    more = "task ready {limit} {next}"
    return page_reply(page, "Nothing is ready.", more, limit, _WHY, offset=offset)


def prove(call: Call) -> Reply:
    """Run a command and record how it ended as evidence."""
    from ..core.evidence import asked

    values = call.values
    space = call.workspace()
    # The command's own output goes where it does not mix with ours.
    proof = space.ledger().prove(
        values["id"],
        tuple(values["command"]),
        criterion=asked(values["for"]),
        covers=tuple(values["covers"]),
        expected=values["expect"],
        claim=values["claim"] or space.settings.claim,
        show=lambda piece: reply.put_bytes(reply.ERR, piece),
    )
    task, ran = proof.outcome.task, proof.command
    lines = [
        f"{task.id} version {task.version}: the command ended with status {ran.status} after"
        f" {ran.milliseconds / 1_000:.1f} s"
    ]
    if proof.changed:
        shown = text.some([text.one_line(one) for one in proof.changed], _NAMED)
        lines[0] += f", but does not count: it changed what it is about ({shown})"
        lines.append(
            "Let git ignore what it leaves behind, or name what it is about: --covers PATH"
        )
    else:
        lines[0] += ", so it does not count" if ran.status else ""
        lines[0] += f"; bound to {ran.tree[:12] or 'no files: --covers PATH would bind it'}"
        lines[0] += f" at commit {ran.commit[:12]}" if ran.commit else ""
    data = {
        "task": task_data(task),
        "command": command_data(ran),
        "changed": list(proof.changed[:_LISTED]),
    }
    failed = ran.status or proof.changed
    told = "".join(f"{line}\n" for line in lines)
    return Reply(data, told, task.id, status=FAILED_STATUS if failed else 0)


def _claimed(found: Claimed, already: str = "") -> Reply:
    task, until = found.task, instant.iso(found.until)
    data = {"task": task_data(task), "token": found.token, "until": until}
    lines = [f"{task.id} is {already}yours until {until}", f"goal: {text.one_line(task.goal)}"]
    if task.next:
        lines.append(f"next: {text.one_line(task.next)}")
    lines += [
        f"token: {found.token}",
        "Carry it in your writes: --claim TOKEN, or CONTEXTSPINDLE_CLAIM",
    ]
    return Reply(data, "".join(f"{line}\n" for line in lines), found.token)
