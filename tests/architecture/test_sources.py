"""Rules of the sources that no linter of ours knows: sizes, purity, one reader, no moving state."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator

SMOKE_ALARM = 500
"""Lines; longer is a sign that a file holds two ideas."""
LONGER: dict[str, str] = {}
"""The files that may be longer, each with its reason: three at the most."""


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported anywhere in ``tree``, relative ones with their dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_no_file_sets_off_the_smoke_alarm(root, tracked):
    long = {
        str(path.relative_to(root)): lines
        for path in tracked
        if path.suffix == ".py"
        and (lines := len(path.read_text(encoding="utf-8").splitlines())) > SMOKE_ALARM
    }
    assert long.keys() <= LONGER.keys(), long
    assert LONGER.keys() <= long.keys(), "an exception that is no longer needed"
    assert len(LONGER) <= 3


def test_every_module_opens_with_its_idea(sources):
    without = [
        source.name for source in sources if not ast.get_docstring(source.tree) and source.tree.body
    ]
    assert without == []


def test_every_test_file_says_what_it_holds(root):
    without = [
        str(path.relative_to(root))
        for path in (root / "tests").rglob("*.py")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert without == []


def test_the_core_imports_nothing_that_touches_the_world_not_even_inside_a_function(root, sources):
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    (pure,) = (
        one
        for one in settings["tool"]["importlinter"]["contracts"]
        if one["name"] == "The core is pure"
    )
    forbidden = {*pure["forbidden_modules"], "shutil", "tempfile", "glob", "fcntl", "ctypes"}
    core = [source for source in sources if source.name.startswith("core/")]
    assert len(core) > 10
    found = [
        (source.name, module)
        for source in core
        for module in imported(source.tree)
        if module.partition(".")[0] in forbidden or module.startswith("...")
    ]
    assert found == []


def test_the_core_calls_nothing_that_touches_the_world(sources):
    forbidden = {"open", "print", "input", "__import__", "exec", "eval", "breakpoint"}
    found = [
        (source.name, node.func.id)
        for source in sources
        if source.name.startswith("core/")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in forbidden
    ]
    assert found == []


def test_only_the_settings_read_the_environment(sources):
    names = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv", "expandvars"}
    readers = {
        source.name
        for source in sources
        for node in ast.walk(source.tree)
        if (isinstance(node, ast.Attribute) and node.attr in names)
        or (isinstance(node, ast.ImportFrom) and names & {one.name for one in node.names})
    }
    assert readers == {"config.py"}


MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MAKERS = {"list", "dict", "set", "bytearray", "defaultdict", "deque", "OrderedDict", "Counter"}


def moving_state(tree: ast.Module) -> Iterator[str]:
    """Names bound to a container that are no constants: one caller could change them for all."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            targets = [node.target]
        else:
            continue
        made = node.value
        called = made.func if isinstance(made, ast.Call) else None
        if isinstance(made, MUTABLE) or (isinstance(called, ast.Name) and called.id in MAKERS):
            for target in targets:
                name = target.id if isinstance(target, ast.Name) else ast.unparse(target)
                if not name.isupper() and name != "__all__":
                    yield name
    for node in ast.walk(tree):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names


def test_no_module_keeps_state_that_moves(sources):
    assert {(s.name, name) for s in sources for name in moving_state(s.tree)} == set()


def test_moving_state_is_recognised():
    for line in ("cache = {}", "seen: set[str] = set()", "a.b = []", "_kept = [x for x in y]"):
        assert list(moving_state(ast.parse(line)))
    for line in ("LIMITS = {1: 2}", "_KNOWN: dict[str, int] = {}", "codec = make()", "x = (1,)"):
        assert not list(moving_state(ast.parse(line)))
    assert list(moving_state(ast.parse("def f():\n    global count\n    count = 1")))
