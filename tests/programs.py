"""Programs of others that judge ours, installed once into a cache beside the repository's files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parents[1] / ".live"


def installed(name: str, where: str, *packages: str, tools: tuple[str, ...] = ()) -> str:
    """The path of a program of these npm packages; ``where`` is it in their folder.

    The test is skipped, with the reason, where they or one of ``tools`` cannot be had.
    """
    for tool in ("npm", *tools):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is needed to run {name}")
    folder = CACHE / name
    found = next(folder.glob(where), None)
    if found is None:
        folder.mkdir(parents=True, exist_ok=True)
        ran = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", *packages],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        found = next(folder.glob(where), None)
        if found is None:
            pytest.skip(f"{name} cannot be had here: {ran.stderr.strip()[-200:]}")
    return str(found)
