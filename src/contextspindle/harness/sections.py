"""Texts of ours beside somebody's own: one marked section of a file, or a file that is all ours."""

from __future__ import annotations

import os

BEGIN = (
    "<!-- contextspindle: begin; written by 'contextspindle setup', taken out by its --remove -->"
)
END = "<!-- contextspindle: end -->"
_MARK = "<!-- contextspindle: begin"


def text_of(name: str) -> str:
    """A text that comes with the program."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "texts", name)
    with open(path, encoding="utf-8") as file:
        return file.read()


class Section:
    """A section between two marks; around it, every byte is somebody's."""

    NAME = "instructions"

    def __init__(self, text: str) -> None:
        self._text = f"{BEGIN}\n{text.strip()}\n{END}\n"

    def means(self, text: str | None) -> object:
        """What is not blank of the text."""
        return (text or "").strip()

    def there(self, text: str) -> bool:
        """Whether there is a section."""
        return _MARK in text

    def with_ours(self, text: str) -> str:
        """The text with our section: where there is one already, else at the end."""
        found = self._found(text)
        if found:
            return text[: found[0]] + self._text + text[found[1] :]
        if not text.strip():
            return self._text
        return text.rstrip("\n") + "\n\n" + self._text

    def without_ours(self, text: str) -> str:
        """The text without our section."""
        found = self._found(text)
        if not found:
            return text
        before, behind = text[: found[0]], text[found[1] :]
        return before.rstrip("\n") + "\n" * bool(before.strip()) + behind

    def _found(self, text: str) -> tuple[int, int] | None:
        start, end = text.find(_MARK), text.find(END)
        if start < 0 and end < 0:
            return None
        if not 0 <= start < end or text.count(_MARK) != 1 or text.count(END) != 1:
            raise ValueError("the marks of our section do not fit together")
        end += len(END)
        return start, end + 1 if text[end : end + 1] == "\n" else end


class WholeFile:
    """A file that is ours from its first byte to its last; one of somebody else's is left alone."""

    def __init__(self, text: str, name: str = "files") -> None:
        self.NAME = name
        self._text = text

    def means(self, text: str | None) -> object:
        """What is not blank of the text."""
        return (text or "").strip()

    def there(self, text: str) -> bool:
        """Whether it is a file of ours."""
        return SIGN in text

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
