"""Builds the library with which a command dies, tears a write or finds the disk full."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def fault_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled fault.c; the tests that want it are skipped where it cannot be had."""
    if sys.platform != "linux":
        pytest.skip("faults are injected with LD_PRELOAD, which only Linux has here")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("faults need a C compiler: install cc or gcc")
    library = tmp_path_factory.mktemp("fault") / "fault.so"
    source = Path(__file__).with_name("fault.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library
