"""Codex: what set-up installs answers the recorded hooks, and recorded rollouts are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CAPTURES = ("a1", "a2", "b1", "b2", "tui1")


@pytest.fixture
def project(command):
    assert command("init").status == 0
    return command


def installed(project) -> dict[str, list[str]]:
    """The words behind our command in the hooks file that set-up writes, by event."""
    assert project("setup", "codex", "--write").status == 0
    path = Path(project.environment["HOME"]) / ".codex" / "hooks.json"
    hooks = json.loads(path.read_text())["hooks"]
    return {
        event: groups[0]["hooks"][0]["command"].partition("contextspindle ")[2].split()
        for event, groups in hooks.items()
    }


def rollout(folder: Path, session: str) -> Path:
    """A rollout of a small session, in the form of version 0.171."""

    def line(kind, /, **payload):
        return json.dumps({"timestamp": "2026-01-31T09:30:00Z", "type": kind, "payload": payload})

    def item(text):
        shown = {"type": "UserMessage", "content": [{"type": "text", "text": text}]}
        return line("event_msg", type="item_completed", item=shown)

    path = folder / f"rollout-2026-01-31T09-30-00-{session}.jsonl"
    path.write_text(
        "\n".join(
            [
                line("session_meta", id=session, cwd=str(folder)),
                item("Build the kite, never with nylon."),
                line(
                    "response_item",
                    type="message",
                    role="assistant",
                    content=[{"type": "output_text", "text": "Next I sew the sail."}],
                ),
            ]
        )
        + "\n"
    )
    return path


def test_what_set_up_installs_carries_a_session_over_compaction(project):
    words = installed(project)
    session = "01a229a5-a881-7ea1-8b19-847dc4afb969"
    common = {
        "session_id": session,
        "transcript_path": str(rollout(project.folder, session)),
        "cwd": str(project.folder),
        "model": "m",
    }

    def hook(event, **fields):
        payload = {**common, "hook_event_name": event, **fields}
        return project(*words[event], input=json.dumps(payload).encode())

    saved = hook("PreCompact", turn_id="t", trigger="auto")
    assert (saved.status, saved.out, saved.err) == (0, b"", b"")
    told = hook("SessionStart", source="compact", permission_mode="default")
    answer = json.loads(told.out)
    assert set(answer) == {"hookSpecificOutput"}  # Codex refuses fields that it does not know
    text = answer["hookSpecificOutput"]["additionalContext"]
    assert "Build the kite, never with nylon." in text
    assert "Next I sew the sail." in text
    status = json.loads(project("fuse", "status", "--json").out)["data"]
    assert [(one["session"], one["harness"]) for one in status["sessions"]] == [(session, "codex")]
    assert status["incidents"] == []


def test_set_up_and_removal_leave_foreign_hooks_as_they_were(project):
    path = Path(project.environment["HOME"]) / ".codex" / "hooks.json"
    path.parent.mkdir()
    before = '{ "hooks": { "Stop": [ {"hooks": [{"type":"command","command":"say done"}]} ] } }\n'
    path.write_text(before)
    installed(project)
    assert "say done" in path.read_text()
    assert project("setup", "codex", "--check").status == 0
    assert project("setup", "codex", "--remove").status == 0
    assert path.read_text() == before


@pytest.mark.real_data
@pytest.mark.parametrize("name", CAPTURES)
def test_every_recorded_payload_is_understood(project, data_folder, name):
    words = installed(project)
    recorded = data_folder / "harness" / "captures" / "codex" / f"{name}.hooks.jsonl"
    verbs = {"SessionStart": "SessionStart", "PreCompact": "PreCompact"}
    for row in recorded.read_text().splitlines():
        payload = json.loads(row)["stdin"]
        event = payload["hook_event_name"]
        payload |= {"cwd": str(project.folder), "transcript_path": None}
        done = project(*words[verbs.get(event, "PreCompact")], input=json.dumps(payload).encode())
        assert (done.status, done.err) == (0, b""), payload
    incidents = json.loads(project("fuse", "status", "--json").out)["data"]["incidents"]
    assert {one["what"].rpartition("[")[2] for one in incidents} <= {"TRANSCRIPT_UNREADABLE]"}


@pytest.mark.real_data
def test_recorded_rollouts_tell_each_prompt_once_and_no_summary_as_talk(data_folder, project):
    folder = data_folder / "harness" / "captures" / "codex"
    for path in sorted(folder.glob("*.rollout-*.jsonl")):
        saved = project("fuse", "save", "--transcript", str(path), "--session", path.stem)
        assert saved.status == 0, path.name
        shown = project("fuse", "show", "--session", path.stem, "--json").out
        items = json.loads(shown)["data"]["items"]
        for one in items:
            assert "<environment_context>" not in one["text"]
            assert "FAKE-SUMMARY" not in one["text"] or one["section"] != "last"
