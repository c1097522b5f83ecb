"""Whether a harness delivers: a mark goes out with the next restored text and is looked for again.

What a hook prints is in the harness's hands.  Only its own transcript shows that an agent was given
it, so that is where the mark is looked for.
"""

from __future__ import annotations

import os

from ..core import instant, text
from ..core.value import Value
from ..store.canary import arrived

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store.canary import Bird
    from ..workspace import Workspace

ARMED, HANDED = "armed", "handed"
DELIVERED, UNSEEN, LOST = "delivered", "unseen", "lost"
"""How a canary stands; the last three are verdicts, after which it is gone."""

SILENT = ("droid", "qwen-code")
"""Harnesses that write nothing of what their model is handed into the transcript."""


class Standing(Value):
    """How a canary stands, in words and with what to do."""

    state: str
    what: str
    do: str
    bird: Bird


def sent(space: Workspace, now: int) -> Standing:
    """Arm a canary, or say what has become of the one that is armed.  StoreError if it cannot be.

    A verdict is given once: the canary is gone with it.
    """
    canary = space.canary()
    bird = canary.bird()
    if bird is None:
        bird = canary.arm(os.urandom(8).hex(), now)
        return Standing(
            ARMED,
            f"armed until {instant.iso(bird.until())}",
            "Compact in your agent's program now (/compact), send it a message, and then run"
            " 'contextspindle doctor --canary' once more.",
            bird,
        )
    found = _waiting(bird, now) if not bird.handed else _handed(bird, now)
    if found.state in (DELIVERED, UNSEEN, LOST):
        canary.end()
    return found


def _waiting(bird: Bird, now: int) -> Standing:
    if now < bird.until():
        return Standing(
            ARMED,
            f"armed until {instant.iso(bird.until())}; no compaction has reached our hook yet",
            "Compact in your agent's program, send it a message, and ask again.",
            bird,
        )
    return Standing(
        LOST,
        "no compaction reached our restore hook while the canary was armed",
        "Was there a compaction in this project? Then the hook does not run: see 'contextspindle"
        " doctor', and whether the harness trusts the folder and its hooks.",
        bird,
    )


def _handed(bird: Bird, now: int) -> Standing:
    by = f"{bird.harness} session {text.one_line(bird.session)}"
    given = f"our hook gave the mark to {by} at {instant.iso(bird.handed)}"
    try:
        there = arrived(bird)
        unread = ""
    except OSError as error:
        there, unread = False, f" cannot be read: {error.strerror}"
    if there:
        return Standing(
            DELIVERED,
            f"{given}, and it stands in the transcript: what is restored reaches the agent",
            "",
            bird,
        )
    if bird.harness in SILENT or unread:
        said = unread or " does not tell what the model is handed"
        return Standing(
            UNSEEN,
            f"{given}, but its transcript{said}",
            "Ask the agent whether its context has a block that begins with [ContextSpindle].",
            bird,
        )
    if now < bird.until():
        return Standing(
            HANDED,
            f"{given}; it is not in the transcript yet",
            "Send the agent a message, and ask again.",
            bird,
        )
    return Standing(
        LOST,
        f"{given}, and the transcript never showed it: the harness did not deliver it",
        "Does something print before our answer? 'contextspindle doctor' tries the hooks. See too"
        " whether the harness's own log (in Claude Code: claude --debug) says why.",
        bird,
    )
