"""A ledger to do things to."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet
from discreet.privacy.ledger import Ledger
from privacy.ledger.spending import spend


@pytest.fixture
def path(tmp_path) -> Path:
    """A ledger of which a little is spent."""
    place = tmp_path / "budget.db"
    Ledger.create(place, epsilon=1)
    for epsilon in ("0.1", "1/3"):
        spend(place, epsilon, baskets=discreet.read([{1}, {2, 3}]))
    return place
