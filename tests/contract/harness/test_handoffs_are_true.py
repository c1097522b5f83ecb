"""Every line of a handoff is a quotation from the line that it points to, or of a closed list.

The recorded sessions are read with the plainest means (the JSON of each line, all its strings), so
that what is held against the handoff knows nothing of how it was made.  White space and the signs
of Markdown are folded; an ellipsis and a mask stand for anything.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from contextspindle.core import draft, restoration
from contextspindle.core.extract import Extractor
from contextspindle.core.redaction import MASK
from contextspindle.core.restoration import Header, assemble
from contextspindle.core.text import folded
from contextspindle.core.transcript import CLOSING, OPENING
from contextspindle.errors import TranscriptUnreadable
from contextspindle.harness import detect

pytestmark = pytest.mark.real_data

HEADER = Header("s" * 36, 1, "2026-11-30T04:06:23.123Z", more="contextspindle fuse restore")

FIXED = (
    re.escape(OPENING),
    re.escape(CLOSING),
    r"Session s{36}, compaction 1, saved 2026-11-30T04:06:23\.123Z\.",
    r"Session s{36}\.",
    r"Left out: \d+ [a-z' ]+(, \d+ [a-z' ]+)*"
    r"( \(more: contextspindle fuse restore\))?\.",
    r"\[L\d+\] the user's last words, below",
    *(
        rf"## {re.escape(short)}({re.escape(more)})?"
        for short, more, _ in restoration._SECTIONS.values()
    ),
)
"""Whole lines that quote nothing."""

LABELS = (
    r"the first request: ",
    r"asked for later: ",
    r"unanswered: ",
    r"\(unanswered\): ",
    r"failed: ",
    r"branch: ",
    r"pull request: ",
    r"git status: ",
    r"user's shell( failed| gave)?: ",
    r"(then )?[A-Za-z_][\w.-]*( failed| gave)?: ",  # of a tool
    r"\(approved plan\) ",
)
"""What may stand between a pointer and what it points to."""


def strings(value: Any) -> list[str]:
    """Every string in a JSON value, in its order; one that is itself an object is decoded too."""
    if isinstance(value, str):
        try:
            inner = json.loads(value) if value.startswith("{") else None
        except ValueError:
            inner = None
        return [value, *(strings(inner) if isinstance(inner, dict) else ())]
    if isinstance(value, dict):
        return [one for part in value.values() for one in strings(part)]
    if isinstance(value, list):
        return [one for part in value for one in strings(part)]
    return [str(value)]


def plain(text: str) -> str:
    """``text`` without the signs of Markdown and the tags of commands, white space folded."""
    text = re.sub(r"</?command-[a-z]+>", " ", folded(text))
    return " ".join(re.sub(r"[*`#|>•_\-]+", " ", text).split())


class Source:
    """The decoded text of a transcript's lines."""

    def __init__(self, path: Path) -> None:
        self.rows = path.read_bytes().split(b"\n")
        self.known: dict[int, str] = {}

    def line(self, number: int) -> str:
        if number not in self.known:
            try:
                found = strings(json.loads(self.rows[number - 1]))
            except ValueError:
                found = [self.rows[number - 1].decode("utf-8", "replace")]
            self.known[number] = plain(" ".join(found))
        return self.known[number]

    def holds(self, quote: str, number: int) -> bool:
        """Whether ``quote`` stands in a line, its gaps filled with anything.

        A heading may be followed by one of its items, and a long request may have lost the code in
        it: then each piece stands there, in order, and the pieces are no scraps.
        """
        text, at = self.line(number), 0
        for piece in re.split(r"…(?: \d+ bytes left out …)?|" + re.escape(MASK), quote):
            at = _behind(text, plain(piece).split(), at)
            if at < 0:
                return False
        return True

    def holds_before(self, quote: str, number: int) -> bool:
        """Whether it stands in that line or in one before it."""
        return any(self.holds(quote, one) for one in range(number, 0, -1))


def _behind(text: str, words: list[str], at: int) -> int:
    """Where in ``text`` the words end, found from ``at`` on as few pieces in order; else -1."""
    pieces = 0
    while words:
        taken = found = 0
        low, high = 1, len(words)
        while low <= high:
            middle = (low + high) // 2
            place = text.find(" ".join(words[:middle]), at)
            if place >= 0:
                taken, found = middle, place
                low = middle + 1
            else:
                high = middle - 1
        scrap = taken < 2 and len(words) > 1 and pieces > 0  # one word may be a heading
        if not taken or scrap:
            return -1
        at = found + len(" ".join(words[:taken]))
        words = words[taken:]
        pieces += 1
    return at if pieces <= 12 else -1


def is_true(source: Source, number: int, said: str) -> bool:
    """Whether what stands behind the pointer to a line is a quotation from it."""
    if source.holds(said, number):
        return True
    for label in LABELS:
        found = re.match(label, said)
        if found and is_true(source, number, said[found.end() :]):
            return True
    return is_of_state(source, number, said) or is_with_its_occasion(source, number, said)


def is_of_state(source: Source, number: int, said: str) -> bool:
    """Facts of which a part stands in an earlier line than the one that settled them."""
    if found := re.match(r"last test run(?: failed)?: (.*) -> (.*)$", said):
        verdict = found[2] in ("no output", "failed, no output") or source.holds(found[2], number)
        return verdict and source.holds_before(found[1], number)
    if found := re.match(r"commit: ([0-9a-f]{7,40}) (.*)$", said):
        return source.holds(found[1], number) and source.holds(found[2], number)
    if found := re.match(r"\w+ (?:sent(?: as (\S+))?|called): (.*)$", said):
        named = not found[1] or source.holds_before(found[1], len(source.rows))
        return named and source.holds_before(found[2], number)
    if found := re.match(r"(?:step done: )?#\S+ ?(?:[a-z_]+)?: (.*)$|step done: #\S+ (.*)$", said):
        title, _, note = (found[1] or found[2]).partition(draft.NOTE)
        if source.holds_before(title, number):
            return not note or source.holds_before(note, number)
        return any(
            source.holds_before(title[: cut.start()], number)
            and source.holds_before(title[cut.end() :], number)
            for cut in re.finditer(": ", title)
        )
    return False


def is_with_its_occasion(source: Source, number: int, said: str) -> bool:
    """Words of the human with what they answer or refuse, which stands in an earlier line."""
    lead = r"\((?:unanswered; )?(?:re: |refusing \S* ?)"
    for pattern, words, occasion in (
        (lead + r"(.*)\): (.*)$", 2, 1),
        (r"(.*) \((?:re: |refusing \S* ?)(.*)\)$", 1, 2),
    ):
        found = re.match(pattern, said)
        if found and source.holds(found[words], number):
            return is_occasion(source, number, found[occasion])
    return False


def is_occasion(source: Source, number: int, asked: str) -> bool:
    """What the agent said before: from several of its lines, or an option and its question."""
    told = re.split(r"(?<=[.?!:…]) ", asked)
    if all(source.holds_before(one, number) for one in told):
        return True
    return any(
        source.holds_before(asked[: cut.start()], number)
        and source.holds_before(asked[cut.end() :], number)
        for cut in re.finditer(" ", asked)
    )


def paths_of(told: str) -> list[str]:
    """The files of a line in which folders may be named once: ``in root: a/{b, c}, d``."""
    root, inside, rest = told.rpartition(": ")
    prefix = root.removeprefix("in ") if inside else ""
    return [
        prefix + folder + name
        for folder, names, single in re.findall(
            r"([^,{} ][^,{}]*)\{([^}]*)\}|([^,{} ][^,{}]*)", rest
        )
        for name in (names.split(", ") if names else [single])
        if folder or name
    ]


def untrue(source: Source, text: str) -> list[str]:
    """The lines of a handoff that are neither quotations nor of the closed list."""
    wrong = []
    lines = text.rstrip("\n").split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if any(re.fullmatch(one, line) for one in FIXED):
            continue
        if re.match("(changed, newest first|uncommitted, as far as seen): ", line):
            names = paths_of(line.partition(": ")[2])
            wrong += [n for n in names if not source.holds_before(n, len(source.rows))]
            continue
        if line.startswith("steps done: "):
            steps = re.findall(r"\[L(\d+)\] (#.*?)(?=; \[L|$)", line)
            wrong += [t for n, t in steps if not is_true(source, int(n), f"step done: {t}")]
            continue
        if line.startswith("names new in edits: "):
            named = re.findall(r"\[L(\d+)\] (.*?)(?=; \[L|$)", line)
            wrong += [
                one
                for number, names in named
                for one in names.split(", ")
                if not source.holds(one, int(number))
            ]
            continue
        found = re.match(r"\[L(\d+)\] ?(.*)$", line)
        if not found:
            wrong.append(line)
            continue
        said = found[2]
        if at < len(lines) and re.fullmatch(r"<<said-[0-9a-f]+", lines[at]):
            mark = lines[at][2:] + ">>"
            end = lines.index(mark, at)
            said = f"{said} {' '.join(lines[at + 1 : end])}".strip()
            at = end + 1
        if not is_true(source, int(found[1]), said):
            wrong.append(line)
    return wrong


def handoff(path: Path, budget: int) -> str:
    extractor = Extractor()
    for turn in detect(str(path)).read(str(path)):
        extractor.feed(turn)
    return assemble(extractor.draft(), HEADER, budget=budget)


def sessions(data_folder: Path) -> list[Path]:
    return sorted((data_folder / "transcripts").rglob("*.jsonl"))


@pytest.mark.parametrize("budget", [2_000, 9_000])
def test_every_line_of_a_handoff_is_a_quotation_or_of_the_closed_list(
    data_folder, tmp_path, budget, long_run
):
    told = 0
    for path in sessions(data_folder):
        rows = path.read_bytes().split(b"\n")
        for share in (0.2, 0.4, 0.6, 0.8, 1) if long_run else (0.5, 1):
            cut = tmp_path / "cut.jsonl"
            cut.write_bytes(b"\n".join(rows[: int(len(rows) * share)]) + b"\n")
            try:
                text = handoff(cut, budget)
            except TranscriptUnreadable:  # of a program that is not read yet
                continue
            assert untrue(Source(cut), text) == [], (path.name, share)
            told += text.count("\n[L")
    assert told > 300


def test_a_line_that_nobody_said_is_found(data_folder):
    path = sessions(data_folder)[0]
    source = Source(path)
    text = handoff(path, 6_000)
    pointer = re.search(r"\[L\d+\]", text)
    assert pointer
    for invented in (
        f"- {pointer[0]} The user wants it shipped by the end of the second week.",
        "The user always wants tests.",
        "changed, newest first: no/such/file.py",
        f"- {pointer[0]} commit: 1234567 A commit that nobody made",
    ):
        assert untrue(source, f"{text}{invented}\n"), invented
