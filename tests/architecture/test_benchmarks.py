"""The page of benchmarks says what the kept figures say, and every benchmark can be asked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
MEASURING = (
    *("ledger", "in_process", "writers", "workload", "transcripts"),
    *("mcp_server", "memory_recall", "answer_tokens", "memory_speed", "dense_fusion"),
)


def run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BENCHMARKS / f"{name}.py"), *words], capture_output=True, text=True
    )


def test_the_page_is_written_from_the_kept_figures():
    done = run("report", "--check")
    assert (done.returncode, done.stderr) == (0, "")
    page = (ROOT / "docs" / "reference" / "benchmarks.md").read_text()
    for path in sorted((ROOT / "docs" / "reference" / "figures").glob("*.json")):
        assert f"benchmarks/{path.stem}.py" in page
        kept = json.loads(path.read_text())["conditions"]
        assert {"date", "python", "sqlite", "system", "processors"} <= set(kept)


@pytest.mark.parametrize("name", MEASURING)
def test_a_benchmark_says_what_it_measures(name):
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert "--json" in done.stdout
