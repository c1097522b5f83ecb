"""Arguments as clients send them: numbers, switches and lists as text; unknown ones by name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from contextspindle import errors, places, workspace
from contextspindle.actions import archive as actions
from contextspindle.actions import ledger
from contextspindle.core import archive, change, claims, evidence, fields, links, memory
from contextspindle.mcp_server.wording import ALL

from .conftest import asking

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


def test_a_list_as_text_is_a_list(inside):
    async def talk(call):
        for given, meant in LISTS:
            task = (await call("task_create", goal="g", labels=given)).task
            shown = (await call("task_show", id=task)).text
            assert (f"labels: {', '.join(meant)}\n" in shown) == bool(meant), given
            assert ("labels:" in shown) == bool(meant), given

    inside(talk)


def test_brackets_without_end_are_a_text(inside):
    async def talk(call):
        said = await call("task_create", goal="g", labels="[" * 100_000)
        assert said.code == "INVALID_INPUT"

    inside(talk)


def test_a_priority_may_be_a_number_or_a_word(inside):
    async def talk(call):
        for given, meant in ((0, 0), ("1", 1), (3.0, 3), ("high", 1), ("low", 3)):
            task = (await call("task_create", goal="g", priority=given)).task
            assert f"priority {meant}\n" in (await call("task_show", id=task)).text, given

    inside(talk)


def test_an_empty_list_of_criteria_clears_them(inside):
    async def talk(call):
        for nothing in ([], "", " "):
            task = (await call("task_create", goal="g", criteria=["it floats"])).task
            said = await call("task_update", id=task, criteria=nothing, decisions=["dropped"])
            assert not said.error
            assert "it floats" not in (await call("task_show", id=task)).text.partition("log")[0]

    inside(talk)


def test_what_is_no_list_is_refused(inside):
    async def talk(call):
        for given in ({"a": 1}, 5, True, [["a"]], [{"a": 1}], [None]):
            said = await call("task_create", goal="g", labels=given)
            assert (said.code, "labels must be" in said.text) == ("INVALID_INPUT", True), given
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
        for beyond in ("-1", 2**63 - 1, 10**30, -(10**30)):
            for name in ("task_list", "task_ready", "task_inbox"):
                assert (await call(name, limit=beyond)).code == "INVALID_INPUT"
                assert (await call(name, offset=10**30)).code == "INVALID_INPUT"

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


UNKNOWN = [
    ("task_update", {"id": "t-00000000", "note": "x"}, "notes"),
    ("task_update", {"id": "t-00000000", "depends": ["x"]}, "add_dependencies"),
    ("task_update", {"id": "t-00000000", "expected": 1}, "expected_version"),
    ("task_create", {"goal": "g", "title": "x"}, ""),
    ("task_create", {"goal": "g", "criterion": "x"}, "criteria"),
    ("task_create", {"goal": "g", "label": "x"}, "labels"),
    ("task_search", {"query": "x", "max": 1}, ""),
    ("task_inbox", {"limits": 1}, "limit"),
]


def test_an_unknown_argument_is_refused_by_name_with_the_nearest(inside):
    async def talk(call):
        for name, given, near in UNKNOWN:
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
        said = await call("task_claim", id="t-00000000")
        assert "action is one of claim, next, renew, release. It takes: action, id" in said.text
        said = await call("task_claim", action="clame")
        assert "Did you mean 'claim'?" in said.text

    inside(talk)


def test_arguments_written_as_a_text_are_taken_and_what_is_no_object_is_refused_by_name(line):
    server = line()
    server.greet()

    def asked(given):
        message = asking(1, "task_create")
        message["params"]["arguments"] = given
        server.send(message)
        return server.read()

    assert "created" in asked('{"goal": "g"}')["result"]["content"][0]["text"]
    for nothing in ([], "", "{}", None):
        assert "needs goal" in asked(nothing)["result"]["content"][0]["text"]
    for wrong in (["goal"], "goal", 5, True, "[1]", "[" * 90_000):
        error = asked(wrong)["error"]
        assert (error["code"], "arguments must be an object" in error["message"]) == (-32602, True)


def test_an_item_of_a_list_that_is_no_text_is_refused_as_such(inside):
    async def talk(call):
        said = await call("task_create", goal="g", decisions=[{"text": "x"}])
        assert 'decisions must be a list of texts, not [{"text": "x"}]' in said.text

    inside(talk)


def test_null_clears_nothing_and_an_update_of_nothing_is_refused(inside):
    async def talk(call):
        task = (await call("task_create", goal="g", blocker="rain")).task
        said = await call("task_update", id=task, blocker=None, workspace=None)
        assert (said.code, "an empty text clears" in said.text) == ("INVALID_INPUT", True)
        assert "blocker: rain" in (await call("task_show", id=task)).text
        assert not (await call("task_update", id=task, blocker="")).error
        assert "blocker" not in (await call("task_show", id=task)).text
        described = {one.name: one for one in (await call.client.list_tools()).tools}
        assert "null does not" in described["contextspindle_task_update"].description

    inside(talk)


def test_a_page_behind_the_end_says_so_on_every_list(inside):
    async def talk(call):
        task = (await call("task_create", goal="Ship it")).task
        await call("task_create", goal="Ship a part", parent=task)
        for name, given, total in (
            ("task_list", {}, 2),
            ("task_inbox", {}, 2),
            ("task_ready", {}, 2),
            ("task_search", {"query": "ship"}, 2),
            ("task_children", {"id": task}, 1),
        ):
            said = await call(name, offset=10, **given)
            assert said.text == f"No task from 10 on; {total} in all.\n", name
        assert (await call("task_list", owner="nobody", offset=10)).text == "No task matches.\n"

    inside(talk)


def test_a_token_or_an_id_that_is_not_whole_is_said_to_be_so(inside):
    async def talk(call):
        task = (await call("task_create", goal="Ship it")).task
        await call("task_claim", action="claim", id=task)
        said = await call("task_update", id=task, next="x", claim=f"{task}.mistyped")
        assert said.code == "CLAIM_LOST"
        assert "This token does not hold the claim" in said.text
        assert "taken" not in said.text
        said = await call("task_update", id=task[:-1], next="x")
        assert (said.code, f"Give the whole id: {task}" in said.text) == ("TASK_NOT_FOUND", True)

    inside(talk)


def test_hints_speak_of_tools_where_there_are_some(inside):
    async def talk(call):
        lost = await call("task_show", id="t-00000000")
        assert "'contextspindle_task_list' shows the ids" in lost.text
        task = (await call("task_create", goal="g")).task
        refused = await call("task_update", id=task, status="done")
        assert "set them with criteria" in refused.text
        assert "--" not in refused.text
        await call("task_update", id=task, criteria=["a", "b"], decisions=["so"])
        several = await call("task_update", id=task, status="done")
        assert "show that it holds with evidence, and criterion for one of them" in several.text
        none = await call("task_claim", action="claim", id=task)
        assert not none.error
        held = await call("task_claim", action="next")
        assert "contextspindle_task_ready with explain" in held.text

    inside(talk)


QUOTED = re.compile(r"'contextspindle [^']*'")
"""A command as it is named to a reader."""
OPTION = re.compile(r"(?<![\w-])--[a-z]")
FOR_A_USER = {
    "name it with --workspace to use it": "an option of the server, for the user who starts it",
    "with --transcript": "no tool reads transcripts",
    "--transcript PATH --session ID": "no tool takes a hook's payload",
    "Give the session's id with --session": "no tool saves a session",
    "Use --project in a project": "no tool changes a program's settings",
    "setup HARNESS --write": "no tool changes a program's settings",
    "name it: --from auto": "no tool imports",
    "See --help of the command": "left out, there is none",
}
"""Sayings with options in them that no tool's answer can have, each with its reason."""


PART = " --for N"
"""A part of a saying; the test above has the whole."""


def said_in(module):
    """The texts of a module that are no docstrings, X for what is put into them."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    inner, docs = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docs.add(node.value)
        if isinstance(node, ast.JoinedStr):
            inner |= {one for one in node.values if isinstance(one, ast.Constant)}
            yield "".join(
                str(one.value) if isinstance(one, ast.Constant) else "X" for one in node.values
            )
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if text and node not in inner | docs:
            yield node.value


def test_whatever_is_said_of_an_option_is_said_to_a_tool_in_words_of_arguments():
    """Errors are worded for the command line, and a new one must not speak of options to agents."""
    modules = (change, claims, evidence, memory, fields, links, archive, actions, ledger, errors)
    for module in (*modules, workspace, places):
        for said in said_in(module):
            plain = QUOTED.sub("", ALL.of_tools(said))
            if said != PART and not any(one in said for one in FOR_A_USER):
                assert not OPTION.search(plain), (module.__name__, said)


def test_a_saying_that_was_found_in_no_error_any_more_is_forgotten():
    everything = "\n".join(
        said
        for path in Path(errors.__file__).parent.rglob("*.py")
        for said in path.read_text(encoding="utf-8").split("\n")
    )
    assert [one for one in FOR_A_USER if one not in everything] == []
