"""A transcript that has lost what was read of it does not cost the session its story."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextspindle.actions.fuse import Fuse
from contextspindle.core.change import Request
from contextspindle.harness import adapter, claude_code, copilot_cli, lines
from contextspindle.store.snapshots import JsonLinesLog
from tests.contract.harness.test_one_story import SESSION as STORY_SESSION
from tests.contract.harness.test_one_story import TELLERS
from tests.transcripts import SESSION, calls, returns, says, user, written

LOST = "The transcript has lost lines that were read before."
TALK = [
    user("Mend the mast of the Dolphin. Never use nylon for the shrouds."),
    says("The mast is cracked two feet above the deck, because the step is rotten."),
    calls("c1", "Edit", file_path="/boat/mast.py", old_string="a", new_string="b"),
    returns("c1", "done"),
    user("Paint the hull with red lead, please."),
    says("I will paint the hull next."),
]
LAST = user("Then sail to the northern harbours.")


@pytest.fixture
def fuse(ledger, clock, tmp_path):
    return Fuse(JsonLinesLog(str(tmp_path / "fuse" / "ledger.jsonl")), lambda: ledger, clock=clock)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / f"{SESSION}.jsonl"


def saves(fuse, path, entries, trigger="auto"):
    written(path, entries)
    transcript = claude_code.read(str(path), SESSION)
    return fuse.save(SESSION, transcript, harness="claude-code", trigger=trigger)


def told(fuse, session=SESSION) -> str:
    return fuse.restore(session, 6_000).text


def test_what_stood_in_lost_lines_is_told_as_the_save_before_had_it(fuse, path):
    saves(fuse, path, [*TALK, LAST])
    saves(fuse, path, [LAST])
    text = told(fuse)
    assert "The user's last words\n[L1] (unanswered): Then sail to the northern harbours." in text
    assert "(no longer in the transcript) Mend the mast of the Dolphin." in text
    for fact in ("Never use nylon", "cracked two feet above", "red lead", "/boat/mast.py", LOST):
        assert fact in text
    assert text.count("northern harbours") <= 2
    assert "[L5]" not in text


def test_it_stays_told_while_the_file_grows_again_and_a_save_that_changes_nothing_says_so(
    fuse, path
):
    saves(fuse, path, [*TALK, LAST])
    saves(fuse, path, [LAST])
    assert not saves(fuse, path, [LAST]).changed
    more = [says(f"Harbour {number} is reached, the wind is fair.") for number in range(40)]
    grown = [LAST, *more, user("Now moor her.")]
    saves(fuse, path, grown)
    assert path.stat().st_size > sum(len(str(line)) for line in TALK)
    text = told(fuse)
    for fact in ("Now moor her.", "Never use nylon", "(no longer in the transcript) Mend", LOST):
        assert fact in text
    first = len(told(fuse).encode())
    for number in range(5):
        grown += [user(f"And harbour {number}?"), says("Yes.")]
        saves(fuse, path, grown)
        assert "Never use nylon" in told(fuse)
    assert len(told(fuse).encode()) <= max(6_000, first)


def test_a_file_that_was_put_anew_and_outgrew_the_old_one_is_known_by_its_lines(fuse, path):
    saves(fuse, path, TALK)
    saves(fuse, path, [says(f"Plank {n} is planed, and it is smooth.") for n in range(60)])
    assert "Never use nylon" in told(fuse)
    assert LOST in told(fuse)


def test_of_a_file_cut_at_its_end_the_words_that_are_gone_are_kept(fuse, path):
    saves(fuse, path, [*TALK, LAST])
    saves(fuse, path, TALK[:2])
    text = told(fuse)
    assert "[L1] Mend the mast" in text
    for fact in ("red lead", "northern harbours", LOST):
        assert fact in text


def test_without_any_words_of_the_human_left_their_last_ones_stand_where_they_stood(fuse, path):
    saves(fuse, path, [*TALK, LAST])
    saves(fuse, path, [says("The harbour is in sight.")])
    text = told(fuse)
    assert "The user's last words\n[-] (unanswered): Then sail to the northern harbours." in text
    assert "The harbour is in sight." in text


def test_the_task_that_the_lost_lines_spoke_of_is_still_the_session_s(fuse, path, ledger):
    task = ledger.create(Request(set={"goal": "Mend the mast"})).task
    words = f"contextspindle task update {task.id} --status active"
    worked = [
        calls("c9", "Bash", command=words),
        returns("c9", f"{task.id} version 2"),
    ]
    assert saves(fuse, path, [*TALK, *worked, LAST]).task == task.id
    assert saves(fuse, path, [LAST]).task == task.id


def test_a_file_that_only_grows_and_one_that_is_compacted_tell_of_no_loss(fuse, path):
    for count in range(1, len(TALK)):
        saves(fuse, path, TALK[:count])
    text = told(fuse)
    assert LOST not in text
    assert "[-]" not in text


@pytest.mark.parametrize("head", [400, 0])
def test_a_line_that_was_not_looked_at_is_not_lost(fuse, path, monkeypatch, head):
    """Of a file that has grown into another size class the middle is looked at for prompts only."""
    saves(fuse, path, [*TALK, LAST])
    for name, value in {"CHUNK": 200, "HEAD": head, "TAIL": 400, "FRUGAL": head}.items():
        monkeypatch.setattr(lines, name, value)
    more = [says(f"Plank {number} is planed, and it is smooth.") for number in range(60)]
    saved = saves(fuse, path, [*TALK, LAST, *more])
    assert saved.reading.skipped or saved.reading.unparsed
    assert LOST not in told(fuse)


def test_a_session_of_the_same_name_in_another_file_takes_nothing_over(fuse, path, tmp_path):
    saves(fuse, path, TALK)
    saves(fuse, tmp_path / "b.jsonl", [LAST])
    assert "nylon" not in told(fuse)


def test_what_is_saved_by_hand_is_what_the_file_says(fuse, path):
    saves(fuse, path, TALK)
    saves(fuse, path, [LAST], "by hand")
    assert "nylon" not in told(fuse)


# ---- programs that take lines off themselves


def saves_copilot(fuse, path, entries, up_to=0):
    written(path, entries)
    transcript = copilot_cli.read(str(path), STORY_SESSION)
    transcript = transcript.up_to(up_to) if up_to else transcript
    return fuse.save(STORY_SESSION, transcript, harness="copilot-cli", trigger="auto")


def test_where_the_program_takes_lines_off_the_end_the_human_went_back(fuse, tmp_path):
    story = TELLERS["copilot-cli"]()
    path = tmp_path / STORY_SESSION / "events.jsonl"
    path.parent.mkdir()
    saves_copilot(fuse, path, story)
    assert "And now the sail." in told(fuse, STORY_SESSION)
    saves_copilot(fuse, path, story[:-1])
    text = told(fuse, STORY_SESSION)
    assert "And now the sail." not in text
    assert LOST not in text


def test_and_where_it_takes_them_off_the_start_they_are_lost(fuse, tmp_path):
    story = TELLERS["copilot-cli"]()
    path = tmp_path / STORY_SESSION / "events.jsonl"
    path.parent.mkdir()
    saves_copilot(fuse, path, story)
    saves_copilot(fuse, path, [story[0], story[-1]])
    text = told(fuse, STORY_SESSION)
    assert "Mend the mast, never with nylon." in text
    assert LOST in text


@pytest.mark.parametrize("name", ["claude-code", "droid"])
def test_a_file_that_is_read_up_to_a_place_has_lost_nothing_behind_it(fuse, tmp_path, name):
    story = TELLERS[name]() if name in TELLERS else [*TALK, LAST]
    session = STORY_SESSION if name in TELLERS else SESSION
    path = Path(written(tmp_path / f"{session}.jsonl", story))
    fuse.save(session, adapter(name).read(str(path), session), harness=name)
    earlier = path.stat().st_size - 20
    fuse.save(session, adapter(name).read(str(path), session).up_to(earlier), harness=name)
    assert LOST not in told(fuse, session)


# ---- the sessions before one


def test_a_session_of_which_nothing_could_be_read_hands_on_what_the_one_before_it_had(fuse, path):
    saves(fuse, path, TALK)
    fuse.save_without_transcript("second", "there is no file", harness="droid")
    text = fuse.restore("third", 6_000, previous=("second", SESSION)).text
    assert "Never use nylon" in text
    assert "Nothing could be saved of what followed it: session second." in text
    assert "Also at work here" not in text
    assert "Never use nylon" in fuse.restore("second", 6_000, previous=(SESSION,)).text
    # One that said something is the story, whatever came before it.
    text = fuse.restore(SESSION, 6_000, previous=("second",)).text
    assert "Nothing could be saved" not in text


def test_a_record_without_quotations_names_no_command_that_would_print_them(fuse):
    fuse.save_without_transcript("second", "there is no file", harness="droid")
    text = fuse.restore("third", 6_000, previous=("second", "first")).text
    assert "could not be read at the save: there is no file" in text
    assert "is line 9" not in text
    assert "compaction" not in text


# ---- where the session works


def test_a_folder_that_is_named_from_elsewhere_costs_no_save(ledger, clock, tmp_path, monkeypatch):
    from contextspindle import drift

    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(tmp_path)
    log = JsonLinesLog(str(tmp_path / "fuse" / "ledger.jsonl"))
    fuse = Fuse(log, lambda: ledger, clock=clock, drift=drift)
    path = written(tmp_path / f"{SESSION}.jsonl", TALK)
    read = claude_code.read(path, SESSION)
    assert fuse.save(SESSION, read, harness="claude-code", cwd="rel/dir").changed
    assert "Never use nylon" in told(fuse)
