"""The pages as a whole: links lead somewhere, every page is listed, both READMEs say the same."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter

import pytest

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


@pytest.fixture(scope="module")
def links(root):
    """The script ``docs/links.py`` as a module."""
    spec = importlib.util.spec_from_file_location("links", root / "docs" / "links.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_link_of_every_page_leads_somewhere(links, root):
    assert links.broken(root) == []


def test_a_link_that_leads_nowhere_is_named_with_its_page(links, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "notes.txt").write_text("notes\n")
    (tmp_path / "docs" / "b.md").write_text(
        "# `b` and [c](../a.md)\n\n## Twice\n\n## Twice\n\n"
        "```sh\n# no heading\n```\n\n[u]: ../a.md\n"
    )
    (tmp_path / "a.md").write_text(
        "[ok](docs/b.md#b-and-c) [ok](docs/b.md#twice-1 'x') [ok](notes.txt)\n"
        "[ok](https://a.example)\n"
        "[two\nlines](docs/b.md) `[code](gone.md)` [one](gone.md) [two](docs/b.md#twice-2)\n"
        "[three](docs/b.md#no-heading) [four](#top) [five](../outside.md) [six](docs)\n\n"
        "```\n[code](gone.md)\n```\n\n[seven]: gone.txt\n[eight](gone.md 'x')\n"
    )
    assert links.broken(tmp_path) == [
        "a.md: gone.md is no file",
        "a.md: docs/b.md#twice-2 is no heading of that page",
        "a.md: docs/b.md#no-heading is no heading of that page",
        "a.md: #top is no heading of that page",
        "a.md: ../outside.md leads out of the repository",
        "a.md: docs is no file",
        "a.md: gone.txt is no file",
        "a.md: gone.md is no file",
    ]


def test_every_page_is_in_the_index_or_in_the_list_of_decisions(links, root):
    index = root / "docs" / "index.md"
    decisions = root / "docs" / "decisions" / "README.md"
    listed = {index}
    for page in (index, decisions):
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"^- \[[^\]]*\]\(([^)#]+)\)", text, re.M):
            listed.add((page.parent / link).resolve())
    # What the product writes for agents is not about it.
    pages = {page for page in links.pages(root) if not page.is_relative_to(root / "src")}
    assert {str(page.relative_to(root)) for page in pages ^ listed} == set()


# -- the README in two languages


def without_comments(block: str) -> str:
    return re.sub(r"\s+# .*$", "", block, flags=re.M)


def outline(text: str) -> dict[str, object]:
    """What does not depend on the language: blocks, links, words in code, levels of headings."""
    prose = BLOCK.sub("", text)
    targets = Counter(re.findall(r"\]\(([^)]+)\)", prose))
    del targets["README.md"], targets["README_CN.md"]
    return {
        "blocks": [(kind, without_comments(block)) for kind, block in BLOCK.findall(text)],
        "comments": [block.count("# ") for _, block in BLOCK.findall(text)],
        "links": targets,
        "code": Counter(re.findall(r"`([^`\n]+)`", prose)),
        "headings": re.findall(r"^(#+) ", prose, re.M),
        "items": len(re.findall(r"^- ", prose, re.M)),
        "figures": Counter(re.findall(r"\d[\d,.]*\d", re.sub(r"\]\([^)]*\)", "]", prose))),
    }


def test_the_chinese_readme_has_the_commands_links_and_figures_of_the_english_one(root):
    english = (root / "README.md").read_text(encoding="utf-8")
    chinese = (root / "README_CN.md").read_text(encoding="utf-8")
    assert "](README_CN.md)" in english
    assert "](README.md)" in chinese
    expected, found = outline(english), outline(chinese)
    for part, value in expected.items():
        assert found[part] == value, part


@pytest.mark.parametrize("name", ["README.md", "README_CN.md"])
def test_whatever_is_run_for_a_submission_stands_in_the_readmes(root, name):
    ran = re.findall(r"^make \S+", (root / ".ci" / "run").read_text(encoding="utf-8"), re.M)
    page = (root / name).read_text(encoding="utf-8")
    assert ran
    assert [one for one in ran if f"{one} " not in page and f"`{one}`" not in page] == []
