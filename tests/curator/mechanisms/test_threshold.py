"""`threshold`: its loss and delta counted out, its dependences, and finding items for further mechanisms."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, comb, exp, log

import numpy as np
import pytest

import discreet
import strategies
from discreet import MisuseError
from discreet.baskets import groceries
from discreet.curator.mechanisms import find, threshold
from discreet.exact import Truncation
from discreet.planning import trial
from discreet.privacy import Budget, Meter, Neighbours, Noisy, compose, unsealed
from discreet.privacy.sampling import SimulationSource
from naive import watching

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE
SHOP = groceries(3_000, seed=3)
ITEMS = 4
SUBSETS = strategies.subsets(ITEMS)


engine = partial(watching.engine, items=ITEMS)


def metered(epsilon="1", delta="1e-3", neighbours=ADD, seed=1) -> Meter:
    return Meter(Budget.of(epsilon, delta), neighbours, SimulationSource(seed), discovery_delta=Fraction(delta))


def release_over_threshold(baskets, seed=1, **question):
    return trial(baskets, seed=seed, mechanism="threshold", **({"epsilon": 1, "delta": "1e-6"} | question))


@pytest.mark.parametrize("floor", [0, 1])
@pytest.mark.parametrize(("kept_items", "min_length", "longest"), [(1, 1, 1), (2, 1, 2), (3, 1, 2), (3, 2, 3)])
def test_one_person_moves_few_counts_by_one(kept_items, min_length, longest, floor):
    max_change = sum(comb(kept_items, size) for size in range(min_length, longest + 1))

    def counts(people):
        selected = unsealed(engine(people).cut(Truncation(kept_items, 77)).above(floor, min_length, longest))
        return dict(zip(selected.itemsets.tuples(), (selected.counts - floor).tolist(), strict=True))

    reached = 0
    for people in list(product(SUBSETS, repeat=2))[::13]:
        before = counts(people)
        for basket in SUBSETS[::2]:
            after = counts([*people, basket])
            change = [after.get(itemset, 0) - before.get(itemset, 0) for itemset in before | after]
            assert all(move in (0, 1) for move in change)
            assert sum(change) <= max_change
            reached = max(reached, sum(change))
    assert reached == max_change


def law(count, scale, threshold, floor_of_law=1e-13) -> dict:
    """Return the law of the output about one itemset: its noisy count, or nothing."""
    if count == 0:
        return {None: 1.0}
    q = exp(-1 / float(scale))
    largest_noise = ceil(float(scale) * log(1 / floor_of_law))
    probabilities = {}
    for noise in range(-largest_noise, largest_noise + 1):
        value = count + noise if count + noise >= threshold else None
        probabilities[value] = probabilities.get(value, 0.0) + (1 - q) / (1 + q) * q ** abs(noise)
    return probabilities


def excess_probability(laws_before: list[dict], laws_after: list[dict], epsilon: float) -> float:
    """Return the largest Pr[before in S] - e^epsilon Pr[after in S], over independent itemsets."""
    total = 0.0
    for results in product(*(law_of_one.items() for law_of_one in laws_before)):
        chance = np.prod([chance for _, chance in results])
        against = np.prod([laws_after[place].get(result, 0.0) for place, (result, _) in enumerate(results)])
        total += max(0.0, chance - exp(epsilon) * against)
    return total


@pytest.mark.parametrize("epsilon", ["2", "6"])
@pytest.mark.parametrize("delta", ["1e-1", "1e-3"])
@pytest.mark.parametrize(
    ("relation", "before", "after"),
    [
        (ADD, (0, 0), (1, 1)),  # two things that nobody else holds
        (ADD, (3, 0), (4, 1)),
        (ADD, (5, 6), (6, 7)),
        (REPLACE, (1, 1, 0, 0), (0, 0, 1, 1)),
        (REPLACE, (4, 1, 0), (4, 0, 1)),
        (REPLACE, (4, 1), (5, 0)),
    ],
)
def test_the_exact_delta_stays_within_the_one_that_is_charged(relation, before, after, epsilon, delta):
    meter = metered(epsilon, delta, relation)
    scale, threshold = meter._discovery_scale(2, Fraction(1)), meter.threshold(2, Fraction(1))
    laws = [
        [law(count, scale, threshold, 1e-7 if len(counts) > 2 else 1e-9) for count in counts]
        for counts in (before, after)
    ]
    for laws_before, laws_after in (laws, laws[::-1]):
        assert excess_probability(laws_before, laws_after, float(epsilon)) <= float(delta)
    # And it is no empty statement: some of the delta is needed where a thing is new.
    assert max(
        excess_probability(*laws, float(epsilon)), excess_probability(*laws[::-1], float(epsilon))
    ) > 0 or 0 not in (*before, *after)


def test_the_threshold_is_that_of_the_noise_that_is_drawn():
    # Under zCDP the scale is a long fraction, which is rounded up before noise is drawn: the threshold follows.
    meter = Meter(Budget.of("1/3", "1e-3"), ADD, SimulationSource(1), discovery_delta=Fraction("5e-4"))
    share = Fraction(1, 7)
    expected = meter.threshold(3, share)
    scale = meter._discovery_scale(3, share)
    threshold = find(engine([{0}] * 5), meter, "things", share, kept=3, least=1, longest=1, people=5).threshold
    assert threshold == expected
    assert scale > 3 / meter.epsilon(share)
    assert scale.denominator < 2**54
    assert 3 * exp(-(threshold - 1) / float(scale)) <= 5e-4
    with pytest.raises(MisuseError) as caught:
        meter.threshold(3, share)
    assert str(caught.value) == "Finding things that are not listed needs a delta."


class TestWithoutNoise:
    def test_a_threshold(self):
        release = release_over_threshold(SHOP, min_count=200, epsilon=10**9, settings={"kept": 50}, lengths=(1, 2))
        assert release.patterns.to_dict() == discreet.mine(SHOP, min_count=200, lengths=(1, 2)).to_dict()
        assert release.facts["threshold"] == 200

    @pytest.mark.parametrize("lengths", [1, 2, (1, 3)])
    def test_the_top(self, lengths):
        release = release_over_threshold(SHOP, top=15, epsilon=10**9, settings={"kept": 50}, lengths=lengths)
        exact = discreet.mine(SHOP, top=15, lengths=lengths)
        assert release.patterns.counts.tolist() == exact.counts.tolist()

    def test_patterns_have_two_items_at_most_unless_it_is_said(self):
        people = [{"a", "b", "c"}] * 500
        assert {len(pattern.items) for pattern in release_over_threshold(people, top=7, epsilon=10).patterns} == {1, 2}
        assert {
            len(pattern.items) for pattern in release_over_threshold(people, min_count=100, epsilon=10).patterns
        } == {1, 2}
        assert {
            len(pattern.items) for pattern in release_over_threshold(people, top=7, lengths=(1, 3), epsilon=10).patterns
        } == {1, 2, 3}
        assert {
            len(pattern.items) for pattern in release_over_threshold(people, top=7, lengths=3, epsilon=10).patterns
        } == {3}
        assert release_over_threshold(people, top=1, lengths=8, epsilon=10).facts["items kept of a basket"] == 8

    def test_baskets_are_cut(self):
        people = [set(range(10))] * 1000
        release = release_over_threshold(people, top=10, lengths=1, epsilon=10**6, settings={"kept": 4})
        assert sum(release.patterns.counts.tolist()) == 4 * 1000
        assert "in baskets cut to 4 items, drawn at random" in release.notes[0]

    def test_a_floor_changes_nothing_but_what_is_listed(self, monkeypatch):
        question = {"min_count": 300, "epsilon": 10**9, "lengths": (1, 2), "people": 3_000, "settings": {"kept": 50}}
        high = release_over_threshold(SHOP, **question)
        assert high.patterns.to_dict() == discreet.mine(SHOP, min_count=300, lengths=(1, 2)).to_dict()
        monkeypatch.setattr(threshold, "MAX_LISTED", 15_000)  # 3,000 people with 1,275 itemsets each: a floor of 255
        assert release_over_threshold(SHOP, **question).patterns.to_dict() == high.patterns.to_dict()
        release = release_over_threshold(SHOP, **(question | {"min_count": 100}))
        assert release.facts["threshold"] == 257
        assert release.patterns.to_dict() == discreet.mine(SHOP, min_count=257, lengths=(1, 2)).to_dict()


def test_the_floor_stands_where_the_noisy_number_of_people_is_0(monkeypatch):
    # The noise on it has a margin of 149 at a fiftieth of epsilon 1: 150 people might be there, each with 15 itemsets.
    monkeypatch.setattr(threshold, "MAX_LISTED", 15)
    lowest_threshold = release_over_threshold([], top=3, people=1).facts["threshold"] - 1
    for seed in range(10):
        release = release_over_threshold([], seed=seed, top=3)
        assert release.facts["threshold"] >= lowest_threshold + 140
    with pytest.raises(MisuseError):
        release_over_threshold([], top=3, lengths=(1, 3))  # 25 subsets of one basket would be too many

    # An interval reaches up to as many people as there may be.
    monkeypatch.undo()
    release = release_over_threshold([{1}] * 2_000, top=3)
    assert (release.patterns.high >= release.patterns.people + 140).all()


def test_a_threshold_below_the_own_one_is_told():
    release = release_over_threshold(SHOP, min_count=10)
    lowest_threshold = release.facts["threshold"]
    assert lowest_threshold > 200
    assert release.notes == (
        "Patterns of up to 2 items were looked for in baskets cut to 5 items, drawn at random. Those with a noisy "
        f"count of {lowest_threshold} or more are shown.",
        f"Below {lowest_threshold} people, patterns that few people hold could not be told from noise: those with 10 "
        "people up to that are missing.",
        "Counts are of the cut baskets: in whole baskets a pattern is held by more people, how many is not known. "
        "So an interval reaches up to all of them.",
    )
    assert release_over_threshold(SHOP, min_count=900).facts["threshold"] == 900


def test_the_order_of_exact_counts_does_not_show(monkeypatch):
    # Every noisy count is the same: what is left to order by are the codes.
    right = Meter._find

    def flat(self, purpose, counts, max_itemsets, share, things):
        _, noisy, threshold = right(self, purpose, counts, max_itemsets, share, things)
        return counts > 0, Noisy(np.full(len(counts), threshold), noisy.scale, noisy.variance), threshold

    monkeypatch.setattr(Meter, "_find", flat)
    people = [{3}] * 50 + [{2, 3}] * 20 + [{0}] * 5 + [{1, 2}] * 7
    for seed, added_people in enumerate(([], [{0}] * 90, [{1, 2}] * 80)):
        things = find(
            engine(people + added_people),
            metered(seed=seed),
            "things",
            Fraction(1),
            kept=2,
            least=1,
            longest=2,
            people=100,
        )
        assert things.itemsets.tuples() == [(0,), (1,), (2,), (3,), (1, 2), (2, 3)]
        assert len(set(things.values.tolist())) == 1


def test_nothing_depends_on_how_many_items_the_data_have():
    # Without a public list that number is private: noise, threshold, facts and charges are the same with one item.
    public_outputs = []
    for people in ([], [{0}], [{0}] * 30, [set(range(30))] * 3):
        for question in ({"top": 3}, {"min_count": 2}, {"top": 3, "lengths": (1, 3)}, {"top": 1, "counts": False}):
            release = release_over_threshold(people, people=30, **question)
            public_outputs.append(
                (str(question), dict(release.facts), release.notes, release.guarantee.charges, len(release.patterns))
            )
    assert public_outputs[:4] == public_outputs[4:8] == public_outputs[8:12] == public_outputs[12:]


def test_rare_things_are_not_shown():
    people = [{"tea"}] * 5_000 + [{"my secret"}, {"my", "secret"}]
    for seed in range(20):
        assert {
            item for pattern in release_over_threshold(people, seed=seed, top=9).patterns for item in pattern.items
        } == {"tea"}


class TestForOthers:
    def test_items_are_found_by_the_same_code(self):
        meter = metered("2", "1e-6")
        things = find(
            engine([{0, 1}] * 500 + [{2}] * 3), meter, "items", Fraction(1), kept=2, least=1, longest=1, people=9
        )
        assert things.itemsets.tuples() in ([(0,), (1,)], [(1,), (0,)])
        assert (things.values >= things.threshold).all()
        assert compose(meter.charges) == (2, Fraction("1e-6"))

    def test_a_release_without_a_list_uses_it(self):
        people = [{"tea", "milk"}] * 2_000 + [{"rare"}]
        release = trial(people, seed=1, top=3, epsilon=2, delta="1e-6", mechanism="privbasis")
        assert {item for pattern in release.patterns for item in pattern.items} == {"tea", "milk"}
        assert release.notes[0].startswith(
            "The list of items was not given: 2 items were found with noise, those with about "
        )


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"delta": 0}, "threshold needs a delta over 0, such as delta=1e-6."),
        ({"settings": {"kept": 0}}, "kept lies between 1 and 1,000; 0 was given."),
        ({"settings": {"kept": 1001}}, "kept lies between 1 and 1,000; 1,001 was given."),
        ({"settings": {"cut": 3}}, "threshold has no setting 'cut': it has kept."),
    ],
)
def test_what_is_refused(question, message):
    with pytest.raises(MisuseError) as caught:
        release_over_threshold([{1}], top=1, **question)
    assert str(caught.value) == message


def test_useful_on_a_shop():
    # Seeds are fixed, so it cannot fail by chance.
    shop = groceries(30_000, seed=1)
    truth = {pattern.items for pattern in discreet.mine(shop, top=20, lengths=(1, 2))}
    for seed in range(3):
        release = release_over_threshold(shop, seed=seed, top=20)
        assert len(truth & {pattern.items for pattern in release.patterns}) >= 13
