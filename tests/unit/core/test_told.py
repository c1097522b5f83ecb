"""What a summary tells already goes from the handoff; what only looks alike stays."""

from __future__ import annotations

import pytest

from contextspindle.core.draft import (
    ASKED,
    DECIDED,
    FOUND,
    GOAL,
    LAST,
    LEFT,
    NAME,
    RULE,
    RUNNING,
    STATE,
    STEP,
    UNANSWERED,
    Draft,
    Item,
)
from contextspindle.core.told import ALWAYS, marks, untold

SUMMARY = (
    "The user wants the parser moved to src/parser.py. The cause of the crash was a stale cache"
    " in load_config; all 42 tests pass on the branch fix/cache. Use tabs in the templates."
)


def shown(*items):
    draft = Draft(items)
    kept, gone = untold(draft, marks(draft, SUMMARY))
    assert gone == len(items) - len(kept.items)
    return [item.text for item in kept.items]


def test_what_the_summary_says_in_other_order_is_not_said_again():
    assert shown(Item(FOUND, "The crash: a stale cache in load_config was the cause", 3)) == []
    assert shown(Item(STATE, "fix/cache", 3, about="branch")) == []
    # Its words stand there, but not as a name of anything.
    assert shown(Item(STATE, "parser/crash", 3, about="branch")) == ["parser/crash"]
    assert shown(Item(STATE, "lib/parser.py", 3, about="file")) == []


@pytest.mark.parametrize(
    "text",
    [
        "The cause of the crash was a stale cache in save_config",  # another name
        "all 43 tests pass on the branch fix/cache",  # another number
        "The disk was full during the upload",
        "src/parser_test.py",
        "https://example.org/42",
    ],
)
def test_a_name_or_a_number_that_the_summary_lacks_keeps_its_passage(text):
    assert shown(Item(FOUND, text, 3)) == [text]


def test_a_short_word_of_the_human_that_turns_the_sense_keeps_the_words():
    for section in (ASKED, DECIDED):
        assert shown(Item(section, "use no tabs in the templates", 3)) != []
        assert shown(Item(section, "use tabs in the templates", 3)) == []


def test_goal_rules_last_words_next_step_and_open_steps_stay_whatever_is_told():
    items = [Item(section, "all 42 tests pass", 3) for section in ALWAYS]
    assert set(ALWAYS) == {GOAL, LAST, RULE, LEFT, STEP, RUNNING}
    assert len(shown(*items)) == len(items)
    assert shown(Item(ASKED, "all 42 tests pass", 3, mark=UNANSWERED)) != []


def test_of_the_rest_what_is_told_less_moves_up():
    near = Item(FOUND, "the parser cache load_config tests branch tabs wharf shore", 1)
    others = [Item(FOUND, f"nothing alike {n}x", n) for n in range(2, 9)]
    assert shown(near, *others)[0] != near.text
    assert near.text in shown(near, *others)


def test_a_name_of_an_edit_that_the_summary_passes_over_comes_behind_all_else():
    name = Item(FOUND, "unload_config", 1, about=NAME)
    words = Item(FOUND, "the parser cache load_config tests branch tabs wharf shore", 2)
    assert shown(name, words, Item(FOUND, "the disk was full", 3))[-1] == name.text


def test_states_keep_their_order():
    items = [Item(STATE, f"v{n}.9.9", n, about="commit") for n in range(9)]
    assert shown(*items) == [item.text for item in items]


def test_marks_of_another_draft_or_of_no_known_form_change_nothing():
    draft = Draft((Item(FOUND, "the branch fix/cache", 1),) * 3)
    for told in ("", "9", "9999", "xxx", "9x9", "٩٩٩"):
        assert untold(draft, told) == (draft, 0)


def test_a_language_without_blanks_is_compared_by_pairs():
    draft = Draft((Item(FOUND, "解析器已移动到新文件", 1), Item(FOUND, "缓存损坏导致崩溃", 2)))
    kept, _ = untold(draft, marks(draft, "我们把解析器已移动到新文件了。"))
    assert [item.line for item in kept.items] == [2]


def test_no_text_of_the_summary_is_in_the_marks():
    told = marks(Draft((Item(FOUND, "a b", 1), Item(FOUND, "fix/cache", 1))), SUMMARY)
    assert told.isdigit()
    assert len(told) == 2
