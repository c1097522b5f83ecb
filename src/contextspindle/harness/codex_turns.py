"""Codex's rollout lines as turns, from version 0.36 to 0.171.

A rollout tells most things twice: once as an item of the conversation (``response_item``), once as
an event for the screen (``event_msg``).  What the agent said and did is taken from the items.  What
the human said is taken from whichever comes first and says that it was the human: an item may as
well be a file of instructions, an environment, or a summary under the user's role, and only newer
versions mark it.  Reasoning, usage and the state of the program are no talk.
"""

from __future__ import annotations

from ..core import canon
from ..core.text import clean, folded, shortened
from ..core.transcript import (
    ANSWER,
    BOUNDARY,
    CALL,
    COMMAND_LINE,
    EDIT,
    INTERRUPT,
    LAUNCH,
    OUTCOME,
    PROMPT,
    RESULT,
    SAID,
    SUMMARY,
    TEXT,
    TODOS,
    Step,
    Turn,
    without_echo,
)
from . import claude_shapes as shapes
from .claude_shapes import about_of, own_words
from .tools import patched, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHELLS = ("shell", "shell_command", "exec_command", "exec", "local_shell", "container.exec")
_SENDS_OFF = ("spawn_agent", "delegate_task")
_PATCH = "*** Begin Patch"

_SUMMARY_OPENING = "Another language model started to solve this problem"
_NOT_THE_USER = ("# AGENTS.md instructions", _SUMMARY_OPENING)
"""Besides what begins with a tag: how older versions' entries under the user's role begin."""

_KEPT = 400  # calls remembered
_RECENT = 8  # sayings among which a second telling is looked for


class Parser:
    """Turns one rollout's lines, in file order, into turns."""

    def __init__(self) -> None:
        self.known = 0
        self.held: dict[int, str] = {}
        self._text: Turn | None = None  # the agent's last words, until it is clear that they are
        self._calls: dict[str, tuple[str, dict[str, Any], list[str]]] = {}
        self._told: list[str] = []  # what the human said since the agent did anything
        self._place: dict[str, str] = {}

    def session(self, entry: dict[str, Any]) -> str:
        """The session that a file's own head names; the other lines name none."""
        payload = entry.get("payload")
        if entry.get("type") != "session_meta" or not isinstance(payload, dict):
            return ""
        return shapes.string(payload.get("id"))

    def turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        """The turns of one line: none for one that says nothing.

        The agent's words wait for the next turn: those before a compaction may be the summary.
        """
        turns = self._turns(line, entry)
        if turns and turns[0].kind == BOUNDARY and self._text is not None:
            summary = turns[-1].text
            if summary and summary in self._text.text:
                self._text = None
                self.held.clear()
        if turns and turns[-1].kind == TEXT:
            before = self.finish()
            self._text = turns.pop()
            self.held[line] = ""
            return [*before, *turns]
        return [*self.finish(), *turns] if turns else []

    def _turns(self, line: int, entry: dict[str, Any]) -> list[Turn]:
        kind, payload = entry.get("type"), entry.get("payload")
        if not isinstance(payload, dict):
            return []
        if kind == "response_item":
            self.known += 1
            return self._item(line, payload)
        if kind == "event_msg":
            self.known += 1
            return self._event(line, payload)
        if kind == "compacted":
            self.known += 1
            return self._compacted(line, payload)
        if kind in ("session_meta", "turn_context"):
            self.known += 1
            git = payload.get("git")
            branch = git.get("branch") if isinstance(git, dict) else None
            return [
                *place(line, "branch", branch, self._place),
                *place(line, "folder", payload.get("cwd"), self._place),
            ]
        return []

    def finish(self) -> list[Turn]:
        """The agent's last words, after which nothing followed."""
        text, self._text = self._text, None
        if text is None:
            return []
        return [text._replace(seal=self.held.pop(text.line, ""))]

    # ---- what was said ----

    def _event(self, line: int, payload: dict[str, Any]) -> list[Turn]:
        kind = payload.get("type")
        if kind == "user_message":
            return self._said(line, shapes.string(payload.get("message")))
        if kind == "turn_aborted":
            return [Turn(line, INTERRUPT)]
        item = payload.get("item")
        if (
            kind == "item_completed"
            and isinstance(item, dict)
            and item.get("type") == "UserMessage"
        ):
            return self._said(line, "\n".join(shapes.texts(item.get("content"))))
        return []

    def _said(self, line: int, text: str) -> list[Turn]:
        words = own_words(text)
        if not words or words in self._told:
            return []
        self._told = [*self._told[-_RECENT:], words]
        return [Turn(line, SAID, words, via=PROMPT)]

    def _message(self, line: int, payload: dict[str, Any]) -> list[Turn]:
        role, content = payload.get("role"), payload.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if content else []
        texts = [shapes.string(block.get("text")) for block in blocks]
        if role == "assistant":
            words = own_words("\n".join(text for text in texts if text))
            self._told = []
            return [Turn(line, TEXT, words)] if words else []
        if role != "user":
            return []
        if _is_said_by_user(payload, texts):
            pictures = any(block.get("type") == "input_image" for block in blocks)
            spoken = "\n".join(text for text in texts if text and not text.startswith("<image"))
            return self._said(line, spoken or ("[Image]" if pictures else ""))
        return []

    def _compacted(self, line: int, payload: dict[str, Any]) -> list[Turn]:
        """The end of one context.  The summary may be encrypted: then there is nothing to read."""
        message = shapes.string(payload.get("message"))
        if message.startswith(_SUMMARY_OPENING):
            message = message.partition("\n")[2]
        words = own_words(message)
        turns = [Turn(line, BOUNDARY)]
        return [*turns, Turn(line, SUMMARY, words)] if words else turns

    # ---- what was done ----

    def _item(self, line: int, payload: dict[str, Any]) -> list[Turn]:
        kind = payload.get("type")
        if kind == "message":
            return self._message(line, payload)
        if kind == "function_call":
            given = _object(payload.get("arguments"))
            return self._call(line, payload, given)
        if kind == "custom_tool_call":
            return self._call(line, payload, {"input": shapes.string(payload.get("input"))})
        if kind == "local_shell_call":
            action = payload.get("action")
            return self._call(line, payload, action if isinstance(action, dict) else {})
        if kind in ("function_call_output", "custom_tool_call_output"):
            return self._result(line, payload)
        return []

    def _call(self, line: int, payload: dict[str, Any], given: dict[str, Any]) -> list[Turn]:
        tool = clean(shapes.string(payload.get("name")) or "local_shell")
        call = shapes.string(payload.get("call_id"))
        command = _command(given)
        source = command or shapes.string(given.get("input"))
        files = patched(source) if tool == "apply_patch" or _PATCH in source else []
        self._calls[call] = (tool, given, files)
        if len(self._calls) > _KEPT:
            del self._calls[next(iter(self._calls))]
        self._told = []
        if tool in ("update_plan", "request_user_input"):
            return []  # the result tells whether it came to anything
        if files:
            added = "\n".join(row[1:] for row in source.split("\n") if row.startswith("+"))
            written = shapes.bounded(without_echo(added))
            return [
                # What the patch adds is told with its first file.
                Turn(
                    line,
                    CALL,
                    "" if at else written,
                    EDIT,
                    tool,
                    key,
                    shortened(folded(path), shapes.ABOUT),
                )
                for at, (key, path) in enumerate(_keyed(call, files))
            ]
        about = shapes.in_a_line(command) or about_of(given)
        if tool in _SENDS_OFF:
            text = shapes.bounded(without_echo(shapes.string(given.get("message"))))
            return [Turn(line, LAUNCH, text, tool=tool, call=call, about=about)]
        text = shapes.bounded(without_echo(command or shapes.prose(given)))
        via = COMMAND_LINE if tool in _SHELLS or command else ""
        return [Turn(line, CALL, text, via, tool, call, about)]

    def _result(self, line: int, payload: dict[str, Any]) -> list[Turn]:
        call = shapes.string(payload.get("call_id"))
        tool, given, files = self._calls.pop(call, ("", {}, []))
        text, failed = _output(payload.get("output"))
        if tool == "update_plan":
            steps = _steps(given.get("plan"))
            kept = not failed and "unsupported call" not in text
            return [Turn(line, TODOS, tool=tool, call=call, steps=steps)] if kept else []
        if tool == "request_user_input":
            return self._answers(line, call, given, text)
        text = shapes.bounded(without_echo(text))
        if files:
            return [
                Turn(line, RESULT, text, EDIT, tool, key, shortened(folded(path), 600), failed)
                for key, path in _keyed(call, files)
            ]
        about = shapes.in_a_line(_command(given)) or about_of(given)
        kind = OUTCOME if tool in _SENDS_OFF and failed else RESULT
        via = COMMAND_LINE if tool in _SHELLS or _command(given) else ""
        return [Turn(line, kind, text, via, tool, call, about, failed)]

    def _answers(self, line: int, call: str, given: dict[str, Any], text: str) -> list[Turn]:
        """What the human answered to the agent's questions, each with its question."""
        asked = given.get("questions")
        questions = {
            shapes.string(one.get("id")): shapes.string(one.get("question"))
            for one in (asked if isinstance(asked, list) else ())
            if isinstance(one, dict)
        }
        answers = _object(text).get("answers")
        turns = []
        for key, answer in answers.items() if isinstance(answers, dict) else ():
            chosen = answer.get("answers") if isinstance(answer, dict) else None
            words = ", ".join(one for one in chosen or () if isinstance(one, str))
            if words.strip():
                about = clean(questions.get(key, ""))
                turns.append(
                    Turn(line, SAID, clean(words), ANSWER, "request_user_input", call, about)
                )
        return turns


def _is_said_by_user(payload: dict[str, Any], texts: list[str]) -> bool:
    marks = payload.get("internal_chat_message_metadata_passthrough")
    kinds = marks.get("content_item_kinds") if isinstance(marks, dict) else None
    if isinstance(kinds, list) and kinds:
        return bool(kinds[0] == "user.text")
    # Without a mark, what looks like the program's own is left to the event that follows.
    start = next((text.lstrip() for text in texts if text.strip()), "")
    return not start.startswith(("<", *_NOT_THE_USER))


def _object(source: object) -> dict[str, Any]:
    """The object that a JSON text holds, or an empty one."""
    if isinstance(source, dict):
        return source
    try:
        value = canon.decode(source) if isinstance(source, str) else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _command(given: dict[str, Any]) -> str:
    """The command line of a call, without the shell that runs it."""
    command = given.get("cmd") or given.get("command")
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        if len(words) == 3 and words[1] in ("-lc", "-c"):
            return words[2]
        return " ".join(words)
    return shapes.string(command)


def _keyed(call: str, files: list[str]) -> list[tuple[str, str]]:
    """A key for each file of one call: the turns of several stand beside each other."""
    return [(f"{call}#{at}" if at else call, path) for at, path in enumerate(files)]


def _output(output: object) -> tuple[str, bool]:
    """What a tool printed, and whether it failed: told as JSON, in a preamble, or not at all."""
    if isinstance(output, list):
        output = "\n".join(
            shapes.string(one.get("text")) for one in output if isinstance(one, dict)
        )
    text = shapes.string(output)
    if text.startswith("{"):
        known = _object(text)
        detail = known.get("metadata")
        if isinstance(known.get("output"), str):
            code = detail.get("exit_code") if isinstance(detail, dict) else 0
            return known["output"], code not in (0, None)
    head, told, printed = text.partition("\nOutput:\n")
    if told and len(head) < 1_000:
        for mark in ("Process exited with code ", "Exit code: "):
            if mark in head:
                code = head.partition(mark)[2].partition("\n")[0].strip()
                return printed, code != "0"
        return printed, False
    return text, text.startswith(("Error", "error:", "apply_patch verification failed"))


def _steps(plan: object) -> tuple[Step, ...]:
    rows = [row for row in plan if isinstance(row, dict)] if isinstance(plan, list) else []
    return tuple(
        Step(str(at), clean(shapes.string(row.get("step"))), shapes.string(row.get("status")))
        for at, row in enumerate(rows, 1)
    )
