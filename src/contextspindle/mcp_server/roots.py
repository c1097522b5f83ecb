"""The folders that a client has open, its *roots*: how it is asked for them, and what it said.

A client that can tell them is believed, and nothing else is taken in the place of what it has not
said yet: a write would be in another project.  Its answer counts whenever it comes.  Where a
request brings them along, they are those of that request.
"""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from .client import UNSAID, Folders, folder_of

ROOTS_SECONDS = 2.0
"""How long a call waits for a client to say which folders it has open."""
LATE = 3
"""How often a client may be too late with that before no call waits for it any more."""

Context = ServerRequestContext[Any, Any]


class _Root(BaseModel):
    uri: str


class _Answer(BaseModel):
    """What a client answers; the SDK's own form of it knows no folders but those of ``file:``."""

    roots: list[_Root]


class Roots:
    """What one client has said, from request to request."""

    def __init__(self) -> None:
        self._said: Folders | None = None
        self._cannot = False
        self._late = 0
        self._era = 0
        self._question: anyio.Event | None = None

    def changed(self) -> None:
        """Forget what was said; answers to what was asked before count no more."""
        question = self._question
        self._said, self._cannot, self._late, self._question = None, False, 0, None
        self._era += 1
        if question:
            question.set()

    async def folders(self, ctx: Context, tasks: TaskGroup, *, tells_of_changes: bool) -> Folders:
        """What the client has open; UNSAID if it does not say it in time.

        It is asked once, or in every call if it does not tell of changes: then what it said last
        stands where it is late.
        """
        known = self._said is not None and tells_of_changes
        if not known and not self._cannot and self._late < LATE:
            era = -1
            with anyio.move_on_after(ROOTS_SECONDS) as waiting:
                while era != self._era:  # else it has told of a change meanwhile
                    era = self._era
                    await self._asked(ctx, tasks).wait()
            if waiting.cancelled_caught:
                self._late += 1
                self._question = None
        return UNSAID if self._said is None else self._said

    def _asked(self, ctx: Context, tasks: TaskGroup) -> anyio.Event:
        """The question that is on its way: set when it is answered."""
        if self._question is None:
            self._question = anyio.Event()
            tasks.start_soon(self._ask, ctx, self._question)
        return self._question

    async def _ask(self, ctx: Context, question: anyio.Event) -> None:
        era, answer = self._era, None
        try:
            answer = await ctx.session.send_request(types.ListRootsRequest(), _Answer)
        except (MCPError, ValidationError):
            pass  # it says that it can, and answers that it cannot: as one without
        if era == self._era:
            self._said = folders_of(answer) if answer else Folders()
            self._cannot, self._late = answer is None, 0
        if self._question is question:
            self._question = None
        question.set()


def folders_of(said: _Answer | types.ListRootsResult) -> Folders:
    """What an answer says."""
    uris = [str(root.uri) for root in said.roots]
    here = [folder for folder in map(folder_of, uris) if folder]
    return Folders(tuple(here), tuple(uris) if not here else ())
