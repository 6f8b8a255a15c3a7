"""Every oracle's exact privacy: all reports of all baskets, by the device's own functions, in exact fractions."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

import pytest

from discreet.local import EVERY_LOSS, exp_rounded_down
from discreet.local.device import ANSWERS, WEIGHT_SCALE, WORD, Draws, _loss as loss, exp_lower_bound, hash_item
from discreet.local.oracle_steps import means, oracles
from naive.enumerating import law

EPSILONS = [Fraction(text) for text in ("0.1", "0.5", "1", "2", "4")]
SEEDS = [(1, 0), (2654435769, 12345), (77, 2**31)]


def ratio(form):
    """Return the largest ratio of chances by the numbers of an oracle: of the format, or kept for comparison."""
    return loss.compute_ratio(form, EVERY_LOSS)


def baskets(size, single):
    if single:
        return [(value,) for value in range(size)]
    return [basket for size_of_basket in range(size + 1) for basket in combinations(range(size), size_of_basket)]


def largest(laws):
    """Return the largest ratio of the chances of one report; every report is possible for every person."""
    assert all(sum(report_law.values()) == 1 for report_law in laws)
    reports = laws[0].keys()
    assert all(report_law.keys() == reports for report_law in laws)
    return max(
        max(report_law[report] for report_law in laws) / min(report_law[report] for report_law in laws)
        for report in reports
    )


def test_the_bound_of_the_exponential_is_below_it_and_near():
    for epsilon in (*EPSILONS, Fraction("0.001"), Fraction(20)):
        series, term = Fraction(1), Fraction(1)
        for count in range(1, 200):
            term *= epsilon / count
            series += term
        # The series is below e^epsilon, and what is left out is less than twice the next term.
        assert max(exp_rounded_down(epsilon), exp_lower_bound(epsilon)) <= series
        assert series - exp_rounded_down(epsilon) < Fraction(1, 2**90)
        assert series - exp_lower_bound(epsilon) < series / 2**96


@pytest.mark.parametrize("name", sorted(oracles().keys() - {"wheel"}))
@pytest.mark.parametrize(
    ("size", "pad", "single"), [(1, 1, False), (3, 1, False), (3, 2, False), (2, 4, False), (2, 1, True), (3, 1, True)]
)
def test_no_report_is_likelier_than_promised(name, size, pad, single):
    for epsilon in EPSILONS:
        oracle = oracles()[name].make(epsilon, size, pad=pad, single=single)
        promised = ratio(oracle.form)
        assert promised <= exp_lower_bound(epsilon)
        for seed in SEEDS if name in ("olh", "blh") else SEEDS[:1]:
            largest_ratio = largest([law(oracle.form, basket, seed) for basket in baskets(size, single)])
            assert largest_ratio <= promised
            if name in ("grr", "privset") and size > 2 * pad:
                assert largest_ratio > 1 + (promised - 1) * Fraction(999, 1000)  # the bound is met: nothing is wasted


@pytest.mark.parametrize("name", ["olh", "blh", "wheel"])
@pytest.mark.parametrize(("size", "pad", "single"), [(3, 1, False), (3, 2, False), (2, 4, False), (3, 1, True)])
def test_published_seeds_lose_what_fresh_ones_do(name, size, pad, single):
    """All reports with every one of the seeds: given any of them, a report is as private as the numbers say."""
    for epsilon in EPSILONS:
        plain = oracles()[name].make(epsilon, size, pad=pad, single=single)
        oracle = plain.numbered(4)
        form = oracle.form
        assert ratio(form) <= exp_lower_bound(epsilon)
        # A wheel has fewer points than with fresh seeds, whose weights are rounded otherwise.
        assert name == "wheel" or ratio(form) == ratio(plain.form)
        if oracle.places > 500:
            continue
        laws = [law(form, basket) for basket in baskets(size, single)]
        assert len(laws[0]) == 4 * oracle.places
        assert largest(laws) <= ratio(form)
        # Which seed it is says nothing: all are as likely, whatever is held.
        for report_law in laws:
            for seed in range(4):
                assert sum(share for text, share in report_law.items() if json.loads(text)["seed"] == seed) == Fraction(
                    1, 4
                )


@pytest.mark.parametrize("name", ["olh", "oue"])
def test_local_hashing_and_unary_codes_gain_nothing_from_sampling(name):
    """One of two items is sampled, and the loss is that of a single item, where a report speaks for both."""
    for epsilon in EPSILONS:
        single_oracle, sampled = (oracles()[name].make(epsilon, 4, pad=pad, single=pad == 1) for pad in (1, 2))
        seed = SEEDS[0] if name == "oue" else one_bucket_each(sampled.form["buckets"], (0, 1), (2, 3))
        largest_ratio = largest([law(sampled.form, basket, seed) for basket in ((0, 1), (2, 3))])
        assert largest_ratio == ratio(single_oracle.form)


def one_bucket_each(buckets, left_value, right_value):
    """Return a hash seed that puts each basket into one bucket, and the two into different ones."""
    for number in range(100_000):
        places = [
            {hash_item((number, 0), item) * buckets >> 32 for item in basket} for basket in (left_value, right_value)
        ]
        if len(places[0]) == len(places[1]) == 1 and places[0] != places[1]:
            return number, 0
    raise AssertionError


def densities(form, seed, values):
    """Return the weight of a point of the wheel for a basket of at most `pad` values, and where it may change."""
    arc, weight = form["arc"], int(form["inside"])
    starts = sorted(hash_item(seed, value) for value in values)
    edges = sorted({0, WORD, *starts, *((start + arc) % WORD for start in starts)})
    stretches = list(pairwise(edges))
    covered = [any((a - start) % WORD < arc for start in starts) for a, _ in stretches]
    inside = sum(b - a for (a, b), is_covered in zip(stretches, covered, strict=True) if is_covered)
    remaining_weight, outside = WEIGHT_SCALE - weight * inside, WORD - inside

    def place(point):
        """Return the place that stands for a point, counted by stretches."""
        before = [0, 0]
        for (a, b), is_covered in zip(stretches, covered, strict=True):
            if a <= point < b:
                return before[is_covered] + point - a + (0 if is_covered else inside)
            before[is_covered] += b - a
        raise AssertionError

    def density(point):
        place_of_point = place(point)
        return (
            weight
            if place_of_point < inside
            else remaining_weight // outside + (place_of_point - inside < remaining_weight % outside)
        )

    changes = {point for edge in edges for point in (edge - 1, edge) if 0 <= point < WORD}
    return density, place, changes


class Placing(Draws):
    """Choices of a wheel's device: its hash seed and the place are given, and nothing needs to be cut."""

    def __init__(self, seed, place):
        self.given, self.at = seed, place

    def seed(self):
        return self.given

    def place(self, weight, inside, outside):
        return self.at


@pytest.mark.parametrize(("size", "pad"), [(1, 1), (3, 1), (3, 2), (4, 3), (2, 4)])
def test_no_point_of_the_wheel_is_likelier_than_promised(size, pad):
    """Points fall into stretches between the ends of arcs, within which all have a weight that differs by one unit."""
    for epsilon in EPSILONS:
        form = oracles()["wheel"].make(epsilon, size, pad=pad).form
        promised = ratio(form)
        assert promised <= exp_lower_bound(epsilon)
        for seed in SEEDS:
            # A basket that is too long is cut to one of these at random, so its chances lie between theirs.
            fitting_baskets = [basket for basket in baskets(size, False) if len(basket) <= pad]
            laws = [densities(form, seed, basket) for basket in fitting_baskets]
            points = sorted(set().union(*(changes for _, _, changes in laws)))
            for basket, (_, place, _) in zip(fitting_baskets, laws, strict=True):
                for point in points:  # the device's way from places to points is the way back from points to places
                    report = ANSWERS["wheel"](form, list(basket), Placing(seed, place(point)))
                    assert report == {"seed": list(seed), "point": point}
            weights = [[density(point) for density, _, _ in laws] for point in points]
            largest_ratio = max(Fraction(max(point_weights) + 1, min(point_weights) - 1) for point_weights in weights)
            assert largest_ratio <= promised * (1 + Fraction(1, 2**30))
            assert max(Fraction(max(point_weights), min(point_weights)) for point_weights in weights) <= promised


def test_overlapping_arcs_of_the_wheel():
    """All of a circle's points have their place also where arcs overlap and pass the end."""
    form = {"oracle": "wheel", "size": 9, "pad": 6, "dummies": 0, "arc": WORD // 9, "inside": "1"}
    for seed in SEEDS:
        for values in combinations(range(9), 6):
            _, place, changes = densities(form, seed, values)
            for point in changes:
                assert ANSWERS["wheel"](form, list(values), Placing(seed, place(point)))["point"] == point


@pytest.mark.parametrize("name", ["duchi", "hm"])
def test_no_number_is_told_more_than_promised(name):
    for epsilon in EPSILONS:
        oracle = means()[name].make(epsilon, 2)
        assert oracle.ratio <= exp_lower_bound(epsilon)
        forms = [oracle.form] if name == "duchi" else [oracle.form["duchi"]]
        for form in forms:
            laws = [law(form, [value]) for value in (-5, -2, -1, 0, 1, 2, 7)]
            assert largest(laws) <= ratio(form)
            shares = [report_law[json.dumps({"sign": 1})] for report_law in laws[1:6]]
            assert len({b - a for a, b in pairwise(shares)}) == 1  # exactly linear


def test_the_window_of_a_number_by_enumeration():
    """A small window has all that a large one has: the device's function, over every place."""
    form = {"oracle": "pm", "span": 2, "step": 2, "window": 3, "points": 11, "inside": str(WEIGHT_SCALE // 16)}
    laws = [law(form, [value]) for value in (-9, -2, -1, 0, 1, 2, 9)]
    assert largest(laws) == ratio(form)
    means_ = [
        sum(json.loads(report)["point"] * share for report, share in report_law.items()) for report_law in laws[1:6]
    ]
    assert len({b - a for a, b in pairwise(means_)}) == 1
    assert means_[2] == 5
    form = {
        "oracle": "hm",
        "span": 2,
        "choose": 3 << 30,
        "pm": form,
        "duchi": means()["duchi"].make(Fraction(1), 2).form,
    }
    assert largest([law(form, [value]) for value in (-2, 0, 2)]) == ratio(form)


@pytest.mark.parametrize("name", sorted(oracles().keys() - {"wheel"}))
@pytest.mark.parametrize(("size", "pad", "single"), [(3, 2, False), (3, 1, True)])
def test_what_reports_support_has_the_stated_chances(name, size, pad, single):
    """`p_held` and `p_other` are exact, but for hashes, which are as good as random only over all seeds."""
    if name in ("olh", "blh"):
        return
    oracle = oracles()[name].make(Fraction(1), size, pad=pad, single=single)
    for basket in baskets(size, single):
        if len(basket) > pad:
            continue
        shares = [Fraction(0)] * size
        for text, share in law(oracle.form, basket).items():
            supports = oracle.supports(oracle.codec.make_columns([json.loads(text)])).tolist()
            shares = [share_so_far + share * support for share_so_far, support in zip(shares, supports, strict=True)]
        assert shares == [oracle.p_held if value in basket else oracle.p_other for value in range(size)]


class Fixed(Draws):
    """Bytes from a list."""

    def __init__(self, *words):
        data = b"".join(word.to_bytes(4, "little") for word in words)
        self.left = data

    def take(self, count):
        chunk, self.left = self.left[:count], self.left[count:]
        assert len(chunk) == count
        return chunk


def test_choices_are_made_of_words_as_stated():
    assert Fixed(5, 9).seed() == Fixed(4, 9).seed() == (5, 9)
    assert [Fixed(word).chance(7) for word in (6, 7)] == [True, False]
    # 2^32 = 3 × 1431655765 + 1: the last word is drawn again.
    assert [Fixed(word, 1).below(3) for word in (0, 1, 2, 3, WORD - 1)] == [0, 1, 2, 0, 1]
    assert Fixed().below(1) == 0
    assert [Fixed(low, high).place(WEIGHT_SCALE // 4, 2, 3) for low, high in ((0, 0), (0, 1 << 30), (1, 1 << 31))] == [
        0,
        1,
        3,
    ]
    assert [Fixed(*words).some(2, [4, 5, 6]) for words in ((0, 0), (2, 1))] == [[4, 5], [6, 4]]
    assert Fixed().some(3, [4, 5, 6]) == [4, 5, 6]


@pytest.mark.parametrize("threshold", [1 << 31, 3 << 29, 5 << 28, 15 << 28, 1 << 28])
def test_bits_have_their_chance_exactly(threshold):
    """The lowest bit that is set says how many fair bits are drawn: here at most four, and all of them are tried."""
    levels = 32 - ((threshold & -threshold).bit_length() - 1)
    ones_drawn = sum(
        Fixed(*(word >> level & 1 for level in range(levels))).bits(1, threshold) for word in range(1 << levels)
    )
    assert Fraction(ones_drawn, 1 << levels) == Fraction(threshold, WORD)


@pytest.mark.parametrize("name", ["subset", "privset"])
@pytest.mark.parametrize("subset_size", [1, 2, 3])
def test_a_subset_is_as_likely_as_any_other_that_meets_as_much(name, subset_size):
    """Two weights, one for sets that meet the own values and one for those that do not, however many they meet."""
    pad = 2 if name == "privset" else 1
    oracle_form = oracles()[name].make(Fraction(1), 3, pad=pad).form
    everything, missing = (
        comb(3 + oracle_form["dummies"], subset_size),
        comb(3 + oracle_form["dummies"] - pad, subset_size),
    )
    meeting = (everything - missing) * exp_rounded_down(Fraction(1))
    form = {**oracle_form, "many": subset_size, "hit": int(meeting / (meeting + missing) * WORD)}
    hit = Fraction(form["hit"], WORD)
    laws = []
    for basket in baskets(3, False):
        laws.append(law(form, basket))
        assert len(laws[-1]) == everything
        if len(basket) <= pad:
            assert set(laws[-1].values()) == {hit / (everything - missing), (1 - hit) / missing}
    assert largest(laws) == ratio(form) <= exp_lower_bound(Fraction(1))
