"""The command that serves MCP: it runs until its client goes."""

from __future__ import annotations

import os

from ..errors import InvalidInput
from . import reply
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Call

CHOICES = ("all", "few", "read")
WAITING = (
    "This waits for an agent's program, which speaks MCP on standard input;"
    " 'contextspindle setup --mcp' connects one. Ctrl-C ends it.\n"
)
"""What a person is told who starts it at a terminal, where nothing else would be seen."""


def serve(call: Call) -> Reply:
    """Serve the tools to one client over standard input and output, or to several over HTTP."""
    values = call.values
    which = values["tools"] or "all"
    if which not in CHOICES:
        raise InvalidInput(f"--tools must be one of {', '.join(CHOICES)}", hint="")
    given = [name for name in ("host", "port", "behind_tls") if values[name] is not None]
    if given and not values["http"]:
        raise InvalidInput(f"--{given[0].replace('_', '-')} belongs to --http", hint="")
    if values["json"]:
        return _definitions(which)
    _reach_the_sdk()
    named, resources = values["workspace"] or "", values["resources"]
    if values["http"]:
        from ..mcp_server import loopback

        host, behind_tls = values["host"] or "", values["behind_tls"] or ""
        _stay()
        loopback.serve(named, which, host, values["port"], behind_tls, resources=resources)
    else:
        from ..mcp_server import stdio

        if os.isatty(0):
            reply.put(reply.ERR, WAITING)
        _stay()
        stdio.serve(named, which, resources=resources)
    return Reply(None, "")


def _definitions(which: str) -> Reply:
    """The tools as a document, without serving them."""
    from ..mcp_server.shape import schema
    from ..mcp_server.tools import chosen, instructions

    offered = chosen(which)
    tools = [
        {
            "name": tool.name,
            "description": tool.summary,
            "input_schema": schema(tool),
            "command": " ".join(tool.command),
            "reads": tool.reads,
        }
        for tool in offered
    ]
    return Reply({"instructions": instructions(offered), "tools": tools}, "")


def _stay() -> None:
    """Collect garbage from now on: a command is over before there is any, this one stays.

    What it has loaded stays too, and is never looked through.
    """
    import gc

    gc.freeze()
    gc.enable()


def _reach_the_sdk() -> None:
    """Look where the interpreter looks ordinarily, if the packages are not all beside ours.

    The launcher starts without ``site``; a user's own or a system's packages may be elsewhere.
    """
    try:
        import mcp.server.lowlevel
    except ModuleNotFoundError:
        import site

        site.main()
        try:
            import mcp.server.lowlevel  # noqa: F401
        except ModuleNotFoundError as error:
            raise InvalidInput(
                f"The package {error.name} is missing, on which the MCP server is built",
                hint="Install ContextSpindle again with its dependencies.",
            ) from error
