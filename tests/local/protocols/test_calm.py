"""CALM: blocks that cover every pair, tables that agree, Figure 1, hardly any data, and refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet.errors import MisuseError
from discreet.local.protocols.calm import cover_pairs, make_consistent
from discreet.local.study import StudyGoal, simulate
from discreet.registry import protocol

FIGURE = [{1, 2}] * 20 + [{1, 3}] * 20 + [{2, 3}] * 10 + [{4, 5, 6}] * 25


@given(st.integers(2, 30), st.integers(2, 8))
def test_every_pair_is_in_a_block(item_count, width):
    width = min(width, item_count)
    blocks = cover_pairs(item_count, width)
    assert {pair for block in blocks.tolist() for pair in combinations(block, 2)} == set(
        combinations(range(item_count), 2)
    )
    assert all(len(set(block)) == width and block == sorted(block) for block in blocks.tolist())
    assert len(blocks) <= 2.1 * item_count * (item_count - 1) / (width * (width - 1)) + 1


def of_items(table, block, items):
    """Return the table of some items of a larger table, by adding up cells."""
    cell_sums = np.zeros(1 << len(items))
    for cell, value in enumerate(table):
        cell_sums[sum(1 << place for place, item in enumerate(items) if cell >> block.index(item) & 1)] += value
    return cell_sums


@given(st.integers(3, 7), st.integers(2, 4), st.integers(0, 2**32))
def test_tables_agree_on_what_they_have_in_common_and_truth_is_kept(item_count, width, seed):
    generator = np.random.default_rng(seed)
    blocks = cover_pairs(item_count, min(width, item_count))
    tables = generator.normal(0.1, 1, (len(blocks), 1 << blocks.shape[1]))
    agreed = make_consistent(tables, blocks, 1)
    assert agreed.sum(1) == pytest.approx(np.ones(len(blocks)))
    for (left_table, left_block), (right_table, right_block) in combinations(
        zip(agreed, blocks.tolist(), strict=True), 2
    ):
        shared_items = sorted(set(left_block) & set(right_block))
        assert of_items(left_table, left_block, shared_items) == pytest.approx(
            of_items(right_table, right_block, shared_items)
        )
    # Tables of one crowd agree already: nothing changes, however often.
    people = generator.random((50, item_count)) < 0.4
    true_tables = np.zeros(tables.shape)
    for number, block in enumerate(blocks.tolist()):
        np.add.at(true_tables[number], people[:, block] @ (1 << np.arange(len(block))), 1 / 50)
    assert make_consistent(true_tables, blocks, 3) == pytest.approx(true_tables)


@pytest.mark.parametrize("width", ["predicted", 2, 3, 6])
def test_figure_1_is_found(width):
    baskets = discreet.read(FIGURE * 4000)
    for seed in range(3):
        outcome = simulate(
            baskets,
            "calm",
            top=6,
            epsilon=4,
            seed=seed,
            speed="aggregated",
            settings={"items": 6, "support": 12, "width": width},
        )
        pairs_found = {(*rule.antecedent, *rule.consequent) for rule in outcome.relations}
        assert pairs_found == set(permutations((4, 5, 6), 2))
    assert outcome.guarantee.epsilon == Fraction(4)
    assert outcome.rounds[-1].values == 1 << outcome.facts["items a table"]


@pytest.mark.parametrize("speed", ["person", "aggregated"])
@pytest.mark.parametrize(
    "rows",
    [[set()] * 50, [{1}], [{1}] * 500, [set(), {1, 2}], [{1, 2, 3}] * 3],
    ids=["empty", "one", "same", "two", "three"],
)
def test_it_ends_well_on_hardly_any_data(rows, speed):
    baskets = discreet.read([{"a"}, *({str(item) for item in row} for row in rows)])
    outcome = simulate(baskets, "calm", top=4, epsilon=1, seed=2, speed=speed, score=True)
    assert len(outcome.relations) <= 4
    assert np.isfinite(outcome.relations.low).all()


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        ({"shares": "0.5 0.6"}, "The shares of calm are 0.0001 or more each, and add up to 1 at most."),
        ({"steps": 101}, "steps is 1 to 100; 101 was given."),
        ({"shares": "0.3 0.00000000001"}, "The shares of calm are 0.0001 or more each, and add up to 1 at most."),
        ({"shares": "0.5 0"}, "The shares of calm are 0.0001 or more each, and add up to 1 at most."),
        ({"items": 129}, "calm relates 2 to 128 items; 129 were given."),
        ({"items": 1}, "calm relates 2 to 128 items; 1 were given."),
        ({"width": 9}, "width is 2 to 8 items, or predicted; 9 was given."),
        (
            {"width": 2, "items": 100},
            "100 items make over 3,000 tables of 2: give a larger width, or fewer items.",
        ),
        ({"steps": 0}, "steps is 1 to 100; 0 was given."),
        ({"how": "after"}, "the setting how of calm is together; 'after' was given."),
    ],
    ids=range(10),
)
def test_settings_that_make_no_sense_are_refused(given_settings, message):
    with pytest.raises(MisuseError) as error:
        protocol("calm", given_settings).check(StudyGoal(items=200, top=4, epsilon=Fraction(1)))
    assert str(error.value) == message
