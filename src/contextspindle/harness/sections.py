"""Texts of ours beside somebody's own: one marked section of a file, or a file that is all ours."""

from __future__ import annotations

import os

END = "<!-- contextspindle: end -->"
_MARK = "<!-- contextspindle: begin"
_UNENDED, _EMPTY = " behind a line without an end", " in an empty file"
"""What the first mark says of where the section was put, so that it can be taken out exactly."""


def text_of(name: str) -> str:
    """A text that comes with the program."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "texts", name)
    with open(path, encoding="utf-8") as file:
        return file.read()


class Section:
    """A section between two marks; around it, every byte is somebody's."""

    NAME = "instructions"

    def __init__(self, text: str, *, by: str = "setup", exists: bool = False) -> None:
        """``by`` is the command that brings it; ``exists`` whether there is a file already."""
        self._text = text.strip()
        self._by = by
        self._exists = exists

    def left_of(self, kept: str, text: str) -> bool:
        """Whether the text is what was kept, or neither has anything in it."""
        return text == kept or not (text + kept).strip()

    def there(self, text: str) -> bool:
        """Whether there is a section."""
        return _MARK in text

    shared = there

    def with_ours(self, text: str) -> str:
        """The text with our section: where there is one already, else at the end."""
        found = self._found(text)
        if found:
            start, end = found
            own = text[start:end]  # around it a line's end may have come about by our own gap
            return text[:start] + self._section(own, _place(own)) + text[end:]
        if not text:
            return self._section(text, _EMPTY if self._exists else "")
        line = _line_end(text)
        if text.endswith("\n"):
            return text + line + self._section(text, "")
        return text + line * 2 + self._section(text, _UNENDED)

    def without_ours(self, text: str) -> str:
        """The text without our section and without what was put before it: else to the byte."""
        found = self._found(text)
        if not found:
            return text
        start, end = found
        before, behind, line = text[:start], text[end:], _line_end(text[start:end])
        if _place(text[start:end]) == _UNENDED:
            before = before.removesuffix(line * 2)
        elif before.endswith("\n" + line):
            before = before.removesuffix(line)
        return before + behind

    def was_empty(self, text: str) -> bool:
        """Whether our section was put into a file that had nothing in it."""
        found = self._found(text)
        return found is not None and _place(text[found[0] : found[1]]) == _EMPTY

    def _section(self, text: str, place: str) -> str:
        """The section, its lines ending as those of ``text`` do."""
        by = f"written by 'contextspindle {self._by}', taken out by its --remove"
        lines = f"{_MARK}{place}; {by} -->\n{self._text}\n{END}\n"
        return lines.replace("\n", _line_end(text))

    def _found(self, text: str) -> tuple[int, int] | None:
        start, end = text.find(_MARK), text.find(END)
        if start < 0 and end < 0:
            return None
        if not 0 <= start < end or text.count(_MARK) != 1 or text.count(END) != 1:
            raise ValueError("the marks of our section do not fit together")
        end += len(END)
        behind = next((one for one in ("\r\n", "\n") if text.startswith(one, end)), "")
        return start, end + len(behind)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _place(section: str) -> str:
    mark = section.partition("-->")[0]
    return next((one for one in (_UNENDED, _EMPTY) if one in mark), "")


class WholeFile:
    """A file that is ours from its first byte to its last; one of somebody else's is left alone."""

    def __init__(self, text: str, name: str = "files") -> None:
        self.NAME = name
        self._text = text

    def left_of(self, kept: str, text: str) -> bool:
        """Whether the text is what was kept, or neither has anything in it."""
        return text == kept or not (text + kept).strip()

    def there(self, text: str) -> bool:
        """Whether it is a file of ours."""
        return SIGN in text

    shared = there

    def with_ours(self, text: str) -> str:
        """Our text."""
        if text.strip() and SIGN not in text:
            raise ValueError("there is another file of this name")
        return self._text

    def without_ours(self, text: str) -> str:
        """Nothing, if the file is ours."""
        return "" if SIGN in text else text


SIGN = "contextspindle: this file is written by 'contextspindle setup'"
"""What such a file says of itself, in a comment of its own language."""
