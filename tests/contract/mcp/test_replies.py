"""Replies keep their bound: lists are short, what is long comes in parts that make the whole."""

from __future__ import annotations

import json
import re

import pytest

from contextspindle.core.change import Request
from contextspindle.core.task import state_bytes

LIMIT = 20_000
CURSOR = re.compile(r"cursor: (\S+)\]")


def measured(said) -> int:
    """What an answer weighs on its way, the protocol's own around it."""
    shown = said.result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return len(json.dumps(shown, ensure_ascii=False).encode())


async def whole(call, name, **given):
    """All parts of an answer, put together; each within the bound."""
    said = await call(name, **given)
    parts = [said.text]
    while len(said.parts) > 1 and (found := CURSOR.search(said.parts[1])):
        assert measured(said) <= LIMIT
        said = await call(name, **given, cursor=found[1])
        assert not said.error, said.text
        parts.append(said.text)
    assert measured(said) <= LIMIT
    return "".join(parts), len(parts)


@pytest.fixture
def filled(project, make_ledger):
    """A ledger in the project, and its store, to fill quickly."""
    from contextspindle.store.sqlite import SqliteStore

    store = SqliteStore(str(project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"))
    yield make_ledger(store)
    store.close()


AWKWARD = 'line "quoted" \\ 中文🧵\n\ttab ' * 1_500


def test_a_long_answer_can_be_read_in_parts_that_make_the_whole(inside, filled, project):
    notes = tuple(f"{number} {AWKWARD}" for number in range(4))
    task = filled.create(Request(set={"goal": "A long one"}, notes=notes)).task

    async def talk(call):
        for verb in ("show", "history"):
            shown, parts = await whole(call, f"task_{verb}", id=task.id)
            assert parts > 10
            assert shown == project("task", verb, task.id).out.decode()

    inside(talk)


def test_a_list_with_a_limit_ends_within_its_reply_and_says_how_to_read_on(inside, filled):
    for number in range(100):
        filled.create(Request(set={"goal": f"{number} {AWKWARD[:150]}", "next": AWKWARD[:180]}))

    async def talk(call):
        seen, offset = [], 0
        while True:
            said = await call("task_list", limit=100, offset=offset)
            assert len(said.parts) == 1
            assert measured(said) <= LIMIT
            seen += re.findall(r"^(t-\w+) ", said.text, re.MULTILINE)
            more = re.search(r"more with offset: (\d+)", said.text)
            if not more:
                break
            assert int(more[1]) > offset
            offset = int(more[1])
        assert len(seen) == len(set(seen)) == 100

    inside(talk)


def test_a_handoff_fits_the_reply_that_the_settings_allow(inside, filled):
    for number in range(20):
        filled.create(Request(set={"goal": f"{number} {AWKWARD[:150]}", "next": AWKWARD[:180]}))

    async def talk(call):
        said = await call("handoff", budget=9_500)
        assert len(said.parts) == 1
        assert measured(said) <= 2_000

    inside(talk, env={"CONTEXTSPINDLE_REPLY_BYTES": "2000"})


def test_a_task_of_the_largest_size_can_be_read_from_its_first_part_to_its_last(
    inside, filled, project
):
    """Every part of it would be read like these: its beginning, its middle, its end."""
    notes = tuple(f"{number} {AWKWARD}" for number in range(37))
    task = filled.create(Request(set={"goal": "The largest"}, notes=notes)).task
    assert len(state_bytes(task)) > 2_000_000
    printed = project("task", "show", task.id).out

    async def talk(call):
        said = await call("task_show", id=task.id)
        seal = CURSOR.search(said.parts[1])[1].partition("-")[2]
        for start in (0, len(printed) // 2, len(printed) - 30_000):
            text = printed[start:].decode("utf-8", "ignore")  # from the next whole character on
            at = len(printed) - len(text.encode())
            rest = ""
            for _ in range(3):
                given = {"cursor": f"{at}-{seal}"} if at else {}
                said = await call("task_show", id=task.id, **given)
                assert measured(said) <= LIMIT
                rest += said.text
                more = CURSOR.search(said.parts[1])
                if not more:
                    break
                at = int(more[1].partition("-")[0])
            assert text.startswith(rest)
        assert "this is the end" in said.parts[1]
        assert text == rest

    inside(talk)


def test_an_update_of_a_large_task_is_answered_in_a_line(inside, filled):
    task = filled.create(Request(set={"goal": "g" * 60_000})).task

    async def talk(call):
        assert len((await call("task_update", id=task.id, notes=["n"])).text) < 100
        claimed = await call("task_claim", action="claim", id=task.id)
        assert len(claimed.text) < 2_000

    inside(talk)


def test_a_cursor_of_something_that_has_changed_is_refused(inside, filled):
    task = filled.create(Request(set={"goal": "g"}, notes=("n" * 60_000,))).task

    async def talk(call):
        first = await call("task_show", id=task.id)
        cursor = CURSOR.search(first.parts[1])[1]
        await call("task_update", id=task.id, notes=["another"])
        moved = await call("task_show", id=task.id, cursor=cursor)
        assert moved.code == "INVALID_INPUT"
        assert "has changed" in moved.text
        for wrong in ("x", "-1", "99999999999-abc", "0", "5-abc"):
            assert (await call("task_show", id=task.id, cursor=wrong)).code == "INVALID_INPUT"

    inside(talk)


def test_lists_are_short_by_default_and_say_how_to_read_on(inside, filled):
    for number in range(300):
        filled.create(Request(set={"goal": f"{number} " + "g" * 400, "next": "n" * 400}))

    async def talk(call):
        for name, given in (
            ("task_list", {}),
            ("task_inbox", {}),
            ("task_ready", {}),
            ("task_search", {"query": "g*"}),
        ):
            said = await call(name, **given)
            assert measured(said) < 8_000, name
        seen, offset = [], 0
        while offset is not None:
            said = await call("task_inbox", offset=offset)
            lines = said.text.splitlines()
            seen += [line.split()[0] for line in lines if line.startswith("t-")]
            more = re.search(r"of 300; more with offset: (\d+)", lines[-1])
            offset = int(more[1]) if more else None
        assert len(seen) == len(set(seen)) == 300
        assert measured(await call("task_list", limit=100)) <= LIMIT

    inside(talk)


def test_an_error_with_a_thousand_reasons_is_cut_and_keeps_its_code(inside, filled):
    parts = [filled.create(Request(set={"goal": "g" * 150})).task.id for _ in range(200)]
    task = filled.create(Request(set={"goal": "g"}, add_dependencies=tuple(parts))).task

    async def talk(call):
        said = await call("task_update", id=task.id, status="done", blocker="x" * 60_000)
        assert said.code == "DONE_REFUSED"
        assert measured(said) <= LIMIT
        unknown = await call("task_show", id=task.id, **{"n" * 100_000: 1})
        assert unknown.code == "INVALID_INPUT"
        assert measured(unknown) < 2_000

    inside(talk)


def test_a_handoff_with_a_large_budget_is_paged_too(inside, filled):
    notes = tuple(f"{number} " + "n" * 900 for number in range(200))
    task = filled.create(Request(set={"goal": "g"}, notes=notes)).task

    async def talk(call):
        shown, parts = await whole(call, "task_context", id=task.id, budget=100_000)
        assert parts > 3
        assert len(shown.encode()) <= 100_000

    inside(talk)


def test_the_bound_is_a_setting_of_the_workspace(inside, filled, project):
    (project.folder / ".contextspindle" / "config.json").write_text('{"reply_bytes": 2000}')
    task = filled.create(Request(set={"goal": "g"}, notes=("n" * 9_000,))).task

    async def talk(call):
        assert measured(await call("task_show", id=task.id)) <= 2_000

    inside(talk)


def test_no_answer_is_empty(inside, filled):
    task = filled.create(Request(set={"goal": "g"})).task

    async def talk(call):
        said = await call("task_history", id=task.id, **{"from": 9})
        assert said.text == f"{task.id} has no version from 9 on; its last is 1.\n"
        for name, given in (
            ("task_list", {"owner": "nobody"}),
            ("task_list", {"offset": 50}),
            ("task_inbox", {"offset": 50}),
            ("task_search", {"query": "nothing"}),
            ("task_search", {"query": ""}),
            ("task_children", {"id": task.id}),
            ("task_ready", {"offset": 50}),
            ("recall", {"query": "nothing"}),
        ):
            assert (await call(name, **given)).text.strip(), name

    inside(talk)
