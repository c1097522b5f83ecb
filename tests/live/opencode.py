"""Sessions of the real OpenCode, cut off from every network: prints what reached the model.

    unshare -rn python opencode.py OPENCODE SPINDLE NODE_MODULES FOLDER < runs.json

Run in a namespace with nothing but loopback.  Our plugin is brought in by our own ``setup``; then
come the runs, each one session of one server, with its ``prompts``, a turn each, ``/compact`` among
them.  A run may go on in a fork of an earlier session (``fork``, its number) or with that session
itself after the server was started again (``again``).  ``TASK`` in a prompt stands for the id of a
task that the ledger holds.  A run with ``without`` has no command of ours to call.  At last the
plugin is taken out again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.live.model import SUMMARY, Model, Reply

PORT = 4996
TURN_SECONDS = 90
USUAL, FULL = 1_000, 59_000
"""Tokens of any request, and those at which a context of 60,000 is compacted."""
SUMMARISES = "context summarization agent"
"""What OpenCode calls the model that is to write a summary."""
MODEL = {"providerID": "stand-in", "modelID": "small"}


class Summariser(Model):
    """The stand-in where instructions, and not a prompt, say that a summary is wanted."""

    def reply(self, body: dict[str, Any], turns: list[tuple[str, str]]) -> Reply:
        """What a request is answered with; the request is kept."""
        if SUMMARISES not in json.dumps(body.get("messages", [])[:1]):
            return super().reply(body, turns)
        self.requests.append(body)
        self.kinds.append("summary")
        return Reply(SUMMARY, USUAL)


class Server:
    """One OpenCode, serving."""

    def __init__(self, program: str, folder: Path, environment: dict[str, str]) -> None:
        self.log = open(folder.parent / "server.log", "ab")
        self.child = subprocess.Popen(
            [program, "serve", "--port", str(PORT), "--hostname", "127.0.0.1", "--print-logs"],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )
        until = time.monotonic() + TURN_SECONDS
        while True:
            try:
                self.ask("GET", "/session", seconds=3)
                return
            except OSError:
                if time.monotonic() > until or self.child.poll() is not None:
                    raise
                time.sleep(0.3)

    def ask(self, method: str, path: str, body: Any = None, seconds: int = TURN_SECONDS) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{PORT}{path}",
            method=method,
            data=data,
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            said = answer.read()
        return json.loads(said) if said else None

    def turn(self, session: str, prompt: str) -> str:
        if prompt == "/compact":
            return str(self.ask("POST", f"/session/{session}/summarize", {**MODEL, "auto": False}))
        parts = [{"type": "text", "text": prompt}]
        told = self.ask("POST", f"/session/{session}/message", {"model": MODEL, "parts": parts})
        return str(told["info"].get("finish"))

    def stop(self) -> None:
        self.child.terminate()
        self.child.wait(timeout=30)
        self.log.close()


def main() -> None:
    """Set up, run, remove; then a report in JSON."""
    program, spindle, modules, folder = sys.argv[1:5]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    model = Summariser(USUAL, FULL)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    place = Path(folder)
    project = place / "project"
    settings = place / "home" / ".config" / "opencode"
    for one in (settings, project, place / "tmp"):
        one.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {
            "baseURL": f"http://127.0.0.1:{model.port}/v1",
            "apiKey": "stand-in",
        },
        "models": {"small": {"limit": {"context": 60_000, "output": 4_000}}},
    }
    (settings / "opencode.json").write_text(
        json.dumps(
            {
                "autoupdate": False,
                "share": "disabled",
                "model": "stand-in/small",
                "small_model": "stand-in/small",
                "provider": {"stand-in": provider},
                "permission": {"*": "allow"},
            }
        )
    )
    # What it would fetch for any folder with plugins.
    shutil.copytree(modules, settings / "node_modules", symlinks=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(Path(modules).parent / name, settings / name)
    environment = {
        "PATH": f"{os.path.dirname(program)}:{os.environ['PATH']}",
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "tmp"),
        "LANG": "C.UTF-8",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }

    def ours(*words: str) -> str:
        ran = subprocess.run(
            [spindle, *words],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout

    before = sorted(str(one.relative_to(settings)) for one in settings.iterdir())
    ours("init")
    task = ours("task", "create", "LEDGER-GOAL-9: a widget", "--next", "LEDGER-NEXT-3", "--quiet")
    ours("setup", "opencode", "--hooks", "--write")
    plugin = settings / "plugins" / "contextspindle.js"
    whole = plugin.read_text()
    server = Server(program, project, environment)
    runs: list[dict[str, Any]] = []
    for run in json.load(sys.stdin):
        if run.get("again") is not None or run.get("without"):
            server.stop()
            text = (
                whole.replace(spindle, "/nowhere/contextspindle") if run.get("without") else whole
            )
            plugin.write_text(text)
            server = Server(program, project, environment)
        if "fork" in run:
            session = server.ask("POST", f"/session/{runs[run['fork']]['session']}/fork", {})["id"]
        elif "again" in run:
            session = runs[run["again"]]["session"]
        else:
            session = server.ask("POST", "/session", {"title": "a session"})["id"]
        first, ended = len(model.requests), []
        for prompt in run["prompts"]:
            ended.append(server.turn(session, prompt.replace("TASK", task.strip())))
        requests = [json.dumps(one["messages"]) for one in model.requests[first:]]
        kinds = model.kinds[first:]
        runs.append({"results": ended, "session": session, "requests": requests, "kinds": kinds})
    plugin.write_text(whole)
    children = [
        one["id"]
        for run in runs
        for one in server.ask("GET", f"/session/{run['session']}/children")
    ]
    server.stop()
    status = ours("fuse", "status", "--json")
    shown = json.loads(ours("fuse", "show", "--session", runs[0]["session"], "--json"))["data"]
    line = next(one["line"] for one in shown["items"] if one["line"])
    source = ours("fuse", "source", str(line), "--session", runs[0]["session"])
    ours("setup", "opencode", "--hooks", "--remove")
    report = {
        "runs": runs,
        "children": children,
        "task": task.strip(),
        "status": json.loads(status)["data"],
        "transcript": shown["transcript"],
        "source": source,
        "left": sorted(str(one.relative_to(settings)) for one in settings.iterdir()),
        "before": before,
        "temporary": sorted(os.listdir(place / "tmp")),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
