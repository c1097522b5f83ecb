"""Claude Code's own summary, out of the frame that it puts around it in the transcript."""

from __future__ import annotations

import pytest

from contextspindle.core.transcript import SUMMARY
from contextspindle.harness import claude_turns
from tests.transcripts import user


def told(entries):
    parser = claude_turns.Parser()
    found = [turn for at, one in enumerate(entries, 1) for turn in parser.turns(at, one)]
    return [*found, *parser.finish()]


FRAMED = (
    "This session is being continued from a previous conversation that ran out of context. The"
    " summary below covers it.\n\n<system-reminder>\n<tools-used-before-summary>Bash"
    "</tools-used-before-summary>\n</system-reminder>\n"
)
SPECIFIC = "\nIf you need specific details from before compaction, read /x/{}.jsonl\n"
GO_ON = "Please continue the conversation from where we left off without asking.\n"


@pytest.mark.parametrize(
    "source",
    [
        FRAMED + "Summary:\nA mast.\nAn oar.\n" + SPECIFIC + "Continue. Do not ask.\n\nKept.",
        FRAMED + "A mast.\nAn oar.\n" + SPECIFIC + GO_ON,
        FRAMED + "A mast.\nAn oar.\n" + GO_ON,
        FRAMED + "A mast.\nAn oar.\nContinue the conversation from where it left off.",
        "A mast.\nAn oar.",
    ],
)
def test_a_summary_is_told_out_of_the_frame_that_tells_the_agent_what_to_do(source):
    (turn,) = told([user(source, isCompactSummary=True)])
    assert (turn.kind, turn.text) == (SUMMARY, "A mast.\nAn oar.")


def test_what_a_summary_quotes_of_such_a_frame_is_its_own():
    quoted = "The user pasted:" + SPECIFIC + "x" * 3_000 + "\nAn oar."
    for source in (quoted, FRAMED + quoted, FRAMED + quoted + SPECIFIC + GO_ON):
        (turn,) = told([user(source, isCompactSummary=True)])
        assert turn.text == quoted


def test_an_order_that_a_summary_quotes_near_its_end_stays_where_the_frame_is_cut_off():
    quoted = "The user pasted:\n" + GO_ON + "Then they mended the oar."
    (turn,) = told([user(FRAMED + quoted + SPECIFIC + GO_ON, isCompactSummary=True)])
    assert turn.text == quoted


def test_a_summary_on_the_line_of_its_opening_is_not_cut_off_with_it():
    source = "This session is being continued from a previous conversation. A mast was mended."
    (turn,) = told([user(source, isCompactSummary=True)])
    assert "A mast was mended." in turn.text
