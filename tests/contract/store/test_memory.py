"""What the verbs of the memory promise, on a real file."""

from __future__ import annotations

import json
import struct

import pytest

from contextspindle.actions.memory import Memory
from contextspindle.core.memory import MAX_TEXT, Limits, Note
from contextspindle.errors import InvalidInput, ItemNotFound, MemoryFull, MemoryNotFound
from contextspindle.store.memory import MemoryStore
from contextspindle.store.memory_pages import PLACES, WORDS, bucket, mark
from tests.databases import by_hand

from .conftest import recalled


def test_what_was_remembered_is_recalled_whole(memory, clock):
    text = "  Staging is reset\tevery night\n\nat two.\x01 \u202e "
    kept = memory.remember(
        Note(text, "ann", 5, "s1", "docs/runbook.md", ("ops", "night"), "staging", pinned=True)
    )
    (hit,) = memory.recall("when is staging reset?")
    item = hit.item
    assert (item.id, item.text, item.by, item.at, item.session) == ("m-1", text, "ann", 5, "s1")
    assert (item.source, item.labels, item.key) == ("docs/runbook.md", ("ops", "night"), "staging")
    assert (item.pinned, item.tier, item.times, item.last) == (True, "full", 1, clock())
    assert hit.why == ("staging", "reset?") or hit.why == ("staging", "reset")
    assert kept.item == item
    assert not kept.masked


def test_a_secret_is_masked_and_said(memory):
    kept = memory.remember(Note("the password=hunter2hunter2 of amber"))
    assert kept.masked
    assert recalled(memory, "amber") == ["the password=[masked] of amber"]
    assert recalled(memory, "hunter2hunter2") == []


def test_a_text_that_is_given_a_key_later_keeps_its_id_and_its_pin(open_memory):
    memory = open_memory(items=1)
    first = memory.remember(Note("deploys go out from main", pinned=True))
    named = memory.remember(Note("deploys go out from main", key="branch", labels=("ops",)))
    assert named.merged
    assert (named.item.id, named.item.key, named.item.times) == (first.item.id, "branch", 2)
    assert (named.item.pinned, named.item.labels) == (True, ("ops",))
    assert memory.verify() == []
    moved = memory.remember(Note("deploys go out from release", key="branch"))
    assert moved.replaced == first.item.id
    assert recalled(memory, "deploys") == ["deploys go out from release"]


def test_the_best_answer_comes_first_and_says_why(memory):
    memory.remember(Note("The deploy branch is called release"))
    memory.remember(Note("We deploy on Fridays"))
    memory.remember(Note("Lunch is at noon"))
    first, second = memory.recall("which branch do we deploy?")
    assert first.item.text.startswith("The deploy branch")
    assert first.score > second.score
    assert set(first.why) == {"branch", "deploy"}


def test_an_answer_is_found_by_the_question_before_it(memory):
    memory.remember(Note("Which database does billing use?", "bo", session="s"))
    memory.remember(Note("Postgres on amber.", "ann", session="s"))
    memory.remember(Note("Redis on heron.", "ann", session="other"))
    assert recalled(memory, "billing database")[:2] == [
        "Which database does billing use?",
        "Postgres on amber.",
    ] or recalled(memory, "billing database")[:2] == [
        "Postgres on amber.",
        "Which database does billing use?",
    ]
    assert "Redis on heron." not in recalled(memory, "billing database")


def test_a_misspelt_word_is_found(memory):
    memory.remember(Note("the kubernetes cluster is heron"))
    memory.remember(Note("something else"))
    assert recalled(memory, "kubernets") == ["the kubernetes cluster is heron"]


def test_the_same_text_is_counted_and_not_repeated(memory, clock):
    memory.remember(Note("The parser is slow", "ann", labels=("a",)))
    clock.forward(60_000)
    kept = memory.remember(Note("  the PARSER\nis slow", "Ann", labels=("b",), pinned=True))
    assert kept.merged
    (hit,) = memory.recall("parser")
    assert (hit.item.times, hit.item.last, hit.item.text) == (2, clock(), "The parser is slow")
    assert (hit.item.labels, hit.item.pinned) == (("a", "b"), True)
    assert not memory.remember(Note("the parser is slow", "bo")).merged


def test_ten_thousand_of_a_hundred_facts_are_a_hundred_items(memory, long_run):
    facts = [f"fact {n} of the Parser is {n * 7}" for n in range(100)]
    for number in range(10_000 if long_run else 600):
        fact = facts[number % 100]
        fact = (fact.upper(), fact.lower(), fact.replace(" ", "  \t"), f" {fact}\n")[number % 4]
        memory.remember(Note(fact))
    counts, _ = memory.stats()
    assert (counts.items, counts.merged) == (100, (10_000 if long_run else 600) - 100)
    assert memory.verify() == []


def test_a_key_has_one_value_and_keeps_its_pin(memory):
    first = memory.remember(Note("deploys go out from main", key="branch", pinned=True))
    second = memory.remember(Note("deploys go out from release", key="branch"))
    assert (second.replaced, second.item.pinned) == (first.item.id, True)
    assert recalled(memory, "deploys") == ["deploys go out from release"]
    again = memory.remember(Note("Deploys go out from release", key="branch"))
    assert (again.merged, again.replaced) == (True, "")
    other = memory.remember(Note("deploys go out from release", key="another"))
    assert not other.merged
    assert memory.verify() == []


def test_what_is_known_can_get_a_key(memory):
    memory.remember(Note("deploys go out from main"))
    kept = memory.remember(Note("deploys go out from main", key="branch"))
    assert kept.merged
    assert kept.item.key == "branch"
    assert memory.remember(Note("from release", key="branch")).replaced == kept.item.id
    assert recalled(memory, "main") == []
    assert memory.verify() == []


def test_a_forgotten_item_is_gone_and_its_id_is_not_used_again(memory):
    memory.remember(Note("one parser", session="s"))
    memory.remember(Note("two parsers", session="s"))
    assert memory.forget("m-1").text == "one parser"
    assert recalled(memory, "parser") == ["two parsers"]
    with pytest.raises(ItemNotFound):
        memory.forget("1")
    memory.forget("m-2")
    assert memory.remember(Note("three parsers", session="t")).item.id == "m-3"
    assert memory.verify() == []


def test_filters_leave_only_what_they_name(memory):
    memory.remember(Note("parser one", session="a", source="x", labels=("l", "m")))
    memory.remember(Note("parser two", session="b", source="y", labels=("m",)))
    assert recalled(memory, "parser", session="a") == ["parser one"]
    assert recalled(memory, "parser", source="y") == ["parser two"]
    assert recalled(memory, "parser", label="l") == ["parser one"]
    assert len(recalled(memory, "parser", label="m")) == 2
    assert recalled(memory, "parser", label="m", session="c") == []


@pytest.mark.parametrize("limit", [0, 101, -1])
def test_a_limit_out_of_range_is_refused(memory, limit):
    memory.remember(Note("x"))
    with pytest.raises(InvalidInput):
        memory.recall("x", limit)


@pytest.mark.parametrize(
    "note",
    [
        Note(""),
        Note(" \n"),
        Note("x" * (MAX_TEXT + 1)),
        Note("x", by="b" * 300),
        Note("x", labels=("l", " ")),
        Note("x", labels=tuple("abcdefghijklmnopqrstuvw")),
    ],
)
def test_a_note_out_of_form_is_refused_and_makes_no_memory(memory, note):
    with pytest.raises(InvalidInput):
        memory.remember(note)
    with pytest.raises(MemoryNotFound):
        memory.stats()


def test_the_longest_text_is_found_by_its_last_word(memory):
    text = "parser " * (MAX_TEXT // 7 - 5) + "quicksilver"
    memory.remember(Note(text))
    memory.remember(Note("数" * 21_000))
    assert recalled(memory, "quicksilver") == [text]
    assert memory.verify() == []


def test_a_full_memory_lets_the_least_go_and_says_so(open_memory):
    memory = open_memory(items=3)
    memory.remember(Note("The certificate of auth.example.org ends on 3 May 2027"))
    memory.remember(Note("ok, thanks!"))
    memory.remember(Note("Invoices of Amber GmbH are rounded half to even"))
    kept = memory.remember(Note("Heron renews the certificates now"))
    assert (kept.dropped, kept.shrunk) == (("m-2",), ())
    counts, limits = memory.stats()
    assert (counts.items, counts.dropped, limits.items) == (3, 1, 3)


def test_where_bytes_are_short_items_shrink_to_their_gist_first(open_memory):
    memory = open_memory(bytes_=400)
    long = (
        "It was said at great length that the thing with the other thing is very much like it was"
    )
    memory.remember(
        Note(f"{long} and that quicksilver is {long}", by="ann", session="s", source="f:1")
    )
    kept = memory.remember(Note("x " * 100 + "and nothing else at all in here"))
    assert kept.shrunk == ("m-1",)
    (hit,) = memory.recall("quicksilver")
    assert (hit.item.tier, hit.item.by, hit.item.source) == ("gist", "ann", "f:1")
    assert "quicksilver" in hit.item.text
    assert len(hit.item.text) < 150
    counts, _ = memory.stats()
    assert (counts.gists, counts.shrunk) == (1, 1)
    assert counts.bytes <= 400
    # Said again, it is there in full.
    again = memory.remember(Note(f"{long} and that QUICKSILVER is {long}", by="ann"))
    assert again.merged
    assert memory.recall("quicksilver")[0].item.tier in ("full", "gist")
    assert memory.verify() == []


def test_pinned_items_stay_and_a_memory_full_of_them_refuses(open_memory):
    memory = open_memory(items=2, bytes_=1_000)
    memory.remember(Note("one", pinned=True))
    memory.remember(Note("two"))
    assert memory.remember(Note("three", pinned=True)).dropped == ("m-2",)
    with pytest.raises(MemoryFull):
        memory.remember(Note("four"))
    with pytest.raises(MemoryFull):
        memory.remember(Note("y" * 1_001))
    assert sorted(item.text for item in memory.items()) == ["one", "three"]
    assert memory.remember(Note("ONE")).merged
    assert memory.verify() == []


def test_the_oldest_and_the_newest_are_so_by_their_dates_not_by_when_they_came(memory):
    for at in (5_000, 9_000_000_000_000, -7_000, 6_000):
        memory.remember(Note(f"said at {at}", at=at))
    counts, _ = memory.stats()
    assert (counts.oldest, counts.newest) == (-7_000, 9_000_000_000_000)
    memory.forget("m-2")
    memory.forget("m-3")
    counts, _ = memory.stats()
    assert (counts.oldest, counts.newest) == (5_000, 6_000)
    memory.forget("m-1")
    memory.forget("m-4")
    counts, _ = memory.stats()
    assert (counts.items, counts.oldest, counts.newest) == (0, 0, 0)


def test_a_lower_limit_holds_from_the_next_write_on(open_memory):
    memory = open_memory()
    for number in range(30):
        memory.remember(Note(f"fact {number} about parsers"))
    smaller = open_memory(items=5)
    smaller.remember(Note("one more fact"))
    assert smaller.stats()[0].items == 5
    assert smaller.verify() == []


def test_notes_from_elsewhere_come_once_even_if_forgotten(memory):
    notes = [Note("one"), Note("two"), Note("ONE ")]
    first = memory.take_in(notes, "there")
    assert (first.added, first.merged, first.before) == (2, 1, 0)
    memory.forget("m-1")
    again = memory.take_in([*notes, Note("three")], "there")
    assert (again.added, again.merged, again.before) == (1, 0, 3)
    assert [item.text for item in memory.items()] == ["two", "three"]


@pytest.mark.parametrize("text", ["\u2192 !!!", ":-)", "---", "\u20ac", "=>", "\u200b\u200b"])
def test_a_text_without_a_word_is_recalled_by_its_signs(memory, text):
    memory.remember(Note("prices in words !!!"))
    memory.remember(Note("?! " + text))
    kept = memory.remember(Note(text, labels=("sign",)))
    (hit,) = memory.recall(f" {text}\n")
    assert (hit.item, hit.why) == (kept.item, (text,))
    assert recalled(memory, text, label="sign") == [text]
    assert recalled(memory, "prices") == ["prices in words !!!"]
    assert memory.verify() == []
    memory.forget(kept.item.id)
    assert recalled(memory, text) == []
    assert memory.verify() == []


def test_a_text_without_a_word_that_an_older_version_wrote_is_no_damage(open_memory, tmp_path):
    open_memory().remember(Note("=>"))
    path = tmp_path / ".continuum" / "memory.sqlite3"
    with by_hand(path) as db:
        (entry,) = db.execute("SELECT entry FROM items").fetchone()
        older = entry.replace(b'"!=>":[1],', b"").replace(b',"!=>":[1]', b"")
        assert older != entry
        key = WORDS | bucket("!=>")
        (page,) = db.execute("SELECT data FROM pages WHERE key = ?", (key,)).fetchone()
        assert page.count(b'"') == 2
        db.execute("UPDATE items SET entry = ?, entry_mark = ?", (older, mark(1, older)))
        empty = (b"{}", mark(key, b"{}"), key)
        db.execute("UPDATE pages SET data = ?, mark = ? WHERE key = ?", empty)
    memory = open_memory()
    assert memory.verify() == []
    assert recalled(memory, "=>") == []
    assert memory.rebuild(force=True).items == 1
    assert recalled(memory, "=>") == ["=>"]


FACTS = [
    f"{('the parser', 'Amber', 'a cache of the heron')[number % 3]} {'is slow and ' * (number % 4)}"
    f"keeps {number * 7} entries since {number % 28 + 1} May 2026, part {number % 9}"
    for number in range(60)
]


def first_note(number):
    by, session = f"by{number % 2}", f"s{number % 3}"
    return Note(FACTS[number], by=by, session=session, key=f"k{number % 40}" if number % 4 else "")


@pytest.mark.parametrize(("items", "bytes_"), [(30, 100_000), (1_000, 1_500), (25, 1_400)])
def test_what_goes_is_the_same_whether_one_process_writes_or_many(tmp_path, clock, items, bytes_):
    """What a process still holds of an earlier write says what it would read."""
    paths = [str(tmp_path / name / "memory.sqlite3") for name in ("one", "many")]
    one, many = [Memory(MemoryStore(path), Limits(items, bytes_), clock=clock) for path in paths]
    for number, fact in enumerate(FACTS):
        note = first_note(number)
        assert many.remember(note) == one.remember(note)
        for item in [item for item in one.items() if item.tier == "full"][:4]:
            again = Note(item.text, by=item.by, session=item.session, key=item.key)
            assert many.remember(again) == one.remember(again)
        many = Memory(MemoryStore(paths[1]), Limits(items, bytes_), clock=clock)
        if number % 10 == 9:
            assert one.recall(fact) == many.recall(fact)
    assert one.stats() == many.stats()
    assert one.stats()[0].dropped + one.stats()[0].shrunk > 10
    contents = []
    for path in paths:
        with by_hand(path) as db:
            contents.append(
                [
                    db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
                    for table in ("state", "items", "pages", "taken")
                ]
            )
    assert contents[0] == contents[1]


def test_places_of_a_term_are_found_where_an_older_version_put_them(open_memory, tmp_path):
    """It put those of a term on pages of their own when there were more than six."""
    memory = open_memory()
    for number in range(20):
        memory.remember(Note(f"parser {number}"))
    path = tmp_path / ".continuum" / "memory.sqlite3"
    with by_hand(path) as db:
        key = WORDS | bucket("parser")
        (page,) = db.execute("SELECT data FROM pages WHERE key = ?", (key,)).fetchone()
        words = json.loads(page)
        number, _, _, places = words["parser"]
        words["parser"][3] = None
        older = json.dumps(words, separators=(",", ":"), sort_keys=True).encode()
        apart = struct.pack(f"<{len(places)}I", *places)
        key_apart = PLACES | number << 16
        db.execute("INSERT INTO pages VALUES (?, ?, ?)", (key_apart, apart, mark(key_apart, apart)))
        db.execute(
            "UPDATE pages SET data = ?, mark = ? WHERE key = ?", (older, mark(key, older), key)
        )
    memory = open_memory(items=12)
    assert len(recalled(memory, "parser", 30)) == 20
    assert memory.verify() == []
    assert len(memory.remember(Note("the parser again")).dropped) == 9
    memory.forget("m-21")
    assert len(recalled(memory, "parser", 30)) == 11
    assert memory.verify() == []


@pytest.mark.parametrize("name", ['say "no"', "back\\slash", 'x","y":[1', "a\nb", "'", "été 数"])
def test_keys_and_sessions_of_any_signs_are_found_by_another_process(open_memory, tmp_path, name):
    first = open_memory().remember(Note("from main", key=name, session=name))
    memory = open_memory()
    assert memory.remember(Note("from release", key=name, session=name)).replaced == first.item.id
    assert recalled(open_memory(), "release", session=name) == ["from release"]
    assert open_memory().verify() == []
    with by_hand(tmp_path / ".continuum" / "memory.sqlite3") as db:
        (pages,) = zip(*db.execute("SELECT data FROM pages WHERE key < ?", (3 << 48,)), strict=True)
    assert "@" + name in {word for page in pages for word in json.loads(page)}
    open_memory().forget("m-2")
    assert open_memory().recall("release", session=name) == ()
