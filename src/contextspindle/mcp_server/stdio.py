"""Over standard input and output: one process for one client, for as long as the client lives.

The SDK keeps standard output for the protocol alone.  What it leaves to others is done here: a line
that is no JSON is answered, an ``initialize`` without a version is one, what was asked before the
input ended is still answered, and a client that was killed is noticed even where somebody else
holds its end of the pipe open.
"""

from __future__ import annotations

import os
import signal
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types.version import LATEST_HANDSHAKE_VERSION

from .client import Client
from .server import Service
from .tools import chosen

PARENT_SECONDS = 0.5
"""How often it is looked whether the client is still there."""
END_SECONDS = 1.0
"""How long a call that runs may take when there is nobody any more to answer."""
DRAIN_SECONDS = 5.0
"""How long answers are waited for when the input has ended."""

Item = SessionMessage | Exception


def serve(named: str, which: str, *, resources: bool = False) -> None:
    """Serve one client until its input ends or it is gone.

    ``named`` is the workspace given by the user, ``which`` the choice of tools, ``resources``
    whether tasks are offered as resources too.
    """
    parent = os.getppid()
    client = Client(named)
    service = Service(lambda _ctx: client, chosen(which), resources=resources)
    anyio.run(_serve, service, parent)


async def _serve(service: Service, parent: int) -> None:
    server = service.server()
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        inward, arriving = anyio.create_memory_object_stream[Item](0)
        leaving, outward = anyio.create_memory_object_stream[SessionMessage](0)
        line = _Line()
        tasks.start_soon(line.inward, read, inward, leaving.clone())
        tasks.start_soon(line.outward, outward, write)
        tasks.start_soon(_watch, parent, service)
        tasks.start_soon(_listen, service)
        await server.run(arriving, leaving, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _watch(parent: int, service: Service) -> None:
    """Ends the process when the one that started it has gone."""
    while os.getppid() == parent:
        await anyio.sleep(PARENT_SECONDS)
    await _end(service)


async def _listen(service: Service) -> None:
    """Ends the process when it is told to."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as told:
        async for _ in told:
            await _end(service)


async def _end(service: Service) -> None:
    """Leave when what runs is done, and soon in any case: what is committed is durable.

    Nothing is tidied: the thread that waits for the input cannot be woken.
    """
    with anyio.move_on_after(END_SECONDS):
        await service.idle()
    os._exit(0)


class _Line:
    """Both directions of one line, and the requests on it that have no answer yet."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._settled = anyio.Event()

    async def inward(
        self,
        source: Any,
        target: MemoryObjectSendStream[Item],
        back: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        """Pass on what the client sends; after its end, wait until all of it is answered."""
        async with target, back:
            async for item in source:
                if isinstance(item, Exception):
                    await back.send(SessionMessage(_not_read(item)))
                    continue
                message = item.message
                if isinstance(message, types.JSONRPCRequest):
                    self._open.add(str(message.id))
                    if message.method == "initialize":
                        _made_whole(message)
                elif getattr(message, "method", "") == "notifications/cancelled":
                    self._settle((message.params or {}).get("requestId"))
                await target.send(item)
            with anyio.move_on_after(DRAIN_SECONDS):
                while self._open:
                    self._settled = anyio.Event()
                    await self._settled.wait()

    async def outward(self, source: MemoryObjectReceiveStream[SessionMessage], target: Any) -> None:
        """Pass on what goes to the client."""
        async with source, target:
            async for item in source:
                await target.send(item)
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._settle(item.message.id)

    def _settle(self, request_id: object) -> None:
        self._open.discard(str(request_id))
        self._settled.set()


def _not_read(error: Exception) -> types.JSONRPCError:
    """The answer to a line that could not be read.  What it said is not repeated."""
    broken = "json_invalid" in {one["type"] for one in getattr(error, "errors", list)()}
    code, said = (
        (types.PARSE_ERROR, "The line is not JSON")
        if broken
        else (types.INVALID_REQUEST, "The line is not a message of JSON-RPC 2.0")
    )
    return types.JSONRPCError(
        jsonrpc="2.0", id=None, error=types.ErrorData(code=code, message=said)
    )


def _made_whole(message: types.JSONRPCRequest) -> None:
    """An ``initialize`` that leaves out who asks, and which version, is one for the newest."""
    params = dict(message.params or {})
    if not isinstance(params.get("protocolVersion"), str):
        params["protocolVersion"] = LATEST_HANDSHAKE_VERSION
    params.setdefault("capabilities", {})
    params.setdefault("clientInfo", {"name": "unknown", "version": ""})
    message.params = params
