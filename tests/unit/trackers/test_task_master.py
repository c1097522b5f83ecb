"""Task Master: tags, ids of every kind, subtasks as parts, and the form without tags."""

from __future__ import annotations

import json

import pytest

from contextspindle.core.instant import from_iso
from contextspindle.errors import InvalidInput
from contextspindle.trackers import task_master


def gathered(**tags):
    return task_master.parse(json.dumps(tags).encode())


def tag(*tasks, **more):
    return {"tasks": [*tasks], **more}


def task(number, title="a task", **more):
    return {"id": number, "title": title, **more}


def test_each_field_goes_to_its_place_and_the_rest_into_notes(importing):
    report = importing(
        gathered(
            feature=tag(
                task(
                    5,
                    "Log in",
                    description="With a form.",
                    details="Use the form.\nAnd test it.",
                    testStrategy="pytest passes",
                    acceptanceCriteria=["it works", "it is fast"],
                    status="in-progress",
                    priority="high",
                    assignee="bob",
                    tags=["ui"],
                    createdAt="2025-04-18T16:19:12.000Z",
                    updatedAt="2025-04-18T17:00:00.000Z",
                    complexity=7,
                    relevantFiles=[{"path": "a.py", "action": "modify"}],
                    databaseId=None,
                )
            )
        )
    )
    (found,) = importing.tasks().values()
    assert report.problems == ()
    assert found.source == "taskmaster:feature:5"
    assert found.goal == "Log in\n\nWith a form."
    assert found.criteria == ("it works", "it is fast", "pytest passes")
    assert (found.status, found.priority, found.owner) == ("active", 1, "bob")
    assert found.labels == ("feature", "ui")
    assert found.created == from_iso("2025-04-18T16:19:12Z")
    assert found.updated == from_iso("2025-04-18T17:00:00Z")
    assert [note.text for note in found.notes][1:] == [
        "taskmaster details: Use the form.\nAnd test it.",
        'taskmaster fields: complexity: 7\nrelevantFiles: [{"action": "modify", "path": "a.py"}]',
    ]


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("pending", "open"),
        ("in-progress", "active"),
        ("review", "active"),
        ("done", "done"),
        ("completed", "done"),
        ("deferred", "blocked"),
        ("blocked", "blocked"),
        ("cancelled", "cancelled"),
    ],
)
def test_a_status_is_mapped(importing, there, here):
    importing(gathered(master=tag(task(1, status=there))))
    assert importing.tasks()["taskmaster:master:1"].status == here


def test_ids_may_be_numbers_and_strings_and_count_within_their_tag(importing):
    importing(
        gathered(
            master=tag(task(1), task("2", dependencies=["1"]), task(3, dependencies=[1, 2])),
            other=tag(task(1, "another one")),
        )
    )
    tasks = importing.tasks()
    first, second = tasks["taskmaster:master:1"].id, tasks["taskmaster:master:2"].id
    assert tasks["taskmaster:master:2"].dependencies == (first,)
    assert tasks["taskmaster:master:3"].dependencies == (first, second)
    assert tasks["taskmaster:other:1"].goal == "another one"


def test_subtasks_are_parts_and_their_links_are_those_of_siblings_first(importing):
    report = importing(
        gathered(
            master=tag(
                task(
                    5,
                    subtasks=[
                        task(1, parentTaskId=5, isSubtask=True),
                        task(2, dependencies=[1, "5.1", 3]),
                        task("4", dependencies=["2"], parentId=99),
                    ],
                ),
                task(3, dependencies=["5.2"]),
            )
        )
    )
    tasks = importing.tasks()
    whole, third = tasks["taskmaster:master:5"].id, tasks["taskmaster:master:3"]
    parts = [tasks[f"taskmaster:master:5.{number}"] for number in (1, 2, 4)]
    assert [part.parent for part in parts] == [whole] * 3
    assert parts[1].dependencies == (parts[0].id, third.id)
    assert parts[2].dependencies == (parts[1].id,)
    # 5.2 waits for 3 by now: the other way would close the ring.
    assert third.dependencies == ()
    assert [(one.kind, one.where) for one in report.problems] == [("link", "tag master, task 3")]
    assert "parentId: 99" in parts[2].notes[-1].text


def test_a_test_strategy_of_several_lines_makes_the_criteria_one_text(importing):
    importing(gathered(master=tag(task(1, testStrategy="a\nb", acceptanceCriteria=["c"]))))
    assert importing.tasks()["taskmaster:master:1"].criteria == ("c\na\nb",)


def test_a_file_from_before_there_were_tags_is_the_first_tag(importing):
    importing(
        task_master.parse(json.dumps({"tasks": [task(1)], "metadata": {"version": 1}}).encode())
    )
    (found,) = importing.tasks().values()
    assert (found.source, found.labels) == ("taskmaster:master:1", ())


def test_what_belongs_to_no_task_stands_in_the_report(importing):
    report = importing(
        gathered(
            master=tag(task(1), metadata={"created": "x", "description": "the first tag"}),
            odd=[1, "two"],
        )
    )
    assert [(one.kind, one.where) for one in report.problems] == [
        ("unplaced", "tag master"),
        ("unplaced", "tag odd"),
    ]
    assert "the first tag" in report.problems[0].message


def test_tasks_that_cannot_be_read_are_listed_and_the_others_imported(importing):
    report = importing(
        gathered(
            master=tag(task(1), "odd", {"title": "no id"}, {"id": 4}, {"subtasks": [task(1)]}),
        )
    )
    assert report.created == 1
    assert [one.where for one in report.problems] == [
        "tag master, task number 2",
        "tag master, task number 3",
        "tag master, task 4",
        "tag master, task number 5",
        "tag master, task number 5, subtask 1",
    ]


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"a":1,"a":2}', b"7"])
def test_a_file_of_another_form_is_refused_as_a_whole(content):
    with pytest.raises(InvalidInput, match="nothing was imported"):
        task_master.parse(content)


def test_marks_of_an_unfinished_merge_are_refused_with_their_line():
    content = b'{\n"master": {\n<<<<<<< HEAD\n"tasks": []\n=======\n>>>>>>> x\n}}\n'
    with pytest.raises(InvalidInput, match="Line 3 is a conflict marker"):
        task_master.parse(content)


def test_a_change_of_a_subtask_does_not_touch_its_task(importing):
    importing(gathered(master=tag(task(1, subtasks=[task(1)]))))
    report = importing(gathered(master=tag(task(1, subtasks=[task(1, status="done")]))))
    assert (report.updated, report.skipped) == (1, 1)
    assert importing.tasks()["taskmaster:master:1"].version == 1


def test_the_file_is_found_below_a_project_and_known_by_its_content(tmp_path):
    assert task_master.find(str(tmp_path)) is None
    folder = tmp_path / ".taskmaster" / "tasks"
    folder.mkdir(parents=True)
    path = folder / "tasks.json"
    path.write_text(json.dumps({"master": tag(task(1))}))
    assert task_master.find(str(tmp_path)) == str(path)
    assert task_master.recognises(str(path))
    path.write_text("[]")
    assert not task_master.recognises(str(path))
