"""Settings: the environment above the file above the defaults, and every mistake named."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from contextspindle import config
from contextspindle.config import ENVIRONMENT, FILE_SETTINGS, Settings
from contextspindle.errors import InvalidInput


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def read(file: Path, content: str | bytes, **environ: str) -> Settings:
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return config.with_file(config.load(environ), str(file), environ)


def test_nothing_set_gives_the_defaults():
    found = config.load({})
    assert (found.workspace, found.actor, found.journal) == ("", "local", "auto")
    assert (found.context_budget, found.fuse_budget) == (2_048, 6_000)


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(file):
    content = '{"actor": "by file", "journal": "wal", "context_budget": 300}'
    found = read(file, content, CONTEXTSPINDLE_ACTOR="by environment")
    assert (found.actor, found.journal, found.context_budget) == ("by environment", "wal", 300)
    assert found.fuse_budget == 6_000


def test_every_variable_sets_its_setting():
    values = {
        "CONTEXTSPINDLE_WORKSPACE": "/somewhere",
        "CONTEXTSPINDLE_ACTOR": "ada",
        "CONTEXTSPINDLE_CLAIM": "t-one.secret",
        "CONTEXTSPINDLE_JOURNAL": "rollback",
        "CONTEXTSPINDLE_CONTEXT_BUDGET": "4096",
        "CONTEXTSPINDLE_FUSE_BUDGET": "700",
        "CONTEXTSPINDLE_DAILY_COPIES": "0",
        "CONTEXTSPINDLE_DAILY_COPY_MB": "128",
        "CONTEXTSPINDLE_REPLY_BYTES": "5000",
        "CONTEXTSPINDLE_MCP_TOKEN": "a word that nobody guesses",
        "CONTEXTSPINDLE_MEMORY_ITEMS": "50",
        "CONTEXTSPINDLE_MEMORY_BYTES": "5000",
    }
    assert values.keys() == ENVIRONMENT.keys()
    found = config.load(values)._asdict()
    assert {name: str(found[ENVIRONMENT[name]]) for name in values} == values


def test_an_empty_variable_sets_nothing():
    assert config.load(dict.fromkeys(ENVIRONMENT, "")) == config.load({})


def test_the_actor_is_the_user_where_none_is_set():
    assert config.load({"USER": "ada", "LOGNAME": "bob"}).actor == "ada"
    assert config.load({"LOGNAME": "bob"}).actor == "bob"
    assert config.load({"USER": "ada", "CONTEXTSPINDLE_ACTOR": "agent 7"}).actor == "agent 7"


@pytest.mark.parametrize("name", ["CONTEXTSPINDLE_ACTOR", "USER"])
def test_an_actor_that_is_not_utf8_is_still_one_that_can_be_stored(name):
    assert config.load({name: os.fsdecode(b"ad\xffa \xc3\xa9")}).actor == "ad\ufffda é"


@pytest.mark.parametrize(
    "actor", ["two\nlines", "two\u2028lines", "\u202ereversed", "x" * 201, " "]
)
def test_an_actor_is_one_line_of_bounded_length(file, actor):
    with pytest.raises(InvalidInput, match="actor must be one line"):
        config.load({"CONTEXTSPINDLE_ACTOR": actor})


@pytest.mark.parametrize("given", ["many", "1.5", "-5", "1_000", "٣", "9" * 5_000])
@pytest.mark.parametrize("name", ["CONTEXTSPINDLE_CONTEXT_BUDGET", "CONTEXTSPINDLE_FUSE_BUDGET"])
def test_a_budget_that_is_no_number_is_refused_under_the_name_of_its_variable(name, given):
    with pytest.raises(InvalidInput, match=name):
        config.load({name: given})


def test_an_unknown_journal_is_refused_with_the_known_ones():
    with pytest.raises(InvalidInput, match="auto, wal, rollback"):
        config.load({"CONTEXTSPINDLE_JOURNAL": "memory"})


# -- the file


def test_a_file_that_is_not_there_sets_nothing(file):
    assert config.with_file(Settings(), str(file), {}) == Settings()


def test_a_byte_order_mark_before_the_file_is_no_matter(file):
    assert read(file, b'\xef\xbb\xbf{"actor": "ada"}').actor == "ada"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ('{"actor": "a"} x', "is not JSON"),
        (b'{"actor": "\xff"}', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "must hold one JSON object"),
        ('{"aktor": "a"}', "'aktor' is not a setting"),
        ('{"workspace": "/x"}', "'workspace' is not a setting"),
        ('{"actor": 1}', "'actor' must be text"),
        ('{"context_budget": true}', "'context_budget' must be a whole number"),
        ('{"context_budget": "300"}', "'context_budget' must be a whole number"),
        ('{"journal": "memory"}', "journal must be one of"),
        ('{"actor": "a\\nb"}', "actor must be one line"),
        ('{"actor": "\\ud800"}', "actor must be one line"),
    ],
)
def test_a_mistake_in_the_file_is_refused_and_the_file_named(file, content, said):
    with pytest.raises(InvalidInput) as caught:
        read(file, content)
    assert said in caught.value.message
    assert str(file) in caught.value.message


def test_every_setting_of_the_file_is_a_setting():
    assert FILE_SETTINGS.keys() <= set(Settings._fields)
    assert set(ENVIRONMENT.values()) <= set(Settings._fields)
    for name, kind in FILE_SETTINGS.items():
        assert type(getattr(Settings(), name)) is kind


# -- home and state


def test_home_is_resolved_and_must_exist(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    assert config.load({"HOME": str(tmp_path / "alias")}).home == str(tmp_path / "real")
    for nowhere in ("", "relative", str(tmp_path / "gone")):
        found = config.load({"HOME": nowhere})
        assert (found.home, found.state) == ("", "")


def test_without_the_variable_home_is_what_the_system_says():
    told = pwd.getpwuid(os.getuid()).pw_dir
    assert config.load({}).home == (os.path.realpath(told) if os.path.isdir(told) else "")


def test_the_state_folder_follows_the_xdg_specification(tmp_path):
    home = str(tmp_path)
    assert config.load({"HOME": home}).state == f"{home}/.local/state/contextspindle"
    assert config.load({"HOME": home, "XDG_STATE_HOME": "/s"}).state == "/s/contextspindle"
    relative = config.load({"HOME": home, "XDG_STATE_HOME": "s"}).state
    assert relative == f"{home}/.local/state/contextspindle"
    assert config.load({"HOME": "", "XDG_STATE_HOME": "/s"}).state == "/s/contextspindle"


def test_the_temporary_folders_are_known_by_their_real_paths(tmp_path):
    (tmp_path / "alias").symlink_to(tmp_path)
    assert str(tmp_path) in config.load({"TMPDIR": str(tmp_path / "alias")}).temporary
    assert os.path.realpath("/tmp") in config.load({}).temporary


@pytest.mark.parametrize("given", ["1999", "1000001", "0", "many"])
def test_a_bound_of_replies_that_no_client_could_use_is_refused(given):
    with pytest.raises(InvalidInput):
        config.load({"CONTEXTSPINDLE_REPLY_BYTES": given})


def test_the_project_of_a_session_is_what_its_program_says():
    assert config.load({}).projects == ()
    assert config.load({"CLAUDE_PROJECT_DIR": "", "FACTORY_PROJECT_DIR": "/b"}).projects == ("/b",)
    both = config.load({"CLAUDE_PROJECT_DIR": "/a", "FACTORY_PROJECT_DIR": "/b"})
    assert both.projects == ("/a", "/b")


def test_where_other_programs_keep_their_settings_follows_their_variables_and_the_home(tmp_path):
    home = {"HOME": str(tmp_path)}
    plain = config.load(home)
    assert plain.config_home == f"{plain.home}/.config"
    moved = {**home, "XDG_CONFIG_HOME": "/c", "CLAUDE_CODE_SESSION_ID": "s"}
    found = config.load(moved)
    assert (found.config_home, found.session) == ("/c", "s")
    for name, (variable, folder) in config.HARNESS_FOLDERS.items():
        assert plain.folders[name] == f"{plain.home}/{folder}"
        assert not variable or config.load({**home, variable: "/a"}).folders[name] == "/a"
        assert config.load({"HOME": "/nowhere"}).folders[name] == ""
