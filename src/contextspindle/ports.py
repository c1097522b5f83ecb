"""What the actions need from outside, in words, once.

A read transaction is a snapshot: what it shows does not move.  A write transaction is serializable:
leaving its block commits, durably, and an exception rolls all of it back.  Transactions speak in
core values, never in rows.  A store raises the errors of :mod:`.errors` and no others.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Any, Protocol, TypeVar

    from .core.archive import Stored
    from .core.change import Change
    from .core.claims import Lease
    from .core.eraser import Eraser
    from .core.evidence import CommandMark, FileMark, Record
    from .core.memory import Counts, Item, Note, Rebuilt
    from .core.purge import Purge
    from .core.recall import Index
    from .core.search import Term
    from .core.task import Brief, Page, Related, Task
    from .core.transcript import Reading, Step, Turn

    T_co = TypeVar("T_co", covariant=True)

    class Block(Protocol[T_co]):
        """A ``with`` block that gives one transaction."""

        def __enter__(self) -> T_co: ...

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            trace: TracebackType | None,
        ) -> None: ...

    class ReadTxn(Protocol):
        """One snapshot of a ledger."""

        def task(self, task_id: str) -> Task:
            """The whole task, its digest checked.  TaskNotFound; StoreCorrupt if it was altered."""

        def resolve(self, start: str) -> str:
            """The one id that begins with ``start``.  TaskNotFound; AmbiguousId names some."""

        def brief(self, task_id: str) -> Brief | None:
            """What rules ask of a task next door; None if there is none of this id."""

        def sourced(self, source: str) -> str | None:
            """The id of the task that was imported from ``source``; None if none was."""

        def related(self, task: Task, limit: int) -> list[Related]:
            """Parent, dependencies, children, live; at most ``limit`` of each kind.

            Damage of a neighbour never hides the task: it is told in that neighbour's value.
            """

        def inbox(self, offset: int, limit: int) -> Page:
            """Live tasks: active, then blocked, then open, the latest updated first."""

        def latest(self, status: str, limit: int) -> Page:
            """Tasks of one status, the latest updated first; the total is of all that have it."""

        def parts(self, task_id: str, limit: int) -> Page:
            """The parts of a task, the oldest first.

            ``total`` is counted up to :data:`.core.task.COUNT_AHEAD` behind them.
            """

        def recent(self, limit: int, *, actor: str = "", task_id: str = "") -> list[Change]:
            """The latest changes of any task, as they were recorded, each one's digest checked.

            ``actor``'s alone are looked for among the latest :data:`.core.task.LOOK_BACK` changes;
            ``task_id``'s alone among all.
            """

        def since(self, moment: int, limit: int) -> Page:
            """Tasks of any status that were changed after a moment, the latest first.

            Of more than :data:`.core.task.COUNT_AHEAD` in a status no more are counted.
            """

        def listing(
            self,
            offset: int,
            limit: int,
            *,
            status: tuple[str, ...] = (),
            owner: str = "",
            label: str = "",
            parent: str = "",
        ) -> Page:
            """Tasks that meet every filter given, the newest created first."""

        def open_children(self, task_id: str) -> list[str]:
            """The ids of the children of a task that are neither done nor cancelled."""

        def changes(self, task_id: str, first: int, limit: int) -> list[Change]:
            """Changes from version ``first`` on, in order, the chain checked.  StoreCorrupt."""

        def search(self, terms: tuple[Term, ...], offset: int, limit: int) -> Page:
            """Tasks that hold every term: by goal, then next, criteria, log; the newest first.

            SearchFailed if it could not be looked, which is not the same as nothing found.
            """

        def ready(self, offset: int, limit: int, now: int) -> Page:
            """Tasks that can be taken: highest priority first, then the oldest.

            Open or active, without a blocker, every dependency done, no live lease.
            """

        def lease(self, task_id: str) -> Lease | None:
            """The lease on a task, run out or not; None if nobody has claimed it."""

        def chain(self, task_id: str) -> list[str]:
            """The digests of a task's changes, in order; empty if there is no such task."""

        def everything(self) -> Iterator[Stored]:
            """Every task whole, in the order of their creation, as it is stored."""

        def whole(self, task_id: str) -> Stored:
            """One task so.  TaskNotFound; StoreCorrupt if its history does not lead to it."""

        def purges(self, task_id: str) -> tuple[Purge, ...]:
            """What was taken out of a task's history, the first purge first."""

        def holding(self, forms: tuple[bytes, ...]) -> list[str]:
            """The tasks of which some stored bytes hold one of ``forms``, the oldest first."""

        def creation(self, key: str) -> tuple[str, str] | None:
            """The request digest and the task id recorded under an idempotency key."""

    class WriteTxn(ReadTxn, Protocol):
        """A change of a ledger, all or nothing."""

        def record(self, task: Task, change: Change) -> None:
            """Append ``change`` to its task's chain and keep ``task`` as the state it leads to."""

        def adopt(self, stored: Stored, known: int) -> None:
            """Take in a task from an archive: what its chain has behind version ``known``.

            Its links are made by :meth:`join`, when every task that they name is there.
            """

        def join(self, task: Task) -> None:
            """Make the links of an adopted task."""

        def rewrite(self, stored: Stored) -> None:
            """Keep a task's whole history, and all that is derived of it, in place of what was.

            Its id, its number of versions, its status and its links are as they were.
            """

        def keep_lease(self, task_id: str, lease: Lease | None) -> None:
            """Record who holds a task until when: outside of the chain, a renewal is no change."""

    class Store(Protocol):
        """Where a ledger lives."""

        def read(self) -> Block[ReadTxn]:
            """A snapshot.  WorkspaceNotFound if there is no ledger yet; nothing is created."""

        def write(self) -> Block[WriteTxn]:
            """A change.  StoreBusy if the lock is not had within five seconds."""

        def check_scrub(self) -> None:
            """Nothing, if :meth:`scrub` could be done now.  StoreBusy if a reader keeps it back."""

        def scrub(self) -> None:
            """What was replaced is nowhere in the store's files any more.

            StoreBusy, and all that is committed stands, if a reader keeps it back.
            """

    class Place(Protocol):
        """Something that is kept beside the ledger, from which a text can be taken out."""

        @property
        def path(self) -> str:
            """Where it is."""

        def purge(self, eraser: Eraser, *, write: bool) -> int:
            """Take the text out, durably; how many items held it.

            All or nothing; again after a crash does the rest.  Without ``write`` nothing is
            changed, only counted.  StoreError.
            """

    class Transcript(Protocol):
        """The turns of one session, streamed once in bounded memory."""

        path: str
        cuts_back: bool
        """Whether lines may rightly be gone from its end: the program takes them off when the human
        goes back, or they are behind what is to be read."""

        def up_to(self, end: int) -> Transcript:
            """The same, as it was when it had ``end`` bytes."""

        def tells(self, text: str, after: int) -> bool:
            """Whether a text stands behind byte ``after``."""

        def keep_to(self, out_of_time: Callable[[], bool]) -> None:
            """Stop reading once ``out_of_time`` says so."""

        @property
        def stopped(self) -> bool:
            """Whether the time ran out before the end of the file."""

        def __iter__(self) -> Iterator[Turn]:
            """The turns in the order of the file.  Nothing in the file makes it raise."""

        @property
        def reading(self) -> Reading:
            """What was read and what was passed over, complete once the iteration has ended."""

    class Surroundings(Protocol):
        """The project's files, as far as evidence is bound to them."""

        def file(self, path: str) -> FileMark:
            """A file as it is now.  InvalidInput if it is none."""

        def run(
            self, argv: tuple[str, ...], covers: tuple[str, ...], show: Callable[[bytes], object]
        ) -> tuple[CommandMark, tuple[str, ...]]:
            """Run a command: how it ended with the state of what it covers, and what it changed."""

        def moved(self, record: Record) -> str:
            """What of that which a record is bound to is not as it was; empty if all is."""

    class Drift(Protocol):
        """What moves in the checkout of a session while nobody looks."""

        def place(self, folder: str) -> dict[str, str]:
            """What to remember of where the session works."""

        def since(
            self, place: dict[str, Any], at: int, files: Iterable[str], *, thorough: bool = False
        ) -> list[str]:
            """Lines on what has moved since, for a place that was remembered at a moment."""

    class Beside(Protocol):
        """What a harness keeps beside the talk."""

        def summary(self, path: str, session: str, after: int) -> str:
            """Its own summary that the transcript holds behind a byte, if any."""

        def steps(self, path: str, session: str) -> tuple[Step, ...] | None:
            """The agent's list of steps as it is now; None if there is none to be read."""

        def forked_from(self, path: str, session: str) -> tuple[str, str] | None:
            """The session that a fork goes on from, and the time of the snapshot it was handed."""

    class Recorder(Protocol):
        """What can be read of compactions in a harness's transcripts."""

        def compacted(self, path: str, after: int) -> int | None:
            """Where the latest one behind a byte begins; -1 for none, None if it is under way."""

    class Mark(Protocol):
        """How far a transcript reached before what may have been a compaction; held alone."""

        after: int
        """The bytes that it had."""

        def settle(self) -> None:
            """The mark is gone, durably."""

        def leave(self) -> None:
            """The mark stays for the next one to take it."""

    class Marks(Protocol):
        """Where such marks are kept, one a session at most."""

        def set(self, session: str, after: int) -> None:
            """A mark, durable.  One that is there already stays."""

        def take(self, session: str) -> Mark | None:
            """The mark of a session, when nobody else has it; None if there is none."""

    class SnapshotLog(Protocol):
        """Where the fuse keeps its snapshots: an append-only log of checksummed lines."""

        def append(self, snapshot: dict[str, Any], *, brief: bool = False) -> bool:
            """Store the snapshot, durably.  False if the newest of its session says the same.

            StoreBusy if another writes for longer than a moment, with ``brief``, or some seconds.
            """

        def newest(self, session: str | None) -> dict[str, Any] | None:
            """The newest sound snapshot, of ``session`` if given."""

        def prune(self, before: int) -> tuple[int, int]:
            """Let snapshots from before that moment go, but for the newest of each session.

            How many went, and how many stay.
            """

        def all(self) -> Iterator[dict[str, Any]]:
            """Every sound snapshot, the newest first."""

    class MemoryTxn(Index, Protocol):
        """One snapshot of a memory.  MemoryDamaged rather than an answer that may be wrong."""

        def item(self, seq: int) -> Item | None:
            """The item of that number."""

        def found(self, seq: int) -> Item:
            """The item of a number that the index named."""

        def keyed(self, key: str) -> Item | None:
            """The item that has the key."""

        def duplicate(self, text: str, by: str, key: str) -> Item | None:
            """An item of the same text and speaker, but for case and blanks: the one of the key,
            else one without a key; none that has another key."""

        def session_number(self, name: str) -> int:
            """The number of a session in the records; 0 if no item is of it."""

        def marked(self, mark: str) -> set[int]:
            """The slots of the items that have a label or a source; see :func:`.mark_of`."""

        def everything(self) -> Iterator[Item]:
            """Every item, the oldest first."""

        def counts(self) -> Counts:
            """The state of the memory in numbers."""

        def size(self) -> tuple[int, int]:
            """How many items there are, and the bytes of their texts."""

        def was_taken(self, number: int) -> bool:
            """Whether :meth:`MemoryWriteTxn.take` was called with it."""

    class MemoryWriteTxn(MemoryTxn, Protocol):
        """A change of a memory, all or nothing; its cost is that of the items touched."""

        def add(self, note: Note, now: int) -> Item:
            """A new item, under the next number."""

        def change(self, item: Item, after: Item) -> Item:
            """The item as ``after`` says: all but its text and its session may differ, and a key
            only where it had none."""

        def replace_text(self, item: Item, text: str, tier: str) -> Item:
            """The item with another text: its gist, or the whole of it again."""

        def remove(self, item: Item) -> None:
            """The item, gone from the index as well."""

        def cheapest(self, by: str, count: int, besides: int) -> list[Item]:
            """Items of the least worth by ``items`` or ``bytes`` as last appraised, none pinned."""

        def worth(self, item: Item) -> tuple[int, int]:
            """What the item is worth now by items and by bytes."""

        def record(self, item: Item, worth: tuple[int, int]) -> None:
            """That is what the item was worth when it was last appraised."""

        def in_turn(self, count: int) -> list[Item]:
            """So many items: those behind the ones of the last time, at the end the first again."""

        def gist(self, item: Item) -> str:
            """What is left of an item that has to shrink; see :func:`.retention.gist`."""

        def count(self, what: str) -> None:
            """One more ``merged``, ``shrunk`` or ``dropped``."""

        def take(self, number: int) -> None:
            """Record that what has this number was taken in."""

    class MemoryFile(Protocol):
        """Where a memory lives."""

        def create(self) -> bool:
            """An empty memory, if there is none yet.  False if there was one."""

        def read(self) -> Block[MemoryTxn]:
            """A snapshot.  MemoryNotFound if there is none yet; nothing is created."""

        def write(self) -> Block[MemoryWriteTxn]:
            """A change.  StoreBusy if the lock is not had within five seconds."""

        def findings(self) -> list[str]:
            """What is wrong with the memory; nothing is written.  MemoryNotFound."""

        def rebuild(self) -> Rebuilt:
            """A fresh memory of what could be read of the present one, which is kept aside.

            Items keep their ids.  MemoryNotFound; SchemaTooNew for one of a newer program.
            """
