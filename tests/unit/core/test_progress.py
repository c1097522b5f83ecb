"""Progress: what calls and results show of the work, whatever the prose claims."""

from __future__ import annotations

import pytest

from contextspindle.core.draft import FAILED, RUNNING, STATE, STEP, UNCOMMITTED
from contextspindle.core.progress import Progress
from contextspindle.core.transcript import (
    CALL,
    COMMAND_LINE,
    EDIT,
    INTERRUPT,
    LAUNCH,
    OUTCOME,
    PLACE,
    PULL,
    RESULT,
    SAID,
    TEXT,
    TODO,
    TODOS,
    Step,
    Turn,
)


def progress(*turns):
    followed = Progress()
    for turn in turns:
        followed.feed(turn)
    return followed


def shown(followed, section):
    return [(item.about, item.text) for item in followed.items() if item.section == section]


def step(key, title, status="pending", *, failed=False, line=1, note=""):
    return Turn(line, TODO, steps=(Step(key, title, status, note),), failed=failed)


def ran(call, command, output, *, failed=False, line=1):
    return (
        Turn(line, CALL, command, COMMAND_LINE, "Bash", call, command),
        Turn(line + 1, RESULT, output, COMMAND_LINE, "Bash", call, command, failed),
    )


# ---- steps


def test_open_steps_are_shown_with_key_and_status_those_in_progress_first():
    followed = progress(step("1", "hoist"), step("2", "steer", "in_progress"), step("3", "dock"))
    assert shown(followed, STEP) == [
        ("#2 in_progress", "steer"),
        ("#1 pending", "hoist"),
        ("#3 pending", "dock"),
    ]


def test_an_update_changes_what_it_names_and_keeps_the_rest():
    followed = progress(step("1", "hoist", note="the jib"), step("1", "", "in_progress"))
    assert shown(followed, STEP) == [("#1 in_progress", "hoist — the jib")]


def test_a_closed_step_is_state_with_what_was_said_on_closing_it():
    followed = progress(
        step("1", "hoist", note="the jib"),
        step("2", "dock"),
        step("1", "", "completed"),
        step("2", "", "completed", note="SKIPPED: no harbour"),
    )
    assert shown(followed, STEP) == []
    assert shown(followed, STATE) == [
        ("step done", "#1 hoist"),
        ("step done", "#2 dock: SKIPPED: no harbour"),
    ]


def test_an_update_that_failed_changes_nothing():
    followed = progress(step("1", "hoist"), step("1", "", "completed", failed=True))
    assert shown(followed, STEP) == [("#1 pending", "hoist")]


def test_a_list_that_vanished_is_neither_open_nor_done():
    followed = progress(step("1", "hoist"), step("2", "dock"), step("1", "", "gone", failed=True))
    assert shown(followed, STEP) == shown(followed, STATE) == []


def test_a_step_that_was_never_there_says_nothing_about_the_list():
    followed = progress(step("1", "hoist"), step("9", "", "gone", failed=True))
    assert shown(followed, STEP) == [("#1 pending", "hoist")]


def test_a_new_list_begins_where_all_of_the_old_one_was_done():
    followed = progress(step("1", "hoist"), step("1", "", "completed"), step("1", "dock"))
    assert shown(followed, STEP) == [("#1 pending", "dock")]
    assert shown(followed, STATE) == []


def test_a_whole_list_replaces_the_old_one():
    whole = Turn(2, TODOS, steps=(Step("1", "row", "pending"), Step("2", "rest", "completed")))
    assert shown(progress(step("7", "hoist"), whole), STEP) == [("#1 pending", "row")]
    assert shown(progress(step("7", "hoist"), Turn(2, TODOS)), STEP) == []


# ---- what runs


def test_a_call_without_a_result_is_running_even_after_an_interrupt():
    followed = progress(
        Turn(1, CALL, "make all", COMMAND_LINE, "Bash", "c1", "make all"), Turn(2, INTERRUPT)
    )
    assert shown(followed, RUNNING) == [("Bash called", "make all")]


def test_a_call_that_was_answered_or_refused_is_not_running():
    refused = Turn(4, SAID, "no", "refusal", "Bash", "c2")
    followed = progress(
        *ran("c1", "make", "ok"), Turn(3, CALL, "rm", COMMAND_LINE, "Bash", "c2", "rm"), refused
    )
    assert shown(followed, RUNNING) == []


def test_of_three_launches_the_two_without_a_report_are_running():
    launches = [Turn(n, LAUNCH, tool="Agent", call=f"c{n}", about=f"job {n}") for n in (1, 2, 3)]
    followed = progress(*launches, Turn(4, OUTCOME, "found", call="c2"))
    assert shown(followed, RUNNING) == [("Agent sent", "job 1"), ("Agent sent", "job 3")]


def test_a_command_in_the_background_waits_for_its_report():
    call = Turn(1, CALL, "serve", COMMAND_LINE, "Bash", "c1", "serve")
    launch = Turn(2, LAUNCH, tool="Bash", call="c1", about="serve")
    assert shown(progress(call, launch), RUNNING) == [("Bash sent", "serve")]
    assert shown(progress(call, launch, Turn(3, OUTCOME, call="c1")), RUNNING) == []


# ---- the work


def test_branch_and_pull_request_are_the_last_ones_told():
    followed = progress(
        Turn(1, PLACE, "main", about="branch"),
        Turn(2, PLACE, "fix/mast", about="branch"),
        Turn(3, PULL, "https://example.org/pull/7"),
    )
    assert shown(followed, STATE) == [
        ("branch", "fix/mast"),
        ("pull request", "https://example.org/pull/7"),
    ]


def test_commits_are_quoted_from_what_git_printed_newest_first():
    followed = progress(
        *ran("c1", "git commit -am x", "[main 1a2b3c4] Mend the mast\n 1 file changed"),
        *ran("c2", "git commit -m y", "hook ok\n[main 5d6e7f8] Paint it"),
        *ran("c3", "git commit -m z", "nothing to commit"),
        *ran("c4", "cat commit.txt", "[see 12] no commit"),
    )
    assert shown(followed, STATE) == [
        ("commit", "5d6e7f8 Paint it"),
        ("commit", "1a2b3c4 Mend the mast"),
    ]


def test_an_amended_commit_stands_in_the_place_of_the_one_before_it():
    followed = progress(
        *ran("c1", "git commit -qm x && git commit --amend", "[main 1a2b3c4] x\n[main 5d6e7f8] y"),
        *ran("c2", "git commit -m 'tell of --amend'", "[main 9a8b7c6] Tell of --amend (amends #3)"),
    )
    assert shown(followed, STATE) == [
        ("commit", "9a8b7c6 Tell of --amend (amends #3)"),
        ("commit", "5d6e7f8 y"),
    ]


@pytest.mark.parametrize("command", ["git commit -m x", "git commit --amend"])
def test_the_first_commit_of_a_session_may_speak_of_amending(command):
    followed = progress(*ran("c1", command, "[main 1a2b3c4] Mend it (amends #12)"))
    assert shown(followed, STATE) == [("commit", "1a2b3c4 Mend it (amends #12)")]


@pytest.mark.parametrize("before", [*range(60, 205, 3), *range(250, 310, 3)])
def test_a_secret_is_masked_before_a_text_is_cut_within_it(before):
    secret = "ghp_" + "Zx81Qw7Lm2Kp9Vt4Rb6Nc3Hd5Js0Fg1Ty8"
    text = f"{'a ' * (before // 2)}{secret} and so on"
    followed = progress(
        *ran("c1", f"pytest {text}", f"1 passed {text}"),
        *ran("c2", "git commit -m x", f"[main 1a2b3c4] {text}"),
    )
    for _, shown_text in shown(followed, STATE):
        assert secret[:6] not in shown_text


def test_a_claim_in_prose_is_no_commit():
    assert shown(progress(Turn(1, TEXT, "[main 1a2b3c4] committed")), STATE) == []


def test_the_last_test_run_tells_its_command_and_its_verdict():
    followed = progress(
        *ran("c1", "python -m pytest -q", "1 failed, 3 passed in 0.4s", failed=True),
        *ran("c2", "ls", "a\nb"),
    )
    (item,) = followed.items()
    assert item.text == "python -m pytest -q -> 1 failed, 3 passed in 0.4s"
    assert (item.about, item.mark) == ("last test run", FAILED)
    followed.feed(Turn(5, CALL, "make test", COMMAND_LINE, "Bash", "c3", "make test"))
    followed.feed(Turn(6, RESULT, "ok 12\n", COMMAND_LINE, "Bash", "c3"))
    (item,) = followed.items()
    assert (item.text, item.mark) == ("make test -> ok 12", "")


def test_a_search_for_the_word_test_is_no_test_run():
    call = Turn(1, CALL, "pattern: test", "", "Grep", "c1", "test")
    assert progress(call, Turn(2, RESULT, "3 files", "", "Grep", "c1")).items() == []


@pytest.mark.parametrize(
    "command",
    [
        "# Non-hermetic test\ngh api repos/o/r/pulls/1/comments -f body='Fixed'",
        'OTP=$(grep "DEV OTP" api.output | tail -1) && echo "OTP: $OTP"',
        'RESP=$(curl -s http://localhost:3000/verify -d "{\\"email\\":\\"test2@example.org\\"}")',
    ],
)
def test_a_command_that_only_speaks_of_tests_is_no_test_run(command):
    assert progress(*ran("c1", command, "ok 12")).items() == []


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        (
            "--- FAIL: TestBill (0.01s)\nFAIL example.com/billing 0.031s\nok e.com/http 0.020s",
            "FAIL example.com/billing 0.031s",
        ),
        ("Tests 2 failed | 9 passed (11)\nTook 1.21s", "Tests 2 failed | 9 passed (11)"),
        (
            "4 passing (9ms)\nnpm notice New version 11.2 of npm! look at https://npmjs.com",
            "4 passing (9ms)",
        ),
        ("12 passed, 0 failed\nbuilt in 3.39s", "built in 3.39s"),
    ],
)
def test_a_row_that_tells_of_a_failure_outranks_what_passed_beside_it(output, verdict):
    (item,) = progress(*ran("c1", "make test", output)).items()
    assert item.text == f"make test -> {verdict}"


def commits(*steps):
    """The commits that are told after these commands and what they printed."""
    turns = [turn for n, (command, out) in enumerate(steps) for turn in ran(f"c{n}", command, out)]
    return [text.split()[0] for about, text in shown(progress(*turns), STATE) if about == "commit"]


MADE = [("git commit -m x", f"[main {digest}] Step {digest}") for digest in ("1111111", "2222222")]


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("git reset --hard HEAD~1", ["1111111"]),
        ("git reset HEAD^", ["1111111"]),
        ("git -C /srv reset --hard HEAD~2", []),
        ("git reset --hard 1111111", ["1111111"]),
        ("git reset --hard origin/main", []),
        ("git reset", ["2222222", "1111111"]),
        ("echo 'git reset --hard HEAD~1'", ["2222222", "1111111"]),
    ],
)
def test_commits_that_a_reset_left_behind_are_told_no_more(command, left):
    assert commits(*MADE, (command, "")) == left


def test_only_a_commit_of_git_makes_what_is_changed_committed():
    def marks(command):
        turns = (
            Turn(1, CALL, "x", EDIT, "Edit", "e1", "/srv/later.py"),
            Turn(2, RESULT, "", EDIT, "Edit", "e1", "/srv/later.py"),
            Turn(3, CALL, command, COMMAND_LINE, "Bash", "c1", command),
            Turn(4, RESULT, "", COMMAND_LINE, "Bash", "c1", command),
        )
        return [item.mark for item in progress(*turns).items() if item.about == "file"]

    assert marks("git -c user.name=x commit -qm 'done'") == [""]
    assert marks("git add -A && git commit -m done") == [""]
    assert marks("grep -rn 'git commit' docs") == [UNCOMMITTED]
    assert marks("echo then commit it") == [UNCOMMITTED]
    for thrown in ("git checkout -- later.py", "git restore .", "git reset --hard"):
        assert marks(thrown) == []
    assert marks("git checkout main") == marks("git restore --staged .") == [UNCOMMITTED]


def test_a_test_run_within_a_substitution_is_one():
    (item,) = progress(*ran("c1", 'OUT=$(make test) && echo "$OUT"', "ok 12")).items()
    assert item.about == "last test run"


def test_a_file_counts_as_changed_when_the_change_was_answered():
    def edits(call, path, *, failed=False):
        return (
            Turn(1, CALL, "", EDIT, "Edit", call, path),
            Turn(2, RESULT, "", EDIT, "Edit", call, path, failed),
        )

    followed = progress(
        Turn(1, PLACE, "/home/ada/boat", about="folder"),
        *edits("c1", "/home/ada/boat/a.py"),
        *edits("c2", "/home/ada/boat/b.py", failed=True),
        *edits("c3", "/etc/c.conf"),
        *edits("c4", "/home/ada/boat/a.py"),
        Turn(9, CALL, "", EDIT, "Edit", "c5", "/home/ada/boat/d.py"),
    )
    assert shown(followed, STATE) == [("file", "a.py"), ("file", "/etc/c.conf")]


def edited(call, path, line):
    return (
        Turn(line, CALL, "", EDIT, "Edit", call, path),
        Turn(line, RESULT, "", EDIT, "Edit", call, path),
    )


def test_a_file_is_uncommitted_until_a_commit_comes_after_its_last_change():
    followed = progress(
        *edited("c1", "a.py", 1),
        *ran("c2", "git commit -qam x", "", line=2),
        *edited("c3", "b.py", 5),
        *ran("c4", "git commit -m y", "nothing to commit", failed=True, line=6),
    )
    marks = {item.text: item.mark for item in followed.items() if item.about == "file"}
    assert marks == {"b.py": UNCOMMITTED, "a.py": ""}


def test_the_working_tree_is_as_it_was_last_looked_at_unless_a_commit_came_after():
    said = "On branch fix\nYour branch is behind 'origin/main' by 7 commits.\n\nChanges:"
    followed = progress(*ran("c1", "git status", said))
    assert shown(followed, STATE) == [
        ("git status", "On branch fix Your branch is behind 'origin/main' by 7 commits."),
    ]
    for turn in ran("c2", "git commit -m x", "[fix 1a2b3c4] x", line=7):
        followed.feed(turn)
    assert shown(followed, STATE) == [("commit", "1a2b3c4 x")]


def test_a_pull_request_is_the_address_that_its_command_printed():
    followed = progress(
        *ran("c1", "gh pr create --draft", "Creating\nhttps://example.org/pull/7\n"),
        *ran("c2", "gh pr create", "https://example.org/pull/8", failed=True),
    )
    assert shown(followed, STATE) == [("pull request", "https://example.org/pull/7")]


def test_a_step_points_to_its_title_and_a_started_work_to_its_call():
    followed = progress(
        Turn(3, CALL, tool="TaskCreate", call="c1"),
        Turn(4, TODO, call="c1", steps=(Step("1", "hoist", "pending"),)),
        step("1", "", "in_progress", line=9),
        Turn(11, CALL, "serve", COMMAND_LINE, "Bash", "c2", "serve"),
        Turn(12, LAUNCH, tool="Bash", call="c2", about="serve"),
    )
    assert [(item.section, item.line) for item in followed.items()] == [(STEP, 3), (RUNNING, 11)]


def test_state_is_masked():
    key = "ghp_" + "Zx81Qw7Lm2Kp9Vt4Rb6Nc3Hd5Js0Fg1Ty8"
    followed = progress(
        *ran("c1", f"GH_TOKEN={key} make test", "ok 1"),
        Turn(3, CALL, key, COMMAND_LINE, "Bash", "c2", f"deploy {key}"),
        step("1", f"rotate {key}", note=key),
    )
    assert not any(key in item.text for item in followed.items())


def test_memory_is_bounded():
    followed = Progress()
    for n in range(5_000):
        followed.feed(Turn(n, CALL, "x", COMMAND_LINE, "Bash", f"open{n}", "x"))
        followed.feed(Turn(n, LAUNCH, call=f"sent{n}", about="x"))
        for turn in ran(f"c{n}", "git commit", f"[main {n:07x}] x"):
            followed.feed(turn)
    assert len(followed.calls) < 100
    assert len(followed.launched) < 100
    assert len(followed.commits) < 100


def test_a_test_run_is_known_by_its_program_or_by_what_that_is_told_to_do():
    for command in (
        "cd boat && npm run test:unit 2>&1 | tail -5",
        "CI=1 .venv/bin/pytest -q tests/unit",
        "go test -run 'TestMast' ./...",
        "pnpm --filter @boat/mast test",
        "mise run lint",
        "python run_tests.py",
    ):
        (item,) = progress(*ran("c1", command, "12 passed")).items()
        assert item.text.endswith("-> 12 passed"), command


def test_what_only_speaks_of_tests_is_no_test_run():
    for command in (
        'CODE=$(grep "for test2@example.org" out.txt | tail -1) && echo "$CODE"',
        "cat tests/mast.py",
        "git add tests && git commit -m 'test the mast'",
        "cd build && ls",
        "boat checkpoint list",
        "git commit -F - <<EOF\ntests for the mast\nEOF",
    ):
        assert progress(*ran("c1", command, "3 rows")).items() == [], command


def test_the_verdict_is_the_row_that_says_how_it_went():
    output = "Tests  241 passed (241)\nStart at 10:12:07\nDuration 2.47s (setup 0ms)"
    (item,) = progress(*ran("c1", "vitest run", output)).items()
    assert item.text == "vitest run -> Tests 241 passed (241)"


def test_work_in_the_background_is_named_as_the_harness_names_it():
    followed = progress(
        Turn(1, CALL, "serve", COMMAND_LINE, "Bash", "c2", "serve"),
        Turn(2, LAUNCH, via="b7f0", tool="Bash", call="c2", about="serve"),
    )
    assert shown(followed, RUNNING) == [("Bash sent as b7f0", "serve")]
