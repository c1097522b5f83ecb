"""Instants are shown as ``datetime`` would show them, in UTC with the zone written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import instant

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST = -62_135_596_800_000  # 0001-01-01
LAST = 253_402_300_799_999  # 9999-12-31T23:59:59.999


def reference(ms: int) -> str:
    shown = (EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")
    return shown.replace("+00:00", "Z").rjust(24, "0")


@given(st.integers(FIRST, LAST))
def test_any_instant_is_shown_as_datetime_shows_it(ms):
    assert instant.iso(ms) == reference(ms)


@pytest.mark.parametrize(
    "year", [1, 4, 100, 400, 1582, 1600, 1699, 1700, 1899, 1900, 1904, 1969, 1970, 1999, 2000, 2001,
             2023, 2024, 2025, 2026, 2028, 2099, 2100, 2101, 2400, 9996, 9999]
)  # fmt: skip
def test_every_day_around_the_ends_of_months_and_leap_days(year):
    start = (datetime(year, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)
    days = 365 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    for day in range(days):
        for ms in (start + day * instant.DAY, start + (day + 1) * instant.DAY - 1):
            assert instant.iso(ms) == reference(ms)


def test_known_instants():
    assert instant.iso(0) == "1970-01-01T00:00:00.000Z"
    assert instant.minute(59_999) == "1970-01-01T00:00Z"
    assert instant.iso(-1) == "1969-12-31T23:59:59.999Z"
    assert instant.iso(951_782_400_000) == "2000-02-29T00:00:00.000Z"
    assert instant.iso(FIRST - instant.DAY) == "0000-12-31T00:00:00.000Z"
    assert instant.iso(LAST) == "9999-12-31T23:59:59.999Z"


@given(st.integers(FIRST, LAST), st.integers(FIRST, LAST))
def test_later_instants_sort_behind_earlier_ones_as_text(one, other):
    assert (instant.iso(one) < instant.iso(other)) == (one < other)


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        *((-10_000, "just now"), (0, "just now"), (999, "just now")),
        (-instant.SKEW * 1_000, "just now"),
        (-instant.SKEW * 1_000 - 1, "in the future (1970-01-01)"),
        *((1_000, "1 second"), (59_999, "59 seconds"), (60_000, "1 minute")),
        *((3_599_999, "59 minutes"), (3_600_000, "1 hour"), (7_200_000, "2 hours")),
        *((instant.DAY - 1, "23 hours"), (instant.DAY, "1 day"), (400 * instant.DAY, "400 days")),
    ],
)
def test_an_age_is_told_roughly(ago, said):
    assert instant.age(1_000_000, 1_000_000 + ago) == said


@given(st.integers(FIRST, LAST))
def test_what_is_shown_is_read_again(ms):
    assert instant.from_iso(instant.iso(ms)) == ms


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2025-06-21", "2025-06-21T00:00:00.000Z"),
        (" 2025-06-21 14:03 ", "2025-06-21T14:03:00.000Z"),
        ("2025-06-21T14:03:05", "2025-06-21T14:03:05.000Z"),
        ("2025-06-21t14:03:05z", "2025-06-21T14:03:05.000Z"),
        ("2025-06-21T14:03:05.1234567Z", "2025-06-21T14:03:05.123Z"),
        ("2025-06-21T14:03:05.5+02:00", "2025-06-21T12:03:05.500Z"),
        ("2025-06-21 14:03:05 -0730", "2025-06-21T21:33:05.000Z"),
        ("2024-02-29T23:59:60Z", "2024-03-01T00:00:00.000Z"),
    ],
)
def test_the_common_spellings_are_read(given, meant):
    assert instant.iso(instant.from_iso(given)) == meant


@pytest.mark.parametrize(
    "given",
    [
        *("", "soon", "2025", "2025-6-1", "2025-02-29", "2025-13-01", "2025-01-01T"),
        *("2025-01-01T7:00", "2025-01-01T24:00", "2025-01-01T10:60", "2025-01-01T10:00:00.x"),
        *("2025-01-01T10:00+1x", "2025-01-01T10", "٢٠٢٥-01-01"),
    ],
)
def test_what_is_no_instant_is_refused(given):
    with pytest.raises(ValueError, match=r"."):
        instant.from_iso(given)
