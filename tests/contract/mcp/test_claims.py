"""Claims over MCP, and a session that lost its context with one."""

from __future__ import annotations

import re
from functools import partial
from types import SimpleNamespace

import pytest

from contextspindle.mcp_server import loopback
from contextspindle.mcp_server.client import Folders
from contextspindle.mcp_server.loopback import People
from contextspindle.mcp_server.server import answered
from contextspindle.mcp_server.tools import find
from tests.transcripts import SESSION, calls, returns, says, user, written


@pytest.mark.parametrize("claims", [True, False])
def test_a_claim_over_mcp_is_had_back_after_a_compaction(spoken, inside, project, tmp_path, claims):
    task = project("task", "create", "Mend the mast", "--quiet").out.decode().strip()

    async def talk(call):
        return (await call("task_claim", action="next")).text

    answer = spoken(talk)
    token = answer.rpartition(" ")[2].strip()
    if not claims:  # as a server says it that keeps no claims
        answer = answer.replace("updates from here carry it", "give it as claim in updates")
    entries = [
        user("Go on."),
        calls("c1", "mcp__contextspindle__contextspindle_task_claim", action="next"),
        returns("c1", answer),
        says("I have it."),
    ]
    path = written(tmp_path / "a.jsonl", entries)
    saved = project("fuse", "save", "--transcript", path, "--session", SESSION)
    assert saved.status == 0, saved.err
    told = project("fuse", "restore", "--plain", "--session", SESSION).out.decode()
    assert f"carry --claim {token}): {task} [" in told

    async def back(call):
        assert f", give claim {token}): {task} [" in (await call("handoff", session=SESSION)).text

    inside(back)


async def claimed(call, goal="g", **more):
    """A task that was claimed through this server, and the token."""
    task = (await call("task_create", goal=goal, criteria=["c"])).task
    said = await call("task_claim", action="claim", id=task, **more)
    return task, said.text.split()[-1]


def wrong(token):
    """A token like it, with its last letter mistyped."""
    return token[:-1] + ("z" if token[-1] != "z" else "y")


def test_a_mistyped_token_is_refused_and_the_one_that_is_kept_is_carried_on(inside):
    async def talk(call):
        task, token = await claimed(call)
        assert (
            await call("task_update", id=task, next="x", claim=wrong(token))
        ).code == "CLAIM_LOST"
        assert not (await call("task_update", id=task, next="x")).error
        for action in ("renew", "release"):
            said = await call("task_claim", action=action, id=task, token=wrong(token))
            assert said.code == "CLAIM_LOST"
        assert not (await call("task_update", id=task, next="y")).error

    inside(talk)


def test_a_token_that_is_given_once_and_accepted_is_carried_from_then_on(inside, project):
    task = project("task", "create", "Mend the mast", "--quiet").out.decode().strip()
    token = project("task", "claim", task, "--quiet").out.decode().strip()

    async def talk(call):
        other, _ = await claimed(call)
        assert (await call("task_update", id=task, next="x")).code == "CLAIM_HELD"
        # A token of another task counts as none, and is not kept.
        assert not (await call("task_update", id=other, notes=["n"], claim=token)).error
        assert not (await call("task_update", id=other, next="x")).error
        assert not (await call("task_update", id=task, next="x", claim=token)).error
        assert not (await call("task_update", id=task, next="y")).error

    inside(talk)


def test_a_kept_token_that_was_taken_over_is_kept_no_more(inside, project):
    async def talk(call):
        task, token = await claimed(call)
        assert project("task", "release", task, "--claim", token).status == 0
        assert (await call("task_update", id=task, next="x")).code == "CLAIM_LOST"
        assert not (await call("task_update", id=task, next="x")).error
        assert "0 tasks are claimed" in (await call("task_claim", action="renew")).text

    inside(talk)


def test_the_token_that_the_server_was_started_with_ends_with_its_claim(inside, project):
    task = project("task", "create", "Mend the mast", "--quiet").out.decode().strip()
    token = project("task", "claim", task, "--quiet").out.decode().strip()

    async def talk(call):
        assert not (await call("task_update", id=task, next="x")).error
        assert not (await call("task_claim", action="release", id=task)).error
        assert not (await call("task_update", id=task, notes=["what came of it"])).error
        other, _ = await claimed(call)
        said = await call("task_claim", action="claim", id=other)
        assert "already yours" in said.text

    inside(talk, env={"CONTEXTSPINDLE_CLAIM": token})


@pytest.fixture
def saved_claim(project, tmp_path):
    """A task that session s-1 has claimed and worked on, and the token, as saved at a compaction;
    and a function that saves another session."""

    def save(session, entries):
        path = written(tmp_path / f"{session}.jsonl", entries)
        done = project("fuse", "save", "--transcript", path, "--session", session)
        assert done.status == 0, done.err

    task = project("task", "create", "Mend the mast", "--quiet").out.decode().strip()
    answer = project("task", "claim", task).out.decode()
    token = re.search(rf"{task}\.\w+", answer)[0]
    entries = [
        user("Mend the mast, then."),
        calls("c1", "Bash", command=f"contextspindle task claim {task}"),
        returns("c1", answer),
        says(f"I carry {token}."),
    ]
    save("s-1", entries)
    return task, token, lambda: save("s-2", [user("Paint the hull."), says("I do.")])


def test_a_token_is_handed_to_the_session_that_is_known_to_be_the_caller(inside, saved_claim):
    _, token, another_saves = saved_claim

    async def talk(call, **given):
        return (await call("handoff", **given)).text

    mine = {"CLAUDE_CODE_SESSION_ID": "s-1"}
    found = inside(talk, env=mine)
    assert token in found
    assert token in inside(partial(talk, session="s-1"), env=mine)
    # Where nothing says who asks, it is whom the caller says it is.
    assert token in inside(partial(talk, session="s-1"), env={})
    for env, given in (
        ({}, {}),
        (mine | {"CLAUDE_CODE_SESSION_ID": "s-9"}, {"session": "s-1"}),
    ):
        found = inside(partial(talk, **given), env=env)
        assert token not in found
        assert "yours only if you know it" in found
        assert "Mend the mast" in found
    another_saves()
    found = inside(talk, env=mine)
    assert token not in found
    assert "Mend the mast" in found
    assert "session s-2 has saved one since: yours only if you know it" in found


def test_over_http_nobody_is_the_session_that_started_the_server(project, saved_claim, monkeypatch):
    task, token, _ = saved_claim
    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    monkeypatch.setenv("CONTEXTSPINDLE_CLAIM", token)
    for session in ("one", "other", None):
        headers = {"mcp-session-id": session} if session else {}
        seat = People("").client(SimpleNamespace(request=SimpleNamespace(headers=headers)))
        for given in ({}, {"session": "s-1"}):
            found = said_by(seat.during(Folders()), "handoff", **given)
            assert "Mend the mast" in found
            assert token not in found
        assert "[CLAIM_HELD]" in said_by(seat.during(Folders()), "task_update", id=task, next="n")


def said_by(seat, name, **given):
    return answered(seat, find(f"contextspindle_{name}"), given).content[0].text


@pytest.mark.parametrize("ends", ["released", "done"])
def test_the_claim_of_the_environment_is_carried_until_it_has_ended(inside, project, ends):
    task, other = (
        project("task", "create", goal, "--criterion", "c", "--quiet").out.decode().strip()
        for goal in ("one", "other")
    )
    token = re.search(rf"{task}\.\w+", project("task", "claim", task).out.decode())[0]

    async def talk(call):
        assert not (await call("task_update", id=other, next="n")).error
        assert not (await call("task_update", id=task, next="n")).error
        if ends == "done":
            done = await call("task_update", id=task, status="done", evidence=["e"])
            assert not done.error, done.text
        else:
            assert not (await call("task_claim", action="release", id=task)).error
        for _ in range(2):
            said = await call("task_update", id=task, notes=["after"])
            assert not said.error, said.text
        if ends == "released":
            assert not (await call("task_claim", action="claim", id=task)).error
            assert not (await call("task_update", id=task, status="active")).error

    inside(talk, env={"CONTEXTSPINDLE_CLAIM": token})


@pytest.mark.parametrize("given", [False, True])
def test_an_own_claim_that_is_claimed_again_is_renewed_and_says_whose_it_is(inside, given):
    async def talk(call):
        task, token = await claimed(call, lease=60)
        more = {"token": token} if given else {}
        said = await call("task_claim", action="claim", id=task, lease=7_200, **more)
        assert re.match(
            rf"{task} is already yours until \S+; each update puts the end off\n", said.text
        )
        assert said.text.split()[-1] == token
        assert "task version" not in said.text
        versions = (await call("task_history", id=task)).text
        assert "version 2" in versions
        assert "version 3" not in versions  # the lease moved, the task did not
        assert not (await call("task_update", id=task, next="x")).error

    inside(talk)


def test_a_claim_of_somebody_else_is_told_in_the_words_of_this_tool(inside, project):
    task = project("task", "create", "Mend the mast", "--quiet").out.decode().strip()
    token = project("task", "claim", task, "--quiet").out.decode().strip()

    async def talk(call):
        for action in ("claim", "release"):
            said = await call("task_claim", action=action, id=task)
            assert said.code == "CLAIM_HELD"
            assert "give its token as token" in said.text
            assert "as claim" not in said.text
        mistyped = await call("task_claim", action="claim", id=task, token=wrong(token))
        assert (mistyped.code, "mistyped" in mistyped.text) == ("CLAIM_HELD", True)
        taken = await call("task_claim", action="claim", token=token)  # its task is told by itself
        assert f"{task} is already yours" in taken.text
        assert not (await call("task_update", id=task, next="x")).error

    inside(talk)


def test_what_was_claimed_by_a_call_that_nobody_heard_the_answer_of_is_found_again(inside):
    async def talk(call):
        task, _ = await claimed(call)
        said = await call("task_claim", action="next")
        assert said.code == "NOTHING_READY"
        assert f"Claimed from here already: {task}." in said.text
        assert "already yours" in (await call("task_claim", action="claim", id=task)).text

    inside(talk)


def test_what_an_action_of_a_claim_does_not_take_is_refused_by_name(inside):
    async def talk(call):
        one, token = await claimed(call, "one")
        two, _ = await claimed(call, "two", lease=60)
        before = (await call("task_show", id=two)).text
        for action, given, named, instead in (
            (
                "renew",
                {"id": two, "token": token},
                f"of {one}, not of {two}",
                "leave one of the two",
            ),
            ("release", {"id": two, "token": token}, f"of {one}, not of {two}", "leave one of"),
            ("claim", {"id": two, "token": token}, f"of {one}, not of {two}", "leave one of"),
            (
                "renew",
                {"id": two, "lease": 7_200},
                "renew takes no lease",
                "claim with id and lease",
            ),
            ("release", {"id": two, "lease": 5}, "release takes no lease", "Leave it out"),
            ("next", {"id": two}, "next takes no id", "use claim"),
            ("next", {"token": token}, "next takes no token", "use claim"),
            ("renew", {}, "renew needs an id", f"They are {one}, {two}."),
            ("claim", {}, "claim needs an id", "next takes the best"),
        ):
            said = await call("task_claim", action=action, **given)
            assert said.code == "INVALID_INPUT", action
            assert named in said.text
            assert instead in said.text
        assert (await call("task_show", id=two)).text == before
        assert not (await call("task_claim", action="release", id=two, token="", lease=None)).error

    inside(talk)


def test_clients_that_hold_claims_are_remembered_when_others_are_forgotten(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(loopback, "CLIENTS", 3)
    monkeypatch.setattr(loopback, "HOLDERS", 2)
    people = People("")

    def seat(session):
        request = SimpleNamespace(headers={"mcp-session-id": session})
        return people.client(SimpleNamespace(request=request)).during(Folders())

    tasks = {}
    for name in ("a", "b"):
        tasks[name] = said_by(seat(name), "task_create", goal=name).split()[0]
        said_by(seat(name), "task_claim", action="claim", id=tasks[name])
    for number in range(9):
        seat(f"other {number}")
    for name, task in tasks.items():
        assert "updated" in said_by(seat(name), "task_update", id=task, next="n")
    for name in ("c", "d", "e", "f", "g", "h"):  # more than there is room for
        task = said_by(seat(name), "task_create", goal=name).split()[0]
        said_by(seat(name), "task_claim", action="claim", id=task)
    assert "[CLAIM_HELD]" in said_by(seat("a"), "task_update", id=tasks["a"], status="active")
