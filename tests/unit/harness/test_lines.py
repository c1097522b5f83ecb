"""Reading: any file, in bounded memory, and what could not be used is counted."""

from __future__ import annotations

import json
import os
import tracemalloc

import pytest

from contextspindle.core.digest import sha256
from contextspindle.core.transcript import PLAN, PROMPT, SAID
from contextspindle.errors import TranscriptUnreadable
from contextspindle.harness import claude_code, lines
from tests.transcripts import OTHER, SESSION, calls, entry, queue, returns, says, user, written


def read(path, session="", agent=""):
    transcript = claude_code.read(str(path), session, agent)
    return list(transcript), transcript.reading


def said(path, session=""):
    turns, reading = read(path, session)
    return [turn.text for turn in turns if turn.kind == SAID], reading


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.jsonl"


# ---- what is no transcript


def test_a_missing_file_a_folder_and_an_impossible_path_are_unreadable(tmp_path):
    for bad in (tmp_path / "none.jsonl", tmp_path, "a\0b"):
        with pytest.raises(TranscriptUnreadable):
            claude_code.read(str(bad))


def test_a_fifo_is_unreadable_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(TranscriptUnreadable):
        claude_code.read(str(tmp_path / "fifo"))


def test_an_empty_file_and_one_of_control_entries_have_no_turns(path):
    written(path, [], end=b"")
    assert read(path)[0] == []
    written(path, [entry("progress", data={}), {"type": "mode", "mode": "plan"}])
    assert read(path)[0] == []


# ---- lines that are hard to read


def test_a_line_cut_in_half_costs_that_line_only(path):
    entries = [user(f"prompt {n}") for n in range(100)]
    entries[49] = json.dumps(entries[49])[:60]
    written(path, entries)
    texts, reading = said(path)
    assert len(texts) == 99
    assert (reading.unreadable, reading.first_bad, reading.torn) == (1, 50, False)


def test_an_unfinished_last_line_is_left_for_the_next_time(path):
    written(path, [user("whole"), json.dumps(user("half"))[:-9]], end=b"")
    texts, reading = said(path)
    assert texts == ["whole"]
    assert (reading.torn, reading.unreadable) == (True, 0)


def test_a_last_line_that_only_lacks_its_line_feed_counts(path):
    written(path, [user("a"), user("b")], end=b"")
    texts, reading = said(path)
    assert (texts, reading.torn, reading.lines) == (["a", "b"], False, 2)


def test_two_objects_on_one_line_are_both_read(path):
    written(path, [json.dumps(user("a")) + json.dumps(user("b"))])
    assert said(path)[0] == ["a", "b"]


def test_only_a_line_feed_ends_a_line(path):
    text = "a\u2028b\u2029c\x85d"
    written(path, [json.dumps(user(text), ensure_ascii=False), user("next")])
    turns, _ = read(path)
    assert [(turn.line, turn.text) for turn in turns] == [(1, text), (2, "next")]


def test_a_byte_order_mark_costs_nothing(path):
    written(path, [user("The first request."), user("The second.")])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    texts, reading = said(path)
    assert texts == ["The first request.", "The second."]
    assert reading.unreadable == 0
    (first, *_), _ = read(path)
    assert first.seal == sha256(path.read_bytes().partition(b"\n")[0])[:16]


@pytest.mark.parametrize(
    "number", ["NaN", "-Infinity", "Infinity", "9" * 6_000, "-" + "9" * 6_000, "1e999"]
)
def test_a_number_that_cannot_be_read_costs_no_words(path, number):
    row = json.dumps(user("Use wool.", cost=0)).replace('"cost": 0', f'"cost": {number}')
    written(path, [row, user("And no nylon.")])
    texts, reading = said(path)
    assert texts == ["Use wool.", "And no nylon."]
    assert reading.unreadable == 0


def test_of_a_line_that_breaks_off_what_stands_before_is_read_once():
    assert lines.objects(b'{"a":NaN}{"b":1}{"c":') == ([{"a": None}, {"b": 1}], False)
    assert lines.objects(b'{"b":1}{"c":NaN') == ([{"b": 1}], False)


def test_half_a_surrogate_pair_is_replaced(path):
    written(path, ['{"type":"user","sessionId":"s","message":{"content":"a\\ud83d"}}'])
    assert said(path)[0] == ["a\ufffd"]


def test_bytes_that_are_no_unicode_are_replaced(path):
    written(path, [b'{"type":"user","sessionId":"s","message":{"content":"a\xff"}}'])
    assert said(path)[0] == ["a\ufffd"]


@pytest.mark.parametrize(
    "deep", ["[" * 200_000, '{"a":' * 200_000, '{"type":"user","a":' + "[" * 99_999]
)
def test_deep_nesting_costs_that_line_only(path, deep):
    written(path, [user("a"), deep, user("b")])
    texts, reading = said(path)
    assert (texts, reading.unreadable) == (["a", "b"], 1)


def test_fields_of_any_type_cost_that_line_at_most(path):
    strange = [
        user(7),
        user([7, None, {"type": "tool_result", "tool_use_id": [], "content": {"a": 1}}]),
        entry("user", message=[]),
        entry("assistant", message={"content": [{"type": "tool_use", "name": 3, "input": []}]}),
        entry("attachment", attachment={"type": ["x"]}),
        entry("system", subtype={}),
        {"type": {"a": 1}},
        {"type": "queue-operation", "operation": {}, "content": []},
        [1, 2],
        "null",
        "1e999",
    ]
    written(path, [user("a"), *strange, user("b")])
    assert said(path)[0] == ["a", "b"]


# ---- size


def test_a_picture_of_many_megabytes_is_dropped_and_the_words_beside_it_stay(path):
    picture = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo" * 2_000_000}}
    words = {"type": "text", "text": "what is this?"}
    written(path, [user("before"), user([picture, words]), user([words, picture]), user("after")])
    tracemalloc.start()
    texts, reading = said(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert texts == ["before", "what is this?", "what is this?", "after"]
    assert (reading.oversized, reading.lines) == (0, 4)
    assert peak < 30_000_000


def test_a_line_too_long_to_hold_is_passed_over_and_counted(path):
    written(path, [user("before"), user("ab c " * 4_000_000), user("after")])
    texts, reading = said(path)
    assert (texts, reading.oversized, reading.lines) == (["before", "after"], 1, 3)


def test_of_a_huge_file_s_middle_the_human_s_words_are_read_and_lines_stay_right(path, monkeypatch):
    monkeypatch.setattr(lines, "CHUNK", 1_000)
    monkeypatch.setattr(lines, "HEAD", 2_000)
    monkeypatch.setattr(lines, "TAIL", 2_000)
    noise = [says(f"word {n}") for n in range(60)]
    middle = [*noise, user("a rule"), queue("enqueue", "queued"), queue("remove"), *noise]
    written(path, [user("first"), *middle, user("last")])
    turns, reading = read(path)
    found = {turn.text: turn.line for turn in turns if turn.kind == SAID}
    assert found == {"first": 1, "a rule": 62, "queued": 63, "last": 125}
    assert reading.unparsed > 60
    assert reading.lines == 125


def test_what_is_too_far_back_even_for_that_is_only_counted(path, monkeypatch):
    monkeypatch.setattr(lines, "CHUNK", 1_000)
    monkeypatch.setattr(lines, "HEAD", 2_000)
    monkeypatch.setattr(lines, "TAIL", 2_000)
    monkeypatch.setattr(lines, "FRUGAL", 0)
    entries = [user(f"prompt {n}") for n in range(100)]
    written(path, entries)
    turns, reading = read(path)
    numbers = [(turn.line, turn.text) for turn in turns]
    assert numbers[0] == (1, "prompt 0")
    assert numbers[-1] == (100, "prompt 99")
    assert all(text == f"prompt {line - 1}" for line, text in numbers)
    assert len(numbers) < 60
    assert reading.lines == 100


# ---- time


class Running:
    """Seconds that are left, fewer with every look at them."""

    def __init__(self, step, left=3.0):
        self.step = step
        self.value = left

    def __call__(self):
        self.value -= self.step
        return self.value


@pytest.fixture
def small(monkeypatch):
    """Sizes of a hundredth, so that small files are huge ones."""
    for name, value in {
        "CHUNK": 1_000, "HEAD": 4_000, "TAIL": 8_000, "FRUGAL": 1_000_000, "GLIMPSE": 6_000,
        "LEAST": 1_000, "COUNTED": 0,
    }.items():  # fmt: skip
        monkeypatch.setattr(lines, name, value)


def hurried(path, step):
    transcript = claude_code.read(str(path)).within(Running(step))
    turns = list(transcript)
    return turns, transcript.reading


def test_with_time_enough_nothing_is_left_out(path, small):
    written(path, [user(f"prompt {n}") for n in range(500)])
    turns, reading = hurried(path, 0.0001)
    assert [turn.line for turn in turns] == list(range(1, 501))
    assert (reading.skipped, reading.guessed) == (0, 0)


@pytest.mark.parametrize("step", [0.02, 0.05, 0.1, 0.3, 1.0, 2.9, 4.0])
@pytest.mark.parametrize("count", [60, 500, 2_000])
def test_when_time_runs_short_the_end_is_read_and_what_lies_between_left_out(
    path, small, step, count
):
    written(path, [user(f"prompt {n}") for n in range(count)])
    turns, reading = hurried(path, step)
    said = [turn.text for turn in turns]
    assert said[0] == "prompt 0"
    assert said[-1] == f"prompt {count - 1}"
    assert len(said) == len(set(said))
    numbers = [turn.line for turn in turns]
    assert numbers == sorted(numbers)
    for turn in turns:
        if not reading.guessed or turn.line < reading.guessed:
            assert turn.text == f"prompt {turn.line - 1}"
    whole = path.stat().st_size
    assert 0 <= reading.skipped < whole
    assert bool(reading.guessed) == (len(said) < count)
    # What was not skipped was read, but for the lines that a gap cut in two.
    seen = sum(len(json.dumps(user(text))) + 1 for text in said)
    assert whole - reading.skipped - seen < 3 * 300
    assert seen <= whole - reading.skipped


def test_a_short_gap_is_counted_so_that_pointers_stay_right(path, small, monkeypatch):
    monkeypatch.setattr(lines, "COUNTED", 1_000_000)
    written(path, [user(f"prompt {n}") for n in range(1_000)])
    turns, reading = hurried(path, 0.1)
    assert 10 < len(turns) < 500
    assert reading.skipped > 50_000
    assert (reading.lines, reading.guessed) == (1_000, 0)
    assert all(turn.text == f"prompt {turn.line - 1}" for turn in turns)


def test_the_human_s_words_before_a_tail_without_any_are_found_in_a_hurry(path, small):
    output = [says("word " * 8) for _ in range(20)]
    written(path, [user("first"), *[says("x")] * 2_000, user("last words"), *output])
    turns, reading = hurried(path, 0.1)
    assert [turn.text for turn in turns if turn.kind == SAID] == ["first", "last words"]
    assert reading.skipped > 100_000


def test_a_gap_that_ends_where_a_line_begins_costs_no_line(path, small):
    bare = len(json.dumps(user("")))
    written(path, [user(f"{n:05}".ljust(199 - bare)) for n in range(200)])
    assert path.stat().st_size == 200 * 200
    turns, reading = hurried(path, 2.9)
    assert reading.skipped % 200 == 199
    assert [int(turn.text) for turn in turns] == [*range(5), *range(195, 200)]


def test_a_line_longer_than_all_that_can_be_read_in_time_costs_only_itself(path, small):
    written(path, [user("first"), user("x" * 400_000), user("last")])
    turns, reading = hurried(path, 0.2)
    assert [turn.text for turn in turns] == ["first", "last"]
    assert reading.skipped > 300_000


# ---- sessions


def test_entries_of_another_session_are_passed_over_and_counted(path):
    mixed = [user("a1"), user("b1", OTHER), user("a2"), user("b2", OTHER), {"type": "mode"}]
    written(path, mixed)
    texts, reading = said(path, SESSION)
    assert texts == ["a1", "a2"]
    assert (reading.foreign, reading.inherited) == (2, 0)


def test_a_second_session_that_began_first_and_goes_on_beside_ours_stays_out(path):
    written(path, [user("b1", OTHER), user("a1"), user("b2", OTHER), user("a2")])
    texts, reading = said(path, SESSION)
    assert (texts, reading.foreign) == (["a1", "a2"], 2)


def test_what_a_fork_goes_on_from_is_part_of_it(path):
    written(path, [user("old 1", OTHER), user("old 2", OTHER), user("new")])
    texts, reading = said(path, SESSION)
    assert texts == ["old 1", "old 2", "new"]
    assert (reading.foreign, reading.inherited) == (0, 2)


def test_the_plan_that_a_fresh_context_began_with_is_part_of_it(path):
    plan = user("Implement the following plan:\n# Sail", OTHER, planContent="# Sail")
    written(path, [user("old", OTHER), plan, user("new"), user("old again", OTHER)])
    turns, reading = read(path, SESSION)
    assert [(turn.via, turn.text.split("\n")[0]) for turn in turns] == [
        (PLAN, "Implement the following plan:"),
        (PROMPT, "new"),
    ]
    assert (reading.foreign, reading.inherited) == (2, 1)


def test_a_file_that_names_other_sessions_only_holds_nothing_of_ours(tmp_path):
    """However its lines came to the path that a hook names."""
    strange = [user("Sink the ship.", OTHER), says("Sunk.") | {"sessionId": OTHER}]
    plan = user("Implement the following plan:\n\n# Sink", OTHER, planContent="# Sink")
    for entries in (strange, [plan, *strange]):
        written(tmp_path / "a.jsonl", entries)
        texts, reading = said(tmp_path / "a.jsonl", SESSION)
        assert reading.known == 0
        assert "Sink the ship." not in texts
    # One that is called after us was begun for us: its first lines are those it goes on from.
    written(tmp_path / f"{SESSION}.jsonl", strange)
    texts, reading = said(tmp_path / f"{SESSION}.jsonl", SESSION)
    assert (texts, reading.inherited) == (["Sink the ship."], 2)
    assert reading.known == 2
    # And so was one in a folder of ours.
    (tmp_path / SESSION / "subagents").mkdir(parents=True)
    of_agent = tmp_path / SESSION / "subagents" / "agent-a9.jsonl"
    written(of_agent, [user("Sound.", OTHER, isSidechain=True, agentId="a9")])
    assert read(of_agent, SESSION, "a9")[1].known == 1


def test_a_word_of_ours_in_another_session_s_talk_makes_its_file_not_ours(path):
    written(path, [user(f'They said "{SESSION}" aloud.', OTHER)])
    assert read(path, SESSION)[1].known == 0


def test_entries_without_a_session_count(path):
    written(path, [user("a1"), {"type": "user", "message": {"content": "nobody's"}}])
    assert said(path, SESSION)[0] == ["a1", "nobody's"]


def test_without_a_session_everything_counts(path):
    written(path, [user("a"), user("b", OTHER)])
    assert said(path)[0] == ["a", "b"]


# ---- pointers


def test_a_turn_carries_the_seal_of_its_line(path):
    entries = [queue("enqueue", "queued"), user("typed"), queue("remove")]
    written(path, entries)
    rows = path.read_bytes().split(b"\n")
    turns, _ = read(path)
    assert len(turns) == 2
    for turn in turns:
        assert turn.seal == sha256(rows[turn.line - 1])[: lines.SEAL]


def test_noise_is_told_from_its_bytes_whatever_stands_first_in_the_line():
    noise = [
        entry("progress", data={"type": "bash_progress"}),
        {"attachment": {"type": "hook_success", "stdout": '"type":"user"'}, "type": "attachment"},
        {"type": "last-prompt", "lastPrompt": '{"type":"user"}'},
    ]
    talk = [
        user('say "type":"progress"'),
        {"message": {"content": [{"type": "text", "text": "x"}]}, "type": "user"},
        entry("attachment", attachment={"type": "queued_command", "prompt": "x"}),
        calls("c", "Bash", type="progress"),
        returns("c", "x", {"type": "progress"}),
        queue("popAll", "x"),
    ]
    compact = [json.dumps(e, separators=(",", ":")).encode() for e in [*noise, *talk]]
    assert [claude_code.worth(line, False) for line in compact] == [False] * 3 + [True] * 6
    spaced = [json.dumps(e).encode() for e in talk]
    assert all(claude_code.worth(line, False) for line in spaced)
