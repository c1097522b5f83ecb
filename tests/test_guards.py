"""The guards of conftest.py hold: no home folder, no network, no settings, no moving clock."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from contextspindle import config, workspace


def test_home_is_a_folder_of_the_test_and_empty(home, tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    assert Path(os.path.expanduser("~")) == home
    assert base in home.parents
    assert list(home.iterdir()) == []
    assert config.load().home == os.path.realpath(home)


def test_the_state_folder_lies_in_the_home_of_the_test(home):
    assert config.load().state == str(home / "state" / "contextspindle")


def test_two_tests_have_two_homes_a(home):
    (home / "trace").write_text("left by another test")


def test_two_tests_have_two_homes_b(home):
    assert not (home / "trace").exists()


def test_no_setting_of_the_person_who_runs_the_tests_is_seen():
    assert [name for name in os.environ if name.startswith(("CONTEXTSPINDLE_", "GIT_"))] == []
    assert config.load().actor == "tester"


def test_a_setting_made_by_one_test_is_gone_in_the_next_a():
    os.environ["CONTEXTSPINDLE_ACTOR"] = "left behind"


def test_a_setting_made_by_one_test_is_gone_in_the_next_b():
    assert "CONTEXTSPINDLE_ACTOR" not in os.environ


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_connection_off_this_machine_is_refused(family):
    address = "192.0.2.1" if family == socket.AF_INET else "2001:db8::1"
    with socket.socket(family) as one, pytest.raises(AssertionError, match="no network"):
        one.connect((address, 9))


def test_a_datagram_off_this_machine_is_refused():
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one,
        pytest.raises(AssertionError, match="no network"),
    ):
        one.sendto(b"x", ("192.0.2.1", 9))


def test_a_socket_open_to_other_machines_is_refused():
    with socket.socket() as one, pytest.raises(AssertionError, match="no network"):
        one.bind(("0.0.0.0", 0))


def test_a_name_is_not_looked_up():
    with pytest.raises(AssertionError, match="no network"):
        socket.getaddrinfo("host.invalid", 80)


def test_loopback_and_unix_sockets_work(tmp_path, monkeypatch):
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())
    monkeypatch.chdir(tmp_path)  # the path of a Unix socket is short
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind("here")
        server.listen()
        client.connect("here")


def test_the_clock_stands_until_it_is_moved(clock):
    before = clock()
    assert clock() == before
    clock.forward(5)
    assert clock() == before + 5


def test_ids_are_counted_and_valid(ids):
    from contextspindle.core.task import is_id

    found = [ids() for _ in range(100)]
    assert found[:2] == ["t-00000001", "t-00000002"]
    assert len(set(found)) == 100
    assert all(map(is_id, found))


def test_hypothesis_tries_the_same_examples_every_time():
    assert settings.default.derandomize
    assert settings.default.database is None
    assert settings.default.deadline is None


def test_the_repository_gets_no_files_of_hypothesis():
    from hypothesis.configuration import storage_directory

    root = Path(__file__).resolve().parent.parent
    assert root not in Path(storage_directory().path).resolve().parents


def test_the_command_runs_in_the_folder_of_the_test_and_sees_its_home_only(command, home, tmp_path):
    assert tmp_path in command.folder.parents
    assert command.environment["HOME"] == str(home)
    assert not any(name.startswith("CONTEXTSPINDLE_") for name in command.environment)
    result = command("init", "--json")
    assert result.status == 0
    assert Path(result.data["root"]) == command.folder.resolve()


def test_no_workspace_is_found_above_the_folder_of_a_test(tmp_path):
    from contextspindle.errors import WorkspaceNotFound

    with pytest.raises(WorkspaceNotFound):
        workspace.find(start=str(tmp_path))


def test_tests_of_recorded_material_are_skipped_with_the_reason_where_it_is_absent(tmp_path):
    case = tmp_path / "test_case.py"
    case.write_text(
        "import pytest\n"
        "@pytest.mark.real_data\n"
        "def test_one(): raise AssertionError\n"
        "def test_two(data_folder): raise AssertionError\n"
    )
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-rs", "-c", str(root / "pyproject.toml")),
            *("--rootdir", str(root), "--confcutdir", str(root), "-p", "no:randomly"),
            *("--basetemp", str(tmp_path / "base"), "--noconftest", "-p", "tests.conftest"),
            str(case),
        ],
        cwd=root,
        env={**os.environ, "CONTEXTSPINDLE_TEST_DATA": str(tmp_path / "absent")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 skipped" in done.stdout, done.stdout + done.stderr
    assert "CONTEXTSPINDLE_TEST_DATA" in done.stdout
