"""Every action and every rule, asked of the command and of a tool: same state, same code."""

from __future__ import annotations

import contextlib
import inspect
import json
import shutil
import sqlite3
from functools import partial

import anyio
import anyio.to_thread
import pytest
from mcp import Client

from contextspindle import errors, make_workspace, workspace
from contextspindle.actions.ledger import Ledger
from contextspindle.core.change import Request
from contextspindle.errors import SpindleError
from contextspindle.mcp_server.client import Client as Seat
from contextspindle.mcp_server.server import Service
from contextspindle.mcp_server.tools import chosen
from contextspindle.rendering import step_data, view_data
from contextspindle.store.sqlite import SqliteStore
from tests.conftest import Clock, CountedIds

from .conftest import Connected, run

FLAGS = {
    "criteria": "--criterion",
    "decisions": "--decision",
    "notes": "--note",
    "labels": "--label",
    "add_labels": "--label",
    "drop_labels": "--drop-label",
    "dependencies": "--depends-on",
    "add_dependencies": "--depends-on",
    "drop_dependencies": "--drop-dependency",
    "evidence": "--evidence",
    "evidence_files": "--evidence-file",
    "criterion": "--for",
    "expected_version": "--expect",
    "version": "--as-of",
}
PLACES = {
    "task_create": ("goal",),
    "task_update": ("id",),
    "task_show": ("id",),
    "task_list": ("offset", "limit"),
    "task_inbox": ("limit", "offset"),
    "task_search": ("query", "limit", "offset"),
    "task_context": ("id", "budget"),
    "task_history": ("id", "from", "limit"),
    "task_children": ("id", "offset", "limit"),
    "task_ready": ("limit", "offset"),
    "task_backup": ("folder",),
    "task_restore": ("folder",),
    "task_claim": ("id",),
    "remember": ("text",),
    "recall": ("query", "limit"),
}
NOUNLESS = ("task_verify", "task_backup", "task_restore", "remember", "recall", "stats")


def words_of(tool: str, given: dict) -> list[str]:
    """The command line of a tool's call."""
    given = dict(given)
    verb = tool.removeprefix("task_")
    if tool == "task_claim":
        action = given.pop("action")
        verb = "claim" if action == "next" else action
        if action == "next":
            given["next"] = True
        if action == "renew":
            given.pop("id")  # the token in the environment says which
    words = [verb] if tool in NOUNLESS else ["task", verb]
    if tool == "handoff":
        words = ["fuse", "restore", "--plain"]
    words += [str(given.pop(place)) for place in PLACES.get(tool, ()) if place in given]
    for name, value in given.items():
        flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
        if value is True:
            words.append(flag)
        else:
            words += [f"{flag}={one}" for one in (value if isinstance(value, list) else [value])]
    return words


class Both:
    """A workspace for the command and one for the server; what is asked is asked of both."""

    def __init__(self, command, tool, other, theirs, ours):
        self._command = command
        self._ask = {"one": tool, "other": other}
        self.theirs = theirs
        self.ours = ours
        self._names: dict[str, tuple[str, str]] = {}
        self._tokens: dict[str, str] = {}
        self.codes: set[str] = set()

    async def __call__(self, tool, code="", *, who="one", names="", **given):
        """Do it on both sides; both end with ``code``, and the tasks are alike afterwards."""
        as_typed, as_sent = (self._filled(given, side) for side in (0, 1))
        token = self._tokens.get(who, "")
        typed = partial(
            self._command,
            *words_of(tool, as_typed),
            "--json",
            cwd=self.theirs,
            env={"CONTEXTSPINDLE_CLAIM": token} if token and tool != "task_create" else {},
        )
        done = said = None

        async def send():
            nonlocal said
            said = await self._ask[who](tool, **as_sent)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send)
            done = await anyio.to_thread.run_sync(typed)
        found = done.error["code"] if done.status and done.err else ""
        assert (found, said.code) == (code, code), (done, said.text)
        assert said.error == bool(code)
        self.codes |= {code} - {""}
        if names:
            self._names[names] = (done.data["task"]["id"], said.task)
        if not code and tool == "task_claim" and given["action"] in ("claim", "next"):
            self._tokens[who] = done.data["token"]
        if not code and tool == "task_claim" and given["action"] == "release":
            self._tokens.pop(who, None)
        if code == "CLAIM_LOST":
            self._tokens.pop(who)
        assert self._state(self.theirs, 0) == self._state(self.ours, 1)
        return said

    def task(self, name, side=1):
        return self._names[name][side]

    def _filled(self, value, side):
        if isinstance(value, dict):
            return {name: self._filled(one, side) for name, one in value.items()}
        if isinstance(value, list):
            return [self._filled(one, side) for one in value]
        if isinstance(value, str):
            for name, ids in self._names.items():
                value = value.replace(f"${name}", ids[side])
            return value.replace("$folder", str((self.theirs, self.ours)[side]))
        return value

    def _state(self, folder, side):
        """Every task with its history, names for ids, without times."""
        shown = {}
        try:
            ledger = workspace.find(start=str(folder)).ledger()
            for one in ledger.list(0, 100).items:
                steps = ledger.history(one.id, 1, 100).steps
                history = [{**step_data(step), "state": ""} for step in steps]
                text = json.dumps([view_data(ledger.view(one.id)), history])
                for name, ids in self._names.items():
                    text = text.replace(ids[side], f"${name}")
                shown[json.loads(text)[0]["id"]] = _without_times(json.loads(text))
        except SpindleError as error:
            return error.code
        return shown


def _without_times(value):
    if isinstance(value, dict):
        times = ("at", "created", "updated", "claimed_until")
        return {k: _without_times(v) for k, v in value.items() if k not in times}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


@pytest.fixture
def both(command, tmp_path, monkeypatch):
    """A function that runs a talk with both sides."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
        make_workspace(str(folder))
    monkeypatch.chdir(ours)

    def both_ways(talk):
        async def talked():
            seats = [Seat(), Seat()]
            one, other = (
                Client(Service(lambda _ctx, s=s: s, chosen("all")).server(), mode="legacy")
                for s in seats
            )
            async with one, other:
                both = Both(command, Connected(one), Connected(other), theirs, ours)
                await talk(both)
                return both.codes

        return run(talked)

    return both_ways


@contextlib.contextmanager
def later(folder):
    """The ledger of a folder a day from now, with ids that are counted."""
    store = SqliteStore(str(folder / ".contextspindle" / "tasks" / "ledger.sqlite3"))
    clock = Clock(workspace.now() + 86_400_000)
    yield Ledger(store, actor="tester", clock=clock, new_id=CountedIds())
    store.close()


async def creations(both):
    await both("task_create", goal="A parent", names="p")
    await both(
        "task_create",
        goal="Ship it",
        criteria=["tests pass", "docs are there"],
        status="active",
        owner="ada",
        next="write it",
        parent="$p",
        priority=1,
        labels=["ui", "web"],
        decisions=["SQLite: one file"],
        notes=["a note"],
        key="k",
        names="a",
    )
    await both(
        "task_create",
        "IDEMPOTENCY_CONFLICT",
        goal="another",
        key="k",
    )
    again = {"goal": "Retried", "key": "r"}
    await both("task_create", **again, names="r")
    assert "already there" in (await both("task_create", **again)).text
    await both("task_create", "INVALID_INPUT", goal=" ")
    await both("task_create", "INVALID_INPUT", goal="x", status="sleeping")
    await both("task_create", "INVALID_INPUT", goal="x", priority=9)
    await both("task_create", "INVALID_INPUT", goal="x", key="k" * 129)
    await both("task_create", "TASK_NOT_FOUND", goal="x", parent="t-00000000")
    await both("task_create", "TASK_NOT_FOUND", goal="x", dependencies=["t-00000000"])
    await both("task_create", "REFUSED", goal="x", status="blocked")
    await both("task_create", goal="Later", dependencies=["$a"], names="l")


async def updates(both):
    await both("task_create", goal="Ship it", criteria=["c"], names="a")
    await both("task_create", goal="Before it", names="b")
    task = {"id": "$a"}
    await both("task_update", **task, status="in_progress", next="do it", owner="ada")
    await both("task_update", **task, owner="", notes=["n"], add_labels=["x", "y"])
    await both("task_update", **task, drop_labels=["x"], add_dependencies=["$b"])
    assert "unchanged" in (await both("task_update", **task, add_labels=["y"])).text
    await both("task_update", "VERSION_CONFLICT", **task, notes=["n"], expected_version=1)
    await both("task_update", **task, notes=["n"], expected_version=4)
    await both("task_update", "REFUSED", **task, goal="Another")
    await both("task_update", **task, goal="Another", decisions=["because"])
    await both("task_update", "REFUSED", **task, criteria=["d"])
    await both("task_update", **task, criteria=["d", "e"], decisions=["because"])
    await both("task_update", "REFUSED", **task, status="blocked")
    await both("task_update", **task, status="blocked", blocker="a part")
    await both("task_update", "DONE_REFUSED", **task, status="done")
    await both("task_update", "INVALID_INPUT", **task, criterion=1)
    await both("task_update", "INVALID_INPUT", **task, evidence=["x"], criterion=3)
    await both("task_update", **task, evidence=["seen"], criterion=1)
    await both("task_update", "DONE_REFUSED", **task, status="done", blocker="")
    await both("task_update", "RING_REFUSED", id="$b", add_dependencies=["$a"])
    await both("task_update", "RING_REFUSED", **task, parent="$a")
    await both("task_update", "INVALID_INPUT", id="not an id", notes=["n"])
    await both("task_update", "TASK_NOT_FOUND", id="t-00000000", notes=["n"])
    for folder in (both.theirs, both.ours):
        (folder / "report.txt").write_text("all well")
    await both("task_update", id="$b", criteria=["c"], decisions=["set"])
    await both("task_update", id="$b", evidence_files=["$folder/report.txt"], status="done")
    await both("task_update", **task, evidence=["seen"], blocker="", status="done")
    await both("task_update", "REFUSED", **task, status="open")
    await both("task_update", **task, status="open", decisions=["not yet"])
    await both("task_update", "REFUSED", **task, status="cancelled")
    await both("task_update", **task, status="cancelled", decisions=["no more"])


async def claims(both):
    await both("task_create", goal="Ship it", names="a")
    await both("task_claim", action="claim", id="$a", lease=60)
    await both("task_claim", "CLAIM_HELD", who="other", action="claim", id="$a")
    await both("task_update", "CLAIM_HELD", who="other", id="$a", status="active")
    await both("task_update", who="other", id="$a", notes=["seen"])
    await both("task_update", id="$a", status="active")
    await both("task_claim", action="renew", id="$a")
    await both("task_claim", "NOTHING_READY", who="other", action="next")
    await both("task_claim", "CLAIM_HELD", who="other", action="release", id="$a")
    await both("task_claim", action="release", id="$a")
    await both("task_claim", who="other", action="next")
    await both("task_claim", who="other", action="release", id="$a")
    await both("task_claim", "INVALID_INPUT", action="claim", id="$a", lease=0)
    await both("task_claim", action="claim", id="$a", lease=60)
    for folder, side in ((both.theirs, 0), (both.ours, 1)):
        with later(folder) as ledger:  # when the lease has run out
            ledger.claim(both.task("a", side))
    await both("task_update", "CLAIM_LOST", id="$a", notes=["late"])


async def reads(both):
    await both("task_create", goal="Ship the login page " + "word " * 40, names="a")
    await both("task_create", goal="Part", parent="$a", names="b")
    await both("task_update", id="$a", next="soon")
    for tool, given in (
        ("task_list", {"status": ["open"], "limit": 1, "offset": 1}),
        ("task_list", {"parent": "$a"}),
        ("task_list", {"owner": "nobody", "label": "none"}),
        ("task_list", {"offset": 10}),
        ("task_inbox", {"limit": 1}),
        ("task_search", {"query": "login", "limit": 5}),
        ("task_ready", {"limit": 1, "offset": 1}),
        ("task_ready", {"explain": "$a"}),
        ("task_children", {"id": "$a"}),
        ("task_show", {"id": "$a", "version": 1}),
        ("task_history", {"id": "$a", "from": 2, "limit": 1}),
        ("task_context", {"id": "$a", "budget": 4096}),
        ("task_verify", {"deep": True}),
        ("handoff", {}),
        ("handoff", {"session": "none", "budget": 600}),
    ):
        await both(tool, **given)
    await both("task_context", "BUDGET_TOO_SMALL", id="$a", budget=128)
    await both("task_context", "INVALID_INPUT", id="$a", budget=10)
    await both("handoff", "INVALID_INPUT", budget=10)
    await both("handoff", "SNAPSHOT_NOT_FOUND", **{"from": "none"})
    await both("handoff", "INVALID_INPUT", session="a", **{"from": "b"})
    await both("task_show", "INVALID_INPUT", id="$a", version=9)
    await both("task_show", "TASK_NOT_FOUND", id="t-00000000")
    for folder in (both.theirs, both.ours):
        with later(folder) as ledger:
            for _ in range(2):
                ledger.create(Request(set={"goal": "a twin"}))
    await both("task_show", "AMBIGUOUS_ID", id="t-0000000")
    await both("task_inbox", "INVALID_INPUT", limit=101)
    await both("task_inbox", "INVALID_INPUT", limit=0)
    await both("task_history", "INVALID_INPUT", id="$a", **{"from": 0})


async def copies(both):
    await both("task_create", goal="Ship it", names="a")
    await both("task_backup", folder="$folder/copy")
    await both("task_backup", "INVALID_INPUT", folder="$folder/copy")
    await both("task_restore", "INVALID_INPUT", folder="$folder/nothing")
    await both("task_update", id="$a", notes=["here"])
    await both("task_restore", folder="$folder/copy")
    for folder, side in ((both.theirs, 0), (both.ours, 1)):
        raw = sqlite3.connect(folder / ".contextspindle" / "tasks" / "ledger.sqlite3")
        raw.close()
        shutil.rmtree(folder / ".contextspindle")
        assert both._command("init", cwd=folder).status == 0
        assert both._command("restore", str(folder / "copy"), cwd=folder).status == 0
        assert both._command("task", "update", both.task("a", side), "--note", "x", cwd=folder)
    await both("task_backup", folder="$folder/second")
    for folder, side in ((both.theirs, 0), (both.ours, 1)):
        shutil.rmtree(folder / ".contextspindle")
        assert both._command("init", cwd=folder).status == 0
        assert both._command("restore", str(folder / "copy"), cwd=folder).status == 0
        assert both._command("task", "update", both.task("a", side), "--note", "y", cwd=folder)
    await both("task_restore", "MERGE_CONFLICT", folder="$folder/second")


async def troubles(both):
    await both("handoff", "SNAPSHOT_NOT_FOUND")
    await both("task_create", goal="Ship it", names="a")
    ledgers = [
        folder / ".contextspindle" / "tasks" / "ledger.sqlite3"
        for folder in (both.theirs, both.ours)
    ]

    def alter(sql):
        for path in ledgers:
            raw = sqlite3.connect(path)
            raw.execute(sql)
            raw.commit()
            raw.close()

    locks = []
    for path in ledgers:
        raw = sqlite3.connect(path, isolation_level=None)
        raw.execute("BEGIN IMMEDIATE")
        locks.append(raw)
    await both("task_update", "STORE_BUSY", id="$a", notes=["n"])
    for raw in locks:
        raw.close()
    alter("UPDATE tasks SET state = CAST(replace(state, 'Ship', 'Slip') AS BLOB)")
    await both("task_show", "STORE_CORRUPT", id="$a")
    alter("UPDATE tasks SET state = CAST(replace(state, 'Slip', 'Ship') AS BLOB)")
    await both("task_show", id="$a")
    alter("DROP TABLE search")
    await both("task_search", "SEARCH_FAILED", query="ship")
    alter("PRAGMA user_version = 99")
    await both("task_show", "SCHEMA_TOO_NEW", id="$a")
    for folder in (both.theirs, both.ours):
        (folder / ".contextspindle").rename(folder / "aside")
        (folder / ".contextspindle").symlink_to("aside")
    await both("task_show", "WORKSPACE_REFUSED", id="$a")
    for folder in (both.theirs, both.ours):
        (folder / ".contextspindle").unlink()
    await both("task_show", "WORKSPACE_NOT_FOUND", id="$a")


async def remembering(both):
    for tool, given in (("recall", {"query": "x"}), ("stats", {})):
        await both(tool, "MEMORY_NOT_FOUND", **given)
    await both("task_create", goal="Ship the parser", names="a")
    await both("remember", text="We ship on Fridays", source="handbook", labels=["team"], key="day")
    await both("remember", text="we ship on  fridays")
    await both("remember", text="We ship on Mondays", key="day", pin=True)
    await both("recall", query="when do we ship?", limit=5)
    await both("recall", task="$a")
    await both("recall", query="zebra")
    await both("recall", "INVALID_INPUT")
    await both("recall", "INVALID_INPUT", query="ship", task="$a")
    await both("recall", "INVALID_INPUT", query="ship", limit=101)
    await both("remember", "INVALID_INPUT", text=" ")
    await both("stats")
    for folder in (both.theirs, both.ours):
        path = folder / ".continuum" / "memory.sqlite3"
        path.write_bytes(b"not a database" * 400)
        (folder / ".continuum" / "memory.sqlite3-wal").unlink(missing_ok=True)
    await both("recall", "MEMORY_DAMAGED", query="ship")


@pytest.mark.parametrize("talk", [creations, updates, claims, reads, copies, remembering, troubles])
def test_the_command_and_the_tool_agree(both, talk):
    assert both(talk)


ELSEWHERE = {
    "TRANSCRIPT_UNREADABLE": "no tool reads transcripts",
    "SETTINGS_DAMAGED": "no tool changes a program's settings",
    "SETTINGS_BUSY": "no tool changes a program's settings",
    "SETUP_INCOMPLETE": "no tool changes a program's settings",
    "EVENT_UNKNOWN": "no tool takes a hook's payload",
    "ITEM_NOT_FOUND": "no tool forgets",
    "PROGRAM_NOT_FOUND": "no tool sets programs up",
    "MEMORY_FULL": "of limits below what the settings allow; the same action words it for both",
    "PURGE_UNFINISHED": "no tool purges",
    "STORE_UNAVAILABLE": "of the file system; the same function words it for both",
    "STORE_READ_ONLY": "of the file system; the same function words it for both",
    "STORE_FULL": "of the file system; the same function words it for both",
    "NOT_FOUND": "a kind, raised as one of those below it",
    "CONFLICT": "a kind, raised as one of those below it",
    "HARNESS_ERROR": "a kind, raised as one of those below it",
    "STORE_ERROR": "a kind, raised as one of those below it",
}
"""The codes that no tool answers with, or that are not tried here, each with its reason."""


def every_code():
    return [kind.code for kind in errors.every()]


def test_every_code_is_tried_or_has_a_reason_why_not():
    source = "".join(inspect.getsource(one) for one in (creations, updates, claims, reads))
    source += "".join(inspect.getsource(one) for one in (copies, remembering, troubles))
    tried = {code for code in every_code() if f'"{code}"' in source}
    assert tried.isdisjoint(ELSEWHERE)
    assert tried | ELSEWHERE.keys() == set(every_code())
