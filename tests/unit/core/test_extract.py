"""Extraction: what must be kept is kept, word for word, and nothing is invented."""

from __future__ import annotations

import pytest

from contextspindle.core import canon
from contextspindle.core.draft import (
    ASKED,
    CUT,
    DECIDED,
    FIRST,
    FOUND,
    GOAL,
    LAST,
    LATER,
    LEFT,
    LIMIT,
    NAME,
    REPORT,
    RULE,
    SECTIONS,
    STATE,
    UNANSWERED,
)
from contextspindle.core.extract import Extractor
from contextspindle.core.ranking import UNREAD
from contextspindle.core.redaction import MASK
from contextspindle.core.text import folded
from contextspindle.core.transcript import (
    ANSWER,
    BOUNDARY,
    CALL,
    COMMAND,
    COMMAND_LINE,
    DETAIL,
    EDIT,
    INTERRUPT,
    OUTCOME,
    PLAN,
    PROMPT,
    PROPOSAL,
    QUEUED,
    REFUSAL,
    RESULT,
    SAID,
    SUMMARY,
    TEXT,
    TODO,
    TODOS,
    Step,
    Turn,
)
from tests.transcripts import draft_of

KEY = "ghp_" + "Zx81Qw7Lm2Kp9Vt4Rb6Nc3Hd5Js0Fg1Ty8"


class Talk:
    """Turns in order, each on a line of its own."""

    def __init__(self):
        self.turns = []

    def add(self, kind, text="", via="", **fields):
        self.turns.append(Turn(len(self.turns) + 1, kind, text, via, **fields))
        return self

    def user(self, text, via=PROMPT, **fields):
        return self.add(SAID, text, via, **fields)

    def agent(self, text):
        return self.add(TEXT, text)

    def work(self, count=1, about="mend the mast"):
        for _ in range(count):
            key = f"c{len(self.turns)}"
            self.add(CALL, about, COMMAND_LINE, tool="Bash", call=key, about=about)
            self.add(RESULT, "done", COMMAND_LINE, tool="Bash", call=key, about=about)
        return self

    @property
    def draft(self):
        return draft_of(self.turns)

    def texts(self, *sections):
        return [item.text for item in self.draft.of(*sections)]

    def last(self):
        (item,) = self.draft.of(LAST)
        return item


# ---- the goal


def test_a_greeting_is_no_goal():
    talk = Talk().user("hi").agent("Hello!").user("mend the broken mast of the yawl").work()
    assert talk.texts(GOAL) == ["mend the broken mast of the yawl"]


def test_a_course_set_later_is_the_goal_and_the_first_request_is_kept_beside_it():
    talk = Talk().user("mend the broken mast of the yawl").work(5).agent("The mast is mended.")
    talk.user("drop that; instead write the logbook exporter in export_log.py")
    for _ in range(30):
        talk.work(1, "python export_log.py --logbook").agent("export_log.py writes the logbook.")
    goals = [(item.text, item.mark) for item in talk.draft.of(GOAL)]
    assert goals == [
        ("drop that; instead write the logbook exporter in export_log.py", ""),
        ("mend the broken mast of the yawl", FIRST),
    ]


def test_an_approved_plan_after_the_request_is_a_goal_and_a_refused_one_is_not():
    talk = Talk().user("plan the voyage to Bergen")
    talk.add(PROPOSAL, "# By train", failed=True).add(PROPOSAL, "# Under sail", call="c1")
    assert talk.texts(GOAL) == ["# Under sail", "plan the voyage to Bergen"]


def test_of_a_plan_of_many_pages_the_title_is_in_the_goal():
    plan = "Implement the following plan:\n\n# Sail to Bergen\n\n## Context\n\n" + "wind " * 2_000
    (goal,) = Talk().user(plan, PLAN).work().texts(GOAL)
    assert "Sail to Bergen" in goal[:60]


def test_words_behind_a_command_can_be_the_goal():
    assert Talk().user("/review all of it", COMMAND).work().texts(GOAL) == ["/review all of it"]


# ---- the last words


def test_the_last_words_are_kept_with_every_character():
    text = "first line\n\n\t- indented  twice\n  last line"
    item = Talk().user("mend the mast of the yawl").work().user(text).last()
    assert (item.text, item.mark) == (text, UNANSWERED)


def test_they_are_answered_once_the_agent_did_anything():
    assert Talk().user("mend the mast").agent("On it.").last().mark == ""
    assert Talk().user("mend the mast").work().last().mark == ""


def test_an_interrupt_is_not_the_last_thing_said():
    assert Talk().user("mend the mast").add(INTERRUPT).last().text == "mend the mast"


def test_all_that_waits_for_an_answer_is_kept():
    talk = Talk().user("mend the mast").work().user("paint it too").user("and the oars")
    assert talk.last().text == "and the oars"
    waiting = [item for item in talk.draft.of(ASKED) if item.mark == UNANSWERED]
    assert [item.text for item in waiting] == ["paint it too"]


def test_words_queued_long_ago_and_never_delivered_wait_for_an_answer():
    talk = Talk().user("mend the mast").user("and the oars", QUEUED)
    queued = talk.turns.pop()
    talk.work(3)
    talk.turns.append(queued)
    item = draft_of(talk.turns).of(LAST)[0]
    assert (item.text, item.line, item.mark) == ("and the oars", 2, UNANSWERED)


def test_a_very_short_answer_comes_with_its_question():
    talk = Talk().user("plan the voyage").agent("Two ways.\n1. Under sail\n2. By motor\nWhich?")
    item = talk.user("1").last()
    assert item.text == "1"
    assert "1. Under sail" in item.about
    assert item.about.endswith("Which?")


def test_a_chosen_answer_comes_with_its_question():
    item = Talk().user("the Baltic", ANSWER, about="Which sea?").last()
    assert item.about == "re: Which sea?"


def test_a_refusal_comes_with_what_was_refused():
    item = Talk().user("not that file", REFUSAL, tool="Edit", about="/p/src/mast.py").last()
    assert item.about == "refusing Edit mast.py"


def test_a_refused_command_is_named_as_it_was_to_run():
    command = "git reset --hard origin/main && git cherry-pick 08b3ac4"
    item = Talk().user("what are you doing?", REFUSAL, tool="Bash", about=command).last()
    assert item.about == f"refusing Bash {command}"


def test_a_choice_with_more_words_comes_with_the_option_it_picks():
    talk = Talk().user("plan the voyage").agent("Two ways.\n1. Under sail\n2. By motor\nWhich?")
    words = "2 seems the better path, though I would like to sail one day"
    item = talk.user(words).last()
    assert (item.text, item.about) == (words, "re: 2. By motor")


def test_what_came_back_for_programs_is_not_shown_as_where_the_agent_left_off():
    talk = Talk().user("mend it").agent("Let me post that:")
    talk.add(CALL, "gh api", COMMAND_LINE, tool="Bash", call="c", about="gh api")
    talk.add(
        RESULT, '{"url": "https://example.org/1", "id": 7}', COMMAND_LINE, call="c", tool="Bash"
    )
    assert [item.about for item in talk.draft.of(LEFT)] == ["", "then Bash"]


def test_of_very_long_words_both_ends_are_kept():
    text = "START " + "x" * 50_000 + " END"
    item = Talk().user(text).last()
    assert item.text.startswith("START")
    assert item.text.endswith("END")
    assert CUT in item.mark


def test_what_was_asked_for_after_the_course_is_told_beside_it_while_the_last_words_do_not():
    talk = Talk().user("Build a dark mode toggle for the settings page of the yawl app, please.")
    for n in range(8):
        talk.agent(f"The dark_mode toggle_{n} of the settings page is built.").work(1, "dark_mode")
    talk.user(
        "Stop. Forget dark mode, we drop it entirely. Write the CSV export of the log instead."
    )
    talk.agent("All right.").user("ok, go on")
    goals = {item.mark: item.text for item in talk.draft.of(GOAL)}
    assert "dark mode toggle" in goals[""]
    assert "CSV export" in goals[LATER]


# ---- rules, answers, reversals


def test_a_rule_is_kept_wherever_it_was_said_and_for_ever():
    talk = Talk().user("mend the mast of the yawl").work()
    talk.user("always use the local database, never the remote one").agent("Noted.")
    for n in range(300):
        talk.work(1, f"hoist sail_{n}").agent(f"sail_{n} is up")
    talk.user("thank you, and now the anchor")
    assert talk.texts(RULE) == ["always use the local database, never the remote one"]


def test_what_was_said_against_a_call_needs_only_a_weak_sign():
    words = "no schema changes"
    against = Talk().user("mend the mast").work().user(words, REFUSAL, tool="Edit").work()
    assert against.user("bye").texts(RULE) == [words]
    plainly = Talk().user("mend the mast").work().user(words).work()
    assert plainly.user("bye").texts(RULE) == []


def test_there_are_no_rules_where_none_were_said():
    talk = Talk().user("mend the mast, please").agent("You must never sail without a mast.")
    talk.add(RESULT, "never do this").user("what is a yawl?").work().user("go on then")
    assert talk.texts(RULE) == []


def test_a_question_is_no_rule():
    assert Talk().user("do we always need a mast?").work().user("ok").texts(RULE) == []


def test_a_request_stopped_and_said_again_in_other_words_is_kept_once():
    talk = Talk().user("set the course to Oslo").work().user("mend the mast with rope")
    talk.add(INTERRUPT).user("mend the mast with rope and tar").work()
    texts = talk.texts(ASKED, RULE, DECIDED, LAST, GOAL)
    assert "mend the mast with rope" not in texts
    assert talk.last().text == "mend the mast with rope and tar"


def test_a_short_answer_is_a_decision_with_its_question():
    talk = Talk().user("plan the voyage").agent("Shall I book the harbour?").user("yes").work()
    talk.user("now pack the provisions for four weeks").work()
    (item,) = talk.draft.of(DECIDED)
    assert (item.text, item.about) == ("yes", "re: Shall I book the harbour?")


# ---- the rest


def test_where_the_agent_left_off_is_its_last_text():
    talk = Talk().user("mend it").agent("First.").work().agent("The mast is done. Next: the sail.")
    assert talk.texts(LEFT) == ["The mast is done. Next: the sail."]


def test_findings_errors_and_reports_are_kept():
    talk = Talk().user("mend the mast of the yawl")
    talk.agent("Root cause: `mast.step` was 3 cm short.").work()
    talk.add(RESULT, "boom: MastError at mast.py:7", COMMAND_LINE, tool="Bash", failed=True)
    talk.add(OUTCOME, "Two reefs near buoy_17.", call="c9").agent("Going on.")
    found = talk.texts(FOUND)
    assert "Root cause: `mast.step` was 3 cm short." in found
    assert "boom: MastError at mast.py:7" in found
    assert "Two reefs near buoy_17." in found


def test_the_harness_s_summary_is_quoted_as_a_summary_and_never_as_a_rule():
    summary = "The user wants mast_9 mended. Never touch the anchor."
    talk = Talk().user("mend mast_9 soon").add(BOUNDARY).add(SUMMARY, summary).user("go on").work()
    quoted = [item for item in talk.draft.of(FOUND) if item.about == "summary"]
    assert [item.text for item in quoted] == [summary]
    assert talk.texts(RULE) == []


def test_changed_files_come_the_newest_first_whatever_else_is_said_of_them():
    talk = Talk().user("mend mast.py of the yawl").agent("mast.py and then oar.py and sail.py")
    for n, name in enumerate(("mast.py", "oar.py", "sail.py")):
        talk.add(CALL, "", EDIT, tool="Edit", call=f"e{n}", about=name)
        talk.add(RESULT, "", EDIT, tool="Edit", call=f"e{n}", about=name)
    files = [item.text for item in talk.draft.of(STATE) if item.about == "file"]
    assert files == ["sail.py", "oar.py", "mast.py"]


def test_what_the_agent_did_after_its_last_words_is_kept_and_what_it_looked_at_is_not():
    talk = Talk().user("mend it").agent("Now the tests.")
    for _ in range(5):
        talk.add(CALL, "", tool="Read", call="r", about="mast.py")
        talk.add(RESULT, "1 import rope", tool="Read", call="r", about="mast.py")
    talk.work(1, "make test")
    trail = [(item.about, item.text) for item in talk.draft.of(LEFT)[1:]]
    assert trail == [("then Read", "mast.py"), ("then Bash", "make test")]


def test_what_the_agent_tried_again_in_the_same_words_is_told_once_where_it_stands_last():
    talk = Talk().user("mend it").agent("Now the tests.")
    talk.work(1, "make lint").work(2, "make test")
    trail = [(item.about, item.text, item.line) for item in talk.draft.of(LEFT)[1:]]
    lines = [turn.line for turn in talk.turns if turn.kind == CALL]
    assert trail == [
        ("then Bash", "make lint", lines[0]),
        ("then Bash", "make test", lines[-1]),
    ]


def run_of_tests(talk, printed):
    key = f"c{len(talk.turns)}"
    talk.add(CALL, "make test", COMMAND_LINE, tool="Bash", call=key, about="make test")
    return talk.add(RESULT, printed, COMMAND_LINE, tool="Bash", call=key, about="make test")


def test_a_test_run_that_stands_where_the_agent_left_off_is_not_told_again():
    talk = run_of_tests(Talk().user("mend it").agent("Now the tests."), "12 passed in 0.41s")
    assert talk.texts(LEFT) == ["Now the tests.", "make test", "12 passed in 0.41s"]
    assert talk.texts(STATE) == []
    talk.agent("All of them pass.")
    assert talk.texts(STATE) == ["make test -> 12 passed in 0.41s"]


def test_a_test_run_of_which_only_the_verdict_stands_there_is_told():
    talk = run_of_tests(Talk().user("mend it").agent("Now the tests."), "12 passed in 0.41s")
    talk.add(CALL, "make lint", COMMAND_LINE, tool="Bash", call="c9", about="make lint")
    assert "make test" not in talk.texts(LEFT)
    assert talk.texts(STATE) == ["make test -> 12 passed in 0.41s"]


def test_a_test_run_whose_verdict_does_not_stand_there_is_told():
    rows = ["mast.py 3 failed, 9 passed", *(f"see the report number {n}" for n in range(3))]
    talk = run_of_tests(Talk().user("mend it").agent("Now the tests."), "\n".join(rows))
    assert rows[0] not in " ".join(talk.texts(LEFT))
    assert talk.texts(STATE) == [f"make test -> {rows[0]}"]


def test_what_was_written_down_of_a_step_outlives_the_step():
    talk = Talk().user("write the tests of the yawl that the review asked for")
    words = "Cover the torn halyard, the empty_hold and the key of the harbour_gate."
    talk.add(DETAIL, words, tool="TaskCreate", call="t")
    done = Step("1", "Write the tests", "completed")
    talk.add(TODO, tool="TaskUpdate", call="t", steps=(done,)).agent("All of them pass.")
    assert words in [item.text for item in talk.draft.of(FOUND)]


def test_what_belongs_to_the_request_that_the_work_is_about_is_known_as_that():
    first = "Paint the hull of the yawl, and the oars in the colour of the harbour."
    rest = " ".join(f"Then splice rope_{n} to the mast_{n} of the boat." for n in range(60))
    talk = Talk().user(first).agent("The hull is painted.").user(f"Mend the mast. {rest}")
    for n in range(9):
        talk.agent(f"rope_{n} is spliced to mast_{n}.")
    extractor = Extractor()
    for turn in talk.turns:
        extractor.feed(turn)
    _, passages, _ = extractor.candidates(extractor.terms.weights())
    request = talk.turns[2].line
    assert {p.in_force for p in passages if p.item.line == request} == {True}
    assert {p.in_force for p in passages if p.item.line != request} == {False}


def test_the_names_that_an_edit_brings_into_the_session_can_be_quoted():
    talk = Talk().user("mend the mast of the yawl").agent("The rigging_plan is old.")
    talk.add(CALL, "def splice_mast(rope):\n    return rigging_plan", EDIT, tool="Edit", call="e1")
    talk.add(RESULT, "", EDIT, tool="Edit", call="e1")
    named = [item.text for item in talk.draft.of(FOUND) if item.about == NAME]
    assert named == ["splice_mast"]


def test_a_report_counts_as_unread_until_the_agent_writes_again():
    def kinds(talk):
        extractor = Extractor()
        for turn in talk.turns:
            extractor.feed(turn)
        _, passages, _ = extractor.candidates(extractor.terms.weights())
        return [one.kind for one in passages if one.item.about == REPORT]

    talk = Talk().user("look around").add(OUTCOME, "Two reefs near buoy_17.", call="c9")
    assert kinds(talk) == [UNREAD]
    assert kinds(talk.agent("I see.")) == [REPORT]


def test_a_command_answers_nothing():
    talk = Talk().user("mend it").agent("Shall I dock?").user("/status", via=COMMAND).work()
    assert talk.last().about == ""


def test_compactions_and_utterances_are_counted():
    draft = Talk().user("a b c").add(BOUNDARY).user("d e f").add(BOUNDARY).draft
    assert (draft.said, draft.compactions, draft.lines) == (2, 2, 4)


def test_of_no_turns_there_is_an_empty_draft():
    assert draft_of([]).items == ()


def test_secrets_are_masked_before_a_text_is_cut_into_passages():
    padding = "word " * 50
    talk = Talk().user(f"use {KEY} for it, {padding}{KEY}").agent(f"{padding}{KEY}").work(1, KEY)
    talk.add(OUTCOME, KEY, about=KEY).add(PROPOSAL, KEY).user(f"{KEY}\n{KEY}").user(
        "x", REFUSAL, about=KEY
    )
    talk.user(KEY, ANSWER, about=KEY)
    stored = canon.text(talk.draft.to_document())
    assert KEY[4:20] not in stored
    assert MASK in stored


def test_every_item_is_a_quotation_with_its_line():
    talk = Talk().user("mend the mast of the yawl, never the oars").work(3)
    talk.agent("First this. Then that: a list\n- alpha_1\n- beta_2").user(
        "fine, go on with alpha_1"
    )
    for item in talk.draft.items:
        turn = talk.turns[item.line - 1]
        source = folded(f"{turn.text} {turn.about}")
        assert item.section in SECTIONS
        assert all(part in source for part in item.text.split(" -> ")), item


def test_asking_for_the_draft_changes_nothing():
    talk = Talk().user("mend the mast of the yawl").work(3).agent("Done with mast_1.")
    extractor = Extractor()
    for turn in talk.turns:
        extractor.feed(turn)
        extractor.draft()
    assert extractor.draft() == talk.draft


def test_a_draft_of_any_session_is_bounded(monkeypatch):
    monkeypatch.setattr("contextspindle.core.candidates.KEPT", 300)
    talk = Talk()
    for n in range(400):
        talk.user(f"never touch harbour_{n} " + "wind " * 20).agent(f"ok_{n}. " * 30).work()
    document = talk.draft.to_document()
    assert len(canon.encode(document)) <= LIMIT
    assert talk.last().text.startswith("never touch harbour_399")


def test_memory_stays_bounded_in_a_session_without_end(monkeypatch):
    monkeypatch.setattr("contextspindle.core.candidates.KEPT", 300)
    monkeypatch.setattr("contextspindle.core.extract._SAID", 50)
    extractor = Extractor()
    for n in range(3_000):
        extractor.feed(Turn(n, SAID, f"hoist sail_{n} and report", PROMPT))
        extractor.feed(Turn(n, TEXT, f"sail_{n} is up. It took {n} minutes."))
    assert len(list(extractor._candidates)) <= 600
    assert len(extractor._said) <= 50


def test_of_a_text_too_long_to_be_read_whole_both_ends_are_told():
    rows = [f"Row {n} of the log of the yawl" for n in range(9_000)]
    rows[4_500] += ", which speaks of a keelhaul"
    words = "\n".join(rows)
    text = f"Why does the mast creak in the wind?\n{words}\nFind the reason and mend it."
    for kind in (SAID, TEXT, OUTCOME, SUMMARY, PROPOSAL):
        talk = Talk().add(SAID, "Look at the log of the yawl.", PROMPT).add(kind, text, PROMPT)
        extractor = Extractor()
        for turn in talk.turns:
            extractor.feed(turn)
        told = "\n".join(item.text for item in extractor.draft().items)
        assert kind not in (SAID, TEXT) or "Find the reason and mend it." in told
        assert extractor.terms.known("creak"), kind
        assert not extractor.terms.known("keelhaul"), kind


def test_a_turn_of_a_strange_shape_costs_no_other_and_is_told_from_them():
    extractor = Extractor()
    strange = Turn(2, TODOS, steps=None)
    assert extractor.take(Turn(1, SAID, "Mend the mast of the yawl.", PROMPT))
    assert not extractor.take(strange)
    assert extractor.take(Turn(3, TEXT, "The mast of the yawl is whole again."))
    draft = extractor.draft()
    assert [item.text for item in draft.of(GOAL)] == ["Mend the mast of the yawl."]
    with pytest.raises(TypeError):
        extractor.feed(strange)
