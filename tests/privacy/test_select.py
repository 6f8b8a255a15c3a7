"""Selection against laws that are enumerated, and where nothing can be enumerated."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet import MisuseError
from discreet.privacy import select
from discreet.privacy.select import Tallies, exponential, gumbel, members, noisy_top, permute_and_flip
from discreet.privacy.source import SimulationSource, SystemSource

# Seeds are fixed; every chi-square test below raises a false alarm once in a million.
ALARM = 1e-6
SMALL = Tallies((5, 3, 0), (1, 2, 3))
RATE = Fraction(1, 3)


def candidates(tallies: Tallies) -> list[int]:
    """The place of each single candidate among the tallies."""
    return [place for place, many in enumerate(tallies.many) for _ in range(many)]


def peeled(tallies: Tallies, rate: Fraction, picks: int) -> dict[tuple[int, ...], float]:
    """The law of choosing one by one with weights exp(rate * score), by enumeration of the candidates."""
    places = candidates(tallies)
    weights = [exp(rate * tallies.scores[place]) for place in places]
    law: Counter[tuple[int, ...]] = Counter()
    for order in permutations(range(len(places)), picks):
        chance, left = 1.0, sum(weights)
        for one in order:
            chance *= weights[one] / left
            left -= weights[one]
        law[tuple(places[one] for one in order)] += chance
    return dict(law)


def flipped(tallies: Tallies, rate: Fraction) -> dict[tuple[int, ...], float]:
    """The law of one permute-and-flip: uniform among the heads of independent coins, the best always being heads."""
    places = candidates(tallies)
    chances = [exp(rate * (tallies.scores[place] - tallies.scores[0])) for place in places]
    law: Counter[tuple[int, ...]] = Counter()
    for coins in product((False, True), repeat=len(places)):
        chance = np.prod([p if heads else 1 - p for p, heads in zip(chances, coins, strict=True)])
        heads = [place for place, up in zip(places, coins, strict=True) if up]
        for place in heads:
            law[(place,)] += chance / len(heads)
    return dict(law)


def agrees(seen: Counter[tuple[int, ...]], law: dict[tuple[int, ...], float]) -> bool:
    total = sum(seen.values())
    assert set(seen) <= set(law)
    keys = list(law)
    return stats.chisquare([seen[key] for key in keys], [law[key] * total for key in keys]).pvalue > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize(("routine", "runs"), [(exponential, 20_000), (gumbel, 4_000)])
def test_peeling_and_one_shot_have_the_enumerated_law(routine, runs):
    source = SimulationSource(1)
    assert agrees(Counter(tuple(routine(source, SMALL, RATE, 2)) for _ in range(runs)), peeled(SMALL, RATE, 2))


@pytest.mark.statistical
def test_permute_and_flip_has_the_enumerated_law():
    source = SimulationSource(2)
    seen = Counter(tuple(permute_and_flip(source, SMALL, RATE, 1)) for _ in range(10_000))
    assert agrees(seen, flipped(SMALL, RATE))


@pytest.mark.statistical
def test_noisy_top_has_the_law_of_noise_on_every_candidate():
    # The law has no short form: it is estimated from a million plain draws, whose own error is far smaller.
    scale, runs, plain = Fraction(3, 2), 3_000, 1_000_000
    places = np.array(candidates(SMALL))
    rng = np.random.default_rng(3)
    decay = exp(-1 / scale)
    shape = (plain, len(places))
    noise = rng.geometric(1 - decay, shape) - rng.geometric(1 - decay, shape)
    keys = np.array(SMALL.scores)[places] + noise + rng.random(shape)
    order = places[np.argsort(-keys, axis=1)[:, :2]]
    law = {key: many / plain for key, many in Counter(map(tuple, order.tolist())).items()}
    source = SimulationSource(4)
    assert agrees(Counter(tuple(noisy_top(source, SMALL, scale, 2)) for _ in range(runs)), law)


@pytest.mark.parametrize("routine", [exponential, gumbel, permute_and_flip, noisy_top])
class TestEveryRoutine:
    def test_all_can_be_chosen(self, routine):
        chosen = routine(SystemSource(), SMALL, Fraction(1), 6)
        assert Counter(chosen) == {0: 1, 1: 2, 2: 3}

    def test_nothing_can_be_chosen(self, routine):
        assert routine(SystemSource(), SMALL, Fraction(1), 0) == []
        assert routine(SystemSource(), Tallies((), ()), Fraction(1), 0) == []

    def test_more_than_there_are(self, routine):
        with pytest.raises(MisuseError) as raised:
            routine(SystemSource(), SMALL, Fraction(1), 7)
        assert str(raised.value) == "7 of 6 candidates cannot be chosen."

    def test_far_apart_scores_neither_overflow_nor_tie(self, routine):
        # An exponent of 15,000 (E4) and a difference that no float could see.
        strong = Fraction(1, 10**9) if routine is noisy_top else Fraction(50)
        tallies = Tallies((10**6, 10**6 - 300, 10**6 - 301, 7), (1, 1, 1, 10**15))
        assert routine(SystemSource(), tallies, strong, 3) == [0, 1, 2]

    def test_an_unlisted_multitude_wins_by_its_number(self, routine):
        # C(41270, 3) candidates without a count against three with a little one.
        weak = Fraction(20) if routine is noisy_top else Fraction(1, 20)
        tallies = Tallies((5, 0), (3, 11_713_891_234_040))
        assert routine(SimulationSource(1), tallies, weak, 20) == [1] * 20


def test_a_choice_that_needs_more_bits_is_settled(monkeypatch):
    monkeypatch.setattr(select, "_WEIGHT_BITS", 4)
    source = SimulationSource(5)
    seen = Counter(tuple(exponential(source, SMALL, RATE, 1)) for _ in range(10_000))
    assert agrees(seen, peeled(SMALL, RATE, 1))


def test_few_bits_at_first_make_no_difference(monkeypatch):
    monkeypatch.setattr(select.lazy, "FIRST_BITS", 4)
    source = SimulationSource(6)
    seen = Counter(tuple(gumbel(source, SMALL, RATE, 1)) for _ in range(2_000))
    assert agrees(seen, peeled(SMALL, RATE, 1))


class TestMembers:
    SCORES = np.array([3, 0, 5, 3, 0])

    def test_names_are_of_the_tally_and_differ(self):
        tallies = Tallies.of(self.SCORES, (0, 4))
        assert tallies == Tallies((5, 3, 0), (1, 2, 6))
        chosen = members(SystemSource(), tallies, [1, 0, 1, 2, 2, 2, 2, 2, 2], self.SCORES, (0, 4))
        assert set(chosen.candidates[:3]) == {0, 2, 3}
        assert chosen.candidates[1] == 2
        assert sorted(chosen.candidates[3:]) == [-1, -1, -1, -1, 1, 4]
        assert chosen.unlisted == 4

    @pytest.mark.statistical
    def test_members_are_equally_likely(self):
        source = SimulationSource(7)
        tallies = Tallies.of(self.SCORES, (0, 2))
        seen = Counter(members(source, tallies, [2], self.SCORES, (0, 2)).candidates[0] for _ in range(4_000))
        assert stats.chisquare([seen[1], seen[4], seen[-1]], [1_000, 1_000, 2_000]).pvalue > ALARM


@pytest.mark.parametrize(
    ("scores", "many", "message"),
    [
        ((3, 3), (1, 1), "The scores of tallies fall and differ."),
        ((3, 4), (1, 1), "The scores of tallies fall and differ."),
        ((3, 1), (1, 0), "Each score of tallies has at least one candidate."),
    ],
)
def test_tallies_are_checked(scores, many, message):
    with pytest.raises(MisuseError) as raised:
        Tallies(scores, many)
    assert str(raised.value) == message


def test_exact_loss_of_peeling_stays_within_its_rate():
    # Every way one added person can raise four scores: the loss of two picks is at most two rates (E8, monotone).
    scores = np.array([3, 2, 2, 0])
    rate = Fraction(1, 2)
    for change in product((0, 1), repeat=4):
        before = single(scores, rate, 2)
        after = single(scores + np.array(change), rate, 2)
        for key in before:
            assert abs(np.log(before[key] / after[key])) <= 2 * rate + 1e-12


def single(scores: np.ndarray, rate: Fraction, picks: int) -> dict[tuple[int, ...], float]:
    weights = [exp(rate * int(score)) for score in scores]
    law = {}
    for order in permutations(range(len(scores)), picks):
        chance, left = 1.0, sum(weights)
        for one in order:
            chance *= weights[one] / left
            left -= weights[one]
        law[order] = chance
    return law


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    scores=st.lists(st.integers(0, 400), min_size=1, max_size=60),
    unlisted=st.integers(0, 10**13),
    rate=st.fractions(Fraction(1, 1000), 3, max_denominator=1000),
    seed=st.integers(0, 10**6),
)
def test_floating_point_never_changes_a_pick(scores, unlisted, rate, seed):
    tallies = Tallies.of(np.array(scores), (0, unlisted))
    picks = min(len(scores), 12)
    quick = exponential(SimulationSource(seed), tallies, rate, picks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(select._Rough, "MARGIN", 1.0)
        slow = exponential(SimulationSource(seed), tallies, rate, picks)
    assert quick == slow
