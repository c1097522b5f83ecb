"""What users of other programs wished for, tried on this one: one test a wish."""

from __future__ import annotations

import re


def test_wi01_a_handoff_can_be_read_by_any_agent_without_our_tool(project, create):
    need = create("first migrate the tables")
    task = create(
        "Ship the login page",
        *("--criterion", "the tests pass", "--criterion", "no new dependency"),
        *("--decision", "sessions in the database: cookies were too large"),
        *("--note", "tried JWT, failed: clock skew"),
        *("--note", "the form is written"),
        *("--next", "write the logout", "--depends-on", need, "--status", "active"),
    )
    project("task", "prove", task, "--for", "1", "--", "sh", "-c", "echo 3 failed; exit 1")
    project("task", "claim", task)
    text = project("task", "context", task, "4000").out.decode()
    for part in (
        "goal: Ship the login page",
        "criterion 1: the tests pass",
        "criterion 2: no new dependency",
        "sessions in the database: cookies were too large",
        "tried JWT, failed: clock skew",
        "the form is written",
        "next: write the logout",
        "status: active",
        f"depends on: {need}",
        "[open] first migrate the tables",
        "claim: tester until",
        "failed with status 1",
    ):
        assert part in text, part
    assert text.isprintable() or set(text) <= {c for c in text if c.isprintable() or c == "\n"}
    assert not {"<", "{", "```", "\x1b"} & set(text)
    assert "claude" not in text.lower()


def test_wi01_the_handoff_of_a_session_is_plain_text_too(project, create, payload):
    create("Ship the login page", "--next", "write the logout")
    project(
        "fuse", "save", input=payload("PreCompact", said="Never use tabs. Ship the login page.")
    )
    text = project("fuse", "restore", "--plain").out.decode()
    for part in ("Never use tabs", "Ship the login page", "write the logout"):
        assert part in text
    assert not {"<", "{", "\x1b"} & set(text)


def test_wi02_a_handoff_says_who_else_is_at_work_here_and_nothing_of_their_story(
    project, create, worked
):
    mine, theirs, third = create("the login page"), create("the logout"), create("the help page")
    other = {"CONTEXTSPINDLE_ACTOR": "agent-2"}
    project("task", "claim", theirs, env=other)
    project("task", "claim", third, env={"CONTEXTSPINDLE_ACTOR": "agent-3"})
    worked("aaaaaaaa-1", "Ship the login page.", mine)
    worked("bbbbbbbb-2", "Never tell the harbour secret.", theirs, branch="feat/logout")
    for words in (
        ("fuse", "restore", "--plain", "--session", "aaaaaaaa-1"),
        ("fuse", "restore", "--plain", "--session", "cccccccc-3"),  # one that has no snapshot
    ):
        text = project(*words).out.decode()
        (line,) = [one for one in text.splitlines() if one.startswith("Also at work here")]
        assert len(line.encode()) <= 200
        found = (
            r"claude-code session bbbbbbbb-2 \((just now|\d+ \w+ ago), branch feat/logout, task "
        )
        assert re.search(f"{found}{theirs} claimed", line), line
        assert "harbour secret" not in text
    text = project("fuse", "restore", "--plain", "--session", "aaaaaaaa-1").out.decode()
    assert f"agent-3 holds {third}" in text
    assert f"holds {theirs}" not in text  # that is said of its session already
    # The other one reads of the first, and nobody reads of themselves.
    text = project("fuse", "restore", "--plain", "--session", "bbbbbbbb-2").out.decode()
    assert "session aaaaaaaa-1 (" in text
    assert "session bbbbbbbb-2 (" not in text
    # The task itself says who has it.
    assert "claim: agent-2 until" in project("task", "context", theirs).out.decode()


def test_wi02_many_others_are_counted_and_the_line_stays_short(project, create, worked):
    for number in range(9):
        worked(f"{number}2345678-other", "Go on.", create(f"g{number}"), branch="b" * 90)
    worked("mine", "Go on.", create("g"))
    text = project("fuse", "restore", "--plain", "--session", "mine").out.decode()
    (line,) = [one for one in text.splitlines() if one.startswith("Also at work here")]
    assert len(line.encode()) <= 200
    assert "more." in line


def test_wi02_who_is_alone_reads_nothing_of_it(project, create, worked):
    task = create("g")
    project("task", "claim", task)  # under the label of this very session
    worked("mine", "Go on.", task)
    assert b"Also at work" not in project("fuse", "restore", "--plain", "--session", "mine").out


def test_wi02_a_session_of_yesterday_and_a_lease_that_ran_out_are_not_told(
    project, create, worked, alter
):
    import json
    import time

    from contextspindle.store.snapshots import JsonLinesLog

    left, task = create("left as it is"), create("g")
    for one in (left, task):
        project("task", "claim", one, "--lease", "1", env={"CONTEXTSPINDLE_ACTOR": "gone"})
    worked("old", "Go on.", task)
    path = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl"
    snapshot = json.loads(path.read_text())["snapshot"]
    path.unlink()
    log = JsonLinesLog(str(path))
    log.append({**snapshot, "at": snapshot["at"] - 9 * 3_600_000})
    worked("mine", "Go on.", create("h"))
    until = time.monotonic() + 30
    while project("task", "claim", task).status and time.monotonic() < until:
        pass  # by then the lease of the one claimed before it has run out as well
    assert b"Also at work" not in project("fuse", "restore", "--plain", "--session", "mine").out
