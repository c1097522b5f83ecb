"""A rewind in Claude Code: what the human took back is unsaid, and nothing else is."""

from __future__ import annotations

import json

import pytest

from contextspindle.core.transcript import BACK
from contextspindle.harness import claude_code, claude_turns
from tests.transcripts import draft_of, entry, says, turns_of, user


def under(parent: str | None, own: str, line: dict) -> dict:
    return {**line, "uuid": own, "parentUuid": parent}


FIRST = [
    under(None, "u1", user("Build the importer for CSV files.")),
    under("u1", "a1", says("Done with the skeleton of the CSV importer.")),
]
WRONG = [
    under("a1", "u2", user("Delete the exporter, and never use pandas.")),
    under("u2", "a2", says("I delete the exporter.")),
    under("a2", "u3", user("Quicker, please.")),
    under("u3", "a3", says("Quicker.")),
]
AFTER = [
    under("a1", "u4", user("Keep the exporter.")),
    under("u4", "a4", says("It is kept.")),
]


def backs(entries: list) -> list[int]:
    return [int(turn.about) for turn in turns_of(entries) if turn.kind == BACK]


def test_a_prompt_where_another_one_stands_already_takes_that_one_back_and_all_behind_it():
    talk = [*FIRST, *WRONG, *AFTER]
    assert backs(talk) == [3]
    texts = " ".join(item.text for item in draft_of(turns_of(talk)).items)
    for word in ("Build the importer", "Done with the skeleton", "Keep the exporter", "It is kept"):
        assert word in texts
    for word in ("pandas", "I delete", "Quicker"):
        assert word not in texts


def test_the_same_place_may_be_gone_back_to_again_and_an_earlier_one_as_well():
    again = under("a1", "u5", user("Or rename it."))
    assert backs([*FIRST, *WRONG, *AFTER, again]) == [3, 7]
    # Where nothing stands any more, nothing can be taken back.
    assert backs([*FIRST, *WRONG, *AFTER, under("a2", "z", user("And on."))]) == [3]
    later = [under("a3", "x", user("Oh.")), *AFTER]
    assert backs([*FIRST, *WRONG, under("a2", "y", user("Slower.")), *later]) == [5, 3]


def test_what_the_harness_puts_between_the_talk_and_a_prompt_hides_no_rewind():
    note = under("a1", "s1", entry("system", subtype="turn_duration"))
    more = under("s1", "t1", entry("attachment", attachment={"type": "date"}))
    wrong = under("t1", "u2", user("Delete the exporter."))
    assert backs([*FIRST, note, more, wrong, *AFTER]) == [5]
    assert backs(
        [*FIRST, under("a1", "u2", user("Delete it.")), note, under("s1", "u4", user("Keep it."))]
    ) == [3]


def test_other_branches_of_the_parents_take_nothing_back():
    """Results of tools that were called at once, prompts without a parent, and a chain broken."""
    results = [
        under("a1", "r1", user([{"type": "tool_result", "tool_use_id": "c1", "content": "x"}])),
        under("a1", "r2", user([{"type": "tool_result", "tool_use_id": "c2", "content": "y"}])),
    ]
    echo = under("a1", "e1", user("<local-command-stdout>done</local-command-stdout>"))
    meta = under("a1", "m1", user("A caveat.", isMeta=True))
    prompt = under("a1", "u2", user("And the exporter."))
    assert backs([*FIRST, *results, echo, meta, prompt, *results, echo]) == []
    assert backs([*FIRST, under(None, "u2", user("a")), under(None, "u3", user("b"))]) == []
    assert backs([*FIRST, under("gone", "u2", user("a")), under("lost", "u3", user("b"))]) == []
    assert backs([*FIRST, under(7, "u2", user("a")), under(7, "u3", user("b"))]) == []


def test_a_subagent_s_prompts_are_nobody_s_to_take_back():
    fields = {"isSidechain": True, "agentId": "a9"}
    talk = [under("x", "1", user("Go.", **fields)), under("x", "2", user("Go there.", **fields))]
    assert [turn for turn in turns_of(talk, "a9") if turn.kind == BACK] == []


@pytest.mark.real_data
def test_in_no_recorded_session_is_anything_taken_back(data_folder):
    """Rewinds stand in them as a second prompt behind an interruption, each below the other."""
    read = 0
    folders = (data_folder / "transcripts", data_folder / "harness" / "captures")
    for path in [one for folder in folders for one in (folder / "claude-code").glob("*.jsonl")]:
        if ".hooks." not in path.name:
            transcript = claude_code.read(str(path))
            kinds = {turn.kind for turn in transcript}
            read += transcript.reading.known
            assert BACK not in kinds, path.name
    assert read > 1_000


def test_a_strange_entry_is_no_rewind():
    parser = claude_turns.Parser()
    for strange in (
        {"type": "user", "uuid": [], "parentUuid": {}},
        {"type": [], "parentUuid": "x"},
    ):
        assert parser.turns(1, json.loads(json.dumps(strange))) == []
