"""What was reported of reading transcripts, tried on this one: one test a report."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import threading
import time

import pytest

from tests.transcripts import SESSION, calls, entry, queue, returns, says, user


def test_tp01_half_a_surrogate_pair_is_replaced_everywhere(project, compacted):
    said = json.dumps(user("Ship it \ud83d now"))
    text, snapshot = compacted([said, says("On it.")])
    assert "Ship it \ufffd now" in text
    stored = (project.folder / ".contextspindle" / "fuse" / "ledger.jsonl").read_bytes()
    stored.decode("utf-8")
    assert "\\ud83d" not in json.dumps(snapshot, ensure_ascii=False)
    made = project("task", "create", b"Ship \xed\xa0\xbd it", "--quiet")
    task = made.out.decode("utf-8").strip()
    shown = project("task", "show", task, "--json")
    assert "\ufffd" in shown.data["goal"]
    project("task", "context", task).out.decode("utf-8")


@pytest.mark.parametrize("budget", range(600, 640, 3))
def test_tp02_a_cut_falls_between_characters(compacted, budget):
    words = "👩‍👩‍👧‍👦é🇩🇪" * 200
    text, _ = compacted([user(f"Draw {words}"), says(words)], budget=budget)
    assert len(text.encode("utf-8")) <= budget
    assert "\ufffd" not in text
    assert "Draw 👩" in text


def test_tp04_one_bad_line_costs_that_line_only(compacted):
    entries = [user(f"Look at page {number}.") for number in range(100)]
    entries[49] = json.dumps(entries[49])[:70]
    text, snapshot = compacted(entries)
    reading = snapshot["reading"]
    assert (reading["known"], reading["unreadable"], reading["first_bad"]) == (99, 1, 50)
    assert "Look at page 99." in text
    assert snapshot["draft"]["said"] == 99


def test_tp06_an_unfinished_last_line_hides_nothing_while_the_file_still_grows(compacted):
    rows = [json.dumps(user(f"Look at page {number}.")) for number in range(50)]
    compacted.path.write_text("\n".join(rows) + "\n" + rows[0][:60])
    growing = threading.Event()

    def grow():
        with compacted.path.open("a") as file:
            while not growing.wait(0.002):
                file.write(rows[0])
                file.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        text, snapshot = compacted(None)
    finally:
        growing.set()
        writer.join()
    assert "Look at page 49." in text
    assert snapshot["reading"]["torn"] is True
    assert snapshot["reading"]["unreadable"] == 0


def test_tp08_only_a_line_feed_ends_a_line(compacted):
    odd = "one\u2028two\u2029three\x85four"
    rows = [
        json.dumps(user(odd), ensure_ascii=False),
        json.dumps(user("five_six_seven")).replace("e_s", "e\x0bs").replace("x_s", "x\x0cs"),
    ]
    text, snapshot = compacted(rows)
    assert (snapshot["reading"]["lines"], snapshot["reading"]["unreadable"]) == (2, 0)
    assert snapshot["draft"]["said"] == 2
    for word in ("one", "two", "three", "four", "five", "six", "seven"):
        assert word in text


def test_tp09_pictures_of_many_megabytes_and_a_file_of_over_a_gigabyte_are_read_in_bounds(
    project, compacted, long_run
):
    picture = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo" * 5_500_000}}
    row = json.dumps(user([picture, {"type": "text", "text": "What is wrong in it?"}]))
    with compacted.path.open("wb") as file:
        file.write(json.dumps(user("Find the fault.")).encode() + b"\n" + row.encode() + b"\n")
        noise = json.dumps(entry("progress", data={"type": "bash_progress", "output": "x" * 9_000}))
        block = (noise.encode() + b"\n") * 100
        for _ in range(1_600 if long_run else 160):
            file.write(block)
        file.write(json.dumps(user("Then mend it, at last.")).encode() + b"\n")
    event = {
        "hook_event_name": "PreCompact",
        "session_id": SESSION,
        "transcript_path": str(compacted.path),
        "cwd": str(project.folder),
    }
    limit = 300 << 20
    done = subprocess.run(
        [project.path, "fuse", "save"],
        input=json.dumps(event).encode(),
        cwd=project.folder,
        env=project.environment,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    os.unlink(compacted.path)
    assert (done.returncode, done.stdout) == (0, b"")
    text = project("fuse", "restore", "--plain").out.decode()
    assert "Then mend it, at last." in text
    assert "Find the fault." in text
    assert project("fuse", "status", "--json").data["incidents"] == []


def test_tp11_what_is_written_after_the_hook_has_begun_is_in_the_next_snapshot(compacted):
    entries = [user("Ship the login page."), says("I looked at the form.")]
    started = time.monotonic()
    text, snapshot = compacted(entries)
    assert "I looked at the form." in text
    assert snapshot["reading"]["lines"] == 2
    text, snapshot = compacted([*entries, says("The form is shipped.")])
    assert "The form is shipped." in text
    assert snapshot["reading"]["lines"] == 3
    assert time.monotonic() - started < 30  # nothing waits for what may come


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [user("Ship the login page.")],
        [entry("progress", data={}), {"type": "mode", "mode": "plan"}],
    ],
    ids=["empty", "only the human", "only control entries"],
)
def test_tp12_a_transcript_without_the_agent_is_no_trouble(project, compacted, entries):
    task = project("task", "create", "Sail round the cape", "--quiet").out.decode().strip()
    text, _ = compacted(entries, end=b"\n" if entries else b"")
    assert task in text
    assert ("Ship the login page." in text) == (len(entries) == 1)


def test_tp12_a_folder_instead_of_a_file_is_no_trouble(project, compacted, tmp_path):
    task = project("task", "create", "Sail round the cape", "--quiet").out.decode().strip()
    text, _ = compacted(None, transcript=tmp_path)
    assert task in text
    assert "could not be read" in text


def test_tp13_the_human_is_found_before_any_amount_of_tool_output(compacted):
    entries = [user("Ship the login page, but leave the old form.")]
    for number in range(50):
        entries += [calls(f"c{number}", "Read", file_path=f"/src/{number}.py")]
        entries += [returns(f"c{number}", "a line of code\n" * 800)]
    text, snapshot = compacted(entries, budget=1_000)
    assert "Ship the login page, but leave the old form." in text
    assert snapshot["draft"]["said"] == 1


def test_tp16_any_number_of_control_entries_may_come_first(project, compacted):
    control = [
        {"type": "mode", "mode": "plan", "sessionId": SESSION},
        {"type": "permission-mode", "permissionMode": "default", "sessionId": SESSION},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        {"type": "last-prompt", "lastPrompt": "x", "leafUuid": "u", "sessionId": SESSION},
        queue("enqueue", "<task-notification></task-notification>"),
    ]
    text, _ = compacted([*control * 4, user("Ship the login page.")])
    assert "Ship the login page." in text
    by_hand = project("fuse", "save", "--transcript", str(compacted.path), "--session", "x")
    assert by_hand.status == 0


@pytest.mark.real_data
def test_tp16_files_of_a_current_client_are_read(project, data_folder, tmp_path):
    folder = data_folder / "harness" / "captures" / "claude-code"
    read = 0
    for path in sorted(folder.glob("*.jsonl")):
        if ".hooks." in path.name or ".subagent" in path.name:
            continue
        copy = tmp_path / path.name
        shutil.copyfile(path, copy)
        session = path.name.split(".")[1]
        done = project("fuse", "save", "--transcript", str(copy), "--session", session, "--json")
        if done.status == 0:
            assert done.data["harness"] == "claude-code"
            assert done.data["reading"]["unreadable"] == 0
            read += done.data["items"] > 0
    assert read >= 9
