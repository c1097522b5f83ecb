"""The repository holds the product and nothing else: its front door, and no trace of a workshop."""

from __future__ import annotations

import pwd
import re
from pathlib import Path

FRONT_DOOR = {
    *("README.md", "README_CN.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("CODE_OF_CONDUCT.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "Makefile"),
    *(
        ".ci",
        ".gitignore",
        ".mcp.json",
        "src",
        "scripts",
        "tests",
        "benchmarks",
        "docs",
        "examples",
    ),
    "integrations",
}
"""What may stand at the root; ARCHITECTURE.md says what each is for."""

PEOPLE = {"ada"}
"""Whose home folders the examples speak of: nobody's."""

# Written so that this file does not find itself.
HOMES = re.compile(r"/(?:home|Users)/([a-z][\w.-]*)|(/" + r"root)/|[A-Z]:\\+Users\\+(\w+)")
MARKERS = re.compile(r"(?:#|//|<!--|--)\s*(?:TO" + r"DO|HA" + r"CK)\b|\bFIX" + r"ME\b")


def texts(tracked: list[Path]) -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8", errors="replace") for path in tracked}


def test_only_what_is_known_stands_at_the_root(root, tracked):
    found = {path.relative_to(root).parts[0] for path in tracked}
    assert found - FRONT_DOOR == set()


def test_no_file_names_a_home_folder_of_a_real_machine(root, tracked):
    own = {str(root), pwd.getpwuid(root.stat().st_uid).pw_dir} - {"/"}
    found = []
    for path, text in texts(tracked).items():
        hits = {match[0] for match in HOMES.finditer(text) if match[1] not in PEOPLE}
        hits |= {folder for folder in own if f"{folder}/" in text}
        found += [(str(path.relative_to(root)), hit) for hit in sorted(hits)]
    assert found == []


def test_no_file_is_marked_as_unfinished(root, tracked):
    found = [
        (str(path.relative_to(root)), match[0])
        for path, text in texts(tracked).items()
        for match in MARKERS.finditer(text)
    ]
    assert found == []


def test_the_patterns_find_what_they_are_for():
    for text in ("/home/" + "bob/x", "/Users/" + "bob", "/ro" + "ot/x", "C:\\Users\\" + "bob"):
        assert HOMES.search(text)
    for text in ("# TO" + "DO later", "//TO" + "DO: later", "FIX" + "ME(bob)"):
        assert MARKERS.search(text)
    assert not MARKERS.search("TO" + "DO: the kind of a to-do list")


def test_every_text_ends_with_one_line_feed_and_uses_no_carriage_return(root, tracked):
    found = []
    for path in tracked:
        content = path.read_bytes()
        if path.suffix in (".py", ".md", ".sql", ".toml", ".sh") and (
            b"\r" in content or (content and not content.endswith(b"\n")) or content[-2:] == b"\n\n"
        ):
            found.append(str(path.relative_to(root)))
    assert found == []
