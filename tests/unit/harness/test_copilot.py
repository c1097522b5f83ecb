"""Copilot CLI: whose words and calls the events of a session are."""

from __future__ import annotations

import pytest

from contextspindle.core.draft import RUNNING
from contextspindle.core.transcript import CALL, LAUNCH, OUTCOME, SAID, TEXT
from contextspindle.harness import copilot_turns
from tests.transcripts import draft_of


def event(kind, /, **data):
    return {"type": kind, "data": data, "id": "e", "timestamp": "2026-01-31T09:30:00.000Z"}


def asks(call, tool, **given):
    return {"toolCallId": call, "name": tool, "arguments": given}


def ended(call, text, **more):
    return event(
        "tool.execution_complete", toolCallId=call, success=True, result={"content": text}, **more
    )


def turns(*entries):
    parser = copilot_turns.Parser()
    found = [turn for at, one in enumerate(entries, 1) for turn in parser.turns(at, one)]
    return [*found, *parser.finish()]


SESSION = [
    event("user.message", content="Mend the mast.", parentAgentTaskId="t0"),
    event(
        "assistant.message",
        content="I send one off.",
        toolRequests=[asks("c1", "task", prompt="Look at the rigging.")],
    ),
    event(
        "assistant.message",
        content="The child looks.",
        parentToolCallId="c1",
        toolRequests=[asks("c2", "bash", command="ls rigging")],
    ),
    ended("c2", "a.rope", parentToolCallId="c1"),
    {**event("assistant.message", content="A newer child."), "agentId": "a1"},
    ended("c1", "Two ropes are frayed."),
]


def test_a_subagents_words_and_calls_are_not_the_agents():
    found = turns(*SESSION)
    assert [turn.text for turn in found if turn.kind == TEXT] == ["I send one off."]
    assert [turn.call for turn in found if turn.kind in (CALL, LAUNCH)] == ["c1"]
    assert [turn.text for turn in found if turn.kind == OUTCOME] == ["Two ropes are frayed."]
    assert [turn.text for turn in found if turn.kind == SAID] == ["Mend the mast."]
    assert not [item for item in draft_of(found).items if item.section == RUNNING]


@pytest.mark.parametrize(
    "marks",
    [
        {"source": "skill-pdf"},
        {"source": "skill"},
        {"source": "agent-a1"},
        {"source": "autopilot"},
        {"source": "jit-instruction"},
        {"source": "system"},
        {"isAutopilotContinuation": True},
        {"parentToolCallId": "c1"},
    ],
)
def test_a_message_that_the_program_wrote_is_no_word_of_the_human(marks):
    assert turns(event("user.message", content="Never use nylon.", **marks)) == []


@pytest.mark.parametrize("source", ["", None, "user", "command", "immediate-prompt", "cli"])
def test_a_message_of_any_other_origin_is_the_human_s(source):
    found = turns(event("user.message", content="No nylon.", source=source, parentAgentTaskId="t"))
    assert [turn.text for turn in found] == ["No nylon."]
