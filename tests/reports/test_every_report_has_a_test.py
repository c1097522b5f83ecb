"""Each report on the core and the set-up in these areas has a test of its id."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest

AREAS = (
    *("ledger", "search", "security", "wishes"),
    *("compaction-content", "compaction-hooks", "session-identity", "transcript-parsing"),
    *("install", "mcp", "memory-bounds"),
)
STAGES = ("core", "install")
"""What is there by now: the core, set-up, and the MCP server."""


@pytest.fixture(scope="module")
def reports(data_folder) -> dict[str, str]:
    """The area of each report on what is there; those on the MCP server are of one area."""
    with (data_folder / "bug-reports.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = {row["id"]: row["area"] for row in rows if row["stage"] in STAGES}
    return found | {row["id"]: "mcp" for row in rows if "mcp" in (row["stage"], row["area"])}


def ids_of(area: str) -> set[str]:
    """The ids by which the tests of an area are named."""
    path = Path(__file__).with_name(f"test_{area.replace('-', '_')}_reports.py")
    return {
        node.name.split("_")[1].upper()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.real_data
@pytest.mark.parametrize("area", AREAS)
def test_every_report_of_the_area_has_a_test(reports, area):
    wanted = {one for one, found in reports.items() if found == area}
    assert wanted
    assert wanted - ids_of(area) == set()


@pytest.mark.real_data
@pytest.mark.parametrize("area", AREAS)
def test_every_test_is_named_by_a_report_of_its_area(reports, area):
    assert {one for one in ids_of(area) if reports.get(one) != area} == set()
