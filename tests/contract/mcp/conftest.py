"""Clients of the official SDK and bare lines.

They are connected to the inside of the server where its process is not what is tested, and to the
server as installed where it is.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from contextspindle import make_workspace
from contextspindle.mcp_server import stdio
from contextspindle.mcp_server.client import Client as Seat
from contextspindle.mcp_server.server import Service
from contextspindle.mcp_server.tools import chosen

ERAS = ("legacy", "auto")
"""The handshake of 2025-11-25 and before, and the envelope of 2026-07-28."""
CODE = re.compile(r"\[([A-Z_]{4,})\]")


class Said:
    """What a tool answered."""

    def __init__(self, result: types.CallToolResult) -> None:
        self.result = result
        self.parts = [one.text for one in result.content]
        self.text = self.parts[0] if self.parts else ""
        self.error = bool(result.is_error)
        found = CODE.findall(self.text)
        self.code = found[-1] if self.error and found else ""

    @property
    def task(self) -> str:
        """The task that it speaks of first."""
        return self.text.split()[0]


class Connected:
    """A client, with the tools' names cut short."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, name: str, **given: Any) -> Said:
        return Said(await self.client.call_tool(f"contextspindle_{name}", given))


def run(talk: Callable[[], Awaitable[Any]]) -> Any:
    """Run a talk; what fails in it is raised itself, and not the groups around it."""
    try:
        return anyio.run(talk)
    except BaseExceptionGroup as group:
        found: BaseException = group
        while isinstance(found, BaseExceptionGroup):
            found = found.exceptions[0]
        raise found from None


Talk = Callable[[Connected], Awaitable[Any]]


@pytest.fixture
def project(command):
    """The command, in a folder with a workspace."""
    make_workspace(str(command.folder))
    return command


@pytest.fixture
def inside(project, monkeypatch):
    """A function that talks to the server in this process, which runs in the project's folder."""

    def talk_to(
        talk: Talk,
        *,
        mode: str = "legacy",
        which: str = "all",
        resources: bool = False,
        named: str = "",
        cwd: Path | str = "",
        env: dict[str, str] | None = None,
        **more: Any,
    ) -> Any:
        async def talked() -> Any:
            with monkeypatch.context() as around:
                around.chdir(cwd or project.folder)
                for name, value in (env or {}).items():
                    around.setenv(name, value)
                seat = Seat(named)
                server = Service(lambda _ctx: seat, chosen(which), resources=resources).server()
                async with Client(server, mode=mode, **more) as client:
                    return await talk(Connected(client))

        return run(talked)

    return talk_to


@pytest.fixture
def spoken(project):
    """A function that talks to the installed server over its standard input and output."""

    def talk_to(
        talk: Talk,
        *words: str,
        mode: str = "legacy",
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        **more: Any,
    ) -> Any:
        parameters = StdioServerParameters(
            command=project.path,
            args=["mcp", *words],
            cwd=cwd or project.folder,
            env={**project.environment, **(env or {})},
        )

        async def talked() -> Any:
            with open(os.devnull, "w") as nowhere:
                line = stdio_client(parameters, errlog=nowhere)
                async with Client(line, mode=mode, **more) as client:
                    return await talk(Connected(client))

        return run(talked)

    return talk_to


class Line:
    """A server, spoken to in lines."""

    def __init__(self, sending: Any, hearing: Any) -> None:
        self.sending = sending
        self.hearing = hearing

    def send(self, *messages: Any) -> None:
        """Write messages; bytes go as they are."""
        for one in messages:
            raw = one if isinstance(one, bytes) else json.dumps(one).encode()
            self.sending.write(raw + b"\n")
        self.sending.flush()

    def read(self) -> Any:
        """The next message."""
        return json.loads(self.hearing.readline())

    def greet(self) -> Any:
        """The handshake; what the server said."""
        self.send(HELLO)
        answer = self.read()
        self.send(READY)
        return answer

    def call(self, number: Any, name: str, **given: Any) -> None:
        """Ask for a tool, and do not wait."""
        self.send(asking(number, name, **given))

    def rest(self) -> list[Any]:
        """End the input; every message until the end of the output."""
        self.sending.close()
        return [json.loads(line) for line in self.hearing]


class Process(Line):
    """The installed server, spoken to in lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(process.stdin, process.stdout)
        self.process = process

    def rest(self) -> list[Any]:
        out, _ = self.process.communicate(timeout=60)
        return [json.loads(line) for line in out.splitlines()]


HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def asking(number: Any, name: str, **given: Any) -> dict[str, Any]:
    """A request for a tool."""
    params = {"name": f"contextspindle_{name}", "arguments": given}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.fixture
def line(project, monkeypatch):
    """A function that serves, in a thread of this process, a client that speaks through pipes."""
    monkeypatch.chdir(project.folder)
    ended = []

    def start(which: str = "all", *, seat: Seat | None = None) -> Line:
        seat = seat or Seat()
        service = Service(lambda _ctx: seat, chosen(which))
        (inward, sending), (hearing, outward) = os.pipe(), os.pipe()

        def serve() -> None:
            try:
                anyio.run(stdio.talk, service, inward, outward)
            finally:
                os.close(outward)
                os.close(inward)

        thread = threading.Thread(target=serve)
        thread.start()
        made = Line(os.fdopen(sending, "wb"), os.fdopen(hearing, "rb"))
        ended.append((thread, made))
        return made

    yield start
    for thread, made in ended:
        made.sending.close()
        thread.join(20)
        made.hearing.close()
        assert not thread.is_alive(), "it goes on though its input has ended"


@pytest.fixture
def process(project):
    """A function that starts the installed server with pipes for its ends."""
    started = []

    def start(*words: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> Process:
        one = subprocess.Popen(
            [project.path, "mcp", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd or project.folder,
            env={**project.environment, **(env or {})},
        )
        started.append(one)
        return Process(one)

    yield start
    for one in started:
        one.kill()
        one.communicate()
