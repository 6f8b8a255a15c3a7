"""Which baskets of a person are kept: local to the person, whatever comes in which order, and evenly."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet import Baskets, Vocabulary
from discreet.baskets.core import starts

BASKET = st.frozensets(st.integers(0, 5), max_size=4)
PERSON = st.lists(BASKET, min_size=1, max_size=6)
KEY = st.integers(0, 2**63 - 1)


def receipts(people, labels=range(6)) -> Baskets:
    rows = [sorted(basket) for person in people for basket in person]
    codes = np.array([item for row in rows for item in row], np.int32)
    return Baskets(
        starts([len(row) for row in rows]), codes, Vocabulary(list(labels)), owners=starts([len(one) for one in people])
    )


def kept(people, most, key, labels=range(6)) -> list[Counter]:
    """Return what each person keeps, as baskets with how many there are of each."""
    held = receipts(people, labels).capped(most, key)
    rows = list(held)
    return [Counter(rows[low:high]) for low, high in zip(held.owners[:-1], held.owners[1:], strict=True)]


@given(st.lists(PERSON, max_size=5), PERSON, st.integers(1, 4), KEY)
def test_what_a_person_keeps_depends_on_nobody_else(people, more, most, key):
    alone = kept([more], most, key)
    assert kept([*people, more], most, key) == kept(people, most, key) + alone
    assert kept([more, *people], most, key) == alone + kept(people, most, key)
    assert alone[0].total() == min(len(more), most)
    assert alone[0] <= Counter(receipts([more]))


@given(PERSON, st.randoms(use_true_random=False), st.integers(1, 4), KEY)
def test_nor_on_the_order_of_the_baskets(person, random, most, key):
    mixed = random.sample(person, len(person))
    assert kept([mixed], most, key) == kept([person], most, key)


@given(PERSON, st.integers(1, 4), KEY)
def test_nor_on_how_items_are_numbered(person, most, key):
    # Labels 1 to 6 have codes 0 to 5; with a label before them, that nobody here holds, codes 1 to 6.
    one = kept([person], most, key, labels=range(1, 7))
    turned = [[frozenset(item + 1 for item in basket) for basket in person]]
    assert kept(turned, most, key, labels=range(7)) == one


def test_any_choice_is_as_likely_as_any_other():
    # 6,000 keys, 10 choices of 2 out of 5 baskets, two of which are equal: chi-squared with 9 degrees of freedom is
    # over 33.7 in one of 10,000 tries; the keys are fixed.
    person = [[frozenset({0}), frozenset({0}), frozenset({1}), frozenset({2, 3}), frozenset()]]
    expected = Counter(tuple(sorted(map(tuple, map(sorted, pair)))) for pair in combinations(person[0], 2))
    keys = np.random.default_rng(7).integers(0, 2**63, 6_000)
    seen = Counter(tuple(sorted(map(tuple, map(sorted, kept(person, 2, int(key))[0].elements())))) for key in keys)
    assert seen.keys() == expected.keys()
    chi = sum((seen[one] - 600 * times) ** 2 / (600 * times) for one, times in expected.items())
    assert chi < 33.7


def test_people_who_have_few_keep_all():
    held = receipts([[{1}], [{2}, {3}]])
    assert held.capped(2, 5) is held
    assert len(held.capped(1, 5)) == 2


def test_what_is_left_of_people_and_their_baskets():
    held = receipts([[{1}, {1, 2}], [{2}], [set(), {3}]])
    assert (held.people, len(held), held.several, held.unit) == (3, 5, True, "baskets")
    assert repr(held) == "Baskets(5 baskets of 3 people, 6 items, 1.00 per basket)"
    some = held.holding(np.array([1], np.int32))
    assert (list(some), some.owners.tolist()) == ([{1}, {1, 2}], [0, 2])
    again = held.rows(np.array([1, 2, 4]))
    assert again.owners.tolist() == [0, 1, 2, 3]
    assert list(held.merged_people()) == [{1, 2}, {2}, {3}]
    assert held != Baskets(held.offsets, held.codes, held.vocabulary)
