"""A stand-in for a model on loopback: it speaks Anthropic's Messages, and does what a prompt says.

A prompt names what the model is to do: ``[[tool NAME {json}]]`` calls a tool, one in each turn, and
``[[say TEXT]]`` ends the turn.  ``[[full say]]`` reports a full context with that end of the turn,
and ``[[full tool]]`` with the last of the tools.  A prompt for a subagent, which stands within such
a mark, has ``<<`` and ``>>`` instead.  A request for a summary is answered with one that says one
thing only, so that what else stands in the next request came from a hook.  Every request is kept.
"""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOOL = re.compile(r"\[\[tool (\S+) (\{.*?\})\]\]", re.S)
SAY = re.compile(r"\[\[say (.*?)\]\]", re.S)
SUMMARY = (
    "<analysis>none</analysis>\n<summary>\n"
    "Several small things were asked. The drain FACT-IN-SUMMARY-4 was cleaned.\n</summary>"
)
FULL = 99_500
"""Tokens at which a context of 100,000 is compacted."""


def texts(content: Any) -> list[str]:
    """The texts of a message, tool results left out."""
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block.get("type") == "text"]


def answer(body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The content block that the stand-in answers a request with, and the tokens it reports."""
    prompt, results = "", 0
    for message in body.get("messages", []):
        if message["role"] != "user":
            continue
        said = [
            one
            for one in texts(message["content"])
            if "[[" in one or "<<tool" in one or "summary of" in one
        ]
        if said:
            prompt, results = said[-1], 0
        elif isinstance(message["content"], list):
            results += sum(block.get("type") == "tool_result" for block in message["content"])
    if "detailed summary" in prompt:
        return {"type": "text", "text": SUMMARY}, 1_000
    if "[[" not in prompt:
        prompt = prompt.replace("<<", "[[").replace(">>", "]]")
    tools = TOOL.findall(prompt)
    if results < len(tools):
        name, given = tools[results]
        tokens = FULL if "[[full tool]]" in prompt and results == len(tools) - 1 else 1_000
        call = f"toolu_{name}_{results}_{len(prompt)}"
        return {"type": "tool_use", "id": call, "name": name, "input": given}, tokens
    said = SAY.search(prompt)
    tokens = FULL if "[[full say]]" in prompt else 1_000
    return {"type": "text", "text": said[1] if said else "Understood."}, tokens


class Model(ThreadingHTTPServer):
    """The server; ``requests`` are the bodies of what was asked, in order."""

    def __init__(self, handler: type[Handler] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or Handler)
        self.requests: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""

    def do_HEAD(self) -> None:
        self.plain({})

    def do_GET(self) -> None:
        self.plain({})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        if self.path.split("?")[0] != "/v1/messages":
            self.plain({"input_tokens": 10})
            return
        self.server.requests.append(body)
        block, tokens = answer(body)
        usage = {"input_tokens": tokens, "output_tokens": 10}
        reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
        message = {
            "id": f"msg_{len(self.server.requests)}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "stand-in"),
            "stop_sequence": None,
            "usage": usage,
        }
        if not body.get("stream"):
            if block["type"] == "tool_use":
                block = {**block, "input": json.loads(block["input"])}
            self.plain({**message, "content": [block], "stop_reason": reason})
            return
        if block["type"] == "tool_use":
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": block["input"]}
        else:
            start, delta = (
                {"type": "text", "text": ""},
                {"type": "text_delta", "text": block["text"]},
            )
        self.stream(
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": usage,
            },
            {"type": "message_stop"},
        )

    def plain(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, *events: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
