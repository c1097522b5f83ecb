"""What an agent is told at the start of its work: what is live, and how to work with the ledger.

It is the text that the start of a session gives, with a protocol of a few lines: the whole of it is
in the skill and in docs/how-to/agent-protocol.md.
"""

from __future__ import annotations

from ..errors import SpindleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .fuse import Fuse, Restored

PROTOCOL = """\
## Protocol: contextspindle task ...
begin: inbox; context ID, and go on from its next; create GOAL --criterion TEXT for new work
at every step: update ID --next TEXT --decision TEXT --note TEXT
where others work too: claim ID, then --claim TOKEN
end: prove ID -- COMMAND, then update ID --status done; else leave a next
"""


def primed(fuse: Fuse, session: str, claim: str = "") -> tuple[Restored, str]:
    """The text, at most :data:`.fuse.START_BUDGET` bytes, and the task this session is on.

    That is the task of the ``claim`` it works under, else the one that it worked on when it was
    saved last; empty if neither is known.
    """
    task = claim.partition(".")[0]
    if not task and session:
        try:
            task = fuse.snapshot(session).get("task", "")
        except SpindleError:
            task = ""  # no snapshot, or none that can be read: what is live is told all the same
    return fuse.start(session, task=task, protocol=PROTOCOL), task
