"""A damaged memory is told, or it changes nothing that anybody reads; and no task notices."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys

import pytest

from contextspindle import config, workspace
from contextspindle.actions.memory import Memory
from contextspindle.core.change import Request
from contextspindle.core.memory import Note
from contextspindle.errors import (
    ItemNotFound,
    MemoryDamaged,
    MemoryNotFound,
    SchemaTooNew,
    SpindleError,
    StoreBusy,
)
from contextspindle.store.lock import Lock
from contextspindle.store.memory import MemoryStore

WORDS = (
    "parser cache login index queue retry schema worker token budget session export import render"
    " socket timer cursor buffer merge branch deploy metric alert panel filter router header"
).split()
QUERIES = ("parser cache", "deploy branch alert", "quicksilver", "nothing of the kind")


def place_of(folder):
    return os.path.join(folder, ".continuum", "memory.sqlite3")


def memory_at(folder, wait=5.0):
    return Memory(MemoryStore(place_of(folder), wait=wait), clock=lambda: 1_000)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The bytes of a memory of 60 items, its texts, and what it answers."""
    folder = tmp_path_factory.mktemp("sound")
    store = MemoryStore(place_of(folder))
    memory = Memory(store, clock=lambda: 1_000)
    chance = random.Random(3)
    texts = set()
    for number in range(60):
        text = " ".join(chance.choices(WORDS, k=chance.randrange(5, 90))) + f" {number}"
        text += " quicksilver" if number == 30 else ""
        texts.add(text)
        memory.remember(Note(text, by="ann", at=number, session=f"s{number % 4}"))
    answers = {query: memory.recall(query) for query in QUERIES}
    store.open_writer().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    store.close()
    with open(place_of(folder), "rb") as file:
        return file.read(), texts, answers


def put(folder, content):
    shutil.rmtree(os.path.join(folder, ".continuum"), ignore_errors=True)
    os.mkdir(os.path.join(folder, ".continuum"))
    with open(place_of(folder), "wb") as file:
        file.write(content)


def damages(content, count):
    """Flipped bits and cut ends, always the same ones; half of them where there is something."""
    chance = random.Random(11)
    used = [at for at in range(len(content)) if any(content[max(at - 2, 0) : at + 3])]
    for number in range(count):
        if number % 5 == 4:
            yield content[: chance.randrange(len(content))]
            continue
        damaged = bytearray(content)
        for _ in range(chance.choice((1, 1, 1, 8))):
            damaged[chance.choice(used)] ^= 1 << chance.randrange(8)
        yield bytes(damaged)


def outcome(act, *words):
    """What an action gives, or the exit status of what it was refused with."""
    try:
        return act(*words)
    except SpindleError as error:
        return error.exit_status


def texts_of(memory):
    return {item.text for item in memory.items()}


def test_damage_is_told_or_without_effect(sample, tmp_path, long_run):
    """Every action on damaged bytes, and the handoff of a task beside them."""
    content, texts, answers = sample
    space = workspace.Workspace(str(tmp_path), config.load({"HOME": str(tmp_path)}))
    space.make()
    task = space.ledger().create(Request({"goal": "Mend the parser cache"})).task.id
    bare = space.ledger().context(task).text
    put(tmp_path, content)
    with_hints = space.ledger().context(task).text
    assert with_hints.count("hint (not authoritative)") == 3
    with open(space.path, "rb") as file:
        ledger = file.read()
    told = unchanged = 0
    for damaged in damages(content, 10_000 if long_run else 250):
        put(tmp_path, damaged)
        memory = memory_at(tmp_path)
        for query, wanted in answers.items():
            found = outcome(memory.recall, query)
            assert found in (wanted, 7)
            unchanged += found == wanted
            told += found == 7
        assert outcome(texts_of, memory) in (7, texts)
        shown = space.ledger().context(task).text
        if shown != with_hints:
            warnings = [line for line in shown.splitlines() if line.startswith("warning: ")]
            (warning,) = warnings
            assert warning.startswith("warning: no hints from the memory: ")
            assert shown.replace(warning + "\n", "") == bare
        for act, words in (
            (memory.stats, ()),
            (memory.remember, (Note("a new one about the parser", by="ann"),)),
            (memory.forget, ("m-7",)),
            (memory.verify, ()),
        ):
            found = outcome(act, *words)
            assert not isinstance(found, int) or found == 7
    assert told > 20
    assert unchanged > 20
    with open(space.path, "rb") as file:
        assert file.read() == ledger


def test_every_page_that_a_query_reads_is_checked(sample, tmp_path):
    """What a query needs, taken out page by page: told each time, and never an empty answer."""
    content, _, answers = sample
    put(tmp_path, content)
    store = MemoryStore(place_of(tmp_path))
    db = store.open_writer()
    keys = [key for (key,) in db.execute("SELECT key FROM pages").fetchall()]
    told = 0
    for key in keys:
        row = db.execute("SELECT data, mark FROM pages WHERE key = ?", (key,)).fetchone()
        db.execute("DELETE FROM pages WHERE key = ?", (key,))
        for query, wanted in answers.items():
            store._pages = None
            try:
                assert Memory(store, clock=lambda: 1).recall(query) == wanted
            except MemoryDamaged:
                told += 1
        db.execute("INSERT INTO pages VALUES (?, ?, ?)", (key, *row))
    store.close()
    assert told > 8


def test_every_page_that_a_filter_reads_is_checked(tmp_path):
    store = MemoryStore(place_of(tmp_path))
    memory = Memory(store, clock=lambda: 1)
    for number in range(9):
        memory.remember(Note(f"parser {number}", labels=("half",) if number % 2 else ()))
    db, wanted, told = store.open_writer(), memory.recall("parser", label="half"), 0
    for key, data, kept in db.execute("SELECT key, data, mark FROM pages").fetchall():
        db.execute("DELETE FROM pages WHERE key = ?", (key,))
        store._pages = None
        try:
            assert memory.recall("parser", label="half") == wanted
        except MemoryDamaged:
            told += 1
        db.execute("INSERT INTO pages VALUES (?, ?, ?)", (key, data, kept))
    store.close()
    assert told >= 3


def test_an_item_whose_number_became_that_of_another_is_not_read_as_the_other(sample, tmp_path):
    """One bit of a row's number, in the page of the table: SQLite lists the other one twice."""
    content = sample[0]
    number, text = bytes([37]), b'{"at":36,'  # of a row: its number, and how its text begins
    at = content.index(text)
    before = content.rindex(number, at - 40, at)
    put(tmp_path, content[:before] + bytes([36]) + content[before + 1 :])
    with pytest.raises(MemoryDamaged):
        texts_of(memory_at(tmp_path))


def test_an_item_that_the_index_knows_and_the_file_does_not_hold_is_damage(sample, tmp_path):
    put(tmp_path, sample[0])
    store = MemoryStore(place_of(tmp_path))
    store.open_writer().execute("DELETE FROM items WHERE seq = 7")
    store.close()
    with pytest.raises(MemoryDamaged):
        memory_at(tmp_path).forget("m-7")
    with pytest.raises(ItemNotFound):
        memory_at(tmp_path).forget("m-700")


def test_a_rebuild_saves_what_can_be_read_and_keeps_the_rest_aside(sample, tmp_path):
    content, texts, answers = sample
    put(tmp_path, content)
    whole = memory_at(tmp_path).rebuild(force=True)
    assert (whole.items, whole.lost) == (60, 0)
    with open(whole.kept, "rb") as file:
        assert file.read() == content
    again = memory_at(tmp_path)
    assert again.verify() == []
    assert {q: [h.item.id for h in again.recall(q)] for q in QUERIES} == {
        q: [h.item.id for h in hits] for q, hits in answers.items()
    }
    for damaged in damages(content, 40):
        put(tmp_path, damaged)
        try:
            # Some damages are in bytes that nothing reads: such a memory is sound, and left alone.
            done = memory_at(tmp_path).rebuild(force=True)
        except SchemaTooNew:
            continue
        fresh = memory_at(tmp_path)
        assert fresh.verify() == []
        kept = [item.text for item in fresh.items()]
        assert len(kept) == done.items
        assert set(kept) <= texts
        with open(done.kept, "rb") as file:
            assert file.read() == damaged
        fresh.remember(Note("and it goes on"))


@pytest.mark.parametrize(
    "content", [b"", b"not a database at all" * 99, b"SQLite format 3\0" + b"\xff" * 5_000]
)
def test_a_file_that_is_no_memory_is_told_by_every_command(command, tmp_path, content):
    assert command("init").status == 0
    task = command("task", "create", "Mend the parser cache", "--quiet").out.decode().strip()
    before = command("task", "context", task).out
    put(command.folder, content)
    for words in (
        ("recall", "parser"),
        ("stats",),
        ("remember", "x"),
        ("forget", "m-1"),
        ("recall", "--task", task),
    ):
        done = command(*words, "--json")
        assert (done.status, done.out, done.error["code"]) == (7, b"", "MEMORY_DAMAGED"), words
        assert "memory rebuild" in done.error["hint"]
    checked = command("memory", "verify", "--json")
    assert (checked.status, checked.data["sound"]) == (7, False)
    shown = command("task", "context", task).out.decode()
    lines = shown.splitlines()
    assert sum(line.startswith("warning: no hints from the memory") for line in lines) == 1
    assert [
        line for line in lines if not line.startswith("warning:")
    ] == before.decode().splitlines()
    assert command("memory", "rebuild").status == 0
    assert command("remember", "x", "--quiet").out == b"m-1\n"
    assert command("recall", "x").status == 0


def test_a_newer_memory_is_refused_and_left_as_it_is(command, sample):
    command("init")
    put(command.folder, sample[0])
    path = place_of(command.folder)
    store = MemoryStore(path)
    store.open_writer().execute("PRAGMA user_version=2")
    store.close()
    with open(path, "rb") as file:
        before = file.read()
    on_whole = (("memory", "rebuild"), ("memory", "verify"))
    for words in (("recall", "x"), ("remember", "x"), ("stats",), *on_whole):
        done = command(*words, "--json")
        assert (done.status, done.error["code"]) == (7, "SCHEMA_TOO_NEW"), words
    with open(path, "rb") as file:
        assert file.read() == before


def test_a_missing_memory_is_not_an_empty_answer(command):
    command("init")
    for words in (("recall", "x"), ("stats",), ("forget", "m-1"), ("memory", "rebuild")):
        done = command(*words, "--json")
        assert (done.status, done.error["code"]) == (3, "MEMORY_NOT_FOUND"), words
    assert not (command.folder / ".continuum").exists()


def test_a_locked_memory_is_busy_and_still_read(tmp_path):
    memory = memory_at(tmp_path, wait=0.05)
    memory.remember(Note("the first"))
    with Lock(place_of(tmp_path) + ".lock"):
        with pytest.raises(StoreBusy):
            memory.remember(Note("the second"))
        assert [hit.item.text for hit in memory.recall("first")] == ["the first"]


WRITER = """
import sys
from contextspindle import config, workspace
from contextspindle.actions.memory import Memory
from contextspindle.core.change import Request
from contextspindle.core.memory import Limits, Note
from contextspindle.store.memory import MemoryStore
memory = Memory(MemoryStore(sys.argv[1]), Limits(20, 1_500), clock=lambda: 1)
for number in range(10_000):
    memory.remember(Note(f"number {number} of the parser cache is {number * 7}"))
    print(number, flush=True)
"""


def test_killed_while_writing_at_most_the_item_in_flight_is_lost(tmp_path):
    path = place_of(tmp_path)
    for least in (1, 12, 40):
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True
        ) as writer:
            for line in writer.stdout:
                if int(line) >= least:
                    writer.send_signal(signal.SIGKILL)
                    break
            last = int((line + writer.stdout.read()).split("\n")[-2])
        memory = memory_at(tmp_path)
        assert memory.verify() == []
        newest = max(item.seq for item in memory.items()) - 1
        assert newest in (last, last + 1)


def test_a_write_that_found_no_room_leaves_nothing_behind_in_its_process(tmp_path):
    """SQLite undoes such a write by itself; what was decoded for it must not be read again."""
    memory = memory_at(tmp_path)
    memory.remember(Note("one about the parser"))
    before = memory.recall("parser")
    long = "parser " + " ".join(f"word{number}" for number in range(2_000))
    with no_file_beyond(os.path.getsize(place_of(tmp_path) + "-wal") + 9_000):
        with pytest.raises(SpindleError):
            memory.remember(Note(long))
        assert memory.recall("parser") == before
    memory.remember(Note("two about the parser"))
    assert len(memory.recall("parser")) == 2
    assert memory.verify() == []


@contextlib.contextmanager
def no_file_beyond(size):
    """The system refuses writes behind so many bytes of a file, as it does on a full disk."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)


def test_what_could_not_be_made_takes_no_room(tmp_path):
    memory = memory_at(tmp_path)
    memory.remember(Note("one about the parser"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with no_file_beyond(50_000):
        with pytest.raises(SpindleError):
            memory.rebuild(force=True)
        with pytest.raises(SpindleError):
            memory_at(elsewhere).remember(Note("nothing yet"))
    for folder in (tmp_path, elsewhere):
        assert not [name for name in os.listdir(folder / ".continuum") if ".new" in name]
    assert memory_at(tmp_path).recall("parser") == memory.recall("parser") != ()


def test_after_a_rebuild_a_process_that_had_it_open_goes_on_in_the_fresh_one(tmp_path):
    first, second = memory_at(tmp_path), memory_at(tmp_path)
    first.remember(Note("one about the parser"))
    second.rebuild(force=True)
    first.remember(Note("two about the parser"))
    assert {hit.item.text for hit in second.recall("parser")} == {
        "one about the parser",
        "two about the parser",
    }
    os.unlink(place_of(tmp_path))
    with pytest.raises(MemoryNotFound):
        first.recall("parser")
