"""A table with the columns of the person and of the item goes straight into every function that asks about baskets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet import MisuseError

ROWS = {
    "customer": [2, 1, 1, 3, 3],
    "product": ["tea", "tea", "milk", "tea", "milk"],
    "price": [1.0, 1.0, 2.0, 1.0, 2.0],
}
COLUMNS: dict[str, Any] = {"person": "customer", "item": "product"}


@pytest.fixture(params=["frame", "file"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    frame = pd.DataFrame(ROWS)
    if request.param == "frame":
        return frame
    frame.to_csv(tmp_path / "sales.csv", index=False)
    return tmp_path / "sales.csv"


def test_a_table_is_read_where_it_is_used(table: Any) -> None:
    baskets = discreet.read(table, **COLUMNS)
    question: dict[str, Any] = {"epsilon": 1, "items": ["milk", "tea"], "neighbours": "replace"}
    assert discreet.mine(table, **COLUMNS, top=3) == discreet.mine(baskets, top=3)
    assert discreet.rules(table, **COLUMNS, min_count=1) == discreet.mine(baskets, min_count=1).rules()
    simulated = discreet.simulate(table, **COLUMNS, top=2, epsilon=4, seed=7)
    assert simulated.found == discreet.simulate(baskets, top=2, epsilon=4, seed=7).found
    # Where one person is replaced the number of people is public as it is: it tells that there are three.
    for outcome in (
        discreet.release(table, **COLUMNS, top=1, **question),
        discreet.count(table, [{"tea"}], **COLUMNS, **question),
    ):
        assert outcome.patterns.people == 3


def test_baskets_have_no_columns_any_more() -> None:
    baskets = discreet.read(pd.DataFrame(ROWS), **COLUMNS)
    for ask in (discreet.mine, discreet.rules, discreet.release):
        with pytest.raises(MisuseError, match="Baskets pass through as they are"):
            ask(baskets, **COLUMNS, min_count=1, **({"epsilon": 1} if ask is discreet.release else {}))


def test_rules_are_those_of_the_patterns() -> None:
    baskets = [{"tea", "milk", "bread"}, {"tea", "milk"}, {"bread"}, {"tea"}]
    every = discreet.mine(baskets, min_count=1).rules(min_confidence=0.1, min_lift=1.1)
    assert discreet.rules(baskets, min_count=1, min_confidence=0.1, min_lift=1.1) == every
    assert discreet.rules(baskets, min_count=1, lengths=2, min_confidence=0.1) == discreet.mine(
        baskets, min_count=1, lengths=(1, 2)
    ).rules(min_confidence=0.1)
    with pytest.raises(MisuseError, match=r"by one of min_support \(a fraction of people\) or min_count"):
        discreet.rules(baskets)
