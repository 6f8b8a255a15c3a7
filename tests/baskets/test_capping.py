"""Which baskets of a person are kept: as one more kept person for one more person, in any order, and evenly."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet import Baskets, Vocabulary
from discreet.baskets import Segments, starts

BASKET = st.frozensets(st.integers(0, 5), max_size=4)
PERSON = st.lists(BASKET, min_size=1, max_size=6)
KEY = st.integers(0, 2**63 - 1)


def receipts(people, labels=range(6)) -> Baskets:
    rows = [sorted(basket) for person in people for basket in person]
    codes = np.array([item for row in rows for item in row], np.int32)
    return Baskets(
        starts([len(row) for row in rows]),
        codes,
        Vocabulary(list(labels)),
        owners=starts([len(person_baskets) for person_baskets in people]),
    )


def count_kept(people, max_baskets, key, labels=range(6)) -> list[Counter]:
    """Return what each person keeps, as baskets with how many there are of each."""
    capped_receipts = receipts(people, labels).capped(max_baskets, key)
    rows = list(capped_receipts)
    return [
        Counter(rows[low:high])
        for low, high in zip(capped_receipts.owners[:-1], capped_receipts.owners[1:], strict=True)
    ]


# Few kinds of people, so that many of them are equal; two hold the same baskets in another order.
ALIKE = st.lists(
    st.sampled_from(
        [
            [{0}, {1}],
            [{1}, {0}],
            [{0}, {0}, {1, 2}],
            [{1, 2}, {0}, {0}],
            [{1, 2}, {3}, set(), {4}],
            [{0, 1}, {2}],
            [{0}, {1, 2}],
            [{3}],
        ]
    ),
    max_size=9,
)


def count_people_alike(people) -> Counter:
    """Return what people keep as a whole: how many people keep which baskets."""
    return Counter(frozenset(person.items()) for person in people)


@given(ALIKE, PERSON | st.sampled_from([[{0}, {1}], [{0}, {0}, {1, 2}]]), st.data(), st.integers(1, 3), KEY)
def test_one_more_person_is_one_more_person_after_capping(people, further_person, data, max_baskets, key):
    place = data.draw(st.integers(0, len(people)))
    before, after = (
        count_kept(people, max_baskets, key),
        count_kept([*people[:place], further_person, *people[place:]], max_baskets, key),
    )
    assert not count_people_alike(before) - count_people_alike(after)
    (added_person,) = (count_people_alike(after) - count_people_alike(before)).elements()
    assert sum(count for _, count in added_person) == min(len(further_person), max_baskets)
    assert Counter(dict(added_person)) <= Counter(map(frozenset, further_person))
    # People whose baskets are not those of the one who came keep what they kept, each of them.
    unlike_people = [
        person_index
        for person_index, person in enumerate(people)
        if count_baskets(person) != count_baskets(further_person)
    ]
    assert [before[person_index] for person_index in unlike_people] == [
        after[person_index + (person_index >= place)] for person_index in unlike_people
    ]


def count_baskets(person) -> Counter:
    return Counter(map(frozenset, person))


def test_every_person_may_be_removed_or_replaced():
    """All data of up to four people of four kinds, whoever leaves, and whoever comes instead."""
    kinds = [[{0}, {1}, {2}], [{2}, {1}, {0}], [{0}, {0}, {1}], [{0, 1}, {2}]]
    kept_counts = {
        kinds_chosen: count_people_alike(count_kept([kinds[kind] for kind in kinds_chosen], 1, 5))
        for size in range(5)
        for kinds_chosen in product(range(4), repeat=size)
    }
    for kinds_chosen, kept_whole in kept_counts.items():
        for place in range(len(kinds_chosen)):
            fewer = kept_counts[kinds_chosen[:place] + kinds_chosen[place + 1 :]]
            assert not fewer - kept_whole
            assert (kept_whole - fewer).total() == 1
            for other_kind in range(4):
                instead = kept_counts[(*kinds_chosen[:place], other_kind, *kinds_chosen[place + 1 :])]
                assert (kept_whole - instead).total() == (instead - kept_whole).total() <= 1


@given(ALIKE, st.randoms(use_true_random=False), st.integers(1, 3), KEY)
def test_nor_does_the_order_of_people_matter(people, random, max_baskets, key):
    mixed = random.sample(people, len(people))
    assert count_people_alike(count_kept(mixed, max_baskets, key)) == count_people_alike(
        count_kept(people, max_baskets, key)
    )


@given(ALIKE, st.data(), st.integers(1, 3), KEY)
def test_in_every_segment_one_more_person_is_one_more(people, data, max_baskets, key):
    # Two people with the same baskets are not equal where their segments differ: each segment may be looked at alone.
    regions = data.draw(st.lists(st.sampled_from([0, 1]), min_size=len(people), max_size=len(people)))

    def by_region(people, regions):
        receipt_baskets = receipts(people)
        marks = np.repeat(np.array(regions, np.int32), np.diff(receipt_baskets.owners))
        capped_baskets = replace(
            receipt_baskets, segments=Segments("region", marks, Vocabulary(["north", "south"]))
        ).capped(max_baskets, key)
        ends, rows = list(pairwise(capped_baskets.owners.tolist())), list(capped_baskets)
        return [
            count_people_alike(
                Counter(rows[low:high]) for low, high in ends if capped_baskets.segments.codes[low] == region
            )
            for region in (0, 1)
        ]

    whole_counts = by_region(people, regions)
    for place in range(len(people)):
        fewer = by_region(people[:place] + people[place + 1 :], regions[:place] + regions[place + 1 :])
        assert fewer[1 - regions[place]] == whole_counts[1 - regions[place]]
        assert (whole_counts[regions[place]] - fewer[regions[place]]).total() == 1


@pytest.mark.parametrize(
    "person", [[{0}, {1}], [{0}, {0}, {1}, {1}]], ids=["two different baskets", "two of each kind"]
)
def test_equal_people_draw_apart(person):
    # 1,000 equal people keep one basket of each: the number that keep the first kind is binomial. For each of 20 keys
    # it lies within 70 of 500 (4.43 deviations) but in 1 of 100,000 draws, and their squared distances come to a
    # chi-squared of 20 degrees, which is outside 4.9 to 55 in 2 of 10,000 tests. Keys are fixed.
    keys = np.random.default_rng(11).integers(0, 2**63, 20)
    counts = np.array([receipts([person] * 1_000).capped(1, int(key)).item_counts[0] for key in keys])
    assert np.abs(counts - 500).max() <= 70
    assert 4.9 < ((counts - 500) ** 2 / 250).sum() < 55


def test_equal_people_of_two_segments_draw_apart():
    # 1,000 people in each: of equal baskets in two regions, how many keep the first kind is independent. The difference
    # has a deviation of 22.4 and is over 99 in one of 100,000 draws; 0, as it would be if both drew alike, has a chance
    # of 0.018, so all of 5 keys are 0 in 2 of 10^9 tests. Keys are fixed.
    receipt_baskets = receipts([[{0}, {1}]] * 2_000)
    marks = np.repeat(np.array([0, 1], np.int32), 2_000)
    receipt_baskets = replace(receipt_baskets, segments=Segments("region", marks, Vocabulary(["north", "south"])))
    differences = []
    for key in range(5):
        capped_baskets = receipt_baskets.capped(1, key)
        north, south = (
            capped_baskets.select_segments(np.array([region], np.int32)).item_counts[0] for region in (0, 1)
        )
        differences.append(abs(int(north) - int(south)))
    assert max(differences) <= 99
    assert any(differences)


@pytest.mark.parametrize(
    "one_more",
    [
        [{0}, {1}],  # equal people
        [{0}, {2}],  # people who share a basket
        [{2}, {2}, {0}, {0}],  # people with repeats, which must not cancel out
    ],
)
def test_any_two_people_draw_apart(one_more):
    # Whether two people keep {0} is independent, over 4,000 keys: of the four cases each is as frequent, and
    # chi-squared with 3 degrees of freedom is over 21.1 in one of 10,000 tests. Keys are fixed.
    person = [{0}, {0}, {1}, {1}] if len(one_more) == 4 else [{0}, {1}]
    keys = np.random.default_rng(12).integers(0, 2**63, 4_000)
    draws = Counter(
        tuple(frozenset({0}) in person_counts for person_counts in count_kept([person, one_more], 1, int(key)))
        for key in keys
    )
    assert sum((draws[case] - 1_000) ** 2 / 1_000 for case in product((True, False), repeat=2)) < 21.1


@given(PERSON, st.randoms(use_true_random=False), st.integers(1, 4), KEY)
def test_nor_on_the_order_of_the_baskets(person, random, max_baskets, key):
    mixed = random.sample(person, len(person))
    assert count_kept([mixed], max_baskets, key) == count_kept([person], max_baskets, key)


@given(PERSON, st.integers(1, 4), KEY)
def test_nor_on_how_items_are_numbered(person, max_baskets, key):
    # Labels 1 to 6 have codes 0 to 5; with a label before them, that nobody here holds, codes 1 to 6.
    renumbered = count_kept([person], max_baskets, key, labels=range(1, 7))
    turned = [[frozenset(item + 1 for item in basket) for basket in person]]
    assert count_kept(turned, max_baskets, key, labels=range(7)) == renumbered


def test_any_choice_is_as_likely_as_any_other():
    # 6,000 keys, 10 choices of 2 out of 5 baskets, two of which are equal: chi-squared with 9 degrees of freedom is
    # over 33.7 in one of 10,000 tries; the keys are fixed.
    person = [[frozenset({0}), frozenset({0}), frozenset({1}), frozenset({2, 3}), frozenset()]]
    expected = Counter(tuple(sorted(map(tuple, map(sorted, pair)))) for pair in combinations(person[0], 2))
    keys = np.random.default_rng(7).integers(0, 2**63, 6_000)
    draws = Counter(
        tuple(sorted(map(tuple, map(sorted, count_kept(person, 2, int(key))[0].elements())))) for key in keys
    )
    assert draws.keys() == expected.keys()
    chi = sum((draws[choice] - 600 * times) ** 2 / (600 * times) for choice, times in expected.items())
    assert chi < 33.7


def test_people_who_have_few_keep_all():
    receipt_baskets = receipts([[{1}], [{2}, {3}]])
    assert receipt_baskets.capped(2, 5) is receipt_baskets
    assert len(receipt_baskets.capped(1, 5)) == 2


def test_what_is_left_of_people_and_their_baskets():
    receipt_baskets = receipts([[{1}, {1, 2}], [{2}], [set(), {3}]])
    assert (receipt_baskets.people, len(receipt_baskets), receipt_baskets.has_receipts, receipt_baskets.unit) == (
        3,
        5,
        True,
        "baskets",
    )
    assert repr(receipt_baskets) == "Baskets(5 baskets of 3 people, 6 items, 1.00 per basket)"
    holders = receipt_baskets.select_containing(np.array([1], np.int32))
    assert (list(holders), holders.owners.tolist()) == ([{1}, {1, 2}], [0, 2])
    chosen_rows = receipt_baskets.rows(np.array([1, 2, 4]))
    assert chosen_rows.owners.tolist() == [0, 1, 2, 3]
    assert list(receipt_baskets.merged_people()) == [{1, 2}, {2}, {3}]
    assert receipt_baskets != Baskets(receipt_baskets.offsets, receipt_baskets.codes, receipt_baskets.vocabulary)
