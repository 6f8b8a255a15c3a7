"""Intervals on data that a search made for them to miss: crowds of people who hold much alike, ties, bulk buyers.

Hypothesis looks for data and questions on which intervals of the default miss most. The worst that it finds is then
tried with seeds that the search did not see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st, target

from csr import csr
from discreet.baskets import Baskets, Vocabulary
from discreet.exact import LocalEngine, Supports
from discreet.planning import trial
from discreet.results import Itemsets


@dataclass(frozen=True)
class Crowd:
    """A crowd of people with equal items: the numbers of people and items, and the first item."""

    people: int
    items: int
    first_item: int


crowds = st.lists(
    st.builds(Crowd, st.sampled_from([1, 5, 20, 80, 300, 1_000]), st.integers(1, 25), st.integers(0, 40)),
    min_size=1,
    max_size=4,
)
questions = st.fixed_dictionaries(
    {
        "top": st.sampled_from([1, 3, 10, 25]),
        "lengths": st.sampled_from([None, 1, 2]),
        "epsilon": st.sampled_from(["0.2", "1", "5"]),
        "delta": st.sampled_from(["0", "1e-6"]),
    }
)
ITEMS = 66


def people(crowd_list: list[Crowd]) -> Baskets:
    rows = [
        range(crowd.first_item, crowd.first_item + crowd.items) for crowd in crowd_list for _ in range(crowd.people)
    ]
    return Baskets(*csr(rows), Vocabulary(range(ITEMS)))


def measure_misses(shop: Baskets, question: dict[str, Any], seeds: range) -> tuple[np.ndarray, float]:
    """Return the share of intervals that miss the true count, for each seed; and the mean squared distance of it.

    The distance is from the middle, in halves of the interval.
    """
    engine, shares, squared_distances = LocalEngine(shop), [], []
    for number in seeds:
        patterns = trial(shop, seed=number, engine=lambda _: engine, items="public", **question).patterns
        true_counts = engine.answer(Supports(Itemsets.of([tuple(sorted(pattern.items)) for pattern in patterns])))
        shares.append(float(np.mean((true_counts < patterns.low) | (true_counts > patterns.high))))
        half = np.maximum(np.subtract(patterns.high, patterns.low), 1) / 2
        squared_distances.append(np.mean(((true_counts - np.add(patterns.low, patterns.high) / 2) / half) ** 2))
    return np.array(shares), float(np.mean(squared_distances))


def search(examples: int, seeds: int) -> list[tuple[float, list[Crowd], dict[str, Any]]]:
    """Return data and questions, first the cases with true counts nearest to the ends of intervals."""
    cases_by_distance = []

    @seed(20261116)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(crowds, questions)
    def look(crowd_list: list[Crowd], question: dict[str, Any]) -> None:
        _, mean_distance = measure_misses(people(crowd_list), question, range(seeds))
        target(mean_distance)
        cases_by_distance.append((mean_distance, crowd_list, question))

    look()
    return sorted(cases_by_distance, key=lambda case_of_search: -case_of_search[0])


def check(examples: int, seeds: int, seed_count: int, worst_cases: int) -> None:
    for _, crowd_list, question in search(examples, seeds)[:worst_cases]:
        shares, _ = measure_misses(people(crowd_list), question, range(1_000, 1_000 + seed_count))
        # At 95 % the mean over runs is .05 at most. Three of its deviations more: one false alarm in 700 cases.
        assert shares.mean() <= 0.05 + 3 * max(shares.std(), 0.1) / seed_count**0.5, (crowd_list, question)


def test_the_worst_that_a_search_finds_holds():
    check(examples=12, seeds=4, seed_count=60, worst_cases=2)


@pytest.mark.slow
def test_the_worst_that_a_long_search_finds_holds():
    check(examples=600, seeds=8, seed_count=400, worst_cases=6)
