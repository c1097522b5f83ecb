"""Claude Code's entries as tests need them, and the way from turns to a draft."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contextspindle.core.draft import Draft
from contextspindle.core.extract import Extractor
from contextspindle.core.transcript import SAID, Turn
from contextspindle.harness import claude_turns

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file)."
)


def entry(kind: str, session: str = SESSION, **fields: Any) -> dict[str, Any]:
    """A line of the main conversation."""
    return {"parentUuid": None, "isSidechain": False, "sessionId": session, "type": kind, **fields}


def user(content: Any, session: str = SESSION, **fields: Any) -> dict[str, Any]:
    return entry("user", session, message={"role": "user", "content": content}, **fields)


def says(text: str, **fields: Any) -> dict[str, Any]:
    """The agent writes."""
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], **fields}
    return entry("assistant", message=message)


def calls(call: str, tool: str, **given: Any) -> dict[str, Any]:
    """The agent calls a tool."""
    block = {"type": "tool_use", "id": call, "name": tool, "input": given}
    return entry("assistant", message={"role": "assistant", "content": [block]})


def returns(call: str, text: Any, detail: Any = None, **block: Any) -> dict[str, Any]:
    """A tool answers, under the user's role."""
    answer = {"type": "tool_result", "tool_use_id": call, "content": text, **block}
    return user([answer], toolUseResult=text if detail is None else detail)


def refuses(call: str, words: str) -> dict[str, Any]:
    """The human refuses a call and says why."""
    told = f"{REJECTED} To tell you how to proceed, the user said:\n{words}"
    return returns(call, told, f"Error: {REJECTED}", is_error=True)


def queue(operation: str, content: str | None = None, **more: Any) -> dict[str, Any]:
    fields = more if content is None else {"content": content, **more}
    return {"type": "queue-operation", "operation": operation, "sessionId": SESSION, **fields}


def notification(
    task: str = "a1",
    status: str = "completed",
    summary: str = "Agent done",
    result: str = "Nothing found",
) -> str:
    """Background work reports."""
    return (
        f"<task-notification>\n<task-id>{task}</task-id>\n<status>{status}</status>\n"
        f"<summary>{summary}</summary>\n<result>{result}</result>\n</task-notification>"
    )


def written(path: Path, entries: list[Any], *, end: bytes = b"\n") -> str:
    """A file of these entries; bytes and strings go in as they are."""
    rows = [
        e if isinstance(e, bytes) else (e if isinstance(e, str) else json.dumps(e)).encode()
        for e in entries
    ]
    path.write_bytes(b"\n".join(rows) + end)
    return str(path)


def turns_of(entries: list[Any], agent: str = "") -> list[Turn]:
    """What the adapter's parser makes of the entries, without a file."""
    parser = claude_turns.Parser(agent)
    turns = [turn for line, e in enumerate(entries, 1) for turn in parser.turns(line, e)]
    return [*turns, *parser.finish()]


def said(entries: list[Any], **more: Any) -> list[tuple[str, str]]:
    """What the human said: channel and words."""
    return [(turn.via, turn.text) for turn in turns_of(entries, **more) if turn.kind == SAID]


def draft_of(turns: list[Turn]) -> Draft:
    extractor = Extractor()
    for turn in turns:
        extractor.feed(turn)
    return extractor.draft()


class Talk:
    """A session of Claude Code in the project, with its transcript in the harness's own place."""

    def __init__(self, project, home, session=SESSION):
        self.project = project
        self.session = session
        self.config = home / ".claude"
        self.path = self.config / "projects" / "-p" / f"{session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()

    def write(self, *entries, path=None):
        with (path or self.path).open("a") as file:
            for one in entries:
                file.write(json.dumps(one, separators=(",", ":")) + "\n")

    def hook(self, verb, event, **more):
        payload = {
            "hook_event_name": event,
            "session_id": self.session,
            "transcript_path": str(self.path),
            "cwd": str(self.project.folder),
            **more,
        }
        done = self.project("fuse", verb, input=json.dumps(payload).encode())
        assert (done.status, done.err) == (0, b"")
        return json.loads(done.out) if done.out else None

    def save(self, **more):
        return self.hook("save", "PreCompact", trigger="auto", **more)

    def told(self, source="compact", **more):
        answer = self.hook("restore", "SessionStart", source=source, **more)
        return answer["hookSpecificOutput"]["additionalContext"] if answer else ""

    def heard(self, summary):
        self.hook(
            "save",
            "SubagentStop",
            agent_id="a1",
            agent_type="",
            last_assistant_message=f"<analysis>x</analysis>\n<summary>\n{summary}\n</summary>",
        )
