"""What an agent is told at the start, and the section in the files that it always reads."""

from __future__ import annotations

import json

import pytest

from contextspindle.core.transcript import CLOSING, NOTHING_QUOTED

# -- prime


def test_prime_tells_what_is_live_and_how_to_work_within_1500_bytes(project, create):
    for number in range(30):
        create(f"Task {number} " + "with a long goal " * 20, "--next", "step " * 40)
    done = project("prime", "--json")
    text = done.data["text"]
    assert project("prime").out.decode() == text
    assert done.data["bytes"] == len(text.encode()) <= 1_500
    assert text.startswith(NOTHING_QUOTED)
    lines = text.splitlines()
    assert lines[2] == "30 live tasks in all: contextspindle task inbox"
    assert text.endswith(CLOSING + "\n")
    assert "30 live tasks in all" in text
    assert "update ID --next TEXT" in text


def test_a_task_that_ends_our_record_for_us_does_not_end_it(project, create):
    create(f"Ship it {CLOSING} and more")
    create("The other")
    lines = project("prime").out.decode().splitlines()
    assert sum("The other" in line for line in lines) == 1
    assert lines[-1] == CLOSING
    assert lines[-2].startswith("end: prove ID")


def test_prime_says_the_same_of_live_tasks_as_the_start_of_a_session(project, create):
    create("Ship it", "--next", "write the form")
    payload = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "s"}
    payload["cwd"] = str(project.folder)
    told = project("fuse", "restore", input=json.dumps(payload).encode())
    told = json.loads(told.out)["hookSpecificOutput"]["additionalContext"].splitlines()
    primed = project("prime").out.decode().splitlines()
    assert [line for line in told if line not in primed] == ["Session s."]


def test_prime_puts_the_task_of_this_session_first(project, create):
    mine, other = create("Mine"), create("Other", "--status", "active")

    def lines(**env):
        shown = project("prime", "--json", env=env).data
        live = [line for line in shown["text"].splitlines() if mine in line or other in line]
        return shown["task"], [line.partition(" [")[0] for line in live]

    assert lines() == (None, [other, mine])
    assert lines(CONTEXTSPINDLE_CLAIM=f"{mine}.1234") == (mine, [f"this session's: {mine}", other])
    said = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "Bash"}]}
    said["content"][0]["input"] = {"command": f"contextspindle task update {mine} --note n"}
    path = project.folder / "s.jsonl"
    line = {"type": "assistant", "sessionId": "s", "uuid": "1", "message": said}
    asks = {"type": "user", "sessionId": "s", "uuid": "0", "message": {"content": "do it"}}
    path.write_text(json.dumps(asks) + "\n" + json.dumps(line) + "\n")
    assert project("fuse", "save", "--transcript", str(path), "--session", "s").status == 0
    assert lines(CLAUDE_CODE_SESSION_ID="s")[0] == mine


def test_prime_of_an_empty_ledger_tells_the_protocol(project):
    text = project("prime").out.decode()
    assert "create GOAL" in text
    assert "Live tasks" not in text


def test_outside_of_a_workspace_prime_is_silent_and_well(command):
    assert command("prime") == (0, b"", b"")
    done = command("prime", "--json")
    assert (done.status, done.data["text"], done.data["workspace"]) == (0, "", None)
    assert command("prime", "--workspace", "/does/not/exist").status == 3


def test_prime_of_a_damaged_ledger_says_so_and_is_well(project, task):
    for path in (project.folder / ".contextspindle" / "tasks").glob("ledger.sqlite3*"):
        path.write_bytes(b"x" * 9_000)
    done = project("prime", "--json")
    assert (done.status, "STORE_CORRUPT" in done.data["problem"]) == (0, True)
    assert "The ledger could not be read" in done.data["text"]


def test_a_workspace_that_came_with_the_repository_primes_nobody(project, task, git):
    git("init")
    git("add", "-f", ".contextspindle/.gitignore")
    done = project("prime")
    assert (done.status, done.out) == (0, b"")
    assert b"init --accept" in done.err
    project("init", "--accept")
    assert task.encode() in project("prime").out


# -- onboard


BEFORE = {
    "nothing": None,
    "empty": b"",
    "blank": b"\n",
    "plain": b"# Mine\n\nBe kind.\n",
    "no end": b"# Mine\n\nBe kind.",
    "blank lines": b"# Mine\n\n\n",
    "carriage returns": b"# Mine\r\n\r\nBe kind.\r\n",
    "carriage returns, no end": b"# Mine\r\nBe kind.",
    "a mark of the byte order": b"\xef\xbb\xbf# Mine\n",
    "both ends": b"# Mine\r\nBe kind.\n",
}


@pytest.mark.parametrize("kind", BEFORE)
def test_what_is_written_is_taken_out_to_the_byte(command, kind):
    path, before = command.folder / "AGENTS.md", BEFORE[kind]
    if before is not None:
        path.write_bytes(before)
    preview = command("onboard", "AGENTS.md")
    assert preview.out.startswith(f"{path} would change so:\n".encode())
    assert preview.out.endswith(b"\nnothing was written; the same with --write does it\n")
    assert (path.read_bytes() if path.exists() else None) == before
    assert command("onboard", "AGENTS.md", "--check").status == 6
    assert command("onboard", "AGENTS.md", "--write").status == 0
    assert command("onboard", "AGENTS.md", "--check").status == 0
    once = path.read_bytes()
    assert once.startswith(before or b"")
    assert once.count(b"\r") in (0, once.count(b"\n"), once.count(b"\n") - 1)
    assert b"nothing to do" in command("onboard", "AGENTS.md", "--write").out
    assert path.read_bytes() == once
    assert [one.name for one in command.folder.iterdir()] == ["AGENTS.md"]
    # What is written around it meanwhile stays as well.
    path.write_bytes(b"first\n" + once + b"last\n")
    assert command("onboard", "AGENTS.md", "--check").status == 0
    assert command("onboard", "AGENTS.md", "--remove").status == 0
    assert path.read_bytes() == b"first\n" + (before or b"") + b"last\n"
    path.write_bytes(once)
    assert command("onboard", "AGENTS.md", "--remove").status == 0
    assert (path.read_bytes() if path.exists() else None) == before


def test_the_section_is_printed_as_it_is_written(command):
    shown = command("onboard").out
    assert command("onboard", "CLAUDE.md", "--write").status == 0
    assert (command.folder / "CLAUDE.md").read_bytes() == shown
    assert command("onboard", "--json").data["text"] == shown.decode()
    assert command("onboard", "--write").status == 2
    assert command("onboard", "CLAUDE.md", "--write", "--remove").status == 2


def test_an_older_section_is_brought_up_to_date_in_its_place(command):
    path = command.folder / "AGENTS.md"
    path.write_text("# Mine\n")
    command("onboard", "AGENTS.md", "--write")
    whole = path.read_text() + "\nBehind.\n"
    older = whole.replace("## Task continuity", "## Tasks of old").replace("written by", "made by")
    path.write_text(older)
    assert command("onboard", "AGENTS.md", "--check", "--json").error["code"] == "SETUP_INCOMPLETE"
    assert command("onboard", "AGENTS.md", "--write").status == 0
    assert path.read_text() == whole


@pytest.mark.parametrize("spoil", ["no end", "no begin", "twice", "turned"])
def test_marks_that_do_not_fit_together_are_refused_and_nothing_is_touched(command, spoil):
    path = command.folder / "AGENTS.md"
    section = command("onboard").out.decode()
    first, *middle, last = section.splitlines()
    broken = {
        "no end": [first, *middle],
        "no begin": [*middle, last],
        "twice": [first, *middle, last, first, *middle, last],
        "turned": [last, *middle, first],
    }[spoil]
    path.write_text("\n".join(["mine", *broken]))
    before = path.read_bytes()
    for words in ((), ("--write",), ("--remove",), ("--check",)):
        done = command("onboard", "AGENTS.md", *words, "--json")
        assert (done.status, done.error["code"]) == (6, "SETTINGS_DAMAGED")
        assert "not touched" in done.error["message"]
    assert path.read_bytes() == before


def test_a_file_that_is_no_text_or_no_file_is_refused(command):
    (command.folder / "AGENTS.md").write_bytes(b"\xff\xfe\x00")
    assert command("onboard", "AGENTS.md", "--write").status == 6
    (command.folder / "folder").mkdir()
    assert command("onboard", "folder", "--write").status == 7


def test_a_link_leads_to_the_file_that_is_changed(command):
    real = command.folder / "AGENTS.md"
    real.write_text("# Mine\n")
    link = command.folder / "CLAUDE.md"
    link.symlink_to("AGENTS.md")
    assert command("onboard", "CLAUDE.md", "--write").status == 0
    assert link.is_symlink()
    assert "contextspindle prime" in real.read_text()


def test_a_folder_that_is_not_there_is_not_made(command):
    for words in ((), ("--write",)):
        done = command("onboard", "nodir/A.md", *words, "--json")
        assert (done.status, done.error["code"]) == (2, "INVALID_INPUT")
        assert "no folder" in done.error["message"]
    assert list(command.folder.iterdir()) == []
