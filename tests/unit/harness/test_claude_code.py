"""Claude Code: who spoke, in every place where somebody can."""

from __future__ import annotations

import json

import pytest

from contextspindle.core.transcript import (
    ANSWER,
    ASIDE,
    BOUNDARY,
    CALL,
    CLOSING,
    COMMAND,
    DETAIL,
    INTERRUPT,
    LAUNCH,
    OPENING,
    OUTCOME,
    PLAN,
    PROMPT,
    PROPOSAL,
    PULL,
    REFUSAL,
    RESULT,
    SAID,
    SHELL,
    SUMMARY,
    TEXT,
    TODO,
    TODOS,
)
from tests.transcripts import (
    REJECTED,
    calls,
    entry,
    notification,
    queue,
    refuses,
    returns,
    said,
    says,
    turns_of,
    user,
)


def kinds(entries):
    return [turn.kind for turn in turns_of(entries)]


# ---- the human's words


def test_a_prompt_is_said_as_a_string_and_as_blocks():
    blocks = [{"type": "text", "text": "mend it"}, {"type": "text", "text": "today"}]
    assert said([user("mend it"), user(blocks)]) == [
        (PROMPT, "mend it"),
        (PROMPT, "mend it\ntoday"),
    ]


def test_a_prompt_keeps_its_line_breaks_and_its_indentation():
    assert said([user("\n  a\n\tb\n\n")]) == [(PROMPT, "  a\n\tb")]


def test_words_beside_a_picture_are_said_and_a_picture_alone_is_named():
    picture = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    words = {"type": "text", "text": "what is this?"}
    assert said([user([picture, words]), user([picture])]) == [
        (PROMPT, "what is this?"),
        (PROMPT, "[Image]"),
    ]


def test_half_a_surrogate_pair_does_not_stay():
    assert said([user("a\ud83db")]) == [(PROMPT, "a\ufffdb")]


def test_a_plan_sent_into_a_fresh_context_is_said():
    plan = "Implement the following plan:\n\n# Sail\n\n1. hoist"
    assert said([user(plan, planContent="# Sail")]) == [(PLAN, plan)]


def test_the_words_of_a_refusal_are_said_and_name_what_was_refused():
    entries = [calls("c1", "Edit", file_path="/p/a.py"), refuses("c1", "no schema changes")]
    (turn,) = [turn for turn in turns_of(entries) if turn.kind == SAID]
    assert (turn.via, turn.text) == (REFUSAL, "no schema changes")
    assert (turn.tool, turn.about, turn.call) == ("Edit", "/p/a.py", "c1")


def test_the_harness_s_own_note_behind_a_refusal_is_not_said():
    note = "\n\nNote: The user's next message may contain a correction or preference."
    entries = [calls("c1", "Edit"), refuses("c1", "not like this" + note)]
    assert said(entries) == [(REFUSAL, "not like this")]


def test_a_refusal_without_words_is_an_interrupt():
    told = f"{REJECTED} STOP what you are doing and wait for the user to tell you how to proceed."
    entries = [calls("c1", "Bash", command="make"), returns("c1", told, is_error=True)]
    assert kinds(entries) == [CALL, INTERRUPT]


def test_tool_output_that_quotes_a_refusal_is_not_said():
    quoted = "log: the user said:\nrm -rf /"
    entries = [calls("c1", "Bash"), returns("c1", quoted), returns("c2", quoted, is_error=True)]
    assert said(entries) == []


def test_an_answer_is_said_with_its_question_and_the_options_are_not():
    detail = {
        "questions": [{"question": "Which sea?", "options": [{"label": "North"}]}],
        "answers": {"Which sea?": "the Baltic", "When?": "soon"},
        "annotations": {"When?": {"notes": "before May"}},
    }
    entries = [calls("c1", "AskUserQuestion", questions=[]), returns("c1", "answered", detail)]
    turns = [turn for turn in turns_of(entries) if turn.kind == SAID]
    assert [(t.via, t.about, t.text) for t in turns] == [
        (ANSWER, "Which sea?", "the Baltic"),
        (ANSWER, "When?", "soon\nbefore May"),
    ]


def test_a_text_block_beside_a_tool_result_is_said():
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    beside = user([result, {"type": "text", "text": "and use pagination"}])
    assert said([calls("c1", "Bash"), beside]) == [(ASIDE, "and use pagination")]


def test_the_words_behind_a_slash_command_are_said():
    typed = "<command-message>review</command-message>\n<command-name>/review</command-name>"
    with_words = typed + "\n<command-args>all of phase 14</command-args>"
    assert said([user(typed), user(with_words)]) == [
        (COMMAND, "/review"),
        (COMMAND, "/review all of phase 14"),
    ]


def test_a_command_to_the_program_is_not_said():
    typed = "<command-name>/clear</command-name>\n  <command-args></command-args>"
    assert said([user(typed), user("<local-command-stdout>ok</local-command-stdout>")]) == []


def test_what_the_human_ran_is_a_fact_and_not_a_request():
    entries = [
        user("<bash-input>git pull</bash-input>"),
        user("<bash-stdout>Already up to date.</bash-stdout><bash-stderr></bash-stderr>"),
    ]
    assert [(t.kind, t.text) for t in turns_of(entries)] == [
        (SHELL, "git pull"),
        (RESULT, "Already up to date."),
    ]


def test_words_after_a_reminder_of_the_harness_in_one_block_are_said():
    text = "<system-reminder>\nbe nice\n</system-reminder>\nmend the mast"
    assert said([user(text)]) == [(PROMPT, "mend the mast")]


@pytest.mark.parametrize(
    "text",
    [
        "<ide_opened_file>The user opened a.py</ide_opened_file>",
        "<ide_selection>lines 3 to 4</ide_selection>",
        "<system-reminder>be nice</system-reminder>",
        "<local-command-stderr>no</local-command-stderr>",
        "<user-prompt-submit-hook>x</user-prompt-submit-hook>",
        "Operation stopped by hook: Warning: conflict",
        "Stop hook feedback:\nrun the tests",
        "Caveat: The messages below were generated by the user while running local commands.",
        "[Image: source: /tmp/a.png]",
        "This session is being continued from a previous conversation that ran out of context.",
        "Base directory for this skill: /home/ada/skills",
        "[Request interrupted by user for tool use]",
        "<new-diagnostics>The following new diagnostic issues were detected</new-diagnostics>",
        "<session-start-hook>Always use wool.</session-start-hook>",
        "<post-tool-use-hook>Never use nylon.</post-tool-use-hook>",
        "PreToolUse:Bash hook feedback:\nNever run rm.",
        "PostToolUse:Edit hook feedback:\nAlways format.",
        "Execution stopped by PreToolUse hook: no",
        "UserPromptSubmit operation blocked by hook:\nNever paste a token.",
        "[SYSTEM NOTIFICATION - NOT USER INPUT]\nThe build is done.",
        '<channel source="chat" user="ada">You must hurry.</channel>',
        '<cross-session-message from="s2">Always ask.</cross-session-message>',
        "<tick>12:00</tick>",
        "Unknown slash command: spin",
        notification(),
    ],
)
def test_what_the_harness_writes_under_the_user_s_role_is_not_said(text):
    assert said([user(text)]) == []
    assert said([user([{"type": "text", "text": text}, {"type": "text", "text": "mend"}])]) == [
        (PROMPT, "mend")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "PreToolUse: which tools does it see?",
        "Execution stopped by the watchdog: look why.",
        "<channel> elements must be escaped.",
        "<ticks> is never empty.",
        "Unknown slash commands are to be told.",
    ],
)
def test_words_that_only_begin_like_the_harness_s_are_said(text):
    assert said([user(text)]) == [(PROMPT, text)]


def test_what_a_hook_wove_into_a_prompt_is_not_said():
    woven = "<user-prompt-submit-hook>\nAlways use nylon.\n</user-prompt-submit-hook>"
    for text in (f"mend the mast\n{woven}", f"{woven}\nmend the mast"):
        assert said([user(text)]) == [(PROMPT, "mend the mast")]


def test_what_the_harness_passes_on_through_the_queue_is_not_said():
    passed = '<cross-session-message from="s2">Always ask.</cross-session-message>'
    carried = {"type": "queued_command", "prompt": passed, "commandMode": "prompt"}
    entries = [queue("enqueue", passed), queue("remove", passed), queue("enqueue", passed)]
    assert said([*entries, entry("attachment", attachment=carried)]) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"isMeta": True},
        {"isCompactSummary": True, "isVisibleInTranscriptOnly": True},
        {"isSidechain": True},
        {"origin": {"kind": "task-notification"}},
        {"promptSource": "system"},
    ],
)
def test_an_entry_that_says_it_is_not_the_human_is_not_said(fields):
    assert said([user("do as I say", **fields)]) == []


@pytest.mark.parametrize(
    "fields",
    [{"origin": {"kind": "human"}, "promptSource": "typed"}, {"promptSource": "sdk"}],
)
def test_an_entry_that_says_it_is_the_human_is_said(fields):
    assert said([user("mend it", **fields)]) == [(PROMPT, "mend it")]


def test_a_pasted_transcript_is_one_prompt():
    pasted = json.dumps(user("phantom"))
    assert said([user(f"look at this:\n{pasted}")]) == [(PROMPT, f"look at this:\n{pasted}")]


def test_talk_of_subagents_in_the_main_file_is_passed_over():
    nested = entry("progress", data={"type": "agent_progress", "message": user("phantom")})
    assert turns_of([nested]) == []


def test_titles_of_other_conversations_are_passed_over():
    assert turns_of([{"type": "summary", "summary": "Another goal", "leafUuid": "x"}]) == []


def test_our_own_injection_does_not_come_back():
    printed = f"{OPENING}\n[L1] phantom\n{CLOSING}"
    attached = {"type": "hook_additional_context", "content": [printed]}
    entries = [
        entry("attachment", attachment=attached),
        user(f"SessionStart hook additional context: {printed}", isMeta=True),
        user(f"{printed}\ngo on"),
        calls("c1", "Bash", command="contextspindle fuse restore --plain"),
        returns("c1", printed),
        says(printed),
    ]
    assert not any("phantom" in turn.text for turn in turns_of(entries))
    assert said(entries)[-1] == (PROMPT, "go on")


# ---- the agent


def test_the_agent_s_text_is_stripped_of_thoughts_and_blanks():
    entries = [
        says("\n\n"),
        says("<thinking>hm</thinking>Done."),
        says("API Error", model="<synthetic>"),
    ]
    assert [(t.kind, t.text) for t in turns_of(entries)] == [(TEXT, "Done.")]


def test_a_call_names_what_it_is_about_and_its_result_whether_it_failed():
    entries = [
        calls("c1", "Bash", command="make test", description="Test"),
        returns("c1", "Exit code 2\nno rule", is_error=True),
    ]
    call, result = turns_of(entries)
    assert (call.kind, call.tool, call.about) == (CALL, "Bash", "make test")
    assert (result.kind, result.failed, result.about) == (RESULT, True, "make test")


def test_a_result_that_is_a_list_or_a_picture_or_nothing_is_read():
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "tool_reference"}]
    entries = [returns("c1", parts), returns("c2", None), returns("c3", [])]
    assert [turn.text for turn in turns_of(entries)] == ["a", "", ""]


def test_of_a_long_result_the_first_and_the_last_lines_remain():
    text = "\n".join(f"line {n}" for n in range(20_000))
    (turn,) = turns_of([returns("c1", text)])
    assert len(turn.text) < 20_000
    assert turn.text.startswith("line 0\n")
    assert turn.text.endswith("\nline 19999")


def test_a_tool_name_of_broken_markup_is_the_tool_before_it():
    broken = 'Task" >\n<parameter name="description'
    (turn,) = turns_of([calls("c1", broken, prompt="look around")])
    assert (turn.kind, turn.tool) == (LAUNCH, "Task")


def test_a_plan_is_a_proposal_approved_or_not():
    plan = calls("c1", "ExitPlanMode", plan="# Sail to Bergen")
    approved = returns("c1", "User has approved your plan.", {"plan": "# Sail to Bergen"})
    turns = turns_of([plan, approved])
    assert [(t.text, t.failed) for t in turns if t.kind == PROPOSAL] == [
        ("# Sail to Bergen", False)
    ]
    turns = turns_of([plan, refuses("c1", "by train")])
    assert [(t.text, t.failed) for t in turns if t.kind == PROPOSAL] == [("", True)]
    assert [t.text for t in turns if t.kind == SAID] == ["by train"]


# ---- steps


def created(call, number, subject):
    detail = {"task": {"id": str(number), "subject": subject}}
    return returns(call, f"Task #{number} created successfully: {subject}", detail)


def test_a_step_s_id_comes_from_the_result_of_its_own_call():
    entries = [
        calls("a", "TaskCreate", subject="hoist", description="the main sail"),
        calls("b", "TaskCreate", subject="steer"),
        created("b", 1, "steer"),
        created("a", 2, "hoist"),
    ]
    steps = [turn.steps[0] for turn in turns_of(entries) if turn.kind == TODO]
    assert [(s.key, s.title, s.status, s.note) for s in steps] == [
        ("1", "steer", "pending", ""),
        ("2", "hoist", "pending", "the main sail"),
    ]


def test_what_a_call_writes_down_of_a_step_is_quoted_from_the_line_of_the_call():
    entries = [
        calls("a", "TaskCreate", subject="hoist", description="the main sail, before the jib"),
        created("a", 1, "hoist"),
        calls("b", "TaskUpdate", taskId="1", description="the jib first: the halyard is torn"),
        calls("c", "TaskCreate", subject="steer", description="steer"),
        calls("d", "TaskUpdate", taskId="1", status="completed"),
        calls("e", "Search", description="no step at all"),
    ]
    found = [(turn.line, turn.text) for turn in turns_of(entries) if turn.kind == DETAIL]
    assert found == [
        (1, "the main sail, before the jib"),
        (3, "the jib first: the halyard is torn"),
    ]


def test_an_update_that_failed_says_so():
    entries = [
        calls("a", "TaskUpdate", taskId="2", status="completed"),
        returns("a", "Task not found", {"success": False, "error": "Task not found"}),
    ]
    (turn,) = [turn for turn in turns_of(entries) if turn.kind == TODO]
    assert (turn.failed, turn.steps[0].key, turn.steps[0].status) == (True, "2", "gone")


def test_a_printed_list_is_the_whole_list_in_any_order():
    text = "#6 [pending] dock [blocked by #1]\n#1 [in_progress] sail\n"
    (turn,) = [t for t in turns_of([calls("a", "TaskList"), returns("a", text)]) if t.kind == TODOS]
    assert [(s.key, s.title, s.status) for s in turn.steps] == [
        ("6", "dock", "pending"),
        ("1", "sail", "in_progress"),
    ]


def test_an_empty_list_empties_it():
    turns = turns_of([calls("a", "TaskList"), returns("a", "No tasks found")])
    assert [(t.kind, t.steps) for t in turns][-1] == (TODOS, ())


def test_a_list_written_at_once_is_the_whole_list():
    todos = [{"content": "sail", "status": "pending", "activeForm": "Sailing"}]
    entries = [calls("a", "TodoWrite", todos=todos), returns("a", "ok", {"newTodos": todos})]
    assert turns_of(entries)[-1].steps[0].title == "sail"
    entries = [calls("a", "TodoWrite", todos=todos), returns("a", "ok")]
    assert turns_of(entries)[-1].steps[0].title == "sail"


# ---- work beside the agent


def test_a_subagent_is_launched_and_comes_back():
    text = [
        {"type": "text", "text": "Two reefs found."},
        {"type": "text", "text": "agentId: a1 (for resuming)\n<usage>9</usage>"},
    ]
    entries = [calls("c1", "Task", description="look", prompt="find reefs"), returns("c1", text)]
    launch, outcome = turns_of(entries)
    assert (launch.kind, launch.about, launch.text) == (LAUNCH, "look", "find reefs")
    assert (outcome.kind, outcome.call, outcome.text) == (OUTCOME, "c1", "Two reefs found.")


def test_the_frame_around_a_subagent_s_report_is_taken_off():
    framed = (
        "  <tools-used-before-summary>Bash</tools-used-before-summary>\n  \n[Subagent hand-back]"
        " The text below is the final report of a subagent. The report follows:\n"
        "  The cache never evicts.\n    See cache.py.\nagentId: a7 (more)\n<usage>x</usage>"
    )
    back = returns("c1", [{"type": "text", "text": framed}], {"status": "completed"})
    turns = turns_of([calls("c1", "Agent", description="look", prompt="look"), back])
    assert turns[-1].kind == OUTCOME
    assert turns[-1].text == "The cache never evicts.\n  See cache.py."


def test_a_launch_in_the_background_is_no_result_and_its_report_comes_once():
    entries = [
        calls("c1", "Agent", description="look", prompt="find reefs"),
        returns("c1", "Async agent launched successfully.", {"isAsync": True, "agentId": "a1"}),
        queue("enqueue", notification()),
        queue("dequeue"),
        user(notification()),
    ]
    turns = turns_of(entries)
    assert [turn.kind for turn in turns] == [LAUNCH, OUTCOME]
    assert (turns[1].call, turns[1].text, turns[1].failed) == ("c1", "Nothing found", False)


def test_a_background_command_is_a_launch_and_may_fail():
    entries = [
        calls("c1", "Bash", command="ngrok http 3000"),
        returns("c1", "Command running in background with ID: b1", {"backgroundTaskId": "b1"}),
        user(notification("b1", "failed", "exit code 143", "")),
    ]
    call, launch, outcome = turns_of(entries)
    assert (call.kind, launch.kind, launch.call) == (CALL, LAUNCH, "c1")
    assert (outcome.call, outcome.failed, outcome.about) == ("c1", True, "exit code 143")


# ---- the session


def test_boundary_summary_and_pull_request_are_told():
    entries = [
        entry("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"}),
        user("This session is being continued", isCompactSummary=True),
        entry("system", subtype="microcompact_boundary"),
        {"type": "pr-link", "prNumber": 7, "prUrl": "https://example.org/pull/7"},
    ]
    turns = turns_of(entries)
    assert [turn.kind for turn in turns] == [BOUNDARY, SUMMARY, PULL]
    assert (turns[0].about, turns[2].about) == ("auto", "#7")


def test_branch_and_folder_are_told_when_they_change():
    entries = [user(text, gitBranch=b, cwd="/p") for text, b in zip("abc", ["main", "main", "fix"])]
    places = [(t.line, t.about, t.text) for t in turns_of(entries) if t.kind == "place"]
    assert sorted(places) == [(1, "branch", "main"), (1, "folder", "/p"), (3, "branch", "fix")]


def test_a_subagent_s_own_file_is_read_for_that_subagent_only():
    entries = [
        user("look around", isSidechain=True, agentId="a1"),
        user("phantom", isSidechain=True, agentId="a2"),
        user("phantom"),
    ]
    assert said(entries, agent="a1") == [(PROMPT, "look around")]
