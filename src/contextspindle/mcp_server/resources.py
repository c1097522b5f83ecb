"""Tasks as resources, for clients that show them, and the prompt by which a user resumes.

They say what the tools say.  A prompt costs nothing until a user takes it; resources are offered
only when asked for, because some programs then add tools of their own to every request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import unquote

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from ..core import text
from ..errors import NotFound, SpindleError
from . import calls, pages
from .client import Client
from .tools import find

SCHEME = "contextspindle://task/"
LISTED = 20
"""How many live tasks are listed; the template reaches all of them."""
_TEXT = "text/plain"

Context = ServerRequestContext[Any, Any]


class Resources:
    """The handlers of resources and prompts; how calls are made is the service's."""

    def __init__(
        self,
        seen: Callable[..., Awaitable[Client | types.InputRequiredResult]],
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        self._seen = seen
        self._in_thread = in_thread

    async def list(self, ctx: Context, _params: object) -> types.ListResourcesResult:
        """The tasks that are live in the workspace; none where there is none, or where a client
        that has folders open has not said which."""
        client = await self._seen(ctx, None)
        if isinstance(client, types.InputRequiredResult):
            return types.ListResourcesResult(resources=[])  # here nothing can be asked
        listed: list[types.Resource] = await self._in_thread(partial(_live, client))
        return types.ListResourcesResult(resources=listed)

    async def templates(self, _ctx: Context, _params: object) -> types.ListResourceTemplatesResult:
        """How any task, and its history, is named."""
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name=name, description=said, uri_template=f"{SCHEME}{form}", mime_type=_TEXT
                )
                for name, said, form in (
                    ("task", "One task whole", "{id}"),
                    ("history", "What changed in each version of a task", "{id}/history"),
                )
            ]
        )

    async def read(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        """A task or its history, cut within the bound of a reply and marked so."""
        task_id, slash, what = unquote(str(params.uri)).removeprefix(SCHEME).partition("/")
        if not str(params.uri).startswith(SCHEME) or (slash and what != "history"):
            shown = text.shortened(text.one_line(str(params.uri)), 200)
            raise MCPError(types.INVALID_PARAMS, f"There is no resource {shown}")
        client = await self._seen(ctx, params)
        if isinstance(client, types.InputRequiredResult):
            return client
        name = "contextspindle_task_history" if what else "contextspindle_task_show"
        shown = await self._said(client, name, {"id": task_id})
        content = types.TextResourceContents(uri=params.uri, mime_type=_TEXT, text=shown)
        return types.ReadResourceResult(contents=[content])

    async def prompts(self, _ctx: Context, _params: object) -> types.ListPromptsResult:
        """The one prompt."""
        resume = types.Prompt(
            name="resume",
            title="Resume",
            description="Go on with the work of an earlier session, from its handoff",
            arguments=[
                types.PromptArgument(
                    name="session", description="its id; the newest saved if left out"
                )
            ],
        )
        return types.ListPromptsResult(prompts=[resume])

    async def prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        """The handoff, as the user's own message."""
        if params.name != "resume":
            shown = text.shortened(text.one_line(params.name), 80)
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {shown!r}, only resume")
        client = await self._seen(ctx, params)
        if isinstance(client, types.InputRequiredResult):
            return client
        session = (params.arguments or {}).get("session") or ""
        shown = await self._said(client, "contextspindle_handoff", {"session": session})
        said = (
            "Go on with the work below. Read the task with contextspindle_task_context first.\n\n"
        )
        message = types.PromptMessage(role="user", content=types.TextContent(text=said + shown))
        return types.GetPromptResult(messages=[message])

    async def _said(self, client: Client, name: str, given: dict[str, Any]) -> str:
        """What a tool says, its first part.  An error of ours is one of the protocol here."""
        tool = find(name)
        assert tool is not None
        values = {one.name: given.get(one.name) for one in tool.arguments}

        def said() -> str:
            whole = calls.do(client, tool.function, values)
            part = pages.part(whole, client.reply_bytes)
            rest = name if name in client.words.names else "contextspindle on the command line"
            return text.clean(part.shown) + (f"\n[the rest: {rest}]\n" if part.note else "")

        try:
            found: str = await self._in_thread(said)
        except SpindleError as error:
            raise MCPError(
                types.INVALID_PARAMS if isinstance(error, NotFound) else types.INTERNAL_ERROR,
                text.clean(client.words.error(error, client.reply_bytes)),
                {"code": error.code},
            ) from error
        return found


def _live(client: Client) -> list[types.Resource]:
    try:
        page = client.find().ledger().inbox(LISTED)
    except SpindleError:
        return []
    return [
        types.Resource(
            uri=SCHEME + one.id,
            name=one.id,
            title=text.shortened(text.one_line(one.goal), 80),
            description=f"a task that is {one.status}",
            mime_type=_TEXT,
        )
        for one in page.items
    ]
