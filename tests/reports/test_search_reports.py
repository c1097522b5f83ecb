"""What was reported of searches of other programs, tried on this one: one test a report."""

from __future__ import annotations

import pytest

from tests.databases import by_hand


@pytest.fixture
def found(project):
    """A function that gives the ids that a query finds."""

    def search(query):
        done = project("task", "search", query, "--json")
        assert done.status == 0, done.err
        return [one["id"] for one in done.data["tasks"]]

    return search


def test_sr01_an_id_with_a_hyphen_is_found(create, found):
    task = create("Close ZED-417 with a two-phase commit, offset -4021")
    create("something else")
    for query in ("ZED-417", "zed-417", "two-phase", "-4021", "ZED", "417", task, task[2:]):
        assert found(query) == [task], query


def test_sr02_a_colon_is_no_syntax_and_a_failure_is_no_empty_page(project, create, found, ledger):
    mark = "FIX" + "ME: later"
    task = create(f"{mark}, retry:30 in pkg::name")
    for query in (mark, "retry:30", "pkg::name", "goal:retry", ": retry"):
        assert found(query) == ([] if query.startswith("goal") else [task]), query
    with by_hand(ledger) as raw:
        raw.execute("DROP TABLE search")
    done = project("task", "search", "retry", "--json")
    assert (done.status, done.error["code"], done.out) == (7, "SEARCH_FAILED", b"")
    assert "verify" in done.error["hint"]
    assert project("task", "list").status == 0


@pytest.mark.parametrize(
    ("goal", "queries"),
    [
        ("修复数据库迁移脚本", ["数据", "迁移脚", "数据库迁", "库", "修复数据库迁移脚本"]),
        ("ログイン画面の翻訳を直す", ["翻訳", "ログイ", "画面の翻", "の", "直す"]),
        ("로그인 화면을 고친다", ["화면", "로그인", "고친다", "면", "그인"]),
        ("move the db to 东京 region", ["db", "东京", "京", "region"]),
    ],
)
def test_sr04_parts_of_one_to_four_characters_are_found(create, found, goal, queries):
    task = create(goal)
    create("unrelated")
    for query in queries:
        assert found(query) == [task], query


def test_sr06_text_that_looks_like_markup_comes_through_an_export(project, place, found):
    goals = [
        "a: b",
        "# heading",
        "---",
        "* star",
        "@at",
        "- item",
        "🎉 done",
        "%YAML 1.2",
        "{a: 1}",
    ]
    ids = []
    for goal in goals:
        done = project("task", "create", "--quiet", "--", goal)
        ids.append(done.out.decode().strip())
    there = place("there")
    assert project("import", "-", input=project("export", "-").out, cwd=there).status == 0
    for task, goal in zip(ids, goals):
        assert project("task", "show", task, "--json", cwd=there).data["goal"] == goal
    assert found("heading") == [ids[1]]
