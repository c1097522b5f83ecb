"""The command that looks whether all is well, and says what to do where it is not."""

from __future__ import annotations

from ..core import instant, text
from ..errors import InvalidInput
from .reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..doctor import Finding
    from . import Call

PROBLEM_STATUS = 1


def doctor(call: Call) -> Reply:
    """Look at everything, or send a canary."""
    values = call.values
    if values["canary"]:
        if values["deep"]:
            raise InvalidInput("Choose one of --deep, --canary")
        return _canary(call)
    from ..doctor import NOTE, PROBLEM, examined
    from ..mcp_server.tools import TOOLS

    reads = tuple(tool.name for tool in TOOLS if tool.reads)
    root, findings = examined(values["workspace"] or "", deep=values["deep"], reads=reads)
    problems = sum(one.state == PROBLEM for one in findings)
    notes = sum(one.state == NOTE for one in findings)
    data = {
        "workspace": root or None,
        "well": not problems,
        "problems": problems,
        "notes": notes,
        "findings": [one._asdict() for one in findings],
    }
    lines = [line for one in findings for line in _lines(one)]
    count = f"{problems or 'no'} problem{'s' * (problems != 1)}"
    lines.append(f"{count}, {notes or 'no'} note{'s' * (notes != 1)}")
    shown = "".join(f"{line}\n" for line in lines)
    return Reply(
        data,
        shown,
        status=PROBLEM_STATUS if problems else 0,
        picture=lambda face: face.examination(findings, problems, notes),
    )


def _lines(one: Finding) -> list[str]:
    lines = [f"{one.state:8}{one.area}: {text.one_line(one.what)}"]
    return lines + ([f"{'':8}-> {text.one_line(one.do)}"] if one.do else [])


def _canary(call: Call) -> Reply:
    from .. import workspace
    from ..doctor import canary

    space = workspace.for_fuse(call.values["workspace"] or "")
    found = canary.sent(space, workspace.now())
    bird = found.bird
    data = {
        "state": found.state,
        "what": found.what,
        "do": found.do,
        "armed": instant.iso(bird.armed),
        "until": instant.iso(bird.until()),
        "handed": instant.iso(bird.handed) if bird.handed else None,
        "session": bird.session,
        "harness": bird.harness,
        "transcript": bird.transcript,
    }
    lines = [f"canary {found.state}: {found.what}", *([f"-> {found.do}"] if found.do else [])]
    status = PROBLEM_STATUS if found.state == canary.LOST else 0
    return Reply(data, "".join(f"{line}\n" for line in lines), status=status)
