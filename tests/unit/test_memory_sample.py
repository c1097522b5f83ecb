"""The made-up conversation of the benchmark is found as well as it was when it was written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The figures of the sample at each capacity, by items and by bytes."""
    out = tmp_path_factory.mktemp("figures") / "figures.json"
    subprocess.run(
        [
            *(sys.executable, str(BENCHMARKS / "memory_recall.py")),
            *(str(BENCHMARKS / "memory_sample.json"), "--json", str(out)),
        ],
        capture_output=True,
        check=True,
    )
    found = json.loads(out.read_text())["results"]
    return {(one["by"], one["share"]): one for one in found}


def test_the_whole_memory_finds_all_that_is_asked(results):
    found = results["items", 100]["kinds"]["all"]
    assert found["questions"] == 20
    assert found["recall@5"] == 1
    assert found["recall@1"] >= 0.6
    assert found["session@1"] >= 0.95


def test_a_quarter_of_the_room_keeps_more_than_a_quarter(results):
    assert results["items", 25]["kinds"]["all"]["recall@10"] >= 0.3
    assert results["bytes", 25]["kinds"]["all"]["recall@10"] >= 0.4
    assert results["bytes", 25]["gists"] > 0
    assert results["items", 50]["kinds"]["all"]["recall@10"] >= 0.6
