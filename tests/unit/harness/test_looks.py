"""Looks into a transcript: by bytes, across the pieces in which it is read."""

from __future__ import annotations

from contextspindle.harness import looks


def test_marked_lines_are_found_behind_a_byte_with_their_places(tmp_path):
    path = tmp_path / "a.jsonl"
    content = [b"mark 0", b"", b"x" * (looks.CHUNK - 3) + b"mark 1", b"none", b"mark 2", b"mark"]
    path.write_bytes(b"\n".join(content))  # the last one is still being written
    found = list(looks.marked_behind(str(path), 3, b"mark"))
    starts = [path.read_bytes().find(line) for line in (content[2], content[4])]
    assert found == [(starts[0], content[2]), (starts[1], content[4])]
    assert list(looks.marked_behind(str(path), 10 * looks.CHUNK, b"mark")) == []


def test_a_line_too_long_to_hold_costs_only_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(looks, "LONGEST", 4 * looks.CHUNK)
    path = tmp_path / "a.jsonl"
    long = b"mark" + b"x" * (6 * looks.CHUNK)
    path.write_bytes(long + b"\nmark\n")
    assert list(looks.marked_behind(str(path), 0, b"mark"))[-1] == (len(long) + 1, b"mark")


def test_a_text_is_found_across_the_pieces_in_which_a_file_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    at = looks.CHUNK - 3
    path.write_bytes(b"x" * at + b"wanted" + b"x" * 10)
    assert looks.stands_in(str(path), b"wanted")
    assert looks.stands_in(str(path), b"wanted", at)
    assert not looks.stands_in(str(path), b"wanted", at + 1)
    assert looks.stands_in(str(path), b"wanted", 0, at + 6)
    assert not looks.stands_in(str(path), b"wanted", 0, at + 5)


def test_what_comes_behind_something_that_is_not_there_is_not_known(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one two" + b"x" * looks.CHUNK + b"one")
    assert looks.later(str(path), b"one", b"two") is True
    assert looks.later(str(path), b"two", b"one") is True
    assert looks.later(str(path), b"one two", b"two") is False
    assert looks.later(str(path), b"three", b"one") is None
