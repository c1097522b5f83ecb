"""The original's folders: every version becomes a change, at its own time, with nothing added."""

from __future__ import annotations

import pytest

from contextspindle.core.evidence import PREFIX, criteria_hash, read, standings, verified
from contextspindle.trackers import original
from contextspindle.trackers.original import File
from tests.trackers import delta, fnv_1a, version_file, whole, write_original

START = 1767225600000
RECORD = (
    PREFIX
    + '{"task_id":"t-one","criteria_hash":"'
    + criteria_hash(("it works\nand is fast",))
    + '","payload":"12 passed"}'
)


def files(*bodies):
    return [File(body["version"], version_file(body)) for body in bodies]


def taken(importing, *bodies, task_id="t-one"):
    chronicle, problems = original.parse(task_id, files(*bodies))
    report = importing(original.Gathered("original", (), (chronicle,), tuple(problems)))
    return report, importing.tasks().get(task_id)


def history(importing, task_id="t-one"):
    with importing.store.read() as txn:
        return txn.changes(task_id, 1, 10_000)


def test_the_checksum_is_that_of_the_original():
    assert original.checksum(b"") == "cbf29ce484222325"
    assert original.checksum(b"a") == "af63dc4c8601ec8c"
    assert original.checksum("é\n".encode()) == fnv_1a("é\n".encode())


def test_every_version_becomes_a_change_and_the_id_stays(importing):
    report, task = taken(
        importing,
        whole("t-one", 1, goal="Ship it", owner="ada", criteria="it works\nand is fast"),
        delta("t-one", 2, ("status", "active"), ("next", "write it"), ("note", "begun")),
        delta("t-one", 3, ("decision", "SQLite"), ("goal", "Ship all")),
        delta("t-one", 4, ("evidence", RECORD), ("evidence", "looks fine"), ("status", "done")),
    )
    assert (report.created, report.problems, report.ids) == (1, (), ("t-one",))
    assert (task.id, task.version, task.source) == ("t-one", 4, "")
    assert (task.goal, task.status, task.next) == ("Ship all", "done", "write it")
    assert (task.created, task.updated) == (START, START + 3000)
    steps = history(importing)
    assert [step.at - START for step in steps] == [0, 1000, 2000, 3000]
    assert [step.actor for step in steps] == ["local-pid-7", *["local-pid-8"] * 3]
    assert steps[0].set == {
        "goal": "Ship it",
        "owner": "ada",
        "criteria": ["it works\nand is fast"],
        "status": "open",
        "priority": 2,
    }
    assert (steps[1].set, steps[1].notes) == ({"status": "active", "next": "write it"}, ("begun",))
    assert (steps[2].set, steps[2].decisions) == ({"goal": "Ship all"}, ("SQLite",))


def test_a_record_keeps_its_claim_and_any_other_evidence_never_counts(importing):
    first = whole("t-one", 1, criteria="it works\nand is fast", status="done")
    _, task = taken(importing, {**first, "evidence": ["plain text", RECORD, PREFIX + "{broken"]})
    assert [read(one.text).payload for one in task.evidence] == [
        "plain text",
        "12 passed",
        PREFIX + "{broken",
    ]
    assert standings(task) == ["stale", "fresh", "stale"]
    assert verified(task)
    without = task._replace(evidence=task.evidence[:1])
    assert verified(without) is False


def test_a_record_that_claims_a_command_counts_as_text(importing):
    claim = RECORD[:-1] + ',"command":{"argv":["true"]},"extra":1}'
    _, task = taken(importing, whole("t-one", 1, evidence=[claim]))
    assert standings(task) == ["stale"]
    assert claim in read(task.evidence[0].text).payload


def test_a_whole_version_in_between_changes_only_what_it_changed(importing):
    bodies = [whole("t-one", 1), *(delta("t-one", n, ("note", f"note {n}")) for n in range(2, 256))]
    notes = [f"note {n}" for n in range(2, 256)]
    checkpoint = whole("t-one", 256, notes=[*notes, "note 256"], next="rest")
    checkpoint["last_actor"] = "local-pid-9"
    last = delta("t-one", 257, ("note", "note 257"))
    report, task = taken(importing, *bodies, checkpoint, last)
    assert (report.problems, task.version) == ((), 257)
    step = history(importing)[255]
    assert (step.set, step.notes, step.actor) == ({"next": "rest"}, ("note 256",), "local-pid-9")
    assert [note.text for note in task.notes] == [*notes, "note 256", "note 257"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content.replace(b"lost", b"LOST"),
        lambda content: b"",
        lambda content: b"{",
        lambda content: b'{"checksum":"0","body":7}',
        lambda content: b"\xff",
        lambda content: version_file("[]"),
        lambda content: version_file({"schema": 3, "id": "t-one", "version": 2}),
        lambda content: version_file({"schema": 1, "id": "t-one", "version": 2, "goal": ""}),
        lambda content: version_file(delta("t-two", 2, ("note", "x"))),
        lambda content: version_file({**delta("t-one", 2), "changes": [["note", "x"]]}),
    ],
)
def test_a_version_that_cannot_be_read_keeps_its_place_and_is_listed(importing, spoil):
    found = files(
        whole("t-one", 1, goal="g"),
        delta("t-one", 2, ("note", "lost")),
        delta("t-one", 3, ("note", "kept")),
    )
    found[1] = found[1]._replace(content=spoil(found[1].content))
    chronicle, problems = original.parse("t-one", found)
    assert [(one.kind, one.where) for one in problems] == [("unread", "t-one, version 2")]
    importing(original.Gathered("original", (), (chronicle,), ()))
    task = importing.tasks()["t-one"]
    assert (task.version, task.updated) == (3, START + 2000)
    first, second = (note.text for note in task.notes)
    assert first.startswith("original version 2 could not be read: ")
    assert (second, "lost" in first) == ("kept", False)


def test_missing_versions_keep_their_place_too_and_the_next_whole_one_says_how_it_stands(importing):
    report, task = taken(
        importing, whole("t-one", 4, goal="late", status="active", owner="bob", notes=["n"])
    )
    assert (task.version, task.goal, task.status, task.owner) == (4, "late", "active", "bob")
    assert [one.where for one in report.problems] == [f"t-one, version {n}" for n in (1, 2, 3)]
    assert task.notes[-1].text == "n"


def test_without_a_whole_version_there_is_no_task():
    with pytest.raises(ValueError, match="none of its versions"):
        original.parse("t-one", files(delta("t-one", 2, ("note", "x"))))


def test_a_file_of_a_huge_number_does_not_stand_for_versions(importing):
    found = [*files(whole("t-one", 1)), File(10**19, version_file(whole("t-one", 10**19)))]
    chronicle, problems = original.parse("t-one", found)
    assert len(chronicle.versions) == 1
    assert [one.kind for one in problems] == ["unread"]


def test_what_has_no_field_here_becomes_a_note_of_that_version(importing):
    _, task = taken(
        importing,
        whole("t-one", 1, mood="good", status="Someday", created_ms="soon", parent="nobody"),
        delta("t-one", 2, ("colour", "red"), ("next", "a"), ("next", "b"), extra=[1]),
    )
    found = [note.text for note in task.notes]
    assert "original fields: mood: good" in found
    assert "original status: Someday" in found
    assert "original times: created_ms: soon\nupdated_ms: 1767225600000" in found
    assert "original parent: nobody" in found
    assert "original colour: colour: red" in found
    assert "original next, at first: a" in found
    assert "original fields: extra: [1]" in found
    assert (task.next, task.status, task.parent) == ("b", "open", "")


def test_links_are_joined_and_those_that_cannot_be_are_notes(importing):
    chronicles = []
    for task_id, bodies in {
        "t-a": [whole("t-a", 1), delta("t-a", 2, ("dependency", "t-b"), ("dependency", "t-gone"))],
        "t-b": [whole("t-b", 1, parent="t-c"), delta("t-b", 2, ("dependency", "t-a"))],
        "t-c": [whole("t-c", 1, parent="t-c")],
    }.items():
        chronicles.append(original.parse(task_id, files(*bodies))[0])
    report = importing(original.Gathered("original", (), tuple(chronicles), ()))
    tasks = importing.tasks()
    assert tasks["t-a"].dependencies == ("t-b",)
    assert (tasks["t-b"].parent, tasks["t-b"].dependencies) == ("t-c", ())
    assert tasks["t-c"].parent == ""
    assert [one.kind for one in report.problems] == ["link"] * 3
    assert [note.text for note in tasks["t-a"].notes] == [
        "original dependencies: t-gone (it is not there)"
    ]


def test_the_folder_is_read_beside_our_own_file_and_left_as_it_is(tmp_path, importing):
    folder = tmp_path / ".contextspindle" / "tasks"
    write_original(folder, whole("t-one", 1), delta("t-one", 2, ("note", "n")), whole("t-two", 1))
    (folder / "ledger.sqlite3").write_bytes(b"ours")
    (folder / "t-one" / ".pending-7-1").write_bytes(b"half")
    (folder / "t-three").mkdir()
    (folder / "t-four").symlink_to(folder / "t-one")
    (folder / "t-two" / f"{2:020}.json").symlink_to(folder / "t-one" / f"{2:020}.json")
    before = sorted(str(path) for path in folder.rglob("*"))
    found = original.find(str(tmp_path))
    assert found == str(folder)
    assert original.recognises(found)
    report = importing(original.gather(found))
    assert report.created == 2
    assert sorted((one.where, one.message) for one in report.problems) == [
        ("t-four", "it is a symbolic link"),
        ("t-one/.pending-7-1", "it is not a version of a task"),
        ("t-two, version 2", "it is a symbolic link"),
    ]
    assert sorted(str(path) for path in folder.rglob("*")) == before
    assert len(original.gather(str(folder / "t-one")).chronicles) == 1
    assert original.find(str(tmp_path / "nowhere")) is None


def test_what_was_blocked_by_nothing_that_is_told_has_a_blocker_for_as_long_as_it_is(importing):
    report, task = taken(
        importing,
        whole("t-one", 1, status="blocked", blocker=""),
        delta("t-one", 2, ("status", "active")),
        delta("t-one", 3, ("status", "blocked"), ("blocker", "rain")),
        delta("t-one", 4, ("blocker", " ")),
        delta("t-one", 5, ("status", "open")),
    )
    assert (report.created, report.problems) == (1, ())
    unnamed = "blocked in original"
    past = [step.set.get("blocker") for step in history(importing)]
    assert past == [unnamed, "", "rain", unnamed, ""]
    assert (task.status, task.blocker) == ("open", "")
