"""Patterns without holders over a threshold: noise lifts some over it, and their intervals from 0 on mark them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet.planning import trial
from discreet.registry import mechanisms
from discreet.results import lower_doubtful

PEOPLE = 2_000
# Four items that half of the people hold each, and 96 that nobody does.
NAMES = [f"item {number:03}" for number in range(100)]
QUESTIONS = [
    {"epsilon": epsilon, **threshold, **public}
    for epsilon in ("0.1", "1")
    for threshold in ({"min_count": 20}, {"min_support": "0.05"}, {"min_support": "0.2"})
    for public in ({}, {"neighbours": "replace"}, {"delta": "1e-6"})
]
OVER_A_THRESHOLD = sorted(
    name for name, mechanism in mechanisms().items() if "threshold" in mechanism.answers and name != "auto"
)


@pytest.fixture(scope="module")
def baskets() -> discreet.Baskets:
    return discreet.read([[NAMES[item] for item in range(4) if person >> item & 1] for person in range(PEOPLE)])


@pytest.mark.parametrize("mechanism", [*OVER_A_THRESHOLD, "auto"])
def test_at_most_5_of_100_that_are_not_marked_are_held_by_nobody(baskets, mechanism, tmp_path):
    # 18 questions with two releases each, which takes some mechanisms up to eight seconds. The procedure has two-sided
    # p-values, so 2.5 of 100 are false on average; of 100 unmarked patterns, 9 or more would be in one of 500 tests.
    true_counts = discreet.mine(baskets, min_count=1, lengths=(1, 4)).to_dict()
    unmarked = false_patterns = unheld = question_count = 0
    for question in QUESTIONS:
        if mechanism == "threshold" and "delta" not in question:
            continue
        for seed in (1, 2):
            patterns = trial(baskets, seed=seed, mechanism=mechanism, items=NAMES, **question).patterns
            question_count += 1
            held_counts = np.array([true_counts.get(row.items, 0) for row in patterns], np.int64)
            unheld += int((held_counts == 0).sum())
            unmarked += int((patterns.low > 0).sum())
            false_patterns += int(((patterns.low > 0) & (held_counts == 0)).sum())
            assert (patterns.may_be_noise == (patterns.low <= 0)).all()
    assert unmarked >= 2 * question_count
    assert false_patterns <= 0.08 * unmarked
    # There is something to mark: without it the test would say nothing.
    assert unheld >= 20 or mechanism == "threshold"
    # Every file says it as the table does.
    for suffix in ("json", "csv", "parquet"):
        patterns.save(tmp_path / f"made.{suffix}")
        assert discreet.load(tmp_path / f"made.{suffix}").low.tolist() == patterns.low.tolist()


@given(st.lists(st.tuples(st.integers(1, 400), st.integers(0, 200)), max_size=30), st.integers(0, 2_000))
def test_the_mark_is_the_step_up_procedure_one_by_one(rows, candidates):
    estimates = np.array([estimate for estimate, _ in rows], float)
    low = np.array([estimate - margin for estimate, margin in rows], float)
    p_values = [0.05 ** (estimate / (margin + 1)) if estimate > margin else 1.0 for estimate, margin in rows]
    tested = max(candidates, len(rows), 1)
    sorted_p_values = sorted(p_values)
    bound = max(
        (p for rank, p in enumerate(sorted_p_values, 1) if p <= 0.05 * rank / tested * (1 + 1e-12)), default=-1.0
    )
    lowered_ends = lower_doubtful(estimates, low, candidates)
    for (estimate, margin), p, end in zip(rows, p_values, lowered_ends.tolist(), strict=True):
        assert end == (estimate - margin if p <= bound * (1 + 1e-9) else min(estimate - margin, 0))
