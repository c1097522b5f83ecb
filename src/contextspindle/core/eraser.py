"""Taking a text out: of a text, of JSON, of bytes, and of the history of a task.

A text is looked for as it was given and in the other spellings in which this program may have kept
it: on one line, and as JSON, or JSON within JSON, writes it.  In its place comes a mask that is
never longer than it, so that no limit is passed.  The result depends on nothing but the text and
what it is taken from: two copies of a history that are purged apart from each other are the same
again.
"""

from __future__ import annotations

from ..errors import InvalidInput
from . import archive, canon, evidence
from .change import apply, begin, change_bytes
from .digest import NONE, is_digest, sha256
from .purge import Purge
from .redaction import MASK
from .task import STATUSES, TEXT_LIMIT, is_id, state_bytes
from .text import ELLIPSIS, folded, size
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .archive import Stored
    from .change import Change
    from .evidence import Record

SHORT_MASK = "***"
"""In the place of a text that is shorter than the usual mask."""
LEAST = 4
"""The fewest bytes of a text that can be taken out: a shorter one would be found everywhere."""
PIECE = 8
"""The fewest characters of the text that are taken for a piece of it, where a text was cut."""
ROUNDS = 8
"""How often a text is looked through again: what stood around one that is gone can be another."""
DIGESTS = (32, 40, 64)
"""How many hex digits the digests have that are kept: a token's, a commit's, all others."""

_FREE = ("goal", "owner", "blocker", "next", "claim")
"""The fields of a task that hold one text of somebody's."""


class Eraser:
    """One text that is to be nowhere."""

    def __init__(self, given: str) -> None:
        """InvalidInput if ``given`` is too short, too long, or a part of the mask itself."""
        if size(given.strip()) < LEAST:
            raise InvalidInput(
                f"The text to purge has {size(given.strip())} bytes; at least {LEAST} are needed",
                hint="Give it on standard input: contextspindle purge < FILE",
            )
        if size(given) > TEXT_LIMIT:
            raise InvalidInput(
                f"The text to purge has {size(given)} bytes; at most {TEXT_LIMIT} are taken",
                hint="Purge it in parts.",
            )
        if given in MASK:
            raise InvalidInput(f"{given!r} is a part of the mask {MASK} that is put in its place")
        one_line = folded(given)
        spellings = [given] + ([one_line] if size(one_line) >= LEAST else [])
        spellings += [written for one in spellings for written in _as_json(one)]
        # What a tool printed may be JSON that holds JSON: a key of several lines is common there.
        spellings += [written for one in spellings for written in _as_json(one)[:2]]
        # The longest first: of one that begins another, nothing must be left over.
        self._texts = tuple(sorted(dict.fromkeys(spellings), key=len, reverse=True))
        # A record of evidence is JSON within JSON.
        within = [written for one in self._texts for written in (one, *_as_json(one)[:2])]
        within += [written for one in within for written in _as_json(one)[:2]]
        self.forms = tuple(
            sorted({one.encode() for one in within}, key=lambda one: (-len(one), one))
        )
        """The bytes of which some are in every file of ours that holds the text."""
        shortest = min(map(size, self._texts))
        self.mask = MASK if shortest >= size(MASK) else SHORT_MASK

    def is_in(self, value: str) -> bool:
        """Whether a text holds it."""
        return any(one in value for one in self._texts)

    def holds(self, data: bytes) -> bool:
        """Whether bytes hold it, in any form."""
        return any(form in data for form in self.forms)

    def of(self, value: str) -> str:
        """A text without it."""
        for _ in range(ROUNDS):
            if not self.is_in(value):
                return value
            for one in self._texts:
                value = value.replace(one, self.mask)
        return self.mask if self.is_in(value) else value

    def of_cut(self, value: str) -> str:
        """A text that may have been shortened without it, and without a piece at a place of a cut.

        Where a text was cut it has an ellipsis, with a start of what was said before or an end of
        it behind.
        """
        first, *more = self.of(value).split(ELLIPSIS)
        for part in more:
            first = self._without_start(first) + ELLIPSIS + self._without_end(part)
        return first

    def _without_start(self, value: str) -> str:
        bare = value.rstrip()
        for one in self._texts:
            at = bare.find(one[:PIECE])
            while at >= 0:
                if len(one) > PIECE and one.startswith(bare[at:]):
                    return bare[:at] + self.mask
                at = bare.find(one[:PIECE], at + 1)
        return value

    def _without_end(self, value: str) -> str:
        bare = value.lstrip()
        for one in self._texts:
            at = bare.find(one[-PIECE:])
            while at >= 0:
                if len(one) > PIECE and one.endswith(bare[: at + PIECE]):
                    blanks = value[: len(value) - len(bare)]
                    return blanks + self.mask + bare[at + PIECE :]
                at = bare.find(one[-PIECE:], at + 1)
        return value

    def walked(self, value: Any) -> Any:
        """A value of JSON with every text in it without; names of fields stay."""
        if isinstance(value, str):
            return self.of_cut(value)
        if isinstance(value, list):
            return [self.walked(one) for one in value]
        if isinstance(value, dict):
            return {name: self.walked(one) for name, one in value.items()}
        return value

    def line(self, line: bytes) -> bytes:
        """A line of which nothing is known without it; as JSON, if that is what it is."""
        for _ in range(ROUNDS):
            if not self.holds(line):
                break
            for form in self.forms:
                line = line.replace(form, self.mask.encode())
        if self.holds(line):
            return self.mask.encode()
        try:
            found = canon.decode(line)
            bare = self.walked(found)
            return line if bare == found else canon.encode(bare)
        except ValueError:
            return line


def _as_json(value: str) -> list[str]:
    """How JSON may spell a text, without the quotes around it."""
    plain = canon.text(value)[1:-1]
    escaped = "".join(
        char if char.isascii() else "".join(f"\\u{half:04x}" for half in _halves(char))
        for char in plain
    )
    return [plain, escaped, escaped.replace("/", "\\/"), plain.replace("/", "\\/")]


def _halves(char: str) -> list[int]:
    raw = char.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2)]


class Rewritten(Value):
    """A task as it is without a text, and the record of the purge if a version held it."""

    stored: Stored
    purge: Purge | None


def rewritten(stored: Stored, eraser: Eraser, *, at: int, by: str) -> Rewritten | None:
    """A task without the text, its history chained anew; None if nothing of it held the text.

    Versions, times, links and everything else stay.  Evidence stays bound to the criteria that it
    was bound to, in their new words: a purge is no change of meaning.
    """
    bodies: list[bytes] = []
    touched: list[int] = []
    hashes = dict.fromkeys((evidence.criteria_hash(()),), evidence.criteria_hash(()))
    task = None
    for body, step in zip(stored.bodies, archive.steps(stored)):
        bare = _step(step, eraser, hashes)
        if bare != step or (eraser.holds(body) and change_bytes(step) != body):
            touched.append(step.version)
        task = apply(task, bare) if task else begin(bare)
        if touched:
            body = change_bytes(bare._replace(state=sha256(state_bytes(task))))
        bodies.append(body)
    assert task is not None
    known = tuple(one._replace(by=eraser.of(one.by)) for one in stored.purges)
    if not touched and known == stored.purges:
        return None
    purge = None
    if touched:
        first = touched[0]
        old, new = (archive.digests(task.id, one) for one in (stored.bodies, tuple(bodies)))
        purge = Purge(
            at,
            eraser.of(by),
            first,
            tuple(touched),
            tuple(old[first - 1 :]),
            tuple(new[first - 1 :]),
        )
        known = (*known, purge)
    lease = stored.lease and stored.lease._replace(holder=eraser.of(stored.lease.holder))
    return Rewritten(archive.Stored(task, tuple(bodies), lease, known), purge)


def _step(step: Change, eraser: Eraser, hashes: dict[str, str]) -> Change:
    """A change without the text, but with the digest of the state as it was.

    ``hashes`` leads from the digest of criteria as they were to that of the same without the text.
    """
    found = dict(step.set)
    for name in _FREE:
        if name in found:
            found[name] = eraser.of(found[name])
    if "criteria" in found:
        found["criteria"] = [eraser.of(one) for one in found["criteria"]]
        before, after = (
            evidence.criteria_hash(tuple(one)) for one in (step.set["criteria"], found["criteria"])
        )
        hashes[before] = after
    if "labels" in found:
        found["labels"] = [*dict.fromkeys(eraser.of(one) for one in found["labels"])]
    # These two are one task's only.  Masked they could be another's as well, and nobody who has the
    # true one would find them: they go.
    if eraser.is_in(found.get("source", "")):
        del found["source"]
    keyed = not eraser.is_in(step.key)
    return step._replace(
        actor=eraser.of(step.actor),
        set=found,
        decisions=tuple(map(eraser.of, step.decisions)),
        evidence=tuple(_record(one, step.task, eraser, hashes) for one in step.evidence),
        notes=tuple(map(eraser.of, step.notes)),
        key=step.key if keyed else "",
        request=step.request if keyed else "",
    )


def _record(stored: str, task_id: str, eraser: Eraser, hashes: dict[str, str]) -> str:
    """A record of evidence without the text: it is JSON within JSON, and keeps its form."""
    try:
        record = evidence.read(stored)
    except InvalidInput:
        return eraser.of(stored)
    bare = _bare(record, eraser)
    bound = record.criteria_hash
    bare = bare._replace(criteria_hash=NONE if eraser.is_in(bound) else bound)
    if record.task_id == task_id:
        bare = bare._replace(task_id=task_id, criteria_hash=hashes.get(bound, bare.criteria_hash))
    if bare == record and not eraser.holds(stored.encode()):
        return stored
    return evidence.write(bare)


def _bare(record: Record, eraser: Eraser) -> Record:
    """A record without the text.  What should be an id or a digest can be any text, if pasted."""

    def digest(value: str) -> str:
        return value if _is_fixed(value) else eraser.of(value)

    file, command = record.file, record.command
    return record._replace(
        task_id=eraser.of(record.task_id),
        payload=eraser.of(record.payload),
        file=file and file._replace(path=eraser.of(file.path), sha256=digest(file.sha256)),
        command=command
        and command._replace(
            argv=tuple(map(eraser.of, command.argv)),
            folder=eraser.of(command.folder),
            output=digest(command.output),
            tail=eraser.of(command.tail),
            commit=digest(command.commit),
            covers=tuple(map(eraser.of, command.covers)),
            tree=digest(command.tree),
        ),
    )


def _is_fixed(value: str) -> bool:
    """Whether ``value`` is what the program itself makes: a digest, an id, or a status."""
    if len(value) in DIGESTS and is_digest(value, len(value)):
        return True
    return is_id(value) or value in STATUSES


def remains(stored: Stored, eraser: Eraser) -> bool:
    """Whether a task still holds the text in a place where anybody can write one.

    Looked at is everything but names of fields, ids, statuses and digests, wherever it stands:
    this knows nothing of what :func:`rewritten` looks at.
    """
    whole = [canon.decode(archive.line_of(stored)), canon.decode(state_bytes(stored.task))]
    while whole:
        value = whole.pop()
        if isinstance(value, dict):
            whole += value.values()
        elif isinstance(value, list):
            whole += value
        elif isinstance(value, str) and eraser.holds(value.encode()):
            if value.startswith(evidence.PREFIX):
                try:
                    whole.append(canon.decode(value.removeprefix(evidence.PREFIX)))
                    continue
                except ValueError:
                    pass
            if not _is_fixed(value) and eraser.is_in(value):
                return True
    return False
