"""The tools as a client lists them: few tokens, schemas for every client, honest hints."""

from __future__ import annotations

import json
import re
import warnings

import pytest

from contextspindle.cli import table
from contextspindle.mcp_server import calls
from contextspindle.mcp_server.shape import KINDS
from contextspindle.mcp_server.tools import FEW, TOOLS, WITHOUT_TOOL, chosen, instructions

TOKENS = 2_500
KEYWORDS = {"type", "properties", "required", "description", "items", "enum"}
PLAIN = {"object", "string", "integer", "boolean", "array"}


@pytest.fixture
def listed(inside):
    async def talk(call):
        return (await call.client.list_tools()).tools

    return inside(talk)


def test_every_tool_of_the_table_is_listed_with_a_description(listed):
    assert [one.name for one in listed] == [tool.name for tool in TOOLS]
    assert all(one.description and one.description.endswith(".") for one in listed)


def vocabulary():
    """The tokens of cl100k; their package opens its own file in a way that is being given up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai
    return bpe_openai.get_encoding("cl100k_base")


def test_all_definitions_together_cost_at_most_2500_tokens(listed):
    encoding = vocabulary()
    cost = 0
    for one in listed:
        shown = {
            "name": one.name,
            "description": one.description,
            "inputSchema": one.input_schema,
        }
        cost += len(encoding.encode(json.dumps(shown, separators=(",", ":"))))
    assert cost <= TOKENS
    assert len(encoding.encode(instructions(TOOLS))) <= 120


def words_of(schema):
    """Every keyword of a schema, with the types that it uses."""
    for name, value in schema.items():
        yield name, value
        if name == "properties":
            for one in value.values():
                yield from words_of(one)
        elif name == "items":
            yield from words_of(value)


def test_schemas_are_flat_and_of_plain_types(listed):
    for one in listed:
        assert one.input_schema["type"] == "object"
        for name, value in words_of(one.input_schema):
            assert name in KEYWORDS
            assert name != "type" or value in PLAIN
        for value in one.input_schema["properties"].values():
            assert value["type"] != "object"
            assert value["type"] != "array" or value["items"] == {"type": "string"}


def test_no_tool_declares_a_form_of_its_answer(listed):
    assert [one.name for one in listed if one.output_schema is not None] == []


def test_hints_tell_reads_from_writes_and_none_reaches_the_open_world(listed):
    hints = {one.name.removeprefix("contextspindle_"): one.annotations for one in listed}
    writes = {name for name, hint in hints.items() if not hint.read_only_hint}
    assert writes == {
        *("task_create", "task_update", "task_claim", "task_backup", "task_restore", "remember"),
    }
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {
        *("task_update", "task_restore"),
    }
    assert all(hint.idempotent_hint for name, hint in hints.items() if name not in writes)
    assert not any(hint.open_world_hint for hint in hints.values())


def test_a_tool_that_says_it_reads_writes_nothing(inside, project):
    """Each is called on a ledger whose files are then looked at."""

    async def made(call):
        return (await call("task_create", goal="a", criteria=["c"])).task

    task = inside(made)
    folder = project.folder / ".contextspindle"
    given = {"id": task, "query": "a"}

    def state():
        assert project("verify", "--deep").status == 0
        return project("export", "-").out, sorted(path.name for path in folder.rglob("*"))

    assert project("remember", "how we ship").status == 0
    before = state()

    async def talk(call):
        for tool in TOOLS:
            if tool.reads:
                needed = {one.name: given[one.name] for one in tool.arguments if one.required}
                needed |= {"query": given["query"]} if tool.name.endswith("recall") else {}
                said = await call(tool.name.removeprefix("contextspindle_"), **needed)
                assert not said.error, said.text

    inside(talk)
    assert state() == before


def test_fewer_tools_are_offered_when_asked_for(inside):
    async def names(call):
        return [one.name for one in (await call.client.list_tools()).tools]

    assert inside(names, which="few") == [tool.name for tool in TOOLS if tool.name in FEW]
    assert inside(names, which="read") == [tool.name for tool in TOOLS if tool.reads]

    async def refused(call):
        with pytest.raises(Exception, match="There is no tool"):
            await call("task_create", goal="a")

    inside(refused, which="read")


@pytest.mark.parametrize("which", ["all", "few", "read"])
def test_nothing_is_said_of_a_tool_that_is_not_offered(inside, which):
    offered = {one.name for one in chosen(which)}

    def check(said):
        assert set(re.findall(r"contextspindle_\w+", said)) <= offered, said

    async def talk(call):
        check(call.client.instructions)
        assert "contextspindle_handoff" in call.client.instructions
        for name, given in (
            ("handoff", {}),
            ("task_inbox", {}),
            ("task_show", {"id": "t-00000000"}),
            ("task_show", {"id": "?"}),
            ("task_claim", {"action": "next"}),
            ("task_update", {"id": "t-00000000", "evidence": ["e"], "criterion": 7}),
        ):
            if f"contextspindle_{name}" in offered:
                check((await call(name, **given)).text)

    inside(talk, which=which)


@pytest.mark.parametrize(
    ("which", "name", "meant"),
    [
        ("all", "contextspindle_context", "contextspindle_task_context"),
        ("all", "task_shows", "contextspindle_task_show"),
        ("all", "task-update", "contextspindle_task_update"),
        ("all", "contextspindle_task_updat", "contextspindle_task_update"),
        ("all", "contextspindle_task_delete", ""),
        ("all", "contextspindle_task_claimed", ""),
        ("all", "contextspindle_remembered", ""),
        ("all", "contextspindle_task_get", ""),
        ("all", "task", ""),
        ("few", "contextspindle_task_list", ""),
        ("read", "contextspindle_task_create", ""),
    ],
)
def test_a_name_that_is_no_tool_is_taken_for_one_only_where_it_is_like_it(
    inside, which, name, meant
):
    async def talk(call):
        with pytest.raises(Exception, match="There is no tool") as raised:
            await call.client.call_tool(name, {})
        said = str(raised.value)
        assert said.partition("did you mean ")[2].rstrip("?") == meant
        assert ("offer fewer" in said) == (which != "all")

    inside(talk, which=which)


def test_the_prompt_and_the_resources_say_what_the_tools_say(inside):
    async def talk(call):
        task = (await call("task_create", goal="Ship it")).task
        client = call.client
        shown = (await client.read_resource(f"contextspindle://task/{task}")).contents[0].text
        assert shown == (await call("task_show", id=task)).text
        history = await client.read_resource(f"contextspindle://task/{task}/history")
        assert history.contents[0].text == (await call("task_history", id=task)).text
        listed = (await client.list_resources()).resources
        assert [(str(one.uri), one.title) for one in listed] == [
            (f"contextspindle://task/{task}", "Ship it")
        ]
        assert len((await client.list_resource_templates()).resource_templates) == 2
        (prompt,) = (await client.list_prompts()).prompts
        said = (await client.get_prompt(prompt.name)).messages[0].content.text
        assert (await call("handoff")).text in said
        with pytest.raises(Exception, match="TASK_NOT_FOUND"):
            await client.read_resource("contextspindle://task/t-00000000")
        with pytest.raises(Exception, match="There is no resource"):
            await client.read_resource("contextspindle://else")

    inside(talk, resources=True)


def test_resources_are_offered_only_when_asked_for(inside):
    async def offered(call):
        found = call.client.server_capabilities
        return found.resources is not None, found.prompts is not None

    assert inside(offered) == (False, True)
    assert inside(offered, resources=True) == (True, True)


def test_every_command_has_a_tool_or_a_reason_why_not():
    done = {tool.command for tool in TOOLS}
    commands = {one.words for one in table.COMMANDS}
    assert done <= commands
    assert done.isdisjoint(WITHOUT_TOOL)
    assert done | WITHOUT_TOOL.keys() == commands
    assert all(WITHOUT_TOOL.values())


def test_every_tool_has_its_function_and_arguments_of_known_kinds():
    for tool in TOOLS:
        assert callable(getattr(calls, tool.function))
        names = [one.name for one in tool.arguments]
        assert len(set(names)) == len(names)
        assert {one.kind for one in tool.arguments} <= {*KINDS}
    assert len(chosen("all")) == len(TOOLS)
