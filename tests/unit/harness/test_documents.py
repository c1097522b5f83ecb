"""A transcript that is one JSON document is read as its messages, whole or damaged."""

from __future__ import annotations

import json
import os

import pytest

from contextspindle.core.transcript import SAID
from contextspindle.errors import TranscriptUnreadable
from contextspindle.harness import detect, plain
from contextspindle.harness.documents import LARGEST, SNIFF, Document, is_document, opened
from contextspindle.harness.lines import Raw
from tests.transcripts import SESSION, says, user, written

MESSAGES = [{"role": "user", "content": f"word {number}"} for number in range(5)]


def lines_of(path) -> list[tuple[int, dict]]:
    return [(number, json.loads(line)) for number, line, _, _ in opened(str(path))]


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\n \n"])
def test_messages_are_numbered_and_what_stands_beside_them_comes_first(tmp_path, indent, mark):
    path = tmp_path / "a.json"
    document = {"info": {"messages": "none"}, "messages": MESSAGES, "more": 1}
    path.write_text(mark + json.dumps(document, indent=indent))
    told = lines_of(path)
    assert told == [(0, {"info": {"messages": "none"}}), *enumerate(MESSAGES, 1)]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_bare_list_is_a_document_too(tmp_path, indent):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(MESSAGES, indent=indent))
    assert lines_of(path) == [*enumerate(MESSAGES, 1)]
    assert [turn.text for turn in plain.read(str(path)) if turn.kind == SAID][-1] == "word 4"


def test_a_list_of_a_harness_s_own_lines_is_read_as_those_lines(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([user("mend the mast"), says("Mended.")], indent=2))
    adapter = detect(str(path))
    assert adapter.NAME == "claude-code"
    turns = list(adapter.read(str(path), SESSION))
    assert [(turn.line, turn.text) for turn in turns] == [(1, "mend the mast"), (2, "Mended.")]


@pytest.mark.parametrize(
    "start",
    [
        b'{"role": "user", "content": "x"}\n{"role": "user"}\n',
        b'{"messages": []}\n{"role": "user", "content": "x"}\n',
        b'[{"role": "user"}]\n{"role": "user", "content": "x"}\n',
        b'{"role": "user", "content": "torn\n{"role": "user"}\n',
        b"[1, 2\nplain words\n",
        b'{"role": "user", "content": "' + b"x" * SNIFF,
        b"",
        b"{",
        b"[\n",
    ],
)
def test_lines_are_no_document(start):
    assert not is_document(start)


LONG = {"type": "blob", "messages": [{"role": "user", "content": "x" * SNIFF}]}


def test_a_long_first_line_with_others_behind_it_is_a_line(tmp_path):
    path = written(tmp_path / "a.jsonl", [LONG, user("mend the mast")])
    assert isinstance(opened(path), Raw)
    adapter = detect(path)
    assert [turn.text for turn in adapter.read(path, SESSION)] == ["mend the mast"]


@pytest.mark.parametrize("end", ["", "\n", "\n \n"])
def test_a_long_first_line_that_is_all_is_a_document(tmp_path, end):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(LONG) + end)
    assert [number for number, _ in lines_of(path)] == [0, 1]


def test_what_a_file_is_costs_no_reading_of_it(tmp_path):
    path = written(tmp_path / "a.jsonl", MESSAGES)
    raw = opened(path)
    assert isinstance(raw, Raw)
    assert os.lseek(raw.file, 0, os.SEEK_CUR) == 0
    assert [number for number, *_ in raw] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_cut_anywhere_tells_what_came_before(tmp_path, indent):
    whole = json.dumps({"info": {"a": [1, {}]}, "messages": MESSAGES}, indent=indent).encode()
    path = tmp_path / "a.json"
    met = set()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        document = Document(str(path), os.open(path, os.O_RDONLY))
        rows = [line for number, line, _, _ in document if number]
        told = [json.loads(line) for line in rows if line != b"{"]
        assert told == MESSAGES[: len(told)]
        assert document.ends_open or len(told) == 5
        met.add(len(told))
    assert met == set(range(6))
    path.write_bytes(whole[: len(whole) // 2])
    torn = plain.read(str(path))
    assert list(torn)
    assert torn.reading.torn


@pytest.mark.parametrize(
    "content",
    ["{\n}", "{\n[1]: 2}", '{\n"messages": 7}', '{\n"messages": {}}', "[\n1, null, [], \"x\"]",
     '{\n"messages": [' + "[" * 100_000, '{\n"a": NaN, "messages": []}', "{\n\x00"],
)  # fmt: skip
def test_a_strange_document_tells_nothing_and_raises_nothing(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_text(content)
    assert list(plain.read(str(path))) == []
    with pytest.raises(TranscriptUnreadable, match="no line of a known form"):
        detect(str(path))


def test_a_document_that_is_too_large_to_be_held_is_refused(tmp_path):
    path = tmp_path / "a.json"
    with open(path, "wb") as file:
        file.write(b'{\n"messages": [\n')
        file.truncate(LARGEST + 1)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(TranscriptUnreadable, match=r"67,108,865 bytes"):
        plain.read(str(path))
    assert len(os.listdir("/proc/self/fd")) == before


def test_reading_ends_when_there_is_no_time_left(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(MESSAGES))
    transcript = plain.read(str(path))
    transcript.keep_to(lambda: True)
    assert list(transcript) == []
    assert transcript.stopped
