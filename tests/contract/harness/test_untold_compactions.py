"""Gemini CLI and Copilot CLI tell of no compaction: what is owed is found, and handed over once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from contextspindle.actions import owed
from contextspindle.core.transcript import CLOSING, OPENING
from contextspindle.harness import adapter
from contextspindle.store.marks import Marks
from tests.contract.harness.test_one_story import SESSION, TELLERS
from tests.transcripts import written

OTHER = "01a229a5-0000-7ea1-8b19-847dc4afb969"
WORDS = "Mend the mast, never with nylon."


class Talk:
    """A session of one program in a project: its transcript, and the hooks that it runs."""

    def __init__(self, project: Any, name: str, session: str = SESSION) -> None:
        self.project, self.name, self.session = project, name, session
        story = TELLERS[name]()
        marks = {"gemini": "state_snapshot", "copilot-cli": '"session.compaction_start"'}
        at = next(n for n, line in enumerate(story) if marks[name] in json.dumps(line))
        self.before, self.compaction, self.after = story[:at], story[at:-1], story[-1:]
        for line in self.before[:1]:
            (line if name == "gemini" else line["data"])["sessionId"] = session
        self.path = self._place()
        written(self.path, self.before)

    def _place(self) -> Path:
        if self.name == "gemini":
            self.project.folder.mkdir(exist_ok=True)
            return self.project.folder / f"session-{self.session[:8]}-{self.session[9:13]}.jsonl"
        home = Path(self.project.environment["HOME"])
        folder = home / ".copilot" / "session-state" / self.session
        folder.mkdir(parents=True)
        return folder / "events.jsonl"

    def says(self, lines: list[dict[str, Any]]) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)

    def compacts(self, number: int = 1) -> None:
        """The real thing, as it stands in the transcript."""
        shown = json.dumps(self.compaction).replace('"snap"', f'"snap{number}"')
        self.says(json.loads(shown))

    def payload(self, event: str, **more: Any) -> dict[str, Any]:
        cwd = str(self.project.folder)
        if self.name == "copilot-cli":
            return {"sessionId": self.session, "timestamp": 1795995817667, "cwd": cwd, **more}
        head = {"session_id": self.session, "transcript_path": str(self.path), "cwd": cwd}
        return {**head, "hook_event_name": event, "timestamp": "2026-11-29T23:33:33Z", **more}

    def saves(self, trigger: str = "auto") -> None:
        """What runs before a compaction that may follow."""
        more = {} if self.name == "gemini" else {"transcriptPath": str(self.path)}
        payload = self.payload("PreCompress", trigger=trigger, **more)
        done = self.project("fuse", "save", "--harness", self.name, input=_line(payload))
        assert (done.status, done.out, done.err) == (0, b"", b"")

    def restores(self, event: str, **more: Any) -> str:
        payload = self.payload(event, **more)
        done = self.project("fuse", "restore", "--harness", self.name, input=_line(payload))
        assert (done.status, done.err) == (0, b"")
        if not done.out:
            return ""
        answer = json.loads(done.out)
        if self.name == "copilot-cli":
            assert list(answer) == ["additionalContext"]
            return answer["additionalContext"]
        assert list(answer) == ["hookSpecificOutput"]
        assert answer["hookSpecificOutput"]["hookEventName"] == event
        return answer["hookSpecificOutput"]["additionalContext"]

    def prompted(self) -> str:
        return self.restores("BeforeAgent", prompt="And now the sail.")

    def tool_ended(self) -> str:
        told = {"gemini": {"tool_name": "x", "tool_response": {}}}
        return self.restores(
            "AfterTool", **told.get(self.name, {"toolName": "x", "toolResult": {}})
        )


def _line(payload: dict[str, Any]) -> bytes:
    return json.dumps(payload).encode()


@pytest.fixture
def project(command):
    assert command("init").status == 0
    return command


@pytest.fixture(params=["gemini", "copilot-cli"])
def each(request, project) -> Talk:
    """A session of either program, where they differ in what they write down and when."""
    return Talk(project, request.param)


@pytest.fixture
def talk(project) -> Talk:
    return Talk(project, "gemini")


def marks(project) -> list[Path]:
    folder = Path(project.environment["XDG_STATE_HOME"]) / "contextspindle" / "marks"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def status(project) -> dict[str, Any]:
    return json.loads(project("fuse", "status", "--json").out)["data"]


def test_a_compaction_is_answered_at_the_next_prompt_once(each, project):
    each.saves()
    assert [one["session"] for one in status(project)["sessions"]] == [SESSION]
    each.compacts()
    told = each.prompted()
    assert told.startswith(OPENING)
    assert told.rstrip().endswith(CLOSING)
    assert WORDS in told
    assert f"Session {SESSION}, compaction 1, saved " in told
    assert each.prompted() == each.tool_ended() == ""
    assert marks(project) == []
    found = status(project)
    assert found["incidents"] == []
    assert found["sessions"][0]["handed"]["source"] == "compact"


def test_in_the_middle_of_a_turn_the_end_of_a_tool_s_call_is_the_moment(each):
    each.saves()
    each.compacts()
    assert WORDS in each.tool_ended()
    assert each.tool_ended() == each.prompted() == ""


def test_a_save_that_no_compaction_follows_hands_nothing_over(talk):
    for _ in range(2):
        talk.saves()
        talk.says(talk.after)
        assert talk.prompted() == talk.tool_ended() == ""


def test_every_compaction_is_answered_and_each_once(talk):
    for number in (1, 2):
        talk.saves()
        talk.compacts(number)
        assert f", compaction {number}, " in talk.prompted()
        assert talk.prompted() == ""
        talk.says(talk.after)


def test_the_record_is_what_stands_before_the_compaction_whenever_it_was_saved(talk):
    """The event before it comes before the last words of the human are written down."""
    talk.saves()
    last = json.loads(
        json.dumps(talk.after).replace("And now the sail.", "Paint it in bright red.")
    )
    talk.says(last)
    talk.compacts()
    later = json.dumps(talk.after).replace("And now the sail.", "What colour?").replace("u2", "u9")
    talk.says(json.loads(later))
    told = talk.tool_ended()
    assert "Paint it in bright red." in told
    assert "What colour?" not in told


def test_two_sessions_are_not_mixed_up(project):
    one, two = Talk(project, "gemini"), Talk(project, "gemini", OTHER)
    one.saves()
    two.saves()
    two.compacts()
    assert one.prompted() == ""
    assert f"Session {OTHER}, " in two.prompted()
    one.saves()
    one.compacts()
    assert two.prompted() == ""
    assert f"Session {SESSION}, " in one.prompted()
    assert one.prompted() == ""


def test_of_two_hooks_of_one_moment_one_hands_over(talk):
    talk.saves()
    talk.compacts()
    told: list[str] = []
    ends = [threading.Thread(target=lambda: told.append(talk.tool_ended())) for _ in range(4)]
    for one in ends:
        one.start()
    for one in ends:
        one.join()
    assert sorted(map(bool, told)) == [False, False, False, True]


def test_whoever_was_killed_behind_the_answer_does_not_have_it_repeated(each, project):
    """The mark is as it was, and the transcript has what the agent was given."""
    each.saves()
    (mark,) = marks(project)
    content = mark.read_bytes()
    each.compacts()
    told = each.prompted()
    mark.write_bytes(content)
    assert each.prompted() == told  # nobody can tell yet that it came through
    mark.write_bytes(content)
    given = json.loads(json.dumps(each.after).replace("And now", json.dumps(told)[1:-1] + " And"))
    each.says(given)
    assert each.prompted() == ""
    assert marks(project) == []


def test_whoever_was_killed_ahead_of_the_answer_leaves_it_owed(talk, project):
    """The answer cannot be written, so the mark stays for the next one."""
    talk.saves()
    talk.compacts()
    words = [project.path, "fuse", "restore", "--harness", talk.name]
    given = _line(talk.payload("BeforeAgent", prompt="x"))
    with open("/dev/full", "wb") as full:
        subprocess.run(words, input=given, stdout=full, cwd=project.folder, env=project.environment)
    assert len(marks(project)) == 1
    assert WORDS in talk.prompted()


def test_after_a_resume_what_is_still_owed_comes_at_once_and_nothing_else_does(each, project):
    each.saves()
    assert each.restores("SessionStart", source="resume") == ""
    assert marks(project) == []
    each.saves()
    each.compacts()
    assert WORDS in each.restores("SessionStart", source="resume")
    assert each.prompted() == ""


@pytest.mark.parametrize("name", ["gemini", "copilot-cli"])
def test_a_start_is_told_what_is_live(project, name):
    project("task", "create", "mend the mast")
    source = {"gemini": "startup", "copilot-cli": "new"}[name]
    assert "mend the mast" in Talk(project, name).restores("SessionStart", source=source)


def test_a_turn_without_a_compression_makes_no_workspace_and_no_snapshot(command):
    talk = Talk(command, "gemini")
    talk.saves()
    assert talk.prompted() == ""
    assert not (command.folder / ".contextspindle").exists()
    talk.saves()
    talk.compacts()
    assert WORDS in talk.prompted()
    assert (command.folder / ".contextspindle").is_dir()


def test_between_compressions_a_snapshot_is_made_only_when_much_was_said(talk, project):
    for _ in range(3):
        talk.saves()
        talk.says(talk.after)
    assert json.loads(project("fuse", "list", "--json").out)["data"]["total"] == 1
    talk.says([{"id": "x", "type": "user", "content": [{"text": "x" * 300_000}]}])
    talk.saves()
    talk.saves("manual")
    assert json.loads(project("fuse", "list", "--json").out)["data"]["total"] == 2


def test_a_session_s_end_told_three_times_changes_nothing_the_second_time(talk, project):
    for _ in range(3):
        payload = talk.payload("SessionEnd", reason="exit")
        done = project("fuse", "save", "--harness", "gemini", input=_line(payload))
        assert (done.status, done.out, done.err) == (0, b"", b"")
    assert json.loads(project("fuse", "list", "--json").out)["data"]["total"] == 1


def test_no_tag_of_ours_is_in_what_gemini_is_told(talk):
    talk.saves()
    talk.compacts()
    assert not re.search(r"</?\w+>", talk.prompted())


def test_marks_that_nobody_came_back_for_go(talk, project):
    talk.saves()
    (mark,) = marks(project)
    os.utime(mark, (1, 1))
    Talk(project, talk.name, OTHER).restores("SessionStart", source="startup")
    assert marks(project) == []


def test_with_the_hooks_of_claude_code_installed_as_well_copilot_is_told_once(project):
    """It runs both, and those of Claude Code with a payload of another form."""
    talk = Talk(project, "copilot-cli")
    theirs = {
        "hook_event_name": "SessionStart",
        "session_id": SESSION,
        "timestamp": "2026-11-29T23:43:39.030Z",
        "cwd": str(project.folder),
        "source": "resume",
    }
    talk.saves()
    talk.compacts()
    project("task", "create", "mend the mast")
    done = project("fuse", "restore", input=_line(theirs))
    assert (done.status, done.out, done.err) == (0, b"", b"")
    assert WORDS in talk.restores("sessionStart", source="resume")
    assert status(project)["incidents"] == []


# -- the same question without the command


class Watch:
    """A session whose marks and transcript are looked at directly."""

    def __init__(self, folder: Path, name: str) -> None:
        world = SimpleNamespace(folder=folder, environment={"HOME": str(folder)})
        self.talk = Talk(world, name)
        self.marks = Marks(str(folder / "marks"))
        self.adapter = adapter(name)

    def saves(self) -> None:
        self.marks.set(SESSION, self.talk.path.stat().st_size)

    def owes(self) -> bool:
        debt = owed.look(self.marks, SESSION, self.adapter, str(self.talk.path), over=False)
        if debt is not None:
            debt.mark.settle()
        return debt is not None


@pytest.fixture
def watch(tmp_path) -> Watch:
    return Watch(tmp_path, "gemini")


def test_a_snapshot_that_is_only_repeated_is_no_compression(watch):
    watch.talk.compacts()
    watch.saves()
    watch.talk.says([{"sessionId": SESSION, "projectHash": "h", "kind": "main"}])
    watch.talk.compacts()  # a resumed session has its conversation set anew, with the ids it had
    assert not watch.owes()
    watch.saves()
    watch.talk.compacts(2)
    assert watch.owes()


def test_a_quotation_of_a_snapshot_is_no_compression(watch):
    watch.saves()
    quoted = [{"text": "<state_snapshot>\nThey mended a mast.\n</state_snapshot>"}]
    watch.talk.says([{"id": "q", "type": "user", "content": quoted}])
    anew = {"id": "z", "type": "user", "content": [{"text": "see <state_snapshot>"}]}
    watch.talk.says([{"$set": {"messages": [anew]}}])
    assert not watch.owes()


def test_a_strange_line_is_no_compaction_and_hides_none(tmp_path):
    for number, name in enumerate(("gemini", "copilot-cli")):
        watch = Watch(tmp_path / str(number), name)
        watch.saves()
        shown = json.dumps(watch.talk.compaction[-1])
        strange: list[Any] = [{"$set": {"messages": {}}}, {"$set": "<state_snapshot>"}, 7, [shown]]
        strange += [{"type": "session.compaction_complete", "data": 7}]
        watch.talk.says([*strange, *watch.talk.compaction, *strange])
        with open(watch.talk.path, "a", encoding="utf-8") as file:
            file.write(shown[: len(shown) // 2] + "\n" + shown)  # torn, and still being written
        assert watch.owes()


def test_a_compaction_that_failed_is_none_and_one_under_way_is_waited_for(tmp_path):
    watch = Watch(tmp_path, "copilot-cli")
    start, failed, done = watch.talk.compaction
    watch.saves()
    assert not watch.owes()
    watch.talk.says([start])
    assert not watch.owes()
    assert watch.marks.has(SESSION)
    watch.talk.says([failed, start])
    assert not watch.owes()
    assert watch.marks.has(SESSION)
    watch.talk.says([failed])
    assert not watch.owes()
    assert not watch.marks.has(SESSION)
    watch.saves()
    watch.talk.says([start, done])
    assert watch.owes()


def test_a_transcript_that_is_gone_leaves_nothing_owed(watch):
    watch.saves()
    os.unlink(watch.talk.path)
    assert not watch.owes()
    assert not watch.marks.has(SESSION)


def test_a_damaged_mark_is_as_none_and_the_next_one_takes_its_place(watch, tmp_path):
    watch.saves()
    (mark,) = (tmp_path / "marks").iterdir()
    mark.write_bytes(b"seven")
    watch.talk.compacts()
    assert not watch.owes()
    watch.saves()
    assert mark.read_bytes() == b"%d\n" % watch.talk.path.stat().st_size


def test_a_mark_behind_the_end_of_a_log_that_was_cut_back_gives_way_to_the_next(tmp_path):
    watch = Watch(tmp_path, "copilot-cli")
    start, _, done = watch.talk.compaction
    whole = watch.talk.path.read_bytes()
    watch.talk.says([{"type": "user.message", "data": {"content": "x" * 5_000}, "id": "m"}])
    watch.saves()
    watch.talk.path.write_bytes(whole)  # the human went back, and the program cut its log
    watch.saves()
    watch.talk.says([start, done])
    assert watch.owes()


def test_a_mark_that_is_not_settled_stays_where_it_is_while_the_transcript_grows(watch):
    watch.saves()
    watch.talk.compacts()
    watch.saves()
    assert watch.owes()
