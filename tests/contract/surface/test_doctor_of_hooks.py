"""The doctor on hooks: whole, current, able to run, in one place, none that a project brings."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from contextspindle import programs
from contextspindle.doctor import NOTE, OK
from tests.contract.surface import test_doctor
from tests.contract.surface.test_doctor import content, looked, problems, rewritten

here = test_doctor.here


@pytest.fixture
def settings(home):
    return home / ".claude" / "settings.json"


@pytest.fixture
def hooked(here, settings):
    """A project whose user has our hooks."""
    assert here("setup", "claude-code", "--write").status == 0
    return here


def commands_of(found, event="SessionStart"):
    return [one for group in found["hooks"][event] for one in group["hooks"]]


def test_hooks_that_are_there_are_run_and_leave_no_trace(hooked, settings):
    before = content(hooked.folder)
    (found,) = looked("hooks")
    assert (found.state, str(settings) in found.what) == (OK, True)
    assert "answered from a bare shell" in found.what
    assert content(hooked.folder) == before


def test_a_program_of_this_machine_without_our_hooks_is_a_note(hooked, home):
    (home / ".codex").mkdir()
    (home / ".cursor").mkdir()
    notes = {one.do: one.what for one in looked("hooks") if one.state == NOTE}
    assert f"codex is on this machine ({home / '.codex'})" in notes.pop(
        "contextspindle setup codex --hooks --write"
    )
    assert notes == {}
    hooked("setup", "codex", "--hooks", "--write")
    assert [one for one in looked("hooks") if one.state == NOTE] == []


def test_no_hooks_at_all_is_a_note_and_hooks_that_went_a_problem(hooked, settings, transcript):
    payload = {
        "hook_event_name": "PreCompact",
        "session_id": "s",
        "transcript_path": transcript,
        "cwd": str(hooked.folder),
        "trigger": "auto",
    }
    line = {"type": "user", "sessionId": "s", "uuid": "1", "message": {"content": "Ship it"}}
    with open(transcript, "w") as file:
        file.write(json.dumps(line) + "\n")
    hooked("fuse", "save", input=json.dumps(payload).encode())
    settings.write_text("{}")
    (found,) = problems("hooks")
    assert "setup claude-code --hooks --write" in found
    shutil.rmtree(hooked.folder / ".contextspindle" / "fuse")
    assert [one.state for one in looked("hooks")] == [NOTE]


WRONG = {
    "gone": ("/nowhere/contextspindle fuse restore", "status 127"),
    "not there in a bare shell": ("contextspindle fuse restore", "status 127"),
    "silent": (
        "command -v contextspindle >/dev/null 2>&1 && contextspindle fuse restore || true",
        "printed nothing",
    ),
    "talks": ("echo Welcome; COMMAND fuse restore", "'Welcome'"),
    "fails": ("COMMAND fuse restore && exit 2 # contextspindle fuse restore", "status 2"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_hook_that_does_not_do_what_it_should_is_told(hooked, settings, case):
    command, wanted = WRONG[case]

    def change(found):
        for one in commands_of(found):
            one["command"] = command.replace("COMMAND", hooked.path)

    rewritten(settings, change)
    (found,) = problems("hooks")
    assert wanted in found
    assert "setup claude-code --hooks --write" in found


def test_a_line_of_the_user_s_that_runs_our_command_counts_and_is_tried(hooked, settings):
    """It is theirs: nothing is wrong with it as long as our answer comes."""

    def change(found):
        for one in commands_of(found):
            one["command"] += " || true; true"

    rewritten(settings, change)
    assert [one.state for one in looked("hooks")] == [OK]
    rewritten(settings, lambda found: [one.update(command="x") for one in commands_of(found)])
    assert "no hook of ours for SessionStart" in problems("hooks")[0]


def test_hooks_that_are_missing_twice_or_of_another_form_are_told(hooked, settings):
    def without(found):
        del found["hooks"]["PreCompact"]

    def twice(found):
        found["hooks"]["SessionStart"] *= 2

    def narrow(found):
        found["hooks"]["SessionStart"][0]["matcher"] = "startup"

    whole = settings.read_text()
    for change, wanted in ((without, "PreCompact"), (twice, "twice"), (narrow, "matcher")):
        settings.write_text(whole)
        rewritten(settings, change)
        (found,) = problems("hooks")
        assert wanted in found


def test_a_hook_of_ours_with_an_option_more_needs_no_other_beside_it(hooked, settings):
    """What the doctor advises would make it two, and then say that all is well."""

    def more(found):
        for one in commands_of(found):
            one["command"] += " --budget 8000"

    rewritten(settings, more)
    assert [one.state for one in looked("hooks")] == [OK]

    def narrow(found):
        found["hooks"]["SessionStart"][0]["matcher"] = "startup"

    rewritten(settings, narrow)
    assert "no hook of ours for SessionStart" in problems("hooks")[0]


def test_hooks_in_two_scopes_are_told_with_which_to_take_out(hooked, settings):
    hooked("setup", "claude-code", "--hooks", "--project", "--write")
    local = hooked.folder / ".claude" / "settings.local.json"
    (note,) = [one for one in looked("hooks") if one.state == NOTE]
    assert f"{settings} and {local} both run our hooks" in note.what
    assert "'contextspindle setup claude-code --hooks --project --remove'" in note.do
    hooked("setup", "claude-code", "--hooks", "--project", "--remove")
    assert [one.state for one in looked("hooks")] == [OK]


def test_a_committed_hook_that_finds_no_command_is_told_where_that_must_be(here, monkeypatch):
    """Written again it would be the same."""
    here("setup", "claude-code", "--hooks", "--shared", "--write")
    (found,) = problems("hooks")
    folder = os.path.dirname(programs.launcher())
    assert f"Put {folder} on your PATH" in found
    assert "--write" not in found
    monkeypatch.setenv("PATH", f"{os.defpath}:{folder}")
    (note,) = [one for one in looked("hooks") if one.state == NOTE]
    assert f"on your PATH it is there, as {folder}/contextspindle" in note.what
    assert f"put {folder} on that" in note.do
    assert problems("hooks") == []


def test_hooks_that_a_user_wrote_into_codex_s_other_file_are_seen(hooked, home):
    (home / ".codex").mkdir()
    entry = '[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = "command"\n'
    entry += 'command = "contextspindle fuse restore --harness codex"\n'
    (home / ".codex" / "config.toml").write_text(entry)
    told = [one.what for one in looked("hooks")]
    assert f"codex: {home / '.codex' / 'config.toml'} runs our hooks, in lines of yours" in told[1]
    assert not any("without our hooks" in one for one in told)
    hooked("setup", "codex", "--hooks", "--write")
    (note,) = [one for one in looked("hooks") if one.state == NOTE]
    assert "both run our hooks" in note.what


def test_hooks_that_are_switched_off_or_doubled_by_the_plugin_are_told(hooked, settings):
    rewritten(settings, lambda found: found.update(disableAllHooks=True))
    assert "disableAllHooks" in problems("hooks")[0]
    plugin = {"enabledPlugins": {"contextspindle@market": True}}
    rewritten(settings, lambda found: (found.pop("disableAllHooks"), found.update(plugin)))
    assert "may run twice" in next(one for one in looked("hooks") if one.state == NOTE).what
    settings.write_text(json.dumps(plugin))
    assert [(one.state, "plugin" in one.what) for one in looked("hooks")] == [(OK, True)]


def test_a_settings_file_that_is_damaged_is_named(hooked, settings):
    settings.write_text('{"hooks": ')
    assert str(settings) in problems("hooks")[0]


def test_what_a_shell_prints_before_our_answer_is_found_where_it_stands(hooked, monkeypatch):
    profile = hooked.folder.parent / "home.env"
    profile.write_text("echo 'nvm is loaded'\n")
    monkeypatch.setenv("BASH_ENV", str(profile))
    monkeypatch.setenv("SHELL", "/bin/bash")
    (found,) = problems("hooks")
    assert "nvm is loaded" in found
    assert str(profile) in found


@pytest.mark.parametrize("form", ["{0}; contextspindle fuse save", "contextspindle fuse save; {0}"])
@pytest.mark.parametrize("file", ["settings.json", "settings.local.json"])
def test_a_command_that_a_project_brings_is_named_and_never_run(here, file, form):
    trace = here.folder / "ran"
    command = form.format(f"touch {trace}")
    hook = {"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": command}]}]}}
    (here.folder / ".claude").mkdir()
    (here.folder / ".claude" / file).write_text(json.dumps(hook))
    told = [one.what for one in looked("hooks")]
    assert not trace.exists()
    assert any(command in one and "not tried" in one for one in told)
    assert not any("they answered" in one for one in told)


def test_hooks_of_a_project_and_of_others_are_looked_at_too(here):
    for words in (("claude-code", "--project"), ("codex",), ("droid",), ("qwen-code",)):
        assert here("setup", *words, "--write").status == 0
    states = {one.what.partition(":")[0]: one.state for one in looked("hooks")}
    assert states == dict.fromkeys(("claude-code", "codex", "droid", "qwen-code"), OK)
