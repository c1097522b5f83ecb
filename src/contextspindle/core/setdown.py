"""How what was chosen for a restoration is set down: a line behind a pointer, or words in a frame.

No stored text can pass for a heading or a field here: it is folded into its line, and the human's
last words stand in a frame whose mark is made from the text itself.
"""

from __future__ import annotations

from . import digest
from .draft import ASKED, DECIDED, FOUND, NOTE, RULE, STEP, UNANSWERED, UNCOMMITTED, Item
from .text import ELLIPSIS, cut, cut_start, folded, shortened, size

_FILES = "changed, newest first: "
_UNCOMMITTED = "uncommitted, as far as seen: "
_NAMES = "names new in edits: "
_WORTH_BRACES = 8  # bytes of a folder's name saved from which on its files share it
_MANY = 3  # files from which on the folder that all are in is named once


def pointer(item: Item) -> str:
    return f"[L{item.line}]" if item.line else "[-]"


def quoted_line(items: list[Item]) -> str:
    """Quotations of one turn on one line, in their order there."""
    item = items[0]
    text = folded(item.text)
    at = item.at
    for after in items[1:]:
        text += " " if after.at == at + 1 else f" {ELLIPSIS} "
        text += folded(after.text)
        at = after.at
    about = folded(next((one.about for one in items if one.about), ""))
    if item.section in (DECIDED, RULE, ASKED) and about:
        text = f"{text} ({about})"
    elif item.section == FOUND and (about or item.mark):
        text = f"{' '.join(filter(None, (about, item.mark)))}: {text}"
    if item.mark == UNANSWERED:
        text = f"unanswered: {text}"
    return f"{pointer(item)} {text}"


def state_line(item: Item, note_bytes: int) -> str:
    """A step, a work without result, or an item of state."""
    about = folded(item.about)
    text = folded(item.text)
    if item.section == STEP:
        title, _, note = text.partition(NOTE)
        text = f"{title}{NOTE}{shortened(note, note_bytes)}" if note and note_bytes else title
    mark = f" {item.mark}" if item.mark else ""
    return f"{pointer(item)} {about}{mark}: {text}"


def file_line(items: list[Item]) -> str:
    """Files on one line, the newest first; a folder that several are in is named once."""
    paths = [folded(item.text) for item in items]
    root = _root(paths)
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, slash, name = path.removeprefix(root).rpartition("/")
        folders.setdefault(folder + slash, []).append(name)
    parts = []
    for folder, names in folders.items():
        if len(folder) * (len(names) - 1) > _WORTH_BRACES:
            parts.append(f"{folder}{{{', '.join(names)}}}")
        else:
            parts += [folder + name for name in names]
    label = _UNCOMMITTED if items[0].mark == UNCOMMITTED else _FILES
    return f"{label}{f'in {root}: ' if root else ''}{', '.join(parts)}"


def done_line(items: list[Item]) -> str:
    """Finished steps on one line, the newest first, each behind its pointer."""
    return "steps done: " + "; ".join(f"{pointer(one)} {folded(one.text)}" for one in items)


def name_line(items: list[Item]) -> str:
    """The names that edits brought in on one line, in their order, each edit behind its pointer."""
    named: dict[str, list[str]] = {}
    for item in items:
        named.setdefault(pointer(item), []).append(folded(item.text))
    return _NAMES + "; ".join(f"{lead} {', '.join(names)}" for lead, names in named.items())


def _root(paths: list[str]) -> str:
    """The folder that all of many paths are in, with its slash."""
    if len(paths) < _MANY:
        return ""
    parts = [path.split("/")[:-1] for path in paths]
    common = 0
    while all(len(part) > common and part[common] == parts[0][common] for part in parts):
        common += 1
    return "".join(f"{name}/" for name in parts[0][:common])


def framed(lead: str, text: str) -> str:
    """``text`` word for word behind its lead; of several lines, within a frame."""
    if "\n" not in text:
        return f"{lead} {text}"
    mark = _mark(text)
    return f"{lead}\n<<{mark}\n{text}\n{mark}>>"


def ends(text: str, end: int) -> str:
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
