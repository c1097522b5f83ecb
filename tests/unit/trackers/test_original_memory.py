"""The original's snapshot: its texts in their order, or a plain word about what is wrong."""

from __future__ import annotations

from struct import pack

import pytest

from contextspindle.errors import InvalidInput
from contextspindle.trackers.original_memory import texts


def vector(size):
    return pack(f"<Q{size}f", size, *[0.5] * size)


def record(number, text, size=4, state=3):
    raw = text.encode()
    head = pack("<Qd", number, float(number)) + vector(size) + vector(state) + pack("<f", 0.25)
    return head + pack("<Q", len(raw)) + raw


def snapshot(hot, cold, *, optional=True):
    config = pack("<4Q", 4, 3, 250, 500) + pack("<f", 0.65)
    config += (b"\1" + pack("<f", 0.5)) if optional else b"\0"
    config += pack("<5f", 1_000, 0.55, 0.15, 0.2, 0.1)
    body = b"CTNM0001" + config + pack("<Q", len(hot) + len(cold)) + vector(3)
    for records in (hot, cold):
        body += pack("<Q", len(records)) + b"".join(record(*one) for one in records)
    return body


def footed(body):
    check = 0xCBF29CE484222325
    for byte in body:
        check = (check ^ byte) * 0x100000001B3 % 2**64
    return body + b"CTNMFOOT" + pack("<Q", check)


HOT = [(3, "the third"), (1, "第一 first")]
COLD = [(2, "evicted_from_hot_the second"), (0, "")]


@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize("form", [bytes, footed])
def test_the_texts_come_in_the_order_in_which_they_were_remembered(tmp_path, optional, form):
    path = tmp_path / "memory.state"
    path.write_bytes(form(snapshot(HOT, COLD, optional=optional)))
    assert texts(str(path)) == [(0, ""), (1, "第一 first"), (2, "the second"), (3, "the third")]


def test_any_cut_and_any_flipped_bit_is_told_or_gives_texts(tmp_path):
    path = tmp_path / "memory.state"
    whole = footed(snapshot(HOT, COLD))
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        if end != len(whole) - 16:  # without its footer it is an older one
            with pytest.raises(InvalidInput):
                texts(str(path))
    for at in range(0, len(whole) * 8, 7):
        damaged = bytearray(whole)
        damaged[at // 8] ^= 1 << at % 8
        path.write_bytes(damaged)
        with pytest.raises(InvalidInput):
            texts(str(path))


@pytest.mark.parametrize("content", [b"", b"CTNM0002" + b"\0" * 99, b"{}"])
def test_another_file_is_refused(tmp_path, content):
    path = tmp_path / "memory.state"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="not a snapshot"):
        texts(str(path))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        texts(str(tmp_path / "none"))
