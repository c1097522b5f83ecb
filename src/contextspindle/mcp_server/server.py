"""The server: the protocol on one side, the table of tools on the other.

A call runs in a thread, so that the loop answers while the ledger is read or waited for.  Every
error of ours is the answer of the tool, with its code, so that the agent reads it; a tool that does
not exist is an error of the protocol.  Answers are text: no schema is declared for them that an
error would have to keep.
"""

from __future__ import annotations

import difflib
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from .. import __version__
from ..core import text
from ..errors import InvalidInput, SpindleError, StoreError, StoreUnavailable
from . import calls, lanes, pages
from .arguments import as_object, taken
from .client import UNSAID, Client, Folders
from .resources import Resources
from .roots import Context, Roots, folders_of
from .shape import Tool, schema
from .tools import PREFIX, find, instructions
from .wording import Words

KEPT_MS = 3_600_000
"""How long a client may rely on the list of tools, in milliseconds."""

Answer = types.CallToolResult | types.InputRequiredResult


class Service:
    """What the protocol's requests are answered with."""

    def __init__(
        self,
        client_of: Callable[[Context], Client],
        tools: Sequence[Tool],
        *,
        asks: bool = True,
        resources: bool = False,
    ) -> None:
        """``client_of`` tells whose request it is.

        ``asks``: there is one client, and it is asked for the folders that it has open.

        ``resources``: whether tasks are offered as resources too.  Some programs give their model
        tools to read them as soon as a server has any, so it is for the user to want that.
        """
        self._resources = resources
        self._known = client_of
        self._words = Words(tools)
        self._asks = asks
        self._tools = {tool.name: tool for tool in tools}
        self._listed = types.ListToolsResult(tools=[_listed(tool) for tool in tools])
        self._reading = lanes.Lane(lanes.THREADS)
        self._writing = lanes.Lane(lanes.THREADS)
        self._roots = Roots()
        self._tasks: TaskGroup | None = None

    def server(self) -> Server[Any]:
        """The server, not yet connected to anybody."""
        resources = Resources(self._seen, self._reading.run)
        server: Server[Any] = Server(
            "contextspindle",
            version=__version__,
            title="ContextSpindle",
            instructions=instructions([*self._tools.values()]),
            lifespan=self._living,
            cache_hints={"tools/list": CacheHint(ttl_ms=KEPT_MS, scope="public")},
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=resources.list if self._resources else None,
            on_list_resource_templates=resources.templates if self._resources else None,
            on_read_resource=resources.read if self._resources else None,
            on_list_prompts=resources.prompts,
            on_get_prompt=resources.prompt,
        )
        # Spans that nobody collects; and what is asked here is nobody else's business.
        server.middleware[:] = [_mended]
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._roots_changed
        )
        return server

    def _client_of(self, ctx: Context) -> Client:
        """Whose request it is, and what that one was offered."""
        client = self._known(ctx)
        client.words = self._words
        return client

    async def _list_tools(self, _ctx: Context, _params: object) -> types.ListToolsResult:
        return self._listed

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> Answer:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, _no_tool(params.name, self._tools))
        client = await self._seen(ctx, params)
        if isinstance(client, types.InputRequiredResult):
            return client
        lane = self._reading if tool.reads else self._writing
        given = params.arguments or {}
        answer: types.CallToolResult = await lane.run(partial(answered, client, tool, given))
        return answer

    async def _seen(
        self, ctx: Context, params: types.InputResponseRequestParams | None
    ) -> Client | types.InputRequiredResult:
        """The client as this request sees it; or the question for the folders that it has open."""
        client = self._client_of(ctx)
        capabilities = ctx.session.client_capabilities
        if not self._asks or client.named or capabilities is None or capabilities.roots is None:
            return client.during(Folders())
        if ctx.session.can_send_request:
            assert self._tasks is not None
            tells = bool(capabilities.roots.list_changed)
            said = await self._roots.folders(ctx, self._tasks, tells_of_changes=tells)
            return client.during(said)
        # Since 2026-07-28 a server asks by answering, and nobody tells it of changes.
        responses = params.input_responses if params else None
        if responses is None:
            return types.InputRequiredResult(input_requests={"roots": types.ListRootsRequest()})
        answer = responses.get("roots")
        said = folders_of(answer) if isinstance(answer, types.ListRootsResult) else UNSAID
        return client.during(said)

    async def _roots_changed(self, _ctx: Context, _params: types.NotificationParams) -> None:
        self._roots.changed()

    @asynccontextmanager
    async def _living(self, _server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        """While clients are served: questions to them may be on their way."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield {}
            finally:
                tasks.cancel_scope.cancel()

    def stop(self) -> None:
        """Begin no call any more, also none of those that wait."""
        self._reading.stop()
        self._writing.stop()

    async def idle(self) -> None:
        """Returns when no call runs."""
        while self._reading.busy or self._writing.busy:
            await anyio.sleep(0.02)


def answered(client: Client, tool: Tool, given: dict[str, Any]) -> types.CallToolResult:
    """The answer of a tool: what it found, in parts if it is long, or what went wrong."""
    try:
        values = taken(tool, given)
        whole = _done(client, tool, values)
        client.copy_daily()
        cursor, goes_on = values.get("cursor") or "", "cursor" in values
        try:
            part = pages.part(whole, client.reply_bytes, cursor, goes_on=goes_on)
        except InvalidInput as error:
            if "version" in values and values["version"] is None:
                error.hint += " With version it reads on, whatever is written meanwhile."
            raise
    except SpindleError as error:
        return _result(client.words.error(error, client.reply_bytes), is_error=True)
    except Exception as error:
        return _result(_bug(tool, error), is_error=True)
    return _result(part.shown, part.note)


def _done(client: Client, tool: Tool, values: dict[str, Any]) -> str:
    """What the tool answers; a read is tried once more if only the number of open files forbade."""
    try:
        return calls.do(client, tool.function, values)
    except (StoreError, OSError) as error:
        if not client.let_go():
            raise
        if not tool.reads:
            raise StoreUnavailable(
                "This server had too many files open, and has closed those that it can",
                hint="Look whether anything was written, and call again.",
            ) from error
    return calls.do(client, tool.function, values)


async def _mended(ctx: Context, call_next: Callable[[Context], Awaitable[Any]]) -> Any:
    """A call whose arguments are written as a text is one; what is no object is refused by name."""
    given = (ctx.params or {}).get("arguments")
    if ctx.method != "tools/call" or given is None or isinstance(given, dict):
        return await call_next(ctx)
    found = as_object(given)
    if found is None:
        said = "arguments must be an object: names with their values"
        raise MCPError(types.INVALID_PARAMS, f"{said}; nothing was done")
    return await call_next(replace(ctx, params={**(ctx.params or {}), "arguments": found}))


_LIKE = 0.75
"""How alike a word must be to a tool's name, of 1, for that tool to be meant."""
_LIKE_A_WRITE = 0.9
"""The same of a tool that writes: one that only reads must not be taken for it."""


def _no_tool(name: str, offered: Mapping[str, Tool]) -> str:
    """What is said of a name that none of the offered tools has."""
    shown = text.shortened(text.one_line(name), 80)
    if find(name):
        return f"There is no tool {shown!r} here: this server was told to offer fewer"
    # All names begin alike, which makes none of them nearer.
    bare = name[:80].lower().removeprefix(PREFIX).replace("-", "_").removeprefix("task_")
    words = {one.removeprefix(PREFIX).removeprefix("task_"): one for one in offered}
    for word in difflib.get_close_matches(bare, words, 3, _LIKE):
        alike = difflib.SequenceMatcher(None, word, bare).ratio()
        if offered[words[word]].reads or alike >= _LIKE_A_WRITE:
            return f"There is no tool {shown!r}; did you mean {words[word]}?"
    return f"There is no tool {shown!r}"


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.summary,
        input_schema=schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeats or tool.reads,
            open_world_hint=False,
        ),
    )


def _result(*shown: str, is_error: bool = False) -> types.CallToolResult:
    # The name of a file may be bytes that are no UTF-8, and nothing else can travel.
    content: list[Any] = [types.TextContent(text=text.clean(one)) for one in shown if one]
    return types.CallToolResult(content=content, is_error=is_error)


def _bug(tool: Tool, error: Exception) -> str:
    """What to say of a bug of ours; the report, without anybody's texts, goes to standard error."""
    trace = "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__
    sys.stderr.write(f"contextspindle {__version__}, {tool.name}: this is a bug\n{trace}\n")
    shown = text.shortened(text.one_line(f"{type(error).__name__}: {error}"), 300)
    return f"this is a bug: {shown} [INTERNAL]\nThe report stands in the log of this server."
