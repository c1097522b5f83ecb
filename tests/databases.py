"""A database looked at or altered by hand, past the product."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


@contextmanager
def by_hand(path: str | Path) -> Iterator[sqlite3.Connection]:
    """A connection of one's own: what was done is committed at the end, and the file closed."""
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection
