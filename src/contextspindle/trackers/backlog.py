"""Backlog.md: a Markdown file a task, with front matter, in folders that say where it stands.

Sections are found by their headings, and their ends by the marks that the program writes into
comments: inside of them a text may have headings of its own.  Files without marks end a section at
the next heading.
"""

from __future__ import annotations

import os

from ..core import foreign
from ..core.foreign import UNPLACED, UNREAD, Foreign, Gathered, Problem
from ..core.text import one_line
from ..core.value import Value
from ..errors import InvalidInput, in_words
from . import front_matter, sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "backlog"

FOLDERS = {"tasks": "", "completed": "", "drafts": "draft", os.path.join("archive", "tasks"): ""}
"""Where task files are, with the label of each folder's."""
ARCHIVE = os.path.join("archive", "tasks")
_ELSE = ("decisions", "docs", "milestones")
"""Folders of other things, which are told and not read."""

STATUSES = {"won't_do": "cancelled", "wont_do": "cancelled", "draft": "open", "deferred": "blocked"}

_HEADINGS = {
    "description": "description",
    "acceptance criteria": "criteria",
    "definition of done": "definition of done",
    "implementation plan": "implementation plan",
    "implementation notes": "implementation notes",
    "notes": "notes",
    "notes & comments": "notes & comments",
    "comments": "comment",
    "final summary": "final summary, not verified here",
}
_COMMENT = ("<!-- COMMENT:BEGIN -->", "<!-- COMMENT:END -->")
_COMMENTS = ("<!-- COMMENTS:BEGIN -->", "<!-- COMMENTS:END -->")


class Page(Value):
    """A task file: its place below the folder of the program, and its bytes."""

    where: str
    content: bytes


def find(place: str) -> str | None:
    """The folder of the program at or below ``place``; or one of its files."""
    if place.endswith(".md") and os.path.isfile(place):
        return place
    for folder in (os.path.join(place, "backlog"), os.path.join(place, ".backlog"), place):
        if any(os.path.isdir(os.path.join(folder, name)) for name in FOLDERS):
            return folder
    return place if os.path.isdir(place) and any(_names(place)) else None


def recognises(found: str) -> bool:
    """Whether a task file begins with front matter that has an id."""
    if os.path.isfile(found):
        start = sources.start_of(found)
        return start.startswith(b"---") and b"\nid:" in start
    return any(recognises(path) for path, _ in _paths(found))


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    except OSError:
        return []


def _paths(found: str) -> Iterator[tuple[str, str]]:
    """The paths of the task files, and how each is named below the folder."""
    if os.path.isfile(found):
        yield found, os.path.basename(found)
        return
    inside = [name for name in FOLDERS if os.path.isdir(os.path.join(found, name))]
    for folder in inside or [""]:
        for name in _names(os.path.join(found, folder)):
            yield os.path.join(found, folder, name), os.path.join(folder, name)


def gather(found: str) -> Gathered:
    """The tasks of a folder, or of one file."""
    pages, problems = [], []
    for path, where in _paths(found):
        if os.path.islink(path):
            problems.append(Problem(UNREAD, where, "it is a symbolic link"))
            continue
        try:
            pages.append(Page(where, sources.read_file(path)))
        except InvalidInput as error:
            problems.append(Problem(UNREAD, where, error.message))
    for name in _ELSE:
        if count := len(_names(os.path.join(found, name))):
            said = f"{count} files that are not tasks were not read"
            problems.append(Problem(UNPLACED, name + os.sep, said))
    gathered = parse(pages)
    return gathered._replace(problems=(*problems, *gathered.problems))


def parse(pages: list[Page]) -> Gathered:
    """The tasks of ``pages``.  InvalidInput for marks of an unfinished merge."""
    items: list[Foreign] = []
    problems: list[Problem] = []
    wholes: dict[str, list[str]] = {}
    for page in pages:
        try:
            lines = page.content.decode("utf-8").replace("\r\n", "\n").split("\n")
        except ValueError as error:
            problems.append(Problem(UNREAD, page.where, in_words(error)))
            continue
        _refuse_conflict(lines, page.where)
        try:
            reading = _Reading(page, lines)
            items.append(reading.item())
            wholes[items[-1].source] = reading.parts
        except (ValueError, InvalidInput) as error:
            problems.append(Problem(UNREAD, page.where, in_words(error)))
        else:
            problems += reading.problems
    return Gathered(NAME, tuple(_with_parts(items, wholes)), (), tuple(problems))


def _refuse_conflict(lines: list[str], where: str) -> None:
    """InvalidInput if all the marks of a merge stand there: ``=======`` alone is a heading."""
    begun = 0
    for number, line in enumerate(lines, 1):
        if line.startswith("<<<<<<< "):
            begun = number
        elif begun and line.startswith(">>>>>>>"):
            raise sources.conflict(begun, where)


def _with_parts(items: list[Foreign], wholes: dict[str, list[str]]) -> Iterator[Foreign]:
    """The items, with the parent that only the parent itself tells of."""
    told = {part: whole for whole, parts in wholes.items() for part in parts}
    parents = {item.source: item.parent or told.get(item.source, "") for item in items}
    for item in items:
        odd = [one for one in wholes[item.source] if parents.get(one) != item.source]
        said = foreign.pieces(f"{NAME} subtasks", ", ".join(odd))
        yield item._replace(parent=parents[item.source], notes=(*item.notes, *said))


class _Reading:
    """One task file, gone through."""

    def __init__(self, page: Page, lines: list[str]) -> None:
        front = front_matter.read(lines)
        if front is None:
            raise ValueError("it does not begin with front matter")
        self._page = page
        self._its = sources.Fields(dict(front.values), NAME)
        self._sections = dict[str, str]()
        self._lines = lines
        self._body = lines[front.body :]
        self.parts: list[str] = []
        self.problems = [
            Problem(UNPLACED, f"{page.where}, line {number}", f"kept as a note: {one_line(line)}")
            for number, line in front.odd
        ]
        self._odd = "\n".join(line for _, line in front.odd)

    def item(self) -> Foreign:
        """The task that the file is of."""
        its = self._its
        name = its.text("id").strip()
        source = _source(name, "")
        title = its.text("title")
        if not title.strip():
            raise ValueError(f"{source} has no title")
        if name != name.upper():
            its.note("id", name)
        for heading, body in _sections(self._body):
            self._section(heading, body)
        there = its.text("status")
        status, blocker = foreign.status_of(NAME, there, STATUSES)
        folder = os.path.dirname(self._page.where)
        if folder == ARCHIVE and status != "done":
            status, blocker = "cancelled", ""
        if folder not in ("", "tasks"):
            its.note("folder", folder)
        description = self._sections.pop("description", "")
        labels = self._list("labels")
        labels += [FOLDERS[folder]] if FOLDERS.get(folder) else []
        labels += [f"type:{kind}"] if (kind := its.text("type")) else []
        labels += [f"milestone:{one}"] if (one := its.text("milestone")) else []
        priority = foreign.priority_of(its.peek("priority"))
        if priority is not None:
            its.drop("priority")
        parent = self._link(its.text("parent_task_id"), name)
        needs = [self._link(one, name) for one in self._list("dependencies")]
        self.parts = [one for part in self._list("subtasks") if (one := self._link(part, name))]
        wanted = {
            "goal": f"{title}\n\n{description}" if description else title,
            "criteria": self._criteria(),
            "status": status,
            "blocker": blocker,
            "owner": ", ".join(self._list("assignee")),
            "labels": labels,
            "priority": 2 if priority is None else priority,
        }
        created, updated = its.time("created_date"), its.time("updated_date")
        for heading, body in self._sections.items():
            its.note(heading, body)
        its.note("front matter that was not understood", self._odd)
        its.keep_left()
        fields, more = foreign.fitted(NAME, wanted)
        return Foreign(
            source=source,
            where=self._page.where,
            digest=sources.digest_of([folder, *self._lines]),
            set=fields,
            there=foreign.kept(there),
            parent=parent,
            dependencies=tuple(one for one in needs if one),
            notes=(*more, *its.notes),
            created=created,
            updated=updated,
        )

    def _list(self, name: str) -> list[str]:
        """A list of texts, or a bare text as one of them."""
        value = self._its.peek(name)
        if isinstance(value, str):
            self._its.drop(name)
            return [value] if value.strip() else []
        return self._its.texts(name)

    def _link(self, other: str, name: str) -> str:
        if not other.strip():
            return ""
        try:
            return _source(other, name)
        except InvalidInput:
            self._its.note("link", other)
            return ""

    def _section(self, heading: str, body: str) -> None:
        plain = heading.strip().lower().removesuffix("(optional)").strip()
        name = _HEADINGS.get(plain)
        if name == "comment":
            self._comments(body)
        elif name is None or name in self._sections:
            self._its.note("section" if heading else "text", f"{heading}\n{body}".strip("\n"))
        else:
            self._sections[name] = body

    def _comments(self, body: str) -> None:
        rest = []
        for number, part in enumerate(body.split(_COMMENT[0])):
            inner, end, behind = part.partition(_COMMENT[1])
            if not number or not end:
                rest.append(part)
                continue
            rest.append(behind)
            head, fence, said = inner.strip("\n").partition("\n---\n")
            lines = head.split("\n")
            if fence and all(line.startswith(("author: ", "created: ")) for line in lines):
                by = ", ".join(line.partition(": ")[2] for line in lines)
                self._its.note("comment", f"by {by}\n{said.removesuffix('---').rstrip()}")
            else:
                self._its.note("comment", inner)
        left = "\n".join(rest)
        for mark in _COMMENTS:
            left = left.replace(mark, "")
        self._its.note("comments", left.strip("\n"))

    def _criteria(self) -> list[str]:
        found: list[str] = []
        for name in ("criteria", "definition of done"):
            items, beside = _items(self._sections.pop(name, ""))
            first = len(found) + 1
            found += [one for _, one in items]
            done = [str(n) for n, (ticked, _) in enumerate(items, first) if ticked]
            self._its.note(f"{name} ticked off", ", ".join(done))
            if name != "criteria" and items:
                self._its.note(name, f"criteria {first} to {len(found)}")
            self._its.note(f"text among the {name}", beside)
        return found


def _source(name: str, beside: str) -> str:
    """The source of a task.  Its prefix may be left out where ``beside`` shows it; case is none."""
    name = name.strip().upper()
    if name.replace(".", "0").isdigit() and "-" in beside:
        name = f"{beside.upper().rpartition('-')[0]}-{name}"
    return foreign.source_of(NAME, name)


def _sections(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The sections of a file: heading and text, marks left off; what stands before has none."""
    heading, body = "", list[str]()
    end = fence = ""
    for line in lines:
        plain = line.strip()
        if end:
            if plain == end:
                end = ""
            else:
                body.append(line)
        elif plain.startswith("<!-- ") and plain.endswith(":BEGIN -->") and "COMMENT" not in plain:
            end = plain.replace(":BEGIN", ":END")
        elif line.startswith("## ") and not fence:
            yield heading, "\n".join(body).strip("\n")
            heading, body = line[3:], []
        else:
            if plain.startswith(("```", "~~~")) and (not fence or plain == fence):
                fence = "" if fence else plain[:3]
            body.append(line)
    yield heading, "\n".join(body).strip("\n")


def _items(body: str) -> tuple[list[tuple[bool, str]], str]:
    """The items of a list, ticked off or not; and the text that is none of it."""
    items: list[tuple[bool, str]] = []
    beside = []
    for line in body.split("\n"):
        if line.startswith(("- ", "* ")):
            done, said = foreign.ticked(line[2:].strip())
            mark, _, behind = said.partition(" ")
            number = mark[:1] == "#" and mark[1:].isdigit() and behind.strip()
            items.append((done, behind.strip() if number else said))
        elif line[:1] in (" ", "\t") and line.strip() and items:
            done, said = items[-1]
            items[-1] = (done, f"{said} {line.strip()}")
        elif line.strip():
            beside.append(line)
    return [one for one in items if one[1]], "\n".join(beside)
