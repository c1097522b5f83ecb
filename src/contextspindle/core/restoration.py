"""Restoration: the text an agent reads after its context was compacted.

A pure function of what was saved and of what the caller knows now.  It never exceeds its budget,
whatever stands in the draft: what must be there is cut to fit, and the rest is added while there is
room, best first.  What is shown is decided first and set down afterwards, section by section.

Everything quoted is one line behind a pointer, so that no stored text can pass for a heading or a
field.  The human's last words alone keep their line breaks, in a frame whose mark is made from the
text itself and therefore does not occur in it.
"""

from __future__ import annotations

from . import digest
from .draft import (
    ASKED,
    CUT,
    DECIDED,
    FIRST,
    FOUND,
    GOAL,
    LAST,
    LEFT,
    NOTE,
    RULE,
    RUNNING,
    STATE,
    STEP,
    UNANSWERED,
    Draft,
    Item,
)
from .text import ELLIPSIS, block, cut, cut_start, folded, shortened, size
from .transcript import CLOSING, OPENING
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SMALLEST = 500
DEFAULT = 6_000

WHOLE = 1_500  # the human's last words are shown whole up to so many bytes
SURELY_WHOLE = 500  # and up to so many at every budget that can hold them
ENDS = 200  # of longer ones, at least so many bytes of the start and of the end

_FRAME = 48  # bytes that a frame takes around a text
_GAP = 40  # and the line that stands for a missing middle

TASKS = "tasks"
# Sections in the order of the text: heading, what it adds where there is room, name of omissions.
_SECTIONS = {
    TASKS: ("Live tasks", " of the ledger", "tasks"),
    GOAL: ("Goal", "", "goals"),
    RULE: ("Rules", ": what the user wants always or never", "rules"),
    LAST: ("The user's last words", "", ""),
    LEFT: ("Where the agent left off", "", "of the agent's last words"),
    STEP: ("Open steps", "", "open steps"),
    RUNNING: ("No result yet", ": look before starting it again", "started works"),
    STATE: ("State", ": look at the working tree before redoing any of it", "facts"),
    DECIDED: ("The user's answers", ": the later word holds", "answers"),
    ASKED: ("The user also said", ": the later word holds", "words of the user"),
    FOUND: ("Findings", " and reports of the agent", "findings"),
}
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
        self.top = [OPENING, *_which(header, budget)]
        self.shown: dict[str, list[tuple[int, str]]] = {}
        self.left_out: dict[str, int] = {}
        self.room = budget - sum(size(line) + 1 for line in (*self.top, CLOSING))
        # What was left out is said in any case, and how much that takes is known only then.
        self.note = min(220, self.room // 6)
        self.room -= self.note
        self._put_last()
        self._put_tasks(tasks)
        self._put_required()
        self._put_state()
        self._put_picks()

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

    def _put(self, section: str, line: str, order: int = 0) -> bool:
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
        self.left_out[section] = self.left_out.get(section, 0) + count

    def _put_last(self) -> None:
        """The human's last words first of all: nothing may take their room."""
        for item in self.draft.of(LAST)[:1]:
            most = max(SURELY_WHOLE, min(WHOLE, self.budget // 4))
            waits = "unanswered; " if UNANSWERED in item.mark else ""
            about = shortened(folded(item.about), max(self._part(0.08), 60))
            leads = [_pointer(item)]
            if waits:
                leads.insert(0, f"{_pointer(item)} (unanswered):")
            if about:
                leads.insert(0, f"{_pointer(item)} ({waits}{about}):")
            room = self.room - size(self._heading(LAST)) - 2
            text = block(item.text)
            if size(text) <= most and CUT not in item.mark:
                for lead in leads:
                    if self._put(LAST, _framed(lead, text)):
                        return
            # Too long: its two ends, with the most that can be said of it around them.
            for lead in leads:
                end = (min(most, room - size(lead) - _FRAME) - _GAP) // 2
                if end >= ENDS or lead is leads[-1]:
                    self._put(LAST, _framed(lead, _ends(text, end)))
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
        for at, item in enumerate(goals):
            share = 0.07 if at == 0 else 0.03
            label = "the first request: " if item.mark == FIRST else ""
            if item.about:
                label = f"({shortened(folded(item.about), 60)}) "
            self._put_cut(GOAL, item, f"{_pointer(item)} {label}", share, at)
        for item in self.draft.of(LEFT)[:1]:
            self._put_cut(LEFT, item, f"{_pointer(item)} ", 0.07, 0, keep_end=True)
        floor = self.room - min(max(self._part(0.07), 240), self.room // 3)
        self.rules = set()
        for item in self.draft.of(RULE):
            line = _line(item)
            if self.room - size(line) > floor and self._put(RULE, line, item.line):
                self.rules.add(item)

    def _put_cut(
        self,
        section: str,
        item: Item,
        lead: str,
        share: float,
        order: int,
        *,
        keep_end: bool = False,
    ) -> None:
        """Show as much of a required item as its share of the budget and the room allow."""
        heading = 0 if section in self.shown else size(self._heading(section)) + 1
        least = 160
        limit = min(max(int(self.budget * share), least), self.room - heading - size(lead) - 3)
        text = folded(item.text)
        if size(text) > limit:
            if limit < 24:
                self._omit(section)
                return
            if keep_end:
                text = f"{ELLIPSIS} {cut_start(text, limit - 4)}"
            else:
                text = shortened(text, limit)
        if not self._put(section, f"- {lead}{text}", order):
            self._omit(section)

    def _put_state(self) -> None:
        """Steps, what is running, and the state: a share each, so that none crowds the others."""
        for section, share in ((STEP, 0.15), (RUNNING, 0.06), (STATE, 0.18)):
            floor = self.room - self._part(share)
            items = self.draft.of(section)
            for at, line in enumerate(_state_lines(items, 60 if len(items) < 6 else 0)):
                if self.room - size(line) < floor or not self._put(section, line, at):
                    self._omit(section)
        while self.waiting and self._put(TASKS, self.waiting[0]):
            del self.waiting[0]
        if self.waiting:
            self._omit(TASKS, len(self.waiting))

    def _put_picks(self) -> None:
        for item in self.draft.of(RULE, DECIDED, ASKED, FOUND):
            if item in self.rules:
                continue
            section = ASKED if item.section == RULE else item.section
            # Most do not fit, and setting each of them down first would cost more than the rest.
            if len(item.text) > self.room or not self._put(section, _line(item), item.line):
                self._omit(section)

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
        how = f" ({self.more} shows more)" if self.more else ""
        for note in (
            f"Left out for room: {', '.join(parts)}{how}.",
            f"Left out for room: {', '.join(parts)}.",
            f"Left out for room: {total} items.",
        ):
            if size(note) <= room:
                return [note]
        return []


def _which(header: Header, budget: int) -> list[str]:
    """Which session this is, of when, and how to follow a pointer."""
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
        line += f" [L9] is line 9 of its transcript: {folded(header.source)} 9 prints it."
    notes = [shortened(folded(note), 300) for note in header.notes]
    while notes and sum(map(size, notes)) > budget // 6:
        notes.pop()
    return [shortened(line, budget // 3), *notes]


def _pointer(item: Item) -> str:
    return f"[L{item.line}]" if item.line else "[-]"


def _line(item: Item) -> str:
    """One item on one line."""
    text = folded(item.text)
    about = folded(item.about)
    if item.section in (DECIDED, RULE, ASKED) and about:
        text = f"{text} ({about})"
    elif item.section == FOUND and (about or item.mark):
        text = f"{' '.join(filter(None, (about, item.mark)))}: {text}"
    if item.mark == UNANSWERED:
        text = f"unanswered: {text}"
    return f"- {_pointer(item)} {text}"


def _state_lines(items: Iterable[Item], note_bytes: int) -> list[str]:
    """Items of state, one line each; files on lines together."""
    lines: list[str] = []
    files: list[str] = []
    at = 0
    for item in items:
        about = folded(item.about)
        if item.section == STEP:
            title, _, note = folded(item.text).partition(NOTE)
            text = f"{title}{NOTE}{shortened(note, note_bytes)}" if note and note_bytes else title
            lines.append(f"- {_pointer(item)} {about}: {text}")
            continue
        if about == "file":
            if not files:
                at = len(lines)
            files.append(folded(item.text))
            continue
        mark = f" {item.mark}" if item.mark else ""
        lines.append(f"- {_pointer(item)} {about}{mark}: {folded(item.text)}")
    grouped = []
    row = ""
    for name in files:
        if row and size(row) + size(name) > 240:
            grouped.append(row)
            row = ""
        row = f"{row}, {name}" if row else f"- files changed, newest first: {name}"
    if row:
        grouped.append(row)
    lines[at:at] = grouped
    return lines


def _framed(lead: str, text: str) -> str:
    """``text`` word for word behind its lead; of several lines, within a frame."""
    if "\n" not in text:
        return f"- {lead} {text}"
    mark = _mark(text)
    return f"- {lead}\n<<{mark}\n{text}\n{mark}>>"


def _ends(text: str, end: int) -> str:
    """The first and the last ``end`` bytes of ``text``, and between them what is missing."""
    end = max(end, 0)
    if size(text) <= 2 * end:
        return text
    gap = f"{ELLIPSIS} {size(text) - 2 * end} bytes left out {ELLIPSIS}"
    return f"{cut(text, end)}\n{gap}\n{cut_start(text, end)}"


def _mark(text: str) -> str:
    """A word that does not occur in ``text``."""
    raw = text.encode("utf-8", "replace")
    mark = "said-" + digest.sha256(raw)[:8]
    while mark in text:
        raw += b"."
        mark = "said-" + digest.sha256(raw)[:12]
    return mark
