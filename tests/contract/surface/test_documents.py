"""With --json a command prints exactly one document, as docs/reference/json.md describes it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from contextspindle.cli import table
from tests.contract.surface.conftest import GIVEN
from tests.databases import by_hand

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "json.md"


def one_document(raw: bytes) -> dict:
    """The document that ``raw`` is: one line of UTF-8, nothing before and nothing behind."""
    assert raw.endswith(b"\n")
    assert raw.count(b"\n") == 1
    found = json.loads(raw)
    assert found.pop("schema_version") == 1
    return found


def test_every_command_answers_with_one_document_and_nothing_beside_it(project, every_call):
    assert every_call.keys() == {one.words for one in table.COMMANDS}
    for name, words in every_call.items():
        done = project("--json", *words, input=GIVEN.get(name, b""))
        assert (done.status, done.err) == (0, b""), words
        assert one_document(done.out).keys() == {"data"}


FAILURES = [
    ("task", "create"),
    ("task", "create", " "),
    ("task", "create", "g", "--status", "whatever"),
    ("task", "create", "g", "--parent", "t-none"),
    ("task", "update", "t-none", "--note", "n"),
    ("task", "update", "TASK", "--goal", "another"),
    ("task", "update", "TASK", "--status", "done"),
    ("task", "update", "TASK", "--expect", "7", "--note", "n"),
    ("task", "show", "t-none"),
    ("task", "show", "TASK", "--as-of", "9"),
    ("task", "list", "--status", "whatever"),
    ("task", "list", "0", "101"),
    ("task", "inbox", "0"),
    ("task", "history", "TASK", "0"),
    ("task", "children", "t-none"),
    ("task", "context", "TASK", "128"),
    ("task", "context", "TASK", "5"),
    ("fuse", "restore", "--plain", "--budget", "1"),
    ("fuse", "save", "--transcript", "/does/not/exist"),
    ("remember", " "),
    ("remember", "x", "--at", "yesterday"),
    ("recall",),
    ("recall", "x", "--task", "TASK"),
    ("recall", "x", "0"),
    ("recall", "x"),
    ("forget", "seventeen"),
    ("memory", "import", "/does/not/exist"),
    ("memory", "sync", "/does/not/exist"),
    ("init", "/does/not/exist"),
    ("nonsense",),
    ("task", "inbox", "--nonsense"),
    ("task", "inbox", "--workspace", "/does/not/exist"),
]


@pytest.mark.parametrize("words", FAILURES, ids=" ".join)
def test_every_failure_is_one_document_on_standard_error_and_nothing_on_output(
    project, task, words
):
    done = project(*[task if word == "TASK" else word for word in words], "--json")
    assert done.status in {2, 3, 4, 5, 6, 7}
    assert done.out == b""
    (error,) = one_document(done.err).values()
    assert {"code", "message", "hint"} <= error.keys() <= {"code", "message", "hint", "details"}
    assert re.fullmatch("[A-Z_]+", error["code"])
    assert error["message"]
    assert isinstance(error["hint"], str)


def test_a_warning_is_in_the_document_too(project, task):
    project("task", "create", "a part", "--parent", task)
    done = project(
        "task", "update", task, "--status", "cancelled", "--decision", "no more", "--json"
    )
    assert len(done.data["warnings"]) == 1
    one_document(done.out)


def test_a_command_that_failed_and_a_ledger_with_findings_are_documents_with_a_status(
    project, task
):
    failed = project("--json", "task", "prove", task, "--", "sh", "-c", "exit 3")
    assert (failed.status, failed.data["command"]["status"]) == (5, 3)
    check(failed.data, "[task prove](#)", "task prove", described())
    with by_hand(project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3") as raw:
        raw.execute("UPDATE tasks SET owner = 'nobody'")
    found = project("verify", "--json")
    assert (found.status, found.data["sound"], found.err) == (7, False, b"")
    check(found.data, "[verify](#)", "verify", described())


def test_an_error_carries_what_a_program_needs_beside_the_message(project, task):
    conflict = project("task", "update", task, "--expect", "7", "--note", "n", "--json").error
    assert conflict["details"]["expected"] == 7
    refused = project("task", "update", task, "--status", "done", "--json").error
    assert refused["details"]["reasons"]
    small = project("task", "context", task, "128", "--json").error
    assert project("task", "context", task, str(small["details"]["needed"])).status == 0


# -- the page


def described() -> dict[str, dict[str, str]]:
    """The tables of the page: for each heading, the fields and their types."""
    found: dict[str, dict[str, str]] = {}
    heading = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ").strip("`")
        elif same := re.match(r"The (?:data is a|same as) (\[.+\]\(#.+\))[,.]", line):
            found[heading] = {"": same[1].replace("`", "")}
        elif other := re.match(r"With `(--[a-z-]+)` the data is a (\[.+\]\(#.+\))\.", line):
            found[f"{heading} {other[1]}"] = {"": other[2]}
        elif line.startswith("| `"):
            name, kind, _ = (cell.strip() for cell in line.strip("|").split(" | ", 2))
            found.setdefault(heading, {})[name.strip("` ")] = kind
    return found


SCALARS = {"text": str, "number": int, "yes or no": bool, "object": dict}


def check(value: object, kind: str, where: str, shapes: dict[str, dict[str, str]]) -> None:
    """``value`` is what the page calls ``kind``, all the way down."""
    if kind.endswith(" or null"):
        if value is not None:
            check(value, kind.removesuffix(" or null"), where, shapes)
    elif kind.startswith("list of "):
        assert isinstance(value, list), where
        for one in value:
            check(one, kind.removeprefix("list of "), where, shapes)
    elif kind in SCALARS:
        assert type(value) is SCALARS[kind], where
    else:
        shape = shapes[re.fullmatch(r"\[(.+)\]\(#.*\)", kind)[1]]
        if "" in shape:
            check(value, shape[""], where, shapes)
            return
        assert isinstance(value, dict), where
        optional = {name for name, kind in shape.items() if kind.startswith("optional ")}
        assert shape.keys() - optional <= value.keys() <= shape.keys(), where
        for name, one in value.items():
            check(one, shape[name].removeprefix("optional "), f"{where}.{name}", shapes)


def test_every_document_is_as_the_page_describes_it(project, task, every_call):
    shapes = described()
    # A task that has something of everything.
    other = project("task", "create", "another", "--quiet").out.decode().strip()
    project("task", "update", task, "--criterion", "one", "--label", "ui", "--decision", "why")
    project("task", "update", task, "--evidence", "seen", "--note", "n", "--depends-on", other)
    project("task", "update", task, "--next", "x" * 900, "--owner", "ada", "--blocker", "b")
    project("task", "create", "a part", "--parent", task)
    project("fuse", "save", input=b"not a payload")
    (project.folder / "report.txt").write_text("all is well")
    project("task", "update", task, "--evidence-file", "report.txt")
    for words, call in every_call.items():
        done = project("--json", *call, input=GIVEN.get(words, b""))
        check(done.data, f"[{' '.join(words)}](#)", " ".join(words), shapes)
    check(project("fuse", "restore", "--plain", "--json").data, "[fuse restore](#)", "", shapes)
    explained = project("task", "ready", "--explain", task, "--json").data
    check(explained, "[task ready --explain](#)", "explained", shapes)
    for words in (("task", "show", "t-none"), ("task", "update", task, "--status", "done")):
        check(project(*words, "--json").error, "[error](#)", "error", shapes)


def test_the_page_describes_nothing_that_is_not_there():
    shapes = described()
    commands = {" ".join(one.words) for one in table.COMMANDS}
    used = set(re.findall(r"\[([^][]+)\]\(#", str([list(one.values()) for one in shapes.values()])))
    variants = {name for name in shapes if " --" in name}
    assert {name.partition(" --")[0] for name in variants} <= commands
    assert shapes.keys() == commands | variants | used | {"error"}
