"""Gemini CLI: entries that come again, and a talk that is taken back."""

from __future__ import annotations

from contextspindle.core.draft import GOAL, LAST, LEFT, RULE, RUNNING
from contextspindle.core.transcript import BACK, CALL, RESULT, SAID, TEXT
from contextspindle.harness import gemini, gemini_turns
from tests.transcripts import draft_of, written

SESSION = "5a7a6249-7f6b-4de7-9d37-600061f87c1f"


def head():
    return {"sessionId": SESSION, "projectHash": "p", "startTime": "t", "kind": "main"}


def user(key, words):
    return {"id": key, "timestamp": "t", "type": "user", "content": [{"text": words}]}


def model(key, words, *called):
    return {
        "id": key,
        "timestamp": "t",
        "type": "gemini",
        "content": words,
        "toolCalls": list(called),
    }


def shell(key, command, status="executing", printed=""):
    answer = [{"functionResponse": {"response": {"output": printed}}}]
    given = {"name": "run_shell_command", "args": {"command": command}}
    return {"id": key, "status": status, "result": answer if printed else None, **given}


def turns(*entries):
    parser = gemini_turns.Parser()
    found = [turn for at, one in enumerate(entries, 1) for turn in parser.turns(at, one)]
    return [*found, *parser.finish()]


TAKEN_BACK = [
    head(),
    user("u1", "Mend the mast of the ship with wool."),
    model("g1", "The mast is mended with wool."),
    user("u2", "Never touch the rudder: paint the keel of the ship green."),
    model("g2", "I paint the keel of the ship.", shell("c1", "paint --green keel")),
    {"$rewindTo": "u2"},
]


def test_what_the_human_took_back_is_neither_goal_nor_rule_nor_left_open():
    draft = draft_of(turns(*TAKEN_BACK))
    assert draft.said == 1
    assert [item.line for item in draft.of(GOAL, LAST)] == [2, 2]
    assert draft.of(RULE, LEFT, RUNNING) == []
    assert not [item for item in draft.items if item.line > 3]


def test_what_is_said_instead_counts():
    draft = draft_of(turns(*TAKEN_BACK, user("u3", "Never use nylon on the ship's mast.")))
    assert draft.said == 2
    assert [item.line for item in draft.of(LAST)] == [7]
    assert {item.line for item in draft.of(RULE)} <= {7}


def test_going_back_to_the_start_leaves_the_next_request_as_the_goal():
    entries = [*TAKEN_BACK[:-1], {"$rewindTo": "u1"}, user("u9", "Sew the sail of the ship anew.")]
    draft = draft_of(turns(*entries))
    assert [item.text for item in draft.of(GOAL)] == ["Sew the sail of the ship anew."]


def test_going_back_to_what_was_never_met_takes_nothing_back():
    found = turns(*TAKEN_BACK[:-1], {"$rewindTo": "elsewhere"}, {"$rewindTo": 7})
    assert not [turn for turn in found if turn.kind == BACK]
    assert draft_of(found).said == 2


def test_words_that_come_again_fuller_at_once_are_told_in_their_last_form(tmp_path):
    entries = [
        head(),
        user("u1", "Mend"),
        user("u1", "Mend the mast."),
        model("g1", "I"),
        model("g1", "I mend it."),
        model("g1", "I mend it.", shell("c1", "mend")),
        model("g1", "I mend it.", shell("c1", "mend", "success", "mended")),
        user("u1", "Mend the mast."),
    ]
    found = turns(*entries)
    assert [(turn.line, turn.kind, turn.text) for turn in found] == [
        (3, SAID, "Mend the mast."),
        (6, TEXT, "I mend it."),
        (6, CALL, "mend"),
        (7, RESULT, "mended"),
    ]
    path = written(tmp_path / "session-a.jsonl", entries)
    assert all(turn.seal for turn in gemini.read(path, SESSION))


def test_the_last_words_are_told_where_nothing_follows():
    assert [turn.text for turn in turns(head(), user("u1", "Mend it."))] == ["Mend it."]


def test_in_a_huge_file_s_middle_a_talk_that_is_taken_back_is_noticed():
    assert gemini.worth(b'{"$rewindTo":"u2"}', True)
    assert not gemini.worth(b'{"id":"g1","type":"gemini"}', True)
