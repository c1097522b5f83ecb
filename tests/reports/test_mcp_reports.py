"""What was reported of other programs' MCP servers, tried on this one: one test a report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading

import anyio
import pytest

from contextspindle import workspace
from contextspindle.core.change import Request, begin, plan_creation
from contextspindle.mcp_server import roots, stdio
from contextspindle.mcp_server.client import Client
from contextspindle.mcp_server.server import Service
from contextspindle.mcp_server.tools import chosen
from contextspindle.store.sqlite import SqliteStore
from tests.conftest import Clock, CountedIds

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "report", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
GREETING = b"".join(json.dumps(one).encode() + b"\n" for one in (HELLO, READY))


def asking(number, name, **given):
    params = {"name": f"contextspindle_{name}", "arguments": given}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def text_of(answer):
    return answer["result"]["content"][0]["text"]


@pytest.fixture
def start(project):
    """A function that starts the server with pipes."""
    started = []

    def run(*words, env=None, cwd=None, command=()):
        process = subprocess.Popen(
            [*(command or (project.path, "mcp")), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd or project.folder,
            env={**project.environment, **(env or {})},
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def raw_of(messages):
    return b"".join(
        (one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n"
        for one in (HELLO, READY, *messages)
    )


def answers_of(out):
    return {one["id"]: one for one in map(json.loads, filter(None, out.split(b"\n")))}


@pytest.fixture
def ask_process(start):
    """A function that asks a fresh process: the messages in order; what was answered, by number."""

    def asked(*messages, **more):
        process = start(**more)
        out, _ = process.communicate(raw_of(messages), timeout=120)
        assert process.returncode == 0
        return answers_of(out)

    return asked


@pytest.fixture
def ask(project, monkeypatch, tmp_path_factory):
    """The same, of a server in this process, where the process is not what the report is about."""

    def asked(*messages, cwd=None, env=None, which="all", greeting=True):
        place = tmp_path_factory.mktemp("line")
        (place / "in").write_bytes(
            raw_of(messages) if greeting else raw_of(messages)[len(GREETING) :]
        )
        with monkeypatch.context() as around:
            around.chdir(cwd or project.folder)
            for name, value in (env or {}).items():
                around.setenv(name, value)
            client = Client()
            service = Service(lambda _ctx: client, chosen(which))
            with (place / "in").open("rb") as source, (place / "out").open("wb") as target:
                anyio.run(stdio.talk, service, source.fileno(), target.fileno())
        return answers_of((place / "out").read_bytes())

    return asked


@pytest.fixture
def tools(ask):
    """The tools as a client lists them."""
    answer = ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    return answer[1]["result"]["tools"]


def words_of(schema):
    if isinstance(schema, dict):
        for name, value in schema.items():
            yield name, value
            if name == "properties":
                for one in value.values():
                    yield from words_of(one)
            elif name != "required":
                yield from words_of(value)


def test_ld04_two_servers_on_one_ledger_and_a_command_lose_nothing(start, project, sound):
    servers = [start() for _ in range(2)]
    for server in servers:
        for number, message in enumerate((HELLO, READY)):
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            if not number:
                server.stdout.readline()
    task = project("task", "create", "shared", "--quiet").out.decode().strip()

    def write(server, name):
        for number in range(20):
            note = asking(number, "task_update", id=task, notes=[f"{name} {number}"])
            server.stdin.write(json.dumps(note).encode() + b"\n")
        server.stdin.flush()
        for _ in range(20):
            assert not json.loads(server.stdout.readline())["result"].get("isError")

    threads = [
        threading.Thread(target=write, args=(server, f"s{at}")) for at, server in enumerate(servers)
    ]
    for one in threads:
        one.start()
    for number in range(10):
        assert project("task", "update", task, "--note", f"c {number}").status == 0
    for one in threads:
        one.join()
    notes = {one["text"] for one in project("task", "show", task, "--json").data["notes"]}
    wanted = {f"{name} {number}" for name in ("s0", "s1") for number in range(20)}
    assert notes == wanted | {f"c {number}" for number in range(10)}
    sound()


def test_mc01_nothing_but_the_protocol_is_on_standard_output(ask_process, project):
    (project.folder / ".contextspindle" / "config.json").write_text('{"gone": 1}')
    odd = {"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1", "CONTEXTSPINDLE_DEBUG": "1"}
    answers = ask_process(asking(1, "task_inbox"), asking(2, "nothing"), env=odd)
    assert "'gone' is not a setting" in text_of(answers[1])
    assert answers[2]["error"]["code"] == -32602


def test_mc03_schemas_share_no_definitions_and_offer_no_alternatives(tools):
    for tool in tools:
        for name, value in words_of(tool["inputSchema"]):
            assert name in ("type", "properties", "required", "description", "items", "enum")
            if name == "type":
                assert value in ("object", "string", "integer", "boolean", "array")


def test_mc04_no_keyword_that_makes_a_model_silent_is_in_a_schema(tools):
    found = {name for tool in tools for name, _ in words_of(tool["inputSchema"])}
    assert found.isdisjoint(
        "additionalProperties exclusiveMinimum exclusiveMaximum minimum maximum const default"
        " format propertyNames pattern nullable $schema".split()
    )
    assert all(
        isinstance(value, str)
        for tool in tools
        for name, value in words_of(tool["inputSchema"])
        if name == "type"
    )


def test_mc05_numbers_and_switches_as_texts_are_understood(ask):
    answers = ask(
        asking(1, "task_list", limit="5"),
        asking(2, "task_verify", deep="false"),
        asking(3, "task_verify", deep="0"),
        asking(4, "task_list", limit="abc"),
        asking(5, "task_list", limit="1.5"),
    )
    assert not answers[1]["result"].get("isError")
    for number in (2, 3):
        assert "every digest checked" in text_of(answers[number])
    for number in (4, 5):
        assert answers[number]["result"]["isError"]
        assert "limit must be a whole number" in text_of(answers[number])


def test_mc06_lists_as_texts_are_understood(ask, project):
    answers = ask(
        asking(1, "task_create", goal="one", labels='["a","b"]'),
        asking(2, "task_create", goal="two", labels="a", dependencies=""),
    )
    shown = {}
    for number in (1, 2):
        task = text_of(answers[number]).split()[0]
        shown[number] = project("task", "show", task, "--json").data
    assert shown[1]["labels"] == ["a", "b"]
    assert (shown[2]["labels"], shown[2]["dependencies"]) == (["a"], [])


def test_mc08_cancelling_at_any_moment_leaves_the_server_alive(ask):
    def cancel(number):
        return {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": number},
        }

    slow = [asking(number, "task_verify", deep=True) for number in range(1, 20)]
    mixed = [one for call in slow for one in (call, cancel(call["id"]), cancel(call["id"]))]
    answers = ask(cancel(1), *mixed, cancel("unknown"), asking(99, "task_inbox"))
    assert "Nothing is live" in text_of(answers[99])


def test_mc10_a_list_of_two_thousand_long_tasks_is_short_by_default(ask, project, ledger):
    store = SqliteStore(str(ledger))
    clock, ids = Clock(), CountedIds()
    with store.write() as txn:  # all at once: each creation alone would sync the disk
        for number in range(2_000):
            long = {"goal": f"{number} " + "g" * 300, "next": "n" * 300}
            asked = Request(set=long, notes=("b" * 2_000,))
            made = plan_creation(ids(), asked, actor="a", now=clock(), look=txn.brief)
            txn.record(begin(made), made)
    store.close()
    answers = ask(*(asking(at, name) for at, name in ((1, "task_list"), (2, "task_inbox"))))
    for number in (1, 2):
        assert len(json.dumps(answers[number]).encode()) < 8_000
        assert re.search(r"of 2000; more with offset: \d+", text_of(answers[number]))


def test_mc12_a_task_of_the_largest_size_is_cut_with_a_way_to_read_on(ask, project):
    notes = tuple("n" * 65_000 for _ in range(30))
    ledger = workspace.find(start=str(project.folder)).ledger()
    task = ledger.create(Request(set={"goal": "large"}, notes=notes)).task.id
    answers = ask(
        asking(1, "task_show", id=task),
        asking(2, "task_context", id=task),
        asking(3, "task_context", id=task, budget=1_000_000),
    )
    for number in (1, 2, 3):
        assert len(json.dumps(answers[number]).encode()) <= 20_000
    note = answers[1]["result"]["content"][1]["text"]
    assert re.search(r"bytes 1 to [\d,]+ of 1,95\d,\d+; for the rest call again with cursor", note)
    assert "omitted: " in text_of(answers[2])


def test_mc13_definitions_are_small_and_there_is_a_smaller_choice(tools, ask):
    shown = [{k: one[k] for k in ("name", "description", "inputSchema")} for one in tools]
    assert len(json.dumps(shown, separators=(",", ":"))) < 9_000
    few = ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, which="few")[1]["result"][
        "tools"
    ]
    shown = [{k: one[k] for k in ("name", "description", "inputSchema")} for one in few]
    assert len(few) <= 12
    assert len(json.dumps(shown, separators=(",", ":"))) < 6_000


def test_mc14_names_stay_short_behind_the_longest_prefix(tools):
    for tool in tools:
        # In a plugin that is called as we are, the server's own name has to be the short one.
        for prefix in ("mcp__contextspindle__", "mcp__plugin_contextspindle_spindle__"):
            assert len(prefix + tool["name"]) <= 64


def test_mc15_names_hold_letters_digits_and_underscores_only(tools):
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool["name"]) for tool in tools)


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2019-01-01", "2025-11-25"),
        (None, "2025-11-25"),
    ],
)
def test_mc16_the_version_is_the_one_asked_for_else_our_newest(ask, asked, given):
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "x"}}
    hello = {**HELLO, "params": {k: v for k, v in params.items() if v}}
    if asked:
        hello["params"]["clientInfo"]["version"] = "1"
    else:
        del hello["params"]["clientInfo"]
    answers = ask(hello, greeting=False)
    assert answers[0]["result"]["protocolVersion"] == given


def test_mc18_it_ends_with_its_input_and_leaves_no_lock(start, project):
    process = start()
    out, _ = process.communicate(
        b"".join(json.dumps(one).encode() + b"\n" for one in (HELLO, READY)), timeout=60
    )
    assert process.returncode == 0
    assert len(out.splitlines()) == 1
    assert project("task", "create", "after it").status == 0


def test_mc20_no_tool_promises_a_form_that_its_answer_lacks(tools, ask):
    assert [tool["name"] for tool in tools if "outputSchema" in tool] == []
    answers = ask(asking(1, "task_inbox"))
    assert "structuredContent" not in answers[1]["result"]


def test_mc21_errors_are_readable_texts_and_nothing_beside_them(ask, create):
    task = create("g")
    answers = ask(
        asking(1, "task_show", id="t-00000000"),
        asking(2, "task_update", id=task, status="done"),
        asking(3, "task_update", id=task, notes=["n"], expected_version=9),
        asking(4, "task_context", id=task, budget=1),
        asking(5, "task_create", goal=""),
    )
    codes = ["TASK_NOT_FOUND", "DONE_REFUSED", "VERSION_CONFLICT", "INVALID_INPUT", "INVALID_INPUT"]
    for number, code in enumerate(codes, 1):
        result = answers[number]["result"]
        assert set(result) == {"content", "isError"}
        assert result["isError"]
        assert f"[{code}]" in result["content"][0]["text"]


def test_mc22_a_start_loads_nothing_that_standard_input_does_not_need(project):
    """How long it takes is measured in the benchmarks."""
    loaded = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import contextspindle.mcp_server.stdio, sys; print(*sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
        env=project.environment,
    ).stdout.split()
    assert "mcp.server.lowlevel" in loaded
    assert {"contextspindle.cli", "contextspindle.mcp_server.loopback"}.isdisjoint(loaded)


def test_mc23_the_project_is_that_of_the_call_and_none_is_made_in_passing(ask, home, project):
    for folder in (home, "/"):
        answers = ask(asking(1, "task_create", goal="g"), cwd=folder)
        assert "[WORKSPACE_NOT_FOUND]" in text_of(answers[1])
        assert not os.path.exists(os.path.join(folder, ".contextspindle"))
    named = {"CONTEXTSPINDLE_WORKSPACE": str(project.folder)}
    answers = ask(asking(1, "task_create", goal="g"), cwd=home, env=named)
    assert "created" in text_of(answers[1])
    assert project("task", "inbox", "--json").data["total"] == 1


def test_mc23_what_a_slow_client_asks_for_is_not_done_where_it_was_launched(
    project, place, monkeypatch
):
    """Its folders come late: until then nothing is written, and then in the right project."""
    monkeypatch.setattr(roots, "ROOTS_SECONDS", 0.1)
    monkeypatch.chdir(project.folder)
    other = place("other")
    seat = Client()
    service = Service(lambda _ctx: seat, chosen("all"))
    (inward, sending), (hearing, outward) = os.pipe(), os.pipe()
    server = threading.Thread(target=anyio.run, args=(stdio.talk, service, inward, outward))
    server.start()

    def send(*messages):
        for one in messages:
            os.write(sending, json.dumps(one).encode() + b"\n")

    with open(hearing, "rb") as heard:

        def read():
            return json.loads(heard.readline())

        able = {**HELLO["params"], "capabilities": {"roots": {"listChanged": True}}}
        send({**HELLO, "params": able}, READY)
        assert read()["id"] == 0
        send(asking(1, "task_create", goal="g"))
        question = read()
        assert question["method"] == "roots/list"
        assert "[WORKSPACE_REFUSED]" in text_of(read())
        said = {"roots": [{"uri": other.as_uri()}]}
        send({"jsonrpc": "2.0", "id": question["id"], "result": said})
        send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        assert read()["id"] == 2
        send(asking(3, "task_create", goal="g"))
        assert "created" in text_of(read())
        os.close(sending)
        server.join(20)
    os.close(inward)
    os.close(outward)
    totals = [project("task", "inbox", "--json", cwd=at).data["total"] for at in (None, other)]
    assert totals == [0, 1]


def test_mc24_text_is_utf_8_whatever_the_locale_and_bad_bytes_are_answered(ask_process, project):
    goal = "Việt 中文 🧵"
    raw = json.dumps(asking(1, "task_create", goal=goal), ensure_ascii=False).encode()
    env = {"PYTHONIOENCODING": "cp1252", "LC_ALL": "C"}
    answers = ask_process(raw, b"\xff\xfe\xfd", env=env)
    task = text_of(answers[1]).split()[0]
    assert project("task", "show", task, "--json").data["goal"] == goal
    assert answers[None]["error"]["code"] == -32700


def test_se10_a_path_outside_of_the_project_is_refused(ask, place):
    other = place("other")
    answers = ask(
        asking(1, "task_inbox", workspace=str(other)),
        asking(2, "task_backup", folder=str(other / "copy")),
        asking(3, "task_inbox", workspace="../other"),
    )
    for number in (1, 2, 3):
        assert "[WORKSPACE_REFUSED]" in text_of(answers[number])
    assert not (other / "copy").exists()
