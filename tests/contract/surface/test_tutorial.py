"""The tutorial and the README, carried out as they stand: each block in its order, in one shell."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.conftest import ROOT

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
_VARIES = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d\.\d{3})?Z"), "TIME"),
    (re.compile(r"\bafter \d+\.\d s"), "after SECONDS"),
    (re.compile(r"\b(bound to|at commit) [0-9a-f]{12}"), r"\1 DIGEST"),
)
_NAMES = re.compile(r"\bt-[0-9a-z]{8}(?:\.[0-9a-z]{16})?\b")
_END = "=== end of what the command said: "


class Shell:
    """One shell in a folder of its own, in which the lines of a page run one after the other."""

    def __init__(self, folder, home, command):
        self._names: dict[str, str] = {}
        self._folder = folder
        path = os.pathsep.join((os.path.dirname(command), os.environ["PATH"]))
        self._process = subprocess.Popen(
            ["/bin/sh"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"HOME": str(home), "PATH": path, "USER": "ada", "TZ": "UTC"},
        )

    def run(self, line):
        """What the line of the page says here, in the words of the page."""
        for theirs, ours in self._names.items():
            line = re.sub(rf"{re.escape(theirs)}(?![.0-9a-z])", ours, line)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\necho '{_END}'$?\n")
        self._process.stdin.flush()
        said = ""
        while _END not in said:
            more = self._process.stdout.readline()
            assert more, "the shell ended"
            said += more
        said, _, status = said.rpartition(_END)
        return said, int(status)

    def learn(self, expected, said):
        """Take the names in what was said for those on the page, in their order."""
        for theirs, ours in zip(_NAMES.findall(expected), _NAMES.findall(said)):
            self._names.setdefault(theirs, ours)

    def in_words_of_the_page(self, said):
        for theirs, ours in self._names.items():
            said = re.sub(rf"{re.escape(ours)}(?![.0-9a-z])", theirs, said)
        said = said.replace(str(self._folder), "/home/ada/importer")
        return said.replace(str(self._folder.parent), "/home/ada")

    def close(self):
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=20) == 0
        assert self._process.stdout is not None
        self._process.stdout.close()


def commands(page, languages=("console",)):
    """Each command of a page with what it is to say; None where the page does not show that."""
    found = []
    for language, block in _BLOCK.findall(page):
        if language not in languages:
            continue
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = part.split("\n")
            size = 1
            while lines[size - 1].endswith("\\"):
                size += 1
            if "<<'END'" in lines[0]:
                size = lines.index("END") + 1
            found.append(("\n".join(lines[:size]), "\n".join(lines[size:]).strip("\n")))
    return found


def pattern(expected):
    """What matches the text of a page, where ``...`` stands for anything."""
    for varies, name in _VARIES:
        expected = varies.sub(name, expected)
    whole = re.escape(expected).replace(re.escape("...") + "\n", "(?:.*\n)*?")
    return re.compile(whole.replace(re.escape("..."), "(?:.|\n)*") + r"\s*")


def steady(said):
    for varies, name in _VARIES:
        said = varies.sub(name, said)
    return "\n".join(line.rstrip() for line in said.split("\n"))


@pytest.fixture
def shell(tmp_path, home, command):
    folder = tmp_path / "importer"
    folder.mkdir()
    made = Shell(folder, tmp_path, command.path)
    yield made
    made.close()


def test_the_tutorial_goes_as_it_says(shell):
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    steps = commands(page)
    assert len(steps) > 25
    for line, expected in steps:
        said, status = shell.run(line)
        shell.learn(expected, said)
        said = shell.in_words_of_the_page(said)
        assert pattern(expected).fullmatch(steady(said)), (line, expected, said)
        refused = "cannot be done" in expected or "ended with status 1" in expected
        assert (status == 0) is not refused, (line, said)


def test_every_command_of_the_readme_does_what_it_shows(shell, tmp_path):
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    sample = ROOT / "examples" / "fuse" / "session.jsonl"
    (tmp_path / "importer" / "session.jsonl").write_bytes(sample.read_bytes())
    shell.run("git init -q .")
    shell.run("mkdir ~/.claude ~/.gemini")  # two programs are found on this machine
    shown = commands(page)
    lines = [line for line, _ in shown]
    for language, block in _BLOCK.findall(page):
        if language == "sh":
            lines += [line for line in block.split("\n") if line.startswith("contextspindle ")]
    assert len(lines) > 12
    expected = dict(shown)
    for line in lines:
        told = expected.get(line, "")
        said, status = shell.run(line)
        shell.learn(told, said)
        said = shell.in_words_of_the_page(said)
        assert not told or pattern(told).fullmatch(steady(said)), (line, told, said)
        assert (status == 0) is not ("cannot be done" in told), (line, said)


def test_what_the_readme_asks_make_for_is_there():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    asked = set(re.findall(r"\bmake ([a-z-]+)", page))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert {"demo", "test", "test-live"} <= asked <= set(targets)
