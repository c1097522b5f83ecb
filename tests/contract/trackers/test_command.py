"""Importing and exporting by the command: a dry run unless told, text, document, statuses."""

from __future__ import annotations

import json

import pytest

from tests.trackers import delta, whole, write_original

ISSUES = (
    '{"id":"bd-1","title":"Ship it","status":"closed"}\n'
    "not json\n"
    '{"id":"bd-2","title":"Then rest","dependencies":'
    '[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"}]}\n'
)


@pytest.fixture
def project(command):
    assert command("init").status == 0
    (command.folder / "issues.jsonl").write_text(ISSUES)
    return command


def test_without_write_it_is_a_dry_run(project):
    for more in ((), ("--dry-run",)):
        done = project("import", "issues.jsonl", "--from", "beads", *more)
        assert done.status == 0
        lines = done.out.decode().splitlines()
        assert lines[0] == (
            "would be imported from beads: 2 new, 0 brought forward, 0 passed over, 0 conflicts"
        )
        assert lines[1].startswith("  unread: line 2: ")
        assert lines[2] == "nothing was written; the same with --write does it"
    assert project("task", "list", "--json").data["total"] == 0


def test_with_write_it_is_done_and_again_changes_nothing(project):
    first = project("import", "issues.jsonl", "--from", "auto", "--write", "--json").data
    assert {key: first[key] for key in first if key not in ("ids", "problems")} == {
        "source": "issues.jsonl",
        "from": "beads",
        "dry_run": False,
        "created": 2,
        "updated": 0,
        "skipped": 0,
        "conflicts": 0,
    }
    assert [problem["where"] for problem in first["problems"]] == ["line 2"]
    export = project("export", "-").out
    again = project("import", "issues.jsonl", "--from", "beads", "--write", "--json").data
    assert (again["created"], again["skipped"], again["ids"]) == (0, 2, [])
    assert project("export", "-").out == export
    assert project("verify", "--deep").status == 0
    shown = [project("task", "show", one, "--json").data for one in first["ids"]]
    by_source = {one["source"]: one for one in shown}
    assert by_source["beads:bd-1"]["verified"] is False
    assert by_source["beads:bd-2"]["verified"] is None
    assert by_source["beads:bd-2"]["dependencies"] == [by_source["beads:bd-1"]["id"]]
    text = project("task", "show", by_source["beads:bd-1"]["id"]).out.decode()
    assert "done (not verified here)" in text
    context = project("task", "context", by_source["beads:bd-1"]["id"]).out.decode()
    assert "status: done (not verified here)\n" in context


def test_the_document_is_as_the_page_describes_it(project):
    from tests.contract.surface.test_documents import check, described

    shapes = described()
    data = project("import", "issues.jsonl", "--from", "beads", "--write", "--json").data
    check(data, "[import --from](#)", "import", shapes)
    check(project("task", "show", data["ids"][0], "--json").data, "[task show](#)", "show", shapes)


def test_standard_input_is_read_where_the_program_is_named(project):
    done = project("import", "-", "--from", "beads", "--json", input=ISSUES.encode())
    assert done.data["created"] == 2
    tasks = json.dumps({"tasks": [{"id": 1, "title": "t"}]}).encode()
    assert (
        project("import", "-", "--from", "taskmaster", "--json", input=tasks).data["created"] == 1
    )


@pytest.mark.parametrize(
    "words",
    [
        ("import", "issues.jsonl"),
        ("import", "issues.jsonl", "--write"),
        ("import", "issues.jsonl", "--from", "abacus"),
        ("import", "issues.jsonl", "--from", "beads", "--write", "--dry-run"),
        ("import", "nowhere", "--from", "beads"),
        ("import", "-", "--from", "auto"),
        ("export", "out.jsonl", "--as", "abacus"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(project, words):
    done = project(*words)
    assert (done.status, done.out) == (2, b"")
    assert not (project.folder / "out.jsonl").exists()


def test_marks_of_an_unfinished_merge_are_refused_and_nothing_is_written(project):
    path = project.folder / "issues.jsonl"
    path.write_text(ISSUES + "<<<<<<< HEAD\n" + ISSUES + "=======\n>>>>>>> other\n")
    done = project("import", "issues.jsonl", "--from", "beads", "--write", "--json")
    assert (done.status, done.error["details"]) == (2, {"line": 4})
    assert project("task", "list", "--json").data["total"] == 0


def test_the_folder_of_the_original_lies_beside_our_file_and_stays(project):
    folder = project.folder / ".contextspindle" / "tasks"
    write_original(folder, whole("t-k-one", 1, goal="old"), delta("t-k-one", 2, ("note", "n")))
    before = {path: path.read_bytes() for path in (folder / "t-k-one").iterdir()}
    done = project("import", ".", "--from", "original", "--write", "--json").data
    assert (done["created"], done["ids"], done["problems"]) == (1, ["t-k-one"], [])
    history = project("task", "history", "t-k-one", "--json").data
    assert [change["actor"] for change in history["changes"]] == ["local-pid-7", "local-pid-8"]
    assert project("verify", "--deep").status == 0
    assert project("backup", str(project.folder / "b")).status == 0
    assert {path: path.read_bytes() for path in (folder / "t-k-one").iterdir()} == before


def test_an_export_as_beads_can_be_imported_by_another_ledger(project, tmp_path):
    project("task", "create", "A goal", "--criterion", "c", "--label", "ui", "--priority", "high")
    done = project("export", "out.jsonl", "--as", "beads", "--json").data
    assert done["tasks"] == 1
    assert project("export", "out.jsonl", "--as", "beads").status == 2
    exported = (project.folder / "out.jsonl").read_bytes()
    assert project("export", "-", "--as", "beads").out == exported
    other = tmp_path / "other"
    other.mkdir()
    project("init", cwd=other)
    words = ("import", "../project/out.jsonl", "--from", "beads", "--write", "--json")
    (task_id,) = project(*words, cwd=other).data["ids"]
    task = project("task", "show", task_id, "--json", cwd=other).data
    assert (task["goal"], task["criteria"], task["labels"], task["priority"]) == (
        "A goal",
        ["c"],
        ["ui"],
        1,
    )
    own = project("import", "out.jsonl", "--from", "beads", "--write", "--json").data
    assert (own["created"], own["skipped"]) == (0, 1)


def test_many_problems_are_cut_in_the_text_and_whole_in_the_document(project):
    (project.folder / "issues.jsonl").write_text('{"id":"bd-1","title":"t"}\n' + "x\n" * 70)
    text = project("import", "issues.jsonl", "--from", "beads").out.decode()
    assert "  and 20 more; --json lists all of them\n" in text
    found = project("import", "issues.jsonl", "--from", "beads", "--json").data
    assert len(found["problems"]) == 70
