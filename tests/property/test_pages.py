"""Parts of any text, put together, are the text; each travels within its bound."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from contextspindle.mcp_server import pages

LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=400), max_size=40)


@given(LINES, st.integers(pages.AROUND + 200, 5_000))
def test_parts_make_the_whole_within_their_bound(lines, limit):
    whole = "\n".join(lines)
    shown, cursor = "", ""
    for _ in range(10_000):
        part = pages.part(whole, limit, cursor)
        travels = len(json.dumps([part.shown, part.note], ensure_ascii=False).encode())
        assert travels <= limit
        shown += part.shown
        more = re.search(r"cursor: (\S+)\]$", part.note)
        if not more:
            break
        assert part.shown
        cursor = more[1]
    assert shown == whole
