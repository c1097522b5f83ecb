"""The other Pythons of this machine: one of each minor version that the package is for.

Run by a Python, it names the others, a version and a path a line: with each of them
`make test-pythons` tries the tests that could tell them apart.  Looked for are the names on the
PATH, and the folders in which pyenv and uv keep theirs.  One without SQLite's full text search or
without `venv` is passed over, and told.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
ASK = """
import sys
if sys.version_info[:2] >= (3, 11):
    import ensurepip, sqlite3, venv
    sqlite3.connect(":memory:").execute("CREATE VIRTUAL TABLE t USING fts5(text)")
print(*sys.version_info[:2], sys.version_info.releaselevel == "final")
"""


def candidates() -> list[str]:
    """Every file that may be a Python, without asking it."""
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv"))
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local" / "share" / "uv" / "python"))
    named = [shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], OLDEST[1] + 20)]
    kept = [*pyenv.glob("versions/*/bin/python3"), *uv.glob("*/bin/python3")]
    return [path for path in named if path] + sorted(map(str, kept))


def version(path: str) -> tuple[int, int] | None:
    """The minor version of a Python that can run us; None for any other, or an unfinished one."""
    try:
        asked = subprocess.run(
            [path, "-I", "-c", ASK], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError:
        return None
    said = asked.stdout.split()
    if asked.returncode or len(said) != 3:
        if "ModuleNotFoundError" in asked.stderr or "no such module" in asked.stderr:
            print(f"passed over: {path}: {asked.stderr.splitlines()[-1]}", file=sys.stderr)
        return None
    major, minor, final = said
    found = int(major), int(minor)
    return found if found >= OLDEST and final == "True" else None


def others() -> dict[tuple[int, int], str]:
    """A Python for each minor version but the one that runs this."""
    found: dict[tuple[int, int], str] = {}
    for path in candidates():
        one = version(path)
        if one and one != sys.version_info[:2]:
            found.setdefault(one, path)
    return dict(sorted(found.items()))


if __name__ == "__main__":
    for (major, minor), path in others().items():
        print(f"{major}.{minor} {path}")
