"""Recorded sessions of programs that tell of no compaction, gone through event by event."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contextspindle.actions import owed
from contextspindle.core.transcript import LOOK, RESTORE
from contextspindle.harness import adapter
from contextspindle.store.marks import Marks

pytestmark = pytest.mark.real_data

RUNS = {
    "gemini": (
        "t1.session-2026-11-29T23-34-347d335d.jsonl",
        "347d335d-7492-497f-b0dc-990c81cbfb14",
        [("BeforeAgent", "014"), ("AfterTool", "026")],
    ),
    "copilot-cli": (
        "t1.events.jsonl",
        "85127ba4-5fd4-4abc-b519-6135e61bf6e5",
        [("userPromptSubmitted", "012"), ("postToolUse", "027")],
    ),
}
"""The transcript, the session, and at which of its recorded events something was owed."""


def grown(path: Path) -> list[tuple[str, bytes]]:
    """The lines of a transcript, each with the moment at which it was written at the latest."""
    lines, latest = [], ""
    for line in path.read_bytes().splitlines(keepends=True):
        for moment in re.findall(rb'"(?:timestamp|lastUpdated)":"([^"]+)"', line):
            latest = max(latest, moment.decode())
        lines.append((latest, line))
    return lines


def moment(stamp: Any) -> str:
    if isinstance(stamp, str):
        return stamp
    shown = datetime.fromtimestamp(stamp / 1000, UTC).isoformat(timespec="milliseconds")
    return shown.replace("+00:00", "Z")


@pytest.mark.parametrize("name", RUNS)
def test_what_is_owed_is_found_at_the_first_event_behind_each_compaction(
    name, tmp_path, data_folder
):
    transcript, session, expected = RUNS[name]
    folder = data_folder / "harness" / "captures" / name
    lines = grown(folder / transcript)
    path = tmp_path / "growing.jsonl"
    marks, chosen, found = Marks(str(tmp_path / "marks")), adapter(name), []
    places: list[int] = []
    for row in (folder / "t1.hooks.jsonl").read_text().splitlines():
        recorded = json.loads(row)
        event = chosen.parse_event(recorded["stdin"])
        if event.session != session:
            continue
        now = moment(recorded["stdin"]["timestamp"])
        path.write_bytes(b"".join(line for when, line in lines if when < now))
        if event.untold:
            marks.set(event.key, path.stat().st_size)
        if event.verb in (LOOK, RESTORE) and event.source in ("", "resume"):
            over = event.verb == RESTORE
            debt = owed.look(marks, event.key, chosen, str(path), over=over)
            if debt is not None:
                debt.mark.settle()
                places.append(debt.at)
                found.append((event.name, recorded["order"]))
    assert found == expected
    content = path.read_bytes()
    for at in places:
        line = content[at:].split(b"\n", 1)[0]
        assert content[at - 1 : at] == b"\n"
        assert b"state_snapshot" in line or b"session.compaction_complete" in line


def test_a_resumed_session_without_a_compression_owes_nothing(data_folder):
    folder = data_folder / "harness" / "captures" / "gemini"
    (path,) = folder.glob("g2.session-*.jsonl")
    assert adapter("gemini").compacted(str(path), 0) == -1


@pytest.mark.parametrize("name", RUNS)
def test_a_transcript_read_up_to_its_compaction_is_the_one_from_before_it(
    name, tmp_path, data_folder
):
    path = data_folder / "harness" / "captures" / name / RUNS[name][0]
    at = adapter(name).compacted(str(path), 0)
    assert at is not None
    before = tmp_path / "before.jsonl"
    before.write_bytes(path.read_bytes()[:at])
    session = RUNS[name][1]
    cut = adapter(name).read(str(path), session).up_to(at)
    whole = adapter(name).read(str(before), session)
    assert list(cut) == list(whole)
    assert cut.reading == whole.reading
