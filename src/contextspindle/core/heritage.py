"""Heritage: what a session takes over from the one that it was forked from, or goes on from.

The transcript of a fork may begin behind a compaction of its parent, with a summary instead of the
talk, and so does that of a session which a compaction began.  Then goal, rules and decisions stand
in the parent's snapshot alone.  They are taken over as quotations without a line: the line they
stood on is in another file.
"""

from __future__ import annotations

from .draft import ASKED, DECIDED, FIRST, FOUND, GOAL, RULE, STATE, STEP, Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .draft import Item

BEFORE = "in the session before"


def inherited(draft: Draft, older: Draft, of_goals: str = BEFORE) -> Draft:
    """``draft`` with what ``older`` knows of the session before; ``of_goals`` is said of goals."""
    known = {(item.section, item.text) for item in draft.items}
    taken = [
        item._replace(line=0, seal="", mark="" if item.mark == FIRST else item.mark)
        for item in older.items
        if (item.section, item.text) not in known
    ]

    def of(*sections: str) -> list[Item]:
        return [item for item in taken if item.section in sections]

    goals = [item._replace(about=of_goals) for item in of(GOAL)]
    own_goals = [at for at, item in enumerate(draft.items) if item.section == GOAL]
    at = own_goals[-1] + 1 if own_goals else 0
    steps = of(STEP) if not draft.of(STEP) else []
    states = [item for item in of(STATE) if item.about in ("pull request", "commit", "file")]
    items = (
        *draft.items[:at],
        *goals,
        *steps,
        *of(RULE),
        *draft.items[at:],
        *states,
        *of(DECIDED, ASKED, FOUND),
    )
    return draft._replace(items=items, compactions=max(draft.compactions, older.compactions))
