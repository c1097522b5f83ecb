"""The snapshot log: appended and checked line by line, bounded, and never at others' expense."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextspindle.core.digest import sha256
from contextspindle.errors import InvalidInput, SpindleError, StoreUnavailable
from contextspindle.store.snapshots import KEEP_MS, KEEP_SESSIONS, SNAPSHOT_LIMIT, JsonLinesLog

NOW = 1_800_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fuse" / "ledger.jsonl"


@pytest.fixture
def log(path: Path) -> JsonLinesLog:
    return JsonLinesLog(str(path))


def snapshot(session: str, at: int = NOW, **more: object) -> dict[str, object]:
    return {"session": session, "at": at, "text": f"at {at}", **more}


def sizes(log: JsonLinesLog) -> list[int]:
    return [one["at"] for one in log.all()]


# -- appending and reading


def test_what_was_saved_is_read_back_as_it_was(log):
    saved = snapshot("s", text="é日🧵 \u2028 \"'\\ \n", items=[1, [True, None], {"b": {}}])
    assert log.append(saved)
    assert log.newest("s") == saved


def test_the_newest_of_a_session_is_given_and_never_that_of_another(log):
    for at, session in enumerate(["a", "b", "a", "c"]):
        log.append(snapshot(session, at))
    assert log.newest("a")["at"] == 2
    assert log.newest("b")["at"] == 1
    assert log.newest()["session"] == "c"
    assert log.newest("d") is None
    assert sizes(log) == [3, 2, 1, 0]


def test_a_session_named_in_anothers_text_is_not_that_session(log):
    log.append(snapshot("real", 1))
    log.append(snapshot("other", 2, text="real", nested={"session": "real"}))
    assert log.newest("real")["at"] == 1


@pytest.mark.parametrize("session", ['a"b', "a\\b", "a\nb", "é", "", "a" * 1_000])
def test_a_session_may_be_named_anyhow(log, session):
    log.append(snapshot(session, 1))
    log.append(snapshot("z", 2))
    assert log.newest(session)["at"] == 1


def test_saving_the_same_again_writes_nothing(log, path):
    assert log.append(snapshot("s", 1, text="t", trigger="auto"))
    before = path.read_bytes()
    assert not log.append(snapshot("s", 2, text="t", trigger="manual"))
    assert path.read_bytes() == before
    assert log.append(snapshot("s", 3, text="u"))
    assert log.append(snapshot("s", 4, text="t"))


def test_reading_where_nothing_was_saved_creates_nothing(log, path):
    assert log.newest() is None
    assert list(log.all()) == []
    assert not path.parent.exists()


def test_lines_across_block_borders_are_read_whole(log):
    for number in range(12):
        log.append(snapshot("s", number, text="x" * (30_000 + number)))
    assert [len(one["text"]) for one in log.all()] == [30_000 + n for n in range(11, -1, -1)]


def test_half_a_character_becomes_a_mark_and_the_rest_stays(log):
    assert log.append(snapshot("s\udce9", text="half \ud83d of it", whole="\ud83e\uddf5"))
    assert log.newest("s\ufffd")["text"] == "half \ufffd of it"
    assert log.newest()["whole"] == "🧵"
    assert not log.append(snapshot("s\udce9", NOW + 1, text="half \ud83d of it", whole="🧵"))


# -- damage


def test_a_torn_last_line_is_passed_over_and_the_next_one_stands_for_itself(log, path):
    log.append(snapshot("s", 1))
    log.append(snapshot("s", 2))
    path.write_bytes(path.read_bytes()[:-20])
    assert log.newest("s")["at"] == 1
    log.append(snapshot("s", 3))
    assert sizes(log) == [3, 1]


def test_a_last_line_without_its_line_feed_is_kept(log, path):
    log.append(snapshot("s", 1))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    log.append(snapshot("s", 2))
    assert sizes(log) == [2, 1]


@pytest.mark.parametrize("flip", [1, 2, 32, 128])
def test_a_line_with_one_altered_byte_is_never_handed_out_as_something_else(log, path, flip):
    saved = [snapshot("s", 2, text="another"), snapshot("s", 1, text="the truth")]
    for one in reversed(saved):
        log.append(one)
    content = path.read_bytes()
    for at in range(content.index(b"\n")):
        altered = content[at] ^ flip
        path.write_bytes(content[:at] + bytes([altered]) + content[at + 1 :])
        assert list(log.all()) in (saved, saved[:1])
        assert log.newest("s") == saved[0]


def test_a_sound_check_over_something_that_is_no_snapshot_is_passed_over(log, path):
    log.append(snapshot("s", 1))
    with path.open("ab") as file:
        for body in (b"[]", b"7", b'{"session":1,"at":1}', b'{"session":"s"}', b"{"):
            file.write(b'{"check":"%b","snapshot":%b}\n' % (sha256(body).encode(), body))
    assert sizes(log) == [1]


def test_lines_of_others_stay_and_do_no_harm(log, path):
    log.append(snapshot("s", 1))
    with path.open("ab") as file:
        file.write(b'# a remark\n\n\xff\xfe\0\n{"check":"x"}\n')
    before = path.read_bytes()
    log.append(snapshot("s", 2))
    assert path.read_bytes().startswith(before)
    assert sizes(log) == [2, 1]


# -- bounds


def test_a_snapshot_beyond_its_limit_is_refused_and_nothing_written(log, path):
    room = SNAPSHOT_LIMIT - len('{"at":1800000000000,"session":"s","text":""}')
    assert log.append(snapshot("s", text="x" * room))
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match=f"at most {SNAPSHOT_LIMIT}"):
        log.append(snapshot("s", text="x" * (room + 1)))
    assert path.read_bytes() == before


def test_a_full_log_lets_its_oldest_go_and_keeps_the_newest_of_every_recent_session(path):
    log = JsonLinesLog(str(path), limit=200_000)
    log.append(snapshot("quiet", NOW - KEEP_MS + 1_000, text="q" * 300))
    log.append(snapshot("long gone", NOW - KEEP_MS - 1_000, text="g" * 300))
    for number in range(KEEP_SESSIONS - 1):
        log.append(snapshot(f"of long ago {number}", NOW - 2 * KEEP_MS))
    for number in range(600):
        log.append(snapshot("busy", NOW + number, text=f"{number:0300}"))
    assert path.stat().st_size <= 200_000
    sessions = [one["session"] for one in log.all()]
    assert log.newest("busy")["at"] == NOW + 599
    assert sessions.count("quiet") == 1
    assert "long gone" not in sessions
    assert len(set(sessions)) == KEEP_SESSIONS + 1  # as many as stand last, and the quiet one
    busy = [one["at"] for one in log.all() if one["session"] == "busy"]
    assert busy == list(range(NOW + 599, NOW + 599 - len(busy), -1))


def test_one_line_of_a_wrong_clock_takes_no_live_session_away(path):
    log = JsonLinesLog(str(path), limit=4_000)
    for number in range(60):
        log.append(snapshot(f"session {number}", NOW + number))
    log.append(snapshot("from the future", NOW + 400 * 86_400_000))
    assert len({one["session"] for one in log.all()}) == 61
    for number in range(60):
        log.append(snapshot("later", NOW + 100 + number))
    assert len({one["session"] for one in log.all()}) == 62


def test_a_rewrite_keeps_the_lines_of_others_in_their_order_and_drops_torn_ones(path):
    log = JsonLinesLog(str(path), limit=5_000)
    log.append(snapshot("s", NOW, text="x" * 100))
    with path.open("ab") as file:
        file.write(b'first remark\n{"check":"torn\nsecond remark\n')
    for number in range(1, 60):
        log.append(snapshot("s", NOW + number, text=f"{number:0100}"))
    content = path.read_bytes()
    assert content.index(b"first remark\n") < content.index(b"second remark\n")
    assert b"torn" not in content
    assert log.newest("s")["at"] == NOW + 59
    assert sorted(p.name for p in path.parent.iterdir()) == ["ledger.jsonl", "ledger.jsonl.lock"]


def test_what_an_interrupted_rewrite_left_is_no_hindrance(path):
    log = JsonLinesLog(str(path), limit=2_000)
    log.append(snapshot("s", NOW))
    path.with_suffix(".jsonl.new").write_text("half")
    for number in range(30):
        log.append(snapshot("s", NOW + number + 1, text=f"{number:0100}"))
    assert log.newest("s")["at"] == NOW + 30
    assert not path.with_suffix(".jsonl.new").exists()


def test_more_live_sessions_than_fit_all_keep_their_newest(path):
    log = JsonLinesLog(str(path), limit=2_000)
    for number in range(40):
        log.append(snapshot(f"session {number}", NOW + number, text="x" * 100))
    assert {one["session"] for one in log.all()} == {f"session {n}" for n in range(40)}


# -- the world


def test_many_processes_append_without_losing_a_line(path):
    program = (
        "import sys; from contextspindle.store.snapshots import JsonLinesLog\n"
        f"log = JsonLinesLog({str(path)!r})\n"
        "for n in range(15): log.append({'session': sys.argv[1], 'at': n, 'text': str(n) * 2000})\n"
    )
    path.parent.mkdir()
    running = [subprocess.Popen([sys.executable, "-c", program, f"p{n}"]) for n in range(4)]
    assert [one.wait(60) for one in running] == [0] * 4
    found = [(one["session"], one["at"]) for one in JsonLinesLog(str(path)).all()]
    assert sorted(found) == sorted((f"p{n}", at) for n in range(4) for at in range(15))


def test_a_path_that_cannot_be_a_log_is_an_error_on_purpose(tmp_path):
    (tmp_path / "folder").mkdir()
    log = JsonLinesLog(str(tmp_path / "folder"))
    for attempt in (log.newest, lambda: list(log.all()), lambda: log.append(snapshot("s"))):
        with pytest.raises(SpindleError):
            attempt()
    with pytest.raises(StoreUnavailable):
        JsonLinesLog(str(tmp_path / "gone" / "gone" / "log")).append(snapshot("s"))


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to count handles")
def test_no_handle_stays_open(log):
    before = len(os.listdir("/proc/self/fd"))
    for number in range(5):
        log.append(snapshot("s", number))
        log.newest("s")
        next(log.all())
    assert len(os.listdir("/proc/self/fd")) <= before
