"""beads: what each field becomes, what is kept as a note, and the same form written."""

from __future__ import annotations

import json

import pytest

from contextspindle.core.instant import from_iso
from contextspindle.errors import InvalidInput
from contextspindle.trackers import beads
from tests.strategies import PLAIN
from tests.trackers import lost, said


def lines(*issues) -> bytes:
    return b"".join(
        one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in issues
    )


def issue(name="bd-1", title="Ship it", **more):
    return {"id": name, "title": title, **more}


def gathered(*issues):
    return beads.parse(lines(*issues))


def one_task(importing, **more):
    importing(gathered(issue(**more)))
    return importing.tasks()["beads:bd-1"]


FULL = issue(
    description="All of it.",
    acceptance_criteria="- it works\n- [x] pytest passes\n",
    status="in_progress",
    priority=0,
    issue_type="bug",
    assignee="bob",
    labels=["ui", "l" * 100],
    created_at="2025-04-18T16:19:12Z",
    updated_at="2025-04-19T08:00:00.25+02:00",
    design="Two layers.",
    notes="Mind the gap.",
    external_ref="gh-9",
    estimated_minutes=90,
    metadata={"x": [1.5, {"y": "deep"}]},
    comments=[
        {"id": 7, "issue_id": "bd-1", "author": "eve", "text": "first\nline two"},
        {"id": "c8", "author": "bob", "text": "second", "created_at": "2025-04-18T17:00:00Z"},
    ],
)


def test_each_field_goes_to_its_place_and_the_rest_into_notes(importing):
    importing(gathered(FULL))
    task = importing.tasks()["beads:bd-1"]
    assert task.goal == "Ship it\n\nAll of it."
    assert task.criteria == ("it works", "pytest passes")
    assert (task.status, task.priority, task.owner) == ("active", 0, "bob")
    assert task.labels == ("ui", "type:bug")
    assert (task.created, task.updated) == (
        from_iso("2025-04-18T16:19:12Z"),
        from_iso("2025-04-19T06:00:00.250Z"),
    )
    assert (task.version, task.last_actor) == (2, "beads")
    notes = [note.text for note in task.notes]
    assert notes[0] == (
        "Imported from beads by ada on 2026-01-01T00:00:00.000Z: beads:bd-1;"
        " there it is in_progress"
    )
    assert "beads design: Two layers." in notes
    assert "beads notes: Mind the gap." in notes
    assert "beads criteria ticked off: 2" in notes
    assert f"beads label: {'l' * 100}" in notes
    assert "beads comment: 7, by eve\nfirst\nline two" in notes
    assert "beads comment: c8, by bob, 2025-04-18T17:00:00Z\nsecond" in notes
    (fields,) = (note for note in notes if note.startswith("beads fields: "))
    assert fields.removeprefix("beads fields: ").split("\n") == [
        "external_ref: gh-9",
        "estimated_minutes: 90",
        'metadata: {"x": [1.5, {"y": "deep"}]}',
    ]


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("open", "open"),
        ("in_progress", "active"),
        ("hooked", "active"),
        ("blocked", "blocked"),
        ("deferred", "blocked"),
        ("closed", "done"),
        ("tombstone", "cancelled"),
        ("pinned", "open"),
        ("awaiting-moon", "open"),
        ("", "open"),
    ],
)
def test_a_status_is_mapped_and_its_own_word_recorded(importing, there, here):
    task = one_task(importing, status=there)
    assert task.status == here
    assert (task.blocker != "") == (here == "blocked")
    assert there in "".join(entry.text for entry in (*task.decisions, *task.notes))


def test_what_is_closed_there_is_done_with_a_decision_that_says_it_is_not_verified(importing):
    task = one_task(importing, status="closed", close_reason="merged")
    (decision,) = task.decisions
    assert decision.text.startswith("Imported as done from beads by ada")
    assert decision.text.endswith("there it is closed; not verified here")
    assert [note.text for note in task.notes] == ["beads close reason, not verified here: merged"]
    assert task.evidence == ()


def test_criteria_that_are_no_plain_list_stay_one_text(importing):
    given = "It must:\n- work\n- be fast"
    assert one_task(importing, acceptance_criteria=given).criteria == (given,)


def test_links_become_parent_and_dependencies_and_the_others_notes(importing):
    def link(other, kind, **more):
        return {"issue_id": "bd-1", "depends_on_id": other, "type": kind, **more}

    report = importing(
        gathered(
            issue(
                dependencies=[
                    link("bd-up", "parent-child"),
                    link("bd-2", "blocks"),
                    link("bd-3", "waits-for"),
                    link("bd-4", "discovered-from", created_by="eve"),
                    "odd",
                ],
                parent="bd-up",
                dependency_count=3,
            ),
            *(issue(name, name) for name in ("bd-up", "bd-2", "bd-3", "bd-4")),
        )
    )
    tasks = importing.tasks()
    task = tasks["beads:bd-1"]
    assert task.parent == tasks["beads:bd-up"].id
    assert task.dependencies == (tasks["beads:bd-2"].id, tasks["beads:bd-3"].id)
    (note,) = (one.text for one in task.notes if one.text.startswith("beads links"))
    assert note == ("beads links: waits-for bd-3\ndiscovered-from bd-4, created_by: eve\nlink: odd")
    assert report.problems == ()


def test_lines_that_cannot_be_read_are_listed_and_the_others_imported(importing):
    report = importing(
        gathered(
            issue(),
            b"{not json\n",
            b"\n",
            b"[1]\n",
            b'{"id":"bd-2","title":"x","title":"y"}\n',
            b'{"id":"bd-3","title":"\xff"}\n',
            {"id": "bd-4"},
            {"title": "no id"},
            issue(name="two\nlines"),
            b'{"id":"bd-5","title":"x","n":NaN}\n',
            b"[" * 100_000 + b"\n",
        )
    )
    assert report.created == 1
    assert [(one.kind, one.where) for one in report.problems] == [
        ("unread", f"line {number}") for number in (2, 4, 5, 6, 7, 8, 9, 10, 11)
    ]
    assert "'title' stands twice" in report.problems[2].message


def test_what_is_no_issue_has_no_place_and_stands_in_the_report(importing):
    report = importing(gathered({"_type": "memory", "key": "k", "value": "remember me"}))
    (problem,) = report.problems
    assert (problem.kind, problem.where) == ("unplaced", "line 1")
    assert "remember me" in problem.message


@pytest.mark.parametrize("mark", [b"<<<<<<< HEAD", b"=======", b">>>>>>> theirs", b"|||||||"])
def test_marks_of_an_unfinished_merge_refuse_the_whole_file(mark):
    with pytest.raises(InvalidInput, match="Line 2 is a conflict marker"):
        gathered(issue(), mark + b"\n", issue("bd-2"))


def test_a_line_that_stands_twice_counts_once_and_is_listed(importing):
    report = importing(gathered(issue(), issue(title="again")))
    assert (report.created, importing.tasks()["beads:bd-1"].goal) == (1, "Ship it")
    assert "stands there twice" in report.problems[0].message


def test_a_text_beyond_the_limit_is_kept_whole_in_notes(importing):
    title, design = "t" * 70_000, "d" * 140_000
    task = one_task(importing, title=title, design=design)
    assert task.goal.startswith("ttt")
    whole = "".join(note.text.partition(": ")[2] for note in task.notes if "whole" in note.text)
    assert whole == title
    parts = [note.text for note in task.notes if note.text.startswith("beads design (part ")]
    assert "".join(part.partition(": ")[2] for part in parts) == design


def test_an_item_beyond_the_limit_of_a_task_is_listed(importing):
    report = importing(gathered(issue(design="d" * 2_200_000), issue("bd-2")))
    assert report.created == 1
    assert [one.kind for one in report.problems] == ["unread"]


def test_zero_bytes_and_half_characters_are_shown_as_such(importing):
    assert one_task(importing, title="a\0b \ud800 c").goal == "a\ufffdb \ufffd c"


def test_times_in_the_future_are_now_and_the_note_says_what_stood_there(importing, clock):
    task = one_task(importing, updated_at="2199-01-01T00:00:00Z")
    assert task.updated == clock.now
    assert "2199-01-01" in task.notes[0].text


def test_a_time_that_is_none_stays_in_a_note(importing):
    task = one_task(importing, created_at="last Tuesday")
    assert task.notes[-1].text == "beads fields: created_at: last Tuesday"


def test_the_file_is_found_below_a_project_and_known_by_its_content(tmp_path):
    assert beads.find(str(tmp_path)) is None
    (tmp_path / ".beads").mkdir()
    path = tmp_path / ".beads" / "issues.jsonl"
    path.write_bytes(b"\nnot json\n" + lines(issue()))
    assert beads.find(str(tmp_path)) == str(path)
    assert beads.recognises(str(path))
    path.write_text('{"role": "user"}\n')
    assert not beads.recognises(str(path))


def test_nothing_of_a_full_issue_is_lost(importing):
    report = importing(gathered(FULL))
    unplaced = {key: one for key, one in FULL.items() if not key.endswith("_at")}
    unplaced.pop("acceptance_criteria")
    unplaced["comments"][1].pop("created_at", None)
    missing = lost(list(unplaced.values()), said(importing.tasks(), report))
    assert [one for one in missing if one not in ("issue_id", "id", "author", "text")] == []


# -- the other way


def test_what_is_exported_and_imported_elsewhere_is_the_same_where_it_has_a_place(
    importing, make_ledger, ask, clock, ids
):
    ledger = make_ledger(clock=clock, ids=ids)
    parent = ledger.create(ask(goal="The whole", criteria=["one text,\nof two lines"])).task.id
    other = ledger.create(ask(goal="g\n\nand more", status="blocked", blocker="the moon")).task.id
    ledger.create(
        ask(
            goal="x\ny\n\nz",
            criteria=["a", "b"],
            status="active",
            owner="bob",
            priority=0,
            labels=["ui", "type:bug", "type:odd"],
            next="go on",
            parent=parent,
            dependencies=[other],
            decisions=("because",),
            notes=("seen",),
        )
    )
    gone = ledger.create(ask(goal="gone")).task.id
    clock.forward(5_000)
    ledger.update(gone, ask(status="cancelled", decisions=("no need",)))
    with ledger._store.read() as txn:
        before = {one.task.id: one.task for one in txn.everything()}
    exported = b"".join(beads.lines(list(before.values())))
    report = importing(beads.parse(exported))
    assert (report.created, report.problems) == (4, ())
    after = importing.tasks()
    for task_id, task in before.items():
        found = after[f"beads:{task_id}"]
        for (
            field
        ) in "goal criteria status owner blocker next priority labels created updated".split():
            if field == "labels":
                assert set(found.labels) == set(task.labels)
            else:
                assert getattr(found, field) == getattr(task, field), field
        assert found.parent == (after[f"beads:{task.parent}"].id if task.parent else "")
        assert found.dependencies == tuple(after[f"beads:{one}"].id for one in task.dependencies)
    told = "\n".join(note.text for one in after.values() for note in one.notes)
    assert "decision: because" in told
    assert "note: seen" in told


def test_an_export_has_the_form_that_beads_reads(importing):
    importing(gathered(FULL, issue("bd-2", status="closed", updated_at="2025-01-02T00:00:00Z")))
    written = [json.loads(line) for line in beads.lines(list(importing.tasks().values()))]
    first, second = sorted(written, key=lambda one: one["id"])
    assert (first["id"], first["status"], first["issue_type"]) == ("bd-1", "in_progress", "bug")
    assert ("closed_at" in first, second["status"], second["closed_at"]) == (
        False,
        "closed",
        "2025-01-02T00:00:00.000Z",
    )
    for one in written:
        assert type(one["priority"]) is int
        assert all(type(comment["id"]) is str for comment in one.get("comments", ()))
        assert "dependencies" not in one or one["dependencies"]


def test_an_export_that_comes_back_to_its_own_ledger_changes_nothing(importing):
    importing(gathered(FULL))
    before = importing.state()
    report = importing(beads.parse(b"".join(beads.lines(list(importing.tasks().values())))))
    assert (report.created, report.updated, report.skipped) == (0, 0, 1)
    assert [one.kind for one in report.problems] == ["own"]
    assert importing.state() == before


@pytest.mark.parametrize("blocker", ["", " \n"])
def test_what_is_blocked_has_a_blocker_whatever_the_export_says(blocker):
    (line,) = beads.lines([PLAIN._replace(status="blocked", blocker=blocker)])
    found = json.loads(line)
    found["metadata"]["contextspindle"]["blocker"] = blocker
    (item,) = beads.parse(json.dumps(found).encode()).items
    assert (item.set["status"], item.set["blocker"]) == ("blocked", "blocked in beads")


@pytest.mark.parametrize(
    ("there", "status", "blocker"),
    [
        ("closed", "done", ""),
        ("in_progress", "active", ""),
        ("deferred", "blocked", "deferred in beads"),
        ("blocked", "blocked", "rain"),
    ],
)
def test_what_beads_says_of_an_exported_task_counts_once_it_went_on_there(there, status, blocker):
    (line,) = beads.lines([PLAIN._replace(status="blocked", blocker="rain", next="wait")])
    gathered = beads.parse(json.dumps({**json.loads(line), "status": there}).encode())
    (item,) = gathered.items
    assert (item.set["status"], item.set["blocker"], item.set["next"]) == (status, blocker, "wait")
    assert ("rain" in "".join(item.notes)) == (blocker != "rain")
