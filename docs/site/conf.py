"""How Sphinx makes the site of the Markdown files as they stand; ``make docs`` runs it.

The source is the whole repository, so that a link that works in the files works on the site.  The
menu is read from the lists of ``docs/index.md``: a page that is in none of them fails the build, as
every warning does.  Nothing on the site comes from another host.
"""

from __future__ import annotations

import os
import re
from typing import Any

from sphinx.application import Sphinx

INDEX = "docs/index"
DECISIONS = "docs/decisions/README"
CHINESE = "README_CN"

project = "ContextSpindle"
html_title = project
language = "en"
extensions = ["myst_parser"]
root_doc = INDEX
include_patterns = ["*.md", "docs/**.md", "examples/**.md", "integrations/**.md", "tests/*.md"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]  # a page about a page may begin below its title

smartquotes = False  # an option is typed with two hyphens, so that is what is shown
html_theme = "furo"
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_extra_path = ["root"]
html_static_path = ["static"]
html_css_files = ["site.css"]
pygments_style = "default"
pygments_dark_style = "github-dark"


def menu(index: str) -> str:
    """The lists of the index page as Sphinx's menu: a heading each, and its pages in order."""
    sections = re.split(r"^## ", index, flags=re.M)[1:]
    return "\n\n".join(tree(one, "docs", one.partition("\n")[0]) for one in sections)


def tree(text: str, folder: str, caption: str = "") -> str:
    """The pages that the items of a list begin with, as one part of the menu."""
    items = re.findall(r"^- \[([^\]]*)\]\(([^)#]+)\.md\)", text, re.M)
    pages = [f"{name} </{os.path.normpath(f'{folder}/{target}')}>" for name, target in items]
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["```{toctree}", *options, "", *pages, "```"])


def with_menu(app: Sphinx, name: str, source: list[str]) -> None:
    """Append the menu to the page that lists what is in it."""
    if name == INDEX:
        source[0] += "\n\n" + menu(source[0])
    elif name == DECISIONS:
        source[0] += "\n\n" + tree(source[0], os.path.dirname(DECISIONS))


def in_its_language(
    app: Sphinx, name: str, template: str, context: dict[str, Any], tree: object
) -> None:
    """Say that the Chinese page is Chinese, so that its characters are drawn so."""
    if name == CHINESE:
        context["language"] = "zh-CN"


def setup(app: Sphinx) -> None:
    app.connect("source-read", with_menu)
    app.connect("html-page-context", in_its_language)
