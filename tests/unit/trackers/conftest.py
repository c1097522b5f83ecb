"""A ledger in memory that imports."""

from __future__ import annotations

import pytest

from tests.trackers import Importing


@pytest.fixture
def importing(clock, ids) -> Importing:
    return Importing(clock, ids)
