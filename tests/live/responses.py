"""The same stand-in for a model, speaking OpenAI's Responses, as Codex does."""

from __future__ import annotations

import json
import threading
from typing import Any

from model import SAY, TOOL, Handler, Model


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """What the stand-in answers a request with: the next tool of the prompt, else a text."""
    prompt, results = "", 0
    for item in body.get("input", []):
        if item.get("type", "message") == "message" and item.get("role") == "user":
            said = "".join(part.get("text", "") for part in item["content"])
            if "[[" in said:
                prompt, results = said, 0
        elif item.get("type") == "function_call_output":
            results += 1
    tools = TOOL.findall(prompt)
    if results < len(tools):
        name, given = tools[results]
        space, _, short = name.rpartition("/")
        call = {"type": "function_call", "name": short, "arguments": given}
        return {**call, **({"namespace": space} if space else {}), "call_id": f"call_{results}"}
    said = SAY.search(prompt)
    text = {"type": "output_text", "text": said[1] if said else "Understood.", "annotations": []}
    return {"type": "message", "role": "assistant", "content": [text]}


class ResponsesHandler(Handler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        if not self.path.split("?")[0].endswith("/responses"):
            self.plain({})
            return
        self.server.requests.append(body)
        number = len(self.server.requests)
        item = {"id": f"item_{number}", "status": "completed", **answer(body)}
        usage = {"input_tokens": 1000, "output_tokens": 10, "total_tokens": 1010}
        whole = {"id": f"resp_{number}", "object": "response", "usage": usage, "output": [item]}
        self.stream(
            {"type": "response.created", "response": {"id": whole["id"], "output": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**whole, "status": "completed"}},
        )


def started() -> Model:
    """The stand-in, serving on a free port of loopback."""
    model = Model(ResponsesHandler)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    return model
