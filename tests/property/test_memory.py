"""The memory holds for any text, any query and any order of requests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.actions.memory import Memory
from contextspindle.core.memory import Limits, Note
from contextspindle.core.redaction import mask
from contextspindle.core.retention import fold
from contextspindle.core.terms import LONGEST, analyse
from contextspindle.core.text import clean, size
from contextspindle.errors import MemoryFull
from contextspindle.store.memory import MemoryStore

WORDS = (
    "parser",
    "cache",
    "Amber",
    "retryCount",
    "ZED-417",
    "数据库",
    "été",
    "42",
    "2026-03-09",
    "?",
)
texts = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=200),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=90).map(" ".join),
)
notes = st.builds(
    Note,
    text=texts.filter(lambda text: clean(text).strip()),
    by=st.sampled_from(("", "ann", "Bo 数")),
    at=st.integers(0, 10**13),
    session=st.sampled_from(("", "a", "b")),
    source=st.sampled_from(("", "", "x:1")),
    labels=st.lists(st.sampled_from(("l", "m", "数")), max_size=2).map(tuple),
    key=st.sampled_from(("", "", "", "k")),
    pinned=st.sampled_from((False, False, False, True)),
)


def opened(folder, limits=None):
    store = MemoryStore(os.path.join(folder, ".continuum", "memory.sqlite3"))
    return Memory(store, limits or Limits(), clock=lambda: 1_000), store


@given(
    st.lists(st.one_of(notes, st.integers(1, 12)), max_size=25),
    st.integers(1, 8),
    st.integers(60, 900),
)
def test_bounds_hold_after_every_request_and_the_index_fits_the_items(requests, items, bytes_):
    with tempfile.TemporaryDirectory() as folder:
        memory, store = opened(folder, Limits(items, bytes_))
        store.create()
        for request in requests:
            before = {item.id for item in memory.items()}
            pinned = {item.id for item in memory.items() if item.pinned and not item.key}
            try:
                if isinstance(request, int):
                    if f"m-{request}" in before:
                        memory.forget(f"m-{request}")
                    continue
                kept = memory.remember(request)
            except MemoryFull:
                assert {item.id for item in memory.items()} == before
                continue
            found = {item.id: item for item in memory.items()}
            counts, _ = memory.stats()
            assert counts.items == len(found) <= items
            assert counts.bytes == sum(size(item.text) for item in found.values()) <= bytes_
            assert kept.item.id in found
            assert pinned <= found.keys() | {kept.replaced}
            if not kept.merged:
                assert before - found.keys() == {*kept.dropped, kept.replaced} - {""}
        assert memory.verify() == []
        for only in ({"label": "l"}, {"source": "x:1"}, {"label": "数", "source": "x:1"}):
            has = [item for item in memory.items() if is_of(item, **only)]
            found = [hit.item for hit in memory.recall(" ".join(WORDS), 100, **only)]
            assert sorted(found) == [item for item in has if item in found]
            assert {hit.item for hit in memory.recall(" ".join(WORDS), 100)} & {*has} == {*found}
        store.close()


def is_of(item, label="", source=""):
    return (not label or label in item.labels) and (not source or item.source == source)


@given(notes)
def test_a_text_comes_out_as_it_went_in_or_masked_and_said(note):
    with tempfile.TemporaryDirectory() as folder:
        memory, store = opened(folder)
        kept = memory.remember(note)
        (item,) = memory.items()
        assert item.text == mask(clean(note.text))
        assert kept.masked == (item.text != clean(note.text))
        found = memory.recall(note.text)
        assert [hit.item for hit in found] == [item]
        store.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("filled"))
    memory, _ = opened(folder)
    for number in range(40):
        memory.remember(
            Note(
                f"{WORDS[number % 10]} {WORDS[number % 7]} number {number}",
                session=f"s{number % 3}",
            )
        )
    return folder, memory


@given(
    query=st.one_of(
        st.text(max_size=300).filter(str.strip),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join),
    )
)
def test_any_query_is_answered_the_same_way_twice(filled, query):
    folder, memory = filled
    found = memory.recall(query, 100)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    again, store = opened(folder)
    assert again.recall(query, 100) == found
    assert memory.recall(query, 3) == found[:3]
    store.close()


@given(st.text(max_size=300))
def test_terms_are_short_and_have_no_blanks_and_folding_changes_none_of_them_twice(text):
    found = analyse(text)
    for term in (*found.listed, *found.whole):
        assert 0 < len(term) <= LONGEST
        assert term.split() == [term]
    assert fold(fold(text)) == fold(text)


def test_recall_is_the_same_in_every_process_and_on_every_surface(command):
    assert command("init").status == 0
    for number in range(30):
        words = (WORDS[number % 10], WORDS[number % 7], f"number {number}")
        command("remember", " ".join(words), "--session", f"s{number % 3}", "--at", "2026-03-09")
    memory, _ = opened(str(command.folder))
    for query in ("parser cache", "ZED-417?", "数据 42", "when was amber"):
        wanted = [(hit.item.id, hit.score, list(hit.why)) for hit in memory.recall(query, 9)]
        by_command = command("recall", query, "9", "--json").data["hits"]
        assert [(hit["id"], hit["score"], hit["why"]) for hit in by_command] == wanted
        for seed in ("0", "77"):
            script = (
                "import json, sys, contextspindle\n"
                "memory = contextspindle.find_workspace(sys.argv[1]).memory()\n"
                "found = memory.recall(sys.argv[2], 9)\n"
                "print(json.dumps([(h.item.id, h.score, list(h.why)) for h in found]))"
            )
            done = subprocess.run(
                [sys.executable, "-c", script, str(command.folder), query],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                check=True,
            )
            assert [tuple(one) for one in json.loads(done.stdout)] == wanted
