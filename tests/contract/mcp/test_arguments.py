"""Arguments as clients send them: numbers, switches and lists as text; unknown ones by name."""

from __future__ import annotations

import pytest

LISTS = [
    ('["a","b"]', ["a", "b"]),
    ("a", ["a"]),
    ("", []),
    ("  ", []),
    ('[5, "a"]', ["5", "a"]),
    ("[not json", ["[not json"]),
    ('{"a": 1}', ['{"a": 1}']),
    (["a"], ["a"]),
    ([], []),
    (None, []),
]


@pytest.mark.parametrize(("given", "meant"), LISTS)
def test_a_list_as_text_is_a_list(inside, given, meant):
    async def talk(call):
        task = (await call("task_create", goal="g", labels=given)).task
        shown = (await call("task_show", id=task)).text
        assert (f"labels: {', '.join(meant)}\n" in shown) == bool(meant)
        assert ("labels:" in shown) == bool(meant)

    inside(talk)


@pytest.mark.parametrize("given", [{"a": 1}, 5, True, [["a"]], [{"a": 1}], [None]])
def test_what_is_no_list_is_refused(inside, given):
    async def talk(call):
        said = await call("task_create", goal="g", labels=given)
        assert (said.code, "labels must be" in said.text) == ("INVALID_INPUT", True)
        assert "Nothing is live" in (await call("task_inbox")).text

    inside(talk)


def test_a_number_may_be_a_text_and_nonsense_is_refused_by_name(inside):
    async def talk(call):
        for number in range(3):
            await call("task_create", goal=f"g{number}", priority=str(number))
        for limit in (1, "1", " 1 ", 1.0):
            assert (await call("task_list", limit=limit)).text.startswith("t-")
            assert "1 of 3" in (await call("task_list", limit=limit)).text
        for limit in ("abc", "1.5", 1.5, "", True, [1], {}, "1e3", "٣", "9" * 30):
            said = await call("task_list", limit=limit)
            assert said.code == "INVALID_INPUT"
            assert "limit must be a whole number" in said.text
        assert (await call("task_list", limit="-1")).code == "INVALID_INPUT"

    inside(talk)


def test_a_switch_may_be_a_text_and_false_is_false(inside):
    async def talk(call):
        for deep in (True, "true", "True", "1", "yes", 1):
            assert "every change replayed" in (await call("task_verify", deep=deep)).text
        for deep in (False, "false", "0", "no", "", 0, None):
            assert "every digest checked" in (await call("task_verify", deep=deep)).text
        for deep in ("maybe", 2, [], {}):
            assert "deep must be true or false" in (await call("task_verify", deep=deep)).text

    inside(talk)


def test_a_text_may_be_a_number_and_nothing_else(inside):
    async def talk(call):
        assert (
            "g: 42\n".replace("g:", "goal:")
            in (await call("task_show", id=(await call("task_create", goal=42)).task)).text
        )
        for goal in ({"a": 1}, ["a"], True):
            assert "goal must be a text" in (await call("task_create", goal=goal)).text

    inside(talk)


@pytest.mark.parametrize(
    ("name", "given", "near"),
    [
        ("task_update", {"id": "t-00000000", "note": "x"}, "notes"),
        ("task_update", {"id": "t-00000000", "depends": ["x"]}, "add_dependencies"),
        ("task_update", {"id": "t-00000000", "expected": 1}, "expected_version"),
        ("task_create", {"goal": "g", "title": "x"}, ""),
        ("task_create", {"goal": "g", "criterion": "x"}, "criteria"),
        ("task_create", {"goal": "g", "label": "x"}, "labels"),
        ("task_search", {"query": "x", "max": 1}, ""),
        ("task_inbox", {"limits": 1}, "limit"),
    ],
)
def test_an_unknown_argument_is_refused_by_name_with_the_nearest(inside, name, given, near):
    async def talk(call):
        said = await call(name, **given)
        assert said.code == "INVALID_INPUT"
        unknown = next(one for one in given if one not in ("id", "goal", "query"))
        assert f"has no argument {unknown!r}" in said.text
        assert (f"Did you mean {near!r}?" in said.text) == bool(near)
        assert "It takes: " in said.text
        assert "Nothing is live" in (await call("task_inbox")).text

    inside(talk)


def test_what_is_needed_and_missing_is_named(inside):
    async def talk(call):
        assert "needs goal" in (await call("task_create")).text
        assert "needs goal" in (await call("task_create", goal=None)).text
        assert "needs id" in (await call("task_update", notes=["n"])).text
        said = await call("task_claim", action="clame")
        assert "Did you mean 'claim'?" in said.text

    inside(talk)


def test_hints_speak_of_tools_where_there_are_some(inside):
    async def talk(call):
        lost = await call("task_show", id="t-00000000")
        assert "'contextspindle_task_list' shows the ids" in lost.text
        task = (await call("task_create", goal="g")).task
        refused = await call("task_update", id=task, status="done")
        assert "set them with criteria" in refused.text
        assert "--" not in refused.text
        none = await call("task_claim", action="claim", id=task)
        assert not none.error
        held = await call("task_claim", action="next")
        assert "contextspindle_task_ready with explain" in held.text

    inside(talk)
