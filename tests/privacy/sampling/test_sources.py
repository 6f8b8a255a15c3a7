from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from discreet import MisuseError
from discreet.privacy.sampling import SimulationSource, Source, SystemSource


@pytest.fixture(params=[SystemSource, lambda: SimulationSource(3)], ids=["system", "seeded"])
def source(request) -> Source:
    return request.param()


def test_kinds_are_different_types_and_say_so():
    assert not SystemSource().simulated
    assert SimulationSource(1).simulated
    assert not issubclass(SimulationSource, SystemSource)


def test_the_same_seed_gives_the_same_bits():
    first_source, second_source = SimulationSource(5), SimulationSource(5)
    assert [first_source.bits(7) for _ in range(50)] == [second_source.bits(7) for _ in range(50)]
    assert SimulationSource(6).bits(64) != SimulationSource(5).bits(64)


def test_ranges(source):
    assert source.bits(0) == 0
    assert source.below(1) == 0
    assert all(0 <= source.below(10) < 10 for _ in range(100))
    assert 0 <= source.below(10**40) < 10**40
    assert source.words(5).dtype == np.uint64
    assert sorted(source.subset(4, 4)) == [0, 1, 2, 3]
    assert len(set(source.subset(20, 10**30))) == 20
    assert source.subset(0, 0) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SimulationSource(-1), "A seed is a whole number, 0 or more; -1 was given."),
        (lambda: SimulationSource("7"), "A seed is a whole number, 0 or more; '7' was given."),
        (lambda: SystemSource().below(0), "There is no number below 0 to draw."),
        (lambda: SystemSource().subset(3, 2), "There are no 3 different numbers below 2."),
    ],
)
def test_misuse(call, message):
    with pytest.raises(MisuseError) as raised:
        call()
    assert str(raised.value) == message


@pytest.mark.statistical
def test_numbers_below_a_bound_are_uniform():
    # Fixed seed; a chi-square test that raises a false alarm once in a million.
    source = SimulationSource(11)
    observed = Counter(source.below(7) for _ in range(14_000))
    assert stats.chisquare([observed[i] for i in range(7)]).pvalue > 1e-6


@pytest.mark.statistical
def test_ordered_subsets_are_uniform():
    # Fixed seed; a chi-square test over the 24 ordered pairs, false alarm once in a million.
    source = SimulationSource(12)
    observed = Counter(tuple(source.subset(2, 4)) for _ in range(12_000))
    assert stats.chisquare([observed[pair] for pair in permutations(range(4), 2)]).pvalue > 1e-6
