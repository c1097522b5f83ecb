"""No form of a secret that a session or a command showed is in any file of the workspace."""

from __future__ import annotations

import json

import pytest

from tests import credentials
from tests.transcripts import SESSION, calls, queue, refuses, returns, says, user, written

FORMS = credentials.by_form()
PLACES = credentials.by_place()
GROUP = 9

SHOWN = [(text, text) for text in FORMS.values()] + list(PLACES.values())
GROUPS = [SHOWN[at : at + GROUP] for at in range(0, len(SHOWN), GROUP)]


def parts(secret: str) -> list[str]:
    """What of a secret must not survive: of a key its lines, of all else the whole."""
    lines = secret.replace("\\\\n", "\n").replace("\\n", "\n").split("\n")
    lines = [line.strip(" +") for line in lines if "PRIVATE" not in line]
    return [line for line in lines if len(line) >= (16 if len(lines) > 1 else 4)]


def holding(folder, secret: str) -> list[str]:
    """The files that hold a part of the secret, as it is or as JSON writes it."""
    wanted = [
        form.encode()
        for part in parts(secret)
        for form in (part, json.dumps(part)[1:-1], json.dumps(json.dumps(part))[1:-1])
    ]
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and any(one in path.read_bytes() for one in wanted)
    ]


def session(shown: list[tuple[str, str]]) -> list[object]:
    """A session in which every one of them comes up in every way."""
    entries: list[object] = []
    for number, (text, _) in enumerate(shown):
        c = f"c{number}"
        entries += [
            user(f"Take it for upload {number}:\n{text}"),
            says(f"I have it, number {number}.\n{text}"),
            calls(f"{c}a", "Bash", command=text, description=f"upload {number}"),
            returns(f"{c}a", f"Error: no upload {number}\n{text}", is_error=True),
            calls(f"{c}b", "TaskCreate", subject=f"upload {number}: {text}", description=text),
            returns(f"{c}b", f"Task #{number} created", {"task": {"id": str(number)}}),
            calls(f"{c}c", "Task", description=f"upload {text}", prompt=text),
            returns(f"{c}c", [{"type": "text", "text": f"done {number}\n{text}"}]),
            calls(f"{c}d", "Write", file_path=f"/tmp/{number}.env", content=text),
            refuses(f"{c}d", f"not there, never write {text}"),
            queue("enqueue", f"and also {text}"),
            queue("remove"),
        ]
    return entries


@pytest.mark.parametrize("shown", GROUPS, ids=range(len(GROUPS)))
def test_no_secret_of_a_session_is_in_any_file(project, tmp_path_factory, shown):
    path = written(tmp_path_factory.mktemp("elsewhere") / "session.jsonl", session(shown))
    done = project("fuse", "save", "--transcript", path, "--session", SESSION)
    assert done.status == 0
    restored = project("fuse", "restore", "--plain", "--budget", "9500").out
    assert b"[masked]" in restored
    for text, secret in shown:
        assert holding(project.folder, secret) == [], text
        assert not any(part.encode() in restored for part in parts(secret)), text


@pytest.mark.parametrize("shown", GROUPS, ids=range(len(GROUPS)))
def test_no_secret_of_a_command_that_was_run_is_in_any_file(project, task, tmp_path_factory, shown):
    source = tmp_path_factory.mktemp("elsewhere") / "output"
    source.write_text("\n\n".join(text for text, _ in shown))
    program = f"cat {source}; true"
    words = [text for text, _ in shown]
    done = project("task", "prove", task, "--", "sh", "-c", program, *words, "the end")
    assert done.status == 0
    (found,) = project("task", "show", task, "--json").data["evidence"]
    assert found["command"]["argv"][:3] == ["sh", "-c", program]
    assert found["command"]["argv"][-1] == "the end"
    assert "[masked]" in found["command"]["tail"]
    for text, secret in shown:
        assert holding(project.folder, secret) == [], text


def test_the_value_behind_an_option_is_masked_in_the_words_of_the_command(project, task):
    words = ("true", "--password", "hunter2hunter2", "-u", "ada:pa55word", "--verbose")
    project("task", "prove", task, "--", *words)
    (found,) = project("task", "show", task, "--json").data["evidence"]
    masked = ["true", "--password", "[masked]", "-u", "ada:[masked]", "--verbose"]
    assert found["command"]["argv"] == masked
    assert found["payload"] == " ".join(masked)
    for secret in ("hunter2hunter2", "pa55word"):
        assert holding(project.folder, secret) == []
