"""Selection against laws that are enumerated, and where nothing can be enumerated."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from discreet import MisuseError
from discreet.privacy.sampling import (
    SimulationSource,
    SystemSource,
    Tallies,
    _float_filter as float_filter,
    intervals,
    selection,
)
from discreet.privacy.sampling._race import Gumbel, LaplaceRace, Member
from discreet.privacy.sampling.selection import draw_members, exponential, gumbel, noisy_top, permute_and_flip

# Seeds are fixed; every chi-square test below raises a false alarm once in a million.
ALARM = 1e-6
SMALL_TALLIES = Tallies((5, 3, 0), (1, 2, 3))
RATE = Fraction(1, 3)


def candidates(tallies: Tallies) -> list[int]:
    """The place of each single candidate among the tallies."""
    return [place for place, count in enumerate(tallies.counts) for _ in range(count)]


def peeled(tallies: Tallies, rate: Fraction, picks: int) -> dict[tuple[int, ...], float]:
    """The law of choosing one by one with weights exp(rate * score), by enumeration of the candidates."""
    places = candidates(tallies)
    weights = [exp(rate * tallies.scores[place]) for place in places]
    law: Counter[tuple[int, ...]] = Counter()
    for order in permutations(range(len(places)), picks):
        chance, remaining_weight = 1.0, sum(weights)
        for pick in order:
            chance *= weights[pick] / remaining_weight
            remaining_weight -= weights[pick]
        law[tuple(places[pick] for pick in order)] += chance
    return dict(law)


def flipped(tallies: Tallies, rate: Fraction) -> dict[tuple[int, ...], float]:
    """The law of one permute-and-flip: uniform among the heads of independent coins, the best always being heads."""
    places = candidates(tallies)
    chances = [exp(rate * (tallies.scores[place] - tallies.scores[0])) for place in places]
    law: Counter[tuple[int, ...]] = Counter()
    for coins in product((False, True), repeat=len(places)):
        chance = np.prod([p if heads else 1 - p for p, heads in zip(chances, coins, strict=True)])
        heads = [place for place, is_heads in zip(places, coins, strict=True) if is_heads]
        for place in heads:
            law[(place,)] += chance / len(heads)
    return dict(law)


def agrees(observed: Counter[tuple[int, ...]], law: dict[tuple[int, ...], float]) -> bool:
    total = sum(observed.values())
    assert set(observed) <= set(law)
    keys = list(law)
    return stats.chisquare([observed[key] for key in keys], [law[key] * total for key in keys]).pvalue > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize(("routine", "runs"), [(exponential, 20_000), (gumbel, 4_000)])
def test_peeling_and_one_shot_have_the_enumerated_law(routine, runs):
    source = SimulationSource(1)
    assert agrees(
        Counter(tuple(routine(source, SMALL_TALLIES, RATE, 2)) for _ in range(runs)), peeled(SMALL_TALLIES, RATE, 2)
    )


@pytest.mark.statistical
def test_permute_and_flip_has_the_enumerated_law():
    source = SimulationSource(2)
    observed = Counter(tuple(permute_and_flip(source, SMALL_TALLIES, RATE, 1)) for _ in range(10_000))
    assert agrees(observed, flipped(SMALL_TALLIES, RATE))


@pytest.mark.statistical
def test_noisy_top_has_the_law_of_noise_on_every_candidate():
    # The law has no short form: it is estimated from 200,000 plain draws, whose own error is far smaller.
    scale, runs, plain = Fraction(3, 2), 3_000, 200_000
    places = np.array(candidates(SMALL_TALLIES))
    rng = np.random.default_rng(3)
    decay = exp(-1 / scale)
    shape = (plain, len(places))
    noise = rng.geometric(1 - decay, shape) - rng.geometric(1 - decay, shape)
    keys = np.array(SMALL_TALLIES.scores)[places] + noise + rng.random(shape)
    order = places[np.argsort(-keys, axis=1)[:, :2]]
    law = {key: count / plain for key, count in Counter(map(tuple, order.tolist())).items()}
    source = SimulationSource(4)
    assert agrees(Counter(tuple(noisy_top(source, SMALL_TALLIES, scale, 2)) for _ in range(runs)), law)


@pytest.mark.parametrize("routine", [exponential, gumbel, permute_and_flip, noisy_top])
class TestEveryRoutine:
    def test_all_can_be_chosen(self, routine):
        selection = routine(SystemSource(), SMALL_TALLIES, Fraction(1), 6)
        assert Counter(selection) == {0: 1, 1: 2, 2: 3}

    def test_nothing_can_be_chosen(self, routine):
        assert routine(SystemSource(), SMALL_TALLIES, Fraction(1), 0) == []
        assert routine(SystemSource(), Tallies((), ()), Fraction(1), 0) == []

    def test_more_than_there_are(self, routine):
        with pytest.raises(MisuseError) as raised:
            routine(SystemSource(), SMALL_TALLIES, Fraction(1), 7)
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
    monkeypatch.setattr(selection, "_WEIGHT_BITS", 4)
    source = SimulationSource(5)
    observed = Counter(tuple(exponential(source, SMALL_TALLIES, RATE, 1)) for _ in range(10_000))
    assert agrees(observed, peeled(SMALL_TALLIES, RATE, 1))


def test_few_bits_at_first_make_no_difference(monkeypatch):
    monkeypatch.setattr(intervals, "FIRST_BITS", 4)
    source = SimulationSource(6)
    observed = Counter(tuple(gumbel(source, SMALL_TALLIES, RATE, 1)) for _ in range(2_000))
    assert agrees(observed, peeled(SMALL_TALLIES, RATE, 1))


class TestMembers:
    SCORES = np.array([3, 0, 5, 3, 0])

    def test_names_are_of_the_tally_and_differ(self):
        tallies = Tallies.group_scores(self.SCORES, (0, 4))
        assert tallies == Tallies((5, 3, 0), (1, 2, 6))
        selection = draw_members(SystemSource(), tallies, [1, 0, 1, 2, 2, 2, 2, 2, 2], self.SCORES, (0, 4))
        assert set(selection.candidates[:3]) == {0, 2, 3}
        assert selection.candidates[1] == 2
        assert sorted(selection.candidates[3:]) == [-1, -1, -1, -1, 1, 4]
        assert selection.unlisted == 4

    @pytest.mark.statistical
    def test_members_are_equally_likely(self):
        source = SimulationSource(7)
        tallies = Tallies.group_scores(self.SCORES, (0, 2))
        observed = Counter(draw_members(source, tallies, [2], self.SCORES, (0, 2)).candidates[0] for _ in range(4_000))
        assert stats.chisquare([observed[1], observed[4], observed[-1]], [1_000, 1_000, 2_000]).pvalue > ALARM


@pytest.mark.parametrize(
    ("scores", "count", "message"),
    [
        ((3, 3), (1, 1), "The scores of tallies fall and differ."),
        ((3, 4), (1, 1), "The scores of tallies fall and differ."),
        ((3, 1), (1, 0), "Each score of tallies has at least one candidate."),
    ],
)
def test_tallies_are_checked(scores, count, message):
    with pytest.raises(MisuseError) as raised:
        Tallies(scores, count)
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
        chance, remaining_weight = 1.0, sum(weights)
        for pick in order:
            chance *= weights[pick] / remaining_weight
            remaining_weight -= weights[pick]
        law[order] = chance
    return law


@given(
    scores=st.lists(st.integers(0, 400), min_size=1, max_size=60),
    unlisted=st.integers(0, 10**13),
    rate=st.fractions(Fraction(1, 1000), 3, max_denominator=1000),
    seed=st.integers(0, 10**6),
)
def test_floating_point_never_changes_a_pick(scores, unlisted, rate, seed):
    tallies = Tallies.group_scores(np.array(scores), (0, unlisted))
    picks = min(len(scores), 12)
    quick = exponential(SimulationSource(seed), tallies, rate, picks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(float_filter, "BORDER_FACTOR", 1e30)
        slow = exponential(SimulationSource(seed), tallies, rate, picks)
    assert quick == slow


class Steady(SimulationSource):
    """Words of a seed, but always the same single bits: however many are drawn, what follows is not moved."""

    def bits(self, count: int) -> int:
        return (1 << count) // 3


@pytest.mark.parametrize("routine", [gumbel, permute_and_flip, noisy_top])
@given(
    scores=st.lists(st.integers(-50, 400), min_size=1, max_size=30),
    unlisted=st.integers(0, 10**13),
    rate=st.fractions(Fraction(1, 1000), 30, max_denominator=1000),
    seed=st.integers(0, 10**6),
)
def test_bounds_never_change_a_pick(routine, scores, unlisted, rate, seed):
    tallies = Tallies.group_scores(np.array(scores), (-60, unlisted))
    picks = min(len(scores), 8)
    given_rate = 1 / rate if routine is noisy_top else rate
    quick = routine(Steady(seed), tallies, given_rate, picks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(float_filter, "MIN_WORD", 2**63)  # no word says enough: all is decided by intervals
        slow = routine(Steady(seed), tallies, given_rate, picks)
    assert quick == slow


class Scripted(SimulationSource):
    """A source that begins with given words."""

    def __init__(self, *bit_lists: list[int]) -> None:
        super().__init__(1)
        self._given = list(bit_lists)

    def words(self, count: int) -> np.ndarray:
        if not self._given:
            return super().words(count)
        words = np.array(self._given.pop(0), np.uint64)
        assert len(words) == count
        return words


def test_a_number_that_says_too_little_sets_nobody_aside():
    # The largest noise of 10^13 candidates is 30 for a uniform number of one half, but 26.1 for the smallest word there
    # is. A single candidate one step behind has 27.5 here and must win.
    near_one = 2**64 - int(exp(-27.5) * 2**64)
    tallies = Tallies((1, 0), (10**13, 1))
    heads = [near_one >> 56 << 8]
    source = Scripted(heads, [0, (near_one & (2**56 - 1)) << 8])
    assert permute_and_flip(source, tallies, Fraction(1, 10**9), 1) == [1]


LONG_COUNT = 10**400


@pytest.mark.parametrize("routine", [exponential, gumbel, permute_and_flip, noisy_top])
@pytest.mark.parametrize("count", [LONG_COUNT, 10**6000], ids=["long", "longer"])
def test_universes_no_float_can_hold(routine, count):
    weak = Fraction(20) if routine is noisy_top else Fraction(1, 20)
    assert routine(SystemSource(), Tallies((5, 0), (3, count)), weak, 4) == [1] * 4
    strong = Fraction(1, 10**9) if routine is noisy_top else Fraction(10**6)
    assert routine(SystemSource(), Tallies((5, 0), (3, count)), strong, 4) == [0, 0, 0, 1]


@pytest.mark.parametrize("routine", [exponential, gumbel, permute_and_flip, noisy_top])
def test_scores_and_rates_at_the_edges(routine):
    # As far apart as whole numbers of 64 bits can be, further, and rates that no float can hold.
    for exponent_limit in (2**63, 2**70):
        assert routine(
            SystemSource(), Tallies((exponent_limit, 3, 2, -exponent_limit), (1, 1, 1, 9)), Fraction(1), 1
        ) == [0]
    for rate in (Fraction(10**400), Fraction(1, 10**400)):
        selection = routine(SystemSource(), SMALL_TALLIES, 1 / rate if routine is noisy_top else rate, 6)
        assert Counter(selection) == {0: 1, 1: 2, 2: 3}
        assert rate < 1 or selection == [0, 1, 1, 2, 2, 2]


@pytest.mark.statistical
def test_levels_make_no_difference(monkeypatch):
    # A level that is often not reached, and one a tally: both ways of a pick are taken.
    monkeypatch.setattr(float_filter, "_MIN_TALLIES", 3)
    monkeypatch.setattr(float_filter, "_EXPECTED_RIVALS", 2)
    law: Counter[tuple[int, ...]] = Counter()
    for (first_pick,), chance in flipped(SMALL_TALLIES, RATE).items():
        remaining_counts = [count - (place == first_pick) for place, count in enumerate(SMALL_TALLIES.counts)]
        remaining_places = [place for place, count in enumerate(remaining_counts) if count]
        remaining_tallies = Tallies(
            tuple(SMALL_TALLIES.scores[place] for place in remaining_places),
            tuple(remaining_counts[place] for place in remaining_places),
        )
        for (second_pick,), after in flipped(remaining_tallies, RATE).items():
            law[first_pick, remaining_places[second_pick]] += chance * after
    source = SimulationSource(8)
    assert agrees(Counter(tuple(permute_and_flip(source, SMALL_TALLIES, RATE, 2)) for _ in range(8_000)), dict(law))


class TestBounds:
    """What floating point says holds what is true; words next to 0 and 1 are among the drawn ones."""

    WORDS = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 2**26), st.integers(2**64 - 2**26, 2**64 - 1))
    COUNTS = st.one_of(st.integers(1, 50), st.integers(1, 10**15), st.integers(10**300, 10**310))

    @settings(max_examples=200)
    @given(word=WORDS)
    def test_of_waits(self, word):
        low, high = float_filter.bound_waits(np.array([word], np.uint64))
        lowest, highest = intervals.negate(intervals.ln(intervals.Uniform(Steady(1), word, 64).narrow_to(64), 40))
        assert Fraction(float(low[0])) <= Fraction(max(lowest, 0))
        assert np.isinf(high[0]) or Fraction(float(high[0])) >= Fraction(highest)
        assert np.isinf(high[0]) == (word < 2**24 or word >= 2**64 - 2**24)

    @given(
        word=WORDS,
        count=COUNTS,
        score=st.integers(-(2**63), 0),
        rate=st.fractions(Fraction(1, 10**6), 10**3),
        further_bits=st.integers(0, 2),
    )
    def test_of_gumbel_keys(self, word, count, score, rate, further_bits):
        race = Gumbel(Steady(1), (0, score - 1), (1, count), rate)
        member = Member(
            race, 1, word, tuple(float(end[0]) for end in float_filter.bound_waits(np.array([word], np.uint64)))
        )
        for _ in range(min(further_bits, count - 1)):
            member.advance()
        low, high = member.exact_key().interval
        # The largest key is the one of the smallest time.
        assert member._low <= -low
        assert member._high >= -high
        assert np.isinf(member._low) or member._high - member._low < 1e-5 + 1e-12 * abs(member._low)

    @given(
        word=WORDS,
        count=COUNTS,
        score=st.one_of(st.integers(-1000, 0), st.integers(-(2**63), 0)),
        scale=st.fractions(Fraction(1, 10**3), 10**6),
        further_bits=st.integers(0, 2),
    )
    def test_of_noisy_scores(self, word, count, score, scale, further_bits):
        race = LaplaceRace(Steady(1), (0, score - 1), (1, count), scale)
        member = Member(
            race, 1, word, tuple(float(end[0]) for end in float_filter.bound_waits(np.array([word], np.uint64)))
        )
        for _ in range(min(further_bits, count - 1)):
            member.advance()
        assert member._low <= member.exact_key().value <= member._high

    @given(word=WORDS, count=COUNTS, behind=st.integers(1, 2**62), rate=st.fractions(Fraction(1, 10**6), 10**3))
    def test_of_flips(self, word, count, behind, rate):
        flips = float_filter.Flips((0, -behind), (1, count), rate)
        low, high = flips._bound_keys(np.array([1]), np.array([word], np.uint64))
        key = selection._largest_exponential(intervals.Uniform(Steady(1), word, 64), count, -rate * behind)
        lowest, highest = key(96)
        assert low[0] <= highest
        assert high[0] >= lowest

    @given(seed=st.integers(0, 10**6), rate=st.fractions(Fraction(1, 1000), 5), count=COUNTS, level=st.floats(-5, 40))
    def test_of_levels(self, seed, rate, count, level):
        # A word beyond the limit belongs to a key below the level.
        rng = np.random.default_rng(seed)
        counts = [1, *rng.integers(1, 50, 28).tolist(), count]
        flips = float_filter.Flips(tuple(range(30, 0, -1)), counts, rate)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(float_filter, "_MIN_TALLIES", 2)
            flips._set_level(np.full(30, level))
        for place in range(30):
            word = 2**64 - 2 - int(flips._word_limits[place])
            if word > 0:
                key = selection._largest_exponential(
                    intervals.Uniform(Steady(1), word, 64), counts[place], -rate * place
                )
                assert key(128)[0] <= level
