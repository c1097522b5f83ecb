"""Whatever a transcript holds: reading never raises, and what is printed keeps its budget."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from contextspindle.core import canon
from contextspindle.core.draft import LIMIT, SECTIONS, Draft, Item
from contextspindle.core.redaction import mask, mask_words
from contextspindle.core.restoration import SMALLEST, Header, assemble
from contextspindle.core.text import clean, size
from contextspindle.core.transcript import CLOSING, NOTHING_QUOTED, OPENING, without_echo
from contextspindle.errors import TranscriptUnreadable
from contextspindle.harness import claude_code, detect, plain
from tests.strategies import hostile, json_values, raw_texts
from tests.transcripts import SESSION, draft_of

any_text = raw_texts | hostile

# Fields that the parsers look at, with values of the right kind and of any other.
_words = st.sampled_from(
    [
        "user", "assistant", "system", "attachment", "queue-operation", "progress", "pr-link",
        "tool_use", "tool_result", "text", "image", "thinking", "compact_boundary",
        "away_summary", "enqueue", "dequeue", "remove", "popAll", "Bash", "Edit", "Task",
        "TaskCreate", "TaskUpdate", "TaskList", "TodoWrite", "AskUserQuestion", "ExitPlanMode",
        "TaskOutput", "queued_command", "task_reminder", "c1", "c2", "human", SESSION,
        "The user doesn't want to proceed. To tell you how to proceed, the user said:\nno",
        "<task-notification><task-id>a</task-id><status>completed</status></task-notification>",
        "<command-name>/x</command-name>", "<bash-input>ls</bash-input>", "No tasks found",
        "Task #1 created successfully: x", "#1 [pending] x", "[main 1a2b3c4] x", "git commit",
        OPENING, CLOSING,
    ]
)  # fmt: skip
_keys = st.sampled_from(
    [
        "type", "message", "content", "role", "text", "id", "name", "input", "tool_use_id",
        "subtype", "is_error", "toolUseResult", "sessionId", "isMeta", "isSidechain",
        "isCompactSummary", "todos", "attachment", "prompt", "commandMode", "operation", "origin",
        "kind", "promptSource", "answers", "annotations", "questions", "newTodos", "task",
        "taskId", "status", "success", "error", "cwd", "gitBranch", "command", "file_path",
        "description", "subject", "plan", "planContent", "prUrl", "isAsync", "agentId",
        "backgroundTaskId", "model", "compactMetadata", "data",
    ]
)  # fmt: skip
_values = st.recursive(
    _words | any_text | st.none() | st.booleans() | st.integers(-9, 9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=6),
    max_leaves=20,
)
_blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result", "image"])},
    optional={
        "text": _words | any_text,
        "id": st.sampled_from(["c1", "c2"]),
        "tool_use_id": st.sampled_from(["c1", "c2"]),
        "name": _words,
        "input": st.dictionaries(_keys, _values, max_size=4),
        "content": _values,
        "is_error": st.booleans(),
    },
)
_entries = (
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["user", "assistant"]),
            "message": st.fixed_dictionaries(
                {"content": st.lists(_blocks | _values, max_size=3) | any_text}
            ),
        },
        optional={"toolUseResult": _values, "isMeta": st.booleans(), "sessionId": _words},
    )
    | st.fixed_dictionaries(
        {"type": st.just("queue-operation"), "operation": _words}, optional={"content": any_text}
    )
    | st.dictionaries(_keys, _values, max_size=8)
    | json_values
)
_lines = st.lists(
    _entries.map(lambda value: json.dumps(value).encode())
    | _entries.map(lambda value: json.dumps(value, separators=(",", ":")).encode()[:-3])
    | st.binary(max_size=40),
    max_size=12,
)


@given(_lines, st.sampled_from([b"\n", b"", b"\n\n"]), st.sampled_from(["", SESSION]))
@settings(max_examples=150)
def test_no_transcript_makes_the_reader_or_the_extractor_raise(
    tmp_path_factory, lines, end, session
):
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_bytes(b"\n".join(lines) + end)
    for read in (claude_code.read, plain.read):
        transcript = read(str(path), session)
        turns = list(transcript)
        reading = transcript.reading
        assert reading.bytes == path.stat().st_size
        for turn in turns:
            assert 1 <= turn.line <= max(reading.lines, 1)
            for text in (turn.text, turn.about, turn.tool, *(s.title for s in turn.steps)):
                assert text == clean(text)
            assert OPENING not in turn.text
            assert CLOSING not in turn.text
        draft = draft_of(turns)
        stored = canon.encode(draft.to_document())
        assert len(stored) <= LIMIT
        assert Draft.from_document(canon.decode(stored)) == draft
        assert size(assemble(draft, Header(SESSION), budget=900)) <= 900
    try:
        detect(str(path))
    except TranscriptUnreadable:
        pass


_items = st.builds(
    Item,
    st.sampled_from(SECTIONS),
    any_text | any_text.map(lambda text: text * 60),
    st.integers(0, 10**6),
    st.just(""),
    st.just("") | any_text | st.sampled_from(["file", "commit", "#1 pending"]),
    st.sampled_from(["", "first", "unanswered", "failed", "cut", "unanswered cut"]),
)


@given(
    st.lists(_items, max_size=30),
    st.lists(any_text, max_size=5),
    st.builds(Header, any_text, st.integers(0, 9), any_text, any_text, any_text, any_text, any_text,
              st.lists(any_text, max_size=3).map(tuple)),
    st.integers(0, 7_000) | st.sampled_from([SMALLEST, 2_000, 6_000, 9_500]),
)  # fmt: skip
@settings(max_examples=120)
def test_a_restoration_keeps_its_budget_and_is_valid_unicode(items, tasks, header, budget):
    text = assemble(Draft(tuple(items)), header, tasks, budget)
    assert len(text.encode("utf-8")) <= max(budget, SMALLEST)
    assert text.startswith((OPENING if header.quotes else NOTHING_QUOTED) + "\n")
    assert text.endswith(f"\n{CLOSING}\n")


_pieces = st.sampled_from(
    [
        "password", "TOKEN", "api_key", "secret", "=", ": ", ":", "\"", "'", "`", "://", "@", "/",
        " ", "\n", "ghp_", "eyJ", ".", "-", "AKIA", "sk-", "A1b2C3d4E5f6G7h8I9j0" * 2, "Bearer ",
        "Cookie: ", "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----",
        " is ", "--", " -u ", "x1y2z3w4", "[masked]", "\\", "<", "$", "postgres", "hunter2", ",",
        "é", "Authorization", "basic ", "--token ", "machine a login b password ", ":5432:", "\\n",
        "\\\"", '"auth"', '"kty"', '"d"', "sig=", "{", "}", "value", "DB_PASS=", "mysql -p", ";",
        "Private-Lines: 1\n", "identified by ", "hooks.slack.com/services/", "pass:", "(", "[",
    ]
)  # fmt: skip


@given(st.lists(_pieces | any_text, max_size=14).map("".join))
@settings(max_examples=500)
def test_masking_twice_is_masking_once(text):
    once = mask(text)
    assert mask(once) == once


@given(st.lists(st.lists(_pieces | any_text, max_size=4).map("".join), max_size=6).map(tuple))
@settings(max_examples=300)
def test_masking_the_words_of_a_command_keeps_their_number_and_is_done_once(words):
    once = mask_words(words)
    assert len(once) == len(words)
    assert mask_words(once) == once


@given(any_text, any_text, any_text)
def test_no_text_brings_our_marks_back(before, inside, after):
    rest = without_echo(f"{before}{OPENING}{inside}{CLOSING}{after}")
    assert OPENING not in rest
    assert CLOSING not in rest
