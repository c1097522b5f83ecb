"""Replies keep their bound: lists are short, what is long comes in parts that make the whole."""

from __future__ import annotations

import json
import re

import pytest

from contextspindle.core.change import Request
from contextspindle.core.task import state_bytes
from contextspindle.mcp_server import calls, pages
from contextspindle.mcp_server.client import Client
from contextspindle.mcp_server.server import answered
from contextspindle.mcp_server.tools import find
from tests.transcripts import SESSION, user, written

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
        for start in (0, len(printed) // 2, len(printed) - 30_000):
            text = printed[start:].decode("utf-8", "ignore")  # from the next whole character on
            at = len(printed) - len(text.encode())
            rest = ""
            for _ in range(3):
                given = {"cursor": pages.made(printed, at)} if at else {}
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
            assert len(said.text.encode()) <= calls.PAGE_BYTES, name
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


def test_what_only_grows_at_its_end_is_read_on_and_so_is_a_task_that_is_worked_on(
    inside, filled, project
):
    """The history had a version more meanwhile, and the claim on the task was renewed."""
    task = filled.create(Request(set={"goal": "g"}, notes=("n" * 60_000, "m" * 60_000))).task

    async def talk(call):
        claimed = await call("task_claim", action="claim", id=task.id)
        history = await call("task_history", id=task.id)
        shown = await call("task_show", id=task.id)
        context = await call("task_context", id=task.id, budget=100_000)
        renewed = await call("task_claim", action="renew")
        assert claimed.text.split()[4] != renewed.text.split()[4]
        for verb, first, more in (
            ("task_show", shown, {}),
            ("task_context", context, {"budget": 100_000}),
        ):
            rest = await call(verb, id=task.id, cursor=CURSOR.search(first.parts[1])[1], **more)
            assert not rest.error, rest.text
        filled.update(task.id, Request(notes=("one more",)))
        rest = await call("task_history", id=task.id, cursor=CURSOR.search(history.parts[1])[1])
        assert not rest.error, rest.text
        moved = await call("task_show", id=task.id, cursor=CURSOR.search(shown.parts[1])[1])
        assert (moved.code, "has changed" in moved.text) == ("INVALID_INPUT", True)
        assert "With version it reads on" in moved.text
        first = await call("task_show", id=task.id, version=1)
        filled.update(task.id, Request(notes=("and one more",)))
        cursor = CURSOR.search(first.parts[1])[1]
        assert not (await call("task_show", id=task.id, version=1, cursor=cursor)).error

    inside(talk)


def test_a_cursor_is_told_of_only_where_the_tool_takes_one(inside, filled):
    parent = filled.create(Request(set={"goal": "p"})).task.id
    parts = [filled.create(Request(set={"goal": "g", "parent": parent})).task.id for _ in range(60)]
    task = filled.create(Request(set={"goal": "g"}, add_dependencies=tuple(parts))).task.id

    async def talk(call):
        shown, count = await whole(call, "task_ready", explain=task)
        assert count > 1
        assert all(one in shown for one in parts)
        assert (await call("task_ready", cursor="5-abc")).code == "INVALID_INPUT"
        ended = await call("task_update", id=parent, status="cancelled", decisions=["no"])
        (line,) = [one for one in ended.text.splitlines() if one.startswith("warning: ")]
        assert line.endswith(f" and 50 more: contextspindle_task_children {parent}")
        assert len(ended.parts) == 1

    inside(talk, env={"CONTEXTSPINDLE_REPLY_BYTES": "2000"})


def test_of_a_tool_without_a_cursor_none_is_told_of(filled, project, monkeypatch):
    """No reply of such a tool is as long; one that is will be, some day."""
    task = filled.create(Request(set={"goal": "g"}, notes=("n" * 60_000,))).task.id
    shown = find("contextspindle_task_show")
    without = shown._replace(arguments=tuple(a for a in shown.arguments if a.name != "cursor"))
    monkeypatch.chdir(project.folder)
    _, note = answered(Client(), without, {"id": task}).content
    assert note.text.endswith("; the rest is left out]")
    assert "cursor" not in note.text


def test_the_token_of_a_claim_is_whole_in_the_shortest_reply(inside, filled):
    task = filled.create(Request(set={"goal": '"' * 900, "next": '"' * 900})).task.id

    async def talk(call):
        claimed = await call("task_claim", action="claim", id=task)
        assert len(claimed.parts) == 1
        assert f": {task}." in claimed.text.splitlines()[-1]

    inside(talk, env={"CONTEXTSPINDLE_REPLY_BYTES": "2000"})


def test_a_refusal_with_many_reasons_ends_with_whole_ones_and_says_how_many_more(inside, filled):
    parts = [filled.create(Request(set={"goal": "g"})).task.id for _ in range(450)]
    task = filled.create(Request(set={"goal": "g"}, add_dependencies=tuple(parts))).task.id

    async def talk(call):
        said = await call("task_update", id=task, status="done")
        *reasons, last, hint = said.text.splitlines()[1:]
        assert hint == "Mend each reason; they can go into one update."
        assert all(re.search(r"is open: finish it first|set them with", one) for one in reasons)
        assert last == f"  - and {451 - len(reasons)} more [DONE_REFUSED]"
        assert 20 < len(reasons) < 450

    inside(talk)


CONTROLS = "/x\n  - forged [OK]\x1b[31m\u202e"


def test_an_error_repeats_nothing_that_could_pass_for_another_line_and_keeps_the_bound(
    inside, filled
):
    task = filled.create(Request(set={"goal": "g"})).task.id
    sent = (
        ("task_inbox", "workspace", str),
        ("task_backup", "folder", lambda value: f"../{value}"),
        ("task_backup", "folder", lambda value: f".contextspindle/{value}"),
        ("task_restore", "folder", str),
        ("task_show", "id", str),
        ("task_create", "status", str),
        ("task_create", "priority", str),
        ("task_create", "parent", str),
        ("task_update", "evidence_files", lambda value: [value]),
        ("handoff", "from", str),
    )

    async def talk(call):
        for name, argument, made in sent:
            more = {"task_create": {"goal": "g"}, "task_update": {"id": task}}.get(name, {})
            said = await call(name, **{argument: made(CONTROLS[1:])}, **more)
            assert said.error, (name, argument)
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", said.text), (name, argument)
            assert "\n  - forged" not in said.text, (name, argument)
            for heavy in ("\x01" * 9_000, "\\" * 9_900, '"' * 40_000, "x" * 60_000):
                said = await call(name, **{argument: made(heavy)}, **more)
                assert said.error, (name, argument)
                assert measured(said) <= LIMIT, (name, argument)

    inside(talk)


def test_a_handoff_that_is_not_found_says_what_is_so(inside, filled):
    async def talk(call):
        nothing = await call("handoff")
        assert "Nothing is live either: contextspindle_task_create" in nothing.text
        filled.create(Request(set={"goal": "g"}))
        missed = await call("handoff", **{"from": "zzz"})
        assert missed.code == "SNAPSHOT_NOT_FOUND"
        assert "live" not in missed.text
        assert "without from, the newest is told" in missed.text

    inside(talk)


def test_texts_name_tools_where_they_would_name_commands_and_leave_what_they_quote(inside, filled):
    quoted = "omitted: nothing; see: contextspindle task show t-00000000"
    task = filled.create(Request(set={"goal": quoted}, notes=("n" * 3_000,))).task.id

    async def talk(call):
        said = (await call("task_context", id=task, budget=800)).text
        assert said.endswith(f"; see: contextspindle_task_show {task}\n")
        assert f"goal: {quoted}\n" in said
        for number in range(12):
            await call("task_create", goal=f"g{number}")
        assert "13 live tasks in all: contextspindle_task_inbox\n" in (await call("handoff")).text

    inside(talk)


def test_a_handoff_that_leaves_something_out_names_the_call_that_shows_more(
    inside, project, tmp_path
):
    turns = [user(f"Always keep rule {number}: {'never push ' * 20}") for number in range(30)]
    path = written(tmp_path / "a.jsonl", turns)
    assert project("fuse", "save", "--transcript", path, "--session", SESSION).status == 0

    async def talk(call):
        said = (await call("handoff", session=SESSION, budget=2_000)).text
        more = f" (more: contextspindle_handoff with session {SESSION}, budget 9500)."
        assert said.splitlines()[-2].endswith(more)
        assert len(said.encode()) <= 2_000
        assert len((await call("handoff", session=SESSION, budget=9_500)).text) > len(said)

    inside(talk)
