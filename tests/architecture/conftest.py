"""What the tests of the architecture look at: the repository's files and the package's sources."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTED = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
PACKAGE = ROOT / "src" / "contextspindle"


class Source(NamedTuple):
    """One module of the package."""

    name: str
    tree: ast.Module


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def sources() -> list[Source]:
    """Every module, its name relative to the package, such as ``core/task.py``."""
    found = [
        Source(str(path.relative_to(PACKAGE)), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(PACKAGE.rglob("*.py"))
    ]
    assert len(found) > 30
    return found


@pytest.fixture(scope="session")
def tracked() -> list[Path]:
    """The files that belong to the repository: what git tracks or would."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("needs git and a checkout to tell which files belong to the repository")
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", *LISTED],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]
