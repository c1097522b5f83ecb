"""One client on one line: pure output, UTF-8, cancellation, and an end when the client goes.

What is about the process is tried on the installed one; all else in this one, through pipes.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sqlite3
import subprocess
import sys
import threading

import anyio
import pytest

from contextspindle.mcp_server import stdio
from contextspindle.mcp_server.client import Client as Seat
from contextspindle.mcp_server.server import Service
from contextspindle.mcp_server.tools import chosen

from .conftest import HELLO, READY, asking

STARTED_BY_ANOTHER = """
import os, subprocess, sys
child = subprocess.Popen(
    sys.argv[1:], stdin=os.dup(0), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
)
print(child.pid, flush=True)
print(child.stdout.readline().decode(), end="", flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_was_asked_before_the_end_of_the_input_is_answered(process):
    server = process()
    server.send(HELLO, READY, *(asking(n, "task_create", goal=f"g{n}") for n in range(1, 30)))
    answers = {one["id"]: one for one in server.rest()}
    assert set(answers) == set(range(30))
    assert all(not one["result"].get("isError") for one in answers.values())
    assert server.process.returncode == 0


def test_it_ends_when_its_parent_was_killed_though_the_input_stays_open(project):
    """Somebody else holds the other end of the pipe, so no end of input ever comes."""
    reading, writing = os.pipe()
    os.write(writing, json.dumps(HELLO).encode() + b"\n")
    parent = subprocess.run(
        [sys.executable, "-c", STARTED_BY_ANOTHER, project.path, "mcp"],
        stdin=reading,
        capture_output=True,
        cwd=project.folder,
        env=project.environment,
        timeout=60,
    )
    assert parent.returncode == -signal.SIGKILL
    number, answer = parent.stdout.decode().split("\n")[:2]
    assert json.loads(answer)["id"] == 0
    if os.path.exists(f"/proc/{number}"):
        handle = os.pidfd_open(int(number))
        assert select.select([handle], [], [], 20)[0], "it is still there"
        os.close(handle)
    os.close(writing)
    os.close(reading)


def test_it_ends_when_it_is_told_to_though_the_input_stays_open(process):
    told = {signal.SIGINT: process(), signal.SIGTERM: process()}
    for how, server in told.items():
        server.greet()
        server.call(1, "task_create", goal="a")
        assert server.read()["id"] == 1
        server.process.send_signal(how)
    assert [server.process.wait(timeout=20) for server in told.values()] == [0, 0]


NOISY = """
import os, sys
from contextspindle.mcp_server import stdio
heard = []
def noise(event, arguments):
    if event == "sqlite3.connect" and not heard:
        heard.append(event)
        os.write(1, b"noise\\n")
        print("more of it", flush=True)
sys.addaudithook(noise)
stdio.serve("", "all")
"""


def test_what_is_printed_in_the_middle_of_a_call_is_kept_from_the_protocol(project):
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in (HELLO, READY, asking(1, "stats")))
    done = subprocess.run(
        [sys.executable, "-c", NOISY],
        input=lines.replace(b"contextspindle_stats", b"contextspindle_task_inbox"),
        capture_output=True,
        cwd=project.folder,
        env=project.environment,
        timeout=60,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1]
    assert b"noise\nmore of it\n" in done.stderr


def test_every_line_is_of_the_protocol_and_of_utf_8_whatever_is_set(process):
    goal = "Việt nam, 中文字, 日本語, 🧵 e\u0301"
    odd = {"PYTHONWARNINGS": "always", "PYTHONVERBOSE": "1", "PYTHONDEVMODE": "1"}
    server = process(env={**odd, "LC_ALL": "C", "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"})
    server.greet()
    server.send(json.dumps(asking(1, "task_create", goal=goal), ensure_ascii=False).encode())
    task = text_of(server.read()).split()[0]
    server.call(2, "task_show", id=task)
    assert f"goal: {goal}\n" in text_of(server.read())
    server.call(3, "task_show", id="?")
    assert {one["jsonrpc"] for one in server.rest()} == {"2.0"}


def test_a_client_that_reads_no_more_is_given_up_and_the_server_ends(line):
    server = line()
    server.greet()
    server.hearing.close()
    server.send(asking(1, "task_create", goal="written all the same"), b"no json")
    server.send(b"no json", {"jsonrpc": "2.0", "id": 2, "method": "ping"})


def test_without_standard_output_it_says_so_and_without_input_it_ends(project):
    def run(closed):
        return subprocess.run(
            ["sh", "-c", f'exec "$1" mcp {closed}', "sh", project.path],
            capture_output=True,
            cwd=project.folder,
            env=project.environment,
            timeout=60,
        )

    nobody = run(">&-")
    assert (nobody.returncode, b"Nobody can be answered" in nobody.stderr) == (2, True)
    silent = run("<&-")
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, b"", b"")


def test_a_message_may_come_in_pieces_in_company_and_without_an_end(line):
    server = line()
    server.greet()
    raw = json.dumps(asking(1, "task_create", goal="中 in pieces"), ensure_ascii=False).encode()
    for at in range(0, len(raw), 20):
        server.sending.write(raw[at : at + 20])
        server.sending.flush()
    server.send(b"")
    assert server.read()["id"] == 1
    server.send(b"", b"  \r", json.dumps(asking(2, "task_inbox")).encode() + b"\r", b"")
    assert "中 in pieces" in text_of(server.read())
    many = b"\n".join(json.dumps(asking(n, "task_inbox")).encode() for n in range(3, 40))
    server.sending.write(many)  # and no line feed after the last one
    assert sorted(one["id"] for one in server.rest()) == [*range(3, 40)]


def test_the_input_may_be_a_file_and_the_output_too(project, monkeypatch, tmp_path):
    monkeypatch.chdir(project.folder)
    seat = Seat()
    asked, told = tmp_path / "asked", tmp_path / "told"
    lines = (HELLO, READY, asking(1, "task_create", goal="from a file"))
    asked.write_text("".join(json.dumps(one) + "\n" for one in lines))
    with asked.open() as source, told.open("w") as target:
        service = Service(lambda _ctx: seat, chosen("all"))
        anyio.run(stdio.talk, service, source.fileno(), target.fileno())
    assert [json.loads(one)["id"] for one in told.read_text().splitlines()] == [0, 1]


def test_its_ends_may_have_numbers_beyond_a_thousand(line, project):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < 1_500:
        pytest.skip("no more than 1,500 files can be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1_500), hard))
    taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    try:
        server = line()
        server.greet()
        server.send(json.dumps(asking(1, "task_create", goal="beyond a thousand")).encode())
        assert "created" in text_of(server.read())
    finally:
        for one in taken:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Noticed(Seat):
    """A client whose writes can be waited for."""

    def __init__(self):
        super().__init__()
        self.writes = threading.Semaphore(0)

    def copy_daily(self):
        super().copy_daily()
        self.writes.release()


def test_a_client_that_reads_late_gets_all_of_it_and_the_loop_goes_on_meanwhile(line, project):
    """What the pipe cannot take waits beside the loop, which goes on doing what is asked."""
    seat = Noticed()
    server = line(seat=seat)
    server.greet()
    server.call(1, "task_create", goal="g", notes=["n" * 60_000])
    task = text_of(server.read()).split()[0]
    for number in range(2, 12):  # more than a pipe holds
        server.call(number, "task_show", id=task)
    server.call(12, "task_create", goal="asked for behind them")
    for _ in range(12):
        assert seat.writes.acquire(timeout=20), "it waits for its client to read"
    answers = server.rest()
    assert sorted(one["id"] for one in answers) == [*range(2, 13)]
    assert all(len(text_of(one)) > 15_000 for one in answers if one["id"] < 12)


def test_bytes_that_are_no_text_and_lines_that_are_no_json_are_answered(line):
    server = line()
    server.greet()
    server.send(b"\xff\xfe not json")
    assert server.read()["error"]["code"] == -32700
    server.send(b'{"jsonrpc": "2.0", "id": {}, "method": 5}')
    assert server.read()["error"]["code"] == -32600
    server.send(
        b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":'
        b'"contextspindle_task_create","arguments":{"goal":"broken \xff end"}}}'
    )
    task = text_of(server.read()).split()[0]
    server.call(4, "task_show", id=task)
    assert "broken \ufffd end" in text_of(server.read())


def test_half_a_character_is_replaced_and_never_sent_on(line):
    server = line()
    server.greet()
    server.send(json.dumps(asking(1, "task_create", goal="half \ud83d of 🧵 it")).encode())
    answer = server.read()
    assert answer["id"] == 1
    task = text_of(answer).split()[0]
    server.call(2, "task_show", id=task)
    assert "half \ufffd of 🧵 it" in text_of(server.read())


@pytest.mark.parametrize(
    ("line_sent", "number", "code"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"x","params":["\\ud83d"]}', 7, -32600),
        (b'{"jsonrpc":"2.0","id":"\\ud83d","method":5}', "\ufffd", -32600),
        (b'{"jsonrpc":"2.0","id":8,"method":"x","params":%b}', 8, -32700),
        (b'{"jsonrpc":"2.0","id":9,"result":5}', None, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":5}', None, -32600),
        (b'{"jsonrpc":"2.0","id":10,"method":', None, -32700),
    ],
)
def test_what_cannot_be_read_is_answered_under_its_id_where_there_is_one(
    line, line_sent, number, code
):
    nested = b'{"a":' * 300 + b"1" + b"}" * 300  # deeper than the reader goes
    server = line()
    server.greet()
    server.send(line_sent % nested if b"%b" in line_sent else line_sent)
    answer = server.read()
    assert (answer["id"], answer["error"]["code"]) == (number, code)
    server.send({"jsonrpc": "2.0", "id": 11, "method": "ping"})
    assert server.read() == {"jsonrpc": "2.0", "id": 11, "result": {}}


def test_every_request_whose_id_can_be_told_is_answered_under_it(line):
    server = line()
    server.greet()
    ping = {"jsonrpc": "2.0", "method": "ping"}

    def asked(*messages):
        server.send(*messages)
        return server.read()

    many = b"1" * 5_000
    raw = json.dumps(asking(1, "task_create", goal="$")).encode()
    task = text_of(asked(raw.replace(b'"$"', many))).split()[0]
    assert f"goal: {many.decode()}\n" in text_of(asked(asking(2, "task_show", id=task)))
    raw = json.dumps(asking(3, "task_list", limit="$")).encode()
    refused = asked(raw.replace(b'"$"', many))
    assert refused["id"] == 3
    assert "limit must be a whole number" in text_of(refused)
    deep = b'{"params":{"a":' + b"[" * 90_000 + b"]" * 90_000 + b'},"method":"x","id":4}'
    assert asked(deep)["id"] == 4
    assert asked(deep.replace(b'"id":4', b'"id":"four"'))["id"] == "four"
    assert asked(deep.replace(b'"method":"x",', b""))["id"] is None  # nobody waits for that
    assert asked({**ping, "id": 5.0}) == {"jsonrpc": "2.0", "id": 5, "result": {}}
    fraction = asked({**ping, "id": 5.5})
    assert (fraction["id"], fraction["error"]["code"]) == (5.5, -32600)
    assert asked(b"\xef\xbb\xbf" + json.dumps({**ping, "id": 6}).encode())["id"] == 6
    assert {one["id"] for one in server.rest()} == set()


def test_a_byte_order_mark_before_the_first_line_is_passed_over(line):
    server = line()
    server.send(b"\xef\xbb\xbf" + json.dumps(HELLO).encode())
    assert server.read()["id"] == HELLO["id"]


def test_of_a_list_of_messages_each_is_answered(line):
    """The protocol of 2025-03-26 has them, and any server that speaks it takes them."""
    server = line()
    server.greet()
    ping = {"jsonrpc": "2.0", "method": "ping"}
    server.send(
        [
            {**ping, "id": 1},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
            {"jsonrpc": "2.0", "id": 2, "method": 5},
            [{**ping, "id": 3}],
            asking(4, "task_create", goal="g"),
        ],
        [],
        b'[{"jsonrpc"',
    )
    answers = server.rest()
    assert sorted(one["id"] for one in answers if one["id"]) == [1, 2, 4]
    others = [one["error"]["code"] for one in answers if one["id"] is None]
    assert others == [-32600, -32600, -32700]


@pytest.mark.parametrize("ends", [True, False])
def test_a_line_without_an_end_is_refused_passed_over_and_kept_nowhere(line, monkeypatch, ends):
    monkeypatch.setattr(stdio, "LINE_BYTES", 200_000)
    server = line()
    server.greet()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        server.sending.write(b"x" * 1_000_000)
    if ends:
        server.send(b"the end of it", {"jsonrpc": "2.0", "id": 11, "method": "ping"})
    answer, *others = server.rest()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert "is not read" in answer["error"]["message"]
    assert [one["id"] for one in others] == ([11] if ends else [])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB


def text_of(answer):
    return answer["result"]["content"][0]["text"]


def cancelling(number):
    return {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": number, "reason": "no more"},
    }


def test_a_call_cancelled_before_in_the_middle_and_after_leaves_the_server_alive(line, project):
    """In the middle: the ledger is locked by somebody else, so the call waits."""
    server = line()
    server.greet()
    server.send(cancelling(99), cancelling("none"))
    server.call(1, "task_create", goal="first")
    task = text_of(server.read()).split()[0]
    server.send(cancelling(1))
    raw = sqlite3.connect(
        project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3", isolation_level=None
    )
    raw.execute("BEGIN IMMEDIATE")
    server.call(2, "task_update", id=task, notes=["late"])
    server.call(3, "task_show", id=task)
    assert server.read()["id"] == 3  # a read waits for no writer
    server.send(cancelling(2))
    server.send({"jsonrpc": "2.0", "id": 4, "method": "ping"})
    assert server.read() == {"jsonrpc": "2.0", "id": 4, "result": {}}
    raw.execute("ROLLBACK")
    raw.close()
    server.call(5, "task_update", id=task, status="active")
    assert server.read()["id"] == 5
    assert server.rest() == []
    assert project("verify", "--deep").status == 0


def test_the_loop_answers_while_calls_wait_for_the_ledger(line, project):
    server = line()
    server.greet()
    raw = sqlite3.connect(
        project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3", isolation_level=None
    )
    raw.execute("BEGIN IMMEDIATE")
    for number in range(1, 9):  # more than there are threads
        server.call(number, "task_create", goal=f"g{number}")
    server.send({"jsonrpc": "2.0", "id": 50, "method": "ping"})
    assert server.read()["id"] == 50
    raw.execute("ROLLBACK")
    raw.close()
    answers = [server.read() for _ in range(8)]
    assert {one["id"] for one in answers} == set(range(1, 9))
    assert not any(one["result"].get("isError") for one in answers)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_the_version_that_a_client_asks_for_is_the_one_it_gets(line, version):
    server = line()
    server.send({**HELLO, "params": {**HELLO["params"], "protocolVersion": version}})
    assert server.read()["result"]["protocolVersion"] == version
    server.send(READY, asking(1, "task_inbox"))
    assert "Nothing is live" in text_of(server.read())


@pytest.mark.parametrize("params", [{"protocolVersion": "1999-01-01"}, {"protocolVersion": 7}, {}])
def test_a_client_without_a_version_we_know_gets_the_newest(line, params):
    server = line()
    server.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    if params.get("protocolVersion") == "1999-01-01":
        answer = server.read()
        assert answer["result"]["protocolVersion"] == "2025-11-25"
    else:
        assert server.read()["result"]["protocolVersion"] == "2025-11-25"
    server.send(READY, asking(1, "task_inbox"))
    assert server.read()["id"] == 1


def test_a_probe_for_what_it_does_not_serve_is_an_error_and_the_handshake_goes_on(line):
    server = line()
    server.send({"jsonrpc": "2.0", "id": "probe-1", "method": "nobody/knows"})
    assert server.read()["error"]["code"] == -32601
    assert server.greet()["result"]["serverInfo"]["name"] == "contextspindle"


def test_a_tool_that_is_not_there_is_an_error_of_the_protocol_with_the_nearest(line):
    server = line()
    server.greet()
    server.call(1, "task_serch")
    error = server.read()["error"]
    assert error["code"] == -32602
    assert "did you mean contextspindle_task_search" in error["message"]
    for number, name, near in ((2, "search", "?task_search"), (3, "task_lst", "?task_list")):
        server.call(number, name)
        meant = near.replace("?", "did you mean contextspindle_")
        assert server.read()["error"]["message"].endswith(f"{meant}?")
    server.call(4, "nothing_like_it")  # but for its beginning, which all have
    assert "did you mean" not in server.read()["error"]["message"]


def test_a_command_that_is_misspelt_says_so_on_standard_error(project):
    for words in (("--tools", "some"), ("--port", "1")):
        done = project("mcp", *words)
        assert (done.status, done.out) == (2, b"")
        assert b"[INVALID_INPUT]" in done.err


@pytest.mark.skipif(sys.platform != "linux", reason="reads sizes as Linux shows them")
def test_a_thousand_calls_leave_memory_as_it_was(process):
    server = process()
    server.greet()

    def resident():
        with open(f"/proc/{server.process.pid}/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def calls(count):
        for number in range(count):
            server.call(number, "task_inbox")
            assert server.read()["id"] == number

    calls(200)
    before = resident()
    calls(1_000)
    assert resident() - before < 3_000_000
