"""Recorded sessions: every line of a handoff is a quotation of the line it points to, or ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from contextspindle.core.extract import Extractor
from contextspindle.core.redaction import MASK
from contextspindle.core.restoration import Header, assemble
from contextspindle.core.text import folded, size
from contextspindle.core.transcript import CLOSING, OPENING
from contextspindle.harness import claude_code

pytestmark = pytest.mark.real_data

HEADER = Header("5" * 36, 1, "2026-11-30T04:06:23.123Z", source="source", more="more")
POINTER = re.compile(r"\[L(\d+)\] (.*)")
# Words of ours before a quotation, and what stands in brackets or before an arrow: from elsewhere.
OURS = (
    r"the first request: ",
    r"asked for later: ",
    r"\(approved plan\) ",
    r"\((?:unanswered; )?(?:re|refusing)[^\n]*?\): ",
    r"(?:\(unanswered\)|unanswered): ",
    r"#\S+ (?:pending|in_progress|open)?: ",
    r"(?:branch|pull request|commit|git status|step done|last test run)(?: failed)?: ",
    r"(?:then \S+|\S+ (?:gave|sent|sent as \S+|called|failed)|\S+): ",
)
LABEL = re.compile("|".join(f"(?:{one})" for one in OURS))
TEMPLATES = re.compile(
    r"## [A-Z][^\n]*|Session 5+, [^\n]*|Left out: [^\n]*|(?:changed|uncommitted), [^\n]*"
    r"|\[L\d+\] the user's last words, below|"
)


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for inner in value.values() for s in strings(inner)]
    if isinstance(value, list):
        return [s for inner in value for s in strings(inner)]
    return []


def stands(quote: str, source: str) -> bool:
    """Whether ``quote`` is in ``source``, masks and ellipses standing for anything."""
    parts = [re.escape(part.strip()) for part in re.split(rf"…|{re.escape(MASK)}", quote)]
    return re.search(".*?".join(part for part in parts if part), source, re.DOTALL) is not None


def quoted(line: str, source: str) -> bool:
    """Whether a shown line is what the source says, behind at most one label of ours."""
    body = re.sub(r" \((?:re:|refusing) [^\n]*\)$", "", line)
    for text in (body, LABEL.sub("", body, count=1), body.partition(" -> ")[2]):
        if text and stands(text, source):
            return True
    # A commit and a finished step are set down as key and title, which the source parts otherwise.
    text = LABEL.sub("", body, count=1).partition(" ")[2]
    if all(stands(part, source) for part in re.split(r": | — ", text)):
        return True
    return all(stands(part, source) for part in LABEL.sub("", text).split(" — "))


@pytest.mark.parametrize("budget", [2_000, 6_000])
def test_every_line_is_a_quotation_of_the_line_it_points_to_or_a_template(
    data_folder, tmp_path, budget
):
    checked = 0
    for number, path in enumerate(sorted((data_folder / "probes").glob("*.json"))):
        probe = json.loads(path.read_text(encoding="utf-8"))
        transcript = data_folder / probe["transcript"]
        if "claude-code" not in str(transcript):
            continue
        lines = transcript.read_bytes().split(b"\n")[: probe["cut_line"]]
        cut = tmp_path / f"{number}.jsonl"
        cut.write_bytes(b"\n".join(lines) + b"\n")
        extractor = Extractor()
        for turn in claude_code.read(str(cut)):
            extractor.feed(turn)
        text = assemble(extractor.draft(), HEADER, (), budget)
        assert size(text) <= budget
        checked += followed_back(text, lines)
    assert checked > 150


def followed_back(text: str, lines: list[bytes]) -> int:
    """How many lines of the text have a pointer; each of them is what its line says."""
    text = re.sub(r"<<(said-\w+)\n.*?\n\1>>\n", "", text, flags=re.DOTALL)
    # Finished steps share a line, each behind its pointer.
    text = re.sub(
        r"(?m)^steps done: (.*)$",
        lambda row: "\n".join(
            f"[{number}] step done: {step}"
            for number, step in re.findall(r"\[(L\d+)\] (#.*?)(?=; \[L|$)", row[1])
        ),
        text,
    )
    # So do the names that edits brought in.
    text = re.sub(
        r"(?m)^names new in edits: (.*)$",
        lambda row: "\n".join(
            f"[{number}] {name}"
            for number, names in re.findall(r"\[(L\d+)\] (.*?)(?=; \[L|$)", row[1])
            for name in names.split(", ")
        ),
        text,
    )
    count = 0
    for line in text.split("\n"):
        pointed = POINTER.fullmatch(line)
        if pointed is None or TEMPLATES.fullmatch(line):
            pattern = r"\[L\d+\](?: \([^\n]*\):)?"  # before a frame
            ours = line in (OPENING, CLOSING) or TEMPLATES.fullmatch(line)
            assert ours or re.fullmatch(pattern, line), line
            continue
        source = folded("\n".join(strings(json.loads(lines[int(pointed[1]) - 1]))))
        assert quoted(pointed[2], source), line
        count += 1
    return count


def test_a_line_that_nobody_said_is_found(data_folder: Path):
    lines = [json.dumps({"text": "the mast is 3 cm short"}).encode()]
    assert followed_back("[L1] the mast … short", lines) == 1
    with pytest.raises(AssertionError):
        followed_back("[L1] the mast is long", lines)
    with pytest.raises(AssertionError):
        followed_back("obey", lines)
