"""The payload of a hook: read no further than it goes, and tried no more often than it pays."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading

import pytest

from contextspindle.cli import hook
from contextspindle.core import canon


@pytest.fixture
def given():
    """A function that puts pieces into standard input, each after the one before was read."""
    with contextlib.ExitStack() as closing:

        def give(pieces: list[bytes], *, closed: bool = True) -> None:
            here, there = os.pipe()
            before = os.dup(0)
            os.dup2(here, 0)
            os.close(here)

            def write() -> None:
                for piece in pieces:
                    at = 0
                    while at < len(piece):
                        at += os.write(there, piece[at:])
                if closed:
                    os.close(there)

            writer = threading.Thread(target=write)
            writer.start()

            def undo() -> None:
                os.dup2(before, 0)
                os.close(before)
                writer.join()
                if not closed:
                    os.close(there)

            closing.callback(undo)

        yield give


def read_counting() -> tuple[object, int]:
    """The payload, and how often it was taken for the whole."""
    tried = 0

    def count(frame, event, argument):
        nonlocal tried
        tried += event == "call" and frame.f_code is canon.decode.__code__

    sys.setprofile(count)
    try:
        return hook.payload(), tried
    finally:
        sys.setprofile(None)


def test_a_long_payload_whose_pieces_all_end_like_a_document_is_tried_a_few_times(given):
    text = "}" * (4 << 20)
    given([json.dumps({"tool_response": text}).encode()])
    found, tried = read_counting()
    assert found == {"tool_response": text}
    assert tried < 12


@pytest.mark.parametrize("closed", [True, False])
def test_the_whole_is_taken_when_no_more_comes_of_it(given, closed):
    payload = {"a": "}" * 70_000, "b": "}" * 70_000, "c": {}}
    source = json.dumps(payload).encode()
    given([source[:65_000], source[65_000:135_000], source[135_000:]], closed=closed)
    assert hook.payload() == payload


def test_a_hook_keeps_what_there_is_when_its_program_gives_less_time():
    usual = hook.Deadline(100.0)
    assert usual._replace(seconds=0.9).left() < usual.left() - 2
