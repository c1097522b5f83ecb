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
    BACK,
    BOUNDARY,
    CALL,
    COMMAND_LINE,
    DETAIL,
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
from .claude_shapes import about_of, own_words, tagged
from .tools import patched, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHELLS = ("shell", "shell_command", "exec_command", "exec", "local_shell", "container.exec")
_SENDS_OFF = ("spawn_agent", "delegate_task")
_PATCH = "*** Begin Patch"
# Calls that look at a command that goes on beside the agent, or write to it, with what names it.
_POLLS = {"write_stdin": "session_id", "wait": "cell_id"}
_RUNNING = ("Process running with session ID ", "Script running with cell ID ")
_REPORT = "Message Type: FINAL_ANSWER"
_NOTICE = "<subagent_notification>"
_ENDED = ("completed", "errored")

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
        # Commands that outlive their call: call, tool, input, what they printed last, and where.
        self._running: dict[str, tuple[str, str, dict[str, Any], str, int]] = {}
        self._agents: dict[str, str] = {}  # the calls that sent subagents off, by their names
        # What the human said since the agent did anything, and in which kinds of line it stood.
        self._told: dict[str, tuple[str, ...]] = {}
        self._prompts: list[int] = []  # where the human's turns begin, the last ones
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
            return self._said(line, shapes.string(payload.get("message")), kind)
        if kind == "turn_aborted":
            return [Turn(line, INTERRUPT)]
        if kind == "thread_rolled_back":
            return self._go_back(line, payload.get("num_turns"))
        item = payload.get("item")
        if (
            kind == "item_completed"
            and isinstance(item, dict)
            and item.get("type") == "UserMessage"
        ):
            return self._said(line, "\n".join(shapes.texts(item.get("content"))), "item")
        return []

    def _said(self, line: int, text: str, way: str) -> list[Turn]:
        """The words of the human, once, in however many kinds of line they are told."""
        words = own_words(text)
        if not words:
            return []
        ways = self._told.pop(words, ())
        again = way in ways  # told a second time in the same kind of line: sent a second time
        self._told[words] = (way,) if again else (*ways, way)
        if again or not ways:
            self._prompts = [*self._prompts[-_KEPT:], line]
        if len(self._told) > _RECENT:
            del self._told[next(iter(self._told))]
        return [] if ways else [Turn(line, SAID, words, via=PROMPT)]

    def _go_back(self, line: int, count: object) -> list[Turn]:
        """The human took back their last ``count`` turns, and all that came of them."""
        if not isinstance(count, int) or count < 1 or not self._prompts:
            return []
        first = self._prompts[-count:][0]
        self._prompts = self._prompts[:-count]
        self._told = {}
        if self._text is not None and self._text.line >= first:
            self._text = None
            self.held.clear()
        return [Turn(line, BACK, about=str(first))]

    def _message(self, line: int, payload: dict[str, Any]) -> list[Turn]:
        role, content = payload.get("role"), payload.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if content else []
        texts = [shapes.string(block.get("text")) for block in blocks]
        if role == "assistant":
            words = own_words("\n".join(text for text in texts if text))
            self._told = {}
            return [Turn(line, TEXT, words)] if words else []
        if role != "user":
            return []
        if texts and texts[0].lstrip().startswith(_NOTICE):
            known = _object(tagged(texts[0], _NOTICE[1:-1]))
            return self._ended(line, shapes.string(known.get("agent_id")), known.get("status"))
        if _is_said_by_user(payload, texts):
            pictures = any(block.get("type") == "input_image" for block in blocks)
            spoken = "\n".join(text for text in texts if text and not text.startswith("<image"))
            return self._said(line, spoken or ("[Image]" if pictures else ""), "message")
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
        if kind == "agent_message":
            return self._reported(line, payload)
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
        self._told = {}
        if tool == "update_plan":
            text = shapes.bounded(without_echo(shapes.string(given.get("explanation"))))
            return [Turn(line, DETAIL, text, tool=tool, call=call)] if text else []
        if tool == "request_user_input":
            return []  # the result tells whether it came to anything
        if _polled(tool, given) in self._running and not shapes.string(given.get("chars")).strip():
            return []  # only a look
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
        about = _about(given)
        if tool in _SENDS_OFF:
            text = shapes.bounded(without_echo(shapes.string(given.get("message"))))
            name = clean(shapes.string(given.get("task_name")))
            about = shapes.in_a_line(text) or about
            return [Turn(line, LAUNCH, text, name, tool, call, about)]
        text = shapes.bounded(without_echo(command or shapes.prose(given)))
        return [Turn(line, CALL, text, _via(tool, given), tool, call, about)]

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
        if _polled(tool, given) in self._running or _process(payload.get("output")):
            return self._ran_on(line, payload.get("output"), (call, tool, given))
        if tool == "spawn_agent" and not (failed or _is_refused(text)):
            self._sent_off(call, given, _object(text))
            return []
        if self._agents and tool in ("wait", "wait_agent", "close_agent"):
            return self._looked_at_agents(line, call, tool, given, text)
        about = _about(given)
        kind = OUTCOME if tool in _SENDS_OFF and failed else RESULT
        return [Turn(line, kind, text, _via(tool, given), tool, call, about, failed)]

    def _ran_on(
        self, line: int, output: object, made: tuple[str, str, dict[str, Any]]
    ) -> list[Turn]:
        """What a command printed that goes on beside the agent, and how it ended if it did.

        ``made`` is the call that it outlived, or one that looks at it.  While it runs, what it
        printed is told without the key of the call that started it: that one has no result yet.
        """
        text, failed = _output(output)
        process, looked = _process(output), made[0]
        known = self._running.pop(_polled(made[1], made[2]), None)
        call, tool, given, before, at = known or (*made, "", line)
        if text.strip():
            before, at = shapes.bounded(without_echo(text)), line
        about, via = _about(given), _via(tool, given)
        if process:
            self._running[process] = (call, tool, given, before, at)
            if len(self._running) > _KEPT:
                del self._running[next(iter(self._running))]
            key = looked if known else ""
            shown = before if at == line else ""
            return [Turn(line, RESULT, shown, via, tool, key, about)] if shown or key else []
        return [
            Turn(line, RESULT, tool=made[1], call=looked),
            Turn(at, RESULT, before, via, tool, call, about, failed),
        ]

    # ---- subagents ----

    def _sent_off(self, call: str, given: dict[str, Any], known: dict[str, Any]) -> None:
        """Remember by which names what was sent off will be told of."""
        for told in (given.get("task_name"), known.get("task_name"), known.get("agent_id")):
            name = shapes.string(told).rpartition("/")[2]
            if name:
                self._agents[name] = call
        while len(self._agents) > _KEPT:
            del self._agents[next(iter(self._agents))]

    def _reported(self, line: int, payload: dict[str, Any]) -> list[Turn]:
        """What a subagent says when it is done; what it says before that is encrypted."""
        content = payload.get("content")
        blocks = content if isinstance(content, list) else ()
        text = "\n".join(shapes.string(one.get("text")) for one in blocks if isinstance(one, dict))
        if not text.startswith(_REPORT):
            return []
        words = text.partition("Payload:")[2].strip()
        return self._ended(line, shapes.string(payload.get("author")), {"completed": words})

    def _ended(self, line: int, name: str, status: object) -> list[Turn]:
        """The outcome of the subagent ``name``, if the ``status`` is one of an end."""
        told = status if isinstance(status, dict) else {}
        end = next((word for word in _ENDED if word in told), "")
        if not end:
            return []
        call = self._agents.get(name.rpartition("/")[2], "")
        self._agents = {one: of for one, of in self._agents.items() if of != call}
        words = shapes.bounded(without_echo(shapes.string(told[end])))
        about = shortened(folded(name), shapes.ABOUT)
        return [Turn(line, OUTCOME, words, "", "spawn_agent", call, about, end == "errored")]

    def _looked_at_agents(
        self, line: int, call: str, tool: str, given: dict[str, Any], text: str
    ) -> list[Turn]:
        """A look at subagents tells in older versions which of them have ended."""
        known = _object(text).get("status")
        turns = [Turn(line, RESULT, tool=tool, call=call)]
        if tool == "close_agent":
            name = shapes.string(given.get("id")) or shapes.string(given.get("target"))
            closed = self._agents.get(name.rpartition("/")[2], "")
            known = {name: known if isinstance(known, dict) else {"completed": ""}}
            if not closed:
                return turns
        for name, status in known.items() if isinstance(known, dict) else ():
            if name.rpartition("/")[2] in self._agents:
                turns += self._ended(line, name, status)
        return turns

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


def _about(given: dict[str, Any]) -> str:
    return shapes.in_a_line(_command(given)) or about_of(given)


def _via(tool: str, given: dict[str, Any]) -> str:
    return COMMAND_LINE if tool in _SHELLS or _command(given) else ""


def _polled(tool: str, given: dict[str, Any]) -> str:
    """The running command that a call looks at, or an empty string."""
    value = given.get(_POLLS.get(tool, ""))
    return str(value) if isinstance(value, str | int) else ""


def _process(output: object) -> str:
    """What a command is known by that still ran when its call came back, or an empty string."""
    head = _printed(output)[:1_000].partition("\nOutput:")[0]
    for row in head.split("\n")[:6]:
        for mark in _RUNNING:
            if row.startswith(mark):
                return row[len(mark) :].strip()
    return ""


def _is_refused(text: str) -> bool:
    """Whether a subagent was not sent off, as the result of the call words it."""
    return text.startswith("unsupported call") or "failed" in text[:60]


def _keyed(call: str, files: list[str]) -> list[tuple[str, str]]:
    """A key for each file of one call: the turns of several stand beside each other."""
    return [(f"{call}#{at}" if at else call, path) for at, path in enumerate(files)]


def _printed(output: object) -> str:
    if isinstance(output, list):
        return "\n".join(shapes.string(one.get("text")) for one in output if isinstance(one, dict))
    return shapes.string(output)


def _output(output: object) -> tuple[str, bool]:
    """What a tool printed, and whether it failed: told as JSON, in a preamble, or not at all."""
    text = _printed(output)
    if text.startswith("{"):
        known = _object(text)
        detail = known.get("metadata")
        if isinstance(known.get("output"), str):
            code = detail.get("exit_code") if isinstance(detail, dict) else 0
            return known["output"], code not in (0, None)
    head, told, printed = f"{text}\n".partition("\nOutput:\n")
    printed = printed.removesuffix("\n")
    if told and len(head) < 1_000:
        for mark in ("Process exited with code ", "Exit code: "):
            if mark in head:
                code = head.partition(mark)[2].partition("\n")[0].strip()
                return printed, code != "0"
        return printed, head.startswith("Script failed")
    if _process(text):
        return "", False
    return text, text.startswith(("Error", "error:", "apply_patch verification failed"))


def _steps(plan: object) -> tuple[Step, ...]:
    rows = [row for row in plan if isinstance(row, dict)] if isinstance(plan, list) else []
    return tuple(
        Step(str(at), clean(shapes.string(row.get("step"))), shapes.string(row.get("status")))
        for at, row in enumerate(rows, 1)
    )
