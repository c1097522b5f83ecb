"""What came of a program: which events reached a hook, and when its model read our record."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple


class Row(NamedTuple):
    """What came of one program: which events reached a hook, and what reached its model.

    ``waits`` has for each compaction the requests that the model was sent until it read our record;
    0 if it never did.
    """

    harness: str
    version: str
    events: dict[str, int]
    fields: dict[str, list[str]]
    waits: list[int]

    @classmethod
    def of(cls, harness: str, version: str, heard: list[dict[str, Any]], waits: list[int]) -> Row:
        """The row of a program by the payloads that a hook of its user was given."""
        events: Counter[str] = Counter()
        fields: dict[str, set[str]] = {}
        for one in heard:
            event = str(one["hook_event_name"])
            detail = one.get("source") or one.get("trigger")
            events[f"{event} {detail}" if detail else event] += 1
            fields.setdefault(event, set()).update(one)
        listed = {event: sorted(names) for event, names in fields.items()}
        return cls(harness, version, dict(events), listed, waits)


def deliveries(requests: list[str], kinds: list[str]) -> list[int]:
    """For each compaction, in which request after it the model read its record; 0 if never."""
    waits: list[int] = []
    for at, kind in enumerate(kinds):
        if kind == "summary" and (not at or kinds[at - 1] != "summary"):
            number = f"compaction {len(waits) + 1}, "
            turns = [one for one, what in zip(requests[at:], kinds[at:]) if what == "turn"]
            read = (place for place, one in enumerate(turns, 1) if number in one)
            waits.append(next(read, 0))
    return waits


def changes(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What differs between two summaries, a line each."""
    lines = []
    for name, row in now.items():
        old = before.get(name)
        if old is None:
            lines.append(f"{name}: no run of the pinned version to compare with")
            continue
        if old["version"] != row["version"]:
            lines.append(f"{name}: {old['version']} -> {row['version']}")
        for what in ("events", "fields"):
            gone, new = sorted(old[what].keys() - row[what]), sorted(row[what].keys() - old[what])
            lines += [f"{name}: {what} gone: {', '.join(gone)}"] if gone else []
            lines += [f"{name}: {what} new: {', '.join(new)}"] if new else []
        for event in old["fields"].keys() & row["fields"].keys():
            was, has = set(old["fields"][event]), set(row["fields"][event])
            if was != has:
                moved = [*(f"-{one}" for one in was - has), *(f"+{one}" for one in has - was)]
                lines.append(f"{name}: {event} payload: {', '.join(sorted(moved))}")
        if old["waits"] != row["waits"]:
            lines.append(f"{name}: delivered in requests {old['waits']} -> {row['waits']}")
    return lines
