"""The same stand-in for a model, speaking Chat Completions, as OpenCode does."""

from __future__ import annotations

import json
import threading
from typing import Any

from model import SAY, SUMMARY, TOOL, Handler, Model, texts

FULL = 59_000
"""Tokens at which a context of 60,000 is compacted."""

SUMMARISES = "context summarization agent"
"""What OpenCode calls the model that is to write a summary."""


def answer(body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The delta that the stand-in answers a request with, and the tokens it reports."""
    prompt, results = "", 0
    for message in body.get("messages", []):
        if message["role"] == "tool":
            results += 1
        elif message["role"] == "user":
            for said in texts(message["content"]):
                # A record of ours quotes prompts: it is none.
                if ("[[" in said or "<<" in said) and "[ContextSpindle]" not in said:
                    prompt, results = said, 0
    if "[[" not in prompt:
        prompt = prompt.replace("<<", "[[").replace(">>", "]]")
    if SUMMARISES in json.dumps(body["messages"][:1]):
        return {"content": SUMMARY}, 1_000
    if not body.get("tools"):
        return {"content": "A title"}, 1_000
    if results < len(tools := TOOL.findall(prompt)):
        name, given = tools[results]
        full = "[[full tool]]" in prompt and results == len(tools) - 1
        called = {"index": 0, "id": f"call_{len(body['messages'])}", "type": "function"}
        call = {**called, "function": {"name": name, "arguments": given}}
        return {"tool_calls": [call]}, FULL if full else 1_000
    said = SAY.search(prompt)
    tokens = FULL if "[[full say]]" in prompt else 1_000
    return {"content": said[1] if said else "Understood."}, tokens


class ChatHandler(Handler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        if not self.path.split("?")[0].endswith("/chat/completions"):
            self.plain({})
            return
        self.server.requests.append(body)
        delta, tokens = answer(body)
        head = {
            "id": f"chat_{len(self.server.requests)}",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": body.get("model", "stand-in"),
        }
        reason = "tool_calls" if "tool_calls" in delta else "stop"
        usage = {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}
        end = {"index": 0, "delta": {}, "finish_reason": reason}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for part in (
            {"choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]},
            {"choices": [end]},
            {"choices": [], "usage": usage},
        ):
            self.wfile.write(f"data: {json.dumps({**head, **part})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


def started() -> Model:
    """The stand-in, serving on a free port of loopback."""
    model = Model(ChatHandler)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    return model
