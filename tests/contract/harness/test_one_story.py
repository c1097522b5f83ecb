"""One story in the words of every harness: the same turns come out, and nothing of the program."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contextspindle.core.transcript import (
    BOUNDARY,
    CALL,
    CLOSING,
    COMMAND_LINE,
    EDIT,
    OPENING,
    RESULT,
    SAID,
    SUMMARY,
    TEXT,
    TODOS,
    Turn,
)
from contextspindle.harness import adapter, detect
from contextspindle.harness.lines import Transcript
from tests.transcripts import written

SESSION = "01a229a5-a881-7ea1-8b19-847dc4afb969"
ECHO = f"{OPENING}\nGoal: an older one\n{CLOSING}"
AT = "2026-01-31T09:30:00.000Z"

STORY = [
    (SAID, "", "Mend the mast, never with nylon.", False),
    (CALL, COMMAND_LINE, "make test", False),
    (RESULT, COMMAND_LINE, "1 failed", True),
    (CALL, EDIT, "", False),
    (RESULT, EDIT, "", False),
    (TEXT, "", "The mast is mended.", False),
    (BOUNDARY, "", "", False),
    (SUMMARY, "", "They mended a mast.", False),
    (SAID, "", "And now the sail.", False),
]
"""Kind, channel, text and failure; the text of an edit is nobody's concern."""


def qwen() -> list[dict[str, Any]]:
    def line(kind: str, provenance: str, /, **fields: Any) -> dict[str, Any]:
        head = {"uuid": "u", "sessionId": SESSION, "timestamp": AT, "cwd": "/x"}
        return {**head, "type": kind, "provenance": provenance, **fields}

    def says(text: str) -> dict[str, Any]:
        parts = [{"text": text}, {"text": f"<qwen:user-prompt-submit-context>\n{ECHO}\n</qwen>"}]
        return line("user", "real_user", message={"role": "user", "parts": parts})

    def calls(key: str, name: str, **args: Any) -> dict[str, Any]:
        part = {"functionCall": {"id": key, "name": name, "args": args}}
        return line("assistant", "assistant_output", message={"role": "model", "parts": [part]})

    def answers(key: str, text: str, status: str = "success") -> dict[str, Any]:
        part = {"functionResponse": {"id": key, "name": "x", "response": {"output": text}}}
        told = {"callId": key, "status": status}
        message = {"role": "user", "parts": [part]}
        return line("tool_result", "tool_result", message=message, toolCallResult=told)

    summary = {"text": "<summary>\nThey mended a mast.\n</summary>\n\nResume the prior task."}
    return [
        says("Mend the mast, never with nylon."),
        line("system", "system", subtype="ui_telemetry", systemPayload={}),
        calls("c1", "run_shell_command", command="make test"),
        answers("c1", "1 failed", "error"),
        calls("c2", "edit", file_path="/x/mast.py", old_string="a", new_string="b"),
        answers("c2", "Edited"),
        line(
            "assistant",
            "assistant_output",
            message={"role": "model", "parts": [{"text": "The mast is mended."}]},
        ),
        line(
            "system",
            "system",
            subtype="chat_compression",
            systemPayload={
                "info": {"triggerReason": "auto"},
                "compressedHistory": [{"role": "user", "parts": [summary]}],
            },
        ),
        says("And now the sail."),
    ]


def droid() -> list[dict[str, Any]]:
    def message(role: str, *content: Any, **fields: Any) -> dict[str, Any]:
        told = {"role": role, "content": list(content), **fields}
        return {"type": "message", "id": "m", "timestamp": AT, "message": told}

    def text(words: str) -> dict[str, Any]:
        return {"type": "text", "text": words}

    def result(key: str, words: str, **fields: Any) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": key, "content": words, **fields}
        return message("user", block)

    def calls(key: str, name: str, **given: Any) -> dict[str, Any]:
        return message("assistant", {"type": "tool_use", "id": key, "name": name, "input": given})

    return [
        {"type": "session_start", "id": SESSION, "cwd": "/x"},
        message("user", hookEventName="SessionStart", visibility="user_only"),
        message("user", text("<system-reminder>\nThe tools listed below\n</system-reminder>")),
        message("user", text(ECHO)),
        message("user", text("Mend the mast, never with nylon."), userMessageSource="cli_tui"),
        calls("c1", "Execute", command="make test"),
        result("c1", "1 failed\n\n\n[Process exited with code 2]", is_error=False),
        calls("c2", "Edit", file_path="/x/mast.py", old_str="a", new_str="b"),
        result("c2", "Edited"),
        message("assistant", text("The mast is mended.")),
        {"type": "compaction_state", "id": "s", "summaryText": "They mended a mast."},
        message("user", text("And now the sail.")),
    ]


def gemini() -> list[dict[str, Any]]:
    def user(key: str, words: str) -> dict[str, Any]:
        content = [{"text": words}, {"text": f"<hook_context>{ECHO}</hook_context>"}]
        return {"id": key, "timestamp": AT, "type": "user", "content": content}

    def call(key: str, name: str, output: str, status: str, **args: Any) -> dict[str, Any]:
        framed = f"<untrusted_context>\n{output}\n</untrusted_context>\n\n<hook_context>{ECHO}"
        answer = {"id": key, "name": name, "response": {"output": f"{framed}</hook_context>"}}
        result = [{"functionResponse": answer}]
        return {"id": key, "name": name, "args": args, "result": result, "status": status}

    def says(key: str, words: str, *calls: Any) -> dict[str, Any]:
        fields = {"toolCalls": list(calls)} if calls else {}
        return {"id": key, "timestamp": AT, "type": "gemini", "content": words, **fields}

    snapshot = "<state_snapshot>\nThey mended a mast.\n</state_snapshot>"
    anew = [
        {"id": "ctx", "type": "user", "content": [{"text": "<session_context>\nx"}]},
        {"id": "snap", "type": "user", "content": [{"text": snapshot}]},
        user("u1", "Mend the mast, never with nylon."),
    ]
    shell = call("c1", "run_shell_command", "1 failed", "error", command="make test")
    edit = call("c2", "replace", "Edited", "success", file_path="/x/mast.py")
    return [
        {"sessionId": SESSION, "projectHash": "h", "startTime": AT, "kind": "main"},
        {"$set": {"messages": [anew[0]]}},
        user("u1", "Mend the mast, never with nylon."),
        {"$set": {"lastUpdated": AT}},
        says("g1", ""),
        says("g1", "", shell),
        {"id": "r1", "type": "user", "content": [{"functionResponse": {"id": "c1"}}]},
        says("g2", "", edit),
        says("g3", "The mast is mended."),
        says("g3", "The mast is mended."),
        {"$set": {"messages": anew}},
        {"$set": {"messages": anew}},
        {"id": "i", "type": "info", "content": "Context compressed from 6% to 0%."},
        user("u2", "And now the sail."),
    ]


def copilot() -> list[dict[str, Any]]:
    def event(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": "e", "timestamp": AT, "parentId": None}

    def says(words: str, *calls: Any) -> dict[str, Any]:
        return event("assistant.message", content=words, toolRequests=list(calls))

    def call(key: str, name: str, **arguments: Any) -> dict[str, Any]:
        return {"toolCallId": key, "name": name, "arguments": arguments}

    def ends(key: str, text: str, code: int = 0) -> dict[str, Any]:
        result = {
            "content": f"{text}\n\nAdditional guidance from postToolUse hooks:\n{ECHO}",
            "detailedContent": f"{text}\n<shellId: 0 completed with exit code {code}>",
        }
        return event(
            "tool.execution_complete",
            toolCallId=key,
            success=True,
            shellExecution={"exitCode": code},
            result=result,
        )

    return [
        event("session.start", sessionId=SESSION, context={"cwd": "/x", "branch": "main"}),
        event("hook.end", output={"additionalContext": ECHO}),
        event(
            "user.message",
            content="Mend the mast, never with nylon.",
            transformedContent=f"<system_reminder>\n{ECHO}\n</system_reminder>",
        ),
        says("", call("c1", "bash", command="make test")),
        ends("c1", "1 failed", 2),
        says("", call("c2", "edit", path="/x/mast.py")),
        ends("c2", "Edited"),
        says("The mast is mended."),
        event("session.compaction_start", trigger="manual"),
        event("session.compaction_complete", success=False),
        event("session.compaction_complete", success=True, summaryContent="They mended a mast."),
        event("user.message", content="And now the sail."),
    ]


def codex() -> list[dict[str, Any]]:
    def line(kind: str, /, **payload: Any) -> dict[str, Any]:
        return {"timestamp": AT, "type": kind, "payload": payload}

    def message(role: str, text: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": text}]
        return line("response_item", type="message", role=role, content=content)

    def call(key: str, name: str, **arguments: Any) -> dict[str, Any]:
        return line(
            "response_item",
            type="function_call",
            name=name,
            arguments=json.dumps(arguments),
            call_id=key,
        )

    def output(key: str, text: str, code: int = 0) -> dict[str, Any]:
        told = f"Wall time: 0.1\nProcess exited with code {code}\nOutput:\n{text}"
        return line("response_item", type="function_call_output", call_id=key, output=told)

    patch = "*** Begin Patch\n*** Update File: /x/mast.py\n@@\n-a\n+b\n*** End Patch"
    return [
        line("session_meta", id=SESSION, cwd="/x"),
        message("developer", ECHO),
        message("user", "<environment_context>\n</environment_context>"),
        message("user", "Mend the mast, never with nylon."),
        line("event_msg", type="user_message", message="Mend the mast, never with nylon."),
        call("c1", "exec_command", cmd="make test"),
        output("c1", "1 failed", 2),
        call("c2", "shell", command=["bash", "-lc", f"apply_patch <<'E'\n{patch}\nE"]),
        output("c2", "Success."),
        message("assistant", "The mast is mended."),
        message("assistant", "They mended a mast."),
        line("compacted", message="They mended a mast."),
        message("user", "And now the sail."),
    ]


def opencode() -> list[dict[str, Any]]:
    def message(role: str, *parts: Any, **info: Any) -> dict[str, Any]:
        head = {"id": "msg_1", "sessionID": SESSION, "role": role, "time": {"created": 1}}
        return {"info": {**head, **info}, "parts": list(parts)}

    def text(words: str, **fields: Any) -> dict[str, Any]:
        return {"type": "text", "text": words, **fields}

    def tool(name: str, output: str, code: int | None = None, **given: Any) -> dict[str, Any]:
        detail = {} if code is None else {"exit": code}
        state = {"status": "completed", "input": given, "output": output, "metadata": detail}
        return {"type": "tool", "tool": name, "callID": f"call_{name}", "state": state}

    start, finish = {"type": "step-start"}, {"type": "step-finish", "reason": "stop"}
    return [
        message(
            "user",
            text("Mend the mast, never with nylon."),
            text("Called the Read tool with the following input", synthetic=True),
            text(ECHO, synthetic=True),
        ),
        message("assistant", start, tool("bash", "1 failed", 2, command="make test"), finish),
        message("assistant", tool("edit", "Edited", filePath="/x/mast.py", oldString="a")),
        message("assistant", {"type": "reasoning", "text": "hm"}, text("The mast is mended.")),
        message("user", {"type": "compaction", "auto": True}),
        message("assistant", text("half of"), summary=True, error={"name": "Aborted"}),
        message("assistant", text("They mended a mast."), summary=True, finish="stop"),
        message("user", text("Continue if you have next steps", synthetic=True)),
        message("user", text("And now the sail.")),
    ]


def cline() -> list[dict[str, Any]]:
    def message(role: str, *content: Any, **fields: Any) -> dict[str, Any]:
        return {"role": role, "content": list(content), "ts": 1795996487242, **fields}

    def text(words: str) -> dict[str, Any]:
        return {"type": "text", "text": words}

    def typed(words: str) -> dict[str, Any]:
        return text(f'<user_input mode="act">{words}</user_input>')

    def calls(key: str, name: str, **given: Any) -> dict[str, Any]:
        return message("assistant", {"type": "tool_use", "id": key, "name": name, "input": given})

    def result(key: str, words: str) -> dict[str, Any]:
        return message("user", {"type": "tool_result", "tool_use_id": key, "content": words})

    ran = json.dumps([{"query": "make test", "result": "1 failed", "success": False}])
    summary = {"kind": "compaction_summary", "summary": "They mended a mast."}
    return [
        message("user", typed("Mend the mast, never with nylon."), text(f"<hook_context>{ECHO}")),
        calls("c1", "run_commands", commands=["make test"]),
        result("c1", ran),
        calls("c2", "editor", path="/x/mast.py", new_text="b"),
        result("c2", "Edited"),
        message("assistant", text("The mast is mended.")),
        message("user", text("Context summary:"), metadata=summary),
        message("user", typed("And now the sail.")),
    ]


def older_gemini() -> list[dict[str, Any]]:
    """Without what only lines can say: there a compression leaves nothing behind."""
    return [one for one in gemini()[1:] if "$set" not in one]


TELLERS = {
    "codex": codex,
    "copilot-cli": copilot,
    "droid": droid,
    "gemini": gemini,
    "opencode": opencode,
    "qwen-code": qwen,
}

DOCUMENTS = {
    "cline": lambda: {"version": 1, "messages": cline()},
    "gemini": lambda: {"sessionId": SESSION, "projectHash": "h", "messages": older_gemini()},
    "opencode": lambda: {"info": {"id": SESSION, "title": "t"}, "messages": opencode()},
}
"""Those that keep or print a session as one document."""


def told_by(name: str, path: str) -> tuple[list[tuple[Any, ...]], list[Turn], Transcript]:
    """The story as the file tells it, the turns that tell it, and what was read."""
    assert name == detect(path).NAME
    transcript = adapter(name).read(path, SESSION)
    turns = [turn for turn in transcript if turn.kind not in ("place", TODOS)]
    told = [
        (
            turn.kind,
            turn.via if turn.kind in (CALL, RESULT) else "",
            "" if turn.via == EDIT else turn.text,
            turn.failed,
        )
        for turn in turns
    ]
    return told, turns, transcript


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("indent", [None, 2], ids=["in one line", "indented"])
def test_a_document_tells_the_same_story(tmp_path, name, indent):
    path = tmp_path / "session.json"
    path.write_text(json.dumps(DOCUMENTS[name](), indent=indent))
    told, turns, transcript = told_by(name, str(path))
    compacted = [one for one in STORY if one[0] not in (BOUNDARY, SUMMARY)]
    assert told == (compacted if name == "gemini" else STORY)
    assert all(len(turn.seal) == 16 for turn in turns)
    reading = transcript.reading
    assert (reading.unreadable, reading.foreign, reading.torn) == (0, 0, False)
    assert reading.lines >= turns[-1].line


@pytest.mark.parametrize("name", TELLERS)
def test_the_story_comes_out_the_same(tmp_path, name):
    path = written(tmp_path / "transcript.jsonl", TELLERS[name]())
    told, turns, transcript = told_by(name, path)
    assert told == STORY
    assert {turn.about for turn in turns if turn.via == EDIT} == {"/x/mast.py"}
    assert all(len(turn.seal) == 16 for turn in turns)
    assert transcript.reading.unreadable == transcript.reading.foreign == 0


@pytest.mark.parametrize("name", TELLERS)
def test_a_strange_line_costs_only_itself(tmp_path, name):
    strange: list[Any] = ["not JSON", [], 7, {}, {"type": None}, {"type": "message"}]
    for entry in TELLERS[name]():
        # Every field of every line in another type, one at a time.
        strange += [{**entry, key: other} for key in entry for other in (None, 3, [3], {"a": 3})]
    path = written(tmp_path / "transcript.jsonl", [*TELLERS[name](), *strange])
    turns = list(adapter(name).read(path, SESSION))
    assert [turn.text for turn in turns if turn.kind == SAID][:2] == [
        "Mend the mast, never with nylon.",
        "And now the sail.",
    ]


@pytest.mark.parametrize("name", TELLERS)
def test_what_only_looks_like_a_path_is_not_looked_for(tmp_path, name):
    for session in ("", "../x", "a/b", "x" * 200, "\0"):
        assert adapter(name).find(str(tmp_path), session) is None
