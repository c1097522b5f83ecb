"""What the tests of damage, power loss and load share."""

from __future__ import annotations

import pytest

from tests.reliability.ledgers import Sample, make_sample


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The bytes of a small ledger with every kind of data."""
    return make_sample(tmp_path_factory.mktemp("sample"))
