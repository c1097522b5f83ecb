"""Over HTTP on this machine: the token, the name and the origin are asked of every request."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from contextspindle import make_workspace
from contextspindle.errors import InvalidInput
from contextspindle.mcp_server import loopback
from tests.conftest import Command

from .conftest import ERAS, HELLO, Connected, run

TOKEN = "a token of this test, long enough"


class Served:
    """A server that is running."""

    def __init__(self, process, port, token):
        self.process = process
        self.port = port
        self.token = token

    def ask(self, message=HELLO, **headers):
        """The status of one request, and what came with it."""
        given = {
            "Host": f"127.0.0.1:{self.port}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self.token}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {name: value for name, value in given.items() if value is not None}
        line.putrequest("POST", "/mcp", skip_host=True)
        body = json.dumps(message).encode()
        for name, value in {**sent, "Content-Length": str(len(body))}.items():
            line.putheader(name, value)
        line.endheaders(body)
        answer = line.getresponse()
        found = answer.status, answer.read().decode()
        line.close()
        return found


def started(command, *words, token=TOKEN):
    """The installed server over HTTP, in the command's folder."""
    process = subprocess.Popen(
        [command.path, "mcp", "--http", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=command.folder,
        env={**command.environment, **({"CONTEXTSPINDLE_MCP_TOKEN": token} if token else {})},
    )
    said = process.stderr.readline().decode()
    port = int(re.search(r":(\d+)/mcp", said)[1])
    if not token:
        token = process.stderr.readline().decode().split()[-1]
    return Served(process, port, token)


@pytest.fixture(scope="module")
def shared(command_path, tmp_path_factory):
    """The command in a project of this module, and the server there for all tests that share it."""
    folder, home = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("home")
    command = Command(command_path, folder, home)
    assert command("init").status == 0
    served = started(command)
    yield command, served
    served.process.kill()
    served.process.communicate()


@pytest.fixture
def served(shared):
    """The server that tests share."""
    return shared[1]


@pytest.fixture
def serve(project):
    """A function that starts a server of the test's own."""
    running = []

    def start(*words, **more):
        running.append(started(project, *words, **more))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.communicate()


def talked(served, talk, mode):
    async def session():
        headers = {"Authorization": f"Bearer {served.token}"}
        async with httpx2.AsyncClient(headers=headers, trust_env=False) as plain:
            line = streamable_http_client(f"http://127.0.0.1:{served.port}/mcp", http_client=plain)
            async with Client(line, mode=mode) as client:
                return await talk(Connected(client))

    return run(session)


def test_the_official_client_works_on_it_in_both_eras(shared):
    project, served = shared

    async def talk(call):
        task = (await call("task_create", goal="over http")).task
        claimed = await call("task_claim", action="claim", id=task)
        return task, claimed.text.split()[-1], await call("task_update", id=task, status="active")

    task, _, done = talked(served, talk, "legacy")
    assert not done.error
    # Since 2026-07-28 a request stands alone: the token comes with it.
    task, token, refused = talked(served, talk, "auto")
    assert refused.code == "CLAIM_HELD"

    async def carried(call):
        return await call("task_update", id=task, status="active", claim=token)

    assert not talked(served, carried, "auto").error
    assert project("task", "show", task).out.count(b"active")


def test_two_clients_hold_claims_of_their_own(served):
    async def first(call):
        task = (await call("task_create", goal="g")).task
        await call("task_claim", action="claim", id=task)

        async def second(other):
            return await other("task_update", id=task, status="blocked", blocker="b")

        return await second(call), task

    mine, task = talked(served, first, "legacy")
    assert not mine.error

    async def third(call):
        return await call("task_update", id=task, status="active")

    assert talked(served, third, "legacy").code == "CLAIM_HELD"


def test_a_request_without_the_token_is_refused(served):
    assert served.ask()[0] == 200
    assert served.ask(Authorization=f"bearer {TOKEN}")[0] == 200  # RFC 7235: whatever its case
    for wrong in (None, "Bearer x", f"Bearer{TOKEN}", TOKEN, f"Basic {TOKEN}", "Bearer "):
        assert served.ask(Authorization=wrong)[0] == 401
    assert "contextspindle" not in served.ask(Authorization=None)[1]


def test_a_request_under_another_name_or_from_a_foreign_page_is_refused(served):
    for name in ("evil.example", f"evil.example:{served.port}", "127.0.0.1", "localhost:1", None):
        assert served.ask(Host=name)[0] in (400, 403)
    for name in (f"localhost:{served.port}", f"[::1]:{served.port}"):
        assert served.ask(Host=name)[0] == 200
    for origin in ("https://evil.example", "null", f"http://evil.example:{served.port}", ""):
        assert served.ask(Origin=origin)[0] == 403
    assert served.ask(Origin=f"http://localhost:{served.port}")[0] == 200


def test_a_token_is_made_where_none_was_set_and_it_is_asked_for(serve):
    served = serve(token="")
    assert len(served.token) >= 40
    assert served.ask()[0] == 200
    assert served.ask(Authorization=f"Bearer {TOKEN}")[0] == 401


def test_it_serves_the_workspace_it_was_started_in_and_no_other(served, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    make_workspace(str(other))

    async def talk(call):
        return await call("task_inbox", workspace=str(other))

    assert talked(served, talk, "legacy").code == "WORKSPACE_REFUSED"


def test_it_ends_when_it_is_interrupted(serve):
    served = serve()

    async def talk(call):
        return await call("task_inbox")

    for mode in ERAS:
        assert not talked(served, talk, mode).error
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(timeout=30) in (0, 130)


def test_it_refuses_to_listen_beyond_this_machine_and_where_it_cannot(project, monkeypatch):
    done = project("mcp", "--http", "--host", "0.0.0.0")
    assert (done.status, done.out) == (2, b"")
    assert b"--behind-tls NAME" in done.err
    monkeypatch.chdir(project.folder)
    for host in ("0.0.0.0", "192.0.2.1", "example.org", "::", "127.0.0.1.example.org", "0"):
        with pytest.raises(InvalidInput) as refused:
            loopback.serve("", "all", host, None, "")
        assert "--behind-tls NAME" in refused.value.hint
    for port in (99_999, -1):
        with pytest.raises(InvalidInput, match="no port that can be listened at"):
            loopback.serve("", "all", "", port, "")


def test_a_port_that_is_taken_and_a_token_that_is_short_are_refused(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(InvalidInput, match="cannot be listened at"),
    ):
        loopback.serve("", "all", "", taken.getsockname()[1], "")
    monkeypatch.setenv("CONTEXTSPINDLE_MCP_TOKEN", "short")
    with pytest.raises(InvalidInput, match="20 characters"):
        loopback.serve("", "all", "", None, "")


def test_behind_tls_it_answers_to_the_public_name_over_https_only(serve):
    served = serve("--behind-tls", "Tasks.Example.org")
    given = {"Host": "tasks.example.org", "X_Forwarded_Proto": "https"}
    assert served.ask(**given)[0] == 200
    assert served.ask(**given, Origin="https://tasks.example.org")[0] == 200
    assert served.ask(**{**given, "X_Forwarded_Proto": "http"})[0] == 403
    assert served.ask(**{**given, "X_Forwarded_Proto": None})[0] == 403
    assert served.ask(X_Forwarded_Proto="https")[0] == 403
    assert served.ask(**given, Authorization=None)[0] == 401
