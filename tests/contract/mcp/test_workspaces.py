"""Which workspace a call is about: the client's folders, the argument, the folder it runs in."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import mcp_types as types
import pytest

from contextspindle import Request, make_workspace, workspace
from contextspindle.store import schema
from contextspindle.store.sqlite import SqliteStore
from tests.transcripts import SESSION, calls, says, user, written

from .conftest import ERAS


@pytest.fixture
def place(project, tmp_path):
    """A function that makes another project with a task in it; gives its folder."""

    def made(name):
        folder = tmp_path / name
        folder.mkdir()
        ledger = make_workspace(str(folder)).ledger()
        ledger.create(Request(set={"goal": f"of {name}"}))
        return folder

    return made


class Folders:
    """What a client has open, which may change."""

    def __init__(self, *folders):
        self.uris = [one if isinstance(one, str) else one.as_uri() for one in folders]
        self.asked = 0

    async def __call__(self, _context):
        self.asked += 1
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in self.uris])


async def goals(call, **given):
    said = await call("task_inbox", **given)
    return said.code or said.text.split("] p2 ", 1)[-1].strip()


@pytest.mark.parametrize("mode", ERAS)
def test_the_open_folder_decides_wherever_the_server_was_started(inside, place, mode):
    folder = place("été 日本")
    nested = folder / "src" / "deep"
    nested.mkdir(parents=True)

    async def talk(call):
        assert await goals(call) == "of été 日本"

    inside(talk, mode=mode, list_roots_callback=Folders(folder))
    inside(talk, mode=mode, list_roots_callback=Folders(nested))


@pytest.mark.parametrize("mode", ERAS)
def test_folders_that_change_are_followed(inside, place, mode):
    folders = Folders(place("one"))
    other = place("other").as_uri()

    async def talk(call):
        assert await goals(call) == "of one"
        folders.uris = [other]
        if mode == "legacy":
            await call.client.session.send_notification(types.RootsListChangedNotification())
        assert await goals(call) == "of other"

    inside(talk, mode=mode, list_roots_callback=folders)


def test_folders_are_asked_for_once_while_they_stay(inside, place):
    folders = Folders(place("one"))

    async def talk(call):
        for _ in range(5):
            await goals(call)

    inside(talk, list_roots_callback=folders)
    assert folders.asked == 1


def test_several_open_projects_need_a_name(inside, place):
    one, other = place("one"), place("other")

    async def talk(call):
        said = await call("task_inbox")
        assert said.code == "INVALID_INPUT"
        assert str(one) in said.text
        assert str(other) in said.text
        assert await goals(call, workspace=str(one)) == "of one"
        assert await goals(call, workspace=str(other)) == "of other"

    inside(talk, list_roots_callback=Folders(one, other))


def test_an_open_folder_without_a_workspace_gets_none(inside, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()

    async def talk(call):
        said = await call("task_create", goal="g")
        assert said.code == "WORKSPACE_NOT_FOUND"
        assert "contextspindle init" in said.text

    inside(talk, list_roots_callback=Folders(bare))
    assert list(bare.iterdir()) == []


@pytest.mark.parametrize("mode", ERAS)
def test_an_argument_leads_nowhere_that_is_not_open(inside, place, mode, tmp_path):
    one, other = place("one"), place("other")
    (one / "link").symlink_to(other)

    async def talk(call):
        for named in (str(other), "../other", f"{one}/../other", "link", "/", str(tmp_path)):
            said = await call("task_create", goal="g", workspace=named)
            assert said.code == "WORKSPACE_REFUSED", named
        assert (await call("task_inbox", workspace="nothing-here")).code == "WORKSPACE_NOT_FOUND"
        assert (await call("task_inbox", workspace="x\0y")).code == "INVALID_INPUT"
        assert (await call("task_backup", folder="x\0y")).code == "INVALID_INPUT"
        assert (await call("task_backup", folder=str(other / "copy"))).code == "WORKSPACE_REFUSED"
        assert (await call("task_restore", folder="../other")).code == "WORKSPACE_REFUSED"
        task = (await call("task_inbox")).task
        said = await call("task_update", id=task, evidence_files=["/etc/hosts"])
        assert said.code == "WORKSPACE_REFUSED"

    inside(talk, mode=mode, list_roots_callback=Folders(one))
    assert not (other / "copy").exists()


def test_without_open_folders_the_argument_stays_in_the_project_of_the_server(inside, place):
    other = place("other")

    async def talk(call):
        assert (await call("task_inbox", workspace=str(other))).code == "WORKSPACE_REFUSED"
        assert not (await call("task_inbox", workspace=".")).error

    inside(talk)


def test_started_in_no_project_an_argument_may_name_one_and_nothing_is_made(inside, place, home):
    one = place("one")

    async def talk(call):
        said = await call("task_create", goal="g")
        assert said.code == "WORKSPACE_NOT_FOUND"
        assert (await call("task_restore", folder=str(one))).error
        assert await goals(call, workspace=str(one)) == "of one"

    for folder in (home, "/"):
        inside(talk, cwd=folder)
    assert not (home / ".contextspindle").exists()


def test_a_path_of_the_home_folder_is_that_and_no_part_of_the_project(inside, place, home):
    mine = home / "mine"
    mine.mkdir()
    make_workspace(str(mine)).ledger().create(Request(set={"goal": "of home"}))

    async def talk(call):
        assert await goals(call, workspace="~/mine") == "of home"
        assert not (await call("task_backup", workspace="~/mine", folder="~/mine/copy")).error

    inside(talk, cwd="/")
    assert (mine / "copy" / "manifest.json").exists()

    async def outside(call):
        assert (await call("task_backup", folder="~/copy")).code == "WORKSPACE_REFUSED"

    inside(outside, list_roots_callback=Folders(place("one")))
    assert not (home / "copy").exists()


def test_a_folder_whose_name_is_no_text_is_told_in_text(inside, tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("no folder of such a name can be made here")
    make_workspace(folder).ledger().create(Request(set={"goal": "of it"}))

    async def talk(call):
        assert await goals(call) == "of it"
        shown = f"{tmp_path}/caf\ufffd"
        said = await call("task_backup", folder="copy")
        assert f"{shown}/copy" in said.text
        again = await call("task_backup", folder="copy")
        assert (again.error, f"{shown}/copy" in again.text) == (True, True)
        assert not (await call("task_verify")).error

    inside(talk, cwd=folder)
    inside(talk_of_roots, list_roots_callback=Folders(f"file://{tmp_path}/caf%E9"))


async def talk_of_roots(call):
    assert await goals(call) == "of it"


def test_a_client_that_has_no_folder_open_is_as_one_without(inside):
    async def talk(call):
        assert not (await call("task_create", goal="g")).error

    inside(talk, list_roots_callback=Folders())


def test_a_client_that_cannot_tell_its_folders_is_asked_once(inside, project):
    class Broken(Folders):
        async def __call__(self, _context):
            self.asked += 1
            return types.ErrorData(code=-32603, message="cannot")

    folders = Broken()

    async def talk(call):
        for _ in range(3):
            assert not (await call("task_inbox")).error

    inside(talk, list_roots_callback=folders)
    assert folders.asked == 1


@pytest.mark.parametrize("mode", ERAS)
def test_resources_are_those_of_the_open_folder(inside, place, project, mode):
    assert project("task", "create", "of the server's own").status == 0
    one = place("one")
    task = workspace.find(str(one)).ledger().inbox(1).items[0].id

    async def talk(call):
        await goals(call)
        listed = (await call.client.list_resources()).resources
        # Since 2026-07-28 nothing can be asked for a list: whose tasks it is for is not known.
        assert [found.title for found in listed] == (["of one"] if mode == "legacy" else [])
        shown = await call.client.read_resource(f"contextspindle://task/{task}")
        assert "goal: of one" in shown.contents[0].text

    inside(talk, mode=mode, resources=True, list_roots_callback=Folders(one))


def test_a_workspace_named_by_the_user_wins_over_the_open_folders(inside, place):
    one, other = place("one"), place("other")

    async def talk(call):
        assert await goals(call) == "of other"
        assert (await call("task_inbox", workspace=str(one))).code == "WORKSPACE_REFUSED"

    inside(talk, named=str(other), list_roots_callback=Folders(one))
    env = {"CONTEXTSPINDLE_WORKSPACE": str(other)}
    inside(talk, env=env, list_roots_callback=Folders(one))


def test_a_workspace_that_was_moved_away_and_made_anew_is_the_new_one(inside, project):
    async def talk(call):
        await call("task_create", goal="of the old one")
        (project.folder / ".contextspindle").rename(project.folder / "aside")
        assert (await call("task_inbox")).code == "WORKSPACE_NOT_FOUND"
        assert project("init").status == 0
        assert "Nothing is live" in (await call("task_inbox")).text
        await call("task_create", goal="of the new one")
        assert "of the new one" in project("task", "inbox").out.decode()

    inside(talk)


def test_a_ledger_that_is_open_is_noticed_to_be_another_one(inside, project, place):
    """The server keeps it open from call to call, and somebody puts another in its place."""
    folder = project.folder / ".contextspindle" / "tasks"
    other = place("another") / ".contextspindle" / "tasks" / "ledger.sqlite3"

    def put(how):
        store = SqliteStore(str(other))
        copy = project.folder / "copy.sqlite3"
        schema.copy_to(store.open_reader(), str(copy))
        store.close()
        for left in ("ledger.sqlite3-wal", "ledger.sqlite3-shm"):
            (folder / left).unlink(missing_ok=True)
        how(copy, folder / "ledger.sqlite3")
        copy.unlink(missing_ok=True)

    async def talk(call):
        for how in (shutil.copyfile, Path.replace):
            mine = (await call("task_create", goal="mine")).task
            assert "mine" in (await call("task_inbox")).text
            put(how)
            assert await goals(call) == "of another"
            lost = await call("task_update", id=mine, notes=["n"])
            assert lost.code == "TASK_NOT_FOUND"

    inside(talk)


def test_a_ledger_that_was_moved_away_and_back_is_gone_and_there_again(inside, project):
    folder = project.folder / ".contextspindle"

    async def talk(call):
        await call("task_create", goal="mine")
        folder.rename(project.folder / "aside")
        assert (await call("task_inbox")).code == "WORKSPACE_NOT_FOUND"
        assert (await call("task_create", goal="g")).code == "WORKSPACE_NOT_FOUND"
        (project.folder / "aside").rename(folder)
        assert (await goals(call)) == "mine"
        (folder / "tasks" / "ledger.sqlite3").unlink()
        gone = await call("task_inbox")
        assert (gone.code, "There is no ledger" in gone.text) == ("WORKSPACE_NOT_FOUND", True)

    inside(talk)


def test_a_ledger_that_a_newer_program_led_on_is_neither_read_nor_written(inside, project):
    path = project.folder / ".contextspindle" / "tasks" / "ledger.sqlite3"

    async def talk(call):
        task = (await call("task_create", goal="mine")).task
        raw = sqlite3.connect(path, isolation_level=None)
        raw.execute("PRAGMA user_version=99")
        for tool, given in (
            ("task_show", {"id": task}),
            ("task_update", {"id": task, "notes": ["n"]}),
            ("task_inbox", {}),
        ):
            assert (await call(tool, **given)).code == "SCHEMA_TOO_NEW"
        raw.execute(f"PRAGMA user_version={schema.SCHEMA}")
        raw.close()
        assert not (await call("task_update", id=task, notes=["n"])).error

    inside(talk)


def test_what_the_command_restores_or_remembers_is_there_in_the_next_call(inside, project):
    async def talk(call):
        task = (await call("task_create", goal="mine")).task
        await call("task_backup", folder="copy")
        await call("remember", text="We ship on Fridays")
        shutil.rmtree(project.folder / ".contextspindle")
        assert project("init").status == 0
        assert "Nothing is live" in (await call("task_inbox")).text
        assert project("restore", "copy").status == 0
        assert (await call("task_inbox")).task == task
        assert project("remember", "Staging is reset at two").status == 0
        assert "reset at two" in (await call("recall", query="staging")).text
        assert project("memory", "rebuild", "--force").status == 0
        assert "Fridays" in (await call("recall", query="ship")).text

    inside(talk)


def test_restoring_makes_a_workspace_in_an_open_project_that_has_none(inside, place, project):
    one = place("one")
    assert project("backup", str(one / "copy"), cwd=one).status == 0
    shutil.rmtree(one / ".contextspindle")

    async def talk(call):
        said = await call("task_restore", folder="copy")
        assert "1 new" in said.text
        assert await goals(call) == "of one"

    inside(talk, list_roots_callback=Folders(one))


@pytest.mark.parametrize("mode", ERAS)
def test_this_server_carries_the_token_of_a_claim_and_another_does_not(inside, mode):
    async def taken(call):
        task = (await call("task_create", goal="g")).task
        await call("task_claim", action="claim", id=task)
        assert not (await call("task_update", id=task, status="active")).error
        renewed = await call("task_claim", action="renew")
        assert f"{task} is yours until" in renewed.text
        return task

    task = inside(taken, mode=mode)

    async def other(call):
        assert (await call("task_update", id=task, status="blocked")).code == "CLAIM_HELD"
        assert "0 tasks are claimed" in (await call("task_claim", action="release")).text

    inside(other, mode=mode)


def test_the_handoff_of_the_session_that_started_the_server_is_the_one_given(
    inside, project, tmp_path
):
    for session, said in (("s-1", "Build the mast."), ("s-2", "Paint the hull.")):
        path = tmp_path / f"{session}.jsonl"
        path.write_text('{"role":"user","content":"%s"}\n' % said)  # noqa: UP031
        done = project("fuse", "save", "--transcript", str(path), "--session", session)
        assert done.status == 0

    async def talk(call):
        return (await call("handoff")).text, (await call("handoff", session="s-2")).text

    of_one, of_two = inside(talk, env={"CLAUDE_CODE_SESSION_ID": "s-1"})
    assert "Build the mast" in of_one
    assert "Paint the hull" not in of_one
    assert "Paint the hull" in of_two
    newest, _ = inside(talk)
    assert "Paint the hull" in newest


def test_another_session_s_work_is_handed_over_as_another_s(spoken, project, tmp_path):
    path = tmp_path / "s-2.jsonl"
    path.write_text('{"role":"user","content":"Paint the hull."}\n')
    assert project("fuse", "save", "--transcript", str(path), "--session", "s-2").status == 0

    async def talk(call):
        return (await call("handoff", **{"from": "s-"})).text

    told = spoken(talk, env={"CLAUDE_CODE_SESSION_ID": "s-1"})
    assert "The record of another session of plain, handed over" in told
    assert "Paint the hull" in told


def test_the_task_that_a_session_worked_on_over_mcp_is_the_first_of_its_restore(project, tmp_path):
    ids = [
        project("task", "create", f"Task {number}", "--quiet").out.decode().strip()
        for number in range(3)
    ]
    tool = "mcp__contextspindle__contextspindle_task_{}".format
    entries = [
        user("Go on."),
        calls("c1", tool("show"), id=ids[1]),
        calls("c2", tool("update"), id=ids[0], notes=["id: t-00000000"], next="id: t-00000000"),
        calls("c3", tool("search"), query=f"id: {ids[2]}"),
        calls("c4", tool("create"), goal=f"like\nid: {ids[2]}"),
        says("Done."),
    ]
    path = written(tmp_path / "a.jsonl", entries)
    saved = project("fuse", "save", "--transcript", path, "--session", SESSION)
    assert saved.status == 0, saved.err
    told = project("fuse", "restore", "--plain", "--session", SESSION).out.decode()
    assert f"this session's: {ids[0]} [open] Task 0" in told


def test_what_came_with_a_repository_is_not_handed_over_before_the_user_accepts_it(inside, project):
    assert project("task", "create", "Obey me").status == 0
    for words in (("init", "-q"), ("add", "-f", ".contextspindle")):
        subprocess.run(
            ["git", *words],
            cwd=project.folder,
            env={**project.environment, "GIT_CONFIG_NOSYSTEM": "1"},
            check=True,
            capture_output=True,
        )

    async def talk(call):
        refused = await call("handoff")
        assert refused.code == "WORKSPACE_REFUSED"
        assert "Obey me" not in refused.text
        with pytest.raises(Exception, match="WORKSPACE_REFUSED"):
            await call.client.get_prompt("resume")
        assert project("init", "--accept").status == 0
        assert "Obey me" in (await call("handoff")).text

    inside(talk)
