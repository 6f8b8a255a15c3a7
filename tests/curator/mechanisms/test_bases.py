"""`bases`: its choices, cells that are fitted to each other, the order of what is shown, when there is one basis."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
import strategies
from discreet import MisuseError
from discreet.baskets import groceries
from discreet.curator.mechanisms.bases import LONGER_PAIRS_SPLIT, SEVERAL_BASES_SHARE, SINGLE_BASIS_SHARE, Bases
from discreet.curator.steps import FRESH_NOISE_NOTE, Sums, add_cells, cover_all_pairs, fit_cells
from discreet.curator.steps._basis_cover import cover
from discreet.curator.steps._basis_selection import WIDENED_NOTE
from discreet.curator.steps._cell_estimates import project_cells
from discreet.exact import Cells, Supports
from discreet.planning import trial
from discreet.privacy import Budget, Meter, Neighbours, Noisy, unsealed
from discreet.privacy.sampling import SimulationSource
from discreet.results import Itemsets
from naive import watching

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE
SHOP = groceries(400, seed=3)
ITEMS = 4
SUBSETS = strategies.subsets(ITEMS)


engine = partial(watching.engine, items=ITEMS)
make_problem = partial(watching.make_problem, max_length=ITEMS, item_count=ITEMS)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(
    "problem",
    [
        make_problem(top=2),
        make_problem(top=3, min_length=3, max_length=3),
        make_problem(top=2, min_length=2, max_length=3),
        make_problem(threshold=2),
    ],
    ids=["any", "three", "two or three", "threshold"],
)
def test_no_choice_moves_by_more_than_it_says_or_loses_more_than_it_costs(problem, relation):
    # Every choice of a run, on neighbours that were told the same. At most three items in a basis, so that pairs and,
    # where single items are no patterns, their number are chosen too.
    purposes = set()
    for purpose, mine, yours, rate, picks, way, price in watching.choices(
        Bases(largest=3), problem, relation, SUBSETS, (37, 3, 5)
    ):
        change = yours - mine
        assert picks * rate * int(change.max() - change.min()) <= price
        assert way == "permute-and-flip"
        purposes.add(purpose)
    if problem.min_length > 1:
        assert "choosing how many pairs" in purposes


def test_under_zcdp_choices_are_of_bounded_range():
    meter = watching.watched(delta="1e-6")
    Bases().run(engine([{0, 1}] * 5), make_problem(top=3), meter)
    assert {way for *_, way in meter.choices_seen} == {"exponential"}


class TestSplit:
    def split_for(self, item_count, top=100, epsilon="0.5", people=5_000, **changes):
        problem = make_problem(top=top, item_count=500, max_length=12, people=people, **changes)
        return Bases().split_budget(problem, top, item_count, Meter(Budget.of(epsilon), ADD, SimulationSource(1)))

    def test_few_items_are_one_basis(self):
        budget_split = self.split_for(12)
        assert budget_split.single_basis
        assert (budget_split.items, budget_split.pairs) == (SINGLE_BASIS_SHARE, 0)

    def test_so_are_some_more_where_picks_say_little(self):
        assert self.split_for(16).single_basis
        assert not self.split_for(16, people=100_000).single_basis  # picks tell pairs apart
        assert not self.split_for(16, top=60).single_basis  # fewer than five patterns for each item
        assert not self.split_for(17).single_basis

    def test_but_not_where_the_last_pattern_is_known_to_be_held_by_fewer(self):
        problem = make_problem(top=100, item_count=500, max_length=12, people=5_000)
        meter = Meter(Budget.of("0.5"), ADD, SimulationSource(1))
        assert Bases().split_budget(problem, 100, 16, meter, 3_750.0).single_basis
        assert not Bases().split_budget(problem, 100, 16, meter, 3_749.0).single_basis

    def test_every_pick_costs_the_same(self):
        budget_split = self.split_for(40)
        assert not budget_split.single_basis
        assert budget_split.pair_count == 50  # of 65 patterns that are missing
        assert budget_split.items + budget_split.pairs == SEVERAL_BASES_SHARE
        assert budget_split.items / 40 == budget_split.pairs / 50

    def test_for_longer_patterns_alone_the_number_of_pairs_is_chosen(self):
        assert self.split_for(40, min_length=3) is LONGER_PAIRS_SPLIT
        assert self.split_for(40, min_length=2).pair_count_share
        pairs = Bases().split_budget(
            make_problem(top=50, min_length=2, max_length=2, item_count=500),
            50,
            40,
            Meter(Budget.of(1), ADD, SimulationSource(1)),
        )
        assert (pairs.pair_count_share, pairs.pair_count) == (0, 53)


class TestPlan:
    @pytest.mark.parametrize(
        ("problem", "shares"),
        [
            (make_problem(top=2), ["1/20", "19/20"]),
            (make_problem(threshold=2), ["1/20", "19/400", "361/400"]),
            (make_problem(top=2, max_length=1), ["1"]),
            (make_problem(top=3, min_length=2), ["1/20", "19/20"]),
        ],
    )
    def test_shares(self, problem, shares):
        plan = Bases().plan(problem)
        assert [str(share) for _, share in plan] == shares
        meter = Meter(Budget.of(1), ADD, SimulationSource(2))
        Bases().run(engine([{0, 1}] * 5), problem, meter)
        assert sum(charge.epsilon for charge in meter.charges) == 1
        spent_shares = {charge.what: charge.epsilon for charge in meter.charges}
        assert all(spent_shares[purpose] == share for purpose, share in plan[:-1])


def written_out(bases, cells, people, variance) -> tuple[list, np.ndarray]:
    """Least squares over the counts of all item subsets within bases, by its normal equations."""
    unknown = sorted({s for basis in bases for size in range(len(basis) + 1) for s in combinations(basis, size)})
    place = {itemset: number for number, itemset in enumerate(unknown)}
    rows = []
    for basis in bases:
        for mask in range(1 << len(basis)):
            inside = {item for bit, item in enumerate(basis) if mask >> bit & 1}
            row = np.zeros(len(unknown))
            # The cell by inclusion and exclusion over the counts of all itemsets that contain what is held.
            for size in range(len(basis) + 1):
                for itemset in combinations(basis, size):
                    if inside <= set(itemset):
                        row[place[itemset]] = (-1) ** (len(itemset) - len(inside))
            rows.append(row)
    design, target = np.array(rows), np.array(cells, float)
    if people is not None:
        weight = 1e6 if people[1] == 0 else (variance / people[1]) ** 0.5
        last_count = np.zeros(len(unknown))
        last_count[place[()]] = weight
        design, target = np.vstack((design, last_count)), np.append(target, people[0] * weight)
    return unknown, np.linalg.lstsq(design, target, rcond=None)[0]


class TestFitting:
    @given(
        data=st.data(),
        bases=st.lists(st.sets(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=3),
        known_people=st.sampled_from([None, 0.0, 30.0]),
    )
    def test_it_is_least_squares(self, data, bases, known_people):
        sorted_bases = [tuple(sorted(basis)) for basis in bases]
        cell_count = sum(1 << len(basis) for basis in sorted_bases)
        cells = data.draw(st.lists(st.integers(-20, 60), min_size=cell_count, max_size=cell_count))
        noisy = Noisy(np.array(cells), Fraction(30), Fraction(1800))
        people = None if known_people is None else (90.0, known_people)
        fitted = fit_cells(sorted_bases, noisy, 1, 3, people)
        cell_estimates = fit_cells(sorted_bases, noisy, 1, 3)
        unknown, solved = written_out(sorted_bases, cells, people, 1800.0)
        true_counts = dict(zip(unknown, solved.tolist(), strict=True))
        expected = [true_counts[itemset] for itemset in fitted.itemsets.tuples()]
        if people is None or not np.allclose(fitted.estimates, cell_estimates.estimates):  # it was believed
            assert fitted.estimates == pytest.approx(expected, rel=1e-4, abs=1e-3)

    @given(
        people=st.lists(st.sets(st.integers(0, 5)), max_size=12),
        bases=st.lists(st.sets(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=4),
    )
    def test_exact_cells_give_exact_counts(self, people, bases):
        crowd = engine(people, items=6)
        sorted_bases = [tuple(sorted(basis)) for basis in bases]
        noisy = Noisy(unsealed(crowd.answer(Cells(tuple(sorted_bases)))), Fraction(0), Fraction(0))
        for known_people in (None, (float(len(people)), 0.0)):
            sums = fit_cells(sorted_bases, noisy, 1, 4, known_people)
            assert sums.estimates == pytest.approx(unsealed(crowd.answer(Supports(sums.itemsets))), abs=1e-6)
            assert (sums.margins == 0).all()

    def test_one_basis_alone_says_what_its_sums_say(self):
        noisy = Noisy(np.arange(8) * 3 - 5, Fraction(3), Fraction(18))
        fitted, added_sums = fit_cells([(1, 2, 3)], noisy, 1, 3), add_cells([(1, 2, 3)], noisy, 1, 3)
        assert fitted.estimates == pytest.approx(added_sums.estimates)
        assert fitted.margins == pytest.approx(added_sums.margins)

    @pytest.mark.statistical
    @pytest.mark.parametrize("gaussian", [False, True])
    def test_variance_and_interval(self, gaussian):
        # 1500 draws: the coverage has a deviation of .0056. Five of them, and .01 for a bound in place of the kurtosis:
        # false alarms in all 30 checks together have a probability below one in ten thousand.
        bases = [(0, 1, 2), (0, 1), (0, 3), (4,)]
        rng = np.random.default_rng(4)
        cells = sum(1 << len(basis) for basis in bases)
        scale = None if gaussian else Fraction(200)
        draws = rng.normal(0, 200, (1500, cells)) if gaussian else rng.laplace(0, 200, (1500, cells))
        variance = Fraction(40_000) if gaussian else Fraction(80_000)
        fits = [fit_cells(bases, Noisy(np.rint(draw).astype(np.int64), scale, variance), 1, 3) for draw in draws]
        plain = add_cells(bases, Noisy(np.zeros(cells, np.int64), scale, variance), 1, 3)
        for place in range(len(fits[0].itemsets)):
            values = np.array([fit.estimates[place] for fit in fits])
            covered = np.mean(np.abs(values) <= fits[0].margins[place])
            assert abs(covered - 0.95) < 0.038
            assert fits[0].margins[place] <= plain.margins[place] * 1.001

    def test_a_known_number_of_people_halves_the_variance_of_an_item(self):
        noisy = Noisy(np.full(4, 250), None, Fraction(10**8))
        free, informed_fit = fit_cells([(0, 1)], noisy, 1, 1), fit_cells([(0, 1)], noisy, 1, 1, (1000.0, 0.0))
        assert (free.margins / informed_fit.margins) ** 2 == pytest.approx([2, 2], rel=0.001)

    def test_a_number_that_cannot_be_right_is_not_believed(self):
        noisy = Noisy(np.full(4, 250), None, Fraction(100))
        assert fit_cells([(0, 1)], noisy, 1, 1, (5000.0, 0.0)).estimates == pytest.approx([500, 500])
        assert fit_cells([(0, 1)], noisy, 1, 1, (1040.0, 0.0)).estimates == pytest.approx([520, 520])
        assert fit_cells([(0, 1)], noisy, 1, 1, (5000.0, 10.0**7)).estimates != pytest.approx([500, 500], abs=1e-3)

    @pytest.mark.parametrize("people_in_engine", [True, False])
    def test_the_number_is_used_where_it_is_of_the_people_in_the_cells(self, people_in_engine):
        problem = make_problem(
            top=2, item_count=2, max_length=1, required_count=1, people=1040, people_known_to_engine=people_in_engine
        )
        noisy = Noisy(np.full(4, 250), None, Fraction(100))
        expected = 520 if people_in_engine else 500
        assert Bases().estimate_counts([(0, 1)], noisy, problem).estimates == pytest.approx([expected, expected])


class TestCovering:
    @given(items=st.integers(3, 16), largest=st.integers(2, 8), power=st.sampled_from([1, 2]), seed=st.integers(0, 9))
    def test_blocks_hold_every_pair(self, items, largest, power, seed):
        pairs = [pair for place, pair in enumerate(combinations(range(items), 2)) if place % 10 != seed]
        bases = cover_all_pairs(items, pairs, largest, power)
        assert max(map(len, bases)) <= largest
        covered_pairs = {pair for basis in bases for pair in combinations(basis, 2)}
        assert covered_pairs == set(combinations(range(items), 2))

    @pytest.mark.parametrize("power", [1, 2])
    def test_they_leave_less_noise_where_nearly_all_pairs_are_wanted(self, power):
        pairs = list(combinations(range(30), 2))[:-20]
        noise = []
        for bases in (cover_all_pairs(30, pairs, 12, power), cover(30, pairs, 12, power)):
            information = [sum(2.0 ** (2 - len(basis)) for basis in bases if {*pair} <= {*basis}) for pair in pairs]
            noise.append(len(bases) ** power * sum(1 / amount for amount in information))
        assert noise[0] < noise[1] / 4

    def test_only_where_pairs_are_the_longest_wanted(self):
        pairs = list(combinations(range(20), 2))[:-20]
        for longest, covers_all in ((2, True), (3, False)):
            bases = Bases().cover_pairs(
                make_problem(top=9, min_length=2, max_length=longest, item_count=50), 20, pairs, 2
            )
            assert (bases == cover_all_pairs(20, pairs, 12, 2)) is covers_all
        few_pairs = pairs[:60]
        problem = make_problem(top=9, min_length=2, max_length=2, item_count=50)
        assert Bases().cover_pairs(problem, 20, few_pairs, 2) == cover(20, few_pairs, 12, 2)


class TestOrder:
    @given(
        cells=st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=6),
        total=st.sampled_from([1.0, 7.5, 90.0]),
        other_cells=st.lists(st.floats(0, 1), min_size=6, max_size=6),
    )
    def test_projected_cells_are_the_nearest(self, cells, total, other_cells):
        projected_cells = project_cells(np.array(cells), total)
        assert (projected_cells >= 0).all()
        assert projected_cells.sum() == pytest.approx(total)
        feasible_cells = np.array(other_cells[: len(cells)]) + 1e-9
        feasible_cells *= total / feasible_cells.sum()
        assert np.sum((projected_cells - cells) ** 2) <= np.sum((feasible_cells - cells) ** 2) + 1e-6

    def test_cells_so_large_that_a_person_is_lost(self):
        assert np.isfinite(project_cells(np.array([1e18, 1e18, -1e18]), 1.0)).all()

    @given(values=st.lists(st.integers(0, 20).map(float), min_size=1, max_size=7), count=st.integers(0, 20))
    def test_the_falling_line_is_nearest(self, values, count):
        size = len(values)
        sums = Sums(Itemsets.of([(item,) for item in range(size)]), np.array(values), np.ones(size), np.zeros(size))
        # The line at a place is the least over all starts of the largest mean of what begins there and ends later.
        line = [
            min(max(np.mean(values[start:end]) for end in range(place + 1, size + 1)) for start in range(place + 1))
            for place in range(size)
        ]
        expected = sum(level >= count - 1e-9 for level in line)
        assert sums.count_over(np.arange(size), count) == expected

    def test_tied_patterns_are_shown_with_the_shorter_first(self):
        # Everyone holds item 0: with it, every pattern counts the same.
        people = [{0, 1, 2}] * 4_000 + [{0, 1}] * 2_000 + [{0}] * 3_000
        release = trial(people, seed=3, top=3, epsilon=2, items=8, people=9_000, mechanism="bases")
        assert next(iter(release.patterns)).items == frozenset({0})
        assert {pattern.items for pattern in release.patterns} == {frozenset({0}), frozenset({1}), frozenset({0, 1})}


class TestWhatIsShown:
    def test_counts_do_not_contradict_each_other(self):
        people = [{0, 1, 2, 3}] * 90 + [{0, 1}] * 5
        for seed in range(4):
            patterns = trial(people, seed=seed, top=15, epsilon=1, items=4, people=95, mechanism="bases").patterns
            known_counts = patterns.to_dict()
            assert max(known_counts.values()) <= 95
            assert all(
                known_counts[itemset] <= known_counts[part]
                for itemset in known_counts
                for part in known_counts
                if part < itemset
            )
            assert all(patterns.low <= patterns.counts)
            assert all(patterns.counts <= patterns.high)

    @pytest.mark.parametrize("counts", [True, False])
    @pytest.mark.parametrize("lengths", [3, (1, 3)], ids=str)
    def test_a_list_of_the_top_is_as_long_as_asked_for(self, lengths, counts):
        people = [{0, 1}, {2, 3}, {4, 5}, {6}] * 20
        release = trial(
            people, seed=1, top=200, epsilon="0.1", items=30, lengths=lengths, counts=counts, people=80,
            mechanism="bases", settings={"largest": 3},
        )  # fmt: skip
        assert len({pattern.items for pattern in release.patterns}) == 200
        (note,) = (
            note for note in release.notes if note.endswith(" patterns that lie in no basis were drawn at random.")
        )
        drawn_count = int(note.split()[0])
        if counts:
            everyone = (release.patterns.low == 0) & (release.patterns.high == 80) & (release.patterns.counts == 0)
            assert np.count_nonzero(everyone) >= drawn_count


class TestCountingOnceMore:
    """Under zCDP a sum over the cells of one large basis has far more noise than a few counts by themselves."""

    # Ten items that six in ten hold: the top 20 are these and pairs of them, and they are one basis.
    holdings = np.random.default_rng(5).random((4_000, 10)) < 0.6
    crowd = discreet.read([np.flatnonzero(row).tolist() for row in holdings])

    def run_bases(self, seed=1, **question):
        return trial(self.crowd, seed=seed, items="public", mechanism="bases", epsilon=1, delta="1e-6", **question)

    def test_where_sums_of_cells_are_unsure(self):
        release = self.run_bases(top=20)
        assert FRESH_NOISE_NOTE in release.notes
        assert WIDENED_NOTE not in release.notes

    def test_not_where_cells_are_as_sure_or_counts_are_not_wanted(self):
        assert WIDENED_NOTE in self.run_bases(top=5, lengths=1).notes
        assert FRESH_NOISE_NOTE not in self.run_bases(top=20, counts=False).notes

    @pytest.mark.parametrize("question", [{"top": 20}, {"min_count": 3_999}, {"min_count": 1_300}], ids=str)
    def test_all_is_spent_whatever_is_found(self, question):
        # Where nothing lies over the threshold too: how much there is must not show in what is spent.
        assert self.run_bases(**question).guarantee.epsilon == 1

    def test_counts_come_out_surer(self):
        # Of 240 counts the median error is less than half of that of sums of cells, whose law is known.
        counts = {tuple(pattern.items): pattern.count for pattern in discreet.mine(self.crowd, top=200)}
        patterns = (pattern for seed in range(12) for pattern in self.run_bases(seed, top=20).patterns)
        errors = [abs(pattern.count - counts[tuple(pattern.items)]) for pattern in patterns]
        meter = Meter(Budget.of(1, "1e-6"), ADD, SimulationSource(1))
        cells = meter.scale(Cells((tuple(range(10)),)), Fraction(57, 100))[1]
        assert np.median(errors) < 0.5 * 0.67 * float(cells * 2**9) ** 0.5


class TestWithoutNoise:
    """At such an epsilon the noise is 0 and every choice is the best one."""

    @pytest.mark.parametrize("delta", [0, "1e-6"])
    @pytest.mark.parametrize(("top", "lengths"), [(10, None), (60, None), (25, 2), (30, 1), (15, (2, 4))])
    def test_the_top(self, top, lengths, delta):
        release = trial(
            SHOP, seed=1, top=top, epsilon=10**9, delta=delta, items="public", mechanism="bases", lengths=lengths
        )
        exact = discreet.mine(SHOP, top=top, lengths=lengths)
        assert sorted(release.patterns.counts.tolist()) == sorted(exact.counts.tolist())
        assert np.abs(release.patterns.high - release.patterns.low).max() < 0.1

    def test_three_items_in_several_bases(self):
        # Where counts hardly tie: a triple is found if its items and pairs were picked and lie in one basis.
        generator = np.random.default_rng(3)
        chances = np.linspace(0.75, 0.05, 30)
        people = [set(np.flatnonzero(generator.random(30) < chances).tolist()) for _ in range(3_000)]
        release = trial(people, seed=1, top=150, epsilon=10**9, items=30, mechanism="bases", lengths=3)
        assert release.facts["bases counted"] > 1
        assert release.facts["pairs picked"] < 150
        true_counts = {pattern.items: pattern.count for pattern in discreet.mine(people, top=150, lengths=3)}
        missed_itemsets = set(true_counts) - {pattern.items for pattern in release.patterns}
        assert len(missed_itemsets) <= 3
        assert all(
            abs(true_counts.get(pattern.items, pattern.count) - pattern.count) < 1 for pattern in release.patterns
        )

    def test_a_threshold(self):
        release = trial(SHOP, seed=1, min_count=60, epsilon=10**9, items="public", mechanism="bases")
        assert release.patterns.to_dict() == discreet.mine(SHOP, min_count=60).to_dict()

    def test_among_those_who_hold_something(self):
        release = trial(
            SHOP, seed=1, top=8, epsilon=10**9, items="public", contains=["whole milk"], people=400, mechanism="bases"
        )
        exact = discreet.mine(SHOP, top=8, contains=["whole milk"])
        assert sorted(release.patterns.counts.tolist()) == sorted(exact.counts.tolist())


def test_a_wrong_number_of_people_does_not_shift_counts():
    people = [{0, 1}] * 3_000 + [{2}] * 2_000
    release = trial(people, seed=1, top=3, epsilon=5, items=5, people=20_000, mechanism="bases")
    assert release.patterns.to_dict()[frozenset({0})] == pytest.approx(3_000, abs=60)


@pytest.mark.parametrize(
    ("setting", "question", "message"),
    [
        ({"spare": 3}, {}, "spare lies between 1 and 2; 3 was given."),
        ({"largest": 17}, {}, "largest lies between 2 and 16; 17 was given."),
        ({"pairs": 4}, {}, "bases has no setting 'pairs': it has spare, largest."),
        (
            {"largest": 3},
            {"lengths": 4},
            "bases finds patterns of at most 3 items, and lengths asks for 4 or more: ask for shorter ones, or "
            "another mechanism.",
        ),
    ],
)
def test_what_is_refused(setting, question, message):
    with pytest.raises(MisuseError) as caught:
        trial(
            [{0, 1}], seed=1, mechanism="bases", settings=setting, **({"top": 1, "epsilon": 1, "items": 9} | question)
        )
    assert str(caught.value) == message


def test_useful_on_a_shop():
    # Seeds are fixed, so it cannot fail by chance.
    shop = groceries(20_000, seed=1)
    truth = {pattern.items for pattern in discreet.mine(shop, top=50)}
    missed_shares = []
    for seed in range(4):
        release = trial(shop, seed=seed, top=50, epsilon=1, items="public", people=len(shop), mechanism="bases")
        missed_shares.append(1 - len(truth & {pattern.items for pattern in release.patterns}) / 50)
    assert np.mean(missed_shares) < 0.15


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("items", "chance", "question"),
    [
        (12, 0.5, {"top": 1, "lengths": (4, 4), "epsilon": "0.5"}),
        (12, 0.5, {"top": 5, "lengths": (3, 6), "epsilon": 1}),
        (20, 0.7, {"top": 5, "lengths": 2, "epsilon": "0.5"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["bases", "auto"])
def test_intervals_hold_on_ties(name, items, chance, question):
    # Everything is as frequent as everything else, so noise alone chooses. Before intervals allowed for it, 70 to 90 of
    # 100 held. Seeds are fixed.
    holdings = np.random.default_rng(3).random((400, items)) < chance
    people = [set(np.flatnonzero(row).tolist()) for row in holdings]
    true_counts = discreet.mine(people, min_count=1, lengths=question["lengths"]).to_dict()
    inside = []
    for seed in range(30):
        patterns = trial(people, seed=seed, items=items, people=400, mechanism=name, **question).patterns
        inside += [
            low <= true_counts.get(pattern.items, 0) <= high
            for pattern, low, high in zip(patterns, patterns.low, patterns.high, strict=True)
        ]
    assert np.mean(inside) >= 0.93
