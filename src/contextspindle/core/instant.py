"""Instants: milliseconds since 1970 in UTC, kept as integers and shown with their zone.

The arithmetic is here because ``datetime`` costs a command more than it needs from it.
"""

from __future__ import annotations

DAY = 86_400_000


def iso(ms: int) -> str:
    """``ms`` as ``2026-11-30T04:06:23.123Z``.  Right for every year from 0 to 9999."""
    days, rest = divmod(ms, DAY)
    # Civil date from a day count, with years that begin in March so that leap days come last.
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    year = year_of_era + era * 400 + (month <= 2)
    seconds, millis = divmod(rest, 1_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{millis:03d}Z"


def age(then: int, now: int) -> str:
    """How long ago ``then`` was, roughly: ``4 minutes``; ``just now`` also for the future."""
    seconds = (now - then) // 1_000
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "just now"
