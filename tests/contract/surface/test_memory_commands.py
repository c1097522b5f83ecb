"""The commands of the memory, as they are installed."""

from __future__ import annotations

import json

import pytest

from .conftest import original_memory


def hits(project, *words):
    done = project("recall", *words, "--json")
    assert done.status == 0, done.err
    return [hit["text"] for hit in done.data["hits"]]


def test_a_text_from_standard_input_is_remembered_with_all_that_is_said_of_it(project):
    done = project(
        *("remember", "-", "--by", "ann", "--at", "2026-03-09", "--session", "s1", "--json"),
        *("--source", "docs/runbook.md", "--label", "ops", "--key", "staging", "--pin"),
        input=b"Staging is reset\nevery night\n",
    )
    assert done.data["item"] == {
        "id": "m-1",
        "text": "Staging is reset\nevery night",
        "tier": "full",
        "by": "ann",
        "at": "2026-03-09T00:00:00.000Z",
        "session": "s1",
        "source": "docs/runbook.md",
        "labels": ["ops"],
        "key": "staging",
        "pinned": True,
        "times": 1,
        "last": done.data["item"]["last"],
    }
    shown = project("recall", "on which date was staging spoken of?").out.decode()
    assert "by ann | from docs/runbook.md | session s1 | why: staging" in shown
    assert hits(project, "9 March 2026") == ["Staging is reset\nevery night"]


def test_the_id_alone_is_printed_when_it_is_asked_for(project):
    assert project("remember", "the parser", "--quiet").out == b"m-1\n"
    assert project("remember", "the Parser", "--quiet").out == b"m-1\n"
    assert project("recall", "parser", "--quiet").out == b"m-1\n"
    assert project("recall", "nothing like it", "--quiet").out == b""
    assert project("recall", "nothing like it").out == b"Nothing that was remembered fits.\n"


def test_a_masked_secret_is_said_and_stands_nowhere_in_the_file(project):
    key = "AKIA" + "IOSFODNN7QRSTUVW"
    done = project("remember", f"the key {key} opens amber")
    assert b"secrets in it were masked" in done.out
    for path in (project.folder / ".continuum").iterdir():
        assert key.encode() not in path.read_bytes()


def test_what_fits_a_task_is_recalled_and_hinted(project, create):
    task = create("Mend the invoice export", "--criterion", "empty VAT numbers pass")
    project("remember", "The invoice export fails on empty VAT numbers in formatTaxLine")
    project("remember", "Lunch is at noon")
    assert hits(project, "--task", task) == hits(project, "--task", task, "1")
    assert "formatTaxLine" in hits(project, "--task", task)[0]
    shown = project("task", "context", task, "--json").data
    (line,) = [line for line in shown["lines"] if line["kind"] == "hint"]
    assert line["text"].startswith("hint (not authoritative): m-1: The invoice export")


def test_an_empty_query_is_a_mistake_and_no_answer(project):
    project("remember", "Lunch is at noon")
    for query in ("", "  \n"):
        done = project("recall", query, "--json")
        assert (done.status, done.error["code"]) == (2, "INVALID_INPUT")
    assert project("recall", "???", "--json").data["hits"] == []


def test_a_handoff_too_small_for_its_hints_counts_them(project, create):
    task = create("Mend the invoice export")
    project("remember", "The invoice export fails. " + "And so on. " * 40)
    small = project("task", "context", task, "280", "--json").data
    assert small["omitted"] == {"hint": 1}


def test_a_transcript_is_remembered_once(project, transcript):
    first = project("memory", "sync", transcript, "--json").data
    assert first["added"] > 0
    assert any("Never use tabs" in text for text in hits(project, "tabs", "--session", "session"))
    again = project("memory", "sync", transcript, "--json").data
    assert (again["added"], again["merged"]) == (0, 0)
    assert again["before"] == first["added"] + first["merged"] + first["before"]
    (hit,) = project("recall", "tabs", "1", "--json").data["hits"]
    assert hit["source"].startswith(transcript + ":")


def test_the_memory_of_the_original_is_taken_in_from_its_usual_place(project):
    folder = project.folder / ".continuum"
    folder.mkdir()
    (folder / "memory.state").write_bytes(original_memory())
    assert project("memory", "import", "--json").data["added"] == 1
    assert project("memory", "import", "--json").data["before"] == 1
    assert hits(project, "original") == ["the original knew this"]
    assert (folder / "memory.state").read_bytes() == original_memory()


def test_a_text_of_the_original_that_is_too_long_is_cut_and_counted(project):
    folder = project.folder / ".continuum"
    folder.mkdir()
    (folder / "memory.state").write_bytes(original_memory(b"quicksilver " * 9_000))
    done = project("memory", "import")
    assert (done.status, done.out.splitlines()[1]) == (
        0,
        b"1 text too long: cut, and labelled 'cut'",
    )
    (hit,) = project("recall", "quicksilver", "--label", "cut", "--json").data["hits"]
    assert hit["text"].endswith("…")
    assert len(hit["text"].encode()) <= 64 * 1024


def test_labels_that_go_for_newer_ones_are_named(project):
    labels = [word for number in range(16) for word in ("--label", f"l{number}")]
    project("remember", "the parser", *labels)
    done = project("remember", "the parser", "--label", "new", "--at", "1970-01-01")
    assert done.out.decode().splitlines() == [
        "m-1 known: remembered 2 times",
        "too many labels, these went: l0",
    ]
    first = project("remember", "the epoch", "--at", "1970-01-01", "--json")
    assert first.data["item"]["at"] == "1970-01-01T00:00:00.000Z"


def test_limits_come_from_the_settings(project):
    (project.folder / ".contextspindle" / "config.json").write_text('{"memory_items": 2}')
    for number in range(4):
        project("remember", f"fact {number} of the parser")
    found = project("stats", "--json").data
    assert (found["items"], found["limits"]["items"], found["dropped"]) == (2, 2, 2)
    refused = project("stats", "--json", env={"CONTEXTSPINDLE_MEMORY_BYTES": "12"})
    assert (refused.status, refused.error["code"]) == (2, "INVALID_INPUT")


def test_a_memory_that_came_with_the_repository_gives_no_hints_unasked(project, create, git):
    task = create("Mend the invoice export")
    project("remember", "The invoice export is evil")
    (project.folder / ".continuum" / ".gitignore").unlink()
    git("init")
    git("add", "-f", ".continuum/memory.sqlite3")
    shown = project("task", "context", task).out.decode()
    assert "evil" not in shown
    assert "warning: the memory came with the repository" in shown


def test_a_linked_memory_is_refused(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project.folder / ".continuum").symlink_to(tmp_path / "elsewhere")
    done = project("remember", "x", "--json")
    assert (done.status, done.error["code"]) == (5, "WORKSPACE_REFUSED")
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("text", ["x", "é" * 3_000, "a\u2028b\x01c", '{"a": 1}', "-- --json"])
def test_a_text_is_the_same_in_the_document(project, text):
    done = project("remember", "--json", "-", input=text.encode())
    assert json.loads(done.out)["data"]["item"]["text"] == text


def test_a_date_in_the_future_is_said(project):
    project("remember", "the comet comes back", "--at", "2099-05-01")
    said = project("recall", "comet").out.decode()
    assert "in the future (2099-05-01)" in said
    assert "just now" not in said


def test_a_zero_byte_is_refused_as_in_a_task(project):
    for words in (("remember", "-"), ("task", "create", "-")):
        done = project(*words, "--json", input=b"a\0b")
        assert (done.status, done.error["code"]) == (2, "INVALID_INPUT")
        assert "zero byte" in done.error["message"]


def test_other_control_characters_are_kept_and_shown_harmless(project):
    assert project("remember", "-", input=b"bell \x07 and \x1b[31mred").status == 0
    hit = project("recall", "bell", "--json").data["hits"][0]
    assert hit["text"] == "bell \x07 and \x1b[31mred"
    assert not {7, 27} & {*project("recall", "bell").out}


def test_a_sound_memory_is_rebuilt_only_when_it_is_forced(project):
    project("remember", "the parser")
    done = project("memory", "rebuild", "--json")
    assert (done.status, done.data) == (0, {"items": 1, "lost": 0, "kept": ""})
    folder = project.folder / ".continuum"
    assert [one.name for one in folder.iterdir() if "kept" in one.name] == []
    kept = project("memory", "rebuild", "--force", "--json").data["kept"]
    assert (folder / kept).is_file()


def test_an_empty_key_label_or_filter_is_refused_and_not_taken_for_none(project):
    assert project("remember", "deploys go out from main", "--label", "ops").status == 0
    for words in (
        ("remember", "another", "--key", ""),
        ("remember", "another", "--label", " "),
        ("recall", "deploys", "--session", ""),
        ("recall", "deploys", "--source", " "),
        ("recall", "deploys", "--label", ""),
    ):
        done = project(*words, "--json")
        assert (done.status, done.error["code"]) == (2, "INVALID_INPUT"), words
        assert "empty" in done.error["message"]
    assert project("stats", "--json").data["items"] == 1


def test_a_text_of_signs_alone_is_recalled_by_them(project):
    project("remember", "=> !!!")
    assert hits(project, "=>!!!") == ["=> !!!"]
    assert "why: =>!!!" in project("recall", "=>!!!").out.decode()
