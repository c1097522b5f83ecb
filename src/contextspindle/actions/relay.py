"""From one program's agent to another's: who worked on a live task last, and where it left off.

A session that begins in another program than the one in which a task was last worked on knows
nothing of that work, and no program hands it over.  So it gets a line: whose snapshot, how old, the
agent's last words as a quotation, and the command that shows all of it.  What was said in another
checkout is not quoted.  Within one program nothing is said: there a session is resumed.
"""

from __future__ import annotations

from ..core import instant
from ..core.text import ELLIPSIS, cut_start, folded, quoted, shortened, size
from ..errors import InvalidInput, SnapshotNotFound
from .moment import session_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..ports import SnapshotLog

LIMIT = 450
"""The most bytes of a line."""
MOST = 2
"""The most tasks that a line is shown for."""

_LONGEST_ID = 80
_OF_ID = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-"
_LOOKED_AT = 24
"""Snapshots read, the newest: each costs a hook about half a millisecond."""


def named(log: SnapshotLog, start: str) -> str:
    """The one session of the log whose id begins with ``start``.

    A subagent counts with its session, if that was saved, unless ``start`` goes on to the agent.
    SnapshotNotFound if there is none, InvalidInput if there are several.
    """
    known: dict[str, str] = {one["session"]: session_of(one) for one in log.all()}
    found = sorted(one for one in known if one.startswith(start)) if start else []
    if "/" not in start:
        found = [one for one in found if known[one] == one or known[one] not in known]
    if not found:
        raise SnapshotNotFound(
            f"No session whose id begins with {shortened(folded(start), 80)!r} was saved here",
            hint="'contextspindle fuse status' lists the sessions.",
        )
    if len(found) > 1 and start != found[0]:
        raise InvalidInput(
            f"{len(found)} sessions begin with {start!r}: {', '.join(map(folded, found[:5]))}",
            hint="Give more of the id.",
        )
    return found[0]


def of_another(harness: object) -> str:
    """The line by which a record says that it is not the reader's own."""
    program = (
        f" of {shortened(folded(harness), 20)}" if isinstance(harness, str) and harness else ""
    )
    return f"The record of another session{program}, handed over: not your own earlier talk."


def in_doubt(
    log: SnapshotLog, session: str | None, reader: str | None
) -> Callable[[object], str] | None:
    """What says of the record of ``session`` that it may not be the ``reader``'s; None if it is.

    Who reads is known from the environment of a process, at best.  A program that was told to begin
    anew goes on as another session, and says so to none of the processes that it has started: when
    another session has saved since, that word is in doubt.
    """
    if session is None:
        return of_newest
    if reader is None:
        return None
    if reader != session:
        return of_named
    newest = log.newest(None)
    if newest is None or session_of(newest) == session:
        return None
    later = shortened(folded(session_of(newest)), 60)
    return lambda _harness: (
        f"The record of the session that started this server; session {later} has saved one since:"
        " yours only if you know it."
    )


def of_named(_harness: object) -> str:
    """The line by which the record of a session that was named says that it may be another's."""
    return "The record of the session that was named: yours only if you know it."


def of_newest(harness: object) -> str:
    """The line by which a record says that nobody knows whether it is the reader's own."""
    program = f" ({shortened(folded(harness), 20)})" if isinstance(harness, str) and harness else ""
    return f"The newest record here{program}: yours only if you know it."


def with_others(
    log: SnapshotLog, tasks: list[str], session: str, harness: str, now: int, top: str = ""
) -> list[str]:
    """Lines on live ``tasks``, those first that another program's session worked on last.

    Behind each of them stands the line on that session.  ``top`` is that of the checkout that this
    session is in, empty outside of any: it is what is quoted from.
    """
    by_id = {line.partition(" ")[0]: line for line in tasks}
    found = left_off(log, by_id, session, harness, now, top)
    first = [line for task, told in found.items() for line in (by_id[task], told)]
    return [*first, *(line for line in tasks if line not in first)]


def left_off(
    log: SnapshotLog, live: Iterable[str], session: str, harness: str, now: int, top: str = ""
) -> dict[str, str]:
    """For live tasks that another program's session worked on last: the line on it, by task id."""
    waiting = set(live)
    found: dict[str, str] = {}
    for number, snapshot in enumerate(log.all()):
        if not waiting or number == _LOOKED_AT or len(found) == MOST:
            break
        task = snapshot.get("task")
        name = snapshot["session"].partition("/")[0]
        if not isinstance(task, str) or task not in waiting or name == session:
            continue
        waiting.discard(task)  # the newest snapshot of it decides
        if snapshot.get("harness") != harness and "draft" in snapshot:
            place = snapshot.get("place")
            worked_in = place.get("top", "") if isinstance(place, dict) else ""
            found[task] = _line(task, snapshot, now, quotes=worked_in == top)
    return found


def without_tokens(text: str) -> str:
    """``text`` without the token of any claim: each is the session's own that was given it."""
    from ..core.task import SECRET

    pieces = text.split(".")
    for at in range(1, len(pieces)):
        secret, behind = pieces[at][:SECRET], pieces[at][SECRET:]
        whole = len(secret) == SECRET and secret.isascii() and secret.isalnum()
        if whole and not _is_of_word(behind[:1]) and _ends_as_task(pieces[at - 1]):
            pieces[at] = f"(token){behind}"
    return ".".join(pieces)


def _ends_as_task(text: str) -> bool:
    """Whether ``text`` ends with what may be the id of a task."""
    bare = text.rstrip(_OF_ID)
    starts = range(max(len(bare), len(text) - _LONGEST_ID), len(text) - 2)
    return any(
        text.startswith("t-", at) and not _is_of_word(text[max(at - 1, 0) : at]) for at in starts
    )


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _line(task: str, snapshot: dict[str, Any], now: int, *, quotes: bool) -> str:
    from ..core.draft import LAST, LEFT, Draft

    session = folded(snapshot["session"])
    ago = instant.ago(snapshot["at"], now)
    by = f"{shortened(folded(str(snapshot.get('harness', ''))), 20)} session {session}".lstrip()
    lead = f"{task} was last worked on in another session, {by}"
    lead += f", saved {instant.iso(snapshot['at'])} ({ago})"
    end = f". All of it: contextspindle fuse restore --from {quoted(snapshot['session'])}"
    draft = Draft.from_document(snapshot["draft"])
    said, whose = next(iter(draft.of(LEFT)), None), "its agent left off"
    if said is None:
        said, whose = next(iter(draft.of(LAST)), None), "its user said last"
    room = LIMIT - size(lead) - size(end) - size(f'; {whose}: ""')
    if said is None or room < 20 or not quotes:
        return lead + end
    # Of words too long for the line, the end says what is next.
    text = without_tokens(folded(said.text))
    if size(text) > room:
        text = f"{ELLIPSIS} {cut_start(text, room - 4)}"
    return f'{lead}; {whose}: "{text}"{end}'
