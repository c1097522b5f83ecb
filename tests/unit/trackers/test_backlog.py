"""Backlog.md: front matter, sections with and without marks, folders, and links between files."""

from __future__ import annotations

import pytest

from contextspindle.core.instant import from_iso
from contextspindle.errors import InvalidInput
from contextspindle.trackers import backlog
from contextspindle.trackers.backlog import Page

FULL = """\
---
id: TASK-12
title: Log in
status: In Progress
assignee: ['@bob', eve]
reporter: '@ada'
created_date: '2025-06-21 14:03'
updated_date: 2025-06-22
labels: [ui, api]
milestone: m-0
dependencies: []
priority: high
type: bug
ordinal: 1000
onStatusChange: "rm -rf nothing"
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
With a form.

## A heading of its own

and more
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [ ] #1 it works
- [x] #2 pytest passes
<!-- AC:END -->

## Definition of Done
<!-- DOD:BEGIN -->
- [ ] #1 docs are written
<!-- DOD:END -->

## Implementation Plan

<!-- SECTION:PLAN:BEGIN -->
1. think
<!-- SECTION:PLAN:END -->

## Comments
<!-- COMMENTS:BEGIN -->
<!-- COMMENT:BEGIN -->
author: @eve
created: 2026-01-02 10:00
---
Looks right.
---
<!-- COMMENT:END -->
<!-- COMMENTS:END -->

## Final Summary

<!-- SECTION:FINAL_SUMMARY:BEGIN -->
All is well.
<!-- SECTION:FINAL_SUMMARY:END -->

## Odd Section

odd text
"""


def page(name="TASK-1", *lines, body="", where=None, title="a task"):
    front = ["---", f"id: {name}", f"title: {title}", *lines, "---", body]
    return Page(where or f"tasks/{name}.md", "\n".join(front).encode())


def notes(task):
    return [note.text for note in task.notes]


def test_each_field_goes_to_its_place_and_the_rest_into_notes(importing):
    report = importing(backlog.parse([Page("tasks/task-12.md", FULL.encode())]))
    (task,) = importing.tasks().values()
    assert report.problems == ()
    assert task.source == "backlog:TASK-12"
    assert task.goal == "Log in\n\nWith a form.\n\n## A heading of its own\n\nand more"
    assert task.criteria == ("it works", "pytest passes", "docs are written")
    assert (task.status, task.priority, task.owner) == ("active", 1, "@bob, eve")
    assert task.labels == ("ui", "api", "type:bug", "milestone:m-0")
    assert task.created == from_iso("2025-06-21T14:03:00Z")
    assert task.updated == from_iso("2025-06-22")
    assert notes(task)[1:] == [
        "backlog comment: by @eve, 2026-01-02 10:00\nLooks right.",
        "backlog section: Odd Section\nodd text",
        "backlog criteria ticked off: 2",
        "backlog definition of done: criteria 3 to 3",
        "backlog implementation plan: 1. think",
        "backlog final summary, not verified here: All is well.",
        "backlog fields: reporter: @ada\nordinal: 1000\nonStatusChange: rm -rf nothing",
    ]


def test_files_without_marks_and_with_the_line_ends_of_windows_are_read(importing):
    body = (
        "## Description\r\n\r\nplain\r\n\r\n"
        "## Acceptance Criteria (Optional)\r\n- [ ] one\r\n  goes on\r\n- [ ] two\r\n"
    )
    content = f"---\r\nid: back-3\r\ntitle: t\r\nassignee: @me\r\n---\r\n{body}".encode()
    importing(backlog.parse([Page("tasks/back-3.md", content)]))
    task = importing.tasks()["backlog:BACK-3"]
    assert (task.goal, task.owner) == ("t\n\nplain", "@me")
    assert task.criteria == ("one goes on", "two")
    assert "backlog id: back-3" in notes(task)


def test_text_between_and_before_sections_is_kept(importing):
    body = (
        "before all\n## Description\n<!-- SECTION:DESCRIPTION:BEGIN -->\nd\n"
        "<!-- SECTION:DESCRIPTION:END -->\nbetween\n"
        "## Acceptance Criteria\nAll of these:\n- a\n\n## Description\ntwice\n"
        "## Notes\n```\n## no heading\n```\nend"
    )
    importing(backlog.parse([page(body=body)]))
    (task,) = importing.tasks().values()
    assert task.goal == "a task\n\nd\nbetween"
    assert task.criteria == ("a",)
    found = notes(task)
    assert "backlog text: before all" in found
    assert "backlog section: Description\ntwice" in found
    assert "backlog text among the criteria: All of these:" in found
    assert "backlog notes: ```\n## no heading\n```\nend" in found


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("To Do", "open"),
        ("To do", "open"),
        ("In Progress", "active"),
        ("Done", "done"),
        ('"Won\'t Do"', "cancelled"),
        ("Somewhere", "open"),
    ],
)
def test_a_status_is_mapped(importing, there, here):
    importing(backlog.parse([page("TASK-1", f"status: {there}")]))
    assert importing.tasks()["backlog:TASK-1"].status == here


def test_the_folder_says_where_a_task_stands(importing):
    pages = [
        page("TASK-1", "status: Done", where="completed/1.md"),
        page("TASK-2", "status: To Do", where="archive/tasks/2.md"),
        page("TASK-3", "status: Done", where="archive/tasks/3.md"),
        page("DRAFT-4", "status: Draft", where="drafts/4.md"),
    ]
    importing(backlog.parse(pages))
    tasks = importing.tasks()
    found = [tasks[f"backlog:{name}"] for name in ("TASK-1", "TASK-2", "TASK-3", "DRAFT-4")]
    assert [one.status for one in found] == ["done", "cancelled", "done", "open"]
    assert found[3].labels == ("draft",)
    assert "backlog folder: archive/tasks" in notes(found[1])


def test_links_are_found_whatever_their_case_and_with_their_prefix_left_out(importing):
    pages = [
        page("TASK-1", "subtasks: [TASK-1.1, TASK-1.2, TASK-9]"),
        page("task-1.1", "parent_task_id: task-1"),
        page("TASK-1.2"),
        page("TASK-3", "dependencies: [task-1.1, 1.2]"),
    ]
    report = importing(backlog.parse(pages))
    tasks = importing.tasks()
    whole = tasks["backlog:TASK-1"]
    assert tasks["backlog:TASK-1.1"].parent == whole.id
    assert tasks["backlog:TASK-1.2"].parent == whole.id
    assert tasks["backlog:TASK-3"].dependencies == (
        tasks["backlog:TASK-1.1"].id,
        tasks["backlog:TASK-1.2"].id,
    )
    assert "backlog subtasks: backlog:TASK-9" in notes(whole)
    assert report.problems == ()


def test_front_matter_that_is_not_understood_is_kept_and_listed(importing):
    report = importing(backlog.parse([page("TASK-1", "references:", "  - a", "odd: {x: 1}")]))
    (problem,) = report.problems
    assert (problem.kind, problem.where) == ("unplaced", "tasks/TASK-1.md, line 6")
    (task,) = importing.tasks().values()
    assert "backlog front matter that was not understood: odd: {x: 1}" in notes(task)
    assert 'backlog fields: references: ["a"]' in notes(task)


def test_files_that_cannot_be_read_are_listed_and_the_others_imported(importing):
    pages = [
        Page("tasks/a.md", b"# no front matter"),
        Page("tasks/b.md", b"\xff"),
        Page("tasks/c.md", b"---\ntitle: no id\n---\n"),
        Page("tasks/d.md", b"---\nid: TASK-4\n---\n"),
        page("TASK-5"),
        page("task-5", where="completed/5.md"),
    ]
    report = importing(backlog.parse(pages))
    assert report.created == 1
    assert sorted((one.kind, one.where) for one in report.problems) == [
        ("unread", "completed/5.md"),
        *(("unread", f"tasks/{name}.md") for name in "abcd"),
    ]


def test_marks_of_an_unfinished_merge_refuse_the_whole_folder():
    body = "x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"
    with pytest.raises(InvalidInput, match=r"Line 6 of tasks/TASK-2\.md is a conflict marker"):
        backlog.parse([page(), page("TASK-2", body=body)])
    assert len(backlog.parse([page(body="Title\n=======\n")]).items) == 1


def test_a_folder_is_read_with_what_is_no_task_told(tmp_path, importing):
    folder = tmp_path / "backlog"
    for name in ("tasks", "completed", "decisions"):
        (folder / name).mkdir(parents=True)
    (folder / "tasks" / "task-1 - One.md").write_bytes(page("TASK-1").content)
    (folder / "completed" / "task-2 - Two.md").write_bytes(page("TASK-2").content)
    (folder / "decisions" / "decision-1 - Why.md").write_text("---\nid: decision-1\n---\n")
    (folder / "tasks" / "link.md").symlink_to(folder / "tasks" / "task-1 - One.md")
    found = backlog.find(str(tmp_path))
    assert found == str(folder)
    assert backlog.recognises(found)
    report = importing(backlog.gather(found))
    assert report.created == 2
    assert sorted((one.kind, one.where) for one in report.problems) == [
        ("unplaced", "decisions/"),
        ("unread", "tasks/link.md"),
    ]
    assert backlog.find(str(folder)) == str(folder)
    one = str(folder / "tasks" / "task-1 - One.md")
    assert (backlog.find(one), len(backlog.gather(one).items)) == (one, 1)
    assert backlog.find(str(tmp_path / "nowhere")) is None
