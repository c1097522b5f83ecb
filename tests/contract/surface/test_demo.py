"""The demonstration: the same every time, quick, and nothing of it stays."""

from __future__ import annotations

import pytest

from contextspindle.cli import Call
from contextspindle.cli.demo import demo
from contextspindle.core import scenario
from contextspindle.errors import StoreUnavailable


def test_the_scenario_is_the_same_every_time_and_says_each_fact_once():
    content = scenario.transcript()
    assert content == scenario.transcript()
    assert content.count(b"\n") == scenario.MESSAGES == 95
    assert abs(len(content) - scenario.BYTES) < 2_000
    assert len(scenario.FACTS) == 14
    assert [content.count(fact.words.encode()) for fact in scenario.FACTS] == [1] * 14


def test_the_demo_shows_what_each_budget_keeps_and_which_sections_went(command):
    data = command("fuse", "demo", "--json").data
    assert [row["budget"] for row in data["rows"]] == [600, 1_000, 1_500, 2_000, 6_000]
    assert data["transcript"]["messages"] == 95
    for row in data["rows"]:
        assert row["bytes"] <= row["budget"]
        assert row["kept"] + len(row["missing"]) == 14
        assert set(row["gone"]) | set(row["sections"]) == set(data["rows"][-1]["sections"])
    kept = [row["kept"] for row in data["rows"]]
    assert kept == sorted(kept)
    assert kept[-1] == 14
    kinds = [fact["kind"] for fact in data["rows"][0]["missing"]]
    assert not {"goal", "last request"} & set(kinds)
    assert command("fuse", "demo", "--json").data == data


def test_the_demo_s_table_has_a_line_for_each_budget(command):
    shown = command("fuse", "demo").out.decode()
    for budget in ("600", "1,000", "1,500", "2,000", "6,000"):
        assert any(line.split()[:1] == [budget] for line in shown.split("\n"))
    assert "14 facts that are each said once" in shown
    assert max(map(len, shown.split("\n"))) <= 80


def test_the_demo_s_table_marks_for_each_fact_under_which_budgets_it_is_kept(command):
    data = command("fuse", "demo", "--json").data
    shown = command("fuse", "demo").out.decode().split("\n")
    for fact in scenario.FACTS:
        (line,) = [line for line in shown if line.endswith(f"  {fact.kind}: {fact.words}")]
        missing = [fact._asdict() in row["missing"] for row in data["rows"]]
        assert line.split()[:5] == ["-" if one else "x" for one in missing], fact


def test_the_demo_leaves_the_workspace_and_the_temporary_folder_as_they_were(project, home):
    project("task", "create", "Ship it")
    before = {path: path.stat().st_mtime_ns for path in project.folder.rglob("*")}
    temporary = {path for path in home.iterdir() if "demo" in path.name}
    assert project("fuse", "demo").status == 0
    assert {path: path.stat().st_mtime_ns for path in project.folder.rglob("*")} == before
    assert {path for path in home.iterdir() if "demo" in path.name} == temporary
    assert "Nothing was saved here yet" in project("fuse", "status").out.decode()


def test_without_a_temporary_folder_the_demo_says_so(command, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(StoreUnavailable, match="needs a temporary folder"):
        demo(Call({}, [], [], []))
