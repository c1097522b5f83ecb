"""What a harness writes down after its hook has run: told after the compaction all the same."""

from __future__ import annotations

import fcntl
import json

import pytest

from tests.transcripts import calls, entry, says, user


def snapshots(project):
    return json.loads(project("fuse", "list", "--json").out)["data"]["total"]


def boundary():
    return entry("system", subtype="compact_boundary", content="Conversation compacted")


def summary(text):
    return user(text, isCompactSummary=True, isVisibleInTranscriptOnly=True)


LATE_REQUEST = "Now caulk the seam of locker_9, before anything else."


@pytest.mark.parametrize(
    "behind",
    [
        (),
        (boundary(), summary("They mended a mast.")),
        (boundary(), summary("A mast."), user("<command-name>/compact</command-name>")),
    ],
    ids=["no record yet", "a record behind it", "and the command behind that"],
)
def test_a_request_that_was_written_after_the_save_is_told_after_the_compaction(
    project, talk, behind
):
    talk.save()
    talk.write(user(LATE_REQUEST), calls("c9", "Bash", command="caulk --seam"), *behind)
    text = talk.told()
    assert LATE_REQUEST in text.partition("## The user's last words")[2]
    assert "caulk --seam" in text
    assert "compaction 1" in text
    assert "They mended a mast." not in text
    assert text == talk.told()
    assert snapshots(project) == 2


def test_what_is_no_talk_behind_a_save_makes_no_other_one(project, talk):
    talk.save()
    aside = user("<local-command-caveat>The command below was run</local-command-caveat>")
    talk.write(
        entry("last-prompt", lastPrompt="go on"),
        {**aside, "isMeta": True},
        boundary(),
        summary("A mast."),
        user("<command-name>/compact</command-name>"),
    )
    with talk.path.open("a") as file:
        file.write(json.dumps(user("half a line"))[:40])
    assert "Never touch the anchor." in talk.told()
    assert snapshots(project) == 1


def test_a_compaction_that_no_save_came_before_has_its_record_all_the_same(project, talk):
    text = talk.told()
    assert "Never touch the anchor." in text
    assert "Then look at the oars" in text
    # The second one: what was said since the first is told, and that is no older compaction's.
    talk.write(boundary(), summary("A mast."), user(LATE_REQUEST), says("It is caulked."))
    for _ in range(2):
        text = talk.told()
        assert LATE_REQUEST in text
        assert "compaction 2" in text
        talk.write(boundary(), summary("A seam."))


def test_what_the_summary_was_heard_to_say_stays_told_where_more_was_written_late(project, talk):
    talk.save()
    talk.heard("The rot began at the step, where the drain was blocked by paint_17.")
    talk.write(user(LATE_REQUEST), says("The seam of locker_9 leaks at frame_12."))
    text = talk.told()
    assert "paint_17" not in text
    assert LATE_REQUEST in text
    assert "frame_12" in text


def test_what_an_older_summary_was_heard_to_say_is_told_again_after_the_next_compaction(
    project, talk
):
    talk.save()
    talk.heard("The rot began at the step, where the drain was blocked by paint_17.")
    assert "paint_17" not in talk.told()
    talk.write(boundary(), summary("x"), user(LATE_REQUEST), says("The seam leaks at frame_12."))
    talk.write(boundary(), summary("A seam was caulked."))
    text = talk.told()
    assert "compaction 2" in text
    assert "paint_17" in text


def test_a_subagent_s_late_words_are_its_own(project, talk):
    folder = talk.path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    own = folder / "agent-a7.jsonl"
    talk.write(user("Count the reefs.", isSidechain=True), path=own)
    talk.save(agent_id="a7")
    talk.write(user(LATE_REQUEST))
    talk.write(user("Never wake the pilot.", isSidechain=True), path=own)
    text = talk.told(agent_id="a7")
    assert "Never wake the pilot." in text
    assert "locker_9" not in text


def test_a_transcript_in_another_place_takes_nothing_from_what_was_saved(project, talk):
    talk.save()
    talk.path = talk.path.with_name("other") / talk.path.name
    talk.path.parent.mkdir()
    talk.write(*[user(LATE_REQUEST)] * 20)  # longer than the other one
    text = talk.told()
    assert "Never touch the anchor." in text
    assert "locker_9" not in text


def test_a_save_that_fails_late_leaves_what_was_saved_before(project, talk):
    talk.save()
    talk.write(user(LATE_REQUEST))
    lock = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl.lock"
    lock.unlink()
    lock.mkdir()
    assert "Never touch the anchor." in talk.told()
    status = json.loads(project("fuse", "status", "--json").out)["data"]
    assert "restore: " in status["incidents"][0]["what"]


def test_a_log_that_another_process_does_not_let_go_of_costs_no_record(project, talk):
    talk.save()
    talk.write(user(LATE_REQUEST))
    lock = project.folder / ".contextspindle" / "fuse" / "ledger.jsonl.lock"
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "Never touch the anchor." in talk.told()
    status = json.loads(project("fuse", "status", "--json").out)["data"]
    assert "STORE_BUSY" in status["incidents"][0]["what"]
