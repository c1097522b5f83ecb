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


def minute(ms: int) -> str:
    """``ms`` as ``2026-11-30T04:06Z``: for a reader, who pays for every figure of it."""
    return iso(ms)[:16] + "Z"


def from_iso(given: str) -> int:
    """The instant of a date, or of a date and time, in one of the spellings of RFC 3339.

    Without a zone it is in UTC; what is finer than a millisecond is left off.  ValueError if it is
    none.
    """
    try:
        return _instant(given)
    except ValueError:
        raise ValueError(f"{given!r} is not a date, or a date and time") from None


def _instant(given: str) -> int:
    date, mark, rest = given.strip().replace("t", "T").replace(" ", "T", 1).partition("T")
    year, month, day = _numbers(date, "-", (4, 2, 2))
    lengths = (31, 28 + _is_leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not (1 <= month <= 12 and 1 <= day <= lengths[month - 1]):
        raise ValueError(f"{given!r} is not a date")
    era_year = year - (month <= 2)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    days = era_year * 365 + era_year // 4 - era_year // 100 + era_year // 400
    found = (days + day_of_year - 719_468) * DAY
    if not mark:
        return found
    time, offset = _zone(rest.upper())
    clock, _, fraction = time.partition(".")
    if fraction and not (fraction.isascii() and fraction.isdigit()):
        raise ValueError(f"{given!r} is not a time")
    parts = _numbers(clock, ":", (2, 2, 2)[: clock.count(":") + 1])
    hour, minute, second = (*parts, 0)[:3]
    if len(parts) < 2 or hour > 23 or minute > 59 or second > 60:
        raise ValueError(f"{given!r} is not a time")
    return (
        found + ((hour * 60 + minute) * 60 + second) * 1_000 + int((fraction + "000")[:3]) - offset
    )


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _numbers(given: str, mark: str, widths: tuple[int, ...]) -> list[int]:
    parts = given.split(mark)
    if tuple(map(len, parts)) != widths or not all(p.isascii() and p.isdigit() for p in parts):
        raise ValueError(f"{given!r} is not a date or time")
    return [int(part) for part in parts]


def _zone(time: str) -> tuple[str, int]:
    """The time without its zone, and how many milliseconds the zone is ahead of UTC."""
    if time.endswith("Z"):
        return time[:-1], 0
    at = max(time.rfind("+"), time.rfind("-"))
    if at < 0:
        return time, 0
    digits = time[at + 1 :].replace(":", "").ljust(4, "0")
    hours, minutes = _numbers(f"{digits[:2]}:{digits[2:]}", ":", (2, 2))
    ahead = (hours * 60 + minutes) * 60_000
    return time[:at].strip(), ahead if time[at] == "+" else -ahead


SKEW = 60
"""Seconds by which two clocks may differ: what is no further ahead is now."""


def is_ahead(then: int, now: int) -> bool:
    """Whether ``then`` is in the future, by more than :data:`SKEW`."""
    return then - now > SKEW * 1_000


def ago(then: int, now: int) -> str:
    """When ``then`` was, roughly: ``4 minutes ago``, ``just now``, or the future with its date."""
    found = age(then, now)
    return f"{found} ago" if found[0].isdigit() else found


def age(then: int, now: int) -> str:
    """How long ago ``then`` was, roughly: ``4 minutes``, or as :func:`ago` for what is not past."""
    if is_ahead(then, now):
        return f"in the future ({iso(then)[:10]})"
    seconds = (now - then) // 1_000
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "just now"
