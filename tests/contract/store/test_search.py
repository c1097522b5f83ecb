"""Search on every store: what is found, in which order, and that a failure is not an empty page."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextspindle.core import search
from contextspindle.core.change import Request
from contextspindle.errors import InvalidInput, SearchFailed
from contextspindle.store.ephemeral import EphemeralStore
from contextspindle.store.sqlite import SqliteStore
from tests.databases import by_hand
from tests.strategies import field_texts, hostile_texts, raw_texts


@pytest.fixture
def found(on_store):
    """A function that gives the goals that a query finds, best first."""
    return lambda query, *page: [one.goal for one in on_store.search(query, *page).items]


@pytest.fixture
def goals(on_store, ask):
    """A function that creates a task for each goal."""

    def created(*texts):
        return [on_store.create(ask(goal=text)).task.id for text in texts]

    return created


# -- the order


def test_goal_comes_before_next_before_criteria_before_what_was_written_on_the_way(
    on_store, ask, found
):
    for words in (
        {"goal": "by note", "notes": ("zebra",)},
        {"goal": "by evidence and more", "criteria": ["c"]},
        {"goal": "by decision", "decisions": ("zebra",)},
        {"goal": "by criterion", "criteria": ["zebra"]},
        {"goal": "by blocker", "blocker": "zebra"},
        {"goal": "by next", "next": "zebra"},
        {"goal": "by goal: zebra"},
        {"goal": "by label", "add_labels": ("zebra",)},
        {"goal": "not at all"},
    ):
        on_store.create(ask(**words))
    on_store.update("t-00000002", ask(evidence=(("a zebra was seen", 0),)))
    assert found("zebra") == [
        "by label",
        "by goal: zebra",
        "by next",
        "by blocker",
        "by criterion",
        "by decision",
        "by evidence and more",
        "by note",
    ]


def test_within_a_field_the_newest_comes_first_and_whole_words_before_beginnings(goals, found):
    goals("zebras", "zebra one", "zebra two")
    assert found("zebra") == ["zebra two", "zebra one", "zebras"]


def test_words_may_be_spread_over_the_fields_and_all_must_be_there(on_store, ask, found):
    on_store.create(ask(goal="zebra", next="stripes"))
    on_store.create(ask(goal="zebra", next="hooves"))
    on_store.create(ask(goal="zebra stripes"))
    assert found("zebra stripes") == ["zebra stripes", "zebra"]
    assert found("stripes hooves") == []


def test_what_a_task_says_now_is_found_and_what_it_said_before_is_not(on_store, ask, found, goals):
    (made,) = goals("zebra")
    on_store.update(made, ask(goal="lion", decisions=("renamed",)))
    assert found("zebra") == []
    assert found("lion") == found("renamed") == ["lion"]
    on_store.update(made, ask(add_labels=("big",)))
    assert found("big") == ["lion"]
    on_store.update(made, ask(drop_labels=("big",)))
    assert found("big") == []


def test_a_task_is_found_by_its_id_and_by_a_part_of_it(on_store, goals, found):
    (made, _) = goals("this one", "another")
    assert found(made) == found(made[:-1] + "1") == ["this one"]
    assert found(made.upper()) == ["this one"]


# -- what is found


@pytest.mark.parametrize(
    ("goal", "queries"),
    [
        ("Close ZED-417 today", ["ZED-417", "zed-417", "ZED 417", "417", '"ZED-417"', "zed"]),
        ("two-phase commit at -4021", ["two-phase", "-4021", "two", "phase-commit", "two_phase"]),
        ("FIXM" + "E: later, retry:30", ["FIXM" + "E: later", "retry:30", "retry: 30"]),
        ("call pkg::name() in a.b.c", ["pkg::name", "pkg::name()", "a.b.c", "name("]),
        ('it\'s "both" `kinds`', ["it's", '"both"', "`kinds`", "'", 'both"', '"it s both"']),
        ("Café Straße Việt İstanbul", ["cafe", "CAFÉ", "strasse", "Straße", "viet", "istanbul"]),
        ("東京都庁へ行く", ["東", "京都", "東京都", "行く", "へ", "東京都庁へ行く"]),
        ("数据库迁移与备份", ["数", "据库", "迁移", "备份", "数据库迁移"]),
        ("データベースの移行", ["データ", "移行", "ース", "の", "ﾃﾞｰﾀ"]),
        ("데이터베이스 마이그레이션", ["데", "이터", "베이스", "마이그레이션"]),
        ("mixed 数据db库", ["db", "数据", "据 db", "库"]),
        ("हिन्दी में लिखो", ["हिन्दी", "में", "लिखो"]),
        ("строка поиска", ["СТРОКА", "поис", "строка поиска"]),
        ("العربية", ["العربية"]),
        ("C:\\new\\table 50% a/b", ["C:\\new\\table", "50%", "a/b", "new"]),
        ("emoji 👩🏽‍🚀 here", ["emoji 👩🏽‍🚀", "here"]),
        ("begins with authentication", ["aut", "authen", "authentication"]),
    ],
)
def test_a_goal_is_found_by_its_parts(goals, found, goal, queries):
    goals("something else entirely", goal)
    for query in queries:
        wanted = [] if not search.parse(query) else [goal]
        assert found(query) == wanted, query


@pytest.mark.parametrize(
    ("goal", "query"),
    [
        ("東京都庁", "東都"),
        ("login", "ogin"),
        ("login", "lo"),
        ("login page", '"page login"'),
        ("one", "one two"),
        ("a", "b"),
    ],
)
def test_what_is_not_there_is_not_found(goals, found, goal, query):
    goals(goal)
    assert found(query) == []


ODD = [
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\ud800",
        "a\ud800b",
        '"',
        '""',
        '"""',
        "'",
        "(",
        ")",
        "((",
        "a(",
        "*",
    ),
    *("-", "--", "- a", "a-", "^a", "a^", "+a", "a + b", "NEAR(a b)", "NEAR", "AND", "OR", "NOT"),
    *("a AND", "NOT a", "a OR", "goal:a", "name : a", "{goal} : a", "-goal:a", "col:", ":", "::"),
    *("%", "_", "a%", "\\", "a\\", ";", "'; DROP TABLE tasks; --", "\n", "a\nb", "\t", "a*b", "**"),
    *("ÿ", "…", "。", "👍", "\u202e", "\ufeff", "a" * 70_000, "a " * 5_000, "a-" * 20_000),
    *("東" * 10_000, '"' * 1_001, "(" * 1_001, "\U0010ffff", "1", "-1", "1.5", "0x1f", "a:b:c"),
]


@pytest.mark.parametrize("query", ODD, ids=lambda query: ascii(query[:12]))
def test_any_input_is_answered(on_store, goals, query):
    goals("a b 1", "goal: a")
    page = on_store.search(query)
    assert page.total == len(page.items)
    if not search.parse(query):
        assert page.items == ()


def test_an_empty_ledger_is_searched_without_an_error(on_store):
    assert on_store.search("anything") == ((), 0, None)


# -- pages


def test_what_is_found_comes_in_pages_that_make_the_whole(on_store, goals):
    goals(*(f"zebra {n}" for n in range(7)), "zebras", "lion")
    whole = on_store.search("zebra", 100)
    assert (whole.total, len(whole.items), whole.next_offset) == (8, 8, None)
    for limit in (1, 3, 8):
        parts, offset = [], 0
        while offset is not None:
            page = on_store.search("zebra", limit, offset)
            parts += page.items
            offset = page.next_offset
        assert tuple(parts) == whole.items
    assert on_store.search("zebra", 5, 8).items == ()


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (101, 0), (1, -1)])
def test_a_page_out_of_range_is_refused(on_store, limit, offset):
    with pytest.raises(InvalidInput):
        on_store.search("x", limit, offset)


# -- when it cannot be searched


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE search",
        "DELETE FROM search_data",
        "UPDATE search_data SET block = x'00'",
        "DROP TABLE search_data",
        "DROP TABLE search_idx",
        "UPDATE search_config SET v = 99",
    ],
)
def test_a_damaged_index_is_told_and_is_never_an_empty_page(sqlite_store, make_ledger, ask, damage):
    ledger = make_ledger(sqlite_store)
    for number in range(20):
        ledger.create(ask(goal=f"zebra {number}", notes=("stripes " * 50,)))
    sqlite_store.close()
    with by_hand(sqlite_store.path) as raw:
        raw.execute("PRAGMA writable_schema=ON")
        raw.execute("PRAGMA foreign_keys=OFF")
        raw.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, False) if hasattr(raw, "setconfig") else 0
        raw.execute(damage)
    with pytest.raises(SearchFailed, match="search"):
        ledger.search("zebra")
    assert ledger.list().total == 20


def test_an_index_that_names_what_is_not_there_is_told(sqlite_store, make_ledger, ask):
    ledger = make_ledger(sqlite_store)
    ledger.create(ask(goal="zebra"))
    with by_hand(sqlite_store.path) as raw:
        raw.execute("INSERT INTO search (rowid, goal) VALUES (99, 'zebra')")
    with pytest.raises(SearchFailed, match="not there"):
        ledger.search("zebra")


# -- the two stores say the same


@given(st.lists(field_texts | hostile_texts, min_size=1, max_size=4), st.data())
@settings(max_examples=settings.default.max_examples // 2)
def test_a_file_and_memory_find_the_same_in_the_same_order(
    make_ledger, tmp_path_factory, texts, data
):
    folder: Path = tmp_path_factory.mktemp("search")
    store = SqliteStore(str(folder / "ledger.sqlite3"))
    store.create()
    file, memory = make_ledger(store), make_ledger(EphemeralStore())
    for text in texts:
        for ledger in (file, memory):
            ledger.create(Request({"goal": text}, notes=(text[::-1],)))
    words = [word for text in texts for word in text.split()] or ["x"]
    pieces = st.sampled_from(words) | st.sampled_from(texts) | raw_texts
    for query in (*texts, data.draw(pieces), data.draw(pieces)[:3]):
        assert file.search(query) == memory.search(query)
    store.close()
