"""The verbs of the ledger.  One method, one transaction."""

from __future__ import annotations

import os

from ..core.task import STATUSES
from ..errors import InvalidInput
from .asked import FAR, check_page, claimed_by, resolved, to_write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..core.change import Request
    from ..core.claims import Claimed, Lease
    from ..core.evidence import Record, World
    from ..core.handoff import Handoff
    from ..core.task import Page, Task
    from ..ports import ReadTxn, Store, Surroundings, WriteTxn
    from .answers import History, Outcome, Proof, Readiness, View

RELATED_LIMIT = 20
"""The most neighbours of each kind that a handoff looks at."""
_NAMED = 10
"""The most tasks that a warning names."""


class Ledger:
    """The authoritative record of tasks, on any store."""

    def __init__(
        self,
        store: Store,
        *,
        actor: str,
        clock: Callable[[], int],
        new_id: Callable[[], str],
        random: Callable[[int], bytes] = os.urandom,
        surroundings: Callable[[], Surroundings] | None = None,
        hints: Callable[[Task], tuple[tuple[str, ...], tuple[str, ...]]] | None = None,
    ) -> None:
        """``clock`` gives milliseconds since 1970 in UTC, ``new_id`` a fresh random task id.

        ``random`` gives as many bytes as asked, for tokens.  ``surroundings`` gives the files that
        evidence may be bound to; without them none can be.  ``hints`` gives lines that a handoff
        may show besides, and warnings why there are none.
        """
        self._store = store
        self._actor = actor
        self._clock = clock
        self._new_id = new_id
        self._random = random
        self._surroundings = surroundings
        self._hints = hints

    def create(self, request: Request, *, key: str = "") -> Outcome:
        """A new task, or with the ``key`` of an earlier, same request the task that it made.

        IdempotencyConflict if the key was used for another request.
        """
        from ..core import fields
        from ..core.change import begin, plan_creation, request_bytes
        from ..core.digest import sha256
        from .answers import Outcome

        key = fields.key(key) if key else ""
        asked = sha256(request_bytes(request)) if key else ""
        with self._store.write() as txn:
            if key and (known := txn.creation(key)):
                if known[0] != asked:
                    from ..errors import IdempotencyConflict

                    raise IdempotencyConflict(
                        f"The idempotency key {key!r} was used before, for another request: that"
                        f" made {known[1]}; nothing was written",
                        task=known[1],
                    )
                return Outcome(txn.task(known[1]), changed=False)
            task_id = self._new_id()
            while txn.brief(task_id):
                task_id = self._new_id()
            change = plan_creation(
                task_id, request, actor=self._actor, now=self._clock(), look=txn.brief
            )
            change = change._replace(key=key, request=asked)
            task = begin(change)
            txn.record(task, change)
        return Outcome(task, changed=True)

    def update(
        self,
        task_id: str,
        request: Request,
        *,
        expected: int | None = None,
        claim: str = "",
        made: tuple[Record, ...] = (),
    ) -> Outcome:
        """The task after ``request``.  Every rule is judged inside the transaction that writes.

        VersionConflict if the task is not at version ``expected``; Refused with every reason.
        ``claim`` is the token of the caller's claim, which the write prolongs: ClaimLost if it does
        not hold the task any more, ClaimHeld if another's does.  ``made`` are records of what
        :meth:`look_at` looked at.
        """
        from ..core import fields
        from ..core.change import apply, look_ahead, may_be_gated, plan
        from ..core.claims import check_write
        from ..core.evidence import read, write
        from .answers import Outcome

        fields.task_id(task_id)
        now = self._clock()
        stored = tuple(read(write(one)) for one in made)  # a file was looked at a moment ago
        world = self._world({one: "" for one in stored if one.file})
        if may_be_gated(request):
            # Files are looked at now, and not while the lock of all writers is held.
            with self._store.read() as ahead:
                task = to_write(ahead, task_id)
            look_ahead(task, request, stored, world)
        with self._store.write() as txn:
            task = to_write(txn, task_id)
            before = txn.lease(task_id)
            lease = check_write(task_id, before, claim, request, now)
            change = plan(
                task,
                request,
                actor=self._actor,
                now=now,
                look=txn.brief,
                expected=expected,
                made=made,
                world=world,
            )
            if lease != before:
                txn.keep_lease(task_id, lease)
            if change is None:
                return Outcome(task, changed=False)
            after = apply(task, change)
            txn.record(after, change)
            if lease and not after.claim:
                txn.keep_lease(task_id, None)
            warnings: tuple[str, ...] = ()
            if after.status in ("done", "cancelled") and after.status != task.status:
                children = txn.open_children(task_id)
                if children:
                    warnings = (_still_open(task_id, children),)
        return Outcome(after, changed=True, warnings=warnings)

    def _world(self, seen: dict[Record, str] | None = None) -> World:
        """What tells, for the length of one action, whether files are still as they were.

        ``seen`` is what is known of records already.
        """
        seen = {} if seen is None else seen
        surroundings: list[Surroundings] = []

        def moved(record: Record) -> str:
            if record not in seen:
                if not surroundings:
                    surroundings.append(self._files())
                seen[record] = surroundings[0].moved(record)
            return seen[record]

        return moved

    def _files(self) -> Surroundings:
        if self._surroundings is None:
            raise InvalidInput(
                "This ledger belongs to no folder, so evidence of files has no place"
            )
        return self._surroundings()

    def look_at(
        self, task_id: str, paths: Iterable[str], criterion: int = 0, request: Request | None = None
    ) -> tuple[Record, ...]:
        """Files as evidence of a task, as they are now: records to give to :meth:`update`.

        They go stale when the file changes.  If ``request`` sets the criteria, it is those that
        they attest.  InvalidInput for a path that is no file.
        """
        from ..core.change import criteria_after
        from ..core.evidence import Record, criteria_hash, numbered

        with self._store.read() as txn:
            task = to_write(txn, task_id)
        criteria = criteria_after(task, request) if request else task.criteria
        criterion = numbered(criterion, criteria)
        bound = criteria_hash(criteria)
        surroundings = self._files()
        marks = [surroundings.file(path) for path in paths]
        return tuple(Record(task.id, bound, one.path, criterion, file=one) for one in marks)

    def prove(
        self,
        task_id: str,
        argv: tuple[str, ...],
        *,
        criterion: int = 0,
        covers: tuple[str, ...] = (),
        expected: int | None = None,
        claim: str = "",
        show: Callable[[bytes], object] = bytes,
    ) -> Proof:
        """The task with a command that was run as evidence, whether it succeeded or not.

        It attests the criteria as they were when it started, and goes stale when what it covers
        changes.  A command that failed, or that changed what it covers, never satisfies the gate.
        """
        from ..core.change import Request
        from ..core.claims import check_write
        from ..core.evidence import Record, criteria_hash, numbered
        from ..core.redaction import mask_words
        from .answers import Proof

        with self._store.read() as txn:
            task = to_write(txn, task_id)
            check_write(task_id, txn.lease(task_id), claim, Request(), self._clock())
        criterion = numbered(criterion, task.criteria)
        mark, changed = self._files().run(argv, covers, show)
        mark = mark._replace(argv=mask_words(argv))
        record = Record(
            task.id, criteria_hash(task.criteria), " ".join(mark.argv), criterion, command=mark
        )
        outcome = self.update(task_id, Request(), expected=expected, claim=claim, made=(record,))
        return Proof(outcome, mark, changed)

    def claim(self, task_id: str, *, seconds: int | None = None, token: str = "") -> Claimed:
        """The task for this actor alone, with a token to carry, for the length of a lease.

        One caller wins among any number.  ClaimHeld while another's lease runs; one that has run
        out is taken over.  Refused if the task has ended.  If ``token`` holds it already, that
        claim is renewed, for ``seconds`` from now on if they are given.
        """
        from ..core import fields

        fields.task_id(task_id)
        with self._store.write() as txn:
            return self._claim(txn, task_id, seconds, token)

    def claim_next(self, *, seconds: int | None = None) -> Claimed:
        """The best ready task for this actor, found and claimed in one transaction.

        NothingReady if there is none.
        """
        from ..errors import NothingReady

        with self._store.write() as txn:
            best = txn.ready(0, 1, self._clock()).items
            if not best:
                raise NothingReady("No task is ready to be taken")
            return self._claim(txn, best[0].id, seconds)

    def _claim(self, txn: WriteTxn, task_id: str, seconds: int | None, token: str = "") -> Claimed:
        from ..core import claims
        from ..core.change import apply, plan_claim

        now = self._clock()
        lasting = claims.length(seconds)
        task = to_write(txn, task_id)
        held = txn.lease(task_id)
        if held and claims.holds(held, token):
            if seconds is not None:
                held = held._replace(length=lasting)
            held = held.extended(now)
            txn.keep_lease(task_id, held)
            return claims.Claimed(task, token, held.until, anew=False)
        claims.check_claim(task, held, now, token)
        token = claims.token_for(task_id, self._random(10))
        lease = claims.granted(self._actor, token, now, lasting)
        change = plan_claim(task, self._actor, actor=self._actor, now=now)
        after = apply(task, change)
        txn.record(after, change)
        txn.keep_lease(task_id, lease)
        return claims.Claimed(after, token, lease.until)

    def renew(self, token: str) -> Claimed:
        """The claim with its whole length ahead again.  ClaimLost if it is another's by now."""
        from ..core import claims

        task_id = claimed_by(token)
        with self._store.write() as txn:
            task = txn.task(task_id)
            lease = claims.check_holder(task_id, txn.lease(task_id), token)
            lease = lease.extended(self._clock())
            txn.keep_lease(task_id, lease)
        return claims.Claimed(task, token, lease.until, anew=False)

    def release(self, task_id: str, *, token: str = "") -> Outcome:
        """The task as nobody's.  Its holder can always, anybody once the lease has run out."""
        from ..core import claims, fields
        from ..core.change import Request, apply, plan_claim
        from .answers import Outcome

        fields.task_id(task_id)
        now = self._clock()
        with self._store.write() as txn:
            task = to_write(txn, task_id)
            lease = txn.lease(task_id)
            if not task.claim:
                return Outcome(task, changed=False)
            claims.check_write(task_id, lease, token, Request(set={"claim": ""}), now)
            change = plan_claim(task, "", actor=self._actor, now=now)
            after = apply(task, change)
            txn.record(after, change)
            txn.keep_lease(task_id, None)
        return Outcome(after, changed=True)

    def search(self, query: str, limit: int = 20, offset: int = 0) -> Page:
        """Tasks that hold every word of ``query``: by goal, then next, criteria, log.

        Any text is a query; words between quotes belong together.  ``total`` is counted up to
        1,000 behind the page.  SearchFailed if it could not be looked.
        """
        from ..core.search import parse

        check_page(offset, limit)
        with self._store.read() as txn:
            return txn.search(parse(query), offset, limit)

    def ready(self, limit: int = 20, offset: int = 0) -> Page:
        """What can be taken now: highest priority first, then the oldest.

        ``total`` is counted up to 1,000 behind the page.
        """
        check_page(offset, limit)
        with self._store.read() as txn:
            return txn.ready(offset, limit, self._clock())

    def explain(self, start: str) -> Readiness:
        """Why the task is not ready to be taken; no reason if it is."""
        from ..core.claims import obstacles
        from .answers import Readiness

        with self._store.read() as txn:
            task = txn.task(resolved(txn, start))
            neighbours = [other for one in task.dependencies if (other := txn.brief(one))]
            found = obstacles(task, txn.lease(task.id), neighbours, self._clock())
        return Readiness(task, tuple(found))

    def show(self, start: str, *, version: int | None = None) -> Task:
        """The task whose id begins with ``start``, now or as it was at ``version``."""
        with self._store.read() as txn:
            return _as_of(txn, txn.task(resolved(txn, start)), version)

    def view(self, start: str, *, version: int | None = None) -> View:
        """The same with its lease, and with the standing of its evidence, files looked at."""
        from ..core.evidence import standings, unmoved, verified
        from .answers import View

        with self._store.read() as txn:
            now = txn.task(resolved(txn, start))
            task = _as_of(txn, now, version)
            lease = txn.lease(now.id) if now.claim and task is now else None
            purges = txn.purges(now.id)
        world = self._world() if task is now else unmoved
        return View(
            task,
            lease,
            tuple(standings(task, world)) if task.evidence else (),
            verified(task, world),
            tuple(one for one in purges if min(one.versions) <= task.version),
        )

    def context(self, start: str, budget: int = 2_048) -> Handoff:
        """The handoff of one task in at most ``budget`` bytes."""
        from ..core.handoff import assemble
        from ..core.instant import iso

        with self._store.read() as txn:
            task = txn.task(resolved(txn, start))
            related = txn.related(task, RELATED_LIMIT)
            lease = txn.lease(task.id) if task.claim else None
        held = f"{lease.holder} until {iso(lease.until)}" if lease else ""
        hints, warnings = self._hints(task) if self._hints else ((), ())
        return assemble(
            task,
            budget,
            related=related,
            hints=hints,
            warnings=warnings,
            world=self._world(),
            claim=held,
        )

    def inbox(self, limit: int = 20, offset: int = 0) -> Page:
        """What is live: active, then blocked, then open, the latest updated first."""
        check_page(offset, limit)
        with self._store.read() as txn:
            return txn.inbox(offset, limit)

    @property
    def actor(self) -> str:
        """Who acts here."""
        return self._actor

    def held(self, limit: int = 20) -> list[tuple[str, Lease]]:
        """Which of the first ``limit`` tasks of the inbox are held now, each with its lease."""
        now = self._clock()
        with self._store.read() as txn:
            found = [(one.id, txn.lease(one.id)) for one in txn.inbox(0, limit).items]
        return [(task_id, lease) for task_id, lease in found if lease and lease.live(now)]

    def lease(self, task_id: str) -> Lease | None:
        """The lease on a task, run out or not; None if nobody has claimed it."""
        with self._store.read() as txn:
            return txn.lease(task_id)

    def since(self, moment: int, limit: int = 20) -> Page:
        """Tasks of any status that were changed after ``moment``, the latest first."""
        check_page(0, limit)
        with self._store.read() as txn:
            return txn.since(moment, limit)

    def list(
        self,
        offset: int = 0,
        limit: int = 50,
        *,
        status: tuple[str, ...] = (),
        owner: str = "",
        label: str = "",
        parent: str = "",
    ) -> Page:
        """Tasks that meet every filter given, the newest created first."""
        check_page(offset, limit)
        if status:
            from ..core.fields import status as named

            wanted = {named(one) for one in status}
            status = tuple(one for one in STATUSES if one in wanted)
        with self._store.read() as txn:
            return txn.listing(
                offset,
                limit,
                status=status,
                owner=owner,
                label=label,
                parent=resolved(txn, parent) if parent else "",
            )

    def children(self, start: str, offset: int = 0, limit: int = 50) -> Page:
        """The tasks whose parent is this one, the newest created first."""
        check_page(offset, limit)
        with self._store.read() as txn:
            return txn.listing(offset, limit, parent=resolved(txn, start))

    def history(self, start: str, first: int = 1, limit: int = 20) -> History:
        """What changed in each version from ``first`` on, and what stood there before."""
        from .answers import History, Step

        check_page(0, limit)
        if not 1 <= first < FAR:
            raise InvalidInput("Versions begin at 1" if first < 1 else f"No version is {first}")
        with self._store.read() as txn:
            task_id = resolved(txn, start)
            task = txn.task(task_id)
            # What stood before a version is what the versions before it made.
            changes = txn.changes(task_id, 1, first + limit - 1)
            purges = txn.purges(task_id)
        before: dict[str, Any] = {}
        steps = []
        for change in changes:
            if change.version >= first:
                past = {name: before.get(name) for name in change.set}
                taken = tuple(one for one in purges if change.version in one.versions)
                steps.append(Step(change, past, taken))
            before.update(change.set)
        last = first + limit - 1
        return History(
            task_id=task_id,
            steps=tuple(steps),
            total=task.version,
            next_version=last + 1 if last < task.version else None,
        )


def _still_open(task_id: str, children: list[str]) -> str:
    from ..core import text

    whole = f": contextspindle task children {task_id}" if len(children) > _NAMED else ""
    return f"Children still open: {text.some(children, _NAMED)}{whole}"


def _as_of(txn: ReadTxn, task: Task, version: int | None) -> Task:
    if version is None or version == task.version:
        return task
    if not 1 <= version < task.version:
        raise InvalidInput(f"Task {task.id} has no version {version}; it is at {task.version}")
    from ..core.change import apply, begin

    changes = txn.changes(task.id, 1, version)
    past = begin(changes[0])
    for change in changes[1:]:
        past = apply(past, change)
    return past
