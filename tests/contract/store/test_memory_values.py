"""What the memory promises of values, of what comes from elsewhere, and of a rebuild."""

from __future__ import annotations

import os

import pytest

from contextspindle.actions.memory import CUT, Memory
from contextspindle.core.eraser import Eraser
from contextspindle.core.memory import MAX_LABELS, MAX_TEXT, Note
from contextspindle.core.text import size
from contextspindle.errors import SchemaTooNew
from contextspindle.store.memory import MemoryStore
from contextspindle.store.memory_purge import Remembered

from .conftest import recalled


def keyed(memory, key):
    return [(item.text, item.by) for item in memory.items() if item.key == key]


# -- recall


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """Three hundred and twenty short notes of one session, and a long one of another."""
    path = os.path.join(tmp_path_factory.mktemp("crowded"), ".continuum", "memory.sqlite3")
    memory = Memory(MemoryStore(path), clock=lambda: 1_000)
    notes = [Note(f"deploy {number}", session="A", source="s") for number in range(320)]
    long = "deploy " + " ".join(f"word{number}" for number in range(50))
    notes.append(Note(long, session="B", source="other", labels=("x",)))
    memory.take_in(notes, "here")
    return memory, long


@pytest.mark.parametrize("only", [{"session": "B"}, {"label": "x"}, {"source": "other"}])
def test_what_has_the_session_label_or_source_is_found_among_any_number_of_others(crowded, only):
    memory, long = crowded
    assert recalled(memory, "deploy", **only) == [long]
    assert len(recalled(memory, "deploy", 100, session="A")) == 100
    assert len(recalled(memory, "deploy", 100, source="s", session="A")) == 100
    assert recalled(memory, "deploy", session="none") == []


def test_a_filter_knows_the_labels_and_the_source_as_they_are_now(open_memory):
    memory = open_memory(bytes_=1_500)
    for label in ("old", '#">', "é"):
        memory.remember(Note("deploy the parser", labels=(label,)))
        assert recalled(memory, "deploy", label=label) == ["deploy the parser"]
    memory.remember(Note("deploy the parser", source="later"))
    assert recalled(memory, "deploy", source="later", label="old") == ["deploy the parser"]
    labels = tuple(f"new{number}" for number in range(MAX_LABELS))
    memory.remember(Note("deploy the parser", labels=labels))
    assert recalled(memory, "deploy", label="old") == []
    assert recalled(memory, "deploy", label="new7") == ["deploy the parser"]
    for number in range(60):  # until it is a gist of itself, or gone
        note = f"note {number} says how worker{number} of the queue deploys"
        memory.remember(Note(note, labels=("half",) if number % 2 else ()))
    assert memory.verify() == []
    of_half = sorted(item.id for item in memory.items() if "half" in item.labels)
    assert sorted(hit.item.id for hit in memory.recall("note", 100, label="half")) == of_half
    for item in [*memory.items()]:
        memory.forget(item.id)
    assert recalled(memory, "deploy", label="new7") == []
    assert memory.verify() == []


def test_words_that_were_let_go_take_nothing_from_those_that_are_spelt_alike(memory):
    memory.remember(Note("the kalendar is wrong"))
    for ending in "aeioubdgkt":
        memory.forget(memory.remember(Note(f"calendar{ending}")).item.id)
    assert recalled(memory, "calendar") == ["the kalendar is wrong"]


@pytest.mark.parametrize(
    ("text", "chars"),
    [
        ("猫が好きです", "猫がです"),
        ("データベースを直す", "デベ直す"),
        ("高兴 db", "高兴"),
        ("집을 고친다", "집을다"),
    ],
)
def test_one_character_of_a_script_without_blanks_is_found_wherever_it_stands(memory, text, chars):
    memory.remember(Note(text))
    memory.remember(Note("犬と住む, and a dog"))
    for char in chars:
        for query in (char, f"{char}?", f"the {char} of it"):
            (hit,) = memory.recall(query, 1)
            assert (hit.item.text, hit.why) == (text, (char,)), query
    assert recalled(memory, "鳥") == []


def test_the_last_character_of_a_longer_word_is_not_looked_for_by_itself(memory):
    memory.remember(Note("猫が好き"))
    memory.remember(Note("きつね"))
    assert recalled(memory, "猫が好き") == ["猫が好き"]
    assert recalled(memory, "猫が好き き") == ["猫が好き", "きつね"]


# -- values


def test_a_key_has_one_value_whoever_says_it(memory):
    first = memory.remember(Note("deploy from main", "alice", key="br", pinned=True))
    second = memory.remember(Note("deploy from main", "bob", key="br"))
    assert (second.replaced, second.merged, second.item.pinned) == (first.item.id, False, True)
    assert keyed(memory, "br") == [("deploy from main", "bob")]
    memory.remember(Note("deploy from trunk", key="br"))
    assert keyed(memory, "br") == [("deploy from trunk", "")]
    assert memory.verify() == []


def test_a_known_text_that_becomes_a_value_takes_the_place_of_the_old_one(memory):
    plain = memory.remember(Note("deploy from main", "bob"))
    old = memory.remember(Note("deploy from main", "alice", key="br"))
    kept = memory.remember(Note("deploy from main", "bob", key="br"))
    assert (kept.merged, kept.item.id, kept.replaced) == (True, plain.item.id, old.item.id)
    assert keyed(memory, "br") == [("deploy from main", "bob")]
    assert memory.verify() == []


def test_a_value_is_kept_to_the_letter_as_it_was_said_last(memory):
    memory.remember(Note("Branch is Release", key="b2"))
    kept = memory.remember(Note("branch  is\nrelease", key="b2"))
    assert (kept.merged, kept.item.text, kept.item.times) == (True, "branch  is\nrelease", 2)
    assert recalled(memory, "branch") == ["branch  is\nrelease"]
    memory.remember(Note("Tabs are wrong"))
    memory.remember(Note("tabs are WRONG"))
    assert recalled(memory, "tabs") == ["Tabs are wrong"]
    assert memory.remember(Note("TABS are wrong", key="tabs")).item.text == "TABS are wrong"
    assert recalled(memory, "tabs") == ["TABS are wrong"]
    assert memory.verify() == []


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_one_text_under_two_keys_and_without_one_is_known_after_one_of_them_went(memory, gone):
    notes = [Note("it is main", key="k1"), Note("it is main", key="k2"), Note("it is main")]
    for note in notes:
        assert not memory.remember(note).merged
    memory.forget(f"m-{gone}")
    for number, note in enumerate(notes, 1):
        if number != gone:
            kept = memory.remember(note)
            assert (kept.merged, kept.item.id) == (True, f"m-{number}")
    assert memory.stats()[0].items == 2
    assert memory.verify() == []


def test_a_known_text_keeps_its_newest_labels_and_says_which_went(memory):
    labels = tuple(f"l{number}" for number in range(MAX_LABELS))
    memory.remember(Note("the parser", labels=labels))
    kept = memory.remember(Note("the parser", labels=("l0", "new", "newer")))
    assert kept.unlabelled == ("l1", "l2")
    assert kept.item.labels == ("l0", *labels[3:], "new", "newer")
    taken = memory.take_in([Note("the parser", labels=("newest",))], "there")
    assert (taken.merged, taken.unlabelled) == (1, 1)
    assert memory.remember(Note("the parser", labels=("newest",))).unlabelled == ()


def test_a_note_of_the_first_instant_is_of_that_instant(memory, clock):
    assert memory.remember(Note("the epoch", at=0)).item.at == 0
    assert memory.remember(Note("the present")).item.at == clock()
    memory.take_in([Note("the epoch again", at=0), Note("the present again")], "there")
    assert [item.at for item in memory.items()][2:] == [0, clock()]


def test_secrets_are_masked_in_all_that_is_said_of_a_text(memory):
    address = "https://user:hunter2hunter2@example.org/x"
    masked = "https://user:[masked]@example.org/x"
    note = Note("where it is", address, 1, address, address, (address, "ops"), address)
    kept = memory.remember(note)
    item = kept.item
    assert kept.masked
    assert (item.by, item.session, item.source, item.key) == (masked,) * 4
    assert item.labels == (masked, "ops")
    for only in ("session", "source", "label"):
        assert recalled(memory, "where", **{only: address}) == ["where it is"]
    assert memory.remember(note).merged
    memory.take_in([Note("and there", source=address)], "there")
    assert recalled(memory, "there", source=masked) == ["and there", "where it is"]
    session = "6d61b693-0c4e-4c83-9b0f-5d6c6a1d0f11"
    plain = memory.remember(Note("x", "ann", 1, session, "docs/a.md:3", ("l",), "k"))
    assert (plain.masked, plain.item.session) == (False, session)


# -- from elsewhere


def test_what_is_too_long_for_an_item_is_cut_and_said(open_memory):
    memory = open_memory()
    secret = "password=hunter2hunter2 "
    long = [("é" * 40_000, 1), ("x " * 32_760 + secret * 9, 2), ("quicksilver", 3)]
    taken = memory.take_in_original((number, one) for one, number in long)
    assert (taken.added, taken.cut) == (3, 2)
    first, second, third = memory.items()
    assert first.text == "é" * ((MAX_TEXT - 3) // 2) + "…"
    assert first.labels == ("original", CUT)
    # Masked before the cut, which falls into the mask.
    assert (size(second.text), second.text[-14:]) == (MAX_TEXT, "password=[mas…")
    assert (third.text, third.labels) == ("quicksilver", ("original",))
    again = memory.take_in_original((number, one) for one, number in long)
    assert (again.before, again.cut) == (3, 0)
    assert memory.verify() == []


def test_what_is_too_long_for_a_small_memory_is_cut_to_it(open_memory):
    memory = open_memory(bytes_=5_000)
    assert memory.take_in([Note("word " * 2_000), Note("short")], "there").cut == 1
    assert memory.stats()[0].bytes <= 5_000
    # The mark is of the whole: with another limit it is the same text.
    assert open_memory().take_in([Note("word " * 2_000)], "there").before == 1


# -- a rebuild


def test_after_a_rebuild_what_was_forgotten_does_not_come_back(memory):
    notes = [Note(f"passage {number}") for number in range(5)]
    memory.take_in(notes, "session")
    memory.forget("m-2")
    memory.rebuild()
    assert memory.take_in(notes, "session").before == 5
    assert memory.verify() == []


def test_after_a_purge_neither_the_text_nor_what_was_forgotten_comes_back(memory):
    notes = [Note(f"passage {number} of quicksilver{number}") for number in range(5)]
    memory.take_in(notes, "session")
    memory.forget("m-2")
    assert Remembered(memory._store).purge(Eraser("quicksilver3"), write=True) == 1
    assert memory.take_in(notes, "session").before == 5
    assert [item.id for item in memory.items()] == ["m-1", "m-3", "m-5"]


def test_after_a_rebuild_a_gist_is_known_by_the_text_that_it_was_made_of(open_memory):
    memory = open_memory(bytes_=400)
    long = "It was said at great length that the thing with the other is very much like it was "
    memory.remember(Note(long + long + "and quicksilver"))
    assert memory.remember(Note("x " * 150)).shrunk == ("m-1",)
    whole = open_memory()
    whole.rebuild()
    assert next(iter(whole.items())).tier == "gist"
    kept = whole.remember(Note(long + long + "and quicksilver"))
    assert (kept.merged, kept.item.id, kept.item.tier) == (True, "m-1", "full")
    assert whole.verify() == []


def test_a_memory_of_a_newer_program_has_no_findings_but_is_refused(memory):
    memory.remember(Note("x"))
    memory._store.open_writer().execute("PRAGMA user_version=2")
    with pytest.raises(SchemaTooNew):
        memory.verify()
