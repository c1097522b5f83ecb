"""The demonstration: a made-up session, saved, and restored under several budgets."""

from __future__ import annotations

import os

from ..core import text
from ..errors import StoreUnavailable
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import Call

BUDGETS = (600, 1_000, 1_500, 2_000, 6_000)


def demo(_: Call) -> Reply:
    """Save and restore a made-up session in a temporary folder; what was kept under each budget."""
    import tempfile

    from ..core import scenario

    content = scenario.transcript()
    try:
        with tempfile.TemporaryDirectory(prefix="contextspindle-demo-") as folder:
            path = os.path.join(folder, f"{scenario.SESSION}.jsonl")
            with open(path, "wb") as file:
                file.write(content)
            texts = _restored(folder, path)
    except OSError as error:
        said = error.strerror or error
        raise StoreUnavailable(f"The demo needs a temporary folder: {said}") from error
    whole = _headings(texts[BUDGETS[-1]])
    rows = []
    for budget, shown in texts.items():
        missing = [fact for fact in scenario.FACTS if fact.words not in shown]
        sections = _headings(shown)
        rows.append(
            {
                "budget": budget,
                "bytes": text.size(shown),
                "kept": len(scenario.FACTS) - len(missing),
                "missing": [fact._asdict() for fact in missing],
                "sections": sections,
                "gone": [section for section in whole if section not in sections],
            }
        )
    data = {
        "transcript": {
            "bytes": len(content),
            "messages": content.count(b"\n"),
            "facts": [fact._asdict() for fact in scenario.FACTS],
        },
        "rows": rows,
    }
    return Reply(data, _table(data))


def _restored(folder: str, path: str) -> dict[int, str]:
    """The text of each budget, from a workspace that is gone afterwards."""
    from .. import workspace
    from ..core import scenario

    space = workspace.place_to_make(folder)
    space.make()
    fuse = space.fuse()
    adapter = workspace.harness("claude-code")
    fuse.save(
        scenario.SESSION, adapter.read(path, scenario.SESSION), harness=adapter.NAME, cwd=folder
    )
    return {budget: fuse.restore(scenario.SESSION, budget).text for budget in BUDGETS}


def _headings(shown: str) -> list[str]:
    return [
        line[3:].partition(":")[0].partition(" of the ledger")[0].partition(" and reports")[0]
        for line in shown.split("\n")
        if line.startswith("## ")
    ]


def _table(data: dict[str, Any]) -> str:
    import textwrap

    made = data["transcript"]
    count = len(made["facts"])
    lines = [
        f"A made-up session: {made['messages']} messages, {made['bytes']:,} bytes,"
        f" {count} facts that are each said once.",
        "Saved once, then restored under each budget:",
        "",
        f"{'budget':>7} {'bytes':>6} {'kept':>9}  sections that went",
    ]
    for row in data["rows"]:
        kept = f"{row['kept']} of {count}"
        gone = ", ".join(row["gone"]) or "none"
        line = f"{row['budget']:>7,} {row['bytes']:>6,} {kept:>9}  {gone}"
        lines += textwrap.wrap(line, 80, subsequent_indent=" " * 26)
    budgets = " ".join(f"{row['budget']:>4}" for row in data["rows"])
    lines += ["", f"{budgets}  what is kept (x) of what was said"]
    for fact in made["facts"]:
        kept = " ".join("   -" if fact in row["missing"] else "   x" for row in data["rows"])
        lines.append(f"{kept}  {fact['kind']}: {fact['words']}")
    lines += ["", "Nothing was written outside of a temporary folder, which is gone."]
    return "".join(f"{line}\n" for line in lines)
