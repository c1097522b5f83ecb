"""A turn of a shape that nobody has met costs the save nothing but itself, and is told."""

from __future__ import annotations

import pytest

from contextspindle.actions.fuse import Fuse
from contextspindle.core.transcript import PROMPT, SAID, TODOS, Reading, Turn
from contextspindle.store.snapshots import JsonLinesLog

TURNS = [
    Turn(1, SAID, "Mend the mast of the yawl.", PROMPT),
    Turn(2, TODOS, steps=None),
    Turn(3, SAID, "Then paint it green.", PROMPT),
]


class Read:
    """A transcript whose reader made a turn that the extraction cannot take."""

    path = "session.jsonl"
    stopped = False
    cuts_back = False
    reading = Reading(lines=3, bytes=90, known=3)

    def keep_to(self, out_of_time):
        assert not out_of_time()

    def __iter__(self):
        return iter(TURNS)


@pytest.fixture
def fuse(ledger, clock, tmp_path):
    return Fuse(JsonLinesLog(str(tmp_path / "fuse" / "ledger.jsonl")), lambda: ledger, clock=clock)


def test_it_is_passed_over_counted_and_told(fuse):
    saved = fuse.save("s1", Read(), harness="claude-code")
    text = fuse.restore("s1", 6_000).text
    assert saved.reading.strange == 1
    assert fuse.snapshot("s1")["reading"]["strange"] == 1
    assert "1 turn of the transcript could not be understood." in text
    assert "Mend the mast of the yawl." in text
    assert "Then paint it green." in text
