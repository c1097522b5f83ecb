"""Over HTTP on this machine, for programs that share one server: a token asked of every request.

A page in somebody's browser can reach a port of this machine, and by a name of its own (DNS
rebinding); so a request must name this host, come from no foreign page, and show the token.  Beyond
this machine it is served only behind a TLS that somebody has named.  A server serves the workspace
of the folder in which it was started, or the one that was named.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
import sys
import threading
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .. import config
from ..errors import InvalidInput, in_words
from .client import Client
from .roots import Context
from .server import Service
from .tools import chosen

PATH = "/mcp"
TOKEN_CHARACTERS = 20
"""The fewest characters of a token that a user chose."""
CLIENTS = 256
"""How many clients are remembered that have claimed nothing."""
HOLDERS = 10_000
"""How many are that have; of more, those that were here longest ago are forgotten.  The SDK keeps
no more sessions than that."""


def serve(
    named: str,
    which: str,
    host: str,
    port: int | None,
    behind_tls: str,
    *,
    resources: bool = False,
) -> None:
    """Serve until interrupted.

    InvalidInput for an address beyond this machine without a TLS in front, and for a port that
    cannot be had.
    """
    host = host or "127.0.0.1"
    if not _is_near(host) and not behind_tls:
        raise InvalidInput(
            f"{host} is reached from beyond this machine, where a token must not travel in clear",
            hint="Put a TLS proxy in front, named with --behind-tls NAME; or leave --host out.",
        )
    token = config.load().mcp_token
    if token and len(token) < TOKEN_CHARACTERS:
        raise InvalidInput(
            f"CONTEXTSPINDLE_MCP_TOKEN needs {TOKEN_CHARACTERS} characters or more", hint=""
        )
    door = _listening(host, port or 0)
    port = door.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    said = f"contextspindle: serving MCP at http://{shown}:{port}{PATH}\n"
    if not token:
        token = secrets.token_urlsafe(32)
        said += f"contextspindle: until it ends, its token is {token}\n"
    sys.stderr.write(said)
    sys.stderr.flush()
    app = Guard(
        _app(named, which, resources=resources),
        token,
        _names(shown, port, behind_tls),
        tls=bool(behind_tls),
    )
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, proxy_headers=False, server_header=False
    )
    uvicorn.Server(settings).run(sockets=[door])


def _app(named: str, which: str, *, resources: bool) -> ASGIApp:
    people = People(named)
    service = Service(people.client, chosen(which), asks=False, resources=resources)
    server = service.server()
    # The guard in front asks for more than the SDK's own check does.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return server.streamable_http_app(streamable_http_path=PATH, transport_security=unchecked)


class People:
    """The clients of one server, by their sessions."""

    def __init__(self, named: str) -> None:
        self._named = named
        self._opened = threading.local()
        self._nobody = self._new(claims=False)
        self._known: dict[str, Client] = {}
        self._holders: dict[str, Client] = {}

    def _new(self, *, claims: bool = True) -> Client:
        return Client(self._named, claims=claims, alone=False, opened=self._opened)

    def client(self, ctx: Context) -> Client:
        """Whose request it is.  One without a session keeps nothing from call to call."""
        request: Any = ctx.request
        session = request.headers.get("mcp-session-id") if request is not None else None
        if not session:
            return self._nobody
        known = self._known.pop(session, None) or self._holders.pop(session, None) or self._new()
        self._known[session] = known
        while len(self._known) > CLIENTS:
            oldest = next(iter(self._known))
            gone = self._known.pop(oldest)
            if gone.holds:
                self._holders[oldest] = gone
        while len(self._holders) > HOLDERS:
            del self._holders[next(iter(self._holders))]
        return known


class Guard:
    """Lets through what names this host, comes from no foreign page, and shows the token."""

    def __init__(self, app: ASGIApp, token: str, names: set[str], *, tls: bool) -> None:
        self._app = app
        self._token = token.encode()
        self._names = names
        self._tls = tls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the beginning and the end of the server's life."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope))
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        if headers.get("host", "").lower() not in self._names:
            return PlainTextResponse("this server has another name\n", 403)
        origin = headers.get("origin")
        if origin is not None and origin.lower().partition("://")[2] not in self._names:
            return PlainTextResponse("a page of another origin is not served\n", 403)
        if self._tls and headers.get("x-forwarded-proto", "").lower() != "https":
            return PlainTextResponse("this server is reached through its TLS only\n", 403)
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        # What was sent, to the byte: headers are read as Latin-1.
        given = shown.strip().encode("latin-1", "replace")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given, self._token):
            return PlainTextResponse(
                "the token is missing or wrong\n", 401, {"WWW-Authenticate": "Bearer"}
            )
        return None


def _names(shown: str, port: int, behind_tls: str) -> set[str]:
    """What a request may call this server."""
    if behind_tls:
        return {behind_tls.lower(), f"{behind_tls.lower()}:443"}
    return {f"{one}:{port}" for one in (shown.lower(), "127.0.0.1", "localhost", "[::1]")}


def _is_near(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    if not 0 <= port < 65_536:
        raise InvalidInput(f"{port} is no port that can be listened at", hint="Leave --port out.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InvalidInput(
            f"{host} port {port} cannot be listened at: {in_words(error)}", hint="Leave --port out."
        ) from error
