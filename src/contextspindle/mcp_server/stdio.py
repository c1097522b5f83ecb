"""Over standard input and output: one process for one client, for as long as the client lives.

A message is a line.  It is read and written here, without a thread in between, because to hand it
from thread to thread costs more than to read a task; nothing that may have to wait is waited for in
the loop.  A line that is no JSON is answered, and so is one that never ends; of several messages in
a list each is taken as if on a line of its own; an ``initialize`` without a version is one, what
was asked before the input ended is still answered, and a client that was killed is noticed even
where somebody else holds its end of the pipe open.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import signal
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import SessionMessage
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import ValidationError

from ..core import text
from ..errors import InvalidInput
from .client import Client
from .server import Service
from .tools import chosen

PARENT_SECONDS = 0.5
"""How often it is looked whether the client is still there."""
END_SECONDS = 1.0
"""How long a call that runs may take when there is nobody any more to answer."""
DRAIN_SECONDS = 5.0
"""How long answers are waited for when the input has ended."""
AT_ONCE = 65_536
"""The most bytes that are read at once."""
LINE_BYTES = 32 * 1024 * 1024
"""The bytes after which a line has no end: what is left of it is passed over."""

Item = SessionMessage | Exception
Id = int | float | str | None


def serve(named: str, which: str, *, resources: bool = False) -> None:
    """Serve one client until its input ends or it is gone.

    ``named`` is the workspace given by the user, ``which`` the choice of tools, ``resources``
    whether tasks are offered as resources too.
    """
    parent = os.getppid()
    client = Client(named)
    service = Service(lambda _ctx: client, chosen(which), resources=resources)
    anyio.run(_serve, service, *_taken(), parent)


def _taken() -> tuple[int, int]:
    """Standard input and output, for the protocol alone: what else is printed is a diagnosis.

    InvalidInput if there is no output.
    """
    try:
        outward = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError as error:
        raise InvalidInput(f"Nobody can be answered: standard output: {error.strerror}") from error
    nothing = os.open(os.devnull, os.O_RDWR)  # which takes the place of an input that was closed
    inward = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # no standard error
        os.dup2(nothing, 1)
    return inward, outward


async def _serve(service: Service, inward: int, outward: int, parent: int) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, parent, service)
        tasks.start_soon(_listen, service)
        await talk(service, inward, outward)
        with anyio.move_on_after(END_SECONDS):
            await service.idle()
            tasks.cancel_scope.cancel()
            return
        os._exit(0)  # a call waits for the ledger, and there is nobody any more to answer


async def talk(service: Service, inward: int, outward: int) -> None:
    """Serve the client at the other ends of two descriptors until it says no more."""
    server = service.server()
    line = _Line(inward, outward)
    await server.run(_Inward(line), _Outward(line), server.create_initialization_options())


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
    service.stop()
    with anyio.move_on_after(END_SECONDS):
        await service.idle()
    os._exit(0)


class _Line:
    """Both directions of one line, and the requests on it that have no answer yet."""

    def __init__(self, inward: int, outward: int) -> None:
        self._inward = inward
        self._outward = outward
        self._read = bytearray()
        self._apart: list[Any] = []
        """Messages that came in a list, the last of them first."""
        self._passing = False
        self._ended = False
        self._gone = False
        self._turn = anyio.Lock()
        self._open: set[str] = set()
        self._settled = anyio.Event()

    async def receive(self) -> SessionMessage:
        """What the client says next.

        EndOfStream when it says no more, and all that it asked for is answered.
        """
        while True:
            try:
                if self._apart:
                    message = _message(json.dumps(self._apart.pop()))
                else:
                    raw = await self._next_line()
                    if not raw or self._gone:
                        break
                    line = raw.decode("utf-8", "replace").removeprefix("\ufeff")
                    if line.startswith("["):
                        self._apart = _several(line)
                        continue
                    message = _message(line)
            except _NotRead as problem:
                with suppress(anyio.BrokenResourceError):
                    await self.send(SessionMessage(problem.answer))
                continue
            if isinstance(message, types.JSONRPCRequest):
                self._open.add(str(message.id))
                if message.method == "initialize":
                    _made_whole(message)
            elif (
                isinstance(message, types.JSONRPCNotification)
                and message.method == "notifications/cancelled"
            ):
                self._settle((message.params or {}).get("requestId"))
            return SessionMessage(message)
        with anyio.move_on_after(DRAIN_SECONDS):
            while self._open and not self._gone:
                self._settled = anyio.Event()
                await self._settled.wait()
        self._gone = True
        raise anyio.EndOfStream

    async def _next_line(self) -> bytes:
        """The next line that holds something; empty at the end of the input.

        _NotRead for one without an end, once; then what is left of it is passed over.
        """
        looked = 0
        while True:
            end = self._read.find(b"\n", looked)
            if end < 0 and self._ended:
                end = len(self._read)
            if end >= 0:
                found = b"" if self._passing else bytes(self._read[:end]).strip()
                self._passing = False
                del self._read[: end + 1]
                if found or (self._ended and not self._read):
                    return found
                looked = 0
                continue
            if len(self._read) > LINE_BYTES or self._passing:
                self._read.clear()
                if not self._passing:
                    self._passing = True
                    said = f"A line of more than {LINE_BYTES >> 20} MiB is not read"
                    raise _NotRead(types.INVALID_REQUEST, said)
            looked = len(self._read)
            more = await self._more()
            self._read += more
            self._ended = not more

    async def _more(self) -> bytes:
        """What has arrived, as soon as something has; empty at the end of the input."""
        while True:
            try:
                await anyio.wait_readable(self._inward)
            except PermissionError:
                pass  # a file, which never keeps anybody waiting
            try:
                return os.read(self._inward, AT_ONCE)
            except BlockingIOError:
                continue

    async def send(self, item: SessionMessage) -> None:
        """Say something to the client.

        BrokenResourceError if it listens no more.
        """
        if self._gone:
            raise anyio.BrokenResourceError
        said = item.message.model_dump_json(by_alias=True, exclude_unset=True, warnings=False)
        raw = said.encode() + b"\n"
        try:
            async with self._turn:
                while raw and _takes(self._outward, 0):
                    # So much a pipe takes without waiting, once it takes anything.
                    raw = raw[os.write(self._outward, raw[: select.PIPE_BUF]) :]
                if raw:
                    writing = partial(_write, self._outward, raw)
                    await anyio.to_thread.run_sync(writing, abandon_on_cancel=True)
        except OSError as error:
            self._gone = True
            raise anyio.BrokenResourceError from error
        finally:
            if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                self._settle(item.message.id)

    def _settle(self, request_id: object) -> None:
        self._open.discard(str(request_id))
        self._settled.set()


def _write(place: int, raw: bytes) -> None:
    """Write all of it, however long that takes."""
    while raw:
        try:
            raw = raw[os.write(place, raw) :]
        except BlockingIOError:
            _takes(place, None)


def _takes(place: int, milliseconds: int | None) -> bool:
    """Whether something can be written there, now or before that time is over (None: ever)."""
    asked = select.poll()  # not select.select(), which knows no number from 1024 on
    asked.register(place, select.POLLOUT)
    return bool(asked.poll(milliseconds))


class _End:
    """What the SDK asks of an end of a line besides its one verb."""

    def __init__(self, line: _Line) -> None:
        self._line = line

    async def aclose(self) -> None:
        """Nothing: the line ends with the process."""

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None


class _Inward(_End):
    """What comes from the client."""

    async def receive(self) -> Item:
        """The next message."""
        return await self._line.receive()

    def __aiter__(self) -> _Inward:
        return self

    async def __anext__(self) -> Item:
        try:
            return await self._line.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class _Outward(_End):
    """What goes to the client."""

    async def send(self, item: SessionMessage, /) -> None:
        """One message."""
        await self._line.send(item)


class _NotRead(Exception):
    """A line that could not be read, and the answer to it.  What it said is not repeated."""

    def __init__(self, code: int, said: str, request_id: Id = None) -> None:
        super().__init__(said)
        # Not checked: an id that is none is given back all the same, to whoever waits for it.
        self.answer = types.JSONRPCError.model_construct(
            jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=said)
        )


def _message(line: str) -> types.JSONRPCMessage:
    """The message of a line; what in it is no text, half a character too, becomes U+FFFD.

    _NotRead if it is none.
    """
    found: Any = None
    try:
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            if not isinstance(message, types.JSONRPCNotification) or '"id"' not in line:
                return message
        except ValidationError:
            pass
        # The reader refuses the escape of half a character, which other programs write, and a
        # number of thousands of digits; and it overlooks an id that is a fraction.
        found = json.loads(line, parse_int=_whole)
        if isinstance(found, dict) and isinstance(given := found.get("id"), float):
            if not given.is_integer():
                raise _NotRead(types.INVALID_REQUEST, "An id is a text or a whole number", given)
            found["id"] = int(given)
        line = text.clean(json.dumps(found, ensure_ascii=False))
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except RecursionError:
        raise _NotRead(types.PARSE_ERROR, _TOO_DEEP, _id_in(line)) from None
    except ValidationError as error:
        if any(one["type"] == "json_invalid" for one in error.errors()):
            raise _NotRead(types.PARSE_ERROR, _TOO_DEEP, _id_of(found)) from None
        said = "The line is not a message of JSON-RPC 2.0"
        raise _NotRead(types.INVALID_REQUEST, said, _id_of(found)) from None
    except ValueError:
        raise _NotRead(types.PARSE_ERROR, "The line is not JSON") from None


def _several(line: str) -> list[Any]:
    """The messages of a list, the last one first.

    The protocol of 2025-03-26 has such lists, and any server of it takes them; later ones do not.
    _NotRead if it is none.
    """
    try:
        found = json.loads(line, parse_int=_whole)
    except RecursionError:
        raise _NotRead(types.PARSE_ERROR, _TOO_DEEP) from None
    except ValueError:
        raise _NotRead(types.PARSE_ERROR, "The line is not JSON") from None
    if not found:
        raise _NotRead(types.INVALID_REQUEST, "The list holds no message")
    return [*reversed(found)]


_DIGITS = 4_000
"""The digits from which on a number is read as a text: no argument has as many."""
_TOO_DEEP = "The message is nested too deeply to be read"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_ID = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d{1,18})\s*[,}]')


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) < _DIGITS else digits


def _id_of(found: Any) -> Id:
    """The id under which whoever sent it waits for an answer; None if nobody does."""
    given = found.get("id") if isinstance(found, dict) and "method" in found else None
    if isinstance(given, str):
        return text.clean(given)
    return given if type(given) is int else None


def _id_in(line: str) -> Id:
    """The same of a line that could not be read whole."""
    depth, found = 0, {}
    for token in _TOKEN.finditer(line):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        elif depth == 1 and token[0] == '"method"':
            found["method"] = ""
        elif depth == 1 and (given := _ID.match(line, token.start())):
            found["id"] = json.loads(given[1])
    return _id_of(found)


def _made_whole(message: types.JSONRPCRequest) -> None:
    """An ``initialize`` that leaves out who asks, and which version, is one for the newest."""
    params = dict(message.params or {})
    if not isinstance(params.get("protocolVersion"), str):
        params["protocolVersion"] = LATEST_HANDSHAKE_VERSION
    params.setdefault("capabilities", {})
    params.setdefault("clientInfo", {"name": "unknown", "version": ""})
    message.params = params
