"""A stand-in for a model on loopback: it does what a prompt says, in the protocol it is asked in.

A prompt names what the model is to do: ``[[tool NAME {json}]]`` calls a tool, one in each turn, and
``[[say TEXT]]`` ends the turn.  ``[[full say]]`` reports a full context with that end of the turn,
and ``[[full tool]]`` with the last of the tools.  A prompt for a subagent, which stands within such
a mark, has ``<<`` and ``>>`` instead.  A request for a summary is answered with one that says one
thing only, so that what else stands in the next request came from a hook.  Every request is kept.
How requests and answers are spelt is in :mod:`protocols`.
"""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.live import protocols

TOOL = re.compile(r"\[\[tool (\S+) (\{.*?\})\]\]", re.S)
SAY = re.compile(r"\[\[say (.*?)\]\]", re.S)
RECORD = re.compile(r"\[ContextSpindle\].*?\[/ContextSpindle\]", re.S)
SUMMARY = (
    "<analysis>none</analysis>\n<summary>\n"
    "Several small things were asked. The drain FACT-IN-SUMMARY-4 was cleaned.\n</summary>"
)
USUAL, FULL = 1_000, 99_500
"""Tokens of any request, and those at which a context of 100,000 is compacted."""

ASKS_FOR_A_SUMMARY = (
    "detailed summary",
    "CONTEXT CHECKPOINT COMPACTION",
    "<state_snapshot>",
    "Please summarize the following conversation",
    "messages were sent since the previous summary",
)
"""What stands in the request of a program that has its context summed up."""


class Reply(NamedTuple):
    """What the model answers: a call of ``tool``, or else a text; and how full it says it is."""

    text: str
    tokens: int
    tool: str = ""
    given: str = ""


def wanted(turns: list[tuple[str, str]]) -> tuple[str, int]:
    """The newest text that asks for something, and how many tools have answered since.

    What stood before the model's last words asks for no summary: it may be one.
    """
    prompt, results = "", 0
    spoke = max((at for at, (who, _) in enumerate(turns) if who == "model"), default=-1)
    for at, (who, said) in enumerate(turns):
        text = RECORD.sub("", said)  # what was quoted asks for nothing
        if who == "result":
            results += 1
        elif who == "user" and ("[[" in text or "<<tool" in text or (at > spoke and sums_up(text))):
            prompt, results = text, 0
    return prompt, results


def sums_up(text: str) -> bool:
    """Whether a text asks for a summary."""
    return any(words in text for words in ASKS_FOR_A_SUMMARY)


def answer(prompt: str, done: int, usual: int = USUAL, full: int = FULL) -> Reply:
    """What the stand-in answers to ``prompt`` when ``done`` of its tools have been called."""
    if sums_up(prompt):
        framed = f"<state_snapshot>\n{SUMMARY}\n</state_snapshot>"
        return Reply(framed if "<state_snapshot>" in prompt else SUMMARY, usual)
    if "[[" not in prompt:
        prompt = prompt.replace("<<", "[[").replace(">>", "]]")
    tools = TOOL.findall(prompt)
    if done < len(tools):
        name, given = tools[done]
        last = "[[full tool]]" in prompt and done == len(tools) - 1
        return Reply("", full if last else usual, name, given)
    said = SAY.search(prompt)
    text = said[1] if said else "Understood."
    return Reply(text, full if "[[full say]]" in prompt else usual)


class Model(ThreadingHTTPServer):
    """The server; ``requests`` are the bodies of what was asked, in order.

    ``kinds`` says of each whether it was a ``turn``, a ``summary``, or an ``aside`` without tools
    (such as a title).  A context is said to have ``usual`` tokens, a full one ``full``.
    """

    def __init__(self, usual: int = USUAL, full: int = FULL) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.kinds: list[str] = []
        self._usage = usual, full
        self._called: dict[str, int] = {}

    @property
    def port(self) -> int:
        """Where it listens, on loopback."""
        return int(self.server_address[1])

    def reply(self, body: dict[str, Any], turns: list[tuple[str, str]]) -> Reply:
        """What a request is answered with; the request is kept."""
        prompt, results = wanted(turns)
        self.requests.append(body)
        self.kinds.append(
            "summary" if sums_up(prompt) else "turn" if body.get("tools") else "aside"
        )
        if self.kinds[-1] == "aside":
            return Reply("A title", self._usage[0])
        # A compaction may take the results away and leave the prompt: what was called was called.
        done = max(results, self._called.get(prompt, 0))
        said = answer(prompt, done, *self._usage)
        if said.tool:
            self._called[prompt] = done + 1
        return said


def started(usual: int = USUAL, full: int = FULL) -> Model:
    """The stand-in, serving on a free port of loopback."""
    model = Model(usual, full)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    return model


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""

    def do_HEAD(self) -> None:
        self.plain({})

    def do_GET(self) -> None:
        self.plain({"object": "list", "data": [{"id": "stand-in", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        path = self.path.split("?")[0]
        speaks = next((one for one in protocols.ALL if one.hears(path)), None)
        if speaks is None:
            self.plain({"input_tokens": 10, "totalTokens": 10})
            return
        reply = self.server.reply(body, speaks.turns(body))
        number = len(self.server.requests)
        if speaks.streams(path, body):
            self.stream(speaks.events(reply, number, body))
        else:
            self.plain(speaks.whole(reply, number, body))

    def plain(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, events: list[Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            name = (
                f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            )
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{name}data: {data}\n\n".encode())
