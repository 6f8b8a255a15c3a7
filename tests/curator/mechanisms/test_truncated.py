"""`truncated` and `truncated-naive`: levels, the longest pattern, smart truncating and double standards."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement, product
from math import ceil, exp, log2

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

import discreet
import strategies
from discreet import MisuseError
from discreet.baskets import groceries
from discreet.curator.mechanisms import truncated
from discreet.curator.mechanisms.truncated import Truncated
from discreet.curator.mechanisms.truncated_naive import TruncatedNaive
from discreet.curator.steps import SIZES, _threshold_levels as threshold_levels, _truncation as truncation
from discreet.curator.steps._threshold_levels import ITEMSETS, LONGEST_STEP, estimate_longest_length
from discreet.curator.steps._truncation import BinomialSupports
from discreet.exact import Largest, Supports, f_score
from discreet.planning import trial
from discreet.privacy import Budget, Meter, Neighbours, Noisy, unsealed
from discreet.privacy.sampling import SimulationSource
from naive import truncated as naive, watching

ALPHABET = 4
SUBSETS = strategies.subsets(ALPHABET)
few_examples = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
people_of = strategies.people(ALPHABET, 8)
BOTH_MECHANISMS = pytest.mark.parametrize("mechanism", ["truncated", "truncated-naive"])
SWITCHES = [
    {"smart": smart, "double_standards": double, "keep": keep, "bound": bound}
    for smart, double, keep, bound in [
        (True, True, "none", "degrees"),
        (True, True, "size-biased", "binomial"),
        (False, True, "uniform", "degrees"),
        (True, False, "root", "degrees"),
        (False, False, "none", "binomial"),
    ]
]


@pytest.fixture
def noiseless(monkeypatch):
    """Lift the 0.05 of epsilon that sizes get at most, so that a huge epsilon leaves no noise anywhere."""
    monkeypatch.setattr(truncation, "_MAX_SIZE_EPSILON", Fraction(10**7))
    return 10**7


def run(people, /, *, items=ALPHABET, seed=1, mechanism="truncated", **question):
    return trial(people, seed=seed, items=items, mechanism=mechanism, **question)


make_problem = partial(watching.make_problem, threshold=3, max_length=4, item_count=ALPHABET)


@few_examples
@given(people_of, st.integers(1, 4), st.sampled_from(SWITCHES), st.sampled_from([0, "1e-6"]))
@example([], 1, SWITCHES[0], 0)
@example([frozenset(range(ALPHABET))] * 4, 4, SWITCHES[0], 0)
def test_without_noise_truncated_is_exact(noiseless, people, count, switches, delta):
    settings = switches | {"coverage": 1, "doubt": 1}
    release = run(people, min_count=count, epsilon=noiseless, delta=delta, settings=settings)
    counts_by_itemset = release.patterns.to_dict()
    assert set(counts_by_itemset) == naive.frequent(people, ALPHABET, count, ALPHABET)
    assert counts_by_itemset == {itemset: sum(itemset <= basket for basket in people) for itemset in counts_by_itemset}


@few_examples
@given(people_of, st.integers(1, 4), st.integers(1, 4))
def test_without_noise_the_naive_one_is_exact(noiseless, people, count, longest):
    for limit in (None, longest):
        given_settings = {"coverage": 1, "longest": limit}
        release = run(people, min_count=count, epsilon=noiseless, mechanism="truncated-naive", settings=given_settings)
        assert set(release.patterns.to_dict()) == naive.frequent(people, ALPHABET, count, limit or ALPHABET)


@few_examples
@given(people_of, st.integers(1, 3), st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 3), (3, 4)]))
def test_lengths_are_kept_to(noiseless, people, count, lengths):
    release = run(people, min_count=count, epsilon=noiseless, lengths=lengths, settings={"coverage": 1, "doubt": 1})
    right = {itemset for itemset in naive.frequent(people, ALPHABET, count, lengths[1]) if len(itemset) >= lengths[0]}
    assert set(release.patterns.to_dict()) == right


@BOTH_MECHANISMS
@pytest.mark.parametrize("epsilon", ["0.05", "1"])
@pytest.mark.parametrize("longest", [None, 1, 3])
def test_charges_are_those_of_the_plan(mechanism, epsilon, longest):
    people = [{0, 1}, {1, 2, 3}, set(), {0, 1, 2}] * 40
    question = {"min_count": 60, "epsilon": epsilon, "people": 160, "settings": {"longest": longest}}
    for seed in range(3):
        release = run(people, seed=seed, mechanism=mechanism, **question)
        assert release.guarantee.epsilon == Fraction(epsilon)
        spent_shares = {}
        for charge in release.guarantee.charges:
            spent_shares[charge.what] = spent_shares.get(charge.what, 0) + charge.epsilon
        kind = Truncated if mechanism == "truncated" else TruncatedNaive
        plan = dict(kind(longest=longest).plan(make_problem(epsilon=Fraction(epsilon))))
        assert list(spent_shares) == list(plan)
        assert sum(plan.values()) == 1
        # What is not needed of the first shares goes to the last.
        assert all(
            spent_shares[purpose] <= plan[purpose] * Fraction(epsilon) for purpose in plan if purpose != ITEMSETS
        )
        assert spent_shares[ITEMSETS] >= plan[ITEMSETS] * Fraction(epsilon)


@pytest.mark.parametrize("kind", [*(Truncated(**switches) for switches in SWITCHES), TruncatedNaive()])
def test_one_more_person_changes_no_answer_by_more_than_the_query_says(kind):
    every = list(product(combinations_with_replacement(SUBSETS, 3), SUBSETS))
    depths = set()
    for number, (people, added_person) in enumerate(every[::401]):
        runs = []
        equal = people.count(added_person)
        for data in (people, (*people, added_person), (added_person,) * equal, (added_person,) * (equal + 1)):
            meter = naive.Scripted(number)
            runs.append((meter.asked, kind.run(watching.engine(data, ALPHABET), make_problem(), meter)))
        (before, result), (after, result_after), (equals, _), (lone_person, _) = runs
        assert result.itemsets.same(result_after.itemsets)
        assert (result.facts, result.notes) == (result_after.facts, result_after.notes)
        assert result.estimates.tolist() == result_after.estimates.tolist()
        depths.add(len(before))
        for (purpose, query, share, answer), step, equal_step, lone_step in zip(
            before, after, equals, lone_person, strict=True
        ):
            assert (purpose, share) == (step[0], step[2])
            assert naive.same_query(query, step[1])
            assert np.abs(step[3] - answer).sum() <= query.sensitivity().l1
            assert ((step[3] - answer) ** 2).sum() <= query.sensitivity().squared_l2
            if not isinstance(query, Largest):
                # Local, also under smart truncating (C6): what one person adds depends on nobody but those with an
                # equal basket, and on their number.
                assert (step[3] - answer == lone_step[3] - equal_step[3]).all()
    assert len(depths) > 1  # runs went different ways


def test_smart_truncating_is_asked_for_with_scores_and_a_secret():
    meter = naive.Scripted(5, epsilon=10)
    Truncated(longest=3).run(watching.engine([SUBSETS[-1]] * 9, ALPHABET), make_problem(threshold=1), meter)
    items, pairs = (query for _, query, _, _ in meter.asked[1:3])
    assert items.truncation.sets is None
    assert pairs.truncation.sets is pairs.itemsets
    assert (pairs.truncation.scores >= 0).all()
    assert pairs.truncation.key == items.truncation.key
    random = naive.Scripted(5, epsilon=10)
    Truncated(longest=3, smart=False).run(
        watching.engine([SUBSETS[-1]] * 9, ALPHABET), make_problem(threshold=1), random
    )
    assert random.asked[2][1].truncation.sets is None


def test_the_printed_bound_can_be_had():
    for bound, kind in (("degrees", Supports), ("binomial", BinomialSupports)):
        meter = naive.Scripted(5, epsilon=10)
        Truncated(longest=3, bound=bound).run(
            watching.engine([SUBSETS[-1]] * 9, ALPHABET), make_problem(threshold=1), meter
        )
        assert {type(query) for _, query, _, _ in meter.asked[1:]} == {kind}


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("neighbours", list(Neighbours), ids=lambda relation: relation.value)
def test_the_cut_is_chosen_by_the_noise_that_will_be_drawn(neighbours, delta, monkeypatch):
    thought = []

    def watched(count, kept_shares, deviations, min_length):
        thought.append(deviations)
        return truncation.choose_cut_length(count, kept_shares, deviations, min_length)

    monkeypatch.setattr(truncated, "choose_cut_length", watched)
    meter = Meter(Budget.of(20, delta), neighbours, SimulationSource(3))
    counts, drawn_noise = meter.count, []

    def watched_count(purpose, engine, query, share):
        if isinstance(query, Supports) and (query.itemsets.sizes > 1).all():
            drawn_noise.append((query.truncation.longest, meter.scale(query, share)[1]))
        return counts(purpose, engine, query, share)

    meter.count = watched_count
    # Few of the 45 pairs fit into a basket that is cut, so an exchange moves twice as many.
    people = [frozenset(basket) for basket in combinations(range(10), 6)]
    Truncated(longest=3).run(watching.engine(people, 10), make_problem(threshold=60, item_count=10, people=210), meter)
    assert thought
    for deviations, (longest, variance) in zip(thought, drawn_noise, strict=False):
        assert deviations[longest] ** 2 == pytest.approx(float(variance))


class CountingMeter(Meter):
    """A meter that knows the largest count of each size, without noise, and counts its queries."""

    def __init__(self, largest):
        super().__init__(Budget.of(1), Neighbours.ADD_REMOVE, SimulationSource(1))
        self.largest = largest
        self.times = 0

    def count(self, purpose, engine, query, share):
        self._spend_share(share)
        self.times += 1
        scale, variance = self.scale(query, share)
        return Noisy(np.array([self.largest(query.size)]), scale, variance)


@pytest.mark.parametrize("upper", range(2, 71))
def test_the_longest_pattern_takes_as_many_comparisons_as_it_is_paid_for(upper):
    # C2: every answer is reached, the search ends, and the share is never overspent, powers of two included.
    share = Fraction(1, 7)
    for answer in range(1, upper + 1):
        meter = CountingMeter(lambda size, answer=answer: 10 if size <= answer else 2)
        assert estimate_longest_length(None, 10, meter, share, 1, upper) == answer
        assert meter.times <= ceil(log2(upper))
        assert 1 - meter.left == meter.times * share / ceil(log2(upper)) <= share
    times = set()
    for seed in range(20):  # whatever the noise says, it ends, within the range
        flips = np.random.default_rng(seed)
        meter = CountingMeter(lambda size, flips=flips: int(flips.integers(0, 20)))
        assert 1 <= estimate_longest_length(None, 10, meter, share, 1, upper) <= upper
        times.add(meter.times)
    assert max(times) == ceil(log2(upper))


def test_a_single_length_is_not_estimated():
    for given_settings in ({"upper": 1}, {"longest": 2}, {"longest": 1}):
        release = run([{0, 1}] * 9, min_count=3, epsilon=1, settings=given_settings)
        assert LONGEST_STEP not in {charge.what for charge in release.guarantee.charges}
        assert release.facts["longest pattern looked for"] == given_settings.get("longest", 1)


def test_the_largest_counts_move_by_one_at_most():
    # C1, also with a floor and where listing stops: over data sets of up to two people and one more.
    queries = [Largest(size, floor, rank) for floor, rank in ((0, 100), (2, 100), (1, 1), (1, 4)) for size in (1, 2, 3)]
    moved = set()
    for people in [combination for size in range(3) for combination in combinations(SUBSETS, size)][::5]:
        before = watching.engine(people, ALPHABET)
        answers = [int(unsealed(before.answer(query))[0]) for query in queries]
        for added_person in SUBSETS[::3]:
            after = watching.engine((*people, added_person), ALPHABET)
            for query, answer in zip(queries, answers, strict=True):
                moved.add(int(unsealed(after.answer(query))[0]) - answer)
    assert moved == {0, 1}


def test_the_papers_counterexample_no_longer_jumps():
    # C1: with y_i = y_j beyond the longest set over the floor, one more {2, 3} took y_2 from 1000 to 5.
    people = [{1}] * 1000 + [{2, 3}] * 4
    before, after = watching.engine(people, ALPHABET), watching.engine([*people, {2, 3}], ALPHABET)
    for size in (1, 2, 3):
        query = Largest(size, 5)
        assert unsealed(before.answer(query)) == unsealed(after.answer(query)) == (1000 if size == 1 else 5)


def test_the_floor_is_public_and_at_least_a_twentieth():
    floors_and_shares = []

    class RecordingMeter(CountingMeter):
        def count(self, purpose, engine, query, share):
            floors_and_shares.append((query.floor, share))
            return super().count(purpose, engine, query, share)

    for count in (1, 19, 1_000, 10**6):
        floors_and_shares.clear()
        meter = RecordingMeter(lambda size: 0)
        estimate_longest_length(None, count, meter, Fraction(1, 20), 1, 32)
        (floor, share) = floors_and_shares[0]
        scale, _ = meter.scale(Largest(1, 0), share)
        assert all(entry == (floor, share) for entry in floors_and_shares)
        assert ceil(count / 20) <= floor <= count
        # Noise lifts the floor over the threshold in at most one case of a hundred, unless it is the twentieth.
        assert floor == ceil(count / 20) or 0.5 * exp(-(count - floor) / scale) <= 0.0101


@pytest.mark.parametrize("epsilon", ["0.01", "0.05", "0.25", "0.5", "0.8", "1", "8"])
def test_estimating_costs_what_the_errata_say(epsilon):
    budget = Fraction(epsilon)
    share = threshold_levels._estimation_share(make_problem(epsilon=budget))
    assert share * budget == min(max(budget / 20, Fraction(1, 20)), budget / 10)  # C8
    assert threshold_levels._estimation_share(make_problem()) == Fraction(1, 20)


@BOTH_MECHANISMS
def test_what_is_left_counts_again(mechanism):
    # Nobody holds two items: the shares of longer patterns are spent on the items, and the intervals grow narrower.
    people = [{0}] * 3000 + [{1}] * 2500
    question = {"min_count": 1000, "epsilon": "0.05", "people": 5500, "mechanism": mechanism, "seed": 4}
    short_release = run(people, settings={"longest": 1}, **question)
    long_release = run(people, settings={"longest": 4}, **question)
    assert set(long_release.patterns.to_dict()) == {frozenset({0}), frozenset({1})}
    assert long_release.guarantee.epsilon == Fraction("0.05")
    # Below the count it is noise alone.
    width, wider = (
        float((release.patterns.counts - release.patterns.low).max()) for release in (short_release, long_release)
    )
    assert wider < 1.7 * width  # a quarter of the budget alone would make it about four times as wide
    assert long_release.facts["candidates counted"][0] == 2


def test_nothing_in_the_running_counts_all_items_again():
    release = run([set()] * 40, min_count=10**6, epsilon=1, settings={"longest": 3})
    assert len(release.patterns) == 0
    assert release.guarantee.epsilon == 1
    assert release.facts["candidates counted"] == [ALPHABET]


def test_counting_twice_weighs_by_noise():
    sets = naive.column([(0,), (1,)])
    scale = Fraction(2)

    def level(values, relative_scale, kept_share):
        noisy = Noisy(np.array(values), relative_scale * scale, 2 * (relative_scale * scale) ** 2)
        return threshold_levels.Level(sets, np.zeros(2, np.int64), noisy, 3, kept_share, np.array([1.0, kept_share]))

    merged_level = level([100, 10], 2, 0.5).merge_counts(level([200, 20], 1, 1.0))
    assert merged_level.noisy.values.tolist() == [180, 18]
    assert merged_level.noisy.variance == Fraction(4, 5) * 8
    assert float(merged_level.noisy.scale) == pytest.approx((3.2) ** 0.5)
    assert merged_level.kept_share == pytest.approx(0.9)
    assert merged_level.kept_by_size == pytest.approx([1, 0.9])
    still = threshold_levels.Level(
        sets, np.zeros(2, np.int64), Noisy(np.array([3, 5]), Fraction(0), Fraction(0)), 1, 1.0, np.ones(1)
    )
    assert still.merge_counts(still).noisy.values.tolist() == [3, 5]


def test_the_best_candidates_stay_where_there_are_too_many():
    people = [{0, 1, 2, 3}] * 900 + [{0, 1}] * 300
    release = run(people, min_count=500, epsilon=10**4, settings={"candidates": 3, "longest": 2})
    assert release.facts["candidates counted"] == [4, 3]
    assert {0, 1} in release.patterns
    assert release.notes[1] == (
        "Of one length, only the 3 most promising candidates were counted: the setting candidates allows for more."
    )


def test_double_standards_keep_what_cutting_hid():
    # Half of the people hold ten items and lose some: 400 of 1,000 are left of each, of 600 who hold it.
    def level():
        noisy = Noisy(np.array([400, 300]), Fraction(1), Fraction(2))
        return threshold_levels.Level(naive.column([(0,), (1,)]), np.zeros(2, np.int64), noisy, 4, 0.75, np.ones(1))

    strict, lenient = Truncated(double_standards=False), Truncated()
    assert strict.estimates(level()).tolist() == strict.ceilings(level()).tolist() == [400, 300]
    assert lenient.estimates(level()) == pytest.approx([400 / 0.75, 300 / 0.75])
    slack = -np.log(0.01)
    assert lenient.ceilings(level())[0] == pytest.approx((400 + slack + (slack**2 + 800 * slack) ** 0.5) / 0.75)


@pytest.mark.parametrize(
    ("mechanism", "settings", "message"),
    [
        ("truncated", {"coverage": "-1"}, "coverage lies over 0 and is at most 1; -1 was given."),
        ("truncated", {"doubt": 0}, "doubt lies over 0 and is at most 1; 0 was given."),
        ("truncated", {"upper": 0}, "upper is a whole number, 1 or more; 0 was given."),
        ("truncated", {"longest": -2}, "longest is a whole number, 1 or more; -2 was given."),
        ("truncated", {"candidates": 0}, "candidates is a whole number, 1 or more; 0 was given."),
        (
            "truncated",
            {"keep": "most"},
            "the setting keep of truncated is none, uniform, size-biased or root; 'most' was given.",
        ),
        (
            "truncated",
            {"keep_items": 1},
            "the setting keep_items of truncated is none, uniform, size-biased or root; 1 was given.",
        ),
        ("truncated", {"bound": "exact"}, "the setting bound of truncated is degrees or binomial; 'exact' was given."),
        (
            "truncated-naive",
            {"smart": True},
            "truncated-naive has no setting 'smart': it has longest, upper, coverage, longest_size, bound, candidates.",
        ),
    ],
)
def test_settings_are_refused(mechanism, settings, message):
    with pytest.raises(MisuseError) as raised:
        run([{0}], min_count=1, epsilon=1, mechanism=mechanism, settings=settings)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            {"top": 3},
            "truncated finds patterns over a threshold: give min_support or min_count, not top.",
        ),
        (
            {"min_count": 3, "lengths": (3, 4), "settings": {"longest": 2}},
            "Patterns of at least 3 items were asked for, but the setting longest of truncated is 2: set it to 3 or "
            "more.",
        ),
        (
            {"min_count": 3, "lengths": (3, 4), "settings": {"upper": 2}},
            "Patterns of at least 3 items were asked for, but the setting upper of truncated is 2: set it to 3 or "
            "more.",
        ),
    ],
)
def test_questions_are_refused(question, message):
    with pytest.raises(MisuseError) as raised:
        run([{0}], epsilon=1, **question)
    assert str(raised.value) == message


def test_settings_may_be_text():
    release = run(
        [{0, 1}] * 50,
        min_count=20,
        epsilon=1,
        settings={"smart": "off", "longest": "2", "coverage": "0.9", "doubt": "1/50", "keep": "uniform"},
    )
    assert release.settings == {
        "longest": 2, "upper": 32, "coverage": "9/10", "longest_size": 64, "bound": "degrees", "candidates": 20_000,
        "smart": False, "double_standards": True, "keep": "uniform", "keep_items": "size-biased", "doubt": "1/50",
    }  # fmt: skip


def test_must_contain_and_noisy_thresholds_work_through_the_door():
    people = [{0, 1, 2}] * 600 + [{0, 3}] * 500 + [{1}] * 300
    release = run(people, min_support="0.2", epsilon=50, contains=0, settings={"coverage": 1})
    assert {frozenset({0}), frozenset({0, 1, 2}), frozenset({0, 3})} <= set(release.patterns.to_dict())
    assert all(0 in itemset for itemset in release.patterns.to_dict())


def test_made_up_groceries_are_found():
    baskets = groceries(people=30_000, seed=5)
    truth = discreet.mine(baskets, min_count=900)
    every = discreet.mine(baskets, min_count=90).to_dict()
    inside = []

    def score(mechanism, **settings):
        scores = []
        for seed in range(5):
            release = trial(
                baskets, seed=seed, mechanism=mechanism, settings=settings,
                items="public", people=30_000, min_count=900, epsilon=1,
            )  # fmt: skip
            scores.append(f_score(release.patterns, truth))
            bounds = zip(release.patterns, release.patterns.low, release.patterns.high, strict=True)
            inside.extend(low <= every.get(pattern.items, 0) <= high for pattern, low, high in bounds)
        return np.mean(scores)

    default, simple = score("truncated"), score("truncated-naive")
    assert default > 0.85
    assert default > simple > 0.5
    assert np.mean(inside) > 0.9


def test_sizes_are_counted_once_and_before_the_items():
    release = run([{0, 1}] * 90, min_count=30, epsilon=1, people=90)
    steps = [charge.what for charge in release.guarantee.charges]
    assert steps[: steps.index(ITEMSETS)].count(SIZES) == steps.count(SIZES) == 1
    assert release.notes[0].startswith("Patterns of up to 2 items were looked for.")
