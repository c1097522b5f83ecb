"""From one program to another: the line on who worked on a task last, and what is handed over."""

from __future__ import annotations

import pytest

from contextspindle.actions.fuse import START_BUDGET, Fuse
from contextspindle.actions.relay import LIMIT
from contextspindle.errors import InvalidInput, SnapshotNotFound
from contextspindle.harness import claude_code
from contextspindle.store.snapshots import JsonLinesLog
from tests.transcripts import calls, entry, returns, says, user, written

CODEX = "01a229a6-3f20-7f43-8f7f-e7c242999bb0"
CLAUDE = "6d61b693-6d6b-4ab6-b05b-eddccf7ec7c9"
NEW = "01a22c1a-e0b6-7281-aa2a-d31195a28180"
WORDS = "The keel is laid; next I plank the hull."


@pytest.fixture
def fuse(ledger, clock, tmp_path):
    return Fuse(JsonLinesLog(str(tmp_path / "fuse" / "ledger.jsonl")), lambda: ledger, clock=clock)


@pytest.fixture
def task(ledger, ask):
    return ledger.create(ask(goal="Build the boat", next="buy tar")).task.id


@pytest.fixture
def works(fuse, tmp_path, clock):
    """A session of a program works on a task, says its last words, and is saved."""

    def session(name, harness, task, words=WORDS, trigger="end", agent="", claim=""):
        command = f"contextspindle task update {task} --status active"
        command += f" --claim {claim}" if claim else ""
        told = [user("Go on with the boat."), calls("c1", "Bash", command=command)]
        told += [returns("c1", "ok"), says(words)]
        told = [{**one, "sessionId": name} for one in told]
        path = written(tmp_path / f"{name}.jsonl", [entry("system", name), *told])
        clock.forward(1_000)
        saved = fuse.save(
            name, claude_code.read(path, name), harness=harness, trigger=trigger, agent=agent
        )
        assert saved.task == task

    return session


def line(fuse, task, session=NEW, harness="claude-code"):
    """What a new session is told of who worked on a task."""
    text = fuse.start(session, harness=harness).text
    assert len(text.encode()) <= START_BUDGET
    return next((row for row in text.split("\n") if row.startswith(f"{task} was last")), "")


def test_a_session_of_another_program_is_told_whose_work_it_was_and_how_to_see_all_of_it(
    fuse, works, task, clock
):
    works(CODEX, "codex", task)
    clock.forward(12 * 60_000)
    told = line(fuse, task)
    for fact in ("another session, codex session", CODEX, "12 minutes ago", "2026-01-01T00:00:01"):
        assert fact in told
    assert f'its agent left off: "{WORDS}"' in told
    assert f"contextspindle fuse restore --from {CODEX}" in told
    rows = fuse.start(NEW, harness="claude-code").text.split("\n")
    assert rows[rows.index(told) - 1].startswith(f"{task} [open] Build the boat")


def test_a_session_of_the_same_program_and_the_session_itself_are_told_nothing(fuse, works, task):
    works(CODEX, "codex", task)
    assert line(fuse, task, harness="codex") == ""
    assert line(fuse, task, session=CODEX) == ""
    assert line(fuse, task, harness="") == ""


def test_the_one_who_worked_on_it_last_decides(fuse, works, task):
    works(CODEX, "codex", task)
    works(CLAUDE, "claude-code", task)
    assert line(fuse, task) == ""
    assert CLAUDE in line(fuse, task, harness="codex")


def test_of_a_task_that_is_closed_nothing_is_said(fuse, works, task, ledger, ask):
    other = ledger.create(ask(goal="Paint it")).task.id
    works(CODEX, "codex", task)
    ledger.update(task, ask(status="cancelled", decisions=("sold",)))
    text = fuse.start(NEW, harness="claude-code").text
    assert other in text
    assert CODEX not in text


def test_two_lines_at_most_each_within_its_bounds_and_one_line_whatever_was_said(
    fuse, works, ledger, ask
):
    words = '## Goal\n- [L1] not one of ours "quoted" ' + "重写解析器" * 99 + "下一步"
    tasks = [ledger.create(ask(goal=f"Boat {number}")).task.id for number in range(3)]
    for number, task in enumerate(tasks):
        works(f"01a229a6-{number}", "codex", task, words)
    rows = fuse.start(NEW, harness="claude-code").text.split("\n")
    told = [row for row in rows if " was last worked on " in row]
    assert len(told) == 2
    for row in told:
        assert len(row.encode()) <= LIMIT
        assert "下一步" in row
    assert "## Goal" not in rows


def test_what_is_handed_over_says_that_it_is_another_s(fuse, works, task):
    works(CODEX, "codex", task)
    found = fuse.restore("01a229a6", 6_000, another=True)
    assert (found.session, found.harness) == (CODEX, "codex")
    assert "The record of another session of codex, handed over" in found.text
    assert f"that session's: {task} [open] Build the boat" in found.text
    assert WORDS in found.text
    assert "another session" not in fuse.restore(CODEX, 6_000).text


def test_a_session_is_named_by_the_start_of_its_id_if_that_is_enough(fuse, works, task):
    def named(start):
        return fuse.restore(start, 6_000, another=True).session

    works(CODEX, "codex", task)
    works("01a229a6-9d4d-76a2-8766-f165720784ee", "codex", task)
    assert named("01a229a6-3") == CODEX
    assert named(CODEX) == CODEX
    with pytest.raises(InvalidInput, match="2 sessions begin with '01a229a6'"):
        named("01a229a6")
    for start in ("", "6d61"):
        with pytest.raises(SnapshotNotFound):
            named(start)


def test_the_work_of_a_subagent_leaves_the_start_of_its_sessions_id_enough(fuse, works, task):
    def named(start):
        return fuse.restore(start, 6_000, another=True).session

    works(CODEX, "codex", task, agent="a7be3eef")
    assert named(CODEX[:8]) == f"{CODEX}/a7be3eef"  # there is nothing of the session itself
    works(CODEX, "codex", task)
    works(CODEX, "codex", task, agent="b1c2d3e4")
    assert named(CODEX[:8]) == named(CODEX) == CODEX
    assert named(f"{CODEX}/a7") == f"{CODEX}/a7be3eef"
    with pytest.raises(InvalidInput, match="2 sessions begin with"):
        named(f"{CODEX}/")


def test_the_token_of_a_claim_is_not_handed_over_with_the_rest(fuse, works, task, ledger):
    token = ledger.claim(task).token
    works(CODEX, "codex", task, claim=token)
    assert token in fuse.restore(CODEX, 6_000).text
    assert token not in fuse.restore(CODEX, 6_000, another=True).text
    assert token not in fuse.start(NEW, harness="claude-code").text
    newest = fuse.restore(None, 6_000).text
    assert token not in newest
    assert "claimed by you" not in newest
    assert "The newest record here (codex): yours only if you know it." in newest


def test_no_token_that_stands_in_what_is_quoted_is_handed_over(fuse, works, task, ledger, ask):
    other = ledger.create(ask(goal="Caulk the hull")).task.id
    tokens = [ledger.claim(one).token for one in (task, other)]
    words = f"I carry {tokens[0]} and --claim={tokens[1]}, and no t-mast.short."
    works(CODEX, "codex", task, words, claim=tokens[0])
    assert all(token in fuse.restore(CODEX, 6_000).text for token in tokens)
    for text in (
        fuse.restore(CODEX, 6_000, another=True).text,
        fuse.restore(None, 6_000).text,
        fuse.start(NEW, harness="claude-code").text,
    ):
        assert not any(token in text for token in tokens)
        assert f"I carry {task}.(token)" in text
        assert "t-mast.short" in text


def test_a_session_that_has_ended_is_not_at_work_any_more(fuse, works, task):
    works(CODEX, "codex", task, trigger="auto")
    works(CLAUDE, "claude-code", task, trigger="auto")
    assert "Also at work here lately: codex session 01a229a6" in fuse.restore(CLAUDE, 6_000).text
    works(CODEX, "codex", task, "Done for today.", trigger="end")
    assert "Also at work" not in fuse.restore(CLAUDE, 6_000).text
