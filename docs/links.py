"""Looks whether every link of every Markdown file of the repository leads somewhere.

``python docs/links.py`` names each one that does not, and ends with status 1 if there is one.  A
link leads to a file of the repository, and to a heading of it if it has a ``#``; not to a folder,
for which the site has no page.  Addresses of the net are not asked for.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
NOT_OURS = {"build", "dist", "node_modules", "__pycache__"}
"""Folders of what is made; so are those whose name begins with a dot."""

_CODE = re.compile(
    r"^( {0,3}(?:```+|~~~+)).*?^\1[`~]*\s*$|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)", re.M | re.S
)
_LINK = re.compile(
    r"\]\(<?([^)\s>]+)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)|^ {0,3}\[[^\]\n]+\]:\s+(\S+)", re.M
)
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$", re.M)
_FENCE = re.compile(r"^( {0,3}(?:```+|~~~+)).*?^\1[`~]*\s*$", re.M | re.S)


def pages(root: Path) -> list[Path]:
    """Every Markdown file under ``root``, in a steady order."""
    found = []
    for folder, names, files in os.walk(root):
        names[:] = sorted(n for n in names if not n.startswith(".") and n not in NOT_OURS)
        found += [Path(folder, name) for name in sorted(files) if name.endswith(".md")]
    return found


def anchors(text: str) -> set[str]:
    """What can stand behind ``#`` in a link to a page: its headings, as they become addresses."""
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCE.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        plain = "".join(one for one in words if one.isalnum() or one in " -_").replace(" ", "-")
        name, again = plain, 0
        while name in found:
            again += 1
            name = f"{plain}-{again}"
        found.add(name)
    return found


def links(text: str) -> list[str]:
    """Where the links of a page lead; what stands in code is no link."""
    shown = _CODE.sub("", text)
    return [inline or defined for inline, defined in _LINK.findall(shown)]


def broken(root: Path) -> list[str]:
    """Each link under ``root`` that leads nowhere, as ``page: link, and why``."""
    texts = {path: path.read_text(encoding="utf-8") for path in pages(root)}
    known = {path: anchors(text) for path, text in texts.items()}
    found = []
    for page, text in texts.items():
        for link in links(text):
            if re.match(r"[a-z]+:", link):
                continue
            place, _, heading = unquote(link).partition("#")
            target = Path(os.path.normpath(page.parent / place)) if place else page
            if not target.is_relative_to(root):
                why = "leads out of the repository"
            elif not target.is_file():
                why = "is no file"
            elif heading and heading not in known.get(target, set()):
                why = "is no heading of that page"
            else:
                continue
            found.append(f"{page.relative_to(root)}: {link} {why}")
    return found


def main() -> int:
    found = broken(ROOT)
    sys.stdout.write("".join(f"{line}\n" for line in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
