"""Taking work and finishing it, through the command: claims, what is ready, and the done gate."""

from __future__ import annotations

import json

import pytest

STALE = "Evidence is missing or stale relative to current completion criteria"
MISMATCH = "Evidence task id mismatch"


@pytest.fixture
def held(project, create):
    """A task that ada holds, and her token."""
    task = create("held")
    done = project("task", "claim", task, "--json", env={"CONTEXTSPINDLE_ACTOR": "ada"})
    return task, done.data["token"]


@pytest.fixture
def standing(project):
    """A function that gives the standing of each evidence record of a task."""

    def told(task):
        return [one["standing"] for one in project("task", "show", task, "--json").data["evidence"]]

    return told


def closed(project, task, *words):
    """Whether the task could be closed, and the reasons if not."""
    done = project("task", "update", task, "--status", "done", *words, "--json")
    if done.status == 0:
        return True, []
    assert done.status == 5
    assert done.error["code"] == "DONE_REFUSED"
    return False, done.error["details"]["reasons"]


# -- the gate


def test_every_criterion_needs_evidence_of_its_own_or_one_for_all(project, create):
    task = create("g", "--criterion", "it builds", "--criterion", "it is fast")
    assert closed(project, task) == (
        False,
        [
            f"{STALE} (criterion 1, 2): show that it holds with --evidence TEXT --for N, or with"
            f" 'contextspindle task prove {task} --for N -- COMMAND'"
        ],
    )
    project("task", "update", task, "--evidence", "built", "--for", "1")
    (reason,) = closed(project, task)[1]
    assert reason.startswith(f"{STALE} (criterion 2)")
    assert closed(project, task, "--evidence", "measured", "--for", "2") == (True, [])


@pytest.mark.parametrize("number", ["0", "3"])
def test_evidence_for_a_criterion_that_is_not_there_is_refused_and_proves_nothing(
    project, create, number
):
    """Criteria count from 1: for whoever counts from 0 the first must not stand for all."""
    task = create("g", "--criterion", "it builds", "--criterion", "it is fast")
    for words in (("update", task, "--evidence", "x"), ("update", task, "--evidence-file", "f")):
        (project.folder / "f").write_text("x")
        done = project("task", *words, "--for", number)
        assert (done.status, f"There is no criterion {number}" in done.err.decode()) == (2, True)
    done = project("task", "prove", task, "--for", number, "--", "touch", "ran")
    assert (done.status, (project.folder / "ran").exists()) == (2, False)
    assert not closed(project, task)[0]
    assert project("task", "show", task, "--json").data["version"] == 1


def test_a_refusal_lists_every_reason_at_once_each_with_its_remedy(project, create):
    need, other = create("need"), create("other")
    project("task", "update", need, "--status", "cancelled", "--decision", "no")
    task = create("g", "--criterion", "c", "--depends-on", need, "--depends-on", other)
    elsewhere = create("elsewhere", "--criterion", "c")
    project("task", "update", elsewhere, "--evidence", "seen")
    record = project("task", "show", elsewhere, "--json").data["evidence"][0]["text"]
    project("task", "update", task, "--blocker", "rain", "--evidence", record)
    project("task", "prove", task, "--", "false")
    reasons = closed(project, task)[1]
    assert reasons == [
        'Its blocker is not clear: it waits for "rain". Once that is resolved, clear it with'
        " --blocker ''",
        f"Its dependency {need} is cancelled: it will not be done, so remove it with"
        f" --drop-dependency {need}",
        f"Its dependency {other} is open: finish it first",
        f"{STALE} (criterion 1): show that it holds with --evidence TEXT, or with"
        f" 'contextspindle task prove {task} -- COMMAND'",
        f"{MISMATCH}: record 1 is about {elsewhere}, so it shows nothing of this task",
        "Record 2 is of a command that failed with status 1 (false): mend what fails, then run it"
        " again with 'contextspindle task prove'",
    ]
    said = project("task", "update", task, "--status", "done").err.decode()
    said = said.replace(" [DONE_REFUSED]", "")
    assert [line for line in said.splitlines() if line.startswith("  - ")] == [
        f"  - {reason}" for reason in reasons
    ]
    assert closed(project, create("no criteria"))[1] == [
        "It has no completion criteria: set them with --criterion TEXT"
    ]


def test_evidence_goes_stale_when_the_criteria_change_and_counts_again_when_they_are_back(
    project, create, standing
):
    task = create("g", "--criterion", "one")
    project("task", "update", task, "--evidence", "seen")
    project("task", "update", task, "--criterion", "two", "--decision", "more")
    assert standing(task) == ["stale"]
    assert STALE in closed(project, task)[1][0]
    project("task", "update", task, "--criterion", "one", "--decision", "no, less")
    assert standing(task) == ["fresh"]
    assert closed(project, task)[0]


def test_a_file_as_evidence_goes_stale_by_itself_when_it_changes_and_says_why(
    project, create, standing
):
    report = project.folder / "report.txt"
    report.write_text("all is well\n")
    task = create("g", "--criterion", "c")
    assert project("task", "update", task, "--evidence-file", "report.txt").status == 0
    assert standing(task) == ["fresh"]
    report.write_text("all is lost\n")
    assert standing(task) == ["stale: report.txt has changed"]
    assert "[stale: report.txt has changed] report.txt" in (
        project("task", "context", task).out.decode()
    )
    assert closed(project, task)[1][1] == (
        "Record 1 no longer counts, because report.txt has changed: look at the file, then record"
        " it again with --evidence-file"
    )
    report.unlink()
    assert "report.txt is gone" in closed(project, task)[1][1]
    report.write_text("all is well\n")
    assert closed(project, task)[0]


def test_a_file_attests_the_criteria_that_the_same_update_sets(project, create):
    (project.folder / "report.txt").write_text("x")
    task = create("g")
    words = ("--criterion", "a", "--criterion", "b", "--decision", "d")
    one = project("task", "update", task, *words, "--evidence-file", "report.txt", "--for", "2")
    assert one.status == 0
    assert closed(project, task, "--evidence", "seen", "--for", "1")[0]


def test_a_file_that_is_not_there_is_a_mistake_and_nothing_is_written(project, create):
    task = create("g")
    done = project("task", "update", task, "--evidence-file", "none", "--note", "n", "--json")
    assert (done.status, done.error["code"]) == (2, "INVALID_INPUT")
    assert project("task", "show", task, "--json").data["version"] == 1


def test_a_command_as_evidence_is_bound_to_the_tree_and_goes_stale_with_it(
    project, create, git, standing
):
    git("init")
    (project.folder / "src").mkdir()
    (project.folder / "src" / "a").write_text("1")
    git("add", ".")
    git("commit", "-m", "first")
    task = create("g", "--criterion", "it works")
    done = project("task", "prove", task, "--covers", "src", "--", "sh", "-c", "echo fine")
    assert (done.status, done.err) == (0, b"fine\n")
    assert b"ended with status 0" in done.out
    (found,) = project("task", "show", task, "--json").data["evidence"]
    assert found["command"]["argv"] == ["sh", "-c", "echo fine"]
    assert (found["command"]["tail"], found["payload"]) == ("fine\n", "sh -c echo fine")
    assert len(found["command"]["commit"]) == 40
    (project.folder / "src" / "a").write_text("2")
    assert standing(task) == ["stale: src has changed since the command ran"]
    assert "run it again" in closed(project, task)[1][1]
    assert project("task", "prove", task, "--covers", "src", "--", "true").status == 0
    (project.folder / "elsewhere").write_text("no matter")
    assert standing(task)[1] == "fresh"
    assert closed(project, task)[0]


def test_recording_proof_does_not_make_it_stale(project, create, git, standing):
    """The ledger itself is in the checkout, and changes with every write."""
    git("init")
    task = create("g", "--criterion", "c")
    for covers in ((), ("--covers", ".")):
        project("task", "prove", task, *covers, "--", "true")
    project("task", "update", task, "--note", "n")
    assert standing(task) == ["fresh", "fresh"]


def test_a_command_that_failed_is_recorded_ends_with_5_and_never_satisfies_the_gate(
    project, create, standing
):
    task = create("g", "--criterion", "c")
    done = project("task", "prove", task, "--json", "--", "sh", "-c", "echo broken; exit 7")
    assert (done.status, done.data["command"]["status"]) == (5, 7)
    assert project("task", "prove", task, "--", "sh", "-c", "kill -9 $$").status == 5
    assert standing(task) == ["failed with status 7", "failed with status 137"]
    assert not closed(project, task)[0]


def test_a_command_that_cannot_be_run_is_a_mistake_and_nothing_is_written(project, create):
    task = create("g")
    done = project("task", "prove", task, "--json", "--", "no-such-command")
    # What stands behind -- is the command's; so is --json there.
    assert done.status == 2
    assert project("task", "prove", task, "--").status == 2
    assert project("task", "prove", task).status == 2
    assert project("task", "show", task, "--json").data["version"] == 1


def test_a_command_that_changes_what_it_covers_is_told_at_once(project, create, git, standing):
    git("init")
    (project.folder / "a").write_text("1")
    task = create("g", "--criterion", "c")
    done = project("task", "prove", task, "--", "sh", "-c", "echo 2 > a")
    assert done.status == 5
    assert b"does not count: it changed what it is about (a)\nLet git ignore" in done.out
    done = project(
        "task", "prove", task, "--json", "--", "sh", "-c", "for i in 1 2 3 4; do echo >$i; done"
    )
    assert done.status == 5
    assert json.loads(done.out)["data"]["changed"] == ["1", "2", "3", "4"]
    assert standing(task) == ["stale: the checkout changed while the command ran"] * 2
    assert not closed(project, task)[0]
    said = "[does not count: it changed what it is about] sh -c echo 2 > a"
    assert said in project("task", "history", task).out.decode()


def test_a_failed_proof_is_told_as_failed_wherever_it_is_told(project, create, screen):
    task = create("g", "--criterion", "c", "--criterion", "d")
    failed = project("task", "prove", task, "--for", "1", "--", "false").out.decode()
    assert "ended with status 1" in failed
    assert ", so it does not count; bound to no files" in failed
    worked = project("task", "prove", task, "--for", "1", "--", "true").out.decode()
    assert "does not count" not in worked
    assert "bound to no files: --covers PATH would bind it" in worked
    history = project("task", "history", task).out.decode()
    assert "  evidence for criterion 1: [failed with status 1] false\n" in history
    assert "  evidence for criterion 1: true\n" in history
    log = project("task", "log").out.decode()
    assert "  evidence: [failed with status 1] false\n" in log
    for verb in (("history", task), ("log",)):
        assert "[failed with status 1] false" in " ".join(screen("task", *verb).lines), verb


@pytest.mark.parametrize("kind", ["file", "command"])
def test_a_pasted_record_that_claims_a_file_or_a_command_counts_as_text(
    project, create, standing, kind
):
    (project.folder / "report.txt").write_text("x")
    task = create("g", "--criterion", "c")
    if kind == "file":
        project("task", "update", task, "--evidence-file", "report.txt")
    else:
        project("task", "prove", task, "--covers", "report.txt", "--", "true")
    record = project("task", "show", task, "--json").data["evidence"][0]["text"]
    project("task", "update", task, "--evidence", record)
    (project.folder / "report.txt").write_text("y")
    pasted = project("task", "show", task, "--json").data["evidence"][1]
    assert kind not in pasted
    assert [one.partition(":")[0] for one in standing(task)] == ["stale", "fresh"]


def test_closing_a_parent_names_the_children_that_are_still_open(project, create):
    parent = create("p", "--criterion", "c")
    kids = [create(f"k{n}", "--parent", parent) for n in range(3)]
    project("task", "update", kids[1], "--status", "cancelled", "--decision", "no")
    done = project("task", "update", parent, "--evidence", "e", "--status", "done", "--json")
    assert done.data["warnings"] == [f"Children still open: {kids[0]}, {kids[2]}"]


# -- claims


def test_a_held_task_is_refused_to_everybody_without_the_token(project, held):
    task, token = held
    for words in (("claim", task), ("update", task, "--next", "x"), ("release", task)):
        done = project("task", *words, "--json")
        assert (done.status, done.error["code"]) == (4, "CLAIM_HELD")
        assert done.error["details"]["holder"] == "ada"
    assert project("task", "update", task, "--next", "x", "--claim", token).status == 0
    for words in (("--note", "n"), ("--decision", "d"), ("--evidence", "e")):
        assert project("task", "update", task, *words).status == 0
    assert project("task", "prove", task, "--", "true").status == 0


def test_the_token_may_be_carried_by_the_environment(project, held, create):
    task, token = held
    env = {"CONTEXTSPINDLE_CLAIM": token}
    assert project("task", "update", task, "--status", "active", env=env).status == 0
    assert project("task", "update", create("other"), "--next", "x", env=env).status == 0
    assert project("task", "renew", env=env).status == 0
    assert project("task", "release", task, env=env).status == 0
    done = project("task", "update", task, "--note", "n", "--json", env=env)
    assert (done.status, done.error["code"]) == (4, "CLAIM_LOST")
    assert project("task", "renew").status == 2


def test_show_context_and_lists_say_who_holds_a_task_until_when(project, held):
    task, _ = held
    shown = project("task", "show", task, "--json").data
    assert shown["claim"] == "ada"
    line = f"claim: ada until {shown['claimed_until']}\n"
    assert line in project("task", "show", task).out.decode()
    assert line in project("task", "context", task).out.decode()
    (listed,) = project("task", "list", "--json").data["tasks"]
    assert (listed["claim"], listed["claimed_until"]) == ("ada", shown["claimed_until"])
    for words in (("inbox",), ("list",), ("board",), ("tree",), ("search", "held")):
        assert " | claimed by ada until 20" in project("task", *words).out.decode(), words
    assert " | claimed by ada" in project("prime").out.decode()


def test_a_token_is_printed_once_and_kept_nowhere(project, held):
    task, token = held
    secret = token.partition(".")[2].encode()
    for words in (("show", task), ("history", task), ("context", task)):
        assert secret not in project("task", *words, "--json").out
    kept = [path for path in project.folder.rglob("*") if path.is_file()]
    assert len(kept) >= 3
    assert [path for path in kept if secret in path.read_bytes()] == []


def test_a_late_holder_is_refused_after_a_take_over(project, create):
    task = create("g")
    late = project("task", "claim", task, "--lease", "1", "--quiet").out.decode().strip()
    bob = {"CONTEXTSPINDLE_ACTOR": "bob"}
    while not project("task", "ready", "--explain", task, "--json").data["ready"]:
        pass  # until the lease of a second has run out
    taken = project("task", "claim", task, "--json", env=bob).data
    done = project("task", "update", task, "--status", "active", "--claim", late, "--json")
    assert (done.status, done.error["code"]) == (4, "CLAIM_LOST")
    assert "bob holds it under another" in done.error["message"]
    assert project("task", "show", task, "--json").data["version"] == taken["task"]["version"] == 3
    assert project("task", "update", task, "--next", "x", "--claim", taken["token"]).status == 0


def test_the_best_ready_task_is_claimed_until_there_is_none(project, create):
    low, high = create("low", "--priority", "low"), create("high", "--priority", "high")
    blocked = create("no", "--status", "blocked", "--blocker", "rain")
    for wanted in (high, low):
        assert project("task", "claim", "--next", "--json").data["task"]["id"] == wanted
    done = project("task", "claim", "--next", "--json")
    assert (done.status, done.error["code"]) == (3, "NOTHING_READY")
    assert project("task", "claim").status == 2
    assert project("task", "claim", blocked, "--next").status == 2


def test_ready_lists_what_can_be_taken_and_explains_what_cannot(project, create, held):
    task, _ = held
    need = create("need", "--priority", "4")
    waits = create("waits", "--depends-on", need, "--blocker", "rain", "--priority", "0")
    assert project("task", "ready", "--quiet").out.decode().split() == [need]
    found = project("task", "ready", "--explain", waits, "--json").data
    assert found == {
        "id": waits,
        "ready": False,
        "obstacles": ["it is blocked by: rain", f"its dependency {need} is open"],
    }
    said = project("task", "ready", "--explain", task).out.decode()
    assert said.startswith(f"{task} is not ready\n  - ada holds it until ")
    assert project("task", "ready", "--explain", need).out.decode() == f"{need} is ready\n"


# -- search


def test_search_is_a_page_like_any_other(project, create):
    ids = [create(f"zebra {number}") for number in range(3)]
    assert project("task", "search", "zebra", "--quiet").out.decode().split() == ids[::-1]
    page = project("task", "search", "zebra", "2", "1", "--json").data
    assert [one["id"] for one in page["tasks"]] == [ids[1], ids[0]]
    assert page["total"] == 3
    none = project("task", "search", "li\non")
    assert (none.status, none.out.decode()) == (0, "Nothing holds 'li⏎on'.\n")
    told = "Could not search for '🚀 *': only letters and digits are found.\n"
    assert project("task", "search", "🚀 *").out.decode() == told


def test_an_own_claim_is_renewed_by_claiming_it_again(project, held):
    task, token = held
    told = project("task", "claim", task, "--claim", token, "--lease", "7200").out.decode()
    assert told.startswith(f"{task} is already yours until ")
    environment = {"CONTEXTSPINDLE_CLAIM": token}
    done = project("task", "claim", task, "--json", env=environment)
    assert (done.status, done.data["token"], done.data["task"]["version"]) == (0, token, 2)
    assert project("task", "claim", task).status == 4
    assert project("task", "claim", "--next", "--claim", token).status == 2
