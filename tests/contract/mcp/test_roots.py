"""What a client says of the folders that it has open: late, of elsewhere, with one request only."""

from __future__ import annotations

import anyio
import mcp_types as types
import pytest

from contextspindle import Request, make_workspace
from contextspindle.mcp_server import roots

from .conftest import HELLO, READY, asking

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture
def place(project, tmp_path):
    """A function that makes another project with a task in it; gives its folder."""

    def made(name):
        folder = tmp_path / name
        folder.mkdir()
        make_workspace(str(folder)).ledger().create(Request(set={"goal": f"of {name}"}))
        return folder

    return made


class Asked:
    """A client's folders; each answer may wait for something first."""

    def __init__(self, *folders, wait=None):
        self.uris = [one if isinstance(one, str) else one.as_uri() for one in folders]
        self.wait = wait
        self.asked = 0

    async def __call__(self, _context):
        self.asked += 1
        answer = types.ListRootsResult(roots=[types.Root(uri=uri) for uri in self.uris])
        if self.wait:
            await self.wait(self.asked)
        return answer


async def goals(call, **given):
    said = await call("task_inbox", **given)
    return said.code or said.text.split("] p2 ", 1)[-1].strip()


def tasks_of(folder):
    return make_workspace(str(folder)).ledger().inbox(100).total


def text_of(answer):
    return answer["result"]["content"][0]["text"]


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
def test_a_client_that_is_late_with_its_folders_is_asked_again_and_after_every_change(
    inside, place, monkeypatch
):
    monkeypatch.setattr(roots, "ROOTS_SECONDS", 0.2)
    late = [1]

    async def wait(asked):
        if asked <= late[0]:
            await anyio.sleep_forever()

    folders = Asked(place("one"), wait=wait)

    async def talk(call):
        assert await goals(call) == "WORKSPACE_REFUSED"
        assert await goals(call) == "of one"
        folders.asked, late[0] = 0, 9
        await call.client.send_roots_list_changed()
        for _ in range(5):
            assert await goals(call) == "WORKSPACE_REFUSED"
        assert folders.asked == roots.LATE  # and then no more
        late[0] = 0
        await call.client.send_roots_list_changed()
        assert await goals(call) == "of one"

    inside(talk, list_roots_callback=folders)


def test_nothing_is_read_or_written_before_a_slow_client_has_said_its_folders(
    inside, project, place, monkeypatch
):
    """Its answer counts whenever it comes."""
    monkeypatch.setattr(roots, "ROOTS_SECONDS", 0.1)
    one = place("one")

    async def talk(call):
        ready = anyio.Event()

        async def wait(_asked):
            await ready.wait()

        folders.wait = wait
        for _ in range(roots.LATE + 1):
            said = await call("task_create", goal="of one")
            assert said.code == "WORKSPACE_REFUSED"
            assert "has not said which folders it has open" in said.text
            assert "argument workspace" in said.text
            assert await goals(call) == "WORKSPACE_REFUSED"
        assert not (await call("task_create", goal="named", workspace=".")).error
        ready.set()
        await anyio.sleep(0.05)
        assert not (await call("task_create", goal="then")).error

    folders = Asked(one)
    inside(talk, list_roots_callback=folders)
    assert (tasks_of(one), tasks_of(project.folder)) == (2, 1)


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
def test_folders_that_change_while_they_are_asked_for_are_asked_for_again(inside, place):
    one, other = place("one"), place("other")

    async def talk(call):
        ready = anyio.Event()

        async def wait(asked):
            if asked == 1:
                folders.uris = [other.as_uri()]
                await call.client.send_roots_list_changed()
                await ready.wait()

        folders.wait = wait
        assert await goals(call) == "of other"
        ready.set()
        await anyio.sleep(0.05)  # what it had open before the change counts no more
        assert await goals(call) == "of other"

    folders = Asked(one)
    inside(talk, list_roots_callback=folders)
    assert folders.asked == 2


def test_folders_that_are_none_of_this_machine_are_not_taken_for_the_one_of_the_server(
    line, project, place
):
    one = place("one")
    elsewhere = ["vscode-remote://host/x", "file://elsewhere/x"]
    server = line()
    hello = {**HELLO["params"], "capabilities": {"roots": {}}}
    server.send({**HELLO, "params": hello})
    server.read()
    server.send(READY)

    def create(number, *uris, **given):
        server.call(number, "task_create", goal="g", **given)
        asked = server.read()
        said = {"roots": [{"uri": uri} for uri in uris]}
        server.send({"jsonrpc": "2.0", "id": asked["id"], "result": said})
        return text_of(server.read())

    said = create(1, *elsewhere)
    assert "[WORKSPACE_REFUSED]" in said
    assert "vscode-remote://host/x, file://elsewhere/x" in said
    assert "created" in create(2, *elsewhere, workspace=str(project.folder))
    assert "created" in create(3, *elsewhere, one.as_uri())
    assert "created" in create(4)  # none is open
    assert [tasks_of(folder) for folder in (one, project.folder)] == [2, 2]


def test_in_the_protocol_without_sessions_folders_are_those_of_their_request_alone(
    line, project, place
):
    one, other = place("one"), place("other")
    server = line()

    def create(number, goal, folder=None):
        asked = asking(number, "task_create", goal=goal)
        capabilities = {"roots": {}} if folder else {}
        asked["params"]["_meta"] = {
            **META,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }
        if folder:
            said = {"roots": {"roots": [{"uri": folder.as_uri()}]}}
            asked["params"]["inputResponses"] = said
        server.send(asked)

    create(1, "first", one)
    assert "created" in text_of(server.read())
    create(2, "of nobody's folders")
    assert "created" in text_of(server.read())
    for number in range(10, 30, 2):
        create(number, "g", one)
        create(number + 1, "g", other)
    assert len(server.rest()) == 20
    assert [tasks_of(folder) for folder in (one, other, project.folder)] == [12, 11, 1]


def test_a_client_that_answers_without_its_folders_has_not_said_them(line, project):
    server = line()
    asked = asking(1, "task_create", goal="g")
    asked["params"]["_meta"] = {
        **META,
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    }
    server.send({**asked, "params": {**asked["params"], "inputResponses": {}}})
    assert "[WORKSPACE_REFUSED]" in text_of(server.read())
    server.send({**asked, "id": 2})
    assert server.read()["result"]["inputRequests"]["roots"]["method"] == "roots/list"
    assert tasks_of(project.folder) == 0


def spoilt(folder, how):
    if how == "damaged settings":
        (folder / ".contextspindle" / "config.json").write_text("{broken")
    else:
        (folder / ".contextspindle").rename(folder / "real")
        (folder / ".contextspindle").symlink_to("real")
    return folder


@pytest.mark.parametrize("how", ["damaged settings", "a link"])
def test_an_open_folder_that_cannot_be_used_does_not_shut_out_the_others(inside, place, how):
    one, bad = place("one"), spoilt(place("bad"), how)

    async def served(call):
        assert await goals(call) == "of one"
        assert await goals(call, workspace=str(one)) == "of one"
        named = await call("task_inbox", workspace=str(bad))
        assert named.code in ("INVALID_INPUT", "WORKSPACE_REFUSED")

    async def alone(call):
        said = await call("task_inbox")
        assert said.code in ("INVALID_INPUT", "WORKSPACE_REFUSED")
        assert str(bad) in said.text

    inside(served, list_roots_callback=Asked(bad, one))
    inside(served, list_roots_callback=Asked(one, bad))
    inside(alone, list_roots_callback=Asked(bad))


def test_what_is_refused_of_another_user_is_said_in_the_words_of_tools(inside, place, monkeypatch):
    one, foreign = place("one"), place("foreign")
    monkeypatch.setattr("contextspindle.places.owner", lambda path: 1 + ("foreign" in path))
    monkeypatch.setattr("os.geteuid", lambda: 1)

    async def served(call):
        assert await goals(call) == "of one"

    async def alone(call):
        said = await call("task_inbox")
        assert said.code == "WORKSPACE_REFUSED"
        assert "belongs to another user" in said.text
        assert "--workspace" not in said.text

    inside(served, list_roots_callback=Asked(foreign, one))
    inside(alone, list_roots_callback=Asked(foreign))
