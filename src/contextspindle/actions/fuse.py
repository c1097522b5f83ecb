"""The verbs of the fuse: keep what a session is about before compaction, hand it back after.

A save is one appended snapshot.  A restore is built anew each time: live tasks come from the ledger
at that moment, the rest from this session's own snapshot and from no other's, as far as it still
holds (:mod:`.moment`).
"""

from __future__ import annotations

from ..core.text import clean, folded, quoted, shortened, size
from ..core.transcript import BY_HAND, CLOSING, LATE, NOTHING_QUOTED
from ..core.value import Value
from ..errors import InvalidInput, NotFound, SnapshotNotFound, SpindleError, TranscriptUnreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..core.task import Summary
    from ..core.transcript import Reading
    from ..ports import Beside, Drift, SnapshotLog, Transcript
    from .ledger import Ledger

SNAPSHOT_VERSION = 1

MIN_BUDGET = 500
MAX_BUDGET = 9_500
"""Below the 10,000 characters at which Claude Code replaces a hook's text by a preview."""
START_BUDGET = 1_500
"""The most bytes at the start of a session, where there is nothing to restore."""

LIVE_TASKS = 8
"""The most live tasks that a restore names."""

_STRANGE = (OSError, ValueError, TypeError, LookupError, AttributeError, SpindleError)
"""What comes of a snapshot or a checkout of a shape that nobody has met."""

_CHECK_EVERY = 64
"""Turns between two looks at the time."""


class Saved(Value):
    """What a save did: ``changed`` is False if the newest snapshot says the same already."""

    session: str
    changed: bool
    items: int
    reading: Reading | None
    partial: bool
    problem: str = ""
    task: str = ""
    """The task that the session worked on last, by its own calls."""


class Restored(Value):
    """The text to hand over; ``session`` is whose snapshot it quotes, empty for live tasks only."""

    text: str
    session: str
    saved_at: int = 0
    problem: str = ""
    harness: str = ""
    """The program that the session was one of."""


class Fuse:
    """Saves and restores, on any snapshot log and ledger."""

    def __init__(
        self,
        log: SnapshotLog,
        ledger: Callable[[], Ledger],
        *,
        clock: Callable[[], int],
        drift: Drift | None = None,
        beside: Callable[[str], Beside] | None = None,
    ) -> None:
        """``ledger`` opens it, for what needs one: a save does not.  ``beside`` gives what the
        harness of a name keeps beside its transcripts."""
        self._log = log
        self._open_ledger = ledger
        self._opened: Ledger | None = None
        self._clock = clock
        self._drift = drift
        self._beside = beside

    @property
    def _ledger(self) -> Ledger:
        self._opened = self._opened or self._open_ledger()
        return self._opened

    def save(
        self,
        session: str,
        transcript: Transcript,
        *,
        harness: str,
        agent: str = "",
        cwd: str = "",
        trigger: str = "",
        out_of_time: Callable[[], bool] = lambda: False,
    ) -> Saved:
        """One snapshot of what the transcript says, or none if the newest one says the same.

        ``out_of_time`` is asked now and then; once it says yes, what was read so far is kept, and
        the snapshot says that it is partial.  TranscriptUnreadable, and nothing saved, if no line
        is of this session and of a known form.
        """
        from ..core.extract import Extractor
        from .older import Before, with_heritage
        from .own_calls import OwnCalls

        key = session_key(session, agent)
        newest = self._log.newest(key) if trigger != BY_HAND else None
        extractor, own, before = Extractor(), OwnCalls(), Before(newest, transcript)
        partial, strange = False, 0
        transcript.keep_to(out_of_time)
        for number, turn in enumerate(transcript):
            strange += not extractor.take(turn)
            own.feed(turn)
            before.see(turn)
            if not number % _CHECK_EVERY and out_of_time():
                partial = True
                break
        partial = partial or transcript.stopped
        reading = transcript.reading._replace(strange=strange)
        if not reading.known:
            raise TranscriptUnreadable(
                f"{transcript.path} holds no line of session {session} that {harness} knows"
            )
        draft = extractor.draft()
        if reading.guessed:
            # A pointer that may be wrong is none.
            items = (
                one if one.line < reading.guessed else one._replace(line=0, seal="")
                for one in draft.items
            )
            draft = draft._replace(items=tuple(items))
        draft, lost = before.kept(draft, reading, partial=partial)
        origin = ""
        if self._beside is not None and not agent and trigger != BY_HAND:
            beside = self._beside(harness)
            draft, origin = with_heritage(self._log, draft, beside, transcript, session)
        snapshot = {
            "v": SNAPSHOT_VERSION,
            "session": key,
            "harness": harness,
            "transcript": transcript.path,
            "at": self._clock(),
            "cwd": cwd,
            "trigger": trigger,
            "partial": partial,
            "reading": reading._asdict(),
            "draft": draft.to_document(),
        }
        task, token = (own.task, own.token) if own.task or not lost else _own(newest)
        if task:
            snapshot["task"] = task
        if token:
            snapshot["claim"] = token
        if lost:
            snapshot["lost"] = lost
        if origin:
            snapshot["from"] = origin
        if trigger == LATE and (told := before.told(draft)):
            snapshot["told"] = told
        try:
            place = self._drift.place(cwd) if self._drift is not None else {}
        except _STRANGE:
            place = {}
        top = place.get("top", "")
        if top and clean(top) == top:  # else it could not be found again
            snapshot["place"] = place
        changed = self._log.append(_bounded(snapshot), brief=trigger == LATE)
        return Saved(key, changed, len(draft.items), reading, partial, task=task)

    def save_without_transcript(
        self, session: str, problem: str, *, harness: str, agent: str = "", cwd: str = ""
    ) -> Saved:
        """A mark that there was nothing to read, unless the session has a snapshot already."""
        key = session_key(session, agent)
        changed = False
        if self._log.newest(key) is None:
            changed = self._log.append(
                {
                    "v": SNAPSHOT_VERSION,
                    "session": key,
                    "harness": harness,
                    "at": self._clock(),
                    "cwd": cwd,
                    "problem": problem[:500],
                }
            )
        return Saved(key, changed, 0, None, partial=False, problem=problem)

    def hear(self, session: str, summary: str) -> bool:
        """Note what of the session's latest snapshot the harness's own ``summary`` says already.

        False, and nothing noted, if it cannot be known which snapshot is meant.
        """
        from .summary import hear

        return hear(self._log, session, summary, self._clock())

    def facts(self, task: str) -> str:
        """What the model that writes a summary should name; empty if the task is not live."""
        from .summary import facts

        return facts(self._ledger, task)

    def restore(
        self,
        session: str | None,
        budget: int,
        *,
        agent: str = "",
        previous: tuple[str, ...] = (),
        thorough: bool = False,
        another: bool = False,
        reader: str | None = None,
        late: Callable[[dict[str, Any] | None], bool] | None = None,
    ) -> Restored:
        """What an agent needs to go on with ``session``, in at most ``budget`` bytes.

        Without a session, the newest snapshot is taken, whichever it is of.  A session without one
        that says anything gets that of the ``previous`` ones, the latest first, if the harness says
        that it goes on from them; else live tasks, or SnapshotNotFound if there are none either.
        ``thorough`` looks at large checkouts too, where nobody waits.  For ``another`` session the
        start of its id is enough.  ``reader`` is who asks, as far as that is known; None is the
        session itself.  What may not be the reader's own is said to be so, and no claim in it is
        anybody's to carry.  ``late`` is shown the session's newest snapshot, saves what that does
        not know yet, and tells whether it did.
        """
        from . import relay

        if not MIN_BUDGET <= budget <= MAX_BUDGET:
            raise InvalidInput(
                f"A budget of {budget} bytes is out of range",
                hint=f"Use {MIN_BUDGET:,} to {MAX_BUDGET:,} bytes.",
            )
        if another:
            session = relay.named(self._log, session or "")
        key = session_key(session, agent) if session is not None else None
        snapshot = self._log.newest(key)
        if late is not None and late(snapshot):
            snapshot = self._log.newest(key)
        if previous:
            snapshot = self._story(snapshot, previous, agent)
        whose = relay.of_another if another else relay.in_doubt(self._log, session, reader)
        # Its claim is a session's own: another one is not given the token.
        own = (_own(snapshot)[0], "", "that") if whose else _own(snapshot)
        tasks, problem = self._live_tasks(*own)
        if snapshot is None and not tasks:
            raise SnapshotNotFound(
                f"No snapshot of session {session} was saved"
                if session
                else "No snapshot was saved here yet"
            )
        return self._assembled(
            snapshot, key, tasks, budget, problem, thorough=thorough, whose=whose
        )

    def _story(
        self, snapshot: dict[str, Any] | None, previous: tuple[str, ...], agent: str
    ) -> dict[str, Any] | None:
        """The latest snapshot that says anything, those of the sessions before included.

        ``passed`` in it names the sessions after it of which nothing could be saved.
        """
        passed = [snapshot["session"]] if snapshot else []
        latest = snapshot
        for one in () if snapshot and "draft" in snapshot else previous:
            found = self._log.newest(session_key(one, agent))
            if found and "draft" in found:
                return {**found, "passed": ", ".join(passed)}
            passed.append(one)
            latest = latest or found
        return latest

    def news(self, session: str) -> Restored:
        """One line on what the ledger has seen since the session's snapshot; empty for nothing."""
        snapshot = self._log.newest(session)
        if snapshot is None:
            return Restored("", "")
        from ..core import instant

        try:
            page = self._ledger.since(snapshot["at"], 1)
        except SpindleError as error:
            return Restored("", "", problem="" if error.exit_status == 3 else _reason(error))
        if not page.items:
            return Restored("", "")
        ago = instant.ago(snapshot["at"], self._clock())
        latest = shortened(folded(_task_line(page.items[0])), 300)
        count = f"{page.total} tasks have" if page.total > 1 else "1 task has"
        text = (
            f"{NOTHING_QUOTED} {count} changed since this session's snapshot ({ago}), the latest:"
            f" {latest}. 'contextspindle task inbox' shows what is live. {CLOSING}\n"
        )
        return Restored(text, snapshot["session"], snapshot["at"])

    def start(
        self, session: str, *, harness: str = "", task: str = "", protocol: str = "", cwd: str = ""
    ) -> Restored:
        """What is live, for the start of a session; an empty text if nothing is.

        ``task`` is the one that comes first.  With a ``protocol`` that is told too, and always.
        Behind a task that a session of another program than ``harness`` worked on last stands where
        that left off, in its words if they fell in the checkout around ``cwd``.
        """
        tasks, problem = self._live_tasks(task)
        if not tasks and not protocol:
            return Restored("", "", problem=problem)
        told = tasks
        if harness:
            from . import relay

            top = self._drift.place(cwd).get("top", "") if self._drift else ""
            told = relay.with_others(self._log, tasks, session, harness, self._clock(), top)
        room, quotes = START_BUDGET - size(protocol), told != tasks
        found = self._assembled(None, session, told, room, problem, begins=True, quotes=quotes)
        before, closing, behind = found.text.rpartition(CLOSING)
        return found._replace(text=f"{before}{protocol}{closing}{behind}")

    def _assembled(
        self,
        snapshot: dict[str, Any] | None,
        key: str | None,
        tasks: list[str],
        budget: int,
        problem: str,
        *,
        thorough: bool = False,
        begins: bool = False,
        quotes: bool = False,
        whose: Callable[[object], str] | None = None,
    ) -> Restored:
        from ..core import instant
        from ..core.draft import Draft
        from ..core.restoration import Header, assemble
        from .company import others_here
        from .moment import present, session_of
        from .notes import count, notes

        now = self._clock()
        own = session_of(snapshot) if snapshot else (key or "").partition("/")[0]
        others = others_here(self._log, self._ledger, snapshot, own, now)
        if snapshot is None:
            top = Header(key or "", notes=(*notes(None, problem)[begins:], *others), quotes=quotes)
            return Restored(assemble(Draft(), top, tasks, budget), "", problem=problem)
        whole = Draft.from_document(snapshot.get("draft"))
        strange = ""
        try:
            draft, moved = present(whole, snapshot, self._drift, self._beside, thorough=thorough)
        except _STRANGE as error:
            # What cannot be looked at now must not cost the agent what was saved.
            strange = f"What has moved since the save cannot be told: {error}"
            draft, moved = whole, [strange]
        saved_at: int = snapshot["at"]
        name, _, of_agent = snapshot["session"].partition("/")
        if snapshot.get("trigger") == BY_HAND:
            name, of_agent = snapshot["session"], ""  # a name of the user's own
        harness = snapshot.get("harness", "")
        if whose:
            moved = [whose(harness), *moved]
        header = Header(
            session=name,
            agent=of_agent,
            compaction=draft.compactions + 1 if "draft" in snapshot and not count(snapshot) else 0,
            saved=instant.iso(saved_at),
            # A text that is asked for again at once is the same text.
            age=instant.age(saved_at, now) if now - saved_at >= 60_000 else "",
            source=_source(snapshot),
            more=_wider(snapshot["session"]) if budget < MAX_BUDGET else "",
            notes=(*notes(snapshot, problem), *moved, *others),
        )
        text = assemble(draft, header, tasks, budget)
        if whose:
            from .relay import without_tokens

            text = without_tokens(text)
        return Restored(text, snapshot["session"], saved_at, problem or strange, harness)

    def _live_tasks(
        self, worked_on: str = "", token: str = "", whose: str = "this"
    ) -> tuple[list[str], str]:
        """Lines on live tasks; and why there are none, if the ledger could not be read.

        The task that the session worked on comes first, whatever its status is by now, with the
        token of its claim if that still holds it.
        """
        from ..core.task import summary

        try:
            page = self._ledger.inbox(LIVE_TASKS)
            first, claim = None, ""
            if worked_on:
                try:
                    first = summary(self._ledger.show(worked_on))
                    claim = self._claim(worked_on, token)
                except NotFound:
                    first = None  # of another ledger, or a word that only looked like an id
        except SpindleError as error:
            # A ledger that is missing or damaged must not cost the agent its own story.
            return [], "" if error.exit_status == 3 else _reason(error)
        lines = [_task_line(one) for one in page.items if not first or one.id != first.id]
        if first:
            lines.insert(0, f"{whose} session's{claim}: {_task_line(first._replace(claim=''))}")
        if page.next_offset:
            # Never the last line: that one may find no room.
            lines.insert(bool(first), f"{page.total} live tasks in all: contextspindle task inbox")
        return lines, ""

    def _claim(self, task: str, token: str) -> str:
        """What the holder of ``token`` has to know; empty without one."""
        if not token:
            return ""
        from ..core import instant
        from ..core.claims import mark_of

        lease = self._ledger.lease(task)
        if lease is None or lease.mark != mark_of(token):
            return f", but your claim is gone, {lease.holder} has it" if lease else ""
        return f" (claimed by you until {instant.iso(lease.until)}, carry --claim {token})"

    def snapshots(self, session: str | None = None) -> Iterator[dict[str, Any]]:
        """Every snapshot, of ``session`` if given, the newest first."""
        for snapshot in self._log.all():
            if session in (None, snapshot["session"]):
                yield snapshot

    def snapshot(self, session: str | None = None) -> dict[str, Any]:
        """The newest snapshot, of ``session`` if given.  SnapshotNotFound."""
        found = self._log.newest(session)
        if found is None:
            of = f" of session {session}" if session else ""
            raise SnapshotNotFound(f"No snapshot{of} was saved here")
        return found

    def source(
        self, line: int, session: str | None, read: Callable[[dict[str, Any]], Transcript]
    ) -> list[str]:
        """What stands in one line of a session's transcript, secrets masked.

        ``read`` opens the transcript of a snapshot.  TranscriptUnreadable if the line is not the
        one that was read at the save.
        """
        from .passage import passage

        return passage(self.snapshot(session), line, read)

    def prune(self, keep_days: int) -> tuple[int, int]:
        """Let older snapshots go, but for the newest of each session; how many went, and stay."""
        return self._log.prune(self._clock() - keep_days * 86_400_000)

    def sessions(self) -> list[dict[str, Any]]:
        """The newest snapshot of each session, the latest saved first."""
        found: dict[str, dict[str, Any]] = {}
        for snapshot in self._log.all():
            found.setdefault(snapshot["session"], snapshot)
        return list(found.values())


def session_key(session: str, agent: str = "") -> str:
    """What a snapshot is kept under: a subagent's work is not its session's."""
    if not session.strip():
        raise InvalidInput("A session needs an id", hint="Give the session's id with --session.")
    return clean(f"{session}/{agent}" if agent else session)


def _bounded(snapshot: dict[str, Any]) -> dict[str, Any]:
    for name in ("session", "transcript", "cwd", "trigger"):
        snapshot[name] = snapshot[name][:2_000]
    return snapshot


def _own(snapshot: dict[str, Any] | None) -> tuple[str, str]:
    """The task that a session worked on, and the token it had for it."""
    return (snapshot.get("task", ""), snapshot.get("claim", "")) if snapshot else ("", "")


def _reason(error: SpindleError) -> str:
    return f"{error.message} [{error.code}]"


def _task_line(one: Summary) -> str:
    more = ("blocked by: ", one.blocker), ("claimed by ", one.claim), ("next: ", one.next)
    told = (label + value for label, value in more if value)
    return " | ".join((f"{one.id} [{one.status}] {one.goal}", *told))


def _source(snapshot: dict[str, Any]) -> str:
    """The command that prints what stands behind a pointer; none where there are no pointers."""
    session = quoted(snapshot["session"])
    return f"contextspindle fuse source --session {session}" if "draft" in snapshot else ""


def _wider(session: str) -> str:
    return f"contextspindle fuse restore --plain --session {quoted(session)} --budget {MAX_BUDGET}"
