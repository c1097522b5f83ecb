"""OpenCode: our plugin, run as OpenCode runs it, carries a session over its compaction."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.contract.harness.test_one_story import DOCUMENTS, SESSION, opencode

HOST = Path(__file__).parent / "opencode_host.mjs"
OTHER = "ses_other"
MARK = "[ContextSpindle]"


@pytest.fixture
def project(command):
    if shutil.which("node") is None:
        pytest.skip("node is needed to run a plugin of OpenCode's")
    assert command("init").status == 0
    assert command("setup", "opencode", "--write").status == 0
    return command


def stored() -> list[dict]:
    """The story as OpenCode stores it, with ids that tell the messages apart."""
    messages = opencode()
    for number, one in enumerate(messages):
        one["info"]["id"] = f"msg_{number}"
        one["parts"] = [part for part in one["parts"] if MARK not in part.get("text", "")]
        if one["info"].get("summary"):
            one["info"]["parentID"] = "msg_4"
    return messages


BEFORE, MARKER, AFTER = slice(0, 4), slice(0, 5), slice(4, None)
"""Parts of the story: before the compaction, up to its mark, and what is sent after it."""


def hosted(project, sessions: dict, *steps: dict, change=lambda text: text) -> dict:
    """What our plugin did at these steps."""
    path = Path(project.environment["HOME"]) / ".config" / "opencode" / "plugins"
    plugin = project.folder.parent / "plugin.mjs"
    plugin.write_text(change((path / "contextspindle.js").read_text()))
    temporary = project.folder.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    ran = subprocess.run(
        ["node", str(HOST), str(plugin), str(project.folder)],
        input=json.dumps({"sessions": sessions, "steps": steps}),
        env={**project.environment, "PATH": os.environ["PATH"], "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert list(temporary.iterdir()) == []  # what was handed over is gone
    report = json.loads(ran.stdout)
    assert report["exported"] == 1  # OpenCode takes every export for a plugin
    return report


def session(messages: list[dict], **info: str) -> dict:
    return {"info": {"id": SESSION, **info}, "messages": messages}


def request(messages: list[dict]) -> dict:
    return {"messages": messages}


def record(messages: list[dict]) -> str:
    """The one text of ours in what is sent; empty if there is none."""
    texts = [part["text"] for one in messages for part in one["parts"] if part["type"] == "text"]
    ours = [text for text in texts if text.startswith(MARK)]
    assert len(ours) < 2
    return ours[0] if ours else ""


def status(project) -> dict:
    return json.loads(project("fuse", "status", "--json").out)["data"]


def test_a_session_goes_on_after_its_compaction(project):
    project("task", "create", "LEDGER-GOAL-9: a widget")
    whole = stored()
    report = hosted(
        project,
        {SESSION: session(whole)},
        request(whole[BEFORE]),
        {"compacting": SESSION},
        request(whole[BEFORE]),  # for the summary itself
        request(whole[AFTER]),
        request(whole[AFTER]),
    )
    start, compacting, summary, after, again = report["told"]
    assert "LEDGER-GOAL-9" in record(start)
    assert record(start) == start[0]["parts"][-1]["text"]
    assert compacting == {"context": []}
    assert record(summary) == ""
    told = record(after)
    assert "Mend the mast, never with nylon." in told
    assert "The mast is mended." in told
    assert told == after[0]["parts"][-1]["text"]  # beside the mark, before the summary
    assert after == again
    # Nothing else of what is sent is touched.
    after[0]["parts"].pop()
    assert after == whole[AFTER]
    assert report["logged"] == []
    found = status(project)
    assert [one["session"] for one in found["sessions"]] == [SESSION]
    assert found["incidents"] == []


def test_the_text_stays_the_same_until_the_next_compaction(project):
    whole = stored()
    later = [*whole, *json.loads(json.dumps(whole[AFTER]).replace("msg_", "msg_1"))]
    work = {"run": [project.path, "task", "create", "LATER-GOAL-5: a sail"]}
    report = hosted(
        project,
        {SESSION: session(later)},
        request(whole[AFTER]),
        work,
        request(whole[AFTER]),
        {"compacting": SESSION},
        request(later[len(whole) :]),
    )
    first, status, second, _, third = report["told"]
    assert status == 0
    assert first == second  # what a provider has cached of it stays true
    assert "LATER-GOAL-5" not in record(second)
    assert "LATER-GOAL-5" in record(third)


def test_a_session_that_was_compacted_before_we_came_has_its_story_too(project):
    # A fork, and a session that goes on in another process, look the same.
    whole = stored()
    report = hosted(project, {SESSION: session(whole)}, request(whole[AFTER]))
    told = record(report["told"][0])
    assert "Mend the mast, never with nylon." in told
    assert "compaction 1," in told
    assert "And now the sail." not in told  # that was said after it


def test_no_session_is_given_what_another_one_was(project):
    whole = stored()
    others = json.loads(json.dumps(whole).replace(SESSION, OTHER).replace("mast", "keel"))
    report = hosted(
        project,
        {SESSION: session(whole), OTHER: session(others)},
        {"compacting": SESSION},
        {"compacting": OTHER},
        request(whole[AFTER]),
        request(others[AFTER]),
    )
    first, second = (record(one) for one in report["told"][2:])
    assert "mast" in first and "keel" not in first  # noqa: PT018
    assert "keel" in second and "mast" not in second  # noqa: PT018


def test_a_subagent_is_told_nothing_at_its_start_and_its_own_story_after_its_compaction(project):
    project("task", "create", "LEDGER-GOAL-9: a widget")
    whole = stored()
    report = hosted(
        project,
        {SESSION: session(whole, parentID=OTHER)},
        request(whole[BEFORE]),
        {"compacting": SESSION},
        request(whole[BEFORE]),
        request(whole[AFTER]),
    )
    assert record(report["told"][0]) == ""
    assert "Mend the mast" in record(report["told"][3])


def test_the_task_of_the_session_is_named_to_the_model_that_writes_the_summary(project):
    task = project("task", "create", "LEDGER-GOAL-9: a widget", "--quiet").out.decode().strip()
    whole = stored()
    call = whole[1]["parts"][1]["state"]
    call["input"]["command"] = f"contextspindle task show {task}"
    report = hosted(project, {SESSION: session(whole)}, {"compacting": SESSION})
    (fact,) = report["told"][0]["context"]
    assert f"task {task}; goal: LEDGER-GOAL-9" in fact


def calls_instead(project, script: str):
    """A change to the plugin: it runs a shell script in place of our command, if there is one."""
    path = project.folder.parent / "instead"
    if script:
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def change(text: str) -> str:
        head, _, rest = text.partition("const COMMAND = ")
        return f"{head}const COMMAND = {json.dumps(str(path))}\n{rest.partition(chr(10))[2]}"

    return change


def failing(project, times: int, verb: str):
    """A change to the plugin: our command, asked for ``verb``, fails so often before it answers."""
    count = project.folder.parent / "count"
    count.touch()
    script = f"""
        if [ "$2" = {verb} ] && [ "$(wc -c <"{count}")" -lt {times} ]; then
            printf x >>"{count}"
            cat >/dev/null
            exit 3
        fi
        exec "{project.path}" "$@"
    """
    return calls_instead(project, script), count


@pytest.mark.parametrize(("verb", "times"), [("save", 1), ("save", 2), ("restore", 1)])
def test_a_command_that_failed_once_or_twice_costs_a_session_no_record(project, verb, times):
    project("task", "create", "LEDGER-GOAL-9: a widget")
    whole = stored()
    change, count = failing(project, times, verb)
    steps = ({"compacting": SESSION}, *[request(whole[AFTER])] * 3)
    report = hosted(project, {SESSION: session(whole)}, *steps, change=change)
    first, second, third = map(record, report["told"][1:])
    assert count.read_text() == "x" * times
    assert ("LEDGER-GOAL-9" in first) == (verb == "save")
    assert ("Mend the mast, never with nylon." in first) == (verb == "save" and times == 1)
    assert "Mend the mast, never with nylon." in second
    assert second == third
    assert len(report["logged"]) == 1


def test_a_command_that_goes_on_failing_is_not_asked_for_ever(project):
    whole = stored()
    change, count = failing(project, 99, "restore")
    steps = ({"compacting": SESSION}, *[request(whole[AFTER])] * 6)
    report = hosted(project, {SESSION: session(whole)}, *steps, change=change)
    assert report["told"][1:] == [whole[AFTER]] * 6
    assert count.read_text() == "xxx"


def test_of_the_messages_pictures_alone_are_left_out(project):
    whole = stored()
    words = "data: lies in /srv/in; never overwrite it. Build the importer."
    picture = {"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{'A' * 9_000}"}
    whole[0]["parts"] = [{"type": "text", "text": words}, picture]
    whole[1]["parts"][1]["state"]["attachments"] = [picture]
    kept = project.folder.parent / "kept"
    script = f"""
        given=$(cat)
        cp "$(printf %s "$given" | sed 's/.*"transcript_path":"//; s/".*//')" "{kept}"
        printf %s "$given" | "{project.path}" "$@"
    """
    change = calls_instead(project, script)
    hosted(project, {SESSION: session(whole)}, {"compacting": SESSION}, change=change)
    handed = kept.read_text()
    assert "AAAA" not in handed
    assert json.loads(handed.split("\n")[0])["parts"][1]["mime"] == "image/png"
    shown = json.loads(project("fuse", "show", "--session", SESSION, "--json").out)["data"]
    assert any(words in one["text"] for one in shown["items"])


BROKEN = {
    "missing": "",
    "failing": "exit 3",
    "talking": "echo hello; echo world",
    "endless": "exec yes x",
    "deaf": "exec 0<&-; exec sleep 600",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_whatever_our_command_does_opencode_sends_what_it_would_have_sent(project, kind):
    instead = calls_instead(project, BROKEN[kind])

    def change(text: str) -> str:
        return instead(text).replace("WAIT = 6000", "WAIT = 300")

    whole = stored()
    steps = ({"compacting": SESSION}, request(whole[BEFORE]), request(whole[AFTER]))
    report = hosted(project, {SESSION: session(whole)}, *steps, change=change)
    assert report["told"] == [{"context": []}, whole[BEFORE], whole[AFTER]]
    # It says so where OpenCode keeps its log, and says it once.
    assert [one["level"] for one in report["logged"]] == ["warn"]


@pytest.mark.parametrize("kind", ["hangs", "fails"])
def test_whatever_opencode_does_it_is_not_held_up(project, kind):
    whole = stored()
    report = hosted(
        project,
        {SESSION: {**session(whole), kind: True}},
        {"compacting": SESSION},
        request(whole[BEFORE]),
        request(whole[AFTER]),
        change=lambda text: text.replace("ALL = 10000", "ALL = 300"),
    )
    assert report["told"] == [{"context": []}, whole[BEFORE], whole[AFTER]]
    assert len(report["logged"]) == 1


def test_strange_messages_are_sent_as_they_are(project):
    strange = [[], [{"info": {}, "parts": []}], [{"info": {"sessionID": SESSION}}]]
    report = hosted(project, {}, *(request(one) for one in strange))
    assert report["told"] == strange


def test_an_exported_document_is_saved_by_hand_and_its_pointers_lead_into_it(project):
    path = project.folder / "export.json"
    path.write_text(json.dumps(DOCUMENTS["opencode"](), indent=2))
    saved = project("fuse", "save", "--transcript", str(path), "--session", SESSION, "--json")
    data = json.loads(saved.out)["data"]
    assert (data["harness"], data["reading"]["lines"]) == ("opencode", 9)
    shown = json.loads(project("fuse", "show", "--session", SESSION, "--json").out)["data"]
    lines = {one["line"] for one in shown["items"] if "nylon" in one["text"]}
    assert lines == {1}
    source = project("fuse", "source", "1", "--session", SESSION)
    assert source.out.decode().strip() == "Mend the mast, never with nylon."


def test_a_document_of_no_known_program_is_refused_with_its_name(project):
    path = project.folder / "other.json"
    path.write_text(json.dumps({"trajectory": [], "history": [{"role": "user"}]}, indent=2))
    done = project("fuse", "save", "--transcript", str(path), "--session", "x")
    assert done.status != 0
    assert "other.json" in done.err.decode()
    assert "TRANSCRIPT_UNREADABLE" in done.err.decode()


def test_removal_leaves_the_home_as_it_was(project):
    home = Path(project.environment["HOME"])
    assert (home / ".config" / "opencode" / "plugins" / "contextspindle.js").exists()
    told = project("setup", "opencode", "--remove").out.decode()
    assert "plugin files taken out of" in told
    assert not (home / ".config").exists()
