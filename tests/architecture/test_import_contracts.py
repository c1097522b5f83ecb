"""The import contracts of pyproject.toml are kept, and each one really bites."""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import contextspindle
from contextspindle import harness
from contextspindle.cli import parse, table

pytest.importorskip("importlinter", reason="needs import-linter")

LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"


def contracts(root: Path) -> list[dict]:
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["tool"]["importlinter"]["contracts"]


@pytest.fixture
def copy(root, tmp_path) -> Path:
    """A copy of the package and its contracts, to look at and to spoil."""
    shutil.copytree(
        root / "src" / "contextspindle",
        tmp_path / "contextspindle",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy(root / "pyproject.toml", tmp_path)
    return tmp_path


def verdicts(copy: Path) -> dict[str, bool]:
    """Whether each contract is kept, by its name."""
    done = subprocess.run(
        [sys.executable, "-c", LINT],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
    )
    found = {}
    for one in contracts(copy):
        kept = f"{one['name']} KEPT" in done.stdout
        assert kept != (f"{one['name']} BROKEN" in done.stdout), done.stdout + done.stderr
        found[one["name"]] = kept
    assert (done.returncode == 0) == all(found.values())
    return found


def test_every_contract_is_kept(copy):
    broken = [name for name, kept in verdicts(copy).items() if not kept]
    assert broken == []


SPOILED = [
    ("core/text.py", "import os", "The core is pure"),
    ("core/text.py", "def f():\n    import subprocess", "The core is pure"),
    ("core/task.py", "if TYPE_CHECKING:\n    from ..store import lock", "Arrows point down"),
    ("actions/ledger.py", "from ..store import lock", "Arrows point down"),
    ("ports.py", "from . import config", "Arrows point down"),
    ("actions/ledger.py", "import sqlite3", "Databases are spoken to in the store only"),
    ("workspace.py", "import _sqlite3", "Databases are spoken to in the store only"),
    (
        "cli/task.py",
        "from ..store import lock",
        "Surfaces reach stores and harnesses through the workspace",
    ),
    (
        "cli/fuse.py",
        "def f():\n    from ..harness import adapter",
        "Surfaces reach stores and harnesses through the workspace",
    ),
    ("trackers/beads.py", "from ..store import lock", "Arrows point down"),
    (
        "cli/adopt.py",
        "from ..trackers import gather",
        "Surfaces reach stores and harnesses through the workspace",
    ),
    ("mcp_server/calls.py", "from ..cli import task", "Arrows point down"),
    ("rendering.py", "from .mcp_server import tools", "Arrows point down"),
    (
        "mcp_server/client.py",
        "from ..store import lock",
        "Surfaces reach stores and harnesses through the workspace",
    ),
    ("cli/task.py", "import anyio", "The MCP SDK is spoken to in the MCP server only"),
    (
        "rendering.py",
        "def f():\n    from rich.text import Text",
        "A person's terminal is drawn on in one module",
    ),
    ("utils.py", "", "Arrows point down"),
]


@pytest.mark.parametrize(("module", "added", "name"), SPOILED, ids=lambda part: part[:30])
def test_a_forbidden_import_breaks_its_contract(copy, module, added, name):
    path = copy / "contextspindle" / module
    before = path.read_text(encoding="utf-8") if path.exists() else '"""Ideas without a home."""\n'
    path.write_text(f"{before}\n{added}\n", encoding="utf-8")
    assert not verdicts(copy)[name]


def test_each_contract_is_shown_to_bite(root):
    bitten = {name for _, _, name in SPOILED}
    assert bitten == {one["name"] for one in contracts(root)}


# -- what the linter cannot see


@pytest.mark.parametrize("one", table.COMMANDS, ids=lambda one: " ".join(one.words))
def test_every_function_that_the_table_names_is_there_and_says_what_it_does(one):
    module = importlib.import_module(f"contextspindle.cli.{one.module}")
    function = getattr(module, one.function)
    assert function.__module__ == module.__name__
    assert function.__doc__
    assert function.__code__.co_argcount == 1


def test_a_module_serves_one_noun_or_commands_that_have_none():
    nouns: dict[str, set[str]] = {}
    for one in table.COMMANDS:
        noun = one.words[0] if len(one.words) > 1 else ""
        nouns.setdefault(one.module, set()).add(noun)
    assert [module for module, found in nouns.items() if len(found) > 1] == []


@pytest.mark.parametrize("one", table.COMMANDS, ids=lambda one: " ".join(one.words))
def test_a_command_is_found_by_its_words_in_the_part_of_the_table_that_they_lead_to(one):
    assert parse.find([*one.words, "more"]) == (one, len(one.words))


def test_no_command_is_declared_twice_and_none_hides_another():
    words = [one.words for one in table.COMMANDS]
    assert len(set(words)) == len(words)
    assert not [(a, b) for a in words for b in words if a != b and b[: len(a)] == a]


@pytest.mark.parametrize("name", harness.ADAPTERS)
def test_every_harness_of_the_registry_offers_the_whole_contract(name):
    adapter = harness.adapter(name)
    assert name == adapter.NAME
    for promised in ("find", "read", "recognises", "parse_event", "injection"):
        assert callable(getattr(adapter, promised))


def test_only_known_places_load_a_module_by_name(sources):
    """A module named by a string escapes the linter, so each such place is known."""
    found = {
        source.name
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", ""))
        in ("__import__", "import_module", "exec", "eval")
    }
    assert found == {
        "__init__.py",
        "cli/__init__.py",
        "harness/__init__.py",
        "store/driver.py",
        "trackers/__init__.py",
    }


def test_every_name_of_the_public_interface_is_there_and_no_other_is_shown():
    assert contextspindle.__all__ == sorted(contextspindle.__all__)
    for name in contextspindle.__all__:
        assert getattr(contextspindle, name)
    assert dir(contextspindle) == contextspindle.__all__
    with pytest.raises(AttributeError):
        _ = contextspindle.no_such_name
