"""A bit that flipped on the disk is told, or it changes nothing that anybody reads."""

from __future__ import annotations

import random
import sqlite3

import pytest

from contextspindle.actions.archive import Archive
from contextspindle.errors import SpindleError, StoreCorrupt
from contextspindle.store.inspect import inspect
from contextspindle.store.sqlite import SqliteStore
from tests.reliability.ledgers import Reads, place_file

PAGE = 4_096


def answers(questions):
    """What each question gives: its answer, or the error it was refused with."""
    found = {}
    for name, ask in questions:
        try:
            found[name] = ask()
        except SpindleError as error:
            found[name] = error
    return found


def differing(found, wanted):
    """The questions that were answered, and otherwise than they should be."""
    return [
        name
        for name, answer in found.items()
        if not isinstance(answer, SpindleError) and answer != wanted[name]
    ]


def is_reported(path):
    store = SqliteStore(path)
    try:
        return bool(inspect(store).findings)
    except SpindleError:
        return True
    finally:
        store.close()


def positions(content, count):
    """About ``count`` places, always the same: as many in each page, over all that it uses."""
    chance = random.Random(5)
    used = {}
    for at in range(len(content)):
        if any(content[max(at - 2, 0) : at + 3]):
            used.setdefault(at // PAGE, []).append(at)
    for places in used.values():
        each = min(len(places), -(-count // len(used)))
        for number in range(each):
            start, end = len(places) * number // each, len(places) * (number + 1) // each
            yield places[chance.randrange(start, end)], 1 << chance.randrange(8)


@pytest.mark.parametrize("count", [300, 6_000])
def test_bits_are_flipped_in_every_table_and_index(sample, tmp_path, count):
    """Of the pages of each, by SQLite's own account; without it the test says nothing."""
    path = place_file(tmp_path, sample.content)
    raw = sqlite3.connect(path)
    assert raw.execute("PRAGMA page_size").fetchone() == (PAGE,)
    try:
        pages = dict(raw.execute("SELECT pageno, name FROM dbstat"))
    except sqlite3.OperationalError:
        pytest.skip("this SQLite is built without dbstat")
    finally:
        raw.close()
    met = {pages.get(at // PAGE + 1) for at, _ in positions(sample.content, count)}
    assert met >= set(pages.values())


def test_an_undamaged_ledger_has_no_findings_and_answers_everything(sample, tmp_path):
    path = place_file(tmp_path, sample.content)
    store = SqliteStore(path)
    for deep in (False, True):
        report = inspect(store, deep=deep)
        assert (report.findings, report.unchecked) == ((), ())
        assert (report.tasks, report.changes) == (13, 42)
    reads = Reads(path, sample.ids)
    found = answers([*reads.of_tasks(), *reads.others()])
    assert not [name for name, one in found.items() if isinstance(one, SpindleError)]
    assert found["ready"].items
    assert found["search more 1"].items


def test_a_flipped_bit_is_reported_or_without_effect(sample, tmp_path, long_run):
    path = place_file(tmp_path, sample.content)
    reads = Reads(path, sample.ids)
    good, rest = answers(reads.of_tasks()), answers(reads.others())
    reads.store.close()
    caught = same = 0
    for at, bit in positions(sample.content, 6_000 if long_run else 300):
        damaged = bytearray(sample.content)
        damaged[at] ^= bit
        path = place_file(tmp_path, bytes(damaged))
        where = f"bit {bit} of byte {at}"
        reported = is_reported(path)
        reads = Reads(path, sample.ids)
        # Whether it was looked for or not: a task is never handed out altered.
        found = answers(reads.of_tasks())
        assert not differing(found, good), where
        if not reported:
            assert found == good, where
            assert answers(reads.others()) == rest, where
        reads.store.close()
        caught += reported
        same += not reported
    assert caught > same


KINDS = {
    "changes": ("version", "digest"),
    "tasks": ("version", "status", "priority", "updated", "goal", "unmet", "claim_until", "cut"),
    "totals": ("count",),
}


def alter(path, table, column, value):
    """Put a value into one row, or into all totals, that the table's own rules would refuse."""
    raw = sqlite3.connect(path)
    (schema,) = raw.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    loose = schema.replace("STRICT, ", "").replace("STRICT", "").replace("NOT NULL", "")
    for wanted in (loose, schema):
        raw.execute("PRAGMA writable_schema=ON")
        raw.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (wanted, table))
        raw.commit()
        raw.close()
        raw = sqlite3.connect(path)
        if wanted is loose:
            some = " WHERE rowid = 2" if table != "totals" else ""
            raw.execute(f"UPDATE {table} SET {column} = {value}{some}")
            raw.commit()
    raw.close()


@pytest.mark.parametrize(("table", "column"), [(t, c) for t, some in KINDS.items() for c in some])
@pytest.mark.parametrize("value", ["'odd'", "7", "x'c328'", "1.5", "NULL"])
def test_a_value_of_another_kind_than_its_column_is_damage_and_no_mistake_of_ours(
    sample, tmp_path, table, column, value
):
    """As a flipped bit in the head of a record makes it, which no constraint stops."""
    path = place_file(tmp_path, sample.content)
    reads = Reads(path, sample.ids)
    good = answers([*reads.of_tasks(), *reads.others()])
    reads.store.close()
    alter(path, table, column, value)
    reads = Reads(path, sample.ids)
    found = answers([*reads.of_tasks(), *reads.others()])  # raises what is no SpindleError
    reads.store.close()
    assert is_reported(path) or found == good


def test_a_neighbour_that_cannot_be_read_does_not_hide_the_task(sample, tmp_path):
    path = place_file(tmp_path, sample.content)
    alter(path, "tasks", "goal", "x'c328'")
    reads = Reads(path, sample.ids)
    text = reads.ledger.context(sample.ids[2], 100_000).text
    assert "goal: goal 2" in text
    assert sample.ids[1] in text
    assert "could not be read" in text
    reads.store.close()


def test_an_export_of_a_file_that_leads_to_some_tasks_twice_is_refused(sample, tmp_path):
    """As a flipped bit in the inner page of a table makes it: each task that is found is whole."""
    damaged = bytearray(sample.content)
    assert damaged[PAGE] == 5  # an inner page: where the tasks begin
    cells = [PAGE + int.from_bytes(damaged[at : at + 2], "big") for at in (PAGE + 12, PAGE + 14)]
    damaged[cells[0] : cells[0] + 4] = damaged[cells[1] : cells[1] + 4]
    store = SqliteStore(place_file(tmp_path, bytes(damaged)))
    ids = [one for (one,) in store.open_reader().execute("SELECT id FROM tasks ORDER BY pk")]
    assert len(ids) > len(set(ids))
    with pytest.raises(StoreCorrupt, match="not every task"):
        list(Archive(store).lines())
    store.close()
