"""The prompt queue: what was typed while the agent worked is said once, where it arrives."""

from __future__ import annotations

import pytest

from contextspindle.core.transcript import PROMPT, QUEUED, SAID, TEXT
from tests.transcripts import entry, notification, queue, said, says, turns_of, user


def test_words_queued_and_taken_into_the_running_turn_are_said_once():
    entries = [queue("enqueue", "don't amend commits"), queue("remove"), says("Got it")]
    (turn,) = [turn for turn in turns_of(entries) if turn.kind == SAID]
    assert (turn.line, turn.via, turn.text) == (1, QUEUED, "don't amend commits")


def test_words_pulled_back_for_editing_were_never_said():
    entries = [
        queue("enqueue", "first wording"),
        queue("popAll", "first wording"),
        queue("enqueue", "second wording"),
        queue("remove"),
    ]
    assert said(entries) == [(QUEUED, "second wording")]


def test_words_that_still_wait_in_the_queue_are_said():
    assert said([queue("enqueue", "and tests"), says("working")]) == [(QUEUED, "and tests")]


def test_queued_words_that_arrive_as_a_prompt_count_once():
    entries = [queue("enqueue", "push it"), queue("dequeue"), user("push it")]
    assert said(entries) == [(QUEUED, "push it")]


def test_queued_words_are_said_where_they_arrive_in_a_fork_behind_the_history():
    entries = [
        queue("enqueue", "go another way"),
        queue("dequeue"),
        user("build it"),
        says("built"),
        user("go another way", promptSource="sdk"),
    ]
    turns = [turn for turn in turns_of(entries) if turn.kind == SAID]
    assert [(t.line, t.via, t.text) for t in turns] == [
        (3, PROMPT, "build it"),
        (5, PROMPT, "go another way"),
    ]


def test_words_that_left_the_queue_for_a_prompt_that_never_came_are_said_once():
    gone = [queue("enqueue", "push it"), queue("dequeue"), says("ok")]
    assert said(gone) == [(QUEUED, "push it")]
    assert said([*gone, queue("enqueue", "and tests"), queue("remove")]) == [
        (QUEUED, "push it"),
        (QUEUED, "and tests"),
    ]
    assert said([*gone, queue("popAll")]) == [(QUEUED, "push it")]


def test_two_prompts_that_leave_the_queue_together_are_said_once_each():
    entries = [queue("enqueue", "a b"), queue("enqueue", "c d"), queue("dequeue"), queue("dequeue")]
    assert said([*entries, user("a b"), user("c d")]) == [(QUEUED, "a b"), (QUEUED, "c d")]


def test_queued_words_that_arrive_as_an_attachment_count_once():
    attached = {"type": "queued_command", "prompt": [{"type": "text", "text": "push it"}]}
    arrives = entry("attachment", attachment={**attached, "commandMode": "prompt"})
    assert said([queue("enqueue", "push it"), arrives]) == [(QUEUED, "push it")]
    assert said([queue("enqueue", "push it"), queue("remove"), arrives]) == [(QUEUED, "push it")]
    assert said([arrives]) == [(QUEUED, "push it")]


def test_the_same_words_said_again_later_count_again():
    entries = [
        queue("enqueue", "go on"),
        queue("dequeue"),
        user("go on"),
        says("ok"),
        user("go on"),
    ]
    assert said(entries) == [(QUEUED, "go on"), (PROMPT, "go on")]


def test_the_human_s_words_leave_the_queue_before_the_notices_in_it():
    began = '{"task_id":"b1","tool_use_id":"c9","task_type":"local_bash"}'
    entries = [queue("enqueue", began), queue("enqueue", "and tests"), queue("remove"), says("ok")]
    assert [(t.kind, t.text) for t in turns_of(entries)] == [(SAID, "and tests"), (TEXT, "ok")]


def test_an_entry_without_words_leaves_the_queue_without_a_trace():
    entries = [queue("enqueue"), queue("enqueue", notification()), queue("dequeue")]
    assert said([*entries, queue("enqueue", "mine"), queue("popAll")]) == []
    assert said([*entries, queue("dequeue"), queue("dequeue"), queue("popAll")]) == []


@pytest.mark.parametrize("reason", ["dropped_by_hook", "cleared_on_cancel"])
def test_words_that_left_the_queue_without_reaching_the_agent_were_never_said(reason):
    entries = [
        queue("enqueue", "The first stays."),
        queue("enqueue", "The token is blocked."),
        queue("remove", "The token is blocked.", reason=reason),
        queue("remove", "Of another place.", reason=reason),
    ]
    assert said(entries) == [(QUEUED, "The first stays.")]


def test_words_taken_into_the_running_turn_for_a_reason_are_said():
    entries = [
        queue("enqueue", "Use wool."),
        queue("remove", "Use wool.", reason="absorbed_mid_turn"),
        says("Wool it is."),
    ]
    assert said(entries) == [(QUEUED, "Use wool.")]


def test_one_entry_pulled_back_for_editing_was_never_said():
    entries = [queue("enqueue", "Use wool."), queue("enqueue", "Use silk."),
               queue("popOne", "Use silk.")]  # fmt: skip
    assert said(entries) == [(QUEUED, "Use wool.")]
