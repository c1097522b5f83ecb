"""The verbs of the memory: remember, recall, forget, and what is taken in from elsewhere.

One method, one transaction.  The memory is never needed by the ledger, and never asked by it: what
a handoff shows of it is handed over as hints, which carry no authority.
"""

from __future__ import annotations

from ..core import text
from ..core.digest import sha256
from ..core.memory import (
    FULL,
    GIST,
    MAX_HITS,
    MAX_LABELS,
    MAX_TEXT,
    Hit,
    Limits,
    Note,
    about,
    checked,
    mark_of,
    not_there,
    number_of,
)
from ..core.value import Value
from ..errors import InvalidInput, MemoryFull, SpindleError, TranscriptUnreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..core.memory import Counts, Item, Rebuilt
    from ..core.task import Task
    from ..ports import MemoryFile, MemoryTxn, MemoryWriteTxn, Transcript

HINTS = 3
"""Items that a handoff shows."""
CUT = "cut"
"""The label of a text of which only the beginning was taken in."""
_LOOKED_AT = 4  # of those that seemed worth the least, when something has to go
_MOST_HARMLESS = 256
_IN_TURN = 2  # items appraised anew at such a write, so that all are in a while


class Kept(Value):
    """What remembering did, and what had to go for it."""

    item: Item
    merged: bool
    """Whether it was there already: it is counted and not repeated."""
    masked: bool
    """Whether a secret in the text, or in what was said of it, was masked."""
    replaced: str = ""
    """The id of the item whose key this one has now."""
    shrunk: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    """Earlier labels of a known item that had to go for those of this note."""


class Taken(Value):
    """What came in from elsewhere: how many texts were new, known already, or taken before."""

    added: int
    merged: int
    before: int
    shrunk: int
    dropped: int
    cut: int
    """Texts that were too long, and of which the beginning was taken."""
    unlabelled: int
    """Labels that known items lost for new ones."""


class Memory:
    """What is worth keeping beside the tasks, bounded, on any store."""

    def __init__(
        self,
        store: MemoryFile,
        limits: Limits = Limits(),  # noqa: B008 (a value never changes)
        *,
        clock: Callable[[], int],
    ) -> None:
        """``clock`` gives milliseconds since 1970 in UTC."""
        self._store = store
        self._limits = limits
        self._clock = clock
        self._harmless: set[str] = set()
        """Names without a secret: most notes are of a few speakers and sessions."""

    def remember(self, note: Note) -> Kept:
        """The note as an item, secrets masked; the memory is within its limits afterwards.

        A near duplicate (the same text by the same speaker, but for case and blanks) is counted.  A
        note with the key of an earlier one takes its place, and its text is kept to the letter.
        MemoryFull, and nothing done, if it does not fit although all that may go were gone.
        """
        note = checked(note)
        masked = self._masked(note)
        now = self._clock()
        self._store.create()
        with self._store.write() as txn:
            return self._remember(txn, masked, now)._replace(masked=masked != note)

    def _remember(self, txn: MemoryWriteTxn, note: Note, now: int) -> Kept:
        if text.size(note.text) > self._limits.bytes:
            raise MemoryFull(
                "The text does not fit into the memory:",
                [f"it has {text.size(note.text):,} bytes, the memory {self._limits.bytes:,}"],
            )
        replaced = ""
        known = txn.duplicate(note.text, note.by, note.key)
        old = txn.keyed(note.key) if note.key else None
        if old and (known is None or known.seq != old.seq):
            replaced = old.id
            note = note._replace(pinned=note.pinned or old.pinned)
            txn.remove(old)
        unlabelled: tuple[str, ...] = ()
        if known:
            item, unlabelled = self._again(txn, known, note, now)
        else:
            item = txn.add(note, now)
        shrunk, dropped = self._make_room(txn, item.seq)
        return Kept(item, known is not None, False, replaced, shrunk, dropped, unlabelled)

    def _masked(self, note: Note) -> Note:
        """``note`` without the secrets in its text and in what is said of it."""
        from ..core.redaction import mask

        name = self._name
        return note._replace(
            text=mask(note.text),
            by=name(note.by),
            session=name(note.session),
            source=mask(note.source),
            labels=tuple(dict.fromkeys(map(name, note.labels))),
            key=mask(note.key),
        )

    def _name(self, given: str) -> str:
        """A name without the secrets in it."""
        if given in self._harmless:
            return given
        from ..core.redaction import mask

        masked = mask(given)
        if masked == given:
            if len(self._harmless) >= _MOST_HARMLESS:
                self._harmless.clear()
            self._harmless.add(given)
        return masked

    def _again(
        self, txn: MemoryWriteTxn, known: Item, note: Note, now: int
    ) -> tuple[Item, tuple[str, ...]]:
        """The item that was known as it is now, and the labels that it lost."""
        txn.count("merged")
        labels = tuple(dict.fromkeys((*known.labels, *note.labels)))
        earlier = tuple(one for one in known.labels if one not in note.labels)
        gone = earlier[: max(len(labels) - MAX_LABELS, 0)]
        after = known._replace(
            times=known.times + 1,
            last=now,
            pinned=known.pinned or note.pinned,
            labels=tuple(one for one in labels if one not in gone),
            source=known.source or note.source,
            key=known.key or note.key,
        )
        after = txn.change(known, after)
        if known.tier == GIST or (note.key and known.text != note.text):
            # A value is what was said last, to the letter.
            from ..core.retention import weight_of

            weight = weight_of(note.text)
            after = txn.replace_text(after._replace(weight=weight), note.text, FULL)
        return after, gone

    def _make_room(
        self, txn: MemoryWriteTxn, besides: int
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Let go what is worth least until the memory is within its limits; what it was."""
        limits = self._limits
        shrunk: list[str] = []
        dropped: list[str] = []
        worths: dict[int, tuple[int, int]] = {}
        while True:
            counts = txn.size()
            by = "items" if counts[0] > limits.items else "bytes"
            if by == "bytes" and counts[1] <= limits.bytes:
                break
            item = self._least(txn, by, besides, worths)
            shrinks = by == "bytes" and item.tier == FULL
            gist = txn.gist(item) if shrinks else ""
            if gist:
                txn.replace_text(item, gist, GIST)
                txn.count("shrunk")
                shrunk.append(item.id)
            else:
                txn.remove(item)
                txn.count("dropped")
                dropped.append(item.id)
        if shrunk or dropped:
            for other in txn.in_turn(_IN_TURN):
                if not other.pinned:
                    txn.record(other, txn.worth(other))
        gone = set(dropped)
        return tuple(one for one in dict.fromkeys(shrunk) if one not in gone), tuple(dropped)

    def _least(
        self, txn: MemoryWriteTxn, by: str, besides: int, worths: dict[int, tuple[int, int]]
    ) -> Item:
        """The item to go.  What was recorded of its worth may be old: the lowest are looked at.

        ``worths`` are those that were looked at for this write already.
        """
        found = txn.cheapest(by, _LOOKED_AT, besides)
        if not found:
            raise MemoryFull(
                "The memory is full and nothing was remembered:",
                [f"all that is in it is pinned, and its limit of {by} is reached"],
            )
        fresh = [item for item in found if item.seq not in worths]
        worths.update((item.seq, txn.worth(item)) for item in fresh)
        at = 0 if by == "items" else 1
        least = min(found, key=lambda item: (worths[item.seq][at], item.seq))
        for item in fresh:
            if item.seq != least.seq:  # what it was worth goes with it
                txn.record(item, worths[item.seq])
        del worths[least.seq]
        return least

    def recall(
        self,
        query: str,
        limit: int = 10,
        *,
        session: str = "",
        source: str = "",
        label: str = "",
    ) -> tuple[Hit, ...]:
        """The items that answer ``query`` best, 1 to 100 of them; nothing is written.

        Any text is a query but an empty one.  With ``session``, ``source`` or ``label`` only items
        that have it, and all of them are looked at.
        MemoryNotFound if nothing was ever remembered; MemoryDamaged if it cannot be told.
        """
        if not 1 <= limit <= MAX_HITS:
            raise InvalidInput(f"{limit} hits are out of range", hint=f"Use 1 to {MAX_HITS}.")
        if not query.strip():
            # An empty variable in a script: "nothing fits" would be taken for an answer.
            raise InvalidInput("There is nothing to look for", hint="Give a question, or words.")
        only = [text.clean(one) for one in (session, source, label)]
        if any(only):  # as they are stored
            from ..core.redaction import mask

            only = [mask(one) for one in only]
        with self._store.read() as txn:
            return _recalled(txn, query, limit, session=only[0], source=only[1], label=only[2])

    def recall_for(self, task: Task, limit: int = 10) -> tuple[Hit, ...]:
        """The items that answer what a task is about; see :func:`.memory.about`."""
        return self.recall(about(task), limit)

    def hints(self, task: Task) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Lines for the handoff of a task, and a warning if the memory could not be asked.

        The lines are items that share at least two of their words with the task.  Never raises for
        what is wrong with the memory: the task is what is wanted.
        """
        try:
            with self._store.read() as txn:
                hits = _recalled(txn, about(task), HINTS, shared=2, among=10 * HINTS)
        except SpindleError as error:
            return (), (f"no hints from the memory: {error.message} [{error.code}]",)
        return tuple(_hint(hit.item) for hit in hits), ()

    def forget(self, given: str) -> Item:
        """The item that was forgotten.  ItemNotFound if there is none of this id."""
        seq = number_of(given)
        with self._store.write() as txn:
            item = txn.item(seq)
            if item is None:
                raise not_there(seq)
            txn.remove(item)
        return item

    def stats(self) -> tuple[Counts, Limits]:
        """How much is remembered, and how much can be."""
        with self._store.read() as txn:
            return txn.counts(), self._limits

    def verify(self) -> list[str]:
        """What is wrong with the memory; nothing is written."""
        return self._store.findings()

    def rebuild(self, *, force: bool = False) -> Rebuilt | None:
        """A fresh memory of what could be read of the present one, which is kept aside.

        None, and nothing done, if nothing is wrong with it, unless ``force``.
        """
        if not force and not self._store.findings():
            return None
        return self._store.rebuild()

    def items(self) -> Iterable[Item]:
        """Every item, the oldest first, each checked."""
        with self._store.read() as txn:
            yield from txn.everything()

    def sync(self, session: str, transcript: Transcript) -> Taken:
        """What the fuse's extractor finds in a transcript, each passage once and never again."""
        from ..core import draft
        from ..core.extract import Extractor

        extractor = Extractor()
        for turn in transcript:
            extractor.take(turn)
        if not transcript.reading.known:
            raise TranscriptUnreadable(
                f"{transcript.path} holds no line of session {session} of a known form"
            )
        human = (draft.GOAL, draft.RULE, draft.ASKED, draft.LAST, draft.DECIDED)
        lasting = (*human, draft.LEFT, draft.FOUND)
        found = extractor.draft().of(*lasting)
        notes = [
            Note(
                f"{item.about}\n{item.text}"
                if item.about and item.section == draft.DECIDED
                else item.text,
                by="user" if item.section in human else "assistant",
                session=session,
                source=text.cut_start(f"{transcript.path}:{item.line}", 1_000),
                labels=(item.section,),
            )
            for item in sorted(found, key=lambda item: item.line)
            if item.text.strip()
        ]
        return self.take_in(notes, session)

    def take_in_original(self, texts: Iterable[tuple[int, str]]) -> Taken:
        """The numbered texts of an original memory, in their order, none twice."""
        notes = [
            Note(one, source=f"the original memory, event {number}", labels=("original",))
            for number, one in texts
            if one.strip()
        ]
        return self.take_in(notes, "original")

    def take_in(self, notes: Iterable[Note], origin: str) -> Taken:
        """Notes from elsewhere, in their order, all or none; what came from there before is not
        taken again, even if it was forgotten since.

        A text that is too long for an item, or for this memory, is cut and has the label ``cut``.
        """
        from ..core.redaction import mask

        now = self._clock()
        origin = text.clean(origin)
        most = min(MAX_TEXT, self._limits.bytes)
        added = merged = before = shrunk = dropped = cut = unlabelled = 0
        self._store.create()
        with self._store.write() as txn:
            for note in notes:
                # What others wrote down must not fail as a whole for a byte of it.  Masked before
                # it is cut: half of a secret is not known as one.
                body = mask(text.clean(note.text.replace("\0", "\ufffd")))
                number = int(sha256(f"{origin}\n{body}".encode())[:15], 16)
                if txn.was_taken(number):
                    before += 1
                    continue
                txn.take(number)
                if text.size(body) > most:
                    cut += 1
                    body = text.shortened(body, most)
                    note = note._replace(labels=(*note.labels, CUT))
                note = self._masked(checked(note._replace(text=body)))
                kept = self._remember(txn, note, now)
                merged += kept.merged
                added += not kept.merged
                shrunk += len(kept.shrunk)
                dropped += len(kept.dropped)
                unlabelled += len(kept.unlabelled)
        return Taken(added, merged, before, shrunk, dropped, cut, unlabelled)


def _hint(item: Item) -> str:
    by = f" by {item.by}" if item.by else ""
    gist = " (gist)" if item.tier == GIST else ""
    return f"{item.id}{by}{gist}: {item.text}"


def _recalled(
    txn: MemoryTxn,
    query: str,
    limit: int,
    *,
    session: str = "",
    source: str = "",
    label: str = "",
    shared: int = 0,
    among: int | None = None,
) -> tuple[Hit, ...]:
    """The best ``limit`` that fit the wishes, of the best ``among``; an item is read only where it
    shares so many words with the query."""
    from ..core.recall import parse, rank
    from ..core.terms import wordless, words_of

    query = text.clean(query)
    written: dict[str, str] = {wordless(query): query.strip()}
    for word, terms in words_of(query):
        for term in terms:
            written.setdefault(term, word)
    hits: list[Hit] = []
    of = txn.session_number(session) if session else 0
    if session and not of:
        return ()
    only: set[int] | None = None
    for what, name in (("source", source), ("label", label)):
        if name:
            marked = txn.marked(mark_of(what, name))
            only = marked if only is None else only & marked
            if not only:
                return ()
    ranked = rank(parse(query), txn, session=of, only=only)
    for number, found in enumerate(ranked):
        if number == among:
            break
        why = tuple(dict.fromkeys(written.get(term, term) for term in found.terms))
        if len(why) < shared:
            continue
        item = txn.found(found.seq)
        hits.append(Hit(item, found.score, why))
        if len(hits) == limit:
            break
    return tuple(hits)
