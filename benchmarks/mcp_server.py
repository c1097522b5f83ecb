"""What the MCP server costs: its first answer beside that of the SDK's own trivial server, in turn.

Then a thousand reads of each over standard input, ten of one and ten of the other in turn, so that
both see the machine equally busy; and what they leave in memory.  And what the definitions of the
tools take of an agent's context, in tokens of cl100k.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from typing import Any

from common import arguments_of, filled, keep, load, quantile, ratio

from contextspindle.mcp_server.shape import Tool, schema
from contextspindle.mcp_server.tools import chosen, instructions

CALLS = 1_000
BLOCK = 10
TRIVIAL = """
from mcp.server import MCPServer
server = MCPServer("trivial")
@server.tool()
def contextspindle_task_show(id: str) -> str:
    return "a line\\n" * 10
server.run("stdio")
"""
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class Line:
    """A server, spoken to in lines."""

    def __init__(self, words: list[str], folder: str) -> None:
        self.process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert not answer["result"].get("isError"), answer
        return answer

    def greet(self) -> None:
        self.ask("initialize", HELLO)
        assert self.process.stdin is not None
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def show(self, task: str) -> None:
        given = {"name": "contextspindle_task_show", "arguments": {"id": task}}
        self.ask("tools/call", given)

    def resident(self) -> int:
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def busy(self) -> float:
        """Processor milliseconds that it has used."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1_000 / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self.process.communicate()


def started(words: list[str], folder: str, task: str) -> tuple[float, float]:
    """Seconds to the first answer and to the first call's, of a fresh server."""
    began = time.perf_counter()
    line = Line(words, folder)
    line.greet()
    greeted = time.perf_counter() - began
    line.show(task)
    called = time.perf_counter() - began
    line.end()
    return greeted, called


def called(servers: dict[str, list[str]], folder: str, task: str) -> list[dict[str, Any]]:
    """A thousand calls of each server, and its memory before and after them."""
    lines = [Line(words, folder) for words in servers.values()]
    took: list[list[float]] = [[] for _ in lines]
    for line in lines:
        line.greet()
        for _ in range(100):
            line.show(task)
    before = [line.resident() for line in lines]
    busy = [line.busy() for line in lines]
    for _ in range(CALLS // BLOCK):
        for line, times in zip(lines, took):
            for _ in range(BLOCK):
                began = time.perf_counter()
                line.show(task)
                times.append((time.perf_counter() - began) * 1_000)
    found = []
    for at, line in enumerate(lines):
        grown, spent = line.resident() - before[at], line.busy() - busy[at]
        line.end()
        found.append(
            {
                "p50_ms": round(quantile(took[at], 0.5), 2),
                "p99_ms": round(quantile(took[at], 0.99), 2),
                "cpu_ms": round(spent / CALLS, 2),
                "resident_mib": round(before[at] / 1_048_576, 1),
                "grown_kib": round(grown / 1_024),
            }
        )
    return found


def definitions() -> dict[str, int]:
    """The tokens of each choice of tools, and of the instructions that come with them."""
    with warnings.catch_warnings():
        # The package opens its own file in a way that is being given up.
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai
    encoding = bpe_openai.get_encoding("cl100k_base")

    def cost(tool: Tool) -> int:
        shown = {"name": tool.name, "description": tool.summary, "inputSchema": schema(tool)}
        return len(encoding.encode(json.dumps(shown, separators=(",", ":"))))

    found = {which: sum(map(cost, chosen(which))) for which in ("all", "few", "read")}
    return {**found, "instructions": len(encoding.encode(instructions(chosen("all"))))}


def main() -> None:
    """Measure, and show the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9, help="how many starts of each server")
    arguments = arguments_of(None, parser)
    before = load()
    tokens = definitions()
    print(tokens)
    with filled(1_000, None) as (folder, task):
        servers = {
            "the SDK's own, trivial": [sys.executable, "-c", TRIVIAL],
            "contextspindle mcp": [arguments.command, "mcp"],
        }
        starts: dict[str, list[tuple[float, float]]] = {name: [] for name in servers}
        for _ in range(arguments.rounds):
            for name, words in servers.items():
                starts[name].append(started(words, folder, task))
        results = []
        for name, reads in zip(servers, called(servers, folder, task)):
            found = {
                "server": name,
                "greeted_ms": round(quantile([one[0] * 1_000 for one in starts[name]], 0.5)),
                "first_call_ms": round(quantile([one[1] * 1_000 for one in starts[name]], 0.5)),
                **reads,
            }
            results.append(found)
            print(found)
    plain, served = starts.values()
    first = ratio([one[0] for one in served], [one[0] for one in plain])
    read = round(results[1]["p50_ms"] / results[0]["p50_ms"], 2)
    print(f"first answer: {first} times that of the SDK's own server, a read: {read} times")
    keep(
        arguments,
        before,
        rounds=arguments.rounds,
        calls=CALLS,
        ratio=first,
        read_ratio=read,
        tokens=tokens,
        results=results,
    )


if __name__ == "__main__":
    main()
