"""What was reported of the bounds of other programs' memories: one test a report."""

from __future__ import annotations

import json

import pytest

from contextspindle.store.snapshots import JsonLinesLog


@pytest.fixture
def remember(project):
    """A function that remembers a text; gives the answer."""
    return lambda *words: project("remember", *words, "--json").data


def test_mb01_a_full_memory_follows_its_rule_and_says_what_went(project):
    env = {"CONTEXTSPINDLE_MEMORY_ITEMS": "3"}
    for text in ("The certificate ends on 3 May 2027", "ok thanks", "Amber runs Postgres 15"):
        assert project("remember", text, env=env).status == 0
    done = project("remember", "Heron renews it", "--json", env=env)
    assert (done.status, done.data["dropped"]) == (0, ["m-2"])
    for number in range(3):
        assert project("remember", f"pinned {number}", "--pin", env=env).status == 0
    full = project("remember", "one more", "--json", env=env)
    assert (full.status, full.error["code"]) == (5, "MEMORY_FULL")
    assert "pinned" in full.error["message"]
    found = project("recall", "pinned", "--json", env=env).data["hits"]
    assert {hit["text"] for hit in found} == {"pinned 0", "pinned 1", "pinned 2"}


def test_mb02_the_same_text_again_is_counted_and_shown_once(project, remember):
    for number in range(30):
        text = ("Run the linter first", "run  the LINTER first ", "RUN\tTHE LINTER\nFIRST")[
            number % 3
        ]
        remember(text)
    (hit,) = project("recall", "linter", "--json").data["hits"]
    assert (hit["times"], hit["text"]) == (30, "Run the linter first")
    assert project("stats", "--json").data["items"] == 1


def test_mb03_snapshots_stay_within_their_limits_and_the_newest_of_each_session_stays(project):
    path = project.folder / "session.jsonl"
    log = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl"

    def save(number: int) -> None:
        line = {"role": "user", "content": f"Ship number {number}. " + "and more " * 5_000}
        path.write_text(json.dumps(line) + "\n")
        done = project("fuse", "save", "--transcript", str(path), "--session", f"s{number % 3}")
        assert done.status == 0

    def status() -> dict:
        return project("fuse", "status", "--json").data

    for number in range(6):
        save(number)
    found = status()
    assert (found["log_bytes"], found["log_limit"]) == (log.stat().st_size, 32 * 1024 * 1024)
    assert max(map(len, log.read_bytes().splitlines())) <= 64 * 1024
    # The same log with less room, and a session that writes again and again.
    limit = 3 * log.stat().st_size
    small = JsonLinesLog(str(log), limit=limit)
    snapshot = small.newest("s0")
    for number in range(100):
        snapshot = {**snapshot, "at": snapshot["at"] + 1, "cwd": f"/number/{number}"}
        assert small.append(snapshot)
        assert log.stat().st_size <= limit
    assert {one["session"] for one in status()["sessions"]} == {"s0", "s1", "s2"}
    assert small.newest("s0") == snapshot
    assert project("fuse", "prune", "--keep-days", "0").status == 0
    assert {one["session"] for one in status()["sessions"]} == {"s0", "s1", "s2"}
    assert len(log.read_bytes().splitlines()) == 3
