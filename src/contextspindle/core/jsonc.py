"""A JSON document as its author wrote it, comments, order and blanks included.

A settings file belongs to its user.  So it is never written anew: a value is found by its place in
the text, and an edit changes that place and not one byte beside it.  Comments and trailing commas
are read, because people write them; what else is not JSON is refused with its line.
"""

from __future__ import annotations

from . import canon
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BLANK = " \t\r\n"
DEPTH = 200
"""The deepest nesting that is read."""


class Node(Value):
    """A value and where it stands: ``text[start:end]``.

    ``members`` of an object are keys with their nodes, ``items`` those of an array.
    """

    start: int
    end: int
    value: Any
    members: tuple[tuple[str, int, Node], ...] = ()
    """Key, where the key begins, and the node."""
    items: tuple[Node, ...] = ()

    def member(self, key: str) -> Node | None:
        """The node of a key; the last one, if it stands there twice, as readers take it."""
        found = None
        for name, _, node in self.members:
            if name == key:
                found = node
        return found


def parse(text: str) -> Node:
    """The one value of ``text``.  ValueError names the line where it is no JSON with comments."""
    reader = _Reader(text)
    node = reader.value(reader.skip(1 if text.startswith("\ufeff") else 0), 0)
    if reader.skip(node.end) < len(text):
        raise reader.error(reader.skip(node.end), "there is something behind the end")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def error(self, at: int, what: str) -> ValueError:
        return ValueError(f"line {self.text.count(chr(10), 0, at) + 1}: {what}")

    def skip(self, at: int) -> int:
        """Where the next thing begins that is neither blank nor comment."""
        text = self.text
        while at < len(text):
            if text[at] in _BLANK:
                at += 1
            elif text.startswith("//", at):
                end = text.find("\n", at)
                at = len(text) if end < 0 else end
            elif text.startswith("/*", at):
                end = text.find("*/", at + 2)
                if end < 0:
                    raise self.error(at, "a comment is not closed")
                at = end + 2
            else:
                break
        return at

    def value(self, at: int, depth: int) -> Node:
        if depth > DEPTH:
            raise self.error(at, "it is nested too deeply")
        opening = self.text[at : at + 1]
        if opening == "{":
            return self.object(at, depth)
        if opening == "[":
            return self.array(at, depth)
        try:
            value, end = canon.scan(self.text, at)
        except ValueError:
            raise self.error(at, "a value is missing or malformed") from None
        return Node(at, end, value)

    def object(self, start: int, depth: int) -> Node:
        members: list[tuple[str, int, Node]] = []
        at = self.skip(start + 1)
        while self.text[at : at + 1] != "}":
            if self.text[at : at + 1] != '"':
                raise self.error(at, "a key in quotes, or the end of the object, is missing")
            key = self.value(at, depth)
            colon = self.skip(key.end)
            if self.text[colon : colon + 1] != ":":
                raise self.error(colon, "a colon is missing")
            node = self.value(self.skip(colon + 1), depth + 1)
            members.append((key.value, at, node))
            at = self.next(node.end, "}")
        value = {key: node.value for key, _, node in members}
        return Node(start, at + 1, value, members=tuple(members))

    def array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        at = self.skip(start + 1)
        while self.text[at : at + 1] != "]":
            items.append(self.value(at, depth + 1))
            at = self.next(items[-1].end, "]")
        return Node(start, at + 1, [node.value for node in items], items=tuple(items))

    def next(self, at: int, closing: str) -> int:
        """Where the next entry, or the end, begins: behind a comma, if there is one."""
        at = self.skip(at)
        if self.text[at : at + 1] == ",":
            return self.skip(at + 1)
        if self.text[at : at + 1] != closing:
            raise self.error(at, f"a comma or {closing!r} is missing")
        return at


# -- edits: each gives the whole text anew, and nothing outside of the edited place differs


def add_member(text: str, node: Node, key: str, value: Any) -> str:
    """``text`` with one more member at the end of the object ``node``."""
    return _added(text, node, f"{canon.text(key)}: {{}}", value)


def add_item(text: str, node: Node, value: Any) -> str:
    """``text`` with one more item at the end of the array ``node``."""
    return _added(text, node, "{}", value)


def remove_item(text: str, node: Node, index: int) -> str:
    """``text`` without one item of the array ``node``; comments around it stay."""
    return _removed(text, node, index)


def remove_member(text: str, node: Node, key: str) -> str:
    """``text`` without a member of the object ``node``, the one that readers take; so comments."""
    index = max(at for at, (name, _, _) in enumerate(node.members) if name == key)
    return _removed(text, node, index)


def removed(text: str, *steps: str | int) -> str:
    """``text`` without the value that ``steps`` lead to, and without what held nothing but that.

    What holds a comment besides is left standing, empty.
    """
    reached = [parse(text)]
    indexes: list[int] = []
    for step in steps:
        node = reached[-1]
        if isinstance(step, str):
            step = max(at for at, (name, _, _) in enumerate(node.members) if name == step)
        indexes.append(step)
        reached.append(_children(node)[step])
    depth = len(steps) - 1
    while depth and len(_children(reached[depth])) == 1:
        start, _ = _places(reached[depth - 1])[indexes[depth - 1]]
        if commented(text, start, reached[depth]):
            break
        depth -= 1
    return _removed(text, reached[depth], indexes[depth])


def commented(text: str, start: int, node: Node) -> bool:
    """Whether a comment is in ``text[start:node.end]``, not counting those within what node holds.

    ``start`` is where the node begins, or its key.
    """
    reader = _Reader(text)
    gaps = []
    at = node.start + 1
    if start < node.start:
        gaps.append(text[reader.value(start, 0).end : node.start])
    for (begin, end), child in zip(_places(node), _children(node), strict=True):
        gaps.append(text[at:begin])
        if begin < child.start:
            gaps.append(text[reader.value(begin, 0).end : child.start])
        at = end
    gaps.append(text[at : node.end - 1])
    return any("/" in gap for gap in gaps)


def replaced(text: str, node: Node, value: Any) -> str:
    """``text`` with ``value`` in the place of ``node``, on as many lines as that took."""
    several = "\n" in text[node.start : node.end]
    line_end = "\r\n" if "\r\n" in text else "\n"
    indent, unit = (_indent_of(text, node.start), _unit(text)) if several else ("", "")
    return text[: node.start] + _pretty(value, indent, unit, line_end) + text[node.end :]


def _children(node: Node) -> tuple[Node, ...]:
    return node.items or tuple(child for _, _, child in node.members)


def _places(node: Node) -> list[tuple[int, int]]:
    """Where each entry of a node stands, its key included."""
    if node.items:
        return [(item.start, item.end) for item in node.items]
    return [(at, child.end) for _, at, child in node.members]


def _added(text: str, node: Node, entry: str, value: Any) -> str:
    line_end = "\r\n" if "\r\n" in text else "\n"
    outer, unit, places = _indent_of(text, node.start), _unit(text), _places(node)
    inside = text[node.start + 1 : node.end - 1]
    body = inside.rstrip(_BLANK)
    behind = inside[len(body) :] if body else line_end + outer
    inner = _indent_of(text, places[0][0]) if places else outer + unit
    alone = "\n" in (text[node.start : places[0][0]] if places else behind)
    # An entry on a line of its own is written over several lines, as the file does it.
    shown = _pretty(value, inner if alone else "", unit if alone else "", line_end)
    shown = (line_end + inner if alone else " ") + entry.replace("{}", shown, 1)
    if not places:
        return f"{text[: node.start + 1]}{body}{shown}{behind}{text[node.end - 1 :]}"
    last = places[-1][1]
    comma = _Reader(text).skip(last)
    if text[comma] == ",":  # a trailing comma stays one
        at = _comments_of_line(text, comma + 1) if alone else comma + 1
        return f"{text[:at]}{shown},{text[at:]}"
    at = _comments_of_line(text, last) if alone else last
    return f"{text[:last]},{text[last:at]}{shown}{text[at:]}"


def _comments_of_line(text: str, at: int) -> int:
    """Behind the comments that follow ``at`` on its line: they are about what stands before."""
    found = at
    while True:
        while text[at : at + 1] in (" ", "\t"):
            at += 1
        if text.startswith("//", at):
            end = text.find("\n", at)
            return end - 1 if text[end - 1] == "\r" else end
        end = text.find("*/", at + 2) + 2 if text.startswith("/*", at) else at
        if end == at or "\n" in text[at:end]:
            return found
        at = found = end


def _removed(text: str, node: Node, index: int) -> str:
    places = _places(node)
    start, end = places[index]
    reader = _Reader(text)
    comma = reader.skip(end)
    own = text[comma : comma + 1] == ","
    # A comment between the entry and its own comma stays.
    between = text[end:comma] if own and text[end:comma].strip(_BLANK) else ""
    rest = between + text[comma + 1 :] if own else text[end:]
    if index < len(places) - 1:
        return _cut_before_another(text[:start], rest)
    head = places[index - 1][1] if index else node.start + 1
    gap = text[head:start]
    if not index:
        # Alone: what stood between the brackets goes with it, unless there is a comment in it.
        closing = len(rest) - (len(text) - node.end + 1)
        if not (gap + rest[:closing]).strip(_BLANK):
            return text[:head] + rest[closing:]
    elif not own:  # the comma before it was there for this entry
        before = reader.skip(head) - head
        gap = gap[:before] + gap[before + 1 :]
    return text[:head] + _cut_at_end(gap, rest)


def _cut_before_another(before: str, rest: str) -> str:
    """Both, joined where an entry was; the lines that it had for itself go with it."""
    left = rest.lstrip(" \t")
    if not left.startswith(("\n", "\r\n")):
        return before + left
    line = before.rfind("\n") + 1
    if line and not before[line:].strip(" \t"):
        return before[:line] + left[left.index("\n") + 1 :]
    return before.rstrip(" \t") + left


def _cut_at_end(gap: str, rest: str) -> str:
    """Both, joined where the last entry was, without the blanks that stood before it."""
    at = end = 0
    open_end = False
    while at < len(gap):
        if gap.startswith("//", at):
            end = gap.find("\n", at)
            at = end = end - 1 if gap[end - 1] == "\r" else end
            open_end = True
        elif gap.startswith("/*", at):
            at = end = gap.index("*/", at + 2) + 2
            open_end = False
        else:
            at += 1
            if gap[at - 1] not in _BLANK:
                end, open_end = at, False
    left = rest.lstrip(" \t")
    if open_end and not left.startswith(("\n", "\r\n")):
        return gap + left  # what follows must not become part of that comment
    return gap[:end] + rest


def _indent_of(text: str, at: int) -> str:
    """The blanks that the line of ``at`` begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """What the document indents by: that of its first indented line, else two blanks."""
    for line in text.split("\n"):
        blanks = line[: len(line) - len(line.lstrip(" \t"))]
        if blanks and line.strip():
            return blanks
    return "  "


def _pretty(value: Any, indent: str, unit: str, line_end: str) -> str:
    if not isinstance(value, (dict, list)) or not value:
        return canon.text(value)
    if not unit:
        return _flat(value)
    inner = indent + unit
    if isinstance(value, dict):
        rows = [
            f"{inner}{canon.text(key)}: {_pretty(one, inner, unit, line_end)}"
            for key, one in value.items()
        ]
        opening, closing = "{", "}"
    else:
        rows = [f"{inner}{_pretty(one, inner, unit, line_end)}" for one in value]
        opening, closing = "[", "]"
    return f"{opening}{line_end}{f',{line_end}'.join(rows)}{line_end}{indent}{closing}"


def _flat(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_pretty(one, "", "", "") for one in value) + "]"
    inside = ", ".join(
        f"{canon.text(key)}: {_pretty(one, '', '', '')}" for key, one in value.items()
    )
    return "{" + inside + "}"
