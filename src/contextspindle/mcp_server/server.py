"""The server: the protocol on one side, the table of tools on the other.

A call runs in a thread of its own, so that the loop answers while the ledger is read or waited for;
a call that is cancelled is let go, and ends by itself.  Every error of ours is the answer of the
tool, with its code, so that the agent reads it; a tool that does not exist is an error of the
protocol.  Answers are text: no schema is declared for them that an error would have to keep.
"""

from __future__ import annotations

import difflib
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from .. import __version__
from ..core import text
from ..errors import InvalidInput, SpindleError
from . import calls, pages
from .arguments import as_object, taken
from .client import Client, folder_of
from .resources import Resources
from .shape import Tool, schema
from .tools import PREFIX, find, instructions
from .wording import Words

THREADS = 4
"""How many calls run at once; more of them wait their turn."""
ROOTS_SECONDS = 2.0
"""How long a client may take to say which folders it has open."""
LATE = 3
"""How often a client may be too late with that before it is not asked any more."""
KEPT_MS = 3_600_000
"""How long a client may rely on the list of tools, in milliseconds."""

Context = ServerRequestContext[Any, Any]
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
        """``client_of`` tells whose request it is; ``asks``: for the folders that it has open.

        ``resources``: whether tasks are offered as resources too.  Some programs give their model
        tools to read them as soon as a server has any, so it is for the user to want that.
        """
        self._resources = resources
        self._known = client_of
        self._words = Words(tools)
        self._asks = asks
        self._tools = {tool.name: tool for tool in tools}
        self._listed = types.ListToolsResult(tools=[_listed(tool) for tool in tools])
        self._threads = anyio.CapacityLimiter(THREADS)

    def server(self) -> Server[Any]:
        """The server, not yet connected to anybody."""
        resources = Resources(self._client_of, self._prepared, self._in_thread)
        server: Server[Any] = Server(
            "contextspindle",
            version=__version__,
            title="ContextSpindle",
            instructions=instructions([*self._tools.values()]),
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
        client = self._client_of(ctx)
        asked = await self._prepared(ctx, client, params)
        if asked is not None:
            return asked
        given = params.arguments or {}
        answer: types.CallToolResult = await self._in_thread(partial(answered, client, tool, given))
        return answer

    async def _prepared(
        self, ctx: Context, client: Client, params: types.InputResponseRequestParams | None
    ) -> types.InputRequiredResult | None:
        """See to it that the client's folders are known; or the question that asks for them."""
        capabilities = ctx.session.client_capabilities
        if not self._asks or client.named or capabilities is None or capabilities.roots is None:
            return None
        if not ctx.session.can_send_request:
            # Since 2026-07-28 a server asks by answering, and nobody tells it of changes.
            responses = params.input_responses if params else None
            said = (responses or {}).get("roots")
            if isinstance(said, types.ListRootsResult):
                client.roots = _folders(said)
                return None
            if responses is None:
                return types.InputRequiredResult(input_requests={"roots": types.ListRootsRequest()})
            return None
        if client.tells and (client.roots is None or not capabilities.roots.list_changed):
            try:
                said = await ctx.session.send_request(
                    types.ListRootsRequest(),
                    types.ListRootsResult,
                    request_read_timeout_seconds=ROOTS_SECONDS,
                )
                client.roots = _folders(said)
            except ValidationError:
                client.tells = False
            except MCPError as error:
                # It says that it can, and does not: as one without.  One that is only slow (a
                # question to its user, a busy start) is asked again.
                client.late += 1
                late = error.error.code == types.REQUEST_TIMEOUT and client.late < LATE
                client.tells = client.tells and late
        return None

    async def _roots_changed(self, ctx: Context, _params: types.NotificationParams) -> None:
        client = self._client_of(ctx)
        client.roots, client.tells, client.late = None, True, 0

    async def idle(self) -> None:
        """Returns when no call runs."""
        while self._threads.borrowed_tokens:
            await anyio.sleep(0.02)

    async def _in_thread(self, call: Callable[[], Any]) -> Any:
        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=self._threads)


def answered(client: Client, tool: Tool, given: dict[str, Any]) -> types.CallToolResult:
    """The answer of a tool: what it found, in parts if it is long, or what went wrong."""
    try:
        values = taken(tool, given)
        whole = calls.do(client, tool.function, values)
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


def _folders(said: types.ListRootsResult) -> tuple[str, ...]:
    found = (folder_of(str(root.uri)) for root in said.roots)
    return tuple(folder for folder in found if folder)


def _bug(tool: Tool, error: Exception) -> str:
    """What to say of a bug of ours; the report, without anybody's texts, goes to standard error."""
    trace = "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__
    sys.stderr.write(f"contextspindle {__version__}, {tool.name}: this is a bug\n{trace}\n")
    shown = text.shortened(text.one_line(f"{type(error).__name__}: {error}"), 300)
    return f"this is a bug: {shown} [INTERNAL]\nThe report stands in the log of this server."
