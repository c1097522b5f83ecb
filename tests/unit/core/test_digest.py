"""Digests: SHA-256 whichever implementation serves, and chains that any reader can recompute."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import digest


@given(st.binary(max_size=300))
def test_both_hashes_are_sha_256(data):
    expected = hashlib.sha256(data).hexdigest()
    assert digest.sha256(data) == expected
    assert digest.bulk_sha256()(data) == expected


def test_the_digest_before_the_first_change_is_64_zeros():
    assert digest.NONE == "0" * 64


@given(st.binary(max_size=100), st.binary(max_size=100))
def test_a_chain_is_the_task_the_digest_before_and_the_bytes_by_line_feeds(first, second):
    def expected(previous: str, body: bytes) -> str:
        return hashlib.sha256(b"t-one\n" + previous.encode() + b"\n" + body).hexdigest()

    one = digest.chained("t-one", digest.NONE, first)
    assert one == expected("0" * 64, first)
    assert digest.chained("t-one", one, second) == expected(one, second)


def test_a_chain_depends_on_its_task_its_past_and_its_bytes():
    base = digest.chained("t-a", digest.NONE, b"x")
    assert base != digest.chained("t-b", digest.NONE, b"x")
    assert base != digest.chained("t-a", base, b"x")
    assert base != digest.chained("t-a", digest.NONE, b"y")
