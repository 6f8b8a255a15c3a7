"""Ranking by any scores: the grid, the law of the choice, the noise, promises, ledgers, and messages without scores."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet
from discreet import BudgetError, Ledger, MisuseError
from discreet.exact import BasketCount
from discreet.privacy import Budget, Meter, Neighbours
from discreet.privacy.sampling import SimulationSource, shorten_fraction
from discreet.publish import RankQuestion, build_contest
from discreet.publish._door import build_meter
from discreet.publish._ranking import MAX_STEPS, SELECTION_SHARE, STEPS_PER_UNIT, Entries, ScoreTable, run_contest

REGIONS = {"north": 48_210, "east": 30_922, "south": 21_007, "west": 1_204, "nowhere": 0}
EPSILONS = ["0.01", "0.05", "0.5", "1", "8"]


DECLARED = {"sensitivity": 1, "labels": "public", "really": True}


def prepare(scores, **question):
    return build_contest(RankQuestion(**DECLARED | question), scores)


def rank(scores, **question):
    return discreet.rank(scores, **DECLARED | question)


def try_ranking(scores=REGIONS, seed=1, **question):
    contest = prepare(scores, **({"top": 2, "epsilon": 1} | question))
    return run_contest(contest, build_meter(contest, SimulationSource(seed)))


class TestGrid:
    @given(
        score=st.fractions(-50, 50, max_denominator=10**6),
        change=st.fractions(-1, 1, max_denominator=10**6),
        sensitivity=st.fractions(Fraction(1, 50), 20, max_denominator=999),
    )
    def test_rounding_keeps_sensitivity_and_direction(self, score, change, sensitivity):
        moved_score = score + change * sensitivity
        first_score, second_score = prepare(
            {"a": score, "b": moved_score}, top=1, epsilon=1, sensitivity=sensitivity
        ).scores.tolist()
        assert abs(first_score - second_score) <= STEPS_PER_UNIT
        assert (second_score >= first_score) if change >= 0 else (second_score <= first_score)
        assert 0 <= score / (sensitivity / STEPS_PER_UNIT) - first_score < 1

    @settings(max_examples=300)
    @given(
        digits=st.tuples(st.integers(-(10**70), 10**70), st.integers(-(10**70), 10**70)),
        places=st.tuples(st.integers(-140, 140), st.integers(-140, 140)),
        sensitivity=st.sampled_from(["1e-60", "0.003", "1", "1e57", "1e60", "1/7"]),
    )
    def test_long_decimals_keep_their_order_and_are_rounded_down(self, digits, places, sensitivity):
        # On both sides of every limit: what is not written out comes to the same as what is.
        decimals = [f"{number}e{place}" for number, place in zip(digits, places, strict=True)]
        first_score, second_score = prepare(
            dict(enumerate(decimals)), top=1, epsilon=1, sensitivity=sensitivity
        ).scores.tolist()
        exact = [number * Fraction(10) ** place for number, place in zip(digits, places, strict=True)]
        step = Fraction(sensitivity) / STEPS_PER_UNIT
        assert [first_score, second_score] == [max(-MAX_STEPS, min(MAX_STEPS, number // step)) for number in exact]
        assert (first_score >= second_score) if exact[0] >= exact[1] else (first_score <= second_score)

    @pytest.mark.parametrize("sensitivity", ["1e-60", "1", "1e60"])
    @pytest.mark.parametrize("place", [-400, -61, -60, 59, 60, 61, 400])
    def test_a_step_across_a_limit_stays_within_the_sensitivity(self, sensitivity, place):
        for sign in ("", "-"):
            score = Decimal(f"{sign}9.999e{place}")
            moved_score = Fraction(score) + Fraction(sensitivity)
            contest = prepare({"a": score, "b": moved_score}, top=1, epsilon=1, sensitivity=sensitivity)
            first_score, second_score = contest.scores.tolist()
            assert 0 <= second_score - first_score <= STEPS_PER_UNIT

    def test_the_grid_does_not_come_from_the_scores(self):
        # A common denominator of the scores would show in the noisy ones.
        for scores in ({"a": "1/3", "b": "1/7"}, {"a": 1, "b": 2}, {"a": "0.000001", "b": 10**12}):
            contest = prepare(scores, top=1, epsilon=1, sensitivity="1/2")
            assert contest.grid == Fraction(1, 2000)
            ranking = run_contest(contest, build_meter(contest, SimulationSource(3)))
            assert all(Fraction(repr(score)) % Fraction(1, 2000) == 0 for score in ranking.scores)

    @pytest.mark.parametrize(
        ("score", "steps"),
        [
            (7, 7000),
            ("7", 7000),
            ("-1/3", -334),
            (Fraction(1, 3), 333),
            (Decimal("0.0015"), 1),
            (0.1, 100),
            (10**40, MAX_STEPS),
            (-(10**40), -MAX_STEPS),
            (Decimal("1e999999"), MAX_STEPS),
            (Decimal("-1e999999"), -MAX_STEPS),
            (Decimal("-1e-999999"), -1),
            (Decimal("1e-999999"), 0),
            ("0e999999999", 0),
            ("-0e-999999999", 0),
            ("1e999999999999", MAX_STEPS),
            (np.int64(5), 5000),
        ],
    )
    def test_numbers_of_all_kinds(self, score, steps):
        assert prepare({"a": score}, top=1, epsilon=1).scores.tolist() == [steps]


def law(scores, rate, picks) -> dict[tuple, float]:
    chances = {}
    for order in permutations(range(len(scores)), picks):
        chance, remaining_scores = 1.0, dict(enumerate(scores))
        for label in order:
            weights = {place: exp(float(rate) * (score - max(scores))) for place, score in remaining_scores.items()}
            chance *= weights[label] / sum(weights.values())
            del remaining_scores[label]
        chances[order] = chance
    return chances


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("neighbours", [Neighbours.ADD_REMOVE, Neighbours.REPLACE])
def test_the_enumerated_choice_loses_no_more_than_it_costs(neighbours, monotone):
    # Every way one person can move three scores by nothing or all of the sensitivity, in the directions allowed.
    epsilon = 2.0
    moves = (0, 1) if monotone else (-1, 0, 1)
    one_person = [np.array(move) * STEPS_PER_UNIT for move in product(moves, repeat=3)]
    if neighbours is Neighbours.ADD_REMOVE:
        changes = [*one_person, *(-move for move in one_person)]
    else:
        changes = [come - go for come in one_person for go in one_person]
    base = np.array([2, 1, 0]) * STEPS_PER_UNIT
    meter = Meter(Budget.of(2), neighbours, SimulationSource(1))
    rate = meter.rate(2, Fraction(1), "exponential", monotone=monotone, step=STEPS_PER_UNIT)
    before = law(base.tolist(), rate, 2)
    worst_loss = 0.0
    for change in changes:
        after = law((base + change).tolist(), rate, 2)
        worst_loss = max(worst_loss, *(abs(log(before[key] / after[key])) for key in before))
    assert 0.55 * epsilon < worst_loss <= epsilon + 1e-9


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_noise_covers_every_way_scores_can_move(neighbours, monotone, delta, monkeypatch):
    draws = {}
    right = Meter.count

    def watched(self, step_name, engine, query, share):
        draws.update(zip(("scale", "variance"), self.scale(query, share), strict=True), total=self.total)
        return right(self, step_name, engine, query, share)

    monkeypatch.setattr(Meter, "count", watched)
    try_ranking(top=3, delta=delta, monotone=monotone, neighbours=neighbours)
    moves = (0, 1) if monotone else (-1, 1)
    person = [np.array(move) for move in product(moves, repeat=3)]
    replaced = neighbours == "replace"
    changes = [come - go for come in person for go in person] if replaced else person
    largest_change = max(int(np.abs(change).sum()) for change in changes) * STEPS_PER_UNIT
    squared = max(int((change**2).sum()) for change in changes) * STEPS_PER_UNIT**2
    if delta == 0:
        assert largest_change / draws["scale"] == Fraction(1, 2)
    else:
        assert squared / (2 * draws["variance"]) == draws["total"] / 2


@pytest.mark.parametrize("sensitivity", ["1e-60", "1", "1e60"])
@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("epsilon", ["0.000001", 10**60])
@pytest.mark.parametrize("mechanism", ["exponential", "laplace"])
def test_the_smallest_and_the_largest_of_everything_succeed(mechanism, epsilon, delta, sensitivity):
    scores = {"a": "1e300", "b": "-1e300", "c": 0, "d": 7}
    ranking = try_ranking(
        scores, top=4, epsilon=epsilon, delta=delta, sensitivity=sensitivity, mechanism=mechanism, neighbours="replace"
    )
    assert set(ranking.labels) == set(scores)
    assert all(low <= score <= high for low, score, high in zip(ranking.low, ranking.scores, ranking.high, strict=True))


def test_no_question_that_is_let_through_needs_more_noise_than_can_be_drawn():
    contest = prepare(
        dict.fromkeys(range(100_000), 0), top=100_000, epsilon=Fraction(1_000_001, 10**12), neighbours="replace"
    )
    meter = Meter(contest.budget, contest.neighbours, SimulationSource(1))
    scale, _ = meter.scale(contest.query(tuple(range(100_000))), 1 - SELECTION_SHARE)
    assert shorten_fraction(scale) >= scale


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("mechanism", ["exponential", "laplace"])
@pytest.mark.parametrize("counts", [True, False])
class TestCharges:
    @pytest.mark.parametrize("epsilon", EPSILONS)
    def test_they_add_up(self, epsilon, mechanism, neighbours, counts):
        ranking = try_ranking(epsilon=epsilon, mechanism=mechanism, neighbours=neighbours, counts=counts)
        assert ranking.guarantee.epsilon == Fraction(epsilon)
        halves = [Fraction(epsilon) / 2] * 2 if counts else [Fraction(epsilon)]
        assert [charge.epsilon for charge in ranking.guarantee.charges] == halves

    @pytest.mark.parametrize("epsilon", ["0.05", "1", "8"])
    def test_zcdp(self, epsilon, mechanism, neighbours, counts):
        ranking = try_ranking(epsilon=epsilon, delta="1e-6", mechanism=mechanism, neighbours=neighbours, counts=counts)
        assert ranking.guarantee.epsilon == Fraction(epsilon)
        assert ranking.guarantee.delta == Fraction("1e-6")
        assert ranking.guarantee.neighbours.value == neighbours


@pytest.mark.parametrize("mechanism", ["exponential", "laplace"])
class TestResults:
    def test_without_noise_it_is_the_truth(self, mechanism):
        ranking = try_ranking(top=5, epsilon=10**9, mechanism=mechanism)
        assert ranking.labels == ("north", "east", "south", "west", "nowhere")
        assert ranking.scores == pytest.approx(list(REGIONS.values()), abs=0.01)
        assert ranking.gamma < 0.01
        assert ranking.eta < 0.01

    def test_labels_alone(self, mechanism):
        ranking = try_ranking(counts=False, mechanism=mechanism)
        assert set(ranking.labels) == {"north", "east"}
        assert (ranking.scores, ranking.low, ranking.high, ranking.eta) == (None, None, None, None)
        assert len(ranking) == 2

    def test_degenerate_scores(self, mechanism):
        for scores in (
            {"a": 0},
            dict.fromkeys("abc", 0),
            {"a": -5, "b": -7},
            {1: 10**30, 2: -(10**30)},
            {(1, 2): "1/3", None: 0},
        ):
            for epsilon in ("0.01", "8"):
                ranking = try_ranking(scores, top=len(scores), epsilon=epsilon, mechanism=mechanism)
                assert set(ranking.labels) == set(scores)
                assert all(
                    low <= score <= high
                    for low, score, high in zip(ranking.low, ranking.scores, ranking.high, strict=True)
                )

    def test_scores_fall_and_lie_in_their_intervals(self, mechanism):
        ranking = try_ranking(top=4, sensitivity=60, mechanism=mechanism, monotone=True)
        assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
        assert all(
            low < score < high for low, score, high in zip(ranking.low, ranking.scores, ranking.high, strict=True)
        )

    @pytest.mark.statistical
    def test_the_promise_is_kept(self, mechanism):
        # Each sentence may fail in one run of ten. Of 300, more than 60 fail with a probability below 1e-7.
        scores = {label: 40 * label for label in range(30)}
        fifth = 40 * 25
        failed = np.zeros(3)
        for seed in range(300):
            ranking = try_ranking(scores, top=5, epsilon=4, mechanism=mechanism, seed=seed)
            true_scores = [scores[label] for label in ranking.labels]
            failed[0] += min(true_scores) < fifth - ranking.gamma
            failed[1] += any(
                score > fifth + ranking.gamma and label not in ranking.labels for label, score in scores.items()
            )
            failed[2] += (
                max(
                    abs(true_score - noisy_score)
                    for true_score, noisy_score in zip(true_scores, ranking.scores, strict=True)
                )
                > ranking.eta
            )
            assert ranking.gamma < 400
        assert (failed <= 60).all()

    @pytest.mark.statistical
    def test_intervals_cover(self, mechanism):
        # 1200 intervals of 95 %: fewer than 1100 hold the score with a probability below 1e-7.
        covered_count = 0
        for seed in range(400):
            ranking = try_ranking(top=3, sensitivity=5, mechanism=mechanism, monotone=True, seed=seed)
            covered_count += sum(
                low <= REGIONS[label] <= high
                for label, low, high in zip(ranking.labels, ranking.low, ranking.high, strict=True)
            )
        assert 1100 < covered_count < 1190


def test_what_is_told_can_be_written_down():
    ranking = try_ranking()
    document = ranking.to_dict()
    assert json.loads(json.dumps(document, default=str))["labels"] == list(ranking.labels)
    assert document["guarantee"]["public"] == ["which 5 labels there are, as given with the scores"]
    assert document["simulated"] is True
    assert ranking.digest() == try_ranking().digest()
    assert ranking.digest() != try_ranking(seed=2).digest()


class TestLedger:
    @pytest.fixture
    def path(self, tmp_path):
        Ledger.create(tmp_path / "budget.db", epsilon=1)
        return tmp_path / "budget.db"

    def test_it_pays_first_and_records_after(self, path):
        ranking = rank(REGIONS, top=2, epsilon="0.75", ledger=path, who="me", sensitivity="1/3", monotone=True)
        assert not ranking.simulated
        (spend,) = Ledger.open(path).spends()
        assert (spend.what, spend.epsilon, spend.state, spend.release) == (
            "rank",
            Fraction(3, 4),
            "released",
            ranking.digest(),
        )
        assert spend.parameters == {
            "top": 2, "labels": 5, "sensitivity": "1/3", "monotone": True, "mechanism": "exponential", "counts": True,
        }  # fmt: skip

    def test_without_enough_nothing_happens(self, path):
        with pytest.raises(BudgetError):
            rank(REGIONS, top=2, epsilon=2, ledger=path, who="me")
        with pytest.raises(MisuseError):
            rank({"a": "what"}, top=1, epsilon=1, ledger=path, who="me")
        assert Ledger.open(path).spends() == ()

    @pytest.mark.parametrize("epsilon", ["1e-7", "1e-30", 10**400])
    def test_what_could_only_fail_after_paying_is_refused_before(self, path, epsilon):
        with pytest.raises(MisuseError):
            rank(REGIONS, top=2, epsilon=epsilon, ledger=path, who="me")
        assert Ledger.open(path).spends() == ()

    def test_a_release_is_not_lost_where_it_cannot_be_recorded(self, path, monkeypatch):
        def broken(self, spend, digest):
            raise MisuseError("the disk is full")

        monkeypatch.setattr(Ledger, "record", broken)
        assert len(rank(REGIONS, top=2, epsilon=1, ledger=path, who="me")) == 2
        assert Ledger.open(path).spends()[0].state == "spent"


@pytest.mark.parametrize(
    ("scores", "question", "message"),
    [
        ({"north": 3}, {"top": 2}, "top is 2, but there is only 1 label: ask for at most so many."),
        (
            [3, 4],
            {},
            "scores is a score for each label, such as {'north': 48, 'south': 21}; what was given is of the type list.",
        ),
        (REGIONS, {"monotone": "no"}, "monotone is True or False; 'no' was given."),
        (REGIONS, {"top": 6}, "top is 6, but there are only 5 labels: ask for at most so many."),
        (REGIONS, {"top": 0}, "top is 0, but it must be a whole number, 1 or more."),
        (REGIONS, {"epsilon": 0}, "epsilon must be over 0, such as 0.5 or 1; 0 was given."),
        (
            REGIONS,
            {"sensitivity": 0},
            "sensitivity is by how much one person can change a score, over 0; 0 was given.",
        ),
        (REGIONS, {"epsilon": "1e-9"}, "epsilon must lie between 0.000001 and 10^60 in a ranking; 1e-9 was given."),
        (
            REGIONS,
            {"epsilon": 10**400},
            f"epsilon must lie between 0.000001 and 10^60 in a ranking; 1{'0' * 59} was given.",
        ),
        (
            REGIONS,
            {"epsilon": "0.000001", "delta": "1e-12"},
            "With a delta of 1e-12, an epsilon of 0.000001 leaves nothing to spend: raise either.",
        ),
        (
            REGIONS,
            {"sensitivity": 10**400},
            "sensitivity lies between 10^-60 and 10^60: give scores and sensitivity in another unit.",
        ),
        (
            REGIONS,
            {"sensitivity": Fraction(1, 10**61)},
            "sensitivity lies between 10^-60 and 10^60: give scores and sensitivity in another unit.",
        ),
        (dict.fromkeys(range(100_001), 0), {"top": 100_001}, "top is at most 100,000 in a ranking; 100,001 was given."),
        (REGIONS, {"mechanism": "gauss"}, "mechanism is 'exponential' or 'laplace'; 'gauss' was given."),
        (REGIONS, {"neighbours": "both"}, "neighbours is 'add-remove' or 'replace'; 'both' was given."),
        ({}, {}, "scores is a score for each label, such as {'north': 48, 'south': 21}; there is none."),
        *(
            (
                {"ann": invalid_score, "bob": 2},
                {},
                "The score of 'ann' is not a number: a score is a whole number, a fraction such as '1/3' or a decimal "
                "number such as '0.25'.",
            )
            for invalid_score in ("secret", float("nan"), float("inf"), None, True, [1], "1/0")
        ),
    ],
)
def test_what_is_refused_and_no_score_in_the_message(scores, question, message):
    with pytest.raises(MisuseError) as caught:
        try_ranking(scores, **question)
    assert str(caught.value) == message


def test_a_table_answers_for_scores_only():
    table = ScoreTable(np.array([5, 7, 9]))
    assert table.answer(Entries((2, 0), 1, False)).tolist() == [9, 5]
    with pytest.raises(MisuseError) as caught:
        table.answer(BasketCount())
    assert str(caught.value) == "A table of scores cannot answer BasketCount."
    with pytest.raises(MisuseError) as caught:
        table.above(0, 1, 1, 5)
    assert str(caught.value) == "A table of scores has no itemsets."


def test_what_the_command_line_calls_scores():
    with pytest.raises(MisuseError) as refused:
        discreet.rank(REGIONS, top=1, epsilon=1, counts="no", **DECLARED)
    assert str(refused.value) == "counts is True or False; 'no' was given."
    assert refused.value.message.typed == "--scores is True or False; 'no' was given."
