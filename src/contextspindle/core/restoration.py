"""Restoration: the text an agent reads after its context was compacted.

A pure function of what was saved and of what the caller knows now.  It never exceeds its budget,
whatever stands in the draft: what must be there is cut to fit, and the rest is added while there is
room, best first.  What is shown is decided first and set down afterwards, section by section.

Everything quoted is one line behind a pointer, so that no stored text can pass for a heading or a
field.  The human's last words alone keep their line breaks, in a frame whose mark is made from the
text itself and therefore does not occur in it.
"""

from __future__ import annotations

from .draft import (
    ASKED,
    CUT,
    DECIDED,
    FIRST,
    FOUND,
    GOAL,
    LAST,
    LATER,
    LEFT,
    NAME,
    RULE,
    RUNNING,
    STATE,
    STEP,
    SUMMARY,
    UNANSWERED,
    UNCOMMITTED,
    Draft,
    Item,
)
from .setdown import (
    done_line,
    ends,
    file_line,
    framed,
    name_line,
    pointer,
    quoted_line,
    state_line,
)
from .text import ELLIPSIS, block, cut_start, folded, shortened, size
from .transcript import CLOSING, NOTHING_QUOTED, OPENING
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Order = tuple[int, ...]

SMALLEST = 500
DEFAULT = 6_000

WHOLE = 1_500  # the human's last words are shown whole up to so many bytes
SURELY_WHOLE = 500  # and up to so many at every budget that can hold them
ENDS = 200  # of longer ones, at least so many bytes of the start and of the end
_MOST = 300  # and at most so many: what stands between competes with all else

_FRAME = 48  # bytes that a frame takes around a text
_GAP = 40  # and the line that stands for a missing middle

_LABELS = {FIRST: "the first request: ", LATER: "asked for later: "}
_CLAUSE = 160  # bytes that a required item may always have
_BELOW = "the user's last words, below"

TASKS = "tasks"
# Sections in the order of the text: heading, what it adds where there is room, name of omissions.
_SECTIONS = {
    TASKS: ("Live tasks", " of the ledger", "tasks"),
    GOAL: ("Goal", "", "goals"),
    RULE: ("Rules", ": always or never, by the user", "rules"),
    LAST: ("The user's last words", "", ""),
    LEFT: ("Where the agent left off", "", "of the agent's last words"),
    STEP: ("Open steps", "", "open steps"),
    RUNNING: ("No result yet", ": look before starting again", "started works"),
    STATE: ("State", ": look at the working tree before redoing it", "facts"),
    DECIDED: ("The user's answers", ": the later word holds", "answers"),
    ASKED: ("The user also said", ": the later word holds", "words of the user"),
    FOUND: ("Findings", " and reports", "findings"),
}
# What can be said of the state, in the order in which it is set down.
_STATES = (
    "branch", "pull request", "commit", "git status", "last test run", "file", NAME, "step done",
)  # fmt: skip
_QUOTED = (RULE, DECIDED, ASKED, FOUND)
_TITLE_ONLY = 6  # steps from which on their notes are not shown
_STEP_NOTE = 60
_OF_TURN = 14  # quotations behind one pointer: more of them would be read by nobody
_OF_SUMMARY = 6
_FEW = 6  # files shown where there is little room
_ROOMY = 3_000  # from this budget on the headings explain themselves


class Header(Value):
    """What the caller knows of the snapshot and of this moment; an empty field is not shown.

    ``source`` is the command that prints what stands behind a pointer, ``more`` the one that shows
    what was left out, ``notes`` are lines on what has moved since the snapshot was saved.
    """

    session: str
    compaction: int = 0
    saved: str = ""
    age: str = ""
    agent: str = ""
    source: str = ""
    more: str = ""
    notes: tuple[str, ...] = ()
    quotes: bool = True
    """Whether something of a transcript follows, or may; else all is what the ledger says."""


def assemble(draft: Draft, header: Header, tasks: Sequence[str] = (), budget: int = DEFAULT) -> str:
    """The text to hand to an agent, at most ``budget`` bytes with its final line feed.

    ``tasks`` are lines on live tasks, rendered by the caller, the most important first.  A
    ``budget`` below :data:`SMALLEST` counts as that.
    """
    return _Page(draft, header, tasks, max(budget, SMALLEST)).text()


class _Page:
    """One text in the making: what is shown of each section, and the bytes still free."""

    def __init__(self, draft: Draft, header: Header, tasks: Sequence[str], budget: int) -> None:
        self.draft = draft
        self.budget = budget
        self.more = folded(header.more)
        self.top = [OPENING if header.quotes else NOTHING_QUOTED, *_which(header, budget)]
        self.shown: dict[str, list[tuple[Order, str]]] = {}
        self.quoted: dict[tuple[str, int, str], list[Item]] = {}
        self.files: dict[str, list[Item]] = {}
        self.done: list[Item] = []
        self.names: list[Item] = []
        self.left_out: dict[str, int] = {}
        self.room = budget - sum(size(line) + 1 for line in (*self.top, CLOSING))
        # What was left out is said in any case, and how much that takes is known only then.
        self.note = min(220, self.room // 6)
        self.room -= self.note
        self._put_last()
        self._put_tasks(tasks)
        self._put_required()
        ranked = [item for item in draft.items if item.section not in (GOAL, LAST, LEFT)]
        steps = sum(item.section == STEP for item in ranked)
        roomy = steps < _TITLE_ONLY and self.budget >= _ROOMY
        self.step_note = _STEP_NOTE if roomy else 0
        waiting = self._put_ranked(ranked)
        while self.waiting and self._put(TASKS, self.waiting[0]):
            del self.waiting[0]
        self._omit(TASKS, len(self.waiting))
        # The note is known now, but for the number of digits in it.
        self._count(waiting)
        note = self._omissions(self.note)
        self.room += self.note - (size(note[0]) + 4 if note else 0)
        self._count(self._put_ranked(waiting))

    # ---- deciding ----

    def _heading(self, section: str) -> str:
        short, more, _ = _SECTIONS[section]
        return f"## {short}{more}" if self.budget >= _ROOMY else f"## {short}"

    def _part(self, share: float) -> int:
        return min(int(self.budget * share), self.room)

    def _fits(self, section: str, cost: int) -> bool:
        if section not in self.shown:
            cost += size(self._heading(section)) + 1
        return cost <= self.room

    def _put(self, section: str, line: str, order: Order = ()) -> bool:
        """Show ``line`` in ``section`` if there is room for it."""
        cost = size(line) + 1
        if not self._fits(section, cost):
            return False
        if section not in self.shown:
            self.room -= size(self._heading(section)) + 1
            self.shown[section] = []
        self.room -= cost
        self.shown[section].append((order, line))
        return True

    def _omit(self, section: str, count: int = 1) -> None:
        if count:
            self.left_out[section] = self.left_out.get(section, 0) + count

    def _count(self, waiting: list[Item]) -> None:
        """Say of each section how much of what is ranked found no room."""
        for section in (STEP, RUNNING, STATE, *_QUOTED):
            self.left_out.pop(section, None)
        for item in waiting:
            self._omit(item.section)

    def _put_last(self) -> None:
        """The human's last words first of all: nothing may take their room."""
        for item in self.draft.of(LAST)[:1]:
            most = max(SURELY_WHOLE, min(WHOLE, self.budget // 4))
            waits = "unanswered; " if UNANSWERED in item.mark else ""
            about = shortened(folded(item.about), max(self._part(0.08), 60))
            leads = [pointer(item)]
            if waits:
                leads.insert(0, f"{pointer(item)} (unanswered):")
            if about:
                leads.insert(0, f"{pointer(item)} ({waits}{about}):")
            room = self.room - size(self._heading(LAST)) - 2
            text = block(item.text)
            if size(text) <= most and CUT not in item.mark:
                for lead in leads:
                    if self._put(LAST, framed(lead, text)):
                        return
            # Too long: its two ends, with the most that can be said of it around them.
            for lead in leads:
                end = min((min(most, room - size(lead) - _FRAME) - _GAP) // 2, _MOST)
                if end >= ENDS or lead is leads[-1]:
                    self._put(LAST, framed(lead, ends(text, end)))
                    return

    def _put_tasks(self, tasks: Sequence[str]) -> None:
        """The first of them at the top; the others follow the other required parts."""
        limit = self.room - self._part(0.07 if self.budget > 1_500 else 0.15)
        waiting = [folded(task) for task in tasks]
        while waiting and self.room - size(waiting[0]) > limit:
            if not self._put(TASKS, waiting[0]):
                break
            del waiting[0]
        self.waiting = waiting

    def _put_required(self) -> None:
        goals = self.draft.of(GOAL)
        told = {item.line for item in self.draft.of(LAST)}
        for at, item in enumerate(goals):
            if item.line in told and size(item.text) > _CLAUSE:
                self._put(GOAL, f"{pointer(item)} {_BELOW}", (at,))
                continue
            share = 0.07 if at == 0 else 0.03
            label = _LABELS.get(item.mark, "")
            if item.about:
                label = f"({shortened(folded(item.about), 60)}) "
            self._put_cut(GOAL, item, f"{pointer(item)} {label}", share, (at,))
        left = self.draft.of(LEFT)
        for item in left[:1]:
            self._put_cut(LEFT, item, f"{pointer(item)} ", 0.07, (0,), keep_end=True)
        limit = max(self._part(0.04), 100)
        trail = left[1:] if self.budget >= _ROOMY else left[1:][-1:]
        for at, item in enumerate(reversed(trail)):
            # The last thing it did stands first in line for the room.
            text = shortened(folded(item.text), limit)
            mark = f" {item.mark}" if item.mark else ""
            self._put(LEFT, f"{pointer(item)} {folded(item.about)}{mark}: {text}", (9 - at,))
        # Rules beyond this stand among what the user also said, so that the top stays short.
        self.rules = min(max(self._part(0.07), 240), self.room // 3)

    def _put_cut(
        self,
        section: str,
        item: Item,
        lead: str,
        share: float,
        order: Order,
        *,
        keep_end: bool = False,
    ) -> None:
        """Show as much of a required item as its share of the budget and the room allow."""
        heading = 0 if section in self.shown else size(self._heading(section)) + 1
        limit = min(max(int(self.budget * share), _CLAUSE), self.room - heading - size(lead) - 3)
        text = folded(item.text)
        if size(text) > limit:
            if limit < 24:
                self._omit(section)
                return
            if keep_end:
                text = cut_start(text, limit - 4)
                # From a whole word on, where there is one near.
                at = text.find(" ", 0, 40)
                text = f"{ELLIPSIS} {text[at + 1 :]}"
            else:
                text = shortened(text, limit)
        if not self._put(section, f"{lead}{text}", order):
            self._omit(section)

    def _put_ranked(self, items: Iterable[Item]) -> list[Item]:
        """Show what there is room for, best first; what found none."""
        waiting = []
        for item in items:
            if item.about == NAME:
                fits = self._put_name(item)
            elif item.section in _QUOTED:
                fits = self._put_quoted(item)
            elif item.section == STATE and item.about == "file":
                fits = self._put_file(item)
            elif item.section == STATE and item.about == "step done":
                fits = self._put_done(item)
            else:
                fits = self._put(item.section, state_line(item, self.step_note), _rank(item))
            if not fits:
                waiting.append(item)
        return waiting

    def _put_quoted(self, item: Item) -> bool:
        """A quotation: beside the others of its turn, behind one pointer."""
        if len(item.text) > self.room and size(folded(item.text)) > self.room:
            return False
        section = item.section
        if section == RULE and self.rules < size(quoted_line([item])):
            section = ASKED
        key = (section, item.line, f"{item.about} {item.mark}" if section == FOUND else "")
        if not item.line:
            key = (section, -len(self.quoted), key[2])
        before = self.quoted.get(key, [])
        if len(before) >= (_OF_SUMMARY if item.about == SUMMARY else _OF_TURN):
            return False
        together = sorted([*before, item], key=lambda one: one.at)
        line = quoted_line(together)
        fits = self._replace(section, before and quoted_line(before), line, (item.line,))
        if fits:
            self.quoted[key] = together
            if section == RULE:
                self.rules -= size(item.text)
        return fits

    def _put_file(self, item: Item) -> bool:
        """A changed file: on one line with the others."""
        before = self.files.get(item.mark, [])
        if self.budget < _ROOMY and sum(map(len, self.files.values())) >= _FEW:
            return False
        together = [*before, item]
        old = before and file_line(before)
        fits = self._replace(STATE, old, file_line(together), _rank(item)[:2])
        if fits:
            self.files[item.mark] = together
        return fits

    def _put_done(self, item: Item) -> bool:
        """A finished step: on one line with the others."""
        together = sorted([*self.done, item], key=lambda one: -one.line)
        old = self.done and done_line(self.done)
        fits = self._replace(STATE, old, done_line(together), _rank(item)[:2])
        if fits:
            self.done = together
        return fits

    def _put_name(self, item: Item) -> bool:
        """A name that an edit brought in: on one line with the others, beside the files."""
        together = sorted([*self.names, item], key=lambda one: (one.line, one.at))
        old = self.names and name_line(self.names)
        fits = self._replace(STATE, old, name_line(together), (_STATES.index(NAME),))
        if fits:
            self.names = together
        return fits

    def _replace(self, section: str, old: str | list[Any], new: str, order: Order) -> bool:
        """Show ``new`` in the place of ``old``, if there was one and there is room for more."""
        if not old:
            return self._put(section, new, order)
        more = size(new) - size(str(old))
        if more > self.room:
            return False
        self.room -= more
        entries = self.shown[section]
        at = next(at for at, (_, line) in enumerate(entries) if line == old)
        entries[at] = (entries[at][0], new)
        return True

    # ---- setting down ----

    def text(self) -> str:
        """The lines in their order, the note of what was left out, and the closing mark."""
        lines = list(self.top)
        for section in _SECTIONS:
            entries = self.shown.get(section)
            if not entries:
                continue
            lines.append(self._heading(section))
            entries.sort(key=lambda entry: entry[0])
            lines += [line for _, line in entries]
        used = sum(size(line) + 1 for line in (*lines, CLOSING))
        note = self._omissions(self.budget - used - 1)
        return "\n".join([*lines, *note, CLOSING]) + "\n"

    def _omissions(self, room: int) -> list[str]:
        if not self.left_out:
            return []
        parts = [
            f"{self.left_out[section]} {name}"
            for section, (_, _, name) in _SECTIONS.items()
            if section in self.left_out
        ]
        total = sum(self.left_out.values())
        how = f" (more: {self.more})" if self.more else ""
        for note in (
            f"Left out: {', '.join(parts)}{how}.",
            f"Left out: {', '.join(parts)}.",
            f"Left out: {total} items.",
        ):
            if size(note) <= room:
                return [note]
        return []


def _which(header: Header, budget: int) -> list[str]:
    """Which session this is, of when, and how to follow a pointer."""
    notes = [shortened(folded(note), 300) for note in header.notes]
    while len(notes) > 1 and sum(map(size, notes)) > budget // 6:
        notes.pop()
    notes[:1] = [shortened(note, budget // 5) for note in notes[:1]]
    if not header.session:
        return notes if budget >= 800 else []
    parts = [f"Session {shortened(folded(header.session), 80)}"]
    if header.agent:
        parts.append(f"subagent {shortened(folded(header.agent), 40)}")
    if budget < 800:
        return [parts[0] + "."]
    if header.compaction:
        parts.append(f"compaction {header.compaction}")
    if header.saved:
        age = f" ({folded(header.age)} ago)" if header.age and header.age != "just now" else ""
        parts.append(f"saved {folded(header.saved)}{age}")
    line = ", ".join(parts) + "."
    if header.source and budget >= _ROOMY:
        line += f" [L9] is line 9 of its transcript: {folded(header.source)} 9"
    return [shortened(line, budget // 3), *notes]


def _rank(item: Item) -> Order:
    """Where an item of state stands in its section."""
    if item.section == STATE:
        at = _STATES.index(item.about) if item.about in _STATES else len(_STATES)
        return (at, int(item.mark != UNCOMMITTED), -item.line)
    if item.section == STEP:
        key = "".join(c for c in item.about.partition(" ")[0] if c in "0123456789")
        return (int("in_progress" not in item.about), int(key[:9] or 0))
    return (item.line,)
