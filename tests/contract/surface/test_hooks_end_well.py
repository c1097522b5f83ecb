"""A hook ends with status 0 and says nothing of its own, whatever goes wrong; it is written down.

A person who gives the same command something that it does not know is told so.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess

import pytest

SAVE, RESTORE = "PreCompact", "SessionStart"


def payload(folder, event: str = SAVE, **more: object) -> bytes:
    found = {"hook_event_name": event, "session_id": "s", "cwd": str(folder), **more}
    return json.dumps({"trigger": "auto", "source": "startup", **found}).encode()


def incidents(project) -> list[dict]:
    path = project.folder / ".contextspindle" / "incidents.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def into(project, call: str, given: bytes, cwd=None) -> subprocess.CompletedProcess:
    """A call in a shell, which says where its output goes; run elsewhere than in the project."""
    return subprocess.run(
        ["sh", "-c", f'exec "$1" {call}', "sh", project.path],
        input=given,
        capture_output=True,
        cwd=cwd or project.folder.parent,
        env=project.environment,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("file", "env"),
    [
        ("{broken", {}),
        ('{"fuse_budget": "many"}', {}),
        ("{}", {"CONTEXTSPINDLE_FUSE_BUDGET": "abc"}),
        ("{}", {"CONTEXTSPINDLE_ACTOR": "two\nlines"}),
    ],
)
def test_a_setting_out_of_form_is_an_incident_which_status_and_doctor_show(project, file, env):
    (project.folder / ".contextspindle" / "config.json").write_text(file)
    for verb, event in (("save", SAVE), ("restore", RESTORE)):
        done = project("fuse", verb, input=payload(project.folder, event), env=env)
        assert (done.status, done.out, done.err) == (0, b"", b"")
    assert [(one["event"], one["session"]) for one in incidents(project)] == [
        (SAVE, "s"),
        (RESTORE, "s"),
    ]
    what = incidents(project)[0]["what"]
    assert what.startswith("hook: ")
    assert what.endswith("[INVALID_INPUT]")
    status = project("fuse", "status", "--json", env=env)
    assert status.status == 0
    assert status.data["problem"] == what.removeprefix("hook: ")
    assert [one["what"] for one in status.data["incidents"]] == [what] * 2
    told = project("doctor", "--json", env=env).data["findings"]
    assert [one["what"][: len(what)] for one in told if one["area"] == "incidents"] == [what]
    assert [one["state"] for one in told if one["area"] == "settings"] == ["problem"]


def test_without_a_problem_in_the_settings_the_status_tells_of_none(project):
    assert project("fuse", "status", "--json").data["problem"] == ""
    assert b"mended" not in project("fuse", "status").out


@pytest.mark.parametrize(
    "words",
    [
        ("save", "--new-option"),
        ("save", "--harness", "another"),
        ("restore", "--harness=claude-code", "--new-option=x"),
        ("restore", "a", "place"),
        ("restore", "--budget", "many"),
    ],
)
def test_a_hook_of_a_newer_set_up_is_survived_and_written_down_where_its_payload_says(
    project, words, tmp_path
):
    done = project("fuse", *words, input=payload(project.folder), cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, b"", b"")
    (one,) = incidents(project)
    assert one["what"].endswith("[INVALID_INPUT]")
    if "--new-option" in words:
        assert "contextspindle fuse save has no option --new-option" in one["what"]


def test_the_workspace_that_a_hook_names_is_where_it_is_written_down(project, tmp_path):
    there = str(project.folder)
    for named in (("--workspace", there), (f"--workspace={there}",)):
        done = project("fuse", *named, "save", "--new", input=b"", cwd=tmp_path)
        assert (done.status, done.out) == (0, b"")
        # Without a payload it may be somebody who typed it.
        assert b"has no option --new" in done.err
    assert len(incidents(project)) == 2


@pytest.mark.parametrize(
    "words",
    [
        ("save", "--transcript", "x", "--nonsense"),
        ("save", "--nonsense", "--json"),
        ("restore", "--plain", "--nonsense"),
        ("restore", "--session=s", "--nonsense"),
        ("restore", "--from", "s", "--nonsense"),
    ],
)
def test_by_hand_a_mistake_is_told_with_its_status(project, words):
    done = project("fuse", *words)
    assert (done.status, done.out) == (2, b"")
    assert b"has no option --nonsense" in done.err
    assert not incidents(project)


def test_at_a_terminal_a_mistake_is_told_with_its_status(project):
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [project.path, "fuse", "save", "--nonsense"],
            stdin=theirs,
            capture_output=True,
            cwd=project.folder,
            env=project.environment,
            timeout=60,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert b"has no option --nonsense" in done.stderr


@pytest.mark.parametrize("to", [">&-", ">/dev/full"])
def test_an_answer_that_cannot_be_written_is_an_incident_and_its_status_is_0(project, to):
    project("task", "create", "A live task")
    done = into(project, f"fuse restore {to}", payload(project.folder, RESTORE))
    assert (done.returncode, done.stderr) == (0, b"")
    (one,) = incidents(project)
    assert (one["event"], one["session"]) == (RESTORE, "s")
    assert "Standard output cannot be written" in one["what"]
    assert into(project, f"fuse restore --plain {to}", b"", project.folder).returncode == 7


def test_a_reader_that_went_away_is_an_incident_and_the_status_is_0(project):
    project("task", "create", "A live task")

    def ended(*words: str) -> int:
        ours, theirs = os.pipe()
        os.close(ours)
        try:
            return subprocess.run(
                [project.path, "fuse", "restore", *words],
                input=payload(project.folder, RESTORE),
                stdout=theirs,
                cwd=project.folder,
                env=project.environment,
                timeout=60,
            ).returncode
        finally:
            os.close(theirs)

    assert ended() == 0
    assert incidents(project)[0]["what"].endswith("[BrokenPipeError]")
    assert ended("--plain") == 141


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b'{"cwd":"' + b"x" * (16 << 20) + b'"}', "it has more than 16 MiB"),
        (b"", "nothing came on standard input"),
        (b'{"cwd":', "no JSON value at character 0"),
    ],
    ids=["too long", "empty", "cut off"],
)
def test_a_payload_that_cannot_be_read_is_named_as_what_it_is(project, given, said):
    call = subprocess.Popen(
        [project.path, "fuse", "save"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        cwd=project.folder,
        env=project.environment,
    )
    call.communicate(given, timeout=60)
    assert call.returncode == 0
    (one,) = incidents(project)
    assert one["what"] == f"hook: The hook payload cannot be read: {said} [EVENT_UNKNOWN]"


def test_a_payload_whose_end_does_not_come_is_named_as_that(project):
    call = subprocess.Popen(
        [project.path, "fuse", "save"],
        stdin=subprocess.PIPE,
        cwd=project.folder,
        env=project.environment,
    )
    call.stdin.write(b'{"cwd":{}')
    call.stdin.flush()
    assert call.wait(timeout=60) == 0
    call.stdin.close()
    assert "its end did not come within 1 s" in incidents(project)[0]["what"]
