"""The mechanisms of Zeng, Naughton and Cai in plain Python, and a meter that lets two runs be compared step by step."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from math import comb

import numpy as np

from discreet.baskets import starts
from discreet.privacy import Budget, Meter, Neighbours, Noisy, unsealed
from discreet.privacy.sampling import SimulationSource
from discreet.results import Itemsets


def column(sets) -> Itemsets:
    rows = [sorted(itemset) for itemset in sets]
    return Itemsets(starts([len(row) for row in rows]), np.array(list(chain(*rows)), np.int32))


def frequent(people, items, count, longest) -> set[frozenset[int]]:
    """Return the itemsets that at least `count` people hold."""
    every = chain.from_iterable(combinations(range(items), size) for size in range(1, longest + 1))
    return {frozenset(itemset) for itemset in every if sum(set(itemset) <= set(basket) for basket in people) >= count}


def candidates(sets: dict[tuple[int, ...], int]) -> dict[tuple[int, ...], int]:
    """Return every itemset of one more item that has all its subsets among the sets, with the sum of their counts."""
    items = sorted(set(chain(*sets)))
    counts = {}
    for itemset in combinations(items, len(next(iter(sets))) + 1 if sets else 1):
        subsets = list(combinations(itemset, len(itemset) - 1))
        if sets and all(subset in sets for subset in subsets):
            counts[itemset] = sum(sets[subset] for subset in subsets)
    return counts


def kept_share(people, size, longest, model) -> float:
    """Return the share of an itemset that a random cut leaves, by equations 5 and 7 with C9, or by C10."""
    able = range(size, len(people))
    if model == "uniform":
        total = sum(people[h] for h in able)
        stays = sum(people[h] * Fraction(comb(min(h, longest), size), comb(h, size)) for h in able)
    else:
        total = sum(people[h] * comb(h, size) for h in able)
        stays = sum(people[h] * comb(min(h, longest), size) for h in able)
    return float(Fraction(stays) / total)


class Scripted(Meter):
    """A meter with noisy answers made up in advance, so that two runs on different data take one way.

    `asked` has the queries and their true answers.
    """

    def __init__(self, seed, *, epsilon=1, delta=0, spread=8):
        super().__init__(Budget.of(epsilon, delta), Neighbours.ADD_REMOVE, SimulationSource(seed))
        self.asked = []
        self.made_up = np.random.default_rng(seed)
        self.spread = spread

    def count(self, purpose, engine, query, share):
        self._spend_share(share)
        scale, variance = self.scale(query, share)
        self.asked.append((purpose, query, share, unsealed(engine.answer(query))))
        return Noisy(self.made_up.integers(-2, self.spread, query.cells), scale, variance)


def same_query(query, peer_query) -> bool:
    """Return whether two queries have equal fields, even as different objects."""
    if type(query) is not type(peer_query):
        return False
    for name, value in vars(query).items():
        peer = vars(peer_query)[name]
        if isinstance(value, Itemsets):
            if not value.same(peer):
                return False
        elif isinstance(value, np.ndarray):
            if not np.array_equal(value, peer):
                return False
        elif hasattr(value, "__dataclass_fields__"):
            if not same_query(value, peer):
                return False
        elif value != peer:
            return False
    return True
