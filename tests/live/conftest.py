"""What the live tests share: which versions run, and the table of what came of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.live import harnesses
from tests.live.outcome import Row, changes
from tests.live.pinned import program, version
from tests.programs import CACHE

HERE = Path(__file__).parent
ROWS = pytest.StashKey[list[Row]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--newest", action="store_true", help="run the newest version of each program")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[ROWS] = []


@pytest.fixture(scope="session")
def newest(request: pytest.FixtureRequest) -> bool:
    """Whether the newest version of each program is wanted instead of the pinned one."""
    return bool(request.config.getoption("--newest"))


@pytest.fixture(scope="session")
def tell(request: pytest.FixtureRequest) -> Any:
    """A function that puts a row into the table at the end."""
    return request.config.stash[ROWS].append


def plan(spec: Any) -> list[str]:
    """What is typed: a goal, a rule, a list of steps, a compaction by hand, and a second one.

    The second one is made by the program itself, in the middle of a turn, where it does that.
    """
    listed = spec.STEPS % ("OPEN-21 sew", "DONE-22 mend") if spec.STEPS else ""
    steps = [
        "My goal is GOAL-7431: build a widget. Never touch the file vendor.txt. "
        f"{spec.SHELL % 'echo hi-from-bash'} {listed} [[say I build it in small steps.]]",
        "Use sqlite for CONSTRAINT-12. [[say Done so far; the next step is STEP-55.]]",
        "COMPACT",
        "go on [[say AFTER-ONE]]",
    ]
    if spec.AUTOMATIC:
        filled = f"[[full tool]] {spec.SHELL % 'echo mid'} [[say next is STEP-66]]"
        return [*steps, f"now LATE-REQUEST-8 {filled}", "go on once more [[say AFTER-TWO]]"]
    return [*steps, "now LATE-REQUEST-8 [[say yes]]", "COMPACT", "go on [[say AFTER-TWO]]"]


class Running(NamedTuple):
    """A session that was started, or why it was not."""

    version: str = ""
    child: subprocess.Popen[bytes] | None = None
    folder: Path = Path()
    skipped: str = ""


@pytest.fixture(scope="session")
def running(request, newest, tmp_path_factory) -> Iterator[dict[str, Running]]:
    """A session of each program that a test asks for, side by side: they mostly wait."""
    cases = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    names = sorted({case["name"] for case in cases if case.get("name") in harnesses.ALL})
    spindle = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    found = {}
    for name in names:
        try:
            which = version(name, newest=newest)
            words = program(name, which)
        except pytest.skip.Exception as reason:
            found[name] = Running(skipped=str(reason))
            continue
        folder = tmp_path_factory.mktemp(name)
        (folder / "plan").write_text(json.dumps(plan(harnesses.ALL[name])))
        with (
            open(folder / "plan", "rb") as given,
            open(folder / "out", "wb") as out,
            open(folder / "err", "wb") as err,
        ):
            child = subprocess.Popen(
                [
                    *("unshare", "-rn", sys.executable, str(HERE / "session.py")),
                    *(name, json.dumps(words), spindle, str(folder / "run")),
                ],
                stdin=given,
                stdout=out,
                stderr=err,
            )
        found[name] = Running(which, child, folder)
    yield found
    for one in found.values():
        if one.child and one.child.poll() is None:
            one.child.kill()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    rows = config.stash[ROWS]
    if not rows:
        return
    write = terminalreporter.write_line
    terminalreporter.section("what reached the models")
    for row in rows:
        told = ", ".join("never" if not wait else f"request {wait}" for wait in row.waits)
        done = sum(map(bool, row.waits))
        events = ", ".join(f"{event} x{count}" for event, count in row.events.items())
        write(f"{row.harness} {row.version}: {events}")
        write(f"    delivered after {done} of {len(row.waits)} compactions: {told or 'none'}")
    newest = config.getoption("--newest")
    kept = {row.harness: row._asdict() for row in rows}
    before = _kept(CACHE / "summary-pinned.json")
    if newest:
        terminalreporter.section("against the pinned versions")
        for line in changes(before, kept) or ["nothing changed"]:
            write(line)
    else:
        CACHE.mkdir(exist_ok=True)
        (CACHE / "summary-pinned.json").write_text(json.dumps(before | kept, indent=1))


def _kept(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
