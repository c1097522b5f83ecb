"""The command that takes a text out: what it says, what it refuses, where the text stays."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.databases import by_hand

SECRET = b"kq7-Zx93-not-known"


@pytest.fixture
def place(project) -> Path:
    return project.folder / ".contextspindle"


@pytest.fixture
def leaking(project, create) -> str:
    """The id of a task that holds the text."""
    return create("g", "--note", f"it is {SECRET.decode()}")


def holding(place: Path) -> list[str]:
    return [one.name for one in place.rglob("*") if one.is_file() and SECRET in one.read_bytes()]


def test_it_is_a_preview_unless_told_to_write(project, place, leaking):
    before = project("export", "-").out
    preview = project("purge", input=SECRET)
    assert preview.status == 0
    assert preview.out.decode().startswith(f"task {leaking}: would be purged in version 1; head ")
    assert preview.out.endswith(b"--write does it, and it cannot be undone\n")
    assert project("export", "-").out == before
    done = project("purge", "--write", input=SECRET + b"\r\n")
    assert done.status == 0
    *said, last = done.out.decode().splitlines()
    assert said[0].startswith(f"task {leaking}: purged in version 1; head ")
    assert last == "done: the text is out of all that is purged"
    assert "would" in preview.out.decode()
    assert "would" not in done.out.decode()
    assert holding(place) == []
    assert project("verify").out.endswith(b"sound; purges of tasks on record: 1\n")
    shown = project("task", "show", leaking).out.decode()
    assert "\npurged: a text was taken out of version 1 (" in shown


def test_a_text_that_is_nowhere_is_said_to_be_nowhere_with_status_0(project, leaking):
    before = project("export", "-").out
    for words in ((), ("--write",)):
        done = project("purge", *words, input=b"another text")
        assert (done.status, done.err) == (0, b"")
        assert done.out == b"The text is in no task and in no file that is purged.\n"
    assert project("export", "-").out == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"", "at least 4"),
        (b"\n", "at least 4"),
        (b"abc\n", "at least 4"),
        (b"masked", "a part of the mask"),
        (b"x" * 70_000, "at most 65536"),
        (b"abcd\xff", "not UTF-8"),
    ],
)
def test_what_cannot_be_looked_for_is_refused(project, leaking, given, said):
    done = project("purge", "--write", "--json", input=given)
    assert (done.status, done.out, done.error["code"]) == (2, b"", "INVALID_INPUT")
    assert said in done.error["message"]


def test_the_text_is_no_argument(project, leaking):
    done = project("purge", SECRET, "--write")
    assert done.status == 2
    assert project("purge", input=SECRET).out.startswith(b"task ")


def test_without_a_workspace_there_is_nothing_to_purge(command):
    assert command("purge", input=SECRET).status == 3
    assert list(command.folder.iterdir()) == []


def test_what_is_not_ours_in_the_workspace_stays_and_is_named_with_status_7(
    project, place, leaking
):
    (place / "notes.txt").write_bytes(b"mine: " + SECRET)
    (place / "config.json").write_bytes(b'{"actor":"%b"}' % SECRET)
    for words, status in (((), 0), (("--write",), 7), (("--write",), 7)):
        done = project("purge", *words, "--json", input=SECRET)
        assert done.status == status
        assert sorted(Path(one["where"]).name for one in done.data["left"]) == [
            "config.json",
            "notes.txt",
        ]
    assert sorted(holding(place)) == ["config.json", "notes.txt"]
    said = project("purge", input=SECRET).out.decode()
    assert said.count("no file of this program, holds it\n") == 2


def test_a_copy_that_cannot_be_read_is_told_apart_from_one_that_holds_it(project, place, leaking):
    (place / "damaged").write_bytes(b"SQLite format 3\0 and no more of it")
    (place / "holding").write_bytes(b"SQLite format 3\0" + SECRET)
    (place / "tasks" / "half.part").write_bytes(SECRET)
    said = project("purge", "--write", input=SECRET).out.decode()
    assert "damaged, no file of this program, cannot be read: nobody can say" in said
    assert "copies put aside: 1 removed in " in said


def test_an_id_that_holds_it_stays_and_is_named(project, leaking):
    word = leaking.removeprefix("t-")
    project("task", "update", leaking, "--note", f"see {leaking}", "--status", "active")
    part = project("task", "create", "part", "--parent", leaking, "--quiet").out.decode().strip()
    done = project("purge", "--write", "--json", input=word.encode())
    assert (done.status, done.data["left"]) == (7, [{"kind": "task id", "where": leaking}])
    assert project("task", "show", part, "--json").data["parent"] == leaking
    assert project("task", "show", leaking, "--json").data["notes"][1]["text"] == "see t-[masked]"
    assert project("verify", "--deep").status == 0


def test_words_of_the_program_itself_stay_what_they_are(project, place, create, transcript):
    task = create("an open question", "--status", "open", "--note", "open goal")
    project("fuse", "save", "--transcript", transcript, "--session", "s", "--harness", "plain")
    for word in (b"open", b"goal", b"evidence", b"plain", b"last", b"items"):
        assert project("purge", "--write", input=word).status == 0
    shown = project("task", "show", task, "--json").data
    assert (shown["status"], shown["goal"]) == ("open", "an *** question")
    assert project("verify", "--deep").status == 0
    kept = project("fuse", "show", "--json").data
    assert kept["harness"] == "plain"
    assert kept["items"]


def test_lines_of_the_logs_that_are_torn_or_unknown_lose_it_too(project, place, transcript):
    project("fuse", "save", "--transcript", transcript, "--session", "s")
    log = place / "fuse" / "ledger.jsonl"
    kept = log.read_bytes()
    torn = b'{"check":"' + b"0" * 64 + b'","snapshot":{"x":"' + SECRET
    unknown = b'{"mine": "' + b"".join(b"\\u%04x" % char for char in SECRET) + b'"}'
    log.write_bytes(b"not json " + SECRET + b"\n" + unknown + b"\n" + kept + torn)
    (place / "incidents.jsonl").write_bytes(b'{"at":1,"what":"' + SECRET + b'"}\n' + SECRET)
    found = {
        one["place"]: one["items"]
        for one in project("purge", "--write", "--json", input=SECRET).data["places"]
    }
    assert (found["snapshots"], found["incidents"]) == (3, 2)
    assert log.read_bytes() == (
        b'not json [masked]\n{"mine":"[masked]"}\n'
        + kept
        + b'{"check":"'
        + b"0" * 64
        + b'","snapshot":{"x":"[masked]\n'
    )
    assert (place / "incidents.jsonl").read_bytes() == b'{"at":1,"what":"[masked]"}\n[masked]'
    assert project("fuse", "list", "--json").data["total"] == 1


def test_what_a_crash_left_half_made_goes_if_it_holds_it(project, place, leaking):
    halves = ["tasks/safety/x.7.part", "fuse/ledger.jsonl.new", "incidents.jsonl.77"]
    (place / "tasks" / "safety").mkdir()
    (place / "fuse").mkdir()
    for name in halves:
        (place / name).write_bytes(b"half of " + SECRET)
    (place / "tasks" / "safety" / "y.7.part").write_bytes(b"half of another")
    done = project("purge", "--write", "--json", input=SECRET)
    assert done.data["places"][-1]["items"] == 3
    assert [name for name in halves if (place / name).exists()] == []
    assert (place / "tasks" / "safety" / "y.7.part").exists()


def test_a_long_text_that_lies_in_pieces_in_a_safety_copy_is_found(project, place, create):
    long = "".join(f"{number:05} " for number in range(3_000))
    create("g", "--note", long)
    project("backup", "../b")
    project("restore", "../b")
    assert len(list((place / "tasks" / "safety").iterdir())) == 1
    found = project("purge", "--write", "--json", input=long.encode()).data
    assert found["outside"] == [{"kind": "backup", "path": str(project.folder.parent / "b")}]
    assert list((place / "tasks" / "safety").iterdir()) == []


def test_it_finds_the_workspace_of_a_session_that_could_have_none(command, home, transcript_of):
    """In a home folder the fuse keeps its snapshots elsewhere: they are purged from there."""
    command.folder = home
    path = transcript_of(f"Ship it with {SECRET.decode()} today.")
    assert command("fuse", "save", "--transcript", path, "--session", "s").status == 0
    assert holding(home / "state") == ["ledger.jsonl"]
    done = command("purge", "--write", "--json", input=SECRET)
    assert done.status == 0
    assert holding(home / "state") == []
    assert done.data["outside"] == [{"kind": "transcript", "path": path}]


@pytest.fixture
def transcript_of(tmp_path):
    def made(said: str) -> str:
        path = tmp_path / "said.jsonl"
        path.write_text(f'{{"role":"user","content":"{said}"}}\n')
        return str(path)

    return made


@pytest.mark.parametrize("name", ["tasks/safety", "incidents.jsonl", "fuse/ledger.jsonl"])
def test_a_place_that_became_a_link_is_refused_before_anything_is_done(
    project, place, leaking, tmp_path, name
):
    victim = tmp_path / "victim"
    if name == "tasks/safety":
        victim.mkdir()
        (victim / "restore-1.sqlite3").write_bytes(SECRET)
    else:
        victim.write_bytes(SECRET)
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).symlink_to(victim)
    before = project("export", "-").out
    done = project("purge", "--write", "--json", input=SECRET)
    assert (done.status, done.error["code"]) == (5, "WORKSPACE_REFUSED")
    assert project("export", "-").out == before
    assert holding(victim if victim.is_dir() else tmp_path) != []


def test_while_another_process_reads_nothing_is_begun_and_afterwards_it_is_done(
    project, place, leaking
):
    reader = sqlite3.connect(place / "tasks" / "ledger.sqlite3", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM tasks").fetchall()
    project("task", "update", leaking, "--next", "so that the reader needs the log")
    done = project("purge", "--write", "--json", input=SECRET)
    assert (done.status, done.out, done.error["code"]) == (75, b"", "STORE_BUSY")
    assert project("purge", "--json", input=SECRET).data["tasks"]
    reader.close()
    idle = sqlite3.connect(place / "tasks" / "ledger.sqlite3", isolation_level=None)
    idle.execute("SELECT * FROM tasks").fetchall()  # open, but not reading
    assert project("purge", "--write", input=SECRET).status == 0
    assert holding(place) == []
    idle.close()


def test_a_backup_is_made_where_its_place_cannot_be_noted(project, place, leaking):
    (place / "copies.jsonl").mkdir()
    assert project("backup", "../b").status == 0
    (place / "copies.jsonl").rmdir()
    (place / "copies.jsonl").write_bytes(b"torn {\n[]\n{}\n")
    assert project("export", "../e").status == 0
    done = project("purge", "--json", input=SECRET).data
    assert [one["kind"] for one in done["outside"]] == ["export"]


# -- the memory


@pytest.fixture
def memory(project) -> Path:
    """The folder of a memory in which one of two items holds the text."""
    secret = SECRET.decode()
    assert project("remember", f"the key of the harbour is {secret}", "--label", "l").status == 0
    assert project("remember", "the harbour opens at six").status == 0
    return project.folder / ".continuum"


def test_what_was_remembered_goes_as_a_whole_and_the_rest_is_found_as_before(project, memory):
    preview = project("purge", input=SECRET)
    assert b"memory: 1" in preview.out
    assert holding(memory) != []
    assert project("purge", "--write", input=SECRET).status == 0
    assert holding(memory) == []
    hits = project("recall", "when does the harbour open?", "--json").data["hits"]
    assert [one["text"] for one in hits] == ["the harbour opens at six"]
    assert project("memory", "verify").status == 0


def test_a_text_that_was_forgotten_or_put_aside_before_is_taken_out_too(project, memory):
    assert project("memory", "rebuild", "--force").status == 0  # which keeps the file as it was
    assert project("forget", "m-1").status == 0
    assert len([one for one in holding(memory) if ".kept-" in one]) == 1
    assert project("purge", "--write", input=SECRET).status == 0
    assert holding(memory) == []
    assert project("stats", "--json").data["items"] == 1


def test_a_memory_that_is_damaged_is_rebuilt_and_does_not_stand_in_the_way(
    project, memory, leaking
):
    path = memory / "memory.sqlite3"
    with by_hand(path) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        raw.execute("UPDATE items SET mark = mark + 1 WHERE seq = 2")
    assert project("purge", "--write", input=SECRET).status == 0
    assert holding(memory) == []
    assert project("memory", "verify").status == 0


def test_a_snapshot_of_the_original_is_named_and_left_alone(project, memory):
    state = memory / "memory.state"
    state.write_bytes(b"CTNM0001 " + SECRET)
    done = project("purge", "--write", input=SECRET)
    assert str(state).encode() in done.out
    assert SECRET in state.read_bytes()
