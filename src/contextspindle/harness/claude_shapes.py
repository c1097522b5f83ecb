"""The shapes inside Claude Code's entries: text blocks, answers, steps, and what a call is about.

Functions of one piece of an entry, leniently read: a field may be missing or of another type, and
then there is nothing in it.
"""

from __future__ import annotations

from ..core.text import clean, folded, shortened
from ..core.transcript import ANSWER, RESULT, SAID, TODO, TODOS, Step, Turn, without_echo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ABOUT = 600
"""The bytes of a turn's ``about`` at most."""
_HEAD, _TAIL = 6_000, 10_000


def text_blocks(entry: dict[str, Any]) -> list[str]:
    """The text blocks of the message that ``entry`` holds; a string is one block."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return texts(content)


def texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [
        block["text"]
        for block in content
        if isinstance(block, dict)
        and block.get("type", "text") == "text"
        and isinstance(block.get("text"), str)
    ]


def tagged(source: str, tag: str) -> str:
    """What stands between ``<tag>`` and ``</tag>``, stripped; empty where there is no such pair."""
    start = source.find(f"<{tag}>")
    if start < 0:
        return ""
    start += len(tag) + 2
    end = source.find(f"</{tag}>", start)
    return source[start : end if end >= 0 else len(source)].strip()


def without(source: str, tag: str) -> str:
    """``source`` without its ``<tag>...</tag>`` passages."""
    closing = f"</{tag}>"
    kept, done = [], 0
    while (start := source.find(f"<{tag}>", done)) >= 0:
        kept.append(source[done:start])
        end = source.find(closing, start)
        done = end + len(closing) if end >= 0 else len(source)
    return "".join([*kept, source[done:]])


def own_words(source: str) -> str:
    """``source`` without what the harness wove into it, cleaned; empty if nothing is left."""
    source = clean(without_echo(source))
    if "<system-reminder>" in source:
        source = without(source, "system-reminder")
    return source.strip("\r\n") if source.strip() else ""


_SUMMARY_OPENING = "This session is being continued from a previous conversation"
_SUMMARY_ENDS = (
    "\nIf you need specific details from before compaction",
    "\nPlease continue the conversation from where we left",
    "\nContinue the conversation from where it left off",
)
_SUMMARY_END = 2_500  # its characters at most, with the path in it


def summary_words(source: str) -> str:
    """The summary in ``source``, out of the frame around it.

    That names a transcript and tells the agent to go on without asking: neither is the summary's.
    """
    words = own_words(source)
    if not words.startswith(_SUMMARY_OPENING):
        return words
    words = words.partition("\n")[2] or words
    for opening in _SUMMARY_ENDS:  # as they follow each other: what is before the first is its own
        at = words.rfind(opening, max(0, len(words) - _SUMMARY_END))
        if at >= 0:
            words = words[:at]
            break
    return words.strip().removeprefix("Summary:").strip()


_HAND_BACK = "[Subagent hand-back]"
_REPORT = "The report follows:\n"


def report(source: str) -> str:
    """What a subagent reported, out of the frame that newer versions put around it."""
    if _HAND_BACK not in source[:2_000] or _REPORT not in source:
        return source
    lines = source.partition(_REPORT)[2].split("\n")
    return "\n".join(line.removeprefix("  ") for line in lines)


def bounded(source: str) -> str:
    """``source``, of a long one its first and its last lines."""
    if len(source) <= _HEAD + _TAIL:
        return clean(source)
    head = source[:_HEAD].rpartition("\n")[0] or source[:_HEAD].rpartition(" ")[0]
    tail = source[-_TAIL:].partition("\n")[2] or source[-_TAIL:].partition(" ")[2]
    return clean(f"{head}\n{tail}")


def string(value: object) -> str:
    return value if isinstance(value, str) else ""


def is_image(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") in ("image", "document")


def is_machine(entry: dict[str, Any]) -> bool:
    """Whether the entry says that no human sent it.  Older versions say nothing either way."""
    origin = entry.get("origin")
    if isinstance(origin, dict) and isinstance(origin.get("kind"), str):
        return bool(origin["kind"] != "human")
    return entry.get("promptSource") == "system"


def is_typed(entry: dict[str, Any]) -> bool:
    """Whether the entry says that its words were typed at the prompt, with nothing running."""
    return entry.get("promptSource") in ("typed", "sdk")


def about_of(given: dict[str, Any]) -> str:
    """What a call is about, in one line: the one field of its input that a person would name."""
    return in_a_line(_subject(given))


def in_a_line(source: str) -> str:
    """``source`` on one line of at most :data:`ABOUT` bytes.  Masked before it is cut: half a
    secret is known by nothing."""
    from ..core.redaction import mask_start

    return shortened(folded(mask_start(source, 2 * ABOUT)), ABOUT)


def _subject(given: dict[str, Any]) -> str:
    for key in (
        "description" if "prompt" in given or "subagent_type" in given else "command",
        "file_path",
        "notebook_path",
        "path" if "pattern" not in given else "pattern",
        "query",
        "url",
        "skill",
        "subject",
        "title",
        "taskId",
        "task_id",
    ):
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return next((v for v in given.values() if isinstance(v, str) and v.strip()), "")


def prose(given: dict[str, Any]) -> str:
    """The parts of a call's input that a person would read, for a call that writes to people."""
    if "file_path" in given or "pattern" in given:
        return ""
    parts = [f"{key}: {v}" for key, v in given.items() if isinstance(v, str) and v.strip()]
    return "\n".join(parts)


def written(given: dict[str, Any]) -> str:
    """The lines that an edit puts into its file, without those that it only keeps."""
    edits = given.get("edits")
    found: dict[str, None] = {}
    for one in (given, *(edits if isinstance(edits, list) else ())):
        if isinstance(one, dict):
            new = next((one[key] for key in _NEW if isinstance(one.get(key), str)), "")
            old = string(one.get("old_string"))
            kept = set(old.split("\n")) if old else ()
            found.update((row, None) for row in new[:_HEAD].split("\n") if row not in kept)
    return clean("\n".join(found)[:_HEAD])


_NEW = ("new_string", "content", "contents", "new_source", "file_text", "new_str")


def answers(line: int, detail: dict[str, Any], call: str) -> list[Turn]:
    """What the human answered, each with its question; the options offered are not their words."""
    answers, notes = detail.get("answers"), detail.get("annotations")
    turns = []
    for question, answer in answers.items() if isinstance(answers, dict) else ():
        chosen = answer if isinstance(answer, str) else ", ".join(_strings(answer))
        note = notes.get(question) if isinstance(notes, dict) else None
        words = clean(chosen.strip())
        extra = clean(string(note.get("notes")).strip()) if isinstance(note, dict) else ""
        if extra and extra not in words:
            words = f"{words}\n{extra}" if words else extra
        if words:
            about = clean(string(question))
            turns.append(Turn(line, SAID, words, ANSWER, "AskUserQuestion", call, about))
    return turns


def _strings(value: object) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def plan(given: dict[str, Any], detail: object) -> str:
    plan = string(given.get("plan"))
    if not plan and isinstance(detail, dict):
        plan = string(detail.get("plan"))
    return bounded(without_echo(plan))


def steps(listed: object) -> tuple[Step, ...]:
    """The steps of a whole list, whichever tool wrote it."""
    steps = []
    for at, item in enumerate(listed if isinstance(listed, list) else (), 1):
        if isinstance(item, dict):
            title = string(item.get("content")) or string(item.get("subject"))
            key = item.get("id")
            steps.append(
                Step(
                    str(key) if isinstance(key, str | int) else str(at),
                    clean(title),
                    string(item.get("status")),
                )
            )
    return tuple(steps)


def task(
    line: int,
    tool: str,
    call: str,
    given: dict[str, Any],
    text: str,
    detail: object,
    *,
    failed: bool,
) -> Turn:
    """A change of the task list, from the result: the call knows no id and may have failed."""
    known = detail if isinstance(detail, dict) else {}
    if tool == "TaskList":
        if text.strip() == "No tasks found":
            return Turn(line, TODOS, tool=tool, call=call)
        steps = _listed(text)
        kind = TODOS if steps else RESULT
        return Turn(line, kind, tool=tool, call=call, steps=steps, failed=failed)
    if tool == "TaskCreate":
        task = known.get("task")
        key = str(task.get("id", "")) if isinstance(task, dict) else ""
        if not key and text.startswith("Task #"):
            key = text[len("Task #") :].partition(" ")[0]
        step = Step(key, clean(string(given.get("subject"))), "pending")
        if not step.title and isinstance(task, dict):
            step = step._replace(title=clean(string(task.get("subject"))))
        note = clean(string(given.get("description")))
        step = step._replace(note="" if note == step.title else note)
        failed = failed or not key
    else:
        key = str(given.get("taskId", "") or known.get("taskId", ""))
        gone = "not found" in (string(known.get("error")) or text).lower()
        failed = failed or known.get("success") is False or (not known and gone)
        status = "gone" if failed and gone else string(given.get("status"))
        title = clean(string(given.get("subject")))
        step = Step(key, title, status, clean(string(given.get("description"))))
    return Turn(line, TODO, tool=tool, call=call, steps=(step,), failed=failed)


def _listed(text: str) -> tuple[Step, ...]:
    """The steps of a printed list: ``#2 [pending] subject [blocked by #1]``, in any order."""
    steps = []
    for row in text.splitlines():
        number, _, rest = row.strip().partition(" ")
        if number.startswith("#") and number[1:].isdigit() and rest.startswith("["):
            status, _, title = rest[1:].partition("] ")
            steps.append(Step(number[1:], clean(title.partition(" [blocked by")[0]), status))
    return tuple(steps)
