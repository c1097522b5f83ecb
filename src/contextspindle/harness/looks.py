"""Looks into a transcript of JSON lines for one thing, where its turns are not wanted.

By bytes, in bounded memory: a mark is looked for, and only a line that has it is taken apart.
"""

from __future__ import annotations

import os
import sys

from ..errors import TranscriptUnreadable
from .lines import CHUNK, FRUGAL, LONGEST, TAIL, objects, open_transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .lines import Parser


def later(path: str, first: bytes, then: bytes) -> bool | None:
    """Whether ``then`` occurs in the file behind the first occurrence of ``first``.

    None if ``first`` does not occur.  Of a file of another size class its start tells: what goes on
    beside us does so from there on.
    """
    file = open_transcript(path)
    overlap = max(len(first), len(then))
    wanted, carry = first, b""
    left = FRUGAL
    try:
        while left > 0:
            left -= CHUNK
            chunk = os.read(file, CHUNK)
            if not chunk:
                break
            window = carry + chunk
            at = window.find(wanted)
            if at >= 0 and wanted is first:
                wanted = then
                window = window[at + len(first) :]
                at = window.find(wanted)
            if at >= 0:
                return True
            carry = window[-overlap:]
        return None if wanted is first else False
    except OSError:
        return False
    finally:
        os.close(file)


def marked_behind(path: str, after: int, mark: bytes) -> Iterator[tuple[int, bytes]]:
    """The whole lines behind byte ``after`` with ``mark`` in them, each with where it begins."""
    file = open_transcript(path)
    try:
        at = os.lseek(file, after, os.SEEK_SET)
        rest = b""
        while chunk := os.read(file, CHUNK):
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            for line in lines:
                if mark in line:
                    yield at, line
                at += len(line) + 1
            if len(rest) > LONGEST:  # what is left of it will be no line of any form
                at += len(rest)
                rest = b""
    finally:
        os.close(file)


def stands_in(path: str, wanted: bytes, start: int = 0, end: int = sys.maxsize) -> bool:
    """Whether ``wanted`` stands in the file from byte ``start`` to before byte ``end``."""
    file = open_transcript(path)
    try:
        at = os.lseek(file, start, os.SEEK_SET)
        carry = b""
        while at < end and (chunk := os.read(file, min(CHUNK, end - at))):
            at += len(chunk)
            window = carry + chunk
            if wanted in window:
                return True
            carry = window[-len(wanted) :]
        return False
    finally:
        os.close(file)


def summary_behind(path: str, after: int, mark: bytes, parser: Parser) -> str:
    """The latest summary behind byte ``after``: what ``parser`` says of the lines with ``mark``.

    Empty if there is none, and for a file that cannot be read.
    """
    from ..core.transcript import SUMMARY

    try:
        file = open_transcript(path)
        try:
            tail = os.pread(file, TAIL, after) if os.fstat(file).st_size > after else b""
        finally:
            os.close(file)
    except (OSError, TranscriptUnreadable):
        return ""
    found = ""
    for line in tail.split(b"\n") if mark in tail else ():
        for entry in objects(line)[0] if mark in line else ():
            for turn in parser.turns(1, entry):
                found = turn.text if turn.kind == SUMMARY else found
    return found
