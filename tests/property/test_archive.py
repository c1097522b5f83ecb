"""An export holds everything: a ledger of tasks of every shape comes back to the byte."""

from __future__ import annotations

import random

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from contextspindle.actions.archive import Archive
from contextspindle.core.change import Request
from contextspindle.errors import SpindleError
from contextspindle.store.ephemeral import EphemeralStore
from contextspindle.store.sqlite import SqliteStore
from tests.strategies import stories

BATCH = 100
"""Tasks that are made in memory before they are taken into the file."""


class Filling:
    """A ledger file that grows by tasks which live in memory first."""

    def __init__(self, path, make_ledger, clock, ids):
        self.file = SqliteStore(path)
        self.make_ledger, self.clock, self.ids = make_ledger, clock, ids
        self.chance = random.Random(3)
        self.count = 0
        self.begin()

    def begin(self):
        self.memory = EphemeralStore()
        self.ledger = self.make_ledger(self.memory, clock=self.clock, ids=self.ids)
        self.made = []

    def end(self):
        self.count += Archive(self.file).take_store(self.memory).created
        self.begin()

    def live(self, story, held, keyed):
        """One task, led through all of its story that is not refused."""
        near = self.chance.sample(self.made, min(2, len(self.made)))
        task = self.ledger.create(
            Request(
                {"goal": "begin", **({"parent": near[0]} if near else {})},
                decisions=("first",),
                add_dependencies=tuple(near[1:]),
            ),
            key=f"key {len(self.made)} of {self.count}" if keyed else "",
        ).task.id
        self.made.append(task)
        token = self.ledger.claim(task).token if held else ""
        for request, passed in story:
            self.clock.forward(passed)
            try:
                self.ledger.update(task, request, claim=token)
            except SpindleError:
                continue
        if len(self.made) == BATCH:
            self.end()


def test_export_import_export_is_the_same_to_the_byte(
    command, tmp_path, make_ledger, clock, ids, long_run
):
    shapes, each = (1_000, 10) if long_run else (40, 5)
    assert command("init").status == 0
    filling = Filling(
        str(command.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"),
        make_ledger,
        clock,
        ids,
    )

    @settings(max_examples=shapes, phases=[Phase.generate])
    @given(stories, st.booleans(), st.booleans())
    def live(story, held, keyed):
        for _ in range(each):  # among other neighbours every time
            filling.live(story, held, keyed)

    live()
    filling.end()
    filling.file.close()

    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert command("export", str(first), timeout=600).status == 0
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    assert command("init", ".", cwd=fresh).status == 0
    done = command("import", str(first), "--json", cwd=fresh, timeout=1_200)
    assert (done.status, done.err) == (0, b"")
    assert done.data["created"] == filling.count == shapes * each
    assert command("export", str(second), cwd=fresh, timeout=600).status == 0
    assert first.read_bytes() == second.read_bytes()
    sound = command("verify", "--deep", "--json", cwd=fresh, timeout=600)
    assert (sound.data["sound"], sound.data["tasks"]) == (True, filling.count)
