"""What a person at a terminal sees: tables and colours, drawn with ``rich``.

Stored text is never markup.  It enters a picture through :func:`plain` alone, which makes it one
line of harmless characters, or through :func:`lines`, which lets it have several.  Colours are the
sixteen that a terminal has of its own, so that they fit its background.
"""

from __future__ import annotations

import io

from rich.box import ROUNDED, SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as Branches

from ..core import instant, text
from ..rendering import (
    change_line,
    claim_of,
    not_shown,
    shown_start,
    shown_value,
)
from ..workspace import now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..actions.answers import History, View
    from ..actions.overview import Branch, Column, Log, Tree
    from ..core.task import Entry, Page, Related, Summary
    from ..doctor import Finding

STATUS = {
    "open": ("○", "cyan"),
    "active": ("●", "green"),
    "blocked": ("■", "red"),
    "done": ("✓", "bright_black"),
    "cancelled": ("✗", "bright_black"),
}
"""The sign and the colour of each status."""
DIM, ID, BAD, WARN, GOOD = "bright_black", "cyan", "red", "yellow", "green"
USUAL = 2
"""The priority of most tasks, which need not be told."""
PRIORITY = {0: "bold red", 1: "yellow", 2: "default", 3: DIM, 4: DIM}
WIDE = 100
"""From so many columns on a board stands side by side."""
ROOMY = 80
"""From so many columns on a list has its lesser columns."""


# -- the ground


def drawn(picture: RenderableType, width: int) -> str:
    """The picture as what a terminal of ``width`` columns is sent; no line is wider."""
    console = Console(
        file=io.StringIO(),
        width=width,
        height=1_000,
        force_terminal=True,
        force_jupyter=False,
        force_interactive=False,
        color_system="standard",
        no_color=False,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        safe_box=False,
    )
    with console.capture() as taken:
        console.print(Sized(picture))
    return "".join(f"{line.rstrip(' ')}\n" for line in taken.get().rstrip().split("\n"))


class Sized:
    """A picture that may be a function of the columns there are."""

    def __init__(self, picture: Any) -> None:
        self._picture = picture

    def __rich_console__(self, console: Console, options: Any) -> Iterable[RenderableType]:
        found = self._picture
        yield found(options.max_width) if callable(found) else found


def plain(value: str, style: str = "") -> Text:
    """Stored text on one line, as it stands."""
    return Text(text.one_line(value), style=style)


def lines(value: str, style: str = "") -> Text:
    """Stored text with its line breaks, as it stands."""
    return Text(text.block(value), style=style, tab_size=4)


def sign(status: str, *, word: bool = True) -> Text:
    """The status of a task."""
    mark, style = STATUS.get(status, ("?", "default"))
    return Text(f"{mark} {text.one_line(status)}" if word else mark, style=style)


def ago(moment: int, at: int) -> Text:
    """How long ago that was, in the fewest letters."""
    if instant.is_ahead(moment, at):
        return Text(instant.iso(moment)[:10], style=DIM)
    number, _, unit = instant.age(moment, at).partition(" ")
    return Text(number + unit[0] if number.isdigit() else "now", style=DIM)


def one_of(*parts: Text | str) -> Text:
    """Several pieces as one text."""
    whole = Text()
    for part in parts:
        whole.append_text(part) if isinstance(part, Text) else whole.append(part)
    return whole


def hint(value: str, style: str = DIM) -> Text:
    """What to do next, in which our commands stand out."""
    whole = Text(style=style)
    rest = text.one_line(value)
    while rest:
        before, mark, behind = rest.partition("'contextspindle ")
        whole.append(before)
        command, end, rest = behind.partition("'") if mark else ("", "", "")
        whole.append(f"{mark}{command}{end}", "bold")
    return whole


def table() -> Table:
    """A table as all lists are: a head, and no lines but the one below it."""
    return Table(
        box=SIMPLE_HEAD,
        header_style=f"bold {DIM}",
        border_style=DIM,
        show_edge=False,
        pad_edge=False,
        expand=True,
    )


def grid() -> Table:
    """Names on the left, what they have on the right."""
    made = Table.grid(padding=(0, 2), expand=True)
    made.add_column(style=DIM, no_wrap=True)
    made.add_column(ratio=1, overflow="fold")
    return made


# -- lists


def details(one: Summary) -> list[Text]:
    """What stands below a goal: what the task waits for, and the next step."""
    found = []
    if one.blocker:
        found.append(one_of(Text("blocked: ", BAD), plain(shown_start(one, "blocker"))))
    if one.claim:
        found.append(plain(claim_of(one), DIM))
    if one.next:
        found.append(one_of(Text("next: ", DIM), plain(shown_start(one, "next"), DIM)))
    return found


def tasks(page: Page, *, empty: str = "", more: str = "", query: str = "") -> RenderableType:
    """A page of tasks, with the command that shows the rest; words of ``query`` are marked."""
    from ..core.search import parse

    if not page.items:
        return hint(empty)
    at = now()
    words = [word for term in parse(query) for word in term.words]

    def fitted(width: int) -> RenderableType:
        owners = width >= ROOMY and any(one.owner for one in page.items)
        listed = table()
        listed.add_column("Task", style=ID, overflow="fold", max_width=24)
        listed.add_column("Status", no_wrap=True)
        listed.add_column("P", no_wrap=True)
        listed.add_column("Goal", ratio=1, overflow="fold")
        if owners:
            listed.add_column("Owner", overflow="fold", max_width=16)
        if width >= ROOMY:
            listed.add_column("Changed", justify="right", no_wrap=True)
        for one in page.items:
            goal = [plain(shown_start(one, "goal")), *details(one)]
            for line in goal if words else ():
                line.highlight_words(words, f"bold {WARN}", case_sensitive=False)
            cells: list[RenderableType] = [
                plain(one.id),
                sign(one.status),
                Text(str(one.priority), PRIORITY.get(one.priority, "default")),
                Group(*goal),
            ]
            if owners:
                cells.append(plain(shown_start(one, "owner")))
            if width >= ROOMY:
                cells.append(ago(one.updated, at))
            listed.add_row(*cells)
        said = f"{len(page.items)} of {page.total:,}" if more else text.counted(page.total, "task")
        foot = Text(said + " · more: " * bool(more), DIM)
        return Group(listed, Text(""), one_of(foot, plain(more, "bold")))

    return Sized(fitted)


def board(columns: tuple[Column, ...], note: str) -> RenderableType:
    """The columns of a board: side by side where there is room, else one below the other."""
    rest = hint(note) if note else None
    if rest and not any(one.page.total for one in columns):
        return rest

    def head(column: Column) -> Text:
        shown, total = len(column.page.items), column.page.total
        name = "recently done" if column.status == "done" else column.status
        mark, style = STATUS[column.status]
        count = f" {total:,}" + (f" · latest {shown}" if shown < total else "")
        return one_of(Text(f"{mark} {name}", f"bold {style}"), Text(count, DIM))

    def card(one: Summary, room: int, *, stands: bool) -> RenderableType:
        done = one.status == "done"
        first = plain(one.id, ID)
        if one.priority != USUAL:
            first.append(f" p{one.priority}", PRIORITY.get(one.priority, ""))
        if one.owner:
            first.append_text(plain(f" {shown_start(one, 'owner')}", DIM))
        first.truncate(room, overflow="ellipsis")
        goal = plain(shown_start(one, "goal"), DIM if done else "")
        below = [] if done else details(one)
        for line in below:
            line.truncate(2 * room, overflow="ellipsis")
        if stands:
            goal.truncate(3 * room, overflow="ellipsis")
            return Group(first, goal, *below)
        return Group(one_of(first, "  ", goal), *(Padding(line, (0, 0, 0, 2)) for line in below))

    def fitted(width: int) -> RenderableType:
        if width < WIDE:
            parts: list[RenderableType] = []
            for column in columns:
                parts.append(head(column))
                cards = [card(one, width - 4, stands=False) for one in column.page.items]
                parts += [Padding(one, (0, 0, 0, 2)) for one in cards] or [Text("  –", DIM)]
                parts.append(Text(""))
            return Group(*parts, rest) if rest else Group(*parts[:-1])
        room = (width - 1) // len(columns) - 3
        made = Table(box=ROUNDED, border_style=DIM, expand=True)
        for column in columns:
            made.add_column(head(column), ratio=1, overflow="fold", vertical="top")
        cells = []
        for column in columns:
            inside: list[RenderableType] = []
            for one in column.page.items:
                inside += [card(one, room, stands=True), Text("")]
            cells.append(Group(*(inside[:-1] or [Text("–", DIM)])))
        made.add_row(*cells)
        return Group(made, rest) if rest else made

    return Sized(fitted)


def tree(found: Tree, empty: str, note: str) -> RenderableType:
    """Tasks with their parts."""
    if not found.branches:
        return hint(empty)
    parts: list[RenderableType] = []
    for one in reversed(found.above):
        parts.append(one_of(Text("part of ", DIM), _next_door(one)))
    behind: list[Branches] = []
    for branch in found.branches:
        label = _leaf(branch)
        del behind[branch.depth :]
        if behind:
            behind.append(behind[-1].add(label))
        else:
            behind.append(Branches(label, guide_style=DIM))
            parts.append(behind[0])
        for needed in branch.needs:
            behind[-1].add(one_of(Text("waits for ", BAD), _next_door(needed)))
        if branch.shown < branch.parts:
            behind[-1].add(hint(not_shown(branch)))
    if note:
        parts.append(hint(note))
    return Group(*parts)


def _next_door(one: Related) -> Text:
    return one_of(sign(one.status, word=False), " ", plain(one.id, ID), " ", plain(one.goal))


def _leaf(branch: Branch) -> RenderableType:
    one = branch.task
    over = one.status in ("done", "cancelled")
    first = one_of(
        sign(one.status, word=False),
        " ",
        plain(one.id, ID),
        " ",
        plain(shown_start(one, "goal"), DIM if over else ""),
    )
    if branch.parts:
        first.append(f"  {text.counted(branch.parts, 'part')}", DIM)
    return Group(first, *(Padding(line, (0, 0, 0, 2)) for line in (() if over else details(one))))


def log(found: Log, empty: str) -> RenderableType:
    """What was changed last, a row a change."""
    if not found.events:
        return hint(empty)

    def fitted(width: int) -> RenderableType:
        listed = table()
        listed.add_column("UTC", style=DIM, no_wrap=True)
        listed.add_column("Who", overflow="fold", max_width=16)
        listed.add_column("Task", style=ID, overflow="fold", max_width=24)
        listed.add_column("What", ratio=1, overflow="fold")
        day = ""
        for event in found.events:
            change = event.change
            date, _, clock = instant.minute(change.at).removesuffix("Z").partition("T")
            if date != day:
                listed.add_row(Text(date if width >= ROOMY else date[5:], "bold"))
                day = date
            what = [plain(change_line(change))]
            if change.version > 1 and width >= ROOMY:
                what.append(plain(event.goal, DIM))
            listed.add_row(clock, plain(change.actor), plain(change.task), Group(*what))
        return listed

    return Sized(fitted)


# -- one task


def task(view: View) -> RenderableType:
    """A task whole."""
    one = view.task
    head = one_of(
        plain(one.id, f"bold {ID}"),
        "  ",
        sign(one.status),
        Text(f"  priority {one.priority}", PRIORITY.get(one.priority, "default")),
        Text(f"  version {one.version}", DIM),
    )
    if view.verified is False:
        head.append("  not verified here", WARN)
    facts = grid()
    facts.add_row("goal", lines(one.goal, "bold"))
    for number, criterion in enumerate(one.criteria, 1):
        facts.add_row(f"criterion {number}", lines(criterion))
    for name in ("next", "blocker", "owner", "parent"):
        if value := getattr(one, name):
            facts.add_row(name, lines(value, {"blocker": BAD, "parent": ID}.get(name, "")))
    if view.lease:
        until = instant.minute(view.lease.until)
        facts.add_row("claimed by", one_of(plain(view.lease.holder), Text(f" until {until}", DIM)))
    if one.dependencies:
        facts.add_row("depends on", plain(", ".join(one.dependencies), ID))
    if one.labels:
        facts.add_row("labels", plain(", ".join(one.labels)))
    for entry in one.decisions:
        facts.add_row("decision", _entry(entry, entry.text))
    from ..core import evidence

    for entry, state in zip(one.evidence, view.standings):
        record = evidence.read(entry.text)
        about = f" for criterion {record.criterion}" if record.criterion else ""
        standing = plain(state + about, GOOD if state == "fresh" else WARN)
        facts.add_row("evidence", Group(standing, _entry(entry, record.payload)))
    for entry in one.notes:
        facts.add_row("note", _entry(entry, entry.text))
    for purge in view.purges:
        versions = ", ".join(map(str, purge.versions))
        said = f"a text was taken out of version {versions}, {instant.minute(purge.at)}"
        facts.add_row("purged", Text(said, WARN))
    made = f"created {instant.minute(one.created)} · updated {instant.minute(one.updated)} by "
    return Group(head, Text(""), facts, Text(""), one_of(Text(made, DIM), plain(one.last_actor)))


def _entry(entry: Entry, value: str) -> RenderableType:
    said = f"version {entry.version} · {instant.minute(entry.at)} · "
    return Group(lines(value), one_of(Text(said, DIM), plain(entry.by, DIM)))


def history(found: History, rest: str) -> RenderableType:
    """What changed in each version, with what stood there before."""
    from ..core import evidence

    parts: list[RenderableType] = []
    for step in found.steps:
        change = step.change
        head = one_of(
            Text(f"version {change.version}", f"bold {ID}"),
            Text(f"  {instant.minute(change.at)}  ", DIM),
            plain(change.actor),
        )
        facts = grid()
        for name, value in change.set.items():
            said: list[RenderableType] = [plain(shown_value(value))]
            if step.before[name] is not None:
                said.append(plain(f"was {shown_value(step.before[name])}", DIM))
            facts.add_row(name, Group(*said))
        for kind, texts in (("decision", change.decisions), ("note", change.notes)):
            for one in texts:
                facts.add_row(kind, lines(one))
        for one in change.evidence:
            facts.add_row("evidence", lines(evidence.told(evidence.read(one))))
        for purge in step.purges:
            facts.add_row("purged", Text(instant.minute(purge.at), WARN))
        parts += [head, Padding(facts, (0, 0, 0, 2)), Text("")]
    if rest:
        parts.append(hint(rest))
    return Group(*parts)


# -- reports


def report(
    findings: Sequence[tuple[str, str, str]],
    unchecked: Iterable[str],
    facts: Iterable[tuple[str, str]],
) -> RenderableType:
    """What an inspection of the ledger found: of each finding its kind, its task and its words."""
    parts: list[RenderableType] = []
    if findings:
        listed = table()
        listed.add_column("Kind", style=BAD, no_wrap=True)
        listed.add_column("Task", style=ID, overflow="fold", max_width=24)
        listed.add_column("What is wrong", ratio=1, overflow="fold")
        for one in findings:
            listed.add_row(*map(plain, one))
        parts += [listed, Text("")]
        head = Text(f"✗ {text.counted(len(findings), 'finding')}", f"bold {BAD}")
    else:
        head = Text("✓ sound", f"bold {GOOD}")
    looked = grid()
    for name, value in facts:
        looked.add_row(name, plain(value))
    parts += [head, Padding(looked, (0, 0, 0, 2))]
    parts += [one_of(Text("! not checked: ", WARN), plain(one)) for one in unchecked]
    if findings:
        parts.append(hint("'contextspindle doctor' says what to do."))
    return Group(*parts)


SIGNS = {"ok": ("✓", GOOD), "note": ("!", WARN), "problem": ("✗", BAD)}


def examination(findings: Iterable[Finding], problems: int, notes: int) -> RenderableType:
    """What the doctor found, a row a finding, areas together."""
    listed = Table.grid(padding=(0, 1), expand=True)
    listed.add_column(no_wrap=True)
    listed.add_column(no_wrap=True, style="bold")
    listed.add_column(ratio=1, overflow="fold")
    before = ""
    for one in findings:
        mark, style = SIGNS.get(one.state, ("?", "default"))
        what: list[RenderableType] = [plain(one.what, "" if one.state == "ok" else style)]
        if one.do:
            what.append(one_of(Text("→ ", style), hint(one.do, "")))
        listed.add_row(
            Text(mark, style), plain(one.area if one.area != before else ""), Group(*what)
        )
        before = one.area
    if problems:
        head = Text(f"✗ {text.counted(problems, 'problem')}", f"bold {BAD}")
    else:
        head = Text("✓ no problem", f"bold {GOOD}")
    return Group(listed, Text(""), one_of(head, Text(f" · {text.counted(notes, 'note')}", DIM)))


# -- how far it is


def meter(verb: str, count: int, total: int, seconds: float, width: int) -> str:
    """One line, without its end, on how far long work is."""
    of = f" of {total:,}" if total else ""
    said = f" {count:,}{of} tasks {verb}, {seconds:.0f} s"
    room = min(width - 1 - cell_len(said), 40)
    if room < 5:
        return said.strip()[: width - 1]
    if total:
        bar = ProgressBar(total, min(count, total), room, style=DIM, complete_style=GOOD)
    else:
        bar = ProgressBar(
            None, width=room, pulse=True, animation_time=seconds, style=DIM, pulse_style=GOOD
        )
    return drawn(bar, room).rstrip("\n") + said
