"""The reference names every command, error, setting, tool and hook, and its generated pages are
current."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys

import pytest

from contextspindle import config, errors
from contextspindle.cli import full, parse, table
from contextspindle.harness import ADAPTERS, adapter
from contextspindle.mcp_server import tools


@pytest.fixture(scope="module")
def page(root):
    def read(name: str) -> str:
        return (root / "docs" / "reference" / name).read_text(encoding="utf-8")

    return read


def test_the_generated_pages_are_current(root):
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=root, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_a_page_that_is_not_current_is_named(root, tmp_path):
    place = tmp_path / "docs"
    (place / "reference").mkdir(parents=True)
    for name in ("generate.py", "harnesses.py"):
        script = (root / "docs" / name).read_text(encoding="utf-8")
        (place / name).write_text(script, encoding="utf-8")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(place / "generate.py"), *words]
        return subprocess.run(command, capture_output=True, text=True)

    assert run("--check").returncode == 1
    assert run().returncode == 0
    assert run("--check").returncode == 0
    with (place / "reference" / "errors.md").open("a") as file:
        file.write("x")
    done = run("--check")
    assert (done.returncode, done.stdout.split()[0]) == (1, "docs/reference/errors.md")
    assert run("--chek").returncode == 2


# -- errors


def test_every_error_has_a_code_of_its_own():
    codes = [one.code for one in errors.every()]
    assert len(codes) > 20
    assert len(set(codes)) == len(codes)
    assert all(code.replace("_", "").isalpha() and code.isupper() for code in codes)


def test_every_error_has_an_exit_status_that_is_documented(page):
    table_rows = [line for line in page("errors.md").splitlines() if line.startswith("| ")]
    for one in errors.every():
        (row,) = (line for line in table_rows if f"[`{one.code}`]" in line)
        assert row.split("|")[1].strip() == str(one.exit_status)
    for status in (0, errors.BUG_STATUS, errors.INTERRUPT_STATUS, 141):
        assert any(line.startswith(f"| {status} |") for line in table_rows)


@pytest.mark.parametrize("one", errors.every(), ids=lambda one: one.code)
def test_every_error_is_documented_by_its_first_line_and_its_hint(page, one):
    first = inspect.getdoc(one).split("\n")[0]
    assert one.__doc__ != one.__mro__[1].__doc__
    assert first.endswith(".")
    (part,) = (
        part for part in page("errors.md").split("\n## ") if part.startswith(f"{one.code}\n")
    )
    assert first in part
    assert one.hint in part
    assert f"Exit status {one.exit_status}." in part


def test_the_tree_at_the_top_of_the_module_names_every_error():
    tree = errors.__doc__.split("\n\n")[1]
    assert [word for word in tree.split() if word.isidentifier() and word[0].isupper()] == [
        "SpindleError",
        *(one.__name__ for one in errors.every()),
    ]


# -- commands


@pytest.mark.parametrize("one", table.COMMANDS, ids=lambda one: " ".join(one.words))
def test_every_command_is_documented_with_all_it_takes(page, one):
    heading = f"## `contextspindle {' '.join(one.words)}`\n"
    (part,) = (
        part
        for part in ("\n" + page("commands.md")).split("\n## ")
        if f"## {part}".startswith(heading)
    )
    assert one.summary in part
    assert one.details in part
    for place in one.positionals:
        assert f"| `{place.name.upper()}` | {place.help}" in part
    for option in one.options:
        assert f"| `{option.flag}" in part
        assert option.help in part
    for example in one.examples:
        assert f"\n{example}\n" in part


def test_every_global_option_is_documented(page):
    for option in table.GLOBAL_OPTIONS:
        assert f"| `{option.flag}" in page("commands.md")


@pytest.mark.parametrize("one", table.COMMANDS, ids=lambda one: " ".join(one.words))
def test_every_command_has_help_and_examples_that_parse(one):
    assert one.summary.endswith(".")
    assert one.examples
    for example in one.examples:
        program, *words = shlex.split(example.partition(" < ")[0])
        assert program == "contextspindle"
        command, rest = parse.command_of(words)
        assert command == one
        assert full.parse(command, rest) == parse.parse(command, rest)


def test_every_option_and_place_has_help():
    for one in table.COMMANDS:
        for part in (*one.positionals, *one.options):
            assert part.help
            assert part.kind in table.KINDS
        names = [part.name for part in (*one.positionals, *one.options, *table.GLOBAL_OPTIONS)]
        assert len(set(names)) == len(names)


def test_every_command_has_its_documents_described(page):
    for one in table.COMMANDS:
        assert f"\n### `{' '.join(one.words)}`\n" in page("json.md")


# -- tools and hooks


def part_of(page: str, heading: str) -> str:
    (found,) = (part for part in page.split("\n## ") if part.startswith(f"{heading}\n"))
    return found


@pytest.mark.parametrize("one", tools.TOOLS, ids=lambda one: one.name)
def test_every_tool_is_documented_with_all_it_takes(page, one):
    part = part_of(page("mcp.md"), one.name)
    assert one.summary in part
    for argument in one.arguments:
        assert f"\n| `{argument.name}` | " in part
        assert argument.help in part
    assert f"| [`{one.name}`](#{one.name}) | {one.summary} |" in page("mcp.md")


def test_every_command_without_a_tool_is_documented_with_the_reason(page):
    part = part_of(page("mcp.md"), "Commands without a tool")
    for words, reason in tools.WITHOUT_TOOL.items():
        assert f"| `{' '.join(words)}` | {reason}. |" in part


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_hook_that_is_installed_is_documented(page, name):
    hooks = adapter(name).HOOKS
    found = [part for part in page("harnesses.md").split("\n## ") if f"setup {name}`" in part]
    assert len(found) == (1 if hooks or getattr(adapter(name), "PLUGIN", "") else 0)
    for event, _, limit, _ in hooks:
        rows = [line for line in found[0].splitlines() if line.startswith(f"| `{event}`")]
        assert rows
        assert all(row.split("|")[2].strip() == str(limit) for row in rows)


# -- settings


def test_every_setting_and_variable_is_documented(page):
    rows = [line for line in page("settings.md").splitlines() if line.startswith("| `")]
    for variable, setting in config.ENVIRONMENT.items():
        (row,) = (line for line in rows if f"`{variable}`" in line)
        assert (f"`{setting}`" in row) == (setting in config.FILE_SETTINGS)
    for setting in config.FILE_SETTINGS:
        (row,) = (line for line in rows if f"| `{setting}` |" in line)
        assert f"`{getattr(config.Settings(), setting)}`" in row


def test_every_variable_that_the_settings_read_is_documented(root, page):
    source = (root / "src" / "contextspindle" / "config.py").read_text(encoding="utf-8")
    read = set(re.findall(r'environ(?:\.get\(|\[)"([A-Z_]+)"', source)) | config.ENVIRONMENT.keys()
    read |= {variable for variable, _ in config.HARNESS_FOLDERS.values() if variable}
    assert {"HOME", "USER", "CODEX_HOME"} <= read
    assert [name for name in read if f"`{name}`" not in page("settings.md")] == []
