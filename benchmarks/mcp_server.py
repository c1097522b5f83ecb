"""What the MCP server costs: its first answer beside that of the SDK's own trivial server, in turn.

Then a thousand reads over standard input, one after the other, and what they leave in memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

from common import arguments_of, filled, keep, load, quantile, ratio

CALLS = 1_000
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


def called(words: list[str], folder: str, task: str) -> dict[str, Any]:
    """A thousand calls of one server, and its memory before and after them."""
    line = Line(words, folder)
    line.greet()
    for _ in range(100):
        line.show(task)
    before, busy = line.resident(), line.busy()
    took = []
    for _ in range(CALLS):
        began = time.perf_counter()
        line.show(task)
        took.append((time.perf_counter() - began) * 1_000)
    grown, busy = line.resident() - before, line.busy() - busy
    line.end()
    return {
        "p50_ms": round(quantile(took, 0.5), 2),
        "p99_ms": round(quantile(took, 0.99), 2),
        "cpu_ms": round(busy / CALLS, 2),
        "resident_mib": round(before / 1_048_576, 1),
        "grown_kib": round(grown / 1_024),
    }


def main() -> None:
    """Measure, and show the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9, help="how many starts of each server")
    arguments = arguments_of(None, parser)
    before = load()
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
        for name, words in servers.items():
            found = {
                "server": name,
                "greeted_ms": round(quantile([one[0] * 1_000 for one in starts[name]], 0.5)),
                "first_call_ms": round(quantile([one[1] * 1_000 for one in starts[name]], 0.5)),
                **called(words, folder, task),
            }
            results.append(found)
            print(found)
    plain, served = starts.values()
    first = ratio([one[0] for one in served], [one[0] for one in plain])
    print(f"first answer: {first} times that of the SDK's own server")
    keep(arguments, before, rounds=arguments.rounds, calls=CALLS, ratio=first, results=results)


if __name__ == "__main__":
    main()
