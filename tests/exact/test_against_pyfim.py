"""The same patterns and counts as PyFIM, on real data."""

from __future__ import annotations

import lzma
import os
from pathlib import Path

import pytest

import discreet
from discreet_lab.data import datasets

if os.environ.get("CI"):
    import fim
else:
    fim = pytest.importorskip("fim", reason="PyFIM is not installed")

# Thresholds lower or equal to those of the benchmarks where that keeps a test within seconds; some of each kind of data
# in `make test`, all of them in `make soak`.
THRESHOLDS = {
    "retail": 60,
    "T10I4D100K": 80,
    "mushroom": 1_200,
    "chess": 2_200,
    "connect": 60_000,
    "kosarak_100k": 250,
    "BMS-POS_275k": 500,
    "OnlineRetail_words": 800,
    "BMS-WebView-1": 45,
    "BMS-WebView-2": 60,
    "accidents_reduced": 8_000,
}
CROWDED_SETS = [("connect", 62_000)]
FEW_SETS = {"retail", "mushroom", "chess", "kosarak_100k", "BMS-WebView-1"}


def all_of(names):
    return [pytest.param(name, marks=[] if name in FEW_SETS else pytest.mark.slow) for name in names]


def find_data(name: str) -> Path:
    """Return where a data set lies; skip where it is not."""
    try:
        return datasets.path(name)
    except discreet.InputError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


def rows_of(name: str) -> list[list[int]]:
    with lzma.open(find_data(name), "rt") as file:
        return [list(map(int, line.split())) for line in file]


def held_by_all(rows: list[list[int]]) -> frozenset[int]:
    return frozenset(rows[0]).intersection(*rows)


@pytest.mark.parametrize("name", all_of(THRESHOLDS))
def test_same_patterns_and_counts(name):
    rows = rows_of(name)
    count = THRESHOLDS[name]
    theirs = {frozenset(items): n for items, n in fim.eclat(rows, target="s", supp=-count, zmin=1, report="a")}
    # PyFIM leaves out the single items that everyone holds, though it reports their supersets.
    theirs |= {frozenset([item]): len(rows) for item in held_by_all(rows)}
    ours = discreet.mine(discreet.read(datasets.path(name)), min_count=count)
    assert len(ours) == len(theirs)
    assert ours.to_dict() == theirs


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("mushroom", 1_500),
        ("retail", 150),
        ("chess", 2_400),
        *(pytest.param(*crowded_set, marks=pytest.mark.slow) for crowded_set in CROWDED_SETS),
    ],
)
@pytest.mark.parametrize(("kind", "target"), [("closed", "c"), ("maximal", "m")])
def test_same_closed_and_maximal(name, count, kind, target):
    rows = rows_of(name)
    theirs = {frozenset(items): n for items, n in fim.fpgrowth(rows, target=target, supp=-count, zmin=1, report="a")}
    if kind == "closed" and held_by_all(rows):
        theirs[held_by_all(rows)] = len(rows)
    assert discreet.mine(discreet.read(datasets.path(name)), min_count=count, kind=kind).to_dict() == theirs


@pytest.mark.parametrize("name", all_of(["retail", "mushroom", "kosarak_100k", "BMS-POS_275k"]))
def test_top_is_the_top_of_a_threshold(name):
    baskets = discreet.read(find_data(name))
    for top, lengths in ((100, (1, None)), (64, 2), (10, 3), (200, (2, 4))):
        patterns = discreet.mine(baskets, top=top, lengths=lengths)
        assert len(patterns) == top
        full = discreet.mine(baskets, min_count=int(patterns.counts[-1]), lengths=lengths)
        assert patterns == full.top(top)
